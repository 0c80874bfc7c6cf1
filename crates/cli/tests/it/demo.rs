//! The demo's recordings answer with the figures of the story that they tell, from the command line to the answer.

use std::fmt::Write as _;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_scenario::story::{StoryFigures, TAGS, figures};

use crate::support::{rows, run, tracesift};

const MS: i64 = 1_000_000;

/// The rows of a recording and process.
fn of<'a>(rows: &'a [Value], figures: &StoryFigures, process: &str) -> Vec<&'a Value> {
    let is_one = |row: &&Value| {
        row["file"].as_str().unwrap().contains(&figures.recording) && row["process"].as_str() == Some(process)
    };
    rows.iter().filter(is_one).collect()
}

#[test]
fn methods_and_tags_are_those_of_the_story() {
    let directory = TempDir::new().unwrap();
    let shown = tracesift(directory.path(), &["demo", "demo", "--all"]);
    assert!(shown.contains("NTFS Checkpoint Volume"), "the demo shows tags");
    assert!(shown.contains("Ntfs.sys!NtfsCheckpointVolume"), "the demo shows methods");

    let mut file = String::from("<Tag Name=\"\">");
    for tag in TAGS {
        write!(
            file,
            "<Tag Name=\"{}\"><Entrypoint Module=\"{}\" Method=\"{}*\"/></Tag>",
            tag.name, tag.module, tag.function
        )
        .unwrap();
    }
    file.push_str("</Tag>");
    std::fs::write(directory.path().join("story.stacktags"), file).unwrap();
    let methods = rows(directory.path(), &["dump", "cpu", "demo", "--methods", "*"]);
    let tags = rows(directory.path(), &["dump", "cpu", "demo", "--stacktags", "*", "--tag-file", "story.stacktags"]);
    let mut compared = 0;
    for story in figures() {
        for method in &story.methods {
            let name = method.symbol.unwrap_or(&method.method.function);
            let found = of(&methods, &story, method.process);
            let row = found.iter().find(|row| row["method"].as_str() == Some(name));
            let row = row.unwrap_or_else(|| panic!("{}: no {name} in {}", story.recording, method.process));
            let what = format!("{}: {name} in {}", story.recording, method.process);
            let ns = |key: &str| row[key].as_i64().unwrap();
            assert_eq!(ns("cpu_ns"), method.cpu as i64 * MS, "CPU, {what}");
            for (key, expected) in [("wait_sum_ns", method.wait), ("ready_sum_ns", method.ready)] {
                if let Some(expected) = expected {
                    assert_eq!(ns(key), expected as i64 * MS, "{key}, {what}");
                }
            }
            if let Some(span) = method.span {
                let found = ns("last_ns") - ns("first_ns");
                assert!((found - span as i64 * MS).abs() <= MS, "first to last {found} ns, {span} ms expected, {what}");
            }
            compared += 1;
        }
        for figure in &story.tags {
            let what = format!("{}: {} in {}", story.recording, figure.tag.name, figure.process);
            let found = of(&tags, &story, figure.process);
            let row = found.iter().find(|row| row["stack_tag"].as_str() == Some(figure.tag.name));
            let ns = |key: &str| row.map_or(0, |row| row[key].as_i64().unwrap());
            assert_eq!(ns("cpu_ns"), figure.cpu as i64 * MS, "CPU, {what}");
            assert_eq!(ns("wait_sum_ns"), figure.wait as i64 * MS, "wait, {what}");
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared} figures are too few to say anything");
}

/// Beside a run in which the scanner did not wake up, the writer used 58 % more CPU time, but a smaller share of all.
#[test]
fn more_time_is_red_though_the_share_is_smaller() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let names: Vec<String> = std::fs::read_dir(directory.path().join("demo"))
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|name| name.ends_with(".sift"))
        .collect();
    let archive = |part: &str| names.iter().find(|name| name.contains(part)).unwrap().as_str();
    let colour = |options: &[&str]| {
        let two = ["flame", archive("Serial_12695ms"), "--against", archive("Serial_7066ms"), "-o", "change.svg"];
        tracesift(directory.path(), &[&two[..], options].concat());
        let picture = std::fs::read_to_string(directory.path().join("change.svg")).unwrap();
        let (before, _) = picture.split_once("\"><title>FileWriter.Program.Main\n").unwrap();
        before.chars().rev().find(|c| c.is_alphabetic()).unwrap()
    };
    assert_eq!(colour(&[]), 'r');
    assert_eq!(colour(&["--change", "share"]), 'b');
}

