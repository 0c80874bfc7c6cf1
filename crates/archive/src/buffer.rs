//! Memory for the content of small files, used again by the next file that the thread reads: of hundreds of archives each would
//! otherwise have the system clear hundreds of pages first.

use std::cell::RefCell;

use bytes::Bytes;

/// Buffers that a thread keeps: a question has two tables open at most.
const SPARE: usize = 2;
/// Largest buffer that is kept.
const LARGEST: usize = 4 << 20;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer.
pub(crate) fn take() -> Vec<u8> {
    BUFFERS.try_with(|buffers| buffers.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// The content of a buffer, which is used again when nobody reads the content any more.
pub(crate) fn share(buffer: Vec<u8>) -> Bytes {
    Bytes::from_owner(Shared(buffer))
}

struct Shared(Vec<u8>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.0);
        buffer.clear();
        // A thread that ends has no place for it any more.
        let _ = BUFFERS.try_with(|buffers| {
            let mut buffers = buffers.borrow_mut();
            if buffers.len() < SPARE && buffer.capacity() <= LARGEST {
                buffers.push(buffer);
            }
        });
    }
}
