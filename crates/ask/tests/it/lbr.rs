//! `dump lbr` over branches that are known.

use tracesift_ask::answer::Value;
use tracesift_ask::question::lbr::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{frame, process};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{BranchRow, EntryFrameRow, SymbolRow, branch_kinds as kinds};
use tracesift_trace::{FrameId, ProcessId, RowSink as _};

fn branch([process, from, to]: [i32; 3], kind: i8, count: i64, told: Option<(i64, i64)>) -> BranchRow {
    BranchRow {
        process: Some(ProcessId(process)),
        from: FrameId(from),
        to: FrameId(to),
        kind,
        count,
        mispredicted: told.map(|(mispredicted, _)| mispredicted),
        cycles: told.map(|(_, cycles)| cycles),
    }
}

/// Frames 0 and 1 are the first and another instruction of `main`, 2 and 3 those of `alloc`, with `inlined` at 3; 4 has no name.
fn source(directory: &std::path::Path) -> Source {
    let mut writer = create(&directory.join("branches.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    (0..5).for_each(|id| writer.frame(&frame(id, 0x1000 + i64::from(id) * 4)));
    let names = [(0, 0, "main"), (1, 0, "main"), (2, 0, "alloc"), (3, 0, "inlined"), (3, 1, "alloc")];
    for (frame, depth, function) in names {
        writer.symbol(&SymbolRow {
            frame: FrameId(frame),
            depth,
            module: Some("m".to_owned()),
            function: function.to_owned(),
            source: "elf".to_owned(),
            ..SymbolRow::default()
        });
    }
    writer.write_table(&[EntryFrameRow { frame: FrameId(0) }, EntryFrameRow { frame: FrameId(2) }]);
    writer.write_table(&[
        // A call by its target, and one by its kind.
        branch([1, 1, 2], kinds::UNKNOWN, 10, Some((2, 50))),
        branch([1, 1, 2], kinds::INDIRECT_CALL, 4, Some((1, 6))),
        // A jump inside of the function that something was inlined into.
        branch([1, 3, 2], kinds::UNKNOWN, 100, None),
        // The return.
        branch([1, 3, 1], kinds::UNKNOWN, 7, None),
        branch([1, 3, 1], kinds::RETURN, 5, Some((0, 5))),
        branch([2, 4, 0], kinds::UNKNOWN, 3, None),
        branch([2, 3, 0], kinds::SYSTEM_CALL, 2, None),
    ]);
    let info = TraceInfo { name: "branches".to_owned(), kind: "perf".to_owned(), ..TraceInfo::default() };
    Source::archive(finish_as(writer, info))
}

fn rows(source: &Source, question: &Question, columns: &[&str]) -> Vec<Vec<Value>> {
    let outcome = ask(std::slice::from_ref(source), question, &When::default());
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    outcome.answer.rows().map(|row| columns.iter().map(|column| row[at(column)].clone()).collect()).collect()
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn calls_go_from_one_function_to_another() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = source(directory.path());
    let calls = || Question::default().matching("--kind", "*call").expect("an option");
    let columns = ["pid", "method", "count", "mispredicted", "mispredict_percent", "cycles_avg", "callers"];
    let int = Value::Int;
    let expected = [
        vec![int(200), text("m!main"), int(5), Value::None, Value::None, Value::None, int(2)],
        vec![int(100), text("m!alloc"), int(14), int(3), Value::Float(3.0 / 14.0 * 100.0), int(4), int(1)],
    ];
    assert_eq!(rows(&source, &calls(), &columns), expected);

    let callers = calls().by(&["process", "method", "caller"]).expect("dimensions");
    let expected = [
        vec![text("m!main"), text("m!alloc"), int(2)],
        vec![text("m!main"), text("[unknown]"), int(3)],
        vec![text("m!alloc"), text("m!main"), int(14)],
    ];
    assert_eq!(rows(&source, &callers, &["method", "caller", "count"]), expected);

    let kinds = Question::default().by(&["kind"]).expect("a dimension");
    let expected = [
        vec![text("system call"), int(2)],
        vec![text("indirect call"), int(4)],
        vec![text("return"), int(5)],
        vec![text("unknown"), int(7)],
        vec![text("call"), int(13)],
    ];
    assert_eq!(rows(&source, &kinds, &["kind", "count"]), expected);
}

#[test]
fn a_part_of_the_recording_has_no_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = source(directory.path());
    let mut question = Question::default();
    question.time = TimeRange { start: Some(0), end: Some(1_000) };
    let outcome = ask(&[source], &question, &When::default());
    let [section] = &outcome.answer.sections[..] else { panic!("one file") };
    assert!(section.is_absent && section.rows.is_empty());
    assert_eq!(section.facts[0].value, text("the archive has their sums over the whole recording"));
}
