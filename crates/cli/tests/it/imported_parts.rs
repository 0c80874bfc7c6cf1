//! What questions say of an import with operations on files, allocations, handles and objects: the parts of an extract in files of their own.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{rows, run};

const S: i64 = 1_000_000_000;

/// An import of these parts. `b.exe` ends at 8 s of 10.
fn imported() -> TempDir {
    let directory = TempDir::new().unwrap();
    let at = |seconds: &str| format!("2022-04-04T10:15:{seconds}+02:00");
    let write = |name: &str, document: Value| {
        std::fs::write(directory.path().join(name), document.to_string()).unwrap();
    };
    let processes = json!([
        { "ProcessID": 4, "ProcessName": "System" },
        { "ProcessID": 40, "ProcessName": "a.exe" },
        { "ProcessID": 44, "ProcessName": "b.exe", "EndTime": at("08") }
    ]);
    write("x.json", json!({ "SessionStart": at("00"), "SessionEnd": at("10"), "Processes": processes }));
    let reads = |count: i64, bytes: i64, us: i64| json!({ "Count": count, "MaxFilePosition": 9000, "AccessedBytes": bytes, "Durationus": us });
    write(
        "x_Derived_FileIO.json",
        json!({ "FileName2PerProcessMapping": {
            "C:\\x\\a.dll": { "Process": {
                "1": { "Open": { "Durationus": 100, "Count": 3, "NtStatus": [-1_073_741_772] }, "Read": reads(5, 4096, 2000),
                    "Close": { "Durationus": 30, "Count": 2, "Cleanups": 2 } },
                "2": { "Read": reads(1, 100, 7), "Write": reads(2, 300, 50) } } },
            "C:\\y.txt": { "Process": { "2": { "Open": { "Durationus": 5, "Count": 1 }, "Delete": { "Count": 4 } } } } } }),
    );
    let commit = |process: i64, size: i64, seconds: f64, stack: i64| {
        json!({ "ProcessIdx": process, "ThreadId": 7, "BaseAddress": 65_536 * size, "Size": size,
            "TimeInSecondsSinceTraceStart": seconds, "StackIdx": stack })
    };
    let sums = |process: i64, commits: i64, bytes: i64, frees: i64, freed: i64| {
        json!({ "ProcessIdx": process, "CommitCount": commits, "CommittedSizeInBytes": bytes, "FreedCount": frees,
            "FreedSizeInBytes": freed, "MaxCommitSizeInBytes": 4096 })
    };
    write(
        "x_Derived_VirtualAlloc.json",
        json!({ "VirtualAllocEvents": [commit(1, 4096, 1.0, 0), commit(1, 8192, 2.0, 0), commit(2, 512, 3.0, 1)],
            "PerProcessStats": [sums(1, 9, 90_000, 6, 70_000), sums(0, 1, 64, 1, 64), sums(2, 2, 1024, 1, 512)] }),
    );
    write("x_Derived_VirtualAllocStacks.json", json!({ "StackList": ["ntdll.dll!Alloc\r\na.exe!Main", "b.exe!Main"] }));
    let event = |process: i64, seconds: i64, handle: i64| json!({ "TimeNs": seconds * S, "HandleValue": handle, "ProcessIdx": process, "ThreadId": 7, "StackIdx": 0 });
    let change = |process: i64, seconds: i64, count: i64| json!({ "TimeNs": seconds * S, "RefCountChange": count, "ProcessIdx": process, "ThreadId": 7, "StackIdx": 0 });
    write(
        "x_Derived_Handle.json",
        json!({ "ObjectTypeMap": { "16": "Event" }, "ObjectReferences": [
            { "ObjectPtr": -1024, "ObjectType": 16, "Name": "Shop", "CreateEvent": change(1, 1, 1), "DestroyEvent": change(1, 6, -1),
              "RefChanges": [change(1, 2, 3), change(1, 3, -3)],
              "HandleCreateEvents": [event(1, 1, 16), event(1, 5, 20)], "HandleCloseEvents": [event(1, 4, 16)] },
            { "ObjectPtr": 64, "ObjectType": 16, "HandleCreateEvents": [event(2, 2, 24)] },
            { "ObjectPtr": 9, "ObjectType": 1000, "FileMapEvents": [
                { "TimeNs": S, "ViewBase": 4096, "ViewSize": 8192, "FileObject": 5, "ProcessIdx": 1, "ThreadId": 7, "StackIdx": 0 }] }
        ] }),
    );
    write("x_Derived_HandleStacks.json", json!({ "StackList": ["ntdll.dll!NtCreateEvent"] }));
    assert!(run(directory.path(), &["import", "x.json"]).starts_with("exit: 0"));
    directory
}

