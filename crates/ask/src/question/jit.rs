//! `dump jit`: which methods of .NET were compiled while the recording ran, how long that took, and who waited for it.

use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{JitMethodRow, jit_triggers as triggers};
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::recording_label::RowSource;
use crate::table_question::{self, Condition, Dimension, Limit, Measure, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// A compilation.
    #[derive(Clone, Debug)]
    pub struct Compilation of JitMethodRow {
        time, start, process, thread, stack, module, namespace, method, arguments, il_size, native_size, tier, trigger, version,
        rejected, exclusive, open,
    }
}

/// Compilations of .NET methods.
#[derive(Clone, Copy, Debug)]
pub struct Jit;

/// What is asked.
pub type Question = table_question::Question<Jit>;

/// The options.
pub type Options = table_question::Options<Jit>;

impl TableQuestion for Jit {
    type Row = Compilation;

    const NAME: &'static str = "jit";
    const WHAT: [&'static str; 2] = ["compilation of .NET", "compilations of .NET"];
    const SOURCE: RowSource = RowSource::windows("Default");
    const MOST: &'static str = "most compilations";
    const COUNTS_AT_END: bool = true;
    const DIMENSIONS: &'static [Dimension<Compilation>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("module", "Module", |row: &Compilation| row.module.as_deref())
            .meaning("File name of the assembly that has the method. Empty: the recording does not tell.")
            .filtered("--module", ["module", "modules"], "Only methods of these assemblies: mscorlib.dll, 'System*'"),
        Dimension::text("namespace", "Namespace", |row: &Compilation| Some(namespace_of(&row.namespace)))
            .meaning("Namespace of the method. `(none)`: its type has none.")
            .filtered("--namespace", ["namespace", "namespaces"], "Only methods of these namespaces: 'System.Xml*'")
            .coarse(),
        Dimension::text("type", "Type", |row: &Compilation| Some(&row.namespace))
            .meaning("Type of the method, with its namespace.")
            .filtered("--type", ["type", "types"], "Only methods of these types, with their namespaces: '*.Program'"),
        Dimension::text("method", "Method", |row: &Compilation| Some(&row.method))
            .with(&["type"])
            .meaning("Name of the method that was compiled.")
            .filtered("--methods", ["method", "methods"], "Only methods with these names: Main, '*Parse*'"),
        Dimension::words("tier", "Tier", |row: &Compilation| row.tier.map(i64::from), tier)
            .meaning("How it was compiled: `tier 0` (quickly), `tier 1` (once more, with all optimisations), `OSR` (the same while the method ran), `optimised` (at once), `minimal`, `tier 0 instrumented`, `tier 1 instrumented`. `unknown`: a runtime without tiers. `open`: the end is not in the recording.")
            .or("open")
            .filtered("--tier", ["tier", "tiers"], "Only compilations of these tiers: 'tier 0', OSR"),
        Dimension::words("trigger", "Trigger", |row: &Compilation| Some(row.trigger.into()), trigger)
            .meaning("`foreground`: a thread wanted to call the method, and waited. `background`: the runtime replaced code by better code.")
            .filtered("--trigger", ["trigger", "triggers"], "Only compilations that began so: foreground, background"),
        Dimension::tag(|row: &Compilation| row.stack).coarse(),
        Dimension::stack(|row: &Compilation| row.stack)
            .coarse()
            .meaning("The functions of the stack that caused the compilation."),
    ];
    const MEASURES: &'static [Measure<Compilation>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("thread", "threads", "Threads").meaning("Number of threads that compiled."),
        Measure::rows_if("methods", "Methods", |row: &Compilation| !is_open(row))
            .meaning("Number of compilations that ended in the time range. A method that is compiled again counts again.")
            .sorted(&["methods", "count"])
            .total("methods"),
        Measure::rows_if("open", "Open", is_open)
            .meaning("Compilations that have no code in the recording. Their time is not known.")
            .sorted(&["open"])
            .details(),
        Measure::sum_known("sum_ns", "Sum", Kind::Milliseconds, |row: &Compilation| row.exclusive)
            .meaning("Sum of the times of the compilations, each without the compilations that are nested in it. Threads that compile at once count each.")
            .sorted(&["sum", "time"])
            .total("compile time"),
        Measure::sum("foreground_ns", "Foreground", Kind::Milliseconds, |row: &Compilation| {
            exclusive_if(row, |trigger| trigger == triggers::FOREGROUND)
        })
        .meaning("The part of the sum for which threads waited that wanted to call a method.")
        .sorted(&["foreground"]),
        Measure::sum("background_ns", "Background", Kind::Milliseconds, |row: &Compilation| {
            exclusive_if(row, |trigger| trigger != triggers::FOREGROUND)
        })
        .meaning("The rest of the sum: nobody waited for these compilations.")
        .sorted(&["background"]),
        Measure::union("union_ns", "United")
            .meaning("Time in which at least one thread compiled, cut to the time range. Threads that compile at once count once.")
            .sorted(&["union"]),
        Measure::max("longest_ns", "Longest", Kind::Milliseconds, duration)
            .meaning("Time of the longest compilation, with those that are nested in it.")
            .sorted(&["longest"]),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["sum_ns", "methods"])
            .meaning("Mean time of a compilation without nested ones.")
            .sorted(&["average"])
            .details(),
        Measure::sum("il_bytes", "IL", Kind::Bytes, |row: &Compilation| if is_open(row) { 0 } else { row.il_size })
            .meaning("Bytes of intermediate language that were compiled.")
            .sorted(&["il"]),
        Measure::sum("native_bytes", "Native", Kind::Bytes, |row: &Compilation| row.native_size.unwrap_or(0))
            .meaning("Bytes of the code.")
            .sorted(&["native"]),
        Measure::rows_if("r2r_rejected", "Rejected", |row: &Compilation| row.rejected == Some(true))
            .meaning("Methods that have precompiled code (ReadyToRun) that could not be used.")
            .sorted(&["rejected"])
            .details(),
    ];
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "sum_ns",
        measure: Exported { key: "jit", label: "JIT", unit: Unit::Nanoseconds, counted: "compilations of .NET" },
        help: "Time of compilations of .NET methods, by who caused them (Windows)",
    }];
    const LIMITS: &'static [Limit<Compilation>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        duration,
        ["Only compilations that took so long (ms without unit)", "Only compilations that did not take longer"],
    )];
    const CONDITIONS: &'static [Condition<Compilation>] = &[Condition {
        option: "--rejected",
        holds: |row| row.rejected == Some(true),
        help: "Only methods whose precompiled code could not be used",
    }];
    const LIST: &'static [ColumnOf<Compilation>] = &[
        ColumnOf::always("il_size", "IL", Kind::Bytes, |row| row.il_size.into(), "Bytes of intermediate language."),
        ColumnOf::always("native_size", "Native", Kind::Bytes, |row| row.native_size.into(), "Bytes of the code."),
        ColumnOf::details(
            "exclusive_ns",
            "Exclusive",
            Kind::Milliseconds,
            |row| row.exclusive.into(),
            "Time without the compilations that are nested in it.",
        ),
        ColumnOf::details(
            "arguments",
            "Signature",
            Kind::Text,
            |row| row.arguments.as_str().into(),
            "Return value and parameters of the method.",
        ),
        ColumnOf::details(
            "version",
            "Version",
            Kind::Count,
            |row| row.version.into(),
            "Number of the version of the method; 0 is the first one.",
        ),
    ];
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "sum";
    const HAS_LENGTH: Option<fn(&Compilation) -> bool> = Some(|row| !is_open(row));
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "by", "namespace", "min-duration", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump jit X.sift --top 10", "the processes that compiled longest"),
        ("tracesift dump jit X.sift -p app.exe --by namespace --top 20", "the namespaces whose methods were compiled"),
        ("tracesift dump jit X.sift -p app.exe --by thread,trigger", "who waited, and what the runtime did beside"),
        ("tracesift dump jit X.sift --list --min-duration 5ms", "the methods that took long, one by one"),
        ("tracesift dump stacks X.sift -p app.exe --measure jit", "the call tree of who caused compilations"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=method"], &["--by=namespace", "--rejected"]];

    fn process(row: &Compilation) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Compilation) -> (i64, i64) {
        // How long it took is not known of one without code.
        (row.start, if is_open(row) { row.start } else { row.time })
    }
}

