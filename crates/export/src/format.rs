//! The formats by name, so that whoever offers them has one list.

use std::io::{self, Write};

use crate::profile::Profile;
use crate::tree::Grouping;
use crate::{firefox, folded, perfetto, pprof, speedscope};

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Folded stacks, grouped by processes.
    Folded,
    /// speedscope's own format.
    Speedscope,
    /// The Firefox Profiler's processed profile.
    Firefox,
    /// What `go tool pprof` reads.
    Pprof,
    /// A Perfetto trace.
    Perfetto,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Folded, Self::Speedscope, Self::Firefox, Self::Pprof, Self::Perfetto];

    /// The name on a command line.
    pub fn key(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Speedscope => "speedscope",
            Self::Firefox => "firefox",
            Self::Pprof => "pprof",
            Self::Perfetto => "perfetto",
        }
    }

    /// What names of files in this format end in, without the leading dot. No two formats have the same.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Speedscope => "speedscope.json",
            Self::Firefox => "firefox.json",
            Self::Pprof => "pb.gz",
            Self::Perfetto => "perfetto-trace",
        }
    }

    /// The format that a file's name ends in, whatever the case.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let is_named = |format: &Self| name.strip_suffix(format.extension()).is_some_and(|stem| stem.ends_with('.'));
        Self::ALL.into_iter().find(is_named)
    }

    /// Whether times and markers get into the file. Where they do not, a profile without them is enough.
    pub fn has_times(self) -> bool {
        match self {
            Self::Speedscope | Self::Firefox | Self::Perfetto => true,
            Self::Folded | Self::Pprof => false,
        }
    }

    /// Writes the profile in this format.
    ///
    /// # Errors
    ///
    /// What `out` says.
    pub fn write(self, profile: Profile, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Speedscope => speedscope::write(&profile, out),
            Self::Firefox => firefox::write(&profile, out),
            Self::Perfetto => perfetto::write(&profile, out),
            Self::Pprof => pprof::write(&profile.fold(), out),
            Self::Folded => folded::write(&profile.fold(), Grouping::Process, out),
        }
    }
}
