//! Gives memory of a mapped recording back.

use std::ops::Range;

use crate::buffer::BufferRef;
use crate::file::EtlFile;

/// Bytes of used-up buffers that are given back at once: a call for each would cost more than to read it did.
const RELEASE: u64 = 8 << 20;

/// Places of the buffers of one file that are used up and still in memory, if the file is mapped.
#[derive(Debug, Default)]
pub(crate) struct UsedBuffers {
    places: Vec<Range<u64>>,
    bytes: u64,
}

impl UsedBuffers {
    /// The buffer with this index is used up.
    pub(crate) fn add(&mut self, file: &EtlFile, index: u32) {
        if let Some(buffer) = file.buffers().get(index as usize) {
            self.add_buffer(file, buffer);
        }
    }

    /// This buffer is used up.
    pub(crate) fn add_buffer(&mut self, file: &EtlFile, buffer: &BufferRef) {
        self.places.push(buffer.offset..buffer.offset + u64::from(buffer.extent));
        self.bytes += u64::from(buffer.extent);
        if self.bytes < RELEASE {
            return;
        }
        // Neighbours go together.
        self.places.sort_unstable_by_key(|range| range.start);
        for joined in self.places.chunk_by(|range, next| range.end == next.start) {
            if let (Some(first), Some(last)) = (joined.first(), joined.last()) {
                file.release(first.start..last.end);
            }
        }
        self.places.clear();
        self.bytes = 0;
    }
}
