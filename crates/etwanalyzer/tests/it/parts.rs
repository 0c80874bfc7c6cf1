//! Sections in files of their own, `X_Derived_*.json`: operations on files, allocations, handles and events of providers.

use serde_json::{Value, json};
use tracesift_archive::Archive;
use tracesift_trace::rows::{
    AllocationRow, AllocationSummaryRow, EventRow, FileRow, FileSummaryRow, HandleRow, MappedViewRow,
    ObjectReferenceRow, ObjectRow, StackRow, SymbolRow, ThreadRow, allocation_kinds, file_operations as operations,
    handle_kinds, handle_origins,
};
use tracesift_trace::{FileId, ProcessId, StackId, ThreadId};

use super::support::{Folder, document, health, imported, refused, rows};

const S: i64 = 1_000_000_000;

/// A session of 30 s. `child.exe` ends at 20 s.
fn main_document() -> String {
    document(json!({
        "SessionEnd": "2024-05-01T10:00:30+02:00",
        "HandleData": { "ObjectTypeMap": {}, "ObjectReferences": [], "Stacks": { "StackList": [] } },
        "VirtualAllocData": { "VirtualAllocEvents": [], "PerProcessStats": [], "Stacks": { "StackList": [] } },
        "Processes": [
            { "ProcessID": 4, "ProcessName": "System" },
            { "ProcessID": 40, "ProcessName": "a.exe" },
            { "ProcessID": 44, "ProcessName": "child.exe", "EndTime": "2024-05-01T10:00:20+02:00" }
        ]
    }))
}

/// The import of an extract with these parts, loose and in a container: both say the same.
fn with_parts(parts: &[(&str, Value)]) -> (Folder, Archive) {
    let folder = Folder::new();
    let named: Vec<(String, String)> =
        parts.iter().map(|(name, part)| (format!("x_Derived_{name}.json"), part.to_string())).collect();
    for (name, content) in &named {
        folder.write(name, content);
    }
    let main = main_document();
    let archive = imported(&folder.write("x.json", &main));
    let members = named.iter().map(|(name, content)| (name.as_str(), content.as_bytes()));
    // ETWAnalyzer writes the main document last.
    let members: Vec<_> = members.chain([("x.json", main.as_bytes())]).collect();
    let packed = imported(&folder.pack("y.json7z", &members));
    let tables = |archive: &Archive| {
        let tables = archive.info().tables.iter();
        tables.map(|table| (table.name.clone(), table.rows)).collect::<Vec<_>>()
    };
    assert_eq!(tables(&archive), tables(&packed));
    (folder, archive)
}

#[test]
fn operations_on_files_are_sums() {
    let (_folder, archive) = with_parts(&[(
        "FileIO",
        json!({ "FileName2PerProcessMapping": {
            "C:\\x\\a.dll": { "Process": {
                "1": {
                    "Open": { "NtStatus": [-1_073_741_772, -1_073_741_790], "Durationus": 90, "Count": 7 },
                    "Close": { "Durationus": 12, "Count": 5, "Cleanups": 6 },
                    "Read": { "Count": 3, "MaxFilePosition": 8192, "AccessedBytes": 12_288, "Durationus": 1500 },
                    "Write": { "Count": 2, "MaxFilePosition": 100, "AccessedBytes": 64, "Durationus": 3 } },
                "2": {
                    "Open": { "Durationus": 5, "Count": 1 },
                    "Close": { "Durationus": 4, "Count": 0, "Cleanups": 1 },
                    "SetSecurity": { "Times": ["2024-05-01T10:00:01+02:00", "2024-05-01T10:00:02+02:00"] },
                    "Delete": { "Count": 4 },
                    "Rename": { "Count": 8 } } } },
            "": { "Process": { "1": { "Delete": { "Count": 1 } }, "99": { "Delete": { "Count": 2 } } } },
            "C:\\y": { "Process": { "1": { "Read": { "AccessedBytes": 5 } } } }
        } }),
    )]);
    let paths: Vec<_> = rows::<FileRow>(&archive).into_iter().map(|row| row.path).collect();
    assert_eq!(paths, ["C:\\x\\a.dll", "C:\\y"]);
    let row = |process, file: Option<i32>, operation, count| FileSummaryRow {
        process: Some(ProcessId(process)),
        file: file.map(FileId),
        operation,
        count,
        ..FileSummaryRow::default()
    };
    let us = |us: i64| Some(us * 1000);
    let expected = [
        FileSummaryRow {
            duration: us(90),
            errors: Some(vec![0xC000_0034, 0xC000_0022]),
            ..row(1, Some(0), operations::OPEN, 7)
        },
        FileSummaryRow { duration: us(12), ..row(1, Some(0), operations::CLOSE, 5) },
        row(1, Some(0), operations::CLEANUP, 6),
        FileSummaryRow {
            asked: Some(12_288),
            position: Some(8192),
            duration: us(1500),
            ..row(1, Some(0), operations::READ, 3)
        },
        FileSummaryRow {
            asked: Some(64),
            position: Some(100),
            duration: us(3),
            ..row(1, Some(0), operations::WRITE, 2)
        },
        FileSummaryRow { duration: us(5), errors: Some(Vec::new()), ..row(2, Some(0), operations::OPEN, 1) },
        // Without closes the time of both is that of the cleanups.
        FileSummaryRow { duration: us(4), ..row(2, Some(0), operations::CLEANUP, 1) },
        FileSummaryRow { errors: Some(Vec::new()), ..row(2, Some(0), operations::SET_SECURITY, 2) },
        row(2, Some(0), operations::DELETE, 4),
        row(2, Some(0), operations::RENAME, 8),
        row(1, None, operations::DELETE, 1),
        FileSummaryRow { process: None, ..row(0, None, operations::DELETE, 2) },
    ];
    assert_eq!(rows::<FileSummaryRow>(&archive), expected);
    assert_eq!(health(&archive, "unreadable_section_rows"), 1, "reads without a number");
    assert_eq!(health(&archive, "rows_of_unknown_processes"), 1);
}

