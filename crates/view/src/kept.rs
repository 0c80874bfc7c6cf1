//! What is the same each time, so that it is made once.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::failure::Failure;

/// A value, once it was made.
#[derive(Debug)]
pub(crate) struct Kept<V>(Arc<Mutex<Option<V>>>);

impl<V> Default for Kept<V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<V> Clone for Kept<V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<V: Clone> Kept<V> {
    /// The value. Who asks while it is made waits for it; one that could not be made is made again.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<V, Failure>) -> Result<V, Failure> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(value) => Ok(value.clone()),
            None => Ok(known.insert(make()?).clone()),
        }
    }
}

/// Values by what they are of.
#[derive(Debug)]
pub(crate) struct KeptBy<K, V>(Mutex<FxHashMap<K, Kept<V>>>);

impl<K, V> Default for KeptBy<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> KeptBy<K, V> {
    /// The value of something, as [`Kept::get`].
    pub(crate) fn get(&self, of: &K, make: impl FnOnce() -> Result<V, Failure>) -> Result<V, Failure> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(of.clone()).or_default().clone();
        kept.get(make)
    }
}
