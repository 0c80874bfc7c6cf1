//! Operations on files by path.

use rustc_hash::FxHashMap;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_trace::FileId;
use tracesift_trace::rows::{FileIoRow, FileRow};

use super::{Tally, counted};
use crate::question::file::{self, FileOperations};
use crate::recording::OpenRecording;
use crate::table_question::{Needed, TableQuestion as _};

/// The operations on each of these files, as `dump file` counts them: those that end in the range of the grid, of all processes but the idle
/// loop. `None`: the recording has no single operations.
///
/// # Errors
/// When a table cannot be read.
pub fn files(recording: &OpenRecording, paths: &[String], grid: Grid) -> Result<Option<Vec<Tally>>, Error> {
    let archive = recording.archive();
    if archive.row_count::<FileIoRow>() == 0 {
        return Ok(None);
    }
    let places: FxHashMap<&str, usize> = paths.iter().enumerate().map(|(place, path)| (&**path, place)).collect();
    // A path can have several numbers.
    let mut of_file: FxHashMap<i64, usize> = FxHashMap::default();
    archive.scan(None, |row: &FileRow| {
        let FileId(number) = row.file;
        if let Some(place) = places.get(&*row.path) {
            of_file.insert(number.into(), *place);
        }
    })?;
    let (processes, range) = (counted(recording)?, grid.range());
    let mut found = vec![Tally::empty(grid); paths.len()];
    // What ends at the first instant ends a span that lies before it.
    let time = range.start.saturating_sub(1)..range.end.saturating_add(1);
    let needed = Needed { columns: FileOperations::COLUMNS, joined: false };
    FileOperations::scan(archive, Some(time), needed, |row| {
        let place = row.file.and_then(|file| of_file.get(&i64::from(file.0)));
        let Some(tally) = place.and_then(|place| found.get_mut(*place)) else { return };
        let (_, end) = FileOperations::times(row);
        if let Some(bucket) = grid.place(end)
            && processes.contains(&row.process)
        {
            tally.add(bucket, (1, file::duration(row).unwrap_or(0)), (end, end), 1);
        }
    })?;
    Ok(Some(found))
}
