//! Gates of `compare`, from recordings of a machine whose history is known to the exit code.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{self, Noise};

use crate::junit;
use crate::support::{run, tracesift};

const MS: i64 = 1_000_000;

/// Records runs of a workload into a directory.
pub(crate) fn record(directory: &Path, seeds: std::ops::Range<u64>, workload: &Workload) {
    std::fs::create_dir_all(directory).unwrap();
    for seed in seeds {
        let noise = Noise { step_cv_ppm: 10_000, run_cv_ppm: 10_000, ..Noise::default() };
        let history = causal::run(workload.world(), &noise, seed);
        for part in causal::etl::scenario(&history, MS).parts().unwrap() {
            std::fs::write(directory.join(format!("run{seed}{}", part.suffix)), &part.bytes).unwrap();
        }
    }
}

/// Five runs of a build in `old`; five of one that prepares for 50 ms in place of 20 ms in `new`; five more of the old one in `same`.
pub(crate) fn builds() -> TempDir {
    let directory = TempDir::new().unwrap();
    let of = |prepare: i64| Workload { items: 12, prepare, report: 20 * MS, ..Workload::default() };
    record(&directory.path().join("old"), 1..6, &of(20 * MS));
    record(&directory.path().join("new"), 11..16, &of(50 * MS));
    record(&directory.path().join("same"), 21..26, &of(20 * MS));
    tracesift(directory.path(), &["extract", "-q", "--recursive", "."]);
    directory
}

fn gates(directory: &TempDir, sets: [&str; 2], gates: &[&str], more: &[&str]) -> String {
    let options: Vec<&str> = gates.iter().flat_map(|gate| ["--fail-if", gate]).collect();
    run(directory.path(), &[&["compare", sets[0], sets[1], "-p", "app"], options.as_slice(), more].concat())
}

/// The lines about gates.
fn said(text: &str) -> String {
    let is_meant = |line: &&str| line.starts_with("exit:") || line.starts_with("Gate");
    let indented = text.lines().map(|line| line.trim_end());
    let mut lines: Vec<String> = Vec::new();
    let mut follows = false;
    for line in indented {
        if is_meant(&line) || (follows && line.starts_with("  ")) {
            lines.push(line.to_owned());
        }
        follows = line.starts_with("Gate") || follows && line.starts_with("  ");
    }
    lines.join("\n")
}

#[test]
fn a_gate_that_fails_passes_or_is_undecided_ends_with_its_exit_code() {
    let directory = builds();
    let sets = ["old", "new"];
    let all = [
        "undisturbed > +5%",
        "undisturbed +30%",
        "duration > +2ms",
        "duration < -5%",
        "method:*prepare* > +5ms",
        "tag:*nothing* > 5%",
    ];
    insta::assert_snapshot!("gates", said(&gates(&directory, sets, &all, &[])));
    for (gate, more, exit) in [
        ("undisturbed > +5%", &[][..], 3),
        ("undisturbed > +5%", &["--strict"], 3),
        ("undisturbed > +5%", &["--format", "json"], 3),
        ("undisturbed > +30%", &["--strict"], 0),
        ("method:*nobody* > 5%", &[], 0),
        ("method:*nobody* > 5%", &["--strict"], 4),
        ("method:*prepare* > +5ms", &[], 3),
        ("method:*prepare* > +50ms", &[], 0),
        ("cpu > +5ms", &[], 3),
        ("process:app > +5ms", &[], 3),
    ] {
        let text = gates(&directory, sets, &[gate], more);
        assert!(text.starts_with(&format!("exit: {exit}\n")), "{gate} {more:?}: {text}");
    }
    // What is slower in one direction is faster in the other.
    for (gate, exit) in [("undisturbed > +5%", 0), ("undisturbed < -5%", 3), ("undisturbed > -2%", 0)] {
        let text = gates(&directory, ["new", "old"], &[gate], &["--strict"]);
        assert!(text.starts_with(&format!("exit: {exit}\n")), "{gate}: {text}");
    }
    // Equal sets keep every limit that is larger than their noise.
    let text = gates(&directory, ["old", "same"], &["undisturbed > +5%", "method:*prepare* > +5ms"], &["--strict"]);
    assert!(text.starts_with("exit: 0\n"), "{text}");
}

#[test]
fn time_between_samples_is_no_time_of_the_test() {
    let directory = builds();
    tracesift(directory.path(), &["extract", "-q", "--recursive", ".", "--tables", "!context_switches", "--overwrite"]);
    let text = gates(&directory, ["old", "new"], &["undisturbed > +5%"], &["--strict"]);
    assert!(text.starts_with("exit: 4\n"), "{text}");
    assert!(said(&text).contains("undisturbed > +5 % undecided: more than 2 %"), "{text}");
    assert!(!text.contains("of its own time"), "{text}");
}

