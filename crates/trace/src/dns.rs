//! Queries for names, from the call to the answer, with the servers that were asked for them.
//!
//! Calls and answers carry no identity on most builds of Windows. They are joined by process, name and type. Events of servers come
//! from the process that asked or from the service that asks for all; where they carry the identity of the query it decides, else the
//! process that asked, else the name alone.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::overlapping::Overlapping;
use crate::rows::{DnsQueryRow, dns_pairing};

/// Open queries that are followed at most. Beyond that the oldest ones end as open.
const MAX_OPEN: usize = 1 << 16;
/// Open queries for one name, at most: the oldest of them makes room.
const MAX_OF_NAME: usize = 256;
/// Events of servers that one query keeps at most.
const MAX_SERVERS: usize = 64;

/// Who called, and when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// The process.
    pub process: Option<ProcessId>,
    /// The thread.
    pub thread: Option<ThreadId>,
    /// Its stack.
    pub stack: Option<StackId>,
}

/// A name is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// The name in any case, with or without a dot at its end.
    pub name: &'a str,
    /// Type of the wanted record.
    pub query_type: Option<i32>,
    /// Flags.
    pub options: Option<i64>,
    /// Whether the network is asked.
    pub network: Option<bool>,
    /// Identity of the query, where the build logs one.
    pub identity: Option<u64>,
}

/// The end of a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer<'a> {
    /// Status.
    pub status: Option<i64>,
    /// The answer.
    pub results: Option<&'a str>,
}

/// The query that an event of a server belongs to, as far as the event tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// The name.
    pub name: &'a str,
    /// Process that asked, or that logged the event.
    pub client: Option<ProcessId>,
    /// Identities: of the query, or of the query behind it.
    pub identities: [Option<u64>; 2],
}

/// An event of a server.
#[derive(Clone, Copy, Debug)]
pub enum ServerEvent<'a> {
    /// The network is asked over an adapter, with the servers of the adapter.
    Adapter {
        /// Name and local address.
        adapter: &'a str,
        /// The servers.
        servers: &'a str,
    },
    /// A question was sent to a server.
    Sent {
        /// Address of the server.
        server: &'a str,
    },
    /// A server answered.
    Response {
        /// Address of the server.
        server: &'a str,
    },
    /// A server did not answer in time.
    TimedOut {
        /// Address of the server.
        server: &'a str,
    },
    /// The network is asked, no more is told.
    Wire,
}

/// Follows queries. Fed in the order of time.
#[derive(Debug)]
pub struct DnsQueries {
    /// Open queries, by name.
    open: Overlapping<Box<str>, Open>,
    name: String,
}

impl Default for DnsQueries {
    fn default() -> Self {
        Self { open: Overlapping::new(MAX_OPEN, MAX_OF_NAME), name: String::new() }
    }
}

#[derive(Debug, Default)]
struct Open {
    row: DnsQueryRow,
    identity: Option<u64>,
    /// Servers that adapters have; they count where no event tells which servers were asked.
    of_adapters: Option<Vec<String>>,
    sent: Vec<Sent>,
}

#[derive(Debug)]
struct Sent {
    server: String,
    time: i64,
    response: Option<i64>,
}

impl DnsQueries {
    /// A call. Gives the row of a query that had to make room.
    #[must_use]
    pub fn called(&mut self, caller: Caller, question: &Question<'_>) -> Option<DnsQueryRow> {
        let name = normal(question.name, &mut self.name);
        let mut open = Open { identity: question.identity, ..Open::default() };
        open.row = DnsQueryRow {
            start: caller.time,
            process: caller.process,
            thread: caller.thread,
            stack: caller.stack,
            name: name.to_owned(),
            query_type: question.query_type,
            options: question.options,
            network: question.network,
            ..DnsQueryRow::default()
        };
        let row = self.open.begin(name.into(), open);
        row.map(|open| open.ended_as_open(caller.time))
    }

    /// An answer, and the row of its query. `begin` is the start of the recording, for a query whose call is not in it.
    pub fn answered(
        &mut self,
        caller: Caller,
        question: &Question<'_>,
        answer: &Answer<'_>,
        begin: i64,
    ) -> DnsQueryRow {
        let name = normal(question.name, &mut self.name);
        let is_same =
            |(_, open): &(u64, &Open)| open.row.process == caller.process && open.row.query_type == question.query_type;
        let has_identity = |(_, open): &(u64, &Open)| question.identity.is_some() && open.identity == question.identity;
        // Calls of one thread are nested; those of others may be answered in any order.
        let of_thread = || {
            let mut newest = self.open.of(name).rev().filter(is_same);
            newest.find(|(_, open)| open.row.thread == caller.thread)
        };
        let identity = self.open.of(name).find(has_identity);
        let found = identity.or_else(of_thread).or_else(|| self.open.of(name).find(is_same));
        let number = found.map(|(number, _)| number);
        let began_before = number.is_none().then(|| name.to_owned());
        let mut row = match number.and_then(|number| self.open.take(number)) {
            Some(open) => open.into_row(),
            None => DnsQueryRow {
                start: begin,
                process: caller.process,
                thread: caller.thread,
                name: began_before.unwrap_or_default(),
                query_type: question.query_type,
                pairing: Some(dns_pairing::BEGAN_BEFORE),
                ..DnsQueryRow::default()
            },
        };
        row.time = caller.time;
        row.options = row.options.or(question.options);
        row.status = answer.status;
        row.results = answer.results.map(str::to_owned);
        row.open = Some(false);
        row
    }

