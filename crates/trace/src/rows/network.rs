//! Names that were looked up, and connections with their traffic.

use crate::ids::{ConnectionId, ProcessId, StackId, ThreadId};
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
        time: i64, Delta, "ns", "DNS-Client 3008; return of getaddrinfo";
        /// Time of the call; the start of the recording where the call is not in it.
        start: i64, Delta, "ns", "DNS-Client 3006; call of getaddrinfo";
        /// Process that asked.
        process: Option<ProcessId>, Dictionary, "", "header of 3006";
        /// Thread that asked.
        thread: Option<ThreadId>, Dictionary, "", "header of 3006";
        /// Stack of the call.
        stack: Option<StackId>, Plain, "", "stack of 3006";
        /// The name, in lower case and without the dot at its end; of `getnameinfo` the address.
        name: String, Dictionary, "", "QueryName; node";
        /// Type of the wanted record: 1 A, 28 AAAA, 5 CNAME, 12 PTR, 15 MX, 16 TXT, 33 SRV, 65 HTTPS.
        query_type: Option<i32>, Dictionary, "", "QueryType; ai_family";
        /// Flags of the query, a bit mask of `DNS_QUERY_…`; for example, 2 asks over TCP only.
        options: Option<i64>, Dictionary, "", "QueryOptions";
        /// 0 found, 9003 no such name, 9501 and 9701 no such record, 1460 timed out, 87 answered
        /// elsewhere (an asynchronous call ends at once, and the answer comes with another query). Below
        /// 0 on Linux: −2 no such name, −3 temporary failure, −4 failed (`gethostbyname` does not tell
        /// why), other `EAI_…`. Null where `open`.
        status: Option<i64>, Dictionary, "", "QueryStatus; ret";
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

/// Values of `connections.end_kind`.
pub mod connection_ends {
    /// The process closed it.
    pub const CLOSED: i8 = 0;
    /// The process or the system aborted it.
    pub const ABORTED: i8 = 1;
    /// The other side reset it.
    pub const RESET: i8 = 2;
    /// The other side refused it.
    pub const REFUSED: i8 = 3;
    /// Sent data was never acknowledged.
    pub const SEND_TIMED_OUT: i8 = 4;
    /// Keep-alive packets were never acknowledged.
    pub const KEEP_ALIVE_TIMED_OUT: i8 = 5;
    /// The other side never answered the request.
    pub const CONNECT_TIMED_OUT: i8 = 6;
}

/// Values of `network_io.kind`.
pub mod network_io_kinds {
    /// A process gave data to the stack.
    pub const SEND_POSTED: i8 = 0;
    /// Data was sent.
    pub const SENT: i8 = 1;
    /// Data was received.
    pub const RECEIVED: i8 = 2;
    /// Data was sent again.
    pub const RETRANSMITTED: i8 = 3;
    /// Data was received again.
    pub const RECEIVED_AGAIN: i8 = 4;
    /// A tail-loss probe.
    pub const TAIL_LOSS_PROBE: i8 = 5;
    /// A keep-alive packet.
    pub const KEEP_ALIVE: i8 = 6;
    /// A time-out of a retransmission.
    pub const RETRANSMIT_TIME_OUT: i8 = 7;
    /// A reset was sent.
    pub const RESET_SENT: i8 = 8;
    /// A reset was received.
    pub const RESET_RECEIVED: i8 = 9;
    /// A packet was dropped.
    pub const DROPPED: i8 = 10;
    /// A duplicate acknowledgement.
    pub const DUPLICATE_ACK: i8 = 11;
    /// A segment came in whose data, if it has any, counts when a process takes it.
    pub const SEGMENT_RECEIVED: i8 = 12;
}

