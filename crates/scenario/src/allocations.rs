//! Memory whose allocations are known, and the events that Windows logs of it. No recording with such events is public, so the
//! events are made from their layouts.

use tracesift_etl::write::payload::{Bytes, Process, Stack};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::providers::{KernelRecord, process_payload, write_with_kernel};

const MS: i64 = 1_000_000;
const KIB: u64 = 1024;

/// Seconds that [`story`] lasts.
pub const SECONDS: i64 = 20;
/// Process that leaks.
pub const LEAKER: u32 = 800;
/// A process that starts in the recording and ends in it, with memory that it does not give back.
pub const WORKER: u32 = 820;
/// Start and end of the worker.
pub const WORKER_SPAN: (i64, i64) = (5_000 * MS, 9_000 * MS);
/// A process with memory from before the recording.
pub const ELDER: u32 = 840;
/// The heap of the leaker.
pub const HEAP: u64 = 0x2A_0000;
/// Frames of the function that leaks, leaf first, and of others.
pub const LEAK: &[u64] = &[0x7001_0010, 0x7001_0020];
/// Frames of all other functions.
pub const OTHER: &[u64] = &[0x7002_0010, 0x7001_0020];

/// Bytes that one call allocated and that were given back at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit {
    /// Process.
    pub pid: u32,
    /// A value of `allocations.kind`.
    pub kind: i8,
    /// Lowest address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Time of the allocation, nanoseconds since the start of the recording; `None`: before.
    pub start: Option<i64>,
    /// Time at which they were given back; `None`: they were not.
    pub end: Option<i64>,
    /// Whether the end of the process gave them back.
    pub by_exit: bool,
    /// Whether other bytes of the block stay longer.
    pub partial: bool,
    /// Tag of the pool.
    pub tag: Option<&'static str>,
}

/// A recording in which all memory is known.
#[derive(Clone, Debug, Default)]
pub struct Story {
    records: Vec<Event>,
    /// What becomes of all memory.
    pub truth: Vec<Bit>,
}

#[derive(Clone, Debug)]
struct Event {
    time: i64,
    group: u8,
    opcode: u8,
    pid: u32,
    fields: Vec<Field>,
    frames: &'static [u64],
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Pointer(u64),
    Number(u32),
}

use Field::{Number, Pointer};

const COMMIT: u32 = 0x1000;
const RESERVE: u32 = 0x2000;
const DECOMMIT: u32 = 0x4000;
const RELEASE: u32 = 0x8000;

/// Processes that run from the start.
pub(crate) const PROCESSES: [(u32, &str); 3] = [(4, "System"), (LEAKER, "leaker.exe"), (ELDER, "elder.exe")];

impl Story {
    /// Memory 98 or 99.
    fn pages(&mut self, time: i64, pid: u32, (base, length): (u64, u64), flags: u32, frames: &'static [u64]) {
        let opcode = if flags & (COMMIT | RESERVE) != 0 { 98 } else { 99 };
        let fields = vec![Pointer(base), Pointer(length), Number(pid), Number(flags)];
        self.records.push(Event { time, group: 2, opcode, pid, fields, frames });
    }

    fn heap(&mut self, time: i64, opcode: u8, pointers: &[u64]) {
        let mut fields: Vec<Field> = [HEAP].iter().chain(pointers).map(|value| Pointer(*value)).collect();
        fields.push(Number(2));
        self.records.push(Event { time, group: 0x10, opcode, pid: LEAKER, fields, frames: OTHER });
    }

    fn pool(&mut self, time: i64, opcode: u8, tag: [u8; 4], size: u64, address: u64) {
        let fields = vec![Number(1), Number(u32::from_le_bytes(tag)), Pointer(size), Pointer(address)];
        self.records.push(Event { time, group: 0x0e, opcode, pid: 4, fields, frames: OTHER });
    }

