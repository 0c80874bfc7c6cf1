//! Decodes the rows of a table on a thread of its own, while worker threads use them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tracesift_archive::Error;

/// Rows per chunk. A worker orders the rows of a chunk by process, which pays from some thousand
/// rows on.
const CHUNK: usize = 16 * 1024;
/// Full chunks that wait for a worker, at most.
const WAITING: usize = 1;

/// A worker: it takes rows, a chunk at a time.
pub(crate) type Worker<'a, T> = &'a mut (dyn FnMut(&[T]) + Send);

/// Runs `scan` on a thread of its own. `worker_of` tells the number of the worker that gets a row. The
/// first worker runs on the calling thread, the others on threads of their own. Each worker gets
/// its rows in the order of `scan`. Chunks are used again, so a row costs no allocation.
///
/// # Errors
/// The errors of `scan`. The workers have the rows before the error.
pub(crate) fn scan_ahead<'a, T: Clone + Send + 'a>(
    scan: impl FnOnce(&mut dyn FnMut(&T)) -> Result<(), Error> + Send,
    worker_of: impl Fn(&T) -> usize + Send,
    workers: impl IntoIterator<Item = Worker<'a, T>>,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let (mut all, mut here) = (Vec::new(), None);
        for worker in workers {
            let (filled, full) = sync_channel(WAITING);
            // One more is being filled, and one looked at.
            let (empty, emptied) = sync_channel(WAITING + 2);
            all.push(ToWorker { chunk: Vec::with_capacity(CHUNK), filled, emptied });
            if here.is_none() {
                here = Some((worker, full, empty));
            } else {
                scope.spawn(move || work(worker, &full, &empty));
            }
        }
        let scanning = scope.spawn(move || {
            let result = scan(&mut |row| {
                if let Some(worker) = all.get_mut(worker_of(row)) {
                    worker.push(row.clone());
                }
            });
            all.iter_mut().for_each(ToWorker::send);
            result
        });
        if let Some((worker, full, empty)) = here {
            work(worker, &full, &empty);
        }
        scanning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The queue to a worker.
struct ToWorker<T> {
    chunk: Vec<T>,
    filled: SyncSender<Vec<T>>,
    emptied: Receiver<Vec<T>>,
}

impl<T> ToWorker<T> {
    #[inline]
    fn push(&mut self, row: T) {
        self.chunk.push(row);
        if self.chunk.len() == CHUNK {
            self.send();
        }
    }

    /// Sends the current chunk.
    fn send(&mut self) {
        let next = self.emptied.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        drop(self.filled.send(std::mem::replace(&mut self.chunk, next)));
    }
}

fn work<T>(worker: Worker<'_, T>, full: &Receiver<Vec<T>>, empty: &SyncSender<Vec<T>>) {
    for mut chunk in full {
        worker(&chunk);
        chunk.clear();
        drop(empty.try_send(chunk));
    }
}

#[cfg(test)]
mod tests {
    use super::{Worker, scan_ahead};

    #[test]
    fn each_row_goes_to_one_worker_in_its_order() {
        let scan = |give: &mut dyn FnMut(&usize)| {
            (0..100_000).for_each(|row| give(&row));
            Ok(())
        };
        let mut seen = [const { Vec::new() }; 3];
        let mut workers = seen.each_mut().map(|seen| |rows: &[usize]| seen.extend_from_slice(rows));
        scan_ahead(scan, |row| row % 3, workers.iter_mut().map(|worker| worker as Worker<'_, usize>))
            .expect("no error");
        for (first, seen) in seen.into_iter().enumerate() {
            assert!((first..100_000).step_by(3).eq(seen));
        }
    }
}
