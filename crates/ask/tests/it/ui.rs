//! `dump ui` over a window that is known, from the recording to the answer, and over an archive whose functions have names.

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::order::{Between, Top};
use tracesift_ask::question::threads;
use tracesift_ask::question::ui::{About, By, Question, Sort};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_scenario::PointerSize;
use tracesift_scenario::ui::{self as scenario, CLASSES, EDITOR, FOCUS, MESSAGES, SERVER, SHELL, WAIT};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::Recording;
use tracesift_testing::rows::{frame, process, stack, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, SymbolRow, UiDelayRow, ui_delay_kinds as kinds};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;

fn answer(source: &Source, question: &dyn Ask) -> Answer {
    ask(std::slice::from_ref(source), question, &When::default()).answer
}

fn rows(source: &Source, question: &dyn Ask, columns: &[&str]) -> Vec<Vec<Value>> {
    let answer = answer(source, question);
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    answer.rows().map(|row| columns.iter().map(|column| row[at(column)].clone()).collect()).collect()
}

fn ms(ms: i64) -> Value {
    Value::Int(ms * MS)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn words(words: &[&str]) -> Value {
    Value::List(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Two delays: of the first message that is too long, and of the second one, behind the wait for the server, which alone is in focus.
#[test]
fn two_delays_of_which_one_is_in_focus() {
    for size in [PointerSize::Four, PointerSize::Eight] {
        let extracted = Recording::of("ui.etl", &scenario::write(size).expect("a recording")).extract();
        let source = Source::archive(extracted.report.archive.clone());
        let [_, paint, command] = MESSAGES;
        let [waits, ready, runs] = WAIT;
        let columns =
            ["pid", "tid", "from_ns", "to_ns", "delay_ns", "in_focus", "focus_ns", "message", "class", "kinds"];
        let editor = [Value::Int(EDITOR.0.into()), Value::Int(EDITOR.1.into())];
        let delay = |from: i64, to: i64, in_focus: bool| [ms(from), ms(to), ms(to - from), in_focus.into()];
        let short = [
            &editor[..],
            &delay(paint.1, paint.2, false),
            &[ms(0), text("WM_PAINT"), Value::None, words(&["no fetch", "dispatch"])],
        ];
        let long = [
            &editor[..],
            &delay(command.1, command.2, true),
            &[ms(6_000), text("WM_COMMAND"), text(CLASSES[0]), words(&["no fetch", "input", "no check", "dispatch"])],
        ];
        assert_eq!(rows(&source, &Question::default(), &columns), [short.concat(), long.concat()], "{size:?}");
        let in_focus = Question { in_focus: true, ..Question::default() };
        assert_eq!(rows(&source, &in_focus, &columns), [long.concat()]);
        // What it did: the parts are the length, and the wait leads to the server.
        let columns = ["run_ns", "ready_ns", "wait_ns", "unknown_ns", "longest_wait_ns", "cpu_ns", "method_cpu_ns"];
        let inside = rows(&source, &in_focus, &columns).concat();
        let (wait, run) = (ready - waits, waits - command.1 + command.2 - runs);
        assert_eq!(inside[..5], [ms(run), ms(runs - ready), ms(wait), ms(0), ms(wait)]);
        assert_eq!(wait + runs - ready + run, 6_000);
        // A sample each 10 ms: 50 of them before the wait, 140 behind it.
        let (Value::Int(cpu), Value::Int(most)) = (&inside[5], &inside[6]) else { panic!("{inside:?}") };
        assert_eq!((cpu / 190 * 140, cpu % 190), (*most, 0));
        let columns = ["method", "wait_method", "woken_by", "chain_text"];
        let named = rows(&source, &in_focus, &columns).concat();
        let server = format!("server.exe({}) {}", SERVER.0, SERVER.1);
        let chain = words(&[&format!("<- {server}: ran 4000.0 ms")]);
        assert_eq!(named[2..], [text(&server), chain], "{named:?}");
        for (name, offset) in [(&named[0], scenario::functions::PARSE + 4), (&named[1], scenario::functions::LOAD + 8)]
        {
            assert_eq!(*name, text(&format!("editor.exe!editor.exe+{offset:#x}")));
        }
    }
}

/// Run, ready and wait of each delay are those that `dump threads` has of its time.
#[test]
fn parts_are_those_of_threads() {
    let bytes = scenario::write(PointerSize::Eight).expect("a recording");
    let extracted = Recording::of("ui.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let columns = ["run_ns", "ready_ns", "wait_ns"];
    for time in [(0, 12_000), (2_100, 5_600), (6_000, 9_550), (9_590, 12_000)] {
        let time = TimeRange { start: Some(time.0 * MS), end: Some(time.1 * MS) };
        let question = Question { time, length: Between { min: Some(1), max: None }, ..Question::default() };
        let found = rows(&source, &question, &["from_ns", "to_ns", "run_ns", "ready_ns", "wait_ns"]);
        assert!(!found.is_empty());
        for row in found {
            let (Value::Int(from), Value::Int(to)) = (&row[0], &row[1]) else { panic!("{row:?}") };
            let filter = ProcessFilter { process: ProcessPatterns::parse("editor"), ..ProcessFilter::default() };
            let time = TimeRange { start: Some(*from), end: Some(*to) };
            let of_threads =
                rows(&source, &threads::Question { filter, time, ..threads::Question::default() }, &columns);
            assert_eq!([row[2..].to_vec()], of_threads[..]);
        }
    }
}

#[test]
fn sums_reports_and_the_focus() {
    let bytes = scenario::write(PointerSize::Eight).expect("a recording");
    let extracted = Recording::of("ui.etl", &bytes).extract();
    let source = Source::archive(extracted.report.archive.clone());
    let by = |by: By| Question { about: About::Sums(by), ..Question::default() };
    let int = Value::Int;
    let columns =
        ["pid", "delays", "in_focus", "delay_ns", "union_ns", "longest_ns", "from_5s", "below_500ms", "threads"];
    let expected = [int(EDITOR.0.into()), int(2), int(1), ms(6_250), ms(6_250), ms(6_000), int(1), int(1), int(1)];
    assert_eq!(rows(&source, &by(By::Process), &columns), [expected.to_vec()]);
    let expected = [[text("WM_PAINT"), ms(250)], [text("WM_COMMAND"), ms(6_000)]];
    assert_eq!(rows(&source, &by(By::Message), &["message", "delay_ns"]), expected);
    let expected = [[text("(unknown)"), ms(250)], [text(CLASSES[0]), ms(6_000)]];
    assert_eq!(rows(&source, &by(By::Class), &["class", "delay_ns"]), expected);
    // The long one mostly waits, the short one runs.
    let method = |offset: u64| text(&format!("editor.exe!editor.exe+{offset:#x}"));
    let expected = [
        [method(scenario::functions::PAINT + 4), ms(250), ms(0)],
        [method(scenario::functions::LOAD + 8), ms(1_900), ms(4_000)],
    ];
    assert_eq!(rows(&source, &by(By::Method), &["method", "run_ns", "wait_ns"]), expected);

    // The rules of tags know none of these functions, but where they wait.
    let by_tag = rows(&source, &by(By::Tag), &["tag", "delay_ns"]);
    assert!(by_tag.iter().all(|row| matches!(&row[0], Value::Text(tag) if !tag.is_empty())), "{by_tag:?}");
    let sum: i64 = by_tag.iter().map(|row| if let Value::Int(sum) = row[1] { sum } else { 0 }).sum();
    assert_eq!(sum, 6_250 * MS);

    // Dispatch and fetch tell of the same spans as the report, within a tick of the clock.
    let list = Question { about: About::Reports, sort: Some(Sort::Start), ..Question::default() };
    let (paint, command) = (MESSAGES[1], MESSAGES[2]);
    let expected: Vec<_> = [
        (paint.1, paint.2, "dispatch"),
        (paint.1, paint.2, "no fetch"),
        (command.1, command.2, "dispatch"),
        (command.1, command.2, "no fetch"),
        (command.1, command.2, "no check"),
        (command.1 + 10, command.2, "input"),
    ]
    .into_iter()
    .map(|(from, to, kind)| vec![ms(from), ms(to), text(kind)])
    .collect();
    let mut found = rows(&source, &list, &["from_ns", "to_ns", "kind"]);
    let order = |row: &Vec<Value>| expected.iter().position(|other| other == row);
    found.sort_by_key(order);
    assert_eq!(found, expected);
    let of_kind = Question { kind: Patterns::parse("no check"), ..list };
    assert_eq!(rows(&source, &of_kind, &["report_ns"]), [[ms(6_000)]]);

    let focus = Question { about: About::Focus, ..Question::default() };
    let [comes, leaves] = FOCUS;
    let (shell, editor) = (int(SHELL.0.into()), int(EDITOR.0.into()));
    let expected = [
        [shell.clone(), ms(0), ms(comes), ms(comes)],
        [editor, ms(comes), ms(leaves), ms(leaves - comes)],
        [shell, ms(leaves), ms(12_000), ms(12_000 - leaves)],
    ];
    assert_eq!(rows(&source, &focus, &["pid", "from_ns", "to_ns", "focus_ns"]), expected);
}

/// Functions on the stacks, by frame.
const FUNCTIONS: [(&str, &str); 3] =
    [("ntoskrnl.exe", "KiSwapContext"), ("win32u.dll", "NtUserMsgWaitForMultipleObjectsEx"), ("app.exe", "Run")];

/// A thread that waits for messages by `MsgWaitForMultipleObjects` fetches none meanwhile, and is not delayed. A thread of which no switch
/// was recorded has unknown time; nothing is known of the focus.
#[test]
fn a_wait_for_messages_is_no_delay() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("wait.sift"));
    writer.write_table(&[process(1, 100, "app.exe"), process(2, 200, "other.exe")]);
    writer.write_table(&[thread(1, 1, 1001), thread(2, 2, 2001)]);
    writer.write_table(&(0..3).map(|id| frame(id, 1)).collect::<Vec<_>>());
    let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
        frame: FrameId(frame),
        module: Some((*module).to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    writer.write_table(&[stack(0, &[0, 1, 2])]);
    let delay = |thread: i32, kind: i8, start: i64, end: i64| UiDelayRow {
        time: end * MS,
        start: start * MS,
        process: Some(ProcessId(thread)),
        thread: Some(ThreadId(thread)),
        kind,
        ..UiDelayRow::default()
    };
    // It runs for 300 ms, waits for a message for 2 s, and runs for 199 ms.
    writer.context_switch(&ContextSwitchRow {
        thread: ThreadId(1),
        off_time: 1_300 * MS,
        ready_time: Some(3_300 * MS),
        time: 3_301 * MS,
        wait_stack: Some(StackId(0)),
        ..ContextSwitchRow::default()
    });
    writer.ui_delay(&delay(1, kinds::NO_FETCH, 1_000, 3_499));
    writer.ui_delay(&delay(2, kinds::NO_CHECK, 3_000, 4_000));
    let info = TraceInfo {
        name: "wait".to_owned(),
        kind: "etl".to_owned(),
        end_ns: 5_000 * MS,
        has_switches: true,
        has_ready: true,
        ..TraceInfo::default()
    };
    let source = Source::archive(finish_as(writer, info));
    let found = rows(&source, &Question::default(), &["pid", "from_ns", "to_ns", "run_ns", "unknown_ns", "in_focus"]);
    let expected = [
        [Value::Int(100), ms(1_000), ms(1_300), ms(300), ms(0), Value::None],
        [Value::Int(200), ms(3_000), ms(4_000), ms(0), ms(1_000), Value::None],
    ];
    assert_eq!(found, expected);
    let longest = Question { top: Top { take: Some(1), skip: 0 }, ..Question::default() };
    assert_eq!(rows(&source, &longest, &["pid"]), [[Value::Int(200)]]);
    // Nothing tells who had the focus.
    let in_focus = answer(&source, &Question { in_focus: true, ..Question::default() });
    assert!(in_focus.sections[0].is_absent && in_focus.rows().count() == 0);
}

/// Without events of the message pump context switches tell of delays: of a thread that waits for messages, and of no other one.
#[test]
fn switches_tell_of_delays() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, reports: &[UiDelayRow]| {
        let mut writer = create(&directory.path().join(name));
        writer.write_table(&[process(1, 100, "app.exe"), process(2, 200, "other.exe")]);
        writer.write_table(&[thread(1, 1, 1001), thread(2, 2, 2001)]);
        writer.write_table(&(0..3).map(|id| frame(id, 1)).collect::<Vec<_>>());
        let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
            frame: FrameId(frame),
            module: Some((*module).to_owned()),
            function: (*function).to_owned(),
            ..SymbolRow::default()
        };
        writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
        // A wait for a message, and another wait of the same function.
        writer.write_table(&[stack(0, &[0, 1, 2]), stack(1, &[0, 2])]);
        let wait = |thread: i32, stack: i32, off: i64, ready: i64| ContextSwitchRow {
            thread: ThreadId(thread),
            off_time: off * MS,
            ready_time: Some(ready * MS),
            time: (ready + 1) * MS,
            wait_stack: Some(StackId(stack)),
            ..ContextSwitchRow::default()
        };
        for row in [
            wait(1, 0, 100, 1_000),
            wait(2, 1, 100, 1_000),
            wait(1, 1, 1_100, 1_400),
            // 199 ms behind it are none.
            wait(1, 0, 1_500, 2_000),
            wait(2, 1, 2_000, 2_100),
            wait(1, 0, 2_199, 3_000),
            wait(2, 1, 4_000, 4_100),
        ] {
            writer.context_switch(&row);
        }
        reports.iter().for_each(|row| writer.ui_delay(row));
        let info = TraceInfo {
            name: name.to_owned(),
            kind: "etl".to_owned(),
            end_ns: 5_000 * MS,
            has_switches: true,
            has_ready: true,
            ..TraceInfo::default()
        };
        Source::archive(finish_as(writer, info))
    };
    let columns = ["pid", "from_ns", "to_ns", "run_ns", "wait_ns", "kinds", "from_switches", "still_open"];
    let source = write("switches.sift", &[]);
    let delay = |from: i64, to: i64, wait: i64, open: bool| {
        let ready = i64::from(wait > 0) + 1;
        let parts = [ms(to - from - wait - ready), ms(wait), words(&["switches"]), true.into(), open.into()];
        [&[Value::Int(100), ms(from), ms(to)], &parts[..]].concat()
    };
    let expected = [delay(1_000, 1_500, 300, false), delay(3_000, 5_000, 0, true)];
    assert_eq!(rows(&source, &Question::default(), &columns), expected);
    let part = TimeRange { start: Some(1_250 * MS), end: Some(1_600 * MS) };
    let part = Question { time: part, ..Question::default() };
    assert_eq!(rows(&source, &part, &["from_ns", "to_ns"]), [[ms(1_250), ms(1_500)]]);
    let short = Question { length: Between { min: Some(199 * MS), max: None }, ..Question::default() };
    assert_eq!(rows(&source, &short, &["from_ns", "delay_ns"])[0], [ms(2_000), ms(199)]);
    let of_kind = |kind: &str| Question { kind: Patterns::parse(kind), about: About::Reports, ..Question::default() };
    assert_eq!(rows(&source, &of_kind("switches"), &["report_ns", "kind"]).len(), 2);
    assert_eq!(rows(&source, &of_kind("!switches"), &["report_ns"]).len(), 0);

    let report = |kind: i8, start: i64, end: i64| UiDelayRow {
        time: end * MS,
        start: start * MS,
        process: Some(ProcessId(2)),
        thread: Some(ThreadId(2)),
        kind,
        ..UiDelayRow::default()
    };
    // A report of Windows tells nothing of the pump; a time without a fetch tells that its events were recorded.
    let with_report = write("report.sift", &[report(kinds::NO_CHECK, 2_100, 2_400)]);
    let pids = |source: &Source| rows(source, &Question::default(), &["pid"]);
    assert_eq!(pids(&with_report), [[Value::Int(200)], [Value::Int(100)], [Value::Int(100)]]);
    let with_pump = write("pump.sift", &[report(kinds::NO_FETCH, 2_100, 2_400)]);
    assert_eq!(pids(&with_pump), [[Value::Int(200)]]);
}
