//! A reading that looks at one row after the other, and at their texts: slow and plain.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_analysis::tags::{Nesting, TagId, TagSet};
use tracesift_analysis::{Distribution, Span};
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::{FrameId, StackId};

use super::asked::Asked;
use super::random::{END, PROCESSES, Random, THREADS, function, process};
use super::{Row, rows_of};
use crate::answer::{Section, Value};
use crate::method_patterns::MethodPatterns;
use crate::process_columns::name_with_marks;
use crate::processes::is_idle;
use crate::recording::OpenRecording;
use crate::table_question::arithmetic::{Adds, How, Quotient};
use crate::table_question::dimension::{self, Names, Of, ValueOf};
use crate::table_question::places::{UNTOLD, UNTOLD_TEXT};
use crate::table_question::{Listing, TableQuestion};

/// All rows of a table, with the names of their numbers.
pub(super) struct Plain<'r, Q: TableQuestion> {
    recording: &'r OpenRecording,
    rows: Vec<Q::Row>,
    /// The same as if rows were open that the end of their process ended.
    exited: Vec<Option<Q::Row>>,
    /// By place of the dimension.
    names: Vec<BTreeMap<i64, String>>,
    tags: TagSet,
}

/// A row, with begin and length of its part in the range, and with begin and length of what counts of it.
type Part<'a, R> = (&'a R, i64, i64, Option<(i64, i64)>);

impl<'r, Q: TableQuestion> Plain<'r, Q> {
    pub(super) fn new(recording: &'r OpenRecording, rows: Vec<Q::Row>) -> Self {
        let names = |of: Of| match of {
            Of::Number { names: Names::Table(read), .. } => {
                read(recording.archive()).expect("names").into_iter().collect()
            }
            Of::Number { names: Names::Rows(read), .. } => read(recording.archive()).expect("names").all().collect(),
            Of::Number { names: Names::Paths(read), .. } => read(recording, None).expect("names").into_iter().collect(),
            _ => BTreeMap::new(),
        };
        let rows = of_best_source::<Q>(rows);
        let exited = |row: &Q::Row| Q::EXITED.as_ref().and_then(|exited| (exited.row)(row));
        Self {
            recording,
            exited: rows.iter().map(exited).collect(),
            rows,
            names: Q::DIMENSIONS.iter().map(|dimension| names(dimension.is.of)).collect(),
            tags: TagSet::built_in(Nesting::Names).expect("the built-in rules"),
        }
    }

    /// The rows of a part of the recording, where they have other figures than those of the whole.
    fn parts(&self, time: TimeRange) -> Option<Self> {
        Q::PARTS?;
        let rows = Q::parts(self.recording, &[time], None).expect("rows of a part").remove(0);
        Some(Self::new(self.recording, rows))
    }

    /// The text of a dimension in a row.
    fn text(&self, place: usize, row: &Q::Row) -> Option<String> {
        let frame = |id: FrameId| Some(format!("app!{}", function(id.0)));
        let dimension = &Q::DIMENSIONS[place];
        match (dimension.value, dimension.is.of) {
            (ValueOf::Process, _) => Some(name_with_marks(&process(Q::process(row).filter(|id| id.0 < PROCESSES)?.0))),
            (ValueOf::Thread(thread), _) => thread(row).filter(|id| id.0 < THREADS).map(|id| (1000 + id.0).to_string()),
            (ValueOf::Code(place), _) => match place(row) {
                (Some(StackId(id)), _) if id < 4 => frame(FrameId(id + 1)),
                (None, Some(id)) => frame(id),
                _ => None,
            },
            (ValueOf::Number(number), _) if number(row) == Some(UNTOLD) => Some(UNTOLD_TEXT.to_owned()),
            (ValueOf::Number(number), Of::Number { names: Names::Words(words), .. }) => number(row).map(words),
            (ValueOf::Number(number), _) => {
                number(row).map(|number| self.names[place].get(&number).cloned().unwrap_or_else(|| number.to_string()))
            }
            (ValueOf::Stack(stack), Of::Module) => stack(row).filter(|stack| stack.0 < 4).map(|_| "app".to_owned()),
            // No rule is about functions of `app`.
            (ValueOf::Stack(stack), Of::Tag) => {
                let tag = if stack(row).is_some_and(|stack| stack.0 < 4) { TagId::OTHER } else { TagId::NO_STACK };
                Some(self.tags.name(tag).to_owned())
            }
            (ValueOf::Stack(stack), _) => {
                let functions = |id: i32| [id + 1, 0].map(|frame| format!("app!{}", function(frame))).join("\n");
                stack(row).filter(|stack| stack.0 < 4).map(|stack| functions(stack.0))
            }
            (ValueOf::Text(text), Of::Text { cut: Some(cut) }) => text(row).map(|text| cut(text, None).to_owned()),
            (ValueOf::Text(text), _) => text(row).map(str::to_owned),
            (ValueOf::Texts(texts), _) => texts(row).map(|texts| texts.join(", ")),
        }
    }

