//! `dump objectref` and `dump handles` over events that are known: what happened to an object in order, its mapped views, and handles that
//! the end of a process closed.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::ask;
use tracesift_ask::options::{Plan, QuestionOptions};
use tracesift_ask::question::{handles, objectref};
use tracesift_ask::recording::Source;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{frame, process, stack, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, SymbolRow, handle_origins};
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

const END: i64 = 100;
/// Address of two sections, one after the other.
const SECTION: i64 = 0x1000;
/// Functions, each the leaf of the stack with its number.
const FUNCTIONS: [&str; 6] =
    ["Create", "NtMapViewOfSection", "NtClose", "NtTerminateProcess", "ExSweepHandleTable", "Exit"];

fn write(rows: impl FnOnce(&mut tracesift_archive::ArchiveWriter)) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("objects.sift"));
    writer.write_table(&[process(0, 100, "server"), process(1, 101, "client")]);
    writer.write_table(&[thread(0, 0, 200), thread(1, 1, 201)]);
    writer.write_table(&(0..6).map(|id| frame(id, 0x5000 + i64::from(id))).collect::<Vec<_>>());
    let symbol = |(id, name): (i32, &&str)| SymbolRow {
        frame: FrameId(id),
        module: Some("nt".to_owned()),
        function: (*name).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    // A function that is called by another one.
    let stacks = [0, 1, 2, 3, 4].map(|id| stack(id, &[id])).into_iter().chain([stack(5, &[2, 4, 5])]);
    writer.write_table(&stacks.collect::<Vec<_>>());
    rows(&mut writer);
    let info = TraceInfo { name: "objects".to_owned(), kind: "etl".to_owned(), end_ns: END, ..TraceInfo::default() };
    (directory, finish_as(writer, info))
}

fn handle(object: i64, owner: i32, value: i64, (start, end): (i64, i64)) -> HandleRow {
    HandleRow {
        time: end,
        start,
        process: Some(ProcessId(owner)),
        thread: Some(ThreadId(owner)),
        owner: ProcessId(owner),
        handle: value,
        object: Some(object),
        object_type: Some("Section".to_owned()),
        made_by: handle_origins::CREATED,
        by_exit: Some(false),
        open: Some(end == END),
        ..HandleRow::default()
    }
}

fn view(process: i32, base: i64, (start, end): (i64, i64)) -> MappedViewRow {
    MappedViewRow {
        time: end,
        start,
        process: ProcessId(process),
        base,
        size: 0x2000,
        object: SECTION,
        open: Some(end == END),
        ..MappedViewRow::default()
    }
}

/// Two sections without a file, of which the first one has views in two processes, and an event at another address.
fn sections() -> (tempfile::TempDir, PathBuf) {
    write(|writer| {
        let mut handles = vec![
            HandleRow { stack: Some(StackId(0)), ..handle(SECTION, 0, 0x4, (10, 30)) },
            HandleRow { made_by: handle_origins::DUPLICATED, ..handle(SECTION, 1, 0x8, (15, 40)) },
            handle(SECTION, 0, 0x4, (60, END)),
            HandleRow { object_type: Some("Event".to_owned()), ..handle(0x2000, 0, 0xc, (5, END)) },
        ];
        handles.sort_by_key(|row| row.time);
        writer.write_table(&handles);
        let object = |number: i32, start: i64, end: i64| ObjectRow {
            time: end,
            start,
            object: number,
            address: SECTION,
            object_type: Some("Section".to_owned()),
            process: Some(ProcessId(0)),
            open: Some(end == END),
            ..ObjectRow::default()
        };
        writer.write_table(&[object(0, 10, 50), object(1, 60, END)]);
        let first =
            MappedViewRow { thread: Some(ThreadId(0)), stack: Some(StackId(1)), ..view(0, 0x10_0000, (12, 35)) };
        let second = MappedViewRow { by_exit: Some(true), ..view(1, 0x20_0000, (20, 45)) };
        let of_event = MappedViewRow { object: 0x2000, ..view(0, 0x30_0000, (70, 80)) };
        let later = MappedViewRow { size: 0x9000, ..view(1, 0x40_0000, (61, END)) };
        writer.write_table(&[first, second, of_event, later]);
        let reference = |time: i64, change: i64| ObjectReferenceRow {
            time,
            object: Some(0),
            address: SECTION,
            change,
            tag: "Dflt".to_owned(),
            process: Some(ProcessId(0)),
            ..ObjectReferenceRow::default()
        };
        writer.write_table(&[reference(10, 3), reference(44, -3)]);
    })
}

fn answer<O: QuestionOptions>(archive: &Path, words: &[&str]) -> Answer {
    let command = O::augment_args(clap::Command::new("question").no_binary_name(true));
    let matches = command.try_get_matches_from(words).expect("options");
    let options = O::from_arg_matches(&matches).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    ask(&[Source::archive(archive.to_owned())], asking.question.as_ref(), &options.when()).answer
}

fn objects(archive: &Path, words: &[&str]) -> Answer {
    answer::<objectref::Options>(archive, words)
}

fn value<'a>(answer: &Answer, row: &'a [Value], key: &str) -> &'a Value {
    let place = answer.columns.iter().position(|column| column.key == key);
    &row[place.unwrap_or_else(|| panic!("a column {key}"))]
}