row! {
    /// One life of a connection: of TCP from the request or the acceptance to the end; of UDP all
    /// traffic of a process between two ends (Linux: over one socket, whose ends are not known). The
    /// figures are those of the recording, except for `stat_…`. The question `dump tcp` reads them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ConnectionRow in "connections", always: false, since: 6, Untimed() {
        /// Row id, in the order of first occurrence. The rows have another order.
        connection: ConnectionId, Plain, "", "made by the extract";
        /// Process that opened or accepted it.
        process: Option<ProcessId>, Dictionary, "", "TCPIP ProcessId; TcpIp PID; inet_sock_set_state";
        /// Thread that opened it, where the event was logged by it.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Stack of the event that opened it.
        stack: Option<StackId>, Plain, "", "stack of the event";
        /// 6 TCP, 17 UDP.
        protocol: i16, Dictionary, "", "kind of the event";
        /// Own address, without the port. Null: no event tells it.
        local: Option<String>, Dictionary, "", "LocalAddress; saddr";
        /// Own port.
        local_port: Option<i32>, Plain, "", "LocalAddress; sport";
        /// Address of the other side.
        remote: Option<String>, Dictionary, "", "RemoteAddress; daddr";
        /// Port of the other side.
        remote_port: Option<i32>, Plain, "", "RemoteAddress; dport";
        /// The kernel's address of the connection, where events carry it.
        tcb: Option<i64>, Plain, "", "TCPIP Tcb; inet_sock_set_state skaddr";
        /// Time of the request or the acceptance; of UDP of the first use. Null: it was there before.
        start: Option<i64>, Plain, "ns", "TCPIP 1002, 1017; TcpIp 12, 15, 28, 31; SYN_SENT, SYN_RECV";
        /// Time at which it was established.
        connected: Option<i64>, Plain, "ns", "TCPIP 1017, 1033; ESTABLISHED";
        /// Time at which it was closed, aborted, reset or timed out. Null: it stays.
        end: Option<i64>, Plain, "ns", "TCPIP 1038, 1039, 1044 to 1048, 1183, 1184; TcpIp 13, 29; CLOSE";
        /// True: the other side asked for it. False: this side did. Null: not recorded.
        accepted: Option<bool>, Plain, "", "the event that opened it";
        /// 0 closed, 1 aborted, 2 reset by the other side, 3 refused, 4 timed out while sending, 5
        /// keep-alive timed out, 6 the request timed out. Null: it stays, or the recording does not
        /// tell.
        end_kind: Option<i8>, Dictionary, "", "the event that ended it";
        /// Status of the end.
        end_status: Option<i64>, Dictionary, "", "TCPIP Status";
        /// Congestion template, such as `Internet` and `Datacenter`, with the shortest time-out of a
        /// retransmission where it is known.
        template: Option<String>, Dictionary, "", "TCPIP 1223, 1224";
        /// Bytes that the system counted as received over the whole life, also before the recording.
        stat_bytes_in: Option<i64>, Plain, "bytes", "TCPIP 1477, 1352 DataBytesIn";
        /// The same for sent bytes.
        stat_bytes_out: Option<i64>, Plain, "bytes", "TCPIP 1477, 1352 DataBytesOut";
        /// Segments with data that the system counted as received.
        stat_segments_in: Option<i64>, Plain, "", "TCPIP 1477, 1352 DataSegmentsIn";
        /// The same for sent segments.
        stat_segments_out: Option<i64>, Plain, "", "TCPIP 1477, 1352 DataSegmentsOut";
        /// Bytes that the system counted as sent again.
        stat_retransmitted: Option<i64>, Plain, "bytes", "TCPIP 1477, 1352 BytesRetrans";
        /// Shortest round-trip time.
        rtt_min: Option<i64>, Plain, "ns", "TCPIP 1477 MinRttUs; tcp_probe srtt";
        /// Round-trip time: of the system at the end, else the mean of the samples.
        rtt_avg: Option<i64>, Plain, "ns", "TCPIP 1477 RttUs; tcp_probe srtt";
        /// Longest round-trip time.
        rtt_max: Option<i64>, Plain, "ns", "TCPIP 1477 MaxRttUs; tcp_probe srtt";
        /// Bytes that were sent, those that were sent again among them; where no event tells of sent
        /// data the bytes that processes gave to the stack. Null in this and the next columns: the
        /// recording has no such events.
        sent: Option<i64>, Plain, "bytes", "`network_io` kind 1, else 0";
        /// Bytes that were received, those that were received again among them.
        received: Option<i64>, Plain, "bytes", "`network_io` kind 2";
        /// Number of events of sent data.
        send_events: Option<i64>, Plain, "", "`network_io` kind 1";
        /// Number of events in which processes gave data to the stack.
        posted_events: Option<i64>, Plain, "", "`network_io` kind 0";
        /// Number of events of received data.
        receive_events: Option<i64>, Plain, "", "`network_io` kind 2";
        /// Number of retransmissions of this side.
        retransmits: Option<i64>, Plain, "", "`network_io` kind 3";
        /// Sum of their delays. Null: the recording does not tell which data was sent again.
        retransmit_delay: Option<i64>, Plain, "ns", "`network_io` kind 3";
        /// Longest of their delays.
        retransmit_delay_max: Option<i64>, Plain, "ns", "`network_io` kind 3";
        /// Number of retransmissions of the other side: data that was received again.
        client_retransmits: Option<i64>, Plain, "", "`network_io` kind 4";
        /// Time of the last event of sent data.
        last_sent: Option<i64>, Plain, "ns", "`network_io` kind 1, else 0";
        /// Time of the last event of received data.
        last_received: Option<i64>, Plain, "ns", "`network_io` kind 2";
        /// Longest time between two neighbouring events of sent data.
        max_send_gap: Option<i64>, Plain, "ns", "`network_io` kind 1, else 0";
        /// Longest time between two neighbouring events of received data.
        max_receive_gap: Option<i64>, Plain, "ns", "`network_io` kind 2";
        /// Number of keep-alive packets.
        keep_alives: Option<i64>, Plain, "", "`network_io` kind 6";
        /// Rate of sent data in bursts. A burst ends where 350 ms pass without an event. Bursts of
        /// one event have no rate. The rates of the bursts are weighted with their bytes.
        send_rate: Option<i64>, Plain, "bytes/s", "`network_io` kind 1, else 0";
        /// The same for received data.
        receive_rate: Option<i64>, Plain, "bytes/s", "`network_io` kind 2";
        /// Shortest delay of the retransmissions of this side.
        retransmit_delay_min: Option<i64>, Plain, "ns", "`network_io` kind 3";
        /// Median of these delays; of an even number the mean of the two in the middle. Null: the
        /// recording tells no delay, or has more delays than the extract keeps.
        retransmit_delay_median: Option<i64>, Plain, "ns", "`network_io` kind 3";
        /// Number of time-outs of retransmissions. Null: the recording has no such event.
        retransmit_time_outs: Option<i64>, Plain, "", "`network_io` kind 7";
    }
}