    /// The same, unless it says that nobody knows.
    fn known_text(&self, place: usize, row: &Q::Row) -> Option<String> {
        let is_untold = matches!(Q::DIMENSIONS[place].value, ValueOf::Number(number) if number(row) == Some(UNTOLD));
        self.text(place, row).filter(|_| !is_untold)
    }

    /// The texts of a dimension in a row, each once; unknown is one of them.
    fn texts(&self, place: usize, row: &Q::Row) -> Vec<Option<String>> {
        let ValueOf::Texts(texts) = Q::DIMENSIONS[place].value else { return vec![self.text(place, row)] };
        let texts: BTreeSet<String> = texts(row).into_iter().flatten().cloned().collect();
        if texts.is_empty() { vec![None] } else { texts.into_iter().map(Some).collect() }
    }

    /// A text that a row has.
    pub(super) fn some_text(&self, place: usize, random: &mut Random) -> String {
        let texts: Vec<String> = self.rows.iter().flat_map(|row| self.texts(place, row)).flatten().collect();
        if texts.is_empty() { "none".to_owned() } else { random.one_of(&texts).clone() }
    }

    /// The rows that are asked for.
    fn asked<'a>(&'a self, asked: &Asked<Q>, time: TimeRange) -> Vec<Part<'a, Q::Row>> {
        let (begin, end) = time.bounds();
        let filter = &asked.question.filter;
        let is_of_process = |row: &Q::Row| match Q::process(row) {
            None => filter.is_empty(),
            Some(id) if id.0 < PROCESSES => {
                let row = process(id.0);
                let takes_idle = filter.process.includes() || Q::WITH_IDLE && filter.has_only_names();
                filter.accepts(&row, None) && (takes_idle || !is_idle(&row))
            }
            Some(_) => false,
        };
        let passes = |row: &Q::Row| asked.patterns.iter().all(|(place, list)| self.lets_pass(*place, row, list));
        let passes_limits = |row: &Q::Row| {
            asked.limits.iter().all(|(place, between)| between.contains((Q::LIMITS[*place].figure)(row)))
                && asked.conditions.iter().all(|place| (Q::CONDITIONS[*place].holds)(row))
        };
        let part = |row: &'a Q::Row| {
            let (start, until) = Q::times(row);
            let is_inside = start < end && (until > begin || start >= begin);
            let counts = Q::COUNTS_AT_END && (begin..end).contains(&until);
            let from = start.max(begin).min(end);
            let length = (until.min(end) - from).max(0);
            let counted =
                if Q::COUNTS_AT_END { counts.then_some((start, until - start)) } else { Some((from, length)) };
            (is_inside || counts).then_some((row, from, length, counted))
        };
        let altered = |(row, exited): (&'a Q::Row, &'a Option<Q::Row>)| {
            exited.as_ref().filter(|_| asked.question.include_exited).unwrap_or(row)
        };
        let rows = self.rows.iter().zip(&self.exited).map(altered);
        let rows = rows.filter(|row| Q::is_asked(row) && is_of_process(row) && passes(row) && passes_limits(row));
        rows.filter_map(part).collect()
    }

    /// Whether patterns of a dimension let a row pass: by a text, or by the number that a text stands for.
    fn lets_pass(&self, place: usize, row: &Q::Row, list: &str) -> bool {
        let passes = |text: &Option<String>| Self::passes(place, text.as_deref(), list);
        let dimension = &Q::DIMENSIONS[place];
        let (ValueOf::Number(number), Of::Number { names, .. }) = (dimension.value, dimension.is.of) else {
            return self.texts(place, row).iter().any(passes);
        };
        let (Some(text), Some(number)) = (self.known_text(place, row), number(row)) else { return false };
        let written = dimension::status(number).filter(|_| matches!(names, Names::Words(_)));
        let number = number.to_string();
        let texts: Vec<&str> = [Some(text.as_str()), Some(&number), written.as_deref()].into_iter().flatten().collect();
        Patterns::parse(list).matches_any(&texts)
    }

    /// Whether patterns let a text of a dimension pass.
    fn passes(place: usize, text: Option<&str>, list: &str) -> bool {
        match (text, Q::DIMENSIONS[place].is.of) {
            (None, _) => false,
            (Some(UNTOLD_TEXT), Of::Number { .. }) => false,
            (Some(text), Of::Method) => {
                let function = text.strip_prefix("app!").unwrap_or(text);
                MethodPatterns::parse(list, false).matches(Some("app"), function)
            }
            // Any function lets a stack pass, and any function keeps it away.
            (Some(text), Of::Stack) => {
                let patterns = MethodPatterns::parse(list, false);
                let functions = text.lines().map(|text| text.strip_prefix("app!").unwrap_or(text));
                patterns.lets_pass(functions.map(|function| patterns.verdict(Some("app"), function)))
            }
            (Some(text), _) => Patterns::parse(list).matches(text),
        }
    }

    /// The groups in which a row is: one, or one for each text of a list that the patterns let pass.
    fn keys(&self, asked: &Asked<Q>, row: &Q::Row) -> Vec<Vec<Option<String>>> {
        let mut keys = vec![Vec::new()];
        for place in &asked.question.by {
            let mut texts = self.texts(*place, row);
            let is_list = matches!(Q::DIMENSIONS[*place].is.of, Of::Texts);
            if let Some((_, list)) = asked.patterns.iter().find(|(filtered, _)| is_list && filtered == place) {
                texts.retain(|text| Self::passes(*place, text.as_deref(), list));
            }
            let with = |key: &Vec<Option<String>>, text: &Option<String>| [key.clone(), vec![text.clone()]].concat();
            keys = keys.iter().flat_map(|key| texts.iter().map(|text| with(key, text)).collect::<Vec<_>>()).collect();
        }
        keys
    }

    /// Compares a list of single rows with the rows that are asked for.
    pub(super) fn compare_list(&self, asked: &Asked<Q>, section: &Section, place: &str) {
        let time = asked.question.time;
        let parts = if time.is_everything() { None } else { self.parts(time) };
        let rows = parts.as_ref().unwrap_or(self).asked(asked, time);
        let shown = |value: Option<&Value>| match value {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let process = |row: &Q::Row| {
            let id = Q::process(row).filter(|id| id.0 < PROCESSES)?;
            Some(process(id.0).name)
        };
        let mut expected: Vec<_> = rows
            .iter()
            .filter_map(|(row, _, _, counted)| counted.map(|(start, length)| (row, start, length)))
            .map(|(row, start, length)| (start, if has_length::<Q>(row) { length } else { 0 }, process(row)))
            .collect();
        let list = asked.question.clone().listed(Listing::Flat);
        let found = rows_of(&list, section);
        let number =
            |row: &Row, key: &str| if let Some(Value::Int(number)) = row.get(key) { Some(*number) } else { None };
        let start = |row: &Row| number(row, "start").or_else(|| number(row, "time")).expect("a time");
        let has_processes = Q::DIMENSIONS.iter().any(|dimension| matches!(dimension.is.of, Of::Process));
        let mut of_answer: Vec<_> = found
            .iter()
            .map(|row| (start(row), number(row, "duration_ns").unwrap_or(0), shown(row.get("process"))))
            .collect();
        expected.sort();
        of_answer.sort();
        if !has_processes {
            expected.iter_mut().for_each(|(.., process)| *process = None);
        }
        assert_eq!(of_answer, expected, "{place}, as a list");
    }

    /// Compares an answer with the rows added up.
    pub(super) fn compare(&self, asked: &Asked<Q>, time: TimeRange, section: &Section, place: &str) {
        let parts = if time.is_everything() { None } else { self.parts(time) };
        let plain = parts.as_ref().unwrap_or(self);
        let rows = plain.asked(asked, time);
        let by: Vec<usize> = asked.question.by.clone();
        let mut groups: BTreeMap<Vec<Option<String>>, Vec<Part<'_, Q::Row>>> = BTreeMap::new();
        for part in &rows {
            for key in self.keys(asked, part.0) {
                groups.entry(key).or_default().push(*part);
            }
        }
        groups.retain(|_, parts| asked.lets_group_pass(|measure| self.value(measure, parts, time)));
        let found = rows_of(&asked.question, section);
        assert_eq!(found.len(), groups.len(), "{place}");
        let mut seen = BTreeSet::new();
        for row in &found {
            let key: Vec<Option<String>> = by.iter().map(|place| key_of::<Q>(*place, row)).collect();
            let parts = groups.get(&key).unwrap_or_else(|| panic!("{place}: {key:?} is in no row, but in {row:?}"));
            for (number, measure) in Q::MEASURES.iter().enumerate() {
                if let Some(value) = row.get(measure.is.column.key) {
                    assert_eq!(*value, self.value(number, parts, time), "{place}: {key:?}, {}", measure.is.column.key);
                }
            }
            assert!(seen.insert(key), "{place}");
        }
        let sorted = asked.question.sort.map(|place| Q::MEASURES[place].is.column.key);
        let figure = |row: &Row| {
            sorted.and_then(|key| match row.get(key) {
                Some(Value::Int(figure)) => Some(*figure),
                Some(Value::Float(figure)) => Some((figure * 100.0).round() as i64),
                _ => None,
            })
        };
        // Rows without the figure, or with none but 0, are in another order where the question has one.
        let is_other = Q::SORT_WITHOUT_FIGURE.is_some() && found.iter().all(|row| figure(row).unwrap_or(0) == 0);
        let is_in_order = found.windows(2).all(|pair| figure(&pair[0]) <= figure(&pair[1]));
        assert!(is_other || is_in_order, "{place}: not by {}", asked.sort);
        // However rows are grouped, all of them have the same totals.
        for (number, measure) in Q::MEASURES.iter().enumerate() {
            let Some(label) = measure.is.total else { continue };
            let fact = section.facts.iter().find(|fact| fact.label == label).map(|fact| fact.value.clone());
            let total = match self.value(number, &rows, time) {
                // What no row tells has no total; of no rows it is 0.
                Value::None if rows.is_empty() => Some(Value::Int(0)),
                Value::None => None,
                total => Some(total),
            };
            assert_eq!(fact, total, "{place}: {label}");
        }
    }

    /// A measure of some rows.
    fn value(&self, measure: usize, all: &[Part<'_, Q::Row>], time: TimeRange) -> Value {
        let (begin, end) = time.bounds();
        let range = (end.min(END) - begin.max(0)).max(0);
        let rows: Vec<(&Q::Row, i64, i64)> = all
            .iter()
            .filter_map(|(row, _, _, counted)| counted.map(|(start, length)| (*row, start, length)))
            .collect();
        let rows = &rows[..];
        let of =
            |dimension: &str| Q::DIMENSIONS.iter().position(|known| known.is.name == dimension).expect("a dimension");
        let texts = |dimension: &str| {
            let place = of(dimension);
            rows.iter().filter_map(move |(row, ..)| self.known_text(place, row)).collect::<Vec<String>>()
        };
        let figure = |key: &str| {
            let place = Q::MEASURES.iter().position(|known| known.is.column.key == key).expect("a measure");
            if let Value::Int(figure) = self.value(place, all, time) { Some(figure) } else { None }
        };
        let lengths = || rows.iter().filter(|(row, ..)| has_length::<Q>(row)).map(|(_, _, length)| *length);
        let longest = lengths().max();
        let adds = Q::MEASURES[measure].adds;
        match Q::MEASURES[measure].is.how {
            How::Rows => rows.len().into(),
            How::RowsIf | How::AliveFirst | How::AliveLast | How::Begun | How::Over | How::Peak => {
                Self::many(adds, rows, time).into()
            }
            How::RowsWith(dimension) => texts(dimension).len().into(),
            How::Sum | How::SumKnown | How::SumOnce | How::SumOf => Self::sum(adds, rows).into(),
            How::Duration | How::Union
                if Q::HAS_LENGTH.is_some() && !all.iter().any(|(row, ..)| has_length::<Q>(row)) =>
            {
                Value::None
            }
            How::SumInside => Self::sum_inside(adds, all).into(),
            How::Duration => {
                let known = all.iter().filter(|(row, ..)| has_length::<Q>(row));
                known.map(|(_, _, length, _)| *length).sum::<i64>().into()
            }
            How::Union => covered(&all.iter().collect::<Vec<_>>()).into(),
            How::Covers(dimension) => {
                let place = of(dimension);
                let mut by_value: BTreeMap<Option<String>, Vec<&Part<'_, Q::Row>>> = BTreeMap::new();
                all.iter().for_each(|part| by_value.entry(self.text(place, part.0)).or_default().push(part));
                let covered: i64 = by_value.values().map(|parts| covered(parts)).sum();
                let share = covered as f64 / range as f64 / by_value.len() as f64 * 100.0;
                if range > 0 { Value::Float(share.min(100.0)) } else { Value::None }
            }
            How::PerTime(key, factor) => match (figure(key), range) {
                (_, 0) | (None, _) => Value::None,
                (Some(figure), range) => Value::Float(figure as f64 / range as f64 * factor),
            },
            How::Ratio(keys, quotient) => match keys.map(figure) {
                [_, Some(0) | None] | [None, _] => Value::None,
                [Some(of), Some(by)] => Value::Float(divided(quotient, of, by)),
            },
            How::Shortest => lengths().min().into(),
            How::Longest => longest.into(),
            How::First => rows.iter().map(|(_, start, _)| *start).min().into(),
            How::LongestStart => Self::longest_start(rows, longest).into(),
            How::Extent => Self::extent(all).into(),
            How::Lives => Self::lived(all, (begin, end)).into(),
            How::Texts => {
                let Adds::Texts(texts) = adds else { return Value::None };
                text_counts(rows.iter().filter_map(|(row, ..)| texts(row)).flatten())
            }
            How::Max | How::Min | How::Only | How::Weighted => Self::one_of(adds, rows).into(),
            How::SumBegun | How::SumOver | How::SumLeft | How::SumPeak => Self::alive_sum(adds, rows, time).into(),
            How::Tenths => Self::tenths(adds, rows, (begin.max(0), end.min(END))),
            How::Difference([of, less]) => figure(of).zip(figure(less)).map(|(of, less)| of - less).into(),
            How::Mean([of, by]) => figure(of).zip(figure(by)).and_then(|(of, by)| of.checked_div(by)).into(),
            How::Percentile(share) => Distribution::new(lengths().collect()).whole_percentile(share).into(),
            How::Distinct(dimension) => texts(dimension).into_iter().collect::<BTreeSet<_>>().len().into(),
            How::Counts(dimension) => self.counts(of(dimension), rows),
            How::SumsBy(dimension) => self.sums_by(of(dimension), adds, rows),
        }
    }

    /// The first begin of a row that is as long as the longest one.
    fn longest_start(rows: &[(&Q::Row, i64, i64)], longest: Option<i64>) -> Option<i64> {
        let is_longest = |row: &Q::Row, length: i64| has_length::<Q>(row) && Some(length) == longest;
        let starts = rows.iter().filter(|(row, _, length)| is_longest(row, *length));
        starts.map(|(_, start, _)| *start).min()
    }

    /// Time from the begin of the first row with a length to the end of the last one.
    fn extent(all: &[Part<'_, Q::Row>]) -> Option<i64> {
        let known = || all.iter().filter(|(row, ..)| has_length::<Q>(row));
        let begin = known().map(|(_, start, ..)| *start).min()?;
        known().map(|(_, start, length, _)| start + length - begin).max()
    }

    /// How long the processes of rows lived in a range. `None`: one of them is not known.
    fn lived(all: &[Part<'_, Q::Row>], (begin, end): (i64, i64)) -> Option<i64> {
        let ids = all.iter().map(|(row, ..)| Q::process(row).filter(|id| id.0 < PROCESSES).map(|id| id.0));
        let life = |id: i32| {
            let (start, until) = (process(id).start.unwrap_or(0), process(id).end.unwrap_or(END));
            (until.min(end).min(END) - start.max(begin).max(0)).max(0)
        };
        Some(ids.collect::<Option<BTreeSet<i32>>>()?.into_iter().map(life).sum())
    }

    /// Sum of a figure of the rows that have it.
    fn sum(adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)]) -> Option<i64> {
        let rows = rows.iter().map(|(row, ..)| *row);
        match adds {
            Adds::Sum(figure) => Some(rows.map(figure).sum()),
            Adds::Known(figure) => {
                let known: Vec<i64> = rows.filter_map(figure).collect();
                (!known.is_empty()).then(|| known.iter().sum())
            }
            Adds::Once(figure) => {
                let things: BTreeMap<i64, i64> = rows.filter_map(figure).collect();
                (!things.is_empty()).then(|| things.values().sum())
            }
            Adds::OfKind(is_of_kind, figure) => {
                let of_kind: Vec<Option<i64>> = rows.filter(|row| is_of_kind(row)).map(figure).collect();
                let is_unknown = !of_kind.is_empty() && of_kind.iter().all(Option::is_none);
                (!is_unknown).then(|| of_kind.iter().flatten().sum())
            }
            _ => None,
        }
    }

    /// Sum of a figure of the parts of rows that have it.
    fn sum_inside(adds: Adds<Q::Row>, all: &[Part<'_, Q::Row>]) -> Option<i64> {
        let Adds::Inside(figure) = adds else { return None };
        let parts = all.iter().filter_map(|(row, start, length, _)| figure(row, Span::new(*start, start + length)));
        let known: Vec<i64> = parts.collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Number of rows that fulfil a condition, that are alive at an end of the range, that begin or end in it, or that are alive at once.
    fn many(adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)], time: TimeRange) -> usize {
        let (begin, end) = time.bounds();
        let is_older = |row: &Q::Row| Q::times(row).0 < begin;
        let ends = |row: &Q::Row| Q::times(row).1 <= end;
        let many = |holds: &dyn Fn(&Q::Row) -> bool| rows.iter().filter(|(row, ..)| holds(row)).count();
        match adds {
            Adds::If(holds) => many(&|row| holds(row)),
            Adds::AliveFirst(known) => many(&|row| is_older(row) || known(row)),
            Adds::Begun(known) => many(&|row| !is_older(row) && !known(row)),
            Adds::AliveLast(known) => many(&|row| !ends(row) || known(row)),
            Adds::Over(known) => many(&|row| ends(row) && !known(row)),
            Adds::Alive(is_open, _) => {
                let is_alive = |row: &Q::Row, start: i64, time: i64| {
                    start <= time && (!ends(row) || is_open(row) || Q::times(row).1 > time)
                };
                let alive_at = |time: i64| rows.iter().filter(|(row, start, _)| is_alive(row, *start, time)).count();
                rows.iter().map(|(_, start, _)| alive_at(*start)).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Sum of a figure of the rows that begin or end in the range, or that are left at its end, or alive at once.
    fn alive_sum(adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)], time: TimeRange) -> i64 {
        let (begin, end) = time.bounds();
        let begins = |row: &Q::Row| Q::times(row).0 >= begin;
        let ends = |row: &Q::Row| Q::times(row).1 <= end;
        let sum = |figure: fn(&Q::Row) -> i64, holds: &dyn Fn(&Q::Row, i64) -> bool| {
            rows.iter().filter(|(row, start, _)| holds(row, *start)).map(|(row, ..)| figure(row)).sum::<i64>()
        };
        match adds {
            Adds::SumBegun(figure) => sum(figure, &|row, _| begins(row)),
            Adds::SumOver(figure) => sum(figure, &|row, _| ends(row)),
            Adds::SumLeft(is_open, figure) => sum(figure, &|row, _| begins(row) && (!ends(row) || is_open(row))),
            Adds::Alive(is_open, figure) => {
                let alive_at = |time: i64| {
                    sum(figure, &|row, start| start <= time && (!ends(row) || is_open(row) || Q::times(row).1 > time))
                };
                rows.iter().map(|(_, start, _)| alive_at(*start)).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// One figure of those that rows have: the largest, the smallest, the only one, or their mean.
    fn one_of(adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)]) -> Option<i64> {
        let known = |figure: fn(&Q::Row) -> Option<i64>| -> Vec<i64> {
            rows.iter().filter_map(|(row, ..)| figure(row)).collect()
        };
        match adds {
            Adds::Max(figure) => known(figure).into_iter().max(),
            Adds::Min(figure) => known(figure).into_iter().min(),
            Adds::Only(figure) => match known(figure)[..] {
                [only] => Some(only),
                _ => None,
            },
            Adds::Weighted(figures) => {
                let known: Vec<(i64, i64)> = rows.iter().filter_map(|(row, ..)| figures(row)).collect();
                let product = known.iter().map(|(figure, weight)| figure * weight).sum::<i64>();
                product.checked_div(known.iter().map(|(_, weight)| *weight).sum())
            }
            _ => None,
        }
    }

    /// Number of tenths of a range in which the sum of rows grew, from what is alive at each of the eleven ends.
    fn tenths(adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)], (begin, end): (i64, i64)) -> Value {
        let Adds::Alive(is_open, figure) = adds else { return Value::None };
        if end - begin < 10 {
            return Value::None;
        }
        let is_alive = |row: &Q::Row, start: i64, time: i64| {
            let (_, until) = Q::times(row);
            start <= time && (until > time || until > end || is_open(row))
        };
        let alive = |time: i64| -> i64 {
            rows.iter().filter(|(row, start, _)| is_alive(row, *start, time)).map(|(row, ..)| figure(row)).sum()
        };
        let bounds: Vec<i64> = (0..=10).map(|tenth| alive(begin + (end - begin) * tenth / 10)).collect();
        bounds.windows(2).filter(|pair| pair[0] < pair[1]).count().into()
    }

    /// Number of rows by text of a dimension.
    fn counts(&self, place: usize, rows: &[(&Q::Row, i64, i64)]) -> Value {
        let mut counts: BTreeMap<(Option<i64>, String), i64> = BTreeMap::new();
        for (row, ..) in rows {
            let number = match Q::DIMENSIONS[place].value {
                ValueOf::Number(number) => number(row),
                ValueOf::Process => Q::process(row).map(|process| process.0.into()),
                _ => None,
            };
            self.known_text(place, row).into_iter().for_each(|text| *counts.entry((number, text)).or_default() += 1);
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|((number, _), count)| (-count, *number));
        Value::Map(counts.into_iter().map(|((_, text), count)| (text, count.into())).collect())
    }

    /// The sums of a figure by text of a dimension, the largest first.
    fn sums_by(&self, place: usize, adds: Adds<Q::Row>, rows: &[(&Q::Row, i64, i64)]) -> Value {
        let Adds::Known(figure) = adds else { return Value::None };
        let mut sums: BTreeMap<String, i64> = BTreeMap::new();
        for (row, ..) in rows {
            if let Some(figure) = figure(row) {
                *sums.entry(self.text(place, row).unwrap_or_default()).or_default() += figure;
            }
        }
        if sums.is_empty() {
            return Value::None;
        }
        let mut sums: Vec<(String, i64)> = sums.into_iter().collect();
        sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        Value::Map(sums.into_iter().map(|(text, sum)| (text, sum.into())).collect())
    }
}

/// The rows of the source with the largest number, of tables in which several sources tell of the same.
fn of_best_source<Q: TableQuestion>(rows: Vec<Q::Row>) -> Vec<Q::Row> {
    let Some(source) = Q::BEST_SOURCE else { return rows };
    let best = rows.iter().map(source.of).max();
    rows.into_iter().filter(|row| Some((source.of)(row)) == best).collect()
}

/// Whether the length of a row is known.
fn has_length<Q: TableQuestion>(row: &Q::Row) -> bool {
    Q::HAS_LENGTH.is_none_or(|has_length| has_length(row))
}

/// Number of rows by text of a list.
fn text_counts<'a>(texts: impl Iterator<Item = &'a String>) -> Value {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    let mut counts: Vec<(&str, i64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, rows)| -rows);
    Value::Map(counts.into_iter().map(|(text, rows)| (text.to_owned(), rows.into())).collect())
}

