//! Several processes have the name of the program that was recorded, and its arguments are lost in some recordings.

use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::compare::{Set, Settings, compare};
use tracesift_ask::explain::explain;
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::question::timeline::{LaneKind, Measure};
use tracesift_ask::question::{path, threads, timeline};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, When, ask};
use tracesift_testing::archive::{create_as, finish_as};
use tracesift_testing::rows::{self, process};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessRow, ThreadRow, switch_flags};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;
/// Id and life of each process with the name of the program; the second one is the program.
const LIVES: [(i64, Option<i64>, i64); 3] = [(10, None, 400), (20, Some(100), 300), (30, Some(250), 390)];

/// A recording in which the command of the program was read, or its name alone.
fn archive(directory: &Path, number: u8, line: &str, command: &[&str]) -> PathBuf {
    let mut writer = create_as(&directory.join(format!("run{number}.sift")), number.into());
    let mut processes = vec![process(0, 0, "Idle")];
    let mut threads = vec![ThreadRow { idle_cpu: Some(0), ..rows::thread(0, 0, 0) }];
    for (id, (pid, start, end)) in (1..).zip(LIVES) {
        let (start, end) = (start.map(|start| start * MS), Some(end * MS));
        let line = if pid == 20 { line } else { "python3 -m a.module.with.a.long.name --and --many --options" };
        let command_line = Some(line.to_owned());
        processes.push(ProcessRow { start, end, command_line, ..process(id, pid, "python3") });
        threads.push(ThreadRow { start, end, ..rows::thread(id, id, pid) });
    }
    writer.write_table(&processes);
    writer.write_table(&threads);
    // The program waits for a timer, on a CPU of which the recording tells nothing.
    let switch = |thread: i32, off: i64, on: i64, flags: i16| ContextSwitchRow {
        thread: ThreadId(thread),
        off_time: off * MS,
        time: on * MS,
        flags,
        ..ContextSwitchRow::default()
    };
    writer.context_switch(&ContextSwitchRow {
        prev_thread: Some(ThreadId(0)),
        ready_time: Some(180 * MS),
        readier: Some(ThreadId(0)),
        ..switch(2, 150, 180, switch_flags::READIED_FROM_DPC)
    });
    writer.context_switch(&switch(2, 300, 300, switch_flags::TERMINATED));
    writer.cpu_sample(&CpuSampleRow {
        time: 200 * MS,
        process: ProcessId(2),
        thread: ThreadId(2),
        weight: MS,
        cpu: -1,
        ..CpuSampleRow::default()
    });
    let words = (0..).zip(command).map(|(number, word)| (format!("recording.command.{number}"), (*word).to_owned()));
    let pid = (!command.is_empty()).then(|| ("recording.command_pid".to_owned(), "20".to_owned()));
    let info = TraceInfo {
        name: format!("run{number}"),
        kind: "perf".to_owned(),
        start_filetime: 133_000_000_000_000_000 + 600_000_000 * i64::from(number),
        end_ns: 400 * MS,
        has_switches: true,
        has_ready: true,
        facts: words.chain(pid).collect(),
        ..TraceInfo::default()
    };
    finish_as(writer, info)
}

fn query(window: &str, processes: &str) -> AccountQuery {
    let filter = ProcessFilter { process: ProcessPatterns::parse(processes), ..ProcessFilter::default() };
    let windows = WindowQuery { spec: window.parse().expect("a window"), filter, ..WindowQuery::default() };
    AccountQuery { windows, ..AccountQuery::default() }
}

fn answer(archive: &Path, question: &dyn Ask) -> Answer {
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &When::default());
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The windows of a path with their length, and what is said below it or in place of it.
fn windows(archive: &Path, window: &str, processes: &str) -> (usize, String) {
    let question = path::Question { accounts: query(window, processes), ..path::Question::default() };
    let answer = answer(archive, &question);
    let section = &answer.sections[0];
    let place = answer.columns.iter().position(|column| column.key == "window").expect("a column");
    let numbers: std::collections::BTreeSet<String> =
        section.rows.iter().map(|row| format!("{:?}", row[place])).collect();
    (numbers.len(), format!("{:?} {:?}", section.notes, section.facts))
}

