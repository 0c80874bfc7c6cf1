//! Checks a Parquet file's own statements about sizes before the decoder believes them.
//!
//! The decoder is memory-safe but trusting: a footer that claims 2^31 row groups or a dictionary page that claims 2^31
//! values makes it allocate that much, and a failed allocation ends the process. So the footer is walked before it is
//! decoded, and the page headers of the chunks that a query touches before their pages are.

use parquet::basic::Encoding;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length as _};

use crate::input::Input;
use crate::thrift::{Item, walk};

/// Largest footer: a table of a long recording has some thousand column chunks of about 100 bytes each.
const MAX_FOOTER: u64 = 32 << 20;

/// Columns and their list levels; `modules`, the widest table, has 20.
const MAX_SCHEMA_ELEMENTS: usize = 512;

/// Largest page before compression. Pages are cut at 512 KiB after each batch of rows, so only one with huge texts or
/// lists comes near.
const MAX_PAGE: i64 = 256 << 20;

/// Rows, and values of a column, that a file may have. Samples at even distances of one thread in one function take 200
/// rows per byte, and a deep recursion repeats one frame as often.
fn max_values(bytes: u64) -> u64 {
    (1 << 20_u64).max(bytes.saturating_mul(1024))
}

/// Checks the footer's nesting and counts.
pub(crate) fn check_footer(input: &Input) -> Result<(), String> {
    let length = input.len();
    let Some(tail_at) = length.checked_sub(8) else { return Err("it is too short for a Parquet file".to_owned()) };
    let tail = bytes(input, tail_at, 8)?;
    let Some((size, b"PAR1")) = tail.split_first_chunk::<4>() else {
        return Err("it does not end as a Parquet file".to_owned());
    };
    let size = u64::from(u32::from_le_bytes(*size));
    let footer_at = tail_at.checked_sub(size).filter(|_| size <= MAX_FOOTER);
    let Some(footer_at) = footer_at else { return Err(format!("its footer claims {size} bytes")) };
    let footer = bytes(input, footer_at, size)?;
    let mut schema_elements = 0;
    let walked = walk(&footer, &mut |path, item| {
        if let ([SCHEMA], Item::List(count)) = (path, item) {
            schema_elements = count;
        }
    });
    if walked.is_none() {
        return Err("its footer is malformed".to_owned());
    }
    if schema_elements > MAX_SCHEMA_ELEMENTS {
        return Err(format!("its footer claims {schema_elements} schema elements"));
    }
    Ok(())
}

/// Field of the schema in the footer.
const SCHEMA: i16 = 2;

/// Checks the number of rows that the footer states against the size of the file. Returns it.
pub(crate) fn check_rows(input: &Input, metadata: &ParquetMetaData) -> Result<u64, String> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        let of_group =
            u64::try_from(group.num_rows()).map_err(|_| "a row group has a negative number of rows".to_owned())?;
        rows = rows.saturating_add(of_group);
    }
    if rows > max_values(input.len()) {
        return Err(format!("it claims {rows} rows in {} bytes", input.len()));
    }
    Ok(rows)
}

/// A page that was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedPage {
    /// Where its bytes begin, behind its header.
    pub(crate) at: u64,
    /// Its bytes in the file.
    pub(crate) compressed: u32,
    /// Its bytes in memory.
    pub(crate) uncompressed: u32,
    /// Its values.
    pub(crate) values: u32,
    /// Whether it holds the distinct values of its column.
    pub(crate) is_dictionary: bool,
    /// How its values are encoded.
    pub(crate) encoding: Encoding,
}

/// The pages of a column chunk, in order. `None` where one is of a kind that we do not write: a data page of the second version, or one
/// whose levels are not run-length encoded.
pub(crate) type CheckedPages = Option<Vec<CheckedPage>>;

/// Checks the pages of one column chunk and tells where they are.
pub(crate) fn check_chunk(input: &Input, chunk: &ColumnChunkMetaData) -> Result<CheckedPages, String> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()).min(chunk.data_page_offset());
    let implausible = || format!("column {} lies outside of the file", chunk.column_path());
    let start = u64::try_from(start).map_err(|_| implausible())?;
    let size = u64::try_from(chunk.compressed_size()).map_err(|_| implausible())?;
    let end = start.checked_add(size).filter(|end| *end <= input.len()).ok_or_else(implausible)?;
    let claimed = u64::try_from(chunk.num_values()).map_err(|_| implausible())?;
    if claimed > max_values(input.len()) {
        return Err(format!("column {} claims {claimed} values", chunk.column_path()));
    }
    let mut at = start;
    let mut values = 0_u64;
    let mut pages = Some(Vec::new());
    while at < end {
        let (header, length) = PageHeader::read(input, at, end)
            .ok_or_else(|| format!("column {} has a malformed page header at {at}", chunk.column_path()))?;
        values = values.saturating_add(
            header
                .check(end - at - length, claimed)
                .map_err(|reason| format!("column {} has a page at {at} that {reason}", chunk.column_path()))?,
        );
        match (header.page(at + length), &mut pages) {
            (Some(page), Some(pages)) => pages.push(page),
            _ => pages = None,
        }
        at += length + header.compressed.unsigned_abs();
    }
    if values > claimed {
        return Err(format!("column {} has {values} values, not {claimed}", chunk.column_path()));
    }
    Ok(pages)
}