row! {
    /// One operation of a connection: data that was sent or received, and what befell it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct NetworkIoRow in "network_io", always: false, since: 6, At(time) {
        /// Time of the event.
        time: i64, Delta, "ns", "the event";
        /// CPU; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process of the connection.
        process: Option<ProcessId>, Dictionary, "", "`connections`";
        /// Thread that logged the event, where it belongs to this process.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Stack of the event.
        stack: Option<StackId>, Plain, "", "stack of the event";
        /// The connection.
        connection: ConnectionId, Dictionary, "", "made by the extract";
        /// 0 a process gave data to the stack, 1 data sent, 2 data received, 3 data sent again, 4 data
        /// received again, 5 tail-loss probe, 6 keep-alive, 7 time-out of a retransmission: sent data was
        /// not acknowledged in time (TCPIP 1069; Linux has no such event), 8 reset
        /// sent, 9 reset received, 10 dropped (Linux 6.11: a packet that came in), 11 duplicate
        /// acknowledgement, 12 a segment came in (Linux: its data counts as kind 2 when a process takes
        /// it). Data that was sent again has a row of kind 1, too, where the recording has such an event;
        /// likewise 4 and 2.
        kind: i8, Dictionary, "", "kind of the event";
        /// Bytes; 0 where the event does not tell.
        size: i64, Dictionary, "bytes", "BytesSent, NumBytes; size; sock_send_length, sock_recv_length ret; tcp_probe data_len";
        /// Sequence number of the first byte.
        sequence: Option<i64>, Plain, "", "SeqNo, SndUna";
        /// Time since the same data was sent (kind 3) or received (kind 4) before.
        delay: Option<i64>, Plain, "ns", "made by the extract";
        /// Smoothed round-trip time at this event.
        srtt: Option<i64>, Plain, "ns", "tcp_probe srtt";
        /// Window of the other side.
        window: Option<i64>, Plain, "bytes", "SndWnd; tcp_probe snd_wnd";
    }
}
