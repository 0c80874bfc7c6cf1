//! Where and how answers go.

use tracesift_ask::answer::{Answer, Column, Kind, View};
use tracesift_ask::column_choice::{Chosen, ColumnChoice, UnknownColumn};
use tracesift_ask::limit;
use tracesift_ask::shown::Shown;
use tracesift_ask::time_format::TimeFormat;

use crate::args::{Format, OutputArgs};
use crate::etwanalyzer::{self, csv::Layout};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::output::table::{Shortened, Style};
use crate::output::target::Target;
use crate::terminal::{self, Messages};

/// Where and how answers go.
pub(crate) struct Printer {
    format: Format,
    style: Style,
    target: Target,
    columns: ColumnChoice,
    /// ETWAnalyzer's columns for a CSV file, where its own command line asked for one.
    csv: Option<Layout>,
    /// The list whose objects are rows.
    exploded: Option<String>,
    /// Whether an answer without rows is a failure.
    fail_if_empty: bool,
    messages: Messages,
}

impl Printer {
    /// For these arguments.
    pub(crate) fn new(args: &OutputArgs, no_color: bool, messages: &Messages) -> Result<Self, UsageError> {
        let target = match args.csv.as_ref().or(args.out.as_ref()) {
            Some(path) => Target::File(path.clone()),
            None => Target::Stdout,
        };
        let format = args.format();
        if format == Format::Parquet && target.is_terminal() {
            return Err(UsageError::new("Parquet is not for terminals", "name a file with --out FILE"));
        }
        if args.explode.is_some() && !matches!(format, Format::Csv | Format::Parquet) {
            return Err(UsageError::new(
                "--explode is for CSV and Parquet",
                "the other formats show lists as they are",
            ));
        }
        let on_terminal = target.is_terminal();
        let style = Style {
            width: args.width.or_else(|| if args.wide || !on_terminal { None } else { terminal::width() }),
            details: args.details,
            no_command_line: args.no_cmdline,
            time: args.time_style(),
            color: on_terminal && terminal::stdout_shows_color(no_color),
        };
        let columns = ColumnChoice::parse(&args.columns);
        let exploded = args.explode.clone();
        Ok(Self {
            format,
            style,
            target,
            columns,
            csv: None,
            exploded,
            fail_if_empty: args.fail_if_empty,
            messages: *messages,
        })
    }

    /// Gives a CSV file ETWAnalyzer's columns.
    pub(crate) fn with_csv(self, csv: Option<Layout>) -> Self {
        Self { csv, ..self }
    }

    /// Shows times in this format, where the question has one of its own.
    pub(crate) fn with_time_format(mut self, format: Option<TimeFormat>) -> Self {
        self.style.time.format = format.unwrap_or(self.style.time.format);
        self
    }

    /// Whether all columns that are asked for are among these.
    ///
    /// # Errors
    /// When one is not.
    pub(crate) fn check(&self, columns: &[Column]) -> Result<(), UsageError> {
        self.choose(columns).map(|_| ())
    }

    /// Whether a table for people is printed.
    pub(crate) fn is_for_people(&self) -> bool {
        self.format == Format::Table
    }

    /// How a table looks.
    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// Where answers go.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Those of the columns that are asked for.
    pub(crate) fn choose(&self, columns: &[Column]) -> Result<Chosen, UsageError> {
        let lists = || columns.iter().filter(|column| column.kind == Kind::Table && column.view != View::Nowhere);
        if let Some(list) = self.exploded.as_ref().filter(|list| lists().all(|column| column.key != **list)) {
            let known: Vec<&str> = lists().map(|column| column.key).collect();
            let known = if known.is_empty() {
                "this answer has none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(UsageError::new(format!("there is no list of objects `{list}`"), known));
        }
        self.columns.choose(columns).map_err(|UnknownColumn { name, known }| {
            UsageError::new(format!("there is no column `{name}`"), format!("there are {}", known.join(", ")))
        })
    }

    /// Those that the output has; `None`: others than the question's.
    pub(crate) fn shown(&self, chosen: &Chosen) -> Option<Shown> {
        if self.csv.is_some() {
            return None;
        }
        let is_shown = |view: View| match (self.format, view) {
            (_, View::Nowhere) => false,
            (Format::Table, View::Machine) => false,
            (Format::Table, View::Details) => self.style.details,
            (_, View::Always | View::Details | View::Machine | View::People) => true,
        };
        Some(Shown::only(chosen.columns().filter(|(_, view)| is_shown(*view)).map(|(key, _)| key)))
    }

    /// Prints an answer.
    pub(crate) fn print(&self, answer: Answer) -> anyhow::Result<()> {
        let chosen = self.choose(&answer.columns)?;
        self.print_chosen(answer, &chosen)
    }

    /// How a question to so many files ends. Of an empty answer it says why.
    pub(crate) fn exit(&self, why_empty: Option<&[String]>, usable: usize, failed: usize) -> Exit {
        why_empty.into_iter().flatten().for_each(|line| self.messages.note(line));
        if why_empty.is_some() && self.fail_if_empty { Exit::NothingUsable } else { Exit::of(usable, failed) }
    }

    /// Says once what the terminal had no room for.
    fn say_shortened(&self, shortened: &Shortened) {
        /// Headers that are named.
        const NAMED: usize = 4;
        let titles = &shortened.left_out;
        let named = titles.iter().take(NAMED).map(|title| format!("`{title}`")).collect::<Vec<_>>().join(", ");
        let more = titles.len().saturating_sub(NAMED);
        let said = match (shortened.cut, titles.len(), more) {
            (false, 0, _) => return,
            (true, 0, _) => "some words are cut at the terminal's width".to_owned(),
            (_, _, 0) => format!("no room for {named}"),
            (..) => format!("no room for {named} and {more} more columns"),
        };
        self.messages.note(&format!("{said}: --wide shows all"));
    }

    pub(crate) fn print_chosen(&self, mut answer: Answer, chosen: &Chosen) -> anyhow::Result<()> {
        let as_theirs = self.csv.as_ref().and_then(|layout| etwanalyzer::csv::Table::of(&answer, layout));
        if let Some(table) = as_theirs {
            self.say_written(self.target.write(|out| Ok(table.write(out)?))?);
            return Ok(());
        }
        chosen.apply(&mut answer);
        let written = output::write(&answer, self.format, self.exploded.as_deref(), &self.style, &self.target)?;
        self.say_shortened(&written.shortened);
        self.say_written(written.rows);
        // The other formats have them in the column `warnings`.
        if self.format == Format::Table {
            for line in limit::in_two_lines(&answer.sections, answer.question != "stats") {
                self.messages.warning(&line);
            }
        } else if answer.sections.iter().any(|section| section.always) && answer.rows().next().is_none() {
            self.messages.note("the totals that were asked for stand in a table only: --format table shows them");
        }
        Ok(())
    }

    /// Says what a file has: nothing else would be seen.
    fn say_written(&self, rows: usize) {
        if let Target::File(path) = &self.target {
            let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
            self.messages.note(&format!("{rows} written to {}", path.display()));
        }
    }
}
