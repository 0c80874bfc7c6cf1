//! The lanes of regions: one for each definition.

use rustc_hash::FxHashSet;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

use super::Measure;
use super::lanes::{Asked, MOST_FIGURES};
use crate::processes::Processes;
use crate::regions::lanes::{RegionLane, RegionLanes};

/// Path of the definition, figures and total.
type Figures = (String, Vec<i64>, i64);

/// The figures of each lane. `None`: they are too many.
pub(super) fn lanes(asked: &Asked<'_>, grid: Grid) -> Result<Option<Vec<Figures>>, Error> {
    let all = RegionLanes::of(asked.recording)?;
    if all.lanes.len().saturating_mul(grid.buckets()) > MOST_FIGURES {
        return Ok(None);
    }
    let filter = &asked.question.filter;
    let processes: Vec<ProcessRow> = asked.recording.archive().rows()?;
    // As `dump regions` takes them: with the idle loop.
    let accepted: FxHashSet<ProcessId> =
        Processes::new(&processes).accepted(filter).map(|(_, row)| row.process).collect();
    let counts =
        |process: Option<ProcessId>| process.map_or_else(|| filter.is_empty(), |process| accepted.contains(&process));
    let lane = |lane: RegionLane| match asked.measure {
        Measure::Count => {
            let (values, total) = (lane.count(grid, counts), lane.total(grid.range(), counts));
            (lane.path, values, total)
        }
        _ => {
            let values = lane.time(grid, counts);
            let total = values.iter().sum();
            (lane.path, values, total)
        }
    };
    Ok(Some(all.lanes.into_iter().map(lane).filter(|(.., total)| *total > 0).collect()))
}
