//! `dump`: puts a question to archives.

use chrono::Local;
use tracesift_ask::answer::Answer;
use tracesift_ask::column_choice::{ColumnChoice, UnknownColumn};
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, ask};
use tracesift_extract::EventSelection;

use crate::args::{Dump, FileArgs, Format, OutputArgs, RunArgs};
use crate::command::found;
use crate::command::temporary::TemporaryArchives;
use crate::command::{stats, testrun};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::output::table::Style;
use crate::output::target::Target;
use crate::terminal::{self, Messages};

/// Answers the question.
pub(crate) fn run(dump: &Dump, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    let mut printer = Printer::new(dump.common().2, no_color)?;
    match dump {
        Dump::Cpu(args) => {
            printer.style.time = args.time_style();
            ask_archives(dump.common(), args.question(messages)?.as_ref(), &printer, messages)
        }
        Dump::Stacks(args) => ask_archives(dump.common(), &args.question(), &printer, messages),
        Dump::Waits(args) => ask_archives(dump.common(), &args.question(), &printer, messages),
        Dump::Process(args) => ask_archives(dump.common(), &args.question(), &printer, messages),
        Dump::Version(args) => ask_archives(dump.common(), &args.question(), &printer, messages),
        Dump::Testrun(args) => testrun::run(dump, args, &printer, messages),
        Dump::Stats(args) => stats::run(dump, args, &printer, messages),
    }
}

/// Puts a question to the archives that the arguments name, and to recordings that are named by themselves.
pub(crate) fn ask_archives(
    (files, runs, _): (&FileArgs, &RunArgs, &OutputArgs),
    question: &dyn Ask,
    printer: &Printer,
    messages: &Messages,
) -> anyhow::Result<Exit> {
    printer.columns.choose(&question.columns()).map_err(wrong_column)?;
    let (mut found, mut failed) = found::find(&files.inputs(), messages);
    found::keep_selected(&mut found, &runs.selection(Local::now().naive_local()));
    if found::nothing_left(&found, failed, messages) {
        return Ok(Exit::NothingUsable);
    }
    leave_out_unnamed(&mut found, messages);
    let temporary = TemporaryArchives::of(&found.recordings, EventSelection::None, messages)?;
    failed += temporary.failed;
    let sources: Vec<Source> =
        found.archives.into_iter().map(Source::archive).chain(temporary.sources.iter().cloned()).collect();
    let outcome = ask(&sources, question);
    for failure in &outcome.failures {
        messages.error(&failure.reason);
    }
    failed += outcome.failures.len();
    let usable = outcome.answer.sections.len();
    if usable > 0 {
        printer.print(outcome.answer)?;
    }
    Ok(Exit::of(usable, failed))
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
}

impl Printer {
    /// For these arguments.
    pub(crate) fn new(args: &OutputArgs, no_color: bool) -> Result<Self, UsageError> {
        let target = match args.csv.as_ref().or(args.out.as_ref()) {
            Some(path) => Target::File(path.clone()),
            None => Target::Stdout,
        };
        let format = args.format();
        if format == Format::Parquet && target.is_terminal() {
            return Err(UsageError::new("Parquet is not for terminals", "name a file with --out FILE"));
        }
        let on_terminal = target.is_terminal();
        let style = Style {
            width: if args.wide || !on_terminal { None } else { terminal::width() },
            details: args.details,
            no_long_text: args.no_cmdline,
            time: args.time_style(),
            color: on_terminal && terminal::stdout_shows_color(no_color),
        };
        Ok(Self { format, style, target, columns: ColumnChoice::parse(&args.columns) })
    }

    /// Prints an answer.
    pub(crate) fn print(&self, mut answer: Answer) -> anyhow::Result<()> {
        self.columns.apply(&mut answer).map_err(wrong_column)?;
        output::write(&answer, self.format, &self.style, &self.target)
    }
}

fn wrong_column(error: UnknownColumn) -> UsageError {
    UsageError::new(format!("there is no column `{}`", error.name), format!("there are {}", error.known.join(", ")))
}
