//! Chooses the rows of `method_summary` that are read. A name in hundreds of rows is compared with
//! the patterns once.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::{Archive, Error, Keys};
use tracesift_trace::rows::MethodSummaryRow;
use tracesift_trace::schema::{ColumnSet, HasColumn, column_key};
use tracesift_trace::{ProcessId, view};

use crate::method_patterns::MethodPatterns;

const PROCESS: u64 = column_key("process");
const MODULE: u64 = column_key("module");
const FUNCTION: u64 = column_key("function");

view! {
    /// The columns by which patterns of functions choose.
    #[derive(Clone, Debug)]
    struct FunctionKey of MethodSummaryRow { process, function }
}

view! {
    /// The columns by which patterns of modules and functions choose.
    #[derive(Clone, Debug)]
    struct MethodKey of MethodSummaryRow { process, module, function }
}

/// Chooses the methods that patterns accept, and all of the processes that were cut.
pub(super) struct Chooser {
    pub(super) patterns: MethodPatterns,
    pub(super) processes: FxHashSet<ProcessId>,
    pub(super) cut: FxHashSet<ProcessId>,
}

impl Chooser {
    /// Shows `visit` the chosen rows with the columns that are `needed`.
    pub(super) fn scan(
        self,
        archive: &Archive,
        needed: ColumnSet<MethodSummaryRow>,
        visit: impl FnMut(&MethodSummaryRow),
    ) -> Result<(), Error> {
        if self.patterns.need_module() {
            let choose = move |keys: &Keys<'_, MethodKey>| self.choose(keys, self.by_method(keys)?);
            archive.scan_by_keys(needed, choose, visit)
        } else {
            let choose = move |keys: &Keys<'_, FunctionKey>| self.choose(keys, self.by_function(keys)?);
            archive.scan_by_keys(needed, choose, visit)
        }
    }

    /// Which rows are chosen, of those that the patterns accept.
    fn choose<K: HasColumn<PROCESS>>(&self, keys: &Keys<'_, K>, named: Vec<bool>) -> Result<Vec<bool>, String> {
        let processes = keys.ids::<PROCESS>()?;
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

    /// Which rows the patterns accept, where they look at functions only.
    fn by_function(&self, keys: &Keys<'_, FunctionKey>) -> Result<Vec<bool>, String> {
        let functions = keys.texts::<FUNCTION>()?;
        let matches = |number| functions.text(number).is_some_and(|function| self.patterns.matches(None, function));
        let verdicts: Vec<bool> = (0..functions.count()).map(matches).collect();
        let verdict = |row| functions.number(row).and_then(|number| verdicts.get(number).copied());
        (0..keys.rows()).map(|row| verdict(row).ok_or_else(|| impossible(row))).collect()
    }

    /// Which rows the patterns accept, where modules count.
    fn by_method(&self, keys: &Keys<'_, MethodKey>) -> Result<Vec<bool>, String> {
        let (modules, functions) = (keys.texts::<MODULE>()?, keys.texts::<FUNCTION>()?);
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
