//! Tables for people: figures right, words left, units in the header, no line longer than the terminal is wide.

use std::io::{self, Write};

use anstyle::Style as Ansi;
use rayon::prelude::*;
use tracesift_ask::answer::{Answer, Column, Fact, Group, Kind, Layout, Section, Table, Value, View};
use tracesift_ask::process_columns::COMMAND_LINE;
use tracesift_ask::time_format::{TimeFormat, TimeStyle, Zero};

use crate::output::cell::{self, Form};
use crate::output::fit::{Shape, Slot, fit};
use crate::output::wrap::wrapped;

/// How a table looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Columns of the terminal; `None`: nothing is cut.
    pub(crate) width: Option<usize>,
    /// Whether columns for `--details` are shown.
    pub(crate) details: bool,
    /// Whether command lines are left out.
    pub(crate) no_command_line: bool,
    /// How instants are shown.
    pub(crate) time: TimeStyle,
    /// Whether to colour.
    pub(crate) color: bool,
}

/// Blanks between columns.
const GAP: usize = 2;
/// A blank between a figure and what it is, where no line ends.
const TOGETHER: char = '\u{a0}';
/// Further lines of something long begin this far from the left.
const HANGING: usize = 6;
/// Sections whose lines are made at once, on all processors.
const SECTIONS_AT_ONCE: usize = 64;

/// What a table does not show for want of room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shortened {
    /// Whether words were cut.
    pub(crate) cut: bool,
    /// Headers of columns that were left out.
    pub(crate) left_out: Vec<String>,
}

impl Shortened {
    fn add(&mut self, other: &Self) {
        self.cut |= other.cut;
        for title in &other.left_out {
            if !self.left_out.contains(title) {
                self.left_out.push(title.clone());
            }
        }
    }
}

/// Writes the table of an answer, and tells what had no room.
pub(crate) fn write(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<Shortened> {
    let mut shortened = Shortened::default();
    match answer.layout {
        Layout::Rows | Layout::SideBySide { .. } => shortened.add(&rows(out, answer, style)?),
        Layout::Cards => {
            for (index, section) in answer.sections.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                shortened.add(&cards(out, &answer.columns, section, style)?);
            }
        }
    }
    for group in &answer.sums {
        long_line(out, bold(), &group_heading(group, style), style)?;
    }
    if answer.sections.len() > 1 && !answer.facts.is_empty() {
        long_line(out, bold(), &format!("all files  {}", facts(&answer.facts, style.time)), style)?;
    }
    footnotes(out, answer, style)?;
    Ok(shortened)
}

/// A line of words, on as many lines as it takes.
fn long_line(out: &mut dyn Write, ansi: Ansi, text: &str, style: &Style) -> io::Result<()> {
    for line in wrapped(text, HANGING, style.width) {
        writeln!(out, "{}", paint(ansi, &line.replace(TOGETHER, " "), style.color))?;
    }
    Ok(())
}

fn rows(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<Shortened> {
    let all: Vec<(&Vec<Value>, Option<Zero>)> =
        answer.sections.iter().flat_map(|section| section.rows.iter().map(|row| (row, section.zero))).collect();
    let indent = if answer.sections.iter().all(|section| section.groups.is_empty()) { "  " } else { "    " };
    let grid = Grid::new(&answer.columns, &all, (answer.sorted, indent.len()), style);
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
        [] => {}
        few if few.len() <= 3 => {
            let titles: Vec<_> = few.iter().map(|section| cell::clean(&section.title)).collect();
            long_line(out, Ansi::new(), &format!("no rows in {}", titles.join(", ")), style)?;
        }
        many => writeln!(out, "no rows in {} of {} files", many.len(), answer.sections.len())?,
    }
    Ok(grid.shortened)
}

