//! `dump lbr`: which functions were called, by which, as the last branch records of samples tell.

mod ends;
mod options;

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{BranchRow, HealthRow, ProcessRow, branch_kinds as kinds};
use tracesift_trace::{HealthKind, ProcessId, view};

pub use self::ends::Ends;
pub use self::options::Options;

use self::ends::Functions;
use crate::answer::Kind;
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Imported, Joined, Measure, Needed, Shorthand, TableQuestion};

view! {
    /// Branches from one instruction to another, as their table has them.
    #[derive(Clone, Copy, Debug)]
    pub struct Recorded of BranchRow { process, from, to, kind, count, mispredicted, cycles }
}

/// Branches from one instruction to another, with the functions of both.
pub type Branch = Joined<Recorded, Ends>;

/// Last branch records.
#[derive(Clone, Copy, Debug)]
pub struct Lbr;

/// What is asked.
pub type Question = table_question::Question<Lbr>;

const DIMENSIONS: &[Dimension<Branch>] = &[
    Dimension::process(),
    Dimension::named("method", "Method", |row: &Branch| row.other.map(|ends| ends.to), ends::names)
        .meaning("Function that the branch went to, as `module!function`.")
        .filtered("--methods", ["method", "methods"], "Only branches to these functions: 'kernel32.dll!*'"),
    Dimension::named("caller", "Caller", |row: &Branch| row.other.map(|ends| ends.from), ends::names)
        .meaning("Function that branched.")
        .filtered("--caller", ["caller", "callers"], "Only branches from these functions"),
    Dimension::words("kind", "Kind", |row: &Branch| Some(kind(row).into()), kind_word)
        .meaning("`call`, `indirect call`, `system call`, `return`, `jump`, `conditional jump`, …; where the recording has no kinds, `call` for a branch to the first instruction of a function, and else `unknown`.")
        .filtered("--kind", ["kind", "kinds"], "Only branches of these kinds [default: *call]"),
];

const MEASURES: &[Measure<Branch>] = &[
    Measure::distinct("process", "processes", "Processes").meaning("Number of processes.").details(),
    Measure::distinct("caller", "callers", "Callers").meaning("Number of functions that branched.").details(),
    Measure::sum("count", "Count", Kind::Count, |row: &Branch| row.count)
        .meaning("How often such a branch is in the records of the samples.")
        .sorted(&["count"])
        .limited(
            ["--min-count", "--max-count"],
            ["Only rows with so many branches", "Only rows with at most so many branches"],
        )
        .total("branches"),
    Measure::sum("scaled", "Scaled", Kind::Count, |row: &Branch| row.count)
        .meaning("The count times the factor of `--scale`, an estimate of the calls in the recording.")
        .details(),
    Measure::sum_known("mispredicted", "Mispredicted", Kind::Count, |row: &Branch| row.mispredicted)
        .meaning("Branches of which the processor had predicted something else. Empty: not recorded.")
        .sorted(&["mispredicted"]),
    Measure::ratio("mispredict_percent", "Mispredicted %", 1, ["mispredicted", "judged"], 100.0)
        .meaning("Percent of the branches of which the recording tells that were mispredicted.")
        .sorted(&["mispredict-percent"]),
    Measure::mean("cycles_avg", "Cycles", Kind::Count, ["cycles", "timed"])
        .meaning("Mean number of cycles since the branch before. Empty: not recorded.")
        .sorted(&["cycles"]),
    Measure::sum_known("judged", "Judged", Kind::Count, |row: &Branch| row.mispredicted.map(|_| row.count))
        .meaning("Branches of which the recording tells whether they were predicted.")
        .machine(),
    Measure::sum_known("cycles", "Sum of cycles", Kind::Count, |row: &Branch| row.cycles)
        .meaning("Sum of the cycles since the branch before.")
        .machine(),
    Measure::sum_known("timed", "Timed", Kind::Count, |row: &Branch| row.cycles.map(|_| row.count))
        .meaning("Branches of pairs of instructions for which the recording has cycles.")
        .machine(),
];

