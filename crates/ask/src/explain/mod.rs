//! What explains one recording: the account of its window, with disturbances by name, and the rules that it fits.
//!
//! ```text
//!  recording ──► account (crate::path) ──► figures ──► rules ──► findings ──► sentence
//! ```
//!
//! [`rules`] reads the list of rules, a text file in which each rule names its figures, its thresholds, a sentence and a command.
//! [`figures`] gets the figures: from the rows of the account, or from the answers of commands ([`crate::asked`]).
//! [`findings`] has the rules that fit, those with most time on the path first.

pub mod account;
pub mod figures;
pub mod findings;
mod limit;
pub mod places;
pub mod rules;

use rayon::prelude::*;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

pub use self::account::ExplainedAccount;
pub use self::findings::{Finding, Unlooked};
pub use self::places::Place;
pub use self::rules::RuleList;

use self::figures::Figures;
use self::findings::{Found, NO_TEST, shown_share};
use self::places::Seen;
use self::rules::{Look, Rule};
use crate::answer::Failure;
use crate::asked::gaps::{pids, time_of};
use crate::asked::{Amount, Gaps};
use crate::path::parties::family;
use crate::path::rows::too_little_is_known;
use crate::path::window::candidates;
use crate::path::{AccountQuery, Missing, WindowKind};
use crate::processes::Processes;
use crate::recording::{OpenRecording, Source, is_cancelled};

/// What explains a recording.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Path of the archive or recording.
    pub file: String,
    /// Name of the recording.
    pub name: String,
    /// Id of the recording.
    pub id: String,
    /// Version of the list of rules.
    pub rules_version: u32,
    /// Version of the list of disturbances.
    pub disturbances_version: u32,
    /// The account of the window, or the reason why there is none.
    pub account: Result<ExplainedAccount, String>,
    /// The rules that fit, the one that explains most time first.
    pub findings: Vec<Finding>,
    /// The rules that could not be looked at.
    pub unlooked: Vec<Unlooked>,
    /// What limits the figures.
    pub warnings: Vec<String>,
    /// The answer in a sentence or two.
    pub sentence: String,
}

/// Explains several archives, in the order in which they are named, and tells which have no explanation. If the watch of a source is
/// cancelled meanwhile, there is none, and [`Failure::cancelled`] is the only failure.
#[must_use]
pub fn explain_all(sources: &[Source], accounts: &AccountQuery) -> (Vec<Explanation>, Vec<Failure>) {
    let explain_one = |source: &Source| {
        let recording = OpenRecording::open(source).map_err(|error| Failure::new(&source.shown, &error))?;
        let explanation = explain(&recording, accounts);
        source.watch.archive_is_through();
        explanation
    };
    let results: Vec<Result<Explanation, Failure>> = sources.par_iter().map(explain_one).collect();
    let (mut explanations, mut failures) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(explanation) => explanations.push(explanation),
            Err(failure) => failures.push(failure),
        }
    }
    if is_cancelled(sources) { (Vec::new(), vec![Failure::cancelled()]) } else { (explanations, failures) }
}

/// Explains a recording.
///
/// # Errors
/// The archive cannot be read, has no such window, or has several.
pub fn explain(recording: &OpenRecording, accounts: &AccountQuery) -> Result<Explanation, Failure> {
    let (file, info) = (&recording.file, recording.info());
    let failure = |error: Error| Failure::new(&file.path, &error);
    let account = account_of(recording, accounts)?;
    let processes: Vec<ProcessRow> = recording.archive().rows().map_err(failure)?;
    let test = test_of(&processes, account.as_ref().ok(), accounts);
    if test.as_ref().is_some_and(Vec::is_empty) {
        let reason = format!("{}: nothing fits {}", file.name, accounts.windows.shown());
        return Err(Failure { path: file.path.clone(), reason });
    }
    let time = account.as_ref().map_or_else(|_| TimeRange::default(), |account| time_of(file, account.span()));
    let test_pids = pids(&processes, |process| test.iter().flatten().any(|of_test| *of_test == process));
    let gaps = Gaps::new(file, &test_pids, time, accounts);
    let list = RuleList::built_in();
    let mut figures = Figures::new(recording, account.as_ref().map_err(Clone::clone), test, time, gaps);
    let found = Found::by(list, &mut figures, info.kind != "perf", |_| true)?;
    let sentence = sentence(&file.name, account.as_ref().ok(), &found);
    Ok(Explanation {
        file: file.path_text(),
        name: file.name.clone(),
        id: info.id.clone(),
        rules_version: list.version,
        disturbances_version: accounts.disturbances.version(),
        findings: found.findings,
        unlooked: found.unlooked,
        warnings: file.warnings.iter().map(|limit| limit.text.clone()).collect(),
        sentence,
        account,
    })
}

