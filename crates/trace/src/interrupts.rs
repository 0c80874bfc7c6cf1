//! Pairs begin and end of interrupts, softirqs, timers and work items, and finds how much time of each others took inside of it.

use std::collections::VecDeque;

use crate::ids::{FrameId, ModuleId, ProcessId, StackId, ThreadId};
use crate::pairs::{Outcome, Pairs};
use crate::rows::interrupt_kinds;

/// Begins and requests without an end that are followed at most. Of more the oldest ones are given up.
const MOST: usize = 1 << 20;

/// Interrupts inside of one that are remembered at most per CPU.
const MOST_INSIDE: usize = 1 << 12;

/// What begins and ends with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InterruptKey {
    /// A value of [`interrupt_kinds`].
    pub kind: i8,
    /// The CPU; of what runs in a thread the number of the thread.
    pub place: u32,
    /// Number or address of what runs: the interrupt, the softirq, the timer, the work item.
    pub id: u64,
}

/// What the begin tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptBegin {
    /// Time, ns.
    pub start: i64,
    /// Process of the thread.
    pub process: Option<ProcessId>,
    /// The thread.
    pub thread: Option<ThreadId>,
    /// The routine.
    pub frame: Option<FrameId>,
    /// Its module.
    pub module: Option<ModuleId>,
    /// The number of a name.
    pub name: Option<u32>,
    /// Time since the request, ns.
    pub queued: Option<i64>,
    /// Call stack.
    pub stack: Option<StackId>,
}

/// A request to run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptRequest {
    /// Time, ns.
    pub time: i64,
    /// The number of a name.
    pub name: Option<u32>,
}

/// Interrupts on their way. Fed in the order of time.
#[derive(Debug)]
pub struct Interrupts {
    open: Pairs<InterruptKey, InterruptBegin, ()>,
    requests: Pairs<InterruptKey, InterruptRequest, ()>,
    /// Per CPU the spans that are over and that nothing known lies around: start and length.
    done: Vec<VecDeque<(i64, i64)>>,
}

impl Default for Interrupts {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Interrupts {
    /// None yet. Of more than `most` the oldest ones are given up.
    #[must_use]
    pub fn with_most(most: usize) -> Self {
        Self { open: Pairs::new(most), requests: Pairs::new(most), done: Vec::new() }
    }

    /// Whether a kind runs in a thread, which can leave the CPU meanwhile.
    #[must_use]
    pub fn is_in_a_thread(kind: i8) -> bool {
        matches!(kind, interrupt_kinds::THREADED_DPC | interrupt_kinds::WORK_ITEM)
    }

    /// Something is asked to run. `again`: who asks a second time asks for another run, and the first request led to none; else the
    /// first request stands.
    pub fn request(&mut self, key: InterruptKey, request: InterruptRequest, again: bool) {
        if again || self.requests.pending(&key).is_none() {
            self.requests.begin(key, request.time, request).for_each(drop);
        }
    }

    /// The request that leads to what runs now.
    pub fn requested(&mut self, key: InterruptKey) -> Option<InterruptRequest> {
        self.requests.pending(&key)?;
        match self.requests.end(key, ()) {
            Some(Outcome::Whole(request, ())) => Some(request),
            _ => None,
        }
    }

    /// Something begins. Gives the number of begins whose ends are now known to be missing.
    pub fn begin(&mut self, key: InterruptKey, begin: InterruptBegin) -> i64 {
        self.open.begin(key, begin.start, begin).count() as i64
    }

    /// Something ends. `None`: its begin is not known.
    pub fn end(&mut self, key: InterruptKey) -> Option<InterruptBegin> {
        match self.open.end(key, ()) {
            Some(Outcome::Whole(begin, ())) => Some(begin),
            _ => None,
        }
    }

    /// The time of a span of a CPU without the spans inside of it. The spans of a CPU come in the order of their ends, and are inside
    /// of each other or apart. `None`: a kind that runs in a thread, or an unknown CPU.
    pub fn exclusive(&mut self, kind: i8, cpu: i16, (start, time): (i64, i64)) -> Option<i64> {
        let cpu = usize::try_from(cpu).ok().filter(|_| !Self::is_in_a_thread(kind))?;
        if self.done.len() <= cpu {
            self.done.resize_with(cpu + 1, VecDeque::new);
        }
        let done = &mut self.done[cpu];
        let length = time.saturating_sub(start).max(0);
        let mut inside = 0_i64;
        while let Some((_, inner)) = done.pop_back_if(|(inner, _)| *inner >= start) {
            inside = inside.saturating_add(inner);
        }
        if done.len() >= MOST_INSIDE {
            done.pop_front();
        }
        done.push_back((start, length));
        Some(length.saturating_sub(inside).max(0))
    }

