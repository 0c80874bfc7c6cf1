//! Options of `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::path::{AccountOptions, AccountQuery};

use super::{FileArgs, RunArgs};
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
    format: Option<ExplanationFormat>,
    /// Write the answer to a file; its name tells the format: .json
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Format of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplanationFormat {
    /// For people
    Table,
    /// One object, ns
    Json,
}

impl ExplanationOutput {
    /// The format; where none is named, the one that the name of the file ends with.
    pub(crate) fn format(&self) -> ExplanationFormat {
        let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let by_name = self.out.as_ref().filter(|path| is_json(path)).map(|_| ExplanationFormat::Json);
        self.format.or(by_name).unwrap_or(ExplanationFormat::Table)
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
