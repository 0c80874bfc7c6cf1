//! Page faults, system calls and file operations, held against the records as perf prints them.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_trace::rows::{
    FileIoRow, PageFaultRow, SyscallNameRow, SyscallRow, file_operations as operation, page_fault_kinds,
};

use crate::extracted::Extracted;
use crate::perf;

const PROGRAM: &str = "dd if=/dev/zero of=/tmp/tracesift-calls bs=4096 count=50 conv=fsync 2>/dev/null; \
    cat /tmp/tracesift-calls >/dev/null; ls -l /tmp >/dev/null; rm /tmp/tracesift-calls; cat /nowhere 2>/dev/null; sleep 0.1";

fn extracted(arguments: &[&str]) -> Option<(perf::Recorded, Extracted)> {
    let recorded = perf::record(arguments, &["sh", "-c", PROGRAM])?;
    let extracted = Extracted::of(&recorded.file);
    Some((recorded, extracted))
}

fn tid(extracted: &Extracted, thread: tracesift_trace::ThreadId) -> i64 {
    extracted.threads[thread.index()].tid
}

#[test]
fn page_faults_are_those_of_perf_script() {
    for (arguments, kind) in [
        (&["-a", "-g", "-d", "-c", "1", "-e", "page-faults"][..], page_fault_kinds::UNKNOWN),
        (&["-a", "-d", "-F", "200", "-e", "page-faults"], page_fault_kinds::UNKNOWN),
        (&["-a", "-d", "-c", "1", "-e", "minor-faults"], page_fault_kinds::MINOR),
        (&["-a", "-d", "-c", "1", "-e", "minor-faults", "-e", "major-faults"], page_fault_kinds::MINOR),
    ] {
        let Some((recorded, extracted)) = extracted(arguments) else { return };
        let rows: Vec<PageFaultRow> = extracted.archive.rows().unwrap();
        let text = recorded.script("tid,cpu,time,period,event,addr");
        // `32505 [000] 50040.794243575:          1 page-faults:     5560500a2290`, with the frames behind it.
        let expected: Vec<(String, String)> = text
            .lines()
            .filter(|line| line.contains("-faults:"))
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                (words[..4].join(" "), words[5].to_owned())
            })
            .collect();
        let found: Vec<(String, String)> = rows
            .iter()
            .map(|row| {
                let time = row.time + extracted.info.clock_zero;
                let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
                let (tid, cpu) = (tid(&extracted, row.thread), row.cpu);
                (format!("{tid} [{cpu:03}] {seconds}.{ns:09}: {}", row.weight), format!("{:x}", row.address.unwrap()))
            })
            .collect();
        assert!(expected.len() > 5, "{arguments:?}");
        assert_eq!(found, expected, "{arguments:?}");
        assert!(rows.iter().filter(|row| row.kind == kind).count() * 10 >= rows.len() * 9, "{arguments:?}");
        assert!(rows.iter().any(|row| row.kernel == Some(false)));
        let stacks = rows.iter().filter(|row| row.stack.is_some()).count();
        assert_eq!(stacks > 0, arguments.contains(&"-g"));
        assert!(stacks > 0 || rows.iter().all(|row| row.frame.is_some()));
        println!("{} page faults are those of perf script", rows.len());
    }
}

#[test]
fn traps_are_page_faults_where_nothing_else_is() {
    let traps = ["-e", "exceptions:page_fault_user", "-e", "exceptions:page_fault_kernel"];
    let Some((recorded, traced)) = extracted(&[&["-a"], &traps[..]].concat()) else { return };
    let rows: Vec<PageFaultRow> = traced.archive.rows().unwrap();
    let expected = recorded.tracepoints();
    assert!(rows.len() > 100);
    assert_eq!(rows.len(), expected.len());
    for (row, line) in rows.iter().zip(&expected) {
        assert_eq!((tid(&traced, row.thread), row.time + traced.info.clock_zero), (line.tid, line.time));
        assert_eq!(row.kernel, Some(line.event.ends_with("kernel")));
        let address = line.text.strip_prefix("address=").unwrap().split(' ').next().unwrap();
        if let Some(digits) = address.strip_prefix("0x") {
            assert_eq!(row.address.unwrap().cast_unsigned(), u64::from_str_radix(digits, 16).unwrap());
        }
    }
    let Some((_, both)) = extracted(&[&["-a", "-c", "1", "-e", "page-faults"], &traps[..]].concat()) else { return };
    assert_eq!(both.health.get("page_fault_events_left_out"), 2);
    assert!(both.archive.rows::<PageFaultRow>().unwrap().iter().all(|row| row.address.is_none()));
}

/// What must come out of the entries and exits of a recording: start, end, tid, number, result.
type Calls = Vec<(i64, i64, i64, i64, i64)>;

/// `NR 0 (3, 7ffe, 1000, 0, 0, 0)` and `NR 0 = 12`.
fn raw_calls(recorded: &perf::Recorded) -> Calls {
    let mut open: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in recorded.tracepoints() {
        let mut words = line.text.split_whitespace().skip(1);
        let number: i64 = words.next().unwrap().parse().unwrap();
        if line.event.ends_with("sys_enter") {
            open.insert(line.tid, (line.time, number));
        } else if let Some((start, entered)) = open.remove(&line.tid) {
            assert!(number == entered || number == -1, "{line:?}");
            calls.push((start, line.time, line.tid, entered, words.nth(1).unwrap().parse().unwrap()));
        }
    }
    calls
}

