//! `dump contention`: which threads waited for locks that others held, how long, and where.

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{LockWaitRow, ThreadRow, lock_flags as flags, lock_sources as sources};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Limit, Measure, StackFigure, TableQuestion};

view! {
    /// A wait for a lock.
    #[derive(Clone, Copy, Debug)]
    pub struct Wait of LockWaitRow {
        time, start, process, thread, lock, owner, source, native, flags, measured, stack, open,
    }
}

/// Waits for locks.
#[derive(Clone, Copy, Debug)]
pub struct Contention;

/// What is asked.
pub type Question = table_question::Question<Contention>;

/// The options.
pub type Options = table_question::Options<Contention>;

/// The place of sources among the numbers of kinds. Numbers are negative: patterns look at them, too, and no kind has such a name.
const SOURCES: i64 = -(1 << 32);
/// Beside a source: the lock is one of the runtime itself.
const NATIVE: i64 = 1 << 10;
/// The place of the flags of Linux among the numbers of kinds.
const KERNEL: i64 = SOURCES + (1 << 20);

impl TableQuestion for Contention {
    type Row = Wait;

    const NAME: &'static str = "contention";
    const WHAT: [&'static str; 2] = ["wait for a lock", "waits for locks"];
    const SOURCE: RowSource = RowSource::both("Contention", "Contention");
    const MOST: &'static str = "most waits";

    const DIMENSIONS: &'static [Dimension<Wait>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::words("kind", "Kind", |row: &Wait| Some(kind_number(row)), kind)
            .meaning("`monitor` (.NET `lock`), `runtime lock` (one of the .NET runtime itself), `wait handle`; locks of the Linux kernel: `spinlock`, `mutex`, `rwsem read`, …")
            .filtered("--kind", ["kind", "kinds"], "Only these kinds: monitor, mutex, 'rwsem*'"),
        Dimension::words("lock", "Lock", |row: &Wait| row.lock, |lock| format!("{lock:#x}"))
            .meaning("Address of the lock, in .NET of the object. `(unknown)`: the event has none, as in .NET Framework.")
            .or("(unknown)")
            .filtered("--lock", ["lock", "locks"], "Only waits for these locks, as the column has them"),
        Dimension::named("owner", "Owner", |row: &Wait| row.owner.map(|owner| owner.0.into()), threads)
            .meaning("Thread id and name of the thread that held the lock when the wait began. `(unknown)`: the event does not tell, as of .NET before .NET 7 and of Linux.")
            .or("(unknown)")
            .filtered("--owner", ["owner", "owners"], "Only waits for locks of these threads: '12 *'"),
        Dimension::method(|row: &Wait| (row.stack, None))
            .meaning("Function that wanted the lock, as `module!function`: the leaf of the stack.")
            .filtered("--methods", ["method", "methods"], "Only waits in these functions"),
        Dimension::module(|row: &Wait| row.stack)
            .meaning("Module of the first function of the stack that is not of the operating system.")
            .coarse(),
        Dimension::tag(|row: &Wait| row.stack).coarse(),
        Dimension::stack(|row: &Wait| row.stack).coarse().meaning("The functions of the stack of the wait."),
    ];