/// The first finding of the rules that need neither an account nor much time.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn first_cheap(recording: &OpenRecording) -> Result<Option<Finding>, Failure> {
    let gaps = Gaps::new(&recording.file, &[], TimeRange::default(), &AccountQuery::default());
    let mut figures = Figures::new(recording, Err(String::new()), None, TimeRange::default(), gaps);
    let is_windows = recording.info().kind != "perf";
    let found = Found::by(RuleList::built_in(), &mut figures, is_windows, Rule::is_cheap)?;
    Ok(found.findings.into_iter().next())
}

impl Rule {
    /// Whether its figures are in the description of a recording, or in a small table of rare events.
    fn is_cheap(&self) -> bool {
        const SMALL: [&str; 2] = ["dns", "threadpool"];
        self.scope != rules::Scope::Test
            && self.conditions.iter().all(|condition| match &condition.look {
                Look::Account(_) => false,
                Look::Recording(_) => true,
                Look::Asked { words, .. } => words.get(1).is_some_and(|word| SMALL.contains(&word.as_str())),
            })
    }
}

/// The account of the only window, or the reason why the recording has none although nobody asked for a window that it lacks.
fn account_of(recording: &OpenRecording, accounts: &AccountQuery) -> Result<Result<ExplainedAccount, String>, Failure> {
    let file = &recording.file;
    let failure = |error: Error| Failure::new(&file.path, &error);
    let because = |why: String| Failure { path: file.path.clone(), reason: format!("{}: {why}", file.name) };
    let mut found: Vec<ExplainedAccount> = Vec::new();
    let mut windows = Vec::new();
    let looked = accounts.each_with(recording, Seen::default, |account, namer, seen| {
        windows.push(account.window);
        found.push(ExplainedAccount::of(account, namer, seen));
    });
    let is_usual = accounts.windows.spec.kind == WindowKind::Auto && accounts.windows.filter.is_empty();
    match looked.map_err(failure)? {
        Ok(()) => {}
        Err(Missing { what: "window", why }) if is_usual => return Ok(Err(why.to_string())),
        Err(Missing { what: "window", why }) => return Err(because(why.to_string())),
        Err(Missing { what, why }) => return Ok(Err(format!("{what}: {why}"))),
    }
    let count = found.len();
    match found.pop() {
        Some(account) if count == 1 => Ok(Ok(account)),
        found => {
            let shown = accounts.windows.shown();
            let processes: Vec<ProcessRow> = recording.archive().rows().map_err(failure)?;
            Err(because(match found {
                None => format!("nothing fits {shown}"),
                Some(_) => format!(
                    "{count} windows fit: choose one, such as --window '{shown}#1': {}",
                    candidates(&windows, &processes)
                ),
            }))
        }
    }
}

/// The processes of the test: that of the account with all that it started, else those that were named.
fn test_of(
    processes: &[ProcessRow],
    account: Option<&ExplainedAccount>,
    accounts: &AccountQuery,
) -> Option<Vec<ProcessId>> {
    if let Some(account) = account {
        return account.test.map(|test| family(processes, Some(test)).into_iter().collect());
    }
    let filter = &accounts.windows.filter;
    let named = || Processes::new(processes).selected(filter).map(|row| row.process).collect();
    (!filter.is_empty()).then(named)
}

/// The answer where no rule fits and the recording has no account.
fn nothing_found(name: &str, found: &Found) -> String {
    let asks_for_test = found.unlooked.iter().any(|rule| rule.why == NO_TEST);
    let mut text = format!("No known cause was found in {name}.");
    if asks_for_test {
        text.push_str(&format!(" The rules about a test were not looked at: {NO_TEST}."));
    }
    text
}

/// The answer in a sentence or two.
fn sentence(name: &str, account: Option<&ExplainedAccount>, found: &Found) -> String {
    let first = found.findings.first();
    let Some(account) = account else {
        return first.map_or_else(|| nothing_found(name, found), |finding| finding.sentence.clone());
    };
    let time = |ns: i64| Amount::Time(ns).to_string();
    let share = |ns: i64| shown_share(ns as f64 / (account.length.max(1)) as f64 * 100.0);
    let who = account.process.as_deref().unwrap_or("the test");
    let disturbed = account.length.saturating_sub(account.undisturbed);
    let mut text = match account.disturbances().next().filter(|_| disturbed > 0) {
        Some(("unknown", most)) => {
            format!("{who} took {}, of which {} is unknown", time(account.length), share(most))
        }
        Some((kind, most)) => format!(
            "{who} took {}, of which {} was not its own: most for {kind}, {}",
            time(account.length),
            share(disturbed),
            time(most)
        ),
        // Only without switches time is unknown that is no disturbance.
        None if too_little_is_known(account.unknown(), account.length) => format!(
            "{who} took {}, of which {} is not known: samples do not tell whether it waited or others had the CPU",
            time(account.length),
            share(account.unknown())
        ),
        None => format!("{who} took {}, all of it its own", time(account.length)),
    };
    let own = account.largest.iter().find(|row| row.disturbance().is_none() && row.state() != "unknown");
    if let Some(row) = own {
        text.push_str(&format!("; its own largest part is: {}, {}", row.text, time(row.time())));
    }
    text.push('.');
    text
}
