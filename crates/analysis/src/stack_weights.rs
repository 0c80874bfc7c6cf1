//! Time per owner and stack, the input of call trees, flame graphs and profiles for other tools.
//!
//! It is one measure as a plain sum, so that each picture adds up to the time of the process.
//! Memory grows with the distinct stacks of the processes, and not with the events.

use rustc_hash::FxHashMap;
use tracesift_trace::ThreadId;

use crate::RecordingFacts;
use crate::attribution::Attribution;
use crate::contribution::{Amount, Contribution};
use crate::owner::Owner;
use crate::process_number::ProcessNumber;
use crate::row_contributions::{AttributedSwitch, ChargedSample, RowContributions};
use crate::spans::Span;
use crate::times::{TimesOfThreads, touching};

/// What is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// CPU, from samples.
    #[default]
    Cpu,
    /// Waits, charged to the stack with which the thread left the CPU.
    Wait,
    /// Ready spans, charged to the same stack.
    Ready,
}

/// An amount and the number of what it was added up from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// Nanoseconds; of other measures bytes or a number.
    pub amount: i64,
    /// Samples or spans. A span may be of no time: a thread that was readied at once has waited.
    pub count: i64,
}

impl Weight {
    /// Adds another one.
    pub fn add(&mut self, more: Self) {
        self.amount = self.amount.saturating_add(more.amount);
        self.count = self.count.saturating_add(more.count);
    }
}

/// What one owner has in one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackWeight<O> {
    /// Who has it.
    pub owner: O,
    /// The stack.
    pub attribution: Attribution,
    /// How much.
    pub weight: Weight,
}

/// Adds up samples or switches per owner and stack.
///
/// Samples may come in any order. Switch rows must come newest first, in descending order of the table.
#[derive(Debug)]
pub struct StackWeights<O> {
    measure: Measure,
    rows: RowContributions<O>,
    /// The times that count; `None`: all of the range.
    times: Option<TimesOfThreads>,
    weights: FxHashMap<(ProcessNumber, Attribution), Weight>,
}

impl<O: Owner> StackWeights<O> {
    /// Adds up one measure over `range` ([`Span::ALL`] for everything). `threads` tells whose each thread is that switches.
    #[must_use]
    pub fn new(
        recording: &RecordingFacts,
        range: Span,
        threads: impl IntoIterator<Item = (ThreadId, O)>,
        measure: Measure,
    ) -> Self {
        let rows = RowContributions::of_owners(recording, range, threads);
        Self { measure, rows, times: None, weights: FxHashMap::default() }
    }

    /// Counts nothing of switches but what lies in these times, which lie in the range. What they cut apart counts once for each part.
    /// Which samples count is up to who gives them.
    #[must_use]
    pub fn inside(self, times: TimesOfThreads) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Takes a sample; it counts for CPU only.
    pub fn sample(&mut self, owner: O, row: impl Into<ChargedSample>) {
        let row = &row.into();
        if self.measure == Measure::Cpu
            && let Some(contribution) = self.rows.sample(owner, row)
        {
            let weight = Weight { amount: row.weight, count: 1 };
            self.weights.entry((contribution.process, contribution.attribution)).or_default().add(weight);
        }
    }

    /// Takes a switch row; it counts for wait and ready only.
    pub fn switch(&mut self, row: impl Into<AttributedSwitch>) {
        let row = &row.into();
        let Self { measure, rows, times, weights } = self;
        let Some(times) = times else {
            rows.switch(row).into_iter().for_each(|contribution| add(*measure, weights, contribution));
            return;
        };
        let Some(process) = rows.accept(row) else { return };
        for time in touching(times.of(row.thread), row.off_time.min(row.time), row.time) {
            let part = rows.part((process, row), *time, row.time);
            part.into_iter().for_each(|contribution| add(*measure, weights, contribution));
        }
    }

    /// The sums, by owner and stack.
    #[must_use]
    pub fn finish(self) -> Vec<StackWeight<O>> {
        let owners = self.rows.into_processes();
        let mut weights: Vec<StackWeight<O>> = self
            .weights
            .into_iter()
            .filter_map(|((number, attribution), weight)| {
                let owner = *owners.get(number.0 as usize)?;
                Some(StackWeight { owner, attribution, weight })
            })
            .collect();
        weights.sort_unstable_by_key(|row| (row.owner, row.attribution));
        weights
    }
}

/// Adds what a switch has of a measure.
fn add(measure: Measure, weights: &mut FxHashMap<(ProcessNumber, Attribution), Weight>, contribution: Contribution) {
    let span = match (contribution.amount, measure) {
        (Amount::Switch { wait, .. }, Measure::Wait) => wait,
        (Amount::Switch { ready, .. }, Measure::Ready) => ready,
        _ => None,
    };
    if let Some(span) = span {
        let weight = Weight { amount: span.length(), count: 1 };
        weights.entry((contribution.process, contribution.attribution)).or_default().add(weight);
    }
}
