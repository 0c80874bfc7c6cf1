//! Which region lies in which.
//!
//! A region lies in the innermost region around it on its thread: the one that began last of those that begin no later and end no
//! earlier. Regions that overlap and end in the order in which they began are beside each other. A definition can say that its
//! regions lie in those of the definition around it, in the same process.

use rustc_hash::FxHashMap;
use tracesift_trace::{ProcessId, ThreadId};

use super::definition::{Definitions, Parent};
use super::matching::Region;
use crate::spans::Span;

/// The regions around regions, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// The region that each region lies in.
    pub parents: Vec<Option<usize>>,
    /// Number of regions around each.
    pub depths: Vec<u32>,
    order: Vec<usize>,
}

/// What regions in each other have in common: a thread, or the two definitions.
type Lane = (Option<ProcessId>, Option<ThreadId>, Option<(u32, u32)>);

impl Nesting {
    /// The nesting of these regions. An open one holds all that begins later on its thread.
    #[must_use]
    pub fn of(regions: &[Region], definitions: &Definitions) -> Self {
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|place| {
            let region = &regions[*place];
            (region.start, std::cmp::Reverse(end(region)), *place)
        });
        let mut parents = vec![None; regions.len()];
        let parent_of = |region: &Region| {
            let definition = definitions.all.get(region.definition as usize)?;
            let parent = definition.parent?;
            Some((u32::try_from(parent.definition).ok()?, parent))
        };
        let mut around: FxHashMap<Lane, Vec<usize>> = FxHashMap::default();
        // The definitions whose regions lie in those of each definition.
        let mut inner: FxHashMap<u32, Vec<(u32, Parent)>> = FxHashMap::default();
        for (place, definition) in definitions.all.iter().enumerate() {
            if let (Some(parent), Ok(number)) = (definition.parent, u32::try_from(place)) {
                inner.entry(u32::try_from(parent.definition).unwrap_or(u32::MAX)).or_default().push((number, parent));
            }
        }
        for place in &order {
            let region = &regions[*place];
            let lane = (region.process, region.thread, None);
            let of_thread = innermost(around.entry(lane).or_default(), regions, region);
            parents[*place] = match parent_of(region) {
                Some((outer, parent)) => {
                    let lane = lane_of(region, (outer, region.definition), parent);
                    around.get_mut(&lane).and_then(|stack| innermost(stack, regions, region))
                }
                None => of_thread,
            };
            around.entry(lane).or_default().push(*place);
            for (child, parent) in inner.get(&region.definition).into_iter().flatten() {
                let lane = lane_of(region, (region.definition, *child), *parent);
                let stack = around.entry(lane).or_default();
                innermost(stack, regions, region);
                stack.push(*place);
            }
        }
        let mut depths = vec![0; regions.len()];
        for place in &order {
            depths[*place] = parents[*place].map_or(0, |parent: usize| depths[parent] + 1);
        }
        Self { parents, depths, order }
    }

    /// The places, by the begin of the regions; of several that begin at once the longest first. A region stands behind those around it.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The time of each region inside of a time range in which no region that lies in it runs, ns; 0 of an open one.
    #[must_use]
    pub fn exclusive(&self, regions: &[Region], range: Span) -> Vec<i64> {
        let mut own: Vec<i64> = regions.iter().map(|region| clipped(region, range).map_or(0, Span::length)).collect();
        // Up to where the regions inside of each cover it.
        let mut covered: Vec<i64> = vec![i64::MIN; regions.len()];
        for place in &self.order {
            let Some(parent) = self.parents[*place] else { continue };
            let Some(part) = clipped(&regions[*place], range) else { continue };
            if regions[parent].end.is_some() {
                own[parent] -= (part.end - part.start.max(covered[parent])).max(0);
                covered[parent] = covered[parent].max(part.end);
            }
        }
        own
    }
}

/// The part of a region in a time range; `None`: there is none, or the region is open.
fn clipped(region: &Region, range: Span) -> Option<Span> {
    Span::new(region.start, region.end?).clip(range)
}

fn end(region: &Region) -> i64 {
    region.end.unwrap_or(i64::MAX)
}

fn lane_of(region: &Region, definitions: (u32, u32), parent: Parent) -> Lane {
    let thread = region.thread.filter(|_| parent.thread);
    (region.process.filter(|_| parent.process || parent.thread), thread, Some(definitions))
}

/// Takes away what is over, or ends before the region that begins now: it cannot be the innermost one around anything that begins
/// later. Gives the one that is left on top.
fn innermost(stack: &mut Vec<usize>, regions: &[Region], region: &Region) -> Option<usize> {
    while let Some(top) = stack.last() {
        let top_end = end(&regions[*top]);
        if top_end > region.start && top_end >= end(region) {
            return Some(*top);
        }
        stack.pop();
    }
    None
}
