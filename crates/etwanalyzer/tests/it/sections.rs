//! Sections with connections, DNS queries, exceptions, memory, disks, power settings and thread pools, in extracts that are written here.

use serde_json::{Value, json};
use tracesift_trace::rows::{
    BranchRow, ConnectionRow, CounterSummaryRow, DiskOperation, DiskSummaryRow, DnsQueryRow, EventRow, ExceptionRow,
    FileRow, FrameRow, MemoryProcessRow, MemoryStateRow, NetworkIoRow, Origin, PowerSettingRow, ProcessRow, StackRow,
    SymbolRow, ThreadPoolRow, ThreadRow, adjustment_reasons, connection_ends, dns_pairing, exception_kinds,
    network_io_kinds, thread_pool_events,
};
use tracesift_trace::{ConnectionId, FileId, FrameId, ProcessId, StackId, ThreadId, counter_roles};

use super::support::{Folder, document, health, imported, rows};

const MS: i64 = 1_000_000;
const MIB: i64 = 1 << 20;

/// A session of 30 s with two processes, and more members.
fn session(members: Value) -> String {
    let mut all = json!({
        "SessionEnd": "2024-05-01T10:00:30+02:00",
        "Processes": [
            { "ProcessID": 40, "ProcessName": "a.exe", "StartTime": "2024-05-01T10:00:03+02:00" },
            { "ProcessID": 44, "ProcessName": "b.exe" },
            { "ProcessID": 1, "ProcessName": "PagedPoolWs" }
        ]
    });
    let Value::Object(members) = members else { panic!("an object") };
    all.as_object_mut().expect("an object").extend(members);
    document(all)
}

#[test]
fn queries_for_names() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "Network": { "DnsClient": { "Events": [
            { "ProcessIdx": 1, "Query": "WWW.Example.com.", "Start": "2024-05-01T10:00:02+02:00", "Duration": "00:00:12.5",
              "Result": "::ffff:1.2.3.4;", "ServerList": "10.0.0.1;10.0.0.2", "TimedOut": true, "TimedOutServer": "10.0.0.1",
              "Adapters": "Ethernet; Wi-Fi", "QueryStatus": 0 },
            { "ProcessIdx": -1, "Query": "b", "Start": "2024-05-01T10:00:01+02:00", "Duration": "00:00:00.25", "ServerList": "",
              "TimedOut": true, "QueryStatus": 9003 },
            { "ProcessIdx": 0, "Query": "c", "Duration": "00:00:01" }
        ] } } })),
    ));
    let list = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
    let expected = [
        DnsQueryRow {
            time: 1250 * MS,
            start: 1000 * MS,
            name: "b".to_owned(),
            status: Some(9003),
            timed_out: list(&["unknown"]),
            pairing: Some(dns_pairing::NAME),
            ..DnsQueryRow::default()
        },
        DnsQueryRow {
            time: 14_500 * MS,
            start: 2000 * MS,
            process: Some(ProcessId(1)),
            name: "www.example.com".to_owned(),
            status: Some(0),
            results: Some("::ffff:1.2.3.4;".to_owned()),
            servers: list(&["10.0.0.1", "10.0.0.2"]),
            adapters: list(&["Ethernet", "Wi-Fi"]),
            timed_out: list(&["10.0.0.1"]),
            pairing: Some(dns_pairing::NAME),
            ..DnsQueryRow::default()
        },
    ];
    assert_eq!(rows::<DnsQueryRow>(&archive), expected);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1);
}

