//! System calls of Windows that are known, and the events that the kernel logs of them: they name no thread. No recording with such events
//! is public, so the events are made from their layouts.

use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::interrupts::{Switch, image, switch, threads};
use crate::providers::{KernelRecord, write_with_kernel};

const MS: i64 = 1_000_000;
/// Length of the recording.
pub const SECONDS: i64 = 2;
/// CPUs.
pub const CPUS: u16 = 3;
/// Processes, with pid, image and threads.
pub const PROCESSES: [(u32, &str, [u32; 2]); 3] =
    [(17_016, "strace.exe", [12, 14]), (9, "editor.exe", [20, 22]), (11, "worker.exe", [28, 30])];
/// The module of the routines.
pub const KERNEL: &str = "ntoskrnl.exe";

/// Routines: the name, and whether calls of it return.
pub const ROUTINES: [(&str, bool); 12] = [
    ("NtOpenThreadTokenEx", true),
    ("NtQueryValueKey", true),
    ("NtOpenKey", true),
    ("NtQuerySecurityAttributesToken", true),
    ("NtSetInformationVirtualMemory", true),
    ("NtOpenSemaphore", true),
    ("NtWaitForSingleObject", true),
    ("NtUserMessageCall", true),
    ("NtContinue", false),
    ("NtCallbackReturn", false),
    ("NtRaiseException", false),
    ("NtTerminateThread", false),
];

/// The calls of a program that failed, as a published listing has them: numbers of routines, and NTSTATUS.
pub const LISTING: [(usize, u32); 14] = [
    (0, 0xC000_007C),
    (0, 0xC000_007C),
    (1, 0xC000_0034),
    (2, 0xC000_0034),
    (3, 0xC000_0225),
    (3, 0xC000_0225),
    (1, 0xC000_0034),
    (0, 0xC000_007C),
    (0, 0xC000_007C),
    (4, 0xC000_00BB),
    (1, 0xC000_0034),
    (5, 0xC000_0034),
    (1, 0xC000_0034),
    (4, 0xC000_00BB),
];

/// Statuses of other calls: success, information, and a warning.
const STATUSES: [u32; 4] = [0, 0, 0x102, 0x8000_0005];

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// End, nanoseconds since the start of the recording; of a call that never returns its begin, of an open one the end of the recording.
    pub end: i64,
    /// Begin.
    pub start: i64,
    /// Process and thread.
    pub by: (u32, u32),
    /// Number of the routine.
    pub routine: usize,
    /// NTSTATUS; `None`: it has not returned.
    pub status: Option<u32>,
    /// CPU of the end; of the begin where there is no end.
    pub cpu: u16,
}

/// What the kernel logs.
#[derive(Clone, Copy, Debug)]
enum Event {
    Switch(Switch),
    Enter(usize),
    Exit(u32),
}

/// Random calls, and what is logged of them.
#[derive(Clone, Debug)]
pub struct Story {
    /// Calls with rows, in the order of their ends.
    pub calls: Vec<Call>,
    /// Calls that are open at the end, and have others inside of them.
    pub without_exit: usize,
    /// Time spent off the CPUs in calls, by call: its begin and thread, and the time.
    pub waits: Vec<((i64, u32), i64)>,
    events: Vec<(i64, u16, Event)>,
}

struct Open {
    start: i64,
    routine: usize,
    cpu: u16,
    off: i64,
}

struct Task {
    by: (u32, u32),
    open: Vec<Open>,
    cpu: Option<u16>,
    left: i64,
}

struct Teller {
    rng: SplitMix64,
    tasks: Vec<Task>,
    running: Vec<usize>,
    listing: std::vec::IntoIter<(usize, u32)>,
    /// What the listed call returns, if it is open.
    listed: Option<u32>,
    /// Whether there are calls that never return.
    callbacks: bool,
    story: Story,
}

/// No thread: the idle one.
const IDLE: usize = usize::MAX;

impl Teller {
    fn tid(&self, task: usize) -> u32 {
        if task == IDLE { 0 } else { self.tasks[task].by.1 }
    }

    fn switch(&mut self, now: i64, cpu: u16) {
        let old = self.running[usize::from(cpu)];
        let waiting: Vec<usize> = (0..self.tasks.len()).filter(|task| self.tasks[*task].cpu.is_none()).collect();
        let new = if self.rng.chance(20) { IDLE } else { waiting[self.rng.index(waiting.len())] };
        if old == new {
            return;
        }
        if old != IDLE {
            (self.tasks[old].cpu, self.tasks[old].left) = (None, now);
        }
        if new != IDLE {
            let task = &mut self.tasks[new];
            let off = now - task.left;
            task.open.iter_mut().for_each(|call| call.off += off);
            task.cpu = Some(cpu);
        }
        let record = (now, cpu, self.tid(old), self.tid(new));
        self.running[usize::from(cpu)] = new;
        self.story.events.push((now, cpu, Event::Switch(record)));
    }

    fn enter(&mut self, now: i64, cpu: u16, task: usize) {
        let is_listed = task == 0 && self.listed.is_none() && self.tasks[task].open.is_empty();
        let listed = if is_listed { self.listing.next() } else { None };
        self.listed = listed.map(|(_, status)| status).or(self.listed);
        let routine = match listed {
            Some((routine, _)) => routine,
            // What a callback does ends with a return to the kernel, which is a call that never returns.
            None if !self.callbacks => [6, 7, 2, 1][self.rng.index(4)],
            None if !self.tasks[task].open.is_empty() && self.rng.chance(30) => 9,
            None => [6, 7, 8, 10, 2, 1][self.rng.index(6)],
        };
        self.story.events.push((now, cpu, Event::Enter(routine)));
        let by = self.tasks[task].by;
        if ROUTINES[routine].1 {
            self.tasks[task].open.push(Open { start: now, routine, cpu, off: 0 });
        } else {
            self.story.calls.push(Call { end: now, start: now, by, routine, status: None, cpu });
        }
    }

