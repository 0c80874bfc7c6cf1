//! Threads that work on slices; whoever uses them gets the slices in their order.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::slice_source::SliceSource;
use super::slice_worker::SliceWorker;
use super::slices::{Slice, Slices};
use super::worked_slice::WorkedSlice;
use crate::stage::{Stage, watched};

/// Slices that wait between the threads, beside the one that each worker has.
const WAITING: usize = 2;

/// A slice that was worked on.
pub(super) struct Done {
    /// Its number.
    pub(super) number: usize,
    pub(super) slice: Slice,
    pub(super) found: WorkedSlice,
    /// Which worker has numbered the halves.
    pub(super) worker: usize,
}

/// Works on all slices and hands each over, in order, as long as `take` goes on.
///
/// # Errors
/// That of `take`.
pub(super) fn each_slice<E>(
    slices: Slices,
    source: &Arc<SliceSource>,
    workers: usize,
    mut take: impl FnMut(&mut Done) -> Result<bool, E>,
) -> Result<(), E> {
    let (to_workers, jobs) = channel::<(usize, Slice)>();
    let jobs = Mutex::new(jobs);
    let (to_us, done) = channel();
    let (permit, permits) = channel();
    // What was found of slices that were taken, for its memory.
    let spare = Mutex::new(Vec::new());
    for _ in 0..workers + WAITING {
        // The other end lives as long as this function.
        let _ = permit.send(());
    }
    thread::scope(|scope| {
        spawn(scope, "slices", move || cut(slices, &permits, &to_workers));
        for worker in 0..workers {
            let (jobs, spare, to_us, source) = (&jobs, &spare, to_us.clone(), Arc::clone(source));
            let stages = source.stages.clone();
            spawn(scope, "slice worker", move || {
                let mut own = SliceWorker::new(source);
                let panic = TellsPanic(to_us);
                while let Some((number, slice)) = next(jobs) {
                    let mut found: WorkedSlice = locked(spare).pop().unwrap_or_default();
                    watched(stages.as_deref(), Stage::Slice, number, || own.work(&slice, &mut found));
                    if panic.0.send(Some((number, Done { number, slice, found, worker }))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(to_us);
        // Dropped at the end, whatever that is, so that the threads end.
        let (permit, done) = (permit, done);
        let mut early = BTreeMap::new();
        for expected in 0.. {
            let mut slice = loop {
                if let Some(slice) = early.remove(&expected) {
                    break slice;
                }
                // Without a message no worker is left; after a panic the end of the scope goes on with it.
                let Ok(Some((number, slice))) = done.recv() else { return Ok(()) };
                early.insert(number, slice);
            };
            if !take(&mut slice)? {
                return Ok(());
            }
            locked(&spare).push(slice.found);
            let _ = permit.send(());
        }
        Ok(())
    })
}

/// Tells whoever waits for slices that a worker panics: its slice never comes.
struct TellsPanic(Sender<Option<(usize, Done)>>);

impl Drop for TellsPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            // Where nobody waits nobody needs it.
            let _ = self.0.send(None);
        }
    }
}

/// Starts a thread.
pub(super) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, T> {
    let started = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, work);
    // Without threads nothing can be extracted: the encoder has one as well.
    started.expect("the system has a thread left")
}

/// Cuts slices as long as there are permits for more.
fn cut(slices: Slices, permits: &Receiver<()>, to_workers: &Sender<(usize, Slice)>) {
    for job in slices.enumerate() {
        if permits.recv().is_err() || to_workers.send(job).is_err() {
            return;
        }
    }
}

fn next(jobs: &Mutex<Receiver<(usize, Slice)>>) -> Option<(usize, Slice)> {
    locked(jobs).recv().ok()
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
