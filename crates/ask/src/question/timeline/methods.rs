//! The lanes of methods and modules: samples with them on the stack.

use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;

use super::lanes::{Asked, MOST_FIGURES};
use super::{LaneKind, Measure};
use crate::tallies::{Amount, Subject, Subjects, Tally};

/// Name and figures of each lane.
type Named = Vec<(String, Vec<i64>)>;

/// The lanes with a figure. `None`: they are too many.
pub(super) fn lanes(asked: &Asked<'_>, grid: Grid) -> Result<Option<Named>, Error> {
    let (patterns, of_modules) = (&asked.question.methods, asked.question.lane == LaneKind::Module);
    let subjects = Subjects::of(asked.recording, |name| {
        let is_wanted = patterns.matches(name.module.as_deref(), &name.function);
        [is_wanted && !of_modules, is_wanted && of_modules]
    })?;
    if subjects.all().len().saturating_mul(grid.buckets()) > MOST_FIGURES {
        return Ok(None);
    }
    let amount = if asked.measure == Measure::Cpu { Amount::Cpu } else { Amount::Samples };
    let found = subjects.count_in(asked.recording, &asked.accepted, grid, amount)?;
    let seen = subjects.all().iter().zip(found).filter(|(_, found)| found.count > 0);
    let lane = |(subject, found): (&Subject, Tally)| (subject.to_string(), found.values);
    Ok(Some(seen.map(lane).collect()))
}
