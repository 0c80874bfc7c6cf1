//! The account of the time of a run, from its archive: figures of the command's process and of the
//! processes that it started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tracesift_archive::{Archive, Error};
use tracesift_trace::HealthKind;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{
    DiskIoRow, DiskOperation, HealthRow, ModuleRow, ProcessModuleRow, ProcessRow, ProcessSummaryRow, TagSummaryRow,
};
use tracesift_trace::view;

/// More files than a line can name.
const MOST_MAPPED: usize = 20;

/// Figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// CPU time of all its processes, ns: sampled, or precise where nothing was sampled.
    pub cpu_ns: i64,
    /// Whether that is precise.
    pub is_precise: bool,
    /// Time in which threads waited, added up over the threads, ns.
    pub wait_ns: Option<i64>,
    /// Time in which threads were ready to run and had no CPU, added up alike, ns.
    pub ready_ns: Option<i64>,
    /// Time of which the recording does not tell what threads did, added up alike, ns.
    pub unknown_ns: Option<i64>,
    /// CPU time per stack tag of the built-in rules, ns.
    pub tags: BTreeMap<String, i64>,
    /// Whether caches were empty, where they should have been.
    pub cold: Option<Cold>,
    /// What makes the figures less than exact.
    pub warnings: Vec<String>,
}

/// What reading an archive tells of a run with empty caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cold {
    /// Bytes that the test's processes read from disks.
    pub own_bytes: i64,
    /// Bytes that all processes read while the test ran.
    pub all_bytes: i64,
    /// Files of the test that other processes had mapped before it began, each with one of these: they stayed in memory.
    pub still_mapped: Vec<(String, String)>,
}

/// Why there is no account.
#[derive(Debug, thiserror::Error)]
pub enum NoAccount {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] Error),
    /// The command is not in it.
    #[error("the command's process is not in the recording")]
    NoProcess,
}

impl Account {
    /// The account of a run whose command had this process id.
    ///
    /// # Errors
    ///
    /// [`NoAccount`].
    pub fn of(archive: &Path, pid: u32, cold: bool) -> Result<Self, NoAccount> {
        let archive = Archive::open(archive)?;
        let processes: Vec<ProcessRow> = archive.rows()?;
        let family = family(&processes, pid).ok_or(NoAccount::NoProcess)?;
        let summaries: Vec<ProcessSummaryRow> = archive.rows()?;
        let summaries: Vec<&ProcessSummaryRow> =
            summaries.iter().filter(|row| family.all.contains(&row.process)).collect();
        let sum = |figure: fn(&ProcessSummaryRow) -> Option<i64>| {
            summaries.iter().filter_map(|row| figure(row)).reduce(i64::saturating_add)
        };
        let samples: i64 = summaries.iter().map(|row| row.samples).sum();
        let run = sum(|row| row.run);
        let is_precise = samples == 0 && run.is_some();
        let cpu_ns = if is_precise { run } else { sum(|row| Some(row.cpu)) };
        let mut account = Self {
            cpu_ns: cpu_ns.unwrap_or(0),
            is_precise,
            wait_ns: sum(|row| row.wait),
            ready_ns: sum(|row| row.ready),
            unknown_ns: sum(|row| row.unknown),
            ..Self::default()
        };
        for row in archive.rows::<CpuOfTag>()?.iter().filter(|row| family.all.contains(&row.process)) {
            *account.tags.entry(row.tag.clone()).or_default() += row.exclusive_cpu;
        }
        if cold {
            account.cold = Some(proof(&archive, &processes, &family)?);
            let health: Vec<HealthRow> = archive.rows()?;
            if let Some(lost) = health.iter().find(|row| row.kind == HealthKind::DISK_IO_WITHOUT_COMPLETION.word()) {
                account.warnings.push(format!("the ends of {} disk operations are missing: more was read", lost.count));
            }
        }
        Ok(account)
    }
}

view! {
    /// The CPU time of a stack tag.
    #[derive(Clone, Debug)]
    struct CpuOfTag of TagSummaryRow { process, tag, exclusive_cpu }
}

view! {
    /// The bytes of a disk operation.
    #[derive(Clone, Copy, Debug)]
    struct BytesOfProcess of DiskIoRow { time, process, operation, size }
}

/// The processes of a test.
struct Family {
    all: BTreeSet<ProcessId>,
    start: i64,
    end: i64,
}

/// The command's process and its descendants.
fn family(processes: &[ProcessRow], pid: u32) -> Option<Family> {
    // The command was started by the recorder; who had its id before started earlier.
    let root =
        processes.iter().filter(|row| row.pid == i64::from(pid) && row.start.is_some()).max_by_key(|row| row.start)?;
    let mut all = BTreeSet::from([root.process]);
    let mut found = 0;
    while found != all.len() {
        found = all.len();
        let children = processes.iter().filter(|row| row.parent.is_some_and(|parent| all.contains(&parent)));
        let children: Vec<ProcessId> = children.map(|row| row.process).collect();
        all.extend(children);
    }
    let ends = processes.iter().filter(|row| all.contains(&row.process)).map(|row| row.end.unwrap_or(i64::MAX));
    Some(Family { start: root.start?, end: ends.max().unwrap_or(i64::MAX), all })
}

/// What was read from disks while the test ran, and who kept its files in memory.
fn proof(archive: &Archive, processes: &[ProcessRow], family: &Family) -> Result<Cold, Error> {
    let mut cold = Cold::default();
    archive.scan(None, |row: &BytesOfProcess| {
        if row.operation == DiskOperation::Read && (family.start..=family.end).contains(&row.time) {
            cold.all_bytes = cold.all_bytes.saturating_add(row.size);
            if row.process.is_some_and(|process| family.all.contains(&process)) {
                cold.own_bytes = cold.own_bytes.saturating_add(row.size);
            }
        }
    })?;
    let mapped: Vec<ProcessModuleRow> = archive.rows()?;
    let modules: Vec<ModuleRow> = archive.rows()?;
    let own: BTreeSet<_> =
        mapped.iter().filter(|row| family.all.contains(&row.process)).map(|row| row.module).collect();
    let mut found = BTreeMap::new();
    for row in &mapped {
        let is_older = row.load.is_none_or(|load| load < family.start);
        if family.all.contains(&row.process) || !own.contains(&row.module) || !is_older {
            continue;
        }
        let module = modules.iter().find(|module| module.module == row.module);
        let process = processes.iter().find(|process| process.process == row.process);
        // The kernel is mapped everywhere and is no file of the test.
        if let (Some(module), Some(process)) = (module, process)
            && (module.path.starts_with('/') || module.path.contains('\\'))
            && process.pid > 0
        {
            found.entry(module.name.clone()).or_insert_with(|| format!("{}({})", process.name, process.pid));
        }
    }
    cold.still_mapped = found.into_iter().take(MOST_MAPPED).collect();
    Ok(cold)
}
