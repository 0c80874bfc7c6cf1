//! The CPU time of the test by stack, in all runs of a case: what its code did, on the path and beside it.
//!
//! The rows of the difference add up to the duration, so they know the one thread that the test needed at a time. This tree has the
//! sampled CPU time of all threads of the test in its window.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use tracesift_archive::Error;
use tracesift_export::{Folded, ProcessId as OwnerId, StackId};
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::case::Case;
use super::family::half_width;
use super::graph::GraphNode;
use super::units::Units;
use super::{Compared, Settings};
use crate::filter::ProcessFilter;
use crate::measure::Measure;
use crate::method_patterns::MethodPatterns;
use crate::path::AccountQuery;
use crate::path::parties::family;
use crate::path::window::People;
use crate::profile::Question;
use crate::recording::{OpenRecording, Source, is_cancelled};
use crate::recording_label::path_text;

/// Parts of stacks in all runs of a case together. More would take more than some 100 MiB.
const MOST: usize = 6_000_000;

/// Parts below this part of the CPU time of both sets are left out: no picture shows them.
const LEAST: f64 = 0.000_4;

/// The CPU time of a case by stack.
#[derive(Clone, Debug)]
pub struct CpuTree {
    /// Processes, then frames from callers to callees, each followed by what it called, the largest first. Level is `process` or
    /// `frame`; times are CPU time in ns.
    pub nodes: Vec<GraphNode>,
    /// Mean CPU times of the two sets, ns.
    pub means: [f64; 2],
    /// Their difference, ns.
    pub delta: i128,
}

/// A part of the stacks of one run: its parent's place, its name, and its time with what it called, ns.
type Part = (usize, String, i64);

/// No parent.
const ROOT: usize = usize::MAX;

/// The CPU time of each case of a comparison by stack, or the reason why a case has none. It reads the samples of all runs.
#[must_use]
pub fn cpu_trees(
    compared: &Compared,
    sources: &[Source],
    accounts: &AccountQuery,
    settings: &Settings,
) -> Vec<Result<CpuTree, String>> {
    let files: Vec<String> = sources.iter().map(|source| path_text(&source.shown)).collect();
    let by_file: FxHashMap<&str, &Source> = files.iter().map(String::as_str).zip(sources).collect();
    compared
        .cases
        .iter()
        .map(|case| {
            if is_cancelled(sources) {
                return Err("the answer was cancelled".to_owned());
            }
            let tree = of_case(case, &by_file, accounts)?;
            tree.finish(case, settings)
        })
        .collect()
}

fn of_case(case: &Case, by_file: &FxHashMap<&str, &Source>, accounts: &AccountQuery) -> Result<Tree, String> {
    let sources: Option<Vec<&Source>> = case.runs.iter().map(|run| by_file.get(run.file.as_str()).copied()).collect();
    let Some(sources) = sources else { return Err("some runs come from a baseline, which keeps no stacks".to_owned()) };
    let mut tree = Tree::default();
    // A few runs at a time, so that no more than these are there beside the tree.
    let at_a_time = rayon::current_num_threads().max(1);
    for (chunk, some) in sources.chunks(at_a_time).enumerate() {
        let parts: Vec<Result<Vec<Part>, String>> = some.par_iter().map(|source| of_run(source, accounts)).collect();
        for (place, parts) in parts.into_iter().enumerate() {
            tree.add(chunk * at_a_time + place, &parts?)?;
        }
    }
    Ok(tree)
}

/// The stacks of the test in the window of a run, parents before what is in them.
fn of_run(source: &Source, accounts: &AccountQuery) -> Result<Vec<Part>, String> {
    let told = |error: Error| format!("{}: {error}", source.shown.display());
    let recording = OpenRecording::open(source).map_err(told)?;
    let because = |why: String| format!("{}: {why}", recording.file.name);
    if !recording.file.has_samples {
        return Err(because("it has no CPU samples".to_owned()));
    }
    let processes: Vec<ProcessRow> = recording.archive().rows().map_err(told)?;
    let threads: Vec<ThreadRow> = recording.archive().rows().map_err(told)?;
    let people = People { processes: &processes, threads: &threads };
    let windows = accounts.find(&recording, people).map_err(told)?.map_err(|why| because(why.to_string()))?;
    let count = i64::try_from(windows.len()).unwrap_or(i64::MAX).max(1);
    let mut parts = Vec::new();
    let mut known: FxHashMap<(usize, String), usize> = FxHashMap::default();
    for window in windows {
        let of_test: Option<BTreeSet<ProcessId>> =
            window.process.map(|test| family(&processes, Some(test)).into_iter().collect());
        let question = Question {
            measure: Measure::CPU,
            // What the test started belongs to it, whatever its name.
            filter: if of_test.is_some() { ProcessFilter::default() } else { accounts.windows.filter.clone() },
            processes: of_test,
            time: TimeRange { start: Some(window.span.start), end: Some(window.span.end) },
            inside: Vec::new(),
            origin: 0,
            methods: MethodPatterns::default(),
            said: String::new(),
        };
        add_stacks(&question.folded(&recording).map_err(told)?, &mut parts, &mut known);
    }
    // Several windows are repetitions of one measurement: their mean counts.
    parts.iter_mut().for_each(|(.., time)| *time /= count);
    Ok(parts)
}

