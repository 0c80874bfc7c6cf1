//! `dump gc`: for how long garbage collections of .NET stopped the threads of processes, why they ran, and what they left.

mod cpu;
mod finalized;
mod list;
mod notes;
mod options;

use std::ops::{ControlFlow, Range};

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{GcCollectionRow, ProcessRow, gc_kinds};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, view};

pub use self::options::Options;
use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Joined, Limit, Measure, Needed, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A garbage collection.
    #[derive(Clone, Debug)]
    pub struct Collection of GcCollectionRow {
        time, start, process, thread, runtime, number, generation, kind, reason, trigger_reason, trigger_thread, stack,
        pause, pauses, suspensions, suspending, since_pause, size_before, size_after, promoted, free, survival,
        peak_size, heap_size, pinned, handles, finalization_promoted, finalized, heaps, allocated, allocated_large, open,
        roots, dynamic,
    }
}

/// A part of the pause of a collection, with its begin and end. A collection without a known pause is one part without a length.
pub type Part = Joined<Collection, Beside>;

/// What a part has beside the figures of its collection.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    span: Option<Span>,
    /// CPU of the whole collection; `None`: it is not known, or not asked for.
    cpu: Option<i64>,
}

/// Begin and end of a part of a pause.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: i64,
    to: i64,
    /// The collection counts with its last part.
    is_last: bool,
}

/// The measures of roots.
const ROOT_BYTES: &[&str] =
    &["roots_stack_bytes", "roots_finalizer_bytes", "roots_handles_bytes", "roots_older_bytes", "roots_other_bytes"];

/// Garbage collections.
#[derive(Clone, Copy, Debug)]
pub struct Gc;

/// What is asked.
pub type Question = table_question::Question<Gc>;

impl TableQuestion for Gc {
    type Row = Part;

