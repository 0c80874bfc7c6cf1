//! Rows that wait for the rest of what is known about them, and leave in the order in which they came.

use std::collections::VecDeque;

use crate::rows::ExceptionRow;

/// Rows in the order of their times. The oldest one leaves when it is closed.
#[derive(Debug)]
pub(super) struct HeldRows {
    rows: VecDeque<Held>,
    /// Number of the oldest row.
    first: u64,
    most: usize,
    /// Open rows that had to leave.
    dropped: u64,
}

#[derive(Debug)]
struct Held {
    row: ExceptionRow,
    is_open: bool,
}

impl HeldRows {
    /// None yet, and never more than `most`.
    pub(super) fn new(most: usize) -> Self {
        Self { rows: VecDeque::new(), first: 0, most, dropped: 0 }
    }

    /// Adds a row. Gives its number; what is known later is told with it.
    pub(super) fn push(&mut self, row: ExceptionRow, is_open: bool) -> u64 {
        self.rows.push_back(Held { row, is_open });
        self.first + self.rows.len() as u64 - 1
    }

    /// A row that is open.
    pub(super) fn open(&mut self, number: u64) -> Option<&mut ExceptionRow> {
        let held = self.held(number)?;
        Some(&mut held.row)
    }

    /// Nothing more will be known of a row.
    pub(super) fn close(&mut self, number: u64) {
        if let Some(held) = self.held(number) {
            held.is_open = false;
        }
    }

    fn held(&mut self, number: u64) -> Option<&mut Held> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.rows.get_mut(at).filter(|held| held.is_open)
    }

    /// Number of the oldest row, where too many rows wait for it. It is open.
    pub(super) fn too_many(&self) -> Option<u64> {
        (self.rows.len() > self.most).then_some(self.first)
    }

    /// The oldest row is given up: it closes with what is known by now.
    pub(super) fn give_up(&mut self, number: u64) {
        self.dropped += u64::from(self.held(number).is_some());
        self.close(number);
    }

    /// Rows that leave.
    pub(super) fn leave(&mut self, out: &mut dyn FnMut(&ExceptionRow)) {
        while let Some(held) = self.rows.pop_front_if(|held| !held.is_open) {
            self.first += 1;
            out(&held.row);
        }
    }

    /// Numbers of the rows that are open, the oldest first.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let held = (self.first..).zip(&self.rows);
        held.filter(|(_, held)| held.is_open).map(|(number, _)| number).collect()
    }

    /// Open rows that were given up.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}
