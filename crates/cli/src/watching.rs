//! What happens while a question is answered: Ctrl-C cancels it, and a bar shows how far it is.

use std::io::{self, Write};
use std::sync::OnceLock;

use tracesift_archive::{Error, Watch};

use crate::progress;

/// One for the program, as Ctrl-C is.
static WATCH: OnceLock<Watch> = OnceLock::new();

/// The watch of all that is read for answers. From the first call on Ctrl-C cancels it in place of ending the program.
pub(crate) fn watch() -> &'static Watch {
    WATCH.get_or_init(|| {
        let watch = Watch::default();
        let cancelled = watch.clone();
        // Where nobody can be told of Ctrl-C, it ends the program.
        let _ = tracesift_record::interrupt::cancel_on_ctrl_c(move || cancelled.cancel());
        watch
    })
}

/// Fails if the user has pressed Ctrl-C since the first call of [`watch`].
pub(crate) fn check() -> Result<(), Error> {
    WATCH.get().map_or(Ok(()), Watch::check)
}

/// Lets `work` read so many archives for an answer. A bar shows how far it is, and is gone when it ends.
///
/// # Errors
/// [`Error::Cancelled`]: the user does not want the answer any more.
pub(crate) fn answered<T>(archives: usize, work: impl FnOnce() -> T) -> Result<T, Error> {
    let answer = progress::shown_while(watch(), archives, work);
    check()?;
    Ok(answer)
}

/// Output that ends when the user has seen enough.
pub(crate) struct Interruptible<Out>(pub(crate) Out);

impl<Out: Write> Write for Interruptible<Out> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check().map_err(io::Error::other)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
