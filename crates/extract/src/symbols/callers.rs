//! Which frames are return addresses.
//!
//! A caller's frame has the address behind its call: the call itself ends one byte before, and only that byte is sure to belong to the
//! line, and even to the function, that called. What was interrupted, or entered the kernel, is where it is. A frame that occurs as both
//! counts as a caller: that a sample hits the very instruction behind a call is rare, and stacks through that call are not.

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error};
use tracesift_trace::FrameId;
use tracesift_trace::rows::StackRow;

/// The frames that are callers in some stack; `is_kernel` tells on which side of the kernel's boundary a frame lies.
pub(crate) fn callers(archive: &Archive, is_kernel: impl Fn(FrameId) -> bool) -> Result<FxHashSet<FrameId>, Error> {
    let mut callers = FxHashSet::default();
    archive.scan(None, |row: &StackRow| {
        // Above the leaf a stack goes on below the kernel where the thread entered it.
        let mut before = true;
        for (index, frame) in row.frames.iter().enumerate() {
            let kernel = is_kernel(*frame);
            if index > 0 && (kernel || !before) {
                callers.insert(*frame);
            }
            before = kernel;
        }
    })?;
    Ok(callers)
}
