//! `dump faults`: which processes touched pages that were not in their memory, in which functions, and how long they waited for files.

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_trace::rows::{HardFaultRow, PageFaultRow, page_fault_kinds};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{FileId, FrameId, ProcessId, StackId, ThreadId, view};

use super::paths;
use crate::answer::ColumnOf;
use crate::answer::Kind::{Bytes, Count, Milliseconds, Text};
use crate::recording_label::RowSource;
use crate::table_question::{self, Dimension, Joined, Limit, Measure, Needed, StackFigure, TableQuestion};

view! {
    /// A row of `page_faults`.
    #[derive(Clone, Copy, Debug)]
    pub struct PageFault of PageFaultRow { time, process, thread, address, kind, kernel, weight, stack, frame, hard }
}

view! {
    /// A row of `hard_faults`.
    #[derive(Clone, Copy, Debug)]
    pub struct HardFault of HardFaultRow { time, start, process, thread, address, offset, size, file, stack }
}

/// A page fault of either table: what is of a row of `hard_faults` has nothing else.
pub type Fault = Joined<PageFault, HardFault>;

/// Page faults.
#[derive(Clone, Copy, Debug)]
pub struct Faults;

/// What is asked.
pub type Question = table_question::Question<Faults>;

/// The options.
pub type Options = table_question::Options<Faults>;

/// Kind of a row of `hard_faults`, behind the kinds of `page_faults`.
const READ_FROM_FILE: i64 = 100;

/// Bytes of a page of Windows, on all of its machines. Linux has pages of several sizes.
const PAGE: i64 = 4096;

impl TableQuestion for Faults {
    type Row = Fault;

