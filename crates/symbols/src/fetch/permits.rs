//! Bounds what happens at once.

use std::sync::{Condvar, Mutex, PoisonError};

/// A number of units that are taken and given back.
#[derive(Debug)]
pub(crate) struct Permits {
    total: u64,
    left: Mutex<u64>,
    returned: Condvar,
}

/// Units that come back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    of: &'a Permits,
    units: u64,
}

impl Permits {
    /// All units are there.
    pub(crate) fn new(total: u64) -> Self {
        let total = total.max(1);
        Self { total, left: Mutex::new(total), returned: Condvar::new() }
    }

    /// Waits for some of them. Who wants more than there are gets all, so that it is alone.
    pub(crate) fn take(&self, units: u64) -> Permit<'_> {
        let units = units.clamp(1, self.total);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left < units {
            left = self.returned.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= units;
        Permit { of: self, units }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.of.left.lock().unwrap_or_else(PoisonError::into_inner) += self.units;
        self.of.returned.notify_all();
    }
}
