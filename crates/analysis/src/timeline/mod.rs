//! Figures by buckets of time: whole numbers, without a remainder and without rounding.
//!
//! A span of time gives each bucket the part of it that lies inside; an instant belongs to the bucket that has it. So the sums of
//! all buckets are the sums of the rows, and the figure of a bucket is that of a question about the bucket as a time range.

mod event_numbers;
mod grid;
mod lanes;
mod series;
pub mod tiles;

pub use event_numbers::EventNumbers;
pub use grid::Grid;
pub use lanes::{Lanes, OffCpuKind, Watched};
pub use series::Series;
