//! Spans between marks: a start mark and the stop mark with the same rest of text.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use tracesift_trace::rows::ProcessRow;

use super::{Question, Row as MarkOfRow, Sort};
use crate::answer::{ColumnOf, Kind, View};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess};

/// The texts of marks that begin and end spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairPatterns {
    /// Marks that begin a span.
    pub start: TextForm,
    /// Marks that end it.
    pub stop: TextForm,
}

/// The form of a text: a front and, where it has a `*`, an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextForm {
    front: String,
    end: Option<String>,
}

/// A text that names no pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be two texts with one `*` each at most, such as 'start*;stop*'")]
pub struct PairError;

impl FromStr for PairPatterns {
    type Err = PairError;

    fn from_str(text: &str) -> Result<Self, PairError> {
        let (start, stop) = text.split_once(';').ok_or(PairError)?;
        let pair = Self { start: start.parse()?, stop: stop.parse()? };
        // Each mark would be both.
        if pair.start == pair.stop { Err(PairError) } else { Ok(pair) }
    }
}

impl FromStr for TextForm {
    type Err = PairError;

    fn from_str(text: &str) -> Result<Self, PairError> {
        let text = text.trim();
        let (front, end) = match text.split_once('*') {
            Some((front, end)) => (front, Some(end.to_lowercase())),
            None => (text, None),
        };
        if text.is_empty() || text.contains([';', '?']) || end.as_ref().is_some_and(|end| end.contains('*')) {
            return Err(PairError);
        }
        Ok(Self { front: front.to_lowercase(), end })
    }
}

impl TextForm {
    /// What stands in place of the `*`, in lower case; `None`: the text has another form.
    pub(super) fn rest(&self, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        let rest = text.strip_prefix(&*self.front)?;
        match &self.end {
            Some(end) => rest.strip_suffix(&**end).map(str::to_owned),
            None => rest.is_empty().then(String::new),
        }
    }
}

impl fmt::Display for TextForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.front)?;
        self.end.iter().try_for_each(|end| write!(f, "*{end}"))
    }
}

impl fmt::Display for PairPatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{}", self.start, self.stop)
    }
}

/// One span of the answer.
#[derive(Clone, Debug)]
pub(super) struct Row {
    start: Option<i64>,
    stop: Option<i64>,
    text: String,
    stop_text: Option<String>,
    process: Option<ProcessRow>,
}

impl Row {
    fn duration(&self) -> Option<i64> {
        Some(self.stop?.saturating_sub(self.start?))
    }

    /// When it is first known.
    fn instant(&self) -> i64 {
        self.start.or(self.stop).unwrap_or_default()
    }
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

/// The columns.
pub(super) const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always(
        "start_ns",
        "Start",
        Kind::Time,
        |r| r.start.into(),
        "Time of the start mark; empty: the recording has the stop mark only.",
    ),
    ColumnOf::always(
        "end_ns",
        "Stop",
        Kind::Time,
        |r| r.stop.into(),
        "Time of the stop mark; empty: the recording has the start mark only.",
    ),
    ColumnOf::always(
        "duration_ns",
        "Duration",
        Kind::Seconds,
        |r| r.duration().into(),
        "Time from the start mark to the stop mark.",
    ),
    ColumnOf::always(
        "text",
        "Mark",
        Kind::Text,
        |r| (&r.text).into(),
        "Text of the start mark; of a stop mark without one its own text.",
    ),
    ColumnOf::machine("stop_text", "Stop mark", Kind::Text, |r| r.stop_text.as_ref().into(), "Text of the stop mark."),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

/// The spans of these marks, which stand in the order of time. A stop mark belongs to the latest start mark that has the same rest
/// of text and no stop mark yet: spans of one rest are nested. The process is that of the start mark: the marks of one span are often
/// written by two processes.
pub(super) fn rows(question: &Question, patterns: &PairPatterns, marks: &[MarkOfRow]) -> Vec<Row> {
    let mut open: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    let mut spans: Vec<Row> = Vec::new();
    for MarkOfRow { mark, process, .. } in marks {
        // A text of both forms ends a span: 'start*' is also the front of 'started*'.
        let stops = patterns.stop.rest(&mark.text).map(|rest| open.get_mut(&rest).and_then(Vec::pop));
        let starts = patterns.start.rest(&mark.text);
        match (stops, starts) {
            (Some(Some(span)), _) => {
                spans[span].stop = Some(mark.time);
                spans[span].stop_text = Some(mark.text.clone());
            }
            (_, Some(rest)) => {
                open.entry(rest).or_default().push(spans.len());
                let (start, text) = (Some(mark.time), mark.text.clone());
                spans.push(Row { start, stop: None, text, stop_text: None, process: process.clone() });
            }
            (Some(None), None) => {
                let (stop, text) = (Some(mark.time), mark.text.clone());
                spans.push(Row { start: None, stop, stop_text: Some(text.clone()), text, process: process.clone() });
            }
            (None, None) => {}
        }
    }
    let (from, to) = question.time.bounds();
    spans.retain(|span| {
        let (start, stop) = (span.start.unwrap_or(i64::MIN), span.stop.unwrap_or(i64::MAX));
        // A span without a length belongs to the range that it stands in.
        start < to
            && (stop > from || span.instant() >= from)
            && question.diff.contains(Some(span.instant().saturating_sub(question.origin)))
    });
    spans.sort_by_key(|span| (if question.sort == Sort::Diff { span.duration() } else { None }, span.instant()));
    question.top.apply(&mut spans);
    spans
}