/// Number of instants that rows cover.
fn covered<R>(parts: &[&Part<'_, R>]) -> i64 {
    let instants = parts.iter().flat_map(|(_, start, length, _)| *start..start + length);
    instants.collect::<BTreeSet<i64>>().len() as i64
}

/// The text of a dimension in a row of the answer.
fn key_of<Q: TableQuestion>(place: usize, row: &Row) -> Option<String> {
    let text = |key: &str| match row.get(key) {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(Value::Int(number)) => Some(number.to_string()),
        Some(Value::List(lines)) => Some(lines.join("\n")),
        _ => None,
    };
    let dimension = &Q::DIMENSIONS[place].is;
    let unknown = match dimension.of {
        Of::Process => {
            let (name, pid) = (text("process")?, text("pid")?);
            let known = (0..PROCESSES).map(process).find(|row| row.name == name && row.pid.to_string() == pid);
            return known.as_ref().map(name_with_marks);
        }
        Of::Thread => return text("tid"),
        Of::Number { none, .. } => none,
        Of::Method | Of::Stack | Of::Module => "(no stack)",
        Of::Tag | Of::Text { .. } | Of::Texts => "",
    };
    text(dimension.column?.key).filter(|text| text != unknown)
}

/// A part of a whole as its measure shows it.
fn divided(quotient: Quotient, of: i64, by: i64) -> f64 {
    match quotient {
        Quotient::Times(factor) => of as f64 / by as f64 * factor,
        Quotient::Left if of >= by => 0.0,
        Quotient::Left => ((1.0 - of as f64 / by as f64) * 100.0).min(100.0),
    }
}
