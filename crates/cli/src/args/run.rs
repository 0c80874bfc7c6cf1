//! Options of `run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_ask::compare::grouping::By;
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::path::AccountOptions;

use super::compare::{GateArgs, TestArgs};
use super::output::Format;
use super::{OutputArgs, ReportFormat};
use crate::exit::UsageError;

/// Headings of the options that mean something only with a comparison.
const OF_COMPARISON: [&str; 4] = ["Processes", "Window", "Comparison", "Gates"];

/// Options of `run`.
#[derive(Debug, Args)]
#[command(mut_args = needs_comparison)]
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

    /// Recordings that stay when their archives are whole: `all`, `failed` (those of failed tests, of failed gates, and of runs that stand
    /// apart), or `none`. Archives stay, and so does a recording whose archive lacks something
    #[arg(long, value_name = "RECORDINGS", default_value = "all", hide_possible_values = true)]
    pub(crate) keep: Keep,

    /// Say what would run, and what is left of it
    #[arg(long, conflicts_with = "table")]
    pub(crate) dry_run: bool,

    /// Run nothing, show the table of what has been run
    #[arg(long)]
    pub(crate) table: bool,

    #[command(flatten)]
    pub(crate) comparison: LoopArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The comparison that follows the runs.
#[derive(Debug, Args)]
pub(crate) struct LoopArgs {
    /// Run all cases anew and compare the new runs with others: `last` (those of the call before), a directory, a pattern in quotes, an
    /// archive, or a file of compare --save-baseline; LABEL=PATH names the set
    #[arg(long, value_name = "RUNS", group = "compares", conflicts_with_all = ["no_extract", "table"], help_heading = "Comparison")]
    pub(crate) against: Option<String>,

    /// Run all cases anew and compare two sets of the new runs: those of two values of a parameter, build=old..new
    #[arg(long, value_name = "PARAMETER", group = "compares", conflicts_with_all = ["no_extract", "table"], help_heading = "Comparison")]
    pub(crate) by: Option<By>,

    #[command(flatten)]
    pub(crate) filter: ProcessFilter,
    #[command(flatten)]
    pub(crate) account: AccountOptions,
    #[command(flatten)]
    pub(crate) test: TestArgs,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
}

/// Recordings that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// All.
    All,
    /// Those that somebody may want to look into.
    Failed,
    /// None.
    None,
}

impl PlanArgs {
    /// Whether the options fit together.
    ///
    /// # Errors
    /// When recordings cannot go, or the format is none of a comparison.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        if self.keep != Keep::All && (self.no_extract || self.table) {
            let other = if self.table { "--table runs nothing" } else { "--no-extract makes no archives" };
            return Err(UsageError::new(format!("{other}: no recording can go"), "leave out --keep"));
        }
        self.comparison_format().map(|_| ())
    }

    /// The format of the comparison; `None`: nothing is compared.
    ///
    /// # Errors
    /// When a comparison has no such format.
    pub(crate) fn comparison_format(&self) -> Result<Option<ReportFormat>, UsageError> {
        if !self.comparison.is_asked() {
            return Ok(None);
        }
        let by_name = self.output.out.as_deref().and_then(ReportFormat::of_file_name);
        match self.output.format() {
            Format::Table if self.output.format.is_none() => Ok(Some(by_name.unwrap_or(ReportFormat::Table))),
            Format::Table => Ok(Some(ReportFormat::Table)),
            Format::Json => Ok(Some(ReportFormat::Json)),
            Format::Csv | Format::Jsonl | Format::Parquet => Err(UsageError::new(
                "a comparison is a table, JSON or a report",
                "write --format json, -o FILE.json or -o FILE.html; `tracesift run PLAN --table` has the runs in every format",
            )),
        }
    }
}

impl LoopArgs {
    /// Whether the runs are compared.
    pub(crate) fn is_asked(&self) -> bool {
        self.against.is_some() || self.by.is_some()
    }
}

/// Options of the comparison are refused without one.
fn needs_comparison(option: clap::Arg) -> clap::Arg {
    let is_of_comparison = option.get_help_heading().is_some_and(|heading| OF_COMPARISON.contains(&heading));
    let begins_it = ["against", "by"].contains(&option.get_id().as_str());
    if is_of_comparison && !begins_it { option.requires("compares") } else { option }
}
