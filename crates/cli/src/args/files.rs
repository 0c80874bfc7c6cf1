//! Options that choose files.

use clap::Args;
use tracesift_ask::inputs::Inputs;
use tracesift_ask::order::Between;
use tracesift_ask::runs::Selection;
use tracesift_grammar::milliseconds;

/// Files of a question.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Archives, recordings, directories or wildcards [default: the current directory]
    #[arg(value_name = "PATHS")]
    pub(crate) paths: Vec<String>,

    /// Only files that match: without a slash the name without .etl, .zip, .sift, with one the path; `;` separates, `!` excludes
    #[arg(short, long = "file", value_name = "PATTERNS")]
    pub(crate) file: Vec<String>,

    /// Directories below the named ones too
    #[arg(short, long)]
    pub(crate) recursive: bool,
}

impl FileArgs {
    /// The inputs, relative to the current directory.
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs { arguments: self.paths.clone(), filter: self.file.clone(), recursive: self.recursive, base: ".".into() }
    }
}

/// Selection of files by the test runs that their names tell.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Test runs")]
pub(crate) struct RunArgs {
    /// First test run, counted from 0 in order of time; negative: from the end
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) run_index: Option<i64>,

    /// Number of test runs: from --run-index on (default 1), otherwise the latest runs
    #[arg(long, value_name = "N")]
    pub(crate) run_count: Option<usize>,

    /// Executions kept of each test of each run
    #[arg(long, value_name = "N")]
    pub(crate) tests_per_run: Option<usize>,

    /// Executions left out at the start of each test of each run
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip_tests: usize,

    /// Shortest duration that the test measured (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub(crate) min_test_time: Option<i64>,

    /// Longest duration that the test measured (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub(crate) max_test_time: Option<i64>,

    /// Tests of the last days only; fractions are fine
    #[arg(long, value_name = "DAYS")]
    pub(crate) last_days: Option<f64>,

    /// Everything is one run, however long the pauses
    #[arg(long)]
    pub(crate) one_run: bool,

    /// Only files whose names say which test they recorded
    #[arg(long)]
    pub(crate) valid_only: bool,
}

impl RunArgs {
    /// The selection, with `now` as the reader's local time.
    pub(crate) fn selection(&self, now: chrono::NaiveDateTime) -> Selection {
        let seconds = |days: f64| (days * 86_400.0).clamp(0.0, 1e11);
        let after = self.last_days.and_then(|days| {
            // Whole seconds: the names of tests know no more.
            now.checked_sub_signed(chrono::TimeDelta::try_seconds(seconds(days) as i64)?)
        });
        Selection {
            run_index: self.run_index,
            run_count: self.run_count,
            skip_tests: self.skip_tests,
            tests_per_run: self.tests_per_run,
            test_time: Between { min: self.min_test_time, max: self.max_test_time },
            after,
            valid_only: self.valid_only,
            one_run: self.one_run,
        }
    }
}