    const NAME: &'static str = "faults";
    const WHAT: [&'static str; 2] = ["page fault", "page faults"];
    const READS: Option<&'static [&'static str]> = Some(Self::TABLES);
    const SOURCE: RowSource = RowSource::both("Default", "VirtualAlloc");
    const MOST: &'static str = "most faults";
    const COUNTS_AT_END: bool = true;
    const TABLES: &'static [&'static str] = &[PageFaultRow::TABLE.name, HardFaultRow::TABLE.name];
    const DIMENSIONS: &'static [Dimension<Fault>] = &[
        Dimension::process(),
        Dimension::thread(thread),
        Dimension::words("kind", "Kind", |row: &Fault| Some(kind_of(row)), kind)
            .meaning("`hard`: data was read from a file, and how long that took is known. Linux: `minor`: the page needed no data; `major`: data had to be read, and the recording does not tell from where; `unknown`: not recorded. Windows: `transition`, `demand zero`, `copy on write`, `guard page`, `access violation`.")
            .filtered("--kind", ["kind", "kinds"], "Only faults of these kinds: hard, minor, 'demand zero'"),
        Dimension::words("mode", "Mode", |row: &Fault| row.own.kernel.filter(|_| row.other.is_none()).map(i64::from), mode)
            .meaning("`user`: the program touched the page; `kernel`: the kernel touched it on its behalf."),
        Dimension::paths("dir", "Directory", file, paths::directories)
            .meaning("Directory of the file that was read; `--dir-level` sets the number of its parts. `(no file)`: faults without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::paths("file", "File", file, paths::files)
            .keyed("path")
            .meaning("The file that was read. `(no file)`: faults without a known file.")
            .or("(no file)")
            .filtered("--path", ["file", "files"], "Only hard faults that read these files, by their whole paths: '*.dll'"),
        Dimension::paths("module", "Module", file, paths::modules)
            .meaning("The loaded module whose file was read. `(no module)`: the file is none of a module; `(no file)`: faults without a known file.")
            .or("(no file)")
            .coarse(),
        Dimension::method(code)
            .meaning("The function that touched the page, as `module!function`.")
            .filtered("--methods", ["method", "methods"], "Only faults in these functions"),
        Dimension::tag(stack).coarse(),
        Dimension::stack(stack).coarse().meaning("The functions of the stack that touched the page."),
    ];
    const MEASURES: &'static [Measure<Fault>] = &[
        Measure::distinct("process", "processes", "Processes").meaning("Number of processes with such faults."),
        Measure::distinct("thread", "threads", "Threads").meaning("Number of threads with such faults."),
        Measure::distinct("file", "files", "Files").meaning("Number of files that hard faults read.").details(),
        Measure::sum("faults", "Faults", Count, |row: &Fault| row.own.weight)
            .meaning("Number of page faults of all kinds. A sample counts as the faults that it stands for.")
            .sorted(&["faults"])
            .total("page faults"),
        Measure::sum_known("hard_faults", "Hard", Count, hard)
            .meaning("Faults that read from a file. Linux: major faults whose file and time are known; `Major` has them, too.")
            .sorted(&["hard"])
            .total("hard faults"),
        Measure::sum_known("hard_bytes", "Read", Bytes, |row: &Fault| Some(row.other?.size))
            .meaning("Bytes that the hard faults read.")
            .sorted(&["bytes"]),
        Measure::sum_known("hard_time_sum_ns", "Hard sum", Milliseconds, |row: &Fault| row.other.map(|hard| length(&hard)))
            .meaning("Sum of the times of the hard faults. A thread waits for so long; the time is part of its wait time.")
            .sorted(&["time", "sum"])
            .total("hard-fault time"),
        Measure::union("hard_time_ns", "Hard time")
            .meaning("Time in which at least one hard fault of the row was under way, cut to the time range. Faults of several threads at once count once.")
            .sorted(&["union"])
            .details(),
        Measure::max("longest_ns", "Longest", Milliseconds, |row: &Fault| row.other.map(|hard| length(&hard)))
            .meaning("Time of the longest hard fault.")
            .sorted(&["longest"]),
        Measure::sum_known("demand_zero", "Demand zero", Count, |row: &Fault| if_soft(row, page_fault_kinds::DEMAND_ZERO))
            .meaning("Windows: faults that got a new page with zeros. Needs the keyword `AllFaults`.")
            .sorted(&["demand-zero"])
            .details(),
        Measure::sum_known("soft_bytes", "Zeroed", Bytes, |row: &Fault| {
            if_soft(row, page_fault_kinds::DEMAND_ZERO).map(|faults| faults.saturating_mul(PAGE))
        })
            .meaning("Windows: bytes of the new pages that demand-zero faults gave, 4,096 for each. Needs the keyword `AllFaults`.")
            .details(),
        Measure::sum_known("transition", "Transition", Count, |row: &Fault| if_soft(row, page_fault_kinds::TRANSITION))
            .meaning("Windows: faults whose page was in memory, on the list of modified or standby pages. Needs the keyword `AllFaults`.")
            .sorted(&["transition"])
            .details(),
        Measure::sum_known("copy_on_write", "Copy on write", Count, |row: &Fault| if_soft(row, page_fault_kinds::COPY_ON_WRITE))
            .meaning("Windows: faults that copied a shared page. Needs the keyword `AllFaults`.")
            .details(),
        Measure::sum_known("other", "Other", Count, other)
            .meaning("Windows: guard pages and access violations. Linux: faults of unknown kind.")
            .details(),
        Measure::sum_known("minor", "Minor", Count, |row: &Fault| if_linux(row, page_fault_kinds::MINOR))
            .meaning("Linux: faults that needed no data. Needs the events `minor-faults` and `major-faults`.")
            .details(),
        Measure::sum_known("major", "Major", Count, |row: &Fault| if_linux(row, page_fault_kinds::MAJOR))
            .meaning("Linux: all faults for which data had to be read, also those that `Hard` counts. Needs the events `minor-faults` and `major-faults`.")
            .sorted(&["major"]),
    ];
    const STACKS: &'static [StackFigure] = &[
        StackFigure {
            column: "hard_time_sum_ns",
            measure: Exported {
                key: "hard-faults",
                label: "Hard-fault",
                unit: Unit::Nanoseconds,
                counted: "hard faults",
            },
            help: "Time of hard page faults",
        },
        StackFigure {
            column: "faults",
            measure: Exported { key: "page-faults", label: "Page faults", unit: Unit::Count, counted: "page faults" },
            help: "Number of page faults",
        },
    ];
    const LIMITS: &'static [Limit<Fault>] = &[Limit::time(
        ["--min-duration", "--max-duration"],
        |row| row.other.map(|hard| length(&hard)),
        ["Only hard faults that took so long (ms without unit)", "Only hard faults that did not take longer"],
    )];
    const LIST: &'static [ColumnOf<Fault>] = &[
        ColumnOf::always(
            "hard_duration_ns",
            "Hard time",
            Milliseconds,
            |row| row.other.map(|hard| length(&hard)).into(),
            "How long the hard fault took.",
        ),
        ColumnOf::details(
            "address",
            "Address",
            Text,
            |row| row.other.map_or(row.own.address, |hard| Some(hard.address)).map(|at| format!("{at:#x}")).into(),
            "The touched address.",
        ),
        ColumnOf::details(
            "offset",
            "Offset",
            Bytes,
            |row| row.other.map(|hard| hard.offset).into(),
            "Offset in the file.",
        ),
        ColumnOf::always(
            "size",
            "Size",
            Bytes,
            |row| row.other.map(|hard| hard.size).into(),
            "Bytes that a hard fault read.",
        ),
    ];
    const BY: &'static [&'static str] = &["process"];
    const SORT: &'static str = "faults";
    const HAS_LENGTH: Option<fn(&Fault) -> bool> = Some(|row| row.other.is_some());
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump faults X.sift --top 10", "the processes with most page faults"),
        ("tracesift dump faults X.sift --kind hard --by process,file --sort time", "who waited for which files"),
        ("tracesift dump faults X.sift -p dd --by method,kind", "the functions that touched the pages"),
        ("tracesift dump faults X.sift --by process,mode --bucket 100ms", "a series"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=file"], &["--dir-level=1"], &["--by=tag"], &["--kind=hard", "--by=stack"]];

    fn process(row: &Fault) -> Option<ProcessId> {
        row.other.map_or(Some(row.own.process), |hard| hard.process)
    }

    fn times(row: &Fault) -> (i64, i64) {
        row.other.map_or((row.own.time, row.own.time), |hard| (hard.start.min(hard.time), hard.time))
    }

    fn count(archive: &Archive) -> u64 {
        archive.row_count::<PageFaultRow>().saturating_add(archive.row_count::<HardFaultRow>())
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        _: Needed<Fault>,
        mut visit: impl FnMut(&Fault),
    ) -> Result<(), Error> {
        // Both tables tell of a hard fault; that of hard faults has more to tell.
        let has_both = archive.row_count::<HardFaultRow>() > 0;
        let is_in_both = |row: &Fault| row.own.kind == page_fault_kinds::HARD || row.own.hard == Some(true);
        archive.scan(time.clone(), |row: &Fault| {
            if !(has_both && is_in_both(row)) {
                visit(row);
            }
        })?;
        // Those of Linux are major faults.
        let kind = if archive.info().kind == "perf" { page_fault_kinds::MAJOR } else { page_fault_kinds::UNKNOWN };
        let own = PageFault::from(&PageFaultRow { weight: 1, kind, ..PageFaultRow::default() });
        archive.scan(time, |row: &HardFault| visit(&Fault { own, other: Some(*row) }))
    }
}

