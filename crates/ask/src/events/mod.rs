//! Single events: which of them, and what they say.

mod candidates;
pub(crate) mod column_keys;
mod condition;
mod field_filter;
mod filter;
mod line;
mod names;
mod path;
mod read;
mod scan;
mod scan_etl;
mod scan_linux;
mod stored;
mod stored_stacks;
mod subjects;
mod time;

pub use candidates::Search;
pub use condition::{Condition, ConditionError};
pub use field_filter::FieldFilter;
pub use filter::{EventFilter, IdRanges, IdRangesError};
pub use line::{EventLine, Scanned, Unreadable};
pub(crate) use names::Names;
pub use path::FieldPath;
pub(crate) use read::{Choose, EventKind, EventRead, Events, choice, note_of_selection, notes_of_names};
pub use scan::scan;
pub use stored::scan_archive;
pub use time::{time_in_archive, time_in_recording};
pub use tracesift_etl::schema::{Origin, write_hex};