#[test]
fn calls_are_those_of_perf_script() {
    let arguments = ["-a", "-g", "-m", "4096", "-e", "raw_syscalls:sys_enter", "-e", "raw_syscalls:sys_exit"];
    let Some((recorded, extracted)) = extracted(&arguments) else { return };
    let zero = extracted.info.clock_zero;
    let rows: Vec<SyscallRow> = extracted.archive.rows().unwrap();
    let names: Vec<SyscallNameRow> = extracted.archive.rows().unwrap();
    let names: BTreeMap<i32, String> = names.into_iter().map(|row| (row.number, row.name)).collect();
    let mut expected = raw_calls(&recorded);
    let mut found: Calls = rows
        .iter()
        .filter_map(|row| {
            let tid = tid(&extracted, row.thread);
            Some((row.start + zero, row.time + zero, tid, row.number.into(), row.result?))
        })
        .collect();
    // Of what happens at the same time on two CPUs either may come first.
    expected.sort_unstable();
    found.sort_unstable();
    assert!(expected.len() > 1000, "{} calls", expected.len());
    assert_eq!(found, expected, "{:?}", extracted.health);
    assert!(rows.iter().all(|row| names.contains_key(&row.number)), "{names:?}");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let ends = |row: &&SyscallRow| names[&row.number] == "exit_group" && row.result.is_none() && row.time == row.start;
    assert!(rows.iter().filter(ends).count() >= 5);

    let process = |process: tracesift_trace::ProcessId| extracted.processes[process.index()].name.as_str();
    let files: Vec<FileIoRow> = extracted.archive.rows().unwrap();
    let of_dd = |wanted: i8| files.iter().filter(move |row| process(row.process) == "dd" && row.operation == wanted);
    let full = |row: &&FileIoRow| (row.size, row.transferred, row.error) == (Some(4096), Some(4096), None);
    assert_eq!(of_dd(operation::WRITE).filter(full).count(), 50);
    assert_eq!(of_dd(operation::READ).filter(full).count(), 50);
    assert_eq!(of_dd(operation::FLUSH).filter(|row| row.handle.is_some()).count(), 1);
    let failed = |row: &&FileIoRow| row.operation == operation::OPEN && row.error == Some(2) && row.handle.is_none();
    assert!(files.iter().filter(failed).any(|row| process(row.process) == "cat"));
    for wanted in [operation::CLOSE, operation::QUERY, operation::DELETE, operation::LIST, operation::MAP] {
        assert!(files.iter().any(|row| row.operation == wanted), "{wanted}");
    }
    assert!(files.iter().all(|row| row.stack.is_some() && row.syscall.is_some()));
    println!("{} calls are those of perf script, {} file operations; {:?}", rows.len(), files.len(), extracted.health);
}

#[test]
fn tracepoints_of_single_calls_are_the_same_calls() {
    let events =
        ["read", "openat", "newfstat"].map(|name| format!("syscalls:sys_enter_{name},syscalls:sys_exit_{name}"));
    let arguments = ["-a", "-e", &events[0], "-e", &events[1], "-e", &events[2]];
    let Some((recorded, extracted)) = extracted(&arguments) else { return };
    let zero = extracted.info.clock_zero;
    let (mut open, mut expected) = (BTreeMap::new(), Vec::new());
    for line in recorded.tracepoints() {
        if line.event.starts_with("syscalls:sys_enter_") {
            open.insert(line.tid, line.time);
        } else if let Some(start) = open.remove(&line.tid) {
            let result = u64::from_str_radix(line.text.strip_prefix("0x").unwrap(), 16).unwrap().cast_signed();
            expected.push((start, line.time, line.tid, result));
        }
    }
    let rows: Vec<SyscallRow> = extracted.archive.rows().unwrap();
    let mut found: Vec<(i64, i64, i64, i64)> = rows
        .iter()
        .filter_map(|row| Some((row.start + zero, row.time + zero, tid(&extracted, row.thread), row.result?)))
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert!(expected.len() > 20);
    assert_eq!(found, expected, "{:?}", extracted.health);
    let names: Vec<SyscallNameRow> = extracted.archive.rows().unwrap();
    let mut names: Vec<&str> = names.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    // Which calls a program makes depends on its C library: older ones have no `fstat`.
    let entered = recorded.tracepoints().into_iter().filter_map(|line| {
        let name = line.event.strip_prefix("syscalls:sys_enter_")?;
        Some(if name == "newfstat" { "fstat".to_owned() } else { name.to_owned() })
    });
    assert_eq!(names, BTreeSet::from_iter(entered).into_iter().collect::<Vec<_>>());
    assert!(names.contains(&"openat") && names.contains(&"read"), "{names:?}");
    let files: Vec<FileIoRow> = extracted.archive.rows().unwrap();
    assert!(files.iter().any(|row| row.operation == operation::READ && row.size == Some(4096)));
    assert_eq!(files.len(), expected.len());
    // `dfd: 0xffffff9c, filename: 0x7f0012345678, flags: 0x00080000, mode: 0x00000000`
    let lines = recorded.tracepoints();
    let opens = lines.iter().filter(|line| line.event == "syscalls:sys_enter_openat");
    let flags: BTreeMap<(i64, i64), i64> = opens
        .map(|line| {
            let (_, digits) = line.text.split_once("flags: 0x").unwrap();
            let digits = digits.split([',', ' ']).next().unwrap();
            ((line.time, line.tid), i64::from_str_radix(digits, 16).unwrap())
        })
        .collect();
    let opened = files.iter().filter(|row| row.operation == operation::OPEN);
    let opened: Vec<(i64, Option<i64>)> =
        opened.map(|row| (flags[&(row.start + zero, tid(&extracted, row.thread))], row.options)).collect();
    assert!(opened.iter().all(|(told, found)| Some(*told) == *found), "{opened:x?}");
    // dd creates its file.
    assert!(opened.iter().any(|(told, _)| told & 0o100 != 0), "{opened:x?}");
    assert!(files.iter().all(|row| row.operation == operation::OPEN || row.options.is_none()));
}
