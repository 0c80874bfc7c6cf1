//! Descriptors of processes and the files behind them, in recordings made byte by byte: kernels with probes, and what the recorder saw
//! in `/proc`.

use serde_json::json;
use tracesift_fixtures::perf_data::Bytes;
use tracesift_fixtures::perf_tracepoints::{Format, Recording, SYS_ENTER, SYS_EXIT};
use tracesift_perf::Endianness;
use tracesift_trace::rows::{
    FileIoRow, FileRow, HandleRow, file_operations as operation, handle_kinds, handle_origins,
};

use crate::extracted::Extracted;
use crate::synthetic::Extracting as _;

/// As the kernel lays out `dfd=$arg1:s32 filename=$arg2:x64 name=+0($arg2):ustring`.
const PATH: Format = Format {
    system: "tracesift_open_77_5_0",
    name: "openat",
    fields: "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:s32 dfd;\toffset:16;\tsize:4;\tsigned:1;\n\tfield:u64 filename;\toffset:20;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:1;\n",
};

const READ: u64 = 0;
const WRITE: u64 = 1;
const CLOSE: u64 = 3;
const DUP2: u64 = 33;
const SOCKET: u64 = 41;
const CHDIR: u64 = 80;
const FCHDIR: u64 = 81;
const OPENAT: u64 = 257;
const EVENTFD2: u64 = 290;

const CURRENT: u64 = (-100_i64).cast_unsigned();
const CLOSE_ON_EXEC: u64 = 0o2_000_000;

const FORK: u32 = 7;
const EXIT_RECORD: u32 = 4;
const COMM: u32 = 3;
const LOST: u32 = 2;

/// A recording of system calls with the paths of files.
struct Calls(Recording);

impl Calls {
    fn new(endian: Endianness, facts: &serde_json::Value) -> Self {
        Self(Recording::new(endian, vec![SYS_ENTER, SYS_EXIT, PATH]).with_facts("x86_64", facts.to_string()))
    }

    /// A call that begins and takes 5 ns.
    fn call(&mut self, tid: u32, time: u64, number: u64, arguments: &[u64], result: i64) -> &mut Self {
        self.begins(tid, time, number, arguments).ends(tid, time + 5, number, result)
    }

    fn begins(&mut self, tid: u32, time: u64, number: u64, arguments: &[u64]) -> &mut Self {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        self.0.sample(0, tid, time, 0, |raw| {
            raw.u64(number).u64s(&all);
        });
        self
    }

    fn ends(&mut self, tid: u32, time: u64, number: u64, result: i64) -> &mut Self {
        self.0.sample(1, tid, time, 0, |raw| {
            raw.u64(number).u64(result.cast_unsigned());
        });
        self
    }

    /// An open whose path the probe tells.
    fn open(&mut self, tid: u32, time: u64, arguments: [u64; 3], path: &str, result: i64) -> &mut Self {
        let [directory, address, _] = arguments;
        self.begins(tid, time, OPENAT, &arguments);
        self.0.sample(2, tid, time + 2, 0, |raw: &mut Bytes| {
            let length = path.len() as u32 + 1;
            raw.u64(0xffff)
                .u32(directory as u32)
                .u64(address)
                .u32(length << 16 | 32)
                .text(path.as_bytes(), path.len() + 1);
        });
        self.ends(tid, time + 5, OPENAT, result)
    }

    fn forks(&mut self, parent: u32, child: u32, time: u64) -> &mut Self {
        self.0.record(FORK, 0, time, |out| {
            out.u32(child).u32(parent).u32(child).u32(parent).u64(time);
        });
        self
    }

    fn exits(&mut self, pid: u32, time: u64) -> &mut Self {
        self.0.record(EXIT_RECORD, 0, time, |out| {
            out.u32(pid).u32(1).u32(pid).u32(1).u64(time);
        });
        self
    }

    fn starts_program(&mut self, pid: u32, time: u64) -> &mut Self {
        self.0.record(COMM, 1 << 13, time, |out| {
            out.u32(pid).u32(pid).text(b"other", 8);
        });
        self
    }

    fn lost(&mut self, time: u64) -> &mut Self {
        self.0.record(LOST, 0, time, |out| {
            out.u64(100).u64(3);
        });
        self
    }
}

/// Pid, end, kind, descriptor and path of a file operation.
type Operation = (i64, i64, i8, Option<i64>, Option<String>);