/// Begins of the objects, ascending.
fn begins(archive: &Path, words: &[&str]) -> Vec<i64> {
    let answer = objects(archive, words);
    let begin = |row: &Vec<Value>| match value(&answer, row, "created_ns") {
        Value::Int(begin) => *begin,
        other => panic!("{other:?}"),
    };
    let mut begins: Vec<i64> = answer.rows().map(begin).collect();
    begins.sort_unstable();
    begins
}

/// Time, what, and handle or address of the events of the first object.
fn history(archive: &Path, words: &[&str]) -> Vec<(i64, String, String)> {
    let words = [&["--history", "--object=0x1000", "--max-id=0"], words].concat();
    let answer = objects(archive, &words);
    let Some(Value::Table(table)) = answer.rows().next().map(|row| value(&answer, row, "history").clone()) else {
        panic!("no history");
    };
    let at = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { String::new() };
    let event = |row: &Vec<Value>| match &row[at("time")] {
        Value::Int(time) => (*time, text(&row[at("event")]), text(&row[at("handle")])),
        other => panic!("{other:?}"),
    };
    table.rows.iter().map(event).collect()
}

#[test]
fn the_events_of_an_object_stand_in_their_order() {
    let (_directory, archive) = sections();
    let event = |time: i64, what: &str, handle: &str| (time, what.to_owned(), handle.to_owned());
    let mut expected = vec![
        event(10, "created", ""),
        event(10, "handle created", "0x4"),
        event(12, "mapped", "0x100000"),
        event(15, "handle duplicated", "0x8"),
        event(20, "mapped", "0x200000"),
        event(30, "handle closed", "0x4"),
        event(35, "unmapped", "0x100000"),
        event(40, "handle closed", "0x8"),
        event(45, "unmapped by exit", "0x200000"),
        event(50, "deleted", ""),
    ];
    assert_eq!(history(&archive, &[]), expected);
    let of_range: Vec<_> = expected.iter().filter(|event| event.0 >= 13 && event.0 < 40).cloned().collect();
    assert_eq!(history(&archive, &["--time=13ns..40ns"]), of_range);
    expected.insert(2, event(10, "referenced Dflt", ""));
    expected.insert(9, event(44, "released Dflt", ""));
    assert_eq!(history(&archive, &["--references"]), expected);
}

#[test]
fn filters_of_views_keep_objects() {
    let (_directory, archive) = sections();
    assert_eq!(begins(&archive, &["--map=no"]), [5, 10, 60]);
    // A view is one of the section at its address that lives when it begins; an event has none.
    assert_eq!(begins(&archive, &["--map=objects"]), [10, 60]);
    assert_eq!(begins(&archive, &["--map=objects", "--min-map-size=12288"]), [60]);
    assert_eq!(begins(&archive, &["--map=no", "--max-map-size=12288"]), [10]);
    assert_eq!(begins(&archive, &["--map=no", "--address-in-map=0x201fff"]), [10]);
    assert_eq!(begins(&archive, &["--map=no", "--address-in-map=0x202000"]), Vec::<i64>::new());
    assert_eq!(begins(&archive, &["--map=objects", "--view-base=0x400000"]), [60]);
    // One view has to pass all of them.
    assert_eq!(
        begins(&archive, &["--map=objects", "--address-in-map=0x400000", "--max-map-size=12288"]),
        Vec::<i64>::new()
    );
    // Only views that touch the time range.
    assert_eq!(begins(&archive, &["--map=objects", "--time=46ns..60ns"]), Vec::<i64>::new());
    // Alone the filters show views, as before.
    let views = objects(&archive, &["--address-in-map=0x400000"]);
    assert_eq!(views.rows().count(), 1);
    assert!(views.columns.iter().any(|column| column.key == "base"));
    let counts = objects(&archive, &["--map=no", "--sort=created"]);
    let counts: Vec<&Value> = counts.rows().map(|row| value(&counts, row, "view_count")).collect();
    assert_eq!(counts, [&Value::Int(0), &Value::Int(2), &Value::Int(1)]);
}

/// Closes on the stacks of the functions that end a process are by its end, whatever the row says.
#[test]
fn a_close_on_the_stack_of_the_end_of_a_process_is_by_exit() {
    let (_directory, archive) = write(|writer| {
        // Closed with stack 2: by somebody; 3, 4, 5: by the end of the process; without one: not known.
        let closes = [Some(2), Some(3), Some(4), Some(5), None];
        let rows = closes.iter().enumerate().map(|(place, stack)| HandleRow {
            close_stack: stack.map(StackId),
            object_type: Some("Event".to_owned()),
            ..handle(0x7000 + place as i64, 0, 4 * place as i64, (20, 50 + place as i64))
        });
        writer.write_table(&rows.collect::<Vec<_>>());
    });
    let figures = |words: &[&str]| {
        let answer = answer::<handles::Options>(&archive, words);
        let row = answer.rows().next().cloned().expect("a row");
        ["made", "closed", "by_exit", "open_last", "leaked"].map(|key| match value(&answer, &row, key) {
            Value::Int(number) => *number,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(figures(&[]), [5, 5, 3, 0, 0]);
    assert_eq!(figures(&["--include-exited"]), [5, 2, 3, 3, 3]);
    assert_eq!(figures(&["--leak", "--include-exited"]), [3, 0, 3, 3, 3]);
    assert_eq!(begins(&archive, &["--leak"]), Vec::<i64>::new());
    assert_eq!(begins(&archive, &["--leak", "--include-exited"]), [20, 20, 20]);
}
