//! Tells which frames are return addresses.
//!
//! A stack is stored leaf first: kernel frames, then user frames. Frame 0 is the instruction that
//! was interrupted. The first user frame below kernel frames is the instruction that entered the
//! kernel. All other frames are return addresses.
//!
//! A return address stands behind its call. It may belong to the next line, and even to the next
//! function. The byte before it belongs to the call, so names and lines are looked up for that
//! byte.
//!
//! A frame that occurs as both counts as a return address: samples that hit exactly the instruction
//! behind a call are rare, and stacks through that call are not.

use rustc_hash::FxHashSet;
use tracesift_archive::{Archive, Error};
use tracesift_trace::FrameId;
use tracesift_trace::rows::StackRow;

/// The frames that are return addresses in some stack. `is_kernel` tells whether a frame is a
/// kernel frame.
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
