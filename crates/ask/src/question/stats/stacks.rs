//! Counts records that have a stack in a record of its own.
//!
//! A stack record names its owner by time. It follows soon, so the latest records are remembered and older ones forgotten:
//! the memory stays the same for a recording of any size.

use tracesift_etl::counts::KeyNumber;

/// Records remembered, a power of two.
const SLOTS: usize = 1 << 18;

/// The latest records by time.
pub(super) struct Recent {
    slots: Vec<Option<Slot>>,
}

#[derive(Clone, Copy)]
struct Slot {
    time: i64,
    key: KeyNumber,
    has_stack: bool,
}

impl Recent {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { slots: vec![None; SLOTS] }
    }

    /// Remembers a record. Of several at the same time the first keeps the place.
    pub(super) fn record(&mut self, time: i64, key: KeyNumber, has_stack: bool) {
        if let Some(slot) = self.slots.get_mut(index(time))
            && slot.is_none_or(|slot| slot.time != time)
        {
            *slot = Some(Slot { time, key, has_stack });
        }
    }

    /// The record that a stack belongs to, when this is the first part of its stack.
    pub(super) fn owner(&mut self, time: i64) -> Option<KeyNumber> {
        let slot = self.slots.get_mut(index(time))?.as_mut()?;
        if slot.time != time || std::mem::replace(&mut slot.has_stack, true) {
            return None;
        }
        Some(slot.key)
    }
}

fn index(time: i64) -> usize {
    // Fibonacci hashing spreads the regular distances of timer ticks.
    let hash = time.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(hash >> (64 - SLOTS.trailing_zeros())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use tracesift_etl::Record;
    use tracesift_etl::counts::Counts;

    use super::*;

    #[test]
    fn a_stack_counts_once() {
        let sample = [2, 0, 0x11, 0xc0, 16, 0, 0x2e, 0x0f, 5, 0, 0, 0, 0, 0, 0, 0];
        let (key, _) = Counts::default().add(&Record::parse(&sample, 0, 0).expect("a record"));
        let mut recent = Recent::new();
        recent.record(5, key, false);
        assert_eq!(recent.owner(4), None);
        assert_eq!(recent.owner(5), Some(key));
        assert_eq!(recent.owner(5), None, "its other half");
        recent.record(6, key, true);
        assert_eq!(recent.owner(6), None, "it brought one along");
    }
}
