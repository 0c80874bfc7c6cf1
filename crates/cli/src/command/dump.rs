//! `dump`: puts a question to archives.

use chrono::Local;
use tracesift_analysis::tags::TagSet;
use tracesift_ask::answer::{
    Answer, Column, ColumnOf, Fact, Kind, Layout as Shape, Section, View, descriptions, values,
};
use tracesift_ask::column_choice::{Chosen, ColumnChoice, UnknownColumn};
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::limit;
use tracesift_ask::question::{merged_cpu, merged_methods};
use tracesift_ask::recording::Source;
use tracesift_ask::shown::Shown;
use tracesift_ask::{Ask, When, ask, nothing, totals};
use tracesift_extract::EventSelection;

use crate::args::{Dump, FileArgs, Format, OutputArgs, RunArgs, TimeArgs};
use crate::command::found;
use crate::command::temporary::TemporaryArchives;
use crate::command::{stats, testrun};
use crate::etwanalyzer::{self, csv::Layout};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::output::table::{Shortened, Style};
use crate::output::target::Target;
use crate::terminal::{self, Messages};

/// Answers the question.
pub(crate) fn run(dump: &Dump, no_color: bool, csv: Option<&Layout>, messages: &Messages) -> anyhow::Result<Exit> {
    let mut printer = Printer { csv: csv.cloned(), ..Printer::new(dump.common().2, no_color, messages)? };
    match dump {
        Dump::Cpu(args) => {
            printer.style.time = args.time_style();
            if let Some(tags) = args.listed_tags(messages)? {
                return list_tags(&tags, &printer);
            }
            let (common, when) = (dump.common(), dump.when());
            if let Some((sort, top)) = args.merged()? {
                let columns = descriptions(merged_cpu::COLUMNS);
                let merge = |answer: &mut Answer| *answer = merged_cpu::merge(answer, sort, top);
                return ask_and(common, &when, &args.to_be_merged(), Some(&columns), merge, &printer, messages);
            }
            if let Some(how) = args.merged_methods()? {
                let columns = descriptions(merged_methods::COLUMNS);
                let merge = |answer: &mut Answer| *answer = merged_methods::merge(answer, how);
                let question = args.methods_to_be_merged(messages)?;
                return ask_and(common, &when, &question, Some(&columns), merge, &printer, messages);
            }
            let question = args.question(messages)?;
            let add_totals = |answer: &mut Answer| {
                answer.sums = totals::of_runs_and_tests(&answer.sections, common.1.one_run);
                // Totals of nothing say nothing, unless they were asked for.
                if !answer.sections.iter().any(|section| section.always) {
                    answer.sums.retain(|group| group.facts.iter().any(Fact::is_figure));
                }
            };
            ask_and(common, &when, question.as_ref(), None, add_totals, &printer, messages)
        }
        Dump::Stacks(args) => ask_archives(dump.common(), &dump.when(), &args.question(), &printer, messages),
        Dump::Threads(args) => ask_archives(dump.common(), &dump.when(), &args.question(), &printer, messages),
        Dump::Waits(args) => ask_archives(dump.common(), &dump.when(), args.question().as_ref(), &printer, messages),
        Dump::Syscalls(args) => ask_archives(dump.common(), &dump.when(), &args.question(), &printer, messages),
        Dump::Process(args) => ask_archives(dump.common(), &dump.when(), &args.question(), &printer, messages),
        Dump::Version(args) => ask_archives(dump.common(), &dump.when(), &args.question(), &printer, messages),
        Dump::Testrun(args) => testrun::run(dump, args, &printer, messages),
        Dump::Stats(args) => stats::run(dump, args, &printer, messages),
    }
}

/// The names of all stack tags.
fn list_tags(tags: &TagSet, printer: &Printer) -> anyhow::Result<Exit> {
    const COLUMNS: &[ColumnOf<String>] =
        &[ColumnOf::always("stack_tag", "Stack tag", Kind::Text, |tag| tag.into(), "Full name of the tag.")];
    let mut names: Vec<String> = tags.tags().map(|tag| tags.name(tag).to_owned()).collect();
    names.sort_by_key(|name| name.to_lowercase());
    let facts = vec![Fact::new("tags", Kind::Count, names.len())];
    let section =
        Section { title: "stack tags".to_owned(), rows: values(COLUMNS, &names), facts, ..Section::default() };
    printer.print(Answer {
        question: "tags",
        columns: descriptions(COLUMNS),
        layout: Shape::Rows,
        sorted: None,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    })?;
    Ok(Exit::Fine)
}

