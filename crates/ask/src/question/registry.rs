//! `dump registry`: which keys and values of the registry processes used, how long it took, and what failed.

use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{RegistryRow, registry_operations as operations};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, view};

use crate::answer::{ColumnOf, Kind};
use crate::ntstatus;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Limit, Measure, StackFigure, TableQuestion};

view! {
    /// An operation.
    #[derive(Clone, Debug)]
    pub struct Operation of RegistryRow {
        time, start, process, thread, operation, key, value, status, index, begin_unknown, stack,
    }
}

/// Operations on the registry.
#[derive(Clone, Copy, Debug)]
pub struct Registry;

/// What is asked.
pub type Question = table_question::Question<Registry>;

/// The options.
pub type Options = table_question::Options<Registry>;

/// The smallest NTSTATUS that is a warning or an error.
const SMALLEST_FAILURE: i64 = 0x8000_0000;

/// Parts below the root that a branch has, where `--level` says nothing: `\REGISTRY\MACHINE\SOFTWARE`.
const BRANCH: usize = 2;

impl TableQuestion for Registry {
    type Row = Operation;

    const NAME: &'static str = "registry";
    const WHAT: [&'static str; 2] = ["registry operation", "registry operations"];
    const READS: Option<&'static [&'static str]> = Some(Self::TABLES);
    const SOURCE: RowSource = RowSource::windows("Registry");
    const MOST: &'static str = "most operations";

    const DIMENSIONS: &'static [Dimension<Operation>] = &[
        Dimension::process(),
        Dimension::thread(|row| row.thread),
        Dimension::text("key", "Key", |row: &Operation| row.key.as_deref())
            .meaning("Whole name of the key, as recorded. `KCB 0x…`, `handle 0x…`: the recording has no name of the key.")
            .filtered("--key", ["key", "keys"], r"Only these keys: '*\Run', '*\Services\*;!*\Tcpip\*'"),
        Dimension::text("branch", "Branch", |row: &Operation| row.key.as_deref())
            .cut(branch)
            .meaning("The first parts of the name of the key, two below the root unless `--level` says otherwise.")
            .coarse(),
        Dimension::text("value", "Value", |row: &Operation| row.value.as_deref().map(shown))
            .meaning("Name of the value; `(default)` is the default value of the key. Empty: the operation is on a key, or the recording does not name the value.")
            .filtered("--value", ["value", "values"], "Only operations on these values"),
        Dimension::words("operation", "Operation", |row: &Operation| Some(row.operation.into()), operation)
            .meaning("`open`, `create`, `query value`, `set value`, …")
            .filtered("--operation", ["operation", "operations"], "Only these operations: open, 'query*', '*value'"),
        Dimension::words("status", "Status", |row: &Operation| Some(row.status), ntstatus::text)
            .meaning("NTSTATUS with which the operation ended, by name; its number where it has no name.")
            .filtered(
                "--status",
                ["status", "statuses"],
                "Only operations that ended so: '*NOT_FOUND', 0xC0000034, '0xC*'",
            ),
        Dimension::method(|row: &Operation| (row.stack, None))
            .meaning("Function at the leaf of the stack, as `module!function`.")
            .coarse(),
        Dimension::module(|row: &Operation| row.stack)
            .meaning("Module of the first function of the stack that is not of the operating system.")
            .coarse(),
        Dimension::tag(|row: &Operation| row.stack).coarse(),
        Dimension::stack(|row: &Operation| row.stack).coarse().meaning("The functions of the stack of the operation."),
    ];

    const MEASURES: &'static [Measure<Operation>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
        Measure::distinct("key", "keys", "Keys").meaning("Number of keys."),
        Measure::rows("calls", "Calls")
            .meaning("Number of operations.")
            .sorted(&["calls", "count"])
            .total("registry operations"),
        Measure::rows_if("failed", "Failed", |row: &Operation| row.status >= SMALLEST_FAILURE)
            .meaning("Operations whose status is a warning or an error, also the one that ends an enumeration.")
            .sorted(&["failed"])
            .total("failed"),
        Measure::rows_if("timed", "Timed", has_length)
            .meaning("Operations that have a duration: their begin is in the recording.")
            .details(),
        Measure::duration("sum_ns", "Sum")
            .meaning("Sum of the durations, each cut to the time range.")
            .sorted(&["sum", "time"])
            .total("sum"),
        Measure::mean("avg_ns", "Average", Kind::Microseconds, ["sum_ns", "timed"])
            .meaning("Mean duration of the operations that have one.")
            .sorted(&["average"]),
        Measure::longest("longest_ns", "Longest")
            .meaning("Duration of the longest operation.")
            .sorted(&["longest", "max"]),
        Measure::longest_start("longest_start_ns", "Longest from").meaning("When that one began.").details(),
        Measure::first("first_ns", "First").meaning("Begin of the first operation.").sorted(&["start"]),
        Measure::counts("status", "statuses", "Statuses")
            .meaning("Statuses with the number of operations, the most frequent first.")
            .details(),
    ];

    const STACKS: &'static [StackFigure] = &[StackFigure {
        column: "sum_ns",
        measure: Exported {
            key: "registry",
            label: "Registry",
            unit: Unit::Nanoseconds,
            counted: "registry operations",
        },
        help: "Time of operations on the registry (Windows)",
    }];

    const LIMITS: &'static [Limit<Operation>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| Some(row.time.saturating_sub(row.start)),
        ["Only operations that took so long (ms without unit)", "Only operations that did not take longer"],
    )];

    const LIST: &'static [ColumnOf<Operation>] = &[ColumnOf::details(
        "index",
        "Index",
        Kind::Count,
        |row| row.index.into(),
        "Number of the subkey or value of an enumeration, else the kind of the information.",
    )];

    const BY: &'static [&'static str] = &["key"];
    const SORT: &'static str = "sum";
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "key", "operation", "status", "by", "level", "list", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump registry X.sift --top 10", "the keys that took longest"),
        ("tracesift dump registry X.sift --by process,branch --level 3", "who used which part"),
        (r"tracesift dump registry X.sift --key '*\Run' --operation 'set*' --list", "who set values"),
        ("tracesift dump registry X.sift --status '*NOT_FOUND' --sort failed", "what was not there"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=process,operation"],
        &["--level=1"],
        &["--by=value"],
        &["--by=status"],
        &["--by=method"],
        &["--by=module"],
        &["--by=tag"],
        &["--by=stack"],
    ];
    const SELDOM: &'static [(ColumnSet<Operation>, &'static [&'static str])] = &[
        (ColumnSet::of(&["thread"]), &["thread"]),
        (ColumnSet::of(&["operation"]), &["operation"]),
        (ColumnSet::of(&["value"]), &["value"]),
        (ColumnSet::of(&["index"]), &[]),
        (ColumnSet::of(&["stack"]), &["method", "module", "tag", "stack"]),
    ];
    const HAS_LENGTH: Option<fn(&Operation) -> bool> = Some(has_length);

    fn process(row: &Operation) -> Option<ProcessId> {
        row.process
    }

    fn times(row: &Operation) -> (i64, i64) {
        (row.start, row.time.max(row.start))
    }
}

