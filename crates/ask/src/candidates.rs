//! The names that a filter could have let pass. For an empty answer they tell the filter that was
//! too narrow, and the names in the recording.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{MethodSummaryRow, ProcessRow, ProcessSummaryRow};
use tracesift_trace::view;

use crate::filter::{Part, ProcessFilter};
use crate::method_patterns::MethodPatterns;
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;

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

view! {
    /// The CPU time of a process.
    #[derive(Clone, Copy, Debug)]
    struct CpuOfProcess of ProcessSummaryRow { process, cpu, run }
}

view! {
    /// The CPU time of a method.
    #[derive(Clone, Debug)]
    struct CpuOfMethod of MethodSummaryRow { module, function, cpu }
}

/// The parts of a filter of processes.
pub(crate) fn of_processes(recording: &OpenRecording, filter: &ProcessFilter) -> Result<Vec<Candidates>, Error> {
    if filter.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<ProcessRow> = recording.archive().rows()?;
    let figures: Vec<CpuOfProcess> = recording.archive().rows()?;
    let cpu: FxHashMap<ProcessId, i64> =
        figures.iter().map(|row| (row.process, row.cpu.max(row.run.unwrap_or(0)))).collect();
    Ok(among(&rows, filter, "most CPU", |row| cpu.get(&row.process).copied().unwrap_or(0)))
}

/// The same among these processes, each with a figure of this name.
pub(crate) fn among(
    rows: &[ProcessRow],
    filter: &ProcessFilter,
    figure: &'static str,
    figure_of: impl Fn(&ProcessRow) -> i64,
) -> Vec<Candidates> {
    let processes = Processes::new(rows);
    let of_part = |(part, patterns): (&Part, String)| {
        let mut found = Candidates { option: part.option, what: part.what, patterns, figure, ..Candidates::default() };
        for (index, row) in rows.iter().enumerate() {
            let parent = processes.parent(index);
            found.passing += usize::from((part.accepts)(filter, row, parent));
            if !is_idle(row) {
                found.add((part.name)(row, parent), figure_of(row));
            }
        }
        found
    };
    filter.parts().map(of_part).collect()
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

fn functions(recording: &OpenRecording) -> Result<Vec<CpuOfMethod>, Error> {
    recording.archive().rows()
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
