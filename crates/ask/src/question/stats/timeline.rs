//! When the records of a class came: enough of it to see that a class fell silent before the recording ended.
//!
//! Some classes have one owner only: when another program starts a session with them, they stop here, and nothing in the
//! recording says so. Samples that end halfway look like an idle machine.

use std::ops::Range;

/// Parts into which the recorded time is divided.
const SLICES: usize = 64;
/// Fewer records than this have no rate.
const ENOUGH_RECORDS: u64 = 200;
/// Slices that must be empty at the end.
const SILENT_SLICES: usize = 4;
/// Slices at the start in one of which it must come: what starts later has its own reasons to end.
const FIRST_SLICES: usize = 3;

/// Records of one class over the recorded time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    slices: [u32; SLICES],
}

/// The recorded time, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded {
    /// First tick.
    pub(super) start: i64,
    /// Last tick.
    pub(super) end: i64,
}

/// The slices of the recorded time. The slice of the last time is found again without a division.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    recorded: Recorded,
    known: Range<i64>,
    slice: usize,
}

impl Slices {
    pub(super) fn of(recorded: Recorded) -> Self {
        Self { recorded, known: 0..0, slice: 0 }
    }

    /// The slice of a time; times before and behind the recorded ones are in the first and the last.
    #[inline]
    pub(super) fn at(&mut self, time: i64) -> usize {
        if !self.known.contains(&time) {
            self.find(time);
        }
        self.slice
    }

    #[inline(never)]
    fn find(&mut self, time: i64) {
        const COUNT: i128 = SLICES as i128;
        let start = i128::from(self.recorded.start);
        let length = (i128::from(self.recorded.end) - start + 1).max(1);
        let at = (i128::from(time) - start) * COUNT / length;
        self.slice = usize::try_from(at).unwrap_or(0).min(SLICES - 1);
        // The slice begins with the first time whose part is that large.
        let edge = |slice: i128| i64::try_from(start + (slice * length + COUNT - 1).div_euclid(COUNT));
        let edges = edge(at).ok().zip(edge(at + 1).ok()).filter(|_| at >= 0);
        self.known = edges.map_or(0..0, |(from, until)| from..until);
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { slices: [0; SLICES] }
    }
}

impl Timeline {
    /// Counts a record in a slice.
    #[inline]
    pub(super) fn add(&mut self, slice: usize) {
        if let Some(slice) = self.slices.get_mut(slice) {
            *slice = slice.saturating_add(1);
        }
    }

    /// Whether the class came at a steady rate and then not any more, well before the end.
    pub(super) fn stops_early(&self) -> bool {
        let records: u64 = self.slices.iter().map(|&slice| u64::from(slice)).sum();
        let Some(last) = self.slices.iter().rposition(|&slice| slice > 0) else { return false };
        let first = self.slices.iter().position(|&slice| slice > 0).unwrap_or(last);
        let silent = SLICES - 1 - last;
        let active = last - first + 1;
        let has_rate = records >= ENOUGH_RECORDS && active >= 2 * SILENT_SLICES && first < FIRST_SLICES;
        if !has_rate || silent < SILENT_SLICES {
            return false;
        }
        // Steady: records in nearly all slices, and no slice so full that the class is a burst with a tail.
        let filled = self.slices.iter().filter(|&&slice| slice > 0).count();
        let fullest = self.slices.iter().copied().max().unwrap_or(0);
        let mean = records / active as u64;
        filled * 10 >= active * 9 && u64::from(fullest) <= mean.saturating_mul(4)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timeline(times: impl Iterator<Item = i64>) -> Timeline {
        let mut timeline = Timeline::default();
        let mut slices = Slices::of(Recorded { start: 1_000, end: 11_000 });
        times.for_each(|time| timeline.add(slices.at(time)));
        timeline
    }

    #[test]
    fn a_class_that_someone_took_away() {
        assert!(timeline((1_000..6_000).step_by(10)).stops_early());
        assert!(!timeline((1_000..11_000).step_by(10)).stops_early(), "to the end");
        assert!(!timeline((1_000..1_500).step_by(1)).stops_early(), "a burst at the start");
        assert!(!timeline((3_000..8_000).step_by(10)).stops_early(), "a program that came and went");
        assert!(!timeline((1_000..6_000).step_by(100)).stops_early(), "too few to have a rate");
        let tail = (1_000..1_200).chain((1_200..6_000).step_by(70));
        assert!(!timeline(tail).stops_early(), "a rundown with a tail");
    }

    #[test]
    fn hostile_times() {
        let mut timeline = Timeline::default();
        for time in [i64::MIN, 0, i64::MAX] {
            for (start, end) in [(i64::MIN, i64::MAX), (5, 4), (i64::MIN, i64::MIN), (i64::MAX, i64::MAX)] {
                timeline.add(Slices::of(Recorded { start, end }).at(time));
            }
        }
        assert!(!timeline.stops_early());
    }

    proptest! {
        #[test]
        fn a_slice_that_is_known_is_that_of_a_division(
            start in -1000..1000_i64, length in 1..1000_i64, times in prop::collection::vec(-2000..3000_i64, 1..50),
        ) {
            let mut slices = Slices::of(Recorded { start, end: start + length - 1 });
            for time in times {
                let expected = ((time - start) * SLICES as i64 / length).clamp(0, SLICES as i64 - 1);
                prop_assert_eq!(slices.at(time), expected as usize);
            }
        }
    }
}
