//! Calls of file system filter drivers that are known, and the events that Windows logs of them. No recording with such events
//! is public, so the events are made from their layouts.

use tracesift_etl::write::payload::{Bytes, Image};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::providers::{KernelRecord, write_with_kernel};

const MS: i64 = 1_000_000;

/// Seconds that a recording lasts.
pub const SECONDS: i64 = 20;
/// Processes with their names, and a thread of each.
pub const PROCESSES: [(u32, &str, u32); 3] = [(7, "editor.exe", 12), (9, "builder.exe", 20), (11, "worker.exe", 28)];
/// The thread that goes on with calls that pend.
pub const HELPER: (u32, u32) = (11, 28);
/// Filter drivers, the highest one first.
pub const DRIVERS: [&str; 3] = ["wdfilter.sys", "luafv.sys", "housemade.sys"];
/// Files. A rundown names the keys of all but the last one.
pub const FILES: usize = 4;
/// NTSTATUS with which a filter denies an operation.
pub const DENIED: u32 = 0xC000_0022;
/// Major functions of operations: create, read, write, cleanup, and the question whether fast I/O is possible.
const MAJORS: [i16; 5] = [0, 3, 4, 18, -13];

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The filter was done.
    Completed,
    /// The filter failed the operation.
    Failed,
    /// The end is not logged.
    Unended,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Number of the driver.
    pub driver: usize,
    /// Whether it is after the operation.
    pub is_after: bool,
    /// Number of the operation.
    pub operation: usize,
    /// Major function.
    pub major: i16,
    /// Process and thread in which the filter is called.
    pub by: (u32, u32),
    /// Process and thread in which the call ends: others if it pends.
    pub ended_by: (u32, u32),
    /// CPUs of begin and end.
    pub cpus: (u16, u16),
    /// Number of the file.
    pub file: usize,
    /// Addresses of the request and of the description of the operation. The request of fast I/O is 0.
    pub request: (u64, u64),
    /// Begin, nanoseconds since the start of the recording.
    pub start: i64,
    /// End.
    pub end: i64,
    /// How it ended.
    pub outcome: Outcome,
}

/// An operation on a file: when it began and ended.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Begin, nanoseconds since the start of the recording.
    pub start: i64,
    /// End.
    pub end: i64,
}

/// The path of a file, as the kernel has it; `None`: nothing tells it.
#[must_use]
pub fn path(file: usize) -> Option<String> {
    (file + 1 < FILES).then(|| format!(r"\Device\HarddiskVolume1\work\file{file}.txt"))
}

/// The address of a routine of a driver: one before, one after operations.
#[must_use]
pub fn routine(driver: usize, is_after: bool, pointer_size: PointerSize) -> u64 {
    base(driver, pointer_size) + if is_after { 0x2340 } else { 0x1230 }
}

fn base(driver: usize, pointer_size: PointerSize) -> u64 {
    let kernel = match pointer_size {
        PointerSize::Four => 0x8100_0000,
        PointerSize::Eight => 0xFFFF_F801_0000_0000,
    };
    kernel + driver as u64 * 0x1_0000
}

/// Random operations, one after the other in each of some requests, with the calls of the filters on their way down and up.
/// Operations come in the order in which they begin, and so do the calls of each.
#[must_use]
pub fn calls(seed: u64) -> (Vec<Operation>, Vec<Call>) {
    let mut rng = SplitMix64::new(seed);
    let mut operations = Vec::new();
    let mut calls = Vec::new();
    let mut free_at = [0_i64; 4];
    let mut now = 5 * MS;
    for number in 0..120 {
        now += rng.between(0, 60) * MS + 1_000;
        let Some(place) = free_at.iter().position(|free| *free < now) else { continue };
        let major = MAJORS[rng.index(MAJORS.len())];
        let description = 0x7777_0000 + place as u64 * 0x100;
        let request = if major < 0 { 0 } else { 0x4444_0000 + place as u64 * 0x80 };
        let (pid, _, tid) = PROCESSES[rng.index(PROCESSES.len())];
        let (file, cpu) = (rng.index(FILES), rng.below(3) as u16);
        let way = (0..DRIVERS.len()).map(|driver| (driver, false));
        let mut time = now + rng.between(1, 20) * 1_000;
        for (driver, is_after) in way.chain((0..DRIVERS.len()).rev().map(|driver| (driver, true))) {
            // One operation has it all: a call that pends, and a failure.
            let pends = number == 0 && driver == 1 || rng.chance(10);
            let fails = number == 0 && driver == 2 || rng.chance(5);
            let outcome = match rng.chance(5) {
                true if number > 0 => Outcome::Unended,
                _ if fails => Outcome::Failed,
                _ => Outcome::Completed,
            };
            let end = time + rng.between(1, if pends { 200 } else { 20 }) * 100_000;
            let (by, other_cpu) = ((pid, tid), (cpu + 1) % 3);
            let (ended_by, end_cpu) = if pends { (HELPER, other_cpu) } else { (by, cpu) };
            calls.push(Call {
                driver,
                is_after,
                operation: operations.len(),
                major,
                by,
                ended_by,
                cpus: (cpu, end_cpu),
                file,
                request: (request, description),
                start: time,
                end,
                outcome,
            });
            time = end + rng.between(1, 20) * 1_000;
        }
        operations.push(Operation { start: now, end: time });
        free_at[place] = time;
    }
    (operations, calls)
}

