//! What the program answers, as users see it: standard output, standard error and exit code.

use std::fs;

use crate::support::{archives, run};

macro_rules! answers {
    ($($name:ident: $($argument:literal),+;)+) => {$(
        #[test]
        fn $name() {
            let directory = archives();
            let said = run(directory.path(), &[$($argument),+]);
            // How many bytes an archive takes is not the business of these tests.
            insta::with_settings!({ filters => vec![(r",true,\d+,", ",true,[BYTES],")] }, {
                insta::assert_snapshot!(said);
            });
        }
    )+};
}

answers! {
    cpu: "dump", "cpu";
    cpu_of_one_file: "dump", "cpu", "-f", "Write*", "--details";
    cpu_as_json: "dump", "cpu", "-f", "Write*", "--format", "json";
    cpu_as_jsonl: "dump", "cpu", "-f", "Write*", "-p", "System", "--format", "jsonl";
    cpu_in_a_time_range: "dump", "cpu", "Write*.sift", "--time", "300ms..380ms", "--details";
    cpu_top: "dump", "cpu", "-f", "Write*;!*Slow*", "--top", "1", "--sort", "cores";
    cpu_totals: "dump", "cpu", "--totals", "total";
    cpu_without_samples: "dump", "cpu", "Slow.sift";
    cpu_with_modules: "dump", "cpu", "-f", "Write*", "--show-modules", "--no-cmdline";
    cpu_of_some_modules: "dump", "cpu", "-f", "Write*", "--show-modules=*example*", "--format", "jsonl";
    process: "dump", "process", "-f", "Write*";
    process_tree: "dump", "process", "-f", "Write*", "--sort", "tree", "--time-format", "local", "--details";
    process_as_csv: "dump", "process", "-f", "Write*", "--new-process", "started", "--format", "csv";
    process_crash: "dump", "process", "--crash";
    process_of_a_parent: "dump", "process", "--parent", "cmd", "--no-cmdline";
    version: "dump", "version", "-f", "Write*";
    version_per_process: "dump", "version", "--dll", "ntdll;*clr*", "--version-filter", "7.0*", "--per-process", "--format", "csv";
    version_of_drivers: "dump", "version", "-f", "Write*", "--driver-filter", "*antivirus*";
    testrun: "dump", "testrun";
    testrun_files: "dump", "testrun", "--print-files", "--valid-only", "--format", "csv";
    stats: "dump", "stats", "Slow.sift", "--properties", "!tables;!bytes";
    stats_as_json: "dump", "stats", "Slow", "--format", "jsonl", "--properties", "file;os_build;events_lost;health;duration_s";
    etwanalyzer: "-fd", "Write*.json", "-DUMP", "CPU", "-pn", "FileWriter;System", "-topn", "1", "-minmaxcpums", "10", "-smi";
    paths_and_a_filter: "dump", "testrun", ".", "-f", "!Write*";
    nothing_is_left: "dump", "cpu", ".", "-f", "*nothing*";
    no_test_run_is_left: "dump", "cpu", "--run-index", "7";
    nothing_matches: "dump", "cpu", "-f", "*nothing*";
    no_rows: "dump", "cpu", "-p", "nothing", "--format", "json";
    no_process_is_like_that: "dump", "cpu", "-p", "FileWirter";
    no_method_without_asterisks: "dump", "cpu", "-f", "Write*", "--methods", "Main";
    no_function_without_symbols: "dump", "cpu", "-f", "Write*", "--methods", "*.sys";
    no_such_tag: "dump", "cpu", "--stacktags", "checkpiont";
    no_tag_can_match: "dump", "cpu", "-f", "Write*", "--stacktags", "*checkpoint*";
    no_time_like_that: "dump", "cpu", "Write*.sift", "--time", "100s..200s";
    no_time_of_day_like_that: "dump", "threads", "--time", "14:02..14:03";
    no_driver_like_that: "dump", "version", "-f", "Write*", "--driver-filter", "nothing";
    no_wait_like_that: "dump", "waits", "-p", "System;cmd", "--methods", "Main";
    nothing_passes_both: "dump", "process", "-p", "System", "--user", "!system";
    a_failure_if_empty: "dump", "cpu", "-p", "nothing", "--fail-if-empty", "-q";
    quiet: "dump", "cpu", "--quiet";
    no_flame_like_that: "flame", "Write*.sift", "-p", "nothing", "-o", "x.svg";
    one_input_fails: "dump", "process", "Slow.sift", "missing.etl", "--no-cmdline";
    no_such_option: "dump", "cpu", "--no-such-option";
    no_such_question: "dump", "nothing";
    not_a_time_range: "dump", "cpu", "--time", "5";
    an_empty_time_range: "dump", "cpu", "--time", "5..4";
    not_a_number: "dump", "cpu", "--min-cpu", "5 apples";
    a_question_that_does_not_exist_yet: "-dump", "tcp", "-fd", "x";
    a_switch_that_does_not_exist_yet: "-dump", "version", "-missingpdb";
    core_numbers: "dump", "cpu", "--core-numbers", "--details";
    merged: "dump", "cpu", "--merge", "-p", "!System";
    merged_as_csv: "dump", "cpu", "--merge", "--sort", "difference", "--format", "csv";
    merged_methods: "dump", "cpu", "--merge", "--methods", "*", "--top-methods", "2";
    merged_tags_by_samples: "dump", "cpu", "--merge", "--stacktags", "*", "--sort", "samples";
    merged_by_priority: "dump", "cpu", "--merge", "--sort", "priority";
    a_difference_of_one_file: "dump", "cpu", "--sort", "difference";
    stack_tags: "dump", "cpu", "-f", "Write*", "--stacktags", "*", "--totals", "method";
    stack_tags_and_methods: "-dump", "CPU", "-stacktags", "Other", "-methods", "*Main", "-fd", "Write*.json";
    a_tag_file_that_is_none: "dump", "cpu", "--stacktags", "*", "--tag-file", "missing.stacktags";
    methods: "dump", "cpu", "--methods", "*";
    methods_of_one_kind: "dump", "cpu", "--methods", "FileWriter.*;!*Main", "--first-last", "s";
    methods_with_details: "dump", "cpu", "-f", "Write*", "--top-methods", "2", "--sort", "wait", "--details", "--columns", "!samples";
    methods_with_percentiles: "dump", "cpu", "-f", "Write*", "--methods", "*Main", "--percentiles";
    methods_without_symbols: "dump", "cpu", "-f", "Write*", "--methods", "*.dll", "--show-modules";
    methods_with_totals: "dump", "cpu", "--methods", "*Main;*WriteAll", "--totals", "method";
    methods_in_sums: "dump", "cpu", "--methods", "*", "--totals", "total";
    methods_per_thread_by_line: "dump", "cpu", "-f", "Write*", "--methods", "*", "--per-thread", "--by", "line";
    methods_by_address: "dump", "cpu", "-f", "Write*", "--methods", "*", "--by", "address", "--time", "0s..300ms", "--show-on-method";
    methods_with_arguments: "dump", "cpu", "-f", "Write*", "--methods", "*(int)", "--include-args", "--cut-method", "-20";
    methods_as_json: "dump", "cpu", "-f", "Write*", "--methods", "*WriteAll", "--format", "json";
    methods_as_csv: "dump", "cpu", "-f", "Write*", "--methods", "*WriteAll", "--format", "csv";
    methods_of_etwanalyzer: "-dump", "CPU", "-fd", "Write*.json", "-methods", "*Write*", "-fld", "s", "s", "-minmaxcpums", "100", "-topnmethods", "1", "-threadcount";
    exported_stacks: "export", "Write*.sift", "-o", "-";
    exported_waits: "export", "Write*.sift", "--measure", "wait", "-o", "-", "--time", "360ms..1s";
    a_profile_of_many: "flame", "-f", "*";
    a_profile_of_nobody: "export", "Write*.sift", "-p", "nobody", "-o", "-";
    a_series: "dump", "cpu", "Write*.sift", "-p", "FileWriter", "--bucket", "200ms", "--no-cmdline";
    a_series_of_methods: "dump", "cpu", "Write*.sift", "--methods", "*WriteAll", "--bucket", "250ms", "--zero-time", "process-start:FileWriter", "--no-cmdline";
    a_series_as_json: "dump", "threads", "Write*.sift", "-p", "FileWriter", "--bucket", "500", "--format", "json", "--columns", "bucket_ns;tid;cpu_ns;run_ns;wait_ns";
    a_series_of_nothing: "dump", "cpu", "--bucket", "0";
    a_series_too_long: "dump", "cpu", "Write*.sift", "--bucket", "1us";
    times: "time", "Write*.sift", "--at", "300ms", "--at", "10:15:00.5", "--at", "2022-04-04 08:15:01Z";
    times_of_no_clock: "time", "--at", "25:00";
    etwanalyzer_times: "-converttime", "-fd", "Write*.json", "-time", "10:15:00.25";
    a_range_of_the_day: "dump", "cpu", "Write*.sift", "--time", "10:15:00.3..10:15:00.38";
    times_from_a_process: "dump", "process", "Write*.sift", "--zero-time", "process-start:FileWriter", "--details";
    times_from_a_method: "dump", "cpu", "--methods", "*WriteAll", "--first-last", "--zero-time", "mark:nothing", "--zero-time", "first:*Main", "--time", "0s..100ms";
    a_landmark_that_is_none: "dump", "cpu", "--zero-time", "start:x";
    threads: "dump", "threads", "--details";
    threads_as_json: "dump", "threads", "-p", "FileWriter", "--format", "json", "--sort", "wait";
    waits: "dump", "waits";
    waits_as_json: "dump", "waits", "-p", "FileWriter", "--format", "json";
    waits_by_method: "dump", "waits", "--by", "method";
    waits_by_waker: "dump", "waits", "--by", "waker", "--sort", "longest", "--details";
    waits_by_thread: "dump", "waits", "--by", "thread";
    waits_in_another_order: "dump", "waits", "--sort", "sum";
    no_waits_were_recorded: "dump", "waits", "Slow.sift";
    stacks: "dump", "stacks", "--no-cmdline";
    stacks_of_callers_by_line: "dump", "stacks", "-f", "Write*", "-p", "FileWriter", "--callers", "--by", "line";
    stacks_of_waits: "dump", "stacks", "-f", "Write*", "--measure", "wait", "--per-thread", "--details", "--top", "1";
    stacks_folded_and_begun: "dump", "stacks", "-f", "Write*", "--methods", "*Main", "--root", "*WriteAll", "--fold", "ntdll", "--no-cmdline";
    stacks_cut_off: "dump", "stacks", "-f", "Write*", "-p", "FileWriter", "--cut", "filewriter", "--min-share", "50%", "--no-cmdline";
    stacks_as_json: "dump", "stacks", "-f", "Write*", "-p", "FileWriter", "--depth", "2", "--format", "jsonl";
    no_share: "dump", "stacks", "--min-share", "5ms";
    chosen_columns: "dump", "cpu", "-f", "Write*", "--columns", "process_label;CPU;!idle";
    an_unknown_column: "dump", "cpu", "--columns", "speed";
    a_sort_of_methods_only: "dump", "cpu", "--sort", "exclusive";
    an_option_of_methods_only: "dump", "cpu", "--per-thread";
    a_bad_cut: "dump", "cpu", "--methods", "*", "--cut-method", "12";
    nothing_to_extract: "extract", "missing.etl";
}

