//! Loads buffers in the order in which a merge takes them, on threads of its own where that pays: to read, decompress and frame
//! the next buffers costs about as much as to put their records in order, and needs nothing of it. Where few records are
//! wanted there is little to put in order, and all cores load.

use std::ops::{Deref, DerefMut};
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
/// Memory of a buffer that is kept for any other one, bytes.
const LITTLE: usize = 1 << 20;
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
    pub(crate) content: Returning,
    pub(crate) damage: DamageLog,
}

/// Content that returns its memory to whoever loads more, once it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Returning {
    content: Content,
    home: Option<Sender<Content>>,
}

impl Deref for Returning {
    type Target = Content;

    #[inline]
    fn deref(&self) -> &Content {
        &self.content
    }
}

impl DerefMut for Returning {
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.content
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            // Where nothing is loaded any more nobody needs it.
            drop(home.send(std::mem::take(&mut self.content)));
        }
    }
}

/// Gives the buffers of a list, one after the other.
pub(crate) enum Supply<W> {
    /// Loads a buffer when it is asked for.
    Here(Box<Loader<W>>),
    /// Other threads load ahead, each every so many-th buffer of the list.
    Ahead(Lanes),
}

/// The threads that load.
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    /// The one that has the next buffer.
    next: usize,
}

/// A thread that loads.
struct Lane {
    loaded: Option<Receiver<Loaded>>,
    thread: Option<JoinHandle<()>>,
}

impl<W: Wanted> Supply<W> {
    /// The wanted records of the buffers of `files`, in the order of `pending`.
    pub(crate) fn new(files: &[EtlFile], pending: &Arc<[Pending]>, wanted: W) -> Self {
        let loader = || Loader::new(files, wanted.clone());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if pending.len() < FEW_BUFFERS || cores == 1 {
            return Self::Here(Box::new(loader()));
        }
        let largest = files.iter().flat_map(EtlFile::buffers).map(|buffer| buffer.size.max(buffer.valid_end)).max();
        let ahead = (AHEAD_BYTES / largest.unwrap_or(1).max(1) as usize).clamp(1, AHEAD_BUFFERS);
        let count = if W::ALL { 1 } else { cores.min(MAX_LANES) };
        let lanes: Option<Vec<Lane>> = (0..count)
            .map(|first| Lane::start(loader(), Arc::clone(pending), first, count, ahead.div_ceil(count)))
            .collect();
        match lanes {
            Some(lanes) => Self::Ahead(Lanes { lanes, next: 0 }),
            None => Self::Here(Box::new(loader())),
        }
    }

    /// The next buffer of the list, which is `pending`.
    pub(crate) fn next(&mut self, pending: Pending) -> Loaded {
        match self {
            Self::Here(loader) => loader.load(pending),
            Self::Ahead(lanes) => lanes.next(),
        }
    }
}

impl Lanes {
    fn next(&mut self) -> Loaded {
        let loaded = self.lanes.get(self.next).map(Lane::next).unwrap_or_default();
        self.next = (self.next + 1) % self.lanes.len().max(1);
        loaded
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
        let thread = Builder::new().name("etl reader".to_owned()).spawn(move || {
            loader.load_all(pending.iter().skip(first).step_by(step), &to_merge);
        });
        Some(Self { loaded: Some(loaded), thread: Some(thread.ok()?) })
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

/// Loads buffers. Its memory is that of earlier ones which has come back.
pub(crate) struct Loader<W> {
    files: Vec<EtlFile>,
    wanted: W,
    input: Vec<u8>,
    /// A loaded buffer, before its wanted records are taken out of it.
    whole: Content,
    home: Sender<Content>,
    returned: Receiver<Content>,
}

impl<W: Wanted> Loader<W> {
    fn new(files: &[EtlFile], wanted: W) -> Self {
        let (home, returned) = channel();
        Self { files: files.to_vec(), wanted, input: Vec::new(), whole: Content::default(), home, returned }
    }

    fn load_all<'p>(mut self, list: impl Iterator<Item = &'p Pending>, to_merge: &SyncSender<Loaded>) {
        for pending in list {
            if to_merge.send(self.load(*pending)).is_err() {
                return;
            }
        }
    }

    fn load(&mut self, pending: Pending) -> Loaded {
        let Self { files, wanted, input, whole, home, returned } = self;
        let file = files.get(usize::from(pending.part));
        let buffer = file.and_then(|file| Some((file, file.buffers().get(pending.index as usize)?)));
        let size = buffer.map_or(0, |(_, buffer)| buffer.size.max(buffer.valid_end) as usize);
        // The memory of a much larger one is not kept for it.
        let fits = |content: &Content| content.area.capacity() <= (4 * size).max(LITTLE);
        let mut content = returned.try_recv().ok().filter(fits).unwrap_or_default();
        let mut damage = DamageLog::default();
        content.entries.clear();
        if let Some((file, buffer)) = buffer {
            if W::ALL {
                file.origin().load(buffer, input, &mut content, &mut damage);
            } else {
                file.origin().load(buffer, input, whole, &mut damage);
                take_wanted(whole, wanted, &mut content, buffer.cpu, pending.part);
            }
        }
        Loaded { content: Returning { content, home: Some(home.clone()) }, damage }
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
    use crate::wanted::Everything;

    /// Several buffers are let go of at once, then as many are taken.
    #[test]
    fn used_memory_goes_back_to_whoever_loads() {
        let mut loader = Loader::new(&[], Everything);
        let nowhere = Pending { time: 0, part: 0, index: 0 };
        let mut first: Vec<Loaded> = (0..3).map(|_| loader.load(nowhere)).collect();
        for loaded in &mut first {
            loaded.content.area.own().reserve(1 << 10);
        }
        drop(first);
        let again: Vec<Loaded> = (0..4).map(|_| loader.load(nowhere)).collect();
        let used = again.iter().filter(|loaded| loaded.content.area.capacity() >= 1 << 10);
        assert_eq!(used.count(), 3);
    }
}
