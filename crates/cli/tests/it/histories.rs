//! `history` over runs of a machine whose every nanosecond is known, from recordings to the answer.

use serde_json::Value;
use tempfile::TempDir;
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{self, Noise};

use crate::support::{run, tracesift};

const MS: i64 = 1_000_000;

/// Recordings of 36 runs: from run 13 on `Program.prepare` takes 12 ms longer, and from run 25 on others have the CPUs. The fifth
/// run has a checkpoint.
fn recordings() -> TempDir {
    let directory = TempDir::new().unwrap();
    for number in 0..36_usize {
        let mut noise = Noise { step_cv_ppm: 10_000, ..Noise::default() };
        let mut workload =
            Workload { items: 4, prepare: 60 * MS, report: 30 * MS, pauses: (1, 5 * MS), ..Workload::default() };
        if number >= 12 {
            workload.prepare += 12 * MS;
        }
        if number >= 24 {
            noise.scanner = 8 * MS;
        }
        if number == 4 {
            workload.report += 60 * MS;
        }
        let history = causal::run(workload.world(), &noise, 1 + number as u64);
        let name = causal::pairs::file_stem(&history, "Case", number);
        for part in causal::etl::scenario(&history, MS).parts().unwrap() {
            std::fs::write(directory.path().join(format!("{name}{}", part.suffix)), &part.bytes).unwrap();
        }
    }
    tracesift(directory.path(), &["extract", "-q", "."]);
    directory
}

#[test]
fn changes_are_found_named_and_add_up() {
    let directory = recordings();
    let text = tracesift(directory.path(), &["history", ".", "-p", "app", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let case = &found["cases"][0];
    assert_eq!((&case["case"], case["runs"].as_array().unwrap().len()), (&"Case".into(), 36));
    let changes = case["changes"].as_array().unwrap();
    let places: Vec<u64> = changes.iter().map(|change| change["run"].as_u64().unwrap()).collect();
    assert_eq!(places, [12, 24], "{text}");
    for change in changes {
        let sum: i64 = change["shown"].as_array().unwrap().iter().map(|row| row["delta_ns"].as_i64().unwrap()).sum();
        assert_eq!(sum, change["difference_ns"].as_i64().unwrap());
    }
    let leader = |change: usize| changes[change]["shown"][0]["text"].as_str().unwrap().to_owned();
    assert!(leader(0).contains("Program.prepare"), "{}", leader(0));
    assert!(leader(1).contains("antivirus"), "{}", leader(1));
    let outliers = case["outliers"].as_array().unwrap();
    assert_eq!(outliers.iter().map(|outlier| outlier["run"].as_u64().unwrap()).collect::<Vec<_>>(), [4]);

    check_report(&directory, case);

    let text = tracesift(directory.path(), &["history", ".", "-p", "app"]);
    insta::assert_snapshot!("history", text);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // The same from the kept accounts, and in any order.
    assert_eq!(tracesift(directory.path(), &["history", ".", "-p", "app"]), text);
}

#[test]
fn what_has_no_history_is_said() {
    let directory = TempDir::new().unwrap();
    tracesift(directory.path(), &["demo", "demo"]);
    let said = |arguments: &[&str]| run(directory.path(), arguments);
    let few = said(&["history", "demo", "-f", "*Serial*", "-p", "FileWriter"]);
    assert!(few.starts_with("exit: 0") && few.contains("no change") && few.contains("Too few runs"), "{few}");
    let nobody = said(&["history", "demo", "-p", "nobody"]);
    assert!(nobody.starts_with("exit: 1") && nobody.contains("nothing fits process:nobody"), "{nobody}");
    let order = said(&["history", "demo", "-p", "FileWriter", "--order", "date"]);
    assert!(order.starts_with("exit: 64") && order.contains("version:MODULE"), "{order}");
    let version = said(&["history", "demo", "-p", "FileWriter", "--order", "version:nosuch"]);
    assert!(version.starts_with("exit: 1") && version.contains("does not tell the version"), "{version}");
}

/// The report has the numbers of the JSON.
fn check_report(directory: &TempDir, case: &Value) {
    tracesift(directory.path(), &["history", ".", "-p", "app", "-o", "history.html"]);
    let page = std::fs::read_to_string(directory.path().join("history.html")).unwrap();
    let has = |value: &Value, what: &str| {
        assert!(page.contains(&format!("data-v=\"{value}\"")), "{what}: {value}");
    };
    for run in case["runs"].as_array().unwrap() {
        has(&run["duration_ns"], "duration");
        has(&run["undisturbed_ns"], "undisturbed");
    }
    for change in case["changes"].as_array().unwrap() {
        has(&change["difference_ns"], "difference");
        change["shown"].as_array().unwrap().iter().for_each(|row| has(&row["delta_ns"], "row"));
    }
    assert!(page.contains("2 changes in 36 runs"), "the sentence");
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}
