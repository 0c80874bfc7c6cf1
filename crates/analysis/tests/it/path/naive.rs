//! The path by its recursive definition over what really happened: plain, and slow.

use tracesift_analysis::Span;
use tracesift_analysis::path::{Cause, Gap, Leaf, Link, Occupant, State, Waker};
use tracesift_trace::ThreadId;

use super::machine::{Did, Machine, Stretch, is_wait_for_work};

/// A leaf with its chain.
pub(super) type Found = (Leaf, Vec<Link>);

pub(super) struct Naive<'a> {
    machine: &'a Machine,
    window: Span,
    follow_requests: bool,
    leaves: Vec<Found>,
}

/// The leaves of a window, by descending time.
pub(super) fn path(machine: &Machine, window: Span, anchor: ThreadId, follow_requests: bool) -> Vec<Found> {
    let mut naive = Naive { machine, window, follow_requests, leaves: Vec::new() };
    let mut chain = vec![Link { thread: anchor, start: window.start, wait_stack: None, unborn: None }];
    naive.path(window.end, &mut chain);
    naive.leaves
}

impl Naive<'_> {
    /// What the last thread of the chain did from the start of its link to `end`.
    fn path(&mut self, end: i64, chain: &mut Vec<Link>) {
        let machine = self.machine;
        let Some(&Link { thread, start, .. }) = chain.last() else { return };
        let recorded = machine.recording.span;
        let born = machine.threads[thread.index()].start;
        let died = machine.threads[thread.index()].end.unwrap_or(recorded.end);
        let truth = &machine.truth[thread.index()];
        self.unknown(recorded.end.max(start), end, Gap::OutsideRecording, chain);
        self.unknown(died.max(start), end.min(recorded.end), Gap::AfterEnd, chain);
        let mut end = end.min(died);
        for stretch in truth.iter().rev() {
            let (from, to) = (stretch.start.max(start), stretch.end.min(end));
            if let Did::Open { born, creator } = stretch.did {
                // Nothing of a thread that is born after the window touches it.
                let is_seen = stretch.start < self.window.end;
                self.before_birth(end.min(stretch.end), born, creator, is_seen, chain);
                return;
            }
            if from >= to {
                continue;
            }
            end = from;
            match stretch.did {
                Did::Wait { waker: Waker::Thread(waker), stack }
                    if self.follow_requests && is_wait_for_work(stack) && chain.len() == 1 =>
                {
                    chain[0].thread = waker;
                    chain[0].unborn = None;
                    self.path(to, chain);
                    return;
                }
                Did::Wait { waker: Waker::Thread(waker), stack } => {
                    assert!(chain.iter().all(|link| link.thread != waker), "the schedule is consistent");
                    chain.push(Link { thread: waker, start: from, wait_stack: stack, unborn: None });
                    self.path(to, chain);
                    chain.pop();
                }
                Did::Ready { cpu: Some(cpu), .. } => self.divide(cpu, from, to, stretch, chain),
                did => self.leaf(from, to, self.state(did, stretch), chain),
            }
        }
        let gap = if truth.is_empty() { Gap::NoSwitches } else { Gap::BeforeStart };
        let first = born.unwrap_or(recorded.start);
        self.unknown(first.max(start), end, gap, chain);
        self.unknown(recorded.start.max(start), end.min(first), Gap::BeforeStart, chain);
        self.unknown(start, end.min(recorded.start), Gap::OutsideRecording, chain);
    }

    fn before_birth(&mut self, end: i64, born: bool, creator: Waker, is_seen: bool, chain: &[Link]) {
        let Some(link) = chain.last().copied() else { return };
        let start = link.start;
        if let (Waker::Thread(creator), true, true) = (creator, is_seen, start < end) {
            let mut of_creator = chain[..chain.len() - 1].to_vec();
            of_creator.push(Link { thread: creator, unborn: link.unborn.or(Some(link.thread)), ..link });
            self.path(end, &mut of_creator);
            return;
        }
        let recorded = self.machine.recording.span.start;
        let gap = if born { Gap::BeforeStart } else { Gap::NotSeenYet };
        self.unknown(recorded.max(start), end, gap, chain);
        self.unknown(start, end.min(recorded), Gap::OutsideRecording, chain);
    }

    fn state(&self, did: Did, stretch: &Stretch) -> State {
        let cause = |waker| match waker {
            Waker::Interrupt(interrupt) => Cause::Interrupt(interrupt),
            Waker::Thread(_) | Waker::Nobody => Cause::Nobody,
        };
        match did {
            // Of a thread that leaves after the window nothing touches it.
            Did::Run(stack) => State::Run { ends_with: stack.filter(|_| stretch.end < self.window.end) },
            Did::Wait { waker, stack } => State::Wait { cause: cause(waker), stack },
            Did::Ready { cpu, stack } => State::Ready { cpu, occupant: Occupant::Unknown, stack },
            Did::Open { .. } | Did::Lost => State::Unknown(Gap::BrokenChain),
        }
    }

    fn divide(&mut self, cpu: i16, from: i64, to: i64, stretch: &Stretch, chain: &[Link]) {
        let Did::Ready { stack, .. } = stretch.did else { return };
        let stays = &self.machine.cpus[usize::try_from(cpu).expect("a CPU")];
        let ends = stays.iter().skip(1).map(|(start, _)| *start).chain([i64::MAX]);
        let parts: Vec<(i64, i64, ThreadId)> =
            stays.iter().zip(ends).map(|((start, thread), end)| (from.max(*start), to.min(end), *thread)).collect();
        for (from, to, thread) in parts.into_iter().rev() {
            let is_idle = self.machine.threads[thread.index()].idle_cpu.is_some();
            let occupant = if is_idle { Occupant::Idle } else { Occupant::Thread(thread) };
            self.leaf(from, to, State::Ready { cpu: Some(cpu), occupant, stack }, chain);
        }
    }

    fn unknown(&mut self, from: i64, to: i64, gap: Gap, chain: &[Link]) {
        self.leaf(from, to, State::Unknown(gap), chain);
    }

    fn leaf(&mut self, start: i64, end: i64, state: State, chain: &[Link]) {
        if let Some(link) = chain.last().filter(|_| start < end) {
            self.leaves.push((Leaf { span: Span { start, end }, thread: link.thread, state }, chain.to_vec()));
        }
    }
}
