//! Pages of help that are of no command.

use clap::{Args as _, Command};
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::order::Top;
use tracesift_ask::{SeriesOptions, WhenOptions};

use super::{FileArgs, OutputArgs, RunArgs};

/// A name and its page.
type Topic = (&'static str, fn() -> Command);

/// The topics.
pub(crate) const TOPICS: &[Topic] = &[("filters", filters)];

/// The options that all questions have.
fn filters() -> Command {
    let command = ProcessFilter::augment_args(FileArgs::augment_args(Command::new("filters")));
    let command = SeriesOptions::augment_args(WhenOptions::augment_args(command));
    // Behind the options, which bring a text of their own.
    OutputArgs::augment_args(RunArgs::augment_args(Top::augment_args(command)))
        .about(
            "The options that every question takes: which files, which processes, which part of the time, which test runs, how \
             the answer looks. Some questions have not all of them: `tracesift dump QUESTION --help` has those of one",
        )
        .override_usage("tracesift dump QUESTION [OPTIONS] [PATHS]...")
        .disable_help_flag(true)
        .after_help(PATTERNS)
}

const PATTERNS: &str = "\
Patterns: `;` separates, `!` excludes, `*` and `?` are wildcards, case does not matter; quote them. A pattern of methods or stack tags \
without a wildcard is a whole name.

Examples:
  tracesift dump cpu -f '*Serial*;!*WithAV*' -p FileWriter
  tracesift dump threads X.sift -p 'App(4711);!*host*' --time 3.2s..7.9s
  tracesift dump process recordings/ --run-index -1 --format json -o last.json";
