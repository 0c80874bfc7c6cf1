//! Code with its names, before it goes into the table.

use crate::{LocationId, TableBuilder};

/// The code of `start..end` is at a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) location: LocationId,
}

/// Pieces of a whole program; what comes later hides what came before.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Piece>);

impl From<Vec<Piece>> for Pieces {
    fn from(pieces: Vec<Piece>) -> Self {
        Self(pieces)
    }
}

impl Pieces {
    pub(super) fn extend(&mut self, pieces: &[Piece]) {
        self.0.extend_from_slice(pieces);
    }

    /// Adds what lies above these.
    pub(super) fn append(&mut self, mut above: Self) {
        self.0.append(&mut above.0);
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    pub(super) fn as_slice(&self) -> &[Piece] {
        &self.0
    }

    pub(super) fn give_to(self, builder: &mut TableBuilder) {
        for piece in self.0 {
            builder.add(piece.start.into(), piece.end.into(), piece.location);
        }
    }
}
