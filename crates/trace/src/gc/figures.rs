//! Figures of heaps that a runtime tells about a collection.

use super::held::Life;

/// Generations that figures have at most: 0, 1, 2, large and pinned objects.
pub(super) const GENERATIONS: usize = 5;

/// Sizes of the heap after a collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeapStats {
    /// Bytes of each generation; `None`: the runtime has no such heap.
    pub sizes: [Option<i64>; GENERATIONS],
    /// Bytes that survived, of each generation.
    pub promoted: [Option<i64>; GENERATIONS],
    /// Bytes of objects that survived only because of their finalizers.
    pub finalization_promoted: Option<i64>,
    /// Pinned objects.
    pub pinned: Option<i64>,
    /// Synchronisation blocks.
    pub sync_blocks: Option<i64>,
    /// Handles.
    pub handles: Option<i64>,
}

/// What a collection did to a generation of one heap: bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    /// Size before.
    pub before: i64,
    /// Free bytes in it before.
    pub free_before: i64,
    /// Size after.
    pub after: i64,
    /// Free bytes in it after.
    pub free_after: i64,
    /// Bytes of objects that survived.
    pub survived: i64,
}

/// What the runtime tells of a collection when it is done.
#[derive(Clone, Copy, Debug)]
pub enum History<'a> {
    /// Of one heap, by generation.
    Heap {
        /// The generations, the youngest first.
        generations: &'a [Generation],
        /// Why this generation was collected.
        condemn_reasons: Option<i64>,
    },
    /// Of all heaps.
    Global {
        /// Number of heaps.
        heaps: Option<i32>,
        /// The generation that was collected.
        generation: Option<i8>,
        /// See `gc_collections.pause_mode`.
        pause_mode: Option<i8>,
        /// See `gc_collections.mechanisms`.
        mechanisms: Option<i32>,
        /// Percent of the machine's memory that was in use.
        memory_pressure: Option<i32>,
    },
}

/// Kinds of roots that are kept, at most.
const ROOT_KINDS: usize = 16;

impl History<'_> {
    pub(super) fn is_of_heap(&self) -> bool {
        matches!(self, Self::Heap { .. })
    }
}

/// Adds figures up by generation.
fn add(sums: &mut Option<Vec<i64>>, figures: impl ExactSizeIterator<Item = i64>) {
    let sums = sums.get_or_insert_default();
    if sums.len() < figures.len() {
        sums.resize(figures.len(), 0);
    }
    for (sum, figure) in sums.iter_mut().zip(figures) {
        *sum = sum.saturating_add(figure);
    }
}

fn sum(figures: &[i64]) -> i64 {
    figures.iter().fold(0_i64, |sum, figure| sum.saturating_add(*figure))
}

/// Bytes of the text of dynamic events that a row keeps, at most.
const MOST_DYNAMIC: usize = 8 << 10;

impl Life {
    /// Bytes to which roots of a kind led, on one heap.
    pub(super) fn add_root(&mut self, kind: usize, bytes: i64) {
        if kind >= ROOT_KINDS {
            return;
        }
        let roots = self.row.roots.get_or_insert_default();
        if roots.len() <= kind {
            roots.resize(kind + 1, 0);
        }
        roots[kind] = roots[kind].saturating_add(bytes);
    }

    /// An event without a fixed layout, as an object of JSON.
    pub(super) fn add_dynamic(&mut self, event: &str) {
        let known = self.row.dynamic.as_ref().map_or(1, String::len);
        if known.saturating_add(event.len()) >= MOST_DYNAMIC {
            return;
        }
        let text = self.row.dynamic.get_or_insert_default();
        match text.pop() {
            Some(_) => text.push(','),
            None => text.push('['),
        }
        text.push_str(event);
        text.push(']');
    }

    /// Sizes as the runtime sums them. Histories say more of generations.
    pub(super) fn set_stats(&mut self, stats: &HeapStats) {
        let row = &mut self.row;
        if row.heap_size.is_some() {
            return;
        }
        let sizes: Vec<i64> = stats.sizes.iter().copied().map_while(|size| size).collect();
        let promoted: Vec<i64> = stats.promoted.iter().copied().map_while(|bytes| bytes).collect();
        row.heap_size = (!sizes.is_empty()).then(|| sum(&sizes));
        if self.histories == 0 {
            row.size_after = Some(sizes).filter(|sizes| !sizes.is_empty());
            row.promoted = Some(promoted).filter(|promoted| !promoted.is_empty());
        }
        row.finalization_promoted = stats.finalization_promoted;
        row.pinned = stats.pinned;
        row.sync_blocks = stats.sync_blocks;
        row.handles = stats.handles;
    }

    pub(super) fn add_history(&mut self, history: &History<'_>) {
        let row = &mut self.row;
        match *history {
            History::Global { heaps, generation, pause_mode, mechanisms, memory_pressure } => {
                row.heaps = heaps;
                row.generation = generation.unwrap_or(row.generation);
                row.pause_mode = pause_mode;
                row.mechanisms = mechanisms;
                row.memory_pressure = memory_pressure;
            }
            History::Heap { generations, condemn_reasons } => {
                if self.histories == 0 {
                    // Histories take the place of the sums.
                    (row.size_after, row.promoted) = (None, None);
                }
                self.histories = self.histories.saturating_add(1);
                let generations = &generations[..generations.len().min(GENERATIONS)];
                add(&mut row.size_before, generations.iter().map(|of| of.before));
                add(&mut row.size_after, generations.iter().map(|of| of.after));
                add(&mut row.free, generations.iter().map(|of| of.free_after));
                add(&mut row.promoted, generations.iter().map(|of| of.survived));
                let mut objects = Some(std::mem::take(&mut self.objects));
                add(&mut objects, generations.iter().map(|of| of.before.saturating_sub(of.free_before).max(0)));
                self.objects = objects.unwrap_or_default();
                let survived = row.promoted.as_deref().unwrap_or_default().iter().zip(&self.objects);
                row.survival = Some(survived.map(|(survived, objects)| percent(*survived, *objects)).collect());
                row.peak_size = row.size_before.as_deref().map(sum);
                row.condemn_reasons = row.condemn_reasons.or(condemn_reasons);
            }
        }
    }
}

/// A share in percent, rounded down.
fn percent(part: i64, whole: i64) -> i64 {
    if whole <= 0 {
        return 0;
    }
    i64::try_from(i128::from(part) * 100 / i128::from(whole)).unwrap_or(i64::MAX)
}