    /// One hundred regions of 64 KiB, of which 60 are released, with length 0.
    fn leak(&mut self) {
        for index in 0..100_u64 {
            let start = (1_000 + index as i64 * 100) * MS;
            let base = 0x1000_0000 + index * 64 * KIB;
            let end = (index % 5 < 3).then_some(start + 250 * MS);
            self.pages(start, LEAKER, (base, 64 * KIB), RESERVE | COMMIT, LEAK);
            if let Some(end) = end {
                self.pages(end, LEAKER, (base, 0), RELEASE, OTHER);
            }
            let bit = Bit { base, size: 64 * KIB, start: Some(start), end, ..bit(LEAKER, 0) };
            self.truth.extend([bit, Bit { kind: 1, ..bit }]);
        }
    }

    /// A region of 1 MiB with two commits that overlap, a decommit in the middle of both, and the end of the process.
    fn work(&mut self) {
        let at = 0x2000_0000;
        let kib = |from: u64, to: u64| (at + from * KIB, (to - from) * KIB);
        self.pages(5_500 * MS, WORKER, kib(0, 1024), RESERVE, OTHER);
        // Neither the address nor the length is that of a page.
        self.pages(5_600 * MS, WORKER, (at + 100, 256 * KIB - 200), COMMIT, LEAK);
        self.pages(5_700 * MS, WORKER, kib(128, 384), COMMIT, OTHER);
        self.pages(5_800 * MS, WORKER, kib(128, 256), COMMIT, OTHER);
        self.pages(7_000 * MS, WORKER, kib(192, 320), DECOMMIT, OTHER);
        self.pages(8_000 * MS, WORKER, kib(200, 208), COMMIT, OTHER);
        let worker = Bit { end: Some(WORKER_SPAN.1), by_exit: true, ..bit(WORKER, 0) };
        let of = |(base, size): (u64, u64), ms: i64| Bit { base, size, start: Some(ms * MS), ..worker };
        let decommitted = |bit: Bit| Bit { end: Some(7_000 * MS), by_exit: false, partial: true, ..bit };
        self.truth.extend([
            Bit { kind: 1, ..of(kib(0, 1024), 5_500) },
            decommitted(of(kib(192, 256), 5_600)),
            of(kib(0, 192), 5_600),
            decommitted(of(kib(256, 320), 5_700)),
            of(kib(320, 384), 5_700),
            of(kib(200, 208), 8_000),
        ]);
    }

    /// Two regions from before the recording, one of which is released, and one of which nobody knows.
    fn elder(&mut self) {
        for (base, size, end) in [(0x3000_0000, 4096 * KIB, Some(6_000 * MS)), (0x3100_0000, 64 * KIB, None)] {
            let fields = vec![Pointer(base), Pointer(size), Number(ELDER), Number(RESERVE | COMMIT), Pointer(size)];
            self.records.push(Event { time: 0, group: 2, opcode: 128, pid: 4, fields, frames: &[] });
            if let Some(end) = end {
                self.pages(end, ELDER, (base, size), RELEASE, OTHER);
            }
            let bit = Bit { base, size, end, ..bit(ELDER, 0) };
            self.truth.extend([bit, Bit { kind: 1, ..bit }]);
        }
        self.pages(6_500 * MS, ELDER, (0x3200_0000, 64 * KIB), RELEASE, OTHER);
    }

