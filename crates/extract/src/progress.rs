//! The progress of an extract.

use std::ops::ControlFlow;

use crate::error::Error;

/// How far an extract has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done, for the progress bar.
    pub phase: &'static str,
    /// Bytes of the recording that are through, over both passes.
    pub done: u64,
    /// Bytes in total, over both passes.
    pub total: u64,
}

/// Called now and then; may stop the extract.
pub type Watch<'a> = dyn FnMut(Step) -> ControlFlow<()> + 'a;

/// Records between two looks at the clock of the progress bar.
pub(crate) const WATCH_EVERY: u64 = 1 << 16;

/// Tells the watcher how far both passes have come.
pub(crate) struct Progress<'w, 'f> {
    watch: &'w mut Watch<'f>,
    name: String,
    pass: u64,
    passes_done: u64,
}

impl<'w, 'f> Progress<'w, 'f> {
    /// Two passes over `pass` bytes each.
    pub(crate) fn new(name: &str, pass: u64, watch: &'w mut Watch<'f>) -> Self {
        Self { watch, name: name.to_owned(), pass, passes_done: 0 }
    }

    /// `bytes` of this pass are through.
    pub(crate) fn at(&mut self, phase: &'static str, bytes: u64) -> Result<(), Error> {
        let done = self.passes_done * self.pass + bytes.min(self.pass);
        match (self.watch)(Step { phase, done, total: self.pass * 2 }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted { name: self.name.clone() }),
        }
    }

    /// The next pass begins.
    pub(crate) fn pass_done(&mut self) {
        self.passes_done += 1;
    }
}