#[test]
fn programs_get_each_gate_with_its_reason() {
    let directory = builds();
    let text = gates(&directory, ["old", "new"], &["undisturbed > +5%", "wait:*x* < -1ms"], &["-o", "c.json"]);
    assert!(text.contains("error: process:app: the gate 'undisturbed > +5 %' failed: the change is +"), "{text}");
    assert!(
        text.contains("warning: process:app: the gate 'wait:*x* < -1 ms' is undecided: no run has such a row"),
        "{text}"
    );
    let json: Value = serde_json::from_slice(&std::fs::read(directory.path().join("c.json")).unwrap()).unwrap();
    let gates = json["cases"][0]["gates"].as_array().unwrap();
    assert_eq!(gates.len(), 2);
    let figure = &json["cases"][0]["figures"][1];
    assert_eq!((&gates[0]["text"], &gates[0]["state"]), (&"undisturbed > +5 %".into(), &"failed".into()));
    assert_eq!((&gates[0]["unit"], &gates[0]["runs_needed"]), (&"ratio".into(), &Value::Null));
    let change = gates[0]["change"].as_f64().unwrap();
    assert!((1.0 + change - figure["ratio"].as_f64().unwrap()).abs() < 1e-9, "{change} {figure}");
    assert_eq!((&gates[0]["p"], &gates[0]["p_corrected"]), (&(1.0 / 252.0).into(), &(1.0 / 252.0).into()));
    assert_eq!(
        (&gates[1]["state"], &gates[1]["change"], &gates[1]["p"]),
        (&"undecided".into(), &Value::Null, &Value::Null)
    );
}

#[test]
fn the_cases_of_a_gate_are_corrected_for_their_number() {
    let directory = builds();
    for set in ["old", "new"] {
        let path = directory.path().join(format!("{set}.json"));
        tracesift(directory.path(), &["compare", set, "-p", "app", "--save-baseline", path.to_str().unwrap()]);
        let mut base: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let runs = base["runs"].as_array_mut().unwrap();
        let mut others = runs.clone();
        for run in &mut others {
            run["case"] = "another".into();
            run["id"] = format!("{}-other", run["id"].as_str().unwrap()).into();
        }
        runs.extend(others);
        std::fs::write(&path, base.to_string()).unwrap();
    }
    let said = gates(&directory, ["old=old.json", "new=new.json"], &["undisturbed > +5%"], &["--format", "json"]);
    let json: Value = serde_json::from_str(&said[said.find('{').unwrap()..=said.rfind('}').unwrap()]).unwrap();
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let gate = &case["gates"][0];
        let (p, corrected) = (gate["p"].as_f64().unwrap(), gate["p_corrected"].as_f64().unwrap());
        // Two equal cases: Holm doubles both.
        assert!((corrected - 2.0 * p).abs() < 1e-12 && gate["state"] == "failed", "{gate}");
    }
}

#[test]
fn a_limit_that_cannot_be_meant_is_refused() {
    let directory = builds();
    for (gate, why) in [
        ("duration", "does not end with a limit"),
        ("duration -5%", "write `< -…`"),
        ("speed > 5%", "`speed` is no figure of a run"),
        ("duration > 5MB", "`duration` is a time"),
        ("cpu:method:x > 5%", "the CPU time of single methods is not known"),
        ("switches > 5ms", "switches is a number without a unit"),
        ("cpu > 5", "cpu is a time"),
    ] {
        let text = gates(&directory, ["old", "new"], &[gate], &[]);
        assert!(text.starts_with("exit: 64") && text.contains(why), "{gate}: {text}");
    }
}

#[test]
fn sets_that_are_not_comparable_decide_nothing() {
    let directory = builds();
    let same = gates(&directory, ["old", "old"], &["undisturbed > +5%"], &[]);
    assert!(same.starts_with("exit: 1") && same.contains("undecided: the sets are not comparable"), "{same}");
    let same = gates(&directory, ["old", "old"], &["undisturbed > +5%"], &["--strict"]);
    assert!(same.starts_with("exit: 4"), "{same}");
    let chosen = ["compare", "old", "new", "--split", "slow", "-p", "app", "--fail-if", "duration > +5%"];
    let chosen = run(directory.path(), &chosen);
    assert!(chosen.starts_with("exit: 0") && chosen.contains("undecided: the duration chose the sets"), "{chosen}");
}

