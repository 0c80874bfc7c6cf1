//! `dump`: puts a question to archives.

use chrono::Local;
use tracesift_ask::answer::{Answer, Column, Kind, View};
use tracesift_ask::column_choice::{Chosen, ColumnChoice, UnknownColumn};
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::limit;
use tracesift_ask::options::{Asking, Plan, QuestionOptions};
use tracesift_ask::recording::Source;
use tracesift_ask::runs::Selection;
use tracesift_ask::shown::Shown;
use tracesift_ask::{Ask, When, ask, every_question, nothing};
use tracesift_extract::EventSelection;

use crate::args::{Asked, Dump, FileArgs, Format, OutputArgs, RunArgs};
use crate::command::found;
use crate::command::temporary::TemporaryArchives;
use crate::etwanalyzer::{self, csv::Layout};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::output::table::{Shortened, Style};
use crate::output::target::Target;
use crate::terminal::{self, Messages};

macro_rules! run {
    ($($(#[$about:meta])* $variant:ident($module:ident),)*) => {
        /// Answers the question.
        pub(crate) fn run(dump: &Dump, no_color: bool, csv: Option<&Layout>, messages: &Messages) -> anyhow::Result<Exit> {
            match dump {
                $(Dump::$variant(asked) => answer(asked, no_color, csv, messages),)*
            }
        }
    };
}

every_question!(run);

/// Answers a question. With `csv` a CSV file has ETWAnalyzer's columns.
pub(crate) fn answer<O: QuestionOptions>(
    asked: &Asked<O>,
    no_color: bool,
    csv: Option<&Layout>,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    let mut printer = Printer { csv: csv.cloned(), ..Printer::new(&asked.output, no_color, messages)? };
    if let Some(format) = asked.options.time_format() {
        printer.style.time.format = format;
    }
    let plan = asked.options.plan(&mut |warning| messages.warning(warning))?;
    follow(plan, (&asked.files, &asked.runs), &asked.options.when(), &printer, messages)
}

/// Goes the way to an answer.
fn follow(
    plan: Plan,
    (files, runs): (&FileArgs, &RunArgs),
    when: &When,
    printer: &Printer,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    let selection = runs.selection(Local::now().naive_local());
    match plan {
        Plan::Archives(Asking { question, columns, then }) => {
            // Wrong names are told of before hundreds of files are read.
            let chosen = match &columns {
                Some(columns) => printer.choose(columns)?,
                None => printer.choose(&when.columns(question.as_ref()))?,
            };
            let Some(sources) = sources(files, runs, messages)? else { return Ok(Exit::NothingUsable) };
            let shown = if columns.is_none() { printer.shown(&chosen) } else { None };
            let then = |answer: &mut Answer| then(answer, &selection);
            ask_sources(&sources, when, question.as_ref(), (&chosen, shown), then, printer, messages)
        }
        Plan::Names(question) => {
            let (found, failed) = found::find(&files.inputs(), messages);
            if found::nothing_left(&found, failed, messages) {
                return Ok(Exit::NothingUsable);
            }
            let runs = found::runs(&found, &selection);
            printer.print(question.answer(&runs))?;
            let why = runs.is_empty().then(|| vec!["the choice of test runs leaves no file".to_owned()]);
            Ok(printer.exit(why.as_deref(), found.archives.len() + found.recordings.len(), failed))
        }
        Plan::Files(question) => {
            let (found, failed) = files_as_they_are(files, &selection, messages);
            let archives: Vec<Source> = found.archives.into_iter().map(Source::archive).collect();
            let of_files = question.answer(&found.recordings, &archives);
            of_files.failures.iter().for_each(|failure| messages.error(failure));
            let failed = failed + of_files.failures.len();
            let Some(answer) = of_files.answer else { return Ok(Exit::of(of_files.usable, failed)) };
            printer.print(answer)?;
            Ok(printer.exit(of_files.why_empty.as_deref(), of_files.usable, failed))
        }
        Plan::Answer(answer) => {
            printer.print(answer)?;
            Ok(Exit::Fine)
        }
    }
}

/// The files that the arguments name. One that is named is read itself, even when its archive stands beside it.
fn files_as_they_are(files: &FileArgs, selection: &Selection, messages: &Messages) -> (FoundInputs, usize) {
    let inputs = files.inputs();
    let (files, others) = inputs.split_files();
    let (mut all, mut failed) = (FoundInputs::default(), 0);
    let mut add = |(mut found, problems): (FoundInputs, usize)| {
        found::keep_selected(&mut found, selection);
        all.recordings.append(&mut found.recordings);
        all.archives.append(&mut found.archives);
        failed += problems;
    };
    if !files.arguments.is_empty() {
        add(found::find_recordings(&files, messages));
    }
    if !others.arguments.is_empty() || inputs.arguments.is_empty() {
        add(found::find(&others, messages));
    }
    (all, failed)
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
