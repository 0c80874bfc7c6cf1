//! Shares of processes in what a counter counted.
//!
//! Between two readings each piece of work weighs its time, multiplied with the clock rate in force where the rates of all CPUs of the
//! counter are known all the time, and so does the time in which nobody ran. What was counted is shared by these weights.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_trace::ProcessId;

use crate::clock_rates::Rates;
use crate::question::running::Work;

/// Bits behind the point of a share, until all of them are rounded.
const FINE: u32 = 20;
/// Bits of a weight that count in a share.
const EXACT: u32 = 44;

/// The CPUs that a counter covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cpus {
    /// All of them, by number; and whoever else ran.
    All(Vec<i16>),
    /// These.
    Some(Vec<i16>),
}

impl Cpus {
    fn list(&self) -> &[i16] {
        match self {
            Self::All(cpus) | Self::Some(cpus) => cpus,
        }
    }

    fn has(&self, cpu: Option<i16>) -> bool {
        match (self, cpu) {
            (Self::All(_), _) => true,
            (Self::Some(cpus), Some(cpu)) => cpus.contains(&cpu),
            (Self::Some(_), None) => false,
        }
    }
}

/// Time between two readings.
#[derive(Clone, Copy, Debug)]
struct Cell {
    span: Span,
    /// Whether work weighs its clock rate.
    by_rate: bool,
    /// Weight of all CPUs.
    whole: i128,
    /// Time of all CPUs, ns.
    time: i64,
}

/// Weight and time of the work of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    weight: i128,
    time: i64,
}

/// Counters that cover the same CPUs and were read at the same times.
#[derive(Debug)]
pub(super) struct Group {
    cpus: Cpus,
    cells: Vec<Cell>,
    done: FxHashMap<(usize, ProcessId), Done>,
}

/// The share of a process, or of the time in which nobody ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// What was counted, in 2^-20 of the unit.
    fine: i128,
    /// Run time, ns.
    pub(super) time: i64,
}

/// Shares by process; `None` is the time in which nobody ran.
pub(super) type Shares = BTreeMap<Option<ProcessId>, Share>;

impl Group {
    /// Of CPUs and spans of time; these are in order and do not overlap.
    pub(super) fn new(cpus: Cpus, spans: &[Span], rates: &Rates) -> Self {
        let cell = |span: &Span| {
            let all = cpus.list();
            let is_known = |cpu: &i16| rates.known_since(*cpu).is_some_and(|since| since <= span.start);
            let by_rate = !all.is_empty() && all.iter().all(is_known);
            let mut cell = Cell { span: *span, by_rate, whole: 0, time: 0 };
            for cpu in all {
                cell.whole = cell.whole.saturating_add(cell.weight(rates, Some(*cpu), *span));
                cell.time = cell.time.saturating_add(span.length());
            }
            cell
        };
        let cells = spans.iter().map(cell).collect();
        Self { cpus, cells, done: FxHashMap::default() }
    }

    /// Number of its spans, and of those in which work weighs its clock rate.
    pub(super) fn spans_by_rate(&self) -> (usize, usize) {
        (self.cells.len(), self.cells.iter().filter(|cell| cell.by_rate).count())
    }

    /// A piece of work.
    pub(super) fn add(&mut self, rates: &Rates, process: ProcessId, cpu: Option<i16>, work: Work) {
        if !self.cpus.has(cpu) {
            return;
        }
        let (span, weight) = match work {
            Work::Run(span) => (span, None),
            Work::Sample { time, weight } => (Span::new(time, time.saturating_add(1)), Some(weight.max(0))),
        };
        let first = self.cells.partition_point(|cell| cell.span.end <= span.start);
        let touched = self.cells[first..].iter().take_while(|cell| cell.span.start < span.end);
        for (index, cell) in touched.enumerate() {
            let part = span.intersect(cell.span);
            if part.is_empty() {
                continue;
            }
            let (of_part, time) = match weight {
                None => (cell.weight(rates, cpu, part), part.length()),
                Some(weight) => (cell.weight(rates, cpu, part).saturating_mul(weight.into()), weight),
            };
            let done = self.done.entry((first + index, process)).or_default();
            done.weight = done.weight.saturating_add(of_part);
            done.time = done.time.saturating_add(time);
        }
    }