/// Writes the calls. Without `has_begins` no begin is logged, as in a recording without the keyword for them.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(calls: &[Call], pointer_size: PointerSize, has_begins: bool) -> Result<Vec<u8>, WriteError> {
    write_with_operations(&[], calls, pointer_size, has_begins)
}

/// Whether the end of an operation is logged.
#[must_use]
pub fn has_end(operation: usize) -> bool {
    !operation.is_multiple_of(7)
}

/// The same, with the operations on files. Fast I/O has no request and no event.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write_with_operations(
    operations: &[Operation],
    calls: &[Call],
    pointer_size: PointerSize,
    has_begins: bool,
) -> Result<Vec<u8>, WriteError> {
    let kernel = records(operations, calls, pointer_size, has_begins);
    let processes: Vec<(u32, &str)> = PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    write_with_kernel(options, SECONDS, &processes, Vec::new(), kernel)
}

/// The records of the calls.
pub(crate) fn records(
    operations: &[Operation],
    calls: &[Call],
    pointer_size: PointerSize,
    has_begins: bool,
) -> Vec<KernelRecord> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let mut kernel = log_operations(operations, calls, pointer_size);
    let mut put = |time: i64, cpu: u16, hook: Hook, caller: (u32, u32), payload: Bytes| {
        kernel.push(KernelRecord { time, cpu, hook, caller, payload: payload.into_vec() });
    };
    for (driver, name) in DRIVERS.iter().enumerate() {
        let path = format!(r"\SystemRoot\System32\drivers\{name}");
        let mut payload = Bytes::new(pointer_size);
        let (base, stamp) = (base(driver, pointer_size), 0x5000_0000 + driver as u32);
        Image { base, size: 0x8000, pid: 0, checksum: 0, time_date_stamp: stamp, path: &path }.encode(&mut payload);
        put(0, 0, Image::DC_START, (4, 8), payload);
    }
    for file in 0..FILES {
        let Some(path) = path(file) else { continue };
        let mut payload = Bytes::new(pointer_size);
        payload.pointer(key(file));
        payload.utf16(&path);
        put((SECONDS * 1000 - 5) * MS, 0, Hook::new(4, 36, 2), (4, 8), payload);
    }
    let ticks =
        |time: i64| options.zero_ticks + (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    for call in calls {
        let after = u8::from(call.is_after);
        if has_begins {
            let payload = described(call, pointer_size, Bytes::new(pointer_size));
            put(call.start, call.cpus.0, Hook::new(4, 96 + after, 3), call.by, payload);
        }
        let (opcode, payload) = match call.outcome {
            Outcome::Unended => continue,
            Outcome::Completed => {
                let mut payload = Bytes::new(pointer_size);
                payload.u64(ticks(call.start).cast_unsigned());
                (98, described(call, pointer_size, payload))
            }
            Outcome::Failed => {
                let mut payload = described(call, pointer_size, Bytes::new(pointer_size));
                payload.u32(DENIED);
                (100, payload)
            }
        };
        put(call.end, call.cpus.1, Hook::new(4, opcode + after, 3), call.ended_by, payload);
    }
    kernel
}

/// Operations as flushes, whose events have the request, the file and the thread alone.
fn log_operations(operations: &[Operation], calls: &[Call], pointer_size: PointerSize) -> Vec<KernelRecord> {
    let mut records = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        let Some(call) = calls.iter().find(|call| call.operation == number && call.request.0 != 0) else { continue };
        let mut put = |time: i64, hook: Hook, payload: Bytes| {
            let payload = payload.into_vec();
            records.push(KernelRecord { time, cpu: call.cpus.0, hook, caller: call.by, payload });
        };
        let mut payload = Bytes::new(pointer_size);
        [call.request.0, 0x8888_0000, key(call.file)].into_iter().for_each(|address| payload.pointer(address));
        payload.u32(call.by.1);
        put(operation.start, Hook::new(4, 73, 3), payload);
        if has_end(number) {
            let mut payload = Bytes::new(pointer_size);
            payload.pointer(call.request.0);
            payload.pointer(0);
            payload.u32(0);
            put(operation.end, Hook::new(4, 76, 2), payload);
        }
    }
    records
}

fn key(file: usize) -> u64 {
    0x6666_0000 + file as u64 * 0x40
}

fn described(call: &Call, pointer_size: PointerSize, mut payload: Bytes) -> Bytes {
    let object = 0x8888_0000 + call.request.1 % 0x1_0000;
    let (irp, description) = call.request;
    let routine = routine(call.driver, call.is_after, pointer_size);
    for address in [routine, object, key(call.file), irp, description] {
        payload.pointer(address);
    }
    payload.u32((call.major as i8 as u8).into());
    payload
}
