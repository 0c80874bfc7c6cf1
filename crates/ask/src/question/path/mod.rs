//! `dump path`: where the wall-clock time of a test went, on the bounded critical path of a window.

mod chains;
pub mod columns;
pub mod segment_columns;
pub mod segments;

use clap::Args;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;

pub use self::chains::chain_columns;
pub use self::columns::{COLUMNS, Row};
pub use self::segments::Segments;
pub use crate::path::rows::Detail;

use self::chains::{Chain, ChainSums};
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::{Ask, When};
use crate::asked::Amount;
use crate::filter::ProcessFilter;
use crate::limit::{Limit, LimitKind};
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::path::account::{Account, Level, doubt};
use crate::path::rows::{self, Namer};
use crate::path::{AccountOptions, AccountQuery, Missing};
use crate::recording::OpenRecording;
use crate::shown::Shown;
use crate::usage_error::UsageError;

/// Rows shown where nobody says how many.
const ROWS: usize = 20;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The windows, and how they are taken apart.
    pub accounts: AccountQuery,
    /// How fine the rows are.
    pub detail: Detail,
    /// How many rows; the 20 largest where nothing is said.
    pub top: Top,
    /// The columns that somebody looks at.
    pub shown: Shown,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    account: AccountOptions,
    /// How fine the rows are
    #[arg(long, value_name = "LEVEL", default_value = "for")]
    level: Detail,
    /// A row for each segment of the path by time, with its thread; with --top the longest ones
    #[arg(long, conflicts_with = "level")]
    segments: bool,
    #[command(flatten)]
    top: Top,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form {
            objects: &[("The objects of `chains`:\n\n", chain_columns)],
            ..Form::usual("path", || COLUMNS.descriptions())
        },
        Form {
            with: &[&["--segments"]],
            title: "With `--segments`:\n\n",
            ..Form::usual("path", || segment_columns::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] = &["process", "window", "anchor", "level", "top", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump path X.sift -p FileWriter", "the life of a process"),
        ("tracesift dump path X.sift --window 'method:*CreateFiles*'", "a part of the test"),
        ("tracesift dump path X.sift -p FileWriter --level state", "run, ready, wait"),
        ("tracesift dump path X.sift -p FileWriter --details", "and who waited for whom"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--window=process:*"],
        &["--window=method:*"],
        &["--window=wait:*"],
        &["--window=mark:*..*"],
        &["--window=..", "--anchor=*", "--follow=requests", "--level=state"],
        &["--window=..", "--anchor=*", "--segments"],
    ];

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let accounts = self.account.query(&self.filter, warn)?;
        let question = Question { accounts, detail: self.level, top: self.top, shown: Shown::default() };
        Ok(if self.segments { Plan::from(Segments(question)) } else { Plan::from(question) })
    }

    fn when(&self) -> When {
        When::default()
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "path"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["context_switches", "cpu_samples"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.accounts.windows.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some("path_ns")
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        self.shown.keep(&mut columns);
        columns
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn within(&self, _: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(self.clone())
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let mut answer = Found::default();
        let accounts = &self.accounts;
        let found = if self.shown.has("chains") {
            accounts.each_with(recording, ChainSums::default, |account, namer, chains| {
                answer.add(self, account, namer, |rows| chains.of_rows(namer, self.detail, rows));
            })?
        } else {
            let none = |rows: &[rows::Row]| rows.iter().map(|_| Vec::new()).collect();
            accounts.each(recording, |account, namer| answer.add(self, account, namer, none))?
        };
        let Found { rows, sums } = answer;
        if let Err(Missing { what, why }) = found {
            return Ok(recording.file.absent(what, why));
        }
        if sums.windows == 0 {
            let why = format!("nothing fits {}", self.accounts.windows.shown());
            let facts = vec![Fact::local("window", Kind::Text, why)];
            return Ok(COLUMNS.section_showing(&recording.file, &[], facts, &self.shown));
        }
        let mut section = COLUMNS.section_showing(&recording.file, &rows, sums.facts(), &self.shown);
        section.notes.extend(sums.notes("rows"));
        section.warnings.extend(sums.warning());
        Ok(section)
    }
}

/// What accounts have.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    sums: Sums,
}

impl Found {
    /// Adds the largest rows of an account, with the chains of those.
    fn add(
        &mut self,
        question: &Question,
        account: &Account,
        namer: &Namer<'_, '_, '_>,
        chains: impl Fn(&[rows::Row]) -> Vec<Vec<Chain>>,
    ) {
        let mut rows = namer.rows(account, question.detail);
        self.sums.add(account, namer, &rows);
        rows.sort_by_key(|row| row.time);
        let all = rows.len();
        Top { take: question.top.take.or(Some(ROWS)), ..question.top }.apply(&mut rows);
        let shown = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.time));
        self.sums.hide(all - rows.len(), shown);
        let chains = chains(&rows);
        self.rows.extend(rows.into_iter().zip(chains).map(|(part, chains)| Row::new(account, part, chains)));
    }
}

/// What is said below the rows.
#[derive(Default)]
struct Sums {
    windows: usize,
    level: Option<Level>,
    window: i64,
    run: i64,
    ready: i64,
    wait: i64,
    unknown: i64,
    disturbed: i64,
    shown: i64,
    hidden: usize,
    /// The process that was taken of several that fit, and how many these are.
    taken: Option<(String, usize)>,
}

impl Sums {
    fn add(&mut self, account: &Account, namer: &Namer<'_, '_, '_>, rows: &[rows::Row]) {
        let process = namer.parties.rows_of(account.window.anchor).1;
        if let (Some(row), 2..) = (process, account.window.among) {
            self.taken = Some((format!("{}({})", row.name, row.pid), account.window.among));
        }
        let add = |sum: &mut i64, time: i64| *sum = sum.saturating_add(time);
        self.windows += 1;
        self.level = Some(account.level);
        add(&mut self.window, account.window.span.length());
        for row in rows {
            add(
                match row.name.state {
                    "run" => &mut self.run,
                    "ready" => &mut self.ready,
                    "wait" => &mut self.wait,
                    _ => &mut self.unknown,
                },
                row.time,
            );
            if row.name.disturbance.is_some() {
                add(&mut self.disturbed, row.time);
            }
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let fact = |label, value: i64| Fact::new(label, Kind::Milliseconds, value);
        vec![
            fact("window", self.window),
            fact("run", self.run),
            fact("ready", self.ready),
            fact("wait", self.wait),
            fact("unknown", self.unknown),
            fact("disturbed", self.disturbed),
            fact("undisturbed", self.window.saturating_sub(self.disturbed)),
        ]
    }

    /// Counts rows of a window that are not shown, beside those with so much time that are.
    fn hide(&mut self, hidden: usize, shown: i64) {
        self.hidden += hidden;
        self.shown = self.shown.saturating_add(shown);
    }

    /// `rows` is what the rows are called.
    fn notes(&self, rows: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((process, among)) = &self.taken {
            notes.push(format!("{among} processes fit; {process} was taken, the program that was recorded"));
        }
        if self.windows > 1 {
            notes.push(format!("{} windows fit; the figures below the rows are their sums", self.windows));
        }
        if self.hidden > 0 {
            let (hidden, rest) = (self.hidden, Amount::Time(self.window.saturating_sub(self.shown)));
            notes.push(format!("{hidden} {rows} with {rest} are not shown: --top shows more"));
        }
        notes.extend(self.level.and_then(Level::note).map(str::to_owned));
        notes
    }

    fn warning(&self) -> Option<Limit> {
        doubt(self.unknown, self.window).map(|text| Limit::new(LimitKind::Other, text))
    }
}
