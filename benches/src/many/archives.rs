//! Hundreds of archives as a year of performance tests leaves them, written by the archive's own writer.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rayon::prelude::*;
use tracesift_analysis::tags::{Nesting, TagSet, to_store};
use tracesift_archive::{ArchiveWriter, SCHEMA_VERSION, WriterOptions};
use tracesift_scenario::SplitMix64;
use tracesift_trace::info::{SampleSource, SourceFile, TraceInfo};
use tracesift_trace::rows::{
    CpuSampleRow, MethodSummaryRow, Origin, ProcessRow, ProcessSummaryRow, TagSummaryRow, ThreadRow,
};
use tracesift_trace::{Clock, Health, ProcessId, RowSink as _, ThreadId};

use super::names::{self, Name};

/// How many archives, unless `TRACESIFT_ARCHIVES` says otherwise.
const ARCHIVES: usize = 600;
/// Processes of each.
pub(super) const PROCESSES: usize = 400;
/// Rows of `method_summary` of each.
const METHOD_ROWS: usize = 20_000;
/// Different methods of each.
const NAMES: usize = 6_000;
/// As many of these are in all archives.
const SHARED: usize = NAMES * 60 / 100;
/// No process has so many methods that its summary is cut: then the events would answer.
const MOST_METHODS: usize = 200;
/// ns of each recording.
pub(super) const LENGTH: i64 = 60_000_000_000;
/// 2026-01-05 00:00:00 UTC, the start of the first one.
const FIRST_FILETIME: i64 = 134_120_448_000_000_000;
/// From one recording to the next, 100 ns.
const STEP: i64 = 10 * 60 * 10_000_000;

/// How many archives.
pub(super) fn count() -> anyhow::Result<usize> {
    std::env::var("TRACESIFT_ARCHIVES")
        .map_or(Ok(ARCHIVES), |count| count.parse().context("TRACESIFT_ARCHIVES is no number"))
}

/// The directory with the archives, made where it is not there yet.
pub(crate) fn directory(parent: &Path) -> anyhow::Result<PathBuf> {
    let place = parent.join(format!("many-{}-{}.{}", count()?, SCHEMA_VERSION[0], SCHEMA_VERSION[1]));
    if !place.exists() {
        let unfinished = parent.join("many-unfinished");
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished)?;
        }
        std::fs::create_dir_all(&unfinished)?;
        let shared = names::shared(SHARED);
        let tags = TagSet::built_in(Nesting::Names)?;
        (0..count()?).into_par_iter().try_for_each(|index| write(&unfinished, index, &shared, &tags))?;
        std::fs::rename(&unfinished, &place)?;
    }
    Ok(place)
}

/// The directory with archives of a benchmark, made where it is not there yet. The number counts the sets of rows that it has had.
pub(super) fn in_parallel(
    parent: &Path,
    (name, rows): (&str, u32),
    write: fn(&Path, usize) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let count = count()?;
    let place = parent.join(format!("{name}-{count}-{}.{}-{rows}", SCHEMA_VERSION[0], SCHEMA_VERSION[1]));
    if !place.exists() {
        let unfinished = parent.join(format!("{name}-unfinished"));
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished)?;
        }
        std::fs::create_dir_all(&unfinished)?;
        (0..count).into_par_iter().try_for_each(|index| write(&unfinished, index))?;
        std::fs::rename(&unfinished, &place)?;
    }
    Ok(place)
}

