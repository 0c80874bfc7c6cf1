//! How tables are laid out in Parquet files: row groups, pages, encodings and compression.

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use tracesift_trace::rows::TIMELINE_TABLES;
use tracesift_trace::schema::{Layout, TableDefinition};

use crate::format::TRACE_COLUMN;

/// Rows of a row group: what a reader prunes by, about half a second of a busy machine's switches.
pub(crate) const ROW_GROUP_ROWS: usize = 512 * 1024;

/// Rows of a row group of a timeline table, of which a reader wants some buckets.
const TIMELINE_GROUP_ROWS: usize = 256 * 1024;

/// Columns by which a reader of a timeline table chooses row groups.
pub(crate) const TIMELINE_KEYS: [&str; 3] = ["level", "width", "bucket"];

/// Encoded bytes of a row group, which stay in memory until it is complete.
pub(crate) const ROW_GROUP_BYTES: usize = 16 << 20;

/// Bytes of the distinct values of a column, above which it is stored plainly. Room for 128 Ki stacks.
const DICTIONARY_BYTES: usize = 512 << 10;

/// Rows of a page. Zstandard works per page: longer pages compress better up to here and cost memory.
const PAGE_ROWS: usize = 128 * 1024;

/// Encoded bytes of a page before compression.
const PAGE_BYTES: usize = 512 * 1024;

/// Rows of a page of a table that is written at the end of an extract, when somebody waits for the encoder: it compresses the first
/// pages while the last rows are still made.
const LAST_PAGE_ROWS: usize = 16 * 1024;

/// Compression level. Level 3 would take 1 % off an archive and a twentieth of an extract's processor time.
const ZSTD_LEVEL: i32 = 1;

/// Compression level of the stacks, which level 1 leaves an eighth larger.
const STACKS_ZSTD_LEVEL: i32 = 3;

/// Whether a table has figures by buckets of time.
pub(crate) fn is_timeline(table: &TableDefinition) -> bool {
    TIMELINE_TABLES.iter().any(|timeline| timeline.name == table.name)
}

/// Rows of a row group of a table, where those of others have at most so many.
pub(crate) fn group_rows(table: &TableDefinition, most: usize) -> usize {
    if is_timeline(table) { most.min(TIMELINE_GROUP_ROWS) } else { most }
}

/// How the columns of a table are laid out.
pub(crate) fn properties(table: &TableDefinition, group_rows: usize) -> WriterProperties {
    let (level, page_rows) = match table.name {
        "stacks" => (STACKS_ZSTD_LEVEL, PAGE_ROWS),
        "process_summary" | "method_summary" | "tag_summary" => (ZSTD_LEVEL, LAST_PAGE_ROWS),
        _ => (ZSTD_LEVEL, PAGE_ROWS),
    };
    // Only a level that Zstandard does not have is refused, and then its default is as good.
    let level = ZstdLevel::try_new(level).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("tracesift ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(group_rows))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_data_page_row_count_limit(page_rows)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_dictionary_enabled(ColumnPath::from(TRACE_COLUMN), true);
    for column in table.columns {
        let path = column_path(column.name, column.data.is_list());
        builder = builder.set_column_dictionary_enabled(path.clone(), column.layout == Layout::Dictionary);
        let encoding = match column.layout {
            // With a dictionary the encoding is the fallback for when it grows too large.
            Layout::Plain | Layout::Dictionary => Encoding::PLAIN,
            Layout::Delta => Encoding::DELTA_BINARY_PACKED,
            Layout::ByteStreamSplit => Encoding::BYTE_STREAM_SPLIT,
        };
        builder = builder.set_column_encoding(path, encoding);
    }
    let keys = if is_timeline(table) { TIMELINE_KEYS.to_vec() } else { table.timing.columns() };
    for time in keys {
        builder = builder.set_column_statistics_enabled(column_path(time, false), EnabledStatistics::Chunk);
    }
    builder.build()
}

fn column_path(name: &str, list: bool) -> ColumnPath {
    if list {
        ColumnPath::from(vec![name.to_owned(), "list".to_owned(), "element".to_owned()])
    } else {
        ColumnPath::from(name)
    }
}
