//! The extract on disk: a directory of Parquet tables and one `trace.json`.
//!
//! Every table is declared once, in [`tracesift_trace::rows`]. The Arrow schema, the column builders, the row reader, the
//! Parquet layout and the reference in `docs/archive-format.md` all come from that declaration. No code in this crate is
//! about a single table, except for stacks ([`Archive::scan_stacks`]), health, the index of switches
//! ([`Archive::find_long_spans`]) and timelines ([`Archive::scan_tiles`]).
//!
//! An archive is complete or absent. [`ArchiveWriter`] builds it in a sibling directory and renames that into place
//! when everything, `trace.json` last, is on the disk; [`ArchiveUpdate`] replaces single tables in the same way.
//! [`Archive`] reads it and treats what it reads as hostile: damage is an [`Error`], never a panic.

mod around;
mod arrow;
mod batch;
mod buffer;
mod cell;
mod checked_file;
mod collected;
mod decoded;
mod direct;
mod doc;
mod encoder;
mod error;
mod few;
mod format;
mod freshness;
mod groups;
mod guard;
mod input;
mod kept;
mod keys;
mod known_files;
mod leftovers;
mod library;
mod lock;
pub mod lone_table;
mod long_spans;
mod pages;
mod parquet_layout;
mod paths;
mod reader;
mod retry;
mod row_block;
mod scan;
mod scheduling;
mod seal;
mod stack_lists;
mod staging;
mod stored;
mod table;
mod table_writer;
mod thrift;
mod tiles;
mod update;
mod view;
mod watch;
mod write_rows;
mod writer;

pub use arrow::{arrow_schema, arrow_type};
pub use batch::{record_batch, rows_of};
pub use doc::column_reference;
pub use error::Error;
pub use format::{SCHEMA_VERSION, TRACE_FILE};
pub use freshness::head_hash;
pub use groups::RowGroups;
pub use kept::KeptColumns;
pub use keys::{Ids, Keys, Numbers, Texts};
pub use lock::{TargetLock, WhenBusy};
pub use reader::Archive;
pub use row_block::RowBlock;
pub use scheduling::SchedulingTables;
pub use seal::{SealedArchive, Sealing};
pub use staging::recover_interrupted;
pub use stored::StoredRows;
pub use table::{Readable, Table};
pub use tiles::TilesOfTable;
pub use update::ArchiveUpdate;
pub use watch::{Progress, Watch};
pub use writer::{ArchiveWriter, WriterOptions};
