//! Answers over an archive that was made by hand, and over a recording in which all handles are known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tracesift_archive::ArchiveWriter;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_scenario::PointerSize;
use tracesift_scenario::handles::{CHILD, CHILD_SPAN, Ends, KernelHandle, LEAKER, Made, SECONDS, TYPES, story};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::Recording;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    FileRow, FrameRow, HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, ProcessRow, StackRow, SymbolRow,
    ThreadRow, handle_kinds, handle_origins,
};
use tracesift_trace::{FileId, FrameId, ProcessId, StackId, ThreadId};

use super::{Options, Question, Sort};
use crate::answer::Value;
use crate::ask::Ask as _;
use crate::method_patterns::MethodPatterns;
use crate::options::Registered;
use crate::order::{Between, Top};
use crate::recording::{OpenRecording, Source};

const END: i64 = 100;

fn made(object: i64, owner: i32, value: i64, (start, end): (i64, i64)) -> HandleRow {
    HandleRow {
        time: end,
        start,
        process: Some(ProcessId(owner)),
        thread: Some(ThreadId(owner)),
        owner: ProcessId(owner),
        kind: handle_kinds::KERNEL,
        handle: value,
        object: Some(object),
        object_type: Some("Event".to_owned()),
        made_by: handle_origins::CREATED,
        open: Some(end == END),
        ..HandleRow::default()
    }
}

/// Two processes, of which the second one is a child that ends at 80.
///
/// At 0x1000 there are two objects, one after the other. Two handles of the first one overlap. The second one has a handle that nobody
/// closes, and one that the end of the child closes. Of the objects at 0x2000, 0x3000 only handles are known.
fn handles() -> Vec<HandleRow> {
    let by_exit = |row: HandleRow| HandleRow { by_exit: Some(true), ..row };
    let unseen = |made_by, row: HandleRow| HandleRow { process: None, thread: None, made_by, ..row };
    vec![
        made(0x1000, 0, 0x4, (12, 20)),
        made(0x1000, 0, 0x8, (15, 50)),
        HandleRow { stack: Some(TAKE), ..made(0x1000, 0, 0x4, (65, END)) },
        by_exit(unseen(handle_origins::INHERITED, made(0x1000, 1, 0x4, (70, 80)))),
        // In two processes, one after the other, with a handle open all the time.
        unseen(handle_origins::THERE, made(0x2000, 0, 0xc, (0, 30))),
        HandleRow { made_by: handle_origins::DUPLICATED, ..made(0x2000, 1, 0x10, (20, 40)) },
        // Nobody has one at 40: another object.
        HandleRow {
            object_type: Some("File".to_owned()),
            name: Some(r"\a".to_owned()),
            stack: Some(CREATE),
            close_stack: Some(CLOSE),
            ..made(0x2000, 0, 0xc, (40, 45))
        },
        // There all the time is no leak.
        unseen(handle_origins::THERE, made(0x3000, 0, 0x14, (0, END))),
        // A handle without an object.
        HandleRow { kind: handle_kinds::GDI, object: None, ..made(0, 0, 0x50001, (5, END)) },
    ]
}

const CREATE: StackId = StackId(0);
const CLOSE: StackId = StackId(1);
const TAKE: StackId = StackId(2);

