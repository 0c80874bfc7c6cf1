//! `dump regions`: the two files of regions of interest that posts show, on real recordings, against figures that were taken apart from
//! it; pairs of events against `dump syscalls`; and events made byte by byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tracesift_analysis::regions::Definitions;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::options::{Plan, QuestionOptions as _, Registered};
use tracesift_ask::question::regions::{By, Options, Question, Show, Sort};
use tracesift_ask::question::{jit, syscalls};
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_extract::EventSelection;
use tracesift_fixtures::cases;
use tracesift_fixtures::perf_data::Endianness;
use tracesift_fixtures::perf_tracepoints::{Recording as Tracepoints, SYS_ENTER, SYS_EXIT};
use tracesift_grammar::Patterns;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::{Recording, try_extract};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{EventRow, MarkRow};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

/// The archive of a real recording with these events; `None`: there are no shared cases.
fn real(name: &str, events: EventSelection) -> Option<(TempDir, PathBuf)> {
    let file = cases("etl")?.join(name);
    let out = tempfile::tempdir().expect("a directory");
    let options = tracesift_extract::Options {
        out: Some(out.path().to_owned()),
        events: Some(events),
        ..tracesift_extract::Options::default()
    };
    let report = try_extract(&file, &options).expect("an extract").pop().expect("a report");
    Some((out, report.archive))
}

/// The definitions of a shared file.
fn definitions(name: &str) -> Option<Arc<Definitions>> {
    let file = cases("regions")?.join(name);
    let content = std::fs::read(file).expect("a file");
    Some(Arc::new(Definitions::read(name, &content).expect("regions")))
}

fn answer(archive: &Path, question: &dyn Ask) -> Answer {
    at(archive, question, "..")
}

fn at(archive: &Path, question: &dyn Ask, time: &str) -> Answer {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// The columns of each row, as text.
fn table(answer: &Answer, keys: &[&str]) -> Vec<Vec<String>> {
    let place = |key: &&str| answer.columns.iter().position(|column| column.key == *key).expect("a column");
    let places: Vec<usize> = keys.iter().map(place).collect();
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::None => "-".to_owned(),
        other => panic!("{other:?}"),
    };
    answer.rows().map(|row| places.iter().map(|place| text(&row[*place])).collect()).collect()
}

fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

/// Rows of process and region with count, sum and union in ms with three digits, and ignored begins, in the order of their names.
fn figures(archive: &Path, definitions: &Arc<Definitions>) -> Vec<String> {
    let rows = answer(archive, &Question::new(definitions.clone()));
    let ms = |ns: &String| format!("{:.3}", number(ns) as f64 / 1e6);
    let row = |row: &Vec<String>| {
        let process = row[0].split('.').next().unwrap_or_default();
        format!("{process} {}: {} {} {}", row[1], row[2], ms(&row[3]), ms(&row[4]))
    };
    let rows = table(&rows, &["process", "region", "count", "sum_ns", "union_ns"]);
    let mut rows: Vec<String> = rows.iter().map(row).collect();
    rows.sort();
    rows
}

/// A fact of the only file.
fn fact(answer: &Answer, label: &str) -> i64 {
    let fact = answer.facts.iter().find(|fact| fact.label == label);
    match fact.map(|fact| &fact.value) {
        Some(Value::Int(figure)) => *figure,
        None => 0,
        Some(other) => panic!("{other:?}"),
    }
}

