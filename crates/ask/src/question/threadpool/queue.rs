//! `dump threadpool --queue`: how long work waited for a thread of its pool, and how long tasks ran.

use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{WorkItemRow, work_item_sources as sources};
use tracesift_trace::{ProcessId, view};

use super::ThreadPool;
use crate::answer::{ColumnOf, Kind};
use crate::question::contention::threads;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Limit, Measure, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// Work that was queued.
    #[derive(Clone, Copy, Debug)]
    pub struct Item of WorkItemRow {
        time, start, process, thread, worker, source, id, started, ended, runtime, stack, open,
    }
}

/// Work that was queued for thread pools.
#[derive(Clone, Copy, Debug)]
pub struct Queue;

/// What is asked with `--queue`.
pub type QueueQuestion = table_question::Question<Queue>;

/// Several sources tell of the same work: what they tell does not add up.
const APART: &[&str] = &["source"];

impl TableQuestion for Queue {
    type Row = Item;

    const NAME: &'static str = "threadpool";
    const WHAT: [&'static str; 2] = ["item of work", "items of work"];
    const SOURCE: RowSource = ThreadPool::SOURCE;
    const MOST: &'static str = "most items";
    const HAS_LENGTH: Option<fn(&Item) -> bool> = Some(is_taken);

    const DIMENSIONS: &'static [Dimension<Item>] = &[
        Dimension::process().with(APART),
        Dimension::thread(|row: &Item| row.thread).with(APART),
        Dimension::words("source", "Source", |row: &Item| Some(row.source.into()), |number| numbered(&["runtime", "task", "framework"], number))
            .meaning("Who tells of the work: `runtime` (work of the pool, as the .NET runtime logs it), `framework` (the same, as the class library logs it), `task` (tasks). Several can tell of the same work, so each has rows of its own.")
            .filtered("--source", ["source", "sources"], "Only what these tell: runtime, task, framework"),
        Dimension::named("worker", "Worker", |row: &Item| row.worker.map(|thread| thread.0.into()), threads)
            .meaning("Thread id and name of the thread that took the work. `(none)`: no thread took it in the recording.")
            .or("(none)")
            .with(APART)
            .filtered("--worker", ["worker", "workers"], "Only work that these threads took: '12 *'"),
        Dimension::method(|row: &Item| (row.stack, None))
            .meaning("The function that queued the work, as `module!function`: the leaf of the stack.")
            .coarse()
            .with(APART),
        Dimension::tag(|row: &Item| row.stack).coarse().with(APART),
        Dimension::stack(|row: &Item| row.stack)
            .coarse()
            .with(APART)
            .meaning("The functions of the stack that queued the work."),
    ];