    fn exit(&mut self, now: i64, cpu: u16, task: usize) {
        let Some(call) = self.tasks[task].open.pop() else { return };
        let is_listed = task == 0 && self.tasks[task].open.is_empty();
        let listed = if is_listed { self.listed.take() } else { None };
        let by = self.tasks[task].by;
        let choice = if by.0 == PROCESSES[0].0 { 3 } else { 4 };
        let status = listed.unwrap_or_else(|| STATUSES[self.rng.index(choice)]);
        self.story.events.push((now, cpu, Event::Exit(status)));
        self.story.waits.push(((call.start, by.1), call.off));
        let (start, routine) = (call.start, call.routine);
        self.story.calls.push(Call { end: now, start, by, routine, status: Some(status), cpu });
    }
}

/// Random calls of threads that migrate. The first thread makes the calls of the listing, and no other one of its process fails.
/// `callbacks`: some calls never return, among them those with which a callback ends.
#[must_use]
pub fn story(seed: u64, callbacks: bool) -> Story {
    let owners = PROCESSES.iter().flat_map(|(pid, _, tids)| tids.iter().map(|tid| (*pid, *tid)));
    let tasks = owners.map(|by| Task { by, open: Vec::new(), cpu: None, left: 0 }).collect();
    let story = Story { calls: Vec::new(), without_exit: 0, waits: Vec::new(), events: Vec::new() };
    let mut teller = Teller {
        rng: SplitMix64::new(seed),
        tasks,
        running: vec![IDLE; usize::from(CPUS)],
        listing: LISTING.to_vec().into_iter(),
        listed: None,
        callbacks,
        story,
    };
    let mut now = 5 * MS;
    for cpu in 0..CPUS {
        now += 1_000;
        // Each CPU has a first switch: before it nobody knows who runs there.
        teller.running[usize::from(cpu)] = IDLE;
        let task = usize::from(cpu);
        teller.tasks[task].cpu = Some(cpu);
        teller.running[task] = task;
        let record = (now, cpu, 0, teller.tid(task));
        teller.story.events.push((now, cpu, Event::Switch(record)));
    }
    while now < (SECONDS * 1_000 - 100) * MS {
        now += teller.rng.between(1, 800) * 1_000;
        let cpu = teller.rng.below(u64::from(CPUS)) as u16;
        let task = teller.running[usize::from(cpu)];
        match teller.rng.below(10) {
            _ if task == IDLE => teller.switch(now, cpu),
            0..3 => teller.switch(now, cpu),
            3..6 if teller.tasks[task].open.len() < 3 => teller.enter(now, cpu, task),
            _ => teller.exit(now, cpu, task),
        }
    }
    let mut story = teller.story;
    for task in teller.tasks {
        story.without_exit += task.open.len().saturating_sub(1);
        if let Some(call) = task.open.last() {
            let (end, start, routine, cpu) = (SECONDS * 1_000 * MS, call.start, call.routine, call.cpu);
            story.calls.push(Call { end, start, by: task.by, routine, status: None, cpu });
        }
    }
    story.calls.sort();
    story
}

/// Offset of a routine in the kernel.
#[must_use]
pub fn offset(routine: usize) -> u64 {
    0x1000 + routine as u64 * 0x40
}

/// Writes the story. With `lost` the switches that bring the last thread to a CPU are missing.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(story: &Story, pointer_size: PointerSize, lost: bool) -> Result<Vec<u8>, WriteError> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let processes: Vec<(u32, &str)> = PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    write_with_kernel(options, SECONDS, &processes, Vec::new(), records(story, pointer_size, lost))
}

/// The same without any switch.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write_without_switches(story: &Story, pointer_size: PointerSize) -> Result<Vec<u8>, WriteError> {
    let mut story = story.clone();
    story.events.retain(|(.., event)| !matches!(event, Event::Switch(_)));
    write(&story, pointer_size, false)
}

fn records(story: &Story, pointer_size: PointerSize, lost: bool) -> Vec<KernelRecord> {
    let base = match pointer_size {
        PointerSize::Four => 0x8100_0000,
        PointerSize::Eight => 0xFFFF_F801_0000_0000,
    };
    let owners: Vec<(u32, u32)> =
        PROCESSES.iter().flat_map(|(pid, _, tids)| tids.iter().map(|tid| (*pid, *tid))).collect();
    let mut kernel = threads(&owners, pointer_size);
    kernel.push(image(base, 1, KERNEL, pointer_size));
    let last = owners.last().map_or(0, |(_, tid)| *tid);
    for (time, cpu, event) in &story.events {
        let mut payload = Bytes::new(pointer_size);
        let hook = match event {
            Event::Switch((.., new)) if lost && *new == last => continue,
            Event::Switch(record) => {
                kernel.push(switch(*record, pointer_size));
                continue;
            }
            Event::Enter(routine) => {
                payload.pointer(base + offset(*routine));
                Hook::new(0x0f, 51, 2)
            }
            Event::Exit(status) => {
                payload.u32(*status);
                Hook::new(0x0f, 52, 2)
            }
        };
        kernel.push(KernelRecord { time: *time, cpu: *cpu, hook, caller: (0, 0), payload: payload.into_vec() });
    }
    kernel
}
