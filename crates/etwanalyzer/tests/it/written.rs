//! Extracts that are written here, in the shapes of all versions.

use proptest::prelude::*;
use serde_json::{Value, json};
use tracesift_etwanalyzer::{Limits, Options, Outcome, import};
use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    CpuRow, MarkRow, MethodSummaryRow, ModuleRow, Origin, ProcessModuleRow, ProcessRow, ProcessSummaryRow,
};

use super::support::{Folder, document, health, imported, refused, rows};

/// The newest shape: switches, rows of 10 numbers, priorities and CPUs by index.
fn newest() -> Value {
    json!({
        "ComputerName": "PC1",
        "SessionEnd": "2024-05-01T10:00:30+02:00",
        "TraceHeader": { "EventsLost": 7, "BuffersLost": 1 },
        "ETWMarks": [
            { "Time": "2024-05-01T10:00:02.5+02:00", "MarkMessage": "Stop" },
            { "Time": "2024-05-01T10:00:01+02:00", "MarkMessage": "Start" }
        ],
        "Processes": [
            { "ProcessID": 4, "ProcessName": "System", "SessionId": 0, "Identity": "NT AUTHORITY\\SYSTEM" },
            { "ProcessID": 10, "ProcessName": "a.exe", "StartTime": "2024-05-01T10:00:03+02:00", "EndTime": "2024-05-01T10:00:05+02:00", "ReturnCode": 3221226505_u32, "ParentPid": 4 },
            { "ProcessID": 10, "ProcessName": "a.exe", "StartTime": "2024-05-01T10:00:06.10+02:00", "EndTime": "9999-12-31T23:59:59.9999999+00:00", "ParentPid": 10 },
            { "ProcessID": 11 }
        ],
        "CPU": {
            "Topology": {
                "1": { "NominalFrequencyMHz": 3200, "RelativePerformancePercentage": 100, "EfficiencyClass": 1 },
                "0": { "NominalFrequencyMHz": 2400, "RelativePerformancePercentage": 60, "EfficiencyClass": 0 },
                "2": { "NominalFrequencyMHz": 0, "EfficiencyClass": "NaN" },
                "all": {}
            },
            "PerProcessCPUConsumptionInMs": {
                "a.exe(10)2024-05-01T10:00:03.0000000+02:00": 20,
                "a.exe(10)2024-05-01T10:00:06.1000000+02:00": 30,
                "System(4)": 5,
                "b (x86).exe(12)": 40
            },
            "PerProcessAvgCPUPriority": { "1": 8.5, "0": "NaN", "Invalid": 0 },
            "PerProcessCoreUsage": { "1": [0, 3, 5, 3], "Invalid": [0] },
            "PerProcessMethodCostsInclusive": {
                "MethodNames": ["m.dll!Run(Int32)", "m.dll!m.dll+0x12", "<UnknownModule>!<UnknownMethod>"],
                "ContainsAllCPUData": true,
                "HasCSwitchData": true,
                "HasCPUSamplingData": true,
                "MethodStatsPerProcess": [
                    { "Process": { "Name": "a.exe", "Pid": 10, "StartTime": "2024-05-01T10:00:06.1+02:00" },
                      "CostsAsString": ["0 25 100 6.2000 9.0001 2 3 7 55 12", "1 0 0 7.0000 7.0000 1 0 0 0 0"] },
                    { "Process": { "Name": "System", "Pid": 4, "StartTime": "0001-01-01T00:00:00+00:00" },
                      "CostsAsString": ["2 5 0 0.0000 30.0000 9 1 0 0 4"] }
                ]
            }
        },
        "SummaryStackTags": { "UsedStackTagFiles": ["x"], "Stats": [
            { "Key": { "Name": "System", "Pid": 4, "StartTime": "0001-01-01T00:00:00+00:00" }, "Value": [
                { "Stacktag": "Other", "CPUInMs": 5, "WaitDurationInMs": 9, "FirstOccurence": "2024-05-01T10:00:01+02:00", "FirstLastOccurenceDuration": "00:00:02.5" } ] } ] },
        "Exceptions": { "Anything": [[[{ "deep": [1, 2, { "x": null }] }]]] }
    })
}

