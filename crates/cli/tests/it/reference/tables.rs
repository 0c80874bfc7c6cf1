//! Which tables an extract writes, and what is said where one was left out.

use std::collections::BTreeSet;
use std::path::Path;

use tracesift_archive::Archive;

use super::recording::{NAME, directory};
use crate::support::run;

fn extract(directory: &Path, arguments: &[&str]) -> String {
    let said = run(directory, arguments);
    assert!(said.starts_with("exit: 0"), "{arguments:?}: {said}");
    said
}

/// Tables with rows.
fn tables(directory: &Path) -> BTreeSet<String> {
    let archive = Archive::open(&directory.join(format!("{NAME}.sift"))).unwrap();
    archive.info().tables.iter().filter(|table| table.rows > 0).map(|table| table.name.clone()).collect()
}

#[test]
fn names_behind_extract_choose_tables() {
    let directory = directory();
    let file = format!("{NAME}.etl");
    let of = |names: &[&str]| {
        extract(directory.path(), &[&["-extract"], names, &["-fd", &file]].concat());
        tables(directory.path())
    };
    let has = |tables: &BTreeSet<String>, name: &str| tables.contains(name);
    let all = of(&["All"]);
    assert!(has(&all, "cpu_samples") && has(&all, "context_switches") && has(&all, "stacks"), "{all:?}");
    assert_eq!(of(&["Default"]), all);
    let cpu = of(&["CPU"]);
    assert!(has(&cpu, "cpu_samples") && has(&cpu, "context_switches"), "{cpu:?}");
    for names in [&["DNS"][..], &["Disk", "DNS"], &["Module"]] {
        let few = of(names);
        assert!(!has(&few, "cpu_samples") && !has(&few, "context_switches"), "{names:?}: {few:?}");
        assert!(has(&few, "processes") && has(&few, "threads"), "{names:?}: {few:?}");
    }
    let sampled = of(&["CPU", "-NoCSwitch"]);
    assert!(has(&sampled, "cpu_samples") && !has(&sampled, "context_switches"), "{sampled:?}");
    let said = run(directory.path(), &["-extract", "Disks", "-fd", &file]);
    assert!(said.starts_with("exit: 64") && said.contains("one or more of all, default, cpu, stacktag"), "{said}");
}

#[test]
fn an_archive_with_fewer_tables_is_extracted_again() {
    let directory = directory();
    let file = format!("{NAME}.etl");
    let again = |arguments: &[&str]| extract(directory.path(), &[&["extract", &file], arguments].concat());
    assert!(again(&["--tables", "context_switches"]).contains(" -> "));
    assert!(again(&["--tables", "context_switches"]).contains("is up to date"));
    assert!(again(&["--tables", "!*"]).contains("is up to date"), "fewer are asked for");
    assert!(again(&["--tables", "cpu_samples;context_switches"]).contains(" -> "));
    assert!(again(&[]).contains(" -> "), "all are asked for");
    assert!(again(&["--tables", "cpu*"]).contains("is up to date"));
    let said = run(directory.path(), &["extract", &file, "--tables", "disks"]);
    assert!(said.starts_with("exit: 64") || said.starts_with("exit: 2"), "{said}");
    assert!(said.contains("`disks` is no table to choose; there are cpu_samples, allocations,"), "{said}");
    let said = run(directory.path(), &["extract", &file, "--tables", "disk_io", "--events", "all"]);
    assert!(said.starts_with("exit: 64") && said.contains("which --tables leaves out"), "{said}");
}

#[test]
fn questions_say_what_was_left_out() {
    let directory = directory();
    extract(directory.path(), &["extract", &format!("{NAME}.etl"), "--tables", "disk_io"]);
    let ask = |arguments: &[&str]| run(directory.path(), &[arguments, &[&format!("{NAME}.sift")]].concat());
    let said = ask(&["dump", "cpu"]);
    assert!(said.contains("CPU samples not extracted") && !said.contains("not recorded"), "{said}");
    assert!(said.contains("extracted without cpu_samples and context_switches"), "{said}");
    let said = ask(&["dump", "waits"]);
    assert!(said.contains("context switches not extracted"), "{said}");
    // Who lived is known anyway, and nothing is missing.
    let said = ask(&["dump", "process"]);
    assert!(said.contains("app.exe(100)") && !said.contains("extracted without"), "{said}");

    extract(directory.path(), &["extract", &format!("{NAME}.etl"), "--tables", "context_switches"]);
    let said = ask(&["dump", "cpu", "--methods", "*Lock"]);
    assert!(said.contains("CPU samples were not extracted: CPU is precise run time"), "{said}");
    let said = ask(&["dump", "cpu", "-p", "app", "--format", "jsonl", "--columns", "cpu_ns;samples;run_ns"]);
    assert!(said.contains(r#"{"cpu_ns":null,"samples":null,"run_ns":72000000}"#), "{said}");
}

#[test]
fn a_dry_run_lists_and_writes_nothing() {
    let directory = directory();
    let file = format!("{NAME}.etl");
    let said = extract(directory.path(), &["-extract", "All", "-fd", &file, "-DryRun"]);
    assert!(said.contains(&format!("{file}: would be extracted")), "{said}");
    assert!(!directory.path().join(format!("{NAME}.sift")).exists());
    extract(directory.path(), &["extract", &file]);
    let said = extract(directory.path(), &["extract", &file, "--dry-run"]);
    assert!(said.contains("is up to date"), "{said}");
    // Test runs are chosen as they are for questions.
    let said = run(directory.path(), &["-extract", "All", "-fd", &file, "-tri", "7", "-dryrun"]);
    assert!(said.starts_with("exit: 1") && said.contains("there is no recording to extract"), "{said}");
}
