//! The settings that profiles of the processor's power management have.

use std::collections::BTreeMap;

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::{PowerSettingRow, power_sources};

use super::changes::{name, text, values};
use super::{MOST, Stored};
use crate::answer::{ColumnOf, Fact, Kind, Section, Value};
use crate::columns::Columns;
use crate::order::Top;
use crate::recording::OpenRecording;

/// What tells the settings apart: profile, setting, condition and class of processors.
type Key = (String, String, Option<i8>, Option<i8>);

/// A setting of a profile.
#[derive(Clone, Debug)]
pub(super) struct Row {
    key: Key,
    stored: Stored,
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always(
        "profile",
        "Profile",
        Kind::Text,
        |row| (&row.key.0).into(),
        "Name of the profile, else its number. One profile is active at a time.",
    ),
    ColumnOf::always(
        "setting",
        "Setting",
        Kind::Text,
        |row| name(&row.key.1).into(),
        "The setting: its title, else powercfg's alias, else the GUID.",
    ),
    ColumnOf::always("on", "On", Kind::Text, |row| condition(row.key.2), "`mains` or `battery`."),
    ColumnOf::always(
        "class",
        "Class",
        Kind::Id,
        |row| row.key.3.map(i64::from).into(),
        "Efficiency class of the processors that the value is for.",
    ),
    ColumnOf::always(
        "value",
        "Value",
        Kind::Text,
        |row| text(&row.stored, values(&row.key.1)),
        "The value at the end of the time range.",
    ),
    ColumnOf::details("guid", "GUID", Kind::Text, |row| (&row.key.1).into(), "GUID of the setting."),
]);

fn condition(condition: Option<i8>) -> Value {
    match condition {
        Some(0) => "mains".into(),
        Some(1) => "battery".into(),
        other => other.map(|other| other.to_string()).into(),
    }
}

/// The values of a part of a recording: the last one of each setting up to its end, else the first one behind it.
pub(super) fn section(recording: &OpenRecording, time: TimeRange, top: Top) -> Result<Section, Error> {
    let (_, end) = time.bounds();
    let mut known: BTreeMap<Key, Stored> = BTreeMap::new();
    recording.archive().scan(None, |row: &PowerSettingRow| {
        let Some(profile) = row.profile.clone().filter(|_| row.source == power_sources::PROFILE) else { return };
        let key = (profile, row.setting.clone(), row.condition, row.class);
        let is_known = known.contains_key(&key);
        if !is_known && known.len() >= MOST || is_known && row.time >= end {
            return;
        }
        // Of a profile the value alone matters; its name is in the key.
        known.insert(key, Stored { profile: None, ..Stored::of(row) });
    })?;
    let mut rows: Vec<Row> = known.into_iter().map(|(key, stored)| Row { key, stored }).collect();
    let count = Fact::new("settings of profiles", Kind::Count, rows.len());
    top.apply(&mut rows);
    Ok(COLUMNS.section(&recording.file, &rows, vec![count]))
}