fn modules() -> Value {
    json!({
        "Modules": [
            { "ModuleAndPid": "0 1 2 3 4 5 6 #0 #2", "PdbIdx": 0 },
            { "ModuleAndPid": "-2 7 -2 -2 -2 -2 -2 #1 #99" },
            { "ModuleAndPid": "0 50 2 3 4 5 6 #0" }
        ],
        "UnresolvedPdbs": [{ "Pdb": "0A1B2C3D-0000-0000-0000-000000000001 2 m and n.pdb" }],
        "TotalPdbCount": 1,
        "SharedStrings": { "Strings": ["C:\\x", "m.dll", "1.2 (text)", "3.4", "Product", "1.2.3.4", "What it is", "n.dll"] }
    })
}

#[test]
fn the_newest_shape() {
    let folder = Folder::new();
    let archive = imported(&folder.write("Test_1.json", document(newest())));
    let info = archive.info();
    assert_eq!((info.machine.as_deref(), info.utc_offset_minutes), (Some("PC1"), -120));
    assert_eq!((info.end_ns, info.events_lost, info.buffers_lost), (30_000_000_000, 7, 1));
    assert!(!info.caveats.iter().any(|caveat| caveat.contains("-allCPU")), "{:?}", info.caveats);

    let processes: Vec<ProcessRow> = rows(&archive);
    let names: Vec<(&str, i64, Origin)> =
        processes.iter().map(|row| (row.name.as_str(), row.pid, row.origin)).collect();
    assert_eq!(
        names,
        [
            ("System", 4, Origin::Rundown),
            ("a.exe", 10, Origin::Event),
            ("a.exe", 10, Origin::Event),
            ("pid 11", 11, Origin::Rundown),
            ("b (x86).exe", 12, Origin::Inferred),
        ]
    );
    assert_eq!(processes[0].user.as_deref(), Some("S-1-5-18"));
    assert_eq!((processes[1].start, processes[1].end), (Some(3_000_000_000), Some(5_000_000_000)));
    assert_eq!(processes[1].exit_code, Some(-1_073_740_791));
    assert_eq!(processes[1].parent, Some(processes[0].process));
    assert_eq!((processes[2].end, processes[2].parent), (None, None), "its creator had ended before");
    assert_eq!(health(&archive, "unlisted_processes"), 1);

    let sums: Vec<ProcessSummaryRow> = rows(&archive);
    let figures: Vec<_> =
        sums.iter().map(|row| (row.cpu / 1_000_000, row.priority, row.cores_used, row.methods)).collect();
    assert_eq!(figures, [(5, None, 0, 1), (20, Some(8.5), 3, 0), (30, None, 0, 2), (40, None, 0, 0)]);
    let of: Vec<i32> = sums.iter().map(|row| row.process.0).collect();
    assert_eq!(
        of,
        [0, 1, 2, 4],
        "of the process that the extract has no figures of nothing is said, and not that it had 0"
    );

    let cpus: Vec<CpuRow> = rows(&archive);
    let facts: Vec<_> = cpus.iter().map(|row| (row.cpu, row.efficiency_class, row.nominal_khz)).collect();
    assert_eq!(facts, [(0, Some(0), Some(2_400_000)), (1, Some(1), Some(3_200_000)), (2, None, None)]);

    let methods: Vec<MethodSummaryRow> = rows(&archive);
    let names: Vec<_> =
        methods.iter().map(|row| (row.process.0, row.module.as_deref(), row.function.as_str())).collect();
    assert_eq!(names, [(0, None, "[unknown]"), (2, Some("m.dll"), "Run"), (2, Some("m.dll"), "m.dll+0x12")]);
    let run = &methods[1];
    assert_eq!((run.cpu, run.wait, run.ready), (25_000_000, Some(100_000_000), Some(7_000_000)));
    assert_eq!((run.switches, run.threads), (Some(12), 2));
    assert_eq!((run.first, run.last), (6_200_000_000, 9_000_100_000));
    assert_eq!((run.wait_sum, run.wait_count, run.ready_sum, run.ready_count), (None, None, None, None));
    assert_eq!(methods[0].wait, Some(0), "with switches no wait is a figure");

    let marks: Vec<MarkRow> = rows(&archive);
    let texts: Vec<_> = marks.iter().map(|row| (row.time, row.text.as_str())).collect();
    assert_eq!(texts, [(1_000_000_000, "Start"), (2_500_000_000, "Stop")]);
}

