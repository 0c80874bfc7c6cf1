//! Last branch records that are known, and the events that Windows logs of them. No recording with such events is public, so the events
//! are made from their layout.

use std::collections::BTreeMap;

use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::providers::{KernelRecord, write_with_kernel};

/// Length of the recording.
const SECONDS: i64 = 1;
/// Processes, with pid and image.
pub const PROCESSES: [(u32, &str); 2] = [(1_204, "svchost.exe"), (5_108, "explorer.exe")];
/// Branches of an event; the processor has room for so many.
const ROOM: usize = 16;
/// Filters of an event whose records are a call stack.
const CALL_STACK: u32 = 0x200;

/// The records of one event.
#[derive(Clone, Debug)]
pub struct Records {
    /// Time, nanoseconds since the start of the recording.
    pub time: i64,
    /// The process.
    pub pid: u32,
    /// Whether they are a call stack.
    pub is_call_stack: bool,
    /// Addresses, the newest branch first. What was never written has 0.
    pub branches: Vec<[u64; 2]>,
}

/// Random records.
#[must_use]
pub fn story(seed: u64, pointer_size: PointerSize) -> Vec<Records> {
    let mut random = SplitMix64::new(seed);
    let (user, kernel) = match pointer_size {
        PointerSize::Four => (0x0040_1000, 0x8010_2000),
        PointerSize::Eight => (0x7FF6_1234_1000, 0xFFFF_F801_2345_6000),
    };
    let address = |random: &mut SplitMix64| {
        let base = if random.chance(20) { kernel } else { user };
        base + random.below(6) * 0x10
    };
    (1..400)
        .map(|event| {
            let written = if random.chance(10) { random.index(ROOM) } else { ROOM };
            let mut branches: Vec<[u64; 2]> =
                (0..written).map(|_| [address(&mut random), address(&mut random)]).collect();
            branches.resize(ROOM, [0, 0]);
            let pid = PROCESSES[random.index(PROCESSES.len())].0;
            Records { time: event * 2_000_000, pid, is_call_stack: random.chance(5), branches }
        })
        .collect()
}

/// The branches that count, by pid and addresses.
#[must_use]
pub fn sums(story: &[Records]) -> BTreeMap<(u32, u64, u64), i64> {
    let mut sums = BTreeMap::new();
    for records in story.iter().filter(|records| !records.is_call_stack) {
        for [from, to] in records.branches.iter().filter(|branch| **branch != [0, 0]) {
            *sums.entry((records.pid, *from, *to)).or_default() += 1;
        }
    }
    sums
}

/// Writes the story.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(story: &[Records], pointer_size: PointerSize) -> Result<Vec<u8>, WriteError> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let ticks = |time: i64| (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    let record = |records: &Records| {
        let mut payload = Bytes::new(pointer_size);
        payload.u64((options.zero_ticks + ticks(records.time)).cast_unsigned());
        payload.u32(records.pid);
        payload.u32(8);
        payload.u32(if records.is_call_stack { CALL_STACK } else { 0 });
        if matches!(pointer_size, PointerSize::Eight) {
            payload.u32(0);
        }
        for [from, to] in &records.branches {
            [*from, *to, 0].into_iter().for_each(|word| payload.pointer(word));
        }
        KernelRecord {
            time: records.time,
            cpu: 0,
            hook: Hook::new(0x0c, 32, 0),
            caller: (records.pid, 8),
            payload: payload.into_vec(),
        }
    };
    let kernel = story.iter().map(record).collect();
    write_with_kernel(options, SECONDS, &PROCESSES, Vec::new(), kernel)
}
