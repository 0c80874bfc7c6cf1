//! Names that were looked up.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of `dns_queries.pairing`.
pub mod dns_pairing {
    /// The query began before the recording: its call is not in it.
    pub const BEGAN_BEFORE: i8 = -1;
    /// The events name the query.
    pub const IDENTITY: i8 = 0;
    /// By the process that asked, and the name.
    pub const CLIENT: i8 = 1;
    /// By the name alone.
    pub const NAME: i8 = 2;
    /// By the name alone, where several queries were open for it: each of them has the events.
    pub const SEVERAL: i8 = 3;
}

row! {
    /// One query for a name, from the call to the answer. It belongs to a time range when it touches
    /// it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DnsQueryRow in "dns_queries", always: false, since: 6, Span(start, time) {
        /// Time of the answer; the end of the recording where `open`.
        time: i64, Delta, "ns", "DNS-Client 3008";
        /// Time of the call; the start of the recording where the call is not in it.
        start: i64, Delta, "ns", "DNS-Client 3006";
        /// Process that asked.
        process: Option<ProcessId>, Dictionary, "", "header of 3006";
        /// Thread that asked.
        thread: Option<ThreadId>, Dictionary, "", "header of 3006";
        /// Stack of the call.
        stack: Option<StackId>, Plain, "", "stack of 3006";
        /// The name, in lower case and without the dot at its end.
        name: String, Dictionary, "", "QueryName";
        /// Type of the wanted record: 1 A, 28 AAAA, 5 CNAME, 12 PTR, 15 MX, 16 TXT, 33 SRV, 65 HTTPS.
        query_type: Option<i32>, Dictionary, "", "QueryType";
        /// Flags of the query, a bit mask of `DNS_QUERY_…`; for example, 2 asks over TCP only.
        options: Option<i64>, Dictionary, "", "QueryOptions";
        /// 0 found, 9003 no such name, 9501 and 9701 no such record, 1460 timed out, 87 answered
        /// elsewhere (an asynchronous call ends at once, and the answer comes with another query). Null
        /// where `open`.
        status: Option<i64>, Dictionary, "", "QueryStatus";
        /// The answer as recorded.
        results: Option<String>, Dictionary, "", "QueryResults";
        /// Whether the query went to the network. False: the cache or the hosts file answered it.
        network: Option<bool>, Plain, "", "IsNetworkQuery; 3009, 3010, 3019 of the query";
        /// Servers that were asked, in order. Null where the recording has no event of a server.
        servers: Option<Vec<String>>, Dictionary, "", "3010 DnsServerIpAddress, else 3009 DNSServerAddress";
        /// Adapters over which servers were asked, in order, with their local addresses.
        adapters: Option<Vec<String>>, Dictionary, "", "3009 AdapterName, LocalAddress";
        /// Servers that did not answer in time.
        timed_out: Option<Vec<String>>, Dictionary, "", "1015, 1013 Address";
        /// Time between question and response, for each of `servers`; −1: no response.
        responses: Option<Vec<i64>>, Plain, "ns", "3010, 3011";
        /// How the events of servers were assigned: 0 by identity, 1 by client process and name, 2 by
        /// name alone, 3 by name alone where several queries were open (each of them has the events).
        /// −1: the call is not in the recording. Null: there were no such events.
        pairing: Option<i8>, Dictionary, "", "made by the extract";
        /// True where the query was not answered in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}
