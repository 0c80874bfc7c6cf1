//! Options of `time`.

use clap::Args;
use tracesift_ask::question::instants;
use tracesift_ask::time_spec::Instant;

use super::{FileArgs, OutputArgs, RunArgs, ZeroArgs};

/// Options of `time`.
#[derive(Debug, Args)]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    /// An instant: 3.2s, 14:02:10 (recorder's local time), '2022-04-04 14:02', 12:02Z (UTC); without it start and end of the recording
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Vec<Instant>,
    #[command(flatten)]
    pub(crate) zero: ZeroArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl TimeArgs {
    /// The question.
    pub(crate) fn question(&self) -> instants::Question {
        instants::Question { instants: self.at.clone(), ..instants::Question::default() }
    }
}
