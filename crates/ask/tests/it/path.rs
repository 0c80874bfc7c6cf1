//! Accounts of an archive in which A waits for B's lock, B for C's answer, and C for a disk. Every figure is known.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, Follow, WindowQuery};
use tracesift_ask::question::path::{Detail, Question};
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_grammar::Patterns;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, DiskIoRow, DiskOperation, MarkRow, ProcessRow, SymbolRow, ThreadRow, switch_flags,
};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;

/// Functions on the stacks, by frame.
const FUNCTIONS: [(&str, &str); 8] = [
    ("ntdll.dll", "NtWaitForSingleObject"),
    ("a.exe", "A::Lock"),
    ("b.exe", "B::Ask"),
    ("b.exe", "B::Unlock"),
    ("c.exe", "C::Read"),
    ("storport.sys", "storport.sys+0x1080"),
    ("a.exe", "A::Work"),
    ("a.exe", "A::Rest"),
];

/// What a recording lacks.
#[derive(Clone, Copy, Default)]
pub(super) struct Lacks {
    pub(super) switches: bool,
    pub(super) ready: bool,
    pub(super) samples: bool,
    pub(super) disk: bool,
}

pub(super) fn archive(directory: &Path, lacks: Lacks) -> PathBuf {
    let target = directory.join("chain.sift");
    let mut writer = create(&target);
    writer.write_table(&[
        process(0, 0, "Idle"),
        ProcessRow { start: Some(10 * MS), end: Some(900 * MS), ..process(1, 10, "a.exe") },
        process(2, 20, "b.exe"),
        process(3, 30, "c.exe"),
        process(4, 40, "other.exe"),
    ]);
    let named = |id: i32, tid: i64, name: &str| ThreadRow { name: Some(name.to_owned()), ..rows::thread(id, id, tid) };
    writer.write_table(&[
        ThreadRow { idle_cpu: Some(1), ..rows::thread(0, 0, 0) },
        ThreadRow { start: Some(10 * MS), end: Some(900 * MS), ..rows::thread(1, 1, 11) },
        // Samples of a dead thread have no id of one.
        rows::thread(6, 1, -1),
        rows::thread(5, 2, 20),
        ThreadRow { process: ProcessId(2), ..named(2, 22, "owner 7") },
        rows::thread(3, 3, 33),
        rows::thread(4, 4, 44),
    ]);
    let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
        frame: FrameId(frame),
        module: Some((*module).to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(&(0..8).map(|frame| rows::frame(frame, 1)).collect::<Vec<_>>());
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    let stacks: [&[i32]; 7] = [&[0, 1], &[0, 2], &[3], &[0, 4], &[5], &[6], &[7]];
    writer.write_table(&(0..).zip(stacks).map(|(id, frames)| stack(id, frames)).collect::<Vec<_>>());
    if !lacks.switches {
        switches().iter().for_each(|row| writer.context_switch(row));
    }
    if !lacks.samples {
        for (time, stack) in [(50, 5), (150, 5), (300, 5), (400, 5), (600, 6)] {
            writer.cpu_sample(&CpuSampleRow {
                time: time * MS,
                process: ProcessId(1),
                thread: ThreadId(1),
                weight: MS,
                stack: Some(StackId(stack)),
                ..CpuSampleRow::default()
            });
        }
    }
    if !lacks.disk {
        disk_operations().iter().for_each(|row| writer.disk_io(row));
    }
    let marks = [(120, "begin 1"), (197, "from"), (199, "to"), (220, "end 1"), (320, "begin 2"), (330, "end 2")];
    for (time, text) in marks {
        let (thread, text) = (text.contains(' ').then_some(ThreadId(1)), text.to_owned());
        writer.mark(&MarkRow { time: time * MS, thread, text, ..MarkRow::default() });
    }
    let info = TraceInfo {
        name: "chain".to_owned(),
        kind: "etl".to_owned(),
        end_ns: 1_000 * MS,
        has_switches: !lacks.switches,
        has_ready: !lacks.switches && !lacks.ready,
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

/// Each thread has a CPU of its own, on which idle or another process was before it.
fn switches() -> Vec<ContextSwitchRow> {
    // Thread, off, ready, on, wait stack, readier, ready stack, who left the CPU, flags.
    let row = |thread: i32, span: [i64; 3], [wait, readier, ready, before]: [i32; 4], flags: i16| ContextSwitchRow {
        thread: ThreadId(thread),
        off_time: span[0] * MS,
        ready_time: Some(span[1] * MS),
        time: span[2] * MS,
        cpu: i16::try_from(thread).ok(),
        prev_thread: Some(ThreadId(before)),
        off_state: Some(5),
        wait_stack: Some(StackId(wait)),
        readier: Some(ThreadId(readier)),
        ready_stack: Some(StackId(ready)),
        flags,
        ..ContextSwitchRow::default()
    };
    let end = |thread: i32| ContextSwitchRow {
        ready_time: None,
        readier: None,
        ready_stack: None,
        cpu: None,
        prev_thread: None,
        ..row(thread, [900, 0, 900], [5, 0, 0, 0], switch_flags::TERMINATED)
    };
    vec![
        row(3, [110, 190, 190], [3, 1, 4, 0], switch_flags::READIED_FROM_DPC),
        row(2, [105, 195, 196], [1, 3, 3, 4], 0),
        row(1, [100, 200, 203], [0, 2, 2, 0], 0),
        end(1),
    ]
}

/// The disk wakes C at 190 ms.
fn disk_operations() -> Vec<DiskIoRow> {
    let row = |time: i64, thread: i32, disk: i32, operation: DiskOperation| DiskIoRow {
        time,
        start: time - MS,
        thread: Some(ThreadId(thread)),
        disk,
        operation,
        ..DiskIoRow::default()
    };
    vec![
        // Of the same thread, but long before this wake-up.
        row(150 * MS, 3, 0, DiskOperation::Flush),
        row(190 * MS - 60_000, 3, 0, DiskOperation::Write),
        row(190 * MS - 40_000, 3, 1, DiskOperation::Read),
        // Nearer, but of another thread.
        row(190 * MS, 2, 2, DiskOperation::Write),
        row(190 * MS + 50_000, 3, 0, DiskOperation::Flush),
    ]
}

pub(super) fn of(process: &str) -> ProcessFilter {
    ProcessFilter { process: ProcessPatterns::parse(process), ..ProcessFilter::default() }
}

/// The account of a window.
pub(super) fn question(window: &str, filter: ProcessFilter, detail: Detail) -> Question {
    let windows = WindowQuery { spec: window.parse().expect("a window"), filter, ..WindowQuery::default() };
    Question { accounts: AccountQuery { windows, ..AccountQuery::default() }, detail, ..Question::default() }
}

pub(super) fn ask_of(lacks: Lacks, question: &Question) -> Answer {
    let directory = tempfile::tempdir().expect("temporary directory");
    let outcome = ask(&[Source::archive(archive(directory.path(), lacks))], question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The texts of these columns, and the path time in µs, of each row.
pub(super) fn rows_of(answer: &Answer, keys: &[&str]) -> Vec<(String, i64)> {
    let value = |row: &[Value], key: &str| {
        let place = answer.columns.iter().position(|column| column.key == key).expect("a column");
        row[place].clone()
    };
    let text = |row: &[Value], key: &&str| match value(row, key) {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::None => String::new(),
        other => panic!("{other:?}"),
    };
    let row = |row: &Vec<Value>| {
        let Value::Int(time) = value(row, "path_ns") else { panic!("no time") };
        let texts: Vec<String> = keys.iter().map(|key| text(row, key)).collect();
        (texts.join("|"), time / 1_000)
    };
    answer.rows().map(row).collect()
}

fn owned(rows: &[(&str, i64)]) -> Vec<(String, i64)> {
    rows.iter().map(|(text, time)| ((*text).to_owned(), *time)).collect()
}

const ALL: [&str; 8] = ["process", "thread", "state", "ended_by", "tag", "site", "for_site", "disturbance"];

#[test]
fn an_account_adds_up_and_follows_whoever_ended_a_wait() {
    let answer = ask_of(Lacks::default(), &question("auto", of("a"), Detail::For));
    let rows = rows_of(&answer, &ALL);
    let expected = owned(&[
        ("b|owner #|ready||others|other|a.exe!A::Lock|cpu-taken", 1_000),
        ("a|main|ready||idle CPU|||cpu-asleep", 3_000),
        ("b|owner #|run||(not sampled)||a.exe!A::Lock|", 9_000),
        ("c|main|run||(not sampled)||a.exe!A::Lock|", 10_000),
        ("c|main|wait|disk 1 read|Other|c.exe!C::Read|a.exe!A::Lock|", 80_000),
        // 787 ms that samples divide by 3 to 1: that at 150 ms does not lie on the path.
        ("a|main|run||Other|a.exe!A::Rest||", 196_750),
        ("a|main|run||Other|a.exe!A::Work||", 590_250),
    ]);
    let without_tags = |rows: Vec<(String, i64)>| -> Vec<(String, i64)> {
        let cut = |text: String| {
            let mut parts: Vec<&str> = text.split('|').collect();
            // The rules of tags have tests of their own.
            if parts[2] != "ready" && !parts[4].starts_with('(') {
                parts[4] = "";
            }
            parts.join("|")
        };
        rows.into_iter().map(|(text, time)| (cut(text), time)).collect()
    };
    assert_eq!(without_tags(rows.clone()), without_tags(expected));
    assert_eq!(rows.iter().map(|(_, time)| time).sum::<i64>(), 890_000, "the life of the process");
    let fact = |label: &str| {
        let facts = &answer.sections[0].facts;
        facts.iter().find(|fact| fact.label == label).map(|fact| fact.value.clone())
    };
    for (label, ms) in [
        ("window", 890),
        ("run", 806),
        ("ready", 4),
        ("wait", 80),
        ("unknown", 0),
        ("disturbed", 4),
        ("undisturbed", 886),
    ] {
        assert_eq!(fact(label), Some(Value::Int(ms * MS)), "{label}");
    }
}

#[test]
fn a_disk_is_named_with_what_it_did_where_the_recording_tells_that() {
    let ended_by = |lacks: Lacks, detail: Detail| {
        let answer = ask_of(lacks, &question("auto", of("a"), detail));
        let rows = rows_of(&answer, &["state", "ended_by"]);
        rows.into_iter().filter(|(text, _)| text.starts_with("wait")).collect::<Vec<_>>()
    };
    let operation = owned(&[("wait|disk 1 read", 80_000)]);
    assert_eq!(ended_by(Lacks::default(), Detail::For), operation);
    assert_eq!(ended_by(Lacks::default(), Detail::Tag), operation);
    assert_eq!(ended_by(Lacks::default(), Detail::State), owned(&[("wait|", 80_000)]));
    let lacks = Lacks { disk: true, ..Lacks::default() };
    assert_eq!(ended_by(lacks, Detail::For), owned(&[("wait|disk", 80_000)]));
    // The wake-up counts, not the end of a window before it.
    let answer = ask_of(Lacks::default(), &question("0.1s..0.15s", of("c"), Detail::For));
    let rows = rows_of(&answer, &["state", "ended_by"]);
    assert!(rows.contains(&("wait|disk 1 read".to_owned(), 40_000)), "{rows:?}");
}

#[test]
fn each_level_divides_the_rows_of_the_one_before() {
    for detail in [Detail::State, Detail::Who, Detail::Tag, Detail::Site, Detail::For] {
        let answer = ask_of(Lacks::default(), &question("auto", of("a"), detail));
        let rows = rows_of(&answer, &["state", "process", "disturbance", "leaves"]);
        let sum = |state: &str| -> i64 {
            rows.iter().filter(|(text, _)| text.starts_with(state)).map(|(_, time)| time).sum()
        };
        assert_eq!(["run", "ready", "wait", "unknown"].map(sum), [806_000, 4_000, 80_000, 0], "{detail:?}");
    }
    // Who waited for it divides the time of a method.
    let of_owner = |detail| {
        let rows =
            rows_of(&ask_of(Lacks::default(), &question("auto", of("a"), detail)), &["thread", "state", "for_site"]);
        rows.into_iter().filter(|(text, _)| text.starts_with("owner #|run")).collect::<Vec<_>>()
    };
    assert_eq!(of_owner(Detail::Site), owned(&[("owner #|run|", 9_000)]));
    assert_eq!(of_owner(Detail::For), owned(&[("owner #|run|a.exe!A::Lock", 9_000)]));
    let answer = ask_of(Lacks::default(), &question("auto", of("a"), Detail::Who));
    let rows = rows_of(&answer, &["process", "state", "leaves", "longest_ns"]);
    assert!(rows.contains(&("a|run|2|697000000".to_owned(), 787_000)), "{rows:?}");
    assert!(rows.contains(&("b|run|2|5000000".to_owned(), 9_000)), "{rows:?}");
}

#[test]
fn windows_are_found_by_processes_methods_waits_marks_and_times() {
    let window = |text: &str, filter: ProcessFilter| {
        let answer = ask_of(Lacks::default(), &question(text, filter, Detail::State));
        let mut found: Vec<(String, i64)> = Vec::new();
        for (text, time) in rows_of(&answer, &["window", "window_from_ns", "window_ns"]) {
            match found.last_mut() {
                Some((last, sum)) if *last == text => *sum += time,
                _ => found.push((text, time)),
            }
        }
        found
    };
    let any = ProcessFilter::default;
    assert_eq!(window("process:a", any()), owned(&[("1|10000000|890000000", 890_000)]));
    assert_eq!(window("auto", of("a")), owned(&[("1|10000000|890000000", 890_000)]));
    // From the first to the last sample, and from the wait to the switch-in behind it.
    assert_eq!(window("method:A::Work", any()), owned(&[("1|50000000|350000000", 350_000)]));
    assert_eq!(window("method:A::Lock", any()), owned(&[("1|100000000|103000000", 103_000)]));
    assert_eq!(window("wait:A::Lock", any()), owned(&[("1|100000000|100000000", 100_000)]));
    let marks = [("1|120000000|100000000", 100_000), ("2|320000000|10000000", 10_000)];
    assert_eq!(window("mark:begin*..end*", any()), owned(&marks));
    assert_eq!(window("mark:begin*..end*#2", any()), owned(&marks[1..]));
    assert_eq!(window("0.1s..0.25s", of("a")), owned(&[("1|100000000|150000000", 150_000)]));
    // What lies outside of the recording is unknown, and counts.
    assert_eq!(window("0.1s..2s", of("a")), owned(&[("1|100000000|1900000000", 1_900_000)]));
}

#[test]
fn the_window_of_a_wait_starts_with_whoever_ended_it() {
    let answer = ask_of(Lacks::default(), &question("wait:A::Lock", ProcessFilter::default(), Detail::Who));
    let expected =
        owned(&[("b|owner #|ready", 1_000), ("b|owner #|run", 9_000), ("c|main|run", 10_000), ("c|main|wait", 80_000)]);
    assert_eq!(rows_of(&answer, &["process", "thread", "state"]), expected);
}

#[test]
fn a_mark_without_a_thread_was_written_by_the_one_that_ran() {
    let answer = ask_of(Lacks::default(), &question("mark:from..to", of("b"), Detail::Who));
    assert_eq!(rows_of(&answer, &["process", "thread", "state"]), owned(&[("b|owner #|run", 2_000)]));
    // Of all programs nobody knows which one is meant.
    let answer = ask_of(Lacks::default(), &question("mark:from..to", ProcessFilter::default(), Detail::Who));
    assert_eq!(answer.rows().count(), 0);
}

#[test]
fn another_thread_can_be_the_anchor() {
    let named = |name: &str| {
        let mut question = question("0.1s..0.2s", ProcessFilter::default(), Detail::Who);
        question.accounts.windows.anchor = Patterns::parse(name);
        question
    };
    let answer = ask_of(Lacks::default(), &named("owner*"));
    let rows = rows_of(&answer, &["process", "state"]);
    assert!(rows.contains(&("c|wait".to_owned(), 80_000)), "{rows:?}");
    // Where the name fits nobody, there is a reason and no figure.
    let answer = ask_of(Lacks::default(), &named("nobody"));
    assert_eq!(answer.rows().count(), 0);
    let why = format!("{:?}", answer.sections[0].facts);
    assert!(why.contains("no thread that fits --anchor nobody lives from 0.100 s to 0.200 s"), "{why}");
}

#[test]
fn a_request_can_be_followed_only_where_a_thread_waits_for_work() {
    // No wait here is one for work, so that both ways give the same account.
    let ask = |follow| {
        let mut question = question("auto", of("a"), Detail::For);
        question.accounts.follow = Some(follow);
        let answer = ask_of(Lacks::default(), &question);
        rows_of(&answer, &ALL)
    };
    assert_eq!(ask(Follow::Waits), ask(Follow::Requests));
}

#[test]
fn what_was_not_recorded_is_said_and_never_guessed() {
    let lacks = |lacks| ask_of(lacks, &question("auto", of("a"), Detail::Who));
    let keys = ["process", "state"];
    // Without ready events a wait lasts to the switch-in, and nobody ended it.
    let answer = lacks(Lacks { ready: true, ..Lacks::default() });
    assert_eq!(rows_of(&answer, &keys), owned(&[("a|wait", 103_000), ("a|run", 787_000)]));
    assert!(
        answer.sections[0].notes.iter().any(|note| note.starts_with("no ready events")),
        "{:?}",
        answer.sections[0].notes
    );
    // Samples alone: all five of the thread, and the rest.
    let answer = lacks(Lacks { switches: true, ..Lacks::default() });
    assert_eq!(rows_of(&answer, &keys), owned(&[("a|run", 5_000), ("a|unknown", 885_000)]));
    // Switches alone: the way in which runs end.
    let answer = lacks(Lacks { samples: true, ..Lacks::default() });
    let run: i64 = rows_of(&answer, &keys).iter().filter(|(text, _)| text == "a|run").map(|(_, time)| time).sum();
    assert_eq!(run, 787_000);
    // Nothing at all.
    let answer = lacks(Lacks { switches: true, samples: true, ..Lacks::default() });
    assert!(answer.sections[0].is_absent);
    // A thread without a switch is not one that ran all the time.
    let answer = ask_of(Lacks::default(), &question("auto", of("other"), Detail::State));
    assert_eq!(rows_of(&answer, &["state", "disturbance"]), owned(&[("unknown|unknown", 1_000_000)]));
}

#[test]
fn a_window_that_is_not_there_has_a_reason() {
    let why = |window: &str, filter: ProcessFilter| {
        let answer = ask_of(Lacks::default(), &question(window, filter, Detail::For));
        assert_eq!(answer.rows().count(), 0);
        (format!("{:?}", answer.sections[0].facts), answer.sections[0].is_absent)
    };
    let any = ProcessFilter::default;
    // A filter that lets nothing pass has an empty answer; a window that cannot be found has none.
    for (window, filter, reason, is_absent) in [
        ("auto", any(), "the recording does not tell which program was tested: name it with -p", true),
        ("auto", of("nobody"), "nothing fits process:nobody", false),
        ("process:nobody", any(), "nothing fits process:nobody", false),
        ("method:nothing", any(), "nothing fits method:nothing", false),
        ("wait:A::Lock#2", any(), "only 1 window fits wait:A::Lock#2", true),
        ("mark:begin*..never", any(), "nothing fits mark:begin*..never", false),
    ] {
        let (text, found_absent) = why(window, filter);
        assert!(text.contains(reason), "{text}");
        assert_eq!(found_absent, is_absent, "{window}");
    }
}
