//! Frames tell addresses apart; viewers list functions. Here is which frames are of one function.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::profile::{Catalog, Frame, FrameId, StringId};

/// The functions of a catalog: frames without their addresses and lines.
pub(crate) struct Functions {
    /// The first frame of each function.
    pub(crate) frames: Vec<Frame>,
    of_frame: Vec<u32>,
}

impl Functions {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut known: HashMap<(StringId, StringId, StringId), u32, RandomState> = HashMap::default();
        let mut frames = Vec::new();
        let of_frame = catalog.frames().iter().map(|frame| {
            *known.entry((frame.module, frame.function, frame.file)).or_insert_with(|| {
                frames.push(*frame);
                frames.len() as u32 - 1
            })
        });
        let of_frame = of_frame.collect();
        Self { frames, of_frame }
    }

    /// The row of a frame's function.
    pub(crate) fn of_frame(&self, frame: FrameId) -> u32 {
        self.of_frame[frame.row()]
    }
}
