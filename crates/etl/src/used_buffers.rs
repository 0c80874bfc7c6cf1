//! Gives memory of a mapped recording back.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::buffer::BufferRef;
use crate::file::EtlFile;

/// Bytes of used-up buffers that are given back at once: a call for each would cost more than to read it did.
const RELEASE: u64 = 8 << 20;

/// The buffers of one file that are used up and still in memory, if the file is mapped.
#[derive(Debug)]
pub(crate) struct UsedBuffers {
    file: EtlFile,
    used: Mutex<Places>,
}

/// Places of used-up buffers in the file.
#[derive(Debug, Default)]
struct Places {
    places: Vec<Range<u64>>,
    bytes: u64,
}

impl UsedBuffers {
    /// None of a file yet.
    pub(crate) fn of(file: &EtlFile) -> Self {
        Self { file: file.clone(), used: Mutex::default() }
    }

    /// The buffer with this index is used up.
    pub(crate) fn add(&self, index: u32) {
        if let Some(buffer) = self.file.buffers().get(index as usize) {
            self.add_buffer(buffer);
        }
    }

    /// This buffer is used up.
    pub(crate) fn add_buffer(&self, buffer: &BufferRef) {
        // Places are whole at any time.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.places.push(buffer.offset..buffer.offset + u64::from(buffer.extent));
        used.bytes += u64::from(buffer.extent);
        if used.bytes < RELEASE {
            return;
        }
        let Places { mut places, .. } = std::mem::take(&mut *used);
        drop(used);
        // Neighbours go together.
        places.sort_unstable_by_key(|range| range.start);
        for joined in places.chunk_by(|range, next| range.end == next.start) {
            if let (Some(first), Some(last)) = (joined.first(), joined.last()) {
                self.file.release(first.start..last.end);
            }
        }
    }
}
