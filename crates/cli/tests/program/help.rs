//! The help texts.

use crate::support::run;

#[test]
fn help() {
    let directory = tempfile::TempDir::new().unwrap();
    for (name, arguments) in [
        ("tracesift", &["--help"][..]),
        ("record", &["record", "--help"]),
        ("extract", &["extract", "--help"]),
        ("import", &["import", "--help"]),
        ("dump", &["dump", "--help"]),
        ("dump_cpu", &["dump", "cpu", "--help"]),
        ("dump_stacks", &["dump", "stacks", "-h"]),
        ("dump_process", &["dump", "process", "-h"]),
        ("dump_version", &["dump", "version", "-h"]),
        ("dump_testrun", &["dump", "testrun", "-h"]),
        ("dump_stats", &["dump", "stats", "-h"]),
        ("events", &["events", "-h"]),
        ("keywords", &["keywords", "-h"]),
        ("without_arguments", &[]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

#[test]
fn manual_pages_and_completions() {
    let directory = tempfile::TempDir::new().unwrap();
    assert!(run(directory.path(), &["man", "--out", "man"]).starts_with("exit: 0\n--- stdout\n--- stderr\n"));
    let page = std::fs::read_to_string(directory.path().join("man/tracesift-dump-cpu.1")).unwrap();
    assert!(page.contains("Which process used the CPU"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(directory.path(), &["completions", shell]).contains("tracesift"), "{shell}");
    }
}
