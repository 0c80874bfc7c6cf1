//! The streaming writer: records into per-CPU buffers, full buffers into the file.

use std::io::{self, Seek, SeekFrom, Write};

use super::buffer::{BufferHeader, kind};
use super::head::{Head, Hook};
use super::pointer_size::PointerSize;
use super::session::{CpuNumbering, Outcome, SessionOptions};
use super::xpress::Compressor;
use crate::format::{BUFFER_HEADER_BYTES, MAX_BUFFER, buffer_flag};

const HEADER_RECORD: Hook = Hook::new(0, 0, 2);
/// Header buffers of compressed files are only as large as they need to be, in steps of this.
const SMALL_HEADER_STEP: usize = 512;

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output refused the bytes.
    #[error("cannot write the recording: {0}")]
    Output(#[from] io::Error),
    /// A buffer size that no session can have.
    #[error("buffer size {0} is not a multiple of 8 from 1 KiB to 16 MiB")]
    BufferSize(u32),
    /// More CPUs than the buffer headers can number.
    #[error("{0} CPUs do not fit the buffer headers: at most 256 as on Windows 7, else 2048")]
    CpuCount(u16),
    /// A record from a CPU that the header does not count.
    #[error("CPU {cpu} is not one of the session's {cpus}")]
    Cpu {
        /// CPU of the record.
        cpu: u16,
        /// CPUs of the session.
        cpus: u16,
    },
    /// A record that lies before its predecessor on the same CPU.
    #[error("record at tick {time} on CPU {cpu} comes after one at {previous}: give each CPU's records in time order")]
    TimeOrder {
        /// CPU of the record.
        cpu: u16,
        /// Its time stamp.
        time: i64,
        /// Time stamp of the record before.
        previous: i64,
    },
    /// A record that does not fit.
    #[error("record of {size} bytes exceeds the limit of {limit}: choose larger buffers or shorter payloads")]
    RecordSize {
        /// Bytes of the record.
        size: usize,
        /// Bytes that the buffer, or the size field, allows.
        limit: usize,
    },
    /// More counters than a record header can count.
    #[error("a record carries at most 7 hardware counters")]
    Counters,
}

/// A buffer that still takes records. Empty until its first record, and again after each flush.
#[derive(Debug, Default)]
struct OpenBuffer {
    bytes: Vec<u8>,
    last_time: i64,
    started: bool,
}

/// Streams a recording into `W`.
///
/// Memory: one buffer per CPU that records come from, plus one for compression.
#[derive(Debug)]
pub struct Writer<W: Write + Seek> {
    output: W,
    options: SessionOptions,
    cpus: Vec<OpenBuffer>,
    sequence: u64,
    bytes_written: u64,
    compressor: Compressor,
    compressed: Vec<u8>,
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a recording: writes its header buffer.
    ///
    /// # Errors
    /// Options that no session can have; an output that fails.
    pub fn create(output: W, options: SessionOptions) -> Result<Self, WriteError> {
        if !(1024..=MAX_BUFFER).contains(&options.buffer_size) || !options.buffer_size.is_multiple_of(8) {
            return Err(WriteError::BufferSize(options.buffer_size));
        }
        let most = if options.cpu_numbering == CpuNumbering::Byte { 256 } else { 2048 };
        if options.cpus == 0 || options.cpus > most {
            return Err(WriteError::CpuCount(options.cpus));
        }
        let mut cpus = Vec::new();
        cpus.resize_with(usize::from(options.cpus), OpenBuffer::default);
        let mut writer = Self {
            output,
            options,
            cpus,
            sequence: 1,
            bytes_written: 0,
            compressor: Compressor::default(),
            compressed: Vec::new(),
        };
        let header = writer.header_buffer(Outcome::default())?;
        writer.output.write_all(&header)?;
        writer.bytes_written = header.len() as u64;
        Ok(writer)
    }

    /// The options that the recording was created with.
    #[must_use]
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Bytes in the output so far; open buffers are not among them.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Writes a record with the pointer size of the traced system.
    ///
    /// # Errors
    /// An unknown CPU, a time before the CPU's last record, a record that no buffer can hold; an output that fails.
    pub fn record(&mut self, cpu: u16, time: i64, head: &Head<'_>, payload: &[u8]) -> Result<(), WriteError> {
        self.record_sized(cpu, time, self.options.pointer_size, head, payload)
    }