fn write(directory: &Path, index: usize, shared: &[Name], tags: &TagSet) -> anyhow::Result<()> {
    let mut random = SplitMix64::new(7_000 + index as u64);
    let names: Vec<Name> = shared.iter().cloned().chain(names::own(index, NAMES - SHARED)).collect();
    let processes = processes(&mut random);
    let methods = methods(&mut random, &names);
    let summaries: Vec<ProcessSummaryRow> =
        processes.iter().map(|process| summary(&mut random, process, &methods[process.process.0 as usize])).collect();

    let info = description(index);
    let target = directory.join(format!("{}.sift", info.name));
    let options = WriterOptions { trace: format!("{:032x}", 0x7ace_0000 + index), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(&target, options)?;
    writer.write_table(&processes);
    writer.write_table(&threads());
    // Questions ask whether there are samples at all; all figures are in the summaries.
    for row in (0..PROCESSES).map(sample) {
        writer.cpu_sample(&row);
    }
    writer.write_table(&summaries);
    writer.write_table(methods.iter().flatten());
    writer.write_table(&tag_rows(&mut random, &methods, tags));
    writer.finish(info, &Health::new(), &Clock::new(0, 10_000_000)).context("cannot write an archive")?;
    Ok(())
}

/// What the archive says of itself.
pub(super) fn description(index: usize) -> TraceInfo {
    let test = ["CreateSerial", "CreateParallel", "LoadOrders", "Checkout", "SearchCatalog"][index % 5];
    // Ten minutes apart, seven days a week, in an order that names and times share.
    let minutes = index * 10;
    let (day, hour, minute) = (5 + minutes / 1440, minutes / 60 % 24, minutes % 60);
    let name = format!(
        "{test}_{}ms_LAB{:02}_SRV_TestStatus-Passed_202601{day:02}-{hour:02}{minute:02}00",
        2_000 + index,
        index % 12
    );
    TraceInfo {
        sources: vec![SourceFile { path: format!("runs/{name}.etl"), size: 812_345_678, ..SourceFile::default() }],
        kind: "etl".to_owned(),
        machine: Some(format!("LAB{:02}", index % 12)),
        os_name: Some("Windows 11 Enterprise".to_owned()),
        os_build: Some("10.0.26100".to_owned()),
        pointer_size: 8,
        cpu_count: 16,
        volumes: vec![(r"\Device\HarddiskVolume3".to_owned(), "C:".to_owned())],
        session_name: Some("NT Kernel Logger".to_owned()),
        start_filetime: FIRST_FILETIME + index as i64 * STEP,
        end_ns: LENGTH,
        clock: "performance counter".to_owned(),
        has_switches: true,
        has_ready: true,
        sample_sources: vec![SampleSource { number: 0, name: "Timer".to_owned(), interval_ns: 1_000_000 }],
        method_summary_cut: MOST_METHODS as u32,
        events: "none".to_owned(),
        symbols_loaded: true,
        name,
        ..TraceInfo::default()
    }
}

pub(super) fn processes(random: &mut SplitMix64) -> Vec<ProcessRow> {
    const IMAGES: [&str; 14] = [
        "svchost.exe",
        "svchost.exe",
        "svchost.exe",
        "chrome.exe",
        "chrome.exe",
        "msedgewebview2.exe",
        "dllhost.exe",
        "conhost.exe",
        "RuntimeBroker.exe",
        "Contoso.Shop.Worker.exe",
        "dotnet.exe",
        "MsMpEng.exe",
        "explorer.exe",
        "sqlservr.exe",
    ];
    let process = |index: usize| {
        let name = match index {
            0 => "Idle",
            1 => "DPC/ISR",
            2 => "System",
            _ => IMAGES[random.index(IMAGES.len())],
        };
        let pid = if index < 2 { 0 } else { index as i64 * 4 };
        let is_made = index < 3;
        let command_line = (!is_made).then(|| {
            let (session, service) = (random.below(1 << 32), random.below(1 << 16));
            format!(r#""C:\Program Files\Contoso\{name}" --session {session:08x} -k LocalService{service} --log-level warning"#)
        });
        ProcessRow {
            process: ProcessId(index as i32),
            pid,
            name: name.to_owned(),
            command_line,
            parent_pid: (!is_made).then(|| 4 * random.between(2, 40)),
            session: (!is_made).then(|| random.below(2) as i32),
            user: (!is_made).then(|| {
                ["S-1-5-18", "S-1-5-19", "S-1-5-21-1004336348-1177238915-682003330-512"][random.index(3)].to_owned()
            }),
            start: random.chance(15).then(|| random.between(0, LENGTH / 2)),
            end: random.chance(15).then(|| random.between(LENGTH / 2, LENGTH)),
            wow64: Some(false),
            origin: if index == 1 { Origin::Pseudo } else { Origin::Rundown },
            ..ProcessRow::default()
        }
    };
    (0..PROCESSES).map(process).collect()
}

/// One thread for each process, with its number.
pub(super) fn threads() -> Vec<ThreadRow> {
    let thread = |index: usize| ThreadRow {
        thread: ThreadId(index as i32),
        process: ProcessId(index as i32),
        tid: index as i64 * 8,
        base_priority: Some(8),
        origin: Origin::Rundown,
        ..ThreadRow::default()
    };
    (0..PROCESSES).map(thread).collect()
}

fn sample(index: usize) -> CpuSampleRow {
    CpuSampleRow {
        time: index as i64 * 1_000_000,
        cpu: (index % 16) as i16,
        process: ProcessId(index as i32),
        thread: ThreadId(index as i32),
        weight: 1_000_000,
        stack: None,
        frame: None,
        priority: Some(8),
        flags: 0,
    }
}

/// The rows of each process, in the order of the methods' first appearance.
fn methods(random: &mut SplitMix64, names: &[Name]) -> Vec<Vec<MethodSummaryRow>> {
    // Every name is in some process; the other rows are of methods that many processes have, and of processes that do much.
    let mut of_process: Vec<Vec<usize>> = vec![Vec::new(); PROCESSES];
    for name in 0..names.len() {
        of_process[name % PROCESSES].push(name);
    }
    let mut known: Vec<Vec<bool>> = vec![vec![false; names.len()]; PROCESSES];
    for (process, names) in of_process.iter().enumerate() {
        names.iter().for_each(|name| known[process][*name] = true);
    }
    let mut rows = names.len();
    while rows < METHOD_ROWS {
        let (process, name) = (skewed(random, PROCESSES), skewed(random, names.len()));
        if of_process[process].len() < MOST_METHODS && !std::mem::replace(&mut known[process][name], true) {
            of_process[process].push(name);
            rows += 1;
        }
    }
    let of_process = of_process.into_iter().enumerate();
    let row = |random: &mut SplitMix64, process: usize, name: usize| method(random, process, &names[name]);
    of_process
        .map(|(process, mut of_process)| {
            of_process.sort_unstable();
            of_process.into_iter().map(|name| row(random, process, name)).collect()
        })
        .collect()
}

/// The tags of each process: a few each, of all that the file knows.
fn tag_rows(random: &mut SplitMix64, methods: &[Vec<MethodSummaryRow>], set: &TagSet) -> Vec<TagSummaryRow> {
    let (hash, tags) = (set.hash(), set.tags().map(|tag| set.name(tag)).collect::<Vec<_>>());
    let mut rows = Vec::new();
    for methods in methods {
        let mut met: Vec<usize> = (0..2 + skewed(random, 20)).map(|_| random.index(tags.len())).collect();
        met.sort_unstable();
        met.dedup();
        rows.extend(met.into_iter().zip(methods.iter().cycle()).map(|(tag, figures)| {
            let tag = tags[tag].to_owned();
            let figures =
                MethodSummaryRow { module: None, function: tag, exclusive_cpu: figures.cpu, ..figures.clone() };
            to_store(figures, &hash)
        }));
    }
    rows
}

/// An index, the small ones more often.
fn skewed(random: &mut SplitMix64, length: usize) -> usize {
    let (a, b) = (random.index(length), random.index(length));
    a.min(b)
}

fn method(random: &mut SplitMix64, process: usize, (module, function): &Name) -> MethodSummaryRow {
    // Most methods have a few samples, some thousands of them.
    let mut figure = |most: u64| {
        let most = random.below(most) + 1;
        random.below(random.clone().below(most) + 1).cast_signed()
    };
    let samples = figure(3_000);
    let exclusive = samples.min(figure(300));
    let waits = figure(2_000).saturating_sub(20).max(0);
    let wait = waits * (figure(9_000_000) + 1_000);
    let readies = waits.min(figure(2_000));
    let ready = readies * (figure(90_000) + 100);
    let first = figure(LENGTH.cast_unsigned());
    MethodSummaryRow {
        process: ProcessId(process as i32),
        module: Some(module.clone()),
        function: function.clone(),
        samples,
        cpu: samples * 1_000_000,
        exclusive_cpu: exclusive * 1_000_000,
        wait: Some(wait.min(LENGTH)),
        wait_sum: Some(wait),
        wait_count: Some(waits),
        wait_longest: Some(wait / (waits / 10 + 1)),
        ready: Some(ready.min(LENGTH)),
        ready_sum: Some(ready),
        ready_count: Some(readies),
        ready_longest: Some(ready / (readies / 10 + 1)),
        switches: Some(waits),
        threads: (figure(24) + 1) as i32,
        first,
        last: first + figure((LENGTH - first).cast_unsigned()),
    }
}

fn summary(random: &mut SplitMix64, process: &ProcessRow, methods: &[MethodSummaryRow]) -> ProcessSummaryRow {
    let samples: i64 = methods.iter().map(|method| method.exclusive_cpu / 1_000_000).sum();
    let wait: i64 = methods.iter().filter_map(|method| method.wait).sum();
    ProcessSummaryRow {
        process: process.process,
        samples,
        samples_without_stack: samples / 50,
        cpu: samples * 1_000_000,
        run: Some(samples * 1_000_000 + random.between(0, 900_000)),
        wait: Some(wait),
        ready: Some(wait / 100),
        open: Some(0),
        unknown: Some(0),
        switches: Some(methods.iter().filter_map(|method| method.switches).sum()),
        cores_used: random.between(1, 17) as i32,
        priority: Some(8.0 + random.below(1 << 20) as f64 / f64::from(1 << 18)),
        first: Some(random.between(0, LENGTH / 4)),
        last: Some(random.between(LENGTH / 2, LENGTH)),
        methods: methods.len() as i64,
        methods_kept: methods.len() as i64,
    }
}
