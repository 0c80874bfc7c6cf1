//! Exit codes, the same for every command.

use std::io;
use std::process::ExitCode;

pub(crate) use tracesift_ask::UsageError;
use tracesift_record::interrupt::INTERRUPTED;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Fine; losses in recordings are warned of.
    Fine = 0,
    /// Nothing usable.
    NothingUsable = 1,
    /// Done, but some inputs failed; each is named on standard error.
    SomeFailed = 2,
    /// A gate of a comparison failed.
    GateFailed = 3,
    /// A gate of a comparison is undecided, or sets cannot be compared, and that counts as a failure.
    GateUndecided = 4,
    /// Wrong usage.
    Usage = 64,
    /// Ctrl-C.
    Interrupted = INTERRUPTED as isize,
}

impl Exit {
    /// The exit for a number of inputs that were usable and a number that were not.
    pub(crate) fn of(usable: usize, failed: usize) -> Self {
        match (usable, failed) {
            (0, _) => Self::NothingUsable,
            (_, 0) => Self::Fine,
            _ => Self::SomeFailed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Whether a reader of our output has closed its end.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.is_some_and(is_disconnected) || json == Some(io::ErrorKind::BrokenPipe)
    })
}

/// A pipe without a reader; Windows has a second word for it that has no kind of its own.
fn is_disconnected(error: &io::Error) -> bool {
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe || cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED)
}
