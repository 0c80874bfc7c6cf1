//! Which rows of `method_summary` are read at all. A name that stands in hundreds of rows is compared with the patterns once.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Keys, Texts};
use tracesift_trace::ProcessId;

use super::super::pattern::MethodPatterns;

/// Chooses the methods that patterns accept, and all of the processes that were cut.
pub(super) struct Chooser {
    pub(super) patterns: MethodPatterns,
    pub(super) processes: FxHashSet<ProcessId>,
    pub(super) cut: FxHashSet<ProcessId>,
    pub(super) verdicts: Verdicts,
}

/// What the patterns say of names, by the names' numbers; cleared for every batch, since each may have numbers of its own.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    of_function: Vec<Option<bool>>,
    of_method: FxHashMap<(Option<usize>, usize), bool>,
}

impl Chooser {
    /// The choice, as a pass over the table makes it.
    pub(super) fn choose(mut self) -> impl FnMut(&Keys<'_>) -> Result<Vec<bool>, String> + Send + 'static {
        move |keys| {
            let processes = keys.ids("process")?;
            let (modules, functions) = (keys.texts("module")?, keys.texts("function")?);
            self.verdicts.clear(functions.count());
            let accepts = |row| {
                let impossible = || format!("row {row} has an impossible function");
                let function = functions.number(row).ok_or_else(impossible)?;
                // Most rows are refused by their name, so that is looked at first, unless all of a process are wanted.
                let named = self.verdicts.of(&self.patterns, &modules, modules.number(row), &functions, function);
                if !named && self.cut.is_empty() {
                    return Ok(false);
                }
                let process = processes.get(row).map(ProcessId);
                Ok(process.is_some_and(|process| {
                    self.processes.contains(&process) && (named || self.cut.contains(&process))
                }))
            };
            (0..keys.rows()).map(accepts).collect()
        }
    }
}

impl Verdicts {
    fn clear(&mut self, functions: usize) {
        self.of_function.clear();
        self.of_function.resize(functions, None);
        self.of_method.clear();
    }

    /// Whether the patterns accept a method.
    fn of(
        &mut self,
        patterns: &MethodPatterns,
        modules: &Texts<'_>,
        module: Option<usize>,
        functions: &Texts<'_>,
        function: usize,
    ) -> bool {
        let judge = || {
            let module = module.and_then(|module| modules.text(module));
            functions.text(function).is_some_and(|function| patterns.matches(module, function))
        };
        if patterns.need_module() {
            return *self.of_method.entry((module, function)).or_insert_with(judge);
        }
        match self.of_function.get_mut(function) {
            Some(verdict) => *verdict.get_or_insert_with(judge),
            None => judge(),
        }
    }
}
