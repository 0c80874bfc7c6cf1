//! Loads buffers in the order in which a merge takes them, on threads of its own where that pays: to read, decompress and frame
//! the next buffers costs about as much as to put their records in order, and needs nothing of it. Where few records are
//! wanted there is little to put in order, and all cores load.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use crate::damage::{DamageLog, kind};
use crate::file::EtlFile;
use crate::frame::Entry;
use crate::load::Content;
use crate::wanted::Wanted;

/// Bytes that the threads load ahead, about.
const AHEAD_BYTES: usize = 8 << 20;
/// Buffers that they load ahead, at most.
const AHEAD_BUFFERS: usize = 32;
/// With fewer buffers a thread does not pay.
const FEW_BUFFERS: usize = 16;
/// Threads that load, at most; memory is not faster for more.
const MAX_LANES: usize = 4;

/// A buffer to be loaded: part and index, and its first time, by which they are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pending {
    pub(crate) time: i64,
    pub(crate) part: u16,
    pub(crate) index: u32,
}

/// A loaded buffer with what of it could not be used.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) content: Content,
    pub(crate) damage: DamageLog,
}

/// Gives the buffers of a list, one after the other.
pub(crate) enum Supply<W> {
    /// Loads a buffer when it is asked for; keeps used memory.
    Here { loader: Box<Loader<W>>, used: Vec<Content> },
    /// Other threads load ahead, each every so many-th buffer of the list.
    Ahead(Lanes),
}

/// The threads that load.
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    /// The one that has the next buffer.
    next: usize,
    /// The one that gets the next used memory.
    back: usize,
}

/// A thread that loads and gets used memory back.
struct Lane {
    loaded: Option<Receiver<Loaded>>,
    used: Sender<Content>,
    thread: Option<JoinHandle<()>>,
}

impl<W: Wanted> Supply<W> {
    /// The wanted records of the buffers of `files`, in the order of `pending`.
    pub(crate) fn new(files: &[EtlFile], pending: &Arc<[Pending]>, wanted: W) -> Self {
        let loader = Loader { files: files.to_vec(), wanted, input: Vec::new(), whole: Content::default() };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if pending.len() < FEW_BUFFERS || cores == 1 {
            return Self::here(loader);
        }
        let largest = files.iter().flat_map(EtlFile::buffers).map(|buffer| buffer.size.max(buffer.valid_end)).max();
        let ahead = (AHEAD_BYTES / largest.unwrap_or(1).max(1) as usize).clamp(1, AHEAD_BUFFERS);
        let count = if W::ALL { 1 } else { cores.min(MAX_LANES) };
        let lanes: Option<Vec<Lane>> = (0..count)
            .map(|first| Lane::start(loader.clone(), Arc::clone(pending), first, count, ahead.div_ceil(count)))
            .collect();
        match lanes {
            Some(lanes) => Self::Ahead(Lanes { lanes, next: 0, back: 0 }),
            None => Self::here(loader),
        }
    }

    fn here(loader: Loader<W>) -> Self {
        Self::Here { loader: Box::new(loader), used: Vec::new() }
    }

    /// The next buffer of the list, which is `pending`.
    pub(crate) fn next(&mut self, pending: Pending) -> Loaded {
        match self {
            Self::Here { loader, used } => loader.load(pending, used.pop().unwrap_or_default()),
            Self::Ahead(lanes) => lanes.next(),
        }
    }

    /// Takes memory back that is no longer needed.
    pub(crate) fn take_back(&mut self, content: Content) {
        match self {
            Self::Here { used, .. } => used.push(content),
            Self::Ahead(lanes) => lanes.take_back(content),
        }
    }
}

impl Lanes {
    fn next(&mut self) -> Loaded {
        let loaded = self.lanes.get(self.next).map(Lane::next).unwrap_or_default();
        self.next = (self.next + 1) % self.lanes.len().max(1);
        loaded
    }

    /// Each thread gets as much back as any other: a merge lets go of several buffers before it takes the next ones, and what
    /// always the same thread gets would pile up there while the others take new memory.
    fn take_back(&mut self, content: Content) {
        if let Some(lane) = self.lanes.get(self.back) {
            // Where the thread is through nobody needs it.
            drop(lane.used.send(content));
        }
        self.back = (self.back + 1) % self.lanes.len().max(1);
    }
}

