//! The pieces of an account one by one, for who wants to know more of them than the account itself keeps.

use tracesift_analysis::Span;
use tracesift_analysis::path::Link;
use tracesift_trace::{StackId, ThreadId};

use super::account::Key;
use super::parties::Parties;
use super::places::Places;

/// A piece of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The part of the account that it belongs to.
    pub(crate) key: Key,
    /// The number of the chain of threads that leads to it.
    pub(crate) chain: u32,
    /// Its start. Of a part of run time the time of the sample that stands for it.
    pub(crate) time: i64,
    /// Its length, ns.
    pub(crate) length: i64,
    /// The stack of the code that ran, or with which the thread left the CPU.
    pub(crate) stack: Option<StackId>,
}

/// A leaf of the path: one thread in one state. Segments tile the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its time; never empty.
    pub(crate) span: Span,
    /// The thread that it belongs to.
    pub(crate) thread: ThreadId,
    /// What this thread did. Runs have no code: samples divide parts, not segments.
    pub(crate) key: Key,
    /// The number of the chain of threads that leads to it.
    pub(crate) chain: u32,
}

/// Takes the pieces of an account. Those of a part add up to it; so do all of them to the window, unless
/// samples stand for more time than it has.
pub(crate) trait Witness {
    /// Whether it takes pieces.
    const TAKES: bool = true;

    /// Whether it takes segments. A recording without context switches has none.
    const SEGMENTS: bool = false;

    /// The number of a chain.
    fn chain(&mut self, chain: &[Link], parties: &mut Parties<'_>, places: &mut Places<'_>) -> u32;

    /// Takes a piece. They come in any order, but always in the same.
    fn piece(&mut self, piece: &Piece);

    /// Takes a segment. They come in any order, but always in the same.
    fn segment(&mut self, _: &Segment) {}

    /// Takes the time of a sample of a part of run time, if it takes segments.
    fn sampled(&mut self, _: &Key, _: i64) {}
}

/// Nobody.
impl Witness for () {
    const TAKES: bool = false;

    fn chain(&mut self, _: &[Link], _: &mut Parties<'_>, _: &mut Places<'_>) -> u32 {
        0
    }

    fn piece(&mut self, _: &Piece) {}
}
