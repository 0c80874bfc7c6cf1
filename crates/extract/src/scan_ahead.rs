//! Rows of a table, decoded on a thread of its own while others use them.

use std::sync::mpsc::sync_channel;
use std::thread;

use tracesift_archive::Error;

/// Rows that are handed over at a time.
const CHUNK: usize = 1024;
/// Chunks that are full and wait: as many rows as their user puts together before it works on them, so that the next ones are
/// decoded meanwhile.
const WAITING: usize = 40;

/// Runs `scan` on a thread of its own and gives its rows to `visit` here, in their order. Chunks are used again: no row costs an
/// allocation.
///
/// # Errors
/// Those of `scan`, after the rows before.
pub(crate) fn scan_ahead<T: Clone + Send>(
    scan: impl FnOnce(&mut dyn FnMut(&T)) -> Result<(), Error> + Send,
    mut visit: impl FnMut(&T),
) -> Result<(), Error> {
    let (filled, full) = sync_channel::<Vec<T>>(WAITING);
    // One more is being filled, and one visited.
    let (empty, emptied) = sync_channel::<Vec<T>>(WAITING + 2);
    thread::scope(|scope| {
        let scanning = scope.spawn(move || {
            let mut chunk = Vec::with_capacity(CHUNK);
            // Somebody receives until the last chunk is there.
            let result = scan(&mut |row| {
                chunk.push(row.clone());
                if chunk.len() == CHUNK {
                    let next = emptied.try_recv().unwrap_or_default();
                    drop(filled.send(std::mem::replace(&mut chunk, next)));
                }
            });
            drop(filled.send(chunk));
            result
        });
        for mut chunk in full {
            chunk.iter().for_each(&mut visit);
            chunk.clear();
            drop(empty.try_send(chunk));
        }
        scanning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
