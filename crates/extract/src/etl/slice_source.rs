//! What the first pass has found, as those need it who work on slices of the recording side by side.

use std::sync::Arc;

use tracesift_trace::Clock;
use tracesift_trace::code_map::CodeMap;
use tracesift_trace::owners::Owners;
use tracesift_trace::sampling::SamplingIntervals;
use tracesift_trace::stack_keys::StackKeys;
use tracesift_trace::switches::Deaths;

use super::inventory::{CutFacts, LateStacks};
use super::slices::Slice;
use crate::event_kinds::WantedHooks;
use crate::stage::StageWatch;
use crate::table_choice::WantedTables;

/// What all workers read.
pub(super) struct SliceSource {
    pub(super) clock: Clock,
    /// Whether stacks are looked for; else no record has one.
    pub(super) has_stacks: bool,
    pub(super) owners: Arc<Owners>,
    /// Ends of threads.
    pub(super) deaths: Deaths,
    pub(super) intervals: SamplingIntervals,
    pub(super) keys: Arc<StackKeys>,
    pub(super) code: Arc<CodeMap>,
    /// Those that come later than the look-ahead.
    pub(super) late: LateStacks,
    /// How far workers look ahead, ticks.
    pub(super) lead: i64,
    /// What is before each cut.
    pub(super) cuts: Vec<CutFacts>,
    /// Records were lost: who runs on a CPU is not certain.
    pub(super) lossy: bool,
    /// Whether somebody must be told of switches that fit nothing before, as calls are open.
    pub(super) has_system_calls: bool,
    pub(super) wanted: WantedTables,
    /// Whether switches are followed, also where their table is not wanted.
    pub(super) follows_switches: bool,
    /// Kernel events that are kept one by one.
    pub(super) events: Option<WantedHooks>,
    /// Records between two places at which tables of stacks may be dropped: slices must not decide that.
    pub(super) pace: u64,
    /// Bytes for the tables of a worker.
    pub(super) budget: usize,
    pub(super) stages: Option<Arc<dyn StageWatch>>,
}

impl SliceSource {
    /// What is before a slice.
    pub(super) fn before(&self, slice: &Slice) -> CutFacts {
        self.cuts.get(slice.cuts_before).copied().unwrap_or_default()
    }
}
