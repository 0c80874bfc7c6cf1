//! One pass over the rows of a table.

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::{FrameId, ProcessId, StackId, ThreadId};

use super::dimension::{AsOpen, Cut, Limit, Of, TextsOf};
use super::list::{Keeper, Listing, Single};
use super::names::{Interner, Lists, Names};
use super::places::{Places, UNKNOWN, UNTOLD};
use super::plan::Plan;
use super::sums::{Part, Sums};
use super::{Question, TableQuestion, scan_rows};
use crate::order::Between;
use crate::recording::OpenRecording;
use crate::time_windows::TimeWindows;

/// A pass over the rows.
pub(super) struct Reading<'a, 'n, 'r, Q: TableQuestion> {
    question: &'n Question<Q>,
    names: &'n mut Names<'r, Q::Row>,
    ranges: TimeWindows,
    limits: Vec<(&'static Limit<Q::Row>, Between)>,
    keys: Vec<Key<Q::Row>>,
    places: Places,
    /// Whether rows need figures from other tables.
    joined: bool,
    /// What becomes of rows that the end of their process ended.
    exited: Option<AsOpen<Q::Row>>,
    /// The numbers of the row at hand; the process first.
    row: Vec<i64>,
    /// Single rows, where they are asked for.
    keeper: Option<Keeper>,
    read: Read<'a, Q::Row>,
}

/// What was read.
pub(super) struct Read<'a, R: 'static> {
    /// The numbers of each place, one place after the other.
    pub(super) numbers: Vec<i64>,
    /// How many numbers a place has.
    pub(super) width: usize,
    /// The sums. In a series a place has some for each range that it has rows in.
    pub(super) sums: Sums<'a, R>,
    /// Of each range the places that have rows in it, each with the number of its sums.
    pub(super) in_ranges: Vec<Vec<(u32, u32)>>,
    /// Single rows, where they are asked for.
    pub(super) single: Option<Keeper>,
}

impl<R> Read<'_, R> {
    /// The numbers of the place of a single row.
    pub(super) fn numbers_of(&self, row: &Single) -> &[i64] {
        &self.numbers[row.place as usize * self.width..][..self.width]
    }
}

/// A dimension whose numbers tell places apart.
struct Key<R: 'static> {
    dimension: usize,
    numbers: Numbers<R>,
    /// Whether patterns are asked of it: a row without a value passes none.
    is_filtered: bool,
}

/// How a row gives the number of a dimension.
enum Numbers<R: 'static> {
    Thread(fn(&R) -> Option<ThreadId>),
    Method(fn(&R) -> (Option<StackId>, Option<FrameId>)),
    Number(fn(&R) -> Option<i64>),
    Stack(fn(&R) -> Option<StackId>),
    Text(fn(&R) -> Option<&str>, Interner),
    /// A part of a text, with its length.
    Part(fn(&R) -> Option<&str>, (Cut, Option<usize>), Interner),
    Texts(TextsOf<R>, Lists),
}