    const NAME: &'static str = "gc";
    const WHAT: [&'static str; 2] = ["garbage collection", "garbage collections"];
    const SOURCE: RowSource = RowSource::windows("GC");
    const MOST: &'static str = "most collections";
    const COUNTS_AT_END: bool = true;
    const DIMENSIONS: &'static [Dimension<Part>] = &[
        Dimension::process(),
        Dimension::thread(|row: &Part| row.thread),
        Dimension::words("runtime", "Runtime", |row: &Part| Some(row.runtime.into()), |number| number.to_string())
            .meaning("Number of the runtime in its process (`ClrInstanceID`).")
            .coarse(),
        Dimension::words("generation", "Gen", |row: &Part| Some(row.generation.into()), |number| number.to_string())
            .meaning("The oldest generation that was collected: `0`, `1` or `2`.")
            .filtered("--generation", ["generation", "generations"], "Only collections of these generations: 0, 1, 2"),
        Dimension::words("kind", "Kind", |row: &Part| Some(row.kind.into()), kind)
            .meaning("`blocking`; `background`: threads run during most of it; `foreground`: it ran while one in the background waited.")
            .filtered("--kind", ["kind", "kinds"], "Only blocking, background or foreground collections"),
        Dimension::words("reason", "Reason", |row: &Part| Some(row.reason.into()), reason)
            .meaning("Why it ran: `small allocation` and `large allocation` (a budget of allocations was used up), `induced` (the program asked for it), `low memory`, …")
            .filtered("--reason", ["reason", "reasons"], "Only collections for these reasons: 'induced*', 'low*'"),
        Dimension::method(|row: &Part| (row.stack, None))
            .meaning("Function that asked for the collection, as `module!function`: the leaf of its stack."),
        Dimension::tag(|row: &Part| row.stack).coarse(),
        Dimension::stack(|row: &Part| row.stack)
            .coarse()
            .meaning("The functions of the stack with which the collection was asked for: who allocated, or who induced it."),
    ];
    const MEASURES: &'static [Measure<Part>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::rows_if("collections", "Collections", counts)
            .meaning("Number of collections. One counts in the time range in which its last pause ends.")
            .sorted(&["count"])
            .total("collections"),
        Measure::rows_if("gen0", "Gen 0", |row: &Part| counts(row) && row.generation == 0)
            .meaning("Collections of generation 0."),
        Measure::rows_if("gen1", "Gen 1", |row: &Part| counts(row) && row.generation == 1)
            .meaning("Collections of generations 0 and 1."),
        Measure::rows_if("gen2", "Gen 2", |row: &Part| counts(row) && row.generation >= 2)
            .meaning("Collections of all generations."),
        Measure::rows_if("background", "Background", |row: &Part| counts(row) && row.kind == gc_kinds::BACKGROUND)
            .meaning("Collections in the background.")
            .details(),
        Measure::rows_if("induced", "Induced", |row: &Part| counts(row) && is_induced(row))
            .meaning("Collections that the program asked for.")
            .sorted(&["induced"]),
        Measure::rows_if("large_triggered", "By large", |row: &Part| counts(row) && matches!(row.reason, 4 | 6))
            .meaning("Collections for an allocation of large objects.")
            .details(),
        Measure::rows_if("without_pause", "Without pause", |row: &Part| row.pause.is_none())
            .meaning("Collections of which no suspension was recorded: their pauses are not known.")
            .details(),
        Measure::duration("pause_sum_ns", "Pause")
            .meaning("Time for which managed threads stood for the collections, each pause cut to the time range.")
            .sorted(&["pause", "time"])
            .total("pause"),
        Measure::union("pause_union_ns", "United")
            .meaning("Time in which threads stood for at least one collection of the row: pauses of several processes can overlap.")
            .sorted(&["union"])
            .details(),
        Measure::longest("pause_max_ns", "Longest")
            .meaning("The longest pause that ends in the time range, whole.")
            .sorted(&["max", "longest"]),
        Measure::longest_start("pause_max_start_ns", "Longest from").meaning("Begin of the longest pause."),
        Measure::percentile("pause_p50_ns", "Median", 0.5).meaning("Median of the pauses."),
        Measure::percentile("pause_p90_ns", "90 %", 0.9).meaning("90 % of the pauses are not longer."),
        Measure::percentile("pause_p99_ns", "99 %", 0.99).meaning("99 % of the pauses are not longer."),
        Measure::percent_of_time("pause_share", "Paused %", "pause_sum_ns")
            .meaning("`pause_sum_ns` in percent of the time range.")
            .sorted(&["share"]),
        Measure::lives("life_ns", "Life")
            .meaning("How long the process lived in the time range; of several processes the sum.")
            .details(),
        Measure::ratio("life_share", "Paused % of life", 1, ["pause_sum_ns", "life_ns"], 100.0)
            .meaning("`pause_sum_ns` in percent of `life_ns`.")
            .details(),
        Measure::extent("active_ns", "Active")
            .meaning("Time from the begin of the first pause to the end of the last one, cut to the time range.")
            .details(),
        Measure::ratio("active_share", "Paused % of active", 1, ["pause_sum_ns", "active_ns"], 100.0)
            .meaning("`pause_sum_ns` in percent of `active_ns`.")
            .details(),
        Measure::sum_known("suspend_ns", "Suspending", Kind::Milliseconds, |row: &Part| of_last(row, |row| row.suspending))
            .meaning("The part of the pauses before all threads stood.")
            .sorted(&["suspend"])
            .details(),
        Measure::sum_known("duration_ns", "Duration", Kind::Milliseconds, |row: &Part| {
            of_last(row, |row| (row.open != Some(true)).then(|| row.time.saturating_sub(row.start)))
        })
        .meaning("Sum of the durations of the collections from `GC/Start` to `GC/Stop`, of those in the background with the time in which threads ran.")
        .sorted(&["duration"])
        .details(),
        Measure::sum_known("gc_cpu_ns", "GC CPU", Kind::Milliseconds, |row: &Part| {
            row.other.filter(|_| counts(row)).and_then(|beside| beside.cpu)
        })
        .meaning("CPU of the runtime in the collections, between `GC/Start` and `GC/Stop`, from samples. Empty: the recording has no samples.")
        .sorted(&["cpu"])
        .details(),
        Measure::sum_known("allocated_bytes", "Allocated", Kind::Bytes, |row: &Part| of_last(row, |row| row.allocated))
            .meaning("Bytes that were allocated from the collection before each one to its begin, in steps of about 100 KB. Empty: the recording has no ticks of allocations.")
            .sorted(&["allocated"]),
        Measure::sum_known("allocated_large_bytes", "Large", Kind::Bytes, |row: &Part| {
            of_last(row, |row| row.allocated_large)
        })
        .meaning("Those of large objects.")
        .details(),
        Measure::sum_known("ran_ns", "Ran", Kind::Milliseconds, |row: &Part| {
            of_last(row, |row| row.allocated.and(row.since_pause))
        })
        .meaning("Time between these collections in which threads ran.")
        .details(),
        // Of the first collection nobody knows since when its bytes were allocated.
        Measure::sum_known("ran_bytes", "Allocated meanwhile", Kind::Bytes, |row: &Part| {
            of_last(row, |row| row.since_pause.and(row.allocated))
        })
        .meaning("Bytes that were allocated in `ran_ns`: those of collections of which the pause before is recorded.")
        .machine(),
        Measure::throughput("allocation_rate", "MB/s", ["ran_bytes", "ran_ns"])
            .meaning("1,000,000 bytes that were allocated per second in which threads ran: `ran_bytes` per `ran_ns`.")
            .details(),
        Measure::max("peak_bytes", "Peak", Kind::Bytes, |row: &Part| of_last(row, |row| row.peak_size))
            .meaning("The largest heap before a collection.")
            .sorted(&["peak"]),
        Measure::max("after_max_bytes", "After", Kind::Bytes, |row: &Part| of_last(row, after))
            .meaning("The largest heap after a collection.")
            .sorted(&["after"]),
        Measure::sum_known("promoted_bytes", "Promoted", Kind::Bytes, |row: &Part| of_last(row, |row| sum(&row.promoted)))
            .meaning("Bytes of objects that survived the collections.")
            .sorted(&["promoted"])
            .details(),
        Measure::sum_known("roots_stack_bytes", "From stacks", Kind::Bytes, |row: &Part| {
            of_last(row, |row| root_bytes(row, &[roots::STACK]))
        })
        .meaning("Bytes of objects that survived as variables of threads led to them. Empty: the recording does not tell.")
        .details(),
        Measure::sum_known("roots_finalizer_bytes", "From finalizers", Kind::Bytes, |row: &Part| {
            of_last(row, |row| root_bytes(row, &[roots::FINALIZER, roots::NEW_FINALIZER]))
        })
        .meaning("Those that survived for their finalizers.")
        .details(),
        Measure::sum_known("roots_handles_bytes", "From handles", Kind::Bytes, |row: &Part| {
            of_last(row, |row| root_bytes(row, &[roots::HANDLES, roots::DEPENDENT_HANDLES]))
        })
        .meaning("Those to which handles led: static fields, pinned objects, events.")
        .details(),
        Measure::sum_known("roots_older_bytes", "From older", Kind::Bytes, |row: &Part| {
            of_last(row, |row| root_bytes(row, &[roots::OLDER]))
        })
        .meaning("Those to which objects of older generations led.")
        .details(),
        Measure::sum_known("roots_other_bytes", "From others", Kind::Bytes, |row: &Part| of_last(row, other_roots))
            .meaning("Those to which other roots led.")
            .machine(),
        Measure::sum_known("free_bytes", "Free", Kind::Bytes, |row: &Part| of_last(row, |row| sum(&row.free)))
            .meaning("Sum of the free bytes inside of the heaps after the collections.")
            .machine(),
        Measure::sum_known("after_bytes", "Sum after", Kind::Bytes, |row: &Part| {
            of_last(row, |row| row.free.as_ref().and(sum(&row.size_after)))
        })
        .meaning("Sum of the sizes of the heaps after the collections.")
        .machine(),
        Measure::ratio("fragmentation", "Fragmented %", 1, ["free_bytes", "after_bytes"], 100.0)
            .meaning("Percent of the heaps after the collections that was free: `free_bytes` of `after_bytes`.")
            .sorted(&["fragmentation"])
            .details(),
        Measure::sum_known("finalized", "Finalized", Kind::Count, |row: &Part| of_last(row, |row| row.finalized))
            .meaning("Finalizers that ran after the collections.")
            .sorted(&["finalized"])
            .details(),
    ];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "pause_sum_ns",
        measure: Exported { key: "gc-pause", label: "GC pauses", unit: Unit::Nanoseconds, counted: "parts of pauses" },
        help: "Pauses for .NET collections, by who asked for them (Windows)",
    }];
    const LIMITS: &'static [Limit<Part>] = &[Limit::time(
        ["--min-pause", "--max-pause"],
        |row| row.pause,
        ["Only collections with so long pauses (ms without unit)", "Only collections without longer pauses"],
    )];
    const CONDITIONS: &'static [Condition<Part>] =
        &[Condition { option: "--induced", holds: is_induced, help: "Only collections that the program asked for" }];
    const LIST: &'static [ColumnOf<Part>] = list::LIST;
    const JOINED: &'static [&'static str] = &["gc_cpu_ns"];
    const SELDOM: &'static [(ColumnSet<Part>, &'static [&'static str])] = &[
        (ColumnSet::of(&["stack"]), &["method", "module", "tag", "stack"]),
        (ColumnSet::of(&["thread"]), &["thread"]),
        (ColumnSet::of(&["start", "open"]), &["duration_ns"]),
        (ColumnSet::of(&["suspending"]), &["suspend_ns"]),
        (ColumnSet::of(&["since_pause"]), &["ran_ns", "ran_bytes"]),
        (ColumnSet::of(&["allocated"]), &["allocated_bytes", "ran_ns", "ran_bytes"]),
        (ColumnSet::of(&["allocated_large"]), &["allocated_large_bytes"]),
        (ColumnSet::of(&["peak_size"]), &["peak_bytes"]),
        (ColumnSet::of(&["heap_size"]), &["after_max_bytes"]),
        (ColumnSet::of(&["finalized"]), &["finalized"]),
        (ColumnSet::of(&["number", "trigger_reason", "trigger_thread", "suspensions", "heaps"]), &[]),
        (ColumnSet::of(&["size_after"]), &["after_max_bytes", "after_bytes"]),
        (ColumnSet::of(&["promoted"]), &["promoted_bytes"]),
        (ColumnSet::of(&["free"]), &["free_bytes", "after_bytes"]),
        (ColumnSet::of(&["roots"]), ROOT_BYTES),
        (ColumnSet::of(&["size_before", "survival", "pinned", "handles", "finalization_promoted", "dynamic"]), &[]),
    ];
    const DETAILS_ARE_ROWS: bool = true;
    const HAS_LENGTH: Option<fn(&Part) -> bool> = Some(|row| row.pause.is_some());
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "pause";
    const SORT_WITHOUT_FIGURE: Option<&'static str> = Some("count");
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "by", "generation", "reason", "min-pause", "induced", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump gc X.sift", "for how long collections stopped each process"),
        ("tracesift dump gc X.sift -p app.exe --by generation,reason", "which collections, and why"),
        ("tracesift dump gc X.sift --list --min-pause 200ms", "each collection with a long pause"),
        ("tracesift dump gc X.sift --induced --by process,stack", "who asks for collections"),
        ("tracesift dump gc X.sift --finalized --top 20", "the types whose finalizers ran"),
        ("tracesift flame X.sift --measure gc-pause", "a flame graph of who made them necessary"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=generation,kind,reason"], &["--by=stack"], &["--by=tag"], &["--induced"]];

    fn process(row: &Part) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Part) -> (i64, i64) {
        span(row).map_or((row.time, row.time), |span| (span.from, span.to))
    }

    fn scan(
        archive: &Archive,
        _: Option<Range<i64>>,
        needed: Needed<Part>,
        mut visit: impl FnMut(&Part),
    ) -> Result<(), Error> {
        let cpu = if needed.joined { cpu::of_collections(archive)? } else { Vec::new() };
        let mut cpu = cpu.into_iter();
        // A pause begins before its collection and ends behind it: the times of the rows choose none.
        archive.scan_needed(needed.columns, None, None::<fn(&Part) -> bool>, |row: &Part| {
            let cpu = cpu.next().flatten();
            let pauses = row.pauses.as_deref().unwrap_or_default();
            let last = pauses.len() / 2;
            let mut part = row.clone();
            part.other = Some(Beside { span: None, cpu });
            if last == 0 {
                visit(&part);
            }
            for (number, pause) in pauses.chunks_exact(2).enumerate() {
                let span = Some(Span { from: pause[0], to: pause[1], is_last: number + 1 == last });
                part.other = Some(Beside { span, cpu });
                visit(&part);
            }
            ControlFlow::Continue(())
        })
    }

    fn notes(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        notes.extend(notes::other_suspensions(archive, time, asked)?);
        notes.extend(notes::finalized(archive, time, asked)?);
        Ok(notes)
    }
}

