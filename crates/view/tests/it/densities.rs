//! Lanes of files, system calls, network, memory, page faults and .NET, against the commands that they name.

use serde_json::{Value, json};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    FileIoRow, GcCollectionRow, HardFaultRow, JitMethodRow, MemoryStateRow, NetworkIoRow, SyscallRow,
};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

use crate::endpoints::{check, ids, lanes};
use crate::support::{Frame, Running};

/// Rows of each kind for two processes, some of them long.
fn server() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = create(&directory.path().join("rows.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0, 1, 1000), thread(1, 2, 2000)]);
    for place in 1..60_i64 {
        let of = i32::from(place % 3 == 0);
        let (process, thread) = (ProcessId(of + 1), ThreadId(of));
        let (time, start) = (place * 100, place * 100 - place % 7 * 50 - 9);
        let operation = i8::try_from(place % 5).unwrap();
        let moved = Some(place);
        writer.file_io(&FileIoRow {
            time,
            start,
            process,
            thread,
            operation,
            transferred: moved,
            ..FileIoRow::default()
        });
        writer.syscall(&SyscallRow { time, start, process, thread, number: 3 + of, ..SyscallRow::default() });
        let process = Some(process);
        let kind = 1 + operation % 2;
        writer.network_io(&NetworkIoRow { time, process, kind, size: place, ..NetworkIoRow::default() });
        writer.hard_fault(&HardFaultRow { time, start, process, thread: Some(thread), ..HardFaultRow::default() });
        writer.jit_method(&JitMethodRow { time, start, process, thread: Some(thread), ..JitMethodRow::default() });
        let pauses = Some(vec![start, time]);
        let process = ProcessId(of + 1);
        writer.gc_collection(&GcCollectionRow { time, start, process, pauses, ..GcCollectionRow::default() });
        if place % 9 == 8 {
            let (free, commit) = (Some(place), Some(1_000 - place));
            writer.memory_state(&MemoryStateRow { time, free, commit, ..MemoryStateRow::default() });
        }
    }
    let archive = finish_as(writer, TraceInfo { end_ns: 6_000, ..TraceInfo::default() });
    Running::of(archive, directory)
}

#[test]
fn every_density_has_the_numbers_of_its_command() {
    let server = server();
    let mut all = Vec::new();
    for group in ["files", "network", "memory", "gc", "jit", "regions"] {
        let below = ids(&lanes(&server, &format!("&parent={group}")));
        assert!(!below.is_empty(), "{group}");
        all.extend(below);
    }
    assert_eq!(
        all,
        [
            "file:0",
            "syscall:0",
            "network:0",
            "memory:0",
            "fault:0",
            "gc:1",
            "gc:2",
            "jit:1",
            "jit:2",
            "region:GC/Collection",
            "region:JIT/Method"
        ]
        .map(str::to_owned)
    );
    all.extend(["files", "network", "memory"].map(str::to_owned));
    let mut compared = 0;
    for measure in [Value::Null, json!("time"), json!("count"), json!("bytes"), json!("operations"), json!("cpu")] {
        for (from, to, columns) in [(0, 6_001, 60), (-500, 7_000, 7), (1_234, 3_456, 333)] {
            let body = json!({ "recording": "r0", "from": from, "to": to, "columns": columns, "lanes": all, "measure": measure });
            let frames = Frame::all(&server.post("/api/1/columns", &body).body);
            assert_eq!(frames.len(), all.len());
            for frame in &frames {
                let series = frame.head["series"].as_array().unwrap();
                assert!(!series.is_empty(), "{}", frame.head);
                for series in series {
                    let series = series.as_str().unwrap();
                    assert!(frame.column(series).iter().any(|value| *value > 0.0), "{} {series}", frame.head);
                    // No command has columns that neither begin at a multiple of their length nor with the recording.
                    if !frame.head["words"][series].is_null() {
                        check(&server, frame, series);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 150, "{compared}");
    let one = json!({ "recording": "r0", "from": 0, "to": 6_001, "columns": 9, "lanes": ["gc:1", "memory:0"], "measure": null });
    let frames = Frame::all(&server.post("/api/1/columns", &one).body);
    assert_eq!(frames[0].head["words"]["time"][3], "gc");
    assert!(frames[1].column("free")[0].is_nan(), "no reading yet");
}
