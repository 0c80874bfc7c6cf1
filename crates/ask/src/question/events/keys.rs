//! Keys of columns that the command line names: keys of columns live as long as the program.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Keys that are kept, and their longest: a program that answers many questions must not grow without an end.
const MOST: usize = 4096;
const LONGEST: usize = 256;

static KEYS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The text as a key. `None`: it is too long, or there are too many.
pub(super) fn key(text: &str) -> Option<&'static str> {
    let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = keys.get(text) {
        return Some(known);
    }
    if keys.len() >= MOST || text.len() > LONGEST {
        return None;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    keys.insert(text);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, key};

    #[test]
    fn a_key_is_kept_once() {
        let first = key("Values[0].TypeName").expect("there are few keys");
        let again = key("Values[0].TypeName").expect("it is known");
        assert!(std::ptr::eq(first, again));
        assert_eq!(key(&"x".repeat(LONGEST + 1)), None);
    }
}
