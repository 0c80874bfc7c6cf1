//! The calendar of a recording that is not extracted.

use crate::etl::clock::{clock, session_end, start_filetime};
use crate::opened::{Files, OpenedRecording};
use crate::perf::start_and_end;
use crate::recorder_facts::RecorderFacts;

/// The time zone, the start and the end of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// Time zero as FILETIME, 100 ns since 1601; 0 where the recording does not say.
    pub start_filetime: i64,
    /// Minutes to add to the recorder's local time to get UTC.
    pub utc_offset_minutes: i32,
    /// End of the recording, ns since time zero.
    pub end_ns: i64,
}

impl OpenedRecording {
    /// The calendar. Of a Linux recording all records are read for it.
    #[must_use]
    pub fn calendar(&self) -> Calendar {
        match &self.files {
            Files::Etl(files) => {
                let start = start_filetime(files, clock(files));
                let first = files.iter().min_by_key(|file| file.header().zero_ticks()).map(|file| file.header());
                let end = files.iter().map(session_end).max().unwrap_or(start);
                Calendar {
                    start_filetime: start,
                    utc_offset_minutes: first
                        .filter(|first| first.present)
                        .map_or(0, |first| first.utc_offset_minutes()),
                    end_ns: end.saturating_sub(start).max(0).saturating_mul(100),
                }
            }
            Files::Perf(file) => {
                let (start_filetime, end_ns) = start_and_end(file);
                let offset = RecorderFacts::beside(&self.sources).utc_offset_minutes();
                Calendar { start_filetime, utc_offset_minutes: offset.unwrap_or(0), end_ns }
            }
        }
    }
}
