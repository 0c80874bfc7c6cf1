//! The options of `dump ui`.

use std::path::PathBuf;

use clap::Args;
use tracesift_grammar::{Patterns, TimeRange, milliseconds};

use super::{About, By, COLUMNS, Question, Sort, focus, list, sums};
use crate::ask::{When, WhenOptions};
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::question::waits::chain_columns;
use crate::tag_files;
use crate::usage_error::UsageError;

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// Shortest delay (ms without unit) [default: 200]
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_delay: Option<i64>,
    /// Longest delay
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_delay: Option<i64>,
    /// Only delays during which the process had the focus
    #[arg(long)]
    in_focus: bool,
    /// Only what these tell: 'no fetch', dispatch, input, 'no check', 'wait cursor', switches
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    kind: String,
    /// Only delays by these window messages: WM_PAINT, 'WM_USER*'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    message: String,
    /// Only delays of windows of these classes, where Windows reports them
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    class: String,
    /// Add up all delays: a row per process, thread, method or stack tag (where it waited or ran most), message, class or kind
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Take stack tags from this file; may be given several times; `builtin`: the built-in rules
    #[arg(long, value_name = "FILE", requires = "by")]
    tag_file: Vec<PathBuf>,
    /// Each report by itself: several can tell of the same delay
    #[arg(long, conflicts_with = "by")]
    list: bool,
    /// Who had the focus, and when
    #[arg(long, conflicts_with_all = ["by", "list", "in_focus", "kind", "message", "class", "min_delay", "max_delay"])]
    focus: bool,
    /// Order of the rows; the largest stands last [default: delay]
    #[arg(long, value_name = "KEY")]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form {
            objects: &[("The objects of `chain`:\n\n", chain_columns)],
            ..Form::usual("ui", || COLUMNS.descriptions())
        },
        Form {
            with: &[&["--by=process"]],
            title: "With `--by`:\n\n",
            ..Form::usual("ui", || sums::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--list"]],
            title: "With `--list` a row is a report:\n\n",
            ..Form::usual("ui", || list::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--focus"]],
            title: "With `--focus` a row is a time in which a process had the focus:\n\n",
            ..Form::usual("ui", || focus::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "min_delay", "in_focus", "by", "list", "focus", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump ui X.sift", "which programs did not react, and why"),
        ("tracesift dump ui X.sift --in-focus --min-delay 1s", "what somebody noticed"),
        ("tracesift dump ui X.sift --by method", "where the time went"),
        ("tracesift dump ui X.sift --focus", "who had the focus when"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--by=method"],
        &["--by=tag"],
        &["--by=message"],
        &["--by=thread"],
        &["--in-focus"],
        &["--list", "--kind=input"],
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let about = match self.by {
            Some(by) => About::Sums(by),
            None if self.list => About::Reports,
            None if self.focus => About::Focus,
            None => About::Delays,
        };
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            about,
            length: Between { min: self.min_delay, max: self.max_delay },
            kind: Patterns::parse(&self.kind),
            message: Patterns::parse(&self.message),
            class: Patterns::parse(&self.class),
            in_focus: self.in_focus,
            tags: match self.by {
                Some(By::Tag) => Some(tag_files::load(&self.tag_file, false, warn)?),
                _ => None,
            },
            sort: self.sort,
            top: self.top,
        }))
    }
}
