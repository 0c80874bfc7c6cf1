//! Work that may never end, on a thread of its own, which is left to itself when it gives no sign of life.
//!
//! The limit is on silence and not on the whole: a large archive that is sound takes as long as it takes.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::stall::{LOOKS, StallDetector};

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// No sign of life for as long as was allowed; the thread is left to itself, as nothing can stop it.
    Silent,
    /// Whoever listened broke it off; the work ends when it next says something.
    Stopped,
    /// The system has no thread for it.
    NoThread,
}

/// Reports the progress of work on a watched thread.
#[derive(Debug)]
pub struct Reporter<M> {
    messages: SyncSender<M>,
    signs: Arc<AtomicU64>,
}

impl<M> Clone for Reporter<M> {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone(), signs: Arc::clone(&self.signs) }
    }
}

impl<M> Reporter<M> {
    /// A sign of life, at next to no cost.
    pub fn heartbeat(&self) {
        self.signs.fetch_add(1, Ordering::Relaxed);
    }

    /// Says something and waits until it is heard; `Break`: nobody listens any more, so that the work had better end.
    pub fn say(&self, message: M) -> ControlFlow<()> {
        self.heartbeat();
        if self.messages.send(message).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Does `work` on another thread, listens to what it says, and waits for its result as long as there are signs of life at least every
/// `silence`, or up to twice that.
///
/// # Errors
/// [`Unfinished`].
///
/// # Panics
/// If the work does.
pub fn watched<M: Send + 'static, T: Send + 'static>(
    silence: Duration,
    mut listen: impl FnMut(M) -> ControlFlow<()>,
    work: impl FnOnce(Reporter<M>) -> T + Send + 'static,
) -> Result<T, Unfinished> {
    let (messages, said) = sync_channel(0);
    let signs = Arc::new(AtomicU64::new(0));
    let reporter = Reporter { messages, signs: Arc::clone(&signs) };
    let named = thread::Builder::new().name("unpack".to_owned());
    let work = move || {
        // The work may let go of its reporter and go on.
        let _held = reporter.clone();
        work(reporter)
    };
    let thread = named.spawn(work).map_err(|_| Unfinished::NoThread)?;
    let mut stall = StallDetector::default();
    loop {
        match said.recv_timeout(silence / LOOKS) {
            Ok(message) => {
                if listen(message).is_break() {
                    return Err(Unfinished::Stopped);
                }
            }
            Err(RecvTimeoutError::Timeout) if stall.look(signs.load(Ordering::Relaxed)) => {}
            Err(RecvTimeoutError::Timeout) => return Err(Unfinished::Silent),
            // The thread has let go of the reporter, which it does last.
            Err(RecvTimeoutError::Disconnected) => return thread.join().map_err(|panic| resume_unwind(panic)),
        }
    }
}
