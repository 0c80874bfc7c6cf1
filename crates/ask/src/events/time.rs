//! The part of a recording that `--time` means, where no question brings it there.

use tracesift_extract::OpenedRecording;
use tracesift_grammar::TimeRange;
use tracesift_trace::info::TraceInfo;

use crate::time_format::Zero;
use crate::time_spec::{TimeSpec, no_calendar};

/// The part of an archive.
///
/// # Errors
/// The reason, where a time of day is asked for and the recording has no calendar.
pub fn time_in_archive(info: &TraceInfo, name: &str, time: TimeSpec) -> Result<TimeRange, String> {
    let zero = Zero { filetime: info.start_filetime, utc_offset_minutes: info.utc_offset_minutes };
    time.resolve(zero, info.end_ns, 0).ok_or_else(|| no_calendar(name))
}

/// The part of a recording that is not extracted. Its calendar is looked for where a time of day asks for it.
///
/// # Errors
/// As [`time_in_archive`].
pub fn time_in_recording(recording: &OpenedRecording, time: TimeSpec) -> Result<TimeRange, String> {
    let (zero, end) = if time.needs_calendar() {
        let calendar = recording.calendar();
        let zero = Zero { filetime: calendar.start_filetime, utc_offset_minutes: calendar.utc_offset_minutes };
        (zero, calendar.end_ns)
    } else {
        (Zero { filetime: 0, utc_offset_minutes: 0 }, 0)
    };
    time.resolve(zero, end, 0).ok_or_else(|| no_calendar(&recording.name))
}