    /// Events were lost: what is open may have ended, and what was asked for may have run. Gives the number of open begins.
    pub fn lost(&mut self) -> i64 {
        self.requests.drain().for_each(drop);
        self.open.drain().count() as i64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Steps of a CPU: something begins, or what began last ends.
    fn spans(steps: &[(u8, bool)]) -> Vec<(u8, i64, i64)> {
        let mut open: [Vec<i64>; 2] = Default::default();
        let mut spans = Vec::new();
        for (time, (cpu, begins)) in steps.iter().enumerate() {
            let (time, stack) = (time as i64, &mut open[usize::from(*cpu)]);
            if *begins {
                stack.push(time);
            } else if let Some(start) = stack.pop() {
                spans.push((*cpu, start, time));
            }
        }
        spans
    }

    proptest! {
        /// Instant by instant: a span has an instant to itself if no span that began later has it.
        #[test]
        fn exclusive_times_are_those_of_instants(steps in prop::collection::vec((0..2_u8, any::<bool>()), 0..80)) {
            let all = spans(&steps);
            let mut interrupts = Interrupts::default();
            for (cpu, start, time) in &all {
                let inner = |at: i64| {
                    all.iter().any(|other| other.0 == *cpu && other.1 > *start && other.1 <= at && at < other.2)
                };
                let expected = (*start..*time).filter(|at| !inner(*at)).count() as i64;
                let found = interrupts.exclusive(interrupt_kinds::ISR, i16::from(*cpu), (*start, *time));
                prop_assert_eq!(found, Some(expected));
            }
        }

        /// Each end has the last begin of its key that no end has, if nothing of the key began since.
        #[test]
        fn ends_have_the_begins_of_their_keys(events in prop::collection::vec((0..4_u64, any::<bool>()), 0..60)) {
            let key = |id: u64| InterruptKey { kind: interrupt_kinds::SOFTIRQ, place: id as u32 % 2, id };
            let mut interrupts = Interrupts::default();
            let mut unended = 0;
            for (place, (id, begins)) in events.iter().enumerate() {
                let before = events[..place].iter().rposition(|(other, _)| other == id);
                let open = before.filter(|at| events[*at].1);
                if *begins {
                    let begin = InterruptBegin { start: place as i64, ..InterruptBegin::default() };
                    let count = interrupts.begin(key(*id), begin);
                    prop_assert_eq!(count, i64::from(open.is_some()));
                    unended += count;
                } else {
                    let found = interrupts.end(key(*id)).map(|begin| begin.start);
                    prop_assert_eq!(found, open.map(|at| at as i64));
                }
            }
            let begins = events.iter().filter(|(_, begins)| *begins).count() as i64;
            prop_assert!(unended + interrupts.lost() <= begins);
            prop_assert_eq!(interrupts.lost(), 0);
        }
    }

    #[test]
    fn requests_are_taken_once() {
        let key = InterruptKey { kind: interrupt_kinds::SOFTIRQ, place: 0, id: 3 };
        let request = |time| InterruptRequest { time, name: None };
        let mut interrupts = Interrupts::default();
        // A softirq that is raised again before it runs runs once.
        interrupts.request(key, request(10), false);
        interrupts.request(key, request(20), false);
        assert_eq!(interrupts.requested(key), Some(request(10)));
        assert_eq!(interrupts.requested(key), None);
        // A work item that is queued again was cancelled before.
        interrupts.request(key, request(30), true);
        interrupts.request(key, request(40), true);
        assert_eq!(interrupts.requested(key), Some(request(40)));
        interrupts.request(key, request(50), true);
        assert_eq!(interrupts.lost(), 0);
        assert_eq!(interrupts.requested(key), None);
    }

    #[test]
    fn what_runs_in_a_thread_has_no_exclusive_time() {
        let mut interrupts = Interrupts::default();
        assert_eq!(interrupts.exclusive(interrupt_kinds::WORK_ITEM, 0, (0, 100)), None);
        assert_eq!(interrupts.exclusive(interrupt_kinds::ISR, -1, (0, 100)), None);
        assert_eq!(interrupts.exclusive(interrupt_kinds::DPC, 0, (0, 50)), Some(50));
        for at in 0..10_000 {
            assert_eq!(interrupts.exclusive(interrupt_kinds::ISR, 0, (100 + at * 2, 101 + at * 2)), Some(1));
        }
        assert_eq!(interrupts.done[0].len(), MOST_INSIDE);
    }
}
