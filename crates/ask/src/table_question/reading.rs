//! One pass over the rows of a table.

use tracesift_analysis::Span;
use tracesift_analysis::times::{Times, overlap};
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use super::additions::Additions;
use super::asked::Asked;
use super::dimension::ValueOf;
use super::limit::{AsOpen, Limit};
use super::list::{Keeper, Single};
use super::names::Names;
use super::needed::Needed;
use super::places::{UNKNOWN, UNTOLD};
use super::plan::Plan;
use super::seen::Seen;
use super::sums::{Part, Sums};
use super::{TableQuestion, alone, scan_rows};
use crate::order::Between;
use crate::recording::OpenRecording;

/// A pass over the rows. All that does not look at a row is in [`Seen`].
pub(super) struct Reading<'p, 'n, 'r, Q: TableQuestion> {
    limits: Vec<(&'static Limit<Q::Row>, Between)>,
    /// What has to be true of rows.
    conditions: Vec<fn(&Q::Row) -> bool>,
    /// The dimensions whose numbers tell places apart.
    keys: Vec<Key<Q::Row>>,
    additions: Additions<Q::Row>,
    needed: Needed<Q::Row>,
    /// The times in which rows count.
    inside: Option<&'p Times>,
    /// What becomes of rows that the end of their process ended.
    exited: Option<AsOpen<Q::Row>>,
    seen: Seen<'p, 'n, 'r>,
}

/// What was read.
pub(super) struct Read<'p> {
    /// The numbers of each place, one place after the other.
    pub(super) numbers: Vec<i64>,
    /// How many numbers a place has.
    pub(super) width: usize,
    /// The sums. In a series a place has some for each range that it has rows in.
    pub(super) sums: Sums<'p>,
    /// Of each range the places that have rows in it, each with the number of its sums.
    pub(super) in_ranges: Vec<Vec<(u32, u32)>>,
    /// Single rows, where they are asked for.
    pub(super) single: Option<Keeper>,
}

impl Read<'_> {
    /// The numbers of the place of a single row.
    pub(super) fn numbers_of(&self, row: &Single) -> &[i64] {
        &self.numbers[row.place as usize * self.width..][..self.width]
    }
}

/// A dimension whose numbers tell places apart.
struct Key<R: 'static> {
    value: ValueOf<R>,
    /// Whether patterns are asked of it: a row without a value passes none.
    is_filtered: bool,
}

/// The number of a process.
#[inline]
fn number_of_process(process: Option<ProcessId>) -> i64 {
    process.map_or(UNKNOWN, |process| i64::from(process.0))
}

/// The number of a thread.
#[inline]
fn number_of_thread(thread: Option<ThreadId>) -> i64 {
    thread.map_or(UNKNOWN, |thread| i64::from(thread.0))
}

/// The number of a stack.
#[inline]
fn number_of_stack(stack: Option<StackId>) -> i64 {
    stack.map_or(UNKNOWN, |stack| i64::from(stack.0))
}

/// The number of a stack, or of a lone instruction.
#[inline]
fn number_of_code(place: (Option<StackId>, Option<FrameId>)) -> i64 {
    match place {
        (Some(stack), _) => i64::from(stack.0) << 1,
        (None, Some(frame)) => i64::from(frame.0) << 1 | 1,
        (None, None) => UNKNOWN,
    }
}

/// The stack, or the lone instruction, of a number.
pub(super) fn code_of_number(number: i64) -> Option<Result<StackId, FrameId>> {
    let id = i32::try_from(number >> 1).ok()?;
    Some(if number & 1 == 0 { Ok(StackId(id)) } else { Err(FrameId(id)) })
}

/// Reads the rows that touch one of the ranges.
pub(super) fn read<'p, Q: TableQuestion>(
    asked: &Asked,
    plan: &'p Plan,
    names: &mut Names<'_>,
    recording: &OpenRecording,
    ranges: &[TimeRange],
) -> Result<Read<'p>, Error> {
    let mut reading = Reading::<Q>::new(asked, plan, ranges, names);
    reading.rows(recording, ranges)?;
    Ok(reading.seen.into_read())
}

impl<'p, 'n, 'r, Q: TableQuestion> Reading<'p, 'n, 'r, Q> {
    pub(super) fn new(asked: &'n Asked, plan: &'p Plan, ranges: &[TimeRange], names: &'n mut Names<'r>) -> Self {
        let mut reading = Self {
            limits: Vec::new(),
            conditions: Vec::new(),
            keys: Vec::new(),
            additions: Additions::new(plan, Q::MEASURES, Q::HAS_LENGTH),
            needed: Needed::of::<Q>(plan, asked.listing.is_some()),
            inside: plan.inside.as_ref(),
            exited: if asked.include_exited { Q::EXITED.map(|exited| exited.row) } else { None },
            seen: Seen::new(asked, plan, ranges, names),
        };
        for (place, between) in &asked.limits {
            reading.limits.push((&Q::LIMITS[*place], *between));
        }
        for place in &asked.conditions {
            reading.conditions.push(Q::CONDITIONS[*place].holds);
        }
        for place in &plan.keys {
            let value = Q::DIMENSIONS[*place].value;
            reading.keys.push(Key { value, is_filtered: asked.is_filtered(*place) });
        }
        reading
    }

