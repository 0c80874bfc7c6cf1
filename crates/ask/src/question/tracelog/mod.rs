//! `dump tracelog`: which programs log events of their own (TraceLogging, EventSource), and what these say.

mod choice;
mod columns;
mod rows;
#[cfg(test)]
mod tests;

use clap::{Args, ValueEnum};
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange, patterns, seconds};
use tracesift_trace::rows::EventRow;
use tracesift_trace::schema::Row as _;

pub use self::choice::{ChoiceError, ProviderChoice};
use self::columns::{EVENTS, KINDS, PROVIDERS};
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::{Ask, When, WhenOptions};
use crate::candidates::Candidates;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::events::{EventFilter, EventKind, IdRanges};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::inside_options::InsideOptions;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::recording::OpenRecording;
use crate::shown::Shown;
use crate::usage_error::UsageError;

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By number of events
    Count,
    /// By provider and name of the event
    Name,
    /// By id of the event
    Id,
    /// By time, of several events that of the first
    Time,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes and threads.
    pub filter: EventFilter,
    /// Which part of the recording.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// Which providers and events.
    pub provider: ProviderChoice,
    /// What the message must be: see [`message_patterns`].
    pub message: Patterns,
    /// Time since the zero point.
    pub instant: Between,
    /// Number of events that are read.
    pub max_count: Option<usize>,
    /// Order of the rows; `None`: the usual one of the answer.
    pub sort: Option<Sort>,
    /// How many rows.
    pub top: Top,
    /// Whether somebody looks at stacks.
    pub with_stacks: bool,
}

/// What the rows of the answer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Providers,
    Kinds,
    Events,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    inside: InsideOptions,
    #[command(flatten)]
    top: Top,
    /// Providers, by name or GUID: a row per event; PROVIDER:EVENT,ID,!EVENT: single events, PROVIDER:* all
    ///
    /// An EVENT is a part of a name, or has wildcards. `;` separates providers, `!` in front excludes one
    #[arg(long, value_name = "PROVIDERS", default_value = "", hide_default_value = true, help_heading = "Events")]
    provider: ProviderChoice,
    /// Only events with such a message, fields as name=value: a part of it, or with wildcards; `;` separates, `!` excludes
    #[arg(
        long,
        value_name = "TEXTS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true,
        help_heading = "Events"
    )]
    message: String,
    /// Only events of these threads: 1234,5678
    #[arg(long, value_name = "IDS", help_heading = "Events")]
    tid: Option<IdRanges>,
    /// Only events from this time on (s without unit), counted from the zero point: the session's start, or --zero-time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, help_heading = "Events")]
    min_time: Option<i64>,
    /// Only events up to this time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, help_heading = "Events")]
    max_time: Option<i64>,
    /// Of single events, only the first N that pass
    #[arg(long, value_name = "N", help_heading = "Events")]
    max_count: Option<usize>,
    /// Order of the rows; the largest stands last [default: count, of single events time]
    #[arg(long, value_name = "KEY")]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form { title: "Without `--provider`:\n\n", ..Form::usual("tracelog", || PROVIDERS.descriptions()) },
        Form {
            with: &[&["--provider=*"]],
            title: "With `--provider PROVIDER`:\n\n",
            ..Form::usual("tracelog", || KINDS.descriptions())
        },
        Form {
            with: &[&["--provider=*:*"]],
            title: "With `--provider PROVIDER:EVENTS`:\n\n",
            ..Form::usual("tracelog", || EVENTS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "provider", "message", "tid", "max_count", "sort", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump tracelog X.sift", "which processes log events of which providers"),
        ("tracesift dump tracelog X.sift --provider 'My*'", "the events of some providers"),
        ("tracesift dump tracelog X.sift --provider 'MyApp:Start,12,!StartUp'", "single events"),
        ("tracesift dump tracelog X.sift --provider '*:*' --message 'error=5'", "by their text"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--sort=name"],
        &["--provider=*", "--sort=id", "--message=a"],
        &["--provider=*:*", "--sort=name", "--max-count=3", "--top=2"],
    ];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "tracelog",
        switches: &[
            switch(&["provider"], To::Value("--provider")),
            switch(&["message"], To::Value("--message")),
            switch(&["tid"], To::Value("--tid")),
            switch(&["minmaxtime"], To::Range("--min-time", "--max-time", "s")),
            switch(&["maxcount"], To::Value("--max-count")),
            switch(&["sortby"], To::Word("--sort", &[("count", "count"), ("name", "name"), ("id", "id")])),
            switch(
                &["column"],
                To::ChosenColumns(&[
                    ("Time", "time_ns"),
                    ("PID", "pid"),
                    ("TID", "tid"),
                    ("ProcessName", "process"),
                    ("Provider", "provider"),
                    ("EventName", "event"),
                    ("Id", "id"),
                    ("Message", "message"),
                ]),
            ),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if self.max_count.is_some() && !self.provider.names_events() {
            warn("--max-count is of single events, as --provider 'PROVIDER:*' shows them");
        }
        let threads = self.tid.clone().unwrap_or_default();
        Ok(Plan::from(Question {
            filter: EventFilter { processes: self.filter.clone(), threads, ..EventFilter::default() },
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            provider: self.provider.clone(),
            message: message_patterns(&self.message),
            instant: Between { min: self.min_time, max: self.max_time },
            max_count: self.max_count,
            sort: self.sort,
            top: self.top,
            with_stacks: true,
        }))
    }
}

/// Patterns of messages: those without wildcards are a part of it.
#[must_use]
pub fn message_patterns(list: &str) -> Patterns {
    let item = |item: patterns::Item<'_>| {
        let (sign, text) = match item {
            patterns::Item::Include(text) => ("", text),
            patterns::Item::Exclude(text) => ("!", text),
        };
        if patterns::has_wildcards(text) { format!("{sign}{text}") } else { format!("{sign}*{text}*") }
    };
    Patterns::parse(&patterns::split(list).map(item).collect::<Vec<_>>().join(";"))
}

