//! The comparison that follows the runs of a plan.

use std::collections::BTreeSet;
use std::path::Path;

use tracesift_ask::Reads;
use tracesift_ask::command_line;
use tracesift_ask::compare::grouping::Grouping;
use tracesift_ask::compare::{self, Compared, Set, Settings, sets};
use tracesift_ask::path::AccountQuery;
use tracesift_ask::recording::Source;
use tracesift_ask::recording_label::path_text;
use tracesift_record::runner::{Begun, Kind, Plan, Run, State};

use crate::args::ReportFormat;
use crate::args::run::{LoopArgs, PlanArgs};
use crate::args::{CompareArgs, FileArgs, RunArgs};
use crate::command::compare::baseline_of;
use crate::command::compare::report::{Measured, Report, say_what_is_left_out};
use crate::command::sources::FoundFiles;
use crate::exit::{Exit, UsageError};
use crate::terminal::Messages;
use crate::watching::{answered, watch};

/// The set of the runs that were made now.
const NEW: &str = "new";

/// The word for the runs of the session before, and the set of them.
const LAST: &str = "last";

/// The comparison of the runs that a call makes.
pub(super) struct Against<'a> {
    report: Report<'a>,
    accounts: AccountQuery,
    settings: Settings,
    other: Other,
}

/// What the new runs are compared with.
enum Other {
    /// The runs of the session before.
    Last,
    /// Runs that were measured before.
    Measured(Set),
    /// Archives, found before the first run: those of the new runs are not among them.
    Files(String, Option<FoundFiles>),
    /// The new runs, divided in two.
    Each(Grouping),
}

/// How a comparison ended.
pub(super) enum Told {
    /// There is nothing to compare with yet.
    First(Compared),
    /// It is printed.
    Compared(Compared, Exit),
}

impl<'a> Against<'a> {
    /// The comparison that the arguments ask for, with all that can be known before the first run. `Ok(None)`: there is nothing to
    /// compare with, and that was said.
    pub(super) fn of(
        args: &'a PlanArgs,
        format: ReportFormat,
        plan: &Plan,
        messages: &Messages,
    ) -> anyhow::Result<Option<Self>> {
        let LoopArgs { filter, account, test, gates, .. } = &args.comparison;
        let report =
            Report { gates, format, out: args.output.out.as_deref(), details: args.output.details, stacks: false };
        report.check()?;
        let accounts = test.accounts(account, filter, &mut |warning| messages.warning(warning))?;
        let settings = test.settings();
        let Some(other) = other(&args.comparison, plan, &accounts, &settings, messages)? else { return Ok(None) };
        Ok(Some(Self { report, accounts, settings, other }))
    }

    /// The runs of a case before this session, if it is compared with them.
    pub(super) fn earlier<'s>(&self, plan: &Plan, state: &'s State) -> Vec<&'s Run> {
        match self.other {
            Other::Last => plan.cases.iter().flat_map(|case| state.earlier(case)).collect(),
            _ => Vec::new(),
        }
    }

    /// Compares the new runs, and prints the answer.
    pub(super) fn tell(&mut self, plan: &Plan, state: &State, messages: &Messages) -> anyhow::Result<Told> {
        let new: Vec<&Run> = plan.cases.iter().flat_map(|case| state.runs_of(case, Kind::Recorded)).collect();
        let earlier = self.earlier(plan, state);
        if matches!(self.other, Other::Last) && earlier.is_empty() {
            let unpaired = plan.cases.iter().map(|case| (case.name.clone(), NEW.to_owned())).collect();
            return Ok(Told::First(Compared { unpaired, ..Compared::default() }));
        }
        let sources = sources(&new, state);
        let mut failed = new.len() - sources.len();
        // Archives of recordings that were extracted for this are there as long as these.
        let mut opened = None;
        let (accounts, settings) = (&self.accounts, &self.settings);
        let mut all = sources.clone();
        let mut compared = match &mut self.other {
            Other::Each(grouping) => {
                answered(sources.len(), || compare::compare_by(&sources, grouping, accounts, settings))??
            }
            other => {
                let first = match other {
                    Other::Measured(set) => set.clone(),
                    Other::Files(label, found) => {
                        let found = found.take().map(|found| found.open(Reads::Everything, messages)).transpose()?;
                        let found = opened.insert(found).as_ref();
                        failed += found.map_or(0, |found| found.failed);
                        let sources = found.map(|found| found.list.clone()).unwrap_or_default();
                        all.extend(sources.iter().cloned());
                        Set { label: label.clone(), sources, ..Set::default() }
                    }
                    _ => {
                        let sources = self::sources(&earlier, state);
                        all.extend(sources.iter().cloned());
                        Set { label: LAST.to_owned(), sources, ..Set::default() }
                    }
                };
                let both = [first, Set { label: NEW.to_owned(), sources, ..Set::default() }];
                let archives = both.iter().map(|set| set.sources.len()).sum();
                answered(archives, || compare::compare(&both, accounts, settings))??
            }
        };
        failed += compared.failures.len();
        say_what_is_left_out(&compared, messages);
        let measured = Measured { sources: &all, accounts, settings };
        let exit = self.report.tell(&mut compared, failed, &measured, messages)?;
        if self.report.is_for_people() && !compared.cases.is_empty() {
            say_how_to_ask_again(&earlier, state, messages);
        }
        Ok(Told::Compared(compared, exit))
    }

    /// The files for builds of a first session, in which no case has a counterpart; and the answer, if programs read it.
    pub(super) fn tell_first(&self, compared: &Compared) -> anyhow::Result<()> {
        if self.report.format == ReportFormat::Json {
            let measured = Measured { sources: &[], accounts: &self.accounts, settings: &self.settings };
            return self.report.print(compared, &measured);
        }
        self.report.write_files(compared)
    }

    /// Whether programs read the answer.
    pub(super) fn is_for_programs(&self) -> bool {
        self.report.format == ReportFormat::Json
    }
}

