//! `history`: the runs of a test in the order of time.

use anyhow::Context as _;
use tracesift_ask::history::{History, RunsOrder, history};

use crate::args::{HistoryArgs, ReportFormat};
use crate::command::sources::sources;
use crate::exit::Exit;
use crate::output::target::Target;
use crate::output::{history as text, history_json as json, history_report as report};
use crate::terminal::Messages;
use crate::watching::answered;

/// Shows the histories of all cases.
pub(crate) fn run(args: &HistoryArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    // Archives of recordings that were extracted for this are there as long as these.
    let Some(sources) = sources(&args.files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
    let found = answered(sources.list.len(), || history(&sources.list, args.order(), &accounts, &args.settings()))??;
    say_what_is_left_out(&found, args.order(), messages);
    let failed = sources.failed + found.failures.len() + found.without_place.len();
    if found.cases.is_empty() {
        return Ok(Exit::NothingUsable);
    }
    let target = match &args.output.out {
        Some(path) => Target::File(path.clone()),
        None => Target::Stdout,
    };
    let text = match args.output.format() {
        ReportFormat::Table => text::text(&found, args.output.details),
        ReportFormat::Json => json::text(&found),
        ReportFormat::Html => report::text(&found),
    };
    target.write(|out| Ok(out.write_all(text.as_bytes())?)).context("the history cannot be written")?;
    Ok(Exit::of(found.cases.len(), failed))
}

fn say_what_is_left_out(found: &History, order: &RunsOrder, messages: &Messages) {
    found.failures.iter().for_each(|failure| messages.error(&failure.reason));
    let runs = |names: &[String]| match names {
        [name] => format!("1 run left out, {name},"),
        [first, ..] => format!("{} runs left out, such as {first},", names.len()),
        [] => String::new(),
    };
    if !found.failed.is_empty() {
        messages.warning(&format!("{} because the test failed", runs(&found.failed)));
    }
    if !found.without_place.is_empty() {
        let why = match order {
            RunsOrder::Time => "because neither the recording nor its name tells a time",
            RunsOrder::Version(_) => "because the recording does not tell the version of the module",
        };
        messages.warning(&format!("{} {why}", runs(&found.without_place)));
    }
}
