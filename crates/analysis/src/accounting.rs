//! Accounts for the lifetime of each thread.
//!
//! run + wait + ready + open + unknown is the thread's lifetime inside the recording and the time
//! range, to the nanosecond, for each thread and also for damaged rows. No term is a remainder of
//! the others: each is the sum of spans with that cause.
//!
//! A thread runs between its rows. The accounting keeps the time window that the rows of a thread
//! have covered so far. The window grows at both ends, so rows may come oldest or newest first.

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow, switch_flags};
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::RecordingFacts;
use crate::by_id::ById;
use crate::cpus::CpuSet;
use crate::spans::{Span, is_switch_in, pieces};
use crate::timeline::{OffCpuKind, Watched};
use crate::times::{TimesOfThreads, overlap, touching};

/// A time window in which a thread ran without a switch, cut to the time range; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The thread.
    pub thread: ThreadId,
    /// The CPU; `None` where the thread was running from the start and its CPU never switched.
    pub cpu: Option<i16>,
    /// When.
    pub span: Span,
}

/// The account of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadAccount {
    /// The thread.
    pub thread: ThreadId,
    /// Its process.
    pub process: ProcessId,
    /// Its life inside the recording and the time range.
    pub life: Span,
    /// On a CPU, ns.
    pub run: i64,
    /// Blocked, ns.
    pub wait: i64,
    /// Runnable without a CPU, ns; `None` when the recording has no ready events and the thread was never preempted.
    pub ready: Option<i64>,
    /// Off the CPU since before it was first seen, ns.
    pub open: i64,
    /// No switch of the thread was recorded, or a broken chain, ns.
    pub unknown: i64,
    /// Switch-ins inside the time range.
    pub switches: i64,
    /// Sum of priority × run time over the run time with a known priority.
    pub priority_time: i128,
    /// Run time with a known priority, ns.
    pub prioritized: i64,
    /// CPUs on which it ran.
    pub cpus: CpuSet,
    /// First time at which it was seen running.
    pub first: Option<i64>,
    /// Last time at which it was seen running.
    pub last: Option<i64>,
}

impl ThreadAccount {
    /// Mean priority, weighted by run time; `None` when no run time has a known priority.
    #[must_use]
    pub fn priority(&self) -> Option<f64> {
        (self.prioritized > 0).then(|| self.priority_time as f64 / self.prioritized as f64)
    }
}

/// The result of an [`Accounting`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accounts {
    /// One account per thread, in the order in which the threads were given.
    pub threads: Vec<ThreadAccount>,
    /// Rows that contradict the thread table or each other: 0 unless the archive is damaged. Time that such a row leaves
    /// without an explanation is unknown. Where only the rows around a time range were taken, it says nothing: neighbours are missing.
    pub contradictions: u64,
}

/// Accounts for the time of threads while switch rows stream by.
///
/// A question about a time range may leave out rows that do not touch it, except that a thread needs one row to be
/// known as running, and its rows next to the range for the CPU and the priority of a run that is under way at an end of it.
#[derive(Clone, Debug)]
pub struct Accounting {
    /// Ascending, none of them overlaps another.
    ranges: Vec<Span>,
    /// The times in the ranges that count; `None`: all.
    times: Option<TimesOfThreads>,
    has_ready: bool,
    threads: Vec<State>,
    /// By thread, then by range.
    parts: Vec<Part>,
    index: ById<usize>,
    first_switches: FxHashMap<i16, FirstSwitch>,
    /// Time of the previous row; by it and by nothing else rows of the same clock tick are put in order.
    previous: i64,
    newest_first: bool,
    contradictions: u64,
}

#[derive(Clone, Debug)]
struct State {
    thread: ThreadId,
    /// Life inside the recording, whatever the time range.
    life: Span,
    /// One that has lost its id while it ended stands in a row of its own, and has its life in the other.
    is_named: bool,
    covered: Option<Covered>,
}

/// What a thread has in one range.
#[derive(Clone, Debug)]
struct Part {
    account: ThreadAccount,
    ready: i64,
    preempted: bool,
}

/// What a thread has in all of them.
struct Parts<'a> {
    ranges: &'a [Span],
    /// The times in them that count; `None`: all.
    times: Option<&'a [Span]>,
    parts: &'a mut [Part],
}

impl Parts<'_> {
    /// Those of the ranges that may have something of the time from `start` to `end`, both included.
    fn touching(&mut self, start: i64, end: i64) -> impl Iterator<Item = (Span, &mut Part)> {
        let (mut from, mut to) = (0, self.ranges.len());
        if to > 1 {
            from = self.ranges.partition_point(|range| range.end < start);
            to = self.ranges.partition_point(|range| range.start <= end).max(from);
        }
        self.ranges[from..to].iter().copied().zip(&mut self.parts[from..to])
    }

    /// Visits each time that counts and that may have something of the time from `start` to `end`, both included.
    #[inline]
    fn each(&mut self, start: i64, end: i64, mut visit: impl FnMut(Span, &mut Part)) {
        let times = self.times;
        for (range, part) in self.touching(start, end) {
            match times {
                None => visit(range, part),
                Some(times) => {
                    let both = touching(times, start, end).iter().filter_map(|time| overlap(*time, range));
                    both.for_each(|time| visit(time, part));
                }
            }
        }
    }
}

