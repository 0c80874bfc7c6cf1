//! Limits of the cost of an extract from an unknown source.

use std::time::Duration;

/// What reading one extract may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one JSON document. What is kept of it takes at most a few times as much memory. A recording of 600 MB has about 4 MB.
    pub document: u64,
    /// Bytes of the texts of all rows. Rows refer to texts by place, so that a small document could have many rows of one long text.
    pub row_texts: u64,
    /// Bytes that may come out of a container, members that are passed over included: those may be far larger than the documents.
    pub unpacked: u64,
    /// Bytes that may come out per byte of the container, once more than [`Limits::document`] have.
    pub ratio: u64,
    /// Members of a container, wanted or not.
    pub members: usize,
    /// Bytes that a decoder may need for its dictionary.
    pub dictionary: u64,
    /// How long unpacking a container may get nowhere.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            document: 96 << 20,
            row_texts: 2 << 30,
            unpacked: 32 << 30,
            ratio: 2000,
            members: 1000,
            dictionary: 512 << 20,
            silence: Duration::from_secs(60),
        }
    }
}

/// Bytes that the rows of one document may take in memory, without their texts: those of two million rows of methods, where a document of 2 MB
/// has some 5,000. They are in memory twice at most, as what was read and as what is written.
pub(crate) const ROWS: usize = 128 << 20;
/// Processes of one extract.
pub(crate) const PROCESSES: usize = 1 << 17;
/// Method names of one extract, and rows of one process: ETWAnalyzer's own bound.
pub(crate) const METHODS: usize = 1 << 20;
/// Modules, PDBs and shared texts of the part `Modules`.
pub(crate) const MODULES: usize = 1 << 17;
/// CPUs of one machine.
pub(crate) const CPUS: usize = 1 << 15;
/// Disks, volumes and network cards.
pub(crate) const DEVICES: usize = 1024;
/// Marks, and stack tags of one process.
pub(crate) const MARKS: usize = 1 << 20;

/// Hardware counters.
pub(crate) const COUNTERS: usize = 1024;
/// Power configurations.
pub(crate) const CONFIGURATIONS: usize = 4096;
/// Errors of operations of one kind on a file.
pub(crate) const STATUSES: usize = 1 << 16;
/// Paths on a drive, and in all.
pub(crate) const FILES: usize = 1 << 20;
/// Connections of one extract.
pub(crate) const CONNECTIONS: usize = 1 << 20;
/// Retransmissions.
pub(crate) const RETRANSMISSIONS: usize = 1 << 21;
/// DNS queries.
pub(crate) const QUERIES: usize = 1 << 20;
/// Exceptions with the same stack and message.
pub(crate) const EXCEPTIONS: usize = 1 << 20;
/// Stacks of exceptions.
pub(crate) const STACKS: usize = 1 << 19;
/// Providers of events.
pub(crate) const PROVIDERS: usize = 1 << 16;
/// Events of a provider, and kinds of its events.
pub(crate) const EVENTS: usize = 1 << 21;
/// Fields of an event, and elements of a field.
pub(crate) const VALUES: usize = 1 << 16;
/// Starvations of the thread pool of one process.
pub(crate) const STARVATIONS: usize = 1 << 19;

/// What is left of [`Limits::row_texts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextBudget(pub(crate) u64);

impl TextBudget {
    /// Takes the length of a text; `None` when it is used up.
    pub(crate) fn spend(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.checked_sub(text.len() as u64)?;
        Some(())
    }
}
