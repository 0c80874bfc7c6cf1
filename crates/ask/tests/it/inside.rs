//! `--in-region` and `--in-focus`: what a question counts while there are regions, and while a process has the focus, against a look at
//! every row.

use std::sync::Arc;

use tracesift_analysis::regions::{BUILT_IN, Definitions};
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::inside::Inside;
use tracesift_ask::question::{disk, regions};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_fixtures::cases;
use tracesift_grammar::Patterns;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::Recording;
use tracesift_testing::rows::process;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, FocusRow};
use tracesift_trace::{ProcessId, RowSink as _};

fn answer(source: &Source, question: &dyn Ask) -> Answer {
    let outcome = ask(std::slice::from_ref(source), question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

fn column<'a>(answer: &'a Answer, key: &str) -> impl Iterator<Item = &'a Value> {
    let place = answer.columns.iter().position(|column| column.key == key).expect("a column");
    answer.rows().map(move |row| &row[place])
}

/// The sum of a column.
fn sum(answer: &Answer, key: &str) -> i64 {
    column(answer, key).map(|value| if let Value::Int(number) = value { *number } else { 0 }).sum()
}

/// Begin and end of the regions with a path.
fn spans(source: &Source, definitions: &Arc<Definitions>, path: &str) -> Vec<(i64, i64)> {
    let question = regions::Question {
        region: Patterns::parse(path),
        show: regions::Show::List,
        ..regions::Question::new(Arc::clone(definitions))
    };
    let list = answer(source, &question);
    let ends = column(&list, "start_ns").zip(column(&list, "end_ns"));
    ends.filter_map(|ends| if let (Value::Int(start), Value::Int(end)) = ends { Some((*start, *end)) } else { None })
        .collect()
}

#[test]
fn disk_operations_during_compilations() {
    for name in ["net.4.5.2.x64.etl.zip", "net.4.5.2.x86.etl.zip"] {
        let Some(path) = cases(&format!("etl/{name}")) else { return };
        let bytes = std::fs::read(path).expect("a recording");
        let extracted = Recording::of(name, &bytes).extract();
        let source = Source::archive(extracted.archive.path().to_owned());
        let definitions = Definitions::read("builtin", BUILT_IN.as_bytes()).expect("our own regions");
        let definitions = Arc::new(definitions);
        let spans = spans(&source, &definitions, "JIT/*");
        let is_inside = |time: i64| spans.iter().any(|(start, end)| (*start..*end).contains(&time));

        // Instants at which regions begin or end: between two of them all is the same.
        let mut instants: Vec<i64> = spans.iter().flat_map(|(start, end)| [*start, *end]).collect();
        instants.sort_unstable();
        instants.dedup();
        let overlap = |row: &DiskIoRow| -> i64 {
            let parts = instants.windows(2).filter(|part| is_inside(part[0]));
            parts.map(|part| (row.time.min(part[1]) - row.start.max(part[0])).max(0)).sum()
        };
        let rows: Vec<DiskIoRow> = extracted.archive.rows().expect("operations");
        let ended = |operation: DiskOperation| {
            rows.iter().filter(|row| row.operation == operation && is_inside(row.time)).count() as i64
        };
        let expected = [ended(DiskOperation::Read), ended(DiskOperation::Write), rows.iter().map(overlap).sum()];

        let mut question = disk::Question::default().by(&["disk"]).expect("a dimension");
        question.inside = vec![Inside::Regions(definitions, Patterns::parse("JIT/*"))];
        let found = answer(&source, &question);
        let figures = ["reads", "writes", "under_way_ns"].map(|key| sum(&found, key));
        assert_eq!(figures, expected, "{name}");
        assert!(expected[2] > 0, "{name}: no operation is under way while there are compilations");
    }
}

#[test]
fn a_row_counts_while_its_process_has_the_focus() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = directory.path().join("focus.sift");
    let mut writer = create(&archive);
    writer.write_table(&[process(0, 100, "a.exe"), process(1, 200, "b.exe")]);
    let focus = |id, start, time| FocusRow { time, start, process: Some(ProcessId(id)), ..FocusRow::default() };
    [focus(0, 0, 100), focus(1, 100, 300), focus(0, 300, 1_000)].iter().for_each(|row| writer.focus(row));
    let read =
        |id, start, time| DiskIoRow { time, start, process: Some(ProcessId(id)), size: 1, ..DiskIoRow::default() };
    // An operation counts when it ends. It is under way before that, too.
    let reads = [read(0, 40, 50), read(0, 90, 110), read(1, 90, 120), read(1, 280, 320), read(0, 290, 400)];
    reads.iter().for_each(|row| writer.disk_io(row));
    finish_as(writer, TraceInfo { end_ns: 1_000, ..TraceInfo::default() });
    let source = Source::archive(archive);

    let mut question =
        disk::Question::default().by(&["process"]).expect("a dimension").sorted_by_word("name").expect("a word");
    question.inside = vec![Inside::Focus];
    let found = answer(&source, &question);
    let figures = |key: &str| column(&found, key).cloned().collect::<Vec<Value>>();
    assert_eq!(figures("pid"), [100, 200].map(Value::Int));
    assert_eq!(figures("operations"), [2, 1].map(Value::Int));
    assert_eq!(figures("under_way_ns"), [120, 40].map(Value::Int));
    // Each process has its own time, so that nothing is known per time.
    assert_eq!(figures("queue_depth_avg"), [Value::None, Value::None]);
}

#[test]
fn a_recording_without_the_focus_has_no_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("plain.sift"));
    writer.disk_io(&DiskIoRow { time: 5, start: 1, ..DiskIoRow::default() });
    let source = Source::archive(finish_as(writer, TraceInfo { end_ns: 10, ..TraceInfo::default() }));
    let mut question = disk::Question::default();
    question.inside = vec![Inside::Focus];
    let found = answer(&source, &question);
    assert_eq!(found.rows().count(), 0);
    let fact = found.sections[0].facts.first().expect("a reason");
    assert_eq!(fact.label, "changes of the focus");
}
