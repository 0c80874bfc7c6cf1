//! `dump gcalloc`: which types of .NET objects were allocated, how many bytes, and by whom.

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{
    ClrAllocationRow, ProcessRow, clr_allocation_kinds as kinds, clr_allocation_sources as sources,
};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, BestSource, Dimension, Limit, Measure, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A sampled allocation.
    #[derive(Clone, Debug)]
    pub struct Allocation of ClrAllocationRow {
        time, process, thread, stack, source, kind, amount, objects, object_size, object_type, heap,
    }
}

/// Allocations of .NET.
#[derive(Clone, Copy, Debug)]
pub struct GcAllocations;

/// What is asked.
pub type Question = table_question::Question<GcAllocations>;

/// The options.
pub type Options = table_question::Options<GcAllocations>;

/// Bytes of an object that is allocated on the heap of large objects.
const LARGE: i64 = 85_000;

impl TableQuestion for GcAllocations {
    type Row = Allocation;

    const NAME: &'static str = "gcalloc";
    const WHAT: [&'static str; 2] = ["allocation of .NET", "allocations of .NET"];
    const SOURCE: RowSource = RowSource::windows("GC");
    const MOST: &'static str = "most allocations";
    const DIMENSIONS: &'static [Dimension<Allocation>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("type", "Type", |row: &Allocation| row.object_type.as_deref())
            .meaning("Type of the objects, with its namespace. Empty: not recorded.")
            .filtered("--type", ["type", "types"], "Only objects of these types: System.String, '*[]'"),
        Dimension::words("kind", "Kind", |row: &Allocation| row.kind.map(i64::from), kind)
            .meaning("The heap: `small`, `large` or `pinned`. `unknown`: sampled objects do not have it.")
            .or("unknown")
            .filtered("--kind", ["kind", "kinds"], "Only allocations on these heaps: large, pinned"),
        Dimension::words("source", "Source", |row: &Allocation| Some(row.source.into()), source)
            .meaning("How the runtime chose them: `ticks` (each 100 KB or so of a kind of heap), `sampled` (objects by type), `random` (objects at random, by their bytes). An answer has one of them.")
            .coarse(),
        Dimension::words("heap", "Heap", |row: &Allocation| row.heap.map(i64::from), |number| number.to_string())
            .meaning("Number of the heap: a server GC has one for each CPU.")
            .or("unknown")
            .coarse(),
        Dimension::method(|row: &Allocation| (row.stack, None))
            .meaning("Function at which the stack was taken, as `module!function`.")
            .filtered("--methods", ["method", "methods"], "Only allocations of these functions"),
        Dimension::module(|row: &Allocation| row.stack).coarse().meaning(
            "Module of the first function of the stack that is neither of the system nor of a standard library.",
        ),
        Dimension::tag(|row: &Allocation| row.stack).coarse(),
        Dimension::stack(|row: &Allocation| row.stack)
            .coarse()
            .meaning("The functions of the stack of the allocation.")
            .filtered("--stack", ["stack", "stacks"], "Only allocations whose stack has these functions, or by number"),
    ];
    const MEASURES: &'static [Measure<Allocation>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("type", "types", "Types").meaning("Number of types.").details(),
        Measure::sum("bytes", "Bytes", Kind::Bytes, |row: &Allocation| row.amount)
            .meaning("Bytes that the allocations stand for.")
            .sorted(&["bytes", "size"])
            .total("allocated"),
        Measure::sum(
            "large_bytes",
            "Large",
            Kind::Bytes,
            |row: &Allocation| if is_large(row) { row.amount } else { 0 },
        )
        .meaning("The part of the bytes on the heap of large objects: objects of 85,000 bytes and more.")
        .sorted(&["large"]),
        Measure::megabytes_per_second("rate", "MB/s", "bytes")
            .meaning("Bytes per second of the time range, in 1,000,000 bytes.")
            .sorted(&["rate"]),
        Measure::sum_known("objects", "Objects", Kind::Count, |row: &Allocation| row.objects)
            .meaning("Objects that the allocations stand for. Empty: ticks do not tell.")
            .sorted(&["objects"])
            .details(),
        Measure::rows("samples", "Samples")
            .meaning("Number of ticks or sampled objects: the more, the more exact is the row.")
            .sorted(&["samples", "count"])
            .total("samples"),
        Measure::max("largest_bytes", "Largest", Kind::Bytes, |row: &Allocation| row.object_size)
            .meaning("Bytes of the largest object of the samples. Older runtimes do not tell.")
            .sorted(&["largest"])
            .details(),
    ];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "bytes",
        measure: Exported {
            key: "clr-alloc",
            label: ".NET allocations",
            unit: Unit::Bytes,
            counted: "allocations of .NET",
        },
        help: "Bytes that .NET code allocated, by samples of the runtime (Windows)",
    }];
    const LIMITS: &'static [Limit<Allocation>] = &[Limit::bytes(
        ["--min-size", "--max-size"],
        |row| row.object_size,
        ["Only samples whose object has so many bytes", "Only samples whose object does not have more bytes"],
    )];
    const LIST: &'static [ColumnOf<Allocation>] = &[
        ColumnOf::always("amount", "Bytes", Kind::Bytes, |row| row.amount.into(), "Bytes that the sample stands for."),
        ColumnOf::always(
            "object_size",
            "Object",
            Kind::Bytes,
            |row| row.object_size.into(),
            "Bytes of the object; of a tick those of the last object.",
        ),
    ];
    const BEST_SOURCE: Option<BestSource<Allocation>> =
        Some(BestSource { of: |row| row.source, column: ColumnSet::of(&["source"]) });
    const SELDOM: &'static [(ColumnSet<Allocation>, &'static [&'static str])] = &[
        (ColumnSet::of(&["thread"]), &["thread"]),
        (ColumnSet::of(&["object_type"]), &["type"]),
        (ColumnSet::of(&["heap"]), &["heap"]),
        (ColumnSet::of(&["stack"]), &["method", "module", "tag", "stack"]),
    ];
    const BY: &'static [&'static str] = &["process", "type"];
    const SORT: &'static str = "bytes";
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "type", "kind", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump gcalloc X.sift --top 10", "the types with most bytes"),
        ("tracesift dump gcalloc X.sift --by process", "the processes that allocated most, and how fast"),
        ("tracesift dump gcalloc X.sift --kind large --by type,stack --top 5", "who allocates large objects"),
        ("tracesift flame X.sift -p app.exe --measure clr-alloc", "a flame graph of the allocated bytes"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=method"], &["--by=kind,source"]];

    fn process(row: &Allocation) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Allocation) -> (i64, i64) {
        (row.time, row.time)
    }

    fn notes(archive: &Archive, _time: TimeRange, _asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let best = const { Self::BEST_SOURCE.expect("it has sources") }.in_archive(archive)?;
        let note = match best.unwrap_or(sources::TICK) {
            sources::RANDOM => "sampled at random, by bytes",
            sources::SAMPLED => "sampled by type",
            _ => "sampled by bytes: type and stack are those of the last object of each 100 KB or so",
        };
        Ok(vec![note.to_owned()])
    }
}

fn is_large(row: &Allocation) -> bool {
    row.kind == Some(kinds::LARGE) || row.kind.is_none() && row.object_size.is_some_and(|size| size >= LARGE)
}

fn kind(number: i64) -> String {
    numbered(&["small", "large", "pinned"], number)
}

fn source(number: i64) -> String {
    numbered(&["ticks", "sampled", "random"], number)
}