#[test]
fn the_whole_time_as_a_range_gives_the_figures_of_the_summary() {
    let directory = archives();
    let json = |extra: &[&str]| {
        let mut arguments = vec!["dump", "cpu", "-f", "Write*", "--format", "json"];
        arguments.extend(extra);
        run(directory.path(), &arguments)
    };
    assert_eq!(json(&[]), json(&["--time", "-1s..2s"]));
}

#[test]
fn a_file_is_complete_or_absent() {
    let directory = archives();
    let file = directory.path().join("answer.csv");
    let said = run(directory.path(), &["dump", "cpu", "--csv", "answer.csv"]);
    assert_eq!(said, "exit: 0\n--- stdout\n--- stderr\nnote: 4 rows written to answer.csv\n");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("file,test,test_ms,machine,date,process,pid,cpu_ns,samples,") && text.ends_with("\r\n"));
    let said = run(directory.path(), &["dump", "cpu", "--csv", "missing/answer.csv"]);
    let expected = "error: cannot write missing/answer.csv: there is no directory missing\n";
    assert_eq!(said, format!("exit: 1\n--- stdout\n--- stderr\n{expected}"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_tracesift"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// Totals are no rows.
#[test]
fn totals_alone_are_for_tables() {
    let directory = archives();
    let said = |format: &str| run(directory.path(), &["dump", "cpu", "--totals", "total", "--format", format]);
    for format in ["json", "csv"] {
        let said = said(format);
        assert!(said.contains("note: the totals that were asked for stand in a table only"), "{said}");
    }
    assert!(!said("table").contains("stand in a table only"));
    let rows = run(directory.path(), &["dump", "cpu", "--totals", "process", "--format", "json"]);
    assert!(!rows.contains("stand in a table only"), "{rows}");
}

#[test]
fn a_damaged_archive_is_named_and_the_others_answer() {
    let directory = archives();
    fs::write(directory.path().join("Slow.sift/trace.json"), "{}").unwrap();
    insta::assert_snapshot!(run(directory.path(), &["dump", "cpu", "--totals", "total"]));
}

#[test]
fn recordings_that_a_search_comes_upon_are_not_extracted_for_a_question() {
    let directory = archives();
    fs::write(directory.path().join("new.etl"), "not empty").unwrap();
    insta::assert_snapshot!(run(directory.path(), &["dump", "cpu", "--totals", "total"]));
}

#[test]
fn profiles_are_files() {
    let directory = archives();
    let file = |name: &str| std::fs::read(directory.path().join(name)).unwrap_or_default();
    let said = run(directory.path(), &["flame", "Write*.sift", "-p", "FileWriter"]);
    let name = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.cpu.svg";
    assert!(said.starts_with("exit: 0") && said.contains(&format!("wrote {name}")), "{said}");
    assert!(file(name).starts_with(b"<") && String::from_utf8_lossy(&file(name)).contains("WriteAll"));
    let said = run(directory.path(), &["flame", "Write*.sift", "--against", "Write*.sift", "-o", "change.svg"]);
    assert!(said.starts_with("exit: 0") && file("change.svg").starts_with(b"<"), "{said}");
    assert!(
        String::from_utf8_lossy(&file("change.svg")).contains("before: Write_250ms"),
        "the other recording is named"
    );
    for (name, begin) in [
        ("x.speedscope.json", &b"{"[..]),
        ("x.firefox.json", b"{"),
        ("x.pb.gz", b"\x1f\x8b"),
        ("x.perfetto-trace", b"\n"),
        ("x.folded", b"FileWriter.exe(1000);"),
    ] {
        let said = run(directory.path(), &["export", "Write*.sift", "-o", name]);
        assert!(said.starts_with("exit: 0") && file(name).starts_with(begin), "{name}: {said}");
    }
}

/// A picture that does not say that it was filtered looks like a quiet machine.
#[test]
fn profiles_say_what_they_were_filtered_by() {
    let directory = archives();
    let file = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap_or_default();
    for (filter, said) in [
        (&["-p", "FileWriter"][..], "processes FileWriter"),
        (&["--parent", "*", "--methods", "*"], "children of *, methods *"),
        (&["--cmdline", "!*nothing*"], "command lines !*nothing*"),
        (&["--user", "!nobody"], "users !nobody"),
        (&["--session", "!99"], "sessions !99"),
        (&["--container", "!x"], "containers !x"),
        (&["--new-process", "started", "--time", "0..9"], "processes that started, time 0 s..9 s"),
    ] {
        for (command, name) in [("flame", "x.svg"), ("export", "x.speedscope.json")] {
            let answer = run(directory.path(), &[&[command, "Write*.sift", "-o", name], filter].concat());
            assert!(answer.starts_with("exit: 0") && file(name).contains(said), "{command} {filter:?}: {answer}");
        }
    }
    run(directory.path(), &["export", "Write*.sift", "-o", "x.speedscope.json"]);
    assert!(file("x.speedscope.json").contains("\"Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500\""));
}

#[test]
fn merged_methods_are_the_sums_of_the_files() {
    use serde_json::Value;
    use std::collections::BTreeMap;

    let directory = archives();
    let asked = |extra: &[&str]| -> Vec<Value> {
        let question = ["dump", "cpu", "--methods", "*", "--stacktags", "*", "--format", "json"];
        let said = run(directory.path(), &[&question[..], extra].concat());
        let (_, json) = said.split_once("--- stdout\n").unwrap();
        serde_json::from_str(json.split_once("--- stderr").unwrap().0).unwrap()
    };
    let again = directory.path().join("Again.sift");
    fs::create_dir(&again).unwrap();
    for file in
        fs::read_dir(directory.path().join("Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift")).unwrap()
    {
        let file = file.unwrap();
        fs::copy(file.path(), again.join(file.file_name())).unwrap();
    }
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let key = |row: &Value| {
        (text(row, "process").to_lowercase(), text(row, "module"), text(row, "method"), text(row, "stack_tag"))
    };
    let mut files: BTreeMap<_, BTreeMap<String, i64>> = BTreeMap::new();
    for row in asked(&[]) {
        let cpu = row["cpu_ns"].as_i64().unwrap_or_default();
        *files.entry(key(&row)).or_default().entry(text(&row, "file")).or_default() += cpu;
    }
    let merged = asked(&["--merge"]);
    assert!(merged.len() > 3);
    assert_eq!(merged.len(), files.len());
    for row in &merged {
        let sums = &files[&key(row)];
        let figure = |key: &str| row[key].as_i64().unwrap_or_default();
        assert_eq!(figure("files"), i64::try_from(sums.len()).unwrap(), "{row}");
        let sum: i64 = sums.values().sum();
        let expected = [sum, sum / figure("files"), *sums.values().min().unwrap(), *sums.values().max().unwrap()];
        assert_eq!(["cpu_ns", "cpu_mean_ns", "cpu_min_ns", "cpu_max_ns"].map(figure), expected, "{row}");
    }
}
