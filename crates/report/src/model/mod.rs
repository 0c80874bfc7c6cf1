//! What reports are made of: plain data, with names as they came out of recordings. Times are in ns, changes are ratios − 1: 0.05 is
//! 5 % more.

pub mod comparison;
pub mod difference;
pub mod explanation;
pub mod history;
