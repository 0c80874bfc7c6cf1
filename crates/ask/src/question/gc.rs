//! `dump gc`: for how long garbage collections of .NET stopped the threads of processes, why they ran, and what they left.

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{GcCollectionRow, GcFinalizedRow, GcSuspensionRow, ProcessRow, gc_kinds};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind, Value};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Joined, Limit, Measure, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A garbage collection.
    #[derive(Clone, Debug)]
    pub struct Collection of GcCollectionRow {
        time, start, process, thread, runtime, number, generation, kind, reason, trigger_reason, trigger_thread, stack,
        pause, pauses, suspensions, suspending, since_pause, size_before, size_after, promoted, free, survival,
        peak_size, heap_size, pinned, handles, finalization_promoted, finalized, heaps, allocated, allocated_large, open,
    }
}

/// A part of the pause of a collection, with its begin and end. A collection without a known pause is one part without a length.
pub type Part = Joined<Collection, Span>;

/// Begin and end of a part of a pause.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    from: i64,
    to: i64,
    /// The collection counts with its last part.
    is_last: bool,
}

/// Garbage collections.
#[derive(Clone, Copy, Debug)]
pub struct Gc;

/// What is asked.
pub type Question = table_question::Question<Gc>;

/// The options.
pub type Options = table_question::Options<Gc>;

view! {
    /// A suspension of managed threads.
    #[derive(Clone, Copy, Debug)]
    struct Suspension of GcSuspensionRow { time, start, process, reason, collection, open }
}

view! {
    /// Objects of a type whose finalizers ran.
    #[derive(Clone, Debug)]
    struct Objects of GcFinalizedRow { process, type_name, count, first, last }
}

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
        Measure::throughput("allocation_rate", "MB/s", ["allocated_bytes", "ran_ns"])
            .meaning("1,000,000 bytes that were allocated per second in which threads ran.")
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
    const LIST: &'static [ColumnOf<Part>] = LIST;
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
        ("tracesift flame X.sift --measure gc-pause", "a flame graph of who made them necessary"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=generation,kind,reason"], &["--by=stack"], &["--by=tag"], &["--induced"]];

    fn process(row: &Part) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Part) -> (i64, i64) {
        row.other.map_or((row.time, row.time), |span| (span.from, span.to))
    }

    fn scan(archive: &Archive, _: Option<Range<i64>>, _: bool, mut visit: impl FnMut(&Part)) -> Result<(), Error> {
        // A pause begins before its collection and ends behind it: the times of the rows choose none.
        archive.scan(None, |row: &Part| {
            let pauses = row.pauses.as_deref().unwrap_or_default();
            let last = pauses.len() / 2;
            if last == 0 {
                return visit(row);
            }
            let mut part = row.clone();
            for (number, pause) in pauses.chunks_exact(2).enumerate() {
                part.other = Some(Span { from: pause[0], to: pause[1], is_last: number + 1 == last });
                visit(&part);
            }
        })
    }

    fn notes(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        notes.extend(other_suspensions(archive, time, asked)?);
        notes.extend(finalized(archive, time, asked)?);
        Ok(notes)
    }
}

