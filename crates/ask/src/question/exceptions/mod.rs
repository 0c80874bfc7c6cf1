//! `dump exceptions`: which exceptions were thrown, and which signals were sent, with what message, where, and who caught them.

mod options;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{ExceptionRow, ProcessRow, exception_flags as flags, exception_handling as handling};
use tracesift_trace::{ProcessId, view};

pub use self::options::Options;

use crate::answer::{ColumnOf, Kind};
use crate::etwanalyzer::Legacy;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Imported, Limit, Measure, Shorthand, StackFigure, TableQuestion};
use crate::words::numbered;

view! {
    /// An exception or a signal.
    #[derive(Clone, Debug)]
    pub struct Thrown of ExceptionRow {
        time, process, thread, stack, kind, exception_type, message, hresult, flags, caught_by, caught_frame, caught, handling,
    }
}

/// Exceptions and signals.
#[derive(Clone, Copy, Debug)]
pub struct Exceptions;

/// What is asked.
pub type Question = table_question::Question<Exceptions>;

const DIMENSIONS: &[Dimension<Thrown>] = &[
    Dimension::process(),
    Dimension::thread(|row| row.thread),
    Dimension::words("kind", "Kind", |row: &Thrown| Some(row.kind.into()), kind)
        .meaning("`.NET`, `C++`, or `signal` (of Linux).")
        .filtered("--kind", ["kind", "kinds"], "Only these kinds: .NET, C++, signal")
        .coarse(),
    Dimension::text("type", "Type", |row: &Thrown| row.exception_type.as_deref())
        .meaning("Type of the exception with its namespace; of a signal its name. Empty: not recorded, as of C++.")
        .filtered("--type", ["type", "types"], "Only these types: '*FileNotFoundException', SIGSEGV"),
    Dimension::text("message", "Message", |row: &Thrown| row.message.as_deref())
        .meaning("Message of the exception, as far as `--max-message` lets it stand; of a signal the reason, and the process id of the sender.")
        .filtered("--message", ["message", "messages"], "Only exceptions with these messages: '*not found*'"),
    Dimension::words("handling", "Handling", |row: &Thrown| Some(row.handling.into()), handling_word)
        .meaning("`caught`, `filtered` (a filter looked at it, and nobody was seen to catch it), `not caught` (nobody was seen to catch it), `unhandled` (it ended the process), `no effect` (a signal that is ignored or pending already). `unknown`: the recording does not tell.")
        .filtered("--handling", ["handling", "handlings"], "Only exceptions of which became this: caught, unhandled")
        .coarse(),
    Dimension::text("catcher", "Caught by", |row: &Thrown| row.caught_by.as_deref())
        .meaning("Method with the catch block. Empty: not recorded.")
        .filtered("--catcher", ["catching method", "catching methods"], "Only exceptions that these methods caught: '*Main*'"),
    Dimension::method(|row: &Thrown| (row.stack, None))
        .meaning("Function at which the stack of the throw was taken, as `module!function`.")
        .filtered("--methods", ["method", "methods"], "Only exceptions with these functions at the leaf of the stack")
        .coarse(),
    Dimension::routine(|row: &Thrown| (None, row.caught_frame))
        .meaning("Function with the catch block, or the handler of a signal, as `module!function`.")
        .coarse(),
    Dimension::module(|row: &Thrown| row.stack)
        .meaning("Module of the first function of the stack that is neither of the system nor of a standard library.")
        .coarse(),
    Dimension::tag(|row: &Thrown| row.stack).coarse(),
    Dimension::stack(|row: &Thrown| row.stack)
        .meaning("The functions of the stack of the throw, as far as `--cut-stack` lets them stand; of a signal those of the sender.")
        .filtered("--stack", ["stack", "stacks"], "Only exceptions whose stack has these functions, or by number")
        .coarse(),
];

const MEASURES: &[Measure<Thrown>] = &[
    Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
    Measure::distinct("type", "types", "Types").meaning("Number of types.").details(),
    Measure::distinct("message", "messages", "Messages").meaning("Number of messages.").details(),
    Measure::rows_if("count", "Count", |row: &Thrown| !has(row, flags::RETHROWN))
        .meaning("Number of throws, and of signals. Exceptions that are thrown once more are apart.")
        .sorted(&["count"])
        .total("exceptions"),
    Measure::rows_if("rethrown", "Rethrown", |row: &Thrown| has(row, flags::RETHROWN))
        .meaning("Exceptions that were caught and thrown once more.")
        .sorted(&["rethrown"])
        .total("rethrown"),
    Measure::rows_if("nested", "Nested", |row: &Thrown| has(row, flags::NESTED))
        .meaning("Exceptions that were thrown while another one was handled; those thrown once more are among them.")
        .sorted(&["nested"])
        .details(),
    Measure::rows_if("caught", "Caught", |row: &Thrown| row.handling == handling::CAUGHT)
        .meaning("Exceptions with a catch block that ran, and signals with a handler that ran.")
        .sorted(&["caught"]),
    Measure::rows_if("unhandled", "Unhandled", |row: &Thrown| row.handling == handling::UNHANDLED)
        .meaning("Exceptions and signals that ended the process.")
        .sorted(&["unhandled"])
        .total("unhandled"),
    Measure::per_second("rate", "Per second", "count")
        .meaning("Throws per second of the time range.")
        .sorted(&["rate"])
        .details(),
    Measure::sum_known("handling_ns", "Handling", Kind::Milliseconds, handling_time)
        .meaning("Sum of the times from a throw to its catch block, and from a signal to its handler. Empty: no such time is known.")
        .sorted(&["handling"]),
    Measure::max("handling_max_ns", "Longest", Kind::Milliseconds, handling_time)
        .meaning("The longest of these times.")
        .sorted(&["longest"])
        .details(),
    Measure::first("first_ns", "First").meaning("Time of the first throw.").sorted(&["time", "start", "first"]),
    Measure::max("last_ns", "Last", Kind::Time, |row: &Thrown| Some(row.time))
        .meaning("Time of the last throw.")
        .sorted(&["last"])
        .details(),
];

