//! Events in groups.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::schema::ColumnSet;

use super::Question;
use super::by_columns;
use super::dimension::{By, Part, Parts};
use super::sums::{Budget, FieldSum};
use crate::events::{EventRead, Events, choice, note_of_selection, notes_of_names};
use crate::inside::Inside;
use crate::recording::OpenRecording;
use crate::time_windows::TimeWindows;

/// Groups that are told apart.
const MOST_GROUPS: usize = 1 << 20;

/// Events of one group.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) count: u64,
    pub(super) first: i64,
    pub(super) last: i64,
    /// In the order of `--sum`.
    pub(super) sums: Vec<FieldSum>,
}

/// The groups of a recording.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) parts: Parts,
    /// By time window, and then by the parts of the key.
    pub(super) groups: FxHashMap<Box<[Part]>, Group>,
    /// Events that passed, by time window.
    pub(super) events: Vec<u64>,
    pub(super) notes: Vec<String>,
    budget: Budget,
    pub(super) left_out: u64,
}

impl Groups {
    /// Reads the events of some time ranges, which follow each other.
    pub(super) fn read(question: &Question, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Self, Error> {
        let windows = TimeWindows::of(ranges);
        let by: Vec<&By> = question.by.iter().chain(&question.pivot).collect();
        let with_fields = !question.sums.is_empty() || by.iter().any(|by| matches!(by, By::Field(..)));
        let needed = by.iter().fold(ColumnSet::of(&["time"]), |needed, by| needed.and(by.needed()));
        let mut all = Self { events: vec![0; ranges.len()], ..Self::default() };
        if by_columns::can_count(question, &windows) {
            all = by_columns::count(all, &by, needed, recording.archive())?;
            all.finish(recording);
            return Ok(all);
        }
        let mut key: Vec<Part> = Vec::with_capacity(by.len() + 1);
        let filter = &question.filter;
        let times = Inside::times(&question.inside, recording)?;
        let times = times.as_ref();
        let events = Events { filter, fields: &question.fields, choose: choice(filter), needed, with_fields, times };
        let bounds = windows.bounds();
        let time = TimeRange { start: bounds.as_ref().map(|all| all.start), end: bounds.map(|all| all.end) };
        let named = events.read(recording.archive(), time, &mut |event| {
            if let Some(window) = windows.at(event.row.time) {
                all.add(question, &by, window, event, &mut key);
            }
            ControlFlow::Continue(())
        })?;
        all.notes.extend(notes_of_names(&named));
        all.finish(recording);
        Ok(all)
    }

    fn add(&mut self, question: &Question, by: &[&By], window: usize, event: &EventRead<'_>, key: &mut Vec<Part>) {
        if let Some(events) = self.events.get_mut(window) {
            *events += 1;
        }
        key.clear();
        key.push(i64::try_from(window).ok());
        for by in by {
            match self.parts.of(by, event) {
                Ok(part) => key.push(part),
                Err(()) => {
                    self.left_out += 1;
                    return;
                }
            }
        }
        self.count(key, event.row.time, question.sums.len());
        if question.sums.is_empty() {
            return;
        }
        let Some(group) = self.groups.get_mut(key.as_slice()) else { return };
        for (path, sum) in question.sums.iter().zip(&mut group.sums) {
            let mut has_field = false;
            path.each(event.fields, &mut |value| {
                has_field = true;
                sum.add(value, &mut self.parts.names, &mut self.budget);
            });
            sum.events += u64::from(has_field);
        }
    }

    /// Counts an event of a group.
    #[inline]
    pub(super) fn count(&mut self, key: &[Part], time: i64, sums: usize) {
        if let Some(group) = self.groups.get_mut(key) {
            group.count += 1;
            group.first = group.first.min(time);
            group.last = group.last.max(time);
        } else if self.groups.len() < MOST_GROUPS {
            let new = Group { count: 1, first: time, last: time, sums: vec![FieldSum::default(); sums] };
            self.groups.insert(key.into(), new);
        } else {
            self.left_out += 1;
        }
    }

    fn finish(&mut self, recording: &OpenRecording) {
        let mut lacking = 0_usize;
        for sum in self.groups.values_mut().flat_map(|group| &mut group.sums) {
            sum.finish();
            lacking += usize::from(sum.lacks_something());
        }
        if lacking > 0 {
            self.notes.push(format!(
                "{lacking} rows have more values than are kept: their percentiles or distinct texts are not known"
            ));
        }
        if self.left_out > 0 {
            let left_out = self.left_out;
            self.notes.push(format!("{left_out} events are in no row: there are more than a million groups or texts"));
        }
        if self.events.iter().all(|events| *events == 0) {
            self.notes.extend(note_of_selection(recording.archive()).map(str::to_owned));
        }
    }
}

/// Order of texts: nothing, then numbers by their size, then words.
pub(super) fn by_number_or_text(left: &str, right: &str) -> Ordering {
    let number = |text: &str| {
        let hexadecimal = text.strip_prefix("0x").and_then(|digits| i128::from_str_radix(digits, 16).ok());
        hexadecimal.or_else(|| text.parse::<i128>().ok())
    };
    if left.is_empty() || right.is_empty() {
        return left.len().cmp(&right.len());
    }
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.to_lowercase().cmp(&right.to_lowercase()),
    }
    .then_with(|| left.cmp(right))
}