#[test]
fn loose_parts_and_containers_say_the_same() {
    let folder = Folder::new();
    let (main, part) = (document(newest()), modules().to_string());
    folder.write("x_Derived_Modules.json", &part);
    let loose = imported(&folder.write("x.json", &main));
    let filler = vec![b' '; 3 << 20];
    // Containers may be renamed, and what is not wanted may stand in front.
    let members: [(&str, &[u8]); 3] = [
        ("t_Derived_CPUExtended.json", &filler),
        ("t_Derived_Modules.json", part.as_bytes()),
        ("t.json", main.as_bytes()),
    ];
    let packed = imported(&folder.pack("y.json7z", &members));
    assert_eq!(packed.info().name, "y");
    let members: Vec<_> = packed.info().sources.iter().map(|source| source.member.as_deref()).collect();
    assert_eq!(members, [Some("t.json"), Some("t_Derived_Modules.json")]);
    assert_eq!(loose.info().sources.len(), 2);
    assert_eq!(rows::<ProcessRow>(&loose), rows::<ProcessRow>(&packed));
    assert_eq!(rows::<MethodSummaryRow>(&loose), rows::<MethodSummaryRow>(&packed));
    for archive in [loose, packed] {
        let modules: Vec<ModuleRow> = rows(&archive);
        assert_eq!(modules.len(), 2);
        let [m, n] = modules.as_slice() else { panic!("two") };
        assert_eq!((m.name.as_str(), m.path.as_str()), ("m.dll", "C:\\x\\m.dll"));
        assert_eq!(
            (m.file_version.as_deref(), m.binary_file_version.as_deref()),
            (Some("1.2 (text)"), Some("1.2.3.4"))
        );
        assert_eq!((m.product_version.as_deref(), m.product_name.as_deref()), (Some("3.4"), Some("Product")));
        assert_eq!(m.description.as_deref(), Some("What it is"));
        assert_eq!((m.pdb_name.as_deref(), m.pdb_age), (Some("m and n.pdb"), Some(2)));
        assert_eq!(m.pdb_guid.as_deref(), Some("0a1b2c3d-0000-0000-0000-000000000001"));
        assert_eq!((n.name.as_str(), n.path.as_str(), &n.file_version), ("n.dll", "n.dll", &None));
        let loads: Vec<_> =
            rows::<ProcessModuleRow>(&archive).iter().map(|row| (row.process.0, row.module.0)).collect();
        assert_eq!(loads, [(0, 0), (2, 0), (1, 1)]);
        assert_eq!(health(&archive, "unreadable_modules"), 1);
        assert_eq!(health(&archive, "rows_of_unknown_processes"), 1);
    }
}

