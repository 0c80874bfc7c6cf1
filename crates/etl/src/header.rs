//! The session's description: the first record of a recording (`TRACE_LOGFILE_HEADER`).

use crate::bytes::{i64_at, u8_at, u32_at, utf16_at};
use crate::header_kind::HeaderKind;
use crate::record::Record;
use crate::time::{ClockKind, FILETIME_PER_SECOND, filetime_text, saturate};
use crate::time_zone::TimeZone;

/// Hook of the record.
pub(crate) const LOGFILE_HEADER_HOOK: u16 = 0;

/// What a recording says of its session. Times stand as they are stored; 0 means that they were not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogfileHeader {
    /// Whether the recording has this header. When not, the fields are assumptions: a performance counter of 10 MHz that is
    /// zero at the first record, 8-byte pointers.
    pub present: bool,
    /// Raw tick of the header's own record, which belongs to `start_time`.
    pub first_tick: i64,
    /// Bytes of the session's buffers, before compression.
    pub buffer_size: u32,
    /// Version of the operating system, major.
    pub os_major: u8,
    /// Version of the operating system, minor.
    pub os_minor: u8,
    /// Version of the file format, major and minor.
    pub format_version: (u8, u8),
    /// Build of the operating system.
    pub os_build: u32,
    /// Number of logical CPUs.
    pub cpu_count: u32,
    /// FILETIME at which the recording ended; 0 when it was never closed. Records can lie after it.
    pub end_time: i64,
    /// Interval of the clock interrupt, 100 ns.
    pub timer_resolution: u32,
    /// Largest file size, MB (KB with [`crate::format::file_mode::KBYTES`]).
    pub maximum_file_size: u32,
    /// Bits of [`crate::format::file_mode`].
    pub log_file_mode: u32,
    /// Buffers that the recorder says it wrote.
    pub buffers_written: u32,
    /// Buffers that the file began with.
    pub start_buffers: u32,
    /// Bytes of a pointer of the recorded system. Records have their own.
    pub pointer_size: u32,
    /// Events that the recorder says it lost.
    pub events_lost: u32,
    /// CPU clock, MHz.
    pub cpu_mhz: u32,
    /// Time zone of the recording machine.
    pub time_zone: TimeZone,
    /// FILETIME of the system's start; 0 when not written.
    pub boot_time: i64,
    /// Ticks per second of the performance counter.
    pub performance_frequency: i64,
    /// FILETIME of the recording's start.
    pub start_time: i64,
    /// Number of the clock, see [`LogfileHeader::clock`].
    pub clock_number: u32,
    /// Buffers that the recorder says it lost.
    pub buffers_lost: u32,
    /// Name of the session; `Relogger` in merged files.
    pub session_name: String,
    /// Name of the file as the recorder knew it.
    pub log_file_name: String,
}

impl LogfileHeader {
    /// Reads the header from its record; `None` when the record is another one or too short.
    #[must_use]
    pub fn from_record(record: &Record<'_>) -> Option<Self> {
        if record.hook() != Some(LOGFILE_HEADER_HOOK) || record.kind() == HeaderKind::Message {
            return None;
        }
        let p = record.payload();
        // Three pointer-sized groups shift what follows: two name pointers, then 64-bit times that are aligned to 8.
        let wide = record.pointer_size() == 8;
        let zone = if wide { 72 } else { 64 };
        let times = if wide { 248 } else { 240 };
        let (session_name, next) = utf16_at(p, times + 32);
        let (log_file_name, _) = utf16_at(p, next);
        Some(Self {
            present: true,
            first_tick: record.time(),
            buffer_size: u32_at(p, 0)?,
            os_major: u8_at(p, 4)?,
            os_minor: u8_at(p, 5)?,
            format_version: (u8_at(p, 6)?, u8_at(p, 7)?),
            os_build: u32_at(p, 8)?,
            cpu_count: u32_at(p, 12)?,
            end_time: i64_at(p, 16)?,
            timer_resolution: u32_at(p, 24)?,
            maximum_file_size: u32_at(p, 28)?,
            log_file_mode: u32_at(p, 32)?,
            buffers_written: u32_at(p, 36)?,
            start_buffers: u32_at(p, 40)?,
            pointer_size: u32_at(p, 44)?,
            events_lost: u32_at(p, 48)?,
            cpu_mhz: u32_at(p, 52)?,
            time_zone: TimeZone::read(p.get(zone..)?)?,
            boot_time: i64_at(p, times)?,
            performance_frequency: i64_at(p, times + 8)?,
            start_time: i64_at(p, times + 16)?,
            clock_number: u32_at(p, times + 24)?,
            buffers_lost: u32_at(p, times + 28)?,
            session_name,
            log_file_name,
        })
    }

