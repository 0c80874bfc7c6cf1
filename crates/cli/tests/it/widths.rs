//! No line of a table is longer than the terminal is wide.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tracesift_fixtures::{cases, skipped};
use unicode_width::UnicodeWidthStr as _;

use crate::support::{archives, run};

/// Every question, in its widest forms.
const QUESTIONS: &[&[&str]] = &[
    &["dump", "cpu"],
    &["dump", "cpu", "--details"],
    &["dump", "cpu", "--sort", "ready", "--top", "3"],
    &["dump", "cpu", "--show-modules"],
    &["dump", "cpu", "--merge"],
    &["dump", "cpu", "--top-methods", "3"],
    &["dump", "cpu", "--top-methods", "3", "--details", "--show-on-method"],
    &["dump", "cpu", "--top-methods", "3", "--percentiles"],
    &["dump", "cpu", "--methods", "*", "--by", "line", "--no-cmdline", "--totals", "method"],
    &["dump", "cpu", "--stacktags", "*"],
    &["dump", "threads"],
    &["dump", "threads", "--details"],
    &["dump", "waits", "--top", "5"],
    &["dump", "stacks"],
    &["dump", "stacks", "--callers"],
    &["dump", "syscalls"],
    &["dump", "waits", "--by", "waker"],
    &["dump", "waits", "--by", "thread"],
    &["dump", "syscalls", "--by", "error"],
    &["dump", "process", "--details"],
    &["dump", "version", "--details", "--per-process"],
    &["dump", "version", "--driver-filter", "*"],
    &["dump", "testrun", "--print-files"],
    &["dump", "stats"],
    &["overview"],
    &["events", "--limit", "30"],
    &["events", "--limit", "30", "--stacks"],
];

/// What a terminal of so many columns shows; `None`: nothing here makes one.
fn on_terminal(width: u16, directory: &Path, arguments: &[&str]) -> Option<String> {
    let quoted: Vec<String> = arguments.iter().map(|text| format!("'{text}'")).collect();
    let line = format!("stty rows 50 cols {width}; '{}' {}", env!("CARGO_BIN_EXE_tracesift"), quoted.join(" "));
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(directory)
        .env("TERM", "dumb")
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

/// The lines that are wider than the terminal. Those that hold a command are left aside: one that is cut or broken could not be copied.
fn too_wide(said: &str, width: u16) -> Vec<&str> {
    let has_command = |line: &str| line.starts_with("  > ") || line.contains('`');
    said.lines().filter(|line| !has_command(line) && line.width() > usize::from(width)).collect()
}

fn every_question_fits(directory: &Path, archive: &str) {
    for question in QUESTIONS {
        for width in [80, 100, 120] {
            let arguments = [*question, &[archive]].concat();
            let Some(said) = on_terminal(width, directory, &arguments) else {
                return skipped("there is no `script` that makes a terminal");
            };
            assert!(!said.trim().is_empty() && !said.contains("error: "), "{arguments:?}: {said}");
            let wide = too_wide(&said, width);
            assert!(wide.is_empty(), "{arguments:?} at {width}: {wide:#?}");
        }
    }
}

#[test]
fn every_question_fits_into_a_terminal() {
    let directory = archives();
    every_question_fits(directory.path(), ".");
}

#[test]
fn so_do_the_answers_about_real_recordings() {
    for name in ["etl/net.4.5.2.x64.etl.zip", "perf/linuxtracepoints.perf.data"] {
        let Some(file) = cases(name) else { continue };
        let directory = TempDir::new().unwrap();
        let said = run(directory.path(), &["extract", &file.to_string_lossy(), "--out", "."]);
        assert!(said.starts_with("exit: 0"), "{said}");
        every_question_fits(directory.path(), ".");
    }
}

#[test]
fn the_sorted_column_stays_and_what_is_left_out_is_named() {
    let directory = archives();
    let Some(said) =
        on_terminal(80, directory.path(), &["dump", "cpu", "--details", "--sort", "ready", "-f", "Write*"])
    else {
        return skipped("there is no `script` that makes a terminal");
    };
    assert!(said.contains("Ready ms") && said.contains("--wide shows all"), "{said}");
    let header = said.lines().find(|line| line.contains("CPU ms")).unwrap();
    assert!(header.width() <= 80 && !header.contains("Unknown"), "{said}");
}
