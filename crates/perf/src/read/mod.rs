//! From bytes to records: a window on the input, the records in it, decompressed ones among them, and their order in time.

mod ahead;
mod chains;
mod inflate;
mod merge;
mod queue;
mod records;
mod second_half;
mod skip_known_threads;
mod stop;
mod walk;
mod window;

pub use ahead::Ahead;
pub use chains::ChainNumber;
pub use merge::{MergeOptions, Merged};
pub(crate) use records::MAX_TRACING_DATA;
pub use records::Records;
pub use second_half::TwoHalves;
pub use skip_known_threads::LeftOut;
pub use stop::Stop;
pub use walk::Walk;
