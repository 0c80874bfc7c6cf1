//! Options of `compare`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use tracesift_ask::compare::gate::Gate;
use tracesift_ask::compare::grouping::{By, Grouping, Split};
use tracesift_ask::compare::kept::KeptAccounts;
use tracesift_ask::compare::sets::{self, NamedSet};
use tracesift_ask::compare::{Confidence, Detail, Measure, Settings};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::path::{AccountOptions, AccountQuery};

use super::{FileArgs, ReportFormat, RunArgs};
use crate::exit::UsageError;

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Sets of archives or recordings: directories, or patterns in quotes; LABEL=PATH names a set. Each is compared with the first one
    #[arg(value_name = "SETS", help_heading = "Files")]
    sets: Vec<String>,
    /// Divide all files into two sets by a parameter of their plan, build=old..new, by fact:KEY=A..B, version:MODULE=A..B,
    /// date:2026-11-20, or session:A..B
    #[arg(long, value_name = "PROPERTY", help_heading = "Files", conflicts_with = "split")]
    by: Option<By>,
    /// Divide all files into fast and slow runs: `slow` at the largest gap, slow:SECONDS at a limit
    #[arg(long, value_name = "slow", help_heading = "Files")]
    split: Option<Split>,
    /// Only files that match: without a slash the name without .etl, .zip, .sift, with one the path; `;` separates, `!` excludes
    #[arg(short, long = "file", value_name = "PATTERNS", help_heading = "Files")]
    file: Vec<String>,
    /// Directories below the named ones too
    #[arg(short, long, help_heading = "Files")]
    recursive: bool,
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    account: AccountOptions,
    #[command(flatten)]
    pub(crate) test: TestArgs,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: ComparisonOutput,
    /// Write the runs of the last set to a file, which can stand for a set of a later comparison: base=FILE.json. One set alone is
    /// written and not compared
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["by", "split"])]
    pub(crate) save_baseline: Option<PathBuf>,
}

/// Options of the test.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct TestArgs {
    /// What is compared: the length of the window, or the duration that the test measured itself
    #[arg(long, value_name = "WHAT", default_value = "window")]
    measure: Measure,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "LEVEL", default_value = "0.95", value_parser = confidence)]
    confidence: Confidence,
    /// The smallest change that matters, percent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = change)]
    min_effect: f64,
    /// Rows that explain the difference
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Show rows of this level [default: each as coarse as one cause explains it]
    #[arg(long, value_name = "LEVEL")]
    level: Option<Detail>,
    /// Take several windows of a recording as repetitions of one measurement: their mean counts
    #[arg(long)]
    repetitions: bool,
    /// Seed of the random labellings [default: made of the recordings]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Compare runs that measure different things
    #[arg(long)]
    force: bool,
    /// Take each run apart anew, and keep nothing for the next comparison
    #[arg(long)]
    no_cache: bool,
}

/// Limits for changes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates")]
pub(crate) struct GateArgs {
    /// Fail if a figure changes by more than a limit: 'undisturbed > +5%', 'method:*Parse* > +20ms', 'page-faults > +10%'. The program
    /// ends with exit code 3. Figures: duration, undisturbed, cpu and all other metrics, tag:…, method:…, wait:…, process:…
    #[arg(long, value_name = "LIMIT")]
    pub(crate) fail_if: Vec<Gate>,
    /// End with exit code 4 if a gate is undecided, or sets are not comparable
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write the gates as a report of JUnit to a file: a case for each gate and test case
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    pub(crate) junit: Option<PathBuf>,
    /// Print annotations of GitHub for gates that failed or are undecided
    #[arg(long, requires = "fail_if")]
    pub(crate) github: bool,
    /// Write tables and a picture of text to a file, such as $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

/// Format and place of a comparison.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ComparisonOutput {
    /// Format of the answer [default: what the name of the file says, else table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Write the answer to a file; its name tells the format: .json, .html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// A line per run, too
    #[arg(long)]
    pub(crate) details: bool,
    /// Add the CPU time of all runs by stack to JSON; a report has it always
    #[arg(long)]
    pub(crate) stacks: bool,
}

impl ComparisonOutput {
    /// The format; where none is named, the one that the name of the file ends with.
    pub(crate) fn format(&self) -> ReportFormat {
        ReportFormat::chosen(self.format, self.out.as_deref())
    }
}

impl CompareArgs {
    /// The sets, with the files of each.
    ///
    /// # Errors
    /// When it is not clear which runs belong together.
    pub(crate) fn sets(&self) -> Result<Vec<(String, FileArgs)>, UsageError> {
        let sets = match (self.sets.as_slice(), &self.save_baseline) {
            ([one], Some(_)) => vec![sets::one(one, Path::exists)],
            (many, _) => sets::read(many, Path::exists)?,
        };
        Ok(sets.into_iter().map(|NamedSet { label, arguments }| (label, self.files(arguments))).collect())
    }

    /// What divides all files into two sets, with the files.
    pub(crate) fn grouping(&self) -> Option<(Grouping, FileArgs)> {
        let grouping = match (&self.by, self.split) {
            (Some(by), _) => Grouping::By(Box::new(by.clone())),
            (None, Some(split)) => Grouping::Split(split),
            (None, None) => return None,
        };
        Some((grouping, self.files(self.sets.clone())))
    }

    /// The file of runs that a set is.
    pub(crate) fn baseline(files: &FileArgs) -> Option<PathBuf> {
        let [path] = files.paths.as_slice() else { return None };
        let path = PathBuf::from(path);
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        (is_json && path.is_file()).then_some(path)
    }

    fn files(&self, paths: Vec<String>) -> FileArgs {
        FileArgs { paths, file: self.file.clone(), recursive: self.recursive }
    }

    /// What is asked of each run.
    ///
    /// # Errors
    /// See [`AccountOptions::query`].
    pub(crate) fn accounts(&self, warn: &mut dyn FnMut(&str)) -> Result<AccountQuery, UsageError> {
        self.test.accounts(&self.account, &self.filter, warn)
    }
}

impl TestArgs {
    /// What is compared as the duration of a run.
    pub(crate) fn measure(&self) -> Measure {
        self.measure
    }

    /// What is asked of each run.
    ///
    /// # Errors
    /// See [`AccountOptions::query`].
    pub(crate) fn accounts(
        &self,
        account: &AccountOptions,
        filter: &ProcessFilter,
        warn: &mut dyn FnMut(&str),
    ) -> Result<AccountQuery, UsageError> {
        Ok(AccountQuery { repetitions: self.repetitions, ..account.query(filter, warn)? })
    }

    /// How runs are compared.
    pub(crate) fn settings(&self) -> Settings {
        let &Self { measure, confidence, min_effect, top, level, seed, force, no_cache, .. } = self;
        let kept = if no_cache { None } else { KeptAccounts::of_user().map(Arc::new) };
        Settings { measure, confidence, least: min_effect, top, level, seed, force, is_chosen: false, kept }
    }
}

/// A change in percent, as a ratio.
pub(super) fn change(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    let percent = number.parse::<f64>().ok().filter(|percent| (0.0..100.0).contains(percent));
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "it must be a number of percent from 0 to 100, such as 1%".to_owned())
}

pub(super) fn confidence(text: &str) -> Result<Confidence, String> {
    let level = text.parse().ok().and_then(Confidence::new);
    level.ok_or_else(|| "it must be a number between 0.5 and 1, such as 0.95".to_owned())
}
