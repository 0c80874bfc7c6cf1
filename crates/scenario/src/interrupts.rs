//! Interrupts and deferred procedure calls that are known, and the events that Windows logs of them. No recording with such events is
//! public, so the events are made from their layouts.

use tracesift_etl::write::payload::{Bytes, ContextSwitch, Image, Thread};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::providers::{KernelRecord, write_with_kernel};

const MS: i64 = 1_000_000;
/// Length of the recording.
pub const SECONDS: i64 = 2;
/// CPUs.
pub const CPUS: u16 = 3;
/// Processes, with pid, image and thread.
pub const PROCESSES: [(u32, &str, u32); 3] = [(7, "player.exe", 12), (9, "editor.exe", 20), (11, "worker.exe", 28)];
/// Drivers; the first one is the framework, whose routine calls those of the others.
pub const DRIVERS: [&str; 4] = ["wdf01000.sys", "ndis.sys", "storport.sys", "housemade.sys"];

/// Opcodes of the events.
pub mod opcodes {
    /// A message-signalled interrupt.
    pub const MESSAGE: u8 = 50;
    /// A deferred procedure call that runs in a thread.
    pub const THREADED_DPC: u8 = 66;
    /// An interrupt.
    pub const ISR: u8 = 67;
    /// A deferred procedure call.
    pub const DPC: u8 = 68;
    /// A deferred procedure call of a timer.
    pub const TIMER_DPC: u8 = 69;
    /// An interrupt that is handled at passive level.
    pub const PASSIVE: u8 = 95;
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// CPU.
    pub cpu: u16,
    /// Opcode of the event of its end.
    pub opcode: u8,
    /// Number of the driver whose routine did the work.
    pub driver: usize,
    /// Offset of that routine in the driver.
    pub offset: u64,
    /// Whether the framework called it.
    pub framework: bool,
    /// Begin, nanoseconds since the start of the recording.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Time of other runs inside of it; none of them runs in a thread.
    pub inside: i64,
    /// Vector, of interrupts.
    pub vector: u16,
    /// Whether an interrupt was claimed.
    pub claimed: bool,
    /// When it was queued, of deferred procedure calls of which that is logged.
    pub queued: Option<i64>,
    /// The interrupted process and thread; `None`: no switch told before who runs.
    pub by: Option<(u32, u32)>,
}

impl Run {
    /// Whether it is an interrupt.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self.opcode, opcodes::MESSAGE | opcodes::ISR | opcodes::PASSIVE)
    }

    /// Whether it runs in a thread.
    #[must_use]
    pub fn is_in_a_thread(&self) -> bool {
        self.opcode == opcodes::THREADED_DPC
    }
}

/// A context switch: time, CPU, thread that leaves and thread that comes.
pub type Switch = (i64, u16, u32, u32);

/// All runs, in the order of their ends, and the switches between them.
#[derive(Clone, Debug)]
pub struct Story {
    /// The runs.
    pub runs: Vec<Run>,
    /// The switches, by CPU.
    pub switches: Vec<Switch>,
}

struct Teller {
    rng: SplitMix64,
    runs: Vec<Run>,
}

impl Teller {
    /// A run that begins then, with others inside of it. Gives its end.
    fn run(&mut self, cpu: u16, start: i64, depth: u32, by: Option<(u32, u32)>) -> (i64, i64) {
        let mut at = start + self.rng.between(1, if depth == 0 { 300 } else { 20 }) * 1_000;
        let mut inside = 0;
        while depth < 3 && self.rng.chance(35) {
            let (end, length) = self.run(cpu, at, depth + 1, by);
            inside += length;
            at = end + self.rng.between(1, 20) * 1_000;
        }
        const OF_DPCS: [u8; 3] = [opcodes::DPC, opcodes::TIMER_DPC, opcodes::THREADED_DPC];
        const OF_INTERRUPTS: [u8; 3] = [opcodes::ISR, opcodes::MESSAGE, opcodes::PASSIVE];
        // Only interrupts run inside of others.
        let is_interrupt = depth > 0 || self.rng.chance(30);
        let opcode = if is_interrupt { OF_INTERRUPTS } else { OF_DPCS }[self.rng.index(3)];
        let framework = opcode != opcodes::THREADED_DPC && self.rng.chance(25);
        let driver = 1 + self.rng.index(DRIVERS.len() - 1);
        let run = Run {
            cpu,
            opcode,
            driver,
            offset: 0x1000 + self.rng.below(3) * 0x100,
            framework,
            start,
            end: at,
            inside,
            vector: 0x40 + driver as u16,
            claimed: self.rng.chance(80),
            queued: (!is_interrupt && self.rng.chance(50)).then(|| start - self.rng.between(1, 400) * 1_000),
            by,
        };
        self.runs.push(run);
        (at, if run.is_in_a_thread() { inside } else { at - start })
    }
}

/// Random runs on all CPUs, and the switches of the threads that they interrupt.
#[must_use]
pub fn story(seed: u64) -> Story {
    let mut teller = Teller { rng: SplitMix64::new(seed), runs: Vec::new() };
    let mut switches = Vec::new();
    for cpu in 0..CPUS {
        let (mut running, mut known, mut now) = (0, false, 2 * MS);
        while now < (SECONDS * 1_000 - 100) * MS {
            now += teller.rng.between(500, 20_000) * 1_000;
            if teller.rng.chance(40) {
                // Each thread stays on its CPU: none is on two.
                let thread = if running == 0 { PROCESSES[usize::from(cpu)].2 } else { 0 };
                switches.push((now, cpu, running, thread));
                (running, known) = (thread, true);
                now += 1_000;
            }
            let process = PROCESSES.iter().find(|(_, _, tid)| *tid == running);
            let by = Some(process.map_or((0, 0), |(pid, _, tid)| (*pid, *tid))).filter(|_| known);
            (now, _) = teller.run(cpu, now, 0, by);
        }
    }
    let mut runs = teller.runs;
    runs.sort_by_key(|run| run.end);
    Story { runs, switches }
}

