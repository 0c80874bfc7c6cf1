//! Reads Linux perf.data recordings on any OS: written to a file or as a stream, compressed or not, in both byte orders.
//!
//! Start with [`PerfFile::open`], then walk the records in the order of their times with [`PerfFile::merged`], or in that of
//! the file with [`PerfFile::records`]. A stream that cannot be read twice goes through [`Records::from_stream`].
//!
//! ```
//! use tracesift_perf::{Error, MergeOptions, PerfFile, Payload};
//!
//! fn print_names(path: &str) -> Result<(), Error> {
//!     let file = PerfFile::open(path)?;
//!     let mut records = file.merged(MergeOptions::default());
//!     while let Some(record) = records.next() {
//!         if let Ok(Payload::Comm(comm)) = record.payload() {
//!             println!("{:?} {} is {}", record.time(), comm.tid, String::from_utf8_lossy(comm.name));
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Whose code reads what
//!
//! The bits of the format (`sample_type`, `read_format`, flags, `misc`) are those of `linux-perf-event-reader`. Its readers of
//! attributes, samples and records, and the reader of files in `linux-perf-data`, were held against what this crate is for
//! (0.10.2 and 0.13.0) and left aside:
//!
//! * a record with a build id longer than 20 bytes panics, the forged length of a call chain overflows, and lengths of sections
//!   and lists are allocated as they stand in the file;
//! * one damaged record, an unknown hardware event or clock, or a second event that differs from the first and has no
//!   `PERF_SAMPLE_IDENTIFIER`, is an error for the whole file, so that what could be read of it is lost;
//! * the values of counters alone and in groups are taken for each other, trace data in samples are looked for before the page
//!   sizes that stand before them, control groups, split weights and branch stacks are missing or dropped, bit fields of
//!   big-endian writers are not turned round, and formats of tracepoints are not read;
//! * all records between two `FINISHED_ROUND` are held, so old files are held whole, each record in a buffer of its own;
//! * instruction traces are read into memory;
//! * streams whose features are numbered as before mainline are refused.

mod attr;
mod build_id;
mod counts;
mod cursor;
mod damage;
mod error;
mod event;
pub mod feature;
mod file;
mod header;
mod kind;
mod layout;
mod losses;
mod metadata;
mod payload;
mod read;
mod record;
mod source;
pub mod tracing;

pub use linux_perf_event_reader::{AttrFlags, BranchSampleFormat, CpuMode, Endianness, ReadFormat, SampleFormat};

pub use attr::Attr;
pub use build_id::{BuildId, BuildIdEntry};
pub use counts::Counts;
pub use damage::{Damage, DamageCount, DamageLog, kind as damage_kind};
pub use error::{Error, Malformed};
pub use event::{Event, Events};
pub use feature::Features;
pub use file::PerfFile;
pub use kind::Kind;
pub use layout::Layout;
pub use losses::Losses;
pub use metadata::{Metadata, Mode};
pub use payload::{
    Aux, Auxtrace, AuxtraceInfo, BpfEvent, BranchEntries, BranchEntry, BranchStack, Cgroup, Comm, Counter,
    DeferredChain, EventUpdate, FileId, IdIndex, IdIndexEntry, Ksymbol, Lost, LostSamples, Mapping, Namespace,
    Namespaces, Payload, Registers, Sample, SampleTail, ShortCounter, Switch, Task, TextPoke, ThreadMap, Throttle,
    TimeConv, Update, UserStack, Values, Words,
};
pub use read::{Ahead, ChainNumber, LeftOut, MergeOptions, Merged, Records, Stop, TwoHalves, Walk};
pub use record::{Record, is_of_a_guest};
pub use source::{FileSource, ReadAt};
pub use tracing::TracingData;