/// The first thing that a newcomer sees: no line is cut, and what the sentences say is what the answers say.
#[test]
fn one_screen_whose_sentences_have_the_figures_of_the_answers() {
    let directory = TempDir::new().unwrap();
    let screen = tracesift(directory.path(), &["demo", "demo"]);
    assert!(screen.lines().count() <= 45, "{} lines:\n{screen}", screen.lines().count());
    for line in screen.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    insta::assert_snapshot!("demo", screen);
    let sentences: Vec<&str> = screen.lines().filter_map(|line| line.strip_prefix("=> ")).collect();
    assert_eq!(sentences.len(), 4, "{screen}");
    let says = |place: usize, ns: i64| {
        let seconds = format!(" {:.1} s", ns as f64 / 1e9);
        assert!(sentences[place].contains(&seconds), "{}: no{seconds}", sentences[place]);
    };
    let int = |row: &Value, key: &str| row[key].as_i64().unwrap();

    let tests = rows(directory.path(), &["dump", "testrun", "demo"]);
    let slowest = tests.iter().max_by_key(|test| int(test, "max_ns")).unwrap();
    says(0, int(slowest, "min_ns"));
    says(0, int(slowest, "max_ns"));
    let cpu = rows(directory.path(), &["dump", "cpu", "demo/*_12695ms_*"]);
    for process in ["MsMpEng.exe", "FileWriter.exe"] {
        says(1, int(cpu.iter().find(|row| row["process"] == process).unwrap(), "cpu_ns"));
    }
    let waits = rows(
        directory.path(),
        &["dump", "waits", "demo/*_14527ms_*", "-p", "FileWriter", "--methods", "Ntfs*", "--top", "2"],
    );
    says(2, waits.iter().map(|wait| int(wait, "wait_ns")).sum());
    says(2, int(&waits[1], "wait_ns"));
    let tag =
        rows(directory.path(), &["dump", "cpu", "demo/*_14527ms_*", "-p", "System", "--stacktags", "*checkpoint*"]);
    says(3, int(&tag[0], "cpu_ns"));
    says(3, int(&tag[0], "wait_ns"));
    // What is to be tried next can be tried.
    let next: Vec<&str> = screen.lines().filter_map(|line| line.strip_prefix("  tracesift ")).collect();
    assert_eq!(next.len(), 4, "{screen}");
    for command in next {
        let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('"')).collect();
        tracesift(directory.path(), &words);
    }
    assert!(directory.path().join("cpu.svg").exists());
}

/// Only the timer ends a sleep, whoever was running when it fired.
#[test]
fn a_sleep_is_ended_by_the_timer() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let waits = rows(directory.path(), &["dump", "waits", "demo", "-p", "FileWriter", "--top", "1000"]);
    let sleeps: Vec<&Value> = waits.iter().filter(|wait| wait["reason"] == "DelayExecution").collect();
    // Eight in each of the six recordings.
    assert_eq!(sleeps.len(), 48);
    sleeps.iter().for_each(|sleep| assert_eq!(sleep["woken_by"], "timer", "{sleep}"));
}

/// The command lines of the post on slow browsing, in the directory with its recording. There the fourth name has a total of 12.047 s,
/// the longest of its queries; the two queries follow each other.
#[test]
fn a_browser_waits_for_names() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let browser = directory.path().join("demo/browser");
    let asked = |more: &[&str]| {
        let line = ["-dump", "DNS", "-topn", "5", "-fd", "SlowBrowsing_Skyrmion.json"];
        tracesift(&browser, &[&line[..], more].concat())
    };
    insta::assert_snapshot!("dns", asked(&[]));
    insta::assert_snapshot!("dns_details", asked(&["-details"]));
    asked(&["-csv", "dns.csv"]);
    insta::assert_snapshot!("dns_csv", std::fs::read_to_string(browser.join("dns.csv")).unwrap());
    let names = rows(&browser, &["dump", "dns", "SlowBrowsing_Skyrmion.sift"]);
    let total = |row: &Value| row["total_ns"].as_i64().unwrap() / MS;
    assert_eq!(names.iter().map(total).sum::<i64>(), 60_253);
    let first = &names[0];
    assert_eq!(
        (first["name"].as_str(), total(first), first["queries"].as_i64()),
        (Some("graph.oculus.com"), 12_038, Some(4))
    );
    // A query that went to two servers is in the row of each; the totals count it once.
    let servers = rows(&browser, &["dump", "dns", "SlowBrowsing_Skyrmion.sift", "--by", "server", "--timed-out"]);
    let queries: Vec<_> = servers.iter().map(|row| (row["server"].as_str(), row["queries"].as_i64())).collect();
    assert_eq!(queries, [(Some("10.0.0.1"), Some(6)), (Some("10.0.0.2"), Some(6))]);
}

/// The command line of the post about processors with two kinds of cores, as it stands there.
#[test]
fn power_settings_of_windows_10_differ_in_three_settings() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let shown = tracesift(&directory.path().join("demo"), &["-dump", "power", "-fd", "win10", "-diff"]);
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let expected = [
        "power  settings 55, settings that differ 3",
        "    Setting                      Balanced     FastCoresFirst",
        "  processor",
        "    Heterogeneous policy         4            3",
        "    Scheduling of long threads   5 automatic  0 all processors",
        "    Scheduling of short threads  5 automatic  0 all processors",
    ];
    assert_eq!(lines, expected);
}

