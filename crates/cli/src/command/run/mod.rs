//! `run`: the test runner.

mod columns;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use tracesift_ask::answer::{Answer, Fact, Kind as Figure, Layout, Section, descriptions, values};
use tracesift_ask::limit::Limit;
use tracesift_grammar::Patterns;
use tracesift_record::disk_space::{self, Growth};
use tracesift_record::runner::{
    self, Account, Event, Extraction, Kind, Plan, PlanError, Problem, Run, Settings, Spread, State, overhead, summaries,
};

use self::columns::COLUMNS;
use crate::args::run::PlanArgs;
use crate::command::extract::size;
use crate::command::printer::Printer;
use crate::command::record::status::growth;
use crate::exit::Exit;
use crate::terminal::Messages;

/// Seconds that every test is expected to take.
const SHORT_TEST: u64 = 10;

/// Runs a plan, or shows what has been run.
pub(crate) fn run(args: &PlanArgs, no_color: bool, messages: &Messages) -> anyhow::Result<Exit> {
    // Wrong columns are told of before hours of tests.
    let printer = Printer::new(&args.output, no_color, messages)?;
    printer.check(&descriptions(COLUMNS))?;
    let plan = match plan(args) {
        Ok(plan) => plan,
        Err(error) => {
            messages.error(&error.to_string());
            return Ok(if matches!(error, PlanError::File { .. }) { Exit::NothingUsable } else { Exit::Usage });
        }
    };
    if plan.cases.is_empty() {
        messages.error("no case of the plan matches --only");
        return Ok(Exit::NothingUsable);
    }
    if !args.dry_run && !args.table {
        std::fs::create_dir_all(&plan.out).with_context(|| plan.out.display().to_string())?;
    }
    let mut state = State::of(&plan.out)?;
    if args.dry_run {
        return dry_run(&plan, &state, messages);
    }
    let ended = if args.table { Ended::Whole } else { execute(args, &plan, &mut state, messages)? };
    table(&plan, &state, &printer, messages)?;
    let failed = state.runs.iter().any(|run| run.finished.failure.is_some());
    Ok(match ended {
        Ended::Whole if failed => Exit::SomeFailed,
        Ended::Whole => Exit::Fine,
        Ended::Interrupted => {
            messages.note("interrupted; the same line goes on where it was");
            Exit::SomeFailed
        }
        Ended::Failed => Exit::NothingUsable,
    })
}

enum Ended {
    Whole,
    Interrupted,
    Failed,
}

fn plan(args: &PlanArgs) -> Result<Plan, PlanError> {
    let mut plan = Plan::read(&args.plan)?;
    if let Some(directory) = &args.directory {
        plan.out.clone_from(directory);
    }
    let only = Patterns::parse(&args.only);
    plan.cases.retain(|case| only.matches(&case.name));
    Ok(plan)
}

/// What is left, one line per run.
fn dry_run(plan: &Plan, state: &State, messages: &Messages) -> anyhow::Result<Exit> {
    for case in &plan.cases {
        let done = state.runs_of(case, Kind::Recorded).count();
        let bare =
            if case.overhead > 0 { format!(", {} more without a recorder", case.overhead) } else { String::new() };
        let runs = if case.repetitions == 1 { "1 run".to_owned() } else { format!("{} runs", case.repetitions) };
        messages.note(&format!("{}: {runs}{bare}, {done} done: {}", case.name, case.command.join(" ")));
    }
    say_room(plan, state, messages);
    Ok(Exit::Fine)
}

/// How large the recordings that are left will be, and whether there is room for them.
fn say_room(plan: &Plan, state: &State, messages: &Messages) {
    let done = || plan.cases.iter().flat_map(|case| state.runs_of(case, Kind::Recorded));
    let wanted = plan.cases.iter().fold(0_u64, |sum, case| sum.saturating_add(case.repetitions.into()));
    let left = wanted.saturating_sub(done().count() as u64);
    if left == 0 {
        return;
    }
    let room = disk_space::left(&plan.out);
    let free = room.map(|room| format!("; {} are free", size(room))).unwrap_or_default();
    let sizes: Vec<u64> =
        done().filter_map(|run| Some(state.directory().join(run.recording.as_ref()?).metadata().ok()?.len())).collect();
    let recordings = if left == 1 { "1 recording is left".to_owned() } else { format!("{left} recordings are left") };
    // Those that are there tell best how large the others will be.
    let needed = match sizes.iter().sum::<u64>().checked_div(sizes.len() as u64) {
        Some(mean) => {
            let needed = mean.saturating_mul(left);
            messages.note(&format!("{recordings}, about {} in all by those that are there{free}", size(needed)));
            needed
        }
        None => {
            let Growth { least, most } = growth(&plan.options);
            messages.note(&format!(
                "{recordings}, each of about {} to {} per second of its test{free}",
                size(least),
                size(most)
            ));
            most.saturating_mul(left).saturating_mul(SHORT_TEST)
        }
    };
    if room.is_some_and(|room| room < needed) {
        messages.warning("the recordings may not fit: free some room, or choose another directory with --directory");
    }
}