/// From the events, and from the tables that show them where the archive has none of them.
#[test]
fn collections_of_the_posts_file() {
    let Some(definitions) = definitions("GC.Regions.xml") else { return };
    let expected: &[(&str, &[&str], i64)] = &[
        (
            "net.4.5.2.x64.etl.zip",
            &[
                "PerfView GC Suspension: 1 10.877 10.877",
                "PerfView Gen 1: 1 10.828 10.828",
                "Test GC Suspension: 264 28.975 28.975",
                "Test Gen 0: 263 24.950 24.950",
            ],
            264,
        ),
        ("net.4.5.2.x86.etl.zip", &["Test GC Suspension: 81 5.931 5.931", "Test Gen 0: 80 4.737 4.737"], 80),
        (
            "DynamicEvents.etl.zip",
            &[
                "Benchmarks GC Suspension: 1217 849.607 849.607",
                "Benchmarks Gen 0: 1215 794.746 794.746",
                "Benchmarks Gen 1: 1 2.690 2.690",
                // Matched by process it ends with the collection inside of it. By the number of the collection it takes 2.626.
                "Benchmarks Gen 2: 1 0.932 0.932",
                "PerfView GC Suspension: 1 0.016 0.016",
            ],
            0,
        ),
    ];
    for (file, expected, doubled) in expected {
        for selection in [EventSelection::All, EventSelection::None] {
            let word = selection.name();
            let from_events = word == "all";
            let Some((_out, archive)) = real(file, selection) else { return };
            assert_eq!(figures(&archive, &definitions), *expected, "{file}, events {word}");
            let ignored = fact(&answer(&archive, &Question::new(definitions.clone())), "ignored");
            // A table has each collection once.
            assert_eq!(ignored, if from_events { *doubled } else { 0 }, "{file}, events {word}");
        }
    }
    let Some((_out, archive)) = real("gcevents.etl.zip", EventSelection::Default) else { return };
    let rows = figures(&archive, &definitions);
    let found: Vec<&str> = rows.iter().map(|row| row.split(": ").nth(1).expect("figures")).collect();
    assert_eq!(found, ["2 1.329 1.329", "1 0.703 0.703", "1 0.512 0.512"], "{rows:?}");
}

/// By the number of the collection, as `dump gc` has it.
#[test]
fn our_own_file_pairs_collections_by_number() {
    let own = Arc::new(Definitions::built_in().expect("our own regions"));
    for selection in [EventSelection::All, EventSelection::None] {
        let Some((_out, archive)) = real("DynamicEvents.etl.zip", selection) else { return };
        let question = Question {
            region: Patterns::parse("GC/Collection"),
            by: vec![By::Name],
            sort: Sort::Count,
            ..Question::new(own.clone())
        };
        let rows = table(&answer(&archive, &question), &["name", "count", "sum_ns"]);
        let background = rows.iter().find(|row| row[0] == "2").expect("a background collection");
        let us = (number(&background[2]) as f64 / 1e3).round();
        assert_eq!((background[1].as_str(), us), ("1", 2626.0));
    }
}

/// Events of version 1 only. An archive with the usual choice of events has compilations in a table.
#[test]
fn compilations_of_the_posts_file() {
    let Some(definitions) = definitions("JIT.Regions.xml") else { return };
    let expected: &[(&str, &[&str], i64)] = &[
        ("net.4.5.2.x64.etl.zip", &["PerfView Method: 2 0.407 0.407", "Test Method: 288 218.008 218.008"], 0),
        ("net.4.5.2.x86.etl.zip", &["PerfView Method: 124 29.616 19.363", "Test Method: 271 59.225 59.225"], 10),
        ("diaghub-dotnetcore3.1-win-x64-diagsession.zip", &["locProject Method: 4875 3917.642 3899.198"], 0),
    ];
    for (file, expected, alone) in expected {
        for selection in [EventSelection::All, EventSelection::Default] {
            let word = selection.name();
            let from_events = word == "all";
            let Some((_out, archive)) = real(file, selection) else { return };
            assert_eq!(figures(&archive, &definitions), *expected, "{file}, events {word}");
            let stops = fact(&answer(&archive, &Question::new(definitions.clone())), "ends alone");
            // A table has no end without a begin.
            assert_eq!(stops, if from_events { *alone } else { 0 }, "{file}, events {word}");
        }
    }
}

/// Our own definition pairs by method and nests: the sum of exclusive times and the union are those of `dump jit`.
#[test]
fn our_own_file_has_the_figures_of_dump_jit() {
    let own = Arc::new(Definitions::built_in().expect("our own regions"));
    for file in ["net.4.5.2.x86.etl.zip", "diaghub-dotnetcore3.1-win-x64-diagsession.zip"] {
        for selection in [EventSelection::All, EventSelection::Default] {
            let Some((_out, archive)) = real(file, selection) else { return };
            let question = Question {
                region: Patterns::parse("JIT/*"),
                by: vec![By::Process],
                sort: Sort::Name,
                ..Question::new(own.clone())
            };
            let mut found = table(&answer(&archive, &question), &["pid", "count", "exclusive_ns", "union_ns"]);
            let mut expected =
                table(&answer(&archive, &jit::Question::default()), &["pid", "methods", "sum_ns", "union_ns"]);
            found.retain(|row| row[1] != "0");
            expected.retain(|row| row[1] != "0");
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{file}");
        }
    }
}

