//! The second thread of a writer: takes batches of columns, has them encoded and compressed into the table files.
//!
//! The channel is bounded, so a producer that is faster than the encoder waits instead of filling the memory. What is
//! held at once: one batch being filled per table, [`QUEUE`] batches on their way, and the row groups in the making,
//! together at most [`IN_PROGRESS_BYTES`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use tracesift_trace::info::TableFile;

use crate::batch::{Columns, TraceColumn};
use crate::error::{Error, WithPath as _};
use crate::format::TRACE_COLUMN;
use crate::table_writer::{ROW_GROUP_BYTES, ROW_GROUP_ROWS, TableWriter};
use tracesift_trace::rows::TABLES;
use tracesift_trace::schema::{Layout, TableDefinition};

/// Batches between producer and encoder: enough to even out their rhythms.
const QUEUE: usize = 12;

/// Bytes of all row groups in the making. When it is reached the largest is closed early.
const IN_PROGRESS_BYTES: usize = 80 << 20;

/// Bytes of the distinct values of a column, above which it is stored plainly. Room for 128 Ki stacks.
const DICTIONARY_BYTES: usize = 512 << 10;

/// Rows of a page. Zstandard works per page: longer pages compress better up to here and cost memory.
const PAGE_ROWS: usize = 128 * 1024;

/// Encoded bytes of a page before compression.
const PAGE_BYTES: usize = 512 * 1024;

/// Rows of a page of a table that is written at the end of an extract, when somebody waits for the encoder: it compresses the first
/// pages while the last rows are still made.
const LAST_PAGE_ROWS: usize = 16 * 1024;

/// Compression level. Level 3 would take 1 % off an archive and a twentieth of an extract's processor time.
const ZSTD_LEVEL: i32 = 1;

/// Compression level of the stacks, which level 1 leaves an eighth larger.
const STACKS_ZSTD_LEVEL: i32 = 3;

enum Message {
    Columns(Columns),
    Finish { metadata: Vec<(String, String)>, needed: Vec<&'static TableDefinition> },
}

/// Most threads that encode columns: more gain little, and each column of theirs takes memory.
const MAX_THREADS: usize = 4;

/// Threads for an encoder that nobody takes the processors from, since all rows are made.
pub(crate) fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get().min(MAX_THREADS))
}

/// Handle of the encoding thread. Dropping it abandons the files.
pub(crate) struct Encoder {
    directory: PathBuf,
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<Vec<TableFile>, Error>>>,
    failed: Arc<AtomicBool>,
}

impl Encoder {
    /// Starts encoding tables into `directory`; at most so many threads encode the columns of one.
    pub(crate) fn start(directory: &Path, trace: &str, threads: usize) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(QUEUE);
        let failed = Arc::new(AtomicBool::new(false));
        let mut files = TableFiles::new(directory, trace, threads);
        let flag = Arc::clone(&failed);
        let thread = thread::Builder::new()
            .name("archive encoder".to_owned())
            .spawn(move || files.run(&receiver, &flag))
            .writing(directory)?;
        Ok(Self { directory: directory.to_owned(), sender: Some(sender), thread: Some(thread), failed })
    }

    /// Hands a batch over; waits while the encoder is busy. After an error batches are dropped and [`Self::finish`] reports it.
    pub(crate) fn send(&self, columns: Columns) {
        if self.failed() {
            return;
        }
        if let Some(sender) = &self.sender
            && sender.send(Message::Columns(columns)).is_err()
        {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether an error has happened, so that a producer can stop early.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Closes all files, with `metadata` in each; tables of `needed` without rows become files without rows.
    pub(crate) fn finish(mut self, metadata: Vec<(String, String)>, needed: Vec<&'static TableDefinition>) -> Closing {
        if let Some(sender) = self.sender.take() {
            // A send fails only when the thread is gone; joining it says why.
            let _ = sender.send(Message::Finish { metadata, needed });
        }
        Closing(self)
    }
}

/// Files that are being closed.
pub(crate) struct Closing(Encoder);

impl Closing {
    /// Waits for them; tells which they are, or the first error since the start.
    pub(crate) fn wait(mut self) -> Result<Vec<TableFile>, Error> {
        let Self(encoder) = &mut self;
        let stopped = || Error::Encode { path: encoder.directory.clone(), reason: "the encoder stopped".to_owned() };
        match encoder.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(stopped()),
        }
    }
}

