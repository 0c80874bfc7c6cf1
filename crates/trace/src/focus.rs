//! Who has the focus, from events about its changes. Each session of Windows has a focus of its own.
//!
//! Two events tell of a change: one names the threads, the other one the processes. Either can come first.

use rustc_hash::FxHashMap;

use crate::ids::{ProcessId, ThreadId};
use crate::rows::FocusRow;

/// Sessions that are followed; more only a forged recording has.
const MOST_SESSIONS: usize = 1 << 12;

/// A thread with its process.
pub type Owner = (ProcessId, ThreadId);

/// The focus of all sessions. Fed in the order of time.
#[derive(Debug, Default)]
pub struct Focus {
    /// Begin of the recording, ns.
    start: i64,
    sessions: FxHashMap<i32, Session>,
    missing: i64,
}

/// The focus of a session.
#[derive(Clone, Copy, Debug, Default)]
struct Session {
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    since: i64,
    /// The last time at which an event said so.
    confirmed: i64,
}

impl Session {
    fn row(&self, number: i32, end: i64, open: Option<bool>) -> Option<FocusRow> {
        let process = self.process.filter(|_| end > self.since)?;
        let (thread, start) = (self.thread, self.since);
        Some(FocusRow { time: end, start, process: Some(process), thread, session: number, open })
    }
}

impl Focus {
    /// Of a recording that begins at `start`.
    #[must_use]
    pub fn new(start: i64) -> Self {
        Self { start, ..Self::default() }
    }

    /// The only session that is known, for events that name none.
    #[must_use]
    pub fn only_session(&self) -> Option<i32> {
        self.sessions.keys().next().copied().filter(|_| self.sessions.len() == 1)
    }

    /// Events of the focus that are not in the recording, as others tell.
    #[must_use]
    pub fn missing(&self) -> i64 {
        self.missing
    }

    /// A process had the focus at that time.
    pub fn held(&mut self, session: i32, time: i64, process: ProcessId) -> Option<FocusRow> {
        self.changes(session, time, (Some(process), None), (Some(process), None))
    }

    /// The focus goes from a process to another one, or to none.
    pub fn process_changes(&mut self, session: i32, time: i64, [old, new]: [Option<ProcessId>; 2]) -> Option<FocusRow> {
        self.changes(session, time, (old, None), (new, None))
    }

    /// The focus goes from a thread to another one, or to none.
    pub fn thread_changes(&mut self, session: i32, time: i64, [old, new]: [Option<Owner>; 2]) -> Option<FocusRow> {
        let of = |owner: Option<Owner>| (owner.map(|owner| owner.0), owner.map(|owner| owner.1));
        self.changes(session, time, of(old), of(new))
    }

    fn changes(
        &mut self,
        number: i32,
        time: i64,
        (old, old_thread): (Option<ProcessId>, Option<ThreadId>),
        (new, new_thread): (Option<ProcessId>, Option<ThreadId>),
    ) -> Option<FocusRow> {
        if !self.sessions.contains_key(&number) && self.sessions.len() >= MOST_SESSIONS {
            self.missing = self.missing.saturating_add(1);
            return None;
        }
        let start = self.start;
        // The first event of a session tells who had the focus before.
        let first = || Session { process: old, thread: old_thread, since: start, confirmed: time };
        let session = self.sessions.entry(number).or_insert_with(first);
        let is_of_new = session.process == new;
        if is_of_new && new_thread.is_none() {
            // Told before, or by the event about threads.
            session.confirmed = time;
            return None;
        }
        if is_of_new && session.thread.is_none() && old != new {
            // The event about processes came first.
            (session.thread, session.confirmed) = (new_thread, time);
            return None;
        }
        let is_known = session.process == old;
        let end = if is_known { time } else { session.confirmed };
        if is_known && session.thread.is_none() {
            session.thread = old_thread;
        }
        self.missing = self.missing.saturating_add(i64::from(!is_known));
        let row = session.row(number, end, (!is_known).then_some(true));
        *session = Session { process: new, thread: new_thread, since: time, confirmed: time };
        row
    }

    /// The end of the recording: who has the focus.
    pub fn finish(self, end: i64) -> Vec<FocusRow> {
        let mut rows: Vec<FocusRow> =
            self.sessions.iter().filter_map(|(number, session)| session.row(*number, end, Some(true))).collect();
        rows.sort_unstable_by_key(|row| row.session);
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owner(process: i32) -> Option<Owner> {
        (process > 0).then_some((ProcessId(process), ThreadId(process * 10)))
    }

    fn process(process: i32) -> Option<ProcessId> {
        owner(process).map(|owner| owner.0)
    }

    proptest! {
        /// Changes between processes, in whichever order the two events of a change come, and if one of them is not logged.
        #[test]
        fn spans_are_those_between_the_changes(
            first in 0..4_i32,
            changes in prop::collection::vec((1..9_i64, 0..4_i32, 0..4_u8), 0..40),
        ) {
            let (mut focus, mut now, mut has) = (Focus::new(0), 0, first);
            let (mut rows, mut expected, mut since) = (Vec::new(), Vec::new(), 0);
            let mut is_first = true;
            for (later, to, order) in changes {
                if to == has {
                    continue;
                }
                now += later;
                let old_and_new = [has, to];
                for of_threads in [order % 2 == 0, order % 2 == 1] {
                    // Sometimes the events about processes are not enabled.
                    if of_threads {
                        rows.extend(focus.thread_changes(1, now, old_and_new.map(owner)));
                    } else if order < 2 {
                        rows.extend(focus.process_changes(1, now, old_and_new.map(process)));
                    }
                }
                if has > 0 {
                    expected.push((since, now, has));
                }
                (has, since) = (to, now);
                is_first = false;
            }
            let missing = focus.missing();
            rows.extend(focus.finish(1_000));
            if has > 0 && !is_first {
                expected.push((since, 1_000, has));
            }
            let plain = |row: &FocusRow| (row.start, row.time, row.process.map_or(0, |process| process.0));
            prop_assert_eq!(rows.iter().map(plain).collect::<Vec<_>>(), expected);
            prop_assert_eq!(missing, 0);
            prop_assert!(rows.iter().all(|row| row.thread.is_none_or(|thread| Some(thread.0) == row.process.map(|process| process.0 * 10))));
        }
    }

    #[test]
    fn a_change_that_is_not_recorded_ends_the_span_where_it_was_last_seen() {
        let mut focus = Focus::new(0);
        assert_eq!(
            focus.process_changes(1, 10, [process(1), process(2)]).map(|row| (row.start, row.time)),
            Some((0, 10))
        );
        assert_eq!(focus.held(1, 30, ProcessId(2)), None);
        let row = focus.process_changes(1, 90, [process(3), process(1)]).expect("a span");
        assert_eq!((row.start, row.time, row.process, row.open), (10, 30, Some(ProcessId(2)), Some(true)));
        assert_eq!(focus.missing(), 1);
        let last: Vec<_> = focus.finish(100).iter().map(|row| (row.start, row.time, row.open)).collect();
        assert_eq!(last, [(90, 100, Some(true))]);
    }

    #[test]
    fn sessions_are_apart_and_bounded() {
        let mut focus = Focus::new(0);
        for session in 0..10_000 {
            assert_eq!(focus.process_changes(session, 10, [None, process(1)]), None);
        }
        assert_eq!((focus.missing(), focus.finish(20).len()), (10_000 - 4096, 4096));
    }
}
