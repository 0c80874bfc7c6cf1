//! What differs between two sets beside their time: facts, modules, processes.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Module;
use super::run::Run;

/// A process, a module or a fact belongs to a set if this part of its runs has it, and not if at most the rest has.
const MOST: f64 = 0.8;

/// What differs between two sets beside their time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Facts of the machine, of the recorder and of the command, by key.
    pub facts: Vec<FactChange>,
    /// Modules, those with the most time on the path first.
    pub modules: Vec<ModuleChange>,
    /// Modules that are the same file in all runs.
    pub same_modules: usize,
    /// Modules of which the recordings do not tell which file they are.
    pub unknown_modules: usize,
    /// Processes that most runs of one set have, and hardly any of the other: by role, with the place of the set that has them.
    pub processes: Vec<(String, usize)>,
}

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Each set has one value, and these differ.
    Changed,
    /// A set has several values.
    Varies,
    /// The second set has it alone.
    New,
    /// The first set has it alone.
    Gone,
}

impl Change {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Varies => "varies",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }

    /// How the values of the runs of two sets differ; `None`: they are all equal.
    fn of<T: Ord>(a: &[Option<T>], b: &[Option<T>]) -> Option<Self> {
        let [of_a, of_b] = [a, b].map(|set| set.iter().map(Option::as_ref).collect::<BTreeSet<Option<&T>>>());
        let part = |set: &[Option<T>]| set.iter().flatten().count() as f64 / set.len().max(1) as f64;
        let is_missing = |part: f64| part <= 1.0 - MOST + 1e-9;
        match (part(a), part(b)) {
            (in_a, in_b) if of_a == of_b && of_a.len() == 1 || in_a + in_b == 0.0 => None,
            (in_a, in_b) if is_missing(in_a) && in_b >= MOST => Some(Self::New),
            (in_a, in_b) if is_missing(in_b) && in_a >= MOST => Some(Self::Gone),
            _ if of_a.len() > 1 || of_b.len() > 1 => Some(Self::Varies),
            _ => Some(Self::Changed),
        }
    }
}

/// A fact that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// Its key, such as `os.kernel`.
    pub key: String,
    /// How it differs.
    pub change: Change,
    /// Its values in the first set.
    pub a: Vec<String>,
    /// Its values in the second set.
    pub b: Vec<String>,
}

/// A module that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleChange {
    /// Its name, as [`tracesift_analysis::roles::module_role`] has it.
    pub module: String,
    /// How it differs.
    pub change: Change,
    /// Versions, or where they are equal or unknown identities, in the first set.
    pub a: Vec<String>,
    /// The same of the second set.
    pub b: Vec<String>,
    /// Time of its code on the paths of all runs, ns.
    pub time: i64,
}

impl Changes {
    /// Those between the runs before `split` and the others.
    pub(super) fn of(runs: &[Run], split: usize) -> Self {
        let (a, b) = runs.split_at(split.min(runs.len()));
        let mut changes = Self { facts: facts(a, b), processes: processes(a, b), ..Self::default() };
        changes.compare_modules(runs, split);
        changes
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.modules.is_empty() && self.processes.is_empty()
    }

    fn compare_modules(&mut self, runs: &[Run], split: usize) {
        let times = times_by_module(runs);
        let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.modules.keys()).collect();
        let (a, b) = runs.split_at(split.min(runs.len()));
        for name in names {
            let of =
                |set: &[Run]| -> Vec<Option<Module>> { set.iter().map(|run| run.modules.get(name).cloned()).collect() };
            let (of_a, of_b) = (of(a), of(b));
            let is_unknown = of_a.iter().chain(&of_b).flatten().any(|module| module.identity.is_none());
            let found = Change::of(&of_a, &of_b);
            let [of_a, of_b] = [of_a, of_b].map(|values| values.into_iter().collect::<BTreeSet<_>>());
            match found {
                _ if is_unknown && !matches!(found, Some(Change::New | Change::Gone)) => self.unknown_modules += 1,
                None => self.same_modules += 1,
                // A library that some runs load later than others is no finding.
                Some(Change::Varies) if is_same_file(&of_a, &of_b) => self.same_modules += 1,
                Some(change) => {
                    let (a, b) = texts(&of_a, &of_b);
                    let time = times.get(name.as_str()).copied().unwrap_or(0);
                    self.modules.push(ModuleChange { module: name.clone(), change, a, b, time });
                }
            }
        }
        self.modules.sort_by(|x, y| y.time.cmp(&x.time).then_with(|| x.module.cmp(&y.module)));
    }
}

/// Whether the runs that have a module all have the same file.
fn is_same_file(a: &BTreeSet<Option<Module>>, b: &BTreeSet<Option<Module>>) -> bool {
    a.iter().chain(b).flatten().collect::<BTreeSet<_>>().len() == 1
}

/// The files of both sets as people tell them apart: by version, else by identity.
fn texts(a: &BTreeSet<Option<Module>>, b: &BTreeSet<Option<Module>>) -> (Vec<String>, Vec<String>) {
    let versions = |set: &BTreeSet<Option<Module>>| -> Vec<String> {
        let versions = set.iter().flatten().filter_map(|module| module.version.clone());
        versions.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let identities = |set: &BTreeSet<Option<Module>>| -> Vec<String> {
        set.iter().flatten().filter_map(|module| module.identity.clone()).collect()
    };
    let (of_a, of_b) = (versions(a), versions(b));
    if of_a == of_b { (identities(a), identities(b)) } else { (of_a, of_b) }
}

/// The time of code on the paths of all runs, by module.
fn times_by_module(runs: &[Run]) -> BTreeMap<&str, i64> {
    let mut times: BTreeMap<&str, i64> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.rows).filter(|row| row.name.state == "run") {
        if let Some(module) = row.name.site.as_deref().and_then(super::site::module_of) {
            let time = times.entry(module).or_default();
            *time = time.saturating_add(row.time);
        }
    }
    times
}

fn facts(a: &[Run], b: &[Run]) -> Vec<FactChange> {
    let keys: BTreeSet<&String> = a.iter().chain(b).flat_map(|run| run.facts.keys()).collect();
    let change = |key: &String| {
        let of = |set: &[Run]| -> Vec<Option<String>> { set.iter().map(|run| run.facts.get(key).cloned()).collect() };
        let (of_a, of_b) = (of(a), of(b));
        let change = Change::of(&of_a, &of_b)?;
        let texts =
            |values: Vec<Option<String>>| values.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
        Some(FactChange { key: key.clone(), change, a: texts(of_a), b: texts(of_b) })
    };
    keys.into_iter().filter_map(change).collect()
}

fn processes(a: &[Run], b: &[Run]) -> Vec<(String, usize)> {
    let names: BTreeSet<&String> = a.iter().chain(b).flat_map(|run| &run.processes).collect();
    let part = |set: &[Run], name: &String| {
        set.iter().filter(|run| run.processes.contains(name)).count() as f64 / set.len().max(1) as f64
    };
    let place = |name: &String| match (part(a, name), part(b, name)) {
        (in_a, in_b) if in_a >= MOST && in_b <= 1.0 - MOST + 1e-9 => Some(0),
        (in_a, in_b) if in_b >= MOST && in_a <= 1.0 - MOST + 1e-9 => Some(1),
        _ => None,
    };
    names.into_iter().filter_map(|name| Some((name.clone(), place(name)?))).collect()
}
