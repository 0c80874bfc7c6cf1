//! Ctrl-C and similar requests to end. This module is the only place that catches them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The exit code that shells give a program that an interrupt ended.
pub const INTERRUPTED: u8 = 130;

/// Sets the flag when the user requests the end: Ctrl-C, and on Unix also a closed terminal (`SIGHUP`) or `kill` (`SIGTERM`). A second
/// request, more than a second later, ends the program at once; the recorder ends with it.
///
/// # Errors
///
/// The system refuses the handler.
pub fn watch(cancel: &Arc<AtomicBool>) -> io::Result<()> {
    let cancel = Arc::clone(cancel);
    system::on_end(Again::new(move || cancel.store(true, Ordering::Relaxed)).handler())
}

/// Calls `cancel` at a Ctrl-C. A second one, more than a second later, ends the program at once. Other requests end it as ever.
///
/// # Errors
///
/// The system refuses the handler.
pub fn cancel_on_ctrl_c(cancel: impl Fn() + Send + 'static) -> io::Result<()> {
    system::on_ctrl_c(Again::new(cancel).handler())
}

/// Calls the handler on a thread of its own at each Ctrl-C, instead of the end of the program.
///
/// # Errors
///
/// The system refuses the handler.
pub fn on_ctrl_c(handler: impl FnMut() + Send + 'static) -> io::Result<()> {
    system::on_ctrl_c(handler)
}

/// `signal-hook`: it tells signals apart, which `ctrlc` does not.
#[cfg(unix)]
mod system {
    use std::io;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub(super) fn on_end(handler: impl FnMut() + Send + 'static) -> io::Result<()> {
        on(&[SIGHUP, SIGINT, SIGTERM], handler)
    }

    pub(super) fn on_ctrl_c(handler: impl FnMut() + Send + 'static) -> io::Result<()> {
        on(&[SIGINT], handler)
    }

    fn on(signals: &[i32], mut handler: impl FnMut() + Send + 'static) -> io::Result<()> {
        let mut signals = Signals::new(signals)?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            signals.forever().for_each(|_| handler());
        })?;
        Ok(())
    }
}

/// `ctrlc`: on Windows `signal-hook` has no iterator, and a console's events are no signals.
#[cfg(not(unix))]
mod system {
    use std::io;

    pub(super) fn on_end(handler: impl FnMut() + Send + 'static) -> io::Result<()> {
        on_ctrl_c(handler)
    }

    pub(super) fn on_ctrl_c(handler: impl FnMut() + Send + 'static) -> io::Result<()> {
        ctrlc::set_handler(handler).map_err(io::Error::other)
    }
}

/// Tells a second request from the first one.
struct Again<Cancel> {
    cancel: Cancel,
    first: Option<Instant>,
}

impl<Cancel: Fn() + Send + 'static> Again<Cancel> {
    fn new(cancel: Cancel) -> Self {
        Self { cancel, first: None }
    }

    fn handler(mut self) -> impl FnMut() + Send + 'static {
        move || self.interrupted()
    }

    fn interrupted(&mut self) {
        /// A program that ends a group of processes often sends each process two signals: one directly, and one as a member of the group.
        const SAME: Duration = Duration::from_secs(1);
        (self.cancel)();
        if self.first.get_or_insert_with(Instant::now).elapsed() > SAME {
            std::process::exit(INTERRUPTED.into());
        }
    }
}
