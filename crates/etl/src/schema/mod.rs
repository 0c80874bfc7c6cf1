//! Events as named fields: schemas from the recording itself (metadata of the merge, TraceLogging, manifests of EventSource
//! providers) or from built-in tables, and one decoder for all of them.

mod decode;
mod event;
mod info;
pub mod json;
mod layout;
pub mod manifest;
mod schemas;
mod table;
mod trace_logging;
mod value;

pub use decode::{DecodeError, Decoded, Reason};
pub use event::{EventSchema, Origin};
pub use layout::{Count, Extent, Field, Kind, Layout, Length, Meaning, Scalar, ValueMap};
pub use schemas::Schemas;
pub use value::Value;
