//! `dump virtualalloc`: which memory processes and the kernel allocated and did not give back, and in which functions.

mod sums;

use std::ops::Range;

use tracesift_archive::{Archive, Error};
use tracesift_export::{Measure as Exported, Unit};
use tracesift_grammar::TimeRange;
use tracesift_trace::info::IMPORTED;
use tracesift_trace::rows::{AllocationRow, AllocationSummaryRow, ProcessRow, allocation_kinds as kinds};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, view};

pub use self::sums::Sums;

use crate::answer::{ColumnOf, Kind};
use crate::etwanalyzer::{Legacy, To, Words, switch};
use crate::question::handles::hexadecimal;
use crate::recording_label::RowSource;
use crate::table_question::{
    self, Condition, Dimension, Exited, Imported, Joined, Limit, Measure, Needed, StackFigure, StacksBelow,
    TableQuestion,
};

view! {
    /// Bytes of a block that were given back at one time, as the table has them.
    #[derive(Clone, Debug)]
    pub struct Recorded of AllocationRow {
        time, start, process, stack, kind, part, last, base, size, by_exit, there, open, heap, tag,
    }
}

/// Bytes of a block, or what a process of an import allocated and freed.
pub type Allocation = Joined<Recorded, Sums>;

/// Allocated memory.
#[derive(Clone, Copy, Debug)]
pub struct Allocations;

/// What is asked.
pub type Question = table_question::Question<Allocations>;

/// The options.
pub type Options = table_question::Options<Allocations>;

/// The figures of memory. Reserved addresses and mapped files are no memory of the process, and have figures of their own.
const MEASURES: &[Measure<Allocation>] =
    &[
        Measure::sum_begun("commits", "Commits", Kind::Count, |row: &Allocation| {
            sums::of(row, |sums| sums.commits, |row| i64::from(is_new_memory(row) && row.part == 0))
        })
        .meaning("Blocks that were allocated in the time range. Reserved addresses and mapped files do not count.")
        .sorted(&["commits", "commit-count"]),
        Measure::sum_begun(
            "commit_bytes",
            "Committed",
            Kind::Bytes,
            |row: &Allocation| {
                sums::of(row, |sums| sums.commit_bytes, |row| if is_new_memory(row) { row.size } else { 0 })
            },
        )
        .meaning("Bytes of these blocks.")
        .sorted(&["committed", "commit-size"]),
        Measure::sum_over("freed", "Freed", Kind::Count, |row: &Allocation| {
            sums::of(
                row,
                |sums| sums.frees,
                |row| i64::from(is_memory(row) && !is_open(row) && row.last == Some(true)),
            )
        })
        .meaning("Blocks whose last byte was freed in the time range. The end of the process frees all its blocks.")
        .sorted(&["freed", "freed-count"]),
        Measure::sum_over("freed_bytes", "Freed bytes", Kind::Bytes, |row: &Allocation| {
            sums::of(row, |sums| sums.freed_bytes, |row| if is_memory(row) && !is_open(row) { row.size } else { 0 })
        })
        .meaning("Bytes that were freed in the time range, also of blocks that were freed only in part.")
        .sorted(&["freed-bytes", "freed-size"]),
        Measure::sum_over("by_exit_bytes", "Freed by exit", Kind::Bytes, |row: &Allocation| {
            if is_memory(row) && row.by_exit == Some(true) { row.size } else { 0 }
        })
        .meaning("Bytes of these that the end of the process freed.")
        .sorted(&["by-exit"])
        .details(),
        Measure::sum_left("reserved_bytes", "Reserved", Kind::Bytes, is_open, |row: &Allocation| {
            if row.kind == kinds::RESERVED && !is_older(row) { row.size } else { 0 }
        })
        .meaning("Addresses that were reserved in the time range and not released before its end.")
        .sorted(&["reserved"])
        .details(),
        Measure::sum_left("file_bytes", "Files", Kind::Bytes, is_open, |row: &Allocation| {
            if row.kind == kinds::MAPPED_FILE { row.size } else { 0 }
        })
        .meaning("Addresses of files that were mapped in the time range and not unmapped before its end (Linux).")
        .sorted(&["files"])
        .details(),
        Measure::sum_peak("max_commit_bytes", "Peak", Kind::Bytes, is_open, |row: &Allocation| {
            if is_new_memory(row) { row.size } else { 0 }
        })
        .meaning("The largest sum of sizes at one time, of memory that was allocated in the recording.")
        .sorted(&["peak", "max-commit-size"]),
        Measure::tenths("growing_tenths", "Regular", is_open, |row: &Allocation| {
            if is_new_memory(row) { row.size } else { 0 }
        })
        .meaning("How regular the growth is: tenths of the time range in which the bytes grew that are allocated and not freed. Empty: the range is shorter than 10 ns.")
        .sorted(&["regularity", "regular"])
        .details(),
        Measure::sum_left("not_released", "Not freed", Kind::Count, is_open, |row: &Allocation| {
            i64::from(is_new_memory(row) && row.last == Some(true))
        })
        .meaning("Blocks that were allocated in the time range and of which bytes are left at its end.")
        .sorted(&["not-released-count", "count"])
        .limited(
            ["--min-not-released-count", "--max-not-released-count"],
            ["Only rows with so many blocks that are not freed", "Only rows with no more blocks that are not freed"],
        ),
        Measure::sum_left("not_released_bytes", "Not freed bytes", Kind::Bytes, is_open, |row: &Allocation| {
            if is_new_memory(row) { row.size } else { 0 }
        })
        .meaning("The bytes that are left of these blocks.")
        .sorted(&["not-released", "not-released-size", "outstanding"])
        .limited(
            ["--min-not-released-size", "--max-not-released-size"],
            ["Only rows with so many bytes that are not freed", "Only rows with no more bytes that are not freed"],
        ),
    ];

