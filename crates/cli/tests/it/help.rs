//! The help texts.

use std::path::Path;
use std::process::Command;

use crate::support::{archives, program, run, stdout};

/// Runs the program as in a terminal of this width.
fn at_width(directory: &Path, width: usize, arguments: &[&str]) -> String {
    stdout(program(directory, arguments).env("COLUMNS", width.to_string()))
}

/// Every command of the program, with its words: what `tracesift help` lists, and what stands below that.
fn commands(directory: &Path) -> Vec<Vec<String>> {
    fn below(directory: &Path, path: &[String], into: &mut Vec<Vec<String>>) {
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("-h");
        let text = at_width(directory, 120, &arguments);
        into.push(path.to_vec());
        let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            // The parser's own has no page that differs from the command's.
            if name != "help" || path.is_empty() {
                below(directory, &[path, &[name.to_owned()]].concat(), into);
            }
        }
    }
    let mut all = Vec::new();
    below(directory, &[], &mut all);
    all
}

#[test]
fn help() {
    let directory = tempfile::TempDir::new().unwrap();
    let commands = commands(directory.path());
    assert!(commands.len() > 25, "{commands:?}");
    for path in commands {
        let name = if path.is_empty() { "tracesift".to_owned() } else { path.join("_") };
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        for width in [80, 120] {
            let [short, long] =
                ["-h", "--help"].map(|option| at_width(directory.path(), width, &[&words[..], &[option]].concat()));
            insta::assert_snapshot!(format!("{name}_{width}"), format!("{short}\n==== --help\n\n{long}"));
            for line in [&short, &long].into_iter().flat_map(|text| text.lines()) {
                // A line of an option and its value cannot be broken, nor can an example.
                let is_whole = line.trim_start().split("  ").count() == 1 && line.trim_start().starts_with(['-', 't']);
                assert!(line.chars().count() <= width || is_whole, "{name} at {width}: {line}");
            }
            if width == 80 {
                let lines = short.lines().count();
                // The list of questions has a line for each.
                let most = if name == "dump" { 60 } else { 45 };
                assert!(lines <= most, "{name} -h has {lines} lines");
                assert!(short.contains("Examples:\n"), "{name}");
            }
        }
    }
}

#[test]
fn topics() {
    let directory = tempfile::TempDir::new().unwrap();
    for width in [80, 120] {
        insta::assert_snapshot!(format!("filters_{width}"), at_width(directory.path(), width, &["help", "filters"]));
    }
    assert_eq!(
        at_width(directory.path(), 80, &["help", "dump", "cpu"]),
        at_width(directory.path(), 80, &["dump", "cpu", "--help"])
    );
    assert_eq!(at_width(directory.path(), 80, &["help"]), at_width(directory.path(), 80, &["--help"]));
    for (name, arguments) in [
        ("no_topic", &["help", "nonsense"][..]),
        ("no_topic_of_a_question", &["help", "dump", "methods"]),
        ("without_arguments", &[]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
}

/// The examples of questions answer, on archives of the names that they have.
#[test]
fn examples_work() {
    let directory = archives();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("recordings")).unwrap();
    let target = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift";
    for name in ["X.sift", "A.sift", "B.sift", &format!("recordings/{target}")] {
        copy(&at(target), &at(name));
    }
    let regions = concat!(env!("CARGO_MANIFEST_DIR"), "/../analysis/src/regions/builtin.regions.xml");
    std::fs::copy(regions, at("My.xml")).unwrap();
    let mut tried = 0;
    for path in commands(directory.path()) {
        if path.first().is_none_or(|word| word != "dump") && path != ["symbols", "missing"] && path != ["time"] {
            continue;
        }
        let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let text = at_width(directory.path(), 120, &words);
        let examples = text.lines().skip_while(|line| *line != "Examples:").filter_map(|line| line.strip_prefix("  "));
        for line in examples.filter(|line| line.starts_with("tracesift ") && !line.contains(".etl")) {
            let line = line.trim_start_matches("tracesift ").split("  ").next().unwrap();
            let quoted = line.split('\'').enumerate().flat_map(|(number, part)| match number % 2 {
                0 => part.split_whitespace().collect::<Vec<_>>(),
                _ => vec![part],
            });
            let said = run(directory.path(), &quoted.collect::<Vec<_>>());
            // The archive does not have all that there are questions about.
            let absences =
                ["; record with: tracesift record --profile ", " not in recordings of Windows", " not recorded"];
            let is_absent = said.starts_with("exit: 1\n") && absences.iter().any(|absence| said.contains(absence));
            assert!(said.starts_with("exit: 0\n") || is_absent, "{line}: {said}");
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried} examples");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn manual_pages() {
    let directory = tempfile::TempDir::new().unwrap();
    assert!(run(directory.path(), &["man", "--out", "man"]).starts_with("exit: 0\n--- stdout\n--- stderr\n"));
    let page = std::fs::read_to_string(directory.path().join("man/tracesift-dump-cpu.1")).unwrap();
    assert!(page.contains("Which process used the CPU"));
    // What short pages leave out stands here.
    assert!(page.contains("ready\\-average"));
    assert!(page.contains("Examples:"));
}

/// What a shell is offered for the last of these words.
fn offered(directory: &Path, words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
        .current_dir(directory)
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .args(["--", "tracesift"])
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn completions() {
    let directory = archives();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(directory.path(), &["completions", shell]);
        assert!(script.starts_with("exit: 0\n") && script.contains("COMPLETE"), "{shell}: {script}");
    }
    let archive = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift";
    for (words, expected) in [
        (&["dump", "wa"][..], &["waits"][..]),
        (&["dump", "cpu", "--sort", "read"], &["ready", "ready-average"]),
        (&["dump", "cpu", "--columns", "wait_n"], &["wait_ns"]),
        (&["dump", "cpu", "--columns", "pid;!core"], &["pid;!cores_used", "pid;!core_numbers"]),
        (&["dump", "cpu", "--top-methods", "3", "--columns", "wait_lon"], &["wait_longest_ns"]),
        (
            &["dump", "cpu", "--stacktags", "antivirus\\windows defender\\"],
            &["Antivirus\\Windows Defender\\Scan of scripts (AMSI)"],
        ),
        (&["record", "--profile", "CSwitch,sys"], &["CSwitch,SysCall"]),
        (&["dump", "cpu", archive, "-p", "file"], &["FileWriter.exe"]),
        (&["dump", "cpu", "-p", "cmd.exe;!f"], &["cmd.exe;!FileWriter.exe"]),
        (&["dump", "cpu", "Slow.sift", "-p", ""], &["System"]),
        (&["help", "filt"], &["filters"]),
    ] {
        assert_eq!(offered(directory.path(), words), expected, "{words:?}");
    }
}
