//! One time-ordered stream over all buffers of all files of a recording.
//!
//! Every buffer is a run whose first time is known without reading it. The records that are earlier than the first record of
//! every buffer not loaded yet are final: they are taken as one batch, put in order, and handed out. So no assumption is
//! needed about how buffers of one CPU follow each other: circular files, sessions without per-CPU buffers and files merged
//! from parts all come out right, and there are as many buffers in memory as overlap in time, about one per CPU.
//!
//! What costs time here is memory: the buffers of many CPUs together are larger than a core's cache. So the records of a
//! buffer are found in portions, shortly before they are handed out.

use crate::batch::Batch;
use crate::buffer::BufferRef;
use crate::damage::{DamageLog, kind};
use crate::file::EtlFile;
use crate::frame::{Entry, Framer};
use crate::load::{Content, Origin};
use crate::record::Record;

/// Records in a batch, about: what stays in a core's cache together with their bytes.
const BATCH: usize = 3072;
/// Bytes that are read ahead of the records handed out, over all buffers, for the same reason. Reading a page at a time costs no
/// more than reading whole buffers, as the bytes are still near when they are used.
const PIECES: usize = 512 << 10;
const PAGE: usize = 4096;
/// Records of a buffer that are looked at before the first of them is handed out: so far can one be out of order.
const AHEAD: usize = 16;

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

/// Which records a merge hands out.
pub trait Wanted {
    /// Whether every record is wanted; saves the question.
    const ALL: bool = false;

    /// Whether this record is wanted.
    fn wants(&self, record: &Record<'_>) -> bool;
}

/// All records are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Wanted for Everything {
    const ALL: bool = true;

    fn wants(&self, _: &Record<'_>) -> bool {
        true
    }
}

impl<F: Fn(&Record<'_>) -> bool> Wanted for F {
    fn wants(&self, record: &Record<'_>) -> bool {
        self(record)
    }
}

/// The records of several files, ordered by (time, CPU, file, sequence number of the buffer, offset).
pub struct Merge<'f, W = Everything> {
    files: &'f [EtlFile],
    wanted: W,
    memory_limit: usize,
    /// Buffers by their first time; those before `next_pending` were loaded.
    pending: Vec<Pending>,
    next_pending: usize,
    /// Loaded buffers by slot. Free slots keep their memory.
    runs: Vec<Run>,
    free: Vec<u32>,
    /// Slots in use, by (CPU, file, sequence number).
    order: Vec<u32>,
    memory: usize,
    batch: Batch,
    next: usize,
    /// Time of the last record of the last batch.
    floor: i64,
    input: Vec<u8>,
    /// Where a buffer is loaded before its wanted records are copied out of it.
    whole: Content,
    damage: Vec<DamageLog>,
    stored_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    time: i64,
    part: u16,
    index: u32,
}

/// How much of each buffer is at hand.
#[derive(Clone, Copy, Debug)]
struct Portion {
    /// Records that a batch takes, about.
    share: usize,
    /// Bytes read at once.
    piece: usize,
}

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

    fn is_finished(&self) -> bool {
        self.content.framer.done && self.rest().is_empty()
    }

    /// Finds records until there are enough to hand out. Their times are not below `floor`.
    fn fill(&mut self, portion: Portion, floor: i64, origin: Origin<'_>, buffer: &BufferRef, damage: &mut DamageLog) {
        let content = &mut self.content;
        content.forget(self.next);
        self.next = 0;
        content.find(AHEAD + 2 * portion.share, portion.piece, origin, buffer, damage);
        if !content.framer.sorted {
            content.entries.sort_by_key(|entry| entry.time);
            content.framer.sorted = true;
        }
        raise_late(&mut content.entries, floor, buffer, damage);
    }

    const fn order(&self) -> (u16, u16, i64, u32) {
        (self.cpu, self.part, self.sequence, self.index)
    }
}

impl<'f> Merge<'f> {
    /// All records of `files`, which must share a clock. A record's part is the index of its file.
    #[must_use]
    pub fn new(files: &'f [EtlFile], options: MergeOptions) -> Self {
        Self::of(files, options, Everything)
    }
}

impl<'f, W: Wanted> Merge<'f, W> {
    /// Those records of `files` that are `wanted`. Only these are kept in memory, so that a cursor over few of them can run
    /// beside one over all at little cost.
    #[must_use]
    pub fn of(files: &'f [EtlFile], options: MergeOptions, wanted: W) -> Self {
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
        Self {
            files,
            wanted,
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
            input: Vec::new(),
            whole: Content::default(),
            damage: vec![DamageLog::default(); files.len()],
            stored_bytes: 0,
        }
    }