/// Begin and end of a part, where they are known.
fn span(row: &Part) -> Option<Span> {
    row.other.and_then(|beside| beside.span)
}

/// Whether a part is the one with which its collection counts.
pub(super) fn counts(row: &Part) -> bool {
    span(row).is_none_or(|span| span.is_last)
}

/// A figure of a collection, once.
fn of_last(row: &Part, figure: impl FnOnce(&Collection) -> Option<i64>) -> Option<i64> {
    counts(row).then(|| figure(&row.own)).flatten()
}

fn is_induced(row: &Part) -> bool {
    matches!(row.reason, 1 | 7 | 9 | 10)
}

fn sum(sizes: &Option<Vec<i64>>) -> Option<i64> {
    sizes.as_ref().map(|sizes| sizes.iter().fold(0_i64, |sum, size| sum.saturating_add(*size)))
}

/// Kinds of roots, as `gc_collections.roots` has them.
mod roots {
    pub(super) const STACK: usize = 0;
    pub(super) const FINALIZER: usize = 1;
    pub(super) const HANDLES: usize = 2;
    pub(super) const OLDER: usize = 3;
    pub(super) const DEPENDENT_HANDLES: usize = 6;
    pub(super) const NEW_FINALIZER: usize = 7;

    /// Those that have columns.
    pub(super) const KNOWN: [usize; 6] = [STACK, FINALIZER, HANDLES, OLDER, DEPENDENT_HANDLES, NEW_FINALIZER];
}

