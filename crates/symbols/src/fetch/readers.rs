//! The interfaces of the search: readers of formats, and an observer of the progress.

use std::fs::File;

use crate::error::Error;
use crate::identity::{BuildId, PdbId};
use crate::search::{Identity, Source};
use crate::table::Table;

/// Reads files of all formats. Files come from strangers; whoever reads them checks their identity before anything else.
pub trait Readers: Sync {
    /// Makes a table of a symbol file.
    ///
    /// # Errors
    /// [`Error::OtherBinary`] when it is not of the wanted identity, others when it is no such file or useless. The file is then not used
    /// and, if it was downloaded, not kept.
    fn read(&self, reading: &Reading<'_>) -> Result<Names, Error>;

    /// The PDB that the debug directory of a PE image names, if it is the wanted image.
    ///
    /// # Errors
    /// As [`Readers::read`].
    fn pdb_of(&self, image: &File, identity: &Identity) -> Result<Option<PdbId>, Error>;
}

/// A file that is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The file, at any position.
    pub file: &'a File,
    /// Its length, bytes.
    pub length: u64,
    /// How it is to be read.
    pub source: Source,
    /// What it must be.
    pub identity: &'a Identity,
    /// What to call the table ([`TableBuilder::finish`](crate::TableBuilder::finish)).
    pub key: &'a str,
    /// Whether a file that it shares with others may be asked for ([`Names::Needs`]): once.
    pub may_need: bool,
    /// That file, if it was asked for and found.
    pub shared: Option<&'a File>,
}

/// What a file gives.
#[derive(Debug)]
pub enum Names {
    /// A table.
    Table(Table),
    /// First another file is needed, which several share (`.gnu_debugaltlink`).
    Needs {
        /// Its build id.
        build_id: BuildId,
        /// The path where it was when the file was made.
        path: String,
    },
    /// It is the wanted file and has nothing of the kind, as most have not: no portable PDB is inside of it.
    Nothing,
}

/// A download, among those of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DownloadNumber(pub u64);

/// Is told how far a run is; from several threads at once.
pub trait Observer: Sync {
    /// A download begins.
    fn begun(&self, download: DownloadNumber, url: &str) {
        let _ = (download, url);
    }

    /// Bytes have come, as they are sent; `total` where the server says it.
    fn received(&self, download: DownloadNumber, bytes: u64, total: Option<u64>) {
        let _ = (download, bytes, total);
    }

    /// A download has ended, with or without a file.
    fn ended(&self, download: DownloadNumber, found: bool) {
        let _ = (download, found);
    }

    /// Another look-up is done, of as many.
    fn looked_up(&self, done: usize, of: usize) {
        let _ = (done, of);
    }

    /// Something that concerns the whole run: a server that is down, an element of the search path that is not searched. Once each.
    fn trouble(&self, line: &str) {
        let _ = line;
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Observer for Silence {}
