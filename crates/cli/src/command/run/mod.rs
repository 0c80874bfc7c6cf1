//! `run`: the test runner.

mod against;
mod columns;
mod keep;

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
    self, Account, Begun, Event, Extraction, Kind, Plan, PlanError, Problem, Run, Settings, Spread, State, overhead,
    summaries,
};

use self::against::{Against, Told, say_session};
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
    args.check()?;
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
    let mut against = match args.comparison_format()? {
        Some(format) => match Against::of(args, format, &plan, messages)? {
            Some(against) => Some(against),
            None => return Ok(Exit::NothingUsable),
        },
        None => None,
    };
    if !args.dry_run && !args.table {
        std::fs::create_dir_all(&plan.out).with_context(|| plan.out.display().to_string())?;
    }
    let mut state = State::of(&plan.out)?;
    if let Some(against) = &against {
        let begun: Begun = state.begin_session(&plan);
        say_session(begun, &state, &against.earlier(&plan, &state), messages);
    }
    if args.dry_run {
        return dry_run(&plan, &state, messages);
    }
    let ended = if args.table { Ended::Whole } else { execute(args, &plan, &mut state, against.as_ref(), messages)? };
    let told = match &mut against {
        Some(against) if ended == Ended::Whole => Some(against.tell(&plan, &state, messages)?),
        _ => None,
    };
    match (&told, &against) {
        (Some(Told::First(compared)), Some(against)) => {
            messages.note("these cases have no earlier runs to compare with; the next call compares with these");
            against.tell_first(compared)?;
            if !against.is_for_programs() {
                table(&plan, &state, &printer, messages)?;
            }
        }
        (Some(Told::Compared(..)), _) => {}
        _ => table(&plan, &state, &printer, messages)?,
    }
    if ended == Ended::Whole {
        finish(args, &plan, &mut state, told.as_ref(), messages)?;
    }
    Ok(exit(ended, &state, told.as_ref(), messages))
}

/// Recordings that are not needed go. A session of which no run has the window is not whole: the next line compares them by another one.
fn finish(
    args: &PlanArgs,
    plan: &Plan,
    state: &mut State,
    told: Option<&Told>,
    messages: &Messages,
) -> anyhow::Result<()> {
    let (compared, is_compared) = match told {
        Some(Told::Compared(compared, _)) => {
            (Some(compared), !compared.cases.is_empty() || compared.failures.is_empty())
        }
        Some(Told::First(_)) => (None, true),
        None => (None, false),
    };
    if is_compared || told.is_none() {
        keep::remove(args.keep, plan, state, compared, messages);
    }
    if is_compared {
        state.end_session()?;
    }
    Ok(())
}

/// A gate that was not kept weighs most; tests that failed are no success.
fn exit(ended: Ended, state: &State, told: Option<&Told>, messages: &Messages) -> Exit {
    let counts = |run: &Run| state.session().is_none_or(|session| run.session == session);
    let failed = state.runs.iter().any(|run| counts(run) && run.finished.failure.is_some());
    let compared = match told {
        Some(Told::Compared(_, exit)) => *exit,
        Some(Told::First(_)) | None => Exit::Fine,
    };
    match ended {
        Ended::Whole if failed && matches!(compared, Exit::Fine | Exit::NothingUsable) => Exit::SomeFailed,
        Ended::Whole => compared,
        Ended::Interrupted => {
            messages.note("interrupted; the same line goes on where it was");
            Exit::SomeFailed
        }
        Ended::Failed => Exit::NothingUsable,
    }
}

/// How the runs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    // Those of other sessions are as large.
    let all = plan.cases.iter().flat_map(|case| state.runs_of_any_session(case, Kind::Recorded));
    let sizes: Vec<u64> =
        all.filter_map(|run| Some(state.directory().join(run.recording.as_ref()?).metadata().ok()?.len())).collect();
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

fn execute(
    args: &PlanArgs,
    plan: &Plan,
    state: &mut State,
    against: Option<&Against<'_>>,
    messages: &Messages,
) -> anyhow::Result<Ended> {
    say_room(plan, state, messages);
    let cancel = Arc::new(AtomicBool::new(false));
    tracesift_record::interrupt::watch(&cancel).context("cannot watch for Ctrl-C")?;
    let extraction = if args.no_extract { None } else { Some(Extraction::by(extractor(args)?)) };
    if let Some(extraction) = &extraction {
        // An interrupted run may have left some, and runs outside of sessions may have none.
        let earlier = against.map(|against| against.earlier(plan, state)).unwrap_or_default();
        let own = plan.cases.iter().flat_map(|case| state.runs_of(case, Kind::Recorded));
        for recording in unextracted(own.chain(earlier), state) {
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

fn unextracted<'s>(runs: impl Iterator<Item = &'s Run>, state: &State) -> Vec<PathBuf> {
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