/// Tells instants on every clock.
pub(crate) fn time(args: &TimeArgs, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    let printer = Printer::new(&args.output, no_color, messages)?;
    let common = (&args.files, &args.runs, &args.output);
    ask_archives(common, &args.zero.when(), &args.question(), &printer, messages)
}

/// Puts a question to the archives that the arguments name, and to recordings that are named by themselves.
pub(crate) fn ask_archives(
    common: (&FileArgs, &RunArgs, &OutputArgs),
    when: &When,
    question: &dyn Ask,
    printer: &Printer,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    ask_and(common, when, question, None, |_| (), printer, messages)
}

/// The same, and does something with the answer before it is printed, perhaps with other columns than the question's.
fn ask_and(
    (files, runs, _): (&FileArgs, &RunArgs, &OutputArgs),
    when: &When,
    question: &dyn Ask,
    others: Option<&[Column]>,
    then: impl FnOnce(&mut Answer),
    printer: &Printer,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    // Wrong names are told of before hundreds of files are read.
    let chosen = match others {
        Some(others) => printer.choose(others)?,
        None => printer.choose(&when.columns(question))?,
    };
    let Some(sources) = sources(files, runs, messages)? else { return Ok(Exit::NothingUsable) };
    let shown = if others.is_none() { printer.shown(&chosen) } else { None };
    ask_sources(&sources, when, question, (&chosen, shown), then, printer, messages)
}

/// Puts a question to these archives, of which the output has these columns.
pub(crate) fn ask_sources(
    sources: &Sources,
    when: &When,
    question: &dyn Ask,
    (chosen, shown): (&Chosen, Option<Shown>),
    then: impl FnOnce(&mut Answer),
    printer: &Printer,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    let narrowed = shown.and_then(|shown| question.showing(&shown));
    let mut outcome = ask(&sources.list, narrowed.as_deref().unwrap_or(question), when);
    for failure in &outcome.failures {
        messages.error(&failure.reason);
    }
    let failed = sources.failed + outcome.failures.len();
    let usable = outcome.answer.sections.len();
    if usable == 0 {
        return Ok(Exit::of(usable, failed));
    }
    let is_empty = nothing::is_empty(&outcome.answer);
    let why = is_empty.then(|| nothing::why(&sources.list, question, when, &outcome.answer));
    then(&mut outcome.answer);
    printer.print_chosen(outcome.answer, chosen)?;
    Ok(printer.exit(why.as_deref(), usable, failed))
}

/// Archives to ask.
pub(crate) struct Sources {
    /// The archives.
    pub(crate) list: Vec<Source>,
    /// Inputs that cannot be used; each was named.
    pub(crate) failed: usize,
    /// Keeps those of recordings that were extracted for this.
    _temporary: TemporaryArchives,
}

/// The archives that the arguments name, and recordings that are named by themselves, extracted. `None`: there is nothing left, and that was said.
pub(crate) fn sources(files: &FileArgs, runs: &RunArgs, messages: &Messages) -> anyhow::Result<Option<Sources>> {
    let (mut found, failed) = found::find(&files.inputs(), messages);
    found::keep_selected(&mut found, &runs.selection(Local::now().naive_local()));
    if found::nothing_left(&found, failed, messages) {
        return Ok(None);
    }
    leave_out_unnamed(&mut found, messages);
    let temporary = TemporaryArchives::of(&found.recordings, EventSelection::None, messages)?;
    let list = found.archives.into_iter().map(Source::archive).chain(temporary.sources.iter().cloned()).collect();
    Ok(Some(Sources { list, failed: failed + temporary.failed, _temporary: temporary }))
}

/// Recordings that a search came upon are not extracted for one question: there may be hundreds.
fn leave_out_unnamed(found: &mut FoundInputs, messages: &Messages) {
    let before = found.recordings.len();
    found.recordings.retain(|recording| recording.named);
    let left_out = before - found.recordings.len();
    if left_out == 0 {
        return;
    }
    let what = if left_out == 1 { "1 recording is".to_owned() } else { format!("{left_out} recordings are") };
    let text = format!("{what} not extracted yet and left out");
    if found.archives.is_empty() && found.recordings.is_empty() {
        messages.error(&text);
    } else {
        messages.warning(&text);
    }
    messages.hint(
        "`tracesift extract` with the same paths makes archives of them; a recording named by itself is asked directly",
    );
}

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

    fn print_chosen(&self, mut answer: Answer, chosen: &Chosen) -> anyhow::Result<()> {
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