    /// Writes a record with a pointer size of its own, as 32-bit processes do on 64-bit systems.
    ///
    /// # Errors
    /// As [`Writer::record`].
    pub fn record_sized(
        &mut self,
        cpu: u16,
        time: i64,
        pointer_size: PointerSize,
        head: &Head<'_>,
        payload: &[u8],
    ) -> Result<(), WriteError> {
        let system = self.options.pointer_size;
        let size = head.bytes(system).ok_or(WriteError::Counters)? + payload.len();
        let limit = (self.options.buffer_size as usize - BUFFER_HEADER_BYTES).min(usize::from(u16::MAX));
        let (Ok(short_size), true) = (u16::try_from(size), size <= limit) else {
            return Err(WriteError::RecordSize { size, limit });
        };
        let cpus = self.options.cpus;
        let buffer = self.cpus.get(usize::from(cpu)).ok_or(WriteError::Cpu { cpu, cpus })?;
        if buffer.started && time < buffer.last_time {
            return Err(WriteError::TimeOrder { cpu, time, previous: buffer.last_time });
        }
        if buffer.bytes.len() + size.next_multiple_of(8) > self.options.buffer_size as usize {
            self.flush(cpu, 0)?;
        }
        let buffer = &mut self.cpus[usize::from(cpu)];
        buffer.started = true;
        buffer.last_time = time;
        let bytes = &mut buffer.bytes;
        if bytes.is_empty() {
            bytes.reserve_exact(self.options.buffer_size as usize);
            bytes.resize(BUFFER_HEADER_BYTES, 0);
        }
        head.encode(bytes, short_size, time, pointer_size, system);
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        Ok(())
    }

    /// Ends the recording: flushes all buffers and completes the header.
    ///
    /// # Errors
    /// An output that fails.
    pub fn finish(mut self, end_filetime: i64) -> Result<W, WriteError> {
        for cpu in 0..self.options.cpus {
            if !self.cpus[usize::from(cpu)].bytes.is_empty() {
                self.flush(cpu, buffer_flag::FLUSH_MARKER)?;
            }
        }
        let buffers_written = u32::try_from(self.sequence).unwrap_or(u32::MAX);
        let header = self.header_buffer(Outcome { end_filetime, buffers_written })?;
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(&header)?;
        self.output.seek(SeekFrom::End(0))?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn flush(&mut self, cpu: u16, flags: u16) -> Result<(), WriteError> {
        let buffer = &mut self.cpus[usize::from(cpu)];
        let capacity = self.options.buffer_size as usize;
        let mut header = BufferHeader {
            size: self.options.buffer_size,
            end: buffer.bytes.len() as u32,
            time: buffer.last_time,
            sequence: self.sequence,
            cpu,
            flags,
            kind: kind::GENERIC,
        };
        self.sequence += 1;
        if self.options.compress {
            self.compressed.clear();
            self.compressed.resize(BUFFER_HEADER_BYTES, 0);
            self.compressor.compress(&buffer.bytes[BUFFER_HEADER_BYTES..], &mut self.compressed);
            if self.compressed.len() < capacity {
                header.size = self.compressed.len() as u32;
                header.flags |= buffer_flag::COMPRESSED;
                self.compressed[..BUFFER_HEADER_BYTES].copy_from_slice(&header.encode(self.options.cpu_numbering));
                self.output.write_all(&self.compressed)?;
                self.bytes_written += u64::from(header.size);
                buffer.bytes.clear();
                return Ok(());
            }
        }
        buffer.bytes[..BUFFER_HEADER_BYTES].copy_from_slice(&header.encode(self.options.cpu_numbering));
        buffer.bytes.resize(capacity, 0xFF);
        self.output.write_all(&buffer.bytes)?;
        self.bytes_written += u64::from(header.size);
        buffer.bytes.clear();
        Ok(())
    }

    fn header_buffer(&self, outcome: Outcome) -> Result<Vec<u8>, WriteError> {
        let payload = self.options.header_payload(outcome);
        let system = self.options.pointer_size;
        // The session is started by the process that controls it; system tools report it as the idle process.
        let head = Head::System { hook: HEADER_RECORD, pid: 0, tid: 0 };
        let record = 32 + payload.len();
        let end = (BUFFER_HEADER_BYTES + record).next_multiple_of(8);
        let size = if self.options.compress {
            end.next_multiple_of(SMALL_HEADER_STEP)
        } else {
            self.options.buffer_size as usize
        };
        if end > size || record > usize::from(u16::MAX) {
            return Err(WriteError::RecordSize { size: record, limit: size.saturating_sub(BUFFER_HEADER_BYTES) });
        }
        let header = BufferHeader {
            size: size as u32,
            end: end as u32,
            time: 0,
            sequence: 0,
            cpu: 0,
            flags: buffer_flag::FLUSH_MARKER,
            kind: kind::HEADER,
        };
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&header.encode(self.options.cpu_numbering));
        head.encode(&mut bytes, record as u16, self.options.zero_ticks, system, system);
        bytes.extend_from_slice(&payload);
        bytes.resize(end, 0);
        bytes.resize(size, 0xFF);
        Ok(bytes)
    }
}