    /// An event of a server, at a time. Whether an open query has it now.
    pub fn server(&mut self, time: i64, subject: &Subject<'_>, event: ServerEvent<'_>) -> bool {
        let name = normal(subject.name, &mut self.name);
        let fits = |fits: &dyn Fn(&Open) -> bool| {
            self.open.of(name).filter(|(_, open)| fits(open)).map(|(number, _)| number).collect::<Vec<_>>()
        };
        let of_identity = fits(&|open| open.identity.is_some() && subject.identities.contains(&open.identity));
        let of_client = fits(&|open| subject.client.is_some() && open.row.process == subject.client);
        let (fitting, pairing) = match (of_identity, of_client) {
            (numbers, _) if !numbers.is_empty() => (numbers, dns_pairing::IDENTITY),
            (_, numbers) if !numbers.is_empty() => (numbers, dns_pairing::CLIENT),
            _ => {
                let numbers = fits(&|_| true);
                let pairing = if numbers.len() == 1 { dns_pairing::NAME } else { dns_pairing::SEVERAL };
                (numbers, pairing)
            }
        };
        for number in &fitting {
            if let Some(open) = self.open.get_mut(*number) {
                open.row.pairing = open.row.pairing.max(Some(pairing));
                open.add(time, event);
            }
        }
        !fitting.is_empty()
    }

    /// The rows of the queries that are open at the end, in the order of their calls.
    pub fn finish(&mut self, end: i64) -> Vec<DnsQueryRow> {
        self.open.drain().map(|open| open.ended_as_open(end)).collect()
    }

    /// Queries that ended as open because more were open than are followed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.open.dropped()
    }
}

impl Open {
    fn add(&mut self, time: i64, event: ServerEvent<'_>) {
        if !matches!(event, ServerEvent::TimedOut { .. } | ServerEvent::Response { .. }) {
            self.row.network = Some(true);
        }
        match event {
            ServerEvent::Adapter { adapter, servers } => {
                once(&mut self.row.adapters, adapter);
                servers.split([';', ',', ' ']).filter(|server| !server.is_empty()).for_each(|server| {
                    once(&mut self.of_adapters, server);
                });
            }
            ServerEvent::Sent { server } => {
                if self.sent.len() < MAX_SERVERS {
                    self.sent.push(Sent { server: server.to_owned(), time, response: None });
                }
            }
            ServerEvent::Response { server } => {
                let waiting = |sent: &&mut Sent| sent.response.is_none() && sent.server == server;
                if let Some(sent) = self.sent.iter_mut().find(waiting) {
                    sent.response = Some(time.saturating_sub(sent.time));
                }
            }
            ServerEvent::TimedOut { server } => once(&mut self.row.timed_out, server),
            ServerEvent::Wire => {}
        }
    }

    fn ended_as_open(self, time: i64) -> DnsQueryRow {
        DnsQueryRow { time: time.max(self.row.start), open: Some(true), ..self.into_row() }
    }

    fn into_row(mut self) -> DnsQueryRow {
        let mut servers: Vec<String> = Vec::new();
        let mut responses: Vec<i64> = Vec::new();
        for sent in self.sent {
            let response = sent.response.unwrap_or(-1);
            match servers.iter().position(|server| *server == sent.server) {
                // Asked again: the response to any of its questions counts.
                Some(place) if responses[place] < 0 => responses[place] = response,
                Some(_) => {}
                None => {
                    servers.push(sent.server);
                    responses.push(response);
                }
            }
        }
        if servers.is_empty() {
            self.row.servers = self.of_adapters;
        } else {
            self.row.servers = Some(servers);
            self.row.responses = Some(responses);
        }
        self.row
    }
}