/// Each request of a real web server, from its receipt to the end of its answer.
#[test]
fn requests_of_a_web_server() {
    let own = Arc::new(Definitions::built_in().expect("our own regions"));
    let Some((_out, archive)) = real("Tx-HTTP_Server.etl", EventSelection::Default) else { return };
    let question = Question { region: Patterns::parse("HTTP/*"), by: vec![By::Region], ..Question::new(own) };
    let rows = table(&answer(&archive, &question), &["region", "count", "open", "stops"]);
    assert_eq!(rows, [["Served request", "291", "0", "0"]]);
}

/// The question that these arguments ask.
fn asked(arguments: &[&str]) -> Box<dyn Ask> {
    let (_, plan) = Registered::of::<Options>("dump regions").plan(arguments).expect("a question");
    match plan {
        Plan::Archives(asking) => asking.question,
        _ => panic!("it asks archives"),
    }
}

#[test]
fn pairs_of_linux_are_system_calls() {
    let mut tracepoints = Tracepoints::new(Endianness::LittleEndian, vec![SYS_ENTER, SYS_EXIT]);
    tracepoints.arch = Some("x86_64");
    // Threads in turn; each call ends before its thread begins another one, but for the last ones of two threads.
    let mut samples: Vec<(u64, u64, u32, u64)> = Vec::new();
    for (call, tid) in (0_u64..).zip([7, 8, 9].into_iter().cycle().take(60)) {
        let (number, time) = ([0, 1, 257, 3][call as usize % 4], 1_000 + call * 100);
        samples.push((time, 0, tid, number));
        if call < 58 {
            samples.push((time + 11 + call * 3, 1, tid, number));
        }
    }
    samples.sort_unstable();
    for (time, format, tid, number) in samples {
        tracepoints.sample(format, tid, time, 0, |raw| {
            raw.u64(number).u64s(if format == 0 { &[3, 0, 0, 0, 0, 0] } else { &[1] });
        });
    }
    let options =
        tracesift_extract::Options { events: Some(EventSelection::All), ..tracesift_extract::Options::default() };
    let extracted = Recording::of("perf.data", &tracepoints.file()).extract_with(&options);
    let archive = &extracted.report.archive;
    let pair = "--pair=raw_syscalls/sys_enter;raw_syscalls/sys_exit";
    // The call that has not returned ends with the recording in one answer, and is open in the other one.
    let of_calls = syscalls::Question::default().by(&["thread"]).expect("a dimension");
    let calls = table(&answer(archive, &of_calls), &["tid", "calls", "open", "longest_ns"]);
    let regions = answer(archive, &*asked(&[pair, "--by=thread", "--sort=name"]));
    let mut regions = table(&regions, &["tid", "count", "open", "longest_ns"]);
    let mut expected: Vec<Vec<String>> = calls
        .iter()
        .map(|row| {
            vec![row[0].clone(), (number(&row[1]) - number(&row[2])).to_string(), row[2].clone(), row[3].clone()]
        })
        .collect();
    regions.sort();
    expected.sort();
    assert_eq!(regions.len(), 3);
    assert_eq!(regions.iter().map(|row| number(&row[1])).sum::<i64>(), 58);
    assert_eq!(
        regions.iter().map(|row| &row[..3]).collect::<Vec<_>>(),
        expected.iter().map(|row| &row[..3]).collect::<Vec<_>>()
    );
    // The sums of each call by its number, without those that have not returned.
    let all = answer(archive, &*asked(&[pair, "--match=thread,id", "--by=name", "--sort=name"]));
    let found = table(&all, &["name", "count", "sum_ns"]);
    let of_numbers = |number: i64| (0..58_i64).filter(move |call| [0, 1, 257, 3][*call as usize % 4] == number);
    for row in &found {
        let calls: Vec<i64> = of_numbers(number(&row[0])).map(|call| 11 + call * 3).collect();
        assert_eq!((number(&row[1]), number(&row[2])), (calls.len() as i64, calls.iter().sum()), "{found:?}");
    }
    assert_eq!(found.len(), 4);
}

const MS: i64 = 1_000_000;

/// Time in ms, thread, name of the event, fields.
type Logged<'a> = (i64, i32, &'a str, &'a str);

