//! Clock rates of CPUs that were in force.

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::{CpuFrequencyRow, CpuRow};

/// Clock rates of CPUs. The last one holds until the next one; before the first one nothing is known.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// By CPU: the changes in the order of time.
    changes: FxHashMap<i16, Vec<Change>>,
    nominal: FxHashMap<i16, i64>,
    /// By CPU: the highest rate that it can have; the nominal rate where that is not known.
    highest: FxHashMap<i16, i64>,
}

/// What holds from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    time: i64,
    /// The rate, kHz.
    pub(crate) khz: i64,
    /// The highest rate that the CPU may have, kHz.
    pub(crate) most: Option<i64>,
}

/// A row about the clock rate of a CPU.
#[derive(Clone, Copy, Debug)]
struct Told {
    time: i64,
    khz: i64,
    most: Option<i64>,
    /// The rate is the mean of so much time before.
    span: Option<i64>,
}

/// What holds when. A mean rate holds from the start of the time that it is of. Where the processor counts its rates, the rates that the
/// system asks for do not count. Several changes of one instant keep their order: the last one counts.
fn changes(told: &[Told]) -> Vec<Change> {
    let is_counted = told.iter().any(|row| row.span.is_some());
    let mut events: Vec<Event> = Vec::with_capacity(told.len());
    for row in told {
        let begin = row.time.saturating_sub(row.span.unwrap_or(0));
        if row.span.is_some() == is_counted {
            events.push(Event { time: begin, khz: Some(row.khz), limit: None });
        }
        events.push(Event { time: row.time, khz: None, limit: Some(Limit(row.most)) });
    }
    events.sort_by_key(|event| event.time);
    let mut changes: Vec<Change> = Vec::with_capacity(events.len());
    let (mut khz, mut most) = (None, None);
    for event in events {
        let before = (khz, most);
        (khz, most) = (event.khz.or(khz), event.limit.map_or(most, |Limit(limit)| limit));
        let Some(khz) = khz.filter(|_| before != (khz, most)) else { continue };
        let change = Change { time: event.time, khz, most };
        match changes.last_mut().filter(|last| last.time == event.time) {
            Some(last) => *last = change,
            None => changes.push(change),
        }
    }
    changes
}

/// The beginning of a rate, or of a limit.
struct Event {
    time: i64,
    khz: Option<i64>,
    limit: Option<Limit>,
}

/// The highest rate that a CPU may have, where it is known.
#[derive(Clone, Copy)]
struct Limit(Option<i64>);

impl Rates {
    pub(crate) fn read(archive: &Archive, cpus: &[CpuRow]) -> Result<Self, Error> {
        let nominal = cpus.iter().filter_map(|row| Some((row.cpu, row.nominal_khz.filter(|khz| *khz > 0)?)));
        let highest = cpus.iter().filter_map(|row| {
            let khz = row.max_khz.or(row.nominal_khz).filter(|khz| *khz > 0)?;
            Some((row.cpu, khz))
        });
        let mut told: FxHashMap<i16, Vec<Told>> = FxHashMap::default();
        archive.scan(None, |row: &CpuFrequencyRow| {
            let span = row.span.map(|span| span.max(0));
            told.entry(row.cpu).or_default().push(Told { time: row.time, khz: row.khz, most: row.max_khz, span });
        })?;
        let changes = told.into_iter().map(|(cpu, told)| (cpu, changes(&told))).collect();
        Ok(Self { changes, nominal: nominal.collect(), highest: highest.collect() })
    }

    /// Whether no rate of any CPU is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The nominal rate of a CPU, kHz.
    pub(crate) fn nominal(&self, cpu: i16) -> Option<i64> {
        self.nominal.get(&cpu).copied()
    }

    /// The rate of a CPU at an instant, kHz.
    pub(crate) fn khz(&self, cpu: i16, time: i64) -> Option<i64> {
        let changes = self.changes.get(&cpu)?;
        let past = changes.partition_point(|change| change.time <= time);
        Some(changes.get(past.checked_sub(1)?)?.khz)
    }

    /// The first change of a CPU: from then on its rate is known.
    pub(crate) fn known_since(&self, cpu: i16) -> Option<i64> {
        self.changes.get(&cpu)?.first().map(|change| change.time)
    }

    /// The parts of a range in which a CPU was not allowed to have its highest rate. `None`: no limit is known in the range, or not
    /// what the highest rate is.
    pub(crate) fn limited(&self, cpu: i16, range: Span) -> Option<Vec<Span>> {
        let highest = *self.highest.get(&cpu)?;
        let known = self.during(cpu, range).filter_map(|(change, part)| Some((change.most?, part)));
        let known: Vec<(i64, Span)> = known.filter(|(_, part)| !part.is_empty()).collect();
        let limited = known.iter().filter(|(most, _)| *most < highest).map(|(_, part)| *part);
        (!known.is_empty()).then(|| limited.collect())
    }

    /// The rates in force during a span, with the parts of the span.
    pub(crate) fn during(&self, cpu: i16, span: Span) -> impl Iterator<Item = (Change, Span)> {
        let changes = self.changes.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = changes.partition_point(|change| change.time <= span.start).saturating_sub(1);
        changes[first..].iter().enumerate().map_while(move |(index, change)| {
            let end = changes.get(first + index + 1).map_or(i64::MAX, |next| next.time);
            let part = Span { start: change.time.max(span.start), end: end.min(span.end) };
            (change.time < span.end).then_some((*change, part))
        })
    }
}

#[cfg(test)]
impl Rates {
    /// Of changes: CPU, time, rate and limit, those of a CPU in the order of time.
    pub(crate) fn of(told: impl Iterator<Item = (i16, i64, i64, Option<i64>)>, nominal: Option<(i16, i64)>) -> Self {
        let mut by_cpu: FxHashMap<i16, Vec<Told>> = FxHashMap::default();
        for (cpu, time, khz, most) in told {
            by_cpu.entry(cpu).or_default().push(Told { time, khz, most, span: None });
        }
        let changes = by_cpu.into_iter().map(|(cpu, told)| (cpu, changes(&told))).collect();
        Self { changes, nominal: nominal.into_iter().collect(), highest: FxHashMap::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_rates_hold_in_the_time_that_they_are_of() {
        let told = |time, khz, most, span| Told { time, khz, most, span };
        let change = |time, khz, most| Change { time, khz, most };
        // The system asks for 9; the processor had 3 from 10 to 20, and 5 from 20 to 40.
        let rows = [
            told(0, 9, Some(9), None),
            told(20, 3, Some(9), Some(10)),
            told(30, 9, Some(4), None),
            told(40, 5, Some(4), Some(20)),
        ];
        let expected = [change(10, 3, Some(9)), change(20, 5, Some(9)), change(30, 5, Some(4))];
        assert_eq!(changes(&rows), expected);
        let mut rates = Rates::default();
        rates.changes.insert(1, changes(&rows));
        rates.highest.insert(1, 9);
        assert_eq!(rates.limited(1, Span::new(0, 50)), Some(vec![Span::new(30, 50)]));
        assert_eq!(rates.limited(1, Span::new(12, 25)), Some(Vec::new()));
        assert_eq!(rates.limited(1, Span::new(0, 10)), None);
        assert_eq!(rates.limited(2, Span::new(0, 50)), None);
    }
}