#[test]
fn connections_and_what_was_sent_again() {
    let folder = Folder::new();
    let again = |connection: i64, time: &str, sent: &str, client: Option<bool>| {
        json!({ "ConnectionIdx": connection, "RetransmitTime": format!("2024-05-01T10:00:{time}+02:00"),
            "SendTime": format!("2024-05-01T10:00:{sent}+02:00"), "SequenceNumber": 4_000_000_000_u32, "NumBytes": 100,
            "IsClientRetransmission": client })
    };
    let end = |address: &str, port: u16| json!({ "Address": address, "Port": port });
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "Network": { "TcpData": {
            "Connections": [
                { "Tcb": 18_446_677_618_161_203_488_u64, "LocalIpAndPort": end("[::1]", 5), "RemoteIpAndPort": end("1.2.3.4", 443),
                  "TimeStampOpen": "2024-05-01T10:00:01+02:00", "TimeStampClose": "2024-05-01T10:00:09+02:00",
                  "LastTcpTemplate": "Internet", "BytesReceived": 70, "DatagramsReceived": 2, "BytesSent": 0, "DatagramsSent": 3,
                  "ProcessIdx": 1, "Statistics": { "MaxSendDelayS": 1.0236502, "LastSent": "2024-05-01T10:00:08+02:00",
                    "DataBytesIn": 478, "SegmentsOut": 1, "RstReceivedTime": "2024-05-01T10:00:08.5+02:00", "SendPostedPosted": 7,
                    "AverageSendRate": 12.6, "AverageReceiveRate": "NaN", "KeepAlive": true } },
                { "LocalIpAndPort": end("1.1.1.1", 1), "BytesSent": 0, "DatagramsSent": 0, "ProcessIdx": -1,
                  "RetransmitTimeout": "2024-05-01T10:00:07+02:00" }
            ],
            "Retransmissions": [
                again(0, "06", "05.9", None), again(0, "03", "02.7", None), again(0, "04", "03.8", Some(true)), again(2, "04", "03", None)
            ] } } })),
    ));
    let found: Vec<ConnectionRow> = rows(&archive);
    let first = ConnectionRow {
        process: Some(ProcessId(1)),
        protocol: 6,
        local: Some("::1".to_owned()),
        local_port: Some(5),
        remote: Some("1.2.3.4".to_owned()),
        remote_port: Some(443),
        tcb: Some(18_446_677_618_161_203_488_u64.cast_signed()),
        start: Some(1000 * MS),
        end: Some(8500 * MS),
        end_kind: Some(connection_ends::ABORTED),
        template: Some("Internet".to_owned()),
        stat_bytes_in: Some(478),
        stat_segments_out: Some(1),
        received: Some(70),
        receive_events: Some(2),
        // Not 0: the recording has no events of posted data.
        sent: None,
        send_events: Some(3),
        posted_events: Some(7),
        retransmits: Some(2),
        retransmit_delay: Some(400 * MS),
        retransmit_delay_min: Some(100 * MS),
        retransmit_delay_median: Some(200 * MS),
        retransmit_delay_max: Some(300 * MS),
        client_retransmits: Some(1),
        last_sent: Some(8000 * MS),
        max_send_gap: Some(1_023_650_200),
        send_rate: Some(13),
        ..ConnectionRow::default()
    };
    let second = ConnectionRow {
        connection: ConnectionId(1),
        protocol: 6,
        local: Some("1.1.1.1".to_owned()),
        local_port: Some(1),
        end: Some(7000 * MS),
        end_kind: Some(connection_ends::SEND_TIMED_OUT),
        sent: Some(0),
        send_events: Some(0),
        retransmits: Some(0),
        retransmit_delay: Some(0),
        client_retransmits: Some(0),
        ..ConnectionRow::default()
    };
    assert_eq!(found, [first, second]);
    let single: Vec<_> = rows::<NetworkIoRow>(&archive)
        .iter()
        .map(|row| (row.time / MS, row.kind, row.delay.map(|delay| delay / MS), row.size, row.sequence, row.process))
        .collect();
    let (sent, received) = (network_io_kinds::RETRANSMITTED, network_io_kinds::RECEIVED_AGAIN);
    let row = |time, kind, delay| (time, kind, Some(delay), 100, Some(4_000_000_000), Some(ProcessId(1)));
    assert_eq!(single, [row(3000, sent, 300), row(4000, received, 200), row(6000, sent, 100)]);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1, "there is no third connection");
}

