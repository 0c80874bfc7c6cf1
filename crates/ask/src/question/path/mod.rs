//! `dump path`: where the wall-clock time of a test went, on the bounded critical path of a window.

pub mod columns;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tracesift_analysis::disturbances::Disturbances;
use tracesift_analysis::tags::TagSet;
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::{ProcessRow, ThreadRow};

pub use self::columns::{COLUMNS, Row};
pub use crate::path::rows::Detail;
pub use crate::path::spec::{WindowError, WindowKind, WindowSpec};

use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::{Ask, When};
use crate::filter::ProcessFilter;
use crate::limit::{Limit, LimitKind};
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::path::account::{self, Account, Level, Switched};
use crate::path::parties::Parties;
use crate::path::places::Places;
use crate::path::rows::{self, Namer};
use crate::path::window::{People, Window, WindowQuery};
use crate::recording::OpenRecording;
use crate::tag_files;
use crate::usage_error::UsageError;

/// Rows shown where nobody says how many.
const ROWS: usize = 20;

/// What a wait for work means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Follow {
    /// It is a wait: the path returns to the thread that waited.
    Waits,
    /// The request of the thread came from the thread that ended the wait: the path goes on there.
    Requests,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes the window may belong to.
    pub filter: ProcessFilter,
    /// The window.
    pub window: WindowSpec,
    /// The thread that the account starts with, by name or id.
    pub anchor: Patterns,
    /// What a wait for work means; `None`: as the window implies.
    pub follow: Option<Follow>,
    /// How fine the rows are.
    pub detail: Detail,
    /// What counts as a disturbance.
    pub disturbances: Arc<Disturbances>,
    /// The rules for tags; `None`: the built-in ones.
    pub tags: Option<Arc<TagSet>>,
    /// How many rows; the 20 largest where nothing is said.
    pub top: Top,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    /// The time that is taken apart: process:PATTERN, method:PATTERN, wait:PATTERN, mark:A..B, a range of time; `#2` behind it means the
    /// second that fits; `auto` is the life of the program that was recorded, or of the processes of -p
    #[arg(long, value_name = "WINDOW", default_value = "auto", allow_hyphen_values = true)]
    window: WindowSpec,
    /// Start with this thread at the end of the window, by name or id
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    anchor: Patterns,
    /// What a wait for work means: a wait, or that the request came from the thread that ended it [default: requests where a window of a
    /// method ends in another thread than it began in, else waits]
    #[arg(long, value_name = "WHAT")]
    follow: Option<Follow>,
    /// How fine the rows are
    #[arg(long, value_name = "LEVEL", default_value = "site")]
    level: Detail,
    /// What counts as a disturbance: `default`, `none`, or kinds such as `antivirus,cpu-taken`
    #[arg(long, value_name = "KINDS", default_value = "default", hide_default_value = true)]
    disturbances: String,
    /// Take the tags from this file; several add up, `builtin` stands for our own
    #[arg(long, value_name = "FILE")]
    tag_file: Vec<PathBuf>,
    #[command(flatten)]
    top: Top,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("path", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] = &["process", "window", "anchor", "level", "top", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump path X.sift -p FileWriter", "the life of a process"),
        ("tracesift dump path X.sift --window 'method:*CreateFiles*'", "a part of the test"),
        ("tracesift dump path X.sift -p FileWriter --level state", "run, ready, wait"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--window=process:*"],
        &["--window=method:*"],
        &["--window=wait:*"],
        &["--window=mark:*..*"],
        &["--window=..", "--anchor=*", "--follow=requests", "--level=state"],
    ];

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if matches!(self.window.kind, WindowKind::Time(_)) && self.filter.is_empty() && self.anchor.is_empty() {
            return Err(UsageError::new(
                "a range of time does not say which program is tested",
                "name its process with -p, or the thread to start with with --anchor",
            ));
        }
        let tags = if self.tag_file.is_empty() { None } else { Some(tag_files::load(&self.tag_file, false, warn)?) };
        let disturbances = Disturbances::choose(&self.disturbances)
            .map_err(|error| UsageError { message: error.to_string(), hint: None })?;
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            window: self.window.clone(),
            anchor: self.anchor.clone(),
            follow: self.follow,
            detail: self.level,
            disturbances: Arc::new(disturbances),
            tags,
            top: self.top,
        }))
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
        Some(&self.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some("path_ns")
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, _: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(self.clone())
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let Some(level) = Level::of(recording) else {
            let why = recording.file.absence_of("context_switches");
            return Ok(recording.file.absent("context switches", why));
        };
        let archive = recording.archive();
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let people = People { processes: &processes, threads: &threads };
        let query = WindowQuery { spec: self.window.clone(), filter: self.filter.clone(), anchor: self.anchor.clone() };
        match query.find(recording, people)? {
            Ok(windows) => self.accounts(recording, level, &windows, people),
            Err(why) => Ok(recording.file.absent("window", why)),
        }
    }
}

