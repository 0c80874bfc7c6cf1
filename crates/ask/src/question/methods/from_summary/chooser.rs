//! Which rows of `method_summary` are read at all. A name that stands in hundreds of rows is compared with the patterns once.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Keys, Projection};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::MethodSummaryRow;

use crate::method_patterns::MethodPatterns;

/// Chooses the methods that patterns accept, and all of the processes that were cut.
pub(super) struct Chooser {
    pub(super) patterns: MethodPatterns,
    pub(super) processes: FxHashSet<ProcessId>,
    pub(super) cut: FxHashSet<ProcessId>,
}

impl Chooser {
    /// What it looks at.
    pub(super) fn keys(&self) -> Projection<MethodSummaryRow> {
        const NAMES: Projection<MethodSummaryRow> = Projection::of(&["process", "function"]);
        const METHODS: Projection<MethodSummaryRow> = Projection::of(&["process", "module", "function"]);
        if self.patterns.need_module() { METHODS } else { NAMES }
    }

    /// The choice, as a pass over the table makes it.
    pub(super) fn choose(self) -> impl FnMut(&Keys<'_>) -> Result<Vec<bool>, String> + Send + 'static {
        move |keys| {
            let named = if self.patterns.need_module() { self.by_method(keys)? } else { self.by_function(keys)? };
            let processes = keys.ids("process")?;
            let is_asked = |row: usize, named: bool| {
                processes
                    .get(row)
                    .map(ProcessId)
                    .is_some_and(|process| self.processes.contains(&process) && (named || self.cut.contains(&process)))
            };
            // Most rows are refused by their name, unless all of a process are wanted.
            let all = !self.cut.is_empty();
            Ok(named.into_iter().enumerate().map(|(row, named)| (named || all) && is_asked(row, named)).collect())
        }
    }

    /// Which rows the patterns accept, where they look at functions only.
    fn by_function(&self, keys: &Keys<'_>) -> Result<Vec<bool>, String> {
        let functions = keys.texts("function")?;
        let matches = |number| functions.text(number).is_some_and(|function| self.patterns.matches(None, function));
        let verdicts: Vec<bool> = (0..functions.count()).map(matches).collect();
        let verdict = |row| functions.number(row).and_then(|number| verdicts.get(number).copied());
        (0..keys.rows()).map(|row| verdict(row).ok_or_else(|| impossible(row))).collect()
    }

    /// Which rows the patterns accept, where modules count.
    fn by_method(&self, keys: &Keys<'_>) -> Result<Vec<bool>, String> {
        let (modules, functions) = (keys.texts("module")?, keys.texts("function")?);
        let mut verdicts: FxHashMap<(Option<usize>, usize), bool> = FxHashMap::default();
        let mut verdict = |row| {
            let (module, function) = (modules.number(row), functions.number(row).ok_or_else(|| impossible(row))?);
            Ok(*verdicts.entry((module, function)).or_insert_with(|| {
                let module = module.and_then(|module| modules.text(module));
                functions.text(function).is_some_and(|function| self.patterns.matches(module, function))
            }))
        };
        (0..keys.rows()).map(&mut verdict).collect()
    }
}

fn impossible(row: usize) -> String {
    format!("row {row} has an impossible function")
}
