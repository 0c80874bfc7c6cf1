//! Whole pipeline: a recording whose records are known, ETWAnalyzer's command line, and the rows that must come out.

use std::collections::BTreeMap;
use std::path::Path;

use super::recording::{NAME, directory};
use crate::support::run;

/// Extracts the recording as ETWAnalyzer's users would.
fn extracted() -> tempfile::TempDir {
    let directory = directory();
    let said = run(directory.path(), &["-extract", "All", "-fd", &format!("{NAME}.etl")]);
    assert!(said.starts_with("exit: 0"), "{said}");
    directory
}

/// Rows of a CSV file, by the names of its columns.
fn rows(directory: &Path, line: &str) -> Vec<BTreeMap<String, String>> {
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    let file = format!("{NAME}.json");
    arguments.extend(["-fd", &file, "-csv", "out.csv"]);
    let said = run(directory, &arguments);
    assert!(said.starts_with("exit: 0\n--- stdout\n--- stderr"), "{line}: {said}");
    let text = std::fs::read_to_string(directory.join("out.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("sep = ;"));
    let names: Vec<&str> = lines.next().unwrap().split(';').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(';').collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        names.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// These columns of every row.
fn figures(directory: &Path, line: &str, columns: &[&str]) -> Vec<String> {
    let cells =
        |row: &BTreeMap<String, String>| columns.iter().map(|name| row[*name].clone()).collect::<Vec<_>>().join(" ");
    rows(directory, line).iter().map(cells).collect()
}

/// One method of `app.exe`.
fn method(directory: &Path, name: &str, columns: &[&str]) -> String {
    let found = figures(directory, &format!("-dump CPU -pn app -methods {name}"), columns);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found[0].clone()
}

#[test]
fn cpu_of_a_process_is_the_sum_of_its_samples() {
    let directory = extracted();
    let columns =
        ["Process", "CPU ms", "Average Priority", "#Cores", "IsNewProcess", "CommandLine", "Test Time in ms", "Date"];
    assert_eq!(
        figures(directory.path(), "-dump CPU", &columns),
        [
            // (10 × 8 + 15 × 10) / 25 samples.
            "app.exe(100) 25 9.2 2 0 app.exe -load 120 2022-04-04 10:15:00.000",
            "helper.exe(200) 42 9.0 1 0 helper.exe 120 2022-04-04 10:15:00.000",
        ]
    );
}

#[test]
fn a_method_is_charged_once_per_stack_and_to_the_leaf_besides() {
    let directory = extracted();
    assert_eq!(method(directory.path(), "*Again", &["Module", "Method", "CPU ms"]), "app.dll App.Program.Again 22");
    assert_eq!(method(directory.path(), "*Main", &["CPU ms", "# Threads"]), "25 2");
    // Exclusive time is ours alone: what a caller does itself is told apart from what it calls.
    let said = run(
        directory.path(),
        &[
            "dump",
            "cpu",
            "-p",
            "app",
            "--methods",
            "*",
            "--format",
            "jsonl",
            "--columns",
            "method;cpu_ns;exclusive_cpu_ns",
        ],
    );
    for line in [
        r#"{"method":"App.Program.Work","cpu_ns":3000000,"exclusive_cpu_ns":3000000}"#,
        r#"{"method":"App.Program.Main","cpu_ns":25000000,"exclusive_cpu_ns":0}"#,
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn nothing_is_cut_off_at_ten_milliseconds() {
    let directory = extracted();
    assert_eq!(method(directory.path(), "*Work", &["CPU ms", "Wait ms"]), "3 0");
}

#[test]
fn waits_of_several_threads_count_once_where_they_happened() {
    let directory = extracted();
    // From 20 to 120 and from 30 to 140 ms: 120 ms in which somebody waited, and not 210; the spans begin where the threads stopped
    // and do not end where they went on, 1 and 2 ms later.
    let columns = [
        "Wait ms",
        "Ready ms",
        "Ready Average us",
        "Context Switch Count",
        "First Call time in s",
        "Last Call time in s",
    ];
    assert_eq!(method(directory.path(), "*Lock", &columns), "120 3 1500 2 0.020 0.142");
    assert_eq!(method(directory.path(), "*Lock", &["FirstLastCall Duration in s"]), "0.1220");
    // A wait at the end of the recording is one, too; ETW has no stack for it.
    let said = run(
        directory.path(),
        &["dump", "cpu", "-p", "app", "--format", "jsonl", "--columns", "run_ns;wait_ns;ready_ns;open_ns"],
    );
    // 10 + 29 ms and 15 + 18 ms ran; 100 + 110 waited, and 50 + 40 more to the end; 10 + 15 ms before the first switch-in.
    let line = r#"{"run_ns":72000000,"wait_ns":300000000,"ready_ns":3000000,"open_ns":25000000}"#;
    assert!(said.contains(line), "{said}");
}

#[test]
fn times_of_methods_begin_with_a_span_and_not_with_its_end() {
    let directory = extracted();
    let columns = ["First Call time in s", "Last Call time in s"];
    assert_eq!(method(directory.path(), "*Again", &columns), "0.014 0.030");
}

#[test]
fn tags_unite_waits_and_take_every_stack_once() {
    let directory = extracted();
    let tags = r#"<?xml version="1.0"?><Tag Name=""><Tag Name="Locks"><Entrypoint Module="app.dll" Method="*Lock*"/></Tag></Tag>"#;
    std::fs::write(directory.path().join("own.stacktags"), tags).unwrap();
    let said = run(
        directory.path(),
        &[
            "dump",
            "cpu",
            "-p",
            "app",
            "--stacktags",
            "*",
            "--tag-file",
            "own.stacktags",
            "--format",
            "jsonl",
            "--columns",
            "stack_tag;cpu_ns;wait_ns",
        ],
    );
    // Plain sums there: 210 ms. What no rule takes is `Other`, and the last waits came without a stack.
    assert!(said.contains(r#"{"stack_tag":"Locks","cpu_ns":0,"wait_ns":120000000}"#), "{said}");
    assert!(said.contains(r#"{"stack_tag":"Other","cpu_ns":25000000,"wait_ns":0}"#), "{said}");
    assert!(said.contains(r#""stack_tag":"No stack""#), "{said}");
}

#[test]
fn filters_of_figures_are_inclusive_at_both_ends() {
    let directory = extracted();
    let names = |line: &str| figures(directory.path(), line, &["Method"]);
    assert_eq!(names("-dump CPU -pn app -methods * -MinMaxCpuMs 3 22"), ["App.Program.Work", "App.Program.Again"]);
    assert_eq!(names("-dump CPU -pn app -methods * -MinMaxCpuMs 3-3"), ["App.Program.Work"]);
    assert_eq!(
        names("-dump CPU -pn app -methods * -MinMaxWaitMs 0.12s -sortby wait"),
        ["App.Program.Lock", "App.Program.Main"]
    );
    assert_eq!(
        names("-dump CPU -pn app -methods * -MinMaxReadyAvgus 1500 -sortby cpu"),
        ["App.Program.Lock", "App.Program.Main"]
    );
    assert_eq!(
        names("-dump CPU -pn app -methods * -MinMaxCSwitchCount 2 -sortby cpu"),
        ["App.Program.Lock", "App.Program.Main"]
    );
    assert_eq!(
        names("-dump CPU -pn app -methods * -MinMaxFirst 0.013s 0.02s -sortby first"),
        ["App.Program.Again", "App.Program.Lock"]
    );
    assert_eq!(
        names("-dump CPU -pn app -methods * -MinMaxDuration 100ms -sortby first"),
        ["App.Program.Main", "App.Program.Lock"]
    );
}

#[test]
fn the_largest_stands_last_and_a_window_moves_away_from_it() {
    let directory = extracted();
    let names = |line: &str| figures(directory.path(), line, &["ProcessName"]);
    assert_eq!(names("-dump CPU -topn 1"), ["helper.exe"]);
    assert_eq!(names("-dump CPU -topn 1 1"), ["app.exe"]);
    let methods = |line: &str| figures(directory.path(), line, &["Method"]);
    assert_eq!(methods("-dump CPU -pn app -topnmethods 2"), ["App.Program.Again", "App.Program.Main"]);
    assert_eq!(methods("-dump CPU -pn app -topnmethods 1 1"), ["App.Program.Again"]);
    assert_eq!(methods("-dump CPU -pn app -topnmethods 1 -sortby CPUWaitReady"), ["App.Program.Main"]);
    assert_eq!(methods("-dump CPU -pn app -topnmethods 1 -sortby StackDepth"), ["App.Program.Again"]);
}

#[test]
fn every_order_of_methods() {
    let directory = extracted();
    let last = |sort: &str| {
        let names = figures(
            directory.path(),
            &format!("-dump CPU -pn app -methods *Work;*Again;*Lock -sortby {sort}"),
            &["Method"],
        );
        names.last().cloned().unwrap_or_default()
    };
    for sort in ["Wait", "Ready", "ReadyAvg", "CSwitchCount", "CPUWait", "CPUWaitReady", "First", "Last"] {
        assert_eq!(last(sort), "App.Program.Lock", "{sort}");
    }
    assert_eq!(last("CPU"), "App.Program.Again");
    let names = |line: &str| figures(directory.path(), line, &["Method"]);
    let locks = ["App.Program.Lock", "App.Program.Main"];
    assert_eq!(names("-dump CPU -pn app -methods * -MinMaxReadyMs 3 3"), locks);
    assert_eq!(names("-dump CPU -pn app -methods * -MinMaxLast 0.142"), locks);
}

#[test]
fn with_totals_processes_stand_in_the_order_of_their_totals() {
    let directory = extracted();
    let file = format!("{NAME}.json");
    let app_is_last = |extra: &[&str]| {
        let said = run(directory.path(), &[&["-dump", "CPU", "-fd", &file, "-methods", "*"], extra].concat());
        said.find("app.exe(100)").unwrap() > said.find("helper.exe(200)").unwrap()
    };
    // The largest method is helper's, with 42 ms; those of app have 25 + 22 + 3.
    assert!(!app_is_last(&[]));
    assert!(app_is_last(&["-showtotal", "Method"]));
}

#[test]
fn processes_go_by_name_with_and_without_extension_and_pid() {
    let directory = extracted();
    let names = |pattern: &str| figures(directory.path(), &format!("-dump CPU -pn {pattern}"), &["ProcessName"]);
    for pattern in ["app", "APP.exe", "app(100)", "app.exe(100)", "100", "a??", "!helper", "!200", "x;app"] {
        assert_eq!(names(pattern), ["app.exe"], "{pattern}");
    }
    for pattern in ["ap", "10", "*;!app;!200"] {
        assert!(names(pattern).is_empty(), "{pattern}");
    }
}

#[test]
fn methods_are_matched_without_module_and_arguments_unless_asked() {
    let directory = extracted();
    let count = |line: &str| rows(directory.path(), &format!("-dump CPU -pn app {line}")).len();
    assert_eq!(count("-methods *Lock"), 1);
    assert_eq!(count("-methods app.dll*"), 0);
    assert_eq!(count("-methods app.dll* -id"), 4);
    assert_eq!(count("-methods *Lock*)"), 0);
}

#[test]
fn totals_are_of_what_passes_and_a_file_without_rows_says_zero() {
    let directory = extracted();
    let file = format!("{NAME}.json");
    let said = |extra: &[&str]| run(directory.path(), &[&["-dump", "CPU", "-fd", &file], extra].concat());
    let total = said(&["-showtotal", "Total", "-pn", "app"]);
    assert!(total.contains("CPU 25.0 ms") && !total.contains("helper"), "{total}");
    let none = said(&["-showtotal", "File", "-pn", "nobody"]);
    assert!(none.contains(NAME) && none.contains("CPU 0.0 ms"), "{none}");
    let methods = said(&["-showtotal", "Process", "-pn", "app", "-methods", "*Work;*Again"]);
    assert!(methods.contains("CPU 25.0 ms") && !methods.contains("App.Program.Work"), "{methods}");
    // `File` leaves out no rows.
    let all = said(&["-showtotal", "File", "-pn", "app", "-methods", "*Work;*Again"]);
    assert!(all.contains("CPU 25.0 ms") && all.contains("App.Program.Work"), "{all}");
}

#[test]
fn columns_of_processes_come_and_go() {
    let directory = extracted();
    let file = format!("{NAME}.json");
    let header = |extra: &[&str]| {
        let said = run(directory.path(), &[&["-dump", "CPU", "-fd", &file, "-pn", "app"], extra].concat());
        said.lines().find(|line| line.contains("Process")).unwrap_or_default().to_owned()
    };
    let usual = header(&[]);
    assert!(usual.contains("Priority") && usual.contains("Cores"), "{usual}");
    let fewer = header(&["-NoPriority", "-NOCOREUSAGE"]);
    assert!(!fewer.contains("Priority") && !fewer.contains("Cores"), "{fewer}");
    let numbers = run(directory.path(), &["-dump", "CPU", "-fd", &file, "-ShowCoreNumber"]);
    assert!(numbers.contains("0, 1") && numbers.contains("CPUs"), "{numbers}");
    let methods = |extra: &[&str]| {
        run(directory.path(), &[&["-dump", "CPU", "-fd", &file, "-pn", "app", "-methods", "*"], extra].concat())
    };
    assert!(methods(&[]).contains("Ready ms") && !methods(&["-NoReady"]).contains("Ready ms"));
    // Nothing in the recording tells clock rates, so there is nothing to normalize.
    let normalized = run(directory.path(), &["-dump", "CPU", "-fd", &file, "-Normalize"]);
    assert!(normalized.contains("it is not known on which kinds of core"), "{normalized}");
    // Rows of methods have no such columns there either.
    assert_eq!(methods(&["-NoPriority", "-NoCoreUsage", "-ShowCoreNumber"]), methods(&[]));
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let directory = extracted();
    let said = run(directory.path(), &["-dump", "TestRun", "-CopyFilesTo", "there"]);
    assert!(said.starts_with("exit: 64") && said.contains("tracesift copies no files (-CopyFilesTo)"), "{said}");
    let said = run(directory.path(), &["-extract", "All", "-unzipoperation", "x.cmd", "-fd", "x.7z"]);
    assert!(said.contains("an extract runs no other commands (-unzipoperation)"), "{said}");
    let said = run(directory.path(), &["-dump", "CPU", "-nosuch"]);
    assert!(said.contains("-nosuch is no known switch of `dump cpu`"), "{said}");
}

#[test]
fn a_process_of_several_files_has_one_row() {
    let directory = extracted();
    let again = "Lock_120ms_TRACESIFT_SINGLE_TestStatus-Passed_20220404-143000.etl";
    std::fs::copy(directory.path().join(format!("{NAME}.etl")), directory.path().join(again)).unwrap();
    assert!(run(directory.path(), &["-extract", "All", "-fd", again]).starts_with("exit: 0"));
    let count = |line: &[&str]| {
        let said = run(directory.path(), line);
        let is_row = |line: &&str| line.contains("app.exe");
        (said.lines().filter(is_row).count(), said)
    };
    // Two copies of one recording have the same machine, boot, pids and starts.
    let (apart, said) = count(&["-dump", "Process", "-fd", "Lock*.json", "-pn", "app"]);
    let (merged, together) = count(&["-dump", "Process", "-fd", "Lock*.json", "-pn", "app", "-merge"]);
    assert_eq!(apart, 2 * merged, "{said}{together}");
    assert!(merged > 0 && together.contains("2 files"), "{together}");
}

#[test]
fn modules_without_names_are_those_of_symbols_missing() {
    let directory = extracted();
    let file = format!("{NAME}.sift");
    let theirs = |more: &[&str]| run(directory.path(), &[&["-dump", "Version", "-fd", &file], more].concat());
    let ours = |more: &[&str]| run(directory.path(), &[&["symbols", "missing", &file], more].concat());
    assert_eq!(theirs(&["-MissingPdb"]), ours(&[]));
    assert_eq!(theirs(&["-MissingPdb", "*", "-topn", "1"]), ours(&["--pdb=*", "--top", "1"]));
    assert_eq!(theirs(&["-missingpdb", "nosuch*"]), ours(&["--pdb", "nosuch*"]));
    let said = theirs(&["-MissingPdb", "-VersionFilter", "1.*"]);
    assert!(said.contains("`symbols missing` has no --version-filter: left out"), "{said}");
}

#[test]
fn processes_of_one_name_are_merged_over_files() {
    let directory = extracted();
    let again = |time: &str| {
        let name = format!("Lock_120ms_TRACESIFT_SINGLE_TestStatus-Passed_20220404-{time}.etl");
        std::fs::copy(directory.path().join(format!("{NAME}.etl")), directory.path().join(&name)).unwrap();
        let said = run(directory.path(), &["-extract", "All", "-fd", &name]);
        assert!(said.starts_with("exit: 0"), "{said}");
    };
    again("143000");
    let said = run(directory.path(), &["-dump", "CPU", "-fd", "Lock*.json", "-merge"]);
    let of = |name: &str| {
        let line = said.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{name}: {said}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("app.exe"), "2 2 50.0 25.0 25.0 25.0 25.0 25.0 0.0 app.exe");
    // Runs are told below the files.
    again("102000");
    let said = run(directory.path(), &["-dump", "CPU", "-fd", "Lock*.json", "-showtotal", "Total"]);
    assert!(said.contains("test run 0  2022-04-04 10:15:00  2 files  CPU 134.0 ms"), "{said}");
    assert!(said.contains("test run 1  2022-04-04 14:30:00  1 file  CPU 67.0 ms"), "{said}");
    assert!(said.contains("all files  CPU 201.0 ms"), "{said}");
}