#[test]
fn two_readings_of_memory() {
    let folder = Folder::new();
    let set = |name: &str, pid: i64, start: &str, commit: i64| {
        json!({ "Process": { "Name": name, "Pid": pid, "StartTime": start }, "CommitInMiB": commit, "WorkingSetInMiB": commit + 1,
            "WorkingsetPrivateInMiB": 2, "SharedCommitSizeInMiB": 3 })
    };
    let (before, started) = ("0001-01-01T00:00:00+00:00", "2024-05-01T10:00:03+02:00");
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "MemoryUsage": { "MachineCommitStartMiB": 18_314, "MachineCommitEndMiB": 18_269, "MachineActiveStartMiB": 11_566,
            "MachineActiveEndMiB": 11_462,
            "WorkingSetsAtStart": [set("b.exe", 44, before, 100), set("PagedPoolWs", 1, before, 70)],
            "WorkingSetsAtEnd": [set("a.exe", 40, started, 10), set("b.exe", 44, before, 90)] } })),
    ));
    let states: Vec<MemoryStateRow> = rows(&archive);
    let state = |time, commit: i64, active: i64| MemoryStateRow {
        time,
        commit: Some(commit * MIB),
        active: Some(active * MIB),
        ..MemoryStateRow::default()
    };
    assert_eq!(states, [state(0, 18_314, 11_566), state(30_000 * MS, 18_269, 11_462)]);
    let found: Vec<_> = rows::<MemoryProcessRow>(&archive)
        .iter()
        .map(|row| {
            let sizes = [row.commit, row.working_set, row.private_working_set, row.shared_commit];
            (row.time / MS, row.process.0, sizes.map(|size| size.map(|size| size / MIB)))
        })
        .collect();
    let row = |time, process, commit| (time, process, [Some(commit), Some(commit + 1), Some(2), Some(3)]);
    assert_eq!(found, [row(0, 1, 100), row(0, 2, 70), row(30_000, 0, 10), row(30_000, 1, 90)]);
    let origins: Vec<Origin> = rows::<ProcessRow>(&archive).iter().map(|row| row.origin).collect();
    assert_eq!(origins, [Origin::Event, Origin::Rundown, Origin::Pseudo], "a part of the system is no process");

    let nothing = json!({ "MemoryUsage": { "MachineCommitStartMiB": 0, "MachineCommitEndMiB": 0 } });
    let archive = imported(&folder.write("y.json", session(nothing)));
    assert!(rows::<MemoryStateRow>(&archive).is_empty(), "not 0 bytes");
}

#[test]
fn sums_of_disk_operations() {
    let folder = Folder::new();
    let sums = |processes: &[i64], us: i64, bytes: i64, priorities: i64| {
        let processes: Vec<Value> =
            processes.iter().map(|pid| json!({ "Key": pid, "Value": "0001-01-01T00:00:00+00:00" })).collect();
        json!({ "ThreadIDs": [1, 2], "Processes": processes, "Priorities": priorities, "DiskServiceTimeInus": us, "SizeInBytes": bytes })
    };
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "Disk": {
            "DriveToPath": {
                "C": { "FilePathToDiskEvents": {
                    "C:\\a.dll": { "Read": sums(&[44], 1500, 4096, 4), "Write": sums(&[44, 40], 20, 512, 0), "Trim": sums(&[44], 1, 1, 4) } } },
                "Id1": { "FilePathToDiskEvents": { "Flush": { "Flush": sums(&[0], 7, 0, 4) } } },
                "Unknown": { "FilePathToDiskEvents": { "Unknown (0x0)": { "Read": sums(&[44], 3, 8, 4) } } }
            },
            "TotalDiskServiceTimeInus": 1530 } })),
    ));
    assert_eq!(rows::<FileRow>(&archive), [FileRow { file: FileId(0), path: "C:\\a.dll".to_owned() }]);
    let (reads, writes, flushes) = (DiskOperation::Read, DiskOperation::Write, DiskOperation::Flush);
    let row =
        |operation, size, us: i64| DiskSummaryRow { operation, size, service: us * 1000, ..DiskSummaryRow::default() };
    let (file, process) = (Some(FileId(0)), Some(ProcessId(1)));
    assert_eq!(
        rows::<DiskSummaryRow>(&archive),
        [
            DiskSummaryRow { process, file, ..row(reads, 4096, 1500) },
            // Of two processes: whose share is whose is not known.
            DiskSummaryRow { file, priority: Some(1), ..row(writes, 512, 20) },
            DiskSummaryRow { disk: Some(1), ..row(flushes, 0, 7) },
            DiskSummaryRow { process, ..row(reads, 8, 3) },
        ]
    );
    assert_eq!(health(&archive, "unreadable_section_rows"), 1, "an operation that nobody knows");
}

