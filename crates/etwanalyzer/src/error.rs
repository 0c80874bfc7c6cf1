//! Errors of an import, one line each.

use std::io;
use std::path::PathBuf;

/// An import that did not come about. Nothing half-written stays behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A directory, a pipe or a device.
    #[error("{} is no regular file; name an X.json or X.json7z", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A part of an extract was named in place of its main document.
    #[error("{} is a part of an extract; name its main file, {}", path.display(), main.display())]
    DerivedPart {
        /// The part.
        path: PathBuf,
        /// The main document beside it.
        main: PathBuf,
    },
    /// The operating system does not let it be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The text is no JSON, or has another type somewhere than an extract has there.
    #[error("{document} cannot be read: {reason}")]
    Json {
        /// The file, with its member where it is packed.
        document: String,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// JSON, but of something else.
    #[error("{document} is no extract of ETWAnalyzer: it has no SessionStart")]
    NotAnExtract {
        /// The file, with its member where it is packed.
        document: String,
    },
    /// A document or what comes out of a container is larger than it may be.
    #[error("{document} has more than the {limit} bytes that are allowed")]
    TooLarge {
        /// The file, with its member where it is packed.
        document: String,
        /// The limit.
        limit: u64,
    },
    /// Rows without end.
    #[error("{document} cannot be read: more rows than any recording has")]
    TooManyRows {
        /// The file, with its member where it is packed.
        document: String,
    },
    /// Few long texts that very many rows refer to.
    #[error("{document}: the names in its rows are more than {limit} bytes, so it was not made by ETWAnalyzer")]
    TooMuchText {
        /// The file, with its member where it is packed.
        document: String,
        /// The limit.
        limit: u64,
    },
    /// A container without a main document, or with several.
    #[error("{} holds {count} main documents of an extract, not one", path.display())]
    MainDocuments {
        /// The container.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// A container cannot be unpacked.
    #[error("{} cannot be unpacked: {reason}", path.display())]
    Container {
        /// The container.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The place of the archive is taken by the extract of a recording, which knows more than an import.
    #[error(
        "{} is the extract of a recording, which an import would replace with less; name another directory",
        archive.display()
    )]
    ExtractIsThere {
        /// The archive that is there.
        archive: PathBuf,
    },
    /// The directory for archives cannot be made.
    #[error("{}: {source}; name another directory", directory.display())]
    Out {
        /// The directory.
        directory: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The archive cannot be written.
    #[error(transparent)]
    Archive(#[from] tracesift_archive::Error),
}