    /// Sees the rows that touch one of the ranges.
    fn rows(&mut self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<(), Error> {
        let is_everything = self.inside.is_none() && ranges.iter().all(TimeRange::is_everything);
        if const { Q::PARTS.is_some() } && !is_everything {
            return self.parts(recording, ranges);
        }
        if let Some(times) = self.inside {
            return self.rows_inside(recording, times);
        }
        // A row that takes no time may stand at the beginning.
        let time = self.seen.ranges.bounds().map(|all| all.start.saturating_sub(1)..all.end);
        if !self.seen.has_one_range() {
            return self.series(recording, time);
        }
        let range = self.seen.ranges.all();
        Q::scan(recording.archive(), time, self.needed, |row: &Q::Row| {
            let as_open = self.exited.and_then(|exited| exited(row));
            let row = as_open.as_ref().unwrap_or(row);
            if let Some(part) = part(Q::times(row), range, Q::COUNTS_AT_END)
                && let Some(place) = self.place(row)
            {
                self.additions.add(&mut self.seen.read.sums, place as usize, row, part);
                if let (Some(keeper), Some((start, length))) = (&mut self.seen.keeper, part.counted) {
                    keep::<Q>(keeper, place, row, Part { start, length, ..part });
                }
            }
        })
    }

    /// Sees the rows that touch one of the ranges while it is one of these times.
    fn rows_inside(&mut self, recording: &OpenRecording, times: &Times) -> Result<(), Error> {
        let needed = self.needed;
        let (all, bounds) = (self.seen.ranges.all(), times.bounds());
        let time = all.start.max(bounds.start).saturating_sub(1)..all.end.min(bounds.end).saturating_add(1);
        let mut parts = Vec::new();
        scan_rows::<Q>(recording.archive(), Some(time), needed, &mut |row| {
            let as_open = self.exited.and_then(|exited| exited(row));
            let row = as_open.as_ref().unwrap_or(row);
            let (start, end) = Q::times(row);
            let spans = times.touching(Q::process(row), start, end);
            for range in self.seen.ranges.touching(start, end) {
                let range = (range, self.seen.ranges.spans()[range]);
                parts_inside((start, end), spans, range.1, Q::COUNTS_AT_END, &mut parts);
                if !parts.is_empty() {
                    self.add(range.0, row, &parts);
                }
            }
        })
    }

    /// The rows that touch a range and that the filters let pass.
    pub(super) fn passing(mut self, recording: &OpenRecording, time: TimeRange) -> Result<Vec<Q::Row>, Error> {
        let range = self.seen.ranges.all();
        let mut rows = Vec::new();
        if Q::PARTS.is_some() && !time.is_everything() {
            rows = Q::parts(recording, &[time], None)?.pop().unwrap_or_default();
            rows.retain(|row| self.place(row).is_some());
            return Ok(rows);
        }
        scan_rows::<Q>(recording.archive(), None, Needed::own::<Q>(), &mut |row| {
            if part(Q::times(row), range, Q::COUNTS_AT_END).is_some() && self.place(row).is_some() {
                rows.push(row.clone());
            }
        })?;
        Ok(rows)
    }

    /// Adds up rows that have the figures of their part.
    fn parts(&mut self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<(), Error> {
        let mut parts = Vec::new();
        for (range, rows) in Q::parts(recording, ranges, self.inside)?.iter().enumerate() {
            for row in rows {
                parts_of::<Q>(row, self.seen.ranges.spans()[range], self.inside, &mut parts);
                if !parts.is_empty() {
                    self.add(range, row, &parts);
                }
            }
        }
        Ok(())
    }

    /// Adds the parts of a row in a range, unless it is not asked for.
    fn add(&mut self, range: usize, row: &Q::Row, parts: &[Part]) {
        let Some(place) = self.place(row) else { return };
        let sums = match self.seen.has_one_range() {
            true => place as usize,
            false => self.seen.sums_in(range, place),
        };
        for part in parts {
            self.additions.add(&mut self.seen.read.sums, sums, row, *part);
            if let (Some(keeper), Some((start, length))) = (&mut self.seen.keeper, part.counted) {
                keep::<Q>(keeper, place, row, Part { start, length, ..*part });
            }
        }
    }

    /// Deals the rows to the ranges.
    fn series(&mut self, recording: &OpenRecording, time: Option<std::ops::Range<i64>>) -> Result<(), Error> {
        let needed = self.needed;
        scan_rows::<Q>(recording.archive(), time, needed, &mut |row| {
            let as_open = self.exited.and_then(|exited| exited(row));
            let row = as_open.as_ref().unwrap_or(row);
            let (start, end) = Q::times(row);
            let touched = self.seen.ranges.touching(start, end);
            if touched.is_empty() {
                return;
            }
            let Some(place) = self.place(row) else { return };
            for range in touched {
                let span = self.seen.ranges.spans()[range];
                let Some(part) = part((start, end), span, Q::COUNTS_AT_END) else { continue };
                let sums = self.seen.sums_in(range, place);
                self.additions.add(&mut self.seen.read.sums, sums, row, part);
            }
        })
    }

    /// The place of a row; `None`: it is not asked for.
    #[inline]
    fn place(&mut self, row: &Q::Row) -> Option<u32> {
        if !Q::is_asked(row) {
            return None;
        }
        for (limit, between) in &self.limits {
            if !between.contains((limit.figure)(row)) {
                return None;
            }
        }
        for holds in &self.conditions {
            if !holds(row) {
                return None;
            }
        }
        let process = number_of_process(Q::process(row));
        if !self.seen.takes_process(process) {
            return None;
        }
        let Seen { row: numbers, texts, .. } = &mut self.seen;
        for ((key, texts), number) in self.keys.iter().zip(texts).zip(&mut numbers[1..]) {
            *number = match key.value {
                ValueOf::Number(number) => number(row).unwrap_or(UNKNOWN),
                ValueOf::Thread(thread) => number_of_thread(thread(row)),
                ValueOf::Code(place) => number_of_code(place(row)),
                ValueOf::Stack(stack) => number_of_stack(stack(row)),
                ValueOf::Text(text) => texts.number(text(row)),
                ValueOf::Texts(list) => texts.number_of_list(list(row)),
                // The first number has told.
                ValueOf::Process => continue,
            };
            if key.is_filtered && matches!(*number, UNKNOWN | UNTOLD) {
                return None;
            }
        }
        self.seen.place()
    }
}

/// Keeps a single row of a place, unless it is too small.
fn keep<Q: TableQuestion>(keeper: &mut Keeper, place: u32, row: &Q::Row, part: Part) {
    let figure = match keeper.sort {
        Some(measure) => alone::figure(Q::MEASURES, measure, row, part),
        None => 0,
    };
    if keeper.takes(place, figure, part) {
        keeper.add(Single {
            figure,
            part,
            has_length: Q::HAS_LENGTH.is_none_or(|has_length| has_length(row)),
            place,
            own: Q::LIST.iter().map(|column| (column.value)(row)).collect(),
        });
    }
}

/// The part of a row inside of a range. `None`: it has none, and does not begin in it; or, where a row counts at its end, does not end in it.
#[inline]
pub(super) fn part((start, end): (i64, i64), range: Span, counts_at_end: bool) -> Option<Part> {
    let counts = counts_at_end && range.contains(end);
    let is_outside = (end <= range.start && start < range.start) || start >= range.end;
    if is_outside && !counts {
        return None;
    }
    let from = start.max(range.start).min(range.end);
    let length = end.min(range.end).saturating_sub(from).max(0);
    let counted = if counts_at_end { (start, end.saturating_sub(start).max(0)) } else { (from, length) };
    let counted = (counts || !counts_at_end).then_some(counted);
    Some(Part { start: from, length, counted, is_older: start < range.start, ends: end <= range.end })
}

/// The parts of a row inside of a range; of chosen times those that lie in them.
pub(super) fn parts_of<Q: TableQuestion>(row: &Q::Row, range: Span, times: Option<&Times>, parts: &mut Vec<Part>) {
    let (start, end) = Q::times(row);
    match times {
        None => {
            parts.clear();
            parts.extend(part((start, end), range, Q::COUNTS_AT_END));
        }
        Some(times) => {
            let spans = times.touching(Q::process(row), start, end);
            parts_inside((start, end), spans, range, Q::COUNTS_AT_END, parts);
        }
    }
}

/// The parts of a row inside of a range that lie in these spans. It counts once: in the first part, with the time of all; or, where a row
/// counts at its end, in the part with the end.
fn parts_inside((start, end): (i64, i64), spans: &[Span], range: Span, counts_at_end: bool, parts: &mut Vec<Part>) {
    parts.clear();
    for span in spans {
        let both = overlap(*span, range);
        parts.extend(both.and_then(|both| part((start, end), both, counts_at_end)));
    }
    if counts_at_end {
        return;
    }
    let length = parts.iter().fold(0_i64, |length, part| length.saturating_add(part.length));
    let ends = parts.last().is_some_and(|part| part.ends);
    if let Some((first, others)) = parts.split_first_mut() {
        (first.counted, first.ends) = (Some((first.start, length)), ends);
        others.iter_mut().for_each(|part| part.counted = None);
    }
}