#[test]
fn power_settings() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "PowerConfiguration": [
            { "TimeSinceTraceStartS": 4.5, "BoostMode": 2, "BoostPolicyPercent": 0, "AutonomousMode": false, "HeteroPolicyInEffect": 4,
              "SystemCoolingPolicy": 1, "StabilizationInterval": "00:00:00.05", "EnergyPreferencePercent": 33, "BaseProfile": 2,
              "ActivePowerProfileGuid": "8C5E7FDA-e8bf-4a96-9a85-a6e23a8c635c",
              "IdleConfiguration": { "Enabled": true, "DeepestIdleState": 0 },
              "ProcessorParkingConfiguration": { "MaxUnparkedProcessorPercent": 0, "SoftParkLatencyUs": 0 } },
            { "TimeSinceTraceStartS": 9, "BoostMode": 1, "HeteroPolicyInEffect": 0,
              "ActivePowerProfileGuid": "00000000-0000-0000-0000-000000000000" }
        ] })),
    ));
    let mut found: Vec<_> = rows::<PowerSettingRow>(&archive)
        .into_iter()
        .map(|row| (row.time / MS, row.setting, row.value, row.text, row.profile))
        .collect();
    found.sort();
    let number = |time, setting: &str, value| (time, setting.to_owned(), Some(value), None, None);
    let scheme = |setting: &str, guid: &str, name: &str| {
        (4500, setting.to_owned(), None, Some(guid.to_owned()), Some(name.to_owned()))
    };
    assert_eq!(
        found,
        [
            scheme("245d8541-3943-4422-b025-13a784f679b7", "381b4222-f694-41f0-9685-ff5bb260df2e", "balanced"),
            scheme("31f9f286-5084-42fe-b720-2b0264993763", "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "high performance"),
            number(4500, "36687f9e-e3a5-4dbf-b1dc-15eb381c6863", 33),
            number(4500, "45bcc044-d885-43e2-8605-ee0ec6e96b59", 0),
            number(4500, "5d76a2ca-e8c0-402f-a133-2158492d58ad", 0),
            number(4500, "7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5", 4),
            number(4500, "9943e905-9a30-4ec1-9b99-44dd3b76f7a2", 0),
            number(4500, "be337238-0d82-4146-a960-4f3749d470c7", 2),
            number(9000, "be337238-0d82-4146-a960-4f3749d470c7", 1),
        ]
    );
}

#[test]
fn starvation_of_thread_pools() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "ThreadPool": { "ThreadPoolEventCount": 9, "PerProcessThreadPoolStarvations": {
            "b.exe(44)": [{ "NewWorkerThreadCount": 9, "DateTime": "2024-05-01T10:00:05+02:00", "TotalSeconds": 5.0 }],
            "a.exe(40)2024-05-01T10:00:03.0000000+02:00": [
                { "NewWorkerThreadCount": 5, "DateTime": "2024-05-01T10:00:04+02:00" }, { "NewWorkerThreadCount": 6 }] } } })),
    ));
    let row = |time: i64, process, workers| ThreadPoolRow {
        time: time * MS,
        cpu: -1,
        process: Some(ProcessId(process)),
        event: thread_pool_events::ADJUSTED,
        workers: Some(workers),
        reason: Some(adjustment_reasons::STARVATION),
        ..ThreadPoolRow::default()
    };
    assert_eq!(rows::<ThreadPoolRow>(&archive), [row(4000, 0, 5), row(5000, 1, 9)]);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1);
}

