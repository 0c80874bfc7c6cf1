//! `dump path` and `compare` over the demo's recordings, whose story the posts tell, from the command line to the answer.

use serde_json::Value;
use tempfile::TempDir;
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{self, Noise};

use crate::support::{rows, run, tracesift};

const MS: i64 = 1_000_000;

fn demo() -> TempDir {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    directory
}

fn compare(directory: &TempDir, sets: [&str; 2]) -> Value {
    let text = tracesift(directory.path(), &["compare", sets[0], sets[1], "-p", "FileWriter", "--format", "json"]);
    serde_json::from_str(&text).unwrap()
}

fn sum<'a>(rows: impl IntoIterator<Item = &'a Value>, key: &str) -> i64 {
    rows.into_iter().map(|row| row[key].as_i64().unwrap()).sum()
}

#[test]
fn each_story_is_a_difference_that_adds_up_and_names_its_cause() {
    let directory = demo();
    // The slower runs beside the one without scanner and checkpoint: Defender, and the checkpoint of 7.46 s.
    for (slow, kind, least) in [("demo/*Serial_12695ms*", "antivirus", 2_800), ("demo/*_14527ms*", "checkpoint", 7_440)]
    {
        let compared = compare(&directory, ["demo/*Serial_7066ms*", slow]);
        let case = &compared["cases"][0];
        assert_eq!(case["case"], "CreateSerial");
        let durations = [0, 1].map(|set| case["sets"][set]["runs"][0]["duration_ns"].as_i64().unwrap());
        let difference = case["difference_ns"].as_i64().unwrap();
        assert_eq!(difference, durations[1] - durations[0]);
        assert_eq!(sum(case["rows"].as_array().unwrap(), "delta_ns"), difference, "{slow}");
        assert_eq!(sum(case["shown"].as_array().unwrap(), "delta_ns"), difference, "{slow}");
        let first = &case["shown"][0];
        assert_eq!(first["text"], format!("disturbed: {kind}"), "{slow}");
        assert!(first["delta_ns"].as_i64().unwrap() >= least * MS, "{first}");
        assert_eq!(case["verdict"]["duration"], "undecided", "one run each");
    }
}

#[test]
fn a_window_of_a_method_is_what_the_test_measured() {
    let directory = demo();
    let window = ["dump", "path", "demo/*Serial_12695ms*", "--window", "method:*CreateFiles*", "--top", "1000"];
    let rows = rows(directory.path(), &window);
    assert_eq!(rows[0]["window_ns"], 12_695 * MS);
    assert_eq!(sum(&rows, "path_ns"), 12_695 * MS);
    // The last worker that ended woke the main thread: the path of the parallel run leads to the checkpoint, too.
    let parallel = ["dump", "path", "demo/*Parallel_9156ms*", "-p", "FileWriter", "--level", "who"];
    let rows = crate::support::rows(directory.path(), &parallel);
    let checkpoint: Vec<&Value> = rows.iter().filter(|row| row["disturbance"] == "checkpoint").collect();
    assert!(sum(checkpoint.iter().copied(), "path_ns") > 5_000 * MS, "{rows:?}");
}

/// The lines of a folded profile, the largest last.
fn folded(directory: &TempDir, arguments: &[&str]) -> Vec<(String, i64)> {
    let options = ["--path", "--format", "folded", "-o", "-"];
    let text = tracesift(directory.path(), &[&["export"], arguments, &options].concat());
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        (stack.to_owned(), weight.parse().unwrap())
    };
    let mut lines: Vec<(String, i64)> = text.lines().map(line).collect();
    lines.sort_by_key(|(_, weight)| *weight);
    lines
}