/// Heading and rows of a section.
fn section_lines(
    out: &mut dyn Write,
    grid: &Grid<'_>,
    section: &Section,
    with_header: bool,
    style: &Style,
) -> io::Result<()> {
    long_line(out, bold(), &heading(section, style.time), style)?;
    let indent = if section.groups.is_empty() { "  " } else { "    " };
    if with_header {
        grid.header(out, indent, style)?;
    }
    let mut rows = section.rows.iter().map(|row| (row, section.zero));
    for group in &section.groups {
        long_line(out, bold(), &format!("  {}", group_heading(group, style)), style)?;
        grid.lines(out, indent, &mut rows.by_ref().take(group.rows), style)?;
    }
    grid.lines(out, indent, &mut rows, style)
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
    if let Some(text) = group.text.as_deref().filter(|text| !text.is_empty() && !style.no_command_line) {
        let text = cell::clean(text);
        // Two blanks at its left stand for the indent of the heading, two for the gap.
        let left = style.width.map(|width| width.saturating_sub(cell::width(&heading) + 2 * GAP));
        match left {
            None => heading.push_str(&format!("  {text}")),
            // Less than that says nothing.
            Some(left) if left >= HANGING => heading.push_str(&format!("  {}", cell::cut(&text, left))),
            Some(_) => {}
        }
    }
    heading
}

/// Totals behind each other.
pub(crate) fn facts(facts: &[Fact], time: TimeStyle) -> String {
    let one = |fact: &Fact| {
        let form = Form::of(fact.kind, std::iter::once(&fact.value));
        let (value, unit) = (cell::text(&fact.value, form, time, None), form.unit());
        let text =
            if unit.is_empty() { format!("{} {value}", fact.label) } else { format!("{} {value} {unit}", fact.label) };
        text.replace(' ', &TOGETHER.to_string())
    };
    facts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `name: value` lines, then the tables below the row.
fn cards(out: &mut dyn Write, columns: &[Column], section: &Section, style: &Style) -> io::Result<Shortened> {
    long_line(out, bold(), &heading(section, style.time), style)?;
    let mut shortened = Shortened::default();
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
                    let form = Form::of(column.kind, std::iter::once(value));
                    let (text, unit) = (cell::text(value, form, style.time, section.zero), form.unit());
                    let blank = if unit.is_empty() { "" } else { " " };
                    let value = wrapped(
                        &format!("{text}{blank}{unit}"),
                        2,
                        style.width.map(|all| all.saturating_sub(width + 4)),
                    );
                    for (place, line) in value.iter().enumerate() {
                        writeln!(out, "  {:width$}  {line}", if place == 0 { column.title } else { "" })?;
                    }
                }
            }
        }
        for (column, table) in tables.into_iter().filter(|(_, table)| !table.rows.is_empty()) {
            writeln!(out, "  {}", paint(bold(), column.title, style.color))?;
            shortened.add(&nested(out, table, section.zero, style)?);
        }
    }
    Ok(shortened)
}

fn nested(out: &mut dyn Write, table: &Table, zero: Option<Zero>, style: &Style) -> io::Result<Shortened> {
    let all: Vec<(&Vec<Value>, Option<Zero>)> = table.rows.iter().map(|row| (row, zero)).collect();
    let grid = Grid::new(&table.columns, &all, (None, 4), style);
    grid.header(out, "    ", style)?;
    grid.lines(out, "    ", &mut all.iter().copied(), style)?;
    Ok(grid.shortened)
}

