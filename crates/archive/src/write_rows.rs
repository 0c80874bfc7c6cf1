//! The last steps of everything that writes: rows to the encoder, and `trace.json`.

use std::io::Write as _;
use std::path::Path;

use tracesift_trace::info::TraceInfo;

use crate::batch::{Batch, LAST_BATCH_ROWS};
use crate::checked_file::CheckedFile;
use crate::encoder::Encoder;
use crate::error::{Error, WithPath as _};
use crate::format::TRACE_FILE;
use crate::table::Table;

/// Sends rows to the encoder in batches.
pub(crate) fn write_rows<'a, T: Table>(encoder: &Encoder, rows: impl IntoIterator<Item = &'a T>) {
    write_each(encoder, |write| rows.into_iter().for_each(write));
}

/// Sends the rows that `make` hands over to the encoder in batches.
pub(crate) fn write_each<T: Table, Made>(encoder: &Encoder, make: impl FnOnce(&mut dyn FnMut(&T)) -> Made) -> Made {
    let mut batch = Batch::new(LAST_BATCH_ROWS);
    let made = make(&mut |row| {
        if let Some(full) = batch.push(row) {
            encoder.send(full);
        }
    });
    if let Some(rest) = batch.take() {
        encoder.send(rest);
    }
    made
}

/// Writes `trace.json`, the last file of an archive.
pub(crate) fn write_trace_file(directory: &Path, info: &TraceInfo) -> Result<(), Error> {
    let path = directory.join(TRACE_FILE);
    let mut text = serde_json::to_vec_pretty(info).map_err(std::io::Error::from).writing(&path)?;
    text.push(b'\n');
    let mut file = CheckedFile::create(&path)?;
    file.write_all(&text).writing(&path)?;
    file.finish(&path).map(drop)
}