fn values(row: &Value, keys: &[&str]) -> Value {
    keys.iter().map(|key| row[*key].clone()).collect()
}

fn refused(directory: &TempDir, arguments: &[&str]) {
    let answer = run(directory.path(), arguments);
    assert!(answer.contains("an import has sums of the whole recording only"), "{arguments:?}: {answer}");
}

#[test]
fn operations_on_files_are_sums() {
    let directory = imported();
    let ask = |arguments: &[&str]| rows(directory.path(), &[&["dump", "file", "x.sift"], arguments].concat());
    let keys = [
        "path",
        "operations",
        "opens",
        "open_failed",
        "reads",
        "read_asked",
        "read_bytes",
        "read_ns",
        "writes",
        "deletes",
        "total_ns",
        "max_position",
        "closes",
        "close_ns",
        "failed",
        "longest_ns",
    ];
    let found: Vec<_> = ask(&["--by", "file", "--sort", "count"]).iter().map(|row| values(row, &keys)).collect();
    let us = |us: i64| json!(us * 1000);
    assert_eq!(
        found,
        [
            json!(["C:\\y.txt", 5, 1, null, 0, 0, null, 0, 0, 4, us(5), null, 0, 0, null, null]),
            json!(["C:\\x\\a.dll", 15, 3, null, 6, 4196, null, us(2007), 2, 0, us(2187), 9000, 2, us(30), null, null]),
        ]
    );
    let of_process = ask(&["--process", "b.exe", "--by", "process"]);
    assert_eq!(values(&of_process[0], &["operations", "files", "write_asked", "write_ns"]), json!([8, 2, 300, 50_000]));
    let by_operation = ask(&["--by", "operation", "--sort", "count"]);
    let found: Vec<_> = by_operation.iter().map(|row| values(row, &["operation", "operations"])).collect();
    for expected in [json!(["open", 4]), json!(["read", 6]), json!(["cleanup", 2]), json!(["delete", 4])] {
        assert!(found.contains(&expected), "{found:?}");
    }
    // An extract tells which errors opens had, not how many of them failed.
    let by_error = ask(&["--by", "error", "--operation", "open"]);
    let mut found: Vec<_> = by_error.iter().map(|row| values(row, &["error", "opens"])).collect();
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, [json!(["(none)", 1]), json!(["(unknown)", 3])]);
    let said = run(directory.path(), &["dump", "file", "x.sift"]);
    assert!(said.contains("an import has opens, closes, reads, writes, deletes, renames"), "{said}");
    for arguments in [&["--list"][..], &["--time", "1s..2s"], &["--min-duration", "1ms"], &["--unnamed"]] {
        refused(&directory, &[&["dump", "file", "x.sift"], arguments].concat());
    }
}

