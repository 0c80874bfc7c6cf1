//! `explain`: where the time of a test went, and which known causes a recording has.

use anyhow::Context as _;
use tracesift_ask::explain::{Explanation, explain_all};

use crate::args::{ExplainArgs, ReportFormat};
use crate::command::sources::sources;
use crate::exit::Exit;
use crate::output::target::Target;
use crate::output::{explanation, explanation_json, explanation_report};
use crate::terminal::Messages;
use crate::watching::answered;

/// Explains.
pub(crate) fn run(args: &ExplainArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    let Some(sources) = sources(&args.files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
    let (explanations, failures) = answered(sources.list.len(), || explain_all(&sources.list, &accounts))?;
    failures.iter().for_each(|failure| messages.error(&failure.reason));
    if !explanations.is_empty() {
        print(&explanations, args)?;
    }
    Ok(Exit::of(explanations.len(), sources.failed + failures.len()))
}

fn print(explanations: &[Explanation], args: &ExplainArgs) -> anyhow::Result<()> {
    let target = match &args.output.out {
        Some(path) => Target::File(path.clone()),
        None => Target::Stdout,
    };
    let text = match args.output.format() {
        ReportFormat::Table => explanation::text(explanations),
        ReportFormat::Json => explanation_json::text(explanations),
        ReportFormat::Html => explanation_report::text(explanations),
    };
    target.write(|out| Ok(out.write_all(text.as_bytes())?)).context("the explanation cannot be written")
}
