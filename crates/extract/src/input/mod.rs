//! Inputs as users have them: from command-line arguments to bytes that a reader can walk.
//!
//! * [`mod@select`] turns arguments (files, directories, wildcards, lists with exclusions) into [`Target`]s;
//! * [`container`] opens a target, unpacks what is packed and gives one [`Member`] per `.etl` or `perf.data`;
//! * [`parts`] decides which members are one recording, once their headers are known;
//! * [`facts`] describes an input file so that an unchanged one is not extracted twice;
//! * [`test_name`] reads test, duration, machine and time out of a file name.
//!
//! Nothing here knows what stands inside a recording behind its first bytes.

pub mod container;
pub mod error;
pub mod facts;
pub mod file_kind;
pub mod parts;
pub mod select;
mod test_name;

pub use container::{Limits, Member, OpenOptions, Opened, Progress, open};
pub use error::{InputError, Note};
pub use facts::source_file;
pub use parts::{PartFacts, group};
pub use select::{InputRecording, Purpose, SelectOptions, Selection, Target, merge, select};
pub use test_name::test_name;
