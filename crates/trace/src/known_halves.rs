//! Halves of stacks whose frames were found before: a kernel has few ways to a place, and each is under many user halves.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::fingerprint::Fingerprint;
use crate::ids::FrameId;

/// The frames of halves of one space, as long as nothing is mapped or compiled otherwise there.
#[derive(Debug, Default)]
pub(crate) struct KnownHalves {
    epochs: (u32, u32),
    places: FxHashMap<Fingerprint, Range<u32>>,
    frames: Vec<FrameId>,
}

impl KnownHalves {
    /// The frames of the half with these addresses, if they were found in the same epochs.
    pub(crate) fn get(&self, epochs: (u32, u32), addresses: Fingerprint) -> Option<&[FrameId]> {
        let place = self.places.get(&addresses).filter(|_| self.epochs == epochs)?;
        self.frames.get(place.start as usize..place.end as usize)
    }

    /// Notes the frames of a half. Those of other epochs are forgotten: times mostly grow.
    pub(crate) fn insert(&mut self, epochs: (u32, u32), addresses: Fingerprint, frames: &[FrameId]) {
        if self.epochs != epochs {
            self.places.clear();
            self.frames.clear();
            self.epochs = epochs;
        }
        let start = self.frames.len();
        // Who owns this bounds its bytes, which are far below these numbers.
        let Some((start, end)) = u32::try_from(start).ok().zip(u32::try_from(start + frames.len()).ok()) else {
            return;
        };
        self.frames.extend_from_slice(frames);
        self.places.insert(addresses, start..end);
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.places.len() * 40 + self.frames.len() * size_of::<FrameId>()
    }
}