impl Drop for Encoder {
    /// Waits for the thread, so that nobody writes into the directory any more when its owner removes it.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The open files, by table name.
struct TableFiles {
    directory: PathBuf,
    trace: TraceColumn,
    open: BTreeMap<&'static str, TableWriter>,
    threads: usize,
}

impl TableFiles {
    fn new(directory: &Path, trace: &str, threads: usize) -> Self {
        Self { directory: directory.to_owned(), trace: TraceColumn::new(trace), open: BTreeMap::new(), threads }
    }

    fn run(&mut self, receiver: &Receiver<Message>, failed: &AtomicBool) -> Result<Vec<TableFile>, Error> {
        let mut result = Ok(());
        // After an error the channel is still emptied: a producer must not hang on a full one.
        while let Ok(message) = receiver.recv() {
            match message {
                Message::Columns(columns) => {
                    if result.is_ok() {
                        result = self.write(columns);
                        failed.store(result.is_err(), Ordering::Relaxed);
                    }
                }
                Message::Finish { metadata, needed } => {
                    result?;
                    return self.close(&metadata, &needed);
                }
            }
        }
        // Abandoned: the staging directory is about to be removed.
        result.map(|()| Vec::new())
    }

    fn write(&mut self, columns: Columns) -> Result<(), Error> {
        let open = match self.open.entry(columns.table.name) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(TableWriter::create(&self.directory, columns.table, self.threads)?),
        };
        let batch = columns.with_trace(&self.trace).map_err(|error| Error::encode(open.path(), error.into()))?;
        open.write(&batch).map_err(|error| Error::encode(open.path(), error))?;
        self.limit_memory()
    }

    /// Closes the largest row group when all of them together have grown too large.
    fn limit_memory(&mut self) -> Result<(), Error> {
        let in_progress: usize = self.open.values().map(TableWriter::memory).sum();
        if in_progress < IN_PROGRESS_BYTES {
            return Ok(());
        }
        match self.open.values_mut().max_by_key(|open| open.memory()) {
            Some(largest) => largest.end_row_group().map_err(|error| Error::encode(largest.path(), error)),
            None => Ok(()),
        }
    }

    fn close(
        &mut self,
        metadata: &[(String, String)],
        needed: &[&'static TableDefinition],
    ) -> Result<Vec<TableFile>, Error> {
        for table in needed {
            if let Entry::Vacant(entry) = self.open.entry(table.name) {
                entry.insert(TableWriter::create(&self.directory, table, self.threads)?);
            }
        }
        let in_order = TABLES.into_iter().filter_map(|table| self.open.remove(table.name).map(|open| (table, open)));
        // Each waits for the disk.
        thread::scope(|scope| {
            let closing: Vec<_> =
                in_order.map(|(table, open)| scope.spawn(|| open.close(table.name, metadata))).collect();
            closing.into_iter().map(|table| table.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }
}

/// How the columns of a table are laid out.
pub(crate) fn properties(table: &TableDefinition) -> WriterProperties {
    let (level, page_rows) = match table.name {
        "stacks" => (STACKS_ZSTD_LEVEL, PAGE_ROWS),
        "process_summary" | "method_summary" | "tag_summary" => (ZSTD_LEVEL, LAST_PAGE_ROWS),
        _ => (ZSTD_LEVEL, PAGE_ROWS),
    };
    // Only a level that Zstandard does not have is refused, and then its default is as good.
    let level = ZstdLevel::try_new(level).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("tracesift ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_data_page_row_count_limit(page_rows)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_dictionary_enabled(ColumnPath::from(TRACE_COLUMN), true);
    for column in table.columns {
        let path = column_path(column.name, column.data.is_list());
        builder = builder.set_column_dictionary_enabled(path.clone(), column.layout == Layout::Dictionary);
        let encoding = match column.layout {
            // With a dictionary the encoding is the fallback for when it grows too large.
            Layout::Plain | Layout::Dictionary => Encoding::PLAIN,
            Layout::Delta => Encoding::DELTA_BINARY_PACKED,
            Layout::ByteStreamSplit => Encoding::BYTE_STREAM_SPLIT,
        };
        builder = builder.set_column_encoding(path, encoding);
    }
    for time in table.timing.columns() {
        builder = builder.set_column_statistics_enabled(column_path(time, false), EnabledStatistics::Chunk);
    }
    builder.build()
}

fn column_path(name: &str, list: bool) -> ColumnPath {
    if list {
        ColumnPath::from(vec![name.to_owned(), "list".to_owned(), "element".to_owned()])
    } else {
        ColumnPath::from(name)
    }
}
