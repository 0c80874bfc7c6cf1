//! Answers of other questions, by the names of their columns: an overview has their figures, so that it never says another one.

use tracesift_archive::Error;

use crate::answer::{Section, Table, Value};
use crate::ask::Ask;
use crate::recording::OpenRecording;

/// The rows of an answer.
#[derive(Debug)]
pub(super) struct Rows {
    keys: Vec<&'static str>,
    section: Section,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    keys: &'a [&'static str],
    values: &'a [Value],
}

impl Rows {
    /// What a question says of a recording.
    pub(super) fn of(question: &dyn Ask, recording: &OpenRecording) -> Result<Self, Error> {
        let section = question.section(recording)?;
        Ok(Self { keys: question.columns().iter().map(|column| column.key).collect(), section })
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = Row<'_>> + ExactSizeIterator {
        self.section.rows.iter().map(|values| Row { keys: &self.keys, values })
    }

    /// A total.
    pub(super) fn fact(&self, label: &str) -> Option<i64> {
        self.section.facts.iter().find(|fact| fact.label == label).and_then(|fact| integer(&fact.value))
    }
}

impl<'a> Row<'a> {
    fn get(self, key: &str) -> Option<&'a Value> {
        self.values.get(self.keys.iter().position(|known| *known == key)?)
    }

    pub(super) fn integer(self, key: &str) -> Option<i64> {
        self.get(key).and_then(integer)
    }

    pub(super) fn text(self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }

    pub(super) fn is(self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::Bool(true)))
    }

    pub(super) fn map(self, key: &str) -> Vec<(String, i64)> {
        let Some(Value::Map(values)) = self.get(key) else { return Vec::new() };
        values.iter().filter_map(|(name, value)| Some((name.clone(), integer(value)?))).collect()
    }

    /// The last row below this row, and how many there are.
    pub(super) fn last_below(self, key: &str) -> Option<(usize, Below<'a>)> {
        let Some(Value::Table(table)) = self.get(key) else { return None };
        Some((table.rows.len(), Below { table, values: table.rows.last()? }))
    }
}

/// A row below a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Below<'a> {
    table: &'a Table,
    values: &'a [Value],
}

impl Below<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(self.table.columns.iter().position(|column| column.key == key)?)
    }

    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(integer)
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Int(value) = value { Some(*value) } else { None }
}

fn text(value: &Value) -> Option<String> {
    if let Value::Text(text) = value { Some(text.clone()) } else { None }
}
