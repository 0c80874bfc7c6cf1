//! Call chains that the processor recorded: last branch records as a call stack (`--call-graph lbr`).
//!
//! Such an entry is a call that has not returned. The chain begins where the last one went, which is the sampled function, and goes
//! on with the places that they come from.

use tracesift_perf::BranchStack;

/// Replaces `chain` by the user side of a branch stack, leaf first.
pub(super) fn chain_of(branches: &BranchStack<'_>, chain: &mut Vec<u64>) {
    let entries = branches.entries().take(super::MAX_BRANCHES);
    chain.clear();
    chain.extend(entries.clone().take(1).map(|entry| entry.to));
    chain.extend(entries.map(|entry| entry.from));
}