/// Each note once, with the files that it is true of.
fn footnotes(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<()> {
    let notes = once(answer.sections.iter().map(|section| (section.title.as_str(), section.notes.as_slice())));
    for (text, files) in notes {
        let line = format!("* {}: {}", cell::clean(&files), cell::clean(text));
        long_line(out, Ansi::new().dimmed(), &line, style)?;
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

/// What stands in front of the lines of a table below a row.
const NESTED: &str = "    ";

/// The columns that a table shows, with their widths.
struct Grid<'a> {
    columns: Vec<GridColumn<'a>>,
    /// The columns whose lines stand below the rows.
    below: Vec<usize>,
    /// Tables that stand below the rows, by the place of their column: all of a column have the same grid.
    tables: Vec<(usize, Grid<'a>)>,
    shortened: Shortened,
}

struct GridColumn<'a> {
    /// Place of its values in a row.
    index: usize,
    column: &'a Column,
    form: Form,
    title: String,
    width: usize,
}

impl<'a> Grid<'a> {
    /// The grid of these rows, sorted by a column, behind so many blanks.
    fn new(
        columns: &'a [Column],
        rows: &[(&'a Vec<Value>, Option<Zero>)],
        (sorted, indent): (Option<&str>, usize),
        style: &Style,
    ) -> Self {
        let shown = columns.iter().enumerate().filter(|(index, column)| {
            let wanted = match column.view {
                View::Always | View::People => !(style.no_command_line && column.key == COMMAND_LINE),
                View::Details => style.details,
                View::Machine | View::Nowhere => false,
            };
            // A column that no recording fills only takes space.
            wanted && rows.iter().any(|(row, _)| row.get(*index).is_some_and(|value| *value != Value::None))
        });
        let (below, shown): (Vec<_>, Vec<_>) =
            shown.partition(|(_, column)| matches!(column.kind, Kind::Below | Kind::Table));
        let mut columns: Vec<GridColumn<'a>> = shown
            .into_iter()
            .map(|(index, column)| {
                let form = Form::of(column.kind, rows.iter().filter_map(|(row, _)| row.get(index)));
                let unit = match column.kind {
                    Kind::Time if style.time.format == TimeFormat::Seconds => "s",
                    _ => form.unit(),
                };
                let title = if unit.is_empty() { column.title.to_owned() } else { format!("{} {unit}", column.title) };
                let widest = rows
                    .par_iter()
                    .filter_map(|(row, zero)| Some(cell::width(&cell::text(row.get(index)?, form, style.time, *zero))))
                    .max()
                    .unwrap_or(0);
                let width = widest.max(cell::width(&title));
                GridColumn { index, column, form, title, width }
            })
            .collect();
        let mut shortened = Shortened::default();
        if let Some(terminal) = style.width {
            let widths = fit(&slots(&columns, sorted), GAP, terminal.saturating_sub(indent));
            let mut widths = widths.into_iter();
            columns.retain_mut(|column| match widths.next().flatten() {
                Some(width) => {
                    shortened.cut |= width < column.width;
                    column.width = width;
                    true
                }
                None => {
                    shortened.left_out.push(column.title.clone());
                    false
                }
            });
        }
        let (tables, below): (Vec<_>, Vec<_>) = below.into_iter().partition(|(_, column)| column.kind == Kind::Table);
        let tables: Vec<(usize, Grid<'a>)> = tables
            .into_iter()
            .filter_map(|(index, _)| Some((index, Self::of_tables(index, rows, indent + NESTED.len(), style)?)))
            .collect();
        tables.iter().for_each(|(_, grid)| shortened.add(&grid.shortened));
        Self { columns, below: below.into_iter().map(|(index, _)| index).collect(), tables, shortened }
    }

    /// The grid of the tables that rows have in a column.
    fn of_tables(
        index: usize,
        rows: &[(&'a Vec<Value>, Option<Zero>)],
        indent: usize,
        style: &Style,
    ) -> Option<Grid<'a>> {
        let tables = || {
            rows.iter().filter_map(move |(row, zero)| match row.get(index) {
                Some(Value::Table(table)) => Some((table, *zero)),
                _ => None,
            })
        };
        let (first, _) = tables().next()?;
        let all: Vec<(&'a Vec<Value>, Option<Zero>)> =
            tables().flat_map(|(table, zero)| table.rows.iter().map(move |row| (row, zero))).collect();
        Some(Self::new(&first.columns, &all, (None, indent), style))
    }

    fn header(&self, out: &mut dyn Write, indent: &str, style: &Style) -> io::Result<()> {
        let cells = self.columns.iter().map(|of| (of.title.clone(), of));
        let line = line(indent, cells, true);
        writeln!(out, "{}", paint(Ansi::new().underline(), &line, style.color))
    }

    fn lines(
        &self,
        out: &mut dyn Write,
        indent: &str,
        rows: &mut dyn Iterator<Item = (&Vec<Value>, Option<Zero>)>,
        style: &Style,
    ) -> io::Result<()> {
        for (row, zero) in rows {
            let cells = self.columns.iter().map(|of| {
                let value = row.get(of.index).unwrap_or(&Value::None);
                (cell::text(value, of.form, style.time, zero), of)
            });
            writeln!(out, "{}", line(indent, cells, false))?;
            for value in self.below.iter().filter_map(|index| row.get(*index)) {
                let Value::List(lines) = value else { continue };
                for text in lines {
                    let text = format!("{indent}    {}", cell::clean(text));
                    long_line(out, Ansi::new(), &text, &Style { color: false, ..*style })?;
                }
            }
            for (index, grid) in &self.tables {
                let Some(Value::Table(table)) = row.get(*index) else { continue };
                if table.rows.is_empty() {
                    continue;
                }
                let indent = format!("{indent}{NESTED}");
                grid.header(out, &indent, style)?;
                grid.lines(out, &indent, &mut table.rows.iter().map(|row| (row, zero)), style)?;
            }
        }
        Ok(())
    }
}

/// How the columns may be made smaller, and which of them go first where that is not enough: those of `--details`, then figures, then words. The
/// first two figures stay, what the rows are called, and what they are sorted by.
fn slots(columns: &[GridColumn<'_>], sorted: Option<&str>) -> Vec<Slot> {
    /// So many figures stay.
    const FIGURES: usize = 2;
    let is_name = |of: &&GridColumn<'_>| of.column.view == View::People || of.column.kind == Kind::Tree;
    let is_text = |of: &&GridColumn<'_>| of.column.kind == Kind::Text;
    let name = columns.iter().find(is_name).or_else(|| columns.iter().find(is_text)).map(|of| of.index);
    let mut figures = 0;
    columns
        .iter()
        .map(|of| {
            let shape = match of.column.kind {
                Kind::LongText | Kind::Tree | Kind::List | Kind::Integers | Kind::Map => Shape::LongWords,
                kind if cell::is_right_aligned(kind) => Shape::Figure,
                _ => Shape::Words,
            };
            let is_figure = shape == Shape::Figure;
            figures += usize::from(is_figure);
            let stays = Some(of.index) == name
                || Some(of.column.key) == sorted
                || (is_figure && figures <= FIGURES && of.column.view != View::Details);
            let rank = match of.column.view {
                _ if stays => None,
                View::Details => Some(0),
                _ if of.column.key == COMMAND_LINE || of.column.kind == Kind::Map => Some(1),
                _ if is_figure => Some(2),
                _ => Some(3),
            };
            Slot { width: of.width, shape, rank }
        })
        .collect()
}

/// One line. Words are cut to their column's width; figures are as wide as the widest.
fn line<'g>(indent: &str, cells: impl Iterator<Item = (String, &'g GridColumn<'g>)>, is_header: bool) -> String {
    let mut text = indent.to_owned();
    let mut cells = cells.peekable();
    while let Some((value, of)) = cells.next() {
        let value = match of.column.kind {
            kind if cell::is_right_aligned(kind) => value.into(),
            _ if is_header => cell::cut(&value, of.width),
            Kind::Tree => cell::cut_tree(&value, of.width),
            // Of a command line, and of a list, the beginning says most.
            Kind::List | Kind::Integers | Kind::Map => cell::cut(&value, of.width),
            Kind::LongText if !has_path(of.column.key) => cell::cut(&value, of.width),
            _ => cell::cut_middle(&value, of.width),
        };
        let padding = " ".repeat(of.width.saturating_sub(cell::width(&value)));
        if cell::is_right_aligned(of.column.kind) {
            text.push_str(&padding);
            text.push_str(&value);
        } else {
            text.push_str(&value);
            text.push_str(&padding);
        }
        if cells.peek().is_some() {
            text.push_str(&" ".repeat(GAP));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Whether a column of long words has paths, whose end says most.
fn has_path(key: &str) -> bool {
    matches!(key, "path" | "file" | "source")
}

fn bold() -> Ansi {
    Ansi::new().bold()
}

fn paint(style: Ansi, text: &str, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
