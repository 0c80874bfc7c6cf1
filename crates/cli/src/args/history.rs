//! Options of `history`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tracesift_ask::compare::kept::KeptAccounts;
use tracesift_ask::compare::{Confidence, Measure, Settings};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::history::RunsOrder;
use tracesift_ask::path::{AccountOptions, AccountQuery};

use super::compare::{change, confidence};
use super::{FileArgs, ReportFormat, RunArgs};
use crate::exit::UsageError;

/// Options of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    account: AccountOptions,
    #[command(flatten)]
    test: TestArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: HistoryOutput,
}

/// Options of the figures.
#[derive(Debug, Args)]
#[command(next_help_heading = "History")]
struct TestArgs {
    /// Order of the runs: `time`, or version:MODULE by the version of a module, and runs of one version by time
    #[arg(long, value_name = "ORDER", default_value = "time")]
    order: RunsOrder,
    /// What counts as the duration: the length of the window, or what the test measured itself
    #[arg(long, value_name = "WHAT", default_value = "window")]
    measure: Measure,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: Confidence,
    /// The smallest change that matters, percent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = change)]
    min_effect: f64,
    /// Rows that explain each change
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Take several windows of a recording as repetitions of one measurement: their mean counts
    #[arg(long)]
    repetitions: bool,
    /// Seed of the permutations [default: made of the recordings]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take each run apart anew, and keep nothing for the next time
    #[arg(long)]
    no_cache: bool,
}

/// Format and place of a history.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct HistoryOutput {
    /// Format of the answer [default: what the name of the file says, else table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Write the answer to a file; its name tells the format: .json, .html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// All series, with their changes, and all names
    #[arg(long)]
    pub(crate) details: bool,
}

impl HistoryOutput {
    /// The format; where none is named, the one that the name of the file ends with.
    pub(crate) fn format(&self) -> ReportFormat {
        ReportFormat::chosen(self.format, self.out.as_deref())
    }
}

impl HistoryArgs {
    /// The order of the runs.
    pub(crate) fn order(&self) -> &RunsOrder {
        &self.test.order
    }

    /// What is asked of each run.
    ///
    /// # Errors
    /// See [`AccountOptions::query`].
    pub(crate) fn accounts(&self, warn: &mut dyn FnMut(&str)) -> Result<AccountQuery, UsageError> {
        let query = self.account.query(&self.filter, warn)?;
        Ok(AccountQuery { repetitions: self.test.repetitions, ..query })
    }

    /// How segments are compared.
    pub(crate) fn settings(&self) -> Settings {
        let TestArgs { measure, confidence, min_effect, top, seed, no_cache, .. } = self.test;
        let kept = if no_cache { None } else { KeptAccounts::of_user().map(Arc::new) };
        Settings { measure, confidence, least: min_effect, top, seed, kept, ..Settings::default() }
    }
}
