//! Walks over records: all in the order of the file, some of them, or all in the order of time.

use std::sync::Arc;

use super::chains::{ChainNumber, NewChains};
use super::stop::Stop;
use crate::damage::DamageLog;
use crate::metadata::Metadata;
use crate::record::Record;

/// A walk over records. [`Walk::advance`] moves to a record, and a second call returns it.
pub trait Walk: Send + 'static {
    /// Moves to the next record; `false` at the end.
    fn advance(&mut self) -> bool;

    /// The record that [`Walk::advance`] moved to.
    fn current(&self) -> Option<Record<'_>>;

    /// What is known of the recording so far.
    fn metadata(&self) -> &Arc<Metadata>;

    /// What could not be read so far.
    fn damage(&self) -> &DamageLog;

    /// The same, to count what follows from it.
    fn damage_mut(&mut self) -> &mut DamageLog;

    /// Why the walk ended before its data, if it did.
    fn stop(&self) -> Option<&Stop>;

    /// Bytes of the file or stream that were walked over.
    fn position(&self) -> u64;

    /// Gives call chains numbers from here on, where records wait for their turn.
    fn number_chains(&mut self) {}

    /// Gives the numbered chains that are new since the last call, in place of `empty`.
    fn take_new_chains(&mut self, _empty: &mut NewChains) {}

    /// Bytes of the numbered chains that are new since [`Walk::take_new_chains`].
    fn new_chain_bytes(&self) -> usize {
        0
    }

    /// The current record, and the number of its call chain where the words are not in it.
    fn current_without_chain(&self) -> Option<(Record<'_>, Option<ChainNumber>)> {
        Some((self.current()?, None))
    }
}
