//! Operations on the registry that are known, and the events that the kernel logs of them. No recording with such events is public, so
//! the events are made from their layouts.

use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::SplitMix64;
use crate::providers::{KernelRecord, write_with_kernel};

const MS: i64 = 1_000_000;
/// Length of the recording.
pub const SECONDS: i64 = 2;
const CPUS: u64 = 2;
/// Processes, with pid, image and threads.
pub const PROCESSES: [(u32, &str, [u32; 2]); 3] =
    [(1_204, "svchost.exe", [40, 44]), (5_108, "explorer.exe", [48, 52]), (6_020, "setup.exe", [56, 60])];

/// Number of key control blocks. The last one has no name.
const BLOCKS: usize = 6;
const UNNAMED: usize = BLOCKS - 1;

/// Opcodes of the events of operations: of keys with a name, of values, and of keys without a name.
const OPCODES: [&[u8]; 3] = [&[10, 11, 11, 11], &[14, 15, 16, 16, 16], &[12, 13, 17, 18, 19, 20, 21, 26, 27, 28, 29]];

const KCB_CREATE: u8 = 22;
const KCB_DELETE: u8 = 23;
const KCB_RUNDOWN_BEGIN: u8 = 24;
const KCB_RUNDOWN_END: u8 = 25;

/// Statuses: success, more data, and failures.
pub const STATUSES: [u32; 5] = [0, 0, 0x8000_0005, 0xC000_0034, 0xC000_0022];

const NAMES: [&str; 6] = ["Run", r"Windows NT\CurrentVersion", "Tcpip", r"Explorer\Ärger", "Services", "Policies"];
const VALUES: [&str; 4] = ["", "Start", "ImagePath", "Größe"];

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// End, nanoseconds since the start of the recording.
    pub end: i64,
    /// Begin; the same as the end where no event tells it.
    pub start: i64,
    /// Whether no event tells the begin.
    pub begin_unknown: bool,
    /// Process and thread.
    pub by: (u32, u32),
    /// Opcode of the event.
    pub opcode: u8,
    /// Key control block, if the key is not named as a whole.
    pub block: Option<usize>,
    /// Name of the key of that block, where events tell it.
    pub base: Option<String>,
    /// Name in the event: of a key or a value.
    pub name: String,
    /// NTSTATUS.
    pub status: u32,
    /// Number or kind.
    pub index: u32,
    /// CPU.
    pub cpu: u16,
}

impl Operation {
    /// The whole name of the key, as a row has it.
    #[must_use]
    pub fn key(&self, version: u8, pointer_size: PointerSize) -> String {
        let what = if version == 0 { "handle" } else { "KCB" };
        let of_block = |block| format!("{what} {:#x}", address(block, pointer_size));
        let base = self.block.map(|block| self.base.clone().filter(|_| version > 0).unwrap_or_else(|| of_block(block)));
        match (base, self.is_about_value() || self.name.is_empty()) {
            (Some(base), true) => base,
            (Some(base), false) => format!(r"{base}\{}", self.name),
            (None, _) => self.name.clone(),
        }
    }

    /// The name of the value, as a row has it.
    #[must_use]
    pub fn value(&self) -> Option<String> {
        self.is_about_value().then(|| self.name.clone())
    }

    fn is_about_value(&self) -> bool {
        matches!(self.opcode, 14..=16)
    }
}

/// What the kernel logs of a block.
#[derive(Clone, Debug)]
struct BlockEvent {
    time: i64,
    opcode: u8,
    block: usize,
    name: String,
}

/// Random operations, and events about key control blocks.
#[derive(Clone, Debug)]
pub struct Story {
    /// Operations, in the order of their ends.
    pub operations: Vec<Operation>,
    version: u8,
    blocks: Vec<BlockEvent>,
}

struct Teller {
    rng: SplitMix64,
    version: u8,
    /// Names of the blocks at the time; whether it is the name at the start.
    names: Vec<(String, bool)>,
    story: Story,
}

impl Teller {
    fn new_name(&mut self) -> String {
        let roots = [r"\REGISTRY\MACHINE\SOFTWARE", r"\REGISTRY\MACHINE\SYSTEM", r"\REGISTRY\USER\S-1-5-18"];
        format!(r"{}\{}", roots[self.rng.index(roots.len())], NAMES[self.rng.index(NAMES.len())])
    }

    fn block_event(&mut self, time: i64, opcode: u8, block: usize, name: String) {
        self.story.blocks.push(BlockEvent { time, opcode, block, name });
    }

    /// A block becomes that of another key.
    fn reuse(&mut self, now: i64, block: usize) {
        let (name, is_first) = self.names[block].clone();
        // What begins with the recording has its name from its end, or from a rundown.
        let told = if is_first || self.rng.chance(50) { name } else { String::new() };
        self.block_event(now, KCB_DELETE, block, told);
        let name = self.new_name();
        self.block_event(now + 2_000, KCB_CREATE, block, name.clone());
        self.names[block] = (name, false);
    }

