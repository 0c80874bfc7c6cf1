//! The archive that the benchmark of stacks asks: two million samples with 125,000 stacks, written by the archive's own writer.
//!
//! Stacks are walks through a graph of calls in which some callees are common and most are rare, begun at the entry points of threads. As in a
//! recording they get their ids at first sight, and new ones come all the time.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustc_hash::FxHashMap;
use tracesift_archive::{ArchiveWriter, WriterOptions};
use tracesift_trace::info::{SampleSource, TraceInfo};
use tracesift_trace::rows::{CpuSampleRow, FrameRow, ModuleRow, Origin, ProcessRow, StackRow, SymbolRow, ThreadRow};
use tracesift_trace::{Clock, FrameId, Health, ModuleId, ProcessId, RowSink as _, StackId, ThreadId};

/// Samples of the archive.
pub(crate) const SAMPLES: usize = 2_000_000;
/// Distinct stacks.
pub(crate) const STACKS: usize = 125_000;
const FUNCTIONS: usize = 6_000;
const MODULES: usize = 60;
const PROCESSES: usize = 12;
const THREADS_PER_PROCESS: usize = 8;
const CPUS: usize = 16;
const INTERVAL: i64 = 1_000_000;
/// Addresses at which a function is sampled, beside those at which it calls.
const INSTRUCTIONS: u64 = 6;

/// The archive, written once and kept in the benchmarks' directory.
pub(crate) fn archive(directory: &Path) -> anyhow::Result<PathBuf> {
    with_samples(directory, "stacks.sift", SAMPLES)
}

/// The same with another number of samples, and no more stacks.
pub(crate) fn with_samples(directory: &Path, name: &str, samples: usize) -> anyhow::Result<PathBuf> {
    let path = directory.join(name);
    if !path.exists() {
        write(&path, samples)?;
    }
    Ok(path)
}

/// Random numbers, the same ones every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Small numbers more often than large ones.
    fn skewed(&mut self, bound: usize) -> usize {
        let part = (self.next() % (1 << 20)) as f64 / f64::from(1 << 20);
        ((part * part * part * bound as f64) as usize).min(bound.saturating_sub(1))
    }
}

/// The graph of calls.
struct Program {
    /// By function, what it calls: the most frequent callee first.
    callees: Vec<Vec<usize>>,
}

impl Program {
    fn new(dice: &mut Dice) -> Self {
        let callees = |_| (0..2 + dice.below(10)).map(|_| dice.below(FUNCTIONS)).collect();
        Self { callees: (0..FUNCTIONS).map(callees).collect() }
    }

    /// Frames of a walk from an entry point, outermost first, as function and address in it.
    fn walk(&self, entry: usize, dice: &mut Dice, frames: &mut Vec<(usize, u64)>) {
        frames.clear();
        let (mut function, depth) = (entry, 12 + dice.below(37));
        for _ in 1..depth {
            let callees = &self.callees[function];
            let call = dice.skewed(callees.len());
            frames.push((function, 0x20 + call as u64 * 0x11));
            function = callees[call];
        }
        frames.push((function, 0x08 + dice.next() % INSTRUCTIONS * 0x17));
    }
}

