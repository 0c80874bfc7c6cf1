//! The names that are looked for, and their keys in the cache.

use std::fmt;

use crate::identity::{BuildId, ImageId, PdbId};

use super::file_name::FileName;

/// A binary of a recording: what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// File name.
    pub name: String,
    /// Where it was on the machine of the recording.
    pub path: Option<String>,
    /// Its PDB, by its CodeView record.
    pub pdb: Option<PdbId>,
    /// The portable PDB of its managed code, where that is another one.
    pub managed_pdb: Option<PdbId>,
    /// Time stamp and size of a PE image.
    pub image: Option<ImageId>,
    /// Build id of an ELF file.
    pub build_id: Option<BuildId>,
}

/// The identity that a file must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Of a PDB, of a Breakpad file, or of an image whose CodeView record must say so.
    Pdb(PdbId),
    /// Of a PE image.
    Image(ImageId),
    /// Of an ELF file, of the file with its debug information, or of a Breakpad file for it.
    Build(BuildId),
}

/// How a file is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A PDB, native or portable.
    Pdb,
    /// A Breakpad text.
    Breakpad,
    /// A PE image: its export table.
    Image,
    /// A PE image: the portable PDB inside of it.
    Embedded,
    /// An ELF file that holds debug information and no code.
    Debug,
    /// An ELF file as it was run.
    Elf,
}

/// What a table in the cache is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Source {
    /// What such a file is called in messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pdb => "PDB",
            Self::Breakpad => "Breakpad file",
            Self::Image | Self::Embedded => "PE image",
            Self::Debug | Self::Elf => "ELF file",
        }
    }

    /// The part of a key.
    fn suffix(self) -> &'static str {
        match self {
            Self::Pdb => "pdb",
            Self::Breakpad => "sym",
            Self::Image => "image",
            Self::Embedded => "embedded",
            Self::Debug => "debug",
            Self::Elf => "elf",
        }
    }
}

impl Key {
    /// Of the table that one source makes for an identity. `None` when the identity cannot be a file's.
    #[must_use]
    pub fn new(identity: &Identity, source: Source) -> Option<Self> {
        let suffix = source.suffix();
        let name_of = |name: &str| FileName::last_of(name).map(|name| name.as_str().to_lowercase());
        Some(Self(match identity {
            Identity::Pdb(pdb) => format!("{}.{}.{suffix}", name_of(&pdb.name)?, pdb.digits()),
            Identity::Image(image) => format!("{}.{}.{suffix}", name_of(&image.name)?, image.digits()),
            Identity::Build(build) => format!("{}.{suffix}", build_digits(build)?),
        }))
    }

    /// Of an ELF file that has no identity but that it is this file, on this machine, in this state.
    #[must_use]
    pub(crate) fn of_state(device: u64, number: u64, size: u64, changed_ns: i128) -> Self {
        Self(format!("file-{device:x}-{number:x}-{size:x}-{changed_ns:x}.{}", Source::Elf.suffix()))
    }

    /// A name for a file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pdb(pdb) => write!(f, "{} {}", shown_name(&pdb.name), pdb.digits()),
            Self::Image(image) => write!(f, "{} {}", shown_name(&image.name), image.digits()),
            Self::Build(build) => write!(f, "{build}"),
        }
    }
}

/// A name from a stranger, short and without control characters.
pub(super) fn shown_name(name: &str) -> String {
    let mut left = name.chars().filter(|c| !c.is_control());
    let mut shown: String = left.by_ref().take(80).collect();
    if left.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Build ids are between 2 and 64 bytes long.
pub(super) fn build_digits(build: &BuildId) -> Option<String> {
    (2..=64).contains(&build.0.len()).then(|| build.to_string())
}