    const MEASURES: &'static [Measure<Item>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("worker", "workers", "Workers").meaning("Number of threads that took work.").details(),
        Measure::rows("items", "Items").meaning("Number of items of work, or of tasks, that were queued.").sorted(&["items", "count"]),
        Measure::rows_if("taken", "Taken", is_taken).meaning("Those that a thread took.").sorted(&["taken"]),
        Measure::rows_if("not_taken", "Not taken", |row: &Item| !is_taken(row))
            .meaning("Those of which the recording does not tell that a thread took them: they wait at its end, were cancelled, or a thread that needed the result ran them itself. All other figures are without them.")
            .sorted(&["not-taken"]),
        Measure::duration("waited_ns", "Waited")
            .meaning("Sum of the times from queueing to taking, each cut to the time range. Items that wait at once add up.")
            .sorted(&["waited", "sum", "time"]),
        Measure::mean("avg_ns", "Average", Kind::Milliseconds, ["waited_ns", "taken"])
            .meaning("Mean waiting time.")
            .sorted(&["average"]),
        Measure::percentile("p50_ns", "P50", 0.5).meaning("Half of the items did not wait longer.").sorted(&["p50"]),
        Measure::percentile("p90_ns", "P90", 0.9).meaning("90 % of the items did not wait longer.").sorted(&["p90"]),
        Measure::percentile("p99_ns", "P99", 0.99).meaning("99 % of the items did not wait longer.").sorted(&["p99"]),
        Measure::longest("longest_ns", "Longest").meaning("The longest waiting time.").sorted(&["longest", "max"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("When the item that waited longest was queued."),
        Measure::sum_peak("longest_queue", "Longest queue", Kind::Count, |_| false, |row: &Item| is_taken(row).into())
            .meaning("Largest number of items that waited at once.")
            .sorted(&["queue"]),
        Measure::per_time("mean_queue", "Mean queue", "waited_ns")
            .meaning("Mean number of items that waited, over the time range; with `--bucket` over each part of it.")
            .sorted(&["mean-queue"]),
        Measure::sum_over("run_ns", "Run", Kind::Milliseconds, |row: &Item| run(row).unwrap_or(0))
            .meaning("Sum of the times from the begin of tasks to their completion, with all that they waited for meanwhile, of the tasks that began in the time range. 0 of work of the pool, whose end is not logged.")
            .sorted(&["run"]),
        Measure::max("longest_run_ns", "Longest run", Kind::Milliseconds, run)
            .meaning("The longest time of one task. Empty: none is known.")
            .sorted(&["longest-run"])
            .details(),
        Measure::first("first_ns", "First").meaning("When the first item was queued.").sorted(&["start"]),
    ];

    const LIMITS: &'static [Limit<Item>] = &[Limit::time(
        ["--min-wait", "--max-wait"],
        waited,
        ["Only work that waited so long (ms without unit)", "Only work that did not wait longer"],
    )];

    const LIST: &'static [ColumnOf<Item>] = &[
        ColumnOf::always(
            "id",
            "Id",
            Kind::Id,
            |row| row.id.into(),
            "Number of the task, or of the work. Both are used again.",
        ),
        ColumnOf::always(
            "run_ns",
            "Run",
            Kind::Milliseconds,
            |row| run(row).into(),
            "Time from the begin of the task to its completion; empty where it is not recorded.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether the recording does not tell that a thread took it.",
        ),
        ColumnOf::details(
            "runtime",
            "Runtime",
            Kind::Id,
            |row| row.runtime.map(i64::from).into(),
            "Number of the runtime in the process, where the events have it.",
        ),
    ];

    const BY: &'static [&'static str] = &["process", "source"];
    const SORT: &'static str = "waited";
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    fn process(row: &Item) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Item) -> (i64, i64) {
        times(row)
    }
}

fn is_taken(row: &Item) -> bool {
    row.started.is_some()
}

/// The time in the queue; of work that nobody took up to the end of its row.
fn times(row: &Item) -> (i64, i64) {
    (row.start, row.started.unwrap_or(row.time).max(row.start))
}

fn waited(row: &Item) -> Option<i64> {
    Some(row.started?.saturating_sub(row.start).max(0))
}

fn run(row: &Item) -> Option<i64> {
    Some(row.ended?.saturating_sub(row.started?).max(0))
}

/// Waiting times by the code that queued the work: of tasks, or of work of pools. It is no command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays<const TASKS: bool>;

impl<const TASKS: bool> TableQuestion for Delays<TASKS> {
    type Row = Item;

    const NAME: &'static str = "threadpool";
    const WHAT: [&'static str; 2] = if TASKS { ["task", "tasks"] } else { ["item of work", "items of work"] };
    const SOURCE: RowSource = ThreadPool::SOURCE;
    const MOST: &'static str = "most items";
    const HAS_LENGTH: Option<fn(&Item) -> bool> = Some(is_taken);

    const DIMENSIONS: &'static [Dimension<Item>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::method(|row: &Item| (row.stack, None)).meaning("The function that queued the work."),
    ];
    const MEASURES: &'static [Measure<Item>] =
        &[Measure::duration("waited_ns", "Waited").meaning("Sum of the times in the queue.")];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "waited_ns",
        measure: if TASKS { OF_TASKS } else { OF_POOLS },
        help: if TASKS {
            "Time that .NET tasks waited for a thread, by the code that queued them"
        } else {
            "Time that work waited for a thread of a .NET pool, by the code that queued it"
        },
    }];
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "name";
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    fn process(row: &Item) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Item) -> (i64, i64) {
        times(row)
    }

    fn is_asked(row: &Item) -> bool {
        (row.source == sources::TASK) == TASKS
    }
}

const OF_TASKS: Exported =
    Exported { key: "task-wait", label: "Wait of tasks", unit: Unit::Nanoseconds, counted: "tasks" };
const OF_POOLS: Exported =
    Exported { key: "pool-wait", label: "Wait of pool work", unit: Unit::Nanoseconds, counted: "items of work" };