fn write(path: &Path, samples: usize) -> anyhow::Result<()> {
    let options = WriterOptions { trace: "5f".repeat(16), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(path, options)?;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let program = Program::new(&mut dice);
    let mut frames: FxHashMap<(usize, u64), FrameId> = FxHashMap::default();
    let mut functions: Vec<usize> = Vec::new();
    let mut seen: FxHashMap<Vec<FrameId>, ()> = FxHashMap::default();
    // By process, its stacks in the order of their first sight.
    let mut stacks: Vec<Vec<StackId>> = vec![Vec::new(); PROCESSES];
    let (mut walk, mut count) = (Vec::new(), 0);
    for sample in 0..samples {
        let process = dice.skewed(PROCESSES);
        let thread = process * THREADS_PER_PROCESS + dice.skewed(THREADS_PER_PROCESS);
        let is_new = stacks[process].is_empty() || (count < STACKS && sample * STACKS / samples >= count);
        let stack = if is_new {
            let stack = loop {
                program.walk(process * 97 + dice.below(5), &mut dice, &mut walk);
                let leaf_first = walk.iter().rev().map(|&(function, offset)| {
                    *frames.entry((function, offset)).or_insert_with(|| {
                        let frame = FrameId::from_index(functions.len());
                        functions.push(function);
                        writer.frame(&frame_row(frame, function, offset));
                        frame
                    })
                });
                let list: Vec<FrameId> = leaf_first.collect();
                if seen.insert(list.clone(), ()).is_none() {
                    break StackRow { stack: StackId::from_index(count), frames: list };
                }
            };
            count += 1;
            writer.stack(&stack);
            stacks[process].push(stack.stack);
            stack.stack
        } else {
            let known = &stacks[process];
            known[dice.skewed(known.len())]
        };
        writer.cpu_sample(&CpuSampleRow {
            time: (sample / CPUS) as i64 * INTERVAL + (sample % CPUS) as i64 * 1_300 + dice.below(900) as i64,
            cpu: (sample % CPUS) as i16,
            process: ProcessId::from_index(process),
            thread: ThreadId::from_index(thread),
            weight: INTERVAL,
            stack: Some(stack),
            frame: None,
            priority: Some(8),
            flags: 0,
        });
    }
    for (number, &function) in functions.iter().enumerate() {
        symbols(FrameId::from_index(number), function, |row| writer.symbol(row));
    }
    writer.write_table(&processes());
    writer.write_table(&threads());
    writer.write_table(&modules());
    let info = TraceInfo {
        name: "stacks".to_owned(),
        kind: "etl".to_owned(),
        cpu_count: CPUS as u32,
        end_ns: (samples / CPUS) as i64 * INTERVAL,
        sample_sources: vec![SampleSource { number: 0, name: "Timer".to_owned(), interval_ns: INTERVAL }],
        symbols_loaded: true,
        ..TraceInfo::default()
    };
    writer.finish(info, &Health::default(), &Clock::new(0, 10_000_000)).context("the archive")?;
    Ok(())
}

fn module_of(function: usize) -> usize {
    // Some modules have many functions.
    function * function / FUNCTIONS * MODULES / FUNCTIONS
}

fn module_name(module: usize) -> String {
    match module {
        0 => "ntoskrnl.exe".to_owned(),
        1..8 => format!("driver{module}.sys"),
        _ => format!("Company.Product.Part{module}.dll"),
    }
}

fn frame_row(frame: FrameId, function: usize, offset: u64) -> FrameRow {
    FrameRow {
        frame,
        module: Some(ModuleId::from_index(module_of(function))),
        rva: Some(0x1000 + function as i64 * 0x200 + offset.cast_signed()),
        process: None,
        address: None,
    }
}

/// One function of twenty has no name, and one is inlined into another.
fn symbols(frame: FrameId, function: usize, mut write: impl FnMut(&SymbolRow)) {
    let row = |depth, function: usize| SymbolRow {
        frame,
        depth,
        module: Some(module_name(module_of(function))),
        function: format!("Product::Part{}::Worker{}::HandleRequest{function}", module_of(function), function % 173),
        arguments: None,
        file: Some(format!("src/part{}/worker{}.cpp", module_of(function), function % 173)),
        line: Some(function as i32 % 900 + 1),
        source: "pdb".to_owned(),
    };
    if function % 20 != 7 {
        write(&row(0, function));
        if function % 20 == 3 {
            write(&row(1, (function + 1) % FUNCTIONS));
        }
    }
}

fn processes() -> Vec<ProcessRow> {
    let row = |number: usize| ProcessRow {
        process: ProcessId::from_index(number),
        pid: 1_000 + 4 * number as i64,
        name: format!("Worker{number}.exe"),
        origin: Origin::Rundown,
        ..ProcessRow::default()
    };
    (0..PROCESSES).map(row).collect()
}

fn threads() -> Vec<ThreadRow> {
    let row = |number: usize| ThreadRow {
        thread: ThreadId::from_index(number),
        process: ProcessId::from_index(number / THREADS_PER_PROCESS),
        tid: 5_000 + 4 * number as i64,
        base_priority: Some(8),
        origin: Origin::Rundown,
        ..ThreadRow::default()
    };
    (0..PROCESSES * THREADS_PER_PROCESS).map(row).collect()
}

fn modules() -> Vec<ModuleRow> {
    let row = |number: usize| ModuleRow {
        module: ModuleId::from_index(number),
        name: module_name(number),
        path: format!("C:\\Program Files\\Product\\{}", module_name(number)),
        ..ModuleRow::default()
    };
    (0..MODULES).map(row).collect()
}