/// Columns of the old command line.
const COLUMNS: Words = &[
    ("notreleasedcount", "not_released"),
    ("notreleasedsize", "not_released_bytes"),
    ("commitcount", "commits"),
    ("commitsize", "commit_bytes"),
    ("freedcount", "freed"),
    ("freedsize", "freed_bytes"),
    ("maxcommitsize", "max_commit_bytes"),
    ("stackcount", "not_released"),
    ("stacksize", "not_released_bytes"),
];

/// Orders of the old command line. The stacks below a row are sorted by the same figure as the rows.
const ORDERS: Words = &[
    ("notreleasedcount", "not-released-count"),
    ("notreleasedsize", "not-released-size"),
    ("commitcount", "commit-count"),
    ("commitsize", "commit-size"),
    ("freedcount", "freed-count"),
    ("freedsize", "freed-size"),
    ("maxcommitsize", "max-commit-size"),
    ("stackcount", "not-released-count"),
    ("stacksize", "not-released-size"),
];

impl TableQuestion for Allocations {
    type Row = Allocation;

    const NAME: &'static str = "virtualalloc";
    const WHAT: [&'static str; 2] = ["allocation", "allocations"];
    const SOURCE: RowSource = RowSource::both("VirtualAlloc", "VirtualAlloc");
    const MOST: &'static str = "most allocations";
    const DIMENSIONS: &'static [Dimension<Allocation>] = &[
        Dimension::process(),
        Dimension::words("kind", "Kind", |row: &Allocation| Some(i64::from(row.kind)), kind)
            .meaning("`committed` pages, `reserved` addresses, `heap` block, pages of a heap (`heap growth`), block of a kernel `pool`, memory of `mmap` (`mapped`), of a file (`mapped file`), or `program break`.")
            .filtered("--kind", ["kind", "kinds"], "Only memory of these kinds: committed, reserved, heap, pool"),
        Dimension::method(|row: &Allocation| (row.stack, None))
            .meaning("Function that allocated the memory: the leaf of its stack."),
        Dimension::module(|row: &Allocation| row.stack)
            .meaning("Module that allocated the memory: of the first function of the stack that is neither of the operating system nor of a standard library. `(no stack)`: the stack is not known."),
        Dimension::stack(|row: &Allocation| row.stack)
            .meaning("The stack that allocated the memory.")
            .filtered("--stack", ["function", "functions"], "Only memory with such a function in its stack; `--stack 17`: the blocks of stack 17"),
        Dimension::tag(|row: &Allocation| row.stack),
        Dimension::words("size", "Size", |row: &Allocation| Some(size_class(row.size)), size_of_class)
            .meaning("Size of the block, or of the part of it: up to the next power of two.")
            .coarse(),
        Dimension::text("pool_tag", "Pool tag", |row: &Allocation| row.tag.as_deref())
            .meaning("Tag of a block of a kernel pool.")
            .filtered("--pool-tag", ["pool tag", "pool tags"], "Only blocks of kernel pools with these tags"),
        Dimension::words("heap", "Heap", |row: &Allocation| row.heap, hexadecimal)
            .meaning("Handle of the heap.")
            .filtered("--heap", ["heap", "heaps"], "Only memory of the heaps with these handles"),
    ];
    const STACKS: &'static [StackFigure] = &[
        StackFigure {
            column: "not_released_bytes",
            measure: Exported { key: "outstanding", label: "Outstanding memory", unit: Unit::Bytes, counted: "blocks" },
            help: "Memory that was allocated in the time range and not given back",
        },
        StackFigure {
            column: "commit_bytes",
            measure: Exported { key: "allocated", label: "Allocated memory", unit: Unit::Bytes, counted: "blocks" },
            help: "Memory that was allocated in the time range",
        },
    ];
    const STACKS_BELOW: Option<StacksBelow> =
        Some(StacksBelow { figures: &["not_released", "not_released_bytes"], sort: "not_released_bytes" });
    const MEASURES: &'static [Measure<Allocation>] = MEASURES;
    const LIMITS: &'static [Limit<Allocation>] = &[
        Limit::bytes(
            ["--min-size", "--max-size"],
            |row| Some(row.size),
            ["Only memory of at least this size", "Only memory of at most this size"],
        ),
        Limit::time(
            ["--min-age", "--max-age"],
            |row| Some(row.time.saturating_sub(row.start)),
            ["Only memory that was allocated so long (ms without unit)", "Only memory that was not allocated longer"],
        ),
        Limit::instant(
            ["--min-alloc-time", "--max-alloc-time"],
            |row| Some(row.start).filter(|_| !is_older(row)),
            [
                "Only memory that was allocated at this time or later (ms without unit)",
                "Only memory that was allocated up to this time",
            ],
        ),
    ];
    const EXITED: Option<Exited<Allocation>> = Some(Exited {
        row: |row| {
            let is_of_exit = row.by_exit == Some(true);
            is_of_exit.then(|| Joined { own: Recorded { open: Some(true), ..row.own.clone() }, other: row.other })
        },
        help: "Memory that the end of its process freed counts as not freed",
    });
    const CONDITIONS: &'static [Condition<Allocation>] = &[Condition {
        option: "--leak",
        holds: |row| is_open(row) && is_new_memory(row),
        help: "Only memory that was allocated in the recording and not freed",
    }];
    const LIST: &'static [ColumnOf<Allocation>] = &[
        ColumnOf::always(
            "bytes",
            "Bytes",
            Kind::Bytes,
            |row| row.size.into(),
            "Bytes of the block that were freed at one time, or are not freed.",
        ),
        ColumnOf::always(
            "address",
            "Address",
            Kind::Text,
            |row| hexadecimal(row.base).into(),
            "The lowest address of the bytes.",
        ),
        ColumnOf::always(
            "open",
            "Open",
            Kind::Bool,
            |row| row.open.into(),
            "Whether the bytes were not freed in the recording.",
        ),
        ColumnOf::details(
            "freed_by_exit",
            "Freed by exit",
            Kind::Bool,
            |row| row.by_exit.into(),
            "Whether the end of the process freed the bytes.",
        ),
        ColumnOf::details(
            "older",
            "Older",
            Kind::Bool,
            |row| row.there.into(),
            "Whether the bytes were allocated before the recording.",
        ),
    ];
    const BY: &'static [&'static str] = &["process", "kind"];
    const TABLES: &'static [&'static str] = &[AllocationRow::TABLE.name, AllocationSummaryRow::TABLE.name];
    const JOINED: &'static [&'static str] = sums::FIGURES;
    const IMPORTED: Imported = Imported::Whole;
    const UNKNOWN_IN_IMPORTS: &'static [&'static str] = sums::UNKNOWN_FIGURES;
    const UNKNOWN_PER_PROCESS: &'static [&'static str] = sums::UNKNOWN_PER_PROCESS;
    const PER_PROCESS: &'static [&'static str] = &["process", "kind"];
    const SORT: &'static str = "not-released";
    const GROWS: bool = true;
    const SHORT: &'static [&'static str] = &["process", "time", "top", "kind", "by", "leak", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump virtualalloc X.sift --top 10", "the processes with most memory that they did not give back"),
        (
            "tracesift dump virtualalloc X.sift --leak --by process,stack --top 5",
            "the stacks whose memory nobody freed",
        ),
        (
            "tracesift dump virtualalloc X.sift --details --top-stacks 3",
            "below each process the stacks with most memory that is not freed",
        ),
        ("tracesift dump virtualalloc X.sift --stack 17", "the single blocks of the stack with this number"),
        (
            "tracesift dump virtualalloc X.sift --leak --by stack --sort regularity --top 5",
            "the stacks whose memory grows most steadily",
        ),
        ("tracesift dump virtualalloc X.sift --sort peak --kind committed", "the processes with the largest peaks"),
        ("tracesift dump virtualalloc X.sift -p app.exe --leak --by method,size", "functions and sizes of leaks"),
        ("tracesift dump virtualalloc X.sift --leak --by process,module", "the modules whose memory nobody freed"),
        (
            "tracesift dump virtualalloc X.sift --list --stack '*Parse*' --leak",
            "the single blocks that stacks with a function left",
        ),
        ("tracesift dump virtualalloc X.sift --list --min-age 10s --top 20", "single allocations that lived long"),
    ];

    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "virtualalloc",
        switches: &[
            switch(&["sortby"], To::Word("--sort", ORDERS)),
            switch(&["column"], To::ChosenColumns(COLUMNS)),
            // There details are the stacks of each process, and another switch shows their functions. Ours have their functions.
            switch(&["showstack", "details"], To::Flag("--details")),
            switch(&["stackfilter"], To::Value("--stack")),
            switch(&["minmaxalloctime"], To::Range("--min-alloc-time", "--max-alloc-time", "s")),
            switch(&["minmaxnotreleasedsize"], To::Range("--min-not-released-size", "--max-not-released-size", "B")),
            switch(&["minmaxnotreleasedcount"], To::Range("--min-not-released-count", "--max-not-released-count", "")),
            switch(&["includeexitedprocesses"], To::Flag("--include-exited")),
            switch(&["topnstacks"], To::Top("--top-stacks", "--skip-stacks")),
            switch(&["stackidx"], To::Value("--stack")),
        ],
    });

    fn process(row: &Allocation) -> Option<ProcessId> {
        Some(row.process)
    }

    fn times(row: &Allocation) -> (i64, i64) {
        (row.start, row.time)
    }

    fn count(archive: &Archive) -> u64 {
        archive.row_count::<AllocationRow>().max(archive.row_count::<AllocationSummaryRow>())
    }

    fn scan(
        archive: &Archive,
        time: Option<Range<i64>>,
        needed: Needed<Allocation>,
        visit: impl FnMut(&Allocation),
    ) -> Result<(), Error> {
        match archive.row_count::<AllocationSummaryRow>() {
            0 => archive.scan(time, visit),
            _ => sums::scan(archive, needed.joined, visit),
        }
    }

    fn notes(archive: &Archive, _: TimeRange, _: &[&ProcessRow]) -> Result<Vec<String>, Error> {
        Ok((archive.info().kind == IMPORTED).then(|| sums::NOTE.to_owned()).into_iter().collect())
    }
}