/// An archive with two processes and events of the provider `Shop`.
fn shop(directory: &Path, events: &[Logged<'_>], marks: &[(i64, &str)]) -> PathBuf {
    let mut writer = create(&directory.join("shop.sift"));
    writer.write_table(&[process(1, 100, "a.exe"), process(2, 200, "b.exe")]);
    writer.write_table(&[thread(1, 1, 11), thread(2, 2, 22)]);
    for (time, thread, event, fields) in events {
        writer.event(&EventRow {
            time: time * MS,
            process: Some(ProcessId(*thread)),
            thread: Some(ThreadId(*thread)),
            provider: "Shop".to_owned(),
            event: (*event).to_owned(),
            fields: (*fields).to_owned(),
            ..EventRow::default()
        });
    }
    for (time, text) in marks {
        writer.mark(&MarkRow { time: time * MS, text: (*text).to_owned(), ..MarkRow::default() });
    }
    let info =
        TraceInfo { name: "shop".to_owned(), kind: "etl".to_owned(), end_ns: 1_000 * MS, ..TraceInfo::default() };
    finish_as(writer, info)
}

/// Calls of functions: `Outer` runs twice, and `Inner` in it; an end without a begin; one that is open.
const CALLS: &[Logged<'static>] = &[
    (0, 1, "Leave", "{\"Name\":\"lost\"}"),
    (10, 1, "Enter", "{\"Name\":\"Outer\"}"),
    (12, 1, "Enter", "{\"Name\":\"Inner\"}"),
    (15, 1, "Leave", "{\"Name\":\"Inner\"}"),
    (16, 1, "Enter", "{\"Name\":\"Inner\"}"),
    (17, 1, "Leave", "{\"Name\":\"Inner\"}"),
    (20, 1, "Leave", "{\"Name\":\"Outer\"}"),
    // Beside the first thread.
    (14, 2, "Enter", "{\"Name\":\"Inner\"}"),
    (18, 2, "Leave", "{\"Name\":\"Inner\"}"),
    (30, 1, "Enter", "{\"Name\":\"Outer\"}"),
    (36, 1, "Leave", "{\"Name\":\"Outer\"}"),
    (40, 2, "Enter", "{\"Name\":\"Endless\"}"),
    (41, 2, "Enter", "{\"Name\":\"Inner\"}"),
    (43, 2, "Leave", "{\"Name\":\"Inner\"}"),
];

fn calls(directory: &Path) -> PathBuf {
    let mut events = CALLS.to_vec();
    events.sort_by_key(|event| event.0);
    shop(directory, &events, &[])
}

const PAIR: [&str; 2] = ["--pair=Shop/Enter;Shop/Leave", "--match=thread,Name"];

fn ms(row: &[String], place: usize) -> i64 {
    number(&row[place]) / MS
}

#[test]
fn regions_add_up_by_name_process_and_thread() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = calls(directory.path());
    let rows = |arguments: &[&str], time: &str| {
        let arguments: Vec<&str> = PAIR.iter().chain(arguments).copied().collect();
        let keys = ["name", "count", "sum_ns", "union_ns", "longest_ns", "exclusive_ns", "open"];
        let answer = at(&archive, &*asked(&arguments), time);
        let rows = table(&answer, &keys);
        let shown = |row: &Vec<String>| {
            // Nothing is known of the longest of no region.
            let time = |place: usize| if row[place] == "-" { "-".to_owned() } else { ms(row, place).to_string() };
            let times: Vec<String> = (2..6).map(time).collect();
            format!("{} {} [{}] {}", row[0], row[1], times.join(", "), row[6])
        };
        rows.iter().map(shown).collect::<Vec<String>>()
    };
    let by_name = ["--by=name", "--sort=sum"];
    assert_eq!(
        rows(&by_name, ".."),
        ["Endless 0 [0, 0, -, 0] 1", "Inner 4 [10, 8, 4, 10] 0", "Outer 2 [16, 16, 10, 12] 0"]
    );
    // Cut to a range: Outer from 14 to 20, Inner from 14 to 15, 16 to 17, and 14 to 18.
    assert_eq!(rows(&by_name, "14ms..25ms"), ["Inner 3 [6, 4, 4, 6] 0", "Outer 1 [6, 6, 6, 4] 0"]);
    assert_eq!(rows(&["--by=name", "--name=Outer", "--min-duration=7"], ".."), ["Outer 1 [10, 10, 10, 6] 0"]);
    let filtered = rows(&["--by=name", "--sort=name"], "41ms..42ms");
    assert_eq!(filtered, ["Endless 0 [0, 0, -, 0] 1", "Inner 1 [1, 1, 1, 1] 0"]);
    let arguments: Vec<&str> = PAIR.iter().chain(&["--by=thread"]).copied().collect();
    let threads = table(&answer(&archive, &*asked(&arguments)), &["process", "tid", "count", "sum_ns", "stops"]);
    let expected = [["b.exe", "22", "2", "6000000", "0"], ["a.exe", "11", "4", "20000000", "1"]];
    assert_eq!(threads, expected);
}

