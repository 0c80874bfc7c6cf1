//! `compare`: two sets of runs of a test.

use anyhow::Context as _;
use tracesift_ask::compare::gates::GateState;
use tracesift_ask::compare::{Compared, Set, baseline, compare, compare_by};
use tracesift_ask::path::AccountQuery;

use crate::args::CompareArgs;
use crate::args::compare::ComparisonFormat;
use crate::command::sources::{Sources, sources};
use crate::exit::{Exit, UsageError};
use crate::output::target::Target;
use crate::output::{
    comparison, comparison_github, comparison_json, comparison_junit, comparison_markdown, comparison_report,
};
use crate::terminal::Messages;
use crate::watching::answered;

/// Compares.
pub(crate) fn run(args: &CompareArgs, messages: &Messages) -> anyhow::Result<Exit> {
    if args.gates.github && args.output.is_whole_on_stdout() {
        let hint = "name a file for the object with -o FILE.json";
        return Err(UsageError::new("--github prints lines to standard output, as does --format", hint).into());
    }
    let accounts = args.accounts(&mut |warning| messages.warning(warning))?;
    // Archives of recordings that were extracted for this are there as long as these.
    let mut found: Vec<Sources> = Vec::new();
    let mut has_two_sets = true;
    let mut compared = if let Some((grouping, files)) = args.grouping() {
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(Exit::NothingUsable) };
        let compared =
            answered(sources.list.len(), || compare_by(&sources.list, &grouping, &accounts, &args.settings()))??;
        found.push(sources);
        compared
    } else {
        let Some(sets) = sets(args, &accounts, &mut found, messages)? else { return Ok(Exit::NothingUsable) };
        has_two_sets = sets.len() > 1;
        let archives = sets.iter().map(|set| set.sources.len()).sum();
        answered(archives, || compare(&sets, &accounts, &args.settings()))??
    };
    let failed = found.iter().map(|sources| sources.failed).sum::<usize>() + compared.failures.len();
    say_what_is_left_out(&compared, messages);
    if let Some(path) = &args.save_baseline {
        if compared.last.is_empty() {
            return Ok(Exit::NothingUsable);
        }
        write(&Target::File(path.clone()), &baseline::write(&compared.last, &accounts, args.measure()))?;
        if !has_two_sets {
            return Ok(Exit::of(compared.last.len(), failed));
        }
    }
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
    compared.decide(&args.gates.fail_if, &args.settings())?;
    print(&compared, args)?;
    if args.output.is_for_programs() {
        say_gates(&compared, messages);
    }
    Ok(exit(&compared, failed, args.gates.strict))
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
            match baseline::read(&path, accounts, args.measure()) {
                Ok(measured) => sets.push(Set { label, measured, ..Set::default() }),
                Err(error) => {
                    messages.error(&format!("{}: {error}", path.display()));
                    return Ok(None);
                }
            }
            continue;
        }
        let Some(sources) = sources(&files, &args.runs, messages)? else { return Ok(None) };
        sets.push(Set { label, sources: sources.list.clone(), ..Set::default() });
        found.push(sources);
    }
    Ok(Some(sets))
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
    let is_seen_by_runner = args.gates.github && args.output.out.is_none();
    let text = match args.output.format() {
        ComparisonFormat::Table => comparison::text(compared, args.output.details),
        ComparisonFormat::Json => comparison_json::text(compared),
        ComparisonFormat::Html => comparison_report::text(compared),
    };
    let text = if is_seen_by_runner { comparison_github::shown(&text) } else { text };
    write(&target, &text)?;
    if args.gates.github {
        write(&Target::Stdout, &comparison_github::lines(compared))?;
    }
    if let Some(path) = &args.gates.junit {
        write(&Target::File(path.clone()), &comparison_junit::text(compared))?;
    }
    if let Some(path) = &args.gates.markdown {
        write(&Target::File(path.clone()), &comparison_markdown::text(compared))?;
    }
    Ok(())
}

fn write(target: &Target, text: &str) -> anyhow::Result<()> {
    target.write(|out| Ok(out.write_all(text.as_bytes())?)).context("the comparison cannot be written")
}

/// Names the gates that were not kept where no table for people does.
fn say_gates(compared: &Compared, messages: &Messages) {
    for case in &compared.cases {
        for gate in &case.gates {
            let text = format!("{}: the gate '{}' {}: {}", case.name, gate.text, said(gate.state), gate.reason);
            match gate.state {
                GateState::Passed => {}
                GateState::Failed => messages.error(&text),
                GateState::Undecided => messages.warning(&text),
            }
        }
    }
}

fn said(state: GateState) -> &'static str {
    match state {
        GateState::Passed => "passed",
        GateState::Failed => "failed",
        GateState::Undecided => "is undecided",
    }
}

/// A gate that failed weighs most. Runs that cannot be compared are no answer.
fn exit(compared: &Compared, failed: usize, is_strict: bool) -> Exit {
    let usable = compared.cases.iter().filter(|case| case.result.is_some()).count();
    if compared.gates_in(GateState::Failed) > 0 {
        return Exit::GateFailed;
    }
    let is_undecided = compared.gates_in(GateState::Undecided) > 0 || usable < compared.cases.len();
    if is_strict && is_undecided { Exit::GateUndecided } else { Exit::of(usable, failed) }
}
