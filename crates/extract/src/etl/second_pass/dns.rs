//! Queries for names, as the DNS client logs them.

use std::fmt::Write as _;

use tracesift_etl::schema::FieldText;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::dns::{Answer, Caller, DnsQueries, Question, ServerEvent, Subject};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::SecondPass;
use super::provider_fields::Fields;

/// Event ids of the provider.
mod id {
    /// All servers of an adapter, or one server, did not answer in time.
    pub(super) const ALL_SERVERS_TIMED_OUT: u16 = 1013;
    pub(super) const SERVER_TIMED_OUT: u16 = 1015;
    pub(super) const CALLED: u16 = 3006;
    pub(super) const COMPLETED: u16 = 3008;
    pub(super) const NETWORK_QUERY: u16 = 3009;
    pub(super) const SENT: u16 = 3010;
    pub(super) const RESPONSE: u16 = 3011;
    pub(super) const WIRE_QUERY: u16 = 3019;
}

event_fields! {
    /// A query is called, or completed.
    struct Query<'a> {
        name: FieldText<'a> = "QueryName",
        query_type: i32 = "QueryType",
        options: i64 = "QueryOptions",
        network: bool = "IsNetworkQuery",
        blob: u64 = "QueryBlob",
        status: i64 = "QueryStatus",
        results: FieldText<'a> = "QueryResults",
    }
}

event_fields! {
    /// The network is asked.
    struct Network<'a> {
        name: FieldText<'a> = "QueryName",
        client: u64 = "ClientPID",
        blob: u64 = "QueryBlob",
        parent_blob: u64 = "ParentBlob",
        adapter: FieldText<'a> = "AdapterName",
        local: FieldText<'a> = "LocalAddress",
        servers: FieldText<'a> = "DNSServerAddress",
        server: FieldText<'a> = "DnsServerIpAddress",
    }
}

event_fields! {
    /// A server did not answer in time.
    struct TimedOut<'a> {
        name: FieldText<'a> = "QueryName",
        client: u64 = "ClientPID",
        address: &'a [u8] = "Address",
    }
}

/// Queries on their way, and memory for texts.
#[derive(Default)]
pub(super) struct Dns {
    queries: DnsQueries,
    query: Fields<Query<'static>>,
    network: Fields<Network<'static>>,
    timed_out: Fields<TimedOut<'static>>,
    texts: Texts,
}

/// Texts of the event in hand.
#[derive(Default)]
struct Texts {
    name: String,
    results: String,
    adapter: String,
    servers: String,
}

fn set(text: &mut String, value: Option<FieldText<'_>>) {
    text.clear();
    if let Some(value) = value {
        let _ = write!(text, "{value}");
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the DNS client.
    pub(super) fn dns_client(&mut self, record: &Record<'_>, id: u16) {
        match id {
            id::CALLED | id::COMPLETED => self.dns_query(record, id),
            id::NETWORK_QUERY | id::SENT | id::RESPONSE | id::WIRE_QUERY => self.dns_network(record, id),
            id::ALL_SERVERS_TIMED_OUT | id::SERVER_TIMED_OUT => self.dns_time_out(record),
            _ => {}
        }
    }

    fn dns_query(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.dns.query.read(record, &self.schemas, &mut self.health) else { return };
        let stack = if id == id::CALLED { self.provider_stack(record) } else { None };
        let caller = Caller { stack, ..self.caller(record) };
        let Dns { queries, texts, .. } = &mut self.dns;
        set(&mut texts.name, event.name);
        let question = Question {
            name: &texts.name,
            query_type: event.query_type,
            options: event.options,
            network: event.network,
            identity: event.blob.filter(|blob| *blob != 0),
        };
        let row = if id == id::CALLED {
            queries.called(caller, &question)
        } else {
            set(&mut texts.results, event.results);
            let results = event.results.map(|_| &*texts.results);
            let answer = Answer { status: event.status, results };
            Some(queries.answered(caller, &question, &answer, self.start))
        };
        if let Some(row) = row {
            self.sink.dns_query(&row);
        }
    }

    fn dns_network(&mut self, record: &Record<'_>, id: u16) {
        let Some(event) = self.dns.network.read(record, &self.schemas, &mut self.health) else { return };
        let client = self.dns_client_process(record, event.client);
        let texts = &mut self.dns.texts;
        set(&mut texts.name, event.name);
        set(&mut texts.adapter, event.adapter);
        if let Some(local) = event.local {
            let _ = write!(texts.adapter, " ({local})");
        }
        set(&mut texts.servers, event.server.or(event.servers));
        let identities = [event.blob, event.parent_blob].map(|blob| blob.filter(|blob| *blob != 0));
        let subject = Subject { name: &texts.name, client, identities };
        let event = match id {
            id::NETWORK_QUERY => ServerEvent::Adapter { adapter: &texts.adapter, servers: &texts.servers },
            id::SENT => ServerEvent::Sent { server: &texts.servers },
            id::RESPONSE => ServerEvent::Response { server: &texts.servers },
            _ => ServerEvent::Wire,
        };
        self.dns.queries.server(self.clock.ns(record.time()), &subject, event);
    }

    fn dns_time_out(&mut self, record: &Record<'_>) {
        let Some(event) = self.dns.timed_out.read(record, &self.schemas, &mut self.health) else { return };
        let client = self.dns_client_process(record, event.client);
        let texts = &mut self.dns.texts;
        set(&mut texts.name, event.name);
        texts.servers.clear();
        if let Some((address, _)) = event.address.and_then(tracesift_etl::schema::socket_address) {
            let _ = write!(texts.servers, "{address}");
        }
        let subject = Subject { name: &texts.name, client, identities: [None; 2] };
        let event = ServerEvent::TimedOut { server: &texts.servers };
        self.dns.queries.server(self.clock.ns(record.time()), &subject, event);
    }

    /// The process that asked: the event names it, else it logged the event.
    fn dns_client_process(&mut self, record: &Record<'_>, named: Option<u64>) -> Option<ProcessId> {
        let named = named.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        named.or(record.pid()).map(|pid| self.population.process_at(pid, record.time()))
    }

    /// Queries that are open at the end.
    pub(super) fn finish_dns(&mut self, end: i64) {
        for row in self.dns.queries.finish(end) {
            self.sink.dns_query(&row);
        }
        let dropped = i64::try_from(self.dns.queries.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::DNS_QUERIES_WITHOUT_ANSWER, dropped, None, || {
            "more queries were open than are followed".to_owned()
        });
    }
}
