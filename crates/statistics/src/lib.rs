//! Two sets of runs.
pub mod adjust;
mod byte_sums;
pub mod confidence;
pub mod design;
pub mod detectable;
pub mod family;
pub mod figure;
pub mod interval;
pub mod permutations;
pub mod problem;
pub mod random;
pub mod robust;
pub mod stabilise;
mod statistic;
pub mod student;
pub mod two_sets;
pub mod verdict;
pub mod welch;