#[test]
fn runs_without_their_arguments_are_of_the_same_case() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let command = ["python3", "app.py", "slow"];
    let set = |label: &str, runs: [(u8, &str); 2]| Set {
        label: label.to_owned(),
        sources: runs.map(|(number, line)| Source::archive(archive(directory.path(), number, line, &command))).to_vec(),
        ..Set::default()
    };
    let sets = [
        set("A", [(1, "python3 app.py slow"), (2, "/usr/bin/python3")]),
        set("B", [(3, "/usr/bin/python3"), (4, "python3 app.py slow")]),
    ];
    let compared = compare(&sets, &query("auto", ""), &Settings::default()).expect("numbers");
    let names: Vec<(&str, usize)> = compared.cases.iter().map(|case| (case.name.as_str(), case.runs.len())).collect();
    assert_eq!(names, [("python app.py", 4)], "{:?}", compared.failures);
    // Nor do their rows have two names.
    let result = compared.cases[0].result.as_ref().expect("a result");
    assert!(result.difference.rows.iter().all(|row| row.delta == 0 && row.mark.is_none()), "{:?}", result.difference);
}

#[test]
fn of_several_processes_the_one_that_was_recorded_is_taken() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), 1, "python3", &["python3", "app.py"]);
    for (window, among) in [("auto", 3), ("0.12s..0.2s", 2), ("0.26s..0.29s", 3)] {
        let (count, said) = windows(&archive, window, "python3");
        let expected = format!("{among} processes fit; python3(20) was taken, the program that was recorded");
        assert!(count == 1 && said.contains(&expected), "{window}: {count} {said}");
    }
    // Who asks for all of them has them, and who asks for another has that.
    assert_eq!(windows(&archive, "process:python3", "").0, 3);
    for processes in ["10", "python3(30)"] {
        let (count, said) = windows(&archive, "auto", processes);
        assert!(count == 1 && !said.contains("was taken"), "{processes}: {said}");
    }
    let recording = OpenRecording::open(&Source::archive(archive)).expect("an archive");
    let explained = explain(&recording, &query("auto", "python3")).expect("an explanation");
    assert_eq!(explained.account.map(|account| (account.from, account.length)), Ok((100 * MS, 200 * MS)));
}

#[test]
fn of_several_processes_that_were_not_recorded_somebody_has_to_choose() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), 1, "python3 app.py", &[]);
    let recording = OpenRecording::open(&Source::archive(archive.clone())).expect("an archive");
    let failure = explain(&recording, &query("auto", "python3")).expect_err("three processes");
    assert_eq!(
        failure.reason,
        "run1: 3 windows fit: choose one, such as --window 'process:python3#1': \
         #1 python3(10) from 0.000 s, python3 -m a.module.with.a.long.name --a…; \
         #2 python3(20) from 0.100 s, python3 app.py; \
         #3 python3(30) from 0.250 s, python3 -m a.module.with.a.long.name --a…"
    );
    let (count, said) = windows(&archive, "0.12s..0.2s", "python3");
    assert_eq!(count, 0);
    assert!(said.contains("2 processes fit process:python3: choose one by its id with -p: python3(10)"), "{said}");
    // Only one of them lived then, or somebody has chosen.
    assert_eq!(windows(&archive, "0.05s..0.09s", "python3").0, 1);
    assert_eq!(windows(&archive, "0.12s..0.2s", "20").0, 1);
}

/// What the recording does not tell is neither 0 nor the CPU −1.
#[test]
fn nothing_is_known_of_the_cpus() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let archive = archive(directory.path(), 1, "python3 app.py", &[]);
    let texts = |question: &dyn Ask, keys: [&str; 2]| -> Vec<[Value; 2]> {
        let answer = answer(&archive, question);
        let place = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
        let places = keys.map(place);
        answer.rows().map(|row| places.map(|place| row[place].clone())).collect()
    };
    let threads = texts(&threads::Question::default(), ["tid", "cores_used"]);
    // Who never ran, ran on no CPU.
    let known: Vec<&[Value; 2]> = threads.iter().filter(|row| row[0] == Value::Int(20)).collect();
    assert_eq!(known, [&[Value::Int(20), Value::None]], "{threads:?}");
    let lanes =
        timeline::Question { lane: LaneKind::Cpu, measure: Some(Measure::Cpu), ..timeline::Question::default() };
    assert_eq!(texts(&lanes, ["lane", "cpu"]), [["unknown CPU".into(), Value::None]]);
}
