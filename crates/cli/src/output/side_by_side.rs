//! Answers with rows and columns exchanged: a line per column, with the values of all rows side by side.

use tracesift_ask::answer::{Answer, Column, Group, Kind, Layout, Section, Value, View};
use tracesift_ask::time_format::TimeStyle;

use crate::output::cell;

/// Columns in front of those of the rows: what a line is called.
const TITLE: Column =
    Column { key: "setting", title: "Setting", kind: Kind::Text, view: View::Always, help: "What the line is about." };
const NAME: Column = Column {
    key: "name",
    title: "Name",
    kind: Kind::Text,
    view: View::Details,
    help: "The key of the line, as the other formats have it.",
};
const MEANING: Column = Column {
    key: "meaning",
    title: "Meaning",
    kind: Kind::LongText,
    view: View::Details,
    help: "The meaning of a value.",
};

/// One line before it is laid out.
struct Line {
    heading: &'static str,
    title: String,
    name: String,
    values: Vec<Value>,
    meaning: &'static str,
}

/// The answer with rows and columns exchanged. Columns that only programs want have no line. Figures are texts: the values of a
/// line have another unit than those of the line above.
pub(crate) fn exchanged(answer: &Answer) -> Answer {
    let Layout::SideBySide { headings, .. } = answer.layout else { return answer.clone() };
    let heading = |key: &str| headings.iter().find(|(_, keys)| keys.contains(&key)).map_or("", |(title, _)| *title);
    let rows: Vec<(&Section, &Vec<Value>)> =
        answer.sections.iter().flat_map(|section| section.rows.iter().map(move |row| (section, row))).collect();
    let mut lines = Vec::new();
    let columns = answer.columns.iter().enumerate();
    for (place, column) in columns.filter(|(_, column)| matches!(column.view, View::Always | View::Details)) {
        let values: Vec<&Value> = rows.iter().map(|(_, row)| row.get(place).unwrap_or(&Value::None)).collect();
        lines.extend(lines_of(column, heading(column.key), &values));
    }
    let mut columns = vec![TITLE, NAME];
    columns.extend(rows.iter().map(|(section, _)| Column {
        key: lasting(&section.title),
        title: lasting(&section.title),
        kind: Kind::Text,
        view: View::Always,
        help: "The value in this file.",
    }));
    columns.push(MEANING);
    let notes: Vec<String> = answer
        .sections
        .iter()
        .flat_map(|section| section.notes.iter().map(|note| format!("{}: {note}", section.title)))
        .collect();
    let section = Section {
        title: answer.question.to_owned(),
        groups: groups(&lines),
        rows: lines.into_iter().map(Line::into_row).collect(),
        facts: answer.facts.clone(),
        notes,
        ..Section::default()
    };
    let empty = answer.sections.iter().filter(|section| section.rows.is_empty()).cloned();
    let sections = std::iter::once(section).filter(|_| !rows.is_empty()).chain(empty).collect();
    Answer { columns, layout: Layout::Rows, sorted: None, sections, sums: Vec::new(), facts: Vec::new(), ..*answer }
}

/// A line for a column, or one for each name in its maps. A column without any value has none.
fn lines_of(column: &Column, heading: &'static str, values: &[&Value]) -> Vec<Line> {
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::None) => Value::None,
        Some(value) => cell::text(value, column.kind, TimeStyle::default(), None).into(),
    };
    let maps: Vec<&Vec<(String, Value)>> =
        values.iter().filter_map(|value| if let Value::Map(map) = value { Some(map) } else { None }).collect();
    if maps.is_empty() {
        if values.iter().all(|value| **value == Value::None) {
            return Vec::new();
        }
        return vec![Line {
            heading,
            title: column.title.to_owned(),
            name: column.key.to_owned(),
            values: values.iter().map(|value| shown(Some(value))).collect(),
            meaning: column.help,
        }];
    }
    let mut names: Vec<&String> = maps.into_iter().flatten().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let member = |value: &Value, name: &String| match value {
        Value::Map(map) => shown(map.iter().find(|(known, _)| known == name).map(|(_, value)| value)),
        _ => Value::None,
    };
    let line = |name: &String| Line {
        heading,
        title: name.clone(),
        name: name.clone(),
        values: values.iter().map(|value| member(value, name)).collect(),
        meaning: "",
    };
    names.into_iter().map(line).collect()
}

/// Lines that follow each other below a heading.
fn groups(lines: &[Line]) -> Vec<Group> {
    let chunks = lines.chunk_by(|a, b| a.heading == b.heading);
    chunks
        .map(|chunk| Group {
            title: chunk.first().map_or("", |line| line.heading).to_owned(),
            rows: chunk.len(),
            ..Group::default()
        })
        .collect()
}

impl Line {
    fn into_row(self) -> Vec<Value> {
        let mut row = vec![self.title.into(), self.name.into()];
        row.extend(self.values);
        row.push(if self.meaning.is_empty() { Value::None } else { self.meaning.into() });
        row
    }
}

/// Names of columns live as long as the program. It prints one answer, and a file has one column in it.
fn lasting(text: &str) -> &'static str {
    Box::leak(cell::clean(text).into_owned().into_boxed_str())
}