fn execute(args: &PlanArgs, plan: &Plan, state: &mut State, messages: &Messages) -> anyhow::Result<Ended> {
    say_room(plan, state, messages);
    let cancel = Arc::new(AtomicBool::new(false));
    tracesift_record::interrupt::watch(&cancel).context("cannot watch for Ctrl-C")?;
    let extraction = if args.no_extract { None } else { Some(Extraction::by(extractor(args)?)) };
    if let Some(extraction) = &extraction {
        // An interrupted run may have left some.
        for recording in unextracted(plan, state) {
            extraction.add(&recording);
        }
    }
    let settings = Settings { cancel: Arc::clone(&cancel), extraction: extraction.as_ref() };
    let mut left = 0;
    let result = runner::run(plan, state, &settings, &mut |event| say(event, &mut left, messages));
    let problem = result.err();
    if let Some(problem) = &problem {
        messages.error(&problem.to_string());
        if let Problem::Record(error) = problem
            && let Some(hint) = error.hint()
        {
            messages.hint(&hint);
        }
    }
    if let Some(extraction) = extraction {
        let waiting = extraction.left();
        if waiting > 0 && !cancel.load(Ordering::Relaxed) {
            messages.note(&format!("extracting what is left: {waiting}"));
        }
        for (recording, said) in extraction.finish(&cancel) {
            messages.warning(&format!("{} is not extracted: {said}", recording.display()));
        }
    }
    Ok(match problem {
        _ if cancel.load(Ordering::Relaxed) => Ended::Interrupted,
        Some(_) => Ended::Failed,
        None => Ended::Whole,
    })
}

/// This program once more, for one recording at a time.
fn extractor(args: &PlanArgs) -> anyhow::Result<Vec<OsString>> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    Ok(vec![program.into(), "extract".into(), "--symbols".into(), args.symbols.clone().into(), "--".into()])
}

fn unextracted(plan: &Plan, state: &State) -> Vec<PathBuf> {
    let runs = plan.cases.iter().flat_map(|case| state.runs_of(case, Kind::Recorded));
    let missing = runs.filter(|run| run.archive(state.directory()).is_some_and(|archive| !archive.exists()));
    missing.filter_map(|run| Some(state.directory().join(run.recording.as_ref()?))).collect()
}

/// One line per run.
fn say(event: Event<'_>, left: &mut usize, messages: &Messages) {
    match event {
        Event::Begins { done, left: count } => {
            *left = count;
            if done > 0 {
                messages.note(&format!("{done} runs are there already, {count} are left"));
            }
        }
        Event::Run { number, case, kind } => {
            let how = if kind == Kind::Bare { " without a recorder" } else { "" };
            messages.note(&format!("{number}/{left} {}{how}", case.name));
        }
        Event::Ended(run) => {
            let ms = (run.finished.duration_ns + 500_000) / 1_000_000;
            match &run.finished.failure {
                None => messages.note(&format!("    {ms} ms")),
                Some(failure) => messages.warning(&format!("{} failed after {ms} ms: {failure}", run.case)),
            }
        }
        Event::Warning(text) => messages.warning(&text),
    }
}

/// The table at the end.
fn table(plan: &Plan, state: &State, printer: &Printer, messages: &Messages) -> anyhow::Result<()> {
    let mut without: HashMap<String, usize> = HashMap::new();
    let mut account = |run: &Run| {
        let archive = run.archive(state.directory()).filter(|archive| archive.exists())?;
        match Account::of(&archive, run.pid?, run.finished.cold) {
            Ok(account) => Some(account),
            Err(error) => {
                *without.entry(error.to_string()).or_default() += 1;
                None
            }
        }
    };
    let rows = summaries(plan, state, &mut account);
    for (why, runs) in without {
        messages.warning(&format!("figures of {runs} recordings are missing: {why}"));
    }
    let section = Section {
        title: shown(&plan.out).display().to_string(),
        facts: overhead(&rows).map(cost).into_iter().collect(),
        warnings: rows.iter().flat_map(|row| row.warnings.iter().cloned().map(Limit::from)).collect(),
        rows: values(COLUMNS, &rows),
        ..Section::default()
    };
    printer.print(Answer {
        question: "run",
        columns: descriptions(COLUMNS),
        layout: Layout::Rows,
        sorted: None,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    })
}

/// A directory as one would name it from here: a plan's own way to it leads over the plan.
fn shown(directory: &Path) -> PathBuf {
    let whole = std::fs::canonicalize(directory);
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    match (whole, here) {
        (Ok(whole), Ok(here)) => whole.strip_prefix(here).map_or_else(|_| directory.to_owned(), Path::to_owned),
        _ => directory.to_owned(),
    }
}

/// What recording costs, in words.
fn cost(overhead: Spread) -> Fact {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let Spread { median, least, most } = overhead;
    let text = match least < most {
        true => format!("{} % (median over the cases, {} to {})", percent(median), percent(least), percent(most)),
        false => format!("{} %", percent(median)),
    };
    Fact::new("recording costs", Figure::Text, text)
}
