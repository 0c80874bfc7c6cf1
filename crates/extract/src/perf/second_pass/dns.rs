//! Queries for names, from probes in the C library.

use tracesift_trace::dns::{Answer, Caller, DnsQueries, Question};
use tracesift_trace::open_lives::OpenLives;
use tracesift_trace::{HealthKind, RowSink, ThreadId};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::{DnsEdge, DnsFields};

/// Calls that have not returned, of all threads. Of more those of the thread that called first are forgotten.
const MAX_CALLS: usize = 1 << 20;

/// Follows the calls of threads.
pub(crate) struct Dns {
    queries: DnsQueries,
    /// Calls that have not returned, the outermost first: a return tells neither the name nor the type.
    calls: OpenLives<ThreadId, Vec<Call>>,
    /// Number of the calls of all threads.
    count: usize,
    name: String,
}

impl Default for Dns {
    fn default() -> Self {
        Self { queries: DnsQueries::default(), calls: OpenLives::new(MAX_CALLS), count: 0, name: String::new() }
    }
}

struct Call {
    function: &'static str,
    /// Name and type; `None` where nothing is looked up.
    question: Option<(Box<str>, Option<i32>)>,
}

impl Dns {
    /// A call or a return.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &DnsFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some(raw) = at.sample.raw else {
            return rows.health.count(HealthKind::INCOMPLETE_NETWORK_EVENTS, Some(at.ticks), || {
                format!("a call of {} without its fields", fields.function)
            });
        };
        match &fields.edge {
            DnsEdge::Call(call) => {
                let query_type = call.question(raw, &mut self.name);
                let question = query_type.map(|query_type| (self.name.as_str().into(), query_type));
                self.call(Call { function: fields.function, question }, at, rows);
            }
            DnsEdge::Return(result) => match result.get(raw) {
                Some(result) => self.returned(fields.function, fields.status(result), at, rows),
                None => rows.health.count(HealthKind::INCOMPLETE_NETWORK_EVENTS, Some(at.ticks), || {
                    format!("a return of {} without its result", fields.function)
                }),
            },
        }
    }

    fn call<Sink: RowSink>(&mut self, call: Call, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
        if self.count >= MAX_CALLS {
            let forgotten = self.calls.oldest().map_or(0, |calls| calls.len());
            self.count -= forgotten;
            rows.health.add(HealthKind::DNS_QUERIES_WITHOUT_ANSWER, forgotten as i64, Some(at.ticks), || {
                "calls that did not return".to_owned()
            });
        }
        if let Some((name, query_type)) = &call.question {
            let caller = Caller { stack: stack_of(at, rows), ..caller(at, rows) };
            let question = Question { name, query_type: *query_type, ..Question::default() };
            if let Some(row) = self.queries.called(caller, &question) {
                rows.sink.dns_query(&row);
            }
        }
        match self.calls.get_mut(&at.thread) {
            Some(calls) => calls.push(call),
            // The calls are fewer than there is room for, so that no thread has to leave.
            None => drop(self.calls.insert(at.thread, None, vec![call])),
        }
        self.count += 1;
    }

    fn returned<Sink: RowSink>(
        &mut self,
        function: &str,
        status: i64,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let calls = self.calls.get_mut(&at.thread);
        // Calls inside of it that never returned stay open: their thread left them by a jump.
        let called = calls.and_then(|calls| {
            let place = calls.iter().rposition(|call| call.function == function)?;
            self.count -= calls.len() - place;
            calls.drain(place..).next()
        });
        match called {
            Some(Call { question: Some((name, query_type)), .. }) => {
                let question = Question { name: &name, query_type, ..Question::default() };
                let answer = Answer { status: Some(status), results: None };
                let row = self.queries.answered(caller(at, rows), &question, &answer, 0);
                rows.sink.dns_query(&row);
            }
            Some(Call { question: None, .. }) => {}
            None => rows.health.count(HealthKind::DNS_ANSWERS_WITHOUT_CALL, Some(at.ticks), || {
                format!("{function} returned without having been called")
            }),
        }
        if self.calls.get(&at.thread).is_some_and(Vec::is_empty) {
            self.calls.remove(&at.thread);
        }
    }

    /// The end of the recording, ns since time zero.
    pub(crate) fn finish<Sink: RowSink>(mut self, end: i64, rows: &mut Rows<'_, Sink>) {
        for row in self.queries.finish(end) {
            rows.sink.dns_query(&row);
        }
        let dropped = i64::try_from(self.queries.dropped()).unwrap_or(i64::MAX);
        rows.health.add(HealthKind::DNS_QUERIES_WITHOUT_ANSWER, dropped, None, || {
            "more calls were open than are followed".to_owned()
        });
    }
}

fn caller<Sink>(at: &SampleContext<'_>, rows: &Rows<'_, Sink>) -> Caller {
    Caller { time: rows.clock.ns(at.ticks), process: Some(at.process), thread: Some(at.thread), stack: None }
}
