//! `compare`: two sets of runs of a test.

pub(crate) mod report;

use std::path::Path;

use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Measure, Set, baseline, compare, compare_by};
use tracesift_ask::path::AccountQuery;
use tracesift_ask::recording::Source;

use self::report::{Measured, Report, write};
use crate::args::CompareArgs;
use crate::command::sources::{Sources, sources};
use crate::exit::Exit;
use crate::output::target::Target;
use crate::terminal::Messages;
use crate::watching::answered;

/// Compares.
pub(crate) fn run(args: &CompareArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let output = &args.output;
    let report = Report {
        gates: &args.gates,
        format: output.format(),
        out: output.out.as_deref(),
        details: output.details,
        stacks: output.stacks,
    };
    report.check()?;
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    let settings = args.test.settings();
    // Archives of recordings that were extracted for this are there as long as these.
    let mut found: Vec<Sources> = Vec::new();
    let mut has_two_sets = true;
    let mut compared = if let Some((grouping, files)) = args.grouping() {
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
        let compared = answered(sources.list.len(), || compare_by(&sources.list, &grouping, &accounts, &settings))??;
        found.push(sources);
        compared
    } else {
        let Some(sets) = sets(args, &accounts, &mut found, messages)? else { return Ok(Exit::NothingUsable) };
        has_two_sets = sets.len() > 1;
        let archives = sets.iter().map(|set| set.sources.len()).sum();
        answered(archives, || compare(&sets, &accounts, &settings))??
    };
    let failed = found.iter().map(|sources| sources.failed).sum::<usize>() + compared.failures.len();
    report::say_what_is_left_out(&compared, messages);
    if let Some(path) = &args.save_baseline {
        if compared.last.is_empty() {
            return Ok(Exit::NothingUsable);
        }
        write(&Target::File(path.clone()), &baseline::write(&compared.last, &accounts, settings.measure))?;
        if !has_two_sets {
            return Ok(Exit::of(compared.last.len(), failed));
        }
    }
    let sources: Vec<Source> = found.iter().flat_map(|sources| sources.list.iter().cloned()).collect();
    let measured = Measured { sources: &sources, accounts: &accounts, settings: &settings };
    report.tell(&mut compared, failed, &measured, messages)
}

/// The sets that are named. `None`: there is nothing in one of them, or a baseline is refused, and that was said.
fn sets(
    args: &CompareArgs,
    accounts: &AccountQuery,
    found: &mut Vec<Sources>,
    messages: &Messages,
) -> anyhow::Result<Option<Vec<Set>>> {
    let mut sets: Vec<Set> = Vec::new();
    for (label, files) in args.sets()? {
        if let Some(path) = CompareArgs::baseline(&files) {
            let Some(measured) = baseline_of(&path, accounts, args.test.measure(), messages) else { return Ok(None) };
            sets.push(Set { label, measured, ..Set::default() });
            continue;
        }
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(None) };
        sets.push(Set { label, sources: sources.list.clone(), ..Set::default() });
        found.push(sources);
    }
    Ok(Some(sets))
}

/// The runs of a baseline. `None`: it is refused, and that was said.
pub(crate) fn baseline_of(
    path: &Path,
    accounts: &AccountQuery,
    measure: Measure,
    messages: &Messages,
) -> Option<Vec<Run>> {
    baseline::read(path, accounts, measure)
        .map_err(|error| messages.error(&format!("{}: {error}", path.display())))
        .ok()
}
