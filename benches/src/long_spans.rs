//! One second of a long recording: rows read and time with the index of long spans, and without it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tracesift_archive::{Archive, ArchiveWriter, WriterOptions};
use tracesift_ask::Ask as _;
use tracesift_ask::question::threads;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::Random;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, LongSpanRow, Origin, ProcessRow, ProcessSummaryRow, ThreadRow, switch_flags,
};
use tracesift_trace::{Clock, Health, ProcessId, RowSink as _, StackId, ThreadId};

use crate::measure::{against, timed};

/// Switches of the recording; `TRACESIFT_BENCH_SWITCHES` names another number.
const SWITCHES: u64 = 50_000_000;
const CPUS: usize = 64;
const THREADS: usize = 2_000;
const PROCESSES: usize = 119;

/// Counted runs of each.
const RUNS: usize = 9;

/// Runs the benchmark.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let with_index = recording(directory)?;
    let without = without_index(&with_index, directory)?;
    let archive = Archive::open(&with_index)?;
    let end = archive.info().end_ns;
    let bytes =
        |name: &str| archive.info().tables.iter().find(|table| table.name == name).map_or(0, |table| table.bytes);
    let (rows, index) = (archive.row_count::<ContextSwitchRow>(), archive.row_count::<LongSpanRow>());
    println!(
        "{rows} switches in {} bytes, {index} rows of the index in {} bytes",
        bytes("context_switches"),
        bytes("long_spans")
    );
    let second = 1_000_000_000;
    let time = TimeRange { start: Some(end / 2), end: Some(end / 2 + second) };
    let question = threads::Question { time, ..threads::Question::default() };
    let ask = |path: &Path| -> anyhow::Result<(u64, usize, Duration)> {
        let recording = OpenRecording::open(&Source::archive(path.to_owned()))?;
        let (section, time) = timed(|| Ok(question.section(&recording)?))?;
        Ok((recording.archive().rows_read(), section.rows.len(), time))
    };
    let ((read, found, _), (read_without, found_without, _)) = (ask(&with_index)?, ask(&without)?);
    anyhow::ensure!(found == found_without, "{found} rows with the index, {found_without} without it");
    println!(
        "rows read: {read} with the index, {read_without} without it; ratio {:.3}, budget 0.2",
        read as f64 / read_without as f64
    );
    against(
        "dump threads --time of a second",
        Some(0.2),
        RUNS,
        || Ok(ask(&with_index)?.2),
        "without the index",
        || Ok(ask(&without)?.2),
    )
}

/// A long recording with its index.
pub(crate) fn recording(directory: &Path) -> anyhow::Result<PathBuf> {
    let switches = std::env::var("TRACESIFT_BENCH_SWITCHES").ok().and_then(|text| text.parse().ok());
    write(directory, switches.unwrap_or(SWITCHES))
}

/// The same archive without the index.
fn without_index(archive: &Path, directory: &Path) -> anyhow::Result<PathBuf> {
    let copy = directory.join("without-index.sift");
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir_all(&copy)?;
    for entry in std::fs::read_dir(archive)? {
        let entry = entry?;
        if entry.file_name() == "trace.json" {
            let text = std::fs::read_to_string(entry.path())?;
            // The list of tables is all that tells of it.
            std::fs::write(copy.join("trace.json"), text.replace("\"long_spans\"", "\"long_spans_of_old\""))?;
        } else {
            std::fs::hard_link(entry.path(), copy.join(entry.file_name()))?;
        }
    }
    Ok(copy)
}

