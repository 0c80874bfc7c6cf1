//! What an account costs in a recording of 50 million switches: memory, and time beside `dump threads` of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::busy_machine::Machine;
use tracesift_testing::rows::{self, process};
use tracesift_trace::RowSink as _;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use crate::measure::{against, program};

const SWITCHES: usize = 50_000_000;
/// The threads of the machine; the first ones are idle, one for each CPU.
const THREADS: i32 = 4_000;
const CPUS: i32 = 64;
/// Threads of each process.
const SHARE: i32 = 40;
/// Each is asked so often.
const RUNS: usize = 3;

/// The account of the whole recording, for a process in the middle.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(super) fn account(directory: &Path) -> anyhow::Result<()> {
    let archive = archive(directory)?;
    let mut peak = 0;
    let path = || asked(&archive, &["dump", "path", "-p", "p20.exe", "--top", "5"], &mut peak);
    let threads = || asked(&archive, &["dump", "threads", "-p", "p20.exe", "--top", "5"], &mut 0);
    against("dump path of 50 M switches", Some(2.0), RUNS, path, "dump threads", threads)?;
    println!("  peak of dump path {} MiB anonymous, budget 256", peak >> 10);
    Ok(())
}

/// How long the program takes; `peak` grows to its largest anonymous memory, KiB.
fn asked(archive: &Path, question: &[&str], peak: &mut u64) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let mut command = Command::new(program()?);
    command.args(question).arg(archive).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().context("cargo build --profile dist builds the program")?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        *peak = (*peak).max(anonymous(child.id()));
        std::thread::sleep(Duration::from_millis(5));
    };
    ensure!(status.success(), "{question:?}: {status}");
    Ok(start.elapsed())
}

/// The anonymous memory of a process, KiB.
fn anonymous(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// An archive of a busy machine, made where it is not there yet.
fn archive(directory: &Path) -> anyhow::Result<PathBuf> {
    let target = directory.join("large.sift");
    if target.exists() {
        return Ok(target);
    }
    let mut writer = create(&target);
    let of = |thread: i32| if thread < CPUS { 0 } else { 1 + thread / SHARE };
    let processes = (0..=1 + THREADS / SHARE).map(|id| match id {
        0 => process(0, 0, "Idle"),
        id => process(id, i64::from(id) * 4, &format!("p{id}.exe")),
    });
    writer.write_table(&processes.collect::<Vec<ProcessRow>>());
    let threads = (0..THREADS).map(|id| ThreadRow {
        idle_cpu: (id < CPUS).then_some(id as i16),
        ..rows::thread(id, of(id), 10_000 + i64::from(id))
    });
    writer.write_table(&threads.collect::<Vec<ThreadRow>>());
    let mut machine = Machine::default();
    let (frames, stacks) = machine.stacks();
    writer.write_table(&frames);
    writer.write_table(&stacks);
    let mut end = 0;
    for _ in 0..SWITCHES {
        let row = machine.switch();
        end = row.time;
        writer.context_switch(&row);
    }
    let info = TraceInfo {
        name: "large".to_owned(),
        kind: "etl".to_owned(),
        end_ns: end,
        has_switches: true,
        has_ready: true,
        cpu_count: CPUS as u32,
        ..TraceInfo::default()
    };
    Ok(finish_as(writer, info))
}
