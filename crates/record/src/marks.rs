//! Marks that users write while a recording runs.
//!
//! perf sees nothing of what is written to the kernel's trace marker, so marks are kept in a file of our own, with the time of the
//! recorder's clock.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::Error;
use crate::facts::{Instant, Mark};

/// Tells a recorded command where its marks go. Programs may append lines of their own, one [`Mark`] as JSON each, of which
/// `at.clock`, `at.clock_ns` and `text` are needed.
pub const VARIABLE: &str = "TRACESIFT_MARKS";

/// Writes a mark for now. The file must be there: it goes with the recording.
///
/// # Errors
///
/// [`Error::NotRunning`] where the recording has ended, [`Error::File`].
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    let mark = Mark { at: Instant::now(), text: text.to_owned() };
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::NotRunning,
        _ => Error::file(path, error),
    };
    let mut line = serde_json::to_string(&mark).map_err(|error| failed(error.into()))?;
    line.push('\n');
    // One write, so that lines of several writers do not mix.
    OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).map_err(failed)
}

/// Makes the file.
pub(crate) fn create(path: &Path) -> Result<(), Error> {
    std::fs::File::create_new(path).map(drop).map_err(|error| Error::file(path, error))
}

/// The marks in the order in which they were written.
pub(crate) fn read(path: &Path) -> Vec<Mark> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