impl Question {
    fn accounts(
        &self,
        recording: &OpenRecording,
        level: Level,
        windows: &[Window],
        people: People<'_>,
    ) -> Result<Section, Error> {
        let named = recording.named_stacks(Granularity::default())?;
        let set = self.tags.clone().unwrap_or_else(crate::table_question::built_in_tags);
        let mut places = Places::new(&named, &set);
        let is_linux = recording.info().kind == "perf";
        let switched = if level == Level::Samples { Switched::default() } else { Switched::of(recording)? };
        let mut shown = Vec::new();
        let mut sums = Sums::default();
        for window in windows {
            let mut parties = Parties::new(people, window.process, is_linux);
            let follows_requests = self.follow.map_or(window.hops, |follow| follow == Follow::Requests);
            let account = account::of(
                recording,
                *window,
                (level, follows_requests),
                people,
                &switched,
                (&mut parties, &mut places),
            )?;
            let namer = Namer { parties: &parties, places: &places, disturbances: &self.disturbances };
            let mut rows = namer.rows(&account, self.detail);
            sums.add(&account, &rows);
            rows.sort_by_key(|row| row.time);
            let top = Top { take: self.top.take.or(Some(ROWS)), ..self.top };
            let all = rows.len();
            top.apply(&mut rows);
            sums.hidden += all - rows.len();
            sums.shown = rows.iter().fold(sums.shown, |sum, row| sum.saturating_add(row.time));
            shown.extend(rows.into_iter().map(|part| Row {
                window: window.number,
                window_start: window.span.start,
                window_length: window.span.length(),
                level: account.level,
                part,
            }));
        }
        let mut section = COLUMNS.section(&recording.file, &shown, sums.facts());
        section.notes.extend(sums.notes(level, windows.len()));
        section.warnings.extend(sums.warnings());
        Ok(section)
    }
}

/// What is said below the rows.
#[derive(Default)]
struct Sums {
    window: i64,
    run: i64,
    ready: i64,
    wait: i64,
    unknown: i64,
    disturbed: i64,
    shown: i64,
    hidden: usize,
}

impl Sums {
    fn add(&mut self, account: &Account, rows: &[rows::Row]) {
        let add = |sum: &mut i64, time: i64| *sum = sum.saturating_add(time);
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

    fn notes(&self, level: Level, windows: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if windows > 1 {
            notes.push(format!("{windows} windows fit; the figures below the rows are their sums"));
        }
        if self.hidden > 0 {
            let (hidden, rest) = (self.hidden, crate::time_format::seconds(self.window.saturating_sub(self.shown), 6));
            notes.push(format!("{hidden} rows with {rest} s are not shown: --top shows more"));
        }
        notes.extend(match level {
            Level::Full => None,
            Level::Switches => {
                Some("no ready events were recorded: nobody knows who ended a wait, so the account has one thread only".to_owned())
            }
            Level::Samples => Some(
                "no context switches were recorded: the account has the CPU samples of one thread, and what they leave of the window"
                    .to_owned(),
            ),
        });
        notes
    }

    fn warnings(&self) -> Option<Limit> {
        // More than 2 % makes an account doubtful.
        (self.unknown.saturating_mul(50) > self.window && self.window > 0).then(|| {
            let percent = self.unknown.saturating_mul(100) / self.window.max(1);
            Limit::new(LimitKind::Other, format!("{percent} % of the window is unknown"))
        })
    }
}
