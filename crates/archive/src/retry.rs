//! File operations that other programs can hold up for a moment.
//!
//! Windows does not rename a directory while anybody has a file in it open, nor open a file that is just being deleted.
//! Readers of the old archive, virus scanners and indexers do such things to new files for milliseconds. Other systems
//! do not mind, so there the first answer counts.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long to try renaming: a question to the old archive takes seconds at most.
const RENAME: Duration = Duration::from_secs(10);

/// How long to try opening: a deletion that was asked for is through when the last handle is closed, at once.
const OPEN: Duration = Duration::from_secs(1);

/// Renames a file or directory.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    retried(RENAME, is_held_up, || std::fs::rename(from, to))
}

/// Opens a file that another process may be deleting.
pub(crate) fn open<T>(open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    retried(OPEN, is_held_up, open)
}

/// Whether somebody else has the file open, as Windows says it: access denied, or a sharing violation.
pub(crate) fn is_held_up(error: &io::Error) -> bool {
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32))
}

/// Repeats an operation for as long as `limit` while it fails for a reason that passes.
fn retried<T>(
    limit: Duration,
    passes: impl Fn(&io::Error) -> bool,
    mut operation: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match operation() {
            Err(error) if passes(&error) && started.elapsed() < limit => {
                sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(100));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::retried;
    use std::io;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_passes_is_waited_for_and_what_stays_is_reported() {
        let run = |limit, kind: io::ErrorKind, failures: usize| {
            let mut tries = 0;
            let result = retried(
                limit,
                |error| error.kind() == io::ErrorKind::PermissionDenied,
                || {
                    tries += 1;
                    if tries <= failures { Err(kind.into()) } else { Ok(()) }
                },
            );
            (result.map_err(|error| error.kind()), tries)
        };
        assert_eq!(run(LONG, io::ErrorKind::PermissionDenied, 3), (Ok(()), 4));
        assert_eq!(run(LONG, io::ErrorKind::StorageFull, 3), (Err(io::ErrorKind::StorageFull), 1));
        let (result, _) = run(Duration::ZERO, io::ErrorKind::PermissionDenied, usize::MAX);
        assert_eq!(result, Err(io::ErrorKind::PermissionDenied));
    }
}