/// Whether an event describes itself, or its provider wrote the manifest into the recording: TraceLogging and EventSource. On Linux
/// programs log by `user_events`.
fn is_self_described(kind: &EventKind) -> bool {
    matches!(kind.schema.as_deref(), Some("tracelogging" | "manifest")) || kind.provider == "user_events"
}

/// What is counted.
const WHAT: &str = "TraceLogging and EventSource events";

impl Ask for Question {
    fn name(&self) -> &'static str {
        "tracelog"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["events"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter.processes)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        if self.provider.is_everything() {
            return Ok(Vec::new());
        }
        let what = ["provider", "providers"];
        let patterns = self.provider.to_string();
        let mut of =
            Candidates { option: "--provider", what, patterns, figure: "most events", ..Candidates::default() };
        recording.archive().scan(None, |kind: &EventKind| {
            if !is_self_described(kind) {
                return;
            }
            of.passing += usize::from(self.provider.accepts(&kind.provider, &kind.guid, &kind.event, kind.number()));
            // Where the provider is there, its events are what is looked for.
            let is_there = self.provider.names_events() && self.provider.accepts_provider(&kind.provider, &kind.guid);
            let name = if is_there { format!("{}:{}", kind.provider, kind.event) } else { kind.provider.clone() };
            of.add(name, 1);
        })?;
        Ok(vec![of])
    }

    fn limits(&self) -> Vec<&'static str> {
        let message = (!self.message.is_empty()).then_some("--message");
        let tid = (!self.filter.threads.is_everything()).then_some("--tid");
        let instant = self.instant.given(["--min-time", "--max-time"]);
        message.into_iter().chain(tid).chain(instant).chain(Inside::options(&self.inside)).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        match (self.rows(), self.sort) {
            (Rows::Events, None | Some(Sort::Count | Sort::Time)) => Some("time_ns"),
            (_, None | Some(Sort::Count)) => Some("count"),
            (Rows::Providers | Rows::Kinds, Some(Sort::Time)) => Some("first_ns"),
            (Rows::Kinds | Rows::Events, Some(Sort::Id)) => Some("id"),
            (Rows::Providers, Some(Sort::Id | Sort::Name)) | (_, Some(Sort::Name)) => None,
        }
    }

    fn columns(&self) -> Vec<Column> {
        match self.rows() {
            Rows::Providers => PROVIDERS.descriptions(),
            Rows::Kinds => KINDS.descriptions(),
            Rows::Events => EVENTS.descriptions(),
        }
    }

    fn sums_suffice(&self) -> bool {
        // An import has the single events, if it has any.
        true
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { time, instant: self.instant.shifted(origin), ..self.clone() })
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        let with_stacks = shown.has("stack");
        (with_stacks != self.with_stacks).then(|| Box::new(Self { with_stacks, ..self.clone() }) as Box<dyn Ask>)
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let file = &recording.file;
        if recording.archive().row_count::<EventRow>() == 0 {
            return Ok(file.absent(WHAT, file.absence_of(EventRow::TABLE.name)));
        }
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let facts = |events: u64| vec![Fact::new("events", Kind::Count, events)];
        let (section, notes) = match self.rows() {
            Rows::Providers => {
                let (rows, counted) = self.providers(recording)?;
                (PROVIDERS.section(file, &rows, facts(counted.events)), counted.notes)
            }
            Rows::Kinds => {
                let (rows, counted) = self.kinds(recording)?;
                (KINDS.section(file, &rows, facts(counted.events)), counted.notes)
            }
            Rows::Events => {
                let (rows, counted) = self.events(recording)?;
                (EVENTS.section(file, &rows, facts(counted.events)), counted.notes)
            }
        };
        Ok(Section { notes, ..section })
    }
}

impl Question {
    fn rows(&self) -> Rows {
        if self.provider.names_events() {
            Rows::Events
        } else if self.provider.is_everything() {
            Rows::Providers
        } else {
            Rows::Kinds
        }
    }
}
