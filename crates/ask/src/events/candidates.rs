//! The names that a filter of events could have let pass. They are looked up if it let nothing
//! pass.

use std::ops::ControlFlow;

use super::{EventFilter, EventLine, IdRanges};
use crate::candidates::Candidates;
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::time_format::seconds;
use tracesift_grammar::TimeRange;

/// Events that are looked at. What did not come up among so many is told of all the same.
const MOST_EVENTS: u64 = 1_000_000;

/// One part of a filter, the name of what it looks at, and what there is of that.
type Part = (EventFilter, fn(&EventLine<'_>) -> String, Candidates);

/// The parts of a filter with what each of them lets pass, filled event by event.
#[derive(Debug)]
pub struct Search<'f> {
    filter: &'f EventFilter,
    parts: Vec<Part>,
    seen: u64,
    in_time: u64,
    span: Option<(i64, i64)>,
}

impl<'f> Search<'f> {
    /// A search for what this filter takes away.
    #[must_use]
    pub fn new(filter: &'f EventFilter) -> Self {
        let none = EventFilter::default();
        let mut parts: Vec<Part> = Vec::new();
        let mut part = |option, what, patterns: String, only: EventFilter, name| {
            parts.push((
                only,
                name,
                Candidates { option, what, patterns, figure: "most events", ..Candidates::default() },
            ));
        };
        if !filter.provider.is_empty() {
            let only = EventFilter { provider: filter.provider.clone(), ..none.clone() };
            part("--provider", ["provider", "providers"], filter.provider.to_string(), only, |event| {
                event.provider.to_owned()
            });
        }
        if !filter.class.is_empty() {
            let only = EventFilter { class: filter.class.clone(), ..none.clone() };
            part("--class", ["class of events", "classes of events"], filter.class.to_string(), only, |event| {
                event.event.split('/').next().unwrap_or_default().to_owned()
            });
        }
        if !filter.name.is_empty() {
            let only = EventFilter { name: filter.name.clone(), ..none.clone() };
            part("--name", ["name of events", "names of events"], filter.name.to_string(), only, |event| {
                event.event.to_owned()
            });
        }
        if !filter.ids.is_everything() {
            let only = EventFilter { ids: filter.ids.clone(), ..none.clone() };
            part("--id", ["id", "ids"], "the ids".to_owned(), only, |event| number(event).to_string());
        }
        let process = &filter.processes.process;
        if !process.is_empty() {
            let processes = ProcessFilter { process: process.clone(), ..ProcessFilter::default() };
            let only = EventFilter { processes, ..none.clone() };
            part("--process", ["process", "processes"], process.to_string(), only, |event| {
                event.process.unwrap_or_default().to_owned()
            });
        }
        if filter.threads != IdRanges::default() {
            let only = EventFilter { threads: filter.threads.clone(), ..none.clone() };
            part("--tid", ["thread", "threads"], "the ids".to_owned(), only, |event| {
                event.tid.map(|tid| tid.to_string()).unwrap_or_default()
            });
        }
        if !filter.conditions.is_empty() {
            let only = EventFilter { conditions: filter.conditions.clone(), ..none };
            part("--where", ["event", "events"], "the conditions".to_owned(), only, |_| String::new());
        }
        Self { filter, parts, seen: 0, in_time: 0, span: None }
    }

    /// Looks at an event of the recording.
    pub fn event(&mut self, event: &EventLine<'_>) -> ControlFlow<()> {
        self.seen += 1;
        let (start, end) = self.span.unwrap_or((event.time, event.time));
        self.span = Some((start.min(event.time), end.max(event.time)));
        self.in_time += u64::from(self.filter.time.contains(event.time));
        for (only, name, found) in &mut self.parts {
            found.passing += usize::from(
                only.accepts_kind(event.provider, "", event.event, number(event))
                    && only.accepts_thread(event.tid)
                    && (only.processes.is_empty() || accepts_process(&only.processes.process, event))
                    && only.accepts_fields(&event.fields),
            );
            found.add(name(event), 1);
        }
        if self.seen < MOST_EVENTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Why nothing passes. `of_processes` are the candidates of the filter of processes, without those of names.
    #[must_use]
    pub fn why(self, of_processes: Vec<Candidates>) -> Vec<String> {
        let Some((start, end)) = self.span else {
            return vec!["there are no events".to_owned()];
        };
        if self.in_time == 0 && self.filter.time != TimeRange::default() && self.seen < MOST_EVENTS {
            let (start, end) = (seconds(start, 3), seconds(end, 3));
            return vec![format!("no event lies in --time: there are events from {start} s to {end} s")];
        }
        let time = (self.filter.time != TimeRange::default()).then_some("--time");
        let parts: Vec<Candidates> = self.parts.into_iter().map(|(.., found)| found).chain(of_processes).collect();
        crate::nothing::explain(&parts, time.as_slice())
    }
}

fn accepts_process(patterns: &ProcessPatterns, event: &EventLine<'_>) -> bool {
    event.pid.is_some_and(|pid| patterns.matches(event.process.unwrap_or_default(), pid.into()))
}

fn number(event: &EventLine<'_>) -> u16 {
    event.id.unwrap_or(u16::from(event.opcode))
}