    fn operation(&mut self, now: i64) {
        let (pid, _, tids) = PROCESSES[self.rng.index(PROCESSES.len())];
        let sort = self.rng.index(OPCODES.len());
        let opcode = OPCODES[sort][self.rng.index(OPCODES[sort].len())];
        let is_whole = sort == 0 && self.rng.chance(20);
        let block = self.rng.index(BLOCKS);
        let name = match sort {
            0 if is_whole => self.new_name(),
            0 => NAMES[self.rng.index(NAMES.len())].to_owned(),
            1 => VALUES[self.rng.index(VALUES.len())].to_owned(),
            _ => String::new(),
        };
        let begin_unknown = self.rng.chance(5);
        let length = self.rng.between(0, 900) * 1_000;
        let base = (!is_whole && block != UNNAMED).then(|| self.names[block].0.clone());
        self.story.operations.push(Operation {
            end: now,
            start: if begin_unknown { now } else { now - length },
            begin_unknown,
            by: (pid, tids[self.rng.index(2)]),
            opcode,
            block: (!is_whole).then_some(block),
            base,
            name,
            status: STATUSES[self.rng.index(STATUSES.len())],
            index: self.rng.below(20) as u32,
            cpu: self.rng.below(CPUS) as u16,
        });
    }
}

/// Random operations as events of this version (0 to 2) tell them. In version 2 key control blocks become those of other keys.
#[must_use]
pub fn story(seed: u64, version: u8) -> Story {
    let story = Story { operations: Vec::new(), version, blocks: Vec::new() };
    let mut teller = Teller { rng: SplitMix64::new(seed), version, names: Vec::new(), story };
    for block in 0..BLOCKS {
        let name = teller.new_name();
        teller.names.push((name.clone(), true));
        if version == 2 && block < 2 {
            teller.block_event(MS, KCB_RUNDOWN_BEGIN, block, name);
        }
    }
    let mut now = 5 * MS;
    while now < (SECONDS * 1_000 - 100) * MS {
        now += teller.rng.between(5, 3_000) * 1_000;
        if teller.version == 2 && teller.rng.chance(10) {
            let block = teller.rng.index(UNNAMED - 1);
            teller.reuse(now, block);
            now += 3_000;
        } else {
            teller.operation(now);
        }
    }
    let rundown = if version == 2 { KCB_RUNDOWN_END } else { KCB_CREATE };
    for block in 0..UNNAMED {
        let name = teller.names[block].0.clone();
        teller.block_event((SECONDS * 1_000 - 1) * MS, rundown, block, name);
    }
    teller.story
}

fn address(block: usize, pointer_size: PointerSize) -> u64 {
    let first = match pointer_size {
        PointerSize::Four => 0x9A00_1000,
        PointerSize::Eight => 0xFFFF_A801_2345_1000,
    };
    first + block as u64 * 0x80
}

/// Writes the story.
///
/// # Errors
/// A payload does not fit into a buffer.
pub fn write(story: &Story, pointer_size: PointerSize) -> Result<Vec<u8>, WriteError> {
    let options = SessionOptions { pointer_size, ..SessionOptions::default() };
    let ticks = |time: i64| (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    let mut kernel = Vec::new();
    for event in &story.blocks {
        let payload = Event { begin: Some(0), status: 0, index: 0, block: Some(event.block), name: &event.name };
        let payload = payload.encode(story.version, pointer_size, options.zero_ticks);
        let hook = Hook::new(0x09, event.opcode, story.version);
        kernel.push(KernelRecord { time: event.time, cpu: 0, hook, caller: (4, 8), payload });
    }
    for operation in &story.operations {
        let begin = match (story.version, operation.begin_unknown) {
            (2, true) => None,
            (2, false) => Some(ticks(operation.start)),
            // So long that the operation began before the recording.
            (_, true) => Some(ticks(operation.end + 1_000 * MS)),
            (_, false) => Some(ticks(operation.end) - ticks(operation.start)),
        };
        let Operation { status, index, block, name, .. } = operation;
        let payload = Event { begin, status: *status, index: *index, block: *block, name };
        kernel.push(KernelRecord {
            time: operation.end,
            cpu: operation.cpu,
            hook: Hook::new(0x09, operation.opcode, story.version),
            caller: operation.by,
            payload: payload.encode(story.version, pointer_size, options.zero_ticks),
        });
    }
    let processes: Vec<(u32, &str)> = PROCESSES.iter().map(|(pid, name, _)| (*pid, *name)).collect();
    write_with_kernel(options, SECONDS, &processes, Vec::new(), kernel)
}

/// The fields of an event.
struct Event<'a> {
    /// Ticks: of version 2 since the start of the recording, else before the event.
    begin: Option<i64>,
    status: u32,
    index: u32,
    block: Option<usize>,
    name: &'a str,
}

impl Event<'_> {
    fn encode(&self, version: u8, pointer_size: PointerSize, zero: i64) -> Vec<u8> {
        let mut payload = Bytes::new(pointer_size);
        let block = self.block.map_or(0, |block| address(block, pointer_size));
        if version == 2 {
            payload.u64(self.begin.map_or(0, |begin| zero + begin).cast_unsigned());
            payload.u32(self.status);
            payload.u32(self.index);
            payload.pointer(block);
        } else {
            payload.pointer(self.status.into());
            payload.pointer(block);
            payload.u64(self.begin.unwrap_or(0).cast_unsigned());
            if version == 1 {
                payload.u32(self.index);
            }
        }
        payload.utf16(self.name);
        payload.into_vec()
    }
}
