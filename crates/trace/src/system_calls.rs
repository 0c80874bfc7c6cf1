//! Joins entries and exits of system calls of which one can be inside of another: the kernel calls a program back, which calls the kernel.

use rustc_hash::FxHashMap;

use crate::ids::{FrameId, StackId, ThreadId};

/// Calls inside of each other that are followed at most, per thread.
const MOST_OF_ONE: usize = 64;

/// A call that has not returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCall {
    /// Time of the entry, ns.
    pub start: i64,
    /// CPU of the entry.
    pub cpu: i16,
    /// The routine.
    pub frame: FrameId,
    /// Call stack at the entry.
    pub stack: Option<StackId>,
}

/// Calls that have not returned, by thread. Fed in the order of time.
#[derive(Debug, Default)]
pub struct SystemCalls {
    open: FxHashMap<ThreadId, Vec<OpenCall>>,
}

impl SystemCalls {
    /// Whether any call has not returned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A thread calls the kernel. Gives the number of calls that are no longer followed: of too many inside of each other the first one.
    pub fn enter(&mut self, thread: ThreadId, call: OpenCall) -> i64 {
        let open = self.open.entry(thread).or_default();
        let is_full = open.len() >= MOST_OF_ONE;
        if is_full {
            open.remove(0);
        }
        open.push(call);
        i64::from(is_full)
    }

    /// A call of the thread returns: the last one that has not. `None`: its entry is not known.
    pub fn exit(&mut self, thread: ThreadId) -> Option<OpenCall> {
        let open = self.open.get_mut(&thread)?;
        let call = open.pop();
        if open.is_empty() {
            self.open.remove(&thread);
        }
        call
    }

    /// Nothing is known any more of what the thread has called. Gives the number of its open calls.
    pub fn forget(&mut self, thread: ThreadId) -> i64 {
        self.open.remove(&thread).map_or(0, |open| open.len() as i64)
    }

    /// Nothing is known any more of any thread. Gives the number of open calls.
    pub fn forget_all(&mut self) -> i64 {
        self.open.drain().map(|(_, open)| open.len() as i64).sum()
    }

    /// The end of the recording: of each thread its last call that has not returned, in the order in which they began, and the number of
    /// the others. One with another call inside of it may never return, and nothing tells.
    pub fn finish(self) -> (Vec<(ThreadId, OpenCall)>, i64) {
        let others = self.open.values().map(|open| open.len() as i64 - 1).sum();
        let last = self.open.into_iter().filter_map(|(thread, open)| Some((thread, *open.last()?)));
        let mut last: Vec<(ThreadId, OpenCall)> = last.collect();
        last.sort_unstable_by_key(|(thread, call)| (call.start, *thread));
        (last, others)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(start: usize) -> OpenCall {
        OpenCall { start: start as i64, ..OpenCall::default() }
    }

    /// The entry of an exit: the last one before it with as many exits as entries of the thread between them.
    fn naive(events: &[(i32, u8)], place: usize) -> Option<usize> {
        let thread = events[place].0;
        let mut depth = 0;
        for at in (0..place).rev() {
            match events[at] {
                (other, _) if other != thread => {}
                (_, 0) if depth == 0 => return Some(at),
                (_, 0) => depth -= 1,
                (_, 1) => depth += 1,
                // The thread is forgotten.
                _ => return None,
            }
        }
        None
    }

    proptest! {
        #[test]
        fn exits_have_the_last_entry_of_their_thread(events in prop::collection::vec((0..3_i32, 0..3_u8), 0..80)) {
            let mut calls = SystemCalls::default();
            let mut open = 0;
            for (place, (thread, what)) in events.iter().enumerate() {
                let id = ThreadId(*thread);
                match what {
                    0 => {
                        prop_assert_eq!(calls.enter(id, call(place)), 0);
                        open += 1;
                    }
                    1 => {
                        // An exit without an entry has no part in what follows.
                        let found = calls.exit(id).map(|call| call.start as usize);
                        open -= i64::from(found.is_some());
                        if naive(&events, place).is_some() {
                            prop_assert_eq!(found, naive(&events, place));
                        }
                    }
                    // Forgotten now and then.
                    _ if place % 7 == 0 => open -= calls.forget(id),
                    _ => {}
                }
            }
            prop_assert_eq!(calls.is_empty(), open == 0);
            let (last, others) = calls.finish();
            prop_assert_eq!(last.len() as i64 + others, open);
            prop_assert!(last.is_sorted_by_key(|(_, call)| call.start));
        }
    }

    #[test]
    fn the_first_of_too_many_is_given_up() {
        let mut calls = SystemCalls::default();
        let thread = ThreadId(7);
        let given_up: i64 = (0..100).map(|start| calls.enter(thread, call(start))).sum();
        assert_eq!(given_up, 36);
        for start in (36..100).rev() {
            assert_eq!(calls.exit(thread), Some(call(start)));
        }
        assert_eq!(calls.exit(thread), None);
        calls.enter(thread, call(1));
        calls.enter(thread, call(2));
        assert_eq!((calls.forget_all(), calls.is_empty()), (2, true));
    }
}
