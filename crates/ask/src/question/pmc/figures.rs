//! The figures of counters that threads and samples have alike.

use crate::answer::Kind;
use crate::table_question::Measure;

/// A row with what a counter counted.
pub(super) trait Counted: 'static {
    /// What the counter counts; `None`: a thing without a column of its own.
    fn role(&self) -> Option<i8>;
    /// Events; `None`: not known.
    fn value(&self) -> Option<i64>;
}

/// Events of a counter with this role.
pub(super) fn of_role<R: Counted, const ROLE: i8>(row: &R) -> Option<i64> {
    row.value().filter(|_| row.role() == Some(ROLE))
}

/// Events of a counter without a column of its own.
pub(super) fn of_others<R: Counted>(row: &R) -> Option<i64> {
    row.value().filter(|_| row.role().is_none())
}

const fn events<R: Counted, const ROLE: i8>(key: &'static str, title: &'static str) -> Measure<R> {
    Measure::sum_known(key, title, Kind::Count, of_role::<R, ROLE>)
}

/// Number of the figures of [`figures`].
pub(super) const FIGURES: usize = 12;

/// The counts of well-known counters, and their ratios, which are ratios of sums.
pub(super) const fn figures<R: Counted>() -> [Measure<R>; FIGURES] {
    use tracesift_trace::counter_roles::{BRANCHES, CACHE_MISSES, CACHE_REFERENCES, CYCLES, INSTRUCTIONS, MISPREDICTS};
    [
        events::<R, INSTRUCTIONS>("instructions", "Instructions")
            .meaning("Instructions that were executed to the end.")
            .sorted(&["instructions"])
            .limited(
                ["--min-instructions", "--max-instructions"],
                ["Only rows with so many instructions", "Only rows without more instructions"],
            ),
        events::<R, CYCLES>("cycles", "Cycles")
            .meaning("Cycles of the cores while they were not halted.")
            .sorted(&["cycles"])
            .limited(
                ["--min-cycles", "--max-cycles"],
                ["Only rows with so many cycles", "Only rows without more cycles"],
            ),
        Measure::ratio("cpi", "CPI", 2, ["cycles", "instructions"], 1.0)
            .meaning("Cycles per instruction: `cycles` divided by `instructions`. Smaller is better.")
            .sorted(&["cpi"]),
        Measure::ratio("ipc", "IPC", 2, ["instructions", "cycles"], 1.0)
            .meaning("Instructions per cycle.")
            .sorted(&["ipc"])
            .details(),
        events::<R, BRANCHES>("branches", "Branches")
            .meaning("Branches that were executed to the end.")
            .sorted(&["branches"]),
        events::<R, MISPREDICTS>("branch_mispredicts", "Mispredicts")
            .meaning("Branches that were predicted wrongly.")
            .sorted(&["mispredicts"])
            .limited(
                ["--min-mispredicts", "--max-mispredicts"],
                ["Only rows with so many wrong predictions", "Only rows without more wrong predictions"],
            ),
        Measure::ratio("mispredict_percent", "Mispredict %", 2, ["branch_mispredicts", "branches"], 100.0)
            .meaning("Percent of the branches that were predicted wrongly.")
            .sorted(&["mispredict-percent"]),
        events::<R, CACHE_MISSES>("cache_misses", "Cache misses")
            .meaning("Misses of the last cache.")
            .sorted(&["cache-misses", "misses"])
            .limited(
                ["--min-cache-misses", "--max-cache-misses"],
                ["Only rows with so many misses of the last cache", "Only rows without more misses of the last cache"],
            ),
        events::<R, CACHE_REFERENCES>("llc_references", "LLC references")
            .meaning("Accesses to the last cache.")
            .sorted(&["llc-references"]),
        Measure::ratio("miss_percent", "Miss %", 2, ["cache_misses", "llc_references"], 100.0)
            .meaning("Percent of the accesses to the last cache that missed.")
            .sorted(&["miss-percent"]),
        Measure::ratio("mpki", "MPKI", 2, ["cache_misses", "instructions"], 1000.0)
            .meaning("Misses of the last cache per 1,000 instructions.")
            .sorted(&["mpki"]),
        Measure::sums_by("counter", "counters", "Other counters", of_others::<R>)
            .meaning("What all other counters counted, each by its name. Not in rows by counter."),
    ]
}
