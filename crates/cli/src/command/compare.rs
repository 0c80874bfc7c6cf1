//! `compare`: two sets of runs of a test.

use anyhow::Context as _;
use tracesift_ask::compare::{Compared, Set, compare, compare_by};

use crate::args::CompareArgs;
use crate::args::compare::ComparisonFormat;
use crate::command::sources::{Sources, sources};
use crate::exit::Exit;
use crate::output::target::Target;
use crate::output::{comparison, comparison_json};
use crate::terminal::Messages;
use crate::watching::answered;

/// Compares.
pub(crate) fn run(args: &CompareArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    // Archives of recordings that were extracted for this are there as long as these.
    let mut found: Vec<Sources> = Vec::new();
    let compared = if let Some((grouping, files)) = args.grouping() {
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
        let compared =
            answered(sources.list.len(), || compare_by(&sources.list, &grouping, &accounts, &args.settings()))??;
        found.push(sources);
        compared
    } else {
        let mut sets: Vec<Set> = Vec::new();
        for (label, files) in args.sets()? {
            let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
            sets.push(Set { label, sources: sources.list.clone() });
            found.push(sources);
        }
        let archives = sets.iter().map(|set| set.sources.len()).sum();
        answered(archives, || compare(&sets, &accounts, &args.settings()))??
    };
    let failed = found.iter().map(|sources| sources.failed).sum::<usize>() + compared.failures.len();
    say_what_is_left_out(&compared, messages);
    if compared.cases.is_empty() {
        if failed == 0 && (!compared.unpaired.is_empty() || compared.neither > 0) {
            messages.error("no test case is in two sets");
            messages.hint(
                compared
                    .found
                    .as_deref()
                    .unwrap_or("the case is the test that the name of the file begins with: tracesift dump testrun"),
            );
        }
        return Ok(Exit::NothingUsable);
    }
    print(&compared, args)?;
    Ok(exit(&compared, failed))
}

fn say_what_is_left_out(compared: &Compared, messages: &Messages) {
    compared.failures.iter().for_each(|failure| messages.error(&failure.reason));
    for (case, label) in &compared.unpaired {
        messages.warning(&format!("{case} is in {label} only"));
    }
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    if !compared.failed.is_empty() {
        let (count, first) = (compared.failed.len(), compared.failed.first().map_or("", String::as_str));
        messages.warning(&format!("{} left out because the test failed, such as {first}", runs(count)));
    }
    if compared.neither > 0 {
        let belong = if compared.neither == 1 { "belongs" } else { "belong" };
        messages.warning(&format!("{} left out that {belong} to neither set", runs(compared.neither)));
    }
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
