//! One time-ordered stream over all buffers of all files of a recording.
//!
//! Every buffer is a run whose first time is known without reading it. The records that are earlier than the first record of
//! every buffer not loaded yet are final: they are taken as one batch, put in order, and handed out. So no assumption is
//! needed about how buffers of one CPU follow each other: circular files, sessions without per-CPU buffers and files merged
//! from parts all come out right, and there are as many buffers in memory as overlap in time, about one per CPU.

use std::sync::Arc;

use crate::batch::Batch;
use crate::buffer::BufferRef;
use crate::damage::{DamageLog, kind};
use crate::file::EtlFile;
use crate::frame::Entry;
use crate::load::Content;
use crate::prefetch::prefetch;
use crate::record::Record;
use crate::supply::{Loaded, Pending, Supply};
use crate::used_buffers::UsedBuffers;
use crate::wanted::{Everything, Wanted};

/// Records in a batch, about: what stays in a core's cache together with their bytes.
const BATCH: usize = 8192;
/// How many places ahead of the record that is handed out memory is asked for: neighbours in time lie in the buffers of different
/// CPUs, which no CPU foresees. Between 8 and 24 makes no difference.
const PREFETCH: usize = 12;

/// Bounds of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeOptions {
    /// Bytes of loaded buffers and of their record index. More than that only a damaged or hostile file needs; its records
    /// then come out with times raised so that they do not decrease, and are counted as late.
    pub memory_limit: usize,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { memory_limit: 768 << 20 }
    }
}

/// The records of several files, ordered by (time, CPU, file, sequence number of the buffer, offset).
pub struct Merge<W = Everything> {
    files: Vec<EtlFile>,
    memory_limit: usize,
    /// Buffers by their first time; those before `next_pending` were loaded.
    pending: Arc<[Pending]>,
    next_pending: usize,
    supply: Supply<W>,
    /// Loaded buffers by slot.
    runs: Vec<Run>,
    free: Vec<u32>,
    /// Slots in use, by (CPU, file, sequence number).
    order: Vec<u32>,
    memory: usize,
    batch: Batch,
    next: usize,
    /// Time of the last record of the last batch.
    floor: i64,
    damage: Vec<DamageLog>,
    stored_bytes: u64,
    /// By file.
    used: Vec<UsedBuffers>,
}

/// A loaded buffer.
#[derive(Debug, Default)]
struct Run {
    content: Content,
    /// The next entry of `content` to hand out, and how many of them are in the batch.
    next: usize,
    taken: usize,
    cpu: u16,
    part: u16,
    sequence: i64,
    index: u32,
    /// Bytes that were counted for it.
    memory: usize,
}

impl Run {
    fn rest(&self) -> &[Entry] {
        self.content.entries.get(self.next..).unwrap_or_default()
    }

    const fn order(&self) -> (u16, u16, i64, u32) {
        (self.cpu, self.part, self.sequence, self.index)
    }
}

impl Merge {
    /// All records of `files`, which must share a clock. A record's part is the index of its file.
    #[must_use]
    pub fn new(files: &[EtlFile], options: MergeOptions) -> Self {
        Self::of(files, options, Everything)
    }
}

impl<W: Wanted> Merge<W> {
    /// Those records of `files` that are `wanted`. Only these are kept in memory, so that a cursor over few of them can run
    /// beside one over all at little cost.
    #[must_use]
    pub fn of(files: &[EtlFile], options: MergeOptions, wanted: W) -> Self {
        let mut pending: Vec<Pending> = files
            .iter()
            .zip(0..=u16::MAX)
            .flat_map(|(file, part)| {
                file.buffers().iter().zip(0..=u32::MAX).map(move |(buffer, index)| {
                    // A buffer without records is looked at as well, first of all, to count its damage.
                    Pending { time: buffer.first_time.unwrap_or(i64::MIN), part, index }
                })
            })
            .collect();
        pending.sort_unstable();
        let pending = pending.into();
        Self {
            supply: Supply::new(files, &pending, wanted),
            files: files.to_vec(),
            memory_limit: options.memory_limit,
            pending,
            next_pending: 0,
            runs: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            memory: 0,
            batch: Batch::default(),
            next: 0,
            floor: i64::MIN,
            damage: vec![DamageLog::default(); files.len()],
            stored_bytes: 0,
            used: files.iter().map(|_| UsedBuffers::default()).collect(),
        }
    }

