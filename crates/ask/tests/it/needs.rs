//! Each column of an answer says which stored columns it is made of, and nothing else is read for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tracesift_analysis::tags::{Nesting, TagSet, figures_of};
use tracesift_archive::Archive;
use tracesift_ask::answer::{Answer, ColumnOf, Value};
use tracesift_ask::core_figures::CoreFigures;
use tracesift_ask::needs::Needs;
use tracesift_ask::order::{Between, Top};
use tracesift_ask::processes::is_idle;
use tracesift_ask::question::methods::{Method, Ranges, RowKind, Spans, Tags};
use tracesift_ask::question::{cpu, methods, overview};
use tracesift_ask::recording::Source;
use tracesift_ask::shown::Shown;
use tracesift_ask::{Ask, MethodPatterns, When, ask};
use tracesift_grammar::Patterns;
use tracesift_scenario::{Knobs, Scenario, linux};
use tracesift_testing::archive::{create, finish_as, small_archive};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_testing::rows;
use tracesift_trace::ProcessId;
use tracesift_trace::info::{IMPORTED, TraceInfo};
use tracesift_trace::rows::{MethodSummaryRow, ProcessRow, ProcessSummaryRow, TagSummaryRow};

use clap::ValueEnum as _;

/// The values of a column, if only these stored columns are read, of an archive with all kinds of values in every column.
type ValuesOf<R> = fn(&Archive, &ColumnOf<R>, Needs) -> Vec<Value>;

/// Checks each column alone, with nothing else read.
fn check<R>(columns: &[ColumnOf<R>], values: ValuesOf<R>) {
    let directory = TempDir::new().expect("a directory");
    let archive = small_archive(&directory.path().join("random.sift"));
    for column in columns {
        let read = |needs| values(&archive, column, needs);
        let (needed, all) = (read(column.needs), read(Needs::EVERYTHING));
        assert_eq!(needed, all, "{}", column.column.key);
        assert!(column.needs != Needs::EVERYTHING, "{} does not say what it is made of", column.column.key);
        let is_stored = column.needs != Needs::NOTHING;
        assert_eq!(read(Needs::NOTHING) != all, is_stored, "{} has all kinds of values", column.column.key);
    }
}

#[test]
fn columns_of_processes_are_made_of_what_they_say() {
    check(cpu::COLUMNS.0, |archive, column, needs| {
        let processes: Vec<ProcessRow> = archive.needed_rows(needs.processes).expect("read");
        let figures: Vec<ProcessSummaryRow> = archive.needed_rows(needs.process_summary).expect("read");
        let row = |(process, figures): (ProcessRow, ProcessSummaryRow)| cpu::Row {
            idle: is_idle(&process),
            process,
            figures,
            sampled: true,
            imported: false,
            cpus: None,
            cores: CoreFigures::default(),
            module: None,
        };
        processes.into_iter().zip(figures).map(|pair| (column.value)(&row(pair))).collect()
    });
}

#[test]
fn columns_of_methods_are_made_of_what_they_say() {
    check(methods::COLUMNS.0, |archive, column, needs| {
        let processes: Vec<ProcessRow> = archive.needed_rows(needs.processes).expect("read");
        let methods: Vec<MethodSummaryRow> = archive.needed_rows(needs.method_summary).expect("read");
        let tags: Vec<TagSummaryRow> = archive.needed_rows(needs.tag_summary).expect("read");
        // Of a method the sum is known where the union is; only tags are imported with less.
        let stored: Vec<MethodSummaryRow> = archive.rows().expect("read");
        let methods = methods.into_iter().zip(stored).map(|(row, stored)| {
            let wait_sum = stored.wait.and(row.wait_sum);
            (RowKind::Method, MethodSummaryRow { wait_sum, ..row })
        });
        let figures = methods.chain(tags.into_iter().map(|row| (RowKind::Tag, figures_of(row))));
        let rows = figures.zip(processes.iter().cycle()).flat_map(|((kind, figures), process)| {
            [false, true].map(|precise| methods::Row {
                process: process.clone(),
                label: format!("{:?}!{}", figures.module, figures.function),
                method: Method { kind, figures: figures.clone(), place: None, thread: None },
                precise,
                imported: false,
                thread: None,
                module: None,
                spans: Some(Spans::default()),
            })
        });
        rows.map(|row| (column.value)(&row)).collect()
    });
}

