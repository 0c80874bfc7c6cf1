//! The columns of single pauses, with the figures of their collections.

use super::{Collection, Part, after, other_roots, root_bytes, roots, sum};
use crate::answer::{ColumnOf, Kind, Value};

pub(super) const LIST: &[ColumnOf<Part>] = &[
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
    ColumnOf::details(
        "gc_cpu_ns",
        "GC CPU",
        Kind::Milliseconds,
        |row| row.other.and_then(|beside| beside.cpu).into(),
        "CPU of the runtime between `GC/Start` and `GC/Stop`, from samples.",
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
        "roots_stack_bytes",
        "From stacks",
        Kind::Bytes,
        |row| root_bytes(row, &[roots::STACK]).into(),
        "Bytes of objects to which variables of threads led.",
    ),
    ColumnOf::details(
        "roots_finalizer_bytes",
        "From finalizers",
        Kind::Bytes,
        |row| root_bytes(row, &[roots::FINALIZER, roots::NEW_FINALIZER]).into(),
        "Bytes of objects that survived for their finalizers.",
    ),
    ColumnOf::details(
        "roots_handles_bytes",
        "From handles",
        Kind::Bytes,
        |row| root_bytes(row, &[roots::HANDLES, roots::DEPENDENT_HANDLES]).into(),
        "Bytes of objects to which handles led.",
    ),
    ColumnOf::details(
        "roots_older_bytes",
        "From older",
        Kind::Bytes,
        |row| root_bytes(row, &[roots::OLDER]).into(),
        "Bytes of objects to which objects of older generations led.",
    ),
    ColumnOf::machine(
        "roots_other_bytes",
        "From others",
        Kind::Bytes,
        |row| other_roots(row).into(),
        "Bytes of objects to which other roots led.",
    ),
    ColumnOf::machine(
        "dynamic",
        "Dynamic events",
        Kind::Text,
        |row| row.dynamic.as_ref().into(),
        "Events without a fixed layout that the runtime logged for the collection, as JSON.",
    ),
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

/// The size of a generation in a list.
fn of_generation(sizes: &Option<Vec<i64>>, generation: usize) -> Value {
    sizes.as_ref().and_then(|sizes| sizes.get(generation).copied()).into()
}
