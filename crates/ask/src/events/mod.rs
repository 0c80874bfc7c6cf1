//! Single events: which of them, and what they say.

mod condition;
mod filter;
mod kinds;
mod scan;

pub use condition::{Condition, ConditionError};
pub use filter::{EventFilter, IdRanges, IdRangesError};
pub use tracesift_etl::schema::{Origin, json};

pub use scan::{EventLine, Scanned, Unreadable, scan};
