//! What a worker found out about a slice of the recording: rows, and what only those can know who have the slices before.

use tracesift_archive::RowBlock;
use tracesift_trace::Health;
use tracesift_trace::ids::{ProcessId, StackId, ThreadId};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow};
use tracesift_trace::stack_binder::Untaken;
use tracesift_trace::switches::{Deferred, Runs, SliceEnd};

/// What is left to do for a slice, in the order of its records.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The next stack of the slice is this pair of the worker's.
    Stack { pair: u32 },
    /// Tables of stacks may be dropped here, wherever the recording is cut.
    Pace,
    /// The next deferred event, behind so many rows of switches.
    Deferred { switches: u32 },
    /// A switch between other threads than the switches before it tell.
    Unexpected { ticks: i64, cpu: u16, old: ThreadId, runs: Runs },
    /// A record.
    Raw(RawStep),
}

/// A record that may become a row, or is kept as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawStep {
    /// Its batch, its place there, and the stack records of the slice before it.
    pub(super) batch: u32,
    pub(super) index: u32,
    pub(super) walked: u32,
    /// Rows of samples before it.
    pub(super) samples: u32,
    pub(super) stack: Bound,
    /// Who runs on its CPU.
    pub(super) runs: Runs,
    pub(super) rest: RestOf,
}

/// What is left to do for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestOf {
    /// All.
    Record,
    /// All of a sample.
    SampleRow,
    /// Nothing but to keep it, if it is kept, and to find its stack, if that is open: that of a switch, a ready event or a sample. The
    /// stack is the next one of the slice, then.
    Switch,
    Ready,
    Sample,
    /// Nothing but to keep it.
    Event,
}

/// The stack of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Nobody has looked for it.
    Open,
    /// It has none.
    None,
    /// This stack of the slice.
    Stack(StackId),
}

/// What the slices before decide.
#[derive(Debug)]
pub(super) struct DeferredEvent {
    pub(super) deferred: Deferred,
    /// Tids of its threads that no record tells of.
    pub(super) unknown: UnknownTids,
    /// Whether the hardware counters of the switch are those that somebody else has changed, if that happened before the slice.
    pub(super) asks_counters: bool,
}

/// Tids of the threads of a switch, or of the thread that a ready event names; `None` where records tell of the thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnknownTids {
    pub(super) new: Option<u32>,
    pub(super) old: Option<u32>,
}

/// A half that another record brings for a record of this slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brought {
    /// Place of the record among the steps of the slice.
    pub(super) step: u32,
    pub(super) half: ToldHalf,
    /// The .NET runtime wrote it; else it belongs to the kernel half in the record.
    pub(super) of_runtime: bool,
}

/// A half that the worker has not told of before.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewHalf {
    pub(super) process: ProcessId,
    pub(super) ticks: i64,
    /// How many of the new addresses are its own.
    pub(super) length: u32,
}

/// A half that the worker has told of: its number among those, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldHalf(pub(super) u32);

/// A kernel half and a user half.
pub(super) type ToldPair = [Option<ToldHalf>; 2];

/// Halves that no event took.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftHalves {
    /// Their event; its halves are those of the worker.
    pub(super) event: Untaken,
    pub(super) pair: ToldPair,
    /// Any open record of that time may take them; else only a switch or ready event that is open because of where the slice begins.
    pub(super) for_any: bool,
}

/// Deferred events for which memory is kept.
const MANY_DEFERRED: usize = 1 << 15;

/// What a worker found out about a slice.
#[derive(Default)]
pub(super) struct WorkedSlice {
    pub(super) steps: Vec<Step>,
    pub(super) deferred: Vec<DeferredEvent>,
    /// Rows that need nothing of the slices before but the ids of their stacks: those are numbers of the slice.
    pub(super) switches: RowBlock<ContextSwitchRow>,
    pub(super) samples: RowBlock<CpuSampleRow>,
    /// Who runs and who waits at the end.
    pub(super) end: SliceEnd,
    /// CPUs of which a switch has told counters in this slice, or whose counters somebody else has changed.
    pub(super) counters: Vec<CountersOfCpu>,
    /// Halves that no event took here, in the order of time.
    pub(super) left: Vec<LeftHalves>,
    pub(super) brought: Vec<Brought>,
    pub(super) new_halves: Vec<NewHalf>,
    pub(super) new_addresses: Vec<u64>,
    /// The next numbers of pairs.
    pub(super) new_pairs: Vec<ToldPair>,
    /// Pids without any record, with the time at which they were met; their processes have the numbers behind the known ones.
    pub(super) new_pids: Vec<(u32, i64)>,
    /// Numbers of halves, pairs and processes begin anew with this slice.
    pub(super) is_anew: bool,
    pub(super) health: Health,
}

/// Hardware counters of a CPU within a slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountersOfCpu {
    /// A switch has told them.
    pub(super) are_told: bool,
    /// Somebody else has changed them since, or since the begin of the slice.
    pub(super) changed: bool,
}

impl WorkedSlice {
    /// Nothing of the slice before, whose memory is used again.
    pub(super) fn begin(&mut self, is_anew: bool) {
        // A slice of threads without records defers most of its switches. Others need not keep memory for that.
        if self.deferred.capacity() > MANY_DEFERRED {
            self.deferred = Vec::new();
        }
        let Self { steps, deferred, switches, samples, counters, .. } = self;
        steps.clear();
        deferred.clear();
        switches.clear();
        samples.clear();
        counters.clear();
        let Self { left, brought, new_halves, new_addresses, new_pairs, new_pids, .. } = self;
        left.clear();
        brought.clear();
        new_halves.clear();
        new_addresses.clear();
        new_pairs.clear();
        new_pids.clear();
        (self.is_anew, self.health) = (is_anew, Health::new());
    }

    /// The counters of a CPU.
    pub(super) fn counters_of(&mut self, cpu: u16) -> &mut CountersOfCpu {
        let cpu = usize::from(cpu);
        if self.counters.len() <= cpu {
            self.counters.resize(cpu + 1, CountersOfCpu::default());
        }
        &mut self.counters[cpu]
    }
}
