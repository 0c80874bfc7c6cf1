//! Texts that many share: the names of programs, users and control groups.

use std::num::NonZeroU32;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A text of a [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text(NonZeroU32);

/// Texts by number, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, Text>,
}

impl Texts {
    /// The number of a text; `None` where there is none, and once there are no numbers left.
    pub(crate) fn number(&mut self, text: Option<&str>) -> Option<Text> {
        let text = text?;
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        let number = Text(NonZeroU32::new(u32::try_from(self.texts.len()).ok()?)?);
        self.numbers.insert(text, number);
        Some(number)
    }

    /// The text behind a number.
    pub(crate) fn get(&self, text: Option<Text>) -> Option<&str> {
        self.texts.get(text?.0.get() as usize - 1).map(|text| &**text)
    }

    /// A text of its own.
    pub(crate) fn owned(&self, text: Option<Text>) -> Option<String> {
        self.get(text).map(str::to_owned)
    }
}
