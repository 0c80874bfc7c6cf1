//! Reads and writes Windows ETW recordings (.etl) on any OS, without any Windows API.
//!
//! Start with [`EtlFile::open`], then walk all records of one or several files in time order with [`Merge`].
//!
//! ```
//! use tracesift_etl::{Error, EtlFile, Merge, MergeOptions};
//!
//! fn print_classes(path: &str) -> Result<(), Error> {
//!     let files = [EtlFile::open_path(path)?];
//!     let mut records = Merge::new(&files, MergeOptions::default());
//!     while let Some(record) = records.next() {
//!         println!("{} {:?}", files[0].header().utc_text(record.time()), record.class());
//!     }
//!     Ok(())
//! }
//! ```

mod batch;
mod buffer;
mod buffer_reader;
mod bytes;
pub mod class;
pub mod counts;
mod damage;
mod error;
mod extended;
mod file;
mod foreign;
pub mod format;
mod frame;
mod guid;
mod header;
mod header_kind;
mod load;
pub mod lznt1;
mod mapped;
mod merge;
mod message;
pub mod payload;
mod record;
mod record_batch;
mod recover;
pub mod schema;
mod source;
mod supply;
pub mod time;
mod time_zone;
mod used_buffers;
mod wanted;
pub mod write;
pub mod xpress;

pub use buffer::{BufferKind, BufferRef, Compression};
pub use buffer_reader::BufferReader;
pub use class::{EventClass, Group};
pub use damage::{Damage, DamageCount, DamageLog, kind as damage_kind};
pub use error::Error;
pub use extended::{ExtendedItem, ExtendedItems, ItemKind, ItemStack, ProviderTraits};
pub use file::EtlFile;
pub use guid::{Guid, ParseGuidError};
pub use header::LogfileHeader;
pub use header_kind::HeaderKind;
pub use merge::{Merge, MergeOptions};
pub use message::Message;
pub use record::{Counters, Record};
pub use record_batch::RecordBatch;
pub use source::{FileSource, ReadAt};
pub use time::ClockKind;
pub use time_zone::{Change, TimeZone};
pub use wanted::{Everything, Wanted};
