//! Tables for people: figures right, words left, units in the header, the longest words cut at the terminal's width.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Ansi};
use rayon::prelude::*;
use tracesift_ask::answer::{Answer, Column, Fact, Group, Kind, Layout, Section, Table, Value, View};
use tracesift_ask::time_format::{TimeFormat, TimeStyle, Zero};

use crate::output::cell;

/// How a table looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Columns of the terminal; `None`: nothing is cut.
    pub(crate) width: Option<usize>,
    /// Whether columns for `--details` are shown.
    pub(crate) details: bool,
    /// Whether columns of long words, such as command lines, are left out.
    pub(crate) no_long_text: bool,
    /// How instants are shown.
    pub(crate) time: TimeStyle,
    /// Whether to colour.
    pub(crate) color: bool,
}

/// Blanks between columns.
const GAP: usize = 2;
/// A column of long words is never cut below this width.
const SHORTEST_CUT: usize = 12;
/// Sections whose lines are made at once, on all processors.
const SECTIONS_AT_ONCE: usize = 64;

/// Writes the table of an answer.
pub(crate) fn write(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<()> {
    match answer.layout {
        Layout::Rows => rows(out, answer, style)?,
        Layout::Cards => {
            for (index, section) in answer.sections.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                cards(out, &answer.columns, section, style)?;
            }
        }
    }
    for group in &answer.sums {
        writeln!(out, "{}", paint(bold(), &group_heading(group, style), style.color))?;
    }
    if answer.sections.len() > 1 && !answer.facts.is_empty() {
        writeln!(out, "{}", paint(bold(), &format!("all files  {}", facts(&answer.facts, style.time)), style.color))?;
    }
    footnotes(out, answer, style)
}

