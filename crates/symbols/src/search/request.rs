//! The requests of a look-up, and the answers to them.

use std::sync::Arc;

use crate::identity::{BuildId, PdbId};

use super::candidates::Place;
use super::wanted::{Identity, Key, Source};

/// A file that the driver holds open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileNumber(pub u32);

/// What the machine wants to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Take a table from the cache: [`Answer::Named`] or [`Answer::Absent`].
    Cached(Key),
    /// Open a regular file of this machine: [`Answer::File`], [`Answer::Absent`] or [`Answer::Refused`].
    Open(Place),
    /// Fetch a file: [`Answer::File`], [`Answer::Absent`], [`Answer::Refused`] or [`Answer::Unreachable`].
    Download {
        /// The server's address, by which it is known whether it answers at all.
        server: Arc<str>,
        /// The file's address.
        url: String,
        /// What it must begin as.
        contents: Contents,
        /// Where another process that fetches the same file puts it.
        kept: Vec<Place>,
    },
    /// Whether a server's store has two tiers: [`Answer::Yes`] or anything else.
    HasTwoTiers(Arc<str>),
    /// Read a pointer: [`Answer::Text`] or [`Answer::Refused`].
    Pointer(FileNumber),
    /// Unpack the only file of a cabinet: [`Answer::File`] or [`Answer::Refused`].
    Expand(FileNumber),
    /// Find the PDB that an image names, if the image is the wanted one: [`Answer::Pdb`] or [`Answer::Refused`].
    Identify {
        /// The image.
        file: FileNumber,
        /// What it must be.
        identity: Identity,
    },
    /// Make a table: [`Answer::Named`], [`Answer::Needs`] or [`Answer::Refused`].
    Read {
        /// The file.
        file: FileNumber,
        /// How it is read.
        source: Source,
        /// What it must be.
        identity: Identity,
        /// What the table is called in the cache.
        key: Key,
        /// A file that [`Answer::Needs`] asked for; `Some(None)` where it was not found, and the file must do without.
        shared: Option<Option<FileNumber>>,
    },
    /// Put a file that was right into stores: [`Answer::Yes`] or [`Answer::Refused`].
    Keep {
        /// The file.
        file: FileNumber,
        /// Where.
        places: Vec<Place>,
    },
    /// Forget a file that was wrong, also what was downloaded of it. Any answer.
    Discard(FileNumber),
}

/// What a downloaded file must begin as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contents {
    /// A symbol file or an image.
    Of(Source),
    /// A cabinet.
    Cabinet,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The file is open, or here.
    File(FileNumber),
    /// It is not there.
    Absent,
    /// It was not there lately, so nobody was asked again.
    AbsentLately,
    /// It is there and of no use, with the reason.
    Refused(String),
    /// The server does not answer; its reason is told elsewhere, once.
    Unreachable,
    /// The user has ended the downloads.
    Cancelled,
    /// Yes, or done.
    Yes,
    /// What a pointer says.
    Text(String),
    /// The PDB of an image; `None` where the image names none.
    Pdb(Option<PdbId>),
    /// There is a table.
    Named,
    /// There will be a better table with another file, by its build id and the path at which it was expected.
    Needs(BuildId, String),
}

/// How a look-up goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This must be done, and [`Lookup::answer`](super::Lookup::answer) told.
    Ask(Request),
    /// The table of the last [`Answer::Named`] is it.
    Done,
    /// There is none; [`Lookup::tried`](super::Lookup::tried) says why.
    Missing,
}
