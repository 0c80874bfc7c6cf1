//! Formats of tracepoints as the kernel had them while recording: the body of a tracepoint's sample means nothing without.

mod constant;
mod data;
mod field;
mod format;
mod print;

pub use data::TracingData;
pub use field::{Field, Location};
pub use format::EventFormat;
pub use print::{FieldPrint, Names, PrintFormat, Style};
