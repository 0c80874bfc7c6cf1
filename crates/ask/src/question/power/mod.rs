//! `dump power`: the power settings of recordings side by side, and their changes.

mod changes;
mod compare;
mod profiles;
mod settings;

use std::collections::BTreeMap;

use clap::Args;
use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{PowerSettingRow, power_sources};

use crate::answer::{Column, ColumnOf, Kind, Layout, Section, Value, View};
use crate::ask::{Ask, When, WhenOptions};
use crate::columns;
use crate::etwanalyzer::{Legacy, To, switch};
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::shown::Shown;
use crate::usage_error::UsageError;
use settings::Values;

const TABLE: &str = "power_settings";

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
#[command(group(clap::ArgGroup::new("rows_of_time").args(["changes", "profiles"])))]
pub struct Options {
    #[command(flatten)]
    when: WhenOptions,
    /// Only settings that differ; of files with the same settings only the first
    #[arg(long)]
    diff: bool,
    /// CSV, JSON and Parquet have a row per setting and a column per file, as the table has
    #[arg(long)]
    transpose: bool,
    /// A row per change of a setting in the recording
    #[arg(long, conflicts_with_all = ["diff", "transpose"])]
    changes: bool,
    /// A row per setting of each profile of the processor's power management (Windows)
    #[arg(long, conflicts_with_all = ["diff", "transpose", "changes"])]
    profiles: bool,
    /// Keep the N last changes, or settings of profiles, of each file
    #[arg(id = "last", long = "top", value_name = "N", requires = "rows_of_time")]
    last: Option<usize>,
    /// Leave out the N last ones first
    #[arg(id = "skip_last", long = "skip", value_name = "N", requires = "rows_of_time")]
    skip_last: Option<usize>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form {
            title: "A row per file; the table and `--transpose` have a row per setting and a column per file:\n\n",
            ..Form::usual("power", columns_of_settings)
        },
        Form {
            with: &[&["--changes"]],
            title: "With `--changes` a row per change of a setting:\n\n",
            ..Form::usual("power", || changes::COLUMNS.descriptions())
        },
        Form {
            with: &[&["--profiles"]],
            title: "With `--profiles` a row per setting of a profile:\n\n",
            ..Form::usual("power", || profiles::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["diff", "transpose", "changes", "profiles", "time", "last", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump power recordings/ --diff", "the settings that differ between recordings"),
        ("tracesift dump power X.sift --details", "all settings, and their meanings"),
        ("tracesift dump power recordings/ --transpose --csv power.csv", "a row per setting, for a spreadsheet"),
        ("tracesift dump power X.sift --changes", "the settings that changed, and when"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--diff"], &["--transpose"]];
    const LEGACY: Option<Legacy> = Some(Legacy {
        name: "power",
        switches: &[
            switch(&["diff"], To::Flag("--diff")),
            switch(&["showtotal"], To::Dropped(1, "settings have no totals")),
        ],
    });

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let rows = match (self.changes, self.profiles) {
            (true, _) => About::Changes,
            (_, true) => About::Profiles,
            _ => About::InForce,
        };
        let top = Top { take: self.last, skip: self.skip_last.unwrap_or(0) };
        let question = Question { rows, top, ..Question::default() };
        if rows != About::InForce {
            return Ok(Plan::from(question));
        }
        let (diff, in_all_formats) = (self.diff, self.transpose);
        Ok(Plan::Archives(Asking {
            then: Box::new(move |answer, _| {
                answer.layout = Layout::SideBySide { headings: settings::HEADINGS, in_all_formats };
                compare::count(answer, diff);
            }),
            ..Asking::plain(question)
        }))
    }
}

/// What the rows are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// A row with all settings that were in force.
    #[default]
    InForce,
    /// A row per change.
    Changes,
    /// A row per setting of a profile.
    Profiles,
}

/// What is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The settings at the end of this range, or the changes in it.
    pub time: TimeRange,
    /// What the rows are about.
    pub rows: About,
    /// How many of the last changes, or of the last rows of profiles.
    pub top: Top,
}

const OTHERS: Column = ColumnOf::<()>::always(
    "others",
    "Others",
    Kind::Map,
    |()| Value::None,
    "Settings without a column: powercfg's alias where it is known, else the GUID, with the value.",
)
.column;

const EQUAL_FILES: Column = ColumnOf::<()>::machine(
    "equal_files",
    "Equal files",
    Kind::List,
    |()| Value::None,
    "With `--diff` the names of the other files with the same settings.",
)
.column;

fn columns_of_settings() -> Vec<Column> {
    let of_settings = settings::all().map(|setting| setting.column);
    columns::of_file_and(of_settings.chain([OTHERS, EQUAL_FILES]))
}

/// The value of a setting as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stored {
    value: Option<i64>,
    text: Option<String>,
    profile: Option<String>,
}

