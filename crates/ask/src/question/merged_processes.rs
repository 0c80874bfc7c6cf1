//! `dump process --merge`: lives of processes followed over several recordings of one machine.
//!
//! Recordings are of the same boot when the names of the machine agree, and the times of the boot by two seconds. Of one boot a process
//! with the same name and pid is the same one where its starts agree, or where a recording begins while it may still run. A process that
//! ended, and another of its name that got its pid between two recordings, are taken for one if no recording has the end or the start.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::DateTime;

use super::process::{self, Question, Sort};
use crate::answer::{Answer, Column, ColumnOf, Fact, Kind, Section, Value, descriptions, values};
use crate::ask::Ask;
use crate::filter::{Lifetime, ProcessFilter};
use crate::order::{Between, Top};
use crate::over_files::{answer_of, notes};
use crate::recording::OpenRecording;
use crate::time_format::Zero;
use crate::totals::files;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::ProcessRow;

/// Which lives are shown, and in which order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    pub(super) sort: Sort,
    pub(super) top: Top,
    pub(super) lifetime: Option<Lifetime>,
    /// From start to end, ns.
    pub(super) duration: Between,
}

/// One process of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the image.
    pub process: String,
    /// Process id.
    pub pid: i64,
    /// Start, 100 ns since 1601; `None`: before all recordings that have it.
    pub start: Option<i64>,
    /// End; `None`: in none of them.
    pub end: Option<i64>,
    /// Name of the machine.
    pub machine: Option<String>,
    /// Number of recordings that have it.
    pub files: usize,
    /// Name of the first one.
    pub first_file: String,
    /// Name of the last one.
    pub last_file: String,
    /// What other columns of `dump process` have, from the recording with its end, else from the first one.
    more: [Value; MORE.len()],
}

/// Keys of columns that one recording tells.
const MORE: [&str; 4] = ["exit", "parent_pid", "account", "command_line"];

/// The columns.
pub const COLUMNS: &[ColumnOf<Row>] = &[
    ColumnOf::always("pid", "Pid", Kind::Id, |r| r.pid.into(), "Process id."),
    ColumnOf::always(
        "start_utc",
        "Start UTC",
        Kind::Text,
        |r| r.start.and_then(date).into(),
        "Its start as a date in UTC; empty: before the recordings that have it.",
    ),
    ColumnOf::always(
        "end_utc",
        "Stop UTC",
        Kind::Text,
        |r| r.end.and_then(date).into(),
        "Its end as a date in UTC; empty: no recording has it.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Seconds,
        |r| duration(r).into(),
        "From its start to its end; empty where one of them is not known.",
    ),
    ColumnOf::always(
        "exit",
        "Exit",
        Kind::Text,
        |r| r.more[0].clone(),
        "Name of the exit status where it is known, else the number.",
    ),
    ColumnOf::always("parent_pid", "Parent", Kind::Id, |r| r.more[1].clone(), "Process id of the creator."),
    ColumnOf::always("files", "Files", Kind::Count, |r| r.files.into(), "Number of recordings that have it."),
    ColumnOf::details(
        "first_file",
        "First file",
        Kind::Text,
        |r| (&r.first_file).into(),
        "The first of these recordings.",
    ),
    ColumnOf::details("last_file", "Last file", Kind::Text, |r| (&r.last_file).into(), "The last of these recordings."),
    ColumnOf::machine("machine_name", "Machine", Kind::Text, |r| r.machine.clone().into(), "Machine on which it ran."),
    ColumnOf::details("account", "Account", Kind::Text, |r| r.more[2].clone(), "Its owner."),
    ColumnOf::always("process", "Process", Kind::Text, |r| (&r.process).into(), "File name of the process' image."),
    ColumnOf::always("command_line", "Command line", Kind::LongText, |r| r.more[3].clone(), "Its command line."),
];

fn date(ticks: i64) -> Option<String> {
    Zero { filetime: ticks, utc_offset_minutes: 0 }.iso_utc(0)
}

fn duration(row: &Row) -> Option<i64> {
    let ticks = row.end?.saturating_sub(row.start?);
    Some(ticks.max(0).saturating_mul(TICK_NS))
}

