//! The changes of power settings over time.

use std::collections::BTreeMap;

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::PowerSettingRow;

use super::settings::{self, Values};
use super::{MOST, Stored};
use crate::answer::{ColumnOf, Fact, Kind, Section, Value};
use crate::columns::Columns;
use crate::order::Top;
use crate::recording::OpenRecording;

/// The name of a setting: its title, else powercfg's alias, else the GUID.
pub(super) fn name(guid: &str) -> &str {
    let known = settings::all().find(|setting| setting.guid == guid);
    known.map_or_else(|| settings::name_of_other(guid), |setting| setting.column.title)
}

/// How a setting shows its values.
pub(super) fn values(guid: &str) -> Values {
    settings::all().find(|setting| setting.guid == guid).map_or(Values::Number, |setting| setting.values)
}

/// A setting that got another value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    time: i64,
    guid: String,
    before: Stored,
    after: Stored,
    overrides: Option<bool>,
}

impl Change {
    fn values(&self) -> Values {
        values(&self.guid)
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Change> = Columns(&[
    ColumnOf::always("time_ns", "Time", Kind::Time, |change| change.time.into(), "Time of the change."),
    ColumnOf::always(
        "setting",
        "Setting",
        Kind::Text,
        |change| name(&change.guid).into(),
        "The setting: its title, else powercfg's alias, else the GUID.",
    ),
    ColumnOf::always(
        "before",
        "Before",
        Kind::Text,
        |change| text(&change.before, change.values()),
        "The value before; empty where the recording does not tell it.",
    ),
    ColumnOf::always(
        "after",
        "After",
        Kind::Text,
        |change| text(&change.after, change.values()),
        "The value from then on.",
    ),
    ColumnOf::details(
        "overrides",
        "Override",
        Kind::Bool,
        |change| change.overrides.into(),
        "Whether the value overrides that of the power scheme.",
    ),
    ColumnOf::details("guid", "GUID", Kind::Text, |change| (&change.guid).into(), "GUID of the setting."),
]);

pub(super) fn text(stored: &Stored, values: Values) -> Value {
    match stored.shown(values) {
        Value::Int(number) => number.to_string().into(),
        other => other,
    }
}

/// The changes in a part of a recording. A value that is told once more, and is the same, is no change.
pub(super) fn section(recording: &OpenRecording, time: TimeRange, top: Top) -> Result<Section, Error> {
    let (start, end) = time.bounds();
    let mut known: BTreeMap<String, Stored> = BTreeMap::new();
    let mut changes = Vec::new();
    recording.archive().scan(None, |row: &PowerSettingRow| {
        if row.source == tracesift_trace::rows::power_sources::PROFILE {
            return;
        }
        let after = Stored::of(row);
        let before = known.get(&row.setting);
        let is_change = match before {
            Some(before) => *before != after,
            None => row.source == tracesift_trace::rows::power_sources::CHANGE,
        };
        if is_change && (start..end).contains(&row.time) {
            changes.push(Change {
                time: row.time,
                guid: row.setting.clone(),
                before: before.cloned().unwrap_or_default(),
                after: after.clone(),
                overrides: row.overrides,
            });
        }
        if before.is_some() || known.len() < MOST {
            known.insert(row.setting.clone(), after);
        }
    })?;
    let count = Fact::new("changes", Kind::Count, changes.len());
    top.apply(&mut changes);
    Ok(COLUMNS.section(&recording.file, &changes, vec![count]))
}
