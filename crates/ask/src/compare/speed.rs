//! Whether all code runs longer by one factor: a lower clock, efficient cores, slower memory.

use std::collections::BTreeMap;

use tracesift_statistics::{Confidence, Speed, UnchangedKey};

use super::family::Node;
use super::run::Run;
use super::site::module_of;
use crate::path::rows::Detail;

/// A method with fewer samples per run in either set says little about the speed.
const FEWEST_SAMPLES: u64 = 20;

/// The factor of the times of code that is the same in both sets; `None` without such a factor, or where it cannot be told from
/// changes of the code.
pub(super) fn common_factor(nodes: &[Node], runs: &[Run], split: usize, confidence: Confidence) -> Option<Speed> {
    // A method is one, in whatever code of the system its time is: what it does more of, all of that code has.
    let mut methods: BTreeMap<&str, Method> = BTreeMap::new();
    let is_own = |node: &&Node| node.name.state == "run" && node.name.disturbance.is_none();
    for node in nodes.iter().filter(|node| node.detail == Detail::Site).filter(is_own) {
        let site = node.name.site.as_deref().filter(|site| is_unchanged(runs, module_of(site)));
        let Some(site) = site else { continue };
        let nothing = || Method { values: vec![0.0; runs.len()], samples: vec![0; runs.len()] };
        let method = methods.entry(site).or_insert_with(nothing);
        method.values.iter_mut().zip(&node.values).for_each(|(sum, value)| *sum += *value as f64);
        method.samples.iter_mut().zip(&node.samples).for_each(|(sum, count)| *sum += count);
    }
    let counted = methods.into_values().filter(|method| is_sampled(&method.samples, split));
    let values: Vec<Vec<f64>> = counted.map(|method| method.values).collect();
    let keys: Vec<UnchangedKey<'_>> = values
        .iter()
        .map(|values| {
            let (a, b) = values.split_at(split.min(values.len()));
            UnchangedKey { a, b }
        })
        .collect();
    Speed::of(&keys, confidence).filter(Speed::is_accepted)
}

/// Whether all runs have the same file under the name of a module.
fn is_unchanged(runs: &[Run], module: Option<&str>) -> bool {
    let Some(module) = module else { return false };
    let mut identities = runs.iter().map(|run| run.modules.get(module).and_then(|module| module.identity.as_deref()));
    let Some(Some(first)) = identities.next() else { return false };
    identities.all(|identity| identity == Some(first))
}

/// What a method has in each run: its time, ns, and its samples.
struct Method {
    values: Vec<f64>,
    samples: Vec<u64>,
}

fn is_sampled(samples: &[u64], split: usize) -> bool {
    let (a, b) = samples.split_at(split.min(samples.len()));
    [a, b].into_iter().all(|set| set.iter().sum::<u64>() >= FEWEST_SAMPLES * set.len().max(1) as u64)
}
