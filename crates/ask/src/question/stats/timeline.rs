//! When the records of a class came: enough of it to see that a class fell silent before the recording ended.
//!
//! Some classes have one owner only: when another program starts a session with them, they stop here, and nothing in the
//! recording says so. Samples that end halfway look like an idle machine.

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

impl Default for Timeline {
    fn default() -> Self {
        Self { slices: [0; SLICES] }
    }
}

impl Timeline {
    /// Counts a record.
    pub(super) fn add(&mut self, time: i64, recorded: Recorded) {
        let length = i128::from(recorded.end) - i128::from(recorded.start) + 1;
        let at = (i128::from(time) - i128::from(recorded.start)) * SLICES as i128 / length.max(1);
        let at = usize::try_from(at).unwrap_or(0).min(SLICES - 1);
        if let Some(slice) = self.slices.get_mut(at) {
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
    use super::*;

    fn timeline(times: impl Iterator<Item = i64>) -> Timeline {
        let mut timeline = Timeline::default();
        times.for_each(|time| timeline.add(time, Recorded { start: 1_000, end: 11_000 }));
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
            timeline.add(time, Recorded { start: i64::MIN, end: i64::MAX });
            timeline.add(time, Recorded { start: 5, end: 4 });
        }
        assert!(!timeline.stops_early());
    }
}