#[test]
fn exceptions_with_their_stacks() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "Exceptions": { "Count": 7, "Stacks": { "Stack2Messages": {
            "KERNELBASE.dll!RaiseException\r\n\r\nIL_Throw\r\nA.B.Do(Int32, System.String)\r\n": [
                { "Message": "m", "Type": "X", "Processes": [1, 1], "Threads": [7, 8],
                  "Times": ["2024-05-01T10:00:05+02:00", "2024-05-01T10:00:03+02:00"] },
                { "Type": "Y", "Processes": [0], "Threads": [7], "Times": ["2024-05-01T10:00:04.0000001+02:00"] }],
            "IL_Throw\nMain": [
                { "Message": "n", "Type": "X", "Processes": [1, 99], "Threads": [7, 7],
                  "Times": ["2024-05-01T10:00:06+02:00", "2024-05-01T10:00:07+02:00"] }],
            "No Stack": [
                { "Message": "o", "Type": "X", "Processes": [], "Times": ["2024-05-01T10:00:08+02:00", "0001-01-01T00:00:00"] }]
        } } } })),
    ));
    let row =
        |time, process: Option<i32>, thread: Option<i32>, stack: Option<i32>, of: [Option<&str>; 2]| ExceptionRow {
            time,
            cpu: -1,
            process: process.map(ProcessId),
            thread: thread.map(ThreadId),
            stack: stack.map(StackId),
            kind: exception_kinds::DOT_NET,
            exception_type: of[0].map(str::to_owned),
            message: of[1].map(str::to_owned),
            ..ExceptionRow::default()
        };
    let expected = [
        row(3000 * MS, Some(1), Some(1), Some(0), [Some("X"), Some("m")]),
        row(4000 * MS + 100, Some(0), Some(2), Some(0), [Some("Y"), None]),
        row(5000 * MS, Some(1), Some(0), Some(0), [Some("X"), Some("m")]),
        row(6000 * MS, Some(1), Some(0), Some(1), [Some("X"), Some("n")]),
        row(7000 * MS, None, None, Some(1), [Some("X"), Some("n")]),
        row(8000 * MS, None, None, None, [Some("X"), Some("o")]),
    ];
    assert_eq!(rows::<ExceptionRow>(&archive), expected);
    let threads: Vec<_> =
        rows::<ThreadRow>(&archive).iter().map(|row| (row.thread.0, row.process.0, row.tid)).collect();
    assert_eq!(threads, [(0, 1, 7), (1, 1, 8), (2, 0, 7)]);
    let stacks: Vec<_> = rows::<StackRow>(&archive).into_iter().map(|row| row.frames).collect();
    let frames = |ids: &[i32]| ids.iter().copied().map(FrameId).collect::<Vec<_>>();
    assert_eq!(stacks, [frames(&[0, 1, 2]), frames(&[1, 3])], "a name is one frame");
    let symbols = rows::<SymbolRow>(&archive);
    let symbols: Vec<_> =
        symbols.iter().map(|row| (row.module.as_deref(), row.function.as_str(), row.arguments.as_deref())).collect();
    let expected = [
        (Some("KERNELBASE.dll"), "RaiseException", None),
        (None, "IL_Throw", None),
        (None, "A.B.Do", Some("(Int32, System.String)")),
        (None, "Main", None),
    ];
    assert_eq!(symbols, expected);
    assert_eq!(rows::<FrameRow>(&archive).len(), 4);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1);
    assert_eq!(health(&archive, "rows_of_unknown_processes"), 1);
}

