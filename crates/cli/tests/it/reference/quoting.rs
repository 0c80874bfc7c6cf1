//! Patterns that the shell replaced by names of files before the program saw them.

use crate::support::{archives, run};

const WRITE: &str = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift";

#[test]
fn names_of_files_behind_a_pattern_are_refused() {
    let directory = archives();
    for switch in ["-pn", "-stacktags", "-methods", "-cmdline"] {
        let said = run(directory.path(), &["-dump", "CPU", switch, "Slow.sift", WRITE]);
        assert!(said.starts_with("exit: 64"), "{switch}: {said}");
        assert!(said.contains(&format!("{switch} is followed by the names of 2 files")), "{said}");
        assert!(said.contains(&format!("quote the pattern: {switch} '*'")), "{said}");
    }
    // A recording may have any name, and so may a process.
    let said = run(directory.path(), &["-dump", "CPU", "-pn", "Slow.sift", "-fd", WRITE]);
    assert!(said.starts_with("exit: 0"), "{said}");
}

#[test]
fn our_own_options_get_a_hint() {
    let directory = archives();
    for option in ["--stacktags", "-p", "--methods"] {
        let said = run(directory.path(), &["dump", "cpu", option, "Slow.sift", WRITE]);
        assert!(said.contains(&format!("{option} is followed by the names of 2 files")), "{option}: {said}");
    }
    for line in [
        &["dump", "cpu", "-p", "System", "Slow.sift", WRITE][..],
        &["dump", "cpu", "-p", "*", "Slow.sift", WRITE],
        &["dump", "cpu", "Slow.sift", WRITE, "-p", "System"],
    ] {
        assert!(!run(directory.path(), line).contains("quote the pattern"), "{line:?}");
    }
}