/// The stretch from the first to the last row that a thread had so far.
#[derive(Clone, Copy, Debug)]
struct Covered {
    left: LeftEdge,
    right: RightEdge,
}

/// Where the earliest row starts: the thread ran before, unless the row says otherwise.
#[derive(Clone, Copy, Debug)]
struct LeftEdge {
    time: i64,
    priority: Option<i8>,
    runs_before: bool,
}

/// Where the latest row ends: the thread runs on, unless the row says otherwise.
#[derive(Clone, Copy, Debug)]
struct RightEdge {
    time: i64,
    cpu: Option<i16>,
    priority: Option<i8>,
    runs_on: bool,
}

/// The earliest switch on a CPU; who leaves there has run there since the start of the recording.
#[derive(Clone, Copy, Debug)]
struct FirstSwitch {
    time: i64,
    leaving: ThreadId,
}

view! {
    /// The columns of a switch row that the accounting reads.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct AccountedSwitch of ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, ready_time, priority, off_priority, flags,
    }
}

view! {
    /// The columns of a switch row that runs and spans need.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct SwitchWithoutPriorities of ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, ready_time, flags,
    }
}

impl From<SwitchWithoutPriorities> for AccountedSwitch {
    fn from(row: SwitchWithoutPriorities) -> Self {
        let SwitchWithoutPriorities { time, cpu, thread, prev_thread, off_time, ready_time, flags } = row;
        let (priority, off_priority) = (None, None);
        Self { time, cpu, thread, prev_thread, off_time, ready_time, priority, off_priority, flags }
    }
}

view! {
    /// The process and the life of a thread.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct ThreadLifetime of ThreadRow { thread, process, tid, start, end }
}

