//! Stacks, read without a list of its own for each: an archive has hundreds of thousands of them.

use arrow_array::RecordBatch;
use arrow_array::types::Int32Type;
use tracesift_trace::rows::StackRow;
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{FrameId, StackId};

use crate::error::Error;
use crate::reader::{Archive, Wanted};
use crate::view::{list, primitive};

impl Archive {
    /// Shows `visit` all stacks with their frames, leaf first, in the order of the table.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Read`]; `visit` may have seen stacks before that.
    pub fn scan_stacks(&self, mut visit: impl FnMut(StackId, &[FrameId])) -> Result<(), Error> {
        let Some(mut scan) = self.start_scan::<StackRow>(ColumnSet::ALL, Wanted::default(), None)? else {
            return Ok(());
        };
        let mut frames = Vec::new();
        while let Some(batch) = scan.next()? {
            show_stacks(&batch, &mut frames, &mut visit).map_err(|reason| Error::corrupt(scan.path(), reason))?;
        }
        Ok(())
    }
}

/// Shows `visit` the stacks of a batch. `frames` is used again.
pub(crate) fn show_stacks(
    batch: &RecordBatch,
    frames: &mut Vec<FrameId>,
    visit: &mut impl FnMut(StackId, &[FrameId]),
) -> Result<(), String> {
    let ids = primitive::<Int32Type>(batch, "stack")?;
    let lists = list::<Int32Type>(batch, "frames")?;
    for row in 0..batch.num_rows() {
        let stack = ids.get(row).filter(|id| *id >= 0).ok_or_else(|| format!("row {row} has an impossible stack"))?;
        let of_stack = lists.get(row).ok_or_else(|| format!("row {row} has an impossible frames"))?;
        frames.clear();
        frames.extend(of_stack.iter().map(|frame| FrameId(*frame)));
        // Frames are numbers of rows, as all ids.
        if of_stack.iter().any(|frame| *frame < 0) {
            return Err(format!("row {row} has an impossible frames"));
        }
        visit(StackId(stack), frames);
    }
    Ok(())
}
