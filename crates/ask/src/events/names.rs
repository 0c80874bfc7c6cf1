//! Texts of events as numbers, each stored once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Texts, and bytes of them, that are told apart. A recording has some thousands; a field may have a text of its own in each event.
const MOST: usize = 1 << 20;
const MOST_BYTES: usize = 128 << 20;

/// Texts with their numbers, which begin with 0.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    bytes: usize,
}

impl Names {
    /// The number of a text. `None`: there are too many.
    pub(crate) fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if self.texts.len() >= MOST || self.bytes.saturating_add(text.len()) > MOST_BYTES {
            return None;
        }
        let number = u32::try_from(self.texts.len()).ok()?;
        let text: Arc<str> = text.into();
        self.bytes += text.len();
        self.numbers.insert(Arc::clone(&text), number);
        self.texts.push(text);
        Some(number)
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Names};

    #[test]
    fn each_text_has_one_number_and_there_is_an_end() {
        let mut names = Names::default();
        assert_eq!(["a", "", "a", "ä"].map(|text| names.number(text)), [Some(0), Some(1), Some(0), Some(2)]);
        assert_eq!([0, 1, 2, 3].map(|number| names.text(number)), ["a", "", "ä", ""]);
        assert!((3..MOST).all(|number| names.number(&number.to_string()).is_some()));
        assert_eq!((names.number("one more"), names.number("ä")), (None, Some(2)));
    }
}
