//! `dump memory --pressure`: threads that freed memory before they got some, `kswapd`, compaction, and processes that were killed.

use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{ReclaimRow, reclaim_kinds};
use tracesift_trace::{ProcessId, view};

use super::PROFILE;
use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Measure, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A time in which a thread freed memory.
    #[derive(Clone, Copy, Debug)]
    pub struct Reclaim of ReclaimRow { time, start, process, thread, kind, order, reclaimed, stack, open }
}

/// Reclaim and compaction of memory.
#[derive(Clone, Copy, Debug)]
pub struct Pressure;

/// What is asked.
pub type Question = table_question::Question<Pressure>;

impl TableQuestion for Pressure {
    type Row = Reclaim;

    const NAME: &'static str = "memory";
    const WHAT: [&'static str; 2] = ["reclaim of memory", "reclaims of memory"];
    const SOURCE: RowSource = RowSource::both(PROFILE, PROFILE);
    const MOST: &'static str = "most reclaims";
    const COUNTS_AT_END: bool = true;

    const DIMENSIONS: &'static [Dimension<Reclaim>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::words("kind", "Kind", |row: &Reclaim| Some(row.kind.into()), kind)
            .meaning("`reclaim`: a thread freed memory of the machine before it got some; `cgroup reclaim`: it freed memory of its cgroup, which was at its limit; `kswapd`: the kernel freed memory in the background; `compaction`: pages were moved to make free ones adjacent; `out of memory`: the process was killed. Of Windows `swap out`: the working set of a suspended app was written to the page file; `swap in`: it was read back."),
        Dimension::method(|row: &Reclaim| (row.stack, None))
            .meaning("The function at which the stack of the begin was taken, as `module!function`."),
        Dimension::tag(|row: &Reclaim| row.stack).coarse(),
        Dimension::stack(|row: &Reclaim| row.stack).coarse().meaning("The functions of the stack that needed memory."),
    ];

    const MEASURES: &'static [Measure<Reclaim>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("thread", "threads", "Threads").meaning("Number of threads.").details(),
        Measure::rows_if("reclaims", "Count", is_reclaim)
            .meaning("Number of reclaims, compactions and swaps that ended in the time range; of `kswapd` how often it went to sleep.")
            .sorted(&["count"])
            .total("reclaims"),
        Measure::duration("total_ns", "Time")
            .meaning("Sum of their times, each cut to the time range. It is part of the run and wait time of the threads, and no time of its own.")
            .sorted(&["time"])
            .total("time"),
        Measure::union("union_ns", "United")
            .meaning("Time in which at least one of them was under way, cut to the time range.")
            .sorted(&["union"]),
        Measure::longest("longest_ns", "Longest")
            .meaning("The longest of those that ended in the time range, with all of its time.")
            .sorted(&["longest"]),
        Measure::sum_known("reclaimed", "Reclaimed", Kind::Bytes, |row: &Reclaim| row.reclaimed)
            .meaning("Bytes that they freed; of a swap out the bytes that the system went through; empty for `kswapd`, compaction and swap in, which do not log it.")
            .sorted(&["reclaimed"])
            .total("reclaimed"),
        Measure::max("order_max", "Order", Kind::Count, |row: &Reclaim| row.order.map(i64::from))
            .meaning("Largest order: memory was freed for a block of 2 to the power of the order pages.")
            .details(),
        Measure::rows_if("under_way", "Under way", |row: &Reclaim| row.open == Some(true))
            .meaning("Those that last at the end of the recording.")
            .details(),
        Measure::rows_if("kills", "Killed", |row: &Reclaim| !is_reclaim(row))
            .meaning("Number of processes that the kernel chose to kill, since memory had run out.")
            .sorted(&["kills"])
            .total("killed"),
    ];

    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "total_ns",
        measure: Exported {
            key: "reclaim",
            label: "Memory reclaim",
            unit: Unit::Nanoseconds,
            counted: "reclaims of memory",
        },
        help: "Time of reclaim and compaction of memory (Linux)",
    }];

    const LIST: &'static [ColumnOf<Reclaim>] = &[
        ColumnOf::always(
            "reclaimed",
            "Reclaimed",
            Kind::Bytes,
            |row| row.reclaimed.into(),
            "Bytes that were freed; empty where the kernel does not log it.",
        ),
        ColumnOf::details(
            "order",
            "Order",
            Kind::Count,
            |row| row.order.map(i64::from).into(),
            "Memory was freed for a block of 2 to the power of the order pages.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether it lasts at the end of the recording.",
        ),
    ];

    const BY: &'static [&'static str] = &["process", "kind"];
    const SORT: &'static str = "time";
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[];

    fn process(row: &Reclaim) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Reclaim) -> (i64, i64) {
        (row.start.min(row.time), row.time)
    }
}

fn is_reclaim(row: &Reclaim) -> bool {
    row.kind != reclaim_kinds::OOM_KILL
}

fn kind(number: i64) -> String {
    numbered(&["reclaim", "cgroup reclaim", "kswapd", "compaction", "out of memory", "swap out", "swap in"], number)
}
