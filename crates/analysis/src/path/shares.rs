//! Which code the run time of a path was: exact lengths from switches, shares from samples.
//!
//! A run on the path often lasts some microseconds, and most of them have no sample. So run time and samples meet in groups
//! only, such as the runs of one thread for one wait of the anchor: the run time of a group is exact, and the samples of the
//! group divide it. Parts of a nanosecond go to those codes that miss most of one, so that the codes of a group add up to its
//! run time.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The run time of one code in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share<G, C> {
    /// The group.
    pub group: G,
    /// The code; `None` in a group without samples: which code ran there is not known.
    pub code: Option<C>,
    /// Its run time, ns.
    pub run: i64,
    /// The samples that hit it.
    pub samples: u64,
}

/// Divides run time among codes.
#[derive(Clone, Debug)]
pub struct Shares<G, C> {
    groups: FxHashMap<G, Group<C>>,
}

#[derive(Clone, Debug)]
struct Group<C> {
    run: i64,
    codes: FxHashMap<C, Code>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Code {
    weight: u64,
    samples: u64,
}

impl<G, C> Default for Shares<G, C> {
    fn default() -> Self {
        Self { groups: FxHashMap::default() }
    }
}

impl<G: Copy + Eq + Hash + Ord, C: Copy + Eq + Hash + Ord> Shares<G, C> {
    /// Adds run time of a group, ns.
    pub fn run(&mut self, group: G, length: i64) {
        let run = &mut self.group(group).run;
        *run = run.saturating_add(length.max(0));
    }

    /// Adds a sample of this weight that hit a code in a run of a group.
    pub fn sample(&mut self, group: G, code: C, weight: i64) {
        let code = self.group(group).codes.entry(code).or_default();
        code.weight = code.weight.saturating_add(u64::try_from(weight).unwrap_or(0));
        code.samples += 1;
    }

    /// The shares by group and code. Those of a group add up to its run time.
    #[must_use]
    pub fn finish(self) -> Vec<Share<G, C>> {
        let mut shares = Vec::new();
        for (group, Group { run, codes }) in self.groups {
            let mut codes: Vec<(C, Code)> = codes.into_iter().collect();
            codes.sort_unstable_by_key(|(code, _)| *code);
            let weights: Vec<u64> = codes.iter().map(|(_, code)| code.weight).collect();
            match divide(run, &weights) {
                Some(parts) => {
                    shares.extend(codes.iter().zip(parts).map(|(&(code, Code { samples, .. }), run)| Share {
                        group,
                        code: Some(code),
                        run,
                        samples,
                    }))
                }
                None => {
                    let samples = codes.iter().map(|(_, code)| code.samples).sum();
                    shares.push(Share { group, code: None, run, samples });
                }
            }
        }
        shares.sort_unstable_by_key(|share| (share.group, share.code));
        shares
    }

    fn group(&mut self, group: G) -> &mut Group<C> {
        self.groups.entry(group).or_insert_with(|| Group { run: 0, codes: FxHashMap::default() })
    }
}

/// Divides a total by weights into whole numbers that add up to it, by largest remainders; of equal ones the first are rounded
/// up. `None` if nothing has a weight.
#[must_use]
pub fn divide(total: i64, weights: &[u64]) -> Option<Vec<i64>> {
    let sum: u128 = weights.iter().copied().map(u128::from).sum();
    if sum == 0 {
        return None;
    }
    let total = u64::try_from(total).unwrap_or(0);
    let products = weights.iter().map(|weight| u128::from(total) * u128::from(*weight));
    let mut parts: Vec<(u64, u128)> = products.map(|product| (whole(product / sum), product % sum)).collect();
    let left = total - parts.iter().map(|(part, _)| part).sum::<u64>();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(parts[*place].1));
    // Each part misses less than one, so that fewer are left than there are parts.
    for place in order.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        parts[place].0 += 1;
    }
    Some(parts.into_iter().map(|(part, _)| i64::try_from(part).unwrap_or(i64::MAX)).collect())
}

/// A part is never more than the total, which fits.
fn whole(part: u128) -> u64 {
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Share, Shares, divide};

    #[test]
    fn the_samples_of_a_group_divide_its_run_time() {
        let mut shares = Shares::default();
        for (group, length) in [("main", 60), ("main", 40), ("worker", 7), ("device", 5)] {
            shares.run(group, length);
        }
        for (group, code, weight) in
            [("main", 'a', 1_000), ("main", 'b', 1_000), ("main", 'c', 500), ("main", 'c', 500), ("device", 'd', 0)]
        {
            shares.sample(group, code, weight);
        }
        let share = |group, code, run, samples| Share { group, code, run, samples };
        // Three times a third of 100: the first of equal remainders is rounded up.
        let expected = [
            share("device", None, 5, 1),
            share("main", Some('a'), 34, 1),
            share("main", Some('b'), 33, 1),
            share("main", Some('c'), 33, 2),
            share("worker", None, 7, 0),
        ];
        assert_eq!(shares.finish(), expected);
    }

    proptest! {
        #[test]
        fn the_parts_add_up_and_miss_less_than_one(
            total in prop_oneof![0..1_000_i64, 0..=i64::MAX],
            weights in prop::collection::vec(prop_oneof![0..5_u64, 0..=u64::MAX], 0..20),
        ) {
            let sum: u128 = weights.iter().copied().map(u128::from).sum();
            let Some(parts) = divide(total, &weights) else {
                prop_assert_eq!(sum, 0);
                return Ok(());
            };
            prop_assert_eq!(parts.iter().sum::<i64>(), total);
            for (part, weight) in parts.iter().zip(&weights) {
                let exact = u128::try_from(total).expect("not negative") * u128::from(*weight);
                let off = (u128::try_from(*part).expect("not negative") * sum).abs_diff(exact);
                prop_assert!(off < sum);
            }
        }
    }
}
