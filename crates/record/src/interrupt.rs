//! Ctrl-C and its like.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Sets the flag when the user wants an end: Ctrl-C, a closed terminal, a request to end. A second time, later than that, ends
/// the program at once; the recorder ends with it.
///
/// # Errors
///
/// Where the system does not tell of it.
#[cfg(unix)]
pub fn watch(cancel: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let mut again = Again::new(cancel);
    std::thread::spawn(move || signals.forever().for_each(|_| again.interrupted()));
    Ok(())
}

/// Sets the flag when the user wants an end: Ctrl-C. A second time, later than that, ends the program at once.
///
/// # Errors
///
/// Where the system does not tell of it.
#[cfg(not(unix))]
pub fn watch(cancel: &Arc<AtomicBool>) -> io::Result<()> {
    let mut again = Again::new(cancel);
    ctrlc::set_handler(move || again.interrupted()).map_err(io::Error::other)
}

/// Knows whether an interrupt is a second one.
struct Again {
    cancel: Arc<AtomicBool>,
    first: Option<Instant>,
}

impl Again {
    fn new(cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Arc::clone(cancel), first: None }
    }

    fn interrupted(&mut self) {
        /// Who ends a group of processes often tells each twice: directly, and as one of the group.
        const SAME: Duration = Duration::from_secs(1);
        /// As shells tell of a program that an interrupt ended.
        const INTERRUPTED: i32 = 130;
        self.cancel.store(true, Ordering::Relaxed);
        if self.first.get_or_insert_with(Instant::now).elapsed() > SAME {
            std::process::exit(INTERRUPTED);
        }
    }
}