impl Accounting {
    /// An accounting over `range` ([`Span::ALL`] for everything) for the given threads.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
    ) -> Self {
        Self::series(recording, &[range], threads)
    }

    /// One accounting over each of several ranges, which stand in ascending order and do not overlap.
    #[must_use]
    pub fn series(
        recording: &RecordingFacts,
        ranges: &[Span],
        threads: impl IntoIterator<Item = impl Into<ThreadLifetime>>,
    ) -> Self {
        let threads: Vec<ThreadLifetime> = threads.into_iter().map(Into::into).collect();
        let states: Vec<State> = threads.iter().map(|row| State::new(row, recording.span)).collect();
        let of_thread = |(row, state): (&ThreadLifetime, &State)| {
            let life = state.life;
            ranges.iter().map(|range| Part::new(row, life.intersect(*range))).collect::<Vec<_>>()
        };
        let parts = threads.iter().zip(&states).flat_map(of_thread).collect();
        let mut index = ById::default();
        threads.iter().enumerate().for_each(|(place, row)| index.insert(row.thread.0, place));
        Self {
            ranges: ranges.to_vec(),
            times: None,
            has_ready: recording.has_ready,
            threads: states,
            parts,
            index,
            first_switches: FxHashMap::default(),
            previous: i64::MIN,
            newest_first: false,
            contradictions: 0,
        }
    }

    /// Counts nothing but these times of threads.
    #[must_use]
    pub fn inside(self, times: TimesOfThreads) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Takes the next row, in ascending or in descending order of the table. `visit` is called for each run that is now
    /// complete.
    #[inline]
    pub fn switch(&mut self, row: impl Into<AccountedSwitch>, visit: &mut impl FnMut(Run)) {
        self.take(&row.into(), &mut Runs(visit));
    }

    /// As [`Self::switch`], for somebody who wants to know of each piece of time, not only of runs. Of rows without priorities
    /// ([`SwitchWithoutPriorities`]) accounts have none.
    #[inline]
    pub fn switch_watched(&mut self, row: impl Into<AccountedSwitch>, watched: &mut impl Watched) {
        self.take(&row.into(), watched);
    }

    /// As [`Self::switch`], for runs and spans alone: the accounts have no priorities.
    #[inline]
    pub fn switch_without_priorities(&mut self, row: impl Into<SwitchWithoutPriorities>, visit: &mut impl FnMut(Run)) {
        self.take(&row.into().into(), &mut Runs(visit));
    }

    fn take(&mut self, row: &AccountedSwitch, watched: &mut impl Watched) {
        if row.time != self.previous {
            self.newest_first = row.time < self.previous;
            self.previous = row.time;
        }
        self.note_first_switch(row);
        let newest_first = self.newest_first;
        let index = self.index.get(row.thread.0).copied();
        let Some((index, state)) = index.and_then(|index| Some((index, self.threads.get_mut(index)?))) else {
            self.contradictions += 1;
            return;
        };
        let count = self.ranges.len();
        let parts = &mut Parts {
            ranges: &self.ranges,
            times: self.times.as_ref().map(|times| times.of(row.thread)),
            parts: &mut self.parts[index * count..(index + 1) * count],
        };
        let seen = Span::new(row.off_time, row.time);
        let span = Span { start: state.within_lifetime(seen.start), end: state.within_lifetime(seen.end) };
        let left = LeftEdge {
            time: span.start,
            priority: row.off_priority,
            runs_before: row.flags & switch_flags::OPEN_LEFT == 0,
        };
        let right =
            RightEdge { time: span.end, cpu: row.cpu, priority: row.priority, runs_on: is_switch_in(row.flags) };
        let explained = match &mut state.covered {
            None => {
                state.covered = Some(Covered { left, right });
                true
            }
            // Both sides fit only where nothing but empty spans in one clock tick is covered yet.
            Some(covered) if span.end <= covered.left.time && (newest_first || span.start < covered.right.time) => {
                let after = std::mem::replace(&mut covered.left, left);
                state.between(right, after, parts, watched)
            }
            Some(covered) if covered.right.time <= span.start => {
                let before = std::mem::replace(&mut covered.right, right);
                state.between(before, left, parts, watched)
            }
            // It overlaps what the thread's other rows have said already.
            Some(_) => {
                self.contradictions += 1;
                return;
            }
        };
        // A broken chain may come to light only after the thread's life.
        let outlives = span != seen && row.flags & switch_flags::BROKEN == 0;
        if !explained || outlives {
            self.contradictions += 1;
        }
        charge_off_cpu(row, span, self.has_ready, parts, watched);
    }

    /// Closes the accounts: what each thread did before its first and after its last row is settled now.
    pub fn finish(self, visit: &mut impl FnMut(Run)) -> Accounts {
        self.finish_series(visit).pop().unwrap_or_default()
    }

    /// Closes the accounts of each range. Contradictions are those of all rows.
    pub fn finish_series(self, visit: &mut impl FnMut(Run)) -> Vec<Accounts> {
        self.close(&mut Runs(visit))
    }

    /// As [`Self::finish`], for somebody who wants to know of each piece of time.
    pub fn finish_watched(self, watched: &mut impl Watched) -> Accounts {
        self.close(watched).pop().unwrap_or_default()
    }

    fn close(mut self, watched: &mut impl Watched) -> Vec<Accounts> {
        let mut first_cpus: FxHashMap<ThreadId, (i64, i16)> = FxHashMap::default();
        for (&cpu, first) in &self.first_switches {
            let entry = first_cpus.entry(first.leaving).or_insert((first.time, cpu));
            *entry = (*entry).min((first.time, cpu));
        }
        let count = self.ranges.len();
        for (state, parts) in self.threads.iter().zip(self.parts.chunks_mut(count.max(1))) {
            let first_cpu = first_cpus.get(&state.thread).map(|&(_, cpu)| cpu);
            let times = self.times.as_ref().map(|times| times.of(state.thread));
            if !state.close(first_cpu, &mut Parts { ranges: &self.ranges, times, parts }, watched) {
                self.contradictions += 1;
            }
        }
        let empty = Accounts { threads: Vec::with_capacity(self.threads.len()), contradictions: self.contradictions };
        // Recordings of build servers have hundreds of thousands of threads.
        drop((self.threads, self.index));
        let mut accounts = vec![empty; count];
        for (place, Part { mut account, ready, preempted }) in self.parts.into_iter().enumerate() {
            account.ready = (self.has_ready || preempted).then_some(ready);
            accounts[place % count].threads.push(account);
        }
        accounts
    }

    fn note_first_switch(&mut self, row: &AccountedSwitch) {
        let (Some(cpu), Some(leaving)) = (row.cpu, row.prev_thread) else { return };
        let this = FirstSwitch { time: row.time, leaving };
        let first = self.first_switches.entry(cpu).or_insert(this);
        if this.time < first.time || this.time == first.time && self.newest_first {
            *first = this;
        }
    }
}

impl State {
    fn new(row: &ThreadLifetime, recording: Span) -> Self {
        let start = row.start.unwrap_or(recording.start);
        let life = Span::new(start, row.end.unwrap_or(recording.end)).intersect(recording);
        Self { thread: row.thread, life, is_named: row.tid >= 0, covered: None }
    }

    fn within_lifetime(&self, time: i64) -> i64 {
        time.clamp(self.life.start, self.life.end)
    }