fn operations(extracted: &Extracted) -> Vec<Operation> {
    let files: Vec<FileRow> = extracted.archive.rows().expect("files");
    let rows: Vec<FileIoRow> = extracted.archive.rows().expect("operations");
    let told = |row: &FileIoRow| {
        let pid = extracted.processes[row.process.index()].pid;
        let path = row.file.map(|file| files[file.index()].path.clone());
        (pid, row.time + extracted.info.clock_zero, row.operation, row.handle, path)
    };
    rows.iter().map(told).collect()
}

/// A descriptor's owner, value, begin, end, type, name, how it came to be, and how it ended.
type Told = (i64, i64, i64, i64, Option<String>, Option<String>, i8, &'static str);

fn handles(extracted: &Extracted) -> Vec<Told> {
    let zero = extracted.info.clock_zero;
    let rows: Vec<HandleRow> = extracted.archive.rows().expect("handles");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let told = |row: &HandleRow| {
        assert_eq!((row.kind, row.object), (handle_kinds::DESCRIPTOR, None));
        let end = match (row.open, row.by_exit, row.close_thread) {
            (Some(true), Some(false), None) => "open",
            (Some(false), Some(true), None) => "exit",
            (Some(false), Some(false), Some(_)) => "closed",
            (Some(false), Some(false), None) => "lost",
            other => panic!("{other:?}"),
        };
        let owner = extracted.processes[row.owner.index()].pid;
        let (start, time) = (row.start + zero, row.time + zero);
        (owner, row.handle, start, time, row.object_type.clone(), row.name.clone(), row.made_by, end)
    };
    let mut told: Vec<Told> = rows.iter().map(told).collect();
    told.sort();
    told
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn look(pid: u32, from: i64, open: &[&str]) -> serde_json::Value {
    json!({"pid": pid, "from_ns": from, "to_ns": from + 10, "cwd": "/work", "open": open})
}

/// Names come from probes, from the look at the beginning, and from that at the end.
fn story(endian: Endianness) -> Extracted {
    let start = [
        look(7, 1010, &["0 /dev/null", "1 pipe:[5]", "5 /var/log/a (deleted)"]),
        // It ends while it is looked at.
        look(8, 2495, &["0 /dev/null", "3 socket:[1]"]),
    ];
    let end = [look(7, 9000, &["0 /dev/null", "1 /out", "4 anon_inode:[eventfd]", "9 /x"])];
    let facts = json!({"format": 1, "descriptors": {"start": start, "end": end}});
    let mut calls = Calls::new(endian, &facts);
    calls
        .call(7, 1000, READ, &[0, 0, 10], 0)
        .open(7, 2000, [CURRENT, 0xa000, CLOSE_ON_EXEC], "etc/x", 3)
        .call(7, 2020, READ, &[3, 0, 100], 50)
        .forks(7, 8, 2100)
        .call(8, 2110, READ, &[3, 0, 100], 50)
        .call(8, 2200, DUP2, &[3, 1], 1)
        .call(8, 2210, WRITE, &[1, 0, 9], 9)
        .starts_program(8, 2300)
        .call(8, 2310, READ, &[3, 0, 1], -9)
        .call(8, 2400, SOCKET, &[2, 1], 3)
        .call(8, 2410, READ, &[3, 0, 1], 1)
        .exits(8, 2500)
        // The path of this one is known from the end only, where another number stands for it.
        .call(7, 3000, OPENAT, &[CURRENT, 0xa000, 0], 6)
        .call(7, 3010, DUP2, &[6, 1], 1)
        .call(7, 3020, CLOSE, &[6], 0)
        .call(7, 3030, WRITE, &[1, 0, 9], 9)
        .call(7, 3040, EVENTFD2, &[0, 0], 4)
        .call(7, 3050, CLOSE, &[5], 0)
        .open(7, 3060, [CURRENT, 0xa000, 0], "/nope", -2)
        // Relative to a descriptor, to a directory that is not known, and to one that a descriptor stood for.
        .open(7, 3100, [CURRENT, 0xa000, 0], "/etc", 5)
        .open(7, 3110, [5, 0xb000, 0], "./hosts", 6)
        .call(7, 3120, CLOSE, &[6], 0)
        .call(7, 3130, CHDIR, &[0xc000], 0)
        .open(7, 3140, [CURRENT, 0xb000, 0], "a", -2)
        .call(7, 3150, FCHDIR, &[5], 0)
        .open(7, 3160, [CURRENT, 0xb000, 0], "a", -2)
        .open(7, 3170, [CURRENT, 0xb000, 0], "(fault)", -2)
        .call(7, 3180, CLOSE, &[5], 0)
        .call(7, 9100, READ, &[0, 0, 10], 0);
    calls.0.extracted()
}

const ENDIANS: [Endianness; 2] = [Endianness::LittleEndian, Endianness::BigEndian];

#[test]
fn operations_have_the_files_that_descriptors_stand_for() {
    for endian in ENDIANS {
        let found = operations(&story(endian));
        let expected = [
            (7, 1005, operation::READ, Some(0), None),
            (7, 2005, operation::OPEN, Some(3), text("/work/etc/x")),
            (7, 2025, operation::READ, Some(3), text("/work/etc/x")),
            (8, 2115, operation::READ, Some(3), text("/work/etc/x")),
            (8, 2215, operation::WRITE, Some(1), text("/work/etc/x")),
            (8, 2315, operation::READ, Some(3), None),
            (8, 2415, operation::READ, Some(3), text("socket:")),
            (7, 3005, operation::OPEN, Some(6), text("/out")),
            (7, 3025, operation::CLOSE, Some(6), text("/out")),
            (7, 3035, operation::WRITE, Some(1), text("/out")),
            (7, 3055, operation::CLOSE, Some(5), text("/var/log/a")),
            (7, 3065, operation::OPEN, None, text("/nope")),
            (7, 3105, operation::OPEN, Some(5), text("/etc")),
            (7, 3115, operation::OPEN, Some(6), text("/etc/hosts")),
            (7, 3125, operation::CLOSE, Some(6), text("/etc/hosts")),
            (7, 3145, operation::OPEN, None, text("a")),
            (7, 3165, operation::OPEN, None, text("/etc/a")),
            (7, 3175, operation::OPEN, None, None),
            (7, 3185, operation::CLOSE, Some(5), text("/etc")),
            (7, 9105, operation::READ, Some(0), text("/dev/null")),
        ];
        assert_eq!(found, expected, "{endian:?}");
    }
}

#[test]
fn descriptors_have_lives_types_and_names() {
    use handle_origins::{CREATED, DUPLICATED, INHERITED, THERE};
    for endian in ENDIANS {
        let extracted = story(endian);
        let (file, pipe, socket) = (text("file"), text("pipe"), text("socket"));
        let mut expected: Vec<Told> = vec![
            (7, 0, 1000, 9105, file.clone(), text("/dev/null"), THERE, "open"),
            (7, 1, 1000, 3015, pipe.clone(), text("pipe:[5]"), THERE, "closed"),
            (7, 5, 1000, 3055, file.clone(), text("/var/log/a"), THERE, "closed"),
            (7, 3, 2005, 9010, file.clone(), text("/work/etc/x"), CREATED, "lost"),
            (8, 0, 2100, 2500, file.clone(), text("/dev/null"), INHERITED, "exit"),
            (8, 1, 2100, 2205, pipe, text("pipe:[5]"), INHERITED, "closed"),
            (8, 5, 2100, 2500, file.clone(), text("/var/log/a"), INHERITED, "exit"),
            (8, 3, 2100, 2300, file.clone(), text("/work/etc/x"), INHERITED, "closed"),
            (8, 1, 2205, 2500, file.clone(), text("/work/etc/x"), DUPLICATED, "exit"),
            (8, 3, 2405, 2500, socket, None, CREATED, "exit"),
            (7, 6, 3005, 3025, file.clone(), text("/out"), CREATED, "closed"),
            (7, 1, 3015, 9105, file.clone(), text("/out"), DUPLICATED, "open"),
            (7, 4, 3045, 9105, text("eventfd"), None, CREATED, "open"),
            (7, 5, 3105, 3185, file.clone(), text("/etc"), CREATED, "closed"),
            (7, 6, 3115, 3125, file.clone(), text("/etc/hosts"), CREATED, "closed"),
            // Something made it that is not recorded: it is known from the end only.
            (7, 9, 9010, 9105, file, text("/x"), CREATED, "open"),
        ];
        expected.sort();
        assert_eq!(handles(&extracted), expected, "{endian:?}");
        let rows: Vec<HandleRow> = extracted.archive.rows().expect("handles");
        let duplicate = rows.iter().find(|row| row.made_by == DUPLICATED && row.by_exit == Some(true)).expect("a row");
        let pid = |process: Option<tracesift_trace::ProcessId>| process.map(|id| extracted.processes[id.index()].pid);
        assert_eq!((pid(duplicate.source_process), duplicate.source_handle), (Some(8), Some(3)));
        let inherited = rows.iter().find(|row| row.made_by == INHERITED).expect("a row");
        assert_eq!((pid(inherited.source_process), inherited.process), (Some(7), None));
        assert_eq!(extracted.health.get("handles_without_end"), 1, "{:?}", extracted.health);
    }
}

/// What goes when a program starts is known from the look, and a number that stands for something else was closed before.
#[test]
fn numbers_are_used_again_without_calls_that_are_recorded() {
    let mut start = look(7, 1010, &["0 /dev/null", "4 /a", "5 socket:[8]"]);
    start["close_on_exec"] = json!([4]);
    let end = look(7, 9000, &["0 /dev/null", "4 /b", "5 pipe:[9]"]);
    let facts = json!({"format": 1, "descriptors": {"start": [start], "end": [end]}});
    let mut calls = Calls::new(Endianness::LittleEndian, &facts);
    calls
        .call(7, 1000, READ, &[0, 0, 10], 0)
        .call(7, 1100, READ, &[4, 0, 10], 0)
        .starts_program(7, 2000)
        .call(7, 2010, READ, &[4, 0, 10], 0)
        .call(7, 9100, READ, &[5, 0, 10], 0);
    let extracted = calls.0.extracted();
    let names: Vec<Option<String>> = operations(&extracted).into_iter().map(|row| row.4).collect();
    assert_eq!(names, [None, text("/a"), None, text("pipe:")]);
    use handle_origins::{CREATED, THERE};
    let mut expected: Vec<Told> = vec![
        (7, 0, 1000, 9105, text("file"), text("/dev/null"), THERE, "open"),
        (7, 4, 1000, 2000, text("file"), text("/a"), THERE, "closed"),
        (7, 4, 9010, 9105, text("file"), text("/b"), CREATED, "open"),
        (7, 5, 1000, 9010, text("socket"), text("socket:[8]"), THERE, "lost"),
        (7, 5, 9010, 9105, text("pipe"), text("pipe:[9]"), CREATED, "open"),
    ];
    expected.sort();
    assert_eq!(handles(&extracted), expected);
}

/// Behind lost events nothing is known that was known before.
#[test]
fn names_end_where_events_are_lost() {
    let start = [look(7, 1010, &["0 /dev/null"])];
    // Both numbers may stand for something else since the loss.
    let end = [look(7, 9000, &["0 /other", "3 /b", "4 /c"])];
    let facts = json!({"format": 1, "descriptors": {"start": start, "end": end}});
    let mut calls = Calls::new(Endianness::LittleEndian, &facts);
    calls
        .call(7, 1000, READ, &[0, 0, 10], 0)
        .call(7, 2000, READ, &[0, 0, 10], 0)
        .call(7, 2010, OPENAT, &[CURRENT, 0xa000, 0], 3)
        .lost(3000)
        .call(7, 3010, READ, &[0, 0, 10], 0)
        .call(7, 3020, OPENAT, &[CURRENT, 0xa000, 0], 4)
        .call(7, 3030, READ, &[4, 0, 10], 0)
        .call(7, 9100, READ, &[0, 0, 10], 0);
    let found = operations(&calls.0.extracted());
    let expected = [
        (7, 1005, operation::READ, Some(0), None),
        (7, 2005, operation::READ, Some(0), text("/dev/null")),
        (7, 2015, operation::OPEN, Some(3), None),
        (7, 3015, operation::READ, Some(0), None),
        (7, 3025, operation::OPEN, Some(4), text("/c")),
        (7, 3035, operation::READ, Some(4), text("/c")),
        (7, 9105, operation::READ, Some(0), text("/other")),
    ];
    assert_eq!(found, expected);
}

/// Without what the recorder saw: numbers are known from their calls on.
#[test]
fn a_recording_alone_has_the_lives_of_descriptors() {
    let mut calls = Calls::new(Endianness::LittleEndian, &json!({"format": 1}));
    calls
        .call(7, 1000, CLOSE, &[3], 0)
        .call(7, 1010, SOCKET, &[2, 1], 3)
        .forks(7, 8, 1100)
        .call(8, 1110, CLOSE, &[0], 0)
        .call(8, 1120, CLOSE, &[9], -9)
        .call(7, 1200, CLOSE, &[3], 0)
        .call(7, 1210, CLOSE, &[3], 0);
    use handle_origins::{CREATED, INHERITED, THERE};
    let mut expected: Vec<Told> = vec![
        (7, 3, 1000, 1005, None, None, THERE, "closed"),
        (7, 3, 1015, 1205, text("socket"), None, CREATED, "closed"),
        // It was made by something that is not recorded.
        (7, 3, 1215, 1215, None, None, CREATED, "closed"),
        (8, 0, 1100, 1115, None, None, INHERITED, "closed"),
        (8, 3, 1100, 1215, text("socket"), None, INHERITED, "open"),
    ];
    expected.sort();
    assert_eq!(handles(&calls.0.extracted()), expected);
}
