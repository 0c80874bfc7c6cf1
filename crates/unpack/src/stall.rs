//! Tells work that has stalled: how long to wait for a sign of life.

/// Looks at work in which nothing has happened, before it is given up. Many, so that a program that was stopped and goes on does not take the
/// time in which its own work was stopped, too, for silence: that is one look, however long it was.
pub(crate) const LOOKS: u32 = 10;

/// Counts looks at which nothing had happened since the one before.
#[derive(Debug, Default)]
pub(crate) struct StallDetector {
    seen: u64,
    silent: u32,
}

impl StallDetector {
    /// One look, at which so many signs of life had been counted; whether to wait on.
    pub(crate) fn look(&mut self, signs: u64) -> bool {
        self.silent = if signs == self.seen { self.silent + 1 } else { 0 };
        self.seen = signs;
        self.silent < LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sign_of_life_begins_the_wait_anew() {
        let mut stall = StallDetector::default();
        for signs in 1..100 {
            assert!((0..LOOKS).all(|_| stall.look(signs)));
        }
        assert!(!stall.look(99));
    }
}