/// The command line of the post about tests whose files are not in the file system cache, as it stands there.
#[test]
fn one_test_waits_for_hard_faults() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let demo = directory.path().join("demo");
    let asked = ["-dump", "CPU", "-pn", "Filewriter", "-methods", "MiIssueHardFault"];
    insta::assert_snapshot!("hard_faults", tracesift(&demo, &asked));
    let waits = rows(&demo, &["dump", "cpu", "-p", "FileWriter", "--methods", "MiIssueHardFault"]);
    let [row] = waits.as_slice() else { panic!("one recording has such waits: {waits:?}") };
    assert_eq!((row["test_ms"].as_i64(), row["wait_ns"].as_i64()), (Some(7_066), Some(740 * MS)));
    // The figure of the faults themselves is the same, but for those that the disk's cache answers.
    let faults = rows(&demo, &["dump", "faults", "-p", "FileWriter", "--sort", "time"]);
    let cold = faults.iter().find(|row| row["test_ms"].as_i64() == Some(7_066)).unwrap();
    assert_eq!(cold["hard_faults"].as_i64(), Some(14));
    let time = cold["hard_time_sum_ns"].as_i64().unwrap() / MS;
    assert!((740..745).contains(&time), "{time} ms");
}

/// The command lines of the post about the efficiency of the CPU: where the virus scanner checks every file the test needs 1.2 cycles
/// per instruction, else 0.69.
#[test]
fn the_scanner_makes_instructions_slower() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let demo = directory.path().join("demo");
    insta::assert_snapshot!("pmc", tracesift(&demo, &["-dump", "PMC", "-pn", "FileWriter"]));
    insta::assert_snapshot!("pmc_ratios", tracesift(&demo, &["-dump", "PMC", "-pn", "FileWriter", "-NoCounters"]));
    let line = ["-dump", "PMC", "-pn", "FileWriter", "-fd", "*CreateSerial*", "-fd", ".", "-csv", "PMC_Summary.csv"];
    tracesift(&demo, &line);
    insta::assert_snapshot!("pmc_csv", std::fs::read_to_string(demo.join("PMC_Summary.csv")).unwrap());
    let answered = rows(&demo, &["dump", "pmc", "-p", "FileWriter"]);
    let cpi = |milliseconds: i64| {
        let row = answered.iter().find(|row| row["test_ms"].as_i64() == Some(milliseconds)).unwrap();
        (row["cpi"].as_f64().unwrap() * 100.0).round() as i64
    };
    assert_eq!([cpi(12_695), cpi(7_066)], [120, 69]);
    // The differences of a second count in it: all seconds together have the whole.
    let whole = rows(&demo, &["dump", "pmc", "*_7066ms_*", "--by", "process"]);
    let series = rows(&demo, &["dump", "pmc", "*_7066ms_*", "--by", "process", "--bucket", "1s"]);
    let sum = |rows: &[Value], key: &str| rows.iter().map(|row| row[key].as_i64().unwrap_or(0)).sum::<i64>();
    for key in ["instructions", "cycles", "cache_misses", "run_ns"] {
        assert_eq!(sum(&whole, key), sum(&series, key), "{key}");
        assert!(sum(&whole, key) > 0, "{key}");
    }
}

/// A class that no file has is no answer of zero: a script sees it. One file that has it is enough.
#[test]
fn what_no_recording_has_ends_with_a_code_of_its_own() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    for (question, more) in [
        ("dns", &[][..]),
        ("dns", &["--bucket", "1s"]),
        ("stacks", &["--measure", "dns"]),
        ("tcp", &["--retransmits"]),
        ("tcp", &["--issues"]),
    ] {
        let line = [&["dump", question, "demo/*_12695ms_*"][..], more].concat();
        let said = run(directory.path(), &line);
        assert!(said.starts_with("exit: 1\n"), "{line:?}: {said}");
        assert!(said.contains("not recorded; record with: tracesift record --profile Network"), "{line:?}: {said}");
    }
    tracesift(directory.path(), &["dump", "dns", "demo/*_12695ms_*", "demo/browser"]);
    // Recorded, and nothing of it passes.
    tracesift(directory.path(), &["dump", "disk", "demo/*_12695ms_*", "-p", "no-such-process"]);
}

/// The overview has the totals of the questions about classes that are in no other block.
#[test]
fn the_overview_names_all_that_was_recorded() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let screen = tracesift(directory.path(), &["overview", "demo/browser/SlowBrowsing_Skyrmion.sift"]);
    insta::assert_snapshot!("overview_of_a_browser", screen);
    let overview = rows(directory.path(), &["overview", "demo/browser/SlowBrowsing_Skyrmion.sift"]);
    let classes = overview[0]["classes"].as_array().unwrap();
    let dns = classes.iter().find(|class| class["question"] == "dns").unwrap();
    let totals = &dns["totals"];
    assert_eq!((totals["DNS queries"].as_i64(), totals["waited for DNS"].as_i64()), (Some(12), Some(27_794 * MS)));
    let asked = rows(directory.path(), &["dump", "dns", "demo/browser", "--by", "status"]);
    assert_eq!(asked.iter().map(|row| row["total_ns"].as_i64().unwrap()).sum::<i64>(), 27_794 * MS);
    let commands: Vec<&str> =
        overview[0]["next"].as_array().unwrap().iter().filter_map(|next| next["command"].as_str()).collect();
    assert!(commands.iter().any(|command| command.starts_with("tracesift dump dns ")), "{commands:?}");
}