#[test]
fn commits_that_nobody_freed_and_sums_of_processes() {
    let commit = |process: i64, base: u64, size: i64, seconds: f64, stack: i64| {
        json!({ "ProcessIdx": process, "ThreadId": 7, "BaseAddress": base, "Size": size, "Flags": 0x3000,
            "TimeInSecondsSinceTraceStart": seconds, "StackIdx": stack })
    };
    let sums = |process: i64, figures: [i64; 7]| {
        let [commits, bytes, frees, freed, most, left, left_bytes] = figures;
        json!({ "ProcessIdx": process, "CommitCount": commits, "CommittedSizeInBytes": bytes, "FreedCount": frees,
            "FreedSizeInBytes": freed, "MaxCommitSizeInBytes": most, "NotReleasedCommitCount": left, "NotReleasedSizeInBytes": left_bytes })
    };
    let (_folder, archive) = with_parts(&[
        (
            "VirtualAlloc",
            json!({ "VirtualAllocEvents": [
                commit(1, 0xFFFF_8000_0000_0000, 4096, 2.5, 1), commit(2, 0x2000, 8192, 1.0, 0), commit(-1, 1, 1, 1.0, 0), commit(1, 1, 1, -1.0, 0),
            ], "PerProcessStats": [sums(2, [3, 20_000, 2, 9, 8192, 1, 8192]), sums(1, [5, 50_000, 4, 40_000, 30_000, 1, 4096])] }),
        ),
        ("VirtualAllocStacks", json!({ "StackList": ["", "ntdll.dll!Alloc\r\na.exe!Main\r\n"] })),
    ]);
    let row = |process, base: u64, size, start| AllocationRow {
        start,
        process: ProcessId(process),
        thread: Some(ThreadId(if process == 1 { 0 } else { 1 })),
        kind: allocation_kinds::COMMITTED,
        last: Some(true),
        base: base.cast_signed(),
        size,
        ..AllocationRow::default()
    };
    let expected = [
        // The end of a process frees its memory, which ETWAnalyzer's option `-IncludeExitedProcesses` does not say.
        AllocationRow { time: 20 * S, by_exit: Some(true), open: Some(false), ..row(2, 0x2000, 8192, S) },
        AllocationRow {
            time: 30 * S,
            block: 1,
            stack: Some(StackId(0)),
            by_exit: Some(false),
            open: Some(true),
            ..row(1, 0xFFFF_8000_0000_0000, 4096, 2_500_000_000)
        },
    ];
    assert_eq!(rows::<AllocationRow>(&archive), expected);
    let sums = |process, [commits, commit_bytes, frees, freed_bytes, largest]: [i64; 5]| AllocationSummaryRow {
        process: ProcessId(process),
        commits,
        commit_bytes,
        frees,
        freed_bytes,
        largest,
    };
    let expected = [sums(1, [5, 50_000, 4, 40_000, 30_000]), sums(2, [3, 20_000, 2, 9, 8192])];
    assert_eq!(rows::<AllocationSummaryRow>(&archive), expected);
    let symbols = rows::<SymbolRow>(&archive);
    let names: Vec<_> = symbols.iter().map(|row| (row.module.as_deref(), row.function.as_str())).collect();
    assert_eq!(names, [(Some("ntdll.dll"), "Alloc"), (Some("a.exe"), "Main")]);
    assert_eq!(rows::<StackRow>(&archive).len(), 1);
    assert_eq!(health(&archive, "unreadable_section_rows"), 2);
}