    /// The next record; `None` at the end. Times never decrease.
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the buffer, which an Iterator cannot express"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        let entry = self.upcoming()?;
        if let Some(later) = self.batch.entries().get(self.next + PREFETCH)
            && let Some(run) = self.runs.get(later.slot())
        {
            prefetch(run.content.area.bytes().get(later.offset()..).unwrap_or_default());
        }
        self.next += 1;
        let run = self.runs.get(entry.slot())?;
        run.content.record(entry, run.cpu, run.part)
    }

    /// Time of the record that [`Merge::next`] will give.
    #[inline]
    pub fn peek_time(&mut self) -> Option<i64> {
        self.upcoming().map(|entry| entry.time)
    }

    #[inline]
    fn upcoming(&mut self) -> Option<Entry> {
        if let Some(entry) = self.batch.entries().get(self.next) {
            return Some(*entry);
        }
        self.refill();
        self.batch.entries().first().copied()
    }

    /// What could not be used in the buffers read so far, for the file with index `part`; without the damage that
    /// [`EtlFile::open`] found.
    #[must_use]
    pub fn damage(&self, part: usize) -> Option<&DamageLog> {
        self.damage.get(part)
    }

    /// Bytes of the files' buffers that were read so far, for a progress display; the whole is the sum of
    /// [`crate::BufferRef::size`].
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.stored_bytes
    }

    /// Makes the next batch, which is empty at the end.
    #[inline(never)]
    fn refill(&mut self) {
        self.next = 0;
        self.release();
        let Some((low, last)) = self.load_due() else {
            self.batch.clear();
            return;
        };
        let (runs, batch) = (&mut self.runs, &mut self.batch);
        batch.begin(low, last);
        for slot in &self.order {
            let Some(run) = runs.get_mut(*slot as usize) else { continue };
            run.taken = batch.count(run.rest());
        }
        batch.lay_out();
        for slot in &self.order {
            let Some(run) = runs.get_mut(*slot as usize) else { continue };
            batch.place(run.rest().get(..run.taken).unwrap_or_default(), *slot);
            run.next += run.taken;
        }
        batch.finish();
        self.floor = batch.entries().last().map_or(self.floor, |entry| entry.time);
    }

    /// Lets go of the buffers that are used up.
    fn release(&mut self) {
        let Self { files, runs, free, memory, supply, used, .. } = self;
        self.order.retain(|slot| {
            let Some(run) = runs.get_mut(*slot as usize) else { return false };
            if run.rest().is_empty() {
                *memory = memory.saturating_sub(run.memory);
                supply.take_back(std::mem::take(&mut run.content));
                let part = usize::from(run.part);
                if let (Some(file), Some(used)) = (files.get(part), used.get_mut(part)) {
                    used.add(file, run.index);
                }
                free.push(*slot);
                return false;
            }
            true
        });
    }

    /// Loads every buffer that has a part in the next batch, and gives the times of the batch's first and last record; cut so that
    /// it does not grow large.
    fn load_due(&mut self) -> Option<(i64, i64)> {
        let share = (BATCH / self.order.len().max(1)).clamp(24, 1024);
        let cut = |run: &Run| run.rest().get(share).map_or(i64::MAX, |entry| entry.time.saturating_sub(1));
        let at_hand = || self.order.iter().filter_map(|slot| self.runs.get(*slot as usize));
        let mut low = at_hand().filter_map(|run| run.rest().first()).map(|entry| entry.time).min();
        let mut last = at_hand().map(cut).min().unwrap_or(i64::MAX);
        let mut new_records = 0;
        while let Some(pending) = self.pending.get(self.next_pending).copied() {
            if low.is_some_and(|low| pending.time > low.max(last)) {
                break;
            }
            if new_records >= BATCH && low.is_some_and(|low| pending.time > low) {
                // Short buffers: these are enough for a batch.
                last = pending.time - 1;
                break;
            }
            let full = self.memory >= self.memory_limit || self.order.len() >= Entry::MAX_SLOTS;
            if full && !self.order.is_empty() {
                // No memory is left for it: what is earlier is final, and then one of the loaded is finished.
                last = if low.is_some_and(|low| pending.time > low) {
                    pending.time - 1
                } else {
                    let last_times = self.order.iter().filter_map(|slot| self.runs.get(*slot as usize)?.rest().last());
                    last.min(last_times.map(|entry| entry.time).min().unwrap_or(last))
                };
                break;
            }
            self.next_pending += 1;
            if let Some(run) = self.load(pending).and_then(|slot| self.runs.get(slot)) {
                new_records += run.rest().len();
                let first = run.rest().first().map_or(i64::MAX, |entry| entry.time);
                low = Some(low.map_or(first, |low| low.min(first)));
                last = last.min(cut(run));
            }
        }
        let at_hand = self.order.iter().filter_map(|slot| self.runs.get(*slot as usize));
        let end = at_hand.filter_map(|run| run.rest().last()).map(|entry| entry.time).max()?;
        low.map(|low| (low, last.min(end).max(low)))
    }

    /// Takes a buffer from the supply and gives its slot; `None` when it has no wanted record.
    fn load(&mut self, pending: Pending) -> Option<usize> {
        let Loaded { content, damage: found } = self.supply.next(pending);
        let part = usize::from(pending.part);
        let buffer = self.files.get(part)?.buffers().get(pending.index as usize)?;
        let damage = self.damage.get_mut(part)?;
        damage.append(found);
        self.stored_bytes += u64::from(buffer.size);
        if content.entries.is_empty() {
            self.supply.take_back(content);
            return None;
        }
        let memory = content.area.memory() + size_of::<Entry>() * content.entries.capacity();
        let mut run = Run {
            content,
            next: 0,
            taken: 0,
            cpu: buffer.cpu,
            part: pending.part,
            sequence: buffer.sequence,
            index: pending.index,
            memory,
        };
        raise_late(&mut run.content.entries, self.floor, buffer, damage);
        self.memory += memory;
        let key = run.order();
        let place =
            self.order.partition_point(|other| self.runs.get(*other as usize).is_some_and(|other| other.order() < key));
        let slot = self.free.pop().unwrap_or_else(|| {
            self.runs.push(Run::default());
            (self.runs.len() - 1) as u32
        });
        *self.runs.get_mut(slot as usize)? = run;
        self.order.insert(place, slot);
        Some(slot as usize)
    }
}

/// Raises the times of records that are earlier than what was handed out already, so that times never decrease.
fn raise_late(entries: &mut [Entry], floor: i64, buffer: &BufferRef, damage: &mut DamageLog) {
    let late = entries.iter().take_while(|entry| entry.time < floor).count();
    if late > 0 {
        damage.add_many(kind::LATE_RECORD, late as u64, buffer.offset, 0, || {
            "records are earlier than the first of their buffer, or too many buffers overlap in time".to_owned()
        });
        for entry in entries.iter_mut().take(late) {
            entry.time = floor;
        }
    }
}