/// Adds a text that is not there yet.
fn once(list: &mut Option<Vec<String>>, text: &str) {
    if text.is_empty() {
        return;
    }
    let list = list.get_or_insert_default();
    if list.len() < MAX_SERVERS && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// A name in the form in which names are compared.
fn normal<'n>(name: &str, buffer: &'n mut String) -> &'n str {
    buffer.clear();
    buffer.extend(name.strip_suffix('.').unwrap_or(name).chars().map(|character| character.to_ascii_lowercase()));
    buffer
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Answer, Caller, DnsQueries, Question, ServerEvent, Subject};
    use crate::ids::{ProcessId, ThreadId};
    use crate::rows::dns_pairing;

    const NAMES: [&str; 3] = ["a.example", "B.Example.", "b.example"];

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Call { thread: i32, name: usize, query_type: i32 },
        Answer { thread: i32, name: usize, query_type: i32 },
        TimedOut { client: Option<i32>, name: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        let of = || (0..4_i32, 0..NAMES.len(), 0..2_i32);
        prop_oneof![
            of().prop_map(|(thread, name, query_type)| Step::Call { thread, name, query_type }),
            of().prop_map(|(thread, name, query_type)| Step::Answer { thread, name, query_type }),
            (prop::option::of(0..3_i32), 0..NAMES.len()).prop_map(|(client, name)| Step::TimedOut { client, name }),
        ]
    }

    /// Two threads per process.
    fn caller(time: i64, thread: i32) -> Caller {
        Caller { time, process: Some(ProcessId(thread / 2)), thread: Some(ThreadId(thread)), stack: None }
    }

    /// A query as the naive model has it.
    #[derive(Clone, Debug, PartialEq)]
    struct Plain {
        start: i64,
        thread: i32,
        name: String,
        query_type: i32,
        late: usize,
        pairing: Option<i8>,
    }

    proptest! {
        #[test]
        fn queries_are_paired_as_a_plain_list_pairs_them(steps in prop::collection::vec(step(), 0..60)) {
            let plain_name = |name: usize| NAMES[name].trim_end_matches('.').to_lowercase();
            let mut queries = DnsQueries::default();
            let mut open: Vec<Plain> = Vec::new();
            for (time, step) in steps.iter().enumerate() {
                let time = time as i64 + 1;
                match *step {
                    Step::Call { thread, name, query_type } => {
                        let question = Question { name: NAMES[name], query_type: Some(query_type), ..Question::default() };
                        prop_assert!(queries.called(caller(time, thread), &question).is_none());
                        let name = plain_name(name);
                        open.push(Plain { start: time, thread, name, query_type, late: 0, pairing: None });
                    }
                    Step::Answer { thread, name, query_type } => {
                        let question = Question { name: NAMES[name], query_type: Some(query_type), ..Question::default() };
                        let row = queries.answered(caller(time, thread), &question, &Answer::default(), 0);
                        let is_same = |query: &&Plain| {
                            query.name == plain_name(name) && query.query_type == query_type && query.thread / 2 == thread / 2
                        };
                        let newest = open.iter().rev().filter(is_same).find(|query| query.thread == thread);
                        let query = newest.or_else(|| open.iter().find(is_same)).cloned();
                        let start = query.as_ref().map_or(0, |query| query.start);
                        prop_assert_eq!((row.start, row.time, row.open), (start, time, Some(false)));
                        match query {
                            Some(query) => {
                                prop_assert_eq!(row.thread, Some(ThreadId(query.thread)));
                                prop_assert_eq!(row.timed_out.map_or(0, |servers| servers.len()), query.late.min(1));
                                prop_assert_eq!(row.pairing, query.pairing);
                                open.retain(|other| *other != query);
                            }
                            None => prop_assert_eq!(row.pairing, Some(dns_pairing::BEGAN_BEFORE)),
                        }
                    }
                    Step::TimedOut { client, name } => {
                        let subject =
                            Subject { name: NAMES[name], client: client.map(ProcessId), identities: [None; 2] };
                        let has = queries.server(time, &subject, ServerEvent::TimedOut { server: "10.0.0.1" });
                        let named: Vec<usize> = (0..open.len()).filter(|at| open[*at].name == plain_name(name)).collect();
                        let of_client: Vec<usize> =
                            named.iter().copied().filter(|at| Some(open[*at].thread / 2) == client).collect();
                        let (all, pairing) = match (of_client.is_empty(), named.len()) {
                            (false, _) => (of_client, dns_pairing::CLIENT),
                            (true, 1) => (named, dns_pairing::NAME),
                            (true, _) => (named, dns_pairing::SEVERAL),
                        };
                        prop_assert_eq!(has, !all.is_empty());
                        for at in all {
                            open[at].late += 1;
                            open[at].pairing = open[at].pairing.max(Some(pairing));
                        }
                    }
                }
            }
            let rest: Vec<(i64, Option<bool>)> = queries.finish(1_000).iter().map(|row| (row.start, row.open)).collect();
            prop_assert_eq!(rest, open.iter().map(|query| (query.start, Some(true))).collect::<Vec<_>>());
            prop_assert_eq!(queries.dropped(), 0);
        }
    }

    #[test]
    fn a_flood_of_calls_keeps_its_memory() {
        let mut queries = DnsQueries::default();
        let mut rows = 0;
        for time in 0..200_000 {
            let name = if time % 2 == 0 { "one.example".to_owned() } else { format!("{time}.example") };
            let question = Question { name: &name, ..Question::default() };
            rows += usize::from(queries.called(caller(time, 0), &question).is_some());
        }
        assert!(queries.open.of("one.example").count() <= super::MAX_OF_NAME && 200_000 - rows <= super::MAX_OPEN);
        assert_eq!(queries.dropped() as usize, rows);
        assert_eq!(rows + queries.finish(300_000).len(), 200_000, "each call has a row");
    }
}
