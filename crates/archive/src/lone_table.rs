//! A table outside of any archive, as bytes: what a user's cache keeps.
//!
//! It is a Parquet file as in an archive, and behind it what `trace.json` says of those: number of rows and checksum.

use std::path::Path;
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use tracesift_trace::info::TableFile;

use crate::arrow::arrow_schema;
use crate::batch::{record_batch, rows_of};
use crate::checked_file::checksum_text;
use crate::error::Error;
use crate::input::Input;
use crate::parquet_layout::{ROW_GROUP_ROWS, properties};
use crate::scan::{Part, Scan};
use crate::table::Table;

/// At the very end, behind rows (8 bytes) and checksum (4 bytes).
const MAGIC: [u8; 8] = *b"sifttabl";
const TRAILER: usize = 8 + 4 + MAGIC.len();

/// Rows as bytes; `trace` is the id of their recording.
///
/// # Errors
/// When they do not fit into one batch of columns, which takes 2^31 bytes of texts.
pub fn to_bytes<T: Table>(trace: &str, rows: &[T]) -> Result<Vec<u8>, Error> {
    let table = T::TABLE;
    let error = |error: ParquetError| Error::encode(Path::new(table.name), error);
    let options =
        ArrowWriterOptions::new().with_properties(properties(table, ROW_GROUP_ROWS)).with_skip_arrow_metadata(true);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, arrow_schema(table), options).map_err(error)?;
    if !rows.is_empty() {
        let batch = record_batch(trace, rows).map_err(|found| error(found.into()))?;
        writer.write(&batch).map_err(error)?;
    }
    writer.close().map_err(error)?;
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&(rows.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes.extend_from_slice(&MAGIC);
    Ok(bytes)
}

/// The rows of [`to_bytes`]. `place` stands for the bytes in errors.
///
/// # Errors
/// [`Error::Corrupt`].
pub fn from_bytes<T: Table>(place: &Path, mut bytes: Vec<u8>) -> Result<Vec<T>, Error> {
    let corrupt = |reason: &str| Error::corrupt(place, reason);
    let start = bytes.len().checked_sub(TRAILER).ok_or_else(|| corrupt("it is too short"))?;
    let trailer = bytes.split_off(start);
    let (Some((rows, rest)), true) = (trailer.split_first_chunk::<8>(), trailer.ends_with(&MAGIC)) else {
        return Err(corrupt("it does not end as a table"));
    };
    let crc = rest.first_chunk::<4>().copied().unwrap_or_default();
    if crc32fast::hash(&bytes) != u32::from_le_bytes(crc) {
        return Err(corrupt("its checksum is not the one behind it"));
    }
    let file = TableFile {
        name: T::TABLE.name.to_owned(),
        rows: u64::from_le_bytes(*rows),
        bytes: bytes.len() as u64,
        crc32: checksum_text(u32::from_le_bytes(crc)),
    };
    let input = Input::Memory(bytes.into(), Arc::default());
    let mut scan = Scan::start(place.to_owned(), input, &file, T::TABLE, T::NAMES, Part::default(), None)?;
    let mut found = Vec::new();
    while let Some(batch) = scan.next()? {
        found.append(&mut rows_of(&batch).map_err(|reason| Error::corrupt(place, reason))?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tracesift_trace::rows::HealthRow;
    use tracesift_trace::rows::ProcessModuleRow;

    use super::{from_bytes, to_bytes};

    #[test]
    fn rows_come_back_and_damage_is_seen() {
        let place = Path::new("place");
        let row = |count| HealthRow { kind: format!("kind {count}"), count, first_time: None, example: None };
        let rows: Vec<HealthRow> = (0..1_000).map(row).collect();
        let bytes = to_bytes("id", &rows).expect("bytes");
        assert_eq!(from_bytes::<HealthRow>(place, bytes.clone()).expect("rows"), rows);
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(from_bytes::<HealthRow>(place, damaged).is_err(), "byte {at}");
            assert!(from_bytes::<HealthRow>(place, bytes[..at].to_vec()).is_err(), "{at} bytes");
        }
        assert!(from_bytes::<ProcessModuleRow>(place, bytes).is_err(), "another table");
        let none: Vec<HealthRow> = from_bytes(place, to_bytes::<HealthRow>("id", &[]).expect("bytes")).expect("rows");
        assert_eq!(none, []);
    }
}
