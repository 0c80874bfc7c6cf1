//! Single buffers, in any order.

use crate::buffer::BufferRef;
use crate::damage::DamageLog;
use crate::file::EtlFile;
use crate::load::Content;
use crate::record::Record;
use crate::used_buffers::UsedBuffers;

/// Reads single buffers in any order, for work that does not need the records merged. Keeps its memory between buffers.
#[derive(Debug, Default)]
pub struct BufferReader {
    part: u16,
    input: Vec<u8>,
    content: Content,
    damage: DamageLog,
    /// The buffer whose records were given last.
    last: Option<BufferRef>,
    /// None before the first one.
    used: Option<UsedBuffers>,
}

impl BufferReader {
    /// A reader whose records say that they come from file number `part`.
    #[must_use]
    pub fn new(part: u16) -> Self {
        Self { part, ..Self::default() }
    }

    /// The records of one buffer, sorted by time. A reader is for the buffers of one file.
    pub fn records<'r>(&'r mut self, file: &EtlFile, buffer: &BufferRef) -> impl ExactSizeIterator<Item = Record<'r>> {
        if let Some(last) = self.last.replace(*buffer) {
            self.used.get_or_insert_with(|| UsedBuffers::of(file)).add_buffer(&last);
        }
        file.origin().load(buffer, &mut self.input, &mut self.content, &mut self.damage);
        let content = &self.content;
        let (cpu, part) = (buffer.cpu, self.part);
        content.entries.iter().map(move |entry| {
            // An entry lies inside the area it was found in.
            let bytes = content.area.bytes().get(entry.offset()..entry.offset() + entry.size()).unwrap_or_default();
            Record::new(bytes, entry.kind(), entry.time, cpu, part)
        })
    }

    /// What could not be used in the buffers read so far; without the damage that [`EtlFile::open`] found.
    #[must_use]
    pub const fn damage(&self) -> &DamageLog {
        &self.damage
    }
}
