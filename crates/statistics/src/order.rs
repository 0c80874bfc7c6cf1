//! The order of time: blocks of interleaved runs, sessions, and runs that depend on the one before.
//!
//! A machine drifts: it warms up, its disk fills, other work comes and goes. Where the runs of both sets alternate, drift
//! reaches both alike, and labels are permuted inside of short blocks. Where one set was recorded after the other, drift
//! is part of the difference, and no test can tell.

use crate::design::Side;
use crate::robust::rank_autocorrelation;

/// The order in which two sets were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Alternating. By run, in the order of time: the number of its block, for
    /// [`Design::with_blocks`](crate::design::Design::with_blocks).
    Interleaved(Vec<usize>),
    /// Each session has runs of one set, and each set has three sessions: the session, not the run, is what repeats. Its
    /// mean is its value; see [`means_by`].
    Sessions,
    /// One after the other: what changed with time counts as the difference of the sets.
    OneAfterOther,
}

/// Fewer blocks than this do not count as interleaved.
const FEWEST_BLOCKS: usize = 3;

/// Fewer sessions of a set than this cannot stand for it.
const FEWEST_SESSIONS: usize = 3;

impl Order {
    /// The order of runs whose labels and sessions are given in the order of time. `sessions` has a number per run, as
    /// [`sessions`] makes them; an empty list means one session.
    #[must_use]
    pub fn of(sides: &[Side], sessions: &[usize]) -> Self {
        if let Some(blocks) = interleaved_blocks(sides) {
            return Self::Interleaved(blocks);
        }
        if are_units(sides, sessions) { Self::Sessions } else { Self::OneAfterOther }
    }
}

/// By run, in the order of time: the number of its block. `None` unless there are three blocks.
///
/// The sequence is cut, from its start, into the shortest blocks that have two runs of each set; one, if a set has fewer
/// than four. Runs that are left over belong to the last block.
#[must_use]
pub fn interleaved_blocks(sides: &[Side]) -> Option<Vec<usize>> {
    let count = |side| sides.iter().filter(|&&found| found == side).count();
    let least = if count(Side::A).min(count(Side::B)) < 4 { 1 } else { 2 };
    let mut blocks = Vec::with_capacity(sides.len());
    let (mut block, mut a, mut b) = (0, 0, 0);
    for &side in sides {
        if a >= least && b >= least {
            (block, a, b) = (block + 1, 0, 0);
        }
        if side == Side::A {
            a += 1
        } else {
            b += 1
        }
        blocks.push(block);
    }
    // The last block may lack runs.
    if block > 0 && (a < least || b < least) {
        blocks.iter_mut().filter(|number| **number == block).for_each(|number| *number -= 1);
        block -= 1;
    }
    (block + 1 >= FEWEST_BLOCKS).then_some(blocks)
}

fn are_units(sides: &[Side], sessions: &[usize]) -> bool {
    let mut of_session: Vec<(usize, Side)> = sessions.iter().copied().zip(sides.iter().copied()).collect();
    of_session.sort_unstable();
    of_session.dedup();
    let pure = of_session.windows(2).all(|pair| pair[0].0 != pair[1].0);
    let count = |side| of_session.iter().filter(|(_, found)| *found == side).count();
    pure && sessions.len() == sides.len() && count(Side::A).min(count(Side::B)) >= FEWEST_SESSIONS
}

/// By run: the number of its session. `times` ascend; a session ends where the next run starts more than `pause` later.
/// Numbers have the unit of the caller.
#[must_use]
pub fn sessions(times: &[i64], pause: i64) -> Vec<usize> {
    let mut session = 0;
    let mut before = None;
    let number = |&time: &i64| {
        if before.is_some_and(|before: i64| time.saturating_sub(before) > pause) {
            session += 1;
        }
        before = Some(time);
        session
    };
    times.iter().map(number).collect()
}

/// The means of the values that have the same number, by ascending number. Lists of different length end with the
/// shorter one.
#[must_use]
pub fn means_by(numbers: &[usize], values: &[f64]) -> Vec<(usize, f64)> {
    let mut pairs: Vec<(usize, f64)> = numbers.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mean = |group: &[(usize, f64)]| group.iter().map(|(_, value)| value).sum::<f64>() / group.len() as f64;
    pairs.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, mean(group))).collect()
}

/// The correlation of neighbouring runs of a set, given in the order of time, if it is larger than chance makes it
/// (2/√n). `None` below ten runs: it is hardly ever found there.
#[must_use]
pub fn dependence(values: &[f64]) -> Option<f64> {
    let limit = 2.0 / (values.len() as f64).sqrt();
    rank_autocorrelation(values).filter(|&found| values.len() >= 10 && found > limit)
}

#[cfg(test)]
mod tests {
    use super::{Order, dependence, interleaved_blocks, means_by, sessions};
    use crate::design::Side;

    fn sides(text: &str) -> Vec<Side> {
        text.chars().map(|side| if side == 'A' { Side::A } else { Side::B }).collect()
    }

    #[test]
    fn shortest_blocks() {
        let blocks = |text: &str| interleaved_blocks(&sides(text));
        assert_eq!(blocks("ABABABABABAB"), Some([[0; 4], [1; 4], [2; 4]].concat()));
        // The rest, which lacks a B, belongs to the last block.
        assert_eq!(blocks("ABABAABBBABAA"), Some([vec![0; 4], vec![1; 4], vec![2; 5]].concat()));
        assert_eq!(blocks("ABABAB"), Some(vec![0, 0, 1, 1, 2, 2]));
        assert_eq!(blocks("AAAAABBBBB"), None);
        assert_eq!(blocks("AAAABBBB"), None);
        assert_eq!(blocks(""), None);
        assert_eq!(blocks("AAA"), None);
    }

    #[test]
    fn orders() {
        let order = |text: &str, sessions: &[usize]| Order::of(&sides(text), sessions);
        assert_eq!(order("AABBAABB", &[]), Order::OneAfterOther);
        assert_eq!(order("AAAAAABBBBBB", &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]), Order::Sessions);
        assert_eq!(order("AAAAAABBBBBB", &[0, 0, 1, 1, 2, 2, 2, 2, 4, 4, 5, 5]), Order::OneAfterOther);
        assert!(matches!(order("ABABAB", &[0; 6]), Order::Interleaved(_)));
    }

    #[test]
    fn sessions_end_with_a_pause() {
        assert_eq!(sessions(&[0, 5, 16, 17, i64::MAX], 10), [0, 0, 1, 1, 2]);
        assert_eq!(means_by(&[1, 0, 1], &[2.0, 7.0, 4.0]), [(0, 7.0), (1, 3.0)]);
    }

    #[test]
    fn drift_is_dependence() {
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(dependence(&rising).is_some());
        assert_eq!((dependence(&rising[..9]), dependence(&[1.0; 20])), (None, None));
    }
}
