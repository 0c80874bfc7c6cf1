//! The account of a window of time: which thread had each nanosecond, in which state, in which code.
//!
//! [`spec`] reads the window that people write, [`window`] finds it in a recording with the thread that the account starts from,
//! and [`account`] follows the bounded critical path ([`tracesift_analysis::path`]) through it. An account consists of parts with
//! numbers in place of names; [`rows`] names them, as coarse or as fine as somebody asks.

pub(crate) mod account;
pub(crate) mod parties;
pub(crate) mod places;
pub(crate) mod rows;
pub(crate) mod spec;
pub(crate) mod window;
