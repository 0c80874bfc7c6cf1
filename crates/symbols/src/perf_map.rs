//! `/tmp/perf-PID.map`: JIT code of a process, as it wrote it down for perf
//! (tools/perf/Documentation/jit-interface.txt of the kernel).
//!
//! A line has the start and the size in hex, with or without `0x`, and a name that goes to the end of the line. Lines are written as code is
//! made and never taken back: where two are for the same code, the later one counts.

use crate::demangle::split_if_mangled;
use crate::text::hex_number;
use crate::{Error, Table, TableBuilder};

/// How names from here are marked.
const SOURCE: &str = "perf-map";
/// Bytes of a name; the rest of a longer one is left out.
const MAX_NAME: usize = 4 << 10;
/// How far the code of a process may be spread: a table has 32 bits for that.
const SPAN: u64 = 1 << 32;

/// Names by absolute address of the process, one table for each stretch of 4 GiB that has any, in order. Lines that are none are
/// skipped.
///
/// # Errors
/// [`Error::OtherFormat`] if no line names code.
pub fn read(text: &[u8]) -> Result<Vec<Table>, Error> {
    let mut entries: Vec<(u64, u64, &[u8])> = text.split(|byte| *byte == b'\n').filter_map(entry).collect();
    if entries.is_empty() {
        return Err(Error::OtherFormat("a map of code for perf"));
    }
    // Stable: later lines for the same start stay behind earlier ones.
    entries.sort_by_key(|entry| entry.0);
    let mut tables = Vec::new();
    let mut rest = entries.as_mut_slice();
    while let Some(first) = rest.first().map(|entry| entry.0) {
        let near = rest.partition_point(|entry| entry.0 - first < SPAN);
        let (these, later) = rest.split_at_mut(near);
        tables.push(table(text, these));
        rest = later;
    }
    Ok(tables)
}

fn table(text: &[u8], entries: &mut [(u64, u64, &[u8])]) -> Table {
    // Back to the order of the file: what was added last lies on top.
    entries.sort_by_key(|entry| entry.2.as_ptr().addr() - text.as_ptr().addr());
    let mut builder = TableBuilder::new();
    for (start, end, name) in entries.iter() {
        let name = String::from_utf8_lossy(&name[..name.len().min(MAX_NAME)]);
        let function = split_if_mangled(&name, |name, arguments| builder.function(name, arguments, SOURCE));
        let location = builder.location(None, function, None, 0);
        builder.add(*start, *end, location);
    }
    builder.finish("")
}

/// Start, end and name of a line.
fn entry(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let line = line.trim_ascii();
    let (start, rest) = line.split_at_checked(line.iter().position(u8::is_ascii_whitespace)?)?;
    let rest = rest.trim_ascii_start();
    let (size, name) = rest.split_at_checked(rest.iter().position(u8::is_ascii_whitespace)?)?;
    let number = |digits: &[u8]| str::from_utf8(digits).ok().and_then(hex_number);
    let (start, size) = (number(start)?, number(size)?);
    let name = name.trim_ascii_start();
    Some((start, start.checked_add(size).filter(|end| *end > start)?, name)).filter(|entry| !entry.2.is_empty())
}
