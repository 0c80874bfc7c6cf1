//! Texts, each stored once. They lie in one buffer, since a profile has a hundred thousand of them and none is ever removed.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::StringId;

/// Texts by id. The empty text is always there, as the first one.
#[derive(Clone, Debug)]
pub(crate) struct Strings {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    state: RandomState,
}

impl Strings {
    pub(crate) fn new() -> Self {
        let mut strings =
            Self { text: String::new(), ends: Vec::new(), table: HashTable::new(), state: RandomState::default() };
        strings.intern("");
        strings
    }

    /// The id of the text, which is stored if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        let Self { text: buffer, ends, table, state } = self;
        let hash = state.hash_one(text);
        if let Some(&row) = table.find(hash, |&row| slice(buffer, ends, row) == text) {
            return StringId(row);
        }
        let id = StringId::next(ends.len());
        buffer.push_str(text);
        ends.push(buffer.len());
        table.insert_unique(hash, id.0, |&row| state.hash_one(slice(buffer, ends, row)));
        id
    }

    pub(crate) fn get(&self, id: StringId) -> &str {
        slice(&self.text, &self.ends, id.0)
    }

    /// All texts in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|row| slice(&self.text, &self.ends, row))
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], row: u32) -> &'a str {
    let row = row as usize;
    let start = if row == 0 { 0 } else { ends[row - 1] };
    &text[start..ends[row]]
}
