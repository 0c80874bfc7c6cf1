//! A machine simulated nanosecond by nanosecond: the rows that its recording would hold, and what really happened.
//!
//! The truth is written down while the machine runs, one cell per thread and nanosecond, and never derived from rows.

use std::collections::BTreeMap;

use tracesift_analysis::{MethodId, RecordingFacts, Span, StackMethods};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, Origin, StackRow, ThreadRow, switch_flags};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

/// What a thread did during one nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// Ran on this CPU with this priority; `None` where lost events hide the priority.
    Run(i16, Option<i8>),
    Wait,
    Ready,
    Open,
    Unknown,
    /// It did not live.
    Nothing,
}

/// An off-CPU span as it really was.
#[derive(Clone, Debug)]
pub(crate) struct TrueSpan {
    pub(crate) thread: ThreadId,
    pub(crate) stack: Option<StackId>,
    pub(crate) wait: Option<(i64, i64)>,
    pub(crate) ready: Option<(i64, i64)>,
    pub(crate) switch_in: Option<i64>,
}

pub(crate) struct Machine {
    pub(crate) recording: RecordingFacts,
    pub(crate) threads: Vec<ThreadRow>,
    /// In the order of the table.
    pub(crate) switches: Vec<ContextSwitchRow>,
    pub(crate) samples: Vec<CpuSampleRow>,
    pub(crate) stacks: Vec<StackRow>,
    /// Methods of each frame, innermost first.
    pub(crate) frames: Vec<Vec<MethodId>>,
    /// Per thread, the cells from the recording's start to its end.
    pub(crate) truth: Vec<Vec<Did>>,
    pub(crate) spans: Vec<TrueSpan>,
}

impl Machine {
    pub(crate) fn source(&self) -> StackMethods {
        let mut source = StackMethods::new();
        for (index, methods) in self.frames.iter().enumerate() {
            source.add_frame(FrameId::from_index(index), methods);
        }
        self.stacks.iter().for_each(|stack| source.add_stack(stack));
        source
    }

    pub(crate) fn did(&self, thread: ThreadId, time: i64) -> Did {
        let index = usize::try_from(time - self.recording.span.start).expect("inside of the recording");
        self.truth[thread.index()][index]
    }

