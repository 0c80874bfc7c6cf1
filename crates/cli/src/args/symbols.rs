//! `symbols` and its options.

use clap::{Args, Subcommand, ValueEnum};
use tracesift_ask::question::missing;
use tracesift_ask::time_range::TimeRange;
use tracesift_extract::input::Patterns;

use super::{FileArgs, OutputArgs, RowArgs, RunArgs};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Symbols {
    /// Which modules have code without a name, and how much time hides behind it
    Missing(Box<MissingArgs>),
}

/// Options of `symbols missing`.
#[derive(Debug, Args)]
pub(crate) struct MissingArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    modules: MissingRowArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct MissingRowArgs {
    /// Only these modules, with or without extension
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    dll: String,
    /// Only samples and waits in this part of the recording: 3.2s..7.9s, ..500ms (s without unit)
    #[arg(long, value_name = "RANGE", default_value = "..", hide_default_value = true, allow_hyphen_values = true)]
    time: TimeRange,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu")]
    sort: MissingSort,
}

/// Order of `symbols missing`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MissingSort {
    Cpu,
    Wait,
    Frames,
    Name,
}

impl MissingArgs {
    /// The question.
    pub(crate) fn question(&self) -> missing::Question {
        missing::Question {
            time: self.modules.time,
            module: Patterns::parse(&self.modules.dll),
            sort: match self.modules.sort {
                MissingSort::Cpu => missing::Sort::Cpu,
                MissingSort::Wait => missing::Sort::Wait,
                MissingSort::Frames => missing::Sort::Frames,
                MissingSort::Name => missing::Sort::Name,
            },
            top: self.rows.top(),
        }
    }
}
