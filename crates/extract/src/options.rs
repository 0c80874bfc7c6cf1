//! The options of an extract: targets, tables, names and limits.

use std::path::PathBuf;
use std::sync::Arc;

use tracesift_archive::WriterOptions;

use crate::event_selection::EventSelection;
use crate::input;
use crate::stage::StageWatch;
use crate::symbols::NameSource;
use crate::table_choice::TableChoice;

/// How to extract.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directory for the archives; `None`: beside the input.
    pub out: Option<PathBuf>,
    /// Extract again what is up to date.
    pub overwrite: bool,
    /// Which events the table `events` keeps. `None`: the default ones, and an archive that is there is good as it is.
    pub events: Option<EventSelection>,
    /// Which tables are written. An archive that is there is good if it left none of them out.
    pub tables: TableChoice,
    /// Stacks are not looked for: for an archive that answers a question which needs none, and is then thrown away.
    pub without_stacks: bool,
    /// The event of Linux recordings whose samples are CPU time. `None`: the best one, and an archive that is there is good as
    /// it is. Windows recordings have none to choose from.
    pub cpu_event: Option<String>,
    /// Directory below which the file system of the recorded machine lies: files that a recording names are looked for there. Files of
    /// this machine are used besides where they are, by their build id, the ones that were recorded.
    pub sysroot: Option<PathBuf>,
    /// Where the names of code come from; `None`: code is named by what the recording itself says, and an archive that is there is good as
    /// it is.
    pub symbols: Option<Arc<dyn NameSource>>,
    /// Bounds of one extract, and the directory for its temporary files.
    pub budget: Budget,
    /// What unpacking may cost.
    pub limits: input::Limits,
    /// Who is told what threads work on.
    pub stages: Option<Arc<dyn StageWatch>>,
}

impl Options {
    /// The events that are kept one by one, where their table is written at all.
    pub(crate) fn kept_events(&self) -> EventSelection {
        if self.tables.wants("events") { self.events.clone().unwrap_or_default() } else { EventSelection::None }
    }
}

/// The thread that takes slices keeps as many workers busy, about.
const ENOUGH_WORKERS: usize = 3;

/// Memory for each worker, at least, bytes: where there is less fewer of them work.
const WORKER_MEMORY: usize = 32 << 20;

/// Bounds of an extract.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Bytes of anonymous memory that one recording may take, symbols apart.
    pub memory: usize,
    /// Directory for temporary files; `None`: the system's.
    pub temporary: Option<PathBuf>,
    /// Rows of a row group; `None`: as many as suit most questions.
    pub group_rows: Option<usize>,
    /// Switches and samples from which on an archive has the tables that only long recordings need.
    pub long_from: u64,
    /// Switches and samples of the shortest buckets of the timeline tables, on average and at least.
    pub rows_of_bucket: u64,
    /// Switches and samples for each of these buckets of a process, on average and at least.
    pub rows_of_tile: u64,
    /// Threads that work on slices of a recording, beside the one that takes the slices; `None`: as many as help. The archive does not
    /// depend on it.
    pub threads: Option<usize>,
    /// Records between two cuts of a recording into slices, at least; `None`: as the memory allows. The archive does not depend on it.
    pub slice_records: Option<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            temporary: None,
            group_rows: None,
            long_from: 2_000_000,
            rows_of_bucket: 1_400,
            rows_of_tile: 10,
            threads: None,
            slice_records: None,
        }
    }
}

impl Budget {
    /// Bytes of rows that are kept for the summaries.
    pub(crate) fn kept_rows(&self) -> usize {
        self.memory / 8
    }

    /// Threads that work on slices of one recording, where so many recordings are extracted side by side.
    #[must_use]
    pub fn threads_for(recordings: usize) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (processors / recordings.max(1)).clamp(1, ENOUGH_WORKERS)
    }

    /// Threads that work on slices, as the memory allows.
    pub(crate) fn workers(&self) -> usize {
        let affordable = (self.memory / WORKER_MEMORY).max(1);
        self.threads.unwrap_or_else(|| Self::threads_for(1)).clamp(1, affordable)
    }

    /// Bytes of tables of each of them.
    pub(crate) fn worker(&self) -> usize {
        self.memory / (8 * self.workers().max(4))
    }

    /// Records between two cuts of a recording: each worker has a slice, and some more wait.
    pub(crate) fn cut_records(&self) -> usize {
        self.slice_records.unwrap_or_else(|| self.memory / (1024 * self.workers().max(3))).max(1)
    }

    /// Records between two places at which tables of stacks may be dropped.
    pub(crate) const fn pace(&self) -> u64 {
        let pace = self.memory as u64 / (32 << 10);
        if pace == 0 { 1 } else { pace }
    }

    /// Bytes of buffers between two cuts of a recording, where they are not mapped.
    pub(crate) const fn cut_bytes(&self) -> usize {
        self.memory / 16
    }

    /// Records that may come within the look-ahead for stacks.
    pub(crate) const fn records_ahead(&self) -> usize {
        self.memory / 512
    }

    /// How the archive of this recording is written.
    pub(crate) fn writer(&self, trace: String) -> WriterOptions {
        WriterOptions { trace, group_rows: self.group_rows, ..WriterOptions::default() }
    }

    /// Bytes of the figures that are added up for the timeline tables.
    pub(crate) fn timelines(&self) -> usize {
        self.memory / 4
    }

    /// Bytes of the sums that summaries are made of.
    pub(crate) fn summaries(&self) -> usize {
        self.memory / 4
    }
}
