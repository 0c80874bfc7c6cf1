//! `dump interrupts`: how long interrupts, deferred procedure calls, softirqs, timers and work items took, and which drivers they belong to.

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{InterruptRow, ModuleRow, interrupt_kinds as kinds};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, Shorthand, StackFigure, TableQuestion};

view! {
    /// A run of an interrupt.
    #[derive(Clone, Debug)]
    pub struct Interrupt of InterruptRow {
        time, start, cpu, process, thread, kind, frame, module, vector, name, claimed, queued, exclusive, stack,
    }
}

/// Interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Interrupts;

/// What is asked.
pub type Question = table_question::Question<Interrupts>;

/// The options.
pub type Options = table_question::Options<Interrupts>;

impl TableQuestion for Interrupts {
    type Row = Interrupt;

    const NAME: &'static str = "interrupts";
    const WHAT: [&'static str; 2] = ["interrupt", "interrupts"];
    const READS: Option<&'static [&'static str]> = Some(Self::TABLES);
    const SOURCE: RowSource = RowSource::both("Interrupts", "Interrupts");
    const MOST: &'static str = "most interrupts";
    const COUNTS_AT_END: bool = true;
    // Most of them interrupt no thread that has something to do.
    const WITH_IDLE: bool = true;

    const DIMENSIONS: &'static [Dimension<Interrupt>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::words("kind", "Kind", |row: &Interrupt| Some(row.kind.into()), kind)
            .meaning("`isr` (interrupt service routine), `dpc`, `threaded dpc`, `timer dpc`; on Linux `isr` (handler of an interrupt), `softirq`, `work item`, `timer`, `nmi`, `tasklet`, `local` (the CPU's own timer, requests of other CPUs).")
            .filtered("--kind", ["kind", "kinds"], "Only these kinds: isr, dpc, softirq"),
        Dimension::named("driver", "Driver", driver, modules)
            .meaning("File name of the module of the routine. `(unknown)`: no loaded module has it, or the routine is not recorded, as of the handlers of interrupts and softirqs of Linux.")
            .or("(unknown)")
            .filtered("--driver", ["driver", "drivers"], "Only interrupts of these drivers: ndis.sys"),
        Dimension::text("name", "Name", |row: &Interrupt| row.name.as_deref())
            .meaning("Linux: name of the interrupt, the softirq, the work queue, or the sort of the timer.")
            .filtered("--name", ["name", "names"], "Only interrupts with these names (Linux): NET_RX"),
        Dimension::words("vector", "Vector", |row: &Interrupt| row.vector.map(i64::from), |vector| vector.to_string())
            .meaning("Interrupt vector; on Linux the number of the interrupt or of the softirq. `(none)`: others.")
            .or("(none)")
            .filtered("--vector", ["vector", "vectors"], "Only interrupts with these vectors"),
        Dimension::words("cpu", "CPU", |row: &Interrupt| Some(row.cpu.into()), |cpu| cpu.to_string())
            .meaning("The CPU.")
            .filtered("--cpu", ["CPU", "CPUs"], "Only interrupts of these CPUs"),
        Dimension::words("length", "Length", |row: &Interrupt| Some(power(length(row))), range)
            .meaning("The power of two in which the duration lies: `1 to 2 µs` has 1 µs and not 2 µs.")
            .coarse(),
        Dimension::method(|row: &Interrupt| (row.stack, row.frame))
            .meaning("Function at which the stack was taken, as `module!function`; of interrupts without a stack the routine.")
            .coarse(),
        Dimension::routine(|row: &Interrupt| (None, row.frame))
            .meaning("The routine, as `module!function`. Where the driver framework of Windows (WDF) called a routine of a driver, that one.")
            .filtered("--routine", ["routine", "routines"], "Only these routines: 'ndis.sys!*'"),
        Dimension::tag(|row: &Interrupt| row.stack).coarse(),
        Dimension::stack(|row: &Interrupt| row.stack).coarse().meaning("The functions that were interrupted."),
    ];

    const MEASURES: &'static [Measure<Interrupt>] = &[
        Measure::distinct("process", "processes", "Processes")
            .meaning("Number of processes whose threads were interrupted.")
            .details(),
        Measure::rows("count", "Count")
            .meaning("Number of interrupts that ended in the time range.")
            .sorted(&["count"])
            .total("interrupts"),
        Measure::sum("time_ns", "Time", Kind::Milliseconds, length)
            .meaning("Sum of their durations. What interrupted a run is in it, too.")
            .sorted(&["time"])
            .total("time"),
        Measure::sum_known("exclusive_ns", "Exclusive", Kind::Milliseconds, |row: &Interrupt| row.exclusive)
            .meaning("Sum of their durations without the interrupts of the CPU that ran inside of them. Empty: all run in threads (threaded DPCs, work items), which can be off the CPU meanwhile.")
            .sorted(&["exclusive"])
            .total("exclusive"),
        Measure::percent_of_time("share", "Share %", "exclusive_ns")
            .meaning("`exclusive_ns` in percent of the time range: of one CPU. Interrupts of two CPUs can have up to 200.")
            .sorted(&["share"]),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["time_ns", "count"])
            .meaning("Mean duration.")
            .sorted(&["average"]),
        Measure::percentile("p50_ns", "Median", 0.5).meaning("Median of the durations."),
        Measure::percentile("p99_ns", "99 %", 0.99).meaning("99 of 100 durations are not longer."),
        Measure::max("max_ns", "Longest", Kind::Microseconds, |row: &Interrupt| Some(length(row)))
            .meaning("The longest duration.")
            .sorted(&["longest", "max"]),
        Measure::rows_if("over_100us", "> 100 µs", |row: &Interrupt| length(row) > 100_000)
            .meaning("Number of interrupts that took longer than 100 µs.")
            .sorted(&["over-100us"]),
        Measure::rows_if("over_1ms", "> 1 ms", |row: &Interrupt| length(row) > 1_000_000)
            .meaning("Number of interrupts that took longer than 1 ms.")
            .sorted(&["over-1ms"])
            .total("over 1 ms"),
        Measure::max("queued_max_ns", "Queued", Kind::Microseconds, |row: &Interrupt| row.queued)
            .meaning("The longest time from the request to the begin. Empty: no request is recorded.")
            .sorted(&["queued"]),
        Measure::sum_known("queued_ns", "Queued sum", Kind::Milliseconds, |row: &Interrupt| row.queued)
            .meaning("Sum of the times from request to begin, where requests are recorded.")
            .details(),
        Measure::sum_known("unclaimed", "Unclaimed", Kind::Count, |row: &Interrupt| {
            row.claimed.map(|claimed| i64::from(!claimed))
        })
        .meaning("Number of runs of interrupt routines that found nothing to do for their devices. Empty: no row tells.")
        .sorted(&["unclaimed"]),
        Measure::first("first_ns", "First").meaning("Begin of the first one."),
    ];

    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "time_ns",
        measure: Exported { key: "interrupts", label: "Interrupt", unit: Unit::Nanoseconds, counted: "interrupts" },
        help: "Time of interrupts, DPCs, softirqs, timers and work items",
    }];

    const LIMITS: &'static [Limit<Interrupt>] = &[
        Limit::time(
            ["--min-duration", "--max-duration"],
            |row| Some(length(row)),
            ["Only interrupts that took so long (ms without unit)", "Only interrupts that did not take longer"],
        ),
        Limit::time(
            ["--min-queued", "--max-queued"],
            |row| row.queued,
            ["Only those that waited so long to begin (ms without unit)", "Only those that did not wait longer"],
        ),
    ];
    const CONDITIONS: &'static [Condition<Interrupt>] = &[Condition {
        option: "--unclaimed",
        holds: |row| row.claimed == Some(false),
        help: "Only runs of interrupt routines that found nothing to do",
    }];

    const LIST: &'static [ColumnOf<Interrupt>] = &[
        ColumnOf::always(
            "exclusive_ns",
            "Exclusive",
            Kind::Microseconds,
            |row| row.exclusive.into(),
            "Duration without the interrupts inside of it; empty of what runs in a thread.",
        ),
        ColumnOf::always(
            "queued_ns",
            "Queued",
            Kind::Microseconds,
            |row| row.queued.into(),
            "Time from the request to the begin.",
        ),
        ColumnOf::always(
            "claimed",
            "Claimed",
            Kind::Bool,
            |row| row.claimed.into(),
            "Whether an interrupt routine had something to do for its device.",
        ),
    ];

    const BY: &'static [&'static str] = &["driver", "name"];
    const SORT: &'static str = "time";
    const SHORTHANDS: &'static [Shorthand] = &[Shorthand {
        option: "--histogram",
        by: &["kind", "length"],
        sort: Some("name"),
        help: "Number of interrupts by kind and duration, in powers of two",
    }];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "kind", "driver", "by", "histogram", "list", "min-duration", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump interrupts X.sift", "the drivers that took CPUs from threads"),
        ("tracesift dump interrupts X.sift --by kind,routine --top 10", "the routines"),
        ("tracesift dump interrupts X.sift --by cpu,kind --sort share", "how busy each CPU was with them"),
        ("tracesift dump interrupts X.sift --histogram", "how long they took"),
        ("tracesift dump interrupts X.sift --list --min-duration 1ms", "each long one, and who was interrupted"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=vector,cpu"],
        &["--by=routine"],
        &["--by=name"],
        &["--histogram"],
        &["--by=tag"],
        &["--by=stack"],
        &["--unclaimed"],
    ];

    fn process(row: &Interrupt) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Interrupt) -> (i64, i64) {
        (row.start, row.time.max(row.start))
    }
}