    /// The next record; `None` at the end. Times never decrease.
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the buffer, which an Iterator cannot express"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Record<'_>> {
        if self.next == self.batch.entries().len() && !self.refill() {
            return None;
        }
        let entry = *self.batch.entries().get(self.next)?;
        self.next += 1;
        let run = self.runs.get(entry.slot())?;
        run.content.record(entry, run.cpu, run.part)
    }

    /// Time of the record that [`Merge::next`] will give.
    #[inline]
    pub fn peek_time(&mut self) -> Option<i64> {
        if self.next == self.batch.entries().len() && !self.refill() {
            return None;
        }
        self.batch.entries().get(self.next).map(|entry| entry.time)
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

    /// Makes the next batch; false at the end.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        self.top_up();
        let Some(low) = self.load_due() else {
            self.batch.begin(0, 0);
            self.next = 0;
            return false;
        };
        let last = self.final_until(low);
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
        self.next = 0;
        self.floor = batch.entries().last().map_or(self.floor, |entry| entry.time);
        !batch.entries().is_empty()
    }

    /// How much of each buffer is at hand, by the number of buffers.
    fn portion(&self) -> Portion {
        let buffers = self.order.len().max(1);
        Portion {
            share: (BATCH / buffers).clamp(24, 1024),
            piece: (PIECES / buffers).clamp(PAGE, 16 * PAGE) & !(PAGE - 1),
        }
    }

    /// Finds more records in the buffers at hand, and lets go of those that are used up.
    fn top_up(&mut self) {
        let portion = self.portion();
        let Self { files, runs, free, memory, damage, floor, .. } = self;
        self.order.retain(|slot| {
            let Some(run) = runs.get_mut(*slot as usize) else { return false };
            if run.rest().len() < AHEAD + portion.share
                && !run.content.framer.done
                && let Some(file) = files.get(usize::from(run.part))
                && let Some(buffer) = file.buffers().get(run.index as usize)
                && let Some(damage) = damage.get_mut(usize::from(run.part))
            {
                run.fill(portion, *floor, file.origin(), buffer, damage);
            }
            if run.is_finished() {
                *memory = memory.saturating_sub(run.memory);
                free.push(*slot);
                return false;
            }
            true
        });
    }

    /// Loads every buffer that begins no later than the earliest record at hand, and gives that record's time.
    fn load_due(&mut self) -> Option<i64> {
        let firsts = self.order.iter().filter_map(|slot| self.runs.get(*slot as usize)?.rest().first());
        let mut low = firsts.map(|entry| entry.time).min();
        while let Some(pending) = self.pending.get(self.next_pending).copied() {
            let enough = low.is_some_and(|low| pending.time > low);
            let full =
                !self.order.is_empty() && (self.memory >= self.memory_limit || self.order.len() >= Entry::MAX_SLOTS);
            if enough || full {
                break;
            }
            self.next_pending += 1;
            if let Some(first) = self.load(pending) {
                low = Some(low.map_or(first, |low| low.min(first)));
            }
        }
        low
    }

    /// The time up to which, inclusive, the records at hand are complete; cut so that a batch does not grow large.
    fn final_until(&self, low: i64) -> i64 {
        let at_hand = || self.order.iter().filter_map(|slot| self.runs.get(*slot as usize));
        let last_times = || at_hand().filter_map(|run| run.rest().last()).map(|entry| entry.time);
        let mut last = match self.pending.get(self.next_pending) {
            Some(pending) if pending.time > low => pending.time - 1,
            // No memory is left for the pending buffer: go on until one of the loaded is finished.
            Some(_) => last_times().min().unwrap_or(low),
            None => i64::MAX,
        };
        last = last.min(last_times().max().unwrap_or(low));
        let share = self.portion().share;
        for run in at_hand() {
            let rest = run.rest();
            let keep = if run.content.framer.done { share } else { rest.len().saturating_sub(AHEAD).min(share) };
            if let Some(entry) = rest.get(keep) {
                last = last.min(entry.time.saturating_sub(1));
            }
        }
        last.max(low)
    }

    /// Loads a buffer and gives the time of its first wanted record.
    fn load(&mut self, pending: Pending) -> Option<i64> {
        let portion = self.portion();
        let part = usize::from(pending.part);
        let file = self.files.get(part)?;
        let buffer = file.buffers().get(pending.index as usize)?;
        let damage = self.damage.get_mut(part)?;
        self.stored_bytes += u64::from(buffer.size);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.runs.push(Run::default());
            (self.runs.len() - 1) as u32
        });
        let run = self.runs.get_mut(slot as usize)?;
        (run.next, run.taken) = (0, 0);
        (run.cpu, run.part, run.sequence, run.index) = (buffer.cpu, pending.part, buffer.sequence, pending.index);
        if W::ALL {
            file.origin().load(buffer, &mut self.input, &mut run.content, damage);
        } else {
            file.origin().load_all(buffer, &mut self.input, &mut self.whole, damage);
            copy_wanted(&self.whole, &self.wanted, run);
        }
        run.fill(portion, self.floor, file.origin(), buffer, damage);
        let Some(first) = run.rest().first().map(|entry| entry.time) else {
            self.free.push(slot);
            return None;
        };
        run.memory = run.content.area.len() + size_of::<Entry>() * run.content.entries.capacity();
        self.memory += run.memory;
        let key = run.order();
        let place =
            self.order.partition_point(|other| self.runs.get(*other as usize).is_some_and(|other| other.order() < key));
        self.order.insert(place, slot);
        Some(first)
    }
}

/// Raises the times of records that are earlier than what was handed out already, so that times never decrease.
fn raise_late(entries: &mut [Entry], floor: i64, buffer: &BufferRef, damage: &mut DamageLog) {
    let late = entries.iter().take_while(|entry| entry.time < floor).count();
    if late > 0 {
        damage.add_many(kind::LATE_RECORD, late as u64, buffer.offset, 0, || {
            "records lie far behind later ones in their buffer, or too many buffers overlap in time".to_owned()
        });
        for entry in entries.iter_mut().take(late) {
            entry.time = floor;
        }
    }
}

/// Copies the wanted records of a loaded buffer into a run.
fn copy_wanted<W: Wanted>(whole: &Content, wanted: &W, run: &mut Run) {
    let Run { content, cpu, part, .. } = run;
    content.area.clear();
    content.entries.clear();
    for entry in &whole.entries {
        let Some(record) = whole.record(*entry, *cpu, *part).filter(|record| wanted.wants(record)) else { continue };
        content.entries.push(entry.moved(content.area.len()));
        content.area.extend_from_slice(record.bytes());
        content.area.resize(content.area.len().next_multiple_of(8), 0);
    }
    content.framer = Framer::finished();
}
