//! Small archives made from hand-written rows, and the program run on them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_testing::archive::{create_as, finish_as};
use tracesift_testing::rows::{self, stack};
use tracesift_trace::info::{Disk, TraceInfo};
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, FrameRow, MethodSummaryRow, ModuleRow, Origin, ProcessModuleRow, ProcessRow,
    ProcessSummaryRow, SymbolRow, ThreadRow, switch_flags,
};
use tracesift_trace::{Clock, FrameId, Health, ModuleId, ProcessId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;

/// A directory with two archives: one of a test with two processes at work, one that lost events.
pub(crate) fn archives() -> TempDir {
    let directory = TempDir::new().unwrap();
    let target = "Write_250ms_PC_CLT_TestStatus-Passed_20220404-101500.sift";
    work(&directory.path().join(target));
    lossy(&directory.path().join("Slow.sift"));
    directory
}

/// The program in a directory. The user's cache is not the tests' to read or write.
pub(crate) fn program(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracesift"));
    command
        .current_dir(directory)
        .args(arguments)
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .env("LOCALAPPDATA", directory.join("cache"));
    command
}

/// The output of a program that succeeds.
pub(crate) fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The output of the program with these arguments, which succeeds.
pub(crate) fn tracesift(directory: &Path, arguments: &[&str]) -> String {
    stdout(&mut program(directory, arguments))
}

/// The rows of an answer.
pub(crate) fn rows(directory: &Path, arguments: &[&str]) -> Vec<Value> {
    let text = tracesift(directory, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

/// Runs the program in a directory and shows how it ended and what it said.
pub(crate) fn run(directory: &Path, arguments: &[&str]) -> String {
    let output = program(directory, arguments).env_remove("NO_COLOR").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&*directory.to_string_lossy(), "[DIR]");
    format!(
        "exit: {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// A recording that starts two hours east of Greenwich at this hour in UTC.
fn info(name: &str, hour: i64) -> TraceInfo {
    /// 2022-04-04 00:15:00 UTC.
    const QUARTER_PAST_MIDNIGHT: i64 = 132_935_049_000_000_000;
    const HOUR: i64 = 36_000_000_000;
    TraceInfo {
        name: name.to_owned(),
        kind: "etl".to_owned(),
        machine: Some("PC".to_owned()),
        os_name: Some("Windows 10 Pro".to_owned()),
        os_build: Some("10.0.19045".to_owned()),
        pointer_size: 8,
        cpu_count: 2,
        cpu_mhz: Some(3000),
        memory_mib: Some(16_384),
        disks: vec![Disk { number: 0, model: "Disk".to_owned(), size: 500_000_000_000, drives: vec!["C:".to_owned()] }],
        session_name: Some("NT Kernel Logger".to_owned()),
        start_time_utc: Some(format!("2022-04-04T{hour:02}:15:00.0000000Z")),
        start_filetime: QUARTER_PAST_MIDNIGHT + hour * HOUR,
        utc_offset_minutes: -120,
        end_ns: 1_000 * MS,
        clock: "performance counter".to_owned(),
        has_switches: true,
        has_ready: true,
        ..TraceInfo::default()
    }
}

fn process(id: i32, pid: i64, name: &str, command_line: Option<&str>) -> ProcessRow {
    ProcessRow {
        command_line: command_line.map(str::to_owned),
        session: Some(0),
        user: Some("S-1-5-18".to_owned()),
        wow64: Some(false),
        ..rows::process(id, pid, name)
    }
}

fn processes() -> Vec<ProcessRow> {
    let idle = ProcessRow { user: None, ..process(0, 0, "Idle", None) };
    let interrupts = ProcessRow { session: None, user: None, origin: Origin::Pseudo, ..process(1, 0, "DPC/ISR", None) };
    let system = process(2, 4, "System", None);
    let shell = ProcessRow {
        parent_pid: Some(800),
        session: Some(1),
        user: Some("S-1-5-21-1-2-3-1001".to_owned()),
        ..process(3, 900, "cmd.exe", Some("cmd.exe"))
    };
    let writer = ProcessRow {
        parent_pid: Some(900),
        parent: Some(ProcessId(3)),
        start: Some(100 * MS),
        end: Some(600 * MS),
        exit_code: Some(0),
        origin: Origin::Event,
        ..ProcessRow {
            process: ProcessId(4),
            pid: 1000,
            name: "FileWriter.exe".to_owned(),
            command_line: Some("FileWriter.exe -generate \"C:\\temp\\a, b\" serial".to_owned()),
            ..shell.clone()
        }
    };
    let crashed = ProcessRow {
        process: ProcessId(5),
        pid: 1001,
        // A name that would clear the screen and start a formula.
        name: "=evil\u{1b}[2J.exe".to_owned(),
        command_line: None,
        start: Some(700 * MS),
        end: Some(800 * MS),
        exit_code: Some(-1_073_741_819),
        ..writer.clone()
    };
    vec![idle, interrupts, system, shell, writer, crashed]
}

fn thread(id: i32, process: i32, tid: i64, start: Option<i64>, end: Option<i64>) -> ThreadRow {
    ThreadRow { start, end, base_priority: Some(8), ..rows::thread(id, process, tid) }
}

fn sample(time: i64, cpu: i16, process: i32, thread: i32, priority: i8, stack: Option<i32>) -> CpuSampleRow {
    CpuSampleRow {
        time,
        cpu,
        process: ProcessId(process),
        thread: ThreadId(thread),
        weight: MS,
        stack: stack.map(StackId),
        frame: None,
        priority: Some(priority),
        flags: 0,
    }
}

/// FileWriter runs from 100 to 350 ms and from 400 to 600 ms; it waits 40 ms and is ready 10 ms between. System runs 50 ms of
/// the gap on the same CPU; the rest is idle.
fn work(target: &Path) {
    let mut writer = create_as(target, 1);
    writer.write_table(&processes());
    let threads =
        [thread(0, 0, 0, None, None), thread(1, 2, 8, None, None), thread(2, 4, 2000, Some(100 * MS), Some(600 * MS))];
    writer.write_table(&threads);
    for at in 0..1_000 {
        let time = at * MS + MS / 2;
        let row = match at {
            100..350 | 400..600 => sample(time, 0, 4, 2, 9, (at % 10 != 0).then_some(0)),
            350..400 => sample(time, 0, 2, 1, 12, None),
            990.. => sample(time, 0, 1, 0, 0, None),
            _ => sample(time, 0, 0, 0, 0, None),
        };
        writer.cpu_sample(&row);
    }
    let switch = |time: i64, thread: i32, previous: i32, off_time: i64, flags: i16| ContextSwitchRow {
        time,
        cpu: Some(0),
        thread: ThreadId(thread),
        prev_thread: Some(ThreadId(previous)),
        off_time,
        priority: Some(8),
        flags,
        ..ContextSwitchRow::default()
    };
    writer.context_switch(&switch(100 * MS, 2, 0, 100 * MS, switch_flags::OPEN_LEFT));
    writer.context_switch(&switch(350 * MS, 1, 2, 0, switch_flags::OPEN_LEFT));
    writer.context_switch(&ContextSwitchRow {
        ready_time: Some(390 * MS),
        off_state: Some(5),
        wait_stack: Some(StackId(1)),
        ..switch(400 * MS, 2, 1, 350 * MS, 0)
    });
    writer.context_switch(&ContextSwitchRow { off_state: Some(5), ..switch(600 * MS, 0, 2, 100 * MS, 0) });
    let closing = ContextSwitchRow {
        cpu: None,
        prev_thread: None,
        off_state: Some(5),
        ..switch(1_000 * MS, 1, 0, 400 * MS, switch_flags::OPEN_RIGHT)
    };
    writer.context_switch(&closing);
    writer.write_table(&summaries());
    writer.write_table(&method_summaries());
    writer.write_table(&frames());
    writer.write_table(&symbols());
    // Writing calls into ntdll, of which there are no symbols; waits leave from the function that writes.
    writer.write_table(&[stack(0, &[2, 1, 0]), stack(1, &[1, 0])]);
    writer.write_table(&modules());
    let load = |process, module, load| ProcessModuleRow {
        process: ProcessId(process),
        module: ModuleId(module),
        base: 0x7ff6_0000_0000,
        size: 4096,
        load,
        unload: None,
    };
    let loads = [
        load(2, 0, None),
        load(2, 3, None),
        load(3, 1, None),
        load(4, 4, Some(100 * MS)),
        load(4, 1, Some(101 * MS)),
        load(4, 2, Some(102 * MS)),
    ];
    writer.write_table(&loads);
    finish_as(writer, info("Write", 8));
}

fn summaries() -> Vec<ProcessSummaryRow> {
    let none = ProcessSummaryRow {
        process: ProcessId(0),
        samples: 0,
        samples_without_stack: 0,
        cpu: 0,
        run: Some(0),
        wait: Some(0),
        ready: Some(0),
        open: Some(0),
        unknown: Some(0),
        switches: Some(0),
        cores_used: 0,
        priority: None,
        first: None,
        last: None,
        methods: 0,
        methods_kept: 0,
    };
    let sampled = |process: i32, samples: i64, without: i64, priority: f64, from: i64, to: i64| ProcessSummaryRow {
        process: ProcessId(process),
        samples,
        samples_without_stack: without,
        cpu: samples * MS,
        cores_used: 1,
        priority: Some(priority),
        first: Some(from),
        last: Some(to),
        ..none.clone()
    };
    vec![
        ProcessSummaryRow {
            run: Some(500 * MS),
            wait: Some(500 * MS),
            switches: Some(1),
            ..sampled(0, 490, 490, 0.0, 0, 1_000 * MS)
        },
        sampled(1, 10, 10, 0.0, 990 * MS + MS / 2, 999 * MS + MS / 2),
        ProcessSummaryRow {
            run: Some(50 * MS),
            wait: Some(600 * MS),
            open: Some(350 * MS),
            switches: Some(1),
            ..sampled(2, 50, 50, 12.0, 350 * MS, 400 * MS)
        },
        ProcessSummaryRow { process: ProcessId(3), ..none.clone() },
        ProcessSummaryRow {
            run: Some(450 * MS),
            wait: Some(40 * MS),
            ready: Some(10 * MS),
            switches: Some(2),
            methods: 3,
            methods_kept: 3,
            ..sampled(4, 450, 45, 9.0, 100 * MS, 600 * MS)
        },
        ProcessSummaryRow { process: ProcessId(5), ..none },
    ]
}

fn method_summaries() -> Vec<MethodSummaryRow> {
    let method = |module: &str, function: &str, exclusive_cpu: i64, waits: bool| MethodSummaryRow {
        process: ProcessId(4),
        module: Some(module.to_owned()),
        function: function.to_owned(),
        samples: 405,
        cpu: 405 * MS,
        exclusive_cpu,
        wait: Some(if waits { 40 * MS } else { 0 }),
        wait_sum: Some(if waits { 40 * MS } else { 0 }),
        wait_count: Some(waits.into()),
        wait_longest: Some(if waits { 40 * MS } else { 0 }),
        ready: Some(if waits { 10 * MS } else { 0 }),
        ready_sum: Some(if waits { 10 * MS } else { 0 }),
        ready_count: Some(waits.into()),
        ready_longest: Some(if waits { 10 * MS } else { 0 }),
        switches: Some(waits.into()),
        threads: 1,
        first: 101 * MS + MS / 2,
        last: 599 * MS + MS / 2,
    };
    vec![
        method("FileWriter.exe", "FileWriter.Program.Main", 0, true),
        method("FileWriter.exe", "FileWriter::Serial::WriteAll", 0, true),
        method("ntdll.dll", "ntdll.dll+0x1234", 405 * MS, false),
    ]
}

fn frames() -> Vec<FrameRow> {
    let frame = |id: i32, module: i32, rva: i64| FrameRow {
        frame: FrameId(id),
        module: Some(ModuleId(module)),
        rva: Some(rva),
        process: None,
        address: None,
    };
    vec![frame(0, 4, 0x100), frame(1, 4, 0x200), frame(2, 1, 0x1234)]
}

fn symbols() -> Vec<SymbolRow> {
    let symbol = |frame: i32, function: &str, line: i32| SymbolRow {
        frame: FrameId(frame),
        module: Some("FileWriter.exe".to_owned()),
        function: function.to_owned(),
        arguments: Some("(int)".to_owned()),
        file: Some("D:\\Source\\Program.cs".to_owned()),
        line: Some(line),
        source: "pdb".to_owned(),
        ..SymbolRow::default()
    };
    vec![symbol(0, "FileWriter.Program.Main", 12), symbol(1, "FileWriter::Serial::WriteAll", 40)]
}

fn modules() -> Vec<ModuleRow> {
    let module = |id: i32, name: &str, path: &str| ModuleRow {
        module: ModuleId(id),
        name: name.to_owned(),
        path: path.to_owned(),
        size: 1_048_576,
        time_date_stamp: Some(1_600_000_000),
        ..ModuleRow::default()
    };
    vec![
        module(0, "ntoskrnl.exe", "C:\\Windows\\system32\\ntoskrnl.exe"),
        ModuleRow {
            file_version: Some("10.0.19041.1 (WinBuild.160101.0800)".to_owned()),
            product_version: Some("10.0.19041.1".to_owned()),
            product_name: Some("Microsoft® Windows® Operating System".to_owned()),
            company: Some("Microsoft Corporation".to_owned()),
            ..module(1, "ntdll.dll", "C:\\Windows\\System32\\ntdll.dll")
        },
        ModuleRow {
            file_version: Some("7.0.222.60605".to_owned()),
            pdb_name: Some("coreclr.pdb".to_owned()),
            pdb_guid: Some("0102a304-0506-0708-090a-0b0c0d0e0f10".to_owned()),
            pdb_age: Some(1),
            ..module(2, "coreclr.dll", "C:\\Program Files\\dotnet\\coreclr.dll")
        },
        ModuleRow {
            file_version: Some("4.18.2202.4".to_owned()),
            product_name: Some("Microsoft® Windows® Operating System".to_owned()),
            company: Some("Microsoft Corporation".to_owned()),
            description: Some("Microsoft antimalware file system filter driver".to_owned()),
            ..module(3, "WdFilter.sys", "C:\\Windows\\system32\\drivers\\wd\\WdFilter.sys")
        },
        ModuleRow {
            file_version: Some("1.0.0.0".to_owned()),
            product_version: Some("1.0.0".to_owned()),
            product_name: Some("FileWriter".to_owned()),
            company: Some("Example Ltd.".to_owned()),
            description: Some("Writes files".to_owned()),
            ..module(4, "FileWriter.exe", "D:\\Source\\FileWriter.exe")
        },
    ]
}

/// A later recording that lost events and has neither samples nor switches.
fn lossy(target: &Path) {
    let mut writer = create_as(target, 2);
    writer.write_table(&[process(0, 4, "System", None)]);
    let mut health = Health::new();
    health.add(tracesift_trace::HealthKind::EVENTS_LOST, 3, None, || "Slow.etl: the recorder says so".to_owned());
    let info = TraceInfo { events_lost: 3, has_switches: false, has_ready: false, ..info("Slow", 10) };
    writer.finish(info, &health, &Clock::new(0, 10_000_000)).unwrap();
}