    /// Blocks of a heap, and of pools.
    fn blocks(&mut self) {
        self.heap(2_010 * MS, 37, &[16 * KIB, HEAP + 0x1000]);
        self.heap(2_020 * MS, 33, &[100, HEAP + 0x1460]);
        self.heap(2_030 * MS, 33, &[200, HEAP + 0x1500]);
        self.heap(2_040 * MS, 34, &[HEAP + 0x1800, HEAP + 0x1460, 300, 100]);
        self.heap(2_050 * MS, 36, &[HEAP + 0x1500]);
        self.heap(2_060 * MS, 42, &[4 * KIB, HEAP + 0x4000]);
        let heap = |at: u64, size, start: i64, end: Option<i64>| Bit {
            base: HEAP + at,
            size,
            start: Some(start * MS),
            end: end.map(|end| end * MS),
            ..bit(LEAKER, 2)
        };
        self.truth.extend([
            heap(0x1460, 100, 2_020, Some(2_040)),
            heap(0x1500, 200, 2_030, Some(2_050)),
            heap(0x1800, 300, 2_040, None),
            Bit { kind: 3, partial: true, ..heap(0x4000, 4 * KIB, 2_010, Some(2_060)) },
            Bit { kind: 3, ..heap(0x1000, 12 * KIB, 2_010, None) },
        ]);
        self.pool(3_010 * MS, 32, *b"MmSt", 0x120, 0x8810_0000);
        self.pool(3_020 * MS, 32, *b"Thr\x01", 0x500, 0x8820_0000);
        self.pool(3_030 * MS, 34, *b"MmSt", 0x120, 0x8810_0000);
        let pool = |base, size, start: i64| Bit { base, size, start: Some(start * MS), ..bit(4, 4) };
        self.truth.extend([
            Bit { tag: Some("MmSt"), end: Some(3_030 * MS), ..pool(0x8810_0000, 0x120, 3_010) },
            Bit { tag: Some("Thr."), ..pool(0x8820_0000, 0x500, 3_020) },
        ]);
    }

    /// The recording.
    ///
    /// # Errors
    /// A payload does not fit into a buffer.
    pub fn write(&self, size: PointerSize) -> Result<Vec<u8>, WriteError> {
        let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
        write_with_kernel(options, SECONDS, &PROCESSES, Vec::new(), self.records(size, 0))
    }

    /// The records, `shift` nanoseconds later.
    pub(crate) fn records(&self, size: PointerSize, shift: i64) -> Vec<KernelRecord> {
        let mut kernel = Vec::new();
        for event in &self.records {
            let mut payload = Bytes::new(size);
            for field in &event.fields {
                match *field {
                    Pointer(value) => payload.pointer(value),
                    Number(value) => payload.u32(value),
                }
            }
            let (caller, hook) = ((event.pid, event.pid + 4), Hook::new(event.group, event.opcode, 2));
            let time = event.time + shift;
            kernel.push(KernelRecord { time, cpu: 0, hook, caller, payload: payload.into_vec() });
            if !event.frames.is_empty() {
                kernel.push(stack(size, time, caller, event.frames));
            }
        }
        let of_process = |time, hook| {
            let payload = process_payload(size, WORKER, LEAKER, "worker.exe");
            KernelRecord { time: time + shift, cpu: 0, hook, caller: (LEAKER, LEAKER + 4), payload }
        };
        kernel.extend([of_process(WORKER_SPAN.0, Process::START), of_process(WORKER_SPAN.1, Process::END)]);
        kernel
    }
}

fn bit(pid: u32, kind: i8) -> Bit {
    Bit { pid, kind, base: 0, size: 0, start: None, end: None, by_exit: false, partial: false, tag: None }
}

fn stack(size: PointerSize, time: i64, (pid, tid): (u32, u32), frames: &[u64]) -> KernelRecord {
    let options = SessionOptions::default();
    let ticks = (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    let mut payload = Bytes::new(size);
    Stack { event_time: options.zero_ticks + ticks, pid, tid, frames }.encode(&mut payload);
    KernelRecord { time: time + 1_000, cpu: 0, hook: Stack::HOOK, caller: (pid, tid), payload: payload.into_vec() }
}

/// A process that leaks, one that ends with memory, one with memory from before the recording, blocks of a heap and of pools.
#[must_use]
pub fn story() -> Story {
    let mut story = Story::default();
    story.leak();
    story.work();
    story.elder();
    story.blocks();
    story
}