impl Stored {
    fn of(row: &PowerSettingRow) -> Self {
        Self { value: row.value, text: row.text.clone(), profile: row.profile.clone() }
    }

    /// The value in an answer.
    fn shown(&self, values: Values) -> Value {
        let text = || self.profile.clone().or_else(|| self.text.clone());
        match (values, self.value) {
            (Values::Words(words), Some(number)) => {
                let word = usize::try_from(number).ok().and_then(|number| words.get(number));
                word.map_or_else(|| number.to_string(), |word| format!("{number} {word}")).into()
            }
            (Values::Guid, Some(number)) => number.to_string().into(),
            (Values::Number, Some(number)) => number.into(),
            (_, None) => text().into(),
        }
    }
}

/// The value that was in force at an instant: of the last event before it; without one that of the first event from then on, if
/// that tells what was in force and not what changed.
#[derive(Debug, Default)]
struct InForce {
    stored: Stored,
    /// An event was seen.
    is_settled: bool,
}

/// Settings that an answer keeps of a recording; more only a forged one has.
const MOST: usize = 10_000;

fn settings_at(archive: &Archive, time: TimeRange) -> Result<BTreeMap<String, InForce>, Error> {
    let (_, end) = time.bounds();
    let mut all: BTreeMap<String, InForce> = BTreeMap::new();
    archive.scan(None, |row: &PowerSettingRow| {
        if row.source == power_sources::PROFILE {
            return;
        }
        if !all.contains_key(&row.setting) {
            if all.len() >= MOST {
                return;
            }
            all.insert(row.setting.clone(), InForce::default());
        }
        let Some(known) = all.get_mut(&row.setting) else { return };
        let is_before = row.time < end;
        if is_before || (!known.is_settled && row.source != power_sources::CHANGE) {
            known.stored = Stored::of(row);
        }
        known.is_settled = true;
    })?;
    Ok(all)
}

/// The row of a recording: a value for each setting with a column, those of all others, and no equal files yet.
fn row(mut all: BTreeMap<String, InForce>) -> Vec<Value> {
    let mut values: Vec<Value> = settings::all()
        .map(|setting| all.remove(setting.guid).map_or(Value::None, |of| of.stored.shown(setting.values)))
        .collect();
    let others: Vec<(String, Value)> = all
        .into_iter()
        .map(|(guid, of)| (settings::name_of_other(&guid).to_owned(), of.stored.shown(Values::Number)))
        .filter(|(_, value)| *value != Value::None)
        .collect();
    values.push(if others.is_empty() { Value::None } else { Value::Map(others) });
    values.push(Value::None);
    values
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "power"
    }

    fn tables(&self) -> &'static [&'static str] {
        &[TABLE]
    }

    fn columns(&self) -> Vec<Column> {
        match self.rows {
            About::InForce => columns_of_settings(),
            About::Changes => changes::COLUMNS.descriptions(),
            About::Profiles => profiles::COLUMNS.descriptions(),
        }
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..*self })
    }

    /// An import has the settings at the end of the recording, and no changes.
    fn sums_suffice(&self) -> bool {
        self.rows == About::InForce
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if archive.row_count::<PowerSettingRow>() == 0 {
            let is_linux = archive.info().kind == "perf";
            let absence = recording.file.absence_with_cure(TABLE, RowSource::windows("Power"), is_linux);
            return Ok(recording.file.absent("power settings", absence));
        }
        match self.rows {
            About::InForce => {}
            About::Changes => return changes::section(recording, self.time, self.top),
            About::Profiles => return profiles::section(recording, self.time, self.top),
        }
        let row = row(settings_at(archive, self.time)?);
        Ok(columns::section_of(&recording.file, vec![row], Vec::new(), &Shown::default()))
    }
}

/// Whether a column has the value of a setting, or of settings.
fn is_setting(column: &Column) -> bool {
    column.view != View::Nowhere
        && (column.key == OTHERS.key || settings::all().any(|setting| setting.column.key == column.key))
}

#[cfg(test)]
mod tests;