#[test]
fn regions_lie_in_each_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = calls(directory.path());
    let arguments: Vec<&str> = PAIR.iter().chain(&["--tree"]).copied().collect();
    let rows =
        table(&answer(&archive, &*asked(&arguments)), &["depth", "name", "count", "sum_ns", "exclusive_ns", "open"]);
    let expected = [
        ["0", "Endless", "0", "0", "0", "1"],
        ["1", "Inner", "1", "2000000", "2000000", "0"],
        ["0", "Inner", "1", "4000000", "4000000", "0"],
        ["0", "Outer", "2", "16000000", "12000000", "0"],
        ["1", "Inner", "2", "4000000", "4000000", "0"],
    ];
    assert_eq!(rows, expected);
    let arguments: Vec<&str> = PAIR.iter().chain(&["--list", "--sort=start", "--top=3"]).copied().collect();
    let rows =
        table(&answer(&archive, &*asked(&arguments)), &["start_ns", "end_ns", "name", "depth", "open", "fields"]);
    let expected = [
        ["30000000", "36000000", "Outer", "0", "false", "{\"Name\":\"Outer\"}"],
        ["40000000", "-", "Endless", "0", "true", "{\"Name\":\"Endless\"}"],
        ["41000000", "43000000", "Inner", "1", "false", "{\"Name\":\"Inner\"}"],
    ];
    assert_eq!(rows, expected);
}

/// Marks with words of begin and end make regions of our own file.
#[test]
fn marks_are_regions() {
    let directory = tempfile::tempdir().expect("a directory");
    let marks =
        [(1, "Start load"), (2, "begin: Save"), (4, "stop load"), (5, "nothing"), (9, "Save - end"), (10, "stop x")];
    let archive = shop(directory.path(), &[], &marks);
    let own = Arc::new(Definitions::built_in().expect("our own regions"));
    let question = Question { show: Show::List, sort: Sort::Start, ..Question::new(own) };
    let answer = answer(&archive, &question);
    let rows = table(&answer, &["start_ns", "end_ns", "region", "name"]);
    assert_eq!(rows, [["1000000", "4000000", "Marked", "load"], ["2000000", "9000000", "Marked", "save"]]);
    assert_eq!((fact(&answer, "regions"), fact(&answer, "ends alone")), (2, 1));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let question = Registered::of::<Options>("dump regions");
    for (arguments, says) in [
        (&["--sort=start"][..], "--sort start is of single regions"),
        (&["--list", "--sort=count"], "a list of single regions has no counts"),
        (&["--match=process"], "--pair"),
        (&["--pair=a/b"], "it must be two events"),
        (&["--region-file=/nowhere/no.xml"], "/nowhere/no.xml"),
        (&["--list", "--tree"], "--tree"),
    ] {
        let error = question.plan(arguments).err().unwrap_or_else(|| panic!("{arguments:?} is a question"));
        assert!(error.message.contains(says), "{arguments:?}: {}", error.message);
    }
    assert!(Options::FORMS.len() == 2);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("my.xml");
    std::fs::write(&file, "<InstrumentationManifest>\n<Colour/></InstrumentationManifest>").expect("written");
    let argument = format!("--region-file={}", file.display());
    let error = question.plan(&[&argument]).err().expect("an error");
    assert!(
        error.message.ends_with("my.xml:2:1: <Colour> in <InstrumentationManifest> is not known"),
        "{}",
        error.message
    );
}

/// Each bucket has the parts of regions in it.
#[test]
fn a_series_has_the_parts_of_regions() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = calls(directory.path());
    let arguments: Vec<&str> = PAIR.iter().chain(&["--by=name", "--name=Outer"]).copied().collect();
    let when = When { bucket: Some(15 * MS), time: "0..45ms".parse().expect("a range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive)], &*asked(&arguments), &when);
    let rows = table(&outcome.answer, &["bucket_ns", "sum_ns"]);
    assert_eq!(rows, [["0", "5000000"], ["15000000", "5000000"], ["30000000", "6000000"]]);
}