#[test]
fn branches_between_methods() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "PMC": { "Counters": [], "LBRData": {
            "Methods": ["a.dll!Main", "b.dll!Call(Int32)"], "Costs": ["0 1 1 50", "1 0 1 49", "0 1 99 3", "0 7 1 1", "0 1 1"] } } })),
    ));
    let row = |process: Option<i32>, from, to, count| BranchRow {
        process: process.map(ProcessId),
        from: FrameId(from),
        to: FrameId(to),
        count,
        ..BranchRow::default()
    };
    assert_eq!(rows::<BranchRow>(&archive), [row(Some(1), 0, 1, 50), row(Some(1), 1, 0, 49), row(None, 0, 1, 3)]);
    let symbols = rows::<SymbolRow>(&archive);
    let names: Vec<_> = symbols.iter().map(|row| (row.module.as_deref(), row.function.as_str())).collect();
    assert_eq!(names, [(Some("a.dll"), "Main"), (Some("b.dll"), "Call")]);
    assert_eq!(health(&archive, "unreadable_section_rows"), 2);
    assert_eq!(health(&archive, "rows_of_unknown_processes"), 1);
}

#[test]
fn sums_of_hardware_counters() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "PMC": { "Counters": [
            { "CounterName": "InstructionRetired", "ProcessMap": { "0": 500, "1": 700, "99": 1 } },
            { "CounterName": "TotalCycles", "ProcessMap": { "1": 1400, "2": -5 } },
            { "CounterName": "Other", "ProcessMap": { "Invalid": 3 } }
        ] } })),
    ));
    let found: Vec<_> = rows::<CounterSummaryRow>(&archive)
        .into_iter()
        .map(|row| (row.counter, row.process.map(|process| process.0), row.value, row.role, row.best, row.source))
        .collect();
    let row = |name: &str, process, value, role| (name.to_owned(), process, Some(value), role, Some(true), 0);
    let (instructions, cycles) = (Some(counter_roles::INSTRUCTIONS), Some(counter_roles::CYCLES));
    assert_eq!(
        found,
        [
            row("InstructionRetired", Some(0), 500, instructions),
            row("InstructionRetired", Some(1), 700, instructions),
            row("InstructionRetired", None, 1, instructions),
            row("TotalCycles", Some(1), 1400, cycles),
            row("Other", None, 3, None),
        ]
    );
    assert_eq!(health(&archive, "unreadable_section_rows"), 1);
    assert_eq!(health(&archive, "rows_of_unknown_processes"), 1);
}

#[test]
fn events_of_providers() {
    let folder = Folder::new();
    let archive = imported(&folder.write(
        "x.json",
        session(json!({ "TraceLogging": { "EventsByProvider": { "Shop": {
            "ProviderId": "AE53722E-c863-11d2-8659-00c04fa321a1", "ProviderName": "Contoso-Shop",
            "EventDescriptors": { "3": { "Name": "Order", "EventId": 3, "FieldNames": ["Id", "Item"], "ListNames": ["Sizes"] } },
            "Events": [
                { "EventId": 3, "ThreadId": 88, "ProcessIdx": 0, "TimeStamp": "2024-05-01T10:00:02+02:00",
                  "Fields": { "Id": "17", "Item": "a b" }, "Lists": { "Sizes": ["1", "2"] }, "StackIdx": -1 },
                { "EventId": 9, "ThreadId": 88, "ProcessIdx": 0, "TimeStamp": "2024-05-01T10:00:01+02:00" },
                { "EventId": 9 }
            ]
        } } } })),
    ));
    let event = |time, event: &str, id, fields: &str| EventRow {
        time,
        cpu: -1,
        process: Some(ProcessId(0)),
        thread: Some(ThreadId(0)),
        provider: "Contoso-Shop".to_owned(),
        event: event.to_owned(),
        id: Some(id),
        fields: fields.to_owned(),
        schema: Some("tracelogging".to_owned()),
        guid: "ae53722e-c863-11d2-8659-00c04fa321a1".to_owned(),
        ..EventRow::default()
    };
    let expected =
        [event(1000 * MS, "", 9, "{}"), event(2000 * MS, "Order", 3, r#"{"Id":17,"Item":"a b","Sizes":[1,2]}"#)];
    assert_eq!(rows::<EventRow>(&archive), expected);
    let threads: Vec<_> = rows::<ThreadRow>(&archive).into_iter().map(|row| (row.process, row.tid)).collect();
    assert_eq!(threads, [(ProcessId(0), 88)]);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1);
}
