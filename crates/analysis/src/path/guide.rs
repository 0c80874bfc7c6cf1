//! What goes into the walk and what comes out, besides the leaves themselves.

use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::view;

use super::leaf::{Leaf, Link, Waker};

view! {
    /// The columns of a switch row that the path needs.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct PathSwitch of ContextSwitchRow {
        time, cpu, thread, prev_thread, off_time, ready_time, readier, wait_stack, ready_stack, flags,
    }
}

/// Answers what the walk asks, and takes its leaves.
pub trait Guide {
    /// Who ended the wait of a row, by its readier, its flags and the stack of its wake-up. The walk asks for
    /// rows on the path only, those with a wake-up. An answer that is an idle thread, or a thread where the row's flags tell of
    /// an interrupt, counts as an interrupt.
    fn waker(&mut self, row: &PathSwitch) -> Waker;

    /// Whether the wait of a row is a wait for work, so that the anchor's request came from the thread that ended it: the
    /// path then goes on with that thread and does not return. Asked of waits of the anchor only.
    fn hands_over(&mut self, row: &PathSwitch) -> bool {
        let _ = row;
        false
    }

    /// Takes the next leaf: it ends where the one before began. `chain` leads from the anchor to its thread; it has at least
    /// one link and at most [`MAX_DEPTH`](super::MAX_DEPTH).
    fn leaf(&mut self, leaf: &Leaf, chain: &[Link]);
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTotals {
    /// Leaves.
    pub leaves: u64,
    /// Links of the longest chain.
    pub deepest: usize,
    /// Hand-overs that were followed.
    pub hand_overs: u64,
    /// Threads whose creator was followed.
    pub births: u64,
    /// Leaves that wait for a thread which could not be followed.
    pub unfollowed: u64,
    /// Steps of the walk between its rows: a few per row that lies on the path.
    pub steps: u64,
}
