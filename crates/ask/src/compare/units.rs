//! What repeats in a comparison: a run, or a session whose runs belong to one set. Labels are exchanged between these.

use std::collections::BTreeMap;

use tracesift_statistics::order::{Order, means_by, sessions};
use tracesift_statistics::{Design, Labellings, Problem, Side, seed_of};

use super::Settings;
use super::run::Run;

/// If so many of all pairs of runs have the run of the same set first, that set counts as recorded before the other.
const MOST_IN_ONE_ORDER: f64 = 0.85;

/// A longer pause between two runs, in units of 100 ns, begins another session: an hour.
const PAUSE: i64 = 36_000_000_000;

/// The order in which the runs of two sets were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// Both sets alternate.
    Interleaved,
    /// In turn, but too seldom for blocks of both sets.
    Mixed,
    /// Each session has runs of one set, and each set has three sessions or more: the session repeats, not the run.
    Sessions,
    /// One set after the other.
    OneAfterOther,
    /// Nothing tells when some of the runs were recorded.
    Unknown,
}

impl RunOrder {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Interleaved => "interleaved",
            Self::Mixed => "mixed",
            Self::Sessions => "sessions",
            Self::OneAfterOther => "one-after-other",
            Self::Unknown => "unknown",
        }
    }
}

/// The units of a comparison.
#[derive(Debug)]
pub(crate) struct Units {
    /// The order of the runs.
    pub(super) order: RunOrder,
    /// Whether all runs of one set are older than those of the other, or nearly so.
    pub(super) is_one_after_other: bool,
    /// Whether values are compared within machines.
    pub(super) has_machines: bool,
    /// Units of the first set, which stand before those of the second.
    pub(super) split: usize,
    /// The labellings of the units.
    pub(super) labellings: Labellings,
    /// The unit of each run.
    of_run: Vec<usize>,
}

impl Units {
    /// Those of runs of which the ones before `split` are the first set.
    pub(crate) fn of(runs: &[Run], split: usize, settings: &Settings) -> Result<Self, Problem> {
        let side = |place: usize| if place < split { Side::A } else { Side::B };
        let mut by_time: Vec<usize> = (0..runs.len()).collect();
        by_time.sort_by_key(|place| runs[*place].order());
        let sides: Vec<Side> = by_time.iter().map(|place| side(*place)).collect();
        let times: Vec<i64> = by_time.iter().map(|place| runs[*place].time).collect();
        let is_known = times.iter().all(|time| *time != 0);
        let is_one_after_other = is_known && are_in_one_order(&sides);
        let mut of_run: Vec<usize> = (0..runs.len()).collect();
        let mut blocks = None;
        let order = match Order::of(&sides, &sessions(&times, PAUSE)) {
            _ if !is_known => RunOrder::Unknown,
            Order::Interleaved(of_place) => {
                let mut of_unit = vec![0; runs.len()];
                by_time.iter().zip(of_place).for_each(|(place, block)| of_unit[*place] = block);
                blocks = Some(of_unit);
                RunOrder::Interleaved
            }
            Order::Sessions => {
                of_run = by_session(&by_time, &sessions(&times, PAUSE), split);
                RunOrder::Sessions
            }
            Order::OneAfterOther if is_one_after_other => RunOrder::OneAfterOther,
            Order::OneAfterOther => RunOrder::Mixed,
        };
        // The first run of a unit stands for it.
        let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
        (0..runs.len()).for_each(|place| {
            firsts.entry(of_run[place]).or_insert(place);
        });
        let sides: Vec<Side> = firsts.values().map(|place| side(*place)).collect();
        let ids: Vec<&str> = firsts.values().map(|place| runs[*place].id.as_str()).collect();
        let machines = machines(runs, split).filter(|_| order != RunOrder::Sessions);
        let mut design = Design::new(&ids, &sides)?;
        if let Some(blocks) = &blocks {
            design = design.with_blocks(blocks)?;
        }
        if let Some(machines) = &machines {
            design = design.with_strata(machines)?;
        }
        let seed = settings.seed.unwrap_or_else(|| seed_of(&ids));
        Ok(Self {
            order,
            is_one_after_other,
            has_machines: machines.is_some(),
            split: sides.iter().filter(|side| **side == Side::A).count(),
            labellings: Labellings::new(design, seed),
            of_run,
        })
    }

    /// The number of units of the smaller set.
    pub(super) fn fewest(&self) -> usize {
        let count = self.of_run.iter().max().map_or(0, |last| last + 1);
        self.split.min(count.saturating_sub(self.split))
    }

    /// The value of each unit: the mean of its runs.
    pub(super) fn means(&self, of_runs: &[f64]) -> Vec<f64> {
        means_by(&self.of_run, of_runs).into_iter().map(|(_, mean)| mean).collect()
    }
}

/// By run: the number of its session, those of the first set before those of the second.
fn by_session(by_time: &[usize], sessions: &[usize], split: usize) -> Vec<usize> {
    let mut of_run = vec![0; by_time.len()];
    by_time.iter().zip(sessions).for_each(|(place, session)| of_run[*place] = *session);
    let mut numbers: BTreeMap<(bool, usize), usize> = BTreeMap::new();
    for (place, session) in of_run.iter().enumerate() {
        numbers.insert((place >= split, *session), 0);
    }
    (0..).zip(numbers.values_mut()).for_each(|(next, number)| *number = next);
    (0..of_run.len()).map(|place| numbers.get(&(place >= split, of_run[place])).copied().unwrap_or(0)).collect()
}

/// By run: a number of its machine, where there are several and each has runs of both sets.
fn machines(runs: &[Run], split: usize) -> Option<Vec<usize>> {
    let name = |run: &Run| run.facts.get("machine").cloned().unwrap_or_default();
    let mut found: BTreeMap<String, [bool; 2]> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        found.entry(name(run)).or_default()[usize::from(place >= split)] = true;
    }
    let are_in_both = found.len() > 1 && found.values().all(|is_in| *is_in == [true, true]);
    let number = |run: &Run| found.keys().position(|machine| *machine == name(run)).unwrap_or(0);
    are_in_both.then(|| runs.iter().map(number).collect())
}

/// Whether one set is older than the other, or nearly so.
fn are_in_one_order(sides: &[Side]) -> bool {
    let (mut of_a, mut pairs) = (0_usize, 0_usize);
    for side in sides {
        match side {
            Side::A => of_a += 1,
            Side::B => pairs += of_a,
        }
    }
    let all = of_a * (sides.len() - of_a);
    let share = pairs as f64 / all.max(1) as f64;
    share.max(1.0 - share) >= MOST_IN_ONE_ORDER
}

#[cfg(test)]
mod tests {
    use super::{Side, are_in_one_order};

    #[test]
    fn sets_that_were_recorded_in_turn_are_in_no_order() {
        let sides = |text: &str| text.chars().map(|set| if set == 'a' { Side::A } else { Side::B }).collect::<Vec<_>>();
        for in_turn in ["abab", "abba", "aaabaa", "aababb".repeat(2).as_str(), "bababa"] {
            assert!(!are_in_one_order(&sides(in_turn)), "{in_turn}");
        }
        for in_order in ["ab", "aabb", "bbbaaa", "aaabaabbbb"] {
            assert!(are_in_one_order(&sides(in_order)), "{in_order}");
        }
    }
}