/// Archives of recordings of both systems, and of sums that were imported; with what they lie in.
fn archives() -> (Vec<Source>, Vec<Extracted>, TempDir) {
    let etl = [1, 5, 12, 300].map(|seed| Recording::etl(&Scenario::random(seed, &Knobs::random(seed))));
    let knobs = linux::Knobs { bytes: 1 << 18, cpus: 4, processes: 6, threads: 12, ..linux::Knobs::default() };
    let recordings = etl.into_iter().chain([Recording::perf(&knobs).0]);
    let extracted: Vec<Extracted> = recordings.map(Recording::extract).collect();
    let directory = TempDir::new().expect("a directory");
    let paths = extracted.iter().map(|extracted| extracted.report.archive.clone()).chain([imported(directory.path())]);
    (paths.map(Source::archive).collect(), extracted, directory)
}

/// Sums as an import has them: the waits of tags are plain sums.
fn imported(directory: &Path) -> PathBuf {
    let mut writer = create(&directory.join("imported.sift"));
    let owner = ProcessRow {
        command_line: Some("a.exe -v".to_owned()),
        parent_pid: Some(4),
        session: Some(1),
        user: Some("S-1-5-18".to_owned()),
        start: Some(3),
        end: Some(9),
        ..rows::process(0, 40, "a.exe")
    };
    writer.write_table(&[owner, rows::process(1, 44, "b.exe")]);
    let figures = |process, cpu| ProcessSummaryRow {
        process: ProcessId(process),
        cpu,
        wait: Some(40 - cpu),
        ready: Some(cpu % 7),
        priority: Some(8.5),
        cores_used: 2,
        methods: 2,
        methods_kept: 2,
        ..ProcessSummaryRow::default()
    };
    writer.write_table(&[figures(0, 25), figures(1, 0)]);
    let method = |function: &str, cpu| MethodSummaryRow {
        module: Some("a.dll".to_owned()),
        function: function.to_owned(),
        cpu,
        wait: Some(40 - cpu),
        ready: Some(cpu % 7),
        threads: 2,
        first: cpu,
        last: 50,
        ..MethodSummaryRow::default()
    };
    writer.write_table(&[method("load", 20), method("store", 5)]);
    let tag = |tag: &str, cpu| TagSummaryRow {
        tag: tag.to_owned(),
        cpu,
        exclusive_cpu: cpu,
        wait_sum: Some(60 - cpu),
        ..TagSummaryRow::default()
    };
    writer.write_table(&[tag("Disk", 21), tag("Other", 4)]);
    finish_as(writer, TraceInfo { kind: IMPORTED.to_owned(), has_switches: true, ..TraceInfo::default() })
}