#[test]
fn commits_are_summed_per_process_and_leaks_are_single() {
    let directory = imported();
    let ask = |arguments: &[&str]| rows(directory.path(), &[&["dump", "virtualalloc", "x.sift"], arguments].concat());
    let keys = [
        "process",
        "commits",
        "commit_bytes",
        "freed",
        "freed_bytes",
        "not_released",
        "not_released_bytes",
        "max_commit_bytes",
    ];
    for arguments in [&[][..], &["--by", "process"]] {
        let mut found: Vec<_> = ask(arguments).iter().map(|row| values(row, &keys)).collect();
        found.sort_by_key(ToString::to_string);
        // What the end of b.exe freed is not left.
        assert_eq!(
            found,
            [
                json!(["System", 1, 64, 1, 64, 0, 0, null]),
                json!(["a.exe", 9, 90_000, 6, 70_000, 2, 12_288, null]),
                json!(["b.exe", 2, 1024, 1, 512, 0, 0, null]),
            ]
        );
    }
    let exited = ask(&["--by", "process", "--include-exited", "--process", "b.exe"]);
    assert_eq!(values(&exited[0], &keys[5..7]), json!([1, 512]));
    // Sums of a process are those of no function, and of no choice of blocks.
    let by_method = ask(&["--by", "process,method"]);
    let found: Vec<_> = by_method
        .iter()
        .map(|row| values(row, &["process", "method", "commits", "freed_bytes", "not_released"]))
        .collect();
    assert!(found.contains(&json!(["a.exe", "ntdll.dll!Alloc", null, null, 2])), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    let large = ask(&["--by", "process", "--min-size", "5KB"]);
    assert_eq!(large.len(), 1);
    assert_eq!(values(&large[0], &keys[..6]), json!(["a.exe", null, null, null, null, 1]));
    let single = ask(&["--list", "--process", "a.exe"]);
    let mut found: Vec<_> = single.iter().map(|row| values(row, &["bytes", "open"])).collect();
    found.sort_by_key(ToString::to_string);
    assert_eq!(found, [json!([4096, true]), json!([8192, true])]);
    let leaks = ask(&["--leak", "--by", "stack"]);
    assert_eq!(leaks.len(), 1);
    assert_eq!(values(&leaks[0], &["not_released_bytes", "commits"]), json!([12_288, null]));
    refused(&directory, &["dump", "virtualalloc", "x.sift", "--time", "1s..2s"]);
}

#[test]
fn handles_and_objects_have_their_times() {
    let directory = imported();
    let ask = |arguments: &[&str]| rows(directory.path(), &[&["dump"], arguments, &["x.sift"]].concat());
    let keys = ["process", "type", "made", "closed", "open_last", "leaked"];
    let found: Vec<_> = ask(&["handles"]).iter().map(|row| values(row, &keys)).collect();
    assert_eq!(found.len(), 2);
    assert!(found.contains(&json!(["a.exe", "Event", 2, 1, 1, 1])), "{found:?}");
    // The end of its process closed it.
    assert!(found.contains(&json!(["b.exe", "Event", 1, 1, 0, 0])), "{found:?}");
    let later = ask(&["handles", "--time", "4500ms..", "--process", "a.exe"]);
    assert_eq!(values(&later[0], &keys[2..5]), json!([1, 0, 1]));

    let objects = ask(&["objectref", "--name", "Shop"]);
    let keys = ["process", "type", "name", "handle_count", "created_ns", "destroyed_ns", "references", "dereferences"];
    assert_eq!(values(&objects[0], &keys), json!(["a.exe", "Event", "Shop", 2, S, 6 * S, 3, 3]));
    assert_eq!(ask(&["objectref", "--type", "Event"]).len(), 2);
    let references = ask(&["objectref", "--references", "--name", "Shop"]);
    assert_eq!(references[0]["reference_events"].as_array().map(Vec::len), Some(2));
    let views = ask(&["objectref", "--map=only"]);
    assert_eq!(values(&views[0], &["process", "size", "mapped_ns", "unmapped_ns"]), json!(["a.exe", 8192, S, null]));
}

#[test]
fn an_overview_names_them() {
    let directory = imported();
    let said = run(directory.path(), &["overview", "x.sift"]);
    for word in ["file", "virtualalloc", "handles"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}
