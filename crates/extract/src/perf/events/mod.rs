//! Single events of a Linux recording: what they are called, which of them are kept, and what they say.
//!
//! Both ways of showing events use this: the walk over a recording and the rows of an archive.

mod fields;
mod kinds;
mod record_fields;
mod sample_fields;
mod tracepoint;

pub(crate) use fields::JsonFields;
pub use fields::{FieldSink, Rest, ValueFields};
pub use kinds::{LinuxKind, LinuxKinds, PERF, name_of_record, names_of_event, subject};
