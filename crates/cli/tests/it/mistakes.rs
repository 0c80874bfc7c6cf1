//! What people type who do not know the program yet: each mistake leads on.

use crate::support::{archives, run};
use tracesift_fixtures::cases;

#[test]
fn mistakes() {
    let directory = archives();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    std::fs::write(directory.path().join("passwd"), "root:x:0:0:root:/root:/bin/bash\n").unwrap();
    for (name, line) in [
        ("no_such_file", "dump cpu nothere.sift"),
        ("no_recording", "dump cpu passwd"),
        ("an_empty_directory", "dump cpu empty"),
        ("a_misspelt_option", "dump cpu --methdos x"),
        ("a_misspelt_value", "dump cpu --sort wiat"),
        ("a_misspelt_command", "dmp cpu"),
        ("a_misspelt_question", "dump cpus"),
        ("a_switch_of_etwanalyzer", "-dump cpu -stacktgs x"),
        ("a_question_without_dump", "threads"),
        ("a_wrong_range", "dump cpu --time 7..3"),
        ("no_range", "dump cpu --time abc"),
        ("a_negative_count", "dump cpu --top -5"),
        ("a_count_with_letters", "dump cpu --top 5x"),
        ("a_value_with_a_dash", "dump cpu -p -foo"),
        ("an_option_of_another_question", "dump process --stacktags virus"),
        ("an_option_of_many", "dump stats --process x"),
        ("an_option_of_nobody", "dump stats --nonsense"),
        ("a_path_as_a_question", "dump Slow.sift"),
        ("a_path_as_a_command", "Slow.sift"),
        ("compare", "compare a.sift b.sift"),
        ("diff", "diff a.sift b.sift"),
        ("gui", "gui Slow.sift"),
        ("report", "report"),
        ("methods", "dump methods"),
        ("tags", "dump tags"),
        ("disks", "dump disks"),
        ("disk", "dump disk"),
        ("file", "dump file"),
        ("tcp", "dump tcp"),
        ("exceptions", "dump exceptions"),
        ("disk_of_etwanalyzer", "-dump disk -fd X"),
        ("methods_of_etwanalyzer", "-dump methods -fd X"),
        ("nonsense_of_etwanalyzer", "-dump nonsense -fd X"),
        ("an_unknown_column", "dump cpu Slow.sift --columns cpuu"),
        ("symbols_of_no_directory", "symbols load Slow.sift --symbols nowhere"),
        ("no_command_lines_and_still_lines", "dump cpu -f Write* --methods * --by line --no-cmdline"),
    ] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        insta::assert_snapshot!(name, run(directory.path(), &arguments));
    }
}

/// The format of an answer follows the name of its file.
#[test]
fn an_answer_in_a_file_has_the_format_of_its_name() {
    let directory = archives();
    for (name, start) in [("x.json", "["), ("x.csv", "file,"), ("x.parquet", "PAR1")] {
        let said = run(directory.path(), &["dump", "cpu", "Slow.sift", "-o", name]);
        assert!(said.starts_with("exit: 0\n"), "{said}");
        let written = std::fs::read(directory.path().join(name)).unwrap();
        assert!(written.starts_with(start.as_bytes()), "{name}: {:?}", String::from_utf8_lossy(&written[..20]));
    }
}

/// What may not be read is not told to be missing. A link that leads to itself cannot be opened by anybody, root included.
#[cfg(unix)]
#[test]
fn an_archive_that_cannot_be_opened_says_why() {
    let directory = archives();
    let trace = directory.path().join("Slow.sift/trace.json");
    std::fs::remove_file(&trace).unwrap();
    std::os::unix::fs::symlink("trace.json", &trace).unwrap();
    let said = run(directory.path(), &["dump", "cpu", "Slow.sift"]);
    assert!(said.starts_with("exit: 1\n") && said.contains("Slow.sift/trace.json"), "{said}");
    assert!(!said.contains("is not an archive"), "{said}");
}

/// Nothing but what was asked for.
#[test]
fn a_dry_run_for_windows_has_the_profiles_asked_for() {
    let directory = tempfile::TempDir::new().unwrap();
    let said = run(directory.path(), &["record", "--dry-run", "--platform", "windows", "--profile", "CSwitch,File"]);
    let profiles: Vec<&str> = said.lines().filter(|line| line.trim_start().starts_with("<Profile ")).collect();
    assert_eq!(profiles.len(), 4, "each for a file and for memory: {profiles:?}");
    assert!(profiles.iter().all(|line| line.contains("\"CSwitch\"") || line.contains("\"File\"")), "{profiles:?}");
}

/// The name that is promised is the one that the recording gets: without the extension of the program.
#[test]
fn a_dry_run_names_the_file_that_is_written() {
    let directory = tempfile::TempDir::new().unwrap();
    let said =
        |words: &[&str]| run(directory.path(), &[&["record", "--dry-run", "--platform", "windows"], words].concat());
    let script = said(&["--", "./build.sh", "all"]);
    assert!(script.contains("build_DATE-TIME.etl") && !script.contains("build.sh_"), "{script}");
    assert!(said(&[]).contains("machine_DATE-TIME.etl"));
}