    /// The time between two neighbouring rows. False when the rows leave it without an explanation.
    fn between(&self, from: RightEdge, to: LeftEdge, parts: &mut Parts<'_>, watched: &mut impl Watched) -> bool {
        let span = Span { start: from.time, end: to.time };
        let runs = from.runs_on && to.runs_before;
        parts.each(span.start, span.end, |time, part| {
            let span = span.intersect(time);
            if runs {
                part.charge_run(span, from.cpu, from.priority.or(to.priority), watched);
            } else {
                part.charge_unknown(span, watched);
            }
        });
        runs || span.is_empty()
    }

    /// Charges what lies before the first and behind the last row. False when the rows leave time without an explanation.
    fn close(&self, first_cpu: Option<i16>, parts: &mut Parts<'_>, watched: &mut impl Watched) -> bool {
        let Some(Covered { left, right }) = self.covered else {
            if self.is_named {
                parts.each(self.life.start, self.life.end, |time, part| {
                    part.charge_unknown(time, watched);
                });
            } else {
                parts.parts.iter_mut().for_each(|part| part.account.life.end = part.account.life.start);
            }
            return true;
        };
        let birth = RightEdge { time: self.life.start, cpu: first_cpu, priority: None, runs_on: true };
        let death = LeftEdge { time: self.life.end, priority: None, runs_before: true };
        let before = self.between(birth, left, parts, watched);
        let behind = self.between(right, death, parts, watched);
        before && behind
    }
}

impl Part {
    fn new(row: &ThreadLifetime, life: Span) -> Self {
        let account = ThreadAccount {
            thread: row.thread,
            process: row.process,
            life,
            run: 0,
            wait: 0,
            ready: None,
            open: 0,
            unknown: 0,
            switches: 0,
            priority_time: 0,
            prioritized: 0,
            cpus: CpuSet::default(),
            first: None,
            last: None,
        };
        Self { account, ready: 0, preempted: false }
    }

    fn charge_unknown(&mut self, span: Span, watched: &mut impl Watched) {
        let span = span.intersect(self.account.life);
        self.account.unknown += span.length();
        if !span.is_empty() {
            watched.off(self.account.thread, OffCpuKind::Unknown, span);
        }
    }

    fn charge_run(&mut self, span: Span, cpu: Option<i16>, priority: Option<i8>, watched: &mut impl Watched) {
        let span = span.intersect(self.account.life);
        if span.is_empty() {
            return;
        }
        self.account.run += span.length();
        if let Some(priority) = priority {
            self.account.priority_time += i128::from(priority) * i128::from(span.length());
            self.account.prioritized += span.length();
        }
        self.seen_running(span.start, cpu);
        self.seen_running(span.end, None);
        watched.run(Run { thread: self.account.thread, cpu, span });
    }

    fn seen_running(&mut self, time: i64, cpu: Option<i16>) {
        let account = &mut self.account;
        account.first = Some(account.first.map_or(time, |first| first.min(time)));
        account.last = Some(account.last.map_or(time, |last| last.max(time)));
        if let Some(cpu) = cpu {
            account.cpus.insert(cpu);
        }
    }
}

/// Somebody who wants to know of runs alone.
struct Runs<'a, F>(&'a mut F);

impl<F: FnMut(Run)> Watched for Runs<'_, F> {
    #[inline]
    fn run(&mut self, run: Run) {
        (self.0)(run);
    }
}

/// Charges what a thread did off the CPU, and its switch-in.
fn charge_off_cpu(
    row: &AccountedSwitch,
    span: Span,
    has_ready: bool,
    parts: &mut Parts<'_>,
    watched: &mut impl Watched,
) {
    let pieces = pieces(row, has_ready);
    let (start, end) = (row.off_time.min(row.time), row.time.max(row.off_time));
    parts.each(span.start.min(start), span.end.max(end), |time, part| {
        if is_switch_in(row.flags) && time.contains(row.time) {
            part.account.switches += 1;
            watched.switch_in(row.thread, row.time);
            // It may leave again in the same clock tick, which is no run but still a sight of it.
            part.seen_running(row.time, row.cpu);
        }
        let life = part.account.life.intersect(span).intersect(time);
        let mut length = |piece: Option<Span>, kind: OffCpuKind| {
            let piece = piece.map(|piece| piece.intersect(life)).filter(|piece| !piece.is_empty());
            piece.into_iter().for_each(|piece| watched.off(row.thread, kind, piece));
            piece.map_or(0, Span::length)
        };
        part.account.wait += length(pieces.wait, OffCpuKind::Wait);
        part.account.open += length(pieces.open, OffCpuKind::Open);
        part.account.unknown += length(pieces.unknown, OffCpuKind::Unknown);
        part.ready += length(pieces.ready, OffCpuKind::Ready);
        part.preempted |= !has_ready && pieces.clip(time).ready.is_some();
    });
}
