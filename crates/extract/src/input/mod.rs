//! Inputs as users have them: from command-line arguments to bytes that a reader can walk.
//!
//! * [`mod@select`] turns arguments (files, directories, wildcards, lists with exclusions) into [`Target`]s;
//! * [`container`] opens a target, unpacks what is packed and gives one [`Member`] per `.etl` or `perf.data`;
//! * [`parts`] decides which members are one recording, once their headers are known;
//! * [`facts`] describes an input file so that an unchanged one is not extracted twice;
//! * [`name`] reads test, duration, machine and time out of a file name;
//! * [`pattern`] is the filter grammar that file names, processes and methods share.
//!
//! Nothing here knows what stands inside a recording behind its first bytes.

pub mod container;
pub mod error;
pub mod facts;
pub mod file_kind;
pub mod name;
pub mod parts;
pub mod pattern;
pub mod select;

pub use container::{Limits, Member, OpenOptions, Opened, Progress, open};
pub use error::{InputError, Note};
pub use facts::source_file;
pub use name::{LocalTime, TestName};
pub use parts::{PartFacts, group};
pub(crate) use pattern::list_items;
pub use pattern::{Pattern, Patterns};
pub use select::{Purpose, Recording, SelectOptions, Selection, Target, merge, select};
