//! Stays of CPUs in idle states, added up.

use std::collections::BTreeMap;

use tracesift_analysis::Span;

use crate::time_windows::TimeWindows;

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

impl Stays {
    /// The mean stay, ns.
    pub(super) fn average(self) -> i64 {
        self.time / self.count.max(1)
    }
}

/// The states of one CPU in a range of time.
#[derive(Clone, Debug, Default)]
pub(super) struct OfCpu {
    /// By state; `None` where the recording does not tell which.
    pub(super) states: BTreeMap<Option<i16>, Stays>,
    /// Time behind the first stay of which nothing is known.
    unknown: i64,
}

/// A CPU.
#[derive(Clone, Debug)]
struct Cpu {
    /// Start of the first stay, whatever the range: nothing is known before. `None`: there is no stay at all.
    first: Option<i64>,
    /// By range.
    parts: Vec<OfCpu>,
}

/// All CPUs, in ranges of time that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Residency {
    windows: TimeWindows,
    cpus: BTreeMap<i16, Cpu>,
}

impl Residency {
    /// Of ranges inside the recording.
    pub(super) fn new(windows: TimeWindows) -> Self {
        Self { windows, cpus: BTreeMap::new() }
    }

    /// Adds a stay, whether it touches a range or not.
    pub(super) fn add(&mut self, cpu: i16, state: Option<i16>, stay: Span) {
        let Self { windows, cpus } = self;
        let of_cpu = cpus.entry(cpu).or_insert_with(|| Cpu::new(windows));
        of_cpu.first = Some(of_cpu.first.map_or(stay.start, |first| first.min(stay.start)));
        for place in windows.touching(stay.start, stay.end) {
            let Some(cut) = stay.clip(windows.spans()[place]) else { continue };
            let stays = of_cpu.parts[place].states.entry(state).or_default();
            stays.time = stays.time.saturating_add(cut.length());
            stays.count += 1;
            stays.longest = stays.longest.max(cut.length());
        }
    }

    /// Adds time of which nothing is known, whether it touches a range or not. It overlaps no stay.
    pub(super) fn add_unknown(&mut self, cpu: i16, time: Span) {
        let Some(of_cpu) = self.cpus.get_mut(&cpu).filter(|of_cpu| of_cpu.first.is_some()) else { return };
        for place in self.windows.touching(time.start, time.end) {
            let cut = time.clip(self.windows.spans()[place]).map_or(0, Span::length);
            let unknown = &mut of_cpu.parts[place].unknown;
            *unknown = unknown.saturating_add(cut);
        }
    }

    /// Adds the CPUs of the machine: of those without a stay nothing is known.
    pub(super) fn add_cpus(&mut self, count: u32) {
        // More CPUs only a forged recording has.
        let count = i16::try_from(count).unwrap_or(0).min(4096);
        let Self { windows, cpus } = self;
        (0..count).for_each(|cpu| {
            cpus.entry(cpu).or_insert_with(|| Cpu::new(windows));
        });
    }

    /// Each range.
    pub(super) fn ranges(&self) -> impl Iterator<Item = InRange<'_>> {
        let spans = self.windows.spans().iter().enumerate();
        spans.map(|(place, range)| InRange { residency: self, place, range: *range })
    }
}

impl Cpu {
    fn new(windows: &TimeWindows) -> Self {
        Self { first: None, parts: vec![OfCpu::default(); windows.spans().len()] }
    }
}

/// All CPUs in one range.
#[derive(Clone, Copy, Debug)]
pub(super) struct InRange<'a> {
    residency: &'a Residency,
    place: usize,
    range: Span,
}

/// A CPU in one range.
#[derive(Clone, Copy, Debug)]
pub(super) struct CpuInRange<'a> {
    pub(super) number: i16,
    cpu: &'a Cpu,
    of_range: &'a OfCpu,
    range: Span,
}

impl<'a> InRange<'a> {
    /// The CPUs in their order.
    pub(super) fn cpus(self) -> impl Iterator<Item = CpuInRange<'a>> {
        let of_range = move |(number, cpu): (&i16, &'a Cpu)| CpuInRange {
            number: *number,
            cpu,
            of_range: &cpu.parts[self.place],
            range: self.range,
        };
        self.residency.cpus.iter().map(of_range)
    }
}

impl<'a> CpuInRange<'a> {
    /// Length of the range, ns.
    pub(super) fn length(self) -> i64 {
        self.range.length()
    }

    /// The states.
    pub(super) fn states(self) -> impl Iterator<Item = (Option<i16>, Stays)> + 'a {
        self.of_range.states.iter().map(|(state, stays)| (*state, *stays))
    }

    /// Time in the range outside of idle states, and time of which nothing is known.
    pub(super) fn rest(self) -> (i64, i64) {
        let end = self.range.end.max(self.range.start);
        let known = Span::new(self.cpu.first.unwrap_or(i64::MAX).max(self.range.start), end);
        let known = if known.is_empty() { 0 } else { known.length() - self.of_range.unknown };
        let idle = self.states().fold(0_i64, |sum, (_, stays)| sum.saturating_add(stays.time));
        ((known - idle).max(0), self.range.length() - known)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracesift_grammar::TimeRange;

    use super::*;

    proptest! {
        #[test]
        fn residencies_are_those_of_single_nanoseconds(
            lengths in prop::collection::vec((1_i64..9, 1_i64..9, 0_i16..3, 0_i64..3), 0..12),
            start in 0_i64..60,
            ranges in prop::collection::vec(1_i64..60, 1..4),
        ) {
            let mut end = start;
            let ranges: Vec<TimeRange> = ranges.iter().map(|length| {
                let from = end;
                end += length;
                TimeRange { start: Some(from), end: Some(end) }
            }).collect();
            let mut residency = Residency::new(TimeWindows::of(&ranges));
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
            for in_range in residency.ranges() {
                let range = in_range.range;
                let count = |wanted: Option<i16>| {
                    let is_known = |at: &i64| *at >= first && !lost.contains(at);
                    let is_wanted = |at: &i64| is_known(at) && naive.get(at).copied() == wanted;
                    (range.start..range.end).filter(is_wanted).count() as i64
                };
                let of_cpu = in_range.cpus().next().expect("a CPU");
                for state in 0..3 {
                    let time = of_cpu.of_range.states.get(&Some(state)).map_or(0, |stays| stays.time);
                    prop_assert_eq!(time, count(Some(state)));
                }
                let unknown = (range.start..range.end).filter(|at| *at < first || lost.contains(at)).count() as i64;
                prop_assert_eq!(of_cpu.rest(), (count(None), unknown));
            }
        }
    }
}
