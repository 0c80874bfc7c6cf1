//! `symbols` and its options, and where names come from, for it and for `extract`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tracesift_ask::question::missing;
use tracesift_grammar::{parse_duration, parse_size};

use super::{Asked, Deferred, FileArgs, OutputArgs};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Symbols {
    /// Give the code in archives its names, from symbol files
    Load(Deferred<LoadArgs>),
    /// Which modules have code without a name, and how much time hides behind it
    Missing(Deferred<Asked<missing::Options>>),
    /// Tell function, inlined functions, source file and line of addresses in an image, a PDB, an ELF or a Breakpad file
    Lookup(Deferred<LookupArgs>),
    /// The cache of symbols on this machine
    Cache(CacheArgs),
}

/// Where names come from.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Symbols")]
pub(crate) struct SearchArgs {
    /// Directory for tables of symbols and downloaded files [default: tracesift/symbols in the user's directory for caches]
    #[arg(long, value_name = "DIR")]
    pub(crate) symbol_cache: Option<PathBuf>,

    /// Ask no server, whatever the search path says
    #[arg(long)]
    pub(crate) offline: bool,

    /// Ask servers again for files that they did not have within the last day
    #[arg(long)]
    pub(crate) retry: bool,
}

/// Options of `symbols load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Where to look: path (the value of _NT_SYMBOL_PATH), local (no more than files of this machine), msdl, chrome, mozilla, debuginfod, directories, srv*STORE*URL; `;` separates
    #[arg(long, value_name = "PATH", default_value = "local", help_heading = "Symbols")]
    pub(crate) symbols: String,

    /// Where the file system of the recorded Linux machine lies
    #[arg(long, value_name = "DIR", help_heading = "Symbols")]
    pub(crate) sysroot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

/// Options of `symbols lookup`.
#[derive(Debug, Args)]
pub(crate) struct LookupArgs {
    /// Image (.exe, .dll, .sys), PDB, ELF or Breakpad file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Addresses: of an ELF file as nm, objdump and addr2line print them, of an image relative to its base or as dumpbin prints them, of a PDB relative to the image's base; hexadecimal with 0x, with a letter, or with zeros in front as nm writes them, else decimal; without any they are read from standard input
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<Address>,

    /// Addresses are those of archives (the column rva of frames): relative to the image's base, of an ELF file offsets in it
    #[arg(long)]
    pub(crate) rva: bool,

    /// Where to look for the PDB of an image or the debug information of an ELF file, as for `symbols load`
    #[arg(long, value_name = "PATH", default_value = "local", help_heading = "Symbols")]
    pub(crate) symbols: String,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// An address: hexadecimal with 0x or as `nm` and `objdump` print it, else decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) u64);

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `nm` writes all digits of an address, `objdump` a colon behind it; neither writes 0x.
        let (digits, has_colon) = text.strip_suffix(':').map_or((text, false), |digits| (digits, true));
        let is_padded = digits.starts_with('0') && matches!(digits.len(), 8 | 16);
        let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None if has_colon || is_padded || digits.contains(|c: char| c.is_ascii_alphabetic()) => {
                u64::from_str_radix(digits, 16)
            }
            None => digits.parse(),
        };
        parsed.map(Self).map_err(|_| format!("`{text}` is no address: write 0x1a2b or 6699"))
    }
}

/// Options of `symbols cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: CacheAction,

    /// Directory of the cache [default: tracesift/symbols in the user's directory for caches]
    #[arg(long, value_name = "DIR", global = true, display_order = 1000)]
    pub(crate) symbol_cache: Option<PathBuf>,
}

/// What to do with the cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// List the tables of symbols, the largest last
    List(Deferred<CacheListArgs>),
    /// Remove tables that were not used for long, or the longest unused ones until the others fit
    Prune {
        /// Bytes that may stay, 2GiB or 800MB
        #[arg(long, value_name = "SIZE", value_parser = size)]
        size: Option<u64>,
        /// Remove tables that were not used for this time: 30d or 12h
        #[arg(long, value_name = "AGE", value_parser = age)]
        unused: Option<Duration>,
    },
    /// Remove all tables; downloaded files stay
    Clear,
}

/// Options of `symbols cache list`.
#[derive(Debug, Args)]
pub(crate) struct CacheListArgs {
    /// List the N largest tables only; the totals are those of all
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).map_err(|error| error.to_string())?;
    u64::try_from(bytes).map_err(|_| "must not be negative".to_owned())
}

/// A length of time that may be days.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write 30d, 12h or 5min");
    match text.trim().strip_suffix('d') {
        // As exact as hours are.
        Some(days) => parse_duration(&format!("{}h", days.trim_end())).ok().and_then(|hours| hours.checked_mul(24)),
        None => parse_duration(text).ok(),
    }
    .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::age;

    #[test]
    fn ages_are_durations_and_days() {
        for (text, seconds) in [("30d", 2_592_000), ("1.5d", 129_600), ("12h", 43_200), ("5min", 300), ("90 s", 90)] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(age("1.5s"), Ok(Duration::from_millis(1500)));
        for text in ["", "d", "30", "-1d", "x", "1y"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