#[test]
fn old_rows_and_absent_parts() {
    let folder = Folder::new();
    let methods = |costs: &[&str], switches: Option<bool>| {
        let mut part =
            json!({ "MethodNames": ["a!b"], "MethodStatsPerProcess": [{ "Process": "p(1)", "CostsAsString": costs }] });
        if let Some(switches) = switches {
            part["HasCSwitchData"] = json!(switches);
        }
        document(
            json!({ "Processes": [{ "ProcessID": 1, "ProcessName": "p" }], "CPU": { "PerProcessMethodCostsInclusive": part } }),
        )
    };
    let figures = |name: &str, content: String| {
        let archive = imported(&folder.write(name, content));
        rows::<MethodSummaryRow>(&archive).iter().map(|row| (row.wait, row.ready, row.switches)).collect::<Vec<_>>()
    };
    assert_eq!(figures("7.json", methods(&["0 11 0 0.0 1.0 1 0"], None)), [(None, None, None)]);
    assert_eq!(figures("7w.json", methods(&["0 11 3 0.0 1.0 1 0"], None)), [(Some(3_000_000), None, None)]);
    assert_eq!(figures("8.json", methods(&["0 11 3 0.0 1.0 1 0 2"], None)), [(Some(3_000_000), Some(2_000_000), None)]);
    // Ready events were not recorded: all are 0.
    let without_ready = figures("10.json", methods(&["0 11 3 0.0 1.0 1 0 0 0 4"], Some(true)));
    assert_eq!(without_ready, [(Some(3_000_000), None, Some(4))]);
    assert_eq!(figures("no.json", methods(&["0 11 0 0.0 1.0 1 0 0 0 0"], Some(false))), [(None, None, None)]);

    let bare = imported(&folder.write(
        "bare.json",
        b"\xef\xbb\xbf{\"SessionStart\":\"2024-05-01T10:00:00Z\",\"CPU\":null,\"Processes\":null}",
    ));
    assert!(rows::<ProcessRow>(&bare).is_empty() && rows::<ProcessSummaryRow>(&bare).is_empty());
    assert!(rows::<MarkRow>(&bare).is_empty() && rows::<ModuleRow>(&bare).is_empty());
}