fn length(row: &Interrupt) -> i64 {
    row.time.saturating_sub(row.start).max(0)
}

fn driver(row: &Interrupt) -> Option<i64> {
    row.module.map(|module| module.0.into())
}

fn modules(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let modules = archive.rows::<ModuleRow>()?.into_iter();
    Ok(modules.map(|row| (row.module.0.into(), row.name)).collect())
}

/// The smallest number for which the duration is below 2 to its power, µs.
fn power(length: i64) -> i64 {
    let microseconds = length / 1_000;
    i64::from(i64::BITS - microseconds.leading_zeros())
}

/// The durations of a power.
fn range(power: i64) -> String {
    match u32::try_from(power).ok().and_then(|power| power.checked_sub(1)).and_then(|power| 1_i64.checked_shl(power)) {
        Some(least) => format!("{least} to {} µs", least.saturating_mul(2)),
        None => "below 1 µs".to_owned(),
    }
}

fn kind(kind: i64) -> String {
    let word = match i8::try_from(kind) {
        Ok(kinds::ISR) => "isr",
        Ok(kinds::DPC) => "dpc",
        Ok(kinds::THREADED_DPC) => "threaded dpc",
        Ok(kinds::TIMER_DPC) => "timer dpc",
        Ok(kinds::SOFTIRQ) => "softirq",
        Ok(kinds::WORK_ITEM) => "work item",
        Ok(kinds::TIMER) => "timer",
        Ok(kinds::NMI) => "nmi",
        Ok(kinds::TASKLET) => "tasklet",
        Ok(kinds::LOCAL) => "local",
        _ => return kind.to_string(),
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_lie_in_powers_of_two() {
        for (length, expected) in [
            (0, "below 1 µs"),
            (999, "below 1 µs"),
            (1_000, "1 to 2 µs"),
            (1_999, "1 to 2 µs"),
            (2_000, "2 to 4 µs"),
            (1_023_999, "512 to 1024 µs"),
            (1_024_000, "1024 to 2048 µs"),
        ] {
            assert_eq!(range(power(length)), expected, "{length}");
        }
        let ranges: Vec<String> = (0..=64).map(range).collect();
        assert_eq!(ranges.len(), 65);
        assert!(power(i64::MAX) < 64);
    }
}