    /// Methods of a stack, each once.
    pub(crate) fn methods(&self, stack: StackId) -> Vec<MethodId> {
        let mut methods = Vec::new();
        for frame in &self.stacks[stack.index()].frames {
            for &method in &self.frames[frame.index()] {
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        methods
    }
}

/// Random numbers from a seed (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Unborn,
    /// Off the CPU at the left edge, or born and never switched in.
    Outside,
    On(i16),
    Blocked,
    Runnable,
    Dead,
}

struct Thread {
    now: Now,
    switched: bool,
    born_inside: bool,
    priority: i8,
    left: i64,
    preempted: bool,
    ready_time: Option<i64>,
    run_priority: i8,
}

const PROCESSES: u64 = 3;
const STACKS: u64 = 12;

/// Runs a machine. `has_ready` decides whether its ready events are recorded.
#[expect(clippy::too_many_lines, reason = "one step per thing that a machine does")]
pub(crate) fn run(seed: u64, has_ready: bool) -> Machine {
    let mut dice = Dice::new(seed);
    let start = dice.below(60) as i64 - 30;
    let length = 1 + dice.below(160) as i64;
    let end = start + length;
    let cpu_count = 1 + dice.below(3) as usize;
    let worker_count = 1 + dice.below(5) as usize;
    let sample_interval = 1 + dice.below(9) as i64;
    let busy = 2 + dice.below(40);

    let frames = (0..30).map(|_| (0..1 + dice.below(2)).map(|_| MethodId(dice.below(12) as u32)).collect()).collect();
    let stacks = (0..STACKS)
        .map(|stack| StackRow {
            stack: StackId(stack as i32),
            frames: (0..dice.below(9)).map(|_| FrameId(dice.below(30) as i32)).collect(),
        })
        .collect::<Vec<_>>();

    // The idle threads come first, one per CPU, then the others.
    let count = cpu_count + worker_count;
    let mut rows = (0..count)
        .map(|index| ThreadRow {
            thread: ThreadId::from_index(index),
            process: ProcessId(if index < cpu_count { 0 } else { 1 + dice.below(PROCESSES) as i32 }),
            tid: index as i64,
            idle_cpu: (index < cpu_count).then_some(index as i16),
            origin: Origin::Event,
            ..ThreadRow::default()
        })
        .collect::<Vec<_>>();
    let mut threads = (0..count)
        .map(|index| {
            let unborn = index >= cpu_count && dice.chance(30);
            Thread {
                now: if unborn { Now::Unborn } else { Now::Outside },
                switched: false,
                born_inside: unborn,
                priority: dice.below(16) as i8,
                left: start,
                preempted: false,
                ready_time: None,
                run_priority: 0,
            }
        })
        .collect::<Vec<_>>();
    let mut on_cpu = Vec::new();
    for cpu in 0..cpu_count {
        let worker = cpu_count + dice.below(worker_count as u64) as usize;
        let first = if threads[worker].now == Now::Outside && dice.chance(50) { worker } else { cpu };
        threads[first].now = Now::On(cpu as i16);
        threads[first].run_priority = threads[first].priority;
        on_cpu.push(first);
    }

    let mut truth = vec![Vec::new(); count];
    let mut switches = Vec::new();
    let mut samples = Vec::new();
    let mut spans = Vec::new();
    for time in start..end {
        for (index, thread) in threads.iter_mut().enumerate() {
            match thread.now {
                Now::Unborn if dice.chance(8) => {
                    thread.now = Now::Outside;
                    thread.left = time;
                    rows[index].start = Some(time);
                }
                Now::Blocked if dice.chance(busy) => {
                    thread.now = Now::Runnable;
                    thread.ready_time = Some(time);
                }
                // Only the life of a thread that is born inside the recording is known from its first ready event on.
                Now::Outside if thread.born_inside && thread.ready_time.is_none() && dice.chance(busy) => {
                    thread.ready_time = Some(time);
                }
                Now::Blocked | Now::Runnable if index >= cpu_count && dice.chance(1) => {
                    close(index, thread, time, has_ready, &mut switches, &mut spans);
                    thread.now = Now::Dead;
                    rows[index].end = Some(time);
                }
                _ => {}
            }
        }
        for (cpu, running) in on_cpu.iter_mut().enumerate() {
            while dice.chance(busy) {
                let old = *running;
                let candidates = (cpu_count..count)
                    .chain([cpu])
                    .filter(|&index| {
                        let runnable = matches!(threads[index].now, Now::Runnable | Now::Outside);
                        index != old && (runnable || index == cpu)
                    })
                    .collect::<Vec<_>>();
                if candidates.is_empty() {
                    break;
                }
                let new = candidates[dice.below(candidates.len() as u64) as usize];
                leave(&mut threads[old], time, old < cpu_count || dice.chance(30));
                let stack = dice.chance(80).then(|| StackId(dice.below(STACKS) as i32));
                let c_state = dice.chance(20).then(|| dice.below(3) as i8);
                let row = enter(new, old, cpu, &mut threads, time, (stack, c_state), has_ready, &mut spans);
                switches.push(row);
                *running = new;
            }
            let running = *running;
            if (time - start) % sample_interval == 0 {
                samples.push(CpuSampleRow {
                    time,
                    cpu: cpu as i16,
                    process: rows[running].process,
                    thread: ThreadId::from_index(running),
                    weight: sample_interval,
                    stack: dice.chance(90).then(|| StackId(dice.below(STACKS) as i32)),
                    frame: None,
                    priority: dice.chance(50).then_some(threads[running].priority),
                    flags: 0,
                });
            }
        }
        for (index, thread) in threads.iter().enumerate() {
            truth[index].push(match thread.now {
                Now::Unborn | Now::Dead => Did::Nothing,
                Now::On(cpu) => Did::Run(cpu, Some(thread.run_priority)),
                Now::Blocked => Did::Wait,
                Now::Runnable if has_ready || thread.preempted => Did::Ready,
                Now::Runnable => Did::Wait,
                Now::Outside if thread.ready_time.is_some() && has_ready => Did::Ready,
                Now::Outside => Did::Open,
            });
        }
    }
    for (index, thread) in threads.iter_mut().enumerate() {
        if thread.switched && matches!(thread.now, Now::Blocked | Now::Runnable) {
            close(index, thread, end, has_ready, &mut switches, &mut spans);
        }
        if thread.now == Now::Unborn {
            // It is born in the last instant and has no time to live.
            rows[index].start = Some(end);
        }
        if !thread.switched {
            truth[index].iter_mut().filter(|did| **did != Did::Nothing).for_each(|did| *did = Did::Unknown);
        }
    }
    let recording = RecordingFacts { span: Span::new(start, end), has_switches: true, has_ready };
    let mut machine = Machine { recording, threads: rows, switches, samples, stacks, frames, truth, spans };
    break_chains(&mut machine, &mut dice);
    machine
}

fn leave(thread: &mut Thread, time: i64, preempted: bool) {
    thread.now = if preempted { Now::Runnable } else { Now::Blocked };
    thread.left = time;
    thread.preempted = preempted;
    thread.ready_time = None;
    thread.switched = true;
}

#[expect(clippy::too_many_arguments, reason = "the machine's parts are plain variables so that the borrows stay apart")]
fn enter(
    new: usize,
    old: usize,
    cpu: usize,
    threads: &mut [Thread],
    time: i64,
    (stack, c_state): (Option<StackId>, Option<i8>),
    has_ready: bool,
    spans: &mut Vec<TrueSpan>,
) -> ContextSwitchRow {
    let off_priority = threads[new].run_priority;
    let thread = &mut threads[new];
    // An idle thread is never readied.
    let open = thread.now == Now::Outside;
    thread.run_priority = thread.priority + (time & 1) as i8;
    let mut row = ContextSwitchRow {
        time,
        cpu: Some(cpu as i16),
        thread: ThreadId::from_index(new),
        prev_thread: Some(ThreadId::from_index(old)),
        off_time: thread.left,
        ready_time: thread.ready_time.filter(|_| has_ready),
        wait_stack: stack,
        priority: Some(thread.run_priority),
        off_priority: (!open).then_some(off_priority),
        previous_c_state: c_state,
        ..ContextSwitchRow::default()
    };
    if open {
        row.flags = switch_flags::OPEN_LEFT;
    } else if thread.preempted {
        row.flags = switch_flags::PREEMPTED;
    }
    spans.push(true_span(thread, new, stack, time, Some(time), has_ready, open));
    thread.now = Now::On(cpu as i16);
    thread.switched = true;
    thread.ready_time = None;
    row
}

fn close(
    index: usize,
    thread: &mut Thread,
    time: i64,
    has_ready: bool,
    switches: &mut Vec<ContextSwitchRow>,
    spans: &mut Vec<TrueSpan>,
) {
    spans.push(true_span(thread, index, None, time, None, has_ready, false));
    switches.push(ContextSwitchRow {
        time,
        thread: ThreadId::from_index(index),
        off_time: thread.left,
        ready_time: thread.ready_time.filter(|_| has_ready),
        off_priority: Some(thread.run_priority),
        flags: switch_flags::OPEN_RIGHT | if thread.preempted { switch_flags::PREEMPTED } else { 0 },
        ..ContextSwitchRow::default()
    });
}

fn true_span(
    thread: &Thread,
    index: usize,
    stack: Option<StackId>,
    end: i64,
    switch_in: Option<i64>,
    has_ready: bool,
    open: bool,
) -> TrueSpan {
    let ready_from = if thread.preempted { Some(thread.left) } else { thread.ready_time.filter(|_| has_ready) };
    TrueSpan {
        thread: ThreadId::from_index(index),
        stack,
        wait: (!open && !thread.preempted).then_some((thread.left, ready_from.unwrap_or(end))),
        ready: ready_from.map(|from| (from, end)),
        switch_in,
    }
}

/// Makes some of the rows what they would be after lost events.
fn break_chains(machine: &mut Machine, dice: &mut Dice) {
    let mut seen_cpus = Vec::new();
    let mut rows = std::mem::take(&mut machine.switches);
    // One per row, in the same order.
    let mut spans = std::mem::take(&mut machine.spans);
    let mut keep = vec![true; rows.len()];
    let mut gaps = BTreeMap::new();
    for index in 0..rows.len() {
        let row = rows[index].clone();
        let first_on_cpu = row.cpu.is_some_and(|cpu| !seen_cpus.contains(&cpu));
        seen_cpus.extend(row.cpu);
        if !dice.chance(8) || !keep[index] {
            continue;
        }
        let leaves = (index + 1..rows.len()).find(|&later| rows[later].prev_thread == Some(row.thread));
        match leaves {
            // The switch-in was lost: the thread turns up when it is switched out again.
            Some(leaves) if row.cpu.is_some() && !first_on_cpu && dice.chance(50) => {
                let until = rows[leaves].time;
                fill(machine, row.thread, row.off_time, until, Did::Unknown);
                keep[index] = false;
                if !rows[..index].iter().any(|earlier| earlier.thread == row.thread) {
                    forget_priority(machine, row.thread, row.off_time);
                }
                (spans[index].wait, spans[index].ready, spans[index].switch_in) = (None, None, None);
                gaps.insert(
                    leaves,
                    ContextSwitchRow {
                        time: until,
                        cpu: row.cpu,
                        thread: row.thread,
                        off_time: row.off_time,
                        flags: switch_flags::GAP | switch_flags::BROKEN,
                        ..ContextSwitchRow::default()
                    },
                );
            }
            _ => {
                rows[index].flags |= switch_flags::BROKEN;
                fill(machine, row.thread, row.off_time, row.time, Did::Unknown);
                (spans[index].wait, spans[index].ready) = (None, None);
            }
        }
    }
    for (index, row) in rows.into_iter().enumerate() {
        // A gap row is written when the thread leaves, before the switch-in of who comes then.
        machine.switches.extend(gaps.remove(&index));
        machine.switches.extend(keep[index].then_some(row));
    }
    machine.spans = spans;
}

fn fill(machine: &mut Machine, thread: ThreadId, from: i64, until: i64, did: Did) {
    for time in from..until {
        let index = usize::try_from(time - machine.recording.span.start).expect("inside of the recording");
        machine.truth[thread.index()][index] = did;
    }
}

/// The priority of a run that nobody saw begin stands in the row of its end, which is lost.
fn forget_priority(machine: &mut Machine, thread: ThreadId, until: i64) {
    let count = usize::try_from(until - machine.recording.span.start).expect("inside of the recording");
    for did in &mut machine.truth[thread.index()][..count] {
        if let Did::Run(_, priority) = did {
            *priority = None;
        }
    }
}
