//! What a filter could have let pass: asked for where an answer is empty, to say which filter was too narrow and what there is.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Error, Projection};
use tracesift_grammar::Patterns;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{MethodSummaryRow, ProcessRow, ProcessSummaryRow};

use crate::filter::ProcessFilter;
use crate::method_patterns::MethodPatterns;
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;
use crate::user;

/// Names that are kept of one filter: nobody reads more, and a recording may have millions.
const MOST_NAMES: usize = 200_000;

/// One filter of a question, and what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The option, such as `--process`.
    pub option: &'static str,
    /// What it filters: one, and many.
    pub what: [&'static str; 2],
    /// The patterns as they were given.
    pub patterns: String,
    /// How many it lets pass, all other filters left aside.
    pub passing: usize,
    /// What there is, each with a figure by which it matters.
    pub names: BTreeMap<String, i64>,
    /// What the figure is; empty: there is none.
    pub figure: &'static str,
    /// Why there may be none.
    pub why_none: &'static str,
    /// What to do about it, where the filter itself cannot help.
    pub advice: Option<String>,
}

impl Candidates {
    /// Candidates of a list of patterns, where `passes` says which names it lets pass.
    pub(crate) fn of(
        option: &'static str,
        what: [&'static str; 2],
        patterns: &str,
        names: impl IntoIterator<Item = (String, i64)>,
        passes: impl Fn(&str) -> bool,
    ) -> Self {
        let mut found = Self { option, what, patterns: patterns.to_owned(), ..Self::default() };
        for (name, figure) in names {
            found.add(name, figure);
        }
        found.passing = found.names.keys().filter(|name| passes(name)).count();
        found
    }

    pub(crate) fn add(&mut self, name: String, figure: i64) {
        if name.is_empty() || (self.names.len() >= MOST_NAMES && !self.names.contains_key(&name)) {
            return;
        }
        let sum = self.names.entry(name).or_default();
        *sum = sum.saturating_add(figure);
    }

    /// Adds those of another recording.
    pub(crate) fn merge(&mut self, other: Self) {
        self.passing = self.passing.saturating_add(other.passing);
        for (name, figure) in other.names {
            self.add(name, figure);
        }
        self.advice = self.advice.take().or(other.advice);
    }
}

/// The parts of a filter of processes.
pub(crate) fn of_processes(recording: &OpenRecording, filter: &ProcessFilter) -> Result<Vec<Candidates>, Error> {
    const CPU: Projection<ProcessSummaryRow> = Projection::of(&["process", "cpu", "run"]);
    if filter.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<ProcessRow> = recording.archive().rows()?;
    let figures: Vec<ProcessSummaryRow> = recording.archive().rows_with(CPU)?;
    let cpu: FxHashMap<ProcessId, i64> =
        figures.iter().map(|row| (row.process, row.cpu.max(row.run.unwrap_or(0)))).collect();
    let processes = Processes::new(&rows);
    let none = ProcessFilter::default();
    let part = |option, what, patterns: String, only: ProcessFilter, name: &dyn Fn(usize, &ProcessRow) -> String| {
        let mut found = Candidates { option, what, patterns, figure: "most CPU", ..Candidates::default() };
        for (index, row) in rows.iter().enumerate().filter(|(_, row)| !is_idle(row)) {
            found.add(name(index, row), cpu.get(&row.process).copied().unwrap_or(0));
        }
        found.passing = processes.accepted(&only).count();
        found
    };
    let mut all = Vec::new();
    let (process, command_line) = (&filter.process, &filter.command_line);
    if !process.is_empty() {
        let only = ProcessFilter { process: process.clone(), ..none.clone() };
        let what = ["process", "processes"];
        all.push(part("--process", what, process.to_string(), only, &|_, row| row.name.clone()));
    }
    if !filter.parent.is_empty() {
        let only = ProcessFilter { parent: filter.parent.clone(), ..none.clone() };
        all.push(part("--parent", ["parent", "parents"], filter.parent.to_string(), only, &|index, _| {
            processes.parent(index).map(|row| row.name.clone()).unwrap_or_default()
        }));
    }
    if !command_line.is_empty() {
        let only = ProcessFilter { command_line: command_line.clone(), ..none.clone() };
        let what = ["command line", "command lines"];
        all.push(part("--cmdline", what, command_line.to_string(), only, &|_, row| {
            row.command_line.clone().unwrap_or_default()
        }));
    }
    if !filter.user.is_empty() {
        let only = ProcessFilter { user: filter.user.clone(), ..none.clone() };
        all.push(part("--user", ["user", "users"], filter.user.to_string(), only, &|_, row| {
            row.user.as_deref().map(user::account).unwrap_or_default().to_owned()
        }));
    }
    if !filter.session.is_empty() {
        let only = ProcessFilter { session: filter.session.clone(), ..none.clone() };
        all.push(part("--session", ["session", "sessions"], filter.session.to_string(), only, &|_, row| {
            row.session.map(|session| session.to_string()).unwrap_or_default()
        }));
    }
    if !filter.container.is_empty() {
        let only = ProcessFilter { container: filter.container.clone(), ..none.clone() };
        let what = ["container", "containers"];
        all.push(part("--container", what, filter.container.to_string(), only, &|_, row| {
            row.container.clone().unwrap_or_default()
        }));
    }
    if filter.life.is_some() {
        let only = ProcessFilter { life: filter.life, ..none };
        let what = ["process by start and end", "processes by start and end"];
        all.push(part("--new-process", what, String::new(), only, &|_, _| String::new()));
    }
    Ok(all)
}

/// The functions of the archive's summary, by CPU.
pub(crate) fn of_methods(
    recording: &OpenRecording,
    option: &'static str,
    patterns: &MethodPatterns,
) -> Result<Vec<Candidates>, Error> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Candidates {
        option,
        what: ["method", "methods"],
        patterns: patterns.to_string(),
        figure: "most CPU",
        why_none: "there are no methods, as no CPU sample and no wait has a stack",
        ..Candidates::default()
    };
    let mut passing: FxHashSet<(Option<String>, String)> = FxHashSet::default();
    for row in functions(recording)? {
        if patterns.matches(row.module.as_deref(), &row.function) {
            passing.insert((row.module.clone(), row.function.clone()));
        }
        found.add(row.function, row.cpu);
    }
    found.passing = passing.len();
    let only_modules = found.patterns.split(';').map(str::trim).all(|item| matches!(item, "*.dll" | "*.sys"));
    if only_modules && found.passing == 0 {
        found.advice = Some(format!(
            "`{0}` means functions without symbols; `{0}!*` means all functions of such modules",
            found.patterns
        ));
    }
    Ok(vec![found])
}

