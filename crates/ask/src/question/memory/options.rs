//! The options of `dump memory`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::{About, Question, Sort, lists, machine, paging, pressure, processes, sessions, trims};
use crate::ask::When;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::growth::Growth;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::shown::Shown;
#[cfg(test)]
use crate::table_question;
use crate::table_question::{Listing, TableQuestion as _, UnknownName};
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;
use tracesift_grammar::{TimeRange, parse_size};

/// Bytes that a working set loses at least in a trim, where nobody says how many.
const SMALLEST_TRIM: i64 = 10 << 20;

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "commit")]
    sort: Sort,
    /// The machine: a row per file with its commit, its used, free and cached memory, and their changes
    #[arg(long, conflicts_with_all = ["lists", "trims"])]
    total_memory: bool,
    /// The lists of pages of the machine: first, last, smallest and largest size
    #[arg(long, conflicts_with = "trims")]
    lists: bool,
    /// The memory of the sessions of users (Windows)
    #[arg(long, conflicts_with_all = ["total_memory", "lists", "trims", "pressure", "paging", "growth", "min_growth", "max_growth"])]
    sessions: bool,
    /// Drops of a working set by a quarter or more: the system took memory away, or the process gave it back
    #[arg(long)]
    trims: bool,
    /// Who had to free memory before it got some, kswapd, compaction, and kills (Linux); apps that were swapped out (Windows)
    #[arg(long, conflicts_with_all = ["total_memory", "lists", "trims", "growth", "sort", "min_diff", "max_diff", "min_commit"])]
    #[arg(conflicts_with_all = ["max_commit", "min_working_set", "max_working_set", "min_private", "max_private"])]
    #[arg(conflicts_with_all = ["min_shared_commit", "max_shared_commit", "min_growth", "max_growth"])]
    pressure: bool,
    /// What a row of --pressure is [default: process,kind]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "pressure")]
    #[arg(value_parser = PossibleValuesParser::new(pressure::Question::dimensions()))]
    by: Vec<String>,
    /// The single reclaims of --pressure
    #[arg(long, requires = "pressure", conflicts_with_all = ["by", "bucket"])]
    list: bool,
    /// Reads and writes of the page file, by process (Windows)
    #[arg(long, conflicts_with_all = ["pressure", "total_memory", "lists", "trims", "growth", "sort", "min_diff", "max_diff"])]
    #[arg(conflicts_with_all = ["min_commit", "max_commit", "min_working_set", "max_working_set", "min_private"])]
    #[arg(conflicts_with_all = ["max_private", "min_shared_commit", "max_shared_commit", "min_growth", "max_growth"])]
    paging: bool,
    /// How the memory of the processes of a name grows from file to file: a row per name, over all files
    #[arg(long, conflicts_with_all = ["total_memory", "lists", "trims", "bucket"])]
    growth: bool,
    /// Smallest growth from the first to the last file, more or less; as with --growth
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with_all = ["total_memory", "lists", "trims", "bucket"])]
    min_growth: Option<i64>,
    /// Largest growth; as with --growth
    #[arg(long, value_name = "SIZE", value_parser = parse_size, conflicts_with_all = ["total_memory", "lists", "trims", "bucket"])]
    max_growth: Option<i64>,
    /// Smallest drop that --trims shows (default: 10 MiB)
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "trims")]
    min_drop: Option<i64>,
    /// Smallest change, more or less
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_diff: Option<i64>,
    /// Largest change
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_diff: Option<i64>,
    /// Smallest working set
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_working_set: Option<i64>,
    /// Largest working set
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_working_set: Option<i64>,
    /// Smallest private working set
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_private: Option<i64>,
    /// Largest private working set
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_private: Option<i64>,
    /// Smallest committed memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_commit: Option<i64>,
    /// Largest committed memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_commit: Option<i64>,
    /// Smallest committed memory that is shared
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min_shared_commit: Option<i64>,
    /// Largest committed memory that is shared
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_shared_commit: Option<i64>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("memory", || processes::COLUMNS.descriptions()),
        Form {
            with: &[&["--total-memory"]],
            title: "With `--total-memory`:\n\n",
            ..Form::usual("memory", || machine::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--lists"]],
            title: "With `--lists`:\n\n",
            ..Form::usual("memory", || lists::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--sessions"]],
            title: "With `--sessions`:\n\n",
            ..Form::usual("memory", || sessions::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--trims"]],
            title: "With `--trims`:\n\n",
            ..Form::usual("memory", || trims::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--pressure"]],
            title: "With `--pressure`:\n\n",
            ..Form::usual("memory", pressure::Question::all_columns)
        },
        Form {
            with: &[&["--pressure"], &["--list"]],
            title: "With `--pressure --list`:\n\n",
            ..Form::usual("memory", pressure::Question::list_columns)
        },
        Form {
            with: &[&["--paging"]],
            title: "With `--paging`:\n\n",
            ..Form::usual("memory", paging::Question::all_columns)
        },
        Form {
            with: &[&["--growth"]],
            title: "With `--growth`:\n\n",
            ..Form::usual("memory", || growth(Sort::Commit).columns())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "bucket", "top", "sort", "total_memory", "lists", "trims", "pressure", "min_diff", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump memory X.sift --top 10", "the processes with most committed memory"),
        ("tracesift dump memory X.sift --sort diff --top 5", "those that grew or shrank most"),
        ("tracesift dump memory X.sift --total-memory", "the machine"),
        ("tracesift dump memory --growth --top 10", "the processes that hold more from run to run"),
        ("tracesift dump memory X.sift --trims", "who lost memory, and how much was free then"),
        ("tracesift dump memory X.sift --pressure", "who waited until memory was free (Linux)"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--pressure", "--by=kind"], &["--pressure", "--by=stack"], &["--pressure", "--by=tag", "--time=1.."]];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "memory",
        switches: &[
            switch(
                &["sortby"],
                To::Word(
                    "--sort",
                    &[
                        ("commit", "commit"),
                        ("workingset", "working-set"),
                        ("sharedcommit", "shared-commit"),
                        ("diff", "diff"),
                    ],
                ),
            ),
            switch(&["totalmemory", "tm"], To::Flag("--total-memory")),
            switch(&["mindiffmb"], To::Range("--min-diff", "--max-diff", "MiB")),
            switch(&["globaldiffmb"], To::Range("--min-growth", "--max-growth", "MiB")),
            switch(&["minmaxworkingsetmib"], To::Range("--min-working-set", "--max-working-set", "MiB")),
            switch(&["minmaxworkingsetprivatemib"], To::Range("--min-private", "--max-private", "MiB")),
            switch(&["minmaxcommitmib"], To::Range("--min-commit", "--max-commit", "MiB")),
            switch(&["minmaxsharedcommitmib"], To::Range("--min-shared-commit", "--max-shared-commit", "MiB")),
        ],
    });

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        // The parser knows the names.
        let unknown = |error: UnknownName| UsageError::new(error.to_string(), String::new());
        if self.paging {
            return Ok(Plan::from(paging::Question::new(self.usual.filter.clone(), self.usual.top).map_err(unknown)?));
        }
        if self.pressure {
            return Ok(Plan::from(self.pressure_question().map_err(unknown)?));
        }
        let about = match (self.total_memory, self.lists, self.trims) {
            (true, ..) => About::Machine,
            (_, true, _) => About::Lists,
            _ if self.sessions => About::Sessions,
            (.., true) => About::Trims(self.min_drop.unwrap_or(SMALLEST_TRIM)),
            _ => About::Processes,
        };
        let question = Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            about,
            sort: self.sort,
            top: self.usual.top,
            diff: Between { min: self.min_diff, max: self.max_diff },
            working_set: Between { min: self.min_working_set, max: self.max_working_set },
            private: Between { min: self.min_private, max: self.max_private },
            commit: Between { min: self.min_commit, max: self.max_commit },
            shared_commit: Between { min: self.min_shared_commit, max: self.max_shared_commit },
            shown: Shown::default(),
        };
        let limits = Between { min: self.min_growth, max: self.max_growth };
        if !self.growth && limits == Between::default() {
            return Ok(Plan::from(question));
        }
        let growth = Growth { limits, top: self.usual.top, ..growth(self.sort) };
        let question = Question { top: Top::default(), ..question };
        Ok(growth.plan(question))
    }

    #[cfg(test)]
    fn check_rows() {
        table_question::Options::<pressure::Pressure>::check_rows();
    }
}

impl Options {
    fn pressure_question(&self) -> Result<pressure::Question, UnknownName> {
        let by: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let mut question =
            pressure::Question::default().by(if by.is_empty() { pressure::Pressure::BY } else { &by })?;
        question.filter = self.usual.filter.clone();
        question.top = self.usual.top;
        Ok(if self.list { question.listed(Listing::Flat) } else { question })
    }
}

/// How the memory of processes grows over files, in the figure of an order.
fn growth(sort: Sort) -> Growth {
    let key = match sort {
        Sort::Commit => "commit",
        Sort::WorkingSet => "working_set",
        Sort::SharedCommit => "shared_commit",
        Sort::Diff => "diff_commit",
    };
    let column = |key| processes::COLUMNS.descriptions().into_iter().find(|column| column.key == key);
    let names = column("process").into_iter().collect();
    let figure = column(key).expect("the answer has the column of each order");
    // Linux does not know what single processes committed.
    let instead = matches!(sort, Sort::Commit).then(|| column("working_set")).flatten();
    Growth { names, figure, instead, limits: Between::default(), top: Top::default() }
}