/// Bytes of objects to which roots of these kinds led.
fn root_bytes(row: &Collection, kinds: &[usize]) -> Option<i64> {
    let bytes = row.roots.as_deref()?;
    Some(kinds.iter().filter_map(|kind| bytes.get(*kind)).fold(0, |sum: i64, bytes| sum.saturating_add(*bytes)))
}

/// Bytes of objects to which roots of other kinds led.
fn other_roots(row: &Collection) -> Option<i64> {
    let bytes = row.roots.as_deref()?.iter().enumerate();
    let others = bytes.filter(|(kind, _)| !roots::KNOWN.contains(kind));
    Some(others.fold(0, |sum: i64, (_, bytes)| sum.saturating_add(*bytes)))
}

/// Size of the heap after a collection.
fn after(row: &Collection) -> Option<i64> {
    row.heap_size.or_else(|| sum(&row.size_after))
}

fn kind(number: i64) -> String {
    numbered(&["blocking", "background", "foreground"], number)
}

const REASONS: [&str; 14] = [
    "small allocation",
    "induced",
    "low memory",
    "empty",
    "large allocation",
    "out of space (small)",
    "out of space (large)",
    "induced, not forced",
    "internal",
    "induced by low memory",
    "induced, compacting",
    "low memory of host",
    "full after another",
    "low memory of host, blocking",
];

fn reason(number: i64) -> String {
    numbered(&REASONS, number)
}
