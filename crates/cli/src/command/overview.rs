//! `overview`: one recording on a screen, many on a line each.

use tracesift_ask::answer::{Answer, Failure, Section};
use tracesift_ask::question::overview;
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::{Ask as _, When};

use crate::args::{Asked, OutputArgs};
use crate::command::printer::Printer;
use crate::command::{dump, sources};
use crate::exit::Exit;
use crate::output::screen;
use crate::terminal::Messages;
use crate::watching::answered;

/// Answers the question.
pub(crate) fn run(args: &Asked<overview::Options>, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    let printer = Printer::new(&args.output, no_color, messages)?;
    let when = When::default();
    if !printer.is_for_people() {
        return dump::answer(args, no_color, None, messages);
    }
    let question = overview::Question::usual(&mut |warning| messages.warning(warning))?;
    let chosen = printer.choose(&question.columns())?;
    let Some(sources) = sources::sources(&args.files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
    match sources.list.as_slice() {
        [source] if !wants_columns(&args.output) => {
            let failed = |error: &dyn std::error::Error| Failure::new(&source.shown, error).reason;
            let overview = || OpenRecording::open(source).and_then(|recording| question.overview(&recording));
            let overview = answered(1, overview)?.map_err(|error| messages.error(&failed(&error)));
            let Ok(overview) = overview else { return Ok(Exit::NothingUsable) };
            printer.target().write(|out| Ok(screen::write(out, &overview, printer.style(), args.output.wide)?))?;
            Ok(Exit::of(1, sources.failed))
        }
        _ => {
            let shown = printer.shown(&chosen);
            dump::ask_sources(&sources, &when, &question, (&chosen, shown), in_one_table, &printer, messages)
        }
    }
}

/// Whether the table is asked for in another form than the screen of one recording.
fn wants_columns(output: &OutputArgs) -> bool {
    output.details || !output.columns.is_empty()
}

/// A line per recording: without a heading for each of them, and what was lost is in a column.
fn in_one_table(answer: &mut Answer) {
    let sections = std::mem::take(&mut answer.sections);
    let title = if sections.len() == 1 { "1 recording".to_owned() } else { format!("{} recordings", sections.len()) };
    let notes = vec!["`tracesift overview FILE` shows one of them on a screen".to_owned()];
    let rows = sections.into_iter().flat_map(|section| section.rows).collect();
    answer.sections = vec![Section { title, rows, notes, ..Section::default() }];
}
