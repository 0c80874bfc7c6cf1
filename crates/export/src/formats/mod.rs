//! The formats of other tools: one module each, and one list of them.
//!
//! | format | module | takes | shows |
//! |---|---|---|---|
//! | folded stacks | [`folded`] | [`Folded`] or [`Listed`](crate::Listed) | what flamegraph.pl, inferno and speedscope read |
//! | pprof | [`pprof`] | [`Folded`] | `go tool pprof`, Grafana, many continuous profilers |
//! | speedscope | [`speedscope`] | [`Profile`] | order of stacks in each thread |
//! | Firefox Profiler | [`firefox`] | [`Profile`] | times, threads, markers |
//! | Perfetto | [`perfetto`] | [`Profile`] | times, threads, waits as slices, SQL |
//!
//! A new format is a module here and an entry of the list. The command line takes words, endings of names and writers from it.

use std::io::{self, Write};

use crate::profile::{Folded, Profile};
use crate::tree::{Grouping, Stacked};

pub mod firefox;
pub mod folded;
pub mod perfetto;
pub mod pprof;
pub mod speedscope;

/// Writes a profile in a format, from the least that the format needs.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// From stacks with their weights.
    Stacks(fn(Stacked<'_>, &mut dyn Write) -> io::Result<()>),
    /// From sums per thread and stack, without times.
    Sums(fn(&Folded, &mut dyn Write) -> io::Result<()>),
    /// From single samples and markers, with their times.
    Times(fn(&Profile, &mut dyn Write) -> io::Result<()>),
}

/// Declares the formats. Each has the word on the command line, the ending of names of files without the dot, and the writer. No two have
/// the same ending.
macro_rules! formats {
    ($($(#[doc = $meaning:literal])+ $variant:ident($word:literal, $ending:literal, $writer:expr),)*) => {
        /// A format of another tool.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format {
            $($(#[doc = $meaning])+ $variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Every format with its word on a command line and its meaning.
            pub const WORDS: &[(&'static str, &'static str, Self)] =
                &[$(($word, concat!($($meaning),+).trim_ascii(), Self::$variant)),*];

            /// The word on a command line.
            pub fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The ending of names of files in this format, without the leading dot.
            pub fn extension(self) -> &'static str {
                match self {
                    $(Self::$variant => $ending,)*
                }
            }

            /// The writer of the format.
            pub fn writer(self) -> Writer {
                match self {
                    $(Self::$variant => $writer,)*
                }
            }
        }
    };
}

formats! {
    /// Folded stacks: a line per stack
    Folded("folded", "folded", Writer::Stacks(|stacks, mut out| folded::write(stacks, Grouping::Process, &mut out))),
    /// speedscope
    Speedscope("speedscope", "speedscope.json", Writer::Times(|profile, mut out| speedscope::write(profile, &mut out))),
    /// Firefox Profiler
    Firefox("firefox", "firefox.json", Writer::Times(|profile, mut out| firefox::write(profile, &mut out))),
    /// pprof
    Pprof("pprof", "pb.gz", Writer::Sums(|profile, mut out| pprof::write(profile, &mut out))),
    /// Perfetto
    Perfetto("perfetto", "perfetto-trace", Writer::Times(|profile, mut out| perfetto::write(profile, &mut out))),
}

impl Format {
    /// The format that a file's name ends in, whatever the case.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let is_named = |format: &&Self| name.strip_suffix(format.extension()).is_some_and(|stem| stem.ends_with('.'));
        Self::ALL.iter().find(is_named).copied()
    }

    /// Writes the profile in this format.
    ///
    /// # Errors
    ///
    /// What `out` says.
    pub fn write(self, profile: Profile, out: &mut impl Write) -> io::Result<()> {
        match self.writer() {
            Writer::Times(write) => write(&profile, out),
            Writer::Sums(write) => write(&profile.fold(), out),
            Writer::Stacks(write) => write((&profile.fold()).into(), out),
        }
    }
}
