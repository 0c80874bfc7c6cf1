//! Processes as rows, with their sums.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{Origin, ProcessRow, ProcessSummaryRow};
use tracesift_trace::{Health, ProcessId};

use crate::document::{Cpu, Moment, Process, ProcessKey, ProcessReference};
use crate::identity::Identities;

/// Nanoseconds of so many milliseconds.
pub(crate) fn ms(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}

/// Nanoseconds of so many microseconds.
pub(crate) fn us(count: i64) -> i64 {
    count.saturating_mul(1_000)
}

/// A process that the document lists.
pub(crate) fn listed(process: ProcessId, listed: &Process, zero: Moment) -> ProcessRow {
    let time = |moment: Option<Moment>| moment.filter(|moment| moment.is_known()).map(|moment| moment.ns_since(zero));
    let start = time(listed.start_time).filter(|start| *start >= 0);
    let end = time(listed.end_time);
    let name = listed.process_name.clone().filter(|name| !name.is_empty());
    ProcessRow {
        name: name.unwrap_or_else(|| format!("pid {}", listed.process_id)),
        command_line: listed.cmd_line.clone(),
        parent_pid: listed.parent_pid,
        session: listed.session_id.and_then(|session| i32::try_from(session).ok()),
        user: listed.identity.as_deref().map(owner),
        start,
        end,
        // An NTSTATUS is written as a signed or as an unsigned number.
        exit_code: listed.return_code.map(|code| code as i32).filter(|_| end.is_some()),
        origin: match (start.is_some() || end.is_some(), is_part_of_system(listed)) {
            (true, _) => Origin::Event,
            (false, true) => Origin::Pseudo,
            (false, false) => Origin::Rundown,
        },
        ..blank(process, listed.process_id)
    }
}

/// Whether it is a working set of the system, such as `PagedPoolWs`, and no process: these have ids that are multiples of 4.
fn is_part_of_system(listed: &Process) -> bool {
    listed.process_id == 1 && listed.process_name.as_deref().is_some_and(|name| name.ends_with("Ws"))
}

/// A process that only other parts name.
pub(crate) fn unlisted(process: ProcessId, key: &ProcessKey, zero: Moment) -> ProcessRow {
    let start = key.start_time.filter(|start| start.is_known()).map(|start| start.ns_since(zero));
    let name = if key.name.is_empty() { format!("pid {}", key.pid) } else { key.name.clone() };
    ProcessRow { name, start: start.filter(|start| *start >= 0), ..blank(process, key.pid) }
}

fn blank(process: ProcessId, pid: i64) -> ProcessRow {
    ProcessRow { process, pid, origin: Origin::Inferred, ..ProcessRow::default() }
}

/// The identifier of the accounts whose names every machine has; ETWAnalyzer translates what it can. Others stay as they are.
fn owner(identity: &str) -> String {
    match identity {
        "NT AUTHORITY\\SYSTEM" => "S-1-5-18",
        "NT AUTHORITY\\LOCAL SERVICE" => "S-1-5-19",
        "NT AUTHORITY\\NETWORK SERVICE" => "S-1-5-20",
        other => other,
    }
    .to_owned()
}

/// Links processes with their creators: of all that had the pid the one that was alive when the process started.
pub(crate) fn link_parents(rows: &mut [ProcessRow]) {
    let mut lives: FxHashMap<i64, Vec<(i64, i64, ProcessId)>> = FxHashMap::default();
    for row in &*rows {
        let life = (row.start.unwrap_or(i64::MIN), row.end.unwrap_or(i64::MAX), row.process);
        lives.entry(row.pid).or_default().push(life);
    }
    lives.values_mut().for_each(|lives| lives.sort_unstable());
    for row in rows {
        let start = row.start.unwrap_or(i64::MIN);
        let of_parent = row.parent_pid.and_then(|pid| lives.get(&pid)).map(Vec::as_slice).unwrap_or_default();
        // The last one that began before; those before it are over, as a pid is used by one at a time.
        let begun = of_parent.partition_point(|(begin, ..)| *begin <= start);
        let last = of_parent.get(..begun).unwrap_or_default().iter().rev().find(|life| life.2 != row.process);
        row.parent = last.filter(|(_, end, _)| *end >= start).map(|(.., parent)| *parent);
    }
}

/// Sums per process; none where the extract has no CPU part.
#[derive(Debug, Default)]
pub(crate) struct CpuSums {
    rows: FxHashMap<ProcessId, ProcessSummaryRow>,
}

impl CpuSums {
    /// CPU, priority and CPUs used.
    pub(crate) fn read(cpu: &Cpu, identities: &mut Identities, health: &mut Health) -> Self {
        let mut sums = Self::default();
        for (key, cpu_ms) in &cpu.per_process_ms.0 {
            if let Some(process) = identities.find(&ProcessReference::parse(key), health) {
                let row = sums.row(process);
                row.cpu = row.cpu.saturating_add(ms(*cpu_ms));
            }
        }
        for (index, priority) in &cpu.per_process_priority.0 {
            if let Some(process) = identities.find(&ProcessReference::parse(index), health) {
                sums.row(process).priority = priority.0;
            }
        }
        for (index, cores) in &cpu.per_process_cores.0 {
            if let Some(process) = identities.find(&ProcessReference::parse(index), health) {
                let distinct: BTreeSet<u32> = cores.0.iter().copied().collect();
                sums.row(process).cores_used = i32::try_from(distinct.len()).unwrap_or(i32::MAX);
            }
        }
        sums
    }

    /// Counts a row of `method_summary`.
    pub(crate) fn method(&mut self, process: ProcessId) {
        let row = self.row(process);
        row.methods = row.methods.saturating_add(1);
        // All that the extract has are kept, so that questions need no events.
        row.methods_kept = row.methods;
    }

    /// The rows, in order: of processes that the extract has figures of. Those of the others would say that they used no CPU.
    pub(crate) fn finish(self) -> Vec<ProcessSummaryRow> {
        let mut rows: Vec<ProcessSummaryRow> = self.rows.into_values().collect();
        rows.sort_unstable_by_key(|row| row.process);
        rows
    }

    fn row(&mut self, process: ProcessId) -> &mut ProcessSummaryRow {
        self.rows.entry(process).or_insert_with(|| nothing(process))
    }
}

/// What is not known and cannot be null in this table is 0: samples, and CPUs used.
fn nothing(process: ProcessId) -> ProcessSummaryRow {
    ProcessSummaryRow {
        process,
        samples: 0,
        samples_without_stack: 0,
        cpu: 0,
        run: None,
        wait: None,
        ready: None,
        open: None,
        unknown: None,
        switches: None,
        cores_used: 0,
        priority: None,
        first: None,
        last: None,
        methods: 0,
        methods_kept: 0,
    }
}
