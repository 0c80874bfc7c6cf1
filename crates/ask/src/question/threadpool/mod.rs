//! `dump threadpool`: when thread pools of .NET programs lacked threads, how many threads they wanted, and how long work waited for one.

mod options;
mod queue;

use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::info::IMPORTED;
use tracesift_trace::rows::{ProcessRow, ThreadPoolRow, adjustment_reasons as reasons, thread_pool_events as events};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::etwanalyzer::{Legacy, To, switch};
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Imported, Measure, TableQuestion};

view! {
    /// An event of a thread pool.
    #[derive(Clone, Copy, Debug)]
    pub struct Event of ThreadPoolRow {
        time, process, thread, event, workers, others, reason, throughput, change, since, starved, stack,
    }
}

/// Events of thread pools.
#[derive(Clone, Copy, Debug)]
pub struct ThreadPool;

/// What is asked.
pub type Question = table_question::Question<ThreadPool>;

pub use self::options::Options;
pub(crate) use self::queue::Delays;
pub use self::queue::{Queue, QueueQuestion};

impl TableQuestion for ThreadPool {
    type Row = Event;

    const NAME: &'static str = "threadpool";
    const WHAT: [&'static str; 2] = ["event of thread pools", "events of thread pools"];
    const SOURCE: RowSource = RowSource::windows("Contention");
    const MOST: &'static str = "most events";

    const DIMENSIONS: &'static [Dimension<Event>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::words("event", "Event", |row: &Event| Some(row.event.into()), event)
            .meaning("`adjusted` (the number of workers that the pool wants), `started`, `stopped` and `waits` (of a worker), `limits`, `sample` (measured throughput).")
            .filtered("--event", ["event", "events"], "Only these events: adjusted, started"),
        Dimension::words("reason", "Reason", |row: &Event| row.reason.map(i64::from), reason)
            .meaning("Why the number was changed: `starvation` means that work waited and no thread took any. `(none)`: other events.")
            .or("(none)")
            .filtered("--reason", ["reason", "reasons"], "Only adjustments for these reasons: starvation"),
        Dimension::method(|row: &Event| (row.stack, None))
            .meaning("The function that logged the event, as `module!function`.")
            .coarse(),
        Dimension::tag(|row: &Event| row.stack).coarse(),
        Dimension::stack(|row: &Event| row.stack).coarse().meaning("The functions of the stack of the event."),
    ];

    const MEASURES: &'static [Measure<Event>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::rows("events", "Events").meaning("Number of events.").sorted(&["events", "count"]).total("events"),
        Measure::rows_if("adjusted", "Adjusted", |row: &Event| row.event == events::ADJUSTED)
            .meaning("Number of changes of the number of workers that the pool wants.")
            .sorted(&["adjusted"]),
        Measure::rows_if("starvations", "Starvations", is_starvation)
            .meaning("Changes for starvation: work waited, and no thread took any.")
            .sorted(&["starvations"])
            .total("starvations"),
        Measure::sum_known("starved_ns", "Starved", Kind::Milliseconds, |row: &Event| row.starved)
            .meaning(
                "Time from each change for starvation to the next change, which has it. Empty: no such time is known.",
            )
            .sorted(&["starved"])
            .total("starved"),
        Measure::max("most_workers", "Most workers", Kind::Count, |row: &Event| {
            (row.event == events::ADJUSTED).then_some(row.workers?.into())
        })
        .meaning("Largest number of workers that the pool wanted.")
        .sorted(&["workers"]),
        Measure::rows_if("started", "Started", |row: &Event| row.event == events::STARTED)
            .meaning("Worker threads that started.")
            .sorted(&["started"]),
        Measure::rows_if("stopped", "Stopped", |row: &Event| row.event == events::STOPPED)
            .meaning("Worker threads that ended.")
            .sorted(&["stopped"]),
        Measure::first("first_ns", "First").meaning("Time of the first event.").sorted(&["start"]),
    ];

    const LIST: &'static [ColumnOf<Event>] = &[
        ColumnOf::always(
            "workers",
            "Workers",
            Kind::Count,
            |row| row.workers.map(i64::from).into(),
            "Workers that the pool wants; of a worker the number of active ones; of limits the smallest number.",
        ),
        ColumnOf::always(
            "change",
            "Change",
            Kind::Count,
            |row| row.change.map(i64::from).into(),
            "Change of the number since the adjustment before.",
        ),
        ColumnOf::always(
            "since_ns",
            "Since",
            Kind::Milliseconds,
            |row| row.since.into(),
            "Time since the adjustment before.",
        ),
        ColumnOf::details(
            "throughput",
            "Throughput",
            Kind::Number(1),
            |row| row.throughput.into(),
            "Work items completed per second, as the pool measured.",
        ),
        ColumnOf::details(
            "others",
            "Others",
            Kind::Count,
            |row| row.others.map(i64::from).into(),
            "Of limits the largest number of workers; of a worker the number of retired ones.",
        ),
    ];

    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "starvations";
    const IMPORTED: Imported = Imported::Rows;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = &["adjusted", "started", "stopped", "starved_ns"];
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("events");
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "reason", "event", "queue", "by", "list", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump threadpool X.sift", "the processes whose pools lacked threads"),
        ("tracesift dump threadpool X.sift --reason starvation --list --sort start", "when, and how many workers then"),
        ("tracesift dump threadpool X.sift --by process,reason", "why the number of workers was changed"),
        ("tracesift dump threadpool X.sift --queue", "how long work waited for a thread"),
        ("tracesift dump threadpool X.sift --queue --by stack --top 5", "who queued the work that waited most"),
    ];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "threadpool",
        switches: &[switch(&["sortby"], To::Word("--sort", &[("time", "start"), ("count", "starvations")]))],
    });
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=event"],
        &["--by=reason"],
        &["--reason=starvation"],
        &["--by=method"],
        &["--by=tag"],
        &["--by=stack"],
        &["--queue", "--by=stack"],
        &["--queue", "--by=worker"],
        &["--queue", "--time=1.."],
        &["--queue", "--source=task", "--list"],
    ];

    fn process(row: &Event) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Event) -> (i64, i64) {
        (row.time, row.time)
    }

    fn notes(archive: &Archive, _: TimeRange, _: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let is_imported = archive.info().kind == IMPORTED;
        Ok(is_imported.then(|| "an import has the changes for starvation only".to_owned()).into_iter().collect())
    }
}

fn is_starvation(row: &Event) -> bool {
    row.event == events::ADJUSTED && row.reason == Some(reasons::STARVATION)
}

fn event(number: i64) -> String {
    const WORDS: [&str; 6] = ["adjusted", "started", "stopped", "waits", "limits", "sample"];
    usize::try_from(number)
        .ok()
        .and_then(|place| WORDS.get(place))
        .map_or_else(|| number.to_string(), |w| (*w).to_owned())
}

fn reason(number: i64) -> String {
    const WORDS: [&str; 9] = [
        "warm-up",
        "initializing",
        "random move",
        "climbing move",
        "change point",
        "stabilizing",
        "starvation",
        "thread timed out",
        "cooperative blocking",
    ];
    usize::try_from(number)
        .ok()
        .and_then(|place| WORDS.get(place))
        .map_or_else(|| number.to_string(), |w| (*w).to_owned())
}