/// A filter that nothing passes never ends in a bare heading.
#[test]
fn filters_that_let_nothing_pass_are_named() {
    let directory = archives();
    for (line, said) in [
        ("dump cpu -p NoSuchProcess", "match `NoSuchProcess`"),
        ("dump cpu -f Write* --methods ain", "`*ain*` would match"),
        ("dump cpu --stacktags defender", "`*defender*` would match"),
        ("dump cpu --time 100s..200s", "lies outside of all 2 recordings"),
        ("dump cpu --time 14:02..14:03", "lies outside of all 2 recordings"),
        ("dump cpu --min-cpu 1000s", "nothing passes --min-cpu"),
        ("dump cpu -p FileWriter --min-cpu 1000s", "--process lets something pass; --min-cpu leaves nothing of it"),
        ("dump cpu --methods * --min-wait 1000s --max-ready 0", "--min-wait and --max-ready leave nothing of it"),
        ("dump threads --min-wait 1000s", "nothing passes --min-wait"),
        ("dump waits --min-wait 1000s", "nothing passes --min-wait"),
        ("dump waits --by thread -p NoSuchProcess", "match `NoSuchProcess`"),
        ("dump waits --by method --min-wait 1000s", "nothing passes --min-wait"),
        ("dump process --min-duration 1000s", "nothing passes --min-duration"),
        ("dump stacks --root NoSuchMethod", "match `NoSuchMethod`"),
        ("dump version --dll NoSuchModule", "match `NoSuchModule`"),
        ("dump stats --properties NoSuchProperty", "match `NoSuchProperty`"),
        ("dump testrun --run-index 9", "the choice of test runs leaves no file"),
    ] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let answer = run(directory.path(), &arguments);
        assert!(answer.starts_with("exit: 0\n"), "{line}: {answer}");
        let standard_error = answer.split("--- stderr\n").nth(1).unwrap();
        assert!(standard_error.contains(said), "{line}: {answer}");
        let strictly: Vec<&str> = arguments.into_iter().chain(["--fail-if-empty"]).collect();
        let answer = run(directory.path(), &strictly);
        assert!(answer.starts_with("exit: 1\n"), "{line}: {answer}");
    }
}

/// Where CPU samples or stacks were not recorded, a mistaken filter is named all the same.
#[test]
fn filters_are_named_where_something_was_not_recorded() {
    let Some(cases) = cases("") else { return };
    let directory = tempfile::TempDir::new().unwrap();
    let recording = cases.join("perf/linuxtracepoints.perf.data");
    let extracted = run(directory.path(), &["extract", recording.to_str().unwrap(), "-o", "."]);
    assert!(extracted.starts_with("exit: 0\n"), "{extracted}");
    for (line, said) in [
        ("-p NoSuchProcess", "match `NoSuchProcess`"),
        ("--time 1000s..2000s", "lies outside of the recording"),
        ("--methods *", "there are no methods, as no CPU sample and no wait has a stack"),
        ("--min-cpu 1000s", "CPU samples not recorded"),
    ] {
        let arguments: Vec<&str> =
            ["dump", "cpu", "linuxtracepoints.sift"].into_iter().chain(line.split(' ')).collect();
        let answer = run(directory.path(), &arguments);
        assert!(answer.starts_with("exit: 0\n") && answer.contains(said), "{line}: {answer}");
    }
}

/// An order by what nobody recorded is not silently another one.
#[test]
fn rows_that_cannot_be_sorted_say_so() {
    let directory = tempfile::TempDir::new().unwrap();
    let Some(cases) = cases("") else { return };
    let recording = cases.join("etl/net.4.5.2.x64.etl.zip");
    let answer = run(directory.path(), &["dump", "cpu", recording.to_str().unwrap(), "--sort", "ready"]);
    assert!(answer.contains("nothing is known of `Ready`, by which the rows were to be sorted"), "{answer}");
}

/// The file that was asked for is named, not the one that is written first and renamed then.
#[test]
fn a_directory_that_is_not_there_is_named() {
    let directory = archives();
    let said = run(directory.path(), &["dump", "cpu", "--csv", "/nonexist/x.csv"]);
    assert!(said.starts_with("exit: 1\n"), "{said}");
    assert!(said.contains("cannot write /nonexist/x.csv: there is no directory /nonexist\n"), "{said}");
    assert!(!said.contains(".tracesift-"), "{said}");
}

#[test]
fn all_columns_without_command_lines_can_be_asked() {
    let directory = archives();
    let said = run(directory.path(), &["dump", "cpu", "--wide", "--no-cmdline"]);
    assert!(said.starts_with("exit: 0\n") && !said.contains("Command line"), "{said}");
}

/// Who asks for errors only gets no advice either.
#[test]
fn quiet_leaves_out_hints() {
    let directory = archives();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    let loud = run(directory.path(), &["dump", "cpu", "empty"]);
    assert!(loud.contains("\nhint: "), "{loud}");
    let quiet = run(directory.path(), &["dump", "cpu", "empty", "-q"]);
    assert!(quiet.contains("error: ") && !quiet.contains("hint: "), "{quiet}");
}
