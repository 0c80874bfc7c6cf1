//! `dump`: puts a question to archives.

use chrono::Local;
use tracesift_ask::answer::Answer;
use tracesift_ask::column_choice::Chosen;
use tracesift_ask::inputs::FoundInputs;
use tracesift_ask::options::{Asking, Plan, QuestionOptions};
use tracesift_ask::recording::Source;
use tracesift_ask::runs::Selection;
use tracesift_ask::shown::Shown;
use tracesift_ask::{Ask, When, ask, every_question, nothing};

use crate::args::{Asked, Dump, FileArgs, RunArgs};
use crate::command::found;
use crate::command::printer::Printer;
use crate::command::sources::{Sources, sources_that_have};
use crate::etwanalyzer::csv::Layout;
use crate::exit::Exit;
use crate::terminal::Messages;
use crate::watching::answered;

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
    let printer = Printer::new(&asked.output, no_color, messages)?;
    let printer = printer.with_csv(csv.cloned()).with_time_format(asked.options.time_format());
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
            let shown = if columns.is_none() { printer.shown(&chosen) } else { None };
            let narrowed = shown.as_ref().and_then(|shown| question.showing(shown));
            let reads = when.reads(narrowed.as_deref().unwrap_or(question.as_ref()));
            let sources = sources_that_have(reads, files, runs, messages)?;
            let Some(sources) = sources else { return Ok(Exit::NothingUsable) };
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
pub(crate) fn files_as_they_are(files: &FileArgs, selection: &Selection, messages: &Messages) -> (FoundInputs, usize) {
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
    let mut outcome =
        answered(sources.list.len(), || ask(&sources.list, narrowed.as_deref().unwrap_or(question), when))?;
    for failure in &outcome.failures {
        messages.error(&failure.reason);
    }
    let failed = sources.failed + outcome.failures.len();
    let usable = outcome.answer.sections.len();
    if usable == 0 {
        return Ok(Exit::of(usable, failed));
    }
    let why = || nothing::why(&sources.list, question, when, &outcome.answer, printer.is_for_people());
    let why = if nothing::is_empty(&outcome.answer) { Some(answered(1, why)?) } else { None };
    let is_absent = outcome.answer.sections.iter().all(|section| section.is_absent);
    then(&mut outcome.answer);
    printer.print_chosen(outcome.answer, chosen)?;
    let exit = printer.exit(why.as_deref(), usable, failed);
    // No file could have answered: a script must not take this for an answer of zero.
    Ok(if is_absent { Exit::NothingUsable } else { exit })
}
