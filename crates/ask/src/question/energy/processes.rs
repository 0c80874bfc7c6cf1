//! Rows per process: what counters counted, shared by run time.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{CpuRow, ProcessRow};

use super::Question;
use super::columns::Row;
use super::readings::{Counted, Counter};
use super::shares::{Cpus, Group, Shares, rounded};
use crate::clock_rates::Rates;
use crate::processes::{Processes, is_idle};
use crate::question::running;
use crate::recording::OpenRecording;

/// The rows in the order of their shares, and what is worth knowing of them.
pub(super) fn rows(
    recording: &OpenRecording,
    question: &Question,
    counters: &BTreeMap<Counter, Vec<Counted>>,
) -> Result<(Vec<Row>, Vec<String>), Error> {
    let archive = recording.archive();
    let cpus: Vec<CpuRow> = archive.rows()?;
    let rates = Rates::read(archive, &cpus)?;
    let processes: Vec<ProcessRow> = archive.rows()?;
    let idle: Vec<ProcessId> = processes.iter().filter(|row| is_idle(*row)).map(|row| row.process).collect();
    let machine = Machine::of(running::cpus(recording)?, &cpus, counters);
    let mut groups = Groups::new(counters, &machine, &rates);
    running::each(recording, question.time, &mut |process, cpu, work| {
        if !idle.contains(&process) {
            groups.all.iter_mut().for_each(|group| group.add(&rates, process, cpu, work));
        }
    })?;
    let mut rows = Vec::new();
    let accepted: FxHashMap<ProcessId, &ProcessRow> =
        Processes::new(&processes).selected(&question.filter).map(|row| (row.process, row)).collect();
    for sum in groups.sums(counters) {
        for ((process, share), amount) in sum.shares.iter().zip(rounded(&sum.shares)) {
            let is_wanted = match process {
                Some(process) => accepted.contains_key(process),
                None => question.filter.is_empty(),
            };
            if is_wanted {
                rows.push(Row {
                    process: process.and_then(|process| accepted.get(&process)).map(|row| (*row).clone()),
                    counter: sum.name.to_owned(),
                    energy: sum.is_energy.then_some(amount),
                    counts: (!sum.is_energy).then_some(amount),
                    whole: Some(sum.whole),
                    run: share.time,
                    ..Row::default()
                });
            }
        }
    }
    rows.sort_by(|a, b| {
        let share = |row: &Row| row.percent().unwrap_or(0.0);
        share(a).total_cmp(&share(b)).then_with(|| b.counter.cmp(&a.counter))
    });
    Ok((rows, notes(recording, &machine, &groups)))
}

/// What the figures rest on.
fn notes(recording: &OpenRecording, machine: &Machine, groups: &Groups) -> Vec<String> {
    let (all, by_rate) =
        groups.all.iter().map(Group::spans_by_rate).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let weighed = match by_rate {
        0 => "by run time alone: clock rates of all CPUs are not known".to_owned(),
        _ if by_rate == all => "by run time, weighted with the clock rates".to_owned(),
        _ => format!("by run time, weighted with the clock rates in {by_rate} of {all} spans between readings"),
    };
    let mut notes = vec![format!("estimate: what a counter counted between two readings is shared {weighed}")];
    if !recording.info().has_switches {
        notes.push("without context switches, sampled CPU time stands for run time".to_owned());
    }
    if machine.is_unsure {
        notes.push(
            "the recording does not tell which CPUs a package or die has: its counter is shared by all CPUs".to_owned(),
        );
    }
    notes
}

/// Which CPUs there are, and where.
struct Machine {
    all: Vec<i16>,
    packages: BTreeMap<i32, Vec<i16>>,
    /// Whether a counter is shared by more CPUs than it covers.
    is_unsure: bool,
}

impl Machine {
    fn of(all: BTreeSet<i16>, cpus: &[CpuRow], counters: &BTreeMap<Counter, Vec<Counted>>) -> Self {
        let mut packages: BTreeMap<i32, Vec<i16>> = BTreeMap::new();
        for row in cpus {
            if let Some(package) = row.package {
                packages.entry(package).or_default().push(row.cpu);
            }
        }
        let first = counters.keys().find_map(|counter| counter.package);
        let is_other = |counter: &Counter| counter.package.is_some_and(|package| Some(package) != first);
        let is_die = |counter: &Counter| counter.name.contains(" die ");
        let is_unsure = packages.is_empty() && counters.keys().any(is_other) || counters.keys().any(is_die);
        Self { all: all.into_iter().collect(), packages, is_unsure }
    }

    /// The CPUs that a counter covers.
    fn covered_by(&self, counter: &Counter) -> Cpus {
        let package = counter.package.and_then(|package| self.packages.get(&package));
        match (counter.cpu.and_then(|cpu| i16::try_from(cpu).ok()), package) {
            (Some(cpu), _) => Cpus::Some(vec![cpu]),
            (None, Some(cpus)) => Cpus::Some(cpus.clone()),
            (None, None) => Cpus::All(self.all.clone()),
        }
    }
}

/// The counters in groups that share the work.
struct Groups {
    all: Vec<Group>,
    /// The group of each counter, in their order.
    of_counters: Vec<usize>,
}

/// The shares in all counters of a name.
struct Sum<'a> {
    name: &'a str,
    is_energy: bool,
    whole: i64,
    shares: Shares,
}

impl Groups {
    fn new(counters: &BTreeMap<Counter, Vec<Counted>>, machine: &Machine, rates: &Rates) -> Self {
        let mut groups = Self { all: Vec::new(), of_counters: Vec::new() };
        let mut known: BTreeMap<(Cpus, Vec<(i64, i64)>), usize> = BTreeMap::new();
        for (counter, counted) in counters {
            let cpus = machine.covered_by(counter);
            let spans = disjoint(counted);
            let bounds: Vec<(i64, i64)> = spans.iter().map(|span| (span.start, span.end)).collect();
            let place = *known.entry((cpus.clone(), bounds)).or_insert_with(|| {
                groups.all.push(Group::new(cpus, &spans, rates));
                groups.all.len() - 1
            });
            groups.of_counters.push(place);
        }
        groups
    }

    /// The shares by name of the counters, and by what they count.
    fn sums<'a>(&self, counters: &'a BTreeMap<Counter, Vec<Counted>>) -> Vec<Sum<'a>> {
        let mut sums: Vec<Sum<'a>> = Vec::new();
        for ((counter, counted), group) in counters.iter().zip(&self.of_counters) {
            let is_energy = counted.iter().any(|counted| counted.energy.is_some());
            let known = sums.iter().position(|sum| sum.name == counter.name && sum.is_energy == is_energy);
            let place = known.unwrap_or_else(|| {
                sums.push(Sum { name: &counter.name, is_energy, whole: 0, shares: Shares::new() });
                sums.len() - 1
            });
            let sum = &mut sums[place];
            sum.whole = counted.iter().fold(sum.whole, |whole, counted| whole.saturating_add(counted.amount()));
            self.all[*group].share(counted.iter().map(Counted::amount), &mut sum.shares);
        }
        sums
    }
}

/// The spans of a counter in the order of time. In a forged archive they may overlap: each then begins where the one before ends.
fn disjoint(counted: &[Counted]) -> Vec<Span> {
    let mut end = i64::MIN;
    let span = |counted: &Counted| {
        let span = Span::new(counted.span.start.max(end), counted.span.end.max(end));
        end = span.end;
        span
    };
    counted.iter().map(span).collect()
}