/// Whether a part is the one with which its collection counts.
fn counts(row: &Part) -> bool {
    row.other.is_none_or(|span| span.is_last)
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

/// Size of the heap after a collection.
fn after(row: &Collection) -> Option<i64> {
    row.heap_size.or_else(|| sum(&row.size_after))
}

/// The size of a generation in a list.
fn of_generation(sizes: &Option<Vec<i64>>, generation: usize) -> Value {
    sizes.as_ref().and_then(|sizes| sizes.get(generation).copied()).into()
}

const LIST: &[ColumnOf<Part>] = &[
    ColumnOf::always(
        "number",
        "Number",
        Kind::Count,
        |row| i64::from(row.number).into(),
        "Number of the collection in its runtime.",
    ),
    ColumnOf::always(
        "collection_pause_ns",
        "Whole pause",
        Kind::Milliseconds,
        |row| row.pause.into(),
        "Pause of the collection, all of its parts together. A collection in the background has a row for each of its pauses.",
    ),
    ColumnOf::details(
        "suspending_ns",
        "Suspending",
        Kind::Milliseconds,
        |row| row.suspending.into(),
        "Time until all threads stood.",
    ),
    ColumnOf::details(
        "gc_share",
        "GC %",
        Kind::Number(1),
        |row| share(row).into(),
        "Percent of the time since the pause before that the pause took.",
    ),
    ColumnOf::always(
        "allocated_bytes",
        "Allocated",
        Kind::Bytes,
        |row| row.allocated.into(),
        "Bytes that were allocated since the collection before.",
    ),
    ColumnOf::always("peak_bytes", "Before", Kind::Bytes, |row| row.peak_size.into(), "Size of the heap before it."),
    ColumnOf::always("after_bytes", "After", Kind::Bytes, |row| after(row).into(), "Size of the heap after it."),
    ColumnOf::always(
        "promoted_bytes",
        "Promoted",
        Kind::Bytes,
        |row| sum(&row.promoted).into(),
        "Bytes of objects that survived.",
    ),
    ColumnOf::details(
        "gen0_bytes",
        "Gen 0",
        Kind::Bytes,
        |row| of_generation(&row.size_after, 0),
        "Generation 0 after it.",
    ),
    ColumnOf::details(
        "gen1_bytes",
        "Gen 1",
        Kind::Bytes,
        |row| of_generation(&row.size_after, 1),
        "Generation 1 after it.",
    ),
    ColumnOf::details(
        "gen2_bytes",
        "Gen 2",
        Kind::Bytes,
        |row| of_generation(&row.size_after, 2),
        "Generation 2 after it.",
    ),
    ColumnOf::details(
        "large_bytes",
        "Large",
        Kind::Bytes,
        |row| of_generation(&row.size_after, 3),
        "Large objects after it.",
    ),
    ColumnOf::details(
        "pinned_bytes",
        "Pinned heap",
        Kind::Bytes,
        |row| of_generation(&row.size_after, 4),
        "Heap of pinned objects after it.",
    ),
    ColumnOf::details(
        "free_bytes",
        "Free",
        Kind::Bytes,
        |row| sum(&row.free).into(),
        "Free bytes inside of the heap after it.",
    ),
    ColumnOf::details(
        "survival",
        "Survival %",
        Kind::Text,
        |row| {
            row.survival
                .as_ref()
                .map(|survival| survival.iter().map(i64::to_string).collect::<Vec<_>>().join(" "))
                .into()
        },
        "Percent of the bytes of objects that survived, by generation.",
    ),
    ColumnOf::details(
        "finalized",
        "Finalized",
        Kind::Count,
        |row| row.finalized.into(),
        "Finalizers that ran after it.",
    ),
    ColumnOf::details("pinned", "Pinned", Kind::Count, |row| row.pinned.into(), "Pinned objects that it found."),
    ColumnOf::details("handles", "Handles", Kind::Count, |row| row.handles.into(), "Handles of the runtime."),
    ColumnOf::details("heaps", "Heaps", Kind::Count, |row| row.heaps.map(i64::from).into(), "Number of heaps."),
    ColumnOf::details(
        "open",
        "Open",
        Kind::Bool,
        |row| row.open.into(),
        "Whether the end of the collection is not in the recording.",
    ),
];

/// Percent of the time since the pause before that the pause of a collection took.
fn share(row: &Collection) -> Option<f64> {
    let (pause, ran) = (row.pause?, row.since_pause?);
    let whole = pause.saturating_add(ran);
    (whole > 0).then(|| pause as f64 * 100.0 / whole as f64)
}

/// Threads stood for other things than collections, too.
fn other_suspensions(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Option<String>, Error> {
    let (start, end) = time.bounds();
    let (mut many, mut stood) = (0_i64, 0_i64);
    if archive.row_count::<GcSuspensionRow>() == 0 {
        return Ok(None);
    }
    archive.scan(None, |row: &Suspension| {
        let (from, to) = (row.start.max(start), row.time.min(end));
        let is_other = row.collection.is_none() && row.open != Some(true);
        if is_other && to > from && asked.iter().any(|process| process.process == row.process) {
            many += 1;
            stood = stood.saturating_add(to - from);
        }
    })?;
    let times = if many == 1 { "once" } else { "times" };
    let count = if many == 1 { String::new() } else { format!("{many} ") };
    Ok((many > 0).then(|| {
        let ms = stood as f64 / 1e6;
        format!(
            "beside, managed threads stood {count}{times} without a collection (a shutdown, a debugger): {ms:.3} ms"
        )
    }))
}

/// Types of which most objects were finalized.
fn finalized(archive: &Archive, time: TimeRange, asked: &[&ProcessRow]) -> Result<Option<String>, Error> {
    const SHOWN: usize = 5;
    let (start, end) = time.bounds();
    if archive.row_count::<GcFinalizedRow>() == 0 {
        return Ok(None);
    }
    let mut types: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
    archive.scan(None, |row: &Objects| {
        if row.first < end && row.last >= start && asked.iter().any(|process| process.process == row.process) {
            let name = row.type_name.clone().unwrap_or_else(|| "(unknown)".to_owned());
            let count = types.entry(name).or_default();
            *count = count.saturating_add(row.count);
        }
    })?;
    let all = types.values().fold(0_i64, |all, count| all.saturating_add(*count));
    let mut types: Vec<(String, i64)> = types.into_iter().collect();
    types.sort_by_key(|(_, count)| -count);
    let shown: Vec<String> = types.iter().take(SHOWN).map(|(name, count)| format!("{name} {count}")).collect();
    Ok((all > 0 && time.is_everything()).then(|| format!("finalizers of {all} objects ran: {}", shown.join(", "))))
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
