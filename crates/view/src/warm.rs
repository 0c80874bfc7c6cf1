//! What a page shows first, made while the browser still loads it.

use std::time::Duration;

use tracesift_analysis::timeline::Grid;
use tracesift_archive::Watch;
use tracesift_ask::question::timeline::Measure;

use crate::failure::Failure;
use crate::lane::columns::recorded;
use crate::lane::people::People;
use crate::lane::{Group, Lane, groups, list, totals};
use crate::state::State;

/// Lanes and columns of a usual window.
const LANES: usize = 40;
const COLUMNS: usize = 1_600;

/// How long after the first picture everything else is made.
pub(crate) const LATER: Duration = Duration::from_secs(2);

/// Makes the lists of the first recording, which are kept, and reads what its first picture is made of. What fails here fails again for
/// whoever asks, and is told there.
pub(crate) fn warm(state: &State, watch: &Watch) -> Result<(), Failure> {
    let Some(opened) = state.recordings.first() else { return Ok(()) };
    let below = |group: Group| list::entries(state, opened, watch, (Some(Lane::Group(group)), None));
    let processes = below(Group::Processes)?;
    below(Group::Cpus)?;
    let recording = opened.watched_by(watch)?;
    let range = recorded(&recording);
    // As the page does, columns as wide as buckets of the timeline tables.
    let width = Grid::columns(range, COLUMNS).width().cast_unsigned().next_power_of_two().cast_signed();
    let Some(grid) = Grid::aligned(range, width, 0, 2 * COLUMNS) else { return Ok(()) };
    let lanes: Vec<Lane> = processes.into_iter().map(|entry| entry.lane).take(LANES).collect();
    groups::figures(state, &recording, &[Lane::Group(Group::Processes)], Some(Measure::Cpu), grid)?;
    groups::figures(state, &recording, &lanes, None, grid)?;
    Ok(())
}

/// Adds up what all threads of the first recording have: a process is opened soon. The list of its threads needs no other reading then.
pub(crate) fn warm_threads(state: &State, watch: &Watch) -> Result<(), Failure> {
    let Some(opened) = state.recordings.first() else { return Ok(()) };
    let recording = opened.watched_by(watch)?;
    let make = || totals::of_all_threads(&recording, &People::of(&recording)?, Grid::columns(recorded(&recording), 1));
    opened.threads.get(make).map(|_| ())
}