    /// Adds the shares in what a counter of the group counted, by span.
    pub(super) fn share(&self, amounts: impl Iterator<Item = i64>, shares: &mut Shares) {
        let mut done: Vec<_> = self.done.iter().map(|((cell, process), done)| (*cell, *process, *done)).collect();
        done.sort_unstable_by_key(|(cell, process, _)| (*cell, *process));
        let mut rest = &done[..];
        for (index, (cell, amount)) in self.cells.iter().zip(amounts).enumerate() {
            let (here, behind) = rest.split_at(rest.partition_point(|(cell, ..)| *cell <= index));
            rest = behind;
            let sum = here.iter().fold(0_i128, |sum, (.., done)| sum.saturating_add(done.weight));
            // More than all of the time only a damaged recording has.
            let whole = cell.whole.max(sum);
            let (mut weight, mut given, mut time) = (0_i128, 0, 0_i64);
            for (_, process, done) in here {
                weight = weight.saturating_add(done.weight);
                time = time.saturating_add(done.time);
                let until = fine_part(amount, weight, whole);
                let share = shares.entry(Some(*process)).or_default();
                share.fine += until - given;
                share.time = share.time.saturating_add(done.time);
                given = until;
            }
            let idle = shares.entry(None).or_default();
            idle.fine += (i128::from(amount) << FINE) - given;
            idle.time = idle.time.saturating_add(cell.time.saturating_sub(time).max(0));
        }
    }
}

impl Cell {
    /// Weight of a part of its time on a CPU. A CPU that is not known has the mean rate.
    fn weight(&self, rates: &Rates, cpu: Option<i16>, part: Span) -> i128 {
        let length = i128::from(part.length());
        match cpu {
            _ if !self.by_rate => length,
            Some(cpu) => rates.during(cpu, part).fold(0, |sum, (change, part)| {
                sum.saturating_add(i128::from(change.khz.max(0)).saturating_mul(part.length().max(0).into()))
            }),
            None => (self.whole / i128::from(self.time.max(1))).saturating_mul(length),
        }
    }
}

/// `amount` × `weight` / `whole`, with [`FINE`] bits behind the point: no less for more weight, and all for the whole one.
fn fine_part(amount: i64, weight: i128, whole: i128) -> i128 {
    if whole <= 0 {
        return 0;
    }
    let surplus = (i128::BITS - whole.leading_zeros()).saturating_sub(EXACT);
    (i128::from(amount) << FINE) * (weight >> surplus) / (whole >> surplus)
}

