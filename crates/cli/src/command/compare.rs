//! `compare`: two sets of runs of a test.

use anyhow::Context as _;
use tracesift_ask::compare::{Compared, Set, compare};

use crate::args::CompareArgs;
use crate::args::compare::ComparisonFormat;
use crate::command::sources::{Sources, sources};
use crate::exit::{Exit, UsageError};
use crate::output::target::Target;
use crate::output::{comparison, comparison_json};
use crate::terminal::Messages;

/// Compares.
pub(crate) fn run(args: &CompareArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    let mut found: Vec<(String, Sources)> = Vec::new();
    for (label, files) in args.sets()? {
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
        found.push((label, sources));
    }
    let mut failed: usize = found.iter().map(|(_, sources)| sources.failed).sum();
    let sets: Vec<Set> =
        found.iter().map(|(label, sources)| Set { label: label.clone(), sources: sources.list.clone() }).collect();
    let sets: [Set; 2] = sets.try_into().map_err(|_| UsageError::new("two sets of runs are compared", "name two"))?;
    let compared = compare(&sets, &accounts, &args.settings())?;
    compared.failures.iter().for_each(|failure| messages.error(&failure.reason));
    failed += compared.failures.len();
    for (case, place) in &compared.unpaired {
        messages.warning(&format!("{case} is in {} only", compared.labels[*place]));
    }
    if compared.cases.is_empty() {
        if failed == 0 {
            messages.error("no test case is in both sets");
            messages.hint("the case is the test that the name of the file begins with: tracesift dump testrun");
        }
        return Ok(Exit::NothingUsable);
    }
    print(&compared, args)?;
    Ok(exit(&compared, failed))
}

fn print(compared: &Compared, args: &CompareArgs) -> anyhow::Result<()> {
    let target = match &args.output.out {
        Some(path) => Target::File(path.clone()),
        None => Target::Stdout,
    };
    let text = match args.output.format() {
        ComparisonFormat::Table => comparison::text(compared, args.output.details),
        ComparisonFormat::Json => comparison_json::text(compared),
    };
    target.write(|out| Ok(out.write_all(text.as_bytes())?)).context("the comparison cannot be written")
}

/// Runs that cannot be compared are no answer.
fn exit(compared: &Compared, failed: usize) -> Exit {
    let usable = compared.cases.iter().filter(|case| case.result.is_some()).count();
    Exit::of(usable, failed)
}