#[test]
fn reports_for_builds_have_each_gate() {
    let directory = builds();
    let limits = ["undisturbed > +5%", "undisturbed > +40%", "wait:*]]>*|`x` > 5%"];
    let files = ["--junit", "junit.xml", "--markdown", "summary.md", "--github"];
    let said = gates(&directory, ["old", "new"], &limits, &files);
    assert!(said.starts_with("exit: 3"), "{said}");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let tests = junit::check(&read("junit.xml"));
    junit::check_by_schema(&directory.path().join("junit.xml"));
    let names: Vec<(&str, &str)> = tests.iter().map(|test| (test.class.as_str(), test.name.as_str())).collect();
    let expected =
        ["undisturbed > +5 %", "undisturbed > +40 %", "wait:*]]>*|`x` > +5 %"].map(|name| ("process:app", name));
    assert_eq!(names, expected);
    let failure = tests[0].said.as_deref().unwrap();
    assert!(failure.starts_with("failure new is slower by") && failure.contains("prepare"), "{failure}");
    assert!(failure.lines().count() <= 6, "{failure}");
    assert_eq!((tests[1].said.as_deref(), tests[2].said.as_deref()), (None, Some("skipped ")));

    // The table is shown, not obeyed, and the annotations stand behind it.
    let lines: Vec<&str> = said.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with("::stop-commands::tracesift-")).unwrap();
    let token = lines[begin].rsplit("::").next().unwrap();
    let end = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    assert!(begin < end && lines[begin..end].iter().any(|line| line.contains("Undisturbed")), "{said}");
    assert!(
        lines[end + 1].starts_with("::error title=process%3Aapp%3A undisturbed > +5 %25 failed::the change is +"),
        "{said}"
    );
    assert!(
        lines[end + 2].starts_with("::warning title=process%3Aapp%3A wait%3A*]]>*|`x` > +5 %25 undecided::no run has"),
        "{said}"
    );

    let markdown = read("summary.md");
    assert!(markdown.len() <= 64 << 10);
    assert!(
        markdown.contains(r"| process&#58;app | wait&#58;\*\]\]&gt;\*\|\`x\` &gt; +5 % | undecided |"),
        "{markdown}"
    );
    assert!(markdown.contains("| process&#58;app | undisturbed &gt; +5 % | failed | the change is +"), "{markdown}");
    insta::assert_snapshot!("markdown_of_a_comparison", markdown);

    let refused = gates(&directory, ["old", "new"], &limits[..1], &["--github", "--format", "json"]);
    assert!(refused.starts_with("exit: 64") && refused.contains("--github prints lines"), "{refused}");
    let refused = gates(&directory, ["old", "new"], &[], &["--junit", "x.xml"]);
    assert!(refused.starts_with("exit: 64"), "{refused}");
}

#[test]
fn a_baseline_stands_for_either_set() {
    let directory = builds();
    let json = |sets: [&str; 2], more: &[&str]| -> Value {
        let arguments = [&["compare", sets[0], sets[1], "-p", "app", "--format", "json"], more].concat();
        serde_json::from_str(&tracesift(directory.path(), &arguments)).unwrap()
    };
    tracesift(directory.path(), &["compare", "old", "-p", "app", "--save-baseline", "base.json"]);
    let recordings = json(["old=old", "new=new"], &["--save-baseline", "last.json"]);
    assert_eq!(json(["old=base.json", "new=new"], &[]), recordings, "the first set");
    assert_eq!(json(["old=old", "new=last.json"], &[]), recordings, "the last set");
    // Without any recording, byte by byte.
    for folder in ["old", "new", "same"] {
        std::fs::remove_dir_all(directory.path().join(folder)).unwrap();
    }
    assert_eq!(json(["old=base.json", "new=last.json"], &[]), recordings, "both sets");
    let gate = ["--fail-if", "method:*prepare* > +5ms"];
    let said = run(directory.path(), &[&["compare", "base.json", "last.json", "-p", "app"][..], &gate].concat());
    assert!(said.starts_with("exit: 3"), "{said}");
    let size = std::fs::metadata(directory.path().join("base.json")).unwrap().len();
    assert!(size < 5 * 40_000, "{size} bytes of 5 runs");
}

#[test]
fn a_baseline_that_was_measured_otherwise_is_refused_in_a_line() {
    let directory = builds();
    tracesift(directory.path(), &["compare", "old", "-p", "app", "--save-baseline", "base.json"]);
    let said = |arguments: &[&str]| run(directory.path(), &[&["compare", "base.json", "new"], arguments].concat());
    let text = said(&["--window", "process:app"]);
    let expected = "error: base.json: its window is `auto process:app`, and that of this comparison is `process:app`";
    assert!(text.starts_with("exit: 1") && text.contains(expected), "{text}");
    let text = said(&["-p", "app", "--disturbances", "none"]);
    assert!(text.starts_with("exit: 1") && text.contains("base.json: its list of disturbances is"), "{text}");
    let whole = std::fs::read_to_string(directory.path().join("base.json")).unwrap();
    for (from, to, why) in [
        ("\"algorithm\":\"accounts", "\"algorithm\":\"other", "its algorithm is `other"),
        ("\"duration_ns\":", "\"duration_ns\":1", "a run in it is damaged"),
        ("tracesift-baseline", "tracesift-other", "--save-baseline did not write it"),
        ("{", "", "it is no JSON"),
    ] {
        std::fs::write(directory.path().join("base.json"), whole.replacen(from, to, 1)).unwrap();
        let text = said(&["-p", "app"]);
        assert!(text.starts_with("exit: 1") && text.contains(why), "{why}: {text}");
    }
    let missing = run(directory.path(), &["compare", "nothing.json", "new", "-p", "app"]);
    assert!(missing.starts_with("exit: 1"), "{missing}");
}
