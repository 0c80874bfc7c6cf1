//! Inputs that have no result.

use thiserror::Error;

/// An input that has no result. Numbers are indexes into what the caller gave, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// One of the two sets has no run.
    #[error("set {0} has no runs")]
    EmptySet(char),
    /// Two lists that describe the same runs differ in length.
    #[error("there are {expected} runs and {found} values")]
    Length {
        /// The number of runs.
        expected: usize,
        /// The length of the other list.
        found: usize,
    },
    /// More runs than [`MAX_RUNS`](crate::design::MAX_RUNS).
    #[error("there are {0} runs, more than {max}", max = crate::design::MAX_RUNS)]
    TooManyRuns(usize),
    /// A value is NaN or infinite.
    #[error("value {0} is not finite")]
    NotFinite(usize),
    /// A value is 0 or less and has no logarithm.
    #[error("value {0} is not positive")]
    NotPositive(usize),
    /// A quantum is not a positive finite number.
    #[error("the quantum of key {0} is not positive")]
    Quantum(usize),
    /// No stratum has runs of both sets, so that nothing can be compared within a stratum.
    #[error("no stratum has runs of both sets")]
    NoCommonStratum,
}