const TICK_NS: i64 = 100;
const SECOND: i64 = 10_000_000;
/// The time of a boot is computed anew for each session.
const BOOT_TOLERANCE: i64 = 2 * SECOND;
/// Clocks of two sessions tell the time of one start by so much differently, at most.
const START_TOLERANCE: i64 = SECOND / 100;

/// Facts of a file by which its processes are followed.
const MACHINE: &str = "machine";
const BOOT: &str = "boot";

/// The processes of each recording, with the machine and its boot.
#[derive(Clone, Debug)]
pub(super) struct Sightings(pub(super) Question);

impl Ask for Sightings {
    fn name(&self) -> &'static str {
        "process"
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.0.filter)
    }

    fn columns(&self) -> Vec<Column> {
        self.0.columns()
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self(Question { time, ..self.0.clone() }))
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let mut section = process::sightings(&recording.file, &recording.archive().rows::<ProcessRow>()?, &self.0);
        let info = recording.info();
        section.facts.extend(info.machine.as_ref().map(|machine| Fact::local(MACHINE, Kind::Text, machine.clone())));
        section.facts.extend(info.boot_time_utc.as_ref().map(|boot| Fact::local(BOOT, Kind::Text, boot.clone())));
        Ok(section)
    }
}

/// A process in one recording. Times are 100 ns since 1601.
#[derive(Clone, Debug)]
struct Sighting {
    row: Row,
    /// Begin of the recording.
    begin: i64,
}

impl Sighting {
    /// Whether it had died before the recording began: an end for a life in an earlier recording, and no life of its own.
    fn is_of_dead(&self) -> bool {
        self.row.start.is_none() && self.row.end.is_some_and(|end| end < self.begin)
    }
}

/// Makes one answer of those of [`Sightings`].
pub(super) fn merge(answer: &Answer, shown: &Shown) -> Answer {
    let mut boots: BTreeMap<(String, i64), Vec<Sighting>> = BTreeMap::new();
    let mut alone = 0;
    let mut rows = Vec::new();
    for section in &answer.sections {
        let sightings = sightings(answer, section);
        match boot_of(section) {
            Some((machine, boot)) => {
                let near =
                    boots.keys().find(|(known, at)| *known == machine && at.abs_diff(boot) <= BOOT_TOLERANCE as u64);
                let key = near.cloned().unwrap_or((machine, boot));
                boots.entry(key).or_default().extend(sightings);
            }
            None => {
                alone += 1;
                rows.extend(sightings.into_iter().filter(|one| !one.is_of_dead()).map(|sighting| sighting.row));
            }
        }
    }
    rows.extend(boots.into_values().flat_map(followed));
    rows.retain(|row| {
        shown.lifetime.is_none_or(|lifetime| lifetime.accepts_ends(row.start.is_some(), row.end.is_some()))
            && shown.duration.contains(duration(row))
    });
    rows.sort_by(|a, b| compare(shown.sort, a, b));
    shown.top.apply(&mut rows);
    let without_boot = (alone > 0 && answer.sections.len() > 1).then(|| {
        format!("{} without a time of the boot or of the recording: their processes are not followed", files(alone))
    });
    let count = |holds: fn(&Row) -> bool| rows.iter().filter(|row| holds(row)).count();
    let section = Section {
        title: files(answer.sections.len()),
        rows: values(COLUMNS, &rows),
        facts: vec![
            Fact::new("processes", Kind::Count, rows.len()),
            Fact::new("new", Kind::Count, count(|row| row.start.is_some())),
            Fact::new("exited", Kind::Count, count(|row| row.end.is_some())),
            Fact::new("permanent", Kind::Count, count(|row| row.start.is_none() && row.end.is_none())),
        ],
        notes: notes(answer).chain(without_boot).collect(),
        ..Section::default()
    };
    answer_of(answer, descriptions(COLUMNS), None, section)
}

