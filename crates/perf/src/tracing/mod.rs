//! Formats of tracepoints as the kernel had them while recording: the body of a tracepoint's sample means nothing without.

mod data;
mod field;
mod format;

pub use data::TracingData;
pub use field::{Field, Location};
pub use format::EventFormat;
