//! The options of an extract: targets, tables, names and limits.

use std::path::PathBuf;
use std::sync::Arc;

use tracesift_archive::WriterOptions;

use crate::event_selection::EventSelection;
use crate::input;
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
}

impl Options {
    /// The events that are kept one by one, where their table is written at all.
    pub(crate) fn kept_events(&self) -> EventSelection {
        if self.tables.wants("events") { self.events.clone().unwrap_or_default() } else { EventSelection::None }
    }
}

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
    /// Threads that work on slices of a recording; `None`: as many as there are processors.
    pub threads: Option<usize>,
    /// Records of such a slice, at least. The archive does not depend on it.
    pub slice_records: usize,
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
            slice_records: 1 << 18,
        }
    }
}

impl Budget {
    /// Bytes of rows that are kept for the summaries.
    pub(crate) fn kept_rows(&self) -> usize {
        self.memory / 8
    }

    /// Threads that work on slices.
    pub(crate) fn workers(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(processors).max(1)
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
