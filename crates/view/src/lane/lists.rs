//! Lists of lanes with what they have in all of the recorded time. They are the same each time, so they are made once.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::Lane;
use super::totals::Entry;
use crate::failure::Failure;

/// A list, once it was made.
type Slot = Arc<Mutex<Option<Vec<Entry>>>>;

/// The lists of a recording, by the lane above them.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<FxHashMap<Lane, Slot>>);

impl Lists {
    /// The list below a lane. Who asks while it is made waits for it; one that could not be made is made again.
    pub(crate) fn of(
        &self,
        parent: &Lane,
        make: impl FnOnce() -> Result<Vec<Entry>, Failure>,
    ) -> Result<Vec<Entry>, Failure> {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(parent.clone()).or_default().clone();
        let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(list) => Ok(list.clone()),
            None => Ok(known.insert(make()?).clone()),
        }
    }
}
