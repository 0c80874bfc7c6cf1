//! What questions say of the sections of an import that are no CPU sums: figures that are stored, and nothing in place of others.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{rows, run};

const MIB: i64 = 1 << 20;

/// An import with disk sums, a connection, a DNS query, two readings of memory, a power setting and a starvation.
fn imported() -> TempDir {
    let directory = TempDir::new().unwrap();
    let at = |seconds: &str| format!("2022-04-04T10:15:{seconds}+02:00");
    let sums = |processes: &[i64], us: i64, bytes: i64| {
        let processes: Vec<Value> =
            processes.iter().map(|pid| json!({ "Key": pid, "Value": "0001-01-01T00:00:00+00:00" })).collect();
        json!({ "Processes": processes, "Priorities": 4, "DiskServiceTimeInus": us, "SizeInBytes": bytes })
    };
    let set = |commit: i64| json!([{ "Process": { "Name": "a.exe", "Pid": 40 }, "CommitInMiB": commit, "WorkingSetInMiB": 7 }]);
    let end = |port: u16| json!({ "Address": "10.0.0.1", "Port": port });
    let document = json!({
        "SessionStart": at("00"), "SessionEnd": at("10"),
        "Processes": [{ "ProcessID": 40, "ProcessName": "a.exe" }, { "ProcessID": 44, "ProcessName": "b.exe" }],
        "Disk": { "DriveToPath": {
            "C": { "FilePathToDiskEvents": {
                "C:\\x\\a.dll": { "Read": sums(&[40], 1500, 4096), "Write": sums(&[40, 44], 250, 512) },
                "C:\\x\\b.dll": { "Read": sums(&[44], 500, 1024) } } },
            "Id0": { "FilePathToDiskEvents": { "Flush": { "Flush": sums(&[0], 750, 0) } } } } },
        "Network": {
            "DnsClient": { "Events": [
                { "ProcessIdx": 0, "Query": "a.example", "Start": at("01"), "Duration": "00:00:02", "QueryStatus": 0 },
                { "ProcessIdx": 0, "Query": "a.example", "Start": at("02"), "Duration": "00:00:03", "QueryStatus": 0 }] },
            "TcpData": {
                "Connections": [{ "LocalIpAndPort": end(1), "RemoteIpAndPort": end(443), "TimeStampOpen": at("01"), "ProcessIdx": 0,
                    "BytesReceived": 700, "DatagramsReceived": 2, "BytesSent": 0, "DatagramsSent": 4 }],
                "Retransmissions": [
                    { "ConnectionIdx": 0, "RetransmitTime": at("03"), "SendTime": at("02.5"), "SequenceNumber": 1, "NumBytes": 9 },
                    { "ConnectionIdx": 0, "RetransmitTime": at("06"), "SendTime": at("05.9"), "SequenceNumber": 2, "NumBytes": 9 }] } },
        "MemoryUsage": { "MachineCommitStartMiB": 18_314, "MachineCommitEndMiB": 18_269, "MachineActiveStartMiB": 100,
            "MachineActiveEndMiB": 90, "WorkingSetsAtStart": set(30), "WorkingSetsAtEnd": set(50) },
        "PMC": { "Counters": [
            { "CounterName": "InstructionRetired", "ProcessMap": { "0": 1000 } },
            { "CounterName": "TotalCycles", "ProcessMap": { "0": 2500 } }] },
        "PowerConfiguration": [{ "TimeSinceTraceStartS": 9, "BoostMode": 2 }],
        "ThreadPool": { "PerProcessThreadPoolStarvations": { "b.exe(44)": [{ "NewWorkerThreadCount": 9, "DateTime": at("05") }] } }
    });
    std::fs::write(directory.path().join("x.json"), document.to_string()).unwrap();
    assert!(run(directory.path(), &["import", "x.json"]).starts_with("exit: 0"));
    directory
}

fn values(row: &Value, keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| row[*key].clone()).collect()
}

/// What is asked of single events ends with a reason and without figures.
fn refused(directory: &TempDir, arguments: &[&str]) {
    let answer = run(directory.path(), arguments);
    assert!(answer.contains("an import has sums of the whole recording only"), "{arguments:?}: {answer}");
}

