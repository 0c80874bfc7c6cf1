//! Options of `run`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Directory of the recordings [default: what the plan says, else recordings beside it]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Only cases that match; `;` separates, `!` excludes
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    pub(crate) only: String,

    /// Names of code in the archives, as `extract --symbols` takes it
    #[arg(long, value_name = "SOURCES", default_value = "local")]
    pub(crate) symbols: String,

    /// Keep recordings as they are: the table then has no CPU, wait and ready times
    #[arg(long)]
    pub(crate) no_extract: bool,

    /// Say what would run, and what is left of it
    #[arg(long, conflicts_with = "table")]
    pub(crate) dry_run: bool,

    /// Run nothing, show the table of what has been run
    #[arg(long)]
    pub(crate) table: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