fn add_stacks(folded: &Folded, parts: &mut Vec<Part>, known: &mut FxHashMap<(usize, String), usize>) {
    let catalog = &folded.catalog;
    let mut part = |parent: usize, name: String| -> usize {
        *known.entry((parent, name)).or_insert_with_key(|(parent, name)| {
            parts.push((*parent, name.clone(), 0));
            parts.len() - 1
        })
    };
    // Of each process and stack: its part.
    let mut places: FxHashMap<(OwnerId, StackId), usize> = FxHashMap::default();
    let mut sums: Vec<(usize, i64)> = Vec::new();
    for weight in folded.weights.iter() {
        let process = catalog.threads()[weight.thread.row()].process;
        let root = part(ROOT, catalog.text(catalog.processes()[process.row()].name).to_owned());
        let mut above: Vec<StackId> = Vec::new();
        let mut at = Some(weight.stack);
        let mut place = root;
        while let Some(stack) = at {
            if let Some(known) = places.get(&(process, stack)) {
                place = *known;
                break;
            }
            above.push(stack);
            at = catalog.caller(stack);
        }
        for stack in above.into_iter().rev() {
            let frame = &catalog.frames()[catalog.leaf(stack).row()];
            place = part(place, catalog.label(frame));
            places.insert((process, stack), place);
        }
        sums.push((place, i64::try_from(weight.weight).unwrap_or(i64::MAX)));
    }
    for (place, time) in sums {
        let mut at = place;
        while let Some((parent, _, sum)) = parts.get_mut(at) {
            *sum = sum.saturating_add(time);
            at = *parent;
        }
    }
}

/// The stacks of several runs.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    known: FxHashMap<(usize, String), usize>,
    entries: usize,
}

struct Node {
    parent: usize,
    name: String,
    /// Runs that have it, with its time.
    times: Vec<(usize, i64)>,
}

impl Tree {
    fn add(&mut self, run: usize, parts: &[Part]) -> Result<(), String> {
        self.entries += parts.len();
        if self.entries > MOST {
            return Err("the runs have too many different stacks".to_owned());
        }
        let mut places = Vec::with_capacity(parts.len());
        for (parent, name, time) in parts {
            let parent = places.get(*parent).copied().unwrap_or(ROOT);
            let place = *self.known.entry((parent, name.clone())).or_insert_with(|| {
                self.nodes.push(Node { parent, name: name.clone(), times: Vec::new() });
                self.nodes.len() - 1
            });
            self.nodes[place].times.push((run, *time));
            places.push(place);
        }
        Ok(())
    }

    fn finish(self, case: &Case, settings: &Settings) -> Result<CpuTree, String> {
        let units = Units::of(&case.runs, case.split, settings).map_err(|problem| problem.to_string())?;
        let count = case.runs.len();
        let counts = [case.split.max(1), count.saturating_sub(case.split).max(1)];
        let sum = |node: &Node, set: usize| {
            let of_set = node.times.iter().filter(|(run, _)| usize::from(*run >= case.split) == set);
            of_set.map(|(_, time)| i128::from(*time)).sum::<i128>()
        };
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            if node.parent == ROOT { roots.push(place) } else { below[node.parent].push(place) }
        }
        let means = |node: &Node| [0, 1].map(|set| sum(node, set) as f64 / counts[set] as f64);
        let delta = |node: &Node| {
            let [n, m] = counts.map(|count| count as i128);
            let (numerator, denominator) = (n * sum(node, 1) - m * sum(node, 0), n * m);
            (2 * numerator + denominator).div_euclid(2 * denominator)
        };
        let whole = roots.iter().map(|root| means(&self.nodes[*root]));
        let whole = whole.fold([0.0; 2], |[a, b], [of_a, of_b]| [a + of_a, b + of_b]);
        let least = LEAST * whole[0].max(whole[1]);
        let weight = |place: &usize| {
            let [a, b] = means(&self.nodes[*place]);
            (std::cmp::Reverse((a + b) as i128), &self.nodes[*place].name)
        };
        let mut found = Vec::new();
        roots.sort_by_cached_key(weight);
        let total_delta = roots.iter().map(|root| delta(&self.nodes[*root])).sum();
        let mut open: Vec<(usize, usize)> = roots.into_iter().rev().map(|place| (place, 0)).collect();
        while let Some((place, depth)) = open.pop() {
            let node = &self.nodes[place];
            let of_node = means(node);
            if of_node[0].max(of_node[1]) < least {
                continue;
            }
            let mut values = vec![0.0; count];
            for (run, time) in &node.times {
                if let Some(value) = values.get_mut(*run) {
                    *value += *time as f64;
                }
            }
            let delta = delta(node);
            found.push(GraphNode {
                depth,
                level: if depth == 0 { "process" } else { "frame" },
                label: node.name.clone(),
                is_disturbance: false,
                means: of_node,
                delta,
                own: delta,
                half_width: half_width(&units, &values, settings.confidence),
            });
            let mut children = std::mem::take(&mut below[place]);
            children.sort_by_cached_key(weight);
            open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
        if found.is_empty() {
            return Err("the test has no CPU samples in its windows".to_owned());
        }
        Ok(CpuTree { nodes: found, means: whole, delta: total_delta })
    }
}