/// The sizes that a page header states.
#[derive(Debug, Default)]
struct PageHeader {
    kind: i64,
    uncompressed: i64,
    compressed: i64,
    values: i64,
    encoding: i64,
    definition_levels: i64,
    repetition_levels: i64,
}

/// Kinds of pages.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// Run-length encoding, as the levels of first-version data pages have it.
const RLE: i64 = 3;

/// Encodings that the archive uses: plain, two dictionary encodings and their levels, delta, byte-stream split.
const ENCODINGS: [i64; 6] = [0, 2, 3, 5, 8, 9];

impl PageHeader {
    /// The header at `at` and its length.
    fn read(input: &Input, at: u64, end: u64) -> Option<(Self, u64)> {
        // Headers take some 20 bytes; one with statistics of long texts may take more.
        [256, 64 << 10].into_iter().find_map(|limit| {
            let bytes = bytes(input, at, limit.min(end - at)).ok()?;
            let mut header = Self::default();
            let length = walk(&bytes, &mut |path, item| {
                let Item::Integer(value) = item else { return };
                match path {
                    [1] => header.kind = value,
                    [2] => header.uncompressed = value,
                    [3] => header.compressed = value,
                    // Data, dictionary and second-version data pages.
                    [5 | 7 | 8, 1] => header.values = value,
                    [5 | 7, 2] | [8, 4] => header.encoding = value,
                    [5, 3] => header.definition_levels = value,
                    [5, 4] => header.repetition_levels = value,
                    _ => {}
                }
            })?;
            Some((header, length as u64))
        })
    }

    /// Checks the page against the bytes that are `left` of its chunk; returns how many of the chunk's values it holds.
    fn check(&self, left: u64, claimed: u64) -> Result<u64, &'static str> {
        if u64::try_from(self.compressed).map_or(true, |size| size > left) {
            return Err("is longer than its column");
        }
        if !(0..=MAX_PAGE).contains(&self.uncompressed) {
            return Err("claims an impossible size");
        }
        let Ok(values) = u64::try_from(self.values) else { return Err("claims a negative number of values") };
        if !ENCODINGS.contains(&self.encoding) {
            return Err("has an encoding that archives do not use");
        }
        match self.kind {
            DATA | DATA_V2 if values > claimed => Err("claims more values than its column"),
            DATA | DATA_V2 => Ok(values),
            // A dictionary stores its values plainly, 4 bytes or more each.
            DICTIONARY if values > self.uncompressed.unsigned_abs() / 4 => Err("claims more values than fit into it"),
            DICTIONARY => Ok(0),
            _ => Err("is of an unknown kind"),
        }
    }
}

impl PageHeader {
    /// The page whose bytes begin at `at`, once it is checked.
    fn page(&self, at: u64) -> Option<CheckedPage> {
        let is_dictionary = self.kind == DICTIONARY;
        let is_data = self.kind == DATA && self.definition_levels == RLE && self.repetition_levels == RLE;
        let encoding = match self.encoding {
            0 => Encoding::PLAIN,
            // The old name of the dictionary's numbers; a dictionary itself is plain under either.
            2 if is_dictionary => Encoding::PLAIN,
            2 | 8 => Encoding::RLE_DICTIONARY,
            3 => Encoding::RLE,
            5 => Encoding::DELTA_BINARY_PACKED,
            9 => Encoding::BYTE_STREAM_SPLIT,
            _ => return None,
        };
        let size = |size: i64| u32::try_from(size).ok();
        (is_dictionary || is_data).then_some(())?;
        Some(CheckedPage {
            at,
            compressed: size(self.compressed)?,
            uncompressed: size(self.uncompressed)?,
            values: size(self.values)?,
            is_dictionary,
            encoding,
        })
    }
}

fn bytes(input: &Input, start: u64, length: u64) -> Result<bytes::Bytes, String> {
    let length = usize::try_from(length).map_err(|error| error.to_string())?;
    input.get_bytes(start, length).map_err(|error| error.to_string())
}