#[test]
fn names_that_are_no_extract() {
    let folder = Folder::new();
    let part = folder.write("x_derived_Modules.json", "{}");
    assert!(refused(&part).contains("name its main file, ") && refused(&part).ends_with("x.json"));
    assert!(refused(&folder.path("gone.json")).ends_with("does not exist"));
    assert!(refused(&folder.path("")).contains("no regular file"));
    assert!(refused(&folder.write("p.json", "{}")).ends_with("it has no SessionStart"));
    assert!(
        refused(&folder.write("zero.json", r#"{"SessionStart":"0001-01-01T00:00:00+00:00"}"#)).contains("SessionStart")
    );
    assert!(refused(&folder.pack("none.json7z", &[("a.txt", b"{}")])).contains("holds 0 main documents"));
    assert!(
        refused(&folder.pack("two.json7z", &[("a.json", b"{}"), ("b.json", b"{}")])).contains("holds 2 main documents")
    );
    let empty = refused(&folder.pack("empty.json7z", &[("a.json", b"")]));
    assert!(empty.contains("a.json cannot be read: EOF"), "{empty}");
}

#[test]
fn the_extract_of_a_recording_is_not_replaced() {
    let folder = Folder::new();
    let writer = create(&folder.path("x.sift"));
    let info = TraceInfo { kind: "etl".to_owned(), ..TraceInfo::default() };
    finish_as(writer, info);
    let path = folder.write("x.json", document(json!({})));
    assert!(refused(&path).contains("is the extract of a recording"));
    let overwrite = Options { overwrite: true, ..Options::default() };
    assert!(import(&path, &overwrite).is_err());
    let elsewhere = Options { out: Some(folder.path("out")), ..Options::default() };
    assert!(matches!(import(&path, &elsewhere), Ok(Outcome::Imported(_))));
}

#[test]
fn limits_hold() {
    let folder = Folder::new();
    let main = document(newest());
    let limited = |limits: Limits| Options { limits, out: Some(folder.path("out")), ..Options::default() };
    let failure =
        |path: &std::path::Path, limits: Limits| import(path, &limited(limits)).expect_err("refused").to_string();
    let loose = folder.write("x.json", &main);
    let small = Limits { document: 1000, ..Limits::default() };
    assert!(failure(&loose, small.clone()).contains("1000 bytes"));
    let zeros = vec![0; 4 << 20];
    let packed = folder.pack("x.json7z", &[("x_Derived_FileIO.json", &zeros), ("x.json", main.as_bytes())]);
    assert!(failure(&packed, Limits { unpacked: 1 << 20, ..Limits::default() }).contains("1048576 bytes"));
    assert!(failure(&packed, Limits { members: 1, ..Limits::default() }).contains("more than 1 members"));
    assert!(failure(&packed, Limits { dictionary: 1 << 10, ..Limits::default() }).contains("dictionary"));
    assert!(failure(&packed, Limits { ratio: 1 << 20, ..small }).contains("1000 bytes"));
    // Few names that many rows refer to.
    let long = "x".repeat(1 << 16);
    let rows = vec!["0 11 0 0.0 1.0 1 0"; 100];
    let part =
        json!({ "MethodNames": [long], "MethodStatsPerProcess": [{ "Process": "p(1)", "CostsAsString": rows }] });
    let bomb = folder.write("b.json", document(json!({ "CPU": { "PerProcessMethodCostsInclusive": part } })));
    assert!(failure(&bomb, Limits { row_texts: 1 << 20, ..Limits::default() }).contains("1048576 bytes"));
    assert!(!folder.path("out").join("x.sift").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever figures an extract has come back, to the millisecond and to the 100 µs.
    #[test]
    fn figures_come_back(
        rows in proptest::collection::vec((0_u32..5, any::<u32>(), any::<u32>(), 0_u32..10_000_000, 0_u32..10_000_000, any::<u16>(), any::<u32>()), 0..40),
        cpu in any::<u32>(),
    ) {
        let costs: Vec<String> = rows.iter().map(|(method, cpu, wait, first, length, threads, ready)| {
            let last = first + length;
            let seconds = |units: u32| format!("{}.{:04}", units / 10_000, units % 10_000);
            format!("{method} {cpu} {wait} {} {} {threads} 0 {ready} 1 2", seconds(*first), seconds(last))
        }).collect();
        let content = document(json!({ "CPU": {
            "PerProcessCPUConsumptionInMs": { "p(1)": cpu },
            "PerProcessMethodCostsInclusive": {
                "MethodNames": ["a!0", "a!1", "a!2", "a!3", "a!4"], "HasCSwitchData": true,
                "MethodStatsPerProcess": [{ "Process": { "Name": "p", "Pid": 1 }, "CostsAsString": costs }] } } }));
        let folder = Folder::new();
        let archive = imported(&folder.write("x.json", content));
        let found = super::support::rows::<MethodSummaryRow>(&archive);
        prop_assert_eq!(found.len(), rows.len());
        for (row, (method, cpu, wait, first, length, threads, ready)) in found.iter().zip(&rows) {
            prop_assert_eq!(&row.function, &method.to_string());
            prop_assert_eq!(row.cpu, i64::from(*cpu) * 1_000_000);
            prop_assert_eq!(row.wait, Some(i64::from(*wait) * 1_000_000));
            prop_assert_eq!(row.ready, Some(i64::from(*ready) * 1_000_000));
            prop_assert_eq!(row.first, i64::from(*first) * 100_000);
            prop_assert_eq!(row.last - row.first, i64::from(*length) * 100_000);
            prop_assert_eq!(row.threads, i32::from(*threads));
        }
        let sums = super::support::rows::<ProcessSummaryRow>(&archive);
        prop_assert_eq!(sums[0].cpu, i64::from(cpu) * 1_000_000);
        prop_assert_eq!(sums[0].methods as usize, rows.len());
    }
}
