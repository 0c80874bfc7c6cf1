//! The second thread of a writer: takes batches of columns, has them encoded and compressed into the table files.
//!
//! The channel is bounded, so a producer that is faster than the encoder waits instead of filling the memory. What is
//! held at once: one batch being filled per table, [`QUEUE`] batches on their way, and the row groups in the making,
//! together at most the [bytes of all shares](Share::bytes).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use tracesift_trace::info::TableFile;

use crate::batch::{Columns, TraceColumn};
use crate::error::{Error, WithPath as _};
use crate::parquet_layout::ROW_GROUP_ROWS;
use crate::table_writer::{Effort, TableWriter};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, EventRow, TABLES};
use tracesift_trace::schema::{Row as _, TableDefinition};

/// Batches between producer and encoder: enough to even out their rhythms.
const QUEUE: usize = 12;

/// Tables that share a limit of memory: those whose batches come in an order that nothing but the recording decides. Other threads fill
/// the tables that have a limit for themselves, and between which batches of other tables they arrive is chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Events,
    Switches,
    Samples,
    Others,
}

impl Share {
    fn of(table: &str) -> Self {
        match table {
            table if table == EventRow::TABLE.name => Self::Events,
            table if table == ContextSwitchRow::TABLE.name => Self::Switches,
            table if table == CpuSampleRow::TABLE.name => Self::Samples,
            _ => Self::Others,
        }
    }

    /// Bytes of its row groups in the making. When it is reached the largest is closed early.
    const fn bytes(self) -> usize {
        match self {
            Self::Events => 24 << 20,
            Self::Switches => 28 << 20,
            Self::Samples => 16 << 20,
            Self::Others => 36 << 20,
        }
    }
}

enum Message {
    Columns(Columns),
    Finish { metadata: Vec<(String, String)>, needed: Vec<&'static TableDefinition> },
}

/// Most threads that encode columns: more gain little, and each column of theirs takes memory.
const MAX_THREADS: usize = 4;

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Effort {
    /// That of an encoder beside those who make rows: they need most of the processors.
    pub(crate) fn beside() -> Self {
        Self { threads: (processors() / 4).clamp(1, MAX_THREADS), group_rows: ROW_GROUP_ROWS }
    }

    /// That of an encoder that nobody takes the processors from, since all rows are made.
    pub(crate) fn alone() -> Self {
        Self { threads: processors().min(MAX_THREADS), group_rows: ROW_GROUP_ROWS }
    }
}

/// Handle of the encoding thread. Dropping it abandons the files.
pub(crate) struct Encoder {
    directory: PathBuf,
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<Vec<TableFile>, Error>>>,
    failed: Arc<AtomicBool>,
}

impl Encoder {
    /// Starts encoding tables into `directory`.
    pub(crate) fn start(directory: &Path, trace: &str, effort: Effort) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(QUEUE);
        let failed = Arc::new(AtomicBool::new(false));
        let mut files = TableFiles::new(directory, trace, effort);
        let flag = Arc::clone(&failed);
        let thread = thread::Builder::new()
            .name("archive encoder".to_owned())
            .spawn(move || files.run(&receiver, &flag))
            .writing(directory)?;
        Ok(Self { directory: directory.to_owned(), sender: Some(sender), thread: Some(thread), failed })
    }

    /// Hands a batch over; waits while the encoder is busy. After an error batches are dropped and [`Self::finish`] reports it.
    pub(crate) fn send(&self, columns: Columns) {
        if let Some(sender) = &self.sender {
            send(sender, &self.failed, columns);
        }
    }

    /// A way for batches from another thread. The encoder does not end before it is dropped.
    pub(crate) fn entrance(&self) -> Option<Entrance> {
        Some(Entrance { sender: self.sender.clone()?, failed: Arc::clone(&self.failed) })
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

/// Where another thread hands batches over.
pub(crate) struct Entrance {
    sender: SyncSender<Message>,
    failed: Arc<AtomicBool>,
}

impl Entrance {
    /// As [`Encoder::send`].
    pub(crate) fn send(&self, columns: Columns) {
        send(&self.sender, &self.failed, columns);
    }
}

fn send(sender: &SyncSender<Message>, failed: &AtomicBool, columns: Columns) {
    if !failed.load(Ordering::Relaxed) && sender.send(Message::Columns(columns)).is_err() {
        failed.store(true, Ordering::Relaxed);
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
    effort: Effort,
}

impl TableFiles {
    fn new(directory: &Path, trace: &str, effort: Effort) -> Self {
        Self { directory: directory.to_owned(), trace: TraceColumn::new(trace), open: BTreeMap::new(), effort }
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
        let table = columns.table.name;
        let open = match self.open.entry(table) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(TableWriter::create(&self.directory, columns.table, self.effort)?),
        };
        let batch = columns.with_trace(&self.trace).map_err(|error| Error::encode(open.path(), error.into()))?;
        open.write(&batch).map_err(|error| Error::encode(open.path(), error))?;
        self.limit_memory(Share::of(table))
    }

    /// Closes the largest row group of a share when they have grown too large.
    fn limit_memory(&mut self, share: Share) -> Result<(), Error> {
        let limited = |(table, _): &(&&str, &mut TableWriter)| Share::of(table) == share;
        let (mut in_progress, mut largest) = (0, None);
        for (_, open) in self.open.iter_mut().filter(limited) {
            let memory = open.memory();
            in_progress += memory;
            if largest.as_ref().is_none_or(|(most, _)| memory > *most) {
                largest = Some((memory, open));
            }
        }
        match largest {
            Some((_, largest)) if in_progress >= share.bytes() => {
                largest.end_row_group().map_err(|error| Error::encode(largest.path(), error))
            }
            _ => Ok(()),
        }
    }

    fn close(
        &mut self,
        metadata: &[(String, String)],
        needed: &[&'static TableDefinition],
    ) -> Result<Vec<TableFile>, Error> {
        for table in needed {
            if let Entry::Vacant(entry) = self.open.entry(table.name) {
                entry.insert(TableWriter::create(&self.directory, table, self.effort)?);
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