/// An event of a handle.
fn event(process: i64, seconds: i64, handle: u32, stack: i64) -> Value {
    json!({ "TimeNs": seconds * S, "HandleValue": handle, "ProcessIdx": process, "ThreadId": 7, "StackIdx": stack })
}

fn handles() -> Value {
    let change = |process: i64, seconds: i64, count: i64| json!({ "TimeNs": seconds * S, "RefCountChange": count, "ProcessIdx": process, "ThreadId": 7, "StackIdx": 0 });
    let copy = |process: i64, seconds: i64, handle: u32, from: (i64, u32)| {
        let mut copy = event(process, seconds, handle, -1);
        copy["SourceProcessIdx"] = json!(from.0);
        copy["SourceHandleValue"] = json!(from.1);
        copy
    };
    let view = |process: i64, seconds: i64, base: i64, size: i64| {
        json!({ "TimeNs": seconds * S, "ViewBase": base, "FileObject": -9, "ViewSize": size, "ByteOffset": 0, "ProcessIdx": process,
            "ThreadId": 7, "StackIdx": 0 })
    };
    json!({ "ObjectTypeMap": { "16": "Event", "17": "" }, "ObjectReferences": [
        { "ObjectPtr": -1024, "ObjectType": 16, "Name": "\\Shop", "CreateEvent": change(1, 1, 1), "DestroyEvent": change(1, 9, -1),
          "RefChanges": [change(1, 3, 2), change(2, 2, 1), change(1, 4, -3)],
          "HandleCreateEvents": [event(1, 1, 0x10, 0), event(1, 5, 0x10, 0), event(0, 6, 0x8000_0010, 0)],
          "HandleDuplicateEvents": [copy(2, 2, 0x20, (1, 0x10))],
          "HandleCloseEvents": [event(1, 3, 0x10, 0), event(1, 2, 0x30, 0), event(1, 7, 0x8000_0010, 0)] },
        { "ObjectPtr": 2048, "ObjectType": 17, "Existing": [{ "Handle": 0x40, "Process": 1 }, { "Handle": 0x44, "Process": 1 }],
          "HandleCreateEvents": [event(1, 8, 0x44, -1)] },
        { "ObjectPtr": 5, "ObjectType": 1000, "FileMapEvents": [view(1, 2, 0x1000, 4096), view(2, 3, 0x5000, 8192)],
          "FileUnmapEvents": [view(1, 4, 0x1000, 4096), view(1, 5, 0x9000, 64)] },
        { "ObjectType": 16 }
    ] })
}

#[test]
fn handles_and_objects_have_their_lives() {
    let (_folder, archive) =
        with_parts(&[("Handle", handles()), ("HandleStacks", json!({ "StackList": ["ntdll.dll!NtCreateEvent"] }))]);
    let lives: Vec<_> = rows::<HandleRow>(&archive)
        .into_iter()
        .map(|row| {
            assert_eq!(row.kind, handle_kinds::KERNEL);
            let ends = (row.by_exit == Some(true), row.open == Some(true));
            (row.owner.0, row.handle, row.start / S, row.time / S, row.made_by, ends)
        })
        .collect();
    let (closed, by_exit, open) = ((false, false), (true, false), (false, true));
    let (created, copied, there) = (handle_origins::CREATED, handle_origins::DUPLICATED, handle_origins::THERE);
    let mut expected = vec![
        // Its creation is older than the recording.
        (1, 0x30, 0, 2, there, closed),
        (1, 0x10, 1, 3, created, closed),
        // Handles of the kernel belong to System, whoever makes and closes them.
        (0, 0x8000_0010, 6, 7, created, closed),
        (2, 0x20, 2, 20, copied, by_exit),
        (1, 0x10, 5, 30, created, open),
        (1, 0x40, 0, 30, there, open),
        (1, 0x44, 8, 30, created, open),
    ];
    let mut found = lives.clone();
    assert!(lives.is_sorted_by_key(|life| life.3));
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);

    let all = rows::<HandleRow>(&archive);
    let copy = all.iter().find(|row| row.handle == 0x20).expect("the copy");
    assert_eq!((copy.source_process, copy.source_handle), (Some(ProcessId(1)), Some(0x10)));
    assert_eq!(
        (copy.object, copy.object_type.as_deref(), copy.name.as_deref()),
        (Some(-1024), Some("Event"), Some("\\Shop"))
    );
    let older = all.iter().find(|row| row.handle == 0x30).expect("the older one");
    assert_eq!((older.process, older.stack, older.close_stack), (None, None, Some(StackId(0))));
    let untyped = all.iter().find(|row| row.handle == 0x40).expect("one of a type without a name");
    assert_eq!((untyped.object_type.as_deref(), untyped.name.as_deref()), (Some("type 17"), None));

    let object = ObjectRow {
        time: 9 * S,
        start: S,
        object: 0,
        address: -1024,
        object_type: Some("Event".to_owned()),
        name: Some("\\Shop".to_owned()),
        process: Some(ProcessId(1)),
        stack: Some(StackId(0)),
        end_stack: Some(StackId(0)),
        references: 3,
        dereferences: 3,
        there: Some(false),
        open: Some(false),
    };
    assert_eq!(rows::<ObjectRow>(&archive), [object], "of the other one only handles are known");
    let references: Vec<_> = rows::<ObjectReferenceRow>(&archive)
        .into_iter()
        .map(|row| (row.time / S, row.change, row.process.map(|process| process.0), row.object, row.address))
        .collect();
    assert_eq!(
        references,
        [(2, 1, Some(2), Some(0), -1024), (3, 2, Some(1), Some(0), -1024), (4, -3, Some(1), Some(0), -1024)]
    );
    let views: Vec<_> = rows::<MappedViewRow>(&archive)
        .into_iter()
        .map(|row| (row.process.0, row.base, row.size, row.offset, row.start / S, row.time / S, row.there, row.by_exit))
        .collect();
    let (yes, no) = (Some(true), Some(false));
    let expected = [
        (1, 0x1000, 4096, None, 2, 4, no, no),
        (1, 0x9000, 64, None, 0, 5, yes, no),
        (2, 0x5000, 8192, None, 3, 20, no, yes),
    ];
    assert_eq!(views, expected);
    let threads = rows::<ThreadRow>(&archive);
    assert_eq!(threads.len(), 3, "thread 7 of three processes");
    assert_eq!(health(&archive, "unreadable_section_rows"), 1, "an object without an address");
}