pub(super) fn is_open(row: &Compilation) -> bool {
    row.open == Some(true)
}

fn duration(row: &Compilation) -> Option<i64> {
    (!is_open(row)).then(|| row.time.saturating_sub(row.start))
}

fn exclusive_if(row: &Compilation, is_it: fn(i8) -> bool) -> i64 {
    row.exclusive.filter(|_| is_it(row.trigger)).unwrap_or(0)
}

/// A type without its name: what stands before the last point outside of brackets, which hold the arguments of generic types.
fn namespace_of(full: &str) -> &str {
    let name = full.find(['[', '<']).map_or(full, |bracket| &full[..bracket]);
    name.rfind('.').map_or("(none)", |point| &name[..point])
}

const TIERS: [&str; 8] =
    ["unknown", "minimal", "optimised", "tier 0", "tier 1", "OSR", "tier 0 instrumented", "tier 1 instrumented"];

fn tier(number: i64) -> String {
    numbered(&TIERS, number)
}

fn trigger(number: i64) -> String {
    numbered(&["foreground", "background"], number)
}

#[cfg(test)]
mod tests {
    use super::{namespace_of, tier, trigger};

    #[test]
    fn names_of_types_are_taken_off() {
        for (full, namespace) in [
            ("System.IO.StreamWriter", "System.IO"),
            ("Program", "(none)"),
            ("", "(none)"),
            ("System.Collections.Generic.List`1[System.Int32]", "System.Collections.Generic"),
            ("Fast<System.Int32>", "(none)"),
            ("A.B+C", "A"),
        ] {
            assert_eq!(namespace_of(full), namespace, "{full}");
        }
        assert_eq!((tier(5), tier(9), trigger(1)), ("OSR".to_owned(), "9".to_owned(), "background".to_owned()));
    }
}
