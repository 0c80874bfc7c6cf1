//! Events as named fields: schemas from the recording itself (metadata of the merge, TraceLogging, manifests of EventSource
//! providers) or from built-in tables, and one decoder for all of them.

mod cursor;
mod decode;
mod event;
mod fields;
mod info;
pub mod json;
mod layout;
pub mod manifest;
mod names;
mod schemas;
mod table;
mod trace_logging;
mod value;

use table::BUILT_IN;

use crate::Guid;

pub use decode::{DecodeError, Decoded, Reason, socket_address};
pub use event::{EventSchema, Origin};
pub use fields::{BoundFields, EventFields, FieldText, FromField, RawField};
pub use layout::{Count, Extent, Field, Kind, Layout, Length, Meaning, Scalar, ValueMap};
pub use names::{EventNames, KERNEL_PROVIDER};
pub use schemas::Schemas;
pub use value::{Value, write_hex};

/// The providers of the built-in tables whose keywords are known: GUID, name, masks with names.
pub fn built_in_keywords() -> impl Iterator<Item = (Guid, &'static str, &'static [(u64, Box<str>)])> {
    let providers = BUILT_IN.providers.iter().filter(|(_, table)| !table.keywords.is_empty());
    providers.map(|(guid, table)| (*guid, &*table.name, table.keywords.as_slice()))
}
