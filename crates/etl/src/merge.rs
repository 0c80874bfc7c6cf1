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
use crate::record::Record;
use crate::record_batch::{Buffer, RecordBatch};
use crate::supply::{Loaded, Pending, Supply};
use crate::used_buffers::UsedBuffers;
use crate::wanted::{Everything, Wanted};

/// Records in a batch, about: what stays in a core's cache together with their bytes.
const BATCH: usize = 8192;

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
    runs: Vec<Option<Run>>,
    free: Vec<u32>,
    /// Slots in use, by (CPU, file, sequence number).
    order: Vec<u32>,
    memory: usize,
    sorter: Batch,
    /// The records in order, and the next of them to hand out.
    batch: RecordBatch,
    next: usize,
    /// Time of the last record of the last batch.
    floor: i64,
    damage: Vec<DamageLog>,
    stored_bytes: u64,
    /// By file.
    used: Vec<Arc<UsedBuffers>>,
}

/// A loaded buffer, of which records are still to be handed out.
struct Run {
    buffer: Arc<Buffer>,
    /// The next entry to hand out, and how many of them are in the batch.
    next: usize,
    taken: usize,
    /// CPU, part, sequence number, index.
    order: (u16, u16, i64, u32),
    /// Bytes that were counted for it.
    memory: usize,
}

impl Run {
    fn rest(&self) -> &[Entry] {
        self.buffer.content.entries.get(self.next..).unwrap_or_default()
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
            sorter: Batch::default(),
            batch: RecordBatch::default(),
            next: 0,
            floor: i64::MIN,
            damage: vec![DamageLog::default(); files.len()],
            stored_bytes: 0,
            used: files.iter().map(|file| Arc::new(UsedBuffers::of(file))).collect(),
        }
    }

    /// The next record; `None` at the end. Times never decrease.
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the buffer, which an Iterator cannot express"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        self.upcoming()?;
        self.next += 1;
        self.batch.record(self.next - 1)
    }

    /// Time of the record that [`Merge::next`] will give.
    #[inline]
    pub fn peek_time(&mut self) -> Option<i64> {
        self.upcoming().map(|entry| entry.time)
    }

    /// The next records, some thousand of them, for any thread; `None` at the end. Those that [`Merge::next`] has given already are left
    /// out.
    pub fn next_batch(&mut self) -> Option<RecordBatch> {
        self.upcoming()?;
        let mut batch = std::mem::take(&mut self.batch);
        batch.skip(std::mem::take(&mut self.next));
        Some(batch)
    }

    #[inline]
    fn upcoming(&mut self) -> Option<Entry> {
        if let Some(entry) = self.batch.entries.get(self.next) {
            return Some(*entry);
        }
        self.refill();
        self.batch.entries.first().copied()
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
        // What nobody needs goes back before more is loaded.
        let mut batch = std::mem::take(&mut self.batch);
        batch.entries.clear();
        batch.buffers.clear();
        batch.new_bytes = 0;
        self.release();
        if let Some((low, last)) = self.load_due() {
            self.sort(low, last, &mut batch);
        }
        self.floor = batch.entries.last().map_or(self.floor, |entry| entry.time);
        self.batch = batch;
    }

    /// Puts the records at hand between two times, both included, in order into an empty batch, with their buffers.
    fn sort(&mut self, low: i64, last: i64, batch: &mut RecordBatch) {
        let Self { sorter, runs, order, .. } = self;
        sorter.begin(low, last, std::mem::take(&mut batch.entries));
        for slot in &*order {
            let Some(Some(run)) = runs.get_mut(*slot as usize) else { continue };
            run.taken = sorter.count(run.rest());
        }
        sorter.lay_out();
        for slot in &*order {
            let Some(Some(run)) = runs.get_mut(*slot as usize) else { continue };
            if run.taken > 0 {
                sorter.place(run.rest().get(..run.taken).unwrap_or_default(), batch.buffers.len());
                batch.buffers.push(Arc::clone(&run.buffer));
                batch.new_bytes += if run.next == 0 { run.memory } else { 0 };
                run.next += run.taken;
            }
        }
        batch.entries = sorter.finish();
    }

    /// Lets go of the buffers that are used up.
    fn release(&mut self) {
        let Self { runs, free, memory, .. } = self;
        self.order.retain(|slot| {
            let Some(place) = runs.get_mut(*slot as usize) else { return false };
            match place {
                Some(run) if !run.rest().is_empty() => true,
                used_up => {
                    *memory = memory.saturating_sub(used_up.take().map_or(0, |run| run.memory));
                    free.push(*slot);
                    false
                }
            }
        });
    }

    /// Loads every buffer that has a part in the next batch, and gives the times of the batch's first and last record; cut so that
    /// it does not grow large.
    fn load_due(&mut self) -> Option<(i64, i64)> {
        let share = (BATCH / self.order.len().max(1)).clamp(24, 1024);
        let cut = |run: &Run| run.rest().get(share).map_or(i64::MAX, |entry| entry.time.saturating_sub(1));
        let at_hand = || self.order.iter().filter_map(|slot| self.run(*slot));
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
                    let last_times = self.order.iter().filter_map(|slot| self.run(*slot)?.rest().last());
                    last.min(last_times.map(|entry| entry.time).min().unwrap_or(last))
                };
                break;
            }
            self.next_pending += 1;
            if let Some(run) = self.load(pending).and_then(|slot| self.run(slot)) {
                new_records += run.rest().len();
                let first = run.rest().first().map_or(i64::MAX, |entry| entry.time);
                low = Some(low.map_or(first, |low| low.min(first)));
                last = last.min(cut(run));
            }
        }
        let at_hand = self.order.iter().filter_map(|slot| self.run(*slot));
        let end = at_hand.filter_map(|run| run.rest().last()).map(|entry| entry.time).max()?;
        low.map(|low| (low, last.min(end).max(low)))
    }

    /// The loaded buffer in a slot.
    fn run(&self, slot: u32) -> Option<&Run> {
        self.runs.get(slot as usize)?.as_ref()
    }

    /// Takes a buffer from the supply and gives its slot; `None` when it has no wanted record.
    fn load(&mut self, pending: Pending) -> Option<u32> {
        let Loaded { mut content, damage: found } = self.supply.next(pending);
        let part = usize::from(pending.part);
        let buffer = self.files.get(part)?.buffers().get(pending.index as usize)?;
        let damage = self.damage.get_mut(part)?;
        damage.append(found);
        self.stored_bytes += u64::from(buffer.size);
        if content.entries.is_empty() {
            return None;
        }
        // Not what is free in it, which is chance: two merges of one recording make the same batches.
        let memory = content.area.memory() + size_of::<Entry>() * content.entries.len();
        raise_late(&mut content.entries, self.floor, buffer, damage);
        self.memory += memory;
        let order = (buffer.cpu, pending.part, buffer.sequence, pending.index);
        let used = Arc::clone(self.used.get(part)?);
        let buffer = Arc::new(Buffer { content, cpu: buffer.cpu, part: pending.part, index: pending.index, used });
        let place = self.order.partition_point(|other| self.run(*other).is_some_and(|other| other.order < order));
        let slot = self.free.pop().unwrap_or_else(|| {
            self.runs.push(None);
            (self.runs.len() - 1) as u32
        });
        *self.runs.get_mut(slot as usize)? = Some(Run { buffer, next: 0, taken: 0, order, memory });
        self.order.insert(place, slot);
        Some(slot)
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