/// Whether the begin of an operation is in the recording.
fn has_length(row: &Operation) -> bool {
    row.begin_unknown != Some(true)
}

/// The name of a value, as it is shown.
fn shown(name: &str) -> &str {
    if name.is_empty() { "(default)" } else { name }
}

/// So many parts of the name of a key below its root.
fn branch(key: &str, level: Option<usize>) -> &str {
    let level = level.unwrap_or(BRANCH);
    // The name begins with a separator, and its root is one part more. A key without a name has no root.
    let root = if key.starts_with('\\') { 2 } else { 1 };
    let mut separators = key.match_indices('\\').map(|(place, _)| place);
    separators.nth(level.saturating_add(root - 1)).map_or(key, |end| &key[..end])
}

fn operation(number: i64) -> String {
    let known = i8::try_from(number).ok().and_then(|number| match number {
        operations::CREATE => Some("create"),
        operations::OPEN => Some("open"),
        operations::DELETE => Some("delete"),
        operations::QUERY => Some("query"),
        operations::SET_VALUE => Some("set value"),
        operations::DELETE_VALUE => Some("delete value"),
        operations::QUERY_VALUE => Some("query value"),
        operations::ENUMERATE_KEY => Some("enumerate key"),
        operations::ENUMERATE_VALUE => Some("enumerate value"),
        operations::QUERY_VALUES => Some("query values"),
        operations::SET_INFORMATION => Some("set information"),
        operations::FLUSH => Some("flush"),
        operations::VIRTUALIZE => Some("virtualize"),
        operations::CLOSE => Some("close"),
        operations::SET_SECURITY => Some("set security"),
        operations::QUERY_SECURITY => Some("query security"),
        _ => None,
    });
    known.map_or_else(|| number.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::branch;

    #[test]
    fn branches_have_so_many_parts_below_the_root() {
        let key = r"\REGISTRY\MACHINE\SOFTWARE\Microsoft\Windows";
        for (level, expected) in [
            (Some(0), r"\REGISTRY"),
            (Some(1), r"\REGISTRY\MACHINE"),
            (None, r"\REGISTRY\MACHINE\SOFTWARE"),
            (Some(3), r"\REGISTRY\MACHINE\SOFTWARE\Microsoft"),
            (Some(4), key),
            (Some(usize::MAX), key),
        ] {
            assert_eq!(branch(key, level), expected);
        }
        assert_eq!(branch(r"KCB 0x10\Software\Run", Some(1)), r"KCB 0x10\Software");
        assert_eq!(branch("KCB 0x10", None), "KCB 0x10");
        assert_eq!(branch("", Some(1)), "");
    }
}
