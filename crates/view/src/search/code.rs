//! Methods and modules whose name contains a text, and the samples that have them on the stack.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;
use tracesift_analysis::MethodName;
use tracesift_archive::Error;
use tracesift_ask::question::timeline::Measure;
use tracesift_ask::tallies::{Amount, Subject, Subjects};
use tracesift_trace::rows::{MethodSummaryRow, ModuleRow};
use tracesift_trace::view;

use super::lines::{density, exact, figures, hit, send};
use super::{MOST, Search};
use crate::failure::Failure;
use crate::lane::machine;
use crate::work::Pieces;

view! {
    /// A module.
    #[derive(Clone, Debug)]
    struct ModuleName of ModuleRow { name, path }
}

view! {
    /// A method with its CPU.
    #[derive(Clone, Debug)]
    struct Method of MethodSummaryRow { module, function, cpu }
}

/// Methods and modules that were sent, and what the page calls them.
#[derive(Default)]
pub(super) struct Sought {
    /// Whether hits of methods are asked for.
    has_methods: bool,
    methods: FxHashSet<MethodName>,
    /// By the name of the file.
    modules: FxHashMap<String, String>,
}

impl Search<'_> {
    /// Modules by the names of their files: that is what stacks have.
    pub(super) fn modules(&self, sought: &mut Sought) -> Result<Vec<Value>, Error> {
        let mut paths: FxHashMap<String, Vec<String>> = FxHashMap::default();
        self.recording.archive().scan(None, |row: &ModuleName| {
            if self.has(&row.name) || self.has(&row.path) {
                paths.entry(row.name.clone()).or_default().push(row.path.clone());
            }
        })?;
        // Of several files with one name the figures are those of all.
        let shown = |(name, mut paths): (String, Vec<String>)| {
            paths.sort();
            paths.dedup();
            let shown = if let [path] = &paths[..] { path.clone() } else { name.clone() };
            (shown, name)
        };
        let mut all: Vec<(String, String)> = paths.into_iter().map(shown).collect();
        all.sort();
        all.truncate(MOST);
        let hits = all.iter().map(|(shown, name)| {
            let mut hit = hit("module", shown, None, &[]);
            let words = ["dump", "timeline", "--lane", "module", "--methods", &of_module(name)];
            hit["words"] = self.words(&words).into();
            hit
        });
        let hits = hits.collect();
        sought.modules = all.into_iter().map(|(shown, name)| (name, shown)).collect();
        Ok(hits)
    }

    /// The methods of the archive's sums: the largest of each process. Their figures come later, since the sums are of the whole recording
    /// and not of all processes.
    pub(super) fn methods(&self, sought: &mut Sought) -> Result<Vec<Value>, Error> {
        let mut sums: FxHashMap<MethodName, i64> = FxHashMap::default();
        self.recording.archive().scan(None, |row: &Method| {
            let name = MethodName { module: row.module.clone(), function: row.function.clone() };
            if self.has(&name.to_string()) {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(row.cpu);
            }
        })?;
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        all.truncate(MOST);
        let hits = all.iter().map(|(name, _)| self.method(name)).collect();
        sought.has_methods = true;
        sought.methods = all.into_iter().map(|(name, _)| name).collect();
        Ok(hits)
    }

    fn method(&self, name: &MethodName) -> Value {
        let mut hit = hit("method", &name.to_string(), None, &[]);
        hit["words"] = self.words(&["dump", "cpu", "--methods", &of_method(name)]).into();
        hit
    }

    /// Sends the methods that the sums do not have, then how often and when all methods and modules were sampled.
    pub(super) fn code(&self, mut sought: Sought, pieces: &mut Pieces) -> Result<(), Failure> {
        if !sought.has_methods && sought.modules.is_empty() {
            return Ok(());
        }
        let mut more: Vec<Value> = Vec::new();
        let subjects = Subjects::of(self.recording, |name| {
            let is_new = sought.has_methods
                && sought.methods.len() < MOST
                && !sought.methods.contains(name)
                && self.has(&name.to_string());
            if is_new {
                more.push(self.method(name));
                sought.methods.insert(name.clone());
            }
            let has_module = name.module.as_ref().is_some_and(|module| sought.modules.contains_key(module));
            [sought.methods.contains(name), has_module]
        })?;
        send(more, pieces)?;
        let (grid, has_samples) = (self.grid(), self.recording.file.has_samples);
        if !has_samples && !self.recording.info().has_switches {
            return Ok(());
        }
        let found = subjects.count(self.recording, grid, Amount::Cpu)?;
        let named = |subject: &Subject| match subject {
            Subject::Method(name) => ("method", name.to_string(), of_method(name)),
            Subject::Module(name) => ("module", sought.modules.get(name).unwrap_or(name).clone(), of_module(name)),
        };
        let all: Vec<_> = subjects.all().iter().map(named).zip(&found).collect();
        send(all.iter().map(|((kind, name, _), tally)| figures(kind, name, tally, has_samples)), pieces)?;
        let dense = all.iter().filter(|(_, tally)| tally.seen.is_some()).map(|((kind, name, pattern), tally)| {
            let words = has_samples.then(|| machine::words(kind, Measure::Cpu, grid, &["--methods", pattern]));
            density(kind, Some(name), &grid, &tally.values, words)
        });
        send(dense, pieces)
    }
}

/// The pattern of a method.
fn of_method(name: &MethodName) -> String {
    match &name.module {
        // A `!` in a pattern stands behind a module.
        None if name.function.contains('!') => format!("?{}", exact(&name.function)),
        _ => exact(&name.to_string()),
    }
}

/// The pattern of all methods of a module.
fn of_module(name: &str) -> String {
    format!("{}!*", exact(name))
}
