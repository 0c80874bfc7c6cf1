//! Names and versions of the format.

use tracesift_trace::Clock;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::newest_minor_version;

/// Major and minor version of the archive's schema. A new minor version only adds nullable columns at the end of a table,
/// or tables, and each of these says which version added it; a new major version means extracting again.
pub const SCHEMA_VERSION: [u32; 2] = [1, newest_minor_version()];

/// The file that describes the archive. It is written last: a directory without it is no archive.
pub const TRACE_FILE: &str = "trace.json";

/// The constant first column of every table: the id of the recording.
pub(crate) const TRACE_COLUMN: &str = "trace";

/// Whether a table name of `trace.json` can only name a file inside the archive.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Name of the file of a table.
pub(crate) fn table_file(table: &str) -> String {
    format!("{table}.parquet")
}

/// Key-value metadata of every table file, for readers that see a file without its directory.
pub(crate) fn file_metadata(info: &TraceInfo, clock: &Clock) -> Vec<(String, String)> {
    [
        ("tracesift.schema", format!("{}.{}", info.schema[0], info.schema[1])),
        ("tracesift.tool_version", info.tool_version.clone()),
        ("tracesift.clock", info.clock.clone()),
        ("tracesift.clock_frequency", clock.frequency.to_string()),
        ("tracesift.clock_zero", clock.zero.to_string()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}
