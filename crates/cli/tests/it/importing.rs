//! `import`, and the questions to what was imported.

use std::path::Path;

use tempfile::TempDir;

use crate::support::run;

/// Two processes, three methods and what a shell's `*.json` names beside them.
pub(crate) fn extracts() -> TempDir {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, content: &str| std::fs::write(directory.path().join(name), content).unwrap();
    write(
        "Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500.json",
        r#"{
          "ComputerName": "PC", "SessionStart": "2022-04-04T10:15:00+02:00", "SessionEnd": "2022-04-04T10:15:09.5+02:00",
          "Processes": [
            { "ProcessID": 0, "ProcessName": "Idle" },
            { "ProcessID": 40, "ProcessName": "Server.exe", "CmdLine": "Server.exe -v", "StartTime": "0001-01-01T00:00:00+00:00" },
            { "ProcessID": 44, "ProcessName": "Client.exe", "ParentPid": 40, "StartTime": "2022-04-04T10:15:02.5+02:00", "EndTime": "2022-04-04T10:15:08+02:00", "ReturnCode": 0 }
          ],
          "CPU": {
            "PerProcessCPUConsumptionInMs": { "Idle(0)": 9000, "Server.exe(40)": 250, "Client.exe(44)2022-04-04T10:15:02.5000000+02:00": 1200 },
            "PerProcessAvgCPUPriority": { "1": 9.4 },
            "PerProcessCoreUsage": { "2": [0, 1] },
            "PerProcessMethodCostsInclusive": {
              "MethodNames": ["app.dll!Load(String)", "ntdll.dll!RtlUserThreadStart", "app.dll!app.dll+0x10"],
              "ContainsAllCPUData": false, "HasCSwitchData": true, "HasCPUSamplingData": true,
              "MethodStatsPerProcess": [
                { "Process": { "Name": "Client.exe", "Pid": 44, "StartTime": "2022-04-04T10:15:02.5+02:00" },
                  "CostsAsString": ["0 1100 300 2.6000 7.9000 2 3 20 15 400", "1 1190 900 2.5000 8.0000 4 0 60 12 990"] },
                { "Process": { "Name": "Server.exe", "Pid": 40, "StartTime": "0001-01-01T00:00:00+00:00" },
                  "CostsAsString": ["2 12 0 1.0000 9.0000 1 0 0 0 7"] }
              ]
            }
          }
        }"#,
    );
    write("Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500_Derived_Modules.json", r#"{ "Modules": [] }"#);
    write("other.json", "{ \"name\": 1 }");
    directory
}

/// The arguments that a shell makes of `*.json`.
fn all(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names
}

#[test]
fn imports() {
    let directory = extracts();
    let names = all(directory.path());
    let mut arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    arguments.insert(0, "import");
    insta::assert_snapshot!("import", run(directory.path(), &arguments));
    let again = run(directory.path(), &arguments);
    assert_eq!(run(directory.path(), &["import", "*.json"]), again, "not every shell expands patterns");
    insta::assert_snapshot!("import_again", again);
    for (name, arguments) in [
        ("imported_cpu", &["dump", "cpu"][..]),
        ("imported_cpu_in_a_range", &["dump", "cpu", "--time", "1s..3s"]),
        ("imported_methods", &["dump", "cpu", "--methods", "*", "--first-last"]),
        ("imported_methods_as_json", &["dump", "cpu", "--methods", "Load", "--format", "json"]),
        ("imported_methods_per_thread", &["dump", "cpu", "--methods", "*", "--per-thread"]),
        ("imported_processes", &["dump", "process"]),
        ("imported_waits", &["dump", "waits"]),
        ("imported_stacks", &["dump", "stacks"]),
        ("imported_threads", &["dump", "threads"]),
        ("imported_series", &["dump", "cpu", "--bucket", "1s"]),
        ("imported_percentiles", &["dump", "cpu", "--methods", "Load", "--percentiles"]),
        ("imported_events", &["events", "Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"]),
        ("imported_flame", &["flame", "Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"]),
        ("imported_export", &["export", "Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift"]),
    ] {
        insta::assert_snapshot!(name, run(directory.path(), arguments));
    }
    let is_picture =
        |name: &std::ffi::OsStr| [".svg", ".json.gz"].iter().any(|end| name.to_string_lossy().ends_with(end));
    let entries = std::fs::read_dir(directory.path()).unwrap();
    assert!(!entries.map(|entry| entry.unwrap().file_name()).any(|name| is_picture(&name)), "nothing was written");
}

#[test]
fn parts_alone_are_no_extract() {
    let directory = extracts();
    let part = "Load_250ms_PC_CLT_TestStatus-Passed_20220404-101500_Derived_Modules.json";
    insta::assert_snapshot!("import_of_a_part", run(directory.path(), &["import", part]));
}
