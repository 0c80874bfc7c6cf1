//! Regions by their definition, as lanes show them: the figures of `dump regions --by region`.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::regions::Definitions;
use tracesift_analysis::timeline::{Grid, Lanes};
use tracesift_analysis::{IntervalUnion, Span};
use tracesift_archive::Error;
use tracesift_trace::rows::ProcessRow;
use tracesift_trace::{ProcessId, ThreadId};

use crate::recording::OpenRecording;

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionSpan {
    /// From its begin to its end.
    pub span: Span,
    /// Process of the event that begins it.
    pub process: Option<ProcessId>,
    /// Thread of that event.
    pub thread: Option<ThreadId>,
    /// Number of its name.
    name: u32,
}

/// The regions of a definition.
#[derive(Clone, Debug)]
pub struct RegionLane {
    /// Path of the definition.
    pub path: String,
    /// Its regions that have an end, in the order of their begins.
    pub spans: Vec<RegionSpan>,
}

/// The regions of a recording.
#[derive(Clone, Debug, Default)]
pub struct RegionLanes {
    /// One lane for each definition that has regions, in the order of their paths.
    pub lanes: Vec<RegionLane>,
    names: Vec<String>,
}

/// Our own definitions. A test reads them.
fn own() -> Arc<Definitions> {
    Arc::new(Definitions::built_in().unwrap_or_default())
}

/// Whether a recording may have regions of our own definitions: some of its events are known to them. Where none is, it has none.
///
/// # Errors
/// When a table cannot be read.
pub fn may_be_in(recording: &OpenRecording) -> Result<bool, Error> {
    let (definitions, archive) = (own(), recording.archive());
    Ok(super::made::makers(archive, &definitions)?.known || super::made::has_any(archive, &definitions)?)
}

impl RegionLanes {
    /// Those of our own definitions, as `dump regions` matches them.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn of(recording: &OpenRecording) -> Result<Self, Error> {
        let definitions = own();
        let found = super::read(recording.archive(), &definitions, false)?;
        // As in the question: whoever is in no table is asked for by nobody.
        let processes: Vec<ProcessRow> = recording.archive().rows()?;
        let known: FxHashSet<ProcessId> = processes.iter().map(|row| row.process).collect();
        let mut by_path: FxHashMap<&str, Vec<RegionSpan>> = FxHashMap::default();
        let is_known = |process: Option<ProcessId>| process.is_none_or(|process| known.contains(&process));
        for region in found.regions.iter().filter(|region| is_known(region.process)) {
            let definition = definitions.all.get(region.definition as usize);
            if let (Some(definition), Some(end)) = (definition, region.end) {
                let (span, name) = (Span::new(region.start, end), region.name.0);
                let span = RegionSpan { span, process: region.process, thread: region.thread, name };
                by_path.entry(&*definition.path).or_default().push(span);
            }
        }
        let lane = |(path, mut spans): (&str, Vec<RegionSpan>)| {
            spans.sort_by_key(|region| (region.span.start, region.span.end));
            RegionLane { path: path.to_owned(), spans }
        };
        let mut lanes: Vec<RegionLane> = by_path.into_iter().map(lane).collect();
        lanes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { lanes, names: found.names })
    }

    /// The name of a region.
    #[must_use]
    pub fn name(&self, region: &RegionSpan) -> &str {
        self.names.get(region.name as usize).map_or("", String::as_str)
    }
}

impl RegionLane {
    /// The time of each bucket in which at least one region runs, ns; of those whose process counts.
    #[must_use]
    pub fn time(&self, grid: Grid, counts: impl Fn(Option<ProcessId>) -> bool) -> Vec<i64> {
        let mut union = IntervalUnion::default();
        self.parts(grid.range(), counts).for_each(|part| union.add(part));
        let mut lanes: Lanes<()> = Lanes::new(grid);
        union.spans().iter().for_each(|span| lanes.add_span((), *span));
        lanes.finish().next().map_or_else(|| vec![0; grid.buckets()], |(_, values)| values)
    }

    /// The number of regions with a part in each bucket; of those whose process counts.
    #[must_use]
    pub fn count(&self, grid: Grid, counts: impl Fn(Option<ProcessId>) -> bool) -> Vec<i64> {
        // How many more each bucket has than the one before.
        let mut steps = vec![0_i64; grid.buckets() + 1];
        for part in self.parts(grid.range(), counts) {
            // The last instant of a part lies before its end. A part without a length is one instant.
            let last = part.start.max(part.end - 1);
            if let (Some(first), Some(last)) = (grid.place(part.start), grid.place(last)) {
                steps.get_mut(first).into_iter().for_each(|step| *step += 1);
                steps.get_mut(last + 1).into_iter().for_each(|step| *step -= 1);
            }
        }
        let mut now = 0;
        steps
            .iter()
            .take(grid.buckets())
            .map(|step| {
                now += step;
                now
            })
            .collect()
    }

    /// The number of regions with a part in a range; of those whose process counts.
    #[must_use]
    pub fn total(&self, range: Span, counts: impl Fn(Option<ProcessId>) -> bool) -> i64 {
        i64::try_from(self.parts(range, counts).count()).unwrap_or(i64::MAX)
    }

    /// The parts of its regions in a range.
    fn parts(&self, range: Span, counts: impl Fn(Option<ProcessId>) -> bool) -> impl Iterator<Item = Span> {
        // They are in the order of their begins.
        let before_end = self.spans.partition_point(|region| region.span.start < range.end);
        let spans = self.spans.iter().take(before_end).filter(move |region| counts(region.process));
        spans.filter_map(move |region| region.span.clip(range))
    }
}