fn answer(sources: &[Source], question: &dyn Ask) -> Answer {
    let outcome = ask(sources, question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The answer of these columns only.
fn answer_of(sources: &[Source], question: &dyn Ask, keys: &[&'static str]) -> Answer {
    let narrowed = question.showing(&Shown::only(keys.iter().copied())).expect("it reads what is looked at");
    answer(sources, &*narrowed)
}

/// Compares some columns of two answers, and all that stands beside the rows.
fn compare(what: &str, some: &Answer, all: &Answer, keys: &[&str]) {
    let values = |answer: &Answer| -> Vec<Vec<Value>> {
        let at = |key: &&str| answer.columns.iter().position(|column| column.key == *key).expect("a column");
        let at: Vec<usize> = keys.iter().map(at).collect();
        answer.rows().map(|row| at.iter().map(|at| row[*at].clone()).collect()).collect()
    };
    assert_eq!(values(some), values(all), "{what}: {keys:?}");
    for (some, all) in some.sections.iter().zip(&all.sections) {
        assert_eq!((&some.facts, &some.groups), (&all.facts, &all.groups), "{what}: {keys:?}");
    }
}

/// Each column has the same values alone as with all others. Gives the number of rows.
fn check_columns(sources: &[Source], what: &str, question: &dyn Ask) -> usize {
    let all = answer(sources, question);
    for column in &all.columns {
        compare(what, &answer_of(sources, question, &[column.key]), &all, &[column.key]);
    }
    all.rows().count()
}

#[test]
fn columns_of_processes_have_the_same_values_alone() {
    let (sources, ..) = &archives();
    let plain = cpu::Question::default;
    let modules = Some(Patterns::parse("*"));
    for (what, question) in [
        ("all", plain()),
        ("the largest", cpu::Question { top: Top { take: Some(2), skip: 1 }, ..plain() }),
        ("events", cpu::Question { core_numbers: true, cores: true, ..plain() }),
        ("modules", cpu::Question { modules, ..plain() }),
    ] {
        assert!(check_columns(sources, what, &question) > 10, "{what}");
    }
    let some = Between { min: Some(1), max: Some(i64::MAX - 1) };
    for sort in cpu::Sort::value_variants() {
        let limits = [
            plain(),
            cpu::Question { cpu: some, ..plain() },
            cpu::Question { wait: some, ..plain() },
            cpu::Question { ready: some, ..plain() },
        ];
        for (limit, question) in limits.into_iter().enumerate() {
            let question = cpu::Question { sort: *sort, top: Top { take: Some(3), skip: 0 }, ..question };
            let keys = ["process", "pid"];
            let what = format!("{sort:?}, limit {limit}");
            compare(&what, &answer_of(sources, &question, &keys), &answer(sources, &question), &keys);
        }
    }
}

#[test]
fn columns_of_methods_have_the_same_values_alone() {
    let (sources, ..) = &archives();
    let set = Arc::new(TagSet::built_in(Nesting::Names).expect("rules"));
    let tags = || Some(Tags { patterns: Patterns::parse("*"), set: set.clone(), cache: None });
    let methods = || Some(MethodPatterns::default());
    let plain = methods::Question::default;
    for (what, question) in [
        ("methods", methods::Question { methods: methods(), ..plain() }),
        ("tags", methods::Question { tags: tags(), ..plain() }),
        (
            "processes on rows",
            methods::Question { methods: methods(), tags: tags(), process_on_row: true, first_last: true, ..plain() },
        ),
        ("spans", methods::Question { methods: methods(), tags: tags(), percentiles: true, cores: true, ..plain() }),
        ("modules", methods::Question { methods: methods(), modules: Some(Patterns::parse("*")), ..plain() }),
        ("threads", methods::Question { methods: methods(), per_thread: true, ..plain() }),
    ] {
        assert!(check_columns(sources, what, &question) > 20, "{what}");
    }
    let some = Between { min: Some(1), max: Some(i64::MAX - 1) };
    let ranges = [
        Ranges::default(),
        Ranges { cpu: some, ..Ranges::default() },
        Ranges { exclusive: some, ..Ranges::default() },
        Ranges { wait: some, ..Ranges::default() },
        Ranges { ready: some, ..Ranges::default() },
        Ranges { ready_average: some, ..Ranges::default() },
        Ranges { switches: some, ..Ranges::default() },
        Ranges { first: some, ..Ranges::default() },
        Ranges { last: some, ..Ranges::default() },
        Ranges { duration: some, ..Ranges::default() },
    ];
    for sort in methods::Sort::value_variants() {
        for (number, ranges) in ranges.into_iter().enumerate() {
            let top_methods = Top { take: Some(3), skip: 0 };
            let question =
                methods::Question { methods: methods(), tags: tags(), sort: *sort, ranges, top_methods, ..plain() };
            let keys = ["process", "pid", "module", "method", "stack_tag"];
            let what = format!("{sort:?}, range {number}");
            compare(&what, &answer_of(sources, &question, &keys), &answer(sources, &question), &keys);
        }
    }
}

#[test]
fn columns_of_overviews_have_the_same_values_alone() {
    let (sources, ..) = &archives();
    let set = Arc::new(TagSet::built_in(Nesting::Names).expect("rules"));
    let question = overview::Question { tags: set, cache: None, shown: Shown::default() };
    assert_eq!(check_columns(sources, "overview", &question), sources.len());
}