impl TableQuestion for Lbr {
    type Row = Branch;

    const NAME: &'static str = "lbr";
    const WHAT: [&'static str; 2] = ["branch", "branches"];
    const SOURCE: RowSource = RowSource::both("LBR", "LBR");
    const MOST: &'static str = "most branches";
    const DIMENSIONS: &'static [Dimension<Branch>] = DIMENSIONS;
    const MEASURES: &'static [Measure<Branch>] = MEASURES;
    const SHORTHANDS: &'static [Shorthand] = &[Shorthand {
        option: "--callers",
        by: &["process", "method", "caller"],
        sort: None,
        help: "Each caller of a function in a row of its own",
    }];
    const BY: &'static [&'static str] = &["process", "method"];
    const SORT: &'static str = "count";
    const SHORT: &'static [&'static str] =
        &["process", "top", "methods", "caller", "callers", "kind", "by", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump lbr X.sift --top 20", "the functions that were called most"),
        ("tracesift dump lbr X.sift --methods '*Alloc*' --callers", "who calls these functions"),
        ("tracesift dump lbr X.sift --kind '*' --by kind", "branches between functions of each kind"),
        ("tracesift dump lbr X.sift --by method --sort mispredicted", "calls that are predicted badly"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--callers"], &["--any-entry"], &["--kind=*", "--by=kind"], &["--scale=1000"], &["--min-count=2"]];
    const IMPORTED: Imported = Imported::Whole;
    /// Branches are added up over the whole recording while they are read.
    const ONLY_WHOLE: bool = true;
    const HAS_LENGTH: Option<fn(&Branch) -> bool> = Some(|_| false);

    fn process(row: &Branch) -> Option<ProcessId> {
        row.process
    }

    fn times(_: &Branch) -> (i64, i64) {
        (0, 0)
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Branch>,
        mut visit: impl FnMut(&Branch),
    ) -> Result<(), Error> {
        let mut functions = Functions::of(archive)?;
        archive.scan(time, |row: &Recorded| visit(&Joined { own: *row, other: functions.ends(row.from, row.to) }))
    }

    /// Branches inside of a function are no calls.
    fn is_asked(row: &Branch) -> bool {
        row.other.is_none_or(|ends| ends.from != ends.to)
    }

    fn notes(archive: &Archive, _: TimeRange, _: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        let mut left_out = 0;
        archive.scan(None, |row: &LeftOut| {
            if row.kind == HealthKind::BRANCHES_OVER_BUDGET.word() {
                left_out += row.count;
            }
        })?;
        Ok((left_out > 0)
            .then(|| format!("{left_out} branches were left out: too many different ones"))
            .into_iter()
            .collect())
    }
}

view! {
    /// What an extract left out.
    #[derive(Clone, Debug)]
    struct LeftOut of HealthRow { kind, count }
}

/// The kind of a branch. Where the recording does not tell it, a branch to the first instruction of a function is a call.
fn kind(row: &Branch) -> i8 {
    let is_entry = row.other.is_some_and(|ends| ends.is_entry);
    if row.kind == kinds::UNKNOWN && is_entry { kinds::CALL } else { row.kind }
}

fn kind_word(number: i64) -> String {
    let word = i8::try_from(number).ok().and_then(|number| match number {
        kinds::UNKNOWN => Some("unknown"),
        kinds::CALL => Some("call"),
        kinds::RETURN => Some("return"),
        kinds::JUMP => Some("jump"),
        kinds::CONDITIONAL => Some("conditional jump"),
        kinds::INDIRECT_CALL => Some("indirect call"),
        kinds::SYSTEM_CALL => Some("system call"),
        kinds::SYSTEM_RETURN => Some("system return"),
        kinds::INTERRUPT => Some("interrupt"),
        kinds::OTHER => Some("other"),
        _ => None,
    });
    word.map_or_else(|| number.to_string(), str::to_owned)
}