#[test]
fn disk_operations_are_sums() {
    let directory = imported();
    let ask = |arguments: &[&str]| rows(directory.path(), &[&["dump", "disk", "x.sift"], arguments].concat());
    let keys = [
        "path",
        "read_bytes",
        "read_service_ns",
        "written_bytes",
        "total_bytes",
        "total_service_ns",
        "reads",
        "response_avg_ns",
        "busy_ns",
    ];
    let keys = keys.map(|key| if key == "written_bytes" { "write_bytes" } else { key });
    let found: Vec<_> = ask(&["--by", "file"]).iter().map(|row| values(row, &keys)).collect();
    assert_eq!(
        found,
        [
            json!(["(no file)", 0, 0, 0, 0, 750_000, null, null, null]),
            json!(["C:\\x\\b.dll", 1024, 500_000, 0, 1024, 500_000, null, null, null]),
            json!(["C:\\x\\a.dll", 4096, 1_500_000, 512, 4608, 1_750_000, null, null, null]),
        ]
        .map(|row| row.as_array().cloned().unwrap())
    );
    let drives: Vec<_> =
        ask(&[]).iter().map(|row| values(row, &["drive", "total_bytes", "flush_service_ns"])).collect();
    assert_eq!(drives, [vec![json!("disk 0"), json!(0), json!(750_000)], vec![json!("C:"), json!(5632), json!(0)]]);
    // What several processes wrote is nobody's.
    let of_process = ask(&["--process", "a.exe"]);
    assert_eq!(values(&of_process[0], &["read_bytes", "write_bytes"]), [4096, 0]);
    for arguments in
        [&["--list"][..], &["--time", "1s..2s"], &["--bucket", "1s"], &["--min-duration", "1ms"], &["--paging"]]
    {
        refused(&directory, &[&["dump", "disk", "x.sift"], arguments].concat());
    }
}

#[test]
fn connections_have_their_sums() {
    let directory = imported();
    let found = rows(directory.path(), &["dump", "tcp", "x.sift"]);
    let keys =
        ["received_bytes", "sent_bytes", "sent_packets", "retransmits", "retransmit_delay_ns", "client_retransmits"];
    assert_eq!(
        values(&found[0], &keys),
        [json!(700), json!(null), json!(4), json!(2), json!(600_000_000), json!(null)]
    );
    let single = rows(directory.path(), &["dump", "tcp", "x.sift", "--retransmits", "--sort", "time"]);
    let of_single: Vec<_> = single.iter().map(|row| values(row, &["time_ns", "delay_ns", "size"])).collect();
    assert_eq!(
        of_single,
        [[3_000_000_000_i64, 500_000_000, 9], [6_000_000_000, 100_000_000, 9]].map(|row| row.map(Value::from).to_vec())
    );
    let later = rows(directory.path(), &["dump", "tcp", "x.sift", "--retransmits", "--time", "4s.."]);
    assert_eq!(later.len(), 1, "each has its time");
    refused(&directory, &["dump", "tcp", "x.sift", "--time", "1s..2s"]);
    refused(&directory, &["dump", "tcp", "x.sift", "--issues"]);
}

#[test]
fn memory_has_two_readings_without_times() {
    let directory = imported();
    let keys = ["commit", "diff_commit", "working_set", "first_ns", "last_ns"];
    let processes = rows(directory.path(), &["dump", "memory", "x.sift"]);
    assert_eq!(
        values(&processes[0], &keys),
        [json!(50 * MIB), json!(20 * MIB), json!(7 * MIB), json!(null), json!(null)]
    );
    let machine = rows(directory.path(), &["dump", "memory", "x.sift", "--total-memory"]);
    let keys = ["commit", "diff_commit", "active", "free", "standby", "first_ns"];
    let expected = [json!(18_269 * MIB), json!(-45 * MIB), json!(90 * MIB), json!(null), json!(null), json!(null)];
    assert_eq!(values(&machine[0], &keys), expected);
    refused(&directory, &["dump", "memory", "x.sift", "--time", "1s..2s"]);
}

#[test]
fn counters_have_sums_per_process() {
    let directory = imported();
    let found = rows(directory.path(), &["dump", "pmc", "x.sift"]);
    let keys = ["process", "instructions", "cycles", "cpi", "run_ns", "parts"];
    assert_eq!(
        values(&found[0], &keys),
        [json!("a.exe"), json!(1000), json!(2500), json!(2.5), json!(null), json!(null)]
    );
    refused(&directory, &["dump", "pmc", "x.sift", "--time", "1s..2s"]);
    refused(&directory, &["dump", "pmc", "x.sift", "--by", "method"]);
}

#[test]
fn rows_with_times_answer_ranges() {
    let directory = imported();
    let keys = ["name", "total_ns", "queries", "network"];
    let queries = rows(directory.path(), &["dump", "dns", "x.sift"]);
    assert_eq!(values(&queries[0], &keys), [json!("a.example"), json!(4_000_000_000_i64), json!(2), json!(null)]);
    let part = rows(directory.path(), &["dump", "dns", "x.sift", "--time", "1s..2s"]);
    assert_eq!(values(&part[0], &keys), [json!("a.example"), json!(1_000_000_000), json!(1), json!(null)]);

    let pools = rows(directory.path(), &["dump", "threadpool", "x.sift"]);
    let keys = ["process", "starvations", "most_workers", "adjusted", "started", "starved_ns"];
    assert_eq!(values(&pools[0], &keys), [json!("b.exe"), json!(1), json!(9), json!(null), json!(null), json!(null)]);

    let settings = rows(directory.path(), &["dump", "power", "x.sift"]);
    assert_eq!(values(&settings[0], &["perfboostmode", "heteropolicy"]), [json!("2 aggressive"), json!(null)]);
    let gc = run(directory.path(), &["dump", "syscalls", "x.sift"]);
    assert!(gc.contains("an import has sums of the whole recording only"), "{gc}");
}