#[test]
fn a_picture_of_a_path_is_as_wide_as_the_window_and_leads_to_whom_it_waited_for() {
    let directory = demo();
    let total = |lines: &[(String, i64)]| lines.iter().map(|(_, weight)| weight).sum::<i64>();
    let serial = folded(&directory, &["demo/*Serial_12695ms*", "--window", "method:*CreateFiles*"]);
    assert_eq!(total(&serial), 12_695 * MS);
    let checkpoint = folded(&directory, &["demo/*_14527ms*", "-p", "FileWriter"]);
    let rows = rows(directory.path(), &["dump", "path", "demo/*_14527ms*", "-p", "FileWriter", "--top", "1000"]);
    assert_eq!(total(&checkpoint), rows[0]["window_ns"].as_i64().unwrap());
    for kind in ["antivirus", "checkpoint", "cpu-taken"] {
        let of_rows = rows.iter().filter(|row| row["disturbance"] == kind);
        let frame = format!("[disturbance: {kind}]");
        let of_stacks: Vec<_> = checkpoint.iter().filter(|(stack, _)| stack.ends_with(&frame)).cloned().collect();
        assert_eq!(total(&of_stacks), sum(of_rows, "path_ns"), "{kind}");
    }
    let largest: Vec<String> = checkpoint.iter().rev().take(6).map(|(stack, ns)| format!("{stack} {ns}")).collect();
    insta::assert_snapshot!("largest_stacks_of_a_path", largest.join("\n"));
    let chains = ["dump", "path", "demo/*_14527ms*", "-p", "FileWriter", "--level", "who", "--details"];
    insta::assert_snapshot!("chains_of_a_path", tracesift(directory.path(), &chains));
    for (command, name, begin) in [
        ("flame", "x.svg", &b"<?xml"[..]),
        ("export", "x.firefox.json", b"{"),
        ("export", "x.speedscope.json", b"{"),
        ("export", "x.pb.gz", b"\x1f\x8b"),
        ("export", "x.perfetto-trace", b"\n"),
    ] {
        let said = run(directory.path(), &[command, "demo/*_14527ms*", "-p", "FileWriter", "--path", "-o", name]);
        assert!(said.starts_with("exit: 0"), "{said}");
        assert!(std::fs::read(directory.path().join(name)).unwrap().starts_with(begin), "{name}");
    }
    let picture = std::fs::read_to_string(directory.path().join("x.svg")).unwrap();
    let width = format!("data-total=\"{}\"", total(&checkpoint));
    assert!(picture.contains(&width) && picture.contains(">Disturbance</text>"), "{width}");
    let two = ["flame", "demo/*_14527ms*", "--against", "demo/X", "-p", "FileWriter", "--path", "-o", "change.svg"];
    let base = std::fs::read_dir(directory.path().join("demo")).unwrap().map(|entry| entry.unwrap().path());
    let base = base.map(|path| path.display().to_string()).find(|path| path.contains("Serial_7066ms"));
    let two = two.map(|word| if word == "demo/X" { base.as_deref().unwrap() } else { word });
    let said = run(directory.path(), &two);
    assert!(said.starts_with("exit: 0"), "{said}");
}