fn rows(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<()> {
    let all: Vec<(&Vec<Value>, Option<Zero>)> =
        answer.sections.iter().flat_map(|section| section.rows.iter().map(|row| (row, section.zero))).collect();
    let grid = Grid::new(&answer.columns, &all, style);
    // Of hundreds of files mostly a few have what is asked for; the others would only fill the screen.
    let several = answer.sections.len() > 1;
    let (left_out, shown): (Vec<&Section>, Vec<&Section>) =
        answer.sections.iter().partition(|section| several && section.says_nothing());
    // The header stands above the first rows.
    let first = shown.iter().position(|section| !section.rows.is_empty());
    for (chunk, sections) in shown.chunks(SECTIONS_AT_ONCE).enumerate() {
        let text = |(place, section): (usize, &&Section)| {
            let mut text = Vec::new();
            let with_header = first == Some(chunk * SECTIONS_AT_ONCE + place);
            section_lines(&mut text, &grid, section, with_header, style).map(|()| text)
        };
        let texts: Vec<io::Result<Vec<u8>>> = sections.par_iter().enumerate().map(text).collect();
        texts.into_iter().try_for_each(|text| out.write_all(&text?))?;
    }
    match left_out.as_slice() {
        [] => Ok(()),
        few if few.len() <= 3 => {
            let titles: Vec<_> = few.iter().map(|section| cell::clean(&section.title)).collect();
            writeln!(out, "no rows in {}", titles.join(", "))
        }
        many => writeln!(out, "no rows in {} of {} files", many.len(), answer.sections.len()),
    }
}

/// Heading and rows of a section.
fn section_lines(
    out: &mut dyn Write,
    grid: &Grid<'_>,
    section: &Section,
    with_header: bool,
    style: &Style,
) -> io::Result<()> {
    writeln!(out, "{}", paint(bold(), &heading(section, style.time), style.color))?;
    let indent = if section.groups.is_empty() { "  " } else { "    " };
    if with_header {
        grid.header(out, indent, style)?;
    }
    let mut rows = section.rows.iter().map(|row| (row, section.zero));
    for group in &section.groups {
        writeln!(out, "  {}", paint(bold(), &group_heading(group, style), style.color))?;
        grid.lines(out, indent, rows.by_ref().take(group.rows), style)?;
    }
    grid.lines(out, indent, rows, style)
}

/// Name, time and totals of a section on one line.
fn heading(section: &Section, time: TimeStyle) -> String {
    let mut parts = vec![cell::clean(&section.title).into_owned()];
    if let Some(zero) = section.zero.filter(|zero| zero.instant(0).is_some()) {
        let local = TimeStyle { format: TimeFormat::Local, digits: 0 };
        parts.push(local.show(0, Some(zero)));
    }
    if !section.facts.is_empty() {
        parts.push(facts(&section.facts, time));
    }
    parts.join("  ")
}

/// Title, totals and long words of a group on one line.
fn group_heading(group: &Group, style: &Style) -> String {
    let mut heading = cell::clean(&group.title).into_owned();
    if !group.facts.is_empty() {
        heading.push_str("  ");
        heading.push_str(&facts(&group.facts, style.time));
    }
    if let Some(text) = group.text.as_deref().filter(|text| !text.is_empty() && !style.no_long_text) {
        let text = cell::clean(text);
        // Two blanks at its left stand for the indent of the heading, two for the gap.
        let left = style.width.map(|width| width.saturating_sub(cell::width(&heading) + 2 * GAP).max(SHORTEST_CUT));
        heading.push_str("  ");
        heading.push_str(&left.map_or(text.to_string(), |left| cell::cut(&text, left).into()));
    }
    heading
}

fn facts(facts: &[Fact], time: TimeStyle) -> String {
    let one = |fact: &Fact| {
        let value = cell::text(&fact.value, fact.kind, time, None);
        let unit = cell::unit(fact.kind);
        if unit.is_empty() { format!("{} {value}", fact.label) } else { format!("{} {value} {unit}", fact.label) }
    };
    facts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `name: value` lines, then the tables below the row.
fn cards(out: &mut dyn Write, columns: &[Column], section: &Section, style: &Style) -> io::Result<()> {
    writeln!(out, "{}", paint(bold(), &heading(section, style.time), style.color))?;
    let shown = |column: &Column| match column.view {
        View::Always | View::People => true,
        View::Details => style.details,
        View::Machine | View::Nowhere => false,
    };
    let width =
        columns.iter().filter(|column| shown(column)).map(|column| cell::width(column.title)).max().unwrap_or(0);
    for row in &section.rows {
        let mut tables = Vec::new();
        for (column, value) in columns.iter().zip(row).filter(|(column, _)| shown(column)) {
            match value {
                Value::None => {}
                Value::List(values) if values.is_empty() => {}
                Value::Map(values) if values.is_empty() => {}
                Value::Table(table) => tables.push((column, table)),
                value => {
                    let text = cell::text(value, column.kind, style.time, section.zero);
                    let unit = cell::unit(column.kind);
                    let blank = if unit.is_empty() { "" } else { " " };
                    writeln!(out, "  {:width$}  {text}{blank}{unit}", column.title)?;
                }
            }
        }
        for (column, table) in tables.into_iter().filter(|(_, table)| !table.rows.is_empty()) {
            writeln!(out, "  {}", paint(bold(), column.title, style.color))?;
            nested(out, table, section.zero, style)?;
        }
    }
    Ok(())
}

fn nested(out: &mut dyn Write, table: &Table, zero: Option<Zero>, style: &Style) -> io::Result<()> {
    let all: Vec<(&Vec<Value>, Option<Zero>)> = table.rows.iter().map(|row| (row, zero)).collect();
    let grid = Grid::new(&table.columns, &all, style);
    grid.header(out, "    ", style)?;
    grid.lines(out, "    ", all.iter().copied(), style)
}

/// Each warning and each note once, with the files that it is true of.
fn footnotes(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<()> {
    let warnings = once(answer.sections.iter().map(|section| (section.title.as_str(), section.warnings.as_slice())));
    for (text, files) in warnings {
        let line = format!("! {}: {}", cell::clean(&files), cell::clean(text));
        writeln!(out, "{}", paint(Ansi::new().fg_color(Some(AnsiColor::Yellow.into())), &line, style.color))?;
    }
    let notes = once(answer.sections.iter().map(|section| (section.title.as_str(), section.notes.as_slice())));
    for (text, files) in notes {
        let line = format!("* {}: {}", cell::clean(&files), cell::clean(text));
        writeln!(out, "{}", paint(Ansi::new().dimmed(), &line, style.color))?;
    }
    Ok(())
}

/// Each text once, with the titles that have it in few words.
fn once<'a>(texts: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<(&'a str, String)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (title, texts) in texts {
        for text in texts {
            match found.iter_mut().find(|(known, _)| known == text) {
                Some((_, titles)) => titles.push(title),
                None => found.push((text, vec![title])),
            }
        }
    }
    let in_few_words = |titles: Vec<&str>| match titles.as_slice() {
        [title] => (*title).to_owned(),
        [title, ..] => format!("{title} and {} more", titles.len() - 1),
        [] => String::new(),
    };
    found.into_iter().map(|(text, titles)| (text, in_few_words(titles))).collect()
}

/// The columns that a table shows, with their widths.
struct Grid<'a> {
    columns: Vec<(usize, &'a Column, String, usize)>,
}

impl<'a> Grid<'a> {
    fn new(columns: &'a [Column], rows: &[(&Vec<Value>, Option<Zero>)], style: &Style) -> Self {
        let shown = columns.iter().enumerate().filter(|(index, column)| {
            let wanted = match column.view {
                View::Always | View::People => !(style.no_long_text && column.kind == Kind::LongText),
                View::Details => style.details,
                View::Machine | View::Nowhere => false,
            };
            // A column that no recording fills only takes space.
            wanted && rows.iter().any(|(row, _)| row.get(*index).is_some_and(|value| *value != Value::None))
        });
        let columns = shown
            .map(|(index, column)| {
                let unit = match column.kind {
                    Kind::Time if style.time.format == TimeFormat::Seconds => "s",
                    kind => cell::unit(kind),
                };
                let title = if unit.is_empty() { column.title.to_owned() } else { format!("{} {unit}", column.title) };
                let widest = rows
                    .par_iter()
                    .filter_map(|(row, zero)| {
                        Some(cell::width(&cell::text(row.get(index)?, column.kind, style.time, *zero)))
                    })
                    .max()
                    .unwrap_or(0);
                let width = widest.max(cell::width(&title));
                (index, column, title, width)
            })
            .collect();
        Self { columns }
    }

    fn header(&self, out: &mut dyn Write, indent: &str, style: &Style) -> io::Result<()> {
        let cells = self.columns.iter().map(|(_, column, title, width)| (title.clone(), column.kind, *width));
        let line = line(indent, cells, style.width);
        writeln!(out, "{}", paint(Ansi::new().underline(), &line, style.color))
    }

    fn lines<'r>(
        &self,
        out: &mut dyn Write,
        indent: &str,
        rows: impl Iterator<Item = (&'r Vec<Value>, Option<Zero>)>,
        style: &Style,
    ) -> io::Result<()> {
        for (row, zero) in rows {
            let cells = self.columns.iter().map(|(index, column, _, width)| {
                let value = row.get(*index).unwrap_or(&Value::None);
                (cell::text(value, column.kind, style.time, zero), column.kind, *width)
            });
            writeln!(out, "{}", line(indent, cells, style.width))?;
        }
        Ok(())
    }
}

/// One line. Only the last column may be cut, and only when it holds long words: figures stay whole, whatever the
/// terminal's width.
fn line(indent: &str, cells: impl Iterator<Item = (String, Kind, usize)>, terminal: Option<usize>) -> String {
    let mut text = indent.to_owned();
    let mut cells = cells.peekable();
    while let Some((value, kind, width)) = cells.next() {
        let is_last = cells.peek().is_none();
        let padding = " ".repeat(width.saturating_sub(cell::width(&value)));
        if cell::is_right_aligned(kind) {
            text.push_str(&padding);
            text.push_str(&value);
        } else if !is_last {
            text.push_str(&value);
            text.push_str(&padding);
        } else if let (Kind::LongText | Kind::Tree, Some(terminal)) = (kind, terminal) {
            let left = terminal.saturating_sub(cell::width(&text)).max(SHORTEST_CUT);
            text.push_str(&cell::cut(&value, left));
        } else {
            text.push_str(&value);
        }
        if !is_last {
            text.push_str(&" ".repeat(GAP));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn bold() -> Ansi {
    Ansi::new().bold()
}

fn paint(style: Ansi, text: &str, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
