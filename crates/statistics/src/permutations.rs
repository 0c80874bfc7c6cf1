//! Labellings: which runs could have been called A and B.
//!
//! A labelling is a set of bits, one per run. All labellings of a comparison are made once; every figure is tested with
//! the same ones. The bits mark the *pivot*, the set that has the first run, so that a comparison of B with A draws the
//! same labellings as one of A with B.

use crate::design::{Design, Side};
use crate::random::SplitMix64;

/// All labellings are used if they are not more than this; else as many, the observed one among them.
pub const MAX_LABELLINGS: usize = 20_000;

/// The labellings with which figures are tested.
#[derive(Clone, Debug)]
pub struct Labellings {
    design: Design,
    /// The set that the bits mark.
    pivot: Side,
    words: usize,
    /// `words` per labelling, the lowest bit first. The first labelling is the observed one.
    bits: Vec<u64>,
    exhaustive: bool,
}

/// The runs of a group, and how many of them are the pivot's.
struct Group {
    positions: Vec<usize>,
    pivots: usize,
}

impl Labellings {
    /// All labellings that the groups of the design allow, if they are at most [`MAX_LABELLINGS`]. Else the observed one
    /// and random ones that `seed` determines; see [`seed_of`](crate::random::seed_of).
    #[must_use]
    pub fn new(design: Design, seed: u64) -> Self {
        let pivot = design.sides().first().copied().unwrap_or(Side::A);
        let groups = groups(&design, pivot);
        let words = design.runs().div_ceil(64);
        let count = groups.iter().try_fold(1, within_limit);
        let mut labellings = Self { design, pivot, words, bits: Vec::new(), exhaustive: count.is_some() };
        labellings.bits.reserve(count.unwrap_or(MAX_LABELLINGS) * words);
        labellings.push_observed();
        match count {
            Some(_) => labellings.push_all(&groups),
            None => labellings.push_random(&groups, seed),
        }
        labellings
    }

    /// The design that they belong to.
    #[must_use]
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Number of labellings, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bits.len() / self.words
    }

    /// Whether these are all labellings that there are.
    #[must_use]
    pub fn are_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// Whether both sets have two runs, and the labellings are enough for a two-sided p of `alpha`.
    #[must_use]
    pub fn can_decide(&self, alpha: f64) -> bool {
        let fewest = self.design.count(Side::A).min(self.design.count(Side::B));
        fewest >= 2 && 2.0 / self.count() as f64 <= alpha + 1e-12
    }

    /// +1 if the bits mark B, −1 if they mark A.
    pub(crate) fn sign(&self) -> f64 {
        if self.pivot == Side::B { 1.0 } else { -1.0 }
    }

    /// Number of runs of the pivot.
    pub(crate) fn pivots(&self) -> usize {
        self.design.count(self.pivot)
    }

    /// The bits of each labelling.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.bits.chunks_exact(self.words)
    }

    /// The mean over all labellings that the groups allow of the sum of the pivot's values.
    pub(crate) fn expected_sum(&self, values: &[f64]) -> f64 {
        let sums = groups(&self.design, self.pivot).into_iter().map(|group| {
            let sum: f64 = group.positions.iter().map(|&position| values[position]).sum();
            sum * group.pivots as f64 / group.positions.len() as f64
        });
        sums.sum()
    }

    fn push_observed(&mut self) {
        self.bits.resize(self.words, 0);
        for (position, &side) in self.design.sides().iter().enumerate() {
            if side == self.pivot {
                self.bits[position / 64] |= 1 << (position % 64);
            }
        }
    }

    /// Appends every labelling but the observed one, which is there.
    fn push_all(&mut self, groups: &[Group]) {
        // By group: the members that are the pivot's, ascending.
        let mut chosen: Vec<Vec<usize>> = groups.iter().map(|group| (0..group.pivots).collect()).collect();
        let mut labelling = vec![0; self.words];
        loop {
            labelling.fill(0);
            for (group, chosen) in groups.iter().zip(&chosen) {
                set_bits(&mut labelling, chosen.iter().map(|&member| group.positions[member]));
            }
            if labelling != self.bits[..self.words] {
                self.bits.extend_from_slice(&labelling);
            }
            // As an odometer: the first group that has a next combination takes it, those before it start anew.
            let advanced = groups.iter().zip(&mut chosen).any(|(group, chosen)| {
                let advanced = next_combination(chosen, group.positions.len());
                if !advanced {
                    chosen.iter_mut().enumerate().for_each(|(index, member)| *member = index);
                }
                advanced
            });
            if !advanced {
                return;
            }
        }
    }

    fn push_random(&mut self, groups: &[Group], seed: u64) {
        let mut random = SplitMix64::new(seed);
        let mut positions: Vec<Vec<usize>> = groups.iter().map(|group| group.positions.clone()).collect();
        for _ in 1..MAX_LABELLINGS {
            let start = self.bits.len();
            self.bits.resize(start + self.words, 0);
            for (group, positions) in groups.iter().zip(&mut positions) {
                for place in 0..group.pivots {
                    let rest = positions.len() - place;
                    positions.swap(place, place + random.below(rest as u64) as usize);
                }
                set_bits(&mut self.bits[start..], positions[..group.pivots].iter().copied());
            }
        }
    }
}