/// Whether it is memory: neither reserved addresses nor a file, whose pages are those of the file.
fn is_memory(row: &Allocation) -> bool {
    !matches!(row.kind, kinds::RESERVED | kinds::MAPPED_FILE)
}

fn is_new_memory(row: &Allocation) -> bool {
    is_memory(row) && !is_older(row)
}

fn is_older(row: &Allocation) -> bool {
    row.there == Some(true)
}

fn is_open(row: &Allocation) -> bool {
    row.open == Some(true)
}

/// The exponent of the power of two that a size does not exceed.
fn size_class(size: i64) -> i64 {
    let size = u64::try_from(size).unwrap_or(0).max(1);
    i64::from(u64::BITS - (size - 1).leading_zeros())
}

fn size_of_class(class: i64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let class = class.clamp(0, 63);
    format!("to {} {}", 1_u64 << (class % 10), UNITS[(class / 10) as usize])
}

fn kind(number: i64) -> String {
    let word = match i8::try_from(number).unwrap_or(-1) {
        kinds::COMMITTED => "committed",
        kinds::RESERVED => "reserved",
        kinds::HEAP => "heap",
        kinds::HEAP_GROWTH => "heap growth",
        kinds::POOL => "pool",
        kinds::MAPPED => "mapped",
        kinds::MAPPED_FILE => "mapped file",
        kinds::PROGRAM_BREAK => "program break",
        _ => return number.to_string(),
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tracesift_grammar::TimeRange;
    use tracesift_scenario::PointerSize;
    use tracesift_scenario::allocations::{Bit, ELDER, LEAKER, SECONDS, WORKER, story};
    use tracesift_testing::archive::{create, finish};
    use tracesift_testing::recording::{Extracted, Recording};
    use tracesift_trace::rows::{AllocationRow, FrameRow, ProcessRow, StackRow, SymbolRow};
    use tracesift_trace::{FrameId, StackId};

    use super::{Question, size_class, size_of_class};
    use crate::answer::{Answer, Value};
    use crate::ask::{When, ask};
    use crate::recording::Source;

    fn answer(question: &Question, extracted: &Extracted) -> Answer {
        ask(&[Source::archive(extracted.report.archive.clone())], question, &When::default()).answer
    }

    fn extracted(size: PointerSize) -> Extracted {
        Recording::of("memory.etl", &story().write(size).expect("a recording")).extract()
    }

    /// Figures by pid, kind and key.
    fn figures(answer: &Answer) -> BTreeMap<(i64, String, &'static str), i64> {
        let keys: Vec<&'static str> = answer.columns.iter().map(|column| column.key).collect();
        let place = |key: &str| keys.iter().position(|known| *known == key).expect("a column");
        let (pid, kind) = (place("pid"), place("kind"));
        let mut figures = BTreeMap::new();
        for row in answer.rows() {
            let (Value::Int(pid), Value::Text(kind)) = (&row[pid], &row[kind]) else { panic!("{row:?}") };
            for (key, value) in keys.iter().zip(row) {
                if let Value::Int(figure) = value {
                    figures.insert((*pid, kind.to_string(), *key), *figure);
                }
            }
        }
        figures
    }

    /// Figures of memory of a process, from what becomes of each byte.
    fn of_truth(pid: u32, kind: i8, range: (i64, i64)) -> [(&'static str, i64); 8] {
        let bits: Vec<Bit> = story().truth.into_iter().filter(|bit| bit.pid == pid && bit.kind == kind).collect();
        let is_inside = |time: i64| range.0 <= time && time < range.1;
        let begins = |bit: &Bit| bit.start.is_some_and(is_inside);
        let ends = |bit: &Bit| bit.end.is_some_and(|end| range.0 < end && end <= range.1);
        let is_left = |bit: &Bit| begins(bit) && bit.end.is_none_or(|end| end > range.1);
        let bytes =
            |holds: &dyn Fn(&Bit) -> bool| bits.iter().filter(|bit| holds(bit)).map(|bit| bit.size as i64).sum::<i64>();
        let many = |holds: &dyn Fn(&Bit) -> bool| bits.iter().filter(|bit| holds(bit)).count() as i64;
        let at = |time: i64| {
            bytes(&|bit| bit.start.is_some_and(|start| start <= time) && bit.end.is_none_or(|end| end > time))
        };
        let times =
            bits.iter().filter_map(|bit| bit.start).filter(|time| *time < range.1).map(|time| time.max(range.0));
        [
            // A block has one last part.
            ("commits", many(&|bit| begins(bit) && !bit.partial)),
            ("commit_bytes", bytes(&begins)),
            ("freed", many(&|bit| ends(bit) && !bit.partial)),
            ("freed_bytes", bytes(&ends)),
            ("by_exit_bytes", bytes(&|bit| ends(bit) && bit.by_exit)),
            ("max_commit_bytes", times.map(at).max().unwrap_or(0)),
            ("not_released", many(&|bit| is_left(bit) && !bit.partial)),
            ("not_released_bytes", bytes(&is_left)),
        ]
    }

    const MEMORY: [(u32, i8, &str); 6] = [
        (LEAKER, 0, "committed"),
        (WORKER, 0, "committed"),
        (ELDER, 0, "committed"),
        (LEAKER, 2, "heap"),
        (LEAKER, 3, "heap growth"),
        (4, 4, "pool"),
    ];

    #[test]
    fn figures_are_those_of_each_byte() {
        for size in [PointerSize::Four, PointerSize::Eight] {
            let extracted = extracted(size);
            let found = figures(&answer(&Question::default(), &extracted));
            for (pid, number, kind) in MEMORY {
                for (key, expected) in of_truth(pid, number, (0, SECONDS * 1_000_000_000)) {
                    assert_eq!(found.get(&(pid.into(), kind.to_owned(), key)), Some(&expected), "{pid} {kind} {key}");
                }
            }
            let reserved = found.get(&(LEAKER.into(), "reserved".to_owned(), "reserved_bytes"));
            assert_eq!(reserved, Some(&(40 * 65_536)));
        }
    }

    #[test]
    fn a_time_range_has_what_was_allocated_in_it() {
        let extracted = extracted(PointerSize::Eight);
        for range in [(5_650_000_000, 7_500_000_000), (0, 2_045_000_000), (8_500_000_000, 9_500_000_000)] {
            let time = TimeRange { start: Some(range.0), end: Some(range.1) };
            let mut question = Question::default();
            question.time = time;
            let found = figures(&answer(&question, &extracted));
            for (pid, number, kind) in MEMORY {
                for (key, expected) in of_truth(pid, number, range) {
                    let found = found.get(&(pid.into(), kind.to_owned(), key)).copied().unwrap_or(0);
                    assert_eq!(found, expected, "{range:?} {pid} {kind} {key}");
                }
            }
        }
    }

    /// ETWAnalyzer keys blocks by process and address. It counts the second commit of a block whole, and a decommit of a part as
    /// nothing. Here each page has one block.
    #[test]
    fn pages_that_are_committed_twice_or_decommitted_in_parts_count_once() {
        let found = figures(&answer(&Question::default(), &extracted(PointerSize::Eight)));
        let is = |key: &'static str| found[&(WORKER.into(), "committed".to_owned(), key)];
        // 256 KiB, 128 KiB that were not committed, 8 KiB again after the decommit; the third commit adds nothing.
        assert_eq!((is("commits"), is("commit_bytes")), (3, (256 + 128 + 8) * 1024));
        assert_eq!((is("max_commit_bytes"), is("not_released_bytes")), (384 * 1024, 0));
        assert_eq!(is("by_exit_bytes"), (384 - 128 + 8) * 1024);
    }

    #[test]
    fn memory_is_kept_by_any_function_of_its_stack() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut writer = create(&directory.path().join("memory.sift"));
        let process = ProcessRow { pid: 7, name: "app.exe".to_owned(), ..ProcessRow::default() };
        writer.write_table(&[process]);
        let names = ["Main", "Parse", "Load"];
        let frame = |frame: i32| FrameRow { frame: FrameId(frame), ..FrameRow::default() };
        let symbol = |(frame, name): (i32, &&str)| SymbolRow {
            frame: FrameId(frame),
            module: Some("app.exe".to_owned()),
            function: (*name).to_owned(),
            ..SymbolRow::default()
        };
        writer.write_table(&[0, 1, 2].map(frame));
        writer.write_table(&(0..).zip(&names).map(symbol).collect::<Vec<_>>());
        let stack = |number: i32, frames: &[i32]| StackRow {
            stack: StackId(number),
            frames: frames.iter().map(|frame| FrameId(*frame)).collect(),
        };
        // The leaf comes first.
        writer.write_table(&[stack(0, &[2, 1, 0]), stack(1, &[1, 0]), stack(2, &[2, 0])]);
        let block = |size: i64, stack: Option<i32>| AllocationRow {
            time: 100,
            start: size,
            size,
            last: Some(true),
            open: Some(true),
            stack: stack.map(StackId),
            ..AllocationRow::default()
        };
        writer.write_table(&[block(1, Some(0)), block(2, Some(1)), block(4, Some(2)), block(8, None)]);
        let source = Source::archive(finish(writer));
        for (patterns, bytes) in
            [("Main", 7), ("Parse", 3), ("*ad", 5), ("Parse;Load", 7), ("!Load", 2), ("Main;!Parse", 4), ("x", 0)]
        {
            let question =
                Question::default().by(&["process"]).and_then(|question| question.matching("--stack", patterns));
            let outcome = ask(std::slice::from_ref(&source), &question.expect("an option"), &When::default());
            let columns = &outcome.answer.columns;
            let place = columns.iter().position(|column| column.key == "not_released_bytes").expect("a column");
            let found: i64 =
                outcome.answer.rows().map(|row| if let Value::Int(bytes) = row[place] { bytes } else { 0 }).sum();
            assert_eq!(found, bytes, "{patterns}");
        }
    }

    #[test]
    fn sizes_have_the_next_power_of_two() {
        for (size, text) in
            [(0, "to 1 B"), (1, "to 1 B"), (1024, "to 1 KiB"), (1025, "to 2 KiB"), (65_536, "to 64 KiB")]
        {
            assert_eq!(size_of_class(size_class(size)), text);
        }
        assert_eq!(size_of_class(size_class(i64::MAX)), "to 8 EiB");
    }
}