/// Three stacks of a leaf and `Main`.
fn write_stacks(writer: &mut ArchiveWriter) {
    let functions = ["Main", "Create", "Close", "Take"];
    let id = |place: usize| FrameId(i32::try_from(place).unwrap());
    let frames: Vec<FrameRow> = (0..functions.len())
        .map(|place| FrameRow { frame: id(place), address: Some(4096 + place as i64), ..FrameRow::default() })
        .collect();
    let symbol = |(place, function): (usize, &&str)| SymbolRow {
        frame: id(place),
        module: Some("app.exe".to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    let symbols: Vec<SymbolRow> = functions.iter().enumerate().map(symbol).collect();
    let stack = |stack: StackId| StackRow { stack, frames: vec![FrameId(stack.0 + 1), FrameId(0)] };
    writer.write_table(&frames);
    writer.write_table(&symbols);
    writer.write_table(&[CREATE, CLOSE, TAKE].map(stack));
}

fn archive() -> (tempfile::TempDir, PathBuf) {
    archive_with(false)
}

fn archive_with(with_references: bool) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("objects.sift"));
    let process = |id: i32, name: &str| ProcessRow {
        process: ProcessId(id),
        pid: 100 + i64::from(id),
        name: name.to_owned(),
        ..ProcessRow::default()
    };
    let child = ProcessRow { start: Some(70), end: Some(80), ..process(1, "child.exe") };
    writer.write_table(&[process(0, "parent.exe"), child]);
    let thread = |id: i32| ThreadRow {
        thread: ThreadId(id),
        process: ProcessId(id),
        tid: 200 + i64::from(id),
        ..ThreadRow::default()
    };
    writer.write_table(&[thread(0), thread(1)]);
    let mut rows = handles();
    rows.sort_by_key(|row| row.time);
    writer.write_table(&rows);
    let object = |number: i32, start: i64, end: i64, references| ObjectRow {
        time: end,
        start,
        object: number,
        address: 0x1000,
        object_type: Some("Event".to_owned()),
        name: (number == 0).then(|| r"\first".to_owned()),
        process: Some(ProcessId(0)),
        stack: (number == 0).then_some(CREATE),
        end_stack: (number == 0).then_some(CLOSE),
        references,
        dereferences: references - 1,
        open: Some(end == END),
        ..ObjectRow::default()
    };
    writer.write_table(&[object(0, 10, 50, 7), object(1, 60, END, 3)]);
    write_stacks(&mut writer);
    let reference = |time: i64, object: i32, change: i64| ObjectReferenceRow {
        time,
        object: Some(object),
        address: 0x1000,
        change,
        tag: "Dflt".to_owned(),
        process: Some(ProcessId(0)),
        thread: Some(ThreadId(0)),
        stack: Some(TAKE).filter(|_| change > 0),
        ..ObjectReferenceRow::default()
    };
    if with_references {
        writer.write_table(&[reference(12, 0, 7), reference(48, 0, -6), reference(61, 1, 3), reference(62, 1, -2)]);
    }
    writer.write_table(&[FileRow { file: FileId(0), path: r"C:\a.dll".to_owned() }]);
    let view = |process: i32, base: i64, size: i64, (start, end): (i64, i64)| MappedViewRow {
        time: end,
        start,
        process: ProcessId(process),
        base,
        size,
        file: Some(FileId(0)),
        object: 0x77,
        open: Some(end == END),
        ..MappedViewRow::default()
    };
    writer.write_table(&[
        MappedViewRow { by_exit: Some(true), thread: Some(ThreadId(1)), ..view(1, 0x10000, 0x3000, (71, 80)) },
        MappedViewRow { there: Some(true), ..view(0, 0x10000, 0x1000, (0, END)) },
        MappedViewRow { file: None, object: -0x1000, stack: Some(CREATE), ..view(0, -0x2000, 0x2000, (30, END)) },
    ]);
    let info = TraceInfo { name: "objects".to_owned(), kind: "etl".to_owned(), end_ns: END, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    (directory, archive)
}

/// The values of these keys, row by row.
fn values(archive: &Path, question: &Question, keys: &[&str]) -> Vec<Vec<Value>> {
    let recording = OpenRecording::open(&Source::archive(archive.to_owned())).unwrap();
    let columns = question.columns();
    let place = |key: &&str| columns.iter().position(|column| column.key == *key).unwrap();
    let section = question.section(&recording).unwrap();
    section.rows.iter().map(|row| keys.iter().map(|key| row[place(key)].clone()).collect()).collect()
}

/// Address and begin of the objects, or of the views.
fn found(archive: &Path, question: &Question) -> Vec<(String, Option<i64>)> {
    let keys = if question.map { ["base", "mapped_ns"] } else { ["object", "created_ns"] };
    let text = |row: Vec<Value>| match &row[..] {
        [Value::Text(address), Value::Int(start)] => (address.clone(), Some(*start)),
        [Value::Text(address), Value::None] => (address.clone(), None),
        other => panic!("{other:?}"),
    };
    let mut rows: Vec<_> = values(archive, question, &keys).into_iter().map(text).collect();
    rows.sort();
    rows
}

fn is(archive: &Path, question: &Question, expected: &[(&str, Option<i64>)]) {
    let expected: Vec<_> = expected.iter().map(|(address, start)| ((*address).to_owned(), *start)).collect();
    assert_eq!(found(archive, question), expected, "{question:?}");
}

const FIRST: (&str, Option<i64>) = ("0x1000", Some(10));
const SECOND: (&str, Option<i64>) = ("0x1000", Some(60));
const SHARED: (&str, Option<i64>) = ("0x2000", None);
const ALONE: (&str, Option<i64>) = ("0x2000", Some(40));
const OLD: (&str, Option<i64>) = ("0x3000", None);

#[test]
fn objects_have_the_handles_that_begin_in_their_lives() {
    let (_directory, archive) = archive();
    is(&archive, &Question::default(), &[FIRST, SECOND, SHARED, ALONE, OLD]);
    let keys = ["created_ns", "destroyed_ns", "duration_ns", "handle_count", "open", "processes", "references", "name"];
    let sort = Some(Sort::Created);
    let rows = values(&archive, &Question { sort, ..Question::default() }, &keys);
    let none = || Value::None;
    let int = |number: i64| Value::Int(number);
    let expected = [
        vec![none(), int(40), int(40), int(2), int(0), int(2), none(), none()],
        vec![none(), none(), int(END), int(1), int(1), int(1), none(), none()],
        vec![int(10), int(50), int(40), int(2), int(0), int(1), int(7), r"\first".into()],
        vec![int(40), int(45), int(5), int(1), int(0), int(1), none(), r"\a".into()],
        vec![int(60), none(), int(40), int(2), int(1), int(2), int(3), none()],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn handles_stand_below_their_object() {
    let (_directory, archive) = archive();
    let sort = Some(Sort::Created);
    let question = Question { sort, top: Top { take: Some(1), skip: 0 }, ..Question::default() };
    let rows = values(&archive, &question, &["handles", "process", "lines"]);
    let [row] = &rows[..] else { panic!("{rows:?}") };
    let Value::Table(table) = &row[0] else { panic!("{row:?}") };
    let none = || Value::None;
    let parent: Vec<Value> = vec![
        "0x4".into(),
        "parent.exe".into(),
        Value::Int(100),
        Value::Int(65),
        none(),
        Value::Int(35),
        "created".into(),
        "parent.exe".into(),
        Value::Int(100),
        Value::Int(200),
        false.into(),
        Value::List(vec!["app.exe!Take".to_owned(), "app.exe!Main".to_owned()]),
        none(),
    ];
    let child: Vec<Value> = vec![
        "0x4".into(),
        "child.exe".into(),
        Value::Int(101),
        Value::Int(70),
        Value::Int(80),
        Value::Int(10),
        "inherited".into(),
        none(),
        none(),
        none(),
        true.into(),
        none(),
        none(),
    ];
    assert_eq!(table.rows, [parent, child]);
    assert_eq!(row[1], "parent.exe".into());
    let lines =
        ["0x4 parent.exe(100): created by 200, 0.0 ms, open", "0x4 child.exe(101): inherited, 0.0 ms, closed by exit"];
    assert_eq!(row[2], Value::List(lines.map(str::to_owned).to_vec()));
}

#[test]
fn a_leak_was_made_in_the_recording_and_nobody_closed_it() {
    let (_directory, archive) = archive();
    let leak = Question { leak: true, ..Question::default() };
    is(&archive, &leak, &[SECOND]);
    // The process that leaks is that which has the handle.
    let of = |process: &str| crate::filter::ProcessFilter { process: process.into(), ..Default::default() };
    is(&archive, &Question { filter: of("parent.exe"), ..leak.clone() }, &[SECOND]);
    is(&archive, &Question { filter: of("child.exe"), ..leak.clone() }, &[]);
    is(&archive, &Question { filter: of("child.exe"), with_exited: true, ..leak.clone() }, &[SECOND]);
    // Made in the time range.
    let time = |start, end| TimeRange { start: Some(start), end: Some(end) };
    is(&archive, &Question { time: time(60, 66), ..leak.clone() }, &[SECOND]);
    is(&archive, &Question { time: time(66, END), ..leak.clone() }, &[]);
    let exited = Question { time: time(66, END), with_exited: true, ..leak };
    is(&archive, &exited, &[SECOND]);
}

#[test]
fn the_creator_is_one_process_and_any_related_process_another() {
    let (_directory, archive) = archive();
    let of = |process: &str| crate::filter::ProcessFilter { process: process.into(), ..Default::default() };
    let by = |creator: &str| Question { creator: creator.into(), ..Question::default() };
    // The child made a handle of the shared object, but not the object.
    is(&archive, &by("parent.exe"), &[FIRST, SECOND, ALONE]);
    is(&archive, &by("child.exe"), &[]);
    is(&archive, &Question { filter: of("child.exe"), ..by("parent.exe") }, &[SECOND]);
    is(&archive, &Question { filter: of("child.exe"), ..Question::default() }, &[SECOND, SHARED]);
    is(&archive, &Question { filter: of("parent.exe"), ..by("!parent.exe") }, &[]);
}

#[test]
fn stacks_of_objects_and_handles_have_their_functions() {
    let (_directory, archive) = archive();
    let question = Question { sort: Some(Sort::Created), names: Patterns::parse(r"\f*"), ..Question::default() };
    let stack = |first: &str, leaf: &str| {
        let indent = " ".repeat(first.len());
        Value::List(vec![format!("{first} app.exe!{leaf}"), format!("{indent} app.exe!Main")])
    };
    let rows = values(&archive, &question, &["create_stack", "destroy_stack"]);
    assert_eq!(rows, [vec![stack("created by", "Create"), stack("deleted by", "Close")]]);
    let question = Question { types: Patterns::parse("File"), ..Question::default() };
    let rows = values(&archive, &question, &["handles"]);
    let Value::Table(table) = &rows[0][0] else { panic!("{rows:?}") };
    let at = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column");
    let functions = |leaf: &str| Value::List(vec![format!("app.exe!{leaf}"), "app.exe!Main".to_owned()]);
    assert_eq!(table.rows[0][at("stack")], functions("Create"));
    assert_eq!(table.rows[0][at("close_stack")], functions("Close"));
}

#[test]
fn an_inherited_handle_comes_from_the_creator_of_the_process() {
    let (_directory, archive) = archive();
    let inherited = Question { inherited: true, ..Question::default() };
    is(&archive, &inherited, &[SECOND]);
    // One handle has to be inherited and to have the value.
    let with = |value: &str| Question { handles: Patterns::parse(value), ..inherited.clone() };
    is(&archive, &with("0x4"), &[SECOND]);
    is(&archive, &with("0x8"), &[]);
}

#[test]
fn an_object_of_several_processes() {
    let (_directory, archive) = archive();
    let multi_process = Question { multi_process: true, ..Question::default() };
    is(&archive, &multi_process, &[SECOND, SHARED]);
    // From 30 on only the child has a handle.
    let time = TimeRange { start: Some(30), end: Some(60) };
    is(&archive, &Question { time, ..multi_process }, &[]);
}

#[test]
fn overlapped_handles_are_open_at_once_in_one_process() {
    let (_directory, archive) = archive();
    let overlapped = Question { overlapped: true, ..Question::default() };
    is(&archive, &overlapped, &[FIRST]);
    let time = TimeRange { start: Some(20), end: Some(60) };
    is(&archive, &Question { time, ..overlapped }, &[]);
}

#[test]
fn filters_of_objects() {
    let (_directory, archive) = archive();
    let all = Question::default;
    is(&archive, &Question { types: Patterns::parse("file"), ..all() }, &[ALONE]);
    is(&archive, &Question { types: Patterns::parse("!file"), ..all() }, &[FIRST, SECOND, SHARED, OLD]);
    is(&archive, &Question { names: Patterns::parse(r"\f*"), ..all() }, &[FIRST]);
    is(&archive, &Question { objects: Patterns::parse("0x2000;0x3000"), ..all() }, &[SHARED, ALONE, OLD]);
    is(&archive, &Question { handles: Patterns::parse("0xc"), ..all() }, &[SHARED, ALONE]);
    is(&archive, &Question { duration: Between { min: Some(6), max: Some(40) }, ..all() }, &[FIRST, SECOND, SHARED]);
    let filter = crate::filter::ProcessFilter { process: "101".into(), ..Default::default() };
    is(&archive, &Question { filter, ..all() }, &[SECOND, SHARED]);
    // An object belongs to a range that it touches; its end is not in it.
    let time = TimeRange { start: Some(45), end: Some(60) };
    is(&archive, &Question { time, ..all() }, &[FIRST, OLD]);
}

#[test]
fn objects_have_times_numbers_and_stacks() {
    let (_directory, archive) = archive();
    let all = Question::default;
    is(&archive, &Question { begin: Between { min: Some(40), max: Some(60) }, ..all() }, &[SECOND, ALONE]);
    is(&archive, &Question { begin: Between { min: None, max: Some(10) }, ..all() }, &[FIRST]);
    is(&archive, &Question { number: Between { min: Some(1), max: None }, ..all() }, &[SECOND]);
    is(&archive, &Question { number: Between { min: None, max: Some(0) }, ..all() }, &[FIRST]);
    let patterns = |text: &str| MethodPatterns::parse(text, false);
    is(&archive, &Question { create_stack: patterns("Create"), ..all() }, &[FIRST, ALONE]);
    is(&archive, &Question { create_stack: patterns("Main;!Create"), ..all() }, &[]);
    is(&archive, &Question { destroy_stack: patterns("app.exe!Cl*"), ..all() }, &[FIRST, ALONE]);
    is(&archive, &Question { destroy_stack: patterns("Create"), ..all() }, &[]);
    is(&archive, &Question { stack: patterns("Take"), ..all() }, &[SECOND]);
    is(&archive, &Question { stack: patterns("Main"), ..all() }, &[FIRST, SECOND, ALONE]);
    is(&archive, &Question { stack: patterns("!Create;!Close"), ..all() }, &[SECOND]);
    // The handle with this stack does not touch the range.
    let time = TimeRange { start: Some(60), end: Some(65) };
    is(&archive, &Question { stack: patterns("Take"), time, ..all() }, &[]);
    let map = || Question { map: true, ..all() };
    let high = ("0xffffffffffffe000", Some(30));
    is(&archive, &Question { create_stack: patterns("Create"), ..map() }, &[high]);
    is(&archive, &Question { stack: patterns("Main"), ..map() }, &[high]);
    is(&archive, &Question { destroy_stack: patterns("Main"), ..map() }, &[]);
    is(&archive, &Question { begin: Between { min: Some(30), max: Some(70) }, ..map() }, &[high]);
    // Times of filters are counted from the instant that is asked for.
    let question = Question { begin: Between { min: Some(0), max: Some(20) }, ..all() };
    let recording = OpenRecording::open(&Source::archive(archive.clone())).unwrap();
    let shifted = question.within(TimeRange::default(), 40).section(&recording).unwrap();
    assert_eq!(shifted.rows.len(), 2);
}

#[test]
fn references_stand_below_their_object() {
    let (_directory, archive) = archive_with(true);
    let question = Question { references: true, sort: Some(Sort::Created), ..Question::default() };
    let events = |question: &Question| -> Vec<Vec<Vec<Value>>> {
        let rows = values(&archive, question, &["reference_events"]);
        rows.into_iter()
            .map(|mut row| if let Some(Value::Table(table)) = row.pop() { table.rows } else { panic!("no table") })
            .collect()
    };
    let event = |time: i64, change: i64, method: Option<&str>| -> Vec<Value> {
        let who = ["Dflt".into(), "parent.exe".into(), Value::Int(100), Value::Int(200)];
        [&[Value::Int(time), Value::Int(change)], &who[..], &[method.map(str::to_owned).into()]].concat()
    };
    let taken = Some("app.exe!Take");
    let first = vec![event(12, 7, taken), event(48, -6, None)];
    let second = vec![event(61, 3, taken), event(62, -2, None)];
    assert_eq!(events(&question), [vec![], vec![], first, vec![], second.clone()]);
    let time = TimeRange { start: Some(48), end: Some(62) };
    assert_eq!(
        events(&Question { time, ..question.clone() })[1..3],
        [vec![event(48, -6, None)], vec![event(61, 3, taken)]]
    );
    let lines = values(&archive, &question, &["reference_lines"]);
    assert_eq!(lines[0], [Value::None]);
    let Value::List(last) = &lines[4][0] else { panic!("{lines:?}") };
    assert_eq!(last[0], "+3 Dflt parent.exe(100) 200, app.exe!Take");
    assert_eq!(last.len(), 2);
    let without = events(&Question { references: false, ..question.clone() });
    assert!(without.iter().all(Vec::is_empty));

    let (_directory, archive) = archive_with(false);
    let recording = OpenRecording::open(&Source::archive(archive)).unwrap();
    let notes = question.section(&recording).unwrap().notes;
    assert_eq!(notes, ["single references: not extracted; `tracesift extract --events all` keeps them"]);
}

#[test]
fn mapped_views() {
    let (_directory, archive) = archive();
    let map = Question { map: true, ..Question::default() };
    let (high, old, child) = (("0xffffffffffffe000", Some(30)), ("0x10000", None), ("0x10000", Some(71)));
    is(&archive, &map, &[old, child, high]);
    is(&archive, &Question { leak: true, ..map.clone() }, &[high]);
    is(&archive, &Question { leak: true, with_exited: true, ..map.clone() }, &[child, high]);
    is(&archive, &Question { names: Patterns::parse("*.dll"), ..map.clone() }, &[old, child]);
    is(&archive, &Question { objects: Patterns::parse("0xfffffffffffff000"), ..map.clone() }, &[high]);
    is(&archive, &Question { bases: Patterns::parse("0x10000"), ..map.clone() }, &[old, child]);
    let of_size = |min, max| Question { map_size: Between { min, max }, ..map.clone() };
    is(&archive, &of_size(Some(0x1001), Some(0x2000)), &[high]);
    let with = |address| Question { address: Some(address), ..map.clone() };
    is(&archive, &with(0x10fff), &[old, child]);
    is(&archive, &with(0x11000), &[child]);
    is(&archive, &with(0x13000), &[]);
    is(&archive, &with(-1), &[high]);
    is(&archive, &with(-0x2001), &[]);
    is(&archive, &Question { duration: Between { min: Some(70), max: None }, ..map.clone() }, &[old, high]);
    let filter = crate::filter::ProcessFilter { process: "child".into(), ..Default::default() };
    let of_child = Question { filter, ..map.clone() };
    let keys = ["size", "unmapped_ns", "unmapped_by_exit", "tid", "name", "duration_ns"];
    let expected =
        vec![Value::Int(0x3000), Value::Int(80), true.into(), Value::Int(201), r"C:\a.dll".into(), Value::Int(9)];
    assert_eq!(values(&archive, &of_child, &keys), [expected]);
    let sizes: Vec<Value> = values(&archive, &map, &["size"]).into_iter().flatten().collect();
    assert_eq!(sizes, [0x1000, 0x2000, 0x3000].map(Value::Int), "the largest stands last");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let question = Registered::of::<Options>("dump objectref");
    let is_asked = |arguments: &[&str]| question.plan(arguments).is_ok();
    assert!(is_asked(&["--map=no", "--type=File"]) && is_asked(&["--map=only"]) && is_asked(&["--map"]));
    assert!(is_asked(&["--map=no", "--view-base=0x10", "--history"]) && is_asked(&["--map=objects"]));
    for wrong in [
        &["--map", "--type=File"][..],
        &["--map", "--max-id=3"],
        &["--map", "--references"],
        &["--address-in-map=0x10", "--overlapped"],
        &["--map", "--history"],
        &["--map", "--sort=handles"],
        &["--sort=size"],
        &["--include-exited"],
        &["--address-in-map=ten"],
    ] {
        assert!(!is_asked(wrong), "{wrong:?}");
    }
}

/// Object and type of the handles of the story that are so, from their lives alone.
fn of_story(is_so: impl Fn(&[KernelHandle]) -> bool) -> BTreeSet<(String, String)> {
    let handles = story().kernel;
    let key = |handle: &KernelHandle| {
        let name = TYPES.iter().find(|(number, _)| *number == handle.object_type).expect("a known type").1;
        (format!("{:#x}", handle.object), name.to_owned())
    };
    let keys: BTreeSet<(String, String)> = handles.iter().map(key).collect();
    let of = |wanted: &(String, String)| -> Vec<KernelHandle> {
        handles.iter().filter(|handle| key(handle) == *wanted).copied().collect()
    };
    keys.into_iter().filter(|wanted| is_so(&of(wanted))).collect()
}

/// What the answers of a recording say is what the lives of its handles say, one by one.
#[test]
fn a_recording_has_the_objects_of_its_story() {
    let until = |handle: &KernelHandle| match handle.ends {
        Ends::Closed(time, _) | Ends::Exit(time) => time,
        Ends::Open => SECONDS * 1_000_000_000,
    };
    let is_leaked = |handle: &KernelHandle| handle.made != Made::There && handle.ends == Ends::Open;
    let is_alive = |handle: &KernelHandle, time: i64| handle.start <= time && time < until(handle);
    let leaked = of_story(|handles| handles.iter().any(is_leaked));
    let inherited = of_story(|handles| handles.iter().any(|handle| handle.made == Made::Inherited));
    let shared = of_story(|handles| handles.iter().any(|handle| handle.owner != handles[0].owner));
    let overlapped = of_story(|handles| {
        let at_once = |time: i64, owner: u32| {
            handles.iter().filter(|handle| handle.owner == owner && is_alive(handle, time)).count()
        };
        handles.iter().any(|handle| at_once(handle.start, handle.owner) > 1)
    });
    assert!(leaked.len() > 40 && inherited.len() == 2 && shared.len() == 2 && overlapped.len() == 1);
    for size in [PointerSize::Four, PointerSize::Eight] {
        let extracted = Recording::of("handles.etl", &story().write(size).expect("a recording")).extract();
        let archive = &extracted.report.archive;
        let rows = |question: &Question| -> BTreeSet<(String, String)> {
            let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { String::new() };
            let rows = values(archive, question, &["object", "type"]);
            rows.iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
        };
        assert_eq!(rows(&Question { leak: true, ..Question::default() }), leaked);
        assert_eq!(rows(&Question { inherited: true, ..Question::default() }), inherited);
        assert_eq!(rows(&Question { multi_process: true, ..Question::default() }), shared);
        assert_eq!(rows(&Question { overlapped: true, ..Question::default() }), overlapped);
        // A value of a handle and an address that are free again are another object.
        let events = Question { types: Patterns::parse("Event"), ..Question::default() };
        assert_eq!(values(archive, &events, &["object"]).len(), 100);
        let pipe = Question { names: Patterns::parse(r"\Device\Pipe"), ..Question::default() };
        let keys = ["process", "pid", "created_ns", "destroyed_ns", "handle_count", "open", "leaked", "processes"];
        let figures = [2, 1, 1, 2].map(Value::Int);
        let start = [Value::from("leaker.exe"), i64::from(LEAKER).into(), 4_033_000_000_i64.into(), Value::None];
        assert_eq!(values(archive, &pipe, &keys), [[&start[..], &figures].concat()]);
        let section = Question { objects: Patterns::parse("0x99004000"), ..Question::default() };
        let keys = ["process", "pid", "destroyed_ns", "leaked"];
        let row = [Value::from("child.exe"), i64::from(CHILD).into(), CHILD_SPAN.1.into(), 0.into()];
        assert_eq!(values(archive, &section, &keys), [row.to_vec()]);
    }
}