/// The address of a routine.
#[must_use]
pub fn routine(driver: usize, offset: u64, pointer_size: PointerSize) -> u64 {
    let kernel = match pointer_size {
        PointerSize::Four => 0x8100_0000,
        PointerSize::Eight => 0xFFFF_F801_0000_0000,
    };
    kernel + driver as u64 * 0x1_0000 + offset
}

/// Writes the story; `version` of the events of interrupts is 1 or 2, of which only 2 has vectors.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(story: &Story, pointer_size: PointerSize, version: u8) -> Result<Vec<u8>, WriteError> {
    let kernel = records(story, pointer_size, version);
    let processes: Vec<(u32, &str)> = PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    write_with_kernel(options, SECONDS, &processes, Vec::new(), kernel)
}

/// The records of threads that ran from the start.
pub(crate) fn threads(processes: &[(u32, u32)], pointer_size: PointerSize) -> Vec<KernelRecord> {
    let record = |(pid, tid): &(u32, u32)| {
        let thread = Thread { pid: *pid, tid: *tid, start_address: 0, service_tag: 0, base_priority: 8, name: "" };
        let mut payload = Bytes::new(pointer_size);
        thread.encode(&mut payload);
        KernelRecord { time: 0, cpu: 0, hook: Thread::DC_START, caller: (4, 8), payload: payload.into_vec() }
    };
    processes.iter().map(record).collect()
}

/// The record of a switch of threads that go on to run, or wait.
pub(crate) fn switch((time, cpu, old_tid, new_tid): Switch, pointer_size: PointerSize) -> KernelRecord {
    let switch = ContextSwitch {
        new_tid,
        old_tid,
        new_priority: 8,
        old_priority: 8,
        previous_c_state: 0,
        wait_reason: 6,
        wait_mode: 1,
        // Waiting; the idle thread is ready.
        old_state: if old_tid == 0 { 1 } else { 5 },
        ideal_cpu: 0,
        new_wait_ticks: 0,
        remaining_quantum: 0,
    };
    let mut payload = Bytes::new(pointer_size);
    switch.encode(&mut payload);
    KernelRecord { time, cpu, hook: ContextSwitch::HOOK, caller: (0, 0), payload: payload.into_vec() }
}

/// The record of a driver that is loaded from the start.
pub(crate) fn image(base: u64, number: u32, name: &str, pointer_size: PointerSize) -> KernelRecord {
    let path = format!(r"\SystemRoot\System32\drivers\{name}");
    let mut payload = Bytes::new(pointer_size);
    let image = Image { base, size: 0x8000, pid: 0, checksum: 0, time_date_stamp: 0x5000_0000 + number, path: &path };
    image.encode(&mut payload);
    KernelRecord { time: 0, cpu: 0, hook: Image::DC_START, caller: (4, 8), payload: payload.into_vec() }
}

pub(crate) fn records(story: &Story, pointer_size: PointerSize, version: u8) -> Vec<KernelRecord> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let ticks =
        |time: i64| options.zero_ticks + (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    let owners: Vec<(u32, u32)> = PROCESSES.iter().map(|(pid, _, tid)| (*pid, *tid)).collect();
    let mut kernel = threads(&owners, pointer_size);
    for (driver, name) in DRIVERS.iter().enumerate() {
        kernel.push(image(routine(driver, 0, pointer_size), driver as u32, name, pointer_size));
    }
    kernel.extend(story.switches.iter().map(|one| switch(*one, pointer_size)));
    let mut put = |time: i64, cpu: u16, hook: Hook, payload: Bytes| {
        kernel.push(KernelRecord { time, cpu, hook, caller: (0, 0), payload: payload.into_vec() });
    };
    for (number, run) in story.runs.iter().enumerate() {
        let own = routine(run.driver, run.offset, pointer_size);
        // The routine that Windows calls is the framework's if that calls the driver's.
        let called = if run.framework { routine(0, 0x1400, pointer_size) } else { own };
        if let Some(queued) = run.queued {
            let key = 0x9000_0000 + number as u64 * 0x40;
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(key);
            [1, 1, u32::from(run.cpu), 1].into_iter().for_each(|value| payload.u32(value));
            // Another CPU asks for it.
            put(queued, (run.cpu + 1) % CPUS, Hook::new(0x0f, 100, 0), payload);
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(called);
            payload.pointer(key);
            put(run.start, run.cpu, Hook::new(0x0f, 101, 0), payload);
        }
        if run.framework {
            let opcode = match run.opcode {
                opcodes::PASSIVE => 97,
                _ if run.is_interrupt() => 96,
                _ => 98,
            };
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(own);
            put(run.start + 500, run.cpu, Hook::new(0x0f, opcode, 2), payload);
        }
        let mut payload = Bytes::new(pointer_size);
        payload.u64(ticks(run.start).cast_unsigned());
        payload.pointer(called);
        if run.is_interrupt() && version >= 2 {
            payload.u8(run.claimed.into());
            payload.u16(run.vector);
            payload.u8(0);
        } else if run.is_interrupt() {
            payload.u32(run.claimed.into());
        }
        if run.opcode == opcodes::MESSAGE {
            payload.u32(3);
        }
        put(run.end, run.cpu, Hook::new(0x0f, run.opcode, version), payload);
    }
    kernel
}