#[test]
fn options_that_a_profile_would_ignore_are_refused() {
    let directory = demo();
    let said =
        |arguments: &[&str]| run(directory.path(), &[&["flame", "demo/*_14527ms*", "-o", "x.svg"], arguments].concat());
    for option in ["--anchor=main", "--follow=requests", "--disturbances=none"] {
        let name = option.split('=').next().unwrap();
        let text = said(&[option]);
        assert!(text.starts_with("exit: 64") && text.contains(&format!("{name} is about the path")), "{text}");
    }
    for option in ["--measure=wait", "--methods=*", "--time=1s..2s", "--in-focus"] {
        let text = said(&["--path", "-p", "FileWriter", option]);
        assert!(text.starts_with("exit: 64") && text.contains("cannot be used with"), "{text}");
    }
    let text = said(&["--path", "-p", "nobody"]);
    assert!(text.starts_with("exit: 1") && text.contains("nothing fits process:nobody"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_said_with_its_exit_code() {
    let directory = demo();
    let said = |arguments: &[&str]| run(directory.path(), arguments);
    let list = said(&["compare", "demo/a.sift", "demo/b.sift", "demo/c.sift"]);
    assert!(list.starts_with("exit: 64") && list.contains("which runs belong together?"), "{list}");
    let one = said(&["compare", "demo"]);
    assert!(one.starts_with("exit: 64") && one.contains("two sets of runs are compared"), "{one}");
    let no_window = said(&["compare", "demo/*Serial_7066ms*", "demo/*Serial_12695ms*", "-p", "nobody"]);
    assert!(no_window.starts_with("exit: 1") && no_window.contains("nothing fits process:nobody"), "{no_window}");
    let same = said(&["compare", "demo/*Serial_7066ms*", "demo/*Serial_7066ms*", "-p", "FileWriter"]);
    assert!(same.starts_with("exit: 1") && same.contains("not comparable, because the recording"), "{same}");
    let other = said(&["compare", "demo/*Serial_7066ms*", "demo/*Parallel_3135ms*", "-p", "FileWriter"]);
    assert!(other.starts_with("exit: 1") && other.contains("CreateSerial is in A only"), "{other}");
    let range = said(&["dump", "path", "demo/*Serial_7066ms*", "--window", "1s..2s"]);
    assert!(range.starts_with("exit: 64") && range.contains("does not say which program is tested"), "{range}");
}

/// Runs of a machine whose history is known, in folders of these names: one recording in each.
fn histories(folders: &[&str]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (seed, folder) in (1..).zip(folders) {
        let noise = Noise { step_cv_ppm: 10_000, ..Noise::default() };
        let workload = Workload { items: 12, prepare: 20 * MS, report: 20 * MS, ..Workload::default() };
        let history = causal::run(workload.world(), &noise, seed);
        let folder = directory.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = std::fs::File::create(folder.join(format!("run{seed}.data"))).unwrap();
        causal::perf::write(&history, MS, std::io::BufWriter::new(file)).unwrap();
        let parts = causal::etl::scenario(&history, MS).parts().unwrap();
        let folder = folder.with_extension("etl");
        std::fs::create_dir_all(&folder).unwrap();
        for part in parts {
            std::fs::write(folder.join(format!("run{seed}{}", part.suffix)), &part.bytes).unwrap();
        }
    }
    tracesift(directory.path(), &["extract", "-q", "--recursive", "."]);
    directory
}

#[test]
fn one_run_each_has_rows_and_no_verdict() {
    let directory = histories(&["a", "b"]);
    let said = run(directory.path(), &["compare", "a", "b", "-p", "app"]);
    assert!(said.starts_with("exit: 0") && said.contains("one run each: nothing is known of the noise"), "{said}");
    assert!(said.contains("Undecided") && !said.contains(" * "), "{said}");
}

#[test]
fn recordings_of_different_systems_are_not_compared() {
    let directory = histories(&["a", "b"]);
    let said = run(directory.path(), &["compare", "a.etl", "b", "-p", "app"]);
    assert!(said.starts_with("exit: 1"), "{said}");
    assert!(said.contains("not comparable, because the recordings are of different kinds: etl and perf"), "{said}");
    assert!(!said.contains("Duration"), "no number that means something else: {said}");
}

#[test]
fn recordings_without_context_switches_are_not_compared_with_others() {
    let directory = histories(&["a", "b"]);
    tracesift(directory.path(), &["extract", "a", "-q", "--overwrite", "--tables", "!context_switches"]);
    let said = run(directory.path(), &["compare", "a", "b", "-p", "app"]);
    assert!(said.starts_with("exit: 1"), "{said}");
    assert!(said.contains("not comparable, because some runs have no context switches, such as run1"), "{said}");
    assert!(!said.contains("Duration"), "{said}");
    // With samples alone on both sides, it is said what a row means.
    tracesift(directory.path(), &["extract", "b", "-q", "--overwrite", "--tables", "!context_switches"]);
    let said = run(directory.path(), &["compare", "a", "b", "-p", "app"]);
    assert!(said.starts_with("exit: 0") && said.contains("not on a CPU or not sampled"), "{said}");
}

#[test]
fn a_run_without_the_window_is_left_out_and_named() {
    let directory = histories(&["a", "b"]);
    let stories = demo();
    let story = std::fs::read_dir(stories.path().join("demo")).unwrap().map(|entry| entry.unwrap().path());
    let story = story.filter(|path| path.extension().is_some_and(|extension| extension == "sift")).min().unwrap();
    std::fs::rename(story, directory.path().join("b.etl/story.sift")).unwrap();
    let said = run(directory.path(), &["compare", "a.etl", "b.etl", "-p", "app"]);
    assert!(said.starts_with("exit: 2") && said.contains("1 run in a.etl, 1 in b.etl"), "{said}");
    assert!(said.contains("error: story: nothing fits process:app"), "{said}");
}

#[test]
fn sums_of_an_import_are_not_compared() {
    let directory = crate::importing::extracts();
    assert!(run(directory.path(), &["import", "Load*0.json"]).starts_with("exit: 0"));
    let said = run(directory.path(), &["compare", "*.sift", "*.sift", "-p", "Client"]);
    assert!(said.starts_with("exit: 1"), "{said}");
    assert!(said.contains("context switches: none in the imported extract"), "{said}");
}

#[test]
fn each_case_is_compared_on_its_own() {
    let directory = histories(&["a", "b", "c", "d"]);
    let of = |place: &str| directory.path().join(place);
    for (from, to) in
        [("a/run1", "x/One_1ms"), ("b/run2", "x/Two_1ms"), ("c/run3", "y/One_1ms"), ("d/run4", "y/Two_1ms")]
    {
        let to = of(&format!("{to}_PC_CLT_TestStatus-Passed_20220404-101500.sift"));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(of(&format!("{from}.sift")), to).unwrap();
    }
    let said = run(directory.path(), &["compare", "x", "y", "-p", "app"]);
    assert!(said.starts_with("exit: 0"), "{said}");
    for text in ["One  1 run in x, 1 in y", "Two  1 run in x, 1 in y", "Geometric mean"] {
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn several_windows_of_a_run_count_as_their_mean_where_somebody_says_so() {
    let directory = histories(&["a", "b"]);
    let arguments = ["compare", "a.etl", "b.etl", "-p", "app", "--window", "wait:*Report.poll*"];
    let said = run(directory.path(), &arguments);
    assert!(said.starts_with("exit: 1") && said.contains("4 windows fit: choose one of each run"), "{said}");
    let text = tracesift(directory.path(), &[&arguments[..], &["--repetitions", "--format", "json"]].concat());
    let case = &serde_json::from_str::<Value>(&text).unwrap()["cases"][0];
    // Each pause is 15 ms, some more and some less.
    for set in case["sets"].as_array().unwrap() {
        let duration = set["runs"][0]["duration_ns"].as_i64().unwrap();
        assert!((14 * MS..17 * MS).contains(&duration), "{duration}");
    }
    let difference = case["difference_ns"].as_i64().unwrap();
    assert_eq!(sum(case["rows"].as_array().unwrap(), "delta_ns"), difference);
    assert_eq!(sum(case["shown"].as_array().unwrap(), "delta_ns"), difference);
}

#[test]
fn rows_of_a_level_add_up_too() {
    let directory = demo();
    for level in ["state", "who", "tag", "site", "for"] {
        let sets = ["demo/*Serial_12695ms*", "demo/*Serial_7066ms*"];
        let arguments = ["compare", sets[0], sets[1], "-p", "FileWriter", "--level", level, "--top", "1000"];
        let text = tracesift(directory.path(), &[&arguments[..], &["--format", "json"]].concat());
        let case = &serde_json::from_str::<Value>(&text).unwrap()["cases"][0];
        let shown = case["shown"].as_array().unwrap();
        assert_eq!(sum(shown, "delta_ns"), case["difference_ns"].as_i64().unwrap(), "{level}");
        if level == "state" {
            let own = shown.iter().filter(|row| row["part"] == "row" && row["disturbance"].is_null());
            let texts: Vec<&str> = own.map(|row| row["text"].as_str().unwrap()).collect();
            assert!(texts.iter().all(|text| ["runs", "ready", "waits", "unknown"].contains(text)), "{texts:?}");
        }
    }
}
