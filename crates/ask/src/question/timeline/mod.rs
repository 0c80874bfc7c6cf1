//! `dump timeline`: a figure of processes, threads, CPUs, disks, events, stack tags and others by buckets of time.

mod columns;
mod counters;
mod disks;
mod from_rows;
mod from_tiles;
mod lanes;
mod measure;
mod memory;
mod methods;
mod options;
mod others;
mod peaks;
mod rates;
mod regions;
mod rows;
mod series;
mod spark;
mod tags;

use std::cmp::Ordering;
use std::sync::Arc;

use clap::ValueEnum;
use tracesift_analysis::Span;
use tracesift_analysis::tags::TagSet;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange};

pub use self::columns::{COLUMNS, Lane, Row};
pub use self::measure::{LaneKind, Measure};
pub use self::options::Options;
pub use self::peaks::{Peaks, PeaksOfLane};
pub use self::series::{Chosen, STATES, Series, series};

use self::measure::Unit;
use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::Ask;
use crate::candidates::{self, Candidates};
use crate::filter::ProcessFilter;
use crate::method_patterns::MethodPatterns;
use crate::order::Top;
use crate::recording::OpenRecording;

/// Buckets that an answer has, at most.
const MOST_BUCKETS: usize = 1 << 17;

/// Buckets without `--buckets` and `--bucket`.
const USUAL_BUCKETS: u16 = 60;

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The sum over all buckets.
    Total,
    /// The largest bucket.
    Peak,
    /// Name or number.
    Lane,
}

/// The buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// So many of one length, from the start of the time range to its end.
    Number(u16),
    /// Buckets of this length, ns.
    Length(i64),
}

impl Default for Buckets {
    fn default() -> Self {
        Self::Number(USUAL_BUCKETS)
    }
}

/// Which tables an answer is made from. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// From rows; of a range with very many from the timeline tables, and from rows around the ends of buckets.
    #[default]
    Usual,
    /// From rows.
    Rows,
    /// From the timeline tables and from rows around the ends of buckets, where an archive has the tables.
    Tables,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// The time range.
    pub time: TimeRange,
    /// An instant at which a bucket starts, where they have a length.
    pub origin: i64,
    /// What has a row.
    pub lane: LaneKind,
    /// What is shown of it; `None`: CPU, bytes or a count, whichever a lane has.
    pub measure: Option<Measure>,
    /// Names of the counters that count.
    pub counter: Patterns,
    /// The methods that count, for rows of methods and modules.
    pub methods: MethodPatterns,
    /// The rules of stack tags, for rows of them.
    pub tags: Option<Arc<TagSet>>,
    /// The buckets.
    pub buckets: Buckets,
    /// Order of the rows; `None`: by number for CPUs and disks, by total for others.
    pub sort: Option<Sort>,
    /// How many rows per file.
    pub top: Top,
    /// Whether a table draws the buckets.
    pub spark: bool,
    /// Which tables the answer is made from.
    pub way: Way,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn tables(&self) -> &'static [&'static str] {
        match self.measure.or_else(|| self.lane.measure()) {
            Some(measure) => measure.rows(self.lane).tables(),
            None => &["cpu_samples", "context_switches"],
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut all = counters::candidates(recording, &self.counter)?;
        all.extend(candidates::of_methods(recording, "--methods", &self.methods)?);
        Ok(all)
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        for column in &mut columns {
            if column.key == columns::SPARK && !self.spark {
                column.view = View::Nowhere;
            }
        }
        columns
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { time, origin, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let file = &recording.file;
        let measure = self.measure_of(recording);
        let of = measure.rows(self.lane);
        if !of.are_in(recording) {
            let (table, is_linux) = (of.tables().first().copied().unwrap_or_default(), recording.info().kind == "perf");
            return Ok(file.absent("timeline", file.absence_with_cure(table, of.source(), is_linux)));
        }
        let Some(grid) = self.grid(recording) else {
            return Ok(file.absent("timeline", format!("more than {MOST_BUCKETS} buckets; choose longer ones")));
        };
        let Some(mut rows) = lanes::rows(recording, self, measure, grid)? else {
            let why = "too many lanes for so many buckets; choose fewer buckets, or processes with -p";
            return Ok(file.absent("timeline", why));
        };
        rows.sort_by(|a, b| self.compare(a, b));
        self.top.apply(&mut rows);
        let mut facts = vec![Fact::new("lanes", Kind::Count, rows.len())];
        if !rows.is_empty() {
            facts.push(Fact::local("buckets", Kind::Count, grid.buckets()));
            facts.push(Fact::local("bucket", Kind::Milliseconds, grid.width()));
        }
        Ok(COLUMNS.section(file, &rows, facts))
    }
}

impl Question {
    /// The measure in a recording.
    fn measure_of(&self, recording: &OpenRecording) -> Measure {
        let of_people = || match recording.file.has_samples || !recording.info().has_switches {
            true => Measure::Cpu,
            false => Measure::Run,
        };
        self.measure.or_else(|| self.lane.measure()).unwrap_or_else(of_people)
    }

    /// The buckets in a recording; `None`: there would be too many.
    fn grid(&self, recording: &OpenRecording) -> Option<Grid> {
        let file = &recording.file;
        let (start, end) = self.time.bounds();
        // The last event stands at the end.
        let range = Span::new(start.max(file.start), end.min(file.end.saturating_add(1)));
        match self.buckets {
            Buckets::Number(buckets) => Some(Grid::columns(range, buckets.into())),
            Buckets::Length(width) => Grid::aligned(range, width, self.origin, MOST_BUCKETS),
        }
    }

    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let usual = if matches!(self.lane, LaneKind::Cpu | LaneKind::Disk | LaneKind::Memory) {
            Sort::Lane
        } else {
            Sort::Total
        };
        let by_lane = || a.order().cmp(&b.order());
        match self.sort.unwrap_or(usual) {
            Sort::Lane => by_lane(),
            Sort::Total => a.total.cmp(&b.total).then_with(by_lane),
            Sort::Peak => a.peak().cmp(&b.peak()).then_with(by_lane),
        }
    }
}