/// Whole numbers for the shares, in their order: together they are exactly what was counted, and each differs from its share by less than
/// one. The largest remainders are rounded up.
pub(super) fn rounded(shares: &Shares) -> Vec<i64> {
    let fine: Vec<i128> = shares.values().map(|share| share.fine.max(0)).collect();
    let mut whole: Vec<i128> = fine.iter().map(|fine| fine >> FINE).collect();
    let all = fine.iter().sum::<i128>() >> FINE;
    let missing = usize::try_from(all - whole.iter().sum::<i128>()).unwrap_or(0);
    let mut order: Vec<usize> = (0..fine.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(fine[*place] & ((1 << FINE) - 1)));
    order.iter().take(missing).for_each(|place| whole[*place] += 1);
    whole.into_iter().map(|figure| i64::try_from(figure).unwrap_or(i64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CPUS: i16 = 3;

    /// Runs of a CPU: time without anybody, then a run of that length of one of four processes.
    type Runs = Vec<(i64, i64, i32)>;

    /// The same by single nanoseconds: for each span and each process its weight, the last one that of nobody.
    fn naive(spans: &[Span], cpus: &[i16], runs: &[Runs], rates: &[(i64, i16, i64)]) -> Vec<Vec<f64>> {
        let rate_at = |cpu: i16, at: i64| {
            rates.iter().rev().find(|(time, of, _)| *of == cpu && *time <= at).map(|(.., khz)| *khz)
        };
        let mut weights = vec![vec![0.0; 5]; spans.len()];
        for (index, span) in spans.iter().enumerate() {
            let is_known = cpus.iter().all(|cpu| rate_at(*cpu, span.start).is_some());
            for cpu in cpus {
                let mut who = FxHashMap::default();
                let mut at = 0;
                for (pause, length, process) in &runs[*cpu as usize] {
                    at += pause;
                    (at..at + length).for_each(|instant| _ = who.insert(instant, *process));
                    at += length;
                }
                for at in span.start..span.end {
                    let weight = if is_known { rate_at(*cpu, at).unwrap_or(0) as f64 } else { 1.0 };
                    weights[index][who.get(&at).map_or(4, |process| *process as usize)] += weight;
                }
            }
        }
        weights
    }

    proptest! {
        #[test]
        fn shares_add_up_to_the_counter_and_are_those_of_single_nanoseconds(
            runs in prop::collection::vec(prop::collection::vec((0_i64..20, 1_i64..20, 0..4), 0..5), CPUS as usize),
            lengths in prop::collection::vec(1_i64..40, 1..6),
            amounts in prop::collection::vec(prop_oneof![0_i64..50, 0_i64..1_000_000_000, Just(i64::MAX / 8)], 6),
            changes in prop::collection::vec((-5_i64..60, 0..CPUS, 1_i64..9), 0..12),
            is_all in any::<bool>(),
        ) {
            let mut changes = changes;
            changes.sort_by_key(|(time, ..)| *time);
            let rates = Rates::of(changes.iter().map(|(time, cpu, khz)| (*cpu, *time, *khz, None)), None);
            let cpus = if is_all { (0..CPUS).collect::<Vec<_>>() } else { vec![1] };
            let mut spans = Vec::new();
            let mut at = 3;
            for length in lengths {
                spans.push(Span::new(at, at + length));
                at += length;
            }
            let covered = if is_all { Cpus::All(cpus.clone()) } else { Cpus::Some(cpus.clone()) };
            let mut group = Group::new(covered, &spans, &rates);
            for (cpu, runs) in (0..).zip(&runs) {
                let mut at = 0;
                for (pause, length, process) in runs {
                    at += pause;
                    let span = Span::new(at, at + length);
                    group.add(&rates, ProcessId(*process), Some(cpu), Work::Run(span));
                    at += length;
                }
            }
            let mut shares = Shares::new();
            group.share(amounts.iter().copied(), &mut shares);
            let rounded = rounded(&shares);
            let counted: i64 = amounts.iter().take(spans.len()).sum();
            prop_assert_eq!(rounded.iter().sum::<i64>(), counted);
            let weights = naive(&spans, &cpus, &runs, &changes);
            for ((process, share), figure) in shares.iter().zip(&rounded) {
                let place = process.map_or(4, |process| process.index());
                let part = |(weights, amount): (&Vec<f64>, &i64)| {
                    *amount as f64 * weights[place] / weights.iter().sum::<f64>()
                };
                let expected: f64 = weights.iter().zip(&amounts).map(part).sum();
                prop_assert!((*figure as f64 - expected).abs() <= 1.001 + expected * 1e-9, "{} {}", figure, expected);
                prop_assert!(share.time >= 0);
            }
            // Time is that of all CPUs.
            let time: i64 = shares.values().map(|share| share.time).sum();
            prop_assert_eq!(time, spans.iter().map(|span| span.length()).sum::<i64>() * cpus.len() as i64);
        }

        #[test]
        fn no_input_makes_it_fail(
            amount in 0..=i64::MAX,
            khz in any::<i64>(),
            times in prop::array::uniform4(any::<i64>()),
            weight in any::<i64>(),
        ) {
            let rates = Rates::of([(0, i64::MIN, khz, None)].into_iter(), None);
            let spans = [Span::new(times[0], times[1])];
            let mut group = Group::new(Cpus::All(vec![0]), &spans, &rates);
            let run = Work::Run(Span::new(times[2], times[3]));
            for cpu in [Some(0), Some(7), None] {
                group.add(&rates, ProcessId(1), cpu, run);
                group.add(&rates, ProcessId(2), cpu, Work::Sample { time: times[2], weight });
            }
            let mut shares = Shares::new();
            group.share(std::iter::once(amount), &mut shares);
            prop_assert_eq!(rounded(&shares).iter().sum::<i64>(), amount);
        }
    }

    #[test]
    fn a_thread_on_an_unknown_cpu_has_the_mean_rate() {
        let rates = Rates::of([(0, 0, 1_000, None), (1, 0, 3_000, None)].into_iter(), None);
        let mut group = Group::new(Cpus::All(vec![0, 1]), &[Span::new(0, 10)], &rates);
        group.add(&rates, ProcessId(0), None, Work::Run(Span::new(0, 10)));
        let mut shares = Shares::new();
        group.share(std::iter::once(80), &mut shares);
        assert_eq!(rounded(&shares), [40, 40]);
        // Of some CPUs it is not known to be among them.
        let mut group = Group::new(Cpus::Some(vec![0]), &[Span::new(0, 10)], &rates);
        group.add(&rates, ProcessId(0), None, Work::Run(Span::new(0, 10)));
        assert!(group.done.is_empty());
    }
}