    const MEASURES: &'static [Measure<Wait>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("thread", "threads", "Threads").meaning("Number of threads that waited.").details(),
        Measure::distinct("lock", "locks", "Locks").meaning("Number of locks, where events tell them.").details(),
        Measure::rows("waits", "Waits").meaning("Number of waits.").sorted(&["waits", "count"]).total("waits"),
        Measure::rows_if("open", "Open", |row: &Wait| row.open == Some(true))
            .meaning("Waits that last at the end of the recording.")
            .sorted(&["open"])
            .details(),
        Measure::duration("sum_ns", "Sum")
            .meaning("Sum of the durations, each cut to the time range. Waits of several threads at once add up.")
            .sorted(&["sum", "time"])
            .total("sum"),
        Measure::union("union_ns", "United")
            .meaning("Time in which at least one thread of the row waited, cut to the time range.")
            .sorted(&["union"]),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["sum_ns", "waits"])
            .meaning("Mean duration.")
            .sorted(&["average"]),
        Measure::longest("longest_ns", "Longest").meaning("Duration of the longest wait.").sorted(&["longest", "max"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("When the longest wait began."),
        Measure::first("first_ns", "First").meaning("Begin of the first wait.").sorted(&["start"]),
    ];

    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "sum_ns",
        measure: Exported {
            key: "contention",
            label: "Lock wait",
            unit: Unit::Nanoseconds,
            counted: "waits for locks",
        },
        help: "Time of waits for locks",
    }];

    const LIMITS: &'static [Limit<Wait>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only waits that took so long (ms without unit)", "Only waits that did not take longer"],
    )];

    const LIST: &'static [ColumnOf<Wait>] = &[
        ColumnOf::details(
            "measured_ns",
            "Measured",
            Kind::Microseconds,
            |row| row.measured.into(),
            "Duration that the .NET runtime measured.",
        ),
        ColumnOf::details(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether the wait lasts at the end of the recording.",
        ),
    ];

    const SELDOM: &'static [(ColumnSet<Wait>, &'static [&'static str])] = &[
        (ColumnSet::of(&["thread"]), &["thread"]),
        (ColumnSet::of(&["lock"]), &["lock"]),
        (ColumnSet::of(&["owner"]), &["owner"]),
        (ColumnSet::of(&["measured"]), &[]),
        (ColumnSet::of(&["stack"]), &["method", "module", "tag", "stack"]),
    ];
    const BY: &'static [&'static str] = &["process", "kind"];
    const SORT: &'static str = "sum";
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "kind", "lock", "by", "list", "min-duration", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump contention X.sift", "who waited for locks, and how long"),
        ("tracesift dump contention X.sift --by stack --top 5", "the functions that waited longest"),
        ("tracesift dump contention X.sift --by lock,owner", "the locks, and who held them"),
        ("tracesift dump contention X.sift --list --sort start", "each wait, by time"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=lock"], &["--by=owner"], &["--by=method"], &["--by=module"], &["--by=tag"], &["--by=stack"]];

    fn process(row: &Wait) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Wait) -> (i64, i64) {
        (row.start, row.time.max(row.start))
    }
}

/// The number of a kind: kinds of the same name have the same one.
fn kind_number(row: &Wait) -> i64 {
    match row.source {
        sources::KERNEL => KERNEL + i64::from(plain_flags(row.flags.unwrap_or(0))),
        sources::MONITOR if row.native == Some(true) => SOURCES + NATIVE,
        source => SOURCES + i64::from(source),
    }
}

/// The flags that decide the name of a lock of the kernel.
fn plain_flags(bits: i32) -> i32 {
    let sort = [flags::MUTEX, flags::PER_CPU, flags::REAL_TIME, flags::SPIN].into_iter().find(|flag| bits & flag != 0);
    let way = [flags::READ, flags::WRITE].into_iter().find(|flag| bits & flag != 0);
    sort.unwrap_or(0) | way.unwrap_or(0)
}

fn kind(number: i64) -> String {
    if number < KERNEL {
        return match number - SOURCES {
            NATIVE => "runtime lock".to_owned(),
            0 => "monitor".to_owned(),
            1 => "wait handle".to_owned(),
            other => other.to_string(),
        };
    }
    let Ok(bits) = i32::try_from(number - KERNEL) else { return number.to_string() };
    let has = |flag: i32| bits & flag != 0;
    let name = match () {
        () if has(flags::MUTEX) => "mutex",
        () if has(flags::PER_CPU) => "pcpu-sem",
        () if has(flags::REAL_TIME) && has(flags::READ | flags::WRITE) => "rwlock-rt",
        () if has(flags::REAL_TIME) => "rt-mutex",
        () if has(flags::SPIN) && has(flags::READ | flags::WRITE) => "rwlock",
        () if has(flags::SPIN) => "spinlock",
        () if has(flags::READ | flags::WRITE) => "rwsem",
        () => "semaphore",
    };
    let way = match (has(flags::READ), has(flags::WRITE)) {
        (true, _) => " read",
        (_, true) => " write",
        _ => "",
    };
    format!("{name}{way}")
}

/// Threads by their tids and names.
pub(super) fn threads(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let text = |row: &ThreadRow| match &row.name {
        Some(name) => format!("{} {name}", row.tid),
        None => row.tid.to_string(),
    };
    Ok(archive.rows::<ThreadRow>()?.iter().map(|row| (row.thread.0.into(), text(row))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_of_the_kernel() {
        for (number, expected) in [
            (KERNEL, "semaphore"),
            (KERNEL + 1, "spinlock"),
            (KERNEL + 2, "rwsem read"),
            (KERNEL + 4, "rwsem write"),
            (KERNEL + 3, "rwlock read"),
            (KERNEL + 5, "rwlock write"),
            (KERNEL + 8, "rt-mutex"),
            (KERNEL + 10, "rwlock-rt read"),
            (KERNEL + 18, "pcpu-sem read"),
            (KERNEL + 32, "mutex"),
            (KERNEL + 33, "mutex"),
            (SOURCES, "monitor"),
            (SOURCES + NATIVE, "runtime lock"),
            (SOURCES + 1, "wait handle"),
        ] {
            assert_eq!(kind(number), expected);
        }
    }
}