#[test]
fn events_of_providers_have_stacks() {
    let event = json!({ "EventId": 3, "ThreadId": 88, "ProcessIdx": 1, "TimeStamp": "2024-05-01T10:00:02+02:00", "StackIdx": 1 });
    let (_folder, archive) = with_parts(&[
        ("TraceLogging", json!({ "EventsByProvider": { "Shop": { "ProviderName": "Shop", "Events": [event] } } })),
        ("TraceLogStacks", json!({ "StackList": ["No Stack", "a.exe!Sell"] })),
    ]);
    let events = rows::<EventRow>(&archive);
    let found: Vec<_> = events.iter().map(|row| (row.time, row.provider.as_str(), row.stack)).collect();
    assert_eq!(found, [(2 * S, "Shop", Some(StackId(0)))]);
}

/// A part may be as large as a recording is long. What no extract is without comes first.
#[test]
fn a_part_that_is_too_large_is_left_out_and_named() {
    let folder = Folder::new();
    let members = format!("{}{{}}", "{},".repeat(1_500_000));
    let commits = format!(r#"{{"VirtualAllocEvents":[{members}]}}"#);
    folder.write("x_Derived_VirtualAlloc.json", &commits);
    folder.write("x_Derived_Handle.json", handles().to_string());
    let main = main_document();
    let check = |archive: &Archive| {
        let text = "parts of the extract that are too large and not imported: VirtualAlloc";
        assert_eq!(
            archive.info().caveats.iter().find(|caveat| caveat.contains("too large")).map(String::as_str),
            Some(text)
        );
        assert_eq!(rows::<AllocationRow>(archive), []);
        assert_eq!(rows::<ObjectRow>(archive).len(), 1, "others are there");
    };
    check(&imported(&folder.write("x.json", &main)));
    let handles = handles().to_string();
    let members = [
        ("y_Derived_VirtualAlloc.json", commits.as_bytes()),
        ("y_Derived_Handle.json", handles.as_bytes()),
        ("y.json", main.as_bytes()),
    ];
    check(&imported(&folder.pack("y.json7z", &members)));
}

#[test]
fn damaged_parts_are_told_with_their_place() {
    let folder = Folder::new();
    let path = folder.write("x.json", main_document());
    for part in
        ["FileIO", "VirtualAlloc", "VirtualAllocStacks", "TraceLogging", "TraceLogStacks", "Handle", "HandleStacks"]
    {
        let name = format!("x_Derived_{part}.json");
        folder.write(&name, "{\"StackList\":5,\"VirtualAllocEvents\":5,\"ObjectReferences\":5,\"EventsByProvider\":5,\"FileName2PerProcessMapping\":5}");
        let error = refused(&path);
        assert!(error.contains(&name) && error.contains("line 1 column"), "{error}");
        std::fs::remove_file(folder.path(&name)).expect("removed");
    }
}
