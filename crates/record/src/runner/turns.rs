//! Whose turn it is. Repetitions of a case do not follow each other: a machine that becomes slower with time would make the last case
//! the slowest one.

use super::case::Case;
use super::state::{Kind, State};

/// The runs that are left, in order: each case once with a recorder and once without, then each once more, the other way round: what
/// the first leaves behind, such as dirty pages, is the second one's burden.
pub(super) fn left<'a>(cases: &'a [Case], state: &State) -> Vec<(&'a Case, Kind)> {
    let mut left = Vec::new();
    let wanted = |case: &Case, kind: Kind| match kind {
        Kind::Recorded => case.repetitions,
        Kind::Bare => case.overhead,
    };
    let most = cases.iter().map(|case| case.repetitions.max(case.overhead)).max().unwrap_or(0);
    let done = |case: &Case, kind: Kind| u32::try_from(state.runs_of(case, kind).count()).unwrap_or(u32::MAX);
    let done: Vec<[u32; 2]> = cases.iter().map(|case| [done(case, Kind::Recorded), done(case, Kind::Bare)]).collect();
    for turn in 0..most {
        for (case, done) in cases.iter().zip(&done) {
            let mut pair = [(Kind::Recorded, done[0]), (Kind::Bare, done[1])];
            if turn % 2 == 1 {
                pair.reverse();
            }
            let is_left = |(kind, done): &(Kind, u32)| (*done..wanted(case, *kind)).contains(&turn);
            left.extend(pair.into_iter().filter(is_left).map(|(kind, _)| (case, kind)));
        }
    }
    left
}