impl Lane {
    /// Starts the thread; it loads the buffers `first`, `first + step` and so on, `ahead` of them before they are asked for.
    /// `None` where the system has no thread left.
    fn start<W: Wanted>(
        loader: Loader<W>,
        pending: Arc<[Pending]>,
        first: usize,
        step: usize,
        ahead: usize,
    ) -> Option<Self> {
        let (to_merge, loaded) = sync_channel(ahead);
        let (used, from_merge) = channel();
        let thread = Builder::new().name("etl reader".to_owned()).spawn(move || {
            loader.load_all(pending.iter().skip(first).step_by(step), &to_merge, &from_merge);
        });
        Some(Self { loaded: Some(loaded), used, thread: Some(thread.ok()?) })
    }

    fn next(&self) -> Loaded {
        self.loaded.as_ref().and_then(|loaded| loaded.recv().ok()).unwrap_or_else(|| {
            let mut lost = Loaded::default();
            let detail = || "the thread that reads buffers has ended before its time".to_owned();
            lost.damage.add(kind::UNREADABLE_BUFFER, 0, 0, detail);
            lost
        })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The thread ends when nobody takes what it loads.
        drop(self.loaded.take());
        if let Some(thread) = self.thread.take() {
            // Its panic, if there was one, has been counted as damage.
            let _ = thread.join();
        }
    }
}

#[derive(Clone)]
pub(crate) struct Loader<W> {
    files: Vec<EtlFile>,
    wanted: W,
    input: Vec<u8>,
    /// A loaded buffer, before its wanted records are taken out of it.
    whole: Content,
}

impl<W: Wanted> Loader<W> {
    fn load_all<'p>(
        mut self,
        list: impl Iterator<Item = &'p Pending>,
        to_merge: &SyncSender<Loaded>,
        from_merge: &Receiver<Content>,
    ) {
        for pending in list {
            let content = from_merge.try_recv().unwrap_or_default();
            if to_merge.send(self.load(*pending, content)).is_err() {
                return;
            }
        }
    }

    fn load(&mut self, pending: Pending, mut content: Content) -> Loaded {
        let Self { files, wanted, input, whole } = self;
        let mut damage = DamageLog::default();
        content.entries.clear();
        let file = files.get(usize::from(pending.part));
        if let Some((file, buffer)) = file.and_then(|file| Some((file, file.buffers().get(pending.index as usize)?))) {
            if W::ALL {
                file.origin().load(buffer, input, &mut content, &mut damage);
            } else {
                file.origin().load(buffer, input, whole, &mut damage);
                take_wanted(whole, wanted, &mut content, buffer.cpu, pending.part);
            }
        }
        Loaded { content, damage }
    }
}

/// Takes the wanted records out of a loaded buffer: where the recording is in memory only their places, else copies of them.
fn take_wanted<W: Wanted>(whole: &Content, wanted: &W, content: &mut Content, cpu: u16, part: u16) {
    let is_wanted = |entry: &&Entry| whole.record(**entry, cpu, part).is_some_and(|record| wanted.wants(&record));
    if whole.area.is_shared() {
        content.area = whole.area.clone();
        content.entries.extend(whole.entries.iter().filter(is_wanted));
        return;
    }
    let area = content.area.own();
    area.clear();
    for entry in whole.entries.iter().filter(is_wanted) {
        let Some(record) = whole.record(*entry, cpu, part) else { continue };
        content.entries.push(entry.moved(area.len()));
        area.extend_from_slice(record.bytes());
        area.resize(area.len().next_multiple_of(8), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several buffers are let go of at once, then as many are taken: no thread gets more memory than it uses.
    #[test]
    fn used_memory_goes_to_all_threads_alike() {
        let threads: Vec<_> = (0..2).map(|_| (sync_channel(1), channel())).collect();
        let (mut ends, mut lanes) = (Vec::new(), Lanes { lanes: Vec::new(), next: 0, back: 0 });
        for ((to_merge, loaded), (used, from_merge)) in threads {
            lanes.lanes.push(Lane { loaded: Some(loaded), used, thread: None });
            ends.push((to_merge, from_merge));
        }
        let mut allocated = 0;
        for _ in 0..100 {
            let taken: Vec<Loaded> = (0..2)
                .map(|lane: usize| {
                    let (to_merge, from_merge) = &ends[lane];
                    let content = from_merge.try_recv().unwrap_or_else(|_| {
                        allocated += 1;
                        Content::default()
                    });
                    to_merge.send(Loaded { content, damage: DamageLog::default() }).expect("it is awaited");
                    lanes.next()
                })
                .collect();
            taken.into_iter().for_each(|loaded| lanes.take_back(loaded.content));
        }
        assert_eq!(allocated, 2);
    }
}