impl<R> Numbers<R> {
    #[inline]
    fn of(&mut self, row: &R) -> i64 {
        match self {
            Self::Number(number) => number(row).unwrap_or(UNKNOWN),
            Self::Thread(thread) => thread(row).map_or(UNKNOWN, |thread| i64::from(thread.0)),
            Self::Method(place) => number_of_code(place(row)),
            Self::Stack(stack) => stack(row).map_or(UNKNOWN, |stack| i64::from(stack.0)),
            Self::Text(text, texts) => text(row).map_or(UNKNOWN, |text| texts.number(text)),
            Self::Part(text, (cut, level), texts) => text(row).map_or(UNKNOWN, |text| texts.number(cut(text, *level))),
            Self::Texts(texts, lists) => texts(row).map_or(UNKNOWN, |texts| lists.number(texts)),
        }
    }
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

impl<'a, 'n, 'r, Q: TableQuestion> Reading<'a, 'n, 'r, Q> {
    pub(super) fn new(
        question: &'n Question<Q>,
        plan: &'a Plan<Q::Row>,
        ranges: &[TimeRange],
        names: &'n mut Names<'r, Q::Row>,
    ) -> Self {
        let numbers = |dimension: usize| match plan.dimensions[dimension].of {
            Of::Process => None,
            Of::Thread(thread) => Some(Numbers::Thread(thread)),
            Of::Method { place, .. } => Some(Numbers::Method(place)),
            Of::Number { number, .. } => Some(Numbers::Number(number)),
            Of::Stack { stack, .. } | Of::Module { stack, .. } | Of::Tag { stack, .. } => Some(Numbers::Stack(stack)),
            Of::Text { text, cut: Some(cut), .. } => {
                Some(Numbers::Part(text, (cut, plan.dir_level), Interner::default()))
            }
            Of::Text { text, cut: None, .. } => Some(Numbers::Text(text, Interner::default())),
            Of::Texts { texts, .. } => Some(Numbers::Texts(texts, Lists::default())),
        };
        let is_filtered = |dimension| question.patterns.iter().any(|(filtered, _)| *filtered == dimension);
        let key = |&dimension: &usize| {
            Some(Key { dimension, numbers: numbers(dimension)?, is_filtered: is_filtered(dimension) })
        };
        let keys: Vec<_> = plan.keys.iter().filter_map(key).collect();
        let (places, width) = Places::new(keys.len() + 1);
        Self {
            question,
            names,
            ranges: TimeWindows::of(ranges),
            limits: question.limits.iter().map(|(place, between)| (&Q::LIMITS[*place], *between)).collect(),
            keys,
            places,
            joined: plan.joined,
            exited: Q::EXITED.filter(|_| question.include_exited).map(|exited| exited.row),
            row: vec![0; width],
            keeper: match question.listing {
                Some(listing @ (Listing::Flat | Listing::OfGroups(_))) => Some(Keeper::new(question, listing)),
                Some(Listing::Stacks(_)) | None => None,
            },
            read: Read {
                numbers: Vec::new(),
                width,
                sums: Sums::new(plan),
                in_ranges: vec![Vec::new(); ranges.len()],
                single: None,
            },
        }
    }

    /// Reads the rows that touch one of the ranges.
    pub(super) fn read(mut self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Read<'a, Q::Row>, Error> {
        // A row that takes no time may stand at the beginning.
        let time = self.ranges.bounds().map(|all| all.start.saturating_sub(1)..all.end);
        if Q::PARTS.is_some() && ranges.iter().any(|range| !range.is_everything()) {
            self.read_parts(recording, ranges)?;
        } else if self.has_one_range() {
            let range = self.ranges.all();
            Q::scan(recording.archive(), time, self.joined, |row: &Q::Row| {
                let as_open = self.exited.and_then(|exited| exited(row));
                let row = as_open.as_ref().unwrap_or(row);
                if let Some(part) = part(Q::times(row), range, Q::COUNTS_AT_END)
                    && let Some(place) = self.place(row)
                {
                    self.read.sums.add(place as usize, row, part);
                    if let (Some(keeper), Some((start, length))) = (&mut self.keeper, part.counted) {
                        keeper.add::<Q>(place, row, Part { start, length, ..part });
                    }
                }
            })?;
            self.all_places_in_range();
        } else {
            self.read_series(recording, time)?;
        }
        for key in self.keys {
            match key.numbers {
                Numbers::Text(_, texts) | Numbers::Part(_, _, texts) => self.names.set_texts(key.dimension, texts),
                Numbers::Texts(_, lists) => self.names.set_lists(key.dimension, lists),
                _ => {}
            }
        }
        Ok(Read { single: self.keeper, ..self.read })
    }

    /// The rows that touch a range and that the filters let pass.
    pub(super) fn passing(mut self, recording: &OpenRecording, time: TimeRange) -> Result<Vec<Q::Row>, Error>
    where
        Q::Row: Clone,
    {
        let range = self.ranges.all();
        let mut rows = Vec::new();
        if Q::PARTS.is_some() && !time.is_everything() {
            rows = Q::parts(recording, &[time])?.pop().unwrap_or_default();
            rows.retain(|row| self.place(row).is_some());
            return Ok(rows);
        }
        scan_rows::<Q>(recording.archive(), None, false, &mut |row| {
            if part(Q::times(row), range, Q::COUNTS_AT_END).is_some() && self.place(row).is_some() {
                rows.push(row.clone());
            }
        })?;
        Ok(rows)
    }

    fn all_places_in_range(&mut self) {
        let places = self.read.numbers.len() / self.read.width;
        self.read.in_ranges[0] = (0..places as u32).map(|place| (place, place)).collect();
    }

