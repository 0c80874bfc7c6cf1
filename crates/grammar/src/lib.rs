//! The grammar of what people type, the same in every command: quantities, time ranges, patterns, conditions, names of tests.
//!
//! This crate is the ground floor: it depends on no other crate of the workspace.

pub mod expression;
pub mod pattern;
pub mod patterns;
pub mod quantity;
pub mod test_name;
pub mod time_range;

pub use expression::{Comparison, Expression, ExpressionError, Operator};
pub use pattern::Pattern;
pub use patterns::Patterns;
pub use quantity::{
    QuantityError, Share, TimeUnit, microseconds, milliseconds, parse_bytes, parse_duration, parse_percent,
    parse_share, parse_size, parse_time, seconds,
};
pub use test_name::{LocalTime, Status, TestName, Tier};
pub use time_range::{TimeRange, TimeRangeError};
