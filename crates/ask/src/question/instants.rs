//! `time`: instants of a recording on every clock: "around two o'clock something bad happened".

use clap::Args;
use tracesift_archive::Error;

use crate::answer::{Column, ColumnOf, Kind, Section};
use crate::ask::{Ask, When};
use crate::columns::Columns;
use crate::limit::{Limit, LimitKind};
use crate::options::{Form, Plan, QuestionOptions};
use crate::recording::OpenRecording;
use crate::time_format::{TimeFormat, TimeStyle};
use crate::time_spec::Instant;
use crate::usage_error::UsageError;
use crate::zero_time::ZeroOptions;
use tracesift_grammar::TimeRange;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The instants; without any the start and the end of the recording.
    pub instants: Vec<Instant>,
    /// From when on times are counted, ns since the session's start.
    pub origin: i64,
}

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    /// An instant: 3.2s, 14:02:10 (recorder's local time), '2022-04-04 14:02', 12:02Z (UTC); without it start and end of the recording
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Vec<Instant>,
    #[command(flatten)]
    zero: ZeroOptions,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("time", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] = &["at", "zero_time", "format", "csv", "out"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift time X.sift", "start and end on every clock"),
        ("tracesift time X.sift --at 14:02", "the recorder's two past two"),
        ("tracesift time X.sift --at 3.2s", "an instant of other answers"),
    ];
    const NOTE: &'static str = "";
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--at=14:02", "--at=3.2s"]];

    fn when(&self) -> When {
        When { zero: self.zero.zero(), ..When::default() }
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question { instants: self.at.clone(), origin: 0 }))
    }
}

/// One instant.
#[derive(Clone, Debug)]
pub struct Row {
    what: String,
    time: i64,
    local: Option<String>,
    utc: Option<String>,
    inside: bool,
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always("instant", "Instant", Kind::Text, |r| (&r.what).into(), "The instant as it was asked for."),
    ColumnOf::always(
        "time_ns",
        "Session",
        Kind::Time,
        |r| r.time.into(),
        "Time since the session's start, or since --zero-time.",
    ),
    ColumnOf::always(
        "local",
        "Recorder's local time",
        Kind::Text,
        |r| r.local.as_ref().into(),
        "The recorder's local time.",
    ),
    ColumnOf::always("utc", "UTC", Kind::Text, |r| r.utc.as_ref().into(), "UTC."),
    ColumnOf::always("inside", "Recorded", Kind::Bool, |r| r.inside.into(), "Whether it lies inside of the recording."),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "time"
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, _: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { origin, ..self.clone() })
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let file = &recording.file;
        let date = |format, ns| {
            let style = TimeStyle { format, digits: 6 };
            file.zero.instant(ns).map(|_| style.show(ns, Some(file.zero)))
        };
        let row = |what: String, ns: i64| Row {
            what,
            time: ns,
            local: date(TimeFormat::Local, ns),
            utc: date(TimeFormat::Utc, ns),
            inside: (file.start..=file.end).contains(&ns),
        };
        let mut rows = Vec::new();
        if self.instants.is_empty() {
            rows = vec![row("start".to_owned(), file.start), row("end".to_owned(), file.end)];
        }
        for instant in &self.instants {
            let ns = match instant {
                Instant::Since(ns) => Some(ns.saturating_add(self.origin)),
                clock => clock.in_session(file.zero, file.end),
            };
            rows.extend(ns.map(|ns| row(instant.to_string(), ns)));
        }
        let mut section = COLUMNS.section(file, &rows, Vec::new());
        if rows.len() < self.instants.len() {
            let text = "it does not say when it was recorded, so a time of day means nothing in it";
            section.warnings.push(Limit::new(LimitKind::NoSuchTime, text));
        }
        Ok(section)
    }
}