/// Machine, and time of the boot in 100 ns since 1970.
fn boot_of(section: &Section) -> Option<(String, i64)> {
    let text = |label: &str| {
        let fact = section.facts.iter().find(|fact| fact.label == label)?;
        if let Value::Text(text) = &fact.value { Some(text.to_string()) } else { None }
    };
    section.zero.filter(|zero| zero.filetime != 0)?;
    let boot = DateTime::parse_from_rfc3339(&text(BOOT)?).ok()?;
    let ticks =
        boot.timestamp().checked_mul(SECOND)?.checked_add(i64::from(boot.timestamp_subsec_nanos()) / TICK_NS)?;
    Some((text(MACHINE)?.to_lowercase(), ticks))
}

fn sightings(answer: &Answer, section: &Section) -> Vec<Sighting> {
    let place = |key: &str| answer.columns.iter().position(|column| column.key == key);
    let [name, pid, start, end] = ["process", "pid", "start_ns", "end_ns"].map(place);
    let more = MORE.map(place);
    let begin = section.zero.map_or(0, |zero| zero.filetime);
    let machine = section.facts.iter().find(|fact| fact.label == MACHINE).and_then(|fact| match &fact.value {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    });
    let sighting = |row: &Vec<Value>| {
        let value = |place: Option<usize>| place.and_then(|place| row.get(place)).cloned().unwrap_or_default();
        let time = |place| match value(place) {
            Value::Int(ns) if begin != 0 => Some(begin.saturating_add(ns.div_euclid(TICK_NS))),
            _ => None,
        };
        let (Value::Text(process), Value::Int(pid)) = (value(name), value(pid)) else { return None };
        let row = Row {
            process: process.to_string(),
            pid,
            start: time(start),
            end: time(end),
            machine: machine.clone(),
            files: 1,
            first_file: section.title.clone(),
            last_file: section.title.clone(),
            more: more.map(value),
        };
        Some(Sighting { row, begin })
    };
    section.rows.iter().filter_map(sighting).collect()
}

/// The lives of processes of one boot.
fn followed(mut sightings: Vec<Sighting>) -> Vec<Row> {
    sightings.sort_by_key(|sighting| sighting.begin);
    let mut lives: BTreeMap<(i64, String), Vec<Sighting>> = BTreeMap::new();
    for sighting in sightings {
        let of_name = lives.entry((sighting.row.pid, sighting.row.process.to_lowercase())).or_default();
        match of_name.iter_mut().rev().find(|life| is_same(life, &sighting)) {
            Some(life) => life.row.go_on(sighting.row),
            None if sighting.is_of_dead() => {}
            None => of_name.push(sighting),
        }
    }
    lives.into_values().flatten().map(|life| life.row).collect()
}

/// Whether a process of a recording that begins no earlier is the same one.
fn is_same(life: &Sighting, next: &Sighting) -> bool {
    let (known, seen) = (&life.row, &next.row);
    match (known.start, seen.start) {
        (Some(known), Some(seen)) => known.abs_diff(seen) <= START_TOLERANCE as u64,
        // It ran before a recording that begins no later: what starts later is another one.
        (None, Some(_)) => false,
        // It runs when the recording begins. A recording may end after the next one begins, so the end may be known already.
        (_, None) => known.end.is_none_or(|end| end >= next.begin.saturating_sub(START_TOLERANCE)),
    }
}

impl Row {
    /// Takes over what a later recording has of it.
    fn go_on(&mut self, later: Self) {
        self.start = self.start.or(later.start);
        self.files += 1;
        self.last_file = later.last_file;
        if self.end.is_none() && later.end.is_some() {
            (self.end, self.more) = (later.end, later.more);
        }
    }
}

fn compare(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let by_name = || {
        let key = |row: &Row| (row.process.to_lowercase(), row.start, row.pid);
        key(a).cmp(&key(b)).then_with(|| a.first_file.cmp(&b.first_file))
    };
    match sort {
        Sort::Time => (a.start, a.end).cmp(&(b.start, b.end)).then_with(by_name),
        Sort::Stop => (a.end.is_none(), a.end).cmp(&(b.end.is_none(), b.end)).then_with(by_name),
        _ => by_name(),
    }
}

#[cfg(test)]
mod tests;
