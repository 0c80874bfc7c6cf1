//! Files whose path contains a text, and the operations on them.

use serde_json::Value;
use tracesift_archive::Error;
use tracesift_ask::tallies;
use tracesift_trace::rows::FileRow;
use tracesift_trace::view;

use super::lines::{density, exact, figures, hit, send};
use super::{MOST, Search};
use crate::failure::Failure;
use crate::work::Pieces;

view! {
    /// A file that was used.
    #[derive(Clone, Debug)]
    struct FileName of FileRow { path }
}

impl Search<'_> {
    pub(super) fn files(&self, sought: &mut Vec<String>) -> Result<Vec<Value>, Error> {
        let mut paths: Vec<String> = Vec::new();
        self.recording.archive().scan(None, |row: &FileName| {
            if self.has(&row.path) {
                paths.push(row.path.clone());
            }
        })?;
        paths.sort();
        paths.dedup();
        paths.truncate(MOST);
        let hits = paths.iter().map(|path| {
            let mut hit = hit("file", path, None, &[]);
            hit["words"] = self.words(&["dump", "file", "--path", &exact(path)]).into();
            hit
        });
        let hits = hits.collect();
        *sought = paths;
        Ok(hits)
    }

    /// Sends the number and the time of the operations on files.
    pub(super) fn operations(&self, paths: &[String], pieces: &mut Pieces) -> Result<(), Failure> {
        let grid = self.grid();
        if paths.is_empty() {
            return Ok(());
        }
        let Some(found) = tallies::files(self.recording, paths, grid)? else { return Ok(()) };
        let all = || paths.iter().zip(&found);
        send(all().map(|(path, tally)| figures("file", path, tally, true)), pieces)?;
        let dense = all().filter(|(_, tally)| tally.count > 0);
        send(dense.map(|(path, tally)| density("file", Some(path), &grid, &tally.values, None)), pieces)
    }
}