/// Writes a recording of a machine whose threads are switched in nearly at random, some of them seldom.
#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn write(directory: &Path, count: u64) -> anyhow::Result<PathBuf> {
    let target = directory.join("long.sift");
    let options = WriterOptions { trace: "6c".repeat(16), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(&target, options)?;
    let id = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let process = |number: usize| ProcessRow {
        process: ProcessId(id(number)),
        pid: 4 * number as i64,
        name: if number == 0 { "Idle".to_owned() } else { format!("process{number}.exe") },
        origin: Origin::Rundown,
        ..ProcessRow::default()
    };
    let thread = |number: usize| ThreadRow {
        thread: ThreadId(id(number)),
        process: ProcessId(id(if number < CPUS { 0 } else { 1 + number % PROCESSES })),
        tid: number as i64,
        idle_cpu: i16::try_from(number).ok().filter(|_| number < CPUS),
        ..ThreadRow::default()
    };
    writer.write_table(&(0..=PROCESSES).map(process).collect::<Vec<_>>());
    writer.write_table(&(0..CPUS + THREADS).map(thread).collect::<Vec<_>>());
    let (mut machine, mut switches) = (Machine::new(), vec![0; PROCESSES + 1]);
    for _ in 0..count {
        let row = machine.switch();
        switches[thread(row.thread.index()).process.index()] += 1;
        writer.context_switch(&row);
    }
    let summaries = (0..=PROCESSES).zip(switches).map(|(process, switches)| ProcessSummaryRow {
        process: ProcessId(id(process)),
        switches: Some(switches),
        ..ProcessSummaryRow::default()
    });
    writer.write_table(&summaries.collect::<Vec<_>>());
    let end = machine.time + 1;
    machine.close(end, |row| writer.context_switch(row));
    let info = TraceInfo {
        name: "long".to_owned(),
        end_ns: end,
        cpu_count: CPUS as u32,
        has_switches: true,
        has_ready: true,
        ..TraceInfo::default()
    };
    let clock = Clock::new(0, 10_000_000);
    let (mut sealed, written) = timed(|| Ok(writer.seal(info, &clock).wait()?))?;
    let archive = sealed.archive().clone();
    let ((), took) = timed(|| {
        let mut found = Ok(());
        sealed.write_each(|write| found = archive.find_long_spans(write));
        Ok(found?)
    })?;
    println!("last rows written in {:.3} s, index found in {:.3} s", written.as_secs_f64(), took.as_secs_f64());
    Ok(sealed.finish(&Health::new(), &clock)?)
}

struct Machine {
    random: Random,
    time: i64,
    running: [usize; CPUS],
    off_since: Vec<i64>,
    is_running: Vec<bool>,
    seen: Vec<bool>,
}

impl Machine {
    fn new() -> Self {
        let mut running = [0; CPUS];
        running.iter_mut().enumerate().for_each(|(cpu, thread)| *thread = cpu);
        let mut is_running = vec![false; CPUS + THREADS];
        is_running[..CPUS].fill(true);
        let seen = is_running.clone();
        Self { random: Random(3), time: 0, running, off_since: vec![0; CPUS + THREADS], is_running, seen }
    }

    fn switch(&mut self) -> ContextSwitchRow {
        // 80,000 switches per second and half a microsecond's jitter.
        self.time += 2_500 + self.random.below(20_000) as i64;
        // One CPU in eight is hardly ever switched.
        let cpu =
            if self.random.below(20_000) == 0 { self.random.below(CPUS) } else { self.random.below(CPUS * 7 / 8) };
        let before = self.running[cpu];
        let next = if before != cpu && self.random.below(3) == 0 { cpu } else { self.thread() };
        self.running[cpu] = next;
        (self.is_running[before], self.is_running[next]) = (false, true);
        let off_time = self.off_since[next];
        self.off_since[before] = self.time;
        let is_new = !std::mem::replace(&mut self.seen[next], true);
        ContextSwitchRow {
            time: self.time,
            cpu: i16::try_from(cpu).ok(),
            thread: ThreadId(i32::try_from(next).unwrap_or(i32::MAX)),
            prev_thread: i32::try_from(before).ok().map(ThreadId),
            off_time,
            ready_time: (next >= CPUS).then(|| off_time + (self.time - off_time) / 2),
            off_state: Some(5),
            wait_reason: Some([0, 6, 13, 15][self.random.below(4)]),
            wait_stack: Some(StackId(self.random.below(20_000) as i32)),
            readier: (next >= CPUS).then(|| ThreadId(self.random.below(CPUS + THREADS) as i32)),
            priority: Some(8),
            flags: if is_new { switch_flags::OPEN_LEFT } else { 0 },
            ..ContextSwitchRow::default()
        }
    }

    /// A thread that is off the CPUs. Half of them sleep most of the time.
    fn thread(&mut self) -> usize {
        loop {
            let seldom = self.random.below(1_000) == 0;
            let place = self.random.below(THREADS / 2) + if seldom { THREADS / 2 } else { 0 };
            if !self.is_running[CPUS + place] {
                return CPUS + place;
            }
        }
    }

    fn close(&self, end: i64, mut write: impl FnMut(&ContextSwitchRow)) {
        for thread in (0..self.off_since.len()).filter(|thread| self.seen[*thread] && !self.is_running[*thread]) {
            write(&ContextSwitchRow {
                time: end,
                thread: ThreadId(i32::try_from(thread).unwrap_or(i32::MAX)),
                off_time: self.off_since[thread],
                flags: switch_flags::OPEN_RIGHT,
                ..ContextSwitchRow::default()
            });
        }
    }
}
