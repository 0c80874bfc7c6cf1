//! Lanes of regions: one for each definition, read once for a recording.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_ask::question::timeline::{LaneKind, Measure};
use tracesift_ask::recording::OpenRecording;
use tracesift_ask::region_lanes::{RegionLane, RegionLanes, RegionSpan, may_be_in};

use super::columns::Figures;
use super::machine::{unit, words};
use super::spans::{Piece, Pieces};
use super::totals::{Entry, Totals};
use super::{Lane, spans};
use crate::failure::Failure;
use crate::recording::Opened;
use crate::state::State;

/// What such a lane can show; the first without a choice.
pub(crate) const MEASURES: [Measure; 2] = [Measure::Time, Measure::Count];

/// Whether a recording may have regions. What cannot be read has none: whoever asks for its lanes is told.
pub(crate) fn may_be(opened: &Opened, recording: &OpenRecording) -> bool {
    *opened.may_have_regions.get_or_init(|| may_be_in(recording).unwrap_or(false))
}

/// The regions of a recording.
fn all(state: &State, recording: &OpenRecording) -> Result<Arc<RegionLanes>, Failure> {
    let opened = state.opened_of(recording)?;
    opened.regions.get(|| Ok(Arc::new(RegionLanes::of(recording)?)))
}

fn find<'a>(all: &'a RegionLanes, path: &str) -> Result<&'a RegionLane, Failure> {
    let found = all.lanes.iter().find(|lane| lane.path == path);
    found.ok_or_else(|| Failure::missing(format!("lane: the recording has no `region:{path}`")))
}

/// The lanes with their totals in a range.
pub(crate) fn list(state: &State, recording: &OpenRecording, grid: Grid) -> Result<Vec<Entry>, Failure> {
    let all = all(state, recording)?;
    let entry = |lane: &RegionLane| {
        let count = lane.total(grid.range(), |_| true);
        Entry::new(Lane::Region(lane.path.clone()), "region", &lane.path)
            .with(Totals { count: Some(count), ..Totals::default() })
            .with_measures(MEASURES.iter().map(|measure| measure.word()).collect())
    };
    Ok(all.lanes.iter().map(entry).collect())
}

/// The figures of lanes of regions.
pub(crate) fn figures(
    state: &State,
    recording: &OpenRecording,
    lanes: &[Lane],
    measure: Option<Measure>,
    grid: Grid,
) -> Result<FxHashMap<Lane, Figures>, Failure> {
    let all = all(state, recording)?;
    let measure = measure.filter(|measure| MEASURES.contains(measure)).unwrap_or(Measure::Time);
    let mut found = FxHashMap::default();
    for lane in lanes {
        let Lane::Region(path) = lane else { continue };
        let Some(region) = all.lanes.iter().find(|lane| lane.path == *path) else { continue };
        let values = if measure == Measure::Time { region.time(grid, |_| true) } else { region.count(grid, |_| true) };
        let figures = Figures {
            at_once: (measure == Measure::Time).then_some(1),
            unit: unit(measure),
            series: vec![(measure.word(), values)],
            words: vec![(measure.word(), words(LaneKind::Region.word(), measure, grid, &[]))],
            ..Figures::default()
        };
        found.insert(lane.clone(), figures);
    }
    Ok(found)
}

/// The regions of a lane that touch a range.
pub(crate) fn pieces(
    state: &State,
    recording: &OpenRecording,
    path: &str,
    (range, most): (Span, usize),
) -> Result<Pieces, Failure> {
    let all = all(state, recording)?;
    let lane = find(&all, path)?;
    let mut pieces = Pieces::new(most);
    let touches = |region: &&RegionSpan| region.span.start < range.end && region.span.end >= range.start;
    for region in lane.spans.iter().filter(touches) {
        let (process, thread, text) = (region.process, region.thread, Some(all.name(region).to_owned()));
        pieces.add(Piece { process, thread, text, ..Piece::new(region.span, spans::REGION) });
    }
    Ok(pieces)
}