fn length(fault: &HardFault) -> i64 {
    fault.time.saturating_sub(fault.start).max(0)
}

fn thread(row: &Fault) -> Option<ThreadId> {
    row.other.map_or(Some(row.own.thread), |hard| hard.thread)
}

fn file(row: &Fault) -> Option<i64> {
    row.other?.file.map(|FileId(file)| file.into())
}

fn stack(row: &Fault) -> Option<StackId> {
    row.other.map_or(row.own.stack, |hard| hard.stack)
}

fn code(row: &Fault) -> (Option<StackId>, Option<FrameId>) {
    (stack(row), row.own.frame)
}

pub(super) fn kind_of(row: &Fault) -> i64 {
    if row.other.is_some() { READ_FROM_FILE } else { row.own.kind.into() }
}

/// The weight of a row of `page_faults`, or of one that is in both tables, if it is of a kind, else 0; `None`: kinds of this system say
/// nothing of the row.
fn weight_if(row: &Fault, is_known: fn(i8) -> bool, kinds: &[i8]) -> Option<i64> {
    let kind = row.own.kind;
    let is_of_table = row.other.is_none() || kind == page_fault_kinds::MAJOR;
    (is_of_table && is_known(kind)).then(|| if kinds.contains(&kind) { row.own.weight } else { 0 })
}