    /// What is assumed for a recording without this header.
    pub(crate) fn assumed(first_tick: i64, cpu_count: u32, buffer_size: u32) -> Self {
        Self {
            first_tick,
            cpu_count,
            buffer_size,
            pointer_size: 8,
            performance_frequency: FILETIME_PER_SECOND,
            clock_number: 1,
            ..Self::default()
        }
    }

    /// Clock of the time stamps.
    #[must_use]
    pub const fn clock(&self) -> ClockKind {
        ClockKind::from_number(self.clock_number, self.performance_frequency)
    }

    /// Ticks of the time stamps per second, > 0. 10 MHz where the header gives none.
    #[must_use]
    pub const fn frequency(&self) -> i64 {
        let stated = match self.clock() {
            ClockKind::SystemTime => FILETIME_PER_SECOND,
            ClockKind::CpuCycles => self.cpu_mhz as i64 * 1_000_000,
            ClockKind::PerformanceCounter | ClockKind::Unknown(_) => self.performance_frequency,
        };
        if stated > 0 { stated } else { FILETIME_PER_SECOND }
    }

    /// Raw tick of the session's start.
    #[must_use]
    pub const fn zero_ticks(&self) -> i64 {
        self.first_tick
    }

    /// FILETIME of a raw tick, rounded down and saturating. Without a start time in the header it counts from 0.
    #[must_use]
    pub fn filetime(&self, ticks: i64) -> i64 {
        let delta = i128::from(ticks) - i128::from(self.first_tick);
        let scaled = (delta * i128::from(FILETIME_PER_SECOND)).div_euclid(i128::from(self.frequency()));
        saturate(i128::from(self.start_time) + scaled)
    }

    /// UTC of a raw tick, `2020-02-17T12:48:30.4203138Z`.
    #[must_use]
    pub fn utc_text(&self, ticks: i64) -> String {
        filetime_text(self.filetime(ticks))
    }

    /// UTC of the session's start; `None` when the header does not say.
    #[must_use]
    pub fn start_time_utc(&self) -> Option<String> {
        (self.start_time != 0).then(|| filetime_text(self.start_time))
    }

    /// UTC of the session's end; `None` when the recording was never closed.
    #[must_use]
    pub fn end_time_utc(&self) -> Option<String> {
        (self.end_time != 0).then(|| filetime_text(self.end_time))
    }

    /// UTC of the system's start, for display only: it does not fit the performance counter.
    #[must_use]
    pub fn boot_time_utc(&self) -> Option<String> {
        (self.boot_time != 0).then(|| filetime_text(self.boot_time))
    }

    /// Minutes to add to the recorder's local time to get UTC, in force at the session's start.
    #[must_use]
    pub fn utc_offset_minutes(&self) -> i32 {
        self.time_zone.bias_at(self.start_time)
    }

    /// `major.minor.build` of the operating system.
    #[must_use]
    pub fn os_version(&self) -> String {
        format!("{}.{}.{}", self.os_major, self.os_minor, self.os_build)
    }
}
