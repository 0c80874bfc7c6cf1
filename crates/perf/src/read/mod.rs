//! From bytes to records: a window on the input, the records in it, decompressed ones among them, and their order in time.

mod ahead;
mod chains;
mod inflate;
mod merge;
mod outline;
mod queue;
mod records;
mod rest;
mod stop;
mod walk;
mod window;

pub use ahead::Ahead;
pub use chains::ChainNumber;
pub use merge::{MergeOptions, Merged};
pub use outline::{LeftOut, Outline};
pub(crate) use records::MAX_TRACING_DATA;
pub use records::Records;
pub use stop::Stop;
pub use walk::Walk;
