//! Collections that have ended and whose figures may still come.

use std::collections::VecDeque;

use crate::rows::GcCollectionRow;

/// A collection, with what is known of it so far.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// Its number among all collections of the recording.
    pub(super) id: u64,
    pub(super) row: GcCollectionRow,
    /// Heaps whose history is in the row.
    pub(super) histories: i32,
    /// Bytes of objects before it, by generation: what survival is a share of.
    pub(super) objects: Vec<i64>,
}

/// Parts of a pause that a row keeps, at most. The last one has the rest.
const MOST_PAUSES: usize = 128;

impl Life {
    /// Threads stood for it.
    pub(super) fn stood(&mut self, from: i64, to: i64) {
        let to = to.max(from);
        let row = &mut self.row;
        row.pause = Some(row.pause.unwrap_or(0).saturating_add(to - from));
        let pauses = row.pauses.get_or_insert_default();
        if pauses.len() < 2 * MOST_PAUSES {
            pauses.extend([from, to]);
        }
    }
}

/// Rows in the order of their ends. They leave when too many wait, or at the end of the recording.
#[derive(Debug)]
pub(super) struct Held {
    lives: VecDeque<Life>,
    ready: VecDeque<GcCollectionRow>,
    next: u64,
    most: usize,
}

impl Held {
    pub(super) fn new(most: usize) -> Self {
        Self { lives: VecDeque::new(), ready: VecDeque::new(), next: 0, most }
    }

    /// A number for a new collection.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A collection has ended.
    pub(super) fn add(&mut self, life: Life) {
        self.lives.push_back(life);
        if self.lives.len() > self.most {
            self.ready.extend(self.lives.pop_front().map(|life| life.row));
        }
    }

    /// The collection of that number, if it is still here. Most are asked for soon after their end.
    pub(super) fn find(&mut self, id: u64) -> Option<&mut Life> {
        self.lives.iter_mut().rev().find(|life| life.id == id)
    }

    pub(super) fn next(&mut self) -> Option<GcCollectionRow> {
        self.ready.pop_front()
    }

    pub(super) fn give_all(&mut self) {
        self.ready.extend(self.lives.drain(..).map(|life| life.row));
    }
}
