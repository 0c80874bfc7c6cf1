//! Whether all code runs longer by one factor: a lower clock, efficient cores, slower memory.

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
    let is_counted = |node: &&Node| {
        node.detail == Detail::Site
            && node.name.state == "run"
            && node.name.disturbance.is_none()
            && node.name.site.as_deref().is_some_and(|site| is_unchanged(runs, module_of(site)))
            && is_sampled(node, split)
    };
    let counted = nodes.iter().filter(is_counted);
    let values: Vec<Vec<f64>> = counted.map(|node| node.values.iter().map(|value| *value as f64).collect()).collect();
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

fn is_sampled(node: &Node, split: usize) -> bool {
    let (a, b) = node.samples.split_at(split.min(node.samples.len()));
    [a, b].into_iter().all(|set| set.iter().sum::<u64>() >= FEWEST_SAMPLES * set.len().max(1) as u64)
}
