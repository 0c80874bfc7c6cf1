//! The options of a session, and the header record with them.

use super::payload::Bytes;
use super::pointer_size::PointerSize;
use crate::format::file_mode;

/// Unit of the time stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Clock {
    /// The performance counter.
    #[default]
    PerformanceCounter = 1,
    /// 100 ns since 1601.
    SystemTime = 2,
    /// Cycles of the CPU.
    CpuCycles = 3,
}

/// How a buffer header says which CPU it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CpuNumbering {
    /// 16 bits with the flag PROC_INDEX: since Windows 8.
    #[default]
    Index,
    /// One byte, followed by the alignment: Windows 7.
    Byte,
}

/// What the header of a recording says, and how its buffers look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// Number of logical CPUs; records may come from CPU 0 to this, exclusive.
    pub cpus: u16,
    /// Ticks per second of the time stamps.
    pub frequency: i64,
    /// Kind of the time stamps.
    pub clock: Clock,
    /// Start of the session, FILETIME (100 ns since 1601, UTC).
    pub start_filetime: i64,
    /// Boot of the machine, FILETIME.
    pub boot_filetime: i64,
    /// Time stamp of the header record, the moment of `start_filetime`.
    pub zero_ticks: i64,
    /// Bytes of a buffer, header included: a multiple of 8 from 1 KiB to 16 MiB.
    pub buffer_size: u32,
    /// Pointer size of the traced system; records take it unless told otherwise.
    pub pointer_size: PointerSize,
    /// Compress the buffers.
    pub compress: bool,
    /// Buffer headers of Windows 8 and later, or of Windows 7.
    pub cpu_numbering: CpuNumbering,
    /// Bits of [`file_mode`]; the one for compression is set where `compress` asks for it.
    pub log_file_mode: u32,
    /// Events that the session lost.
    pub events_lost: u32,
    /// Buffers that the session lost.
    pub buffers_lost: u32,
    /// Major and minor version of the system.
    pub os_version: (u8, u8),
    /// Build of the system.
    pub os_build: u32,
    /// CPU clock, MHz.
    pub cpu_mhz: u32,
    /// Minutes to add to the recorder's local time to get UTC.
    pub utc_bias_minutes: i32,
    /// Name of the recorder's time zone.
    pub time_zone: String,
    /// Name of the session.
    pub session_name: String,
    /// Name of the file as the session knows it.
    pub log_file_name: String,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            cpus: 1,
            frequency: 10_000_000,
            clock: Clock::default(),
            // 2022-04-04 10:15:00 UTC.
            start_filetime: 132_935_409_000_000_000,
            boot_filetime: 132_935_409_000_000_000 - 36_000_000_000,
            zero_ticks: 36_000_000_000,
            buffer_size: 64 * 1024,
            pointer_size: PointerSize::default(),
            compress: false,
            cpu_numbering: CpuNumbering::default(),
            log_file_mode: file_mode::SEQUENTIAL,
            events_lost: 0,
            buffers_lost: 0,
            os_version: (10, 0),
            os_build: 19_045,
            cpu_mhz: 3_000,
            utc_bias_minutes: 0,
            time_zone: "UTC".to_owned(),
            session_name: "NT Kernel Logger".to_owned(),
            log_file_name: "recording.etl".to_owned(),
        }
    }
}

/// What only the end of a recording knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// End of the session, FILETIME; 0 while it runs.
    pub(super) end_filetime: i64,
    /// Buffers in the file, the header buffer included.
    pub(super) buffers_written: u32,
}

impl SessionOptions {
    /// The log file mode with the bit that `compress` implies.
    pub(super) fn effective_mode(&self) -> u32 {
        self.log_file_mode | if self.compress { file_mode::COMPRESSED } else { 0 }
    }

    /// Payload of the header record (TRACE_LOGFILE_HEADER).
    pub(super) fn header_payload(&self, outcome: Outcome) -> Vec<u8> {
        let mut out = Bytes::new(self.pointer_size);
        out.u32(self.buffer_size);
        // The last two bytes are the version of the log format: 1.5 wherever time stamps are performance counters.
        out.bytes(&[self.os_version.0, self.os_version.1, 1, 5]);
        out.u32(self.os_build);
        out.u32(u32::from(self.cpus));
        out.i64(outcome.end_filetime);
        out.u32(156_250); // timer resolution, 100 ns
        out.u32(0); // maximum file size: none
        out.u32(self.effective_mode());
        out.u32(outcome.buffers_written);
        out.u32(1); // header buffers
        out.u32(self.pointer_size.bytes() as u32);
        out.u32(self.events_lost);
        out.u32(self.cpu_mhz);
        out.pointer(0);
        out.pointer(0);
        out.i32(self.utc_bias_minutes);
        for _ in ["standard", "daylight"] {
            out.fixed_utf16(&self.time_zone, 32);
            out.zeros(16 + 4); // no switch date, no bias of its own
        }
        out.zeros(4);
        out.i64(self.boot_filetime);
        out.i64(self.frequency);
        out.i64(self.start_filetime);
        out.u32(self.clock as u32);
        out.u32(self.buffers_lost);
        out.utf16(&self.session_name);
        out.utf16(&self.log_file_name);
        out.into_vec()
    }
}
