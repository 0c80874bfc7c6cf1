//! How long an extract would take with more processors: from the processor time that each slice takes on each stage, measured with the
//! processors that there are.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tracesift_extract::{Budget, Options, Outcome, Stage, StageWatch, Step, extract, input};

use crate::{SCALE_BYTES, scale};

/// Slices that wait between the threads, beside the one that each worker has.
const WAITING: usize = 2;

/// Processor time of the calling thread, or of the program.
fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Processor time by stage and slice. What begins stands there with the time of its thread until it ends.
#[derive(Default)]
struct Times(Mutex<BTreeMap<Stage, BTreeMap<usize, Duration>>>);

impl Times {
    fn change(&self, stage: Stage, slice: usize, change: impl FnOnce(&mut Duration)) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(times.entry(stage).or_default().entry(slice).or_default());
    }

    fn of(&self, stage: Stage) -> Vec<f64> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.get(&stage).into_iter().flat_map(BTreeMap::values).map(Duration::as_secs_f64).collect()
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("times of slices")
    }
}

impl StageWatch for Times {
    fn begins(&self, stage: Stage, slice: usize) {
        let now = clock(ClockId::ThreadCPUTime);
        self.change(stage, slice, |time| *time = now);
    }

    fn ends(&self, stage: Stage, slice: usize) {
        let now = clock(ClockId::ThreadCPUTime);
        self.change(stage, slice, |time| *time = now.saturating_sub(*time));
    }
}

/// The processor time of all threads with a name, seconds, that still run.
fn of_threads(name: &str) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |task: std::fs::DirEntry| {
        let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let nanoseconds = read("schedstat").split_whitespace().next().and_then(|time| time.parse::<f64>().ok());
        if read("comm").trim() == name { nanoseconds.unwrap_or(0.0) / 1e9 } else { 0.0 }
    };
    tasks.map(time).sum()
}

/// The processor time of an extract, seconds.
struct Parts {
    inventory: Vec<f64>,
    stack_inventory: Vec<f64>,
    slices: Vec<f64>,
    joins: Vec<f64>,
    rows: Vec<f64>,
    /// Of the encoder, until all rows are made.
    encoder: f64,
    /// Of the main thread beside the above.
    rest: f64,
    /// Of all threads.
    all: f64,
}

impl Parts {
    fn measured(path: &Path) -> anyhow::Result<Self> {
        let selection = input::select(&[path.display().to_string()], &input::SelectOptions::default());
        let Some(input::Target::Recording(recording)) = selection.targets.first() else {
            anyhow::bail!("no recording")
        };
        let times = Arc::new(Times::default());
        let stages: Arc<dyn StageWatch> = Arc::<Times>::clone(&times);
        let options =
            Options { overwrite: true, stages: Some(stages), budget: Budget::default(), ..Options::default() };
        let (all, main) = (clock(ClockId::ProcessCPUTime), clock(ClockId::ThreadCPUTime));
        let mut encoder = None;
        let mut watch = |step: Step| {
            if step.phase == "summarising" {
                encoder.get_or_insert_with(|| of_threads("archive encoder"));
            }
            ControlFlow::Continue(())
        };
        let extraction = extract(recording, &options, &mut watch)?;
        let main = (clock(ClockId::ThreadCPUTime) - main).as_secs_f64();
        let all = (clock(ClockId::ProcessCPUTime) - all).as_secs_f64();
        anyhow::ensure!(matches!(extraction.outcomes.first(), Some(Outcome::Extracted(_))), "no extract");
        let (inventory, joins) = (times.of(Stage::Inventory), times.of(Stage::Join));
        Ok(Self {
            rest: main - inventory.iter().sum::<f64>() - joins.iter().sum::<f64>(),
            stack_inventory: times.of(Stage::StackInventory),
            slices: times.of(Stage::Slice),
            rows: times.of(Stage::Rows),
            encoder: encoder.unwrap_or(0.0),
            inventory,
            joins,
            all,
        })
    }

    /// The time with so many workers, and a processor for each other thread: the threads wait for each other as in the extract.
    fn makespan(&self, workers: usize) -> f64 {
        let sum = |times: &[f64]| times.iter().sum::<f64>();
        let first_pass = sum(&self.inventory).max(sum(&self.stack_inventory));
        let encoded = self.encoder / self.slices.len().max(1) as f64;
        let mut free = vec![0.0_f64; workers.max(1)];
        let (mut joined, mut written, mut encoder) = (Vec::<f64>::new(), 0.0_f64, 0.0_f64);
        for (number, slice) in self.slices.iter().enumerate() {
            // A permit comes back when a slice is joined.
            let permit = number.checked_sub(workers + WAITING).and_then(|before| joined.get(before));
            let Some(worker) = free.iter_mut().min_by(|one, other| one.total_cmp(other)) else { continue };
            *worker = worker.max(permit.copied().unwrap_or(0.0)) + slice;
            let before = joined.last().copied().unwrap_or(0.0);
            let end = before.max(*worker) + self.joins.get(number).copied().unwrap_or(0.0);
            joined.push(end);
            written = written.max(end) + self.rows.get(number).copied().unwrap_or(0.0);
            encoder = encoder.max(written) + encoded;
        }
        first_pass + encoder.max(written).max(joined.last().copied().unwrap_or(0.0)) + self.rest
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let path = scale::recording(directory, SCALE_BYTES)?;
    let parts = Parts::measured(&path)?;
    let sum = |times: &[f64]| times.iter().sum::<f64>();
    println!("{} slices, processor time of all threads {:.2} s", parts.slices.len(), parts.all);
    for (name, time) in [
        ("pass 1, inventory (main thread)", sum(&parts.inventory)),
        ("pass 1, stack inventory", sum(&parts.stack_inventory)),
        ("pass 2, slices (workers)", sum(&parts.slices)),
        ("pass 2, joins (main thread)", sum(&parts.joins)),
        ("pass 2, rows put together", sum(&parts.rows)),
        ("pass 2, encoder", parts.encoder),
        ("rest of the main thread", parts.rest),
    ] {
        println!("  {name}: {time:.2} s, {:.0} %", 100.0 * time / parts.all);
    }
    let serial = (sum(&parts.inventory) + sum(&parts.joins) + parts.rest) / parts.all;
    println!("main thread: {:.0} % of the processor time, budget 10 %", 100.0 * serial);
    for (workers, budget) in [(1, 1.0), (2, 1.0), (4, 3.4), (8, 6.0), (16, 10.0)] {
        let makespan = parts.makespan(workers);
        println!(
            "{workers} workers: {makespan:.2} s, {:.1} times one processor, budget {budget}",
            parts.all / makespan
        );
    }
    Ok(())
}