/// What the new runs are compared with. `Ok(None)`: it is not there, and that was said.
fn other(
    args: &LoopArgs,
    plan: &Plan,
    accounts: &AccountQuery,
    settings: &Settings,
    messages: &Messages,
) -> anyhow::Result<Option<Other>> {
    if let Some(by) = &args.by {
        by.check(plan.cases.iter().map(|case| case.values.as_slice())).map_err(|said| {
            UsageError::new(format!("--by: {said}"), "name a parameter of `matrix` and two of its values")
        })?;
        return Ok(Some(Other::Each(Grouping::By(Box::new(by.clone())))));
    }
    let named = args.against.as_deref().unwrap_or(LAST);
    if named == LAST {
        return Ok(Some(Other::Last));
    }
    let set = sets::one(named, Path::exists);
    // Of a file, or of files that no directory names, `A` says nothing beside `new`.
    let label = if set.label == "A" { "before".to_owned() } else { set.label };
    if label == NEW {
        let hint = format!("give the others another name: --against old={named}");
        return Err(UsageError::new("the set of the new runs is called new", hint).into());
    }
    let files = FileArgs { paths: set.arguments, file: Vec::new(), recursive: false };
    if let Some(path) = CompareArgs::baseline(&files) {
        let runs = baseline_of(&path, accounts, settings.measure, messages);
        return Ok(runs.map(|measured| Other::Measured(Set { label, measured, ..Set::default() })));
    }
    let found = FoundFiles::find(&files, &RunArgs::default(), messages).filter(|found| !found.is_empty());
    Ok(found.map(|found| Other::Files(label, Some(found))))
}

/// The archives of runs. Extracts that failed have none.
fn sources(runs: &[&Run], state: &State) -> Vec<Source> {
    let archives = runs.iter().filter_map(|run| run.archive(state.directory())).filter(|archive| archive.exists());
    archives.map(|archive| Source::archive(archive).watched_by(watch())).collect()
}

/// Says which runs are made, and with which they are compared.
pub(super) fn say_session(begun: Begun, state: &State, earlier: &[&Run], messages: &Messages) {
    let number = state.session().unwrap_or(0);
    match begun {
        Begun::New => messages.note(&format!("session {number}: all cases run anew")),
        Begun::Continued => messages.note(&format!("session {number} goes on where it was interrupted")),
        Begun::Changed => messages.note(&format!(
            "session {number}: all cases run anew, as a program or the plan has changed since session {} was interrupted",
            number.saturating_sub(1)
        )),
    }
    let sessions: BTreeSet<u32> = earlier.iter().map(|run| run.session).collect();
    if !sessions.is_empty() {
        let runs = if earlier.len() == 1 { "1 run".to_owned() } else { format!("{} runs", earlier.len()) };
        let word = if sessions.len() == 1 { "session" } else { "sessions" };
        let numbers = sessions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        messages.note(&format!("they are compared with {runs} of {word} {numbers}"));
    }
}

/// The command that compares the same runs once more, if one session has all others.
fn say_how_to_ask_again(earlier: &[&Run], state: &State, messages: &Messages) {
    let (Some(first), Some(now)) = (earlier.first(), state.session()) else { return };
    if earlier.iter().all(|run| run.session == first.session) {
        let directory = path_text(&super::shown(state.directory()));
        let sessions = format!("session:{}..{now}", first.session);
        messages.next(&command_line::line(["tracesift", "compare", &directory, "--by", &sessions]));
    }
}
