//! The clock and the recorded span of one recording with all its parts.

use std::collections::BTreeMap;

use tracesift_etl::{BufferReader, BufferRef, EtlFile, Record, damage_kind, format::file_mode};
use tracesift_trace::Clock;

use super::inventory::RecordedSpan;

/// The clock of a recording: time zero is the earliest session start over its parts.
pub(crate) fn clock(files: &[EtlFile]) -> Clock {
    let zero = files.iter().map(|file| file.header().zero_ticks()).min().unwrap_or(0);
    Clock::new(zero, files.first().map_or(0, |file| file.header().frequency()))
}

/// FILETIME of time zero.
pub(crate) fn start_filetime(files: &[EtlFile], clock: Clock) -> i64 {
    let earliest = files.iter().min_by_key(|file| file.header().zero_ticks());
    earliest.map_or(0, |file| file.header().filetime(clock.zero))
}

/// End of the session of one file as FILETIME; where it was never closed, the time of its last record.
pub(crate) fn session_end(file: &EtlFile) -> i64 {
    let header = file.header();
    if header.end_time != 0 {
        return header.end_time;
    }
    // A CPU writes its records in order, so its newest buffer has its last one.
    let mut newest: BTreeMap<u16, &BufferRef> = BTreeMap::new();
    for buffer in file.buffers() {
        let known = newest.entry(buffer.cpu).or_insert(buffer);
        if buffer.first_time > known.first_time {
            *known = buffer;
        }
    }
    let mut reader = BufferReader::default();
    let last = newest
        .into_values()
        .filter_map(|buffer| reader.records(file, buffer).map(|record: Record<'_>| record.time()).max());
    last.max().map_or(0, |ticks| header.filetime(ticks))
}

/// Start of the recorded span as raw tick and its end as nanoseconds since time zero.
///
/// It begins with the session, except where a file begins later: there with the first record that is left.
/// It ends with the session; where the file does not say when that was, or does not reach as far, with its last record.
pub(crate) fn recorded_span(files: &[EtlFile], clock: Clock, seen: RecordedSpan) -> (i64, i64) {
    let late = files.iter().any(EtlFile::begins_late);
    let start = if late { seen.first.unwrap_or(clock.zero).max(clock.zero) } else { clock.zero };
    let closed = files.iter().filter(|file| is_whole(file)).filter_map(|file| {
        let header = file.header();
        // The session's times are FILETIMEs: units of 100 ns.
        let length = header.end_time.checked_sub(header.start_time).filter(|length| *length > 0)?;
        clock.ns(header.zero_ticks()).checked_add(length.checked_mul(100)?)
    });
    let end = closed.max().or(seen.last.map(|last| clock.ns(last))).unwrap_or(0);
    let end = seen.last_activity.map_or(end, |last| clock.ns(last).max(end));
    (start, end.max(clock.ns(start)))
}

/// Whether the file reaches to the end of its session.
fn is_whole(file: &EtlFile) -> bool {
    let header = file.header();
    let damage = file.damage();
    header.present
        && damage.count(damage_kind::TRUNCATED_BUFFER) == 0
        && (header.log_file_mode & file_mode::CIRCULAR != 0
            || file.buffers().len() as u64 >= u64::from(header.buffers_written))
}
