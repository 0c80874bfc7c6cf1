//! How good a comparison is: two sets of runs whose difference is known, many times over.
//!
//! The runs are those of a machine with causes ([`tracesift_scenario::causal`]), recorded and extracted as any other. Each bar is
//! a figure that must be reached: how often the cause is the first row, how near its time is, how often equal sets are called
//! different. The sums of rows are checked in every comparison.

mod bars;
mod budgets;
mod large;
mod recorded;
mod runs;
mod truth;

use std::path::Path;

/// What a history of 500 runs costs.
pub(crate) fn run_history(directory: &Path) -> anyhow::Result<()> {
    budgets::history(directory)
}

/// Runs all bars.
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    budgets::compare(directory)?;
    large::account(directory)?;
    let place = directory.join("compare");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    std::fs::create_dir_all(&place)?;
    recorded::equal_sets(&place)?;
    let found = bars::all(&place);
    std::fs::remove_dir_all(&place)?;
    found
}