impl TableQuestion for Exceptions {
    type Row = Thrown;

    const NAME: &'static str = "exceptions";
    const WHAT: [&'static str; 2] = ["exception", "exceptions"];
    const SOURCE: RowSource = RowSource::both("Exceptions", "Exceptions");
    const MOST: &'static str = "most exceptions";
    const DIMENSIONS: &'static [Dimension<Thrown>] = DIMENSIONS;
    const MEASURES: &'static [Measure<Thrown>] = MEASURES;
    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "count",
        measure: Exported { key: "exceptions", label: "Exceptions", unit: Unit::Count, counted: "exceptions" },
        help: "Number of exceptions and signals, by the code that threw them",
    }];
    const SHORTHANDS: &'static [Shorthand] = &[Shorthand {
        option: "--stacks",
        by: &["process", "type", "message", "stack"],
        sort: None,
        help: "Each stack in a row of its own, with its functions below it",
    }];
    const LIMITS: &'static [Limit<Thrown>] = &[
        Limit::instant(
            ["--min-time", "--max-time"],
            |row| Some(row.time),
            [
                "Only exceptions that were thrown at this time or later (ms without unit)",
                "Only exceptions until this time",
            ],
        ),
        Limit::time(
            ["--min-handling", "--max-handling"],
            handling_time,
            [
                "Only exceptions that were caught after so long a time (ms without unit)",
                "Only those that were caught faster",
            ],
        ),
    ];
    const LIST: &'static [ColumnOf<Thrown>] = &[
        ColumnOf::details(
            "hresult",
            "HRESULT",
            Kind::Text,
            |row| row.hresult.map(|number| format!("{number:#010x}")).into(),
            "Error number of Windows.",
        ),
        ColumnOf::always(
            "flags",
            "Flags",
            Kind::Text,
            |row| row.flags.map(flag_words).into(),
            "`inner` (it has an inner exception), `nested`, `rethrown`, `corrupted state`.",
        ),
        ColumnOf::always(
            "handling_ns",
            "Handling",
            Kind::Milliseconds,
            |row| handling_time(row).into(),
            "Time from the throw to the catch block.",
        ),
    ];
    const IMPORTED: Imported = Imported::Rows;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] =
        &["rethrown", "nested", "caught", "unhandled", "handling_ns", "handling_max_ns"];
    const BY: &'static [&'static str] = &["process", "type", "message"];
    const SORT: &'static str = "count";
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "type", "message", "stack", "by", "stacks", "list", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump exceptions X.sift --top 10", "the most frequent messages of each process"),
        ("tracesift dump exceptions X.sift --type '*IO*' --stacks", "who throws exceptions of these types"),
        ("tracesift dump exceptions X.sift --by catcher", "the methods that caught most"),
        ("tracesift dump exceptions X.sift --list --sort time --top 20", "the last ones, one by one"),
        ("tracesift dump exceptions X.sift --kind signal --handling unhandled", "Linux: who died of what"),
    ];
    const LEGACY: Option<Legacy> = Some(options::LEGACY);
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=kind,handling"],
        &["--by=method"],
        &["--by=routine"],
        &["--by=tag"],
        &["--stacks", "--cut-stack=0-5"],
        &["--max-message=0"],
    ];

    fn process(row: &Thrown) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Thrown) -> (i64, i64) {
        (row.time, row.time)
    }

    fn notes(archive: &Archive, _: TimeRange, _: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let mut facts = archive.info().facts.iter();
        let recorded = facts.find(|(name, _)| name == "etwanalyzer.exceptions").map(|(_, count)| count);
        let imported = archive.row_count::<ExceptionRow>().to_string();
        let note =
            |recorded| format!("the extract of ETWAnalyzer has {imported} of {recorded} exceptions of the recording");
        Ok(recorded.filter(|recorded| **recorded != imported).map(note).into_iter().collect())
    }
}

fn has(row: &Thrown, flag: i32) -> bool {
    row.flags.is_some_and(|flags| flags & flag != 0)
}

fn handling_time(row: &Thrown) -> Option<i64> {
    Some(row.caught?.saturating_sub(row.time))
}

fn kind(number: i64) -> String {
    numbered(&[".NET", "C++", "signal"], number)
}

fn handling_word(number: i64) -> String {
    numbered(&["unknown", "caught", "filtered", "not caught", "unhandled", "no effect"], number)
}

fn flag_words(bits: i32) -> String {
    const WORDS: [(i32, &str); 4] = [
        (flags::INNER, "inner"),
        (flags::NESTED, "nested"),
        (flags::RETHROWN, "rethrown"),
        (flags::CORRUPTED_STATE, "corrupted state"),
    ];
    let words: Vec<&str> = WORDS.iter().filter(|(flag, _)| bits & flag != 0).map(|(_, word)| *word).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{flag_words, handling_word, kind};

    #[test]
    fn numbers_have_words() {
        assert_eq!([kind(0), kind(2), kind(9)], [".NET", "signal", "9"]);
        assert_eq!([handling_word(0), handling_word(4), handling_word(9)], ["unknown", "unhandled", "9"]);
        assert_eq!([flag_words(0), flag_words(6), flag_words(16)], ["", "nested, rethrown", ""]);
    }
}
