//! Stays of CPUs in idle states, added up.

use std::collections::BTreeMap;

use tracesift_analysis::Span;

/// The stays in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stays {
    /// Time, ns.
    pub(super) time: i64,
    /// Number of stays that touch the range.
    pub(super) count: i64,
    /// The longest one, cut to the range.
    pub(super) longest: i64,
}

/// The states of one CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct OfCpu {
    /// By state; `None` where the recording does not tell which.
    pub(super) states: BTreeMap<Option<i16>, Stays>,
    /// Start of the first stay, whatever the range: nothing is known before.
    first: Option<i64>,
    /// Time in the range, behind the first stay, of which nothing is known either.
    unknown: i64,
}

/// All CPUs, in a range of time.
#[derive(Clone, Debug)]
pub(super) struct Residency {
    range: Span,
    pub(super) cpus: BTreeMap<i16, OfCpu>,
}

impl Residency {
    /// Of a range inside the recording.
    pub(super) fn new(range: Span) -> Self {
        Self { range, cpus: BTreeMap::new() }
    }

    /// Adds a stay, whether it touches the range or not.
    pub(super) fn add(&mut self, cpu: i16, state: Option<i16>, stay: Span) {
        let of_cpu = self.cpus.entry(cpu).or_default();
        of_cpu.first = Some(of_cpu.first.map_or(stay.start, |first| first.min(stay.start)));
        let Some(cut) = stay.clip(self.range) else { return };
        let stays = of_cpu.states.entry(state).or_default();
        stays.time = stays.time.saturating_add(cut.length());
        stays.count += 1;
        stays.longest = stays.longest.max(cut.length());
    }

    /// Adds time of which nothing is known, whether it touches the range or not. It overlaps no stay.
    pub(super) fn add_unknown(&mut self, cpu: i16, time: Span) {
        let Some(of_cpu) = self.cpus.get_mut(&cpu).filter(|of_cpu| of_cpu.first.is_some()) else { return };
        let cut = time.clip(self.range).map_or(0, Span::length);
        of_cpu.unknown = of_cpu.unknown.saturating_add(cut);
    }

    /// Adds the CPUs of the machine: of those without a stay nothing is known.
    pub(super) fn add_cpus(&mut self, count: u32) {
        // More CPUs only a forged recording has.
        let count = i16::try_from(count).unwrap_or(0).min(4096);
        (0..count).for_each(|cpu| {
            self.cpus.entry(cpu).or_default();
        });
    }

    /// Length of the range, ns.
    pub(super) fn length(&self) -> i64 {
        self.range.length()
    }

    /// Time of a CPU in the range outside of idle states, and time of which nothing is known.
    pub(super) fn rest(&self, of_cpu: &OfCpu) -> (i64, i64) {
        let known =
            Span::new(of_cpu.first.unwrap_or(i64::MAX).max(self.range.start), self.range.end.max(self.range.start));
        let known = if known.is_empty() { 0 } else { known.length() - of_cpu.unknown };
        let idle = of_cpu.states.values().fold(0_i64, |sum, stays| sum.saturating_add(stays.time));
        ((known - idle).max(0), self.range.length() - known)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn residencies_are_those_of_single_nanoseconds(
            lengths in prop::collection::vec((1_i64..9, 1_i64..9, 0_i16..3, 0_i64..3), 0..12),
            range in (0_i64..60, 1_i64..60),
        ) {
            let range = Span { start: range.0, end: range.0 + range.1 };
            let mut residency = Residency::new(range);
            let mut naive: BTreeMap<i64, i16> = BTreeMap::new();
            let (mut now, mut first) = (0, None);
            let mut lost = std::collections::BTreeSet::new();
            for (busy, idle, state, unknown) in lengths {
                let stay = Span { start: now + busy, end: now + busy + idle };
                residency.add(3, Some(state), stay);
                first = first.or(Some(stay.start));
                naive.extend((stay.start..stay.end).map(|instant| (instant, state)));
                now = stay.end + unknown;
                residency.add_unknown(3, Span { start: stay.end, end: now });
                lost.extend(stay.end..now);
            }
            let Some(first) = first else { return Ok(()) };
            let of_cpu = &residency.cpus[&3];
            let count = |wanted: Option<i16>| {
                let is_known = |at: &i64| *at >= first && !lost.contains(at);
                let is_wanted = |at: &i64| is_known(at) && naive.get(at).copied() == wanted;
                (range.start..range.end).filter(is_wanted).count() as i64
            };
            for state in 0..3 {
                let time = of_cpu.states.get(&Some(state)).map_or(0, |stays| stays.time);
                prop_assert_eq!(time, count(Some(state)));
            }
            let unknown = (range.start..range.end).filter(|at| *at < first || lost.contains(at)).count() as i64;
            prop_assert_eq!(residency.rest(of_cpu), (count(None), unknown));
        }
    }
}