    /// Adds up rows that have the figures of their part.
    fn read_parts(&mut self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<(), Error> {
        let mut sums_of: FxHashMap<(usize, u32), u32> = FxHashMap::default();
        for (range, rows) in Q::parts(recording, ranges)?.iter().enumerate() {
            for row in rows {
                let Some(part) = part(Q::times(row), self.ranges.spans()[range], Q::COUNTS_AT_END) else { continue };
                let Some(place) = self.place(row) else { continue };
                if self.has_one_range() {
                    self.read.sums.add(place as usize, row, part);
                    if let Some(keeper) = &mut self.keeper {
                        keeper.add::<Q>(place, row, part);
                    }
                    continue;
                }
                let many = sums_of.len() as u32;
                let sums = *sums_of.entry((range, place)).or_insert_with(|| {
                    self.read.sums.add_place();
                    self.read.in_ranges[range].push((place, many));
                    many
                });
                self.read.sums.add(sums as usize, row, part);
            }
        }
        if self.has_one_range() {
            self.all_places_in_range();
        }
        Ok(())
    }

    /// Deals the rows to the ranges.
    fn read_series(&mut self, recording: &OpenRecording, time: Option<std::ops::Range<i64>>) -> Result<(), Error> {
        let mut sums_of: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut many = 0;
        let joined = self.joined;
        scan_rows::<Q>(recording.archive(), time, joined, &mut |row| {
            let as_open = self.exited.and_then(|exited| exited(row));
            let row = as_open.as_ref().unwrap_or(row);
            let (start, end) = Q::times(row);
            let touched = self.ranges.touching(start, end);
            if touched.is_empty() {
                return;
            }
            let Some(place) = self.place(row) else { return };
            for range in touched {
                let Some(part) = part((start, end), self.ranges.spans()[range], Q::COUNTS_AT_END) else { continue };
                let in_range = &mut self.read.in_ranges[range];
                let sums = *sums_of.entry((range as u32, place)).or_insert_with(|| {
                    self.read.sums.add_place();
                    in_range.push((place, many));
                    many += 1;
                    many - 1
                });
                self.read.sums.add(sums as usize, row, part);
            }
        })
    }

    /// Whether the sums of a place have its number.
    fn has_one_range(&self) -> bool {
        self.ranges.spans().len() == 1
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
        if !self.question.conditions.iter().all(|place| (Q::CONDITIONS[*place].holds)(row)) {
            return None;
        }
        self.row[0] = Q::process(row).map_or(UNKNOWN, |process| i64::from(process.0));
        let mut numbers = self.row[1..].iter_mut();
        for key in &mut self.keys {
            let Some(number) = numbers.next() else { break };
            *number = key.numbers.of(row);
            if key.is_filtered && matches!(*number, UNKNOWN | UNTOLD) {
                return None;
            }
        }
        match self.places.get(&self.row) {
            Ok(place) => place,
            Err(_) => self.add_place(),
        }
    }

    /// The place of numbers that were never seen.
    #[cold]
    fn add_place(&mut self) -> Option<u32> {
        let place = self.lets_pass().then(|| {
            let place = (self.read.numbers.len() / self.read.width) as u32;
            self.read.numbers.extend_from_slice(&self.row);
            if self.has_one_range() {
                self.read.sums.add_place();
            }
            place
        });
        self.places.insert(&self.row, place);
        place
    }

    /// Whether the filters let the row at hand pass.
    fn lets_pass(&mut self) -> bool {
        let is_asked = match self.row[0] {
            UNKNOWN => self.question.takes_unknown_processes(),
            process => i32::try_from(process).is_ok_and(|process| self.names.has_process(ProcessId(process))),
        };
        is_asked
            && self.question.patterns.iter().all(|(dimension, wanted)| {
                let Some(place) = self.keys.iter().position(|key| key.dimension == *dimension) else { return true };
                let number = self.row[place + 1];
                match &self.keys[place].numbers {
                    Numbers::Text(_, texts) | Numbers::Part(_, _, texts) => wanted.lets_pass_text(texts.text(number)),
                    Numbers::Texts(_, lists) => lists.lets_pass(number, wanted),
                    _ => self.names.lets_pass(*dimension, number, wanted),
                }
            })
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