fn groups(design: &Design, pivot: Side) -> Vec<Group> {
    let pivots = |positions: &[usize]| positions.iter().filter(|&&position| design.sides()[position] == pivot).count();
    let group = |positions: Vec<usize>| Group { pivots: pivots(&positions), positions };
    design.members().into_iter().map(group).collect()
}

/// `all` times the number of combinations of the group; nothing above [`MAX_LABELLINGS`].
fn within_limit(all: usize, group: &Group) -> Option<usize> {
    let runs = group.positions.len();
    let fewer = group.pivots.min(runs - group.pivots);
    let mut combinations = 1usize;
    for taken in 1..=fewer {
        // C(runs − fewer + taken, taken), which grows with each step.
        combinations = combinations * (runs - fewer + taken) / taken;
        if combinations > MAX_LABELLINGS {
            return None;
        }
    }
    Some(all * combinations).filter(|&all| all <= MAX_LABELLINGS)
}

/// The next combination of numbers below `limit` in lexical order; false after the last.
fn next_combination(chosen: &mut [usize], limit: usize) -> bool {
    let count = chosen.len();
    let Some(place) = (0..count).rev().find(|&place| chosen[place] < limit - count + place) else { return false };
    chosen[place] += 1;
    for later in place + 1..count {
        chosen[later] = chosen[later - 1] + 1;
    }
    true
}

fn set_bits(labelling: &mut [u64], positions: impl Iterator<Item = usize>) {
    for position in positions {
        labelling[position / 64] |= 1 << (position % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::{Labellings, MAX_LABELLINGS};
    use crate::design::{Design, Side};
    use std::collections::BTreeSet;

    fn sides(text: &str) -> Vec<Side> {
        text.chars().map(|side| if side == 'A' { Side::A } else { Side::B }).collect()
    }

    fn labellings(text: &str) -> Labellings {
        Labellings::new(Design::in_order(&sides(text)).expect("two sets"), 1)
    }

    fn distinct(labellings: &Labellings) -> BTreeSet<Vec<u64>> {
        labellings.iter().map(<[u64]>::to_vec).collect()
    }

    #[test]
    fn all_combinations_each_once() {
        for (text, count) in [("AB", 2), ("AABB", 6), ("BABAB", 10), ("AAAAABBBBB", 252), ("BBBBBBBBBA", 10)] {
            let all = labellings(text);
            assert_eq!((all.count(), all.are_exhaustive(), distinct(&all).len()), (count, true, count), "{text}");
            let pivots = all.pivots() as u32;
            assert!(all.iter().all(|bits| bits[0].count_ones() == pivots && bits[0] < 1 << text.len()));
        }
    }

    #[test]
    fn groups_keep_their_composition() {
        let design = Design::in_order(&sides("ABABAABB")).expect("two sets");
        let design = design.with_blocks(&[7, 7, 3, 3, 9, 9, 9, 9]).expect("eight");
        let all = Labellings::new(design, 1);
        assert_eq!((all.count(), distinct(&all).len()), (2 * 2 * 6, 24));
        for bits in all.iter() {
            let ones = [bits[0] & 3, bits[0] >> 2 & 3, bits[0] >> 4].map(u64::count_ones);
            assert_eq!(ones, [1, 1, 2]);
        }
    }

    #[test]
    fn random_ones_beyond_the_limit() {
        let many = labellings(&"AB".repeat(40));
        assert_eq!((many.count(), many.are_exhaustive()), (MAX_LABELLINGS, false));
        assert!(many.iter().all(|bits| bits.iter().map(|word| word.count_ones()).sum::<u32>() == 40));
        assert!(distinct(&many).len() > MAX_LABELLINGS - 5);
        // Each run is as often A as B.
        for position in 0..80 {
            let marked = many.iter().filter(|bits| bits[position / 64] >> (position % 64) & 1 == 1).count();
            assert!(marked.abs_diff(10_000) < 350, "{position}: {marked}");
        }
    }

    #[test]
    fn exchanged_sets_draw_the_same() {
        let (one, other) = (labellings(&"AAB".repeat(10)), labellings(&"BBA".repeat(10)));
        assert_eq!(one.bits, other.bits);
        assert_eq!(one.sign(), -other.sign());
    }
}
