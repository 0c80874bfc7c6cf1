//! Ids of threads in recordings that were made inside a pid namespace (containers, WSL 2). What a sample says of its thread
//! are ids of the recorder's namespace. The fields of tracepoints have the kernel's own. The same thread has both in each
//! sample of a tracepoint: the tid, and `common_pid`.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_perf::{Kind, MergeOptions, Metadata, PerfFile, Record, is_of_a_guest};
use tracesift_trace::{Population, ThreadId};

use super::time::ticks;
use super::tracepoint::{Fields, Number};
use crate::error::Error;
use crate::progress::WATCH_EVERY;

/// Samples with both ids after which it is believed that they are the same.
const ENOUGH: usize = 64;
/// Records among which these are looked for.
const LOOKED_AT: u64 = 100_000;
/// Pairs of ids that are kept; what comes later is as threads that nobody has seen.
const MAX_PAIRS: usize = 1 << 20;

/// A thread of the namespace, as long as the kernel's id is seen together with its tid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    last: i64,
    /// 0 is a thread outside of the namespace.
    tid: u32,
}

/// What the ids in the fields of tracepoints are, beside those that samples have.
#[derive(Debug)]
pub(crate) enum Ids {
    /// Too few samples have both.
    Unknown,
    /// The same.
    Same,
    /// The recorder was in a namespace.
    Of(Namespace),
}

/// Which thread of the recorder's namespace the kernel's ids mean.
#[derive(Debug, Default)]
pub(crate) struct Namespace {
    /// By the kernel's id, in order of time.
    pairs: FxHashMap<u32, Vec<Pair>>,
    count: usize,
    /// Threads outside of the namespace, by the kernel's id.
    outside: FxHashMap<u32, ThreadId>,
    all_outside: FxHashSet<ThreadId>,
}

impl Namespace {
    /// Reads the ids of a recording, as far as it takes to tell whether its tracepoints have others than its samples, and all of them if
    /// so. `watch` is asked whether to go on.
    ///
    /// # Errors
    /// Those of `watch`.
    pub(crate) fn of(
        file: &PerfFile,
        metadata: &Metadata,
        options: MergeOptions,
        mut watch: impl FnMut() -> Result<(), Error>,
    ) -> Result<Ids, Error> {
        let has_threads = |index: usize| {
            matches!(
                metadata.event_name(index).as_str(),
                "sched:sched_switch" | "sched:sched_waking" | "sched:sched_wakeup" | "sched:sched_wakeup_new"
            )
        };
        if !(0..metadata.events.len()).any(has_threads) {
            return Ok(Ids::Unknown);
        }
        let fields = |index: usize| Fields::of(metadata, index)?.number("common_pid");
        let fields: Vec<Option<Number>> = (0..metadata.events.len()).map(fields).collect();
        let (mut namespace, mut seen, mut differ, mut records) = (Self::default(), 0, false, 0_u64);
        let mut merged = file.merged(options);
        while let Some(record) = merged.next() {
            records += 1;
            if records.is_multiple_of(WATCH_EVERY) {
                watch()?;
            }
            if let Some((id, tid, ticks)) = ids(&record, &fields) {
                seen += 1;
                differ |= id != tid;
                namespace.add(id, tid, ticks);
            }
            if !differ && (seen >= ENOUGH || records >= LOOKED_AT) {
                break;
            }
        }
        Ok(match (differ, seen) {
            (true, _) => Ids::Of(namespace),
            (false, 0) => Ids::Unknown,
            (false, _) => Ids::Same,
        })
    }

    fn add(&mut self, id: u32, tid: u32, ticks: i64) {
        if self.count >= MAX_PAIRS {
            return;
        }
        let pairs = self.pairs.entry(id).or_default();
        match pairs.last_mut() {
            Some(pair) if pair.tid == tid => pair.last = pair.last.max(ticks),
            _ => {
                pairs.push(Pair { last: ticks, tid });
                self.count += 1;
            }
        }
    }

    /// The tid of a thread with this id of the kernel: that with which it is seen next, else the last. `None` where it is
    /// outside of the namespace, or never seen.
    fn tid(&self, id: u32, ticks: i64) -> Option<u32> {
        let pairs = self.pairs.get(&id)?;
        let next = pairs.partition_point(|pair| pair.last < ticks);
        pairs.get(next).or(pairs.last()).map(|pair| pair.tid).filter(|tid| *tid != 0)
    }

    /// The thread that has this id of the kernel.
    pub(crate) fn thread_at(&mut self, id: u32, cpu: u16, ticks: i64, population: &mut Population) -> ThreadId {
        match self.tid(id, ticks) {
            Some(tid) => population.thread_at(tid, cpu, ticks),
            None if id == 0 => population.idle_thread(cpu),
            None => *self.outside.entry(id).or_insert_with(|| {
                let thread = population.outside_thread(id);
                self.all_outside.insert(thread);
                thread
            }),
        }
    }

    /// Whether a thread is outside of the namespace, so that samples of it have no tid.
    pub(crate) fn is_outside(&self, thread: ThreadId) -> bool {
        self.all_outside.contains(&thread)
    }

    /// As [`Self::thread_at`], but only for a thread that something else than this event shows.
    pub(crate) fn known_thread_at(
        &self,
        id: u32,
        cpu: u16,
        ticks: i64,
        population: &mut Population,
    ) -> Option<ThreadId> {
        match self.tid(id, ticks) {
            Some(tid) => population.known_thread_at(tid, cpu, ticks),
            None => self.outside.get(&id).copied(),
        }
    }
}

/// The kernel's id and the tid of a sample of a tracepoint. A thread that ends has lost its tid.
fn ids(record: &Record<'_>, fields: &[Option<Number>]) -> Option<(u32, u32, i64)> {
    if record.kind() != Kind::Sample || is_of_a_guest(record.cpu_mode()) {
        return None;
    }
    let field = fields.get(record.event()?)?.as_ref()?;
    let tid = u32::try_from(record.thread()?.1).ok()?;
    let id = field.id(record.sample().ok()?.raw?).filter(|id| *id != 0)?;
    Some((id, tid, ticks(record)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_used_again_means_the_thread_that_leaves_next() {
        let mut namespace = Namespace::default();
        for (ticks, tid) in [(10, 7), (20, 7), (40, 9), (60, 0)] {
            namespace.add(1007, tid, ticks);
        }
        for (ticks, tid) in [(5, Some(7)), (20, Some(7)), (21, Some(9)), (50, None), (99, None)] {
            assert_eq!(namespace.tid(1007, ticks), tid, "{ticks}");
        }
        assert_eq!(namespace.tid(7, 10), None);
    }
}