/// The kinds of Windows are known where all faults were recorded.
fn is_of_windows(kind: i8) -> bool {
    kind >= page_fault_kinds::TRANSITION
}

fn if_soft(row: &Fault, kind: i8) -> Option<i64> {
    weight_if(row, is_of_windows, &[kind])
}

/// The kinds of Linux are known where each was recorded by itself.
fn if_linux(row: &Fault, kind: i8) -> Option<i64> {
    weight_if(row, |kind| matches!(kind, page_fault_kinds::MINOR | page_fault_kinds::MAJOR), &[kind])
}

fn other(row: &Fault) -> Option<i64> {
    let kinds = [page_fault_kinds::UNKNOWN, page_fault_kinds::GUARD_PAGE, page_fault_kinds::ACCESS_VIOLATION];
    weight_if(row, |_| true, &kinds)
}

fn hard(row: &Fault) -> Option<i64> {
    if row.other.is_some() { Some(1) } else { if_soft(row, page_fault_kinds::HARD) }
}

pub(super) fn kind(kind: i64) -> String {
    const WORDS: [&str; 9] = [
        "unknown",
        "minor",
        "major",
        "transition",
        "demand zero",
        "copy on write",
        "guard page",
        "hard",
        "access violation",
    ];
    match usize::try_from(kind).ok().and_then(|place| WORDS.get(place)) {
        Some(word) => (*word).to_owned(),
        None if kind == READ_FROM_FILE => "hard".to_owned(),
        None => kind.to_string(),
    }
}

fn mode(is_kernel: i64) -> String {
    if is_kernel == 0 { "user" } else { "kernel" }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::{Command, Output};

    use tracesift_extract::Options;
    use tracesift_fixtures::skipped;
    use tracesift_testing::recording::try_extract;

    use super::Faults;
    use crate::answer::Value;
    use crate::ask::{When, ask};
    use crate::recording::Source;
    use crate::table_question::Question;

    const PROGRAM: &str = "dd if=/dev/zero of=/dev/null bs=8M count=4 2>/dev/null; ls -lR /usr/include >/dev/null";

    fn perf(arguments: &[&str], file: &Path, more: &[&str]) -> Option<Output> {
        let output = Command::new("perf").args(arguments).arg(file).args(more).output().ok()?;
        output.status.success().then_some(output)
    }

    /// Page faults by pid and kind.
    type Faulted = BTreeMap<(i64, String), i64>;

    #[test]
    fn page_faults_of_processes_are_those_of_perf_script() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("faults.data");
        let record = ["record", "-q", "-c", "1", "-e", "minor-faults", "-e", "major-faults", "-o"];
        let recorded = perf(&record, &file, &["sh", "-c", PROGRAM]);
        let Some(script) = recorded.and_then(|_| perf(&["script", "-F", "pid,period,event", "-i"], &file, &[])) else {
            return skipped("perf records no page faults here");
        };
        // `32505          1 minor-faults:`
        let mut expected = Faulted::new();
        for line in String::from_utf8(script.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (kind, _) = words[2].split_once('-').unwrap();
            let of = expected.entry((words[0].parse().unwrap(), kind.to_owned())).or_default();
            *of += words[1].parse::<i64>().unwrap();
        }
        let archive = try_extract(&file, &Options::default()).unwrap().remove(0).archive;
        let question = Question::<Faults>::default().by(&["process", "kind"]).unwrap();
        let outcome = ask(&[Source::archive(archive)], &question, &When::default());
        let place = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).unwrap();
        let number = |row: &Vec<Value>, key: &str| match row[place(key)] {
            Value::Int(number) => number,
            ref other => panic!("{key} is {other:?}"),
        };
        let kind = |row: &Vec<Value>| match &row[place("kind")] {
            Value::Text(kind) => kind.to_string(),
            other => panic!("kind is {other:?}"),
        };
        let rows = outcome.answer.rows();
        let found = rows.map(|row| ((number(row, "pid"), kind(row)), number(row, "faults")));
        assert_eq!(found.collect::<Faulted>(), expected);
        assert!(expected.len() >= 3 && expected.values().any(|faults| *faults > 1000), "{expected:?}");
    }
}
