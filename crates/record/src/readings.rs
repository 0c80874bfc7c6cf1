//! Readings of the machine once a second while something is recorded: of figures that perf does not see.

use std::time::{Duration, Instant as Now};

use crate::facts::Instant;

/// Between two readings at first.
const EVERY: Duration = Duration::from_secs(1);
/// Readings that are kept. Of more every second one goes, and readings come half as often from then on.
const MOST: usize = 4096;

/// What was read until now.
#[derive(Debug)]
pub(crate) struct Readings<T, Read> {
    readings: Vec<T>,
    every: Duration,
    latest: Now,
    read: Read,
}

impl<T, Read: FnMut(i64) -> Option<T>> Readings<T, Read> {
    /// Reads once; the recorder is at work. `read` takes the time, ns of the recorder's clock.
    pub(crate) fn begin(read: Read) -> Self {
        let mut readings = Self { readings: Vec::new(), every: EVERY, latest: Now::now(), read };
        readings.take();
        readings
    }

    /// Reads if it is time to. To be called some twenty times per second.
    pub(crate) fn tick(&mut self) {
        if self.latest.elapsed() >= self.every {
            self.latest = Now::now();
            self.take();
        }
    }

    /// All readings in the order of time, the last one of now.
    pub(crate) fn finish(mut self) -> Vec<T> {
        self.take();
        self.readings
    }

    fn take(&mut self) {
        let reading = Instant::now().clock_ns.and_then(|seen_ns| (self.read)(seen_ns));
        self.readings.extend(reading);
        if self.readings.len() > MOST {
            let mut number = 0;
            self.readings.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_recordings_keep_readings_of_all_of_their_time() {
        let mut readings = Readings::begin(Some);
        (0..3 * MOST).for_each(|_| readings.take());
        assert!(readings.readings.len() <= MOST, "{}", readings.readings.len());
        assert!(readings.every >= 2 * EVERY, "{:?}", readings.every);
        let all = readings.finish();
        assert!(all.is_sorted(), "in order");
    }
}