fn functions(recording: &OpenRecording) -> Result<Vec<MethodSummaryRow>, Error> {
    const FUNCTIONS: Projection<MethodSummaryRow> = Projection::of(&["module", "function", "cpu"]);
    recording.archive().rows_with(FUNCTIONS)
}

/// The names of stack tags, of which `passes` lets some pass. Rules look at names of functions: where these have none, no tag can match.
pub(crate) fn of_tags(
    recording: &OpenRecording,
    patterns: &Patterns,
    names: impl IntoIterator<Item = String>,
    passes: impl Fn(&str) -> bool,
) -> Result<Vec<Candidates>, Error> {
    let all: FxHashSet<(Option<String>, String)> =
        functions(recording)?.into_iter().map(|row| (row.module, row.function)).collect();
    let named = all.iter().filter(|(_, function)| !is_unnamed(function)).count();
    let names = names.into_iter().map(|name| (name, 0));
    let mut found = Candidates::of("--stacktags", ["stack tag", "stack tags"], &patterns.to_string(), names, passes);
    found.advice = match (found.passing, all.len()) {
        (0, _) => Some("`tracesift dump cpu --list-tags` lists them".to_owned()),
        // Managed code has names without any symbol file; tags are mostly about the rest.
        (_, of) if named * 2 < of => Some(match named {
            0 => format!("no tag can match: 0 of {of} functions have names: `tracesift symbols load` loads them"),
            _ => {
                format!("few tags can match: {named} of {of} functions have names: `tracesift symbols load` loads more")
            }
        }),
        (passing, _) => Some(match passing {
            1 => "no stack of these processes has that tag".to_owned(),
            _ => format!("no stack of these processes has one of those {passing} tags"),
        }),
    };
    Ok(vec![found])
}

/// `module+0xRVA`, or an address.
fn is_unnamed(function: &str) -> bool {
    function.contains("+0x") || function.starts_with("0x") || function.starts_with('[')
}
