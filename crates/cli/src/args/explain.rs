//! Options of `explain`.

use std::path::PathBuf;

use clap::Args;
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::path::{AccountOptions, AccountQuery};

use super::{FileArgs, ReportFormat, RunArgs};
use crate::exit::UsageError;

/// Options of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    account: AccountOptions,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: ExplanationOutput,
}

/// Format and place of an explanation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ExplanationOutput {
    /// Format of the answer [default: what the name of the file says, else table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Write the answer to a file; its name tells the format: .json, .html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

impl ExplanationOutput {
    /// The format; where none is named, the one that the name of the file ends with.
    pub(crate) fn format(&self) -> ReportFormat {
        ReportFormat::chosen(self.format, self.out.as_deref())
    }
}

impl ExplainArgs {
    /// What is asked of each recording.
    ///
    /// # Errors
    /// See [`AccountOptions::query`].
    pub(crate) fn accounts(&self, warn: &mut dyn FnMut(&str)) -> Result<AccountQuery, UsageError> {
        self.account.query(&self.filter, warn)
    }
}
