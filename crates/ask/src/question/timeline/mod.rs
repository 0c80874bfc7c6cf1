//! `dump timeline`: a figure of processes, threads, CPUs, disks or events by buckets of time.

mod columns;
mod from_rows;
mod from_tiles;
mod lanes;
mod spark;

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use tracesift_analysis::Span;
use tracesift_analysis::timeline::Grid;
use tracesift_archive::Error;
use tracesift_grammar::{TimeRange, milliseconds};

pub use self::columns::{COLUMNS, Row};

use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::{Ask, When, WhenOptions};
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;

/// Buckets that an answer has, at most.
const MOST_BUCKETS: usize = 8192;

/// Buckets without `--buckets` and `--bucket`.
const USUAL_BUCKETS: u16 = 60;

/// What has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LaneKind {
    /// A process.
    #[default]
    Process,
    /// A thread.
    Thread,
    /// A CPU.
    Cpu,
    /// A disk.
    Disk,
    /// A kind of event.
    Event,
}

/// What is shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// Sampled CPU
    Cpu,
    /// Number of samples
    Samples,
    /// Precise run time, from context switches
    Run,
    /// Time blocked
    Wait,
    /// Time ready to run without a CPU
    Ready,
    /// Time off the CPU before a thread was first seen
    Open,
    /// Time of which nothing is known
    Unknown,
    /// Number of switch-ins
    Switches,
    /// Bytes read from and written to disks
    Bytes,
    /// Number of disk operations
    Operations,
    /// Number of events
    Count,
}

/// The unit of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Time,
    Bytes,
    Number,
}

impl Measure {
    /// The word on the command line.
    fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Samples => "samples",
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Ready => "ready",
            Self::Open => "open",
            Self::Unknown => "unknown",
            Self::Switches => "switches",
            Self::Bytes => "bytes",
            Self::Operations => "operations",
            Self::Count => "count",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Cpu | Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown => Unit::Time,
            Self::Bytes => Unit::Bytes,
            Self::Samples | Self::Switches | Self::Operations | Self::Count => Unit::Number,
        }
    }

    /// Whether lanes of a kind have it.
    fn is_of(self, lane: LaneKind) -> bool {
        match lane {
            LaneKind::Process => self != Self::Count,
            LaneKind::Thread => !matches!(self, Self::Count | Self::Bytes | Self::Operations),
            LaneKind::Cpu => matches!(self, Self::Cpu | Self::Samples | Self::Run),
            LaneKind::Disk => matches!(self, Self::Bytes | Self::Operations),
            LaneKind::Event => self == Self::Count,
        }
    }

    /// The table that it comes from, and the profile that records it.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Cpu | Self::Samples => ("cpu_samples", "CPU"),
            Self::Run | Self::Wait | Self::Ready | Self::Open | Self::Unknown | Self::Switches => {
                ("context_switches", "CSwitch")
            }
            Self::Bytes | Self::Operations => ("disk_io", "Default"),
            Self::Count => ("events", "Default"),
        }
    }
}

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

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// What has a row
    #[arg(long, value_name = "WHAT", default_value = "process")]
    lane: LaneKind,
    /// What is shown of it [default: cpu, or run without samples; bytes of disks, count of events]
    #[arg(long, value_name = "FIGURE", hide_default_value = true)]
    measure: Option<Measure>,
    /// Number of buckets, from the start of the time range to its end
    #[arg(
        long,
        value_name = "N",
        default_value_t = USUAL_BUCKETS,
        value_parser = clap::value_parser!(u16).range(1..=8192),
        conflicts_with = "bucket"
    )]
    buckets: u16,
    /// Length of a bucket (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    bucket: Option<i64>,
    /// Draw the buckets of each row
    #[arg(long)]
    spark: bool,
    /// Order of the rows; the largest stands last [default: total; lane for CPUs and disks]
    #[arg(long, value_name = "KEY", hide_default_value = true)]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("timeline", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] =
        &["process", "time", "lane", "measure", "buckets", "bucket", "spark", "top", "sort", "csv"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump timeline X.sift --spark --top 20", "when which process used the CPU"),
        ("tracesift dump timeline X.sift --lane cpu --spark", "how busy each CPU was"),
        ("tracesift dump timeline X.sift -p App --lane thread --measure wait", "when threads waited"),
        ("tracesift dump timeline X.sift --lane disk --buckets 200 --format csv", "for a picture"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--lane=thread", "--measure=wait"],
        &["--lane=thread", "--measure=run", "--bucket=10ms"],
        &["--lane=cpu"],
        &["--lane=disk"],
        &["--lane=event", "--spark"],
        &["--measure=operations"],
        &["--measure=switches", "--buckets=1"],
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if let Some(measure) = self.measure.filter(|measure| !measure.is_of(self.lane)) {
            let of_lane = Measure::value_variants().iter().filter(|measure| measure.is_of(self.lane));
            let words: Vec<&str> = of_lane.map(|measure| measure.word()).collect();
            let message = format!("rows of this kind have no measure `{}`", measure.word());
            return Err(UsageError::new(message, format!("choose one of {}", words.join(", "))));
        }
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            origin: 0,
            lane: self.lane,
            measure: self.measure,
            buckets: self.bucket.map_or(Buckets::Number(self.buckets), Buckets::Length),
            sort: self.sort,
            top: self.top,
            spark: self.spark,
            way: Way::default(),
        }))
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn tables(&self) -> &'static [&'static str] {
        match (self.measure, self.lane) {
            (None, LaneKind::Disk) | (Some(Measure::Bytes | Measure::Operations), _) => &["disk_io"],
            (None, LaneKind::Event) | (Some(Measure::Count), _) => &["events"],
            (Some(Measure::Cpu | Measure::Samples), _) => &["cpu_samples"],
            (None, _) => &["cpu_samples", "context_switches"],
            (Some(_), _) => &["context_switches"],
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
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
        let (table, profile) = measure.source();
        if !lanes::has_rows(recording, measure) {
            return Ok(file.absent("timeline", file.absence_with_cure_anywhere(table, profile)));
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
        let facts = vec![
            Fact::new("lanes", Kind::Count, rows.len()),
            Fact::local("buckets", Kind::Count, grid.buckets()),
            Fact::local("bucket", Kind::Milliseconds, grid.width()),
        ];
        Ok(COLUMNS.section(file, &rows, facts))
    }
}

impl Question {
    /// The measure in a recording.
    fn measure_of(&self, recording: &OpenRecording) -> Measure {
        self.measure.unwrap_or(match self.lane {
            LaneKind::Disk => Measure::Bytes,
            LaneKind::Event => Measure::Count,
            _ if recording.file.has_samples || !recording.info().has_switches => Measure::Cpu,
            _ => Measure::Run,
        })
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
        let usual = if matches!(self.lane, LaneKind::Cpu | LaneKind::Disk) { Sort::Lane } else { Sort::Total };
        let by_lane = || a.order().cmp(&b.order());
        match self.sort.unwrap_or(usual) {
            Sort::Lane => by_lane(),
            Sort::Total => a.total().cmp(&b.total()).then_with(by_lane),
            Sort::Peak => a.peak().cmp(&b.peak()).then_with(by_lane),
        }
    }
}
