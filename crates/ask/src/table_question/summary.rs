//! Tables of sums. What is asked of a whole recording is made of them where they have all of it, and no single row is read.
//!
//! The sums go where the rows would have gone: into the cells of the places of their numbers. What comes behind is the same.

use tracesift_archive::{Archive, Error};
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;

use super::asked::Asked;
use super::names::Names;
use super::places::{UNKNOWN, UNTOLD};
use super::plan::{Plan, ROWS};
use super::reading::Read;
use super::seen::Seen;

/// A table with sums of the rows of a whole recording.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The dimensions, by name, that tell sums apart beside the process. Each has numbers.
    pub(crate) dimensions: &'static [&'static str],
    /// The keys of the measures that have sums, beside the number of rows.
    pub(crate) measures: &'static [&'static str],
    /// Whether an archive has the table.
    pub(crate) is_there: fn(&Archive) -> bool,
    /// Whether an archive has figures of [`JOINED`](super::TableQuestion::JOINED) measures: those need rows.
    pub(crate) has_joined: fn(&Archive) -> bool,
    /// Reads the table.
    pub(crate) scan: ScanOfSums,
}

/// Shows all sums of an archive.
type ScanOfSums = fn(&Archive, &mut dyn FnMut(&Summed<'_>)) -> Result<(), Error>;

/// Sums of some rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summed<'a> {
    /// Number of rows; without any there are no sums.
    pub(crate) rows: i64,
    /// Their process.
    pub(crate) process: Option<ProcessId>,
    /// Their values of the dimensions.
    pub(crate) numbers: &'a [Option<i64>],
    /// The sums, in the order of the measures.
    pub(crate) sums: &'a [Sum],
}

/// What becomes of one figure of some rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sum {
    /// A sum, or the smallest or largest figure.
    Of(i64),
    /// Begin and length of the longest row.
    Longest(i64, i64),
}

/// The table of sums that has all that is asked of an archive, if there is one.
pub(super) fn of(asked: &Asked, plan: &Plan, archive: &Archive, ranges: &[TimeRange]) -> Option<Summary> {
    let summary = plan.stated.summary?;
    let is_whole = matches!(ranges, [range] if range.is_everything()) && plan.inside.is_none();
    let asks_of_rows = asked.include_exited
        || asked.listing.is_some()
        || !asked.limits.is_empty()
        || !asked.conditions.is_empty()
        || plan.needs_single_rows();
    let has_key = |place: &usize| summary.dimensions.contains(&plan.stated.dimensions[*place].name);
    let has_step = |measure: usize| {
        let key = plan.stated.measures[measure].column.key;
        summary.measures.contains(&key) || plan.stated.joined.contains(&key)
    };
    let has_all = plan.keys.iter().all(has_key) && plan.steps.iter().all(|step| has_step(step.measure));
    let is_enough = is_whole && !asks_of_rows && has_all && (summary.is_there)(archive);
    (is_enough && !(plan.joined && (summary.has_joined)(archive))).then_some(summary)
}

/// Reads the sums.
pub(super) fn read<'p>(
    summary: &Summary,
    asked: &Asked,
    plan: &'p Plan,
    names: &mut Names<'_>,
    archive: &Archive,
) -> Result<Read<'p>, Error> {
    let place_of = |all: &[&str], name: &str| all.iter().position(|known| *known == name);
    let key = |dimension: &usize| {
        let number = place_of(summary.dimensions, plan.stated.dimensions[*dimension].name);
        (number, asked.is_filtered(*dimension))
    };
    let keys: Vec<(Option<usize>, bool)> = plan.keys.iter().map(key).collect();
    let steps = plan.steps.iter();
    let steps: Vec<(usize, usize)> = steps
        .filter_map(|step| {
            Some((step.cell, place_of(summary.measures, plan.stated.measures[step.measure].column.key)?))
        })
        .collect();
    let mut seen = Seen::new(asked, plan, &[asked.time], names);
    let mut cells = Vec::with_capacity(plan.fresh.len());
    (summary.scan)(archive, &mut |summed| {
        let process = summed.process.map_or(UNKNOWN, |process| process.0.into());
        if summed.rows <= 0 || !seen.takes_process(process) {
            return;
        }
        for ((number, is_filtered), to) in keys.iter().zip(&mut seen.row[1..]) {
            *to = number.and_then(|number| *summed.numbers.get(number)?).unwrap_or(UNKNOWN);
            if *is_filtered && matches!(*to, UNKNOWN | UNTOLD) {
                return;
            }
        }
        let Some(place) = seen.place() else { return };
        cells.clear();
        cells.extend_from_slice(&plan.fresh);
        cells[ROWS] = summed.rows;
        for (cell, measure) in &steps {
            match summed.sums.get(*measure) {
                Some(Sum::Of(sum)) => cells[*cell] = *sum,
                Some(Sum::Longest(start, length)) => (cells[*cell], cells[*cell + 1]) = (*length, *start),
                None => {}
            }
        }
        seen.read.sums.add(place as usize, &cells);
    })?;
    Ok(seen.into_read())
}
