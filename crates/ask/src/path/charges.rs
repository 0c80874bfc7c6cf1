//! The run time of a path sample by sample.
//!
//! Samples divide the run time of a group among its codes. Whoever wants more than codes, such as whole
//! stacks, gets the run time of each code divided among its samples: the pieces of a code add up to what the
//! account says of it.

use rustc_hash::FxHashSet;
use tracesift_analysis::path::{PathRuns, Share, divide};
use tracesift_trace::StackId;

use super::account::{Code, Key};
use super::witness::{Piece, Witness};

/// A sample on the path, or a run that counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) group: u32,
    pub(super) code: Code,
    pub(super) chain: u32,
    pub(super) time: i64,
    pub(super) weight: i64,
    pub(super) stack: Option<StackId>,
}

impl Hit {
    fn weight(&self) -> u64 {
        u64::try_from(self.weight).unwrap_or(0)
    }
}

/// The samples on a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Charges {
    hits: Vec<Hit>,
}

impl Charges {
    /// Adds a sample.
    pub(super) fn add(&mut self, hit: Hit) {
        self.hits.push(hit);
    }

    /// Gives the shares of groups and codes away, those of groups without samples run by run. `kinds` tells
    /// group and chain of runs.
    pub(super) fn give(
        mut self,
        shares: &[Share<u32, Code>],
        (runs, kinds): (&PathRuns, &[(u32, u32)]),
        key_of: impl Fn(u32, Option<Code>) -> Option<Key>,
        witness: &mut impl Witness,
    ) {
        self.hits.sort_by_key(|hit| (hit.group, hit.code));
        for same in self.hits.chunk_by(|a, b| (a.group, a.code) == (b.group, b.code)) {
            let Some(&Hit { group, code, .. }) = same.first() else { continue };
            let found = shares.binary_search_by_key(&(group, Some(code)), |share| (share.group, share.code));
            if let (Ok(place), Some(key)) = (found, key_of(group, Some(code))) {
                give(same, shares[place].run, |_| key, witness);
            }
        }
        let unsampled: FxHashSet<u32> =
            shares.iter().filter(|share| share.code.is_none()).map(|share| share.group).collect();
        for (span, kind) in runs.iter() {
            let kind = kinds.get(kind as usize).filter(|(group, _)| unsampled.contains(group));
            if let Some((key, chain)) = kind.and_then(|(group, chain)| Some((key_of(*group, None)?, *chain))) {
                witness.piece(&Piece { key, chain, time: span.start, length: span.length(), stack: None });
            }
        }
    }

    /// Gives each sample its weight, or where there is no room for all of them a part of it. Says how much
    /// was given.
    pub(super) fn give_weights(self, room: i64, key_of: impl Fn(Code) -> Key, witness: &mut impl Witness) -> i64 {
        let sum = self.hits.iter().fold(0_u64, |sum, hit| sum.saturating_add(hit.weight()));
        let given = i64::try_from(sum).unwrap_or(i64::MAX).min(room);
        give(&self.hits, given, key_of, witness);
        given
    }
}

/// Divides a time by the weights of samples.
fn give(hits: &[Hit], time: i64, key_of: impl Fn(Code) -> Key, witness: &mut impl Witness) {
    let weights: Vec<u64> = hits.iter().map(Hit::weight).collect();
    for (hit, length) in hits.iter().zip(divide(time, &weights).unwrap_or_default()) {
        let &Hit { code, chain, time, stack, .. } = hit;
        witness.piece(&Piece { key: key_of(code), chain, time, length, stack });
    }
}
