//! The arguments of a question: the files, its own options, the test runs, the output.

use clap::Args;

use super::{FileArgs, OutputArgs, RunArgs};

/// A question with options of its own.
#[derive(Debug, Args)]
pub(crate) struct Asked<O: Args> {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) options: O,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
