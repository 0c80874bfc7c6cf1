//! Options of `extract`.

use std::path::PathBuf;

use clap::Args;
use tracesift_extract::{EventSelection, OPTIONAL_TABLES, TableChoice};
use tracesift_grammar::{QuantityError, parse_size};

use super::files::RunArgs;
use super::symbols::SearchArgs;

/// Options of `extract`.
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// Recordings, directories, wildcards or lists: .etl and perf.data, plain or in .zip, .7z, .cab, .gz, .xz, .diagsession [default: the current directory]
    #[arg(value_name = "PATHS")]
    pub(crate) paths: Vec<String>,

    /// Directory for the archives [default: beside each recording]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Extract again what is up to date
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// Directories below the named ones too
    #[arg(short, long)]
    pub(crate) recursive: bool,

    /// Only list what would be extracted
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// All files are parts of one recording, which gets this name
    #[arg(long, value_name = "NAME")]
    pub(crate) merge: Option<String>,

    /// Keep at least these events one by one: none, default (those of providers) or all
    #[arg(long, value_name = "SELECTION")]
    pub(crate) events: Option<EventSelection>,

    #[arg(long, value_name = "TABLES", default_value = "", hide_default_value = true, help = tables_help())]
    pub(crate) tables: TableChoice,

    /// Event of a perf.data whose samples are CPU time [default: cpu-clock, task-clock, else cycles recorded with a frequency]
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,

    /// Name the code from symbol files: path (the value of _NT_SYMBOL_PATH), local (no more than files of this machine), msdl, chrome, mozilla, debuginfod, directories, srv*STORE*URL; `;` separates
    #[arg(long, value_name = "PATH", help_heading = "Symbols")]
    pub(crate) symbols: Option<String>,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    /// Where the file system of the recorded Linux machine lies: with its programs stacks of --call-graph dwarf are unwound [default: files of this machine with the recorded build ids]
    #[arg(long, value_name = "DIR")]
    pub(crate) sysroot: Option<PathBuf>,

    /// Recordings extracted at the same time [default: as CPUs and --memory allow]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Threads that work on each recording, beside the main one [default: as CPUs and --jobs allow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,

    /// Memory that all recordings together may take, 2GiB or 800MB
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<usize>,

    /// Directory for temporary files [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) runs: RunArgs,
}

/// Less than this and an extract would do nothing but write temporary files.
const SMALLEST_MEMORY: usize = 64 << 20;

fn memory(text: &str) -> Result<usize, String> {
    let bytes = parse_size(text).map_err(|error: QuantityError| error.to_string())?;
    match usize::try_from(bytes) {
        Ok(bytes) if bytes >= SMALLEST_MEMORY => Ok(bytes),
        _ => Err(format!("at least {} MiB are needed", SMALLEST_MEMORY >> 20)),
    }
}

/// The help names every table that can be left out.
fn tables_help() -> String {
    format!(
        "Write only these of the large tables: {}; `;` separates, `!` excludes, `*` and `?` are wildcards [default: all]",
        OPTIONAL_TABLES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    #[test]
    fn the_help_names_every_table_that_can_be_left_out() {
        let extract = super::ExtractArgs::augment_args(clap::Command::new("extract"));
        let tables = extract.get_arguments().find(|argument| argument.get_id() == "tables").unwrap();
        let help = tables.get_help().unwrap().to_string();
        for table in tracesift_extract::OPTIONAL_TABLES {
            assert!(help.contains(table), "{table}");
        }
    }
}
