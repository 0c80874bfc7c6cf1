//! What counters counted for threads: differences between switches, or the best source that the recording has.

use tracesift_analysis::{Span, Times};
use tracesift_archive::Error;
use tracesift_extract::counters::counter_sums;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ContextSwitchRow, CounterSummaryRow};
use tracesift_trace::schema::{Row as _, TableDefinition};
use tracesift_trace::{ProcessId, counter_roles};

use super::figures::{Counted, figures};
use crate::answer::{ColumnOf, Kind};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Imported, Measure, TableQuestion};

/// Counts of threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

/// What is asked.
pub type Question = table_question::Question<Threads>;

impl Counted for CounterSummaryRow {
    fn role(&self) -> Option<i8> {
        self.role
    }

    fn value(&self) -> Option<i64> {
        self.value
    }
}

/// Words of the sources, by number.
const SOURCES: [&str; 4] = ["switches", "end of the thread", "readings", "samples"];

fn source(number: i64) -> String {
    let word = usize::try_from(number).ok().and_then(|number| SOURCES.get(number));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Time between the switches, of the first counter alone: all counters of a thread have the same.
fn run(row: &CounterSummaryRow) -> Option<i64> {
    row.run.filter(|_| row.counts_run == Some(true))
}

/// Time in which cycles were counted.
fn run_of_cycles(row: &CounterSummaryRow) -> Option<i64> {
    row.run.filter(|_| row.role == Some(counter_roles::CYCLES))
}

/// Events of a counter with this role; the idle loop is no work.
fn busy<const ROLE: i8>(row: &CounterSummaryRow) -> Option<i64> {
    row.value.filter(|_| row.role == Some(ROLE) && row.idle != Some(true))
}

impl TableQuestion for Threads {
    type Row = CounterSummaryRow;

    const NAME: &'static str = "pmc";
    const WHAT: [&'static str; 2] = ["hardware counter", "hardware counters"];
    const SOURCE: RowSource = RowSource::both("PMCBranch", "PMCBranch");
    const MOST: &'static str = "most counters";
    const DIMENSIONS: &'static [Dimension<CounterSummaryRow>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("core-type", "Core type", |row: &CounterSummaryRow| row.core_type.as_deref())
            .meaning("Kind of core. Empty where the recording does not tell.")
            .filtered("--cpu-type", ["kind of core", "kinds of cores"], "Only counts on cores of these kinds"),
        Dimension::text("counter", "Counter", |row: &CounterSummaryRow| Some(&row.counter))
            .meaning("Name of the counter, as the recorder has it.")
            .filtered("--counter", ["counter", "counters"], "Only these counters"),
        Dimension::words("source", "Source", |row: &CounterSummaryRow| Some(row.source.into()), source)
            .meaning("Where the counts come from: differences between context switches, a reading at the end of the thread, readings in samples of other events, or samples, each of which stands for the events of its period."),
    ];
    const MEASURES: &'static [Measure<CounterSummaryRow>] = {
        let [instructions, cycles, cpi, ipc, branches, mispredicts, mispredict, misses, references, miss, mpki, others] =
            figures();
        &[
            instructions,
            cycles,
            cpi,
            ipc,
            branches,
            mispredicts,
            mispredict,
            misses,
            references,
            miss,
            mpki,
            Measure::sum_known("events", "Events", Kind::Count, |row: &CounterSummaryRow| row.value)
                .meaning("What the counter counted. Only in rows by counter.")
                .within("counter")
                .sorted(&["events"]),
            Measure::ratio("mhz", "MHz", 0, ["cycles", "cycles_run_ns"], 1e3)
                .meaning("Mean clock rate while the threads ran: cycles per microsecond of run time.")
                .sorted(&["mhz"]),
            Measure::sum_known("run_ns", "Run", Kind::Milliseconds, run)
                .meaning("Run time in which the counters counted: between the switches to the threads and away from them. Interrupts are in it.")
                .sorted(&["run"]),
            others,
            Measure::sum_known("cycles_run_ns", "Run with cycles", Kind::Milliseconds, run_of_cycles)
                .meaning("Run time in which cycles were counted.")
                .machine(),
            Measure::sum_known("busy_instructions", "Busy instructions", Kind::Count, busy::<{ counter_roles::INSTRUCTIONS }>)
                .meaning("The same as `instructions` without those of the idle loop, which totals leave out.")
                .machine()
                .total("instructions"),
            Measure::sum_known("busy_cycles", "Busy cycles", Kind::Count, busy::<{ counter_roles::CYCLES }>)
                .meaning("The same as `cycles` without those of the idle loop.")
                .machine()
                .total("cycles"),
            Measure::sum("unknown", "Unknown", Kind::Count, |row: &CounterSummaryRow| row.unknown)
                .meaning("Differences between switches that are not known, since a counter went back.")
                .details(),
            Measure::sum("parts", "Parts", Kind::Count, |row: &CounterSummaryRow| row.parts)
                .meaning("Number of differences, readings or samples of all counters.")
                .details(),
        ]
    };
    const LIST: &'static [ColumnOf<CounterSummaryRow>] = &[ColumnOf::always(
        "value",
        "Events",
        Kind::Count,
        |row| row.value.into(),
        "What the counter counted for the thread.",
    )];
    const BY: &'static [&'static str] = &["process", "core-type"];
    const SORT: &'static str = "instructions";
    const IMPORTED: Imported = Imported::Whole;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = &["unknown", "parts"];
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("run");
    // The idle loop has a row of its own.
    const WITH_IDLE: bool = true;
    /// The parts of a row lie anywhere between its begin and its end.
    const HAS_LENGTH: Option<fn(&CounterSummaryRow) -> bool> = Some(|_| false);
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "methods", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump pmc X.sift --top 10", "instructions, cycles and CPI of processes"),
        ("tracesift dump pmc recordings/ -p FileWriter", "CPI beside the time of each test"),
        ("tracesift dump pmc X.sift --by thread --sort cpi", "the threads that stall most"),
        ("tracesift dump pmc X.sift --by process,counter", "every counter by its own name"),
        ("tracesift dump pmc X.sift --by method,counter", "the functions that samples hit"),
        ("tracesift dump pmc X.sift --by tag --counter LLCMisses", "where the cache is missed"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=counter"], &["--by=thread,core-type"], &["--by=method"], &["--by=tag,cpu"], &["--methods=main"]];

    const PARTS: Option<&'static TableDefinition> = Some(ContextSwitchRow::TABLE);

    fn process(row: &CounterSummaryRow) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &CounterSummaryRow) -> (i64, i64) {
        (row.start.min(row.end), row.end)
    }

    fn is_asked(row: &CounterSummaryRow) -> bool {
        row.best == Some(true)
    }

    fn parts(
        recording: &OpenRecording,
        ranges: &[TimeRange],
        _: Option<&Times>,
    ) -> Result<Vec<Vec<CounterSummaryRow>>, Error> {
        let spans: Vec<Span> = ranges.iter().map(TimeRange::bounds).map(|(start, end)| Span::new(start, end)).collect();
        counter_sums(recording.archive(), &spans)
    }
}
