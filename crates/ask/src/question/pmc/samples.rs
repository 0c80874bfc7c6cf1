//! Samples of counters: the code that was running when a counter had counted so many events.

use tracesift_archive::Archive;
use tracesift_archive::Error;
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::CounterSampleRow;

use super::figures::{Counted, figures};
use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Measure, StackFigure, TableQuestion};

/// Samples of counters.
#[derive(Clone, Copy, Debug)]
pub struct Samples;

/// What is asked.
pub type Question = table_question::Question<Samples>;

impl Counted for CounterSampleRow {
    fn role(&self) -> Option<i8> {
        self.role
    }

    fn value(&self) -> Option<i64> {
        self.period
    }
}

/// The sources by number.
fn names(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let sources = archive.info().sample_sources.iter().filter(|source| !source.name.is_empty());
    Ok(sources.map(|source| (source.number.into(), source.name.clone())).collect())
}

const fn figure(column: &'static str, key: &'static str, label: &'static str, help: &'static str) -> StackFigure {
    StackFigure { column, measure: Exported { key, label, unit: Unit::Count, counted: "samples of counters" }, help }
}

impl TableQuestion for Samples {
    type Row = CounterSampleRow;

    const NAME: &'static str = "pmc";
    const WHAT: [&'static str; 2] = ["sample of a hardware counter", "samples of hardware counters"];
    const SOURCE: RowSource = RowSource::both("PMCSample", "PMCSample");
    const MOST: &'static str = "most samples";
    const DIMENSIONS: &'static [Dimension<CounterSampleRow>] = &[
        Dimension::process(),
        Dimension::thread(|row| Some(row.thread)),
        Dimension::words("cpu", "CPU", |row: &CounterSampleRow| Some(row.cpu.into()), |cpu| cpu.to_string())
            .meaning("CPU; −1 where a Linux recording does not say."),
        Dimension::named("counter", "Counter", |row: &CounterSampleRow| Some(row.source.into()), names)
            .meaning("Name of the counter, as the recorder has it.")
            .filtered("--counter", ["counter", "counters"], "Only these counters"),
        Dimension::module(|row: &CounterSampleRow| row.stack)
            .meaning("Module of the first function of the stack that is neither of the operating system nor of a standard library."),
        Dimension::method(|row: &CounterSampleRow| (row.stack, row.frame))
            .meaning("Function that was running.")
            .filtered("--methods", ["method", "methods"], "Only samples in these functions"),
        Dimension::tag(|row: &CounterSampleRow| row.stack),
        Dimension::stack(|row: &CounterSampleRow| row.stack).meaning("Functions of the stack, the leaf first."),
    ];
    const MEASURES: &'static [Measure<CounterSampleRow>] = {
        let [instructions, cycles, cpi, ipc, branches, mispredicts, mispredict, misses, references, miss, mpki, others] =
            figures();
        &[
            Measure::rows("samples", "Samples")
                .meaning("Number of samples.")
                .sorted(&["samples", "count"])
                .total("samples"),
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
            Measure::sum_known("events", "Events", Kind::Count, |row: &CounterSampleRow| row.period)
                .meaning("Events for which the samples stand. Only in rows by counter.")
                .within("counter")
                .sorted(&["events"]),
            others,
        ]
    };
    const STACKS: &'static [StackFigure] = &[
        figure("samples", "counter-samples", "Samples of counters", "Number of samples of hardware counters"),
        figure("instructions", "instructions", "Instructions", "Instructions, from samples of a hardware counter"),
        figure("cycles", "cycles", "Cycles", "Cycles, from samples of a hardware counter"),
        figure("cache_misses", "cache-misses", "Cache misses", "Misses of the last cache, from samples"),
        figure("branch_mispredicts", "mispredicts", "Mispredicts", "Branches predicted wrongly, from samples"),
    ];
    const LIST: &'static [ColumnOf<CounterSampleRow>] = &[ColumnOf::always(
        "period",
        "Events",
        Kind::Count,
        |row| row.period.into(),
        "Events for which the sample stands.",
    )];
    const BY: &'static [&'static str] = &["process", "method"];
    const SORT: &'static str = "instructions";
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("samples");
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "methods", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump pmc X.sift --by method", "the functions that samples hit"),
        ("tracesift dump pmc X.sift --by tag,counter", "by stack tag and counter"),
        ("tracesift dump pmc X.sift --by stack --counter LLCMisses", "the stacks that miss the cache"),
    ];

    fn process(row: &CounterSampleRow) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &CounterSampleRow) -> (i64, i64) {
        (row.time, row.time)
    }
}
