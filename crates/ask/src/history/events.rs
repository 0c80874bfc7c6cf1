//! The builds and facts that changed from one run to the next.

use std::collections::BTreeSet;

use crate::compare::modules::Module;
use crate::compare::run::Run;

/// A value that comes back within so many runs, or that one of as many runs before had, is no lasting change.
const RUNS: usize = 5;

/// Something of the runs that changed, and did not change back soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The first run after it, by place.
    pub place: usize,
    /// Whether it is a module; else a fact.
    pub is_module: bool,
    /// The module or the fact.
    pub name: String,
    /// Its value before; of a module the version, or where versions do not tell it the identity. `None`: there was none.
    pub before: Option<String>,
    /// Its value after; `None`: there was none.
    pub after: Option<String>,
}

/// What changed at the places `first..=last`: modules first, then by place and name.
pub(super) fn between(runs: &[Run], (first, last): (usize, usize)) -> Vec<Event> {
    let last = last.min(runs.len().saturating_sub(1));
    let near = &runs[first.saturating_sub(RUNS).min(runs.len())..(last + RUNS).min(runs.len())];
    let modules: BTreeSet<&String> = near.iter().flat_map(|run| run.modules.keys()).collect();
    let facts: BTreeSet<&String> = near.iter().flat_map(|run| run.facts.keys()).collect();
    let mut events = Vec::new();
    for place in first.max(1)..=last {
        for module in &modules {
            let change = change(runs, place, |run| run.modules.get(*module));
            events.extend(change.and_then(|(before, after)| of_module(place, module, before, after)));
        }
        for fact in &facts {
            let found = change(runs, place, |run| run.facts.get(*fact));
            events.extend(found.map(|(before, after)| Event {
                place,
                is_module: false,
                name: (*fact).clone(),
                before: before.cloned(),
                after: after.cloned(),
            }));
        }
    }
    events.sort_by(|a, b| (!a.is_module, a.place, &a.name).cmp(&(!b.is_module, b.place, &b.name)));
    events
}

/// The values of the runs before and after a place, if they differ, the old one does not come back soon, and the new one is new. Builds
/// that differ from run to run are changes, too.
fn change<'a, T: Ord>(
    runs: &'a [Run],
    place: usize,
    value: impl Fn(&'a Run) -> Option<&'a T>,
) -> Option<(Option<&'a T>, Option<&'a T>)> {
    let (before, after) = (value(runs.get(place.checked_sub(1)?)?), value(runs.get(place)?));
    let has_none = |runs: &'a [Run], other: Option<&T>| runs.iter().all(|run| value(run) != other);
    let is_lasting = before != after
        && has_none(&runs[place.saturating_sub(RUNS)..place], after)
        && has_none(&runs[place..(place + RUNS).min(runs.len())], before);
    is_lasting.then_some((before, after))
}

/// The change of a module, unless it is not known which file it is.
fn of_module(place: usize, name: &str, before: Option<&Module>, after: Option<&Module>) -> Option<Event> {
    if before.into_iter().chain(after).any(|module| module.identity.is_none() && module.version.is_none()) {
        return None;
    }
    let texts = |text: fn(&Module) -> Option<&String>| [before, after].map(|module| module.and_then(text).cloned());
    let versions = texts(|module| module.version.as_ref());
    let [before, after] = if versions[0] == versions[1] { texts(|module| module.identity.as_ref()) } else { versions };
    (before != after).then(|| Event { place, is_module: true, name: name.to_owned(), before, after })
}

/// The place at which builds changed, if there is one; else that at which facts did.
pub(super) fn only_place(events: &[Event]) -> Option<usize> {
    let places = |is_module: bool| {
        let of_kind = events.iter().filter(|event| event.is_module == is_module);
        of_kind.map(|event| event.place).collect::<BTreeSet<usize>>()
    };
    let [modules, facts] = [true, false].map(places);
    let only = |places: &BTreeSet<usize>| places.first().copied().filter(|_| places.len() == 1);
    if modules.is_empty() { only(&facts) } else { only(&modules) }
}
