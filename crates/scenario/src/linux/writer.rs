//! The recording as perf writes it: buffers of the CPUs that are emptied in rounds, between header and features or as a stream.

use std::io::{self, Seek, SeekFrom, Write};

use super::events::Event;
use super::features::{TRACING_DATA, features};
use super::fields::Fields;
use super::layout::ATTR_SIZE;

/// Bytes in the buffers at which a round ends.
const ROUND: usize = 4 << 20;

const MAGIC: &[u8] = b"PERFILE2";
const HEADER_SIZE: u64 = 104;
const PIPE_HEADER_SIZE: u64 = 16;
/// Bytes of a `perf_file_section`: offset and size.
const SECTION: u64 = 16;
/// Where the header has the size of the data.
const DATA_SIZE_AT: u64 = 48;

const RECORD_ATTR: u32 = 64;
const RECORD_TRACING_DATA: u32 = 66;
const RECORD_FINISHED_ROUND: u32 = 68;
const RECORD_FEATURE: u32 = 80;

/// Writes a recording.
pub(crate) struct Writer<W> {
    output: W,
    stream: bool,
    cpus: u16,
    events: &'static [Event],
    buffers: Vec<Fields>,
    written: u64,
    data_at: u64,
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a recording; `stream`: as perf writes it to a pipe.
    pub(crate) fn create(output: W, cpus: u16, events: &'static [Event], stream: bool) -> io::Result<Self> {
        let buffers = (0..cpus).map(|_| Fields::default()).collect();
        let mut writer = Self { output, stream, cpus, events, buffers, written: 0, data_at: 0 };
        let mut head = Fields::default();
        if stream {
            stream_head(&mut head, cpus, events)
        } else {
            file_head(&mut head, cpus, events)
        }
        writer.put(&head.0)?;
        writer.data_at = writer.written;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// The buffer of a CPU, for a record.
    pub(crate) fn buffer(&mut self, cpu: u16) -> &mut Fields {
        let index = usize::from(cpu).min(self.buffers.len() - 1);
        &mut self.buffers[index]
    }

    /// Bytes of the recording so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.written + self.waiting() as u64
    }

    fn waiting(&self) -> usize {
        self.buffers.iter().map(|buffer| buffer.0.len()).sum()
    }

    /// Ends the round if enough waits.
    pub(crate) fn turn(&mut self) -> io::Result<()> {
        if self.waiting() < ROUND { Ok(()) } else { self.round() }
    }

    /// Empties all buffers.
    pub(crate) fn round(&mut self) -> io::Result<()> {
        for index in 0..self.buffers.len() {
            let mut buffer = std::mem::take(&mut self.buffers[index]);
            self.put(&buffer.0)?;
            buffer.0.clear();
            self.buffers[index] = buffer;
        }
        let mut end = Fields::default();
        end.record(RECORD_FINISHED_ROUND, 0, |_| {});
        self.put(&end.0)
    }

    /// Ends the recording.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.round()?;
        if !self.stream {
            let size = self.written - self.data_at;
            let features = features(self.cpus, self.events);
            let mut sections = Fields::default();
            let mut at = self.written + features.len() as u64 * SECTION;
            for (_, content) in &features {
                sections.u64(at).u64(content.len() as u64);
                at += content.len() as u64;
            }
            features.iter().for_each(|(_, content)| _ = sections.raw(content));
            self.put(&sections.0)?;
            self.output.seek(SeekFrom::Start(DATA_SIZE_AT))?;
            self.output.write_all(&size.to_le_bytes())?;
        }
        self.output.flush()
    }
}

/// `perf_file_header`, the ids of the events, the events.
fn file_head(out: &mut Fields, cpus: u16, events: &[Event]) {
    let entry = u64::from(ATTR_SIZE) + SECTION;
    let (count, ids) = (events.len() as u64, u64::from(cpus) * 8);
    let attrs_at = HEADER_SIZE + count * ids;
    let bits = features(cpus, events).iter().fold(0, |bits, (number, _)| bits | 1 << number);
    out.raw(MAGIC).u64(HEADER_SIZE).u64(entry);
    out.u64s(&[attrs_at, count * entry, attrs_at + count * entry, 0, 0, 0]);
    out.u64s(&[bits, 0, 0, 0]);
    for event in events {
        (0..cpus).for_each(|cpu| _ = out.u64(event.id(cpu)));
    }
    for (index, event) in (0..).zip(events) {
        event.attr(out);
        out.u64(HEADER_SIZE + index * ids).u64(ids);
    }
}

/// The same as records.
fn stream_head(out: &mut Fields, cpus: u16, events: &[Event]) {
    out.raw(MAGIC).u64(PIPE_HEADER_SIZE);
    for event in events {
        out.record(RECORD_ATTR, 0, |out| {
            event.attr(out);
            (0..cpus).for_each(|cpu| _ = out.u64(event.id(cpu)));
        });
    }
    for (number, content) in features(cpus, events) {
        if number == TRACING_DATA {
            out.record(RECORD_TRACING_DATA, 0, |out| _ = out.u32(content.len() as u32).u32(0)).raw(&content);
        } else {
            out.record(RECORD_FEATURE, 0, |out| {
                let padding = content.len().next_multiple_of(8) - content.len();
                out.u64(number.into()).raw(&content).raw(&[0; 8][..padding]);
            });
        }
    }
}
