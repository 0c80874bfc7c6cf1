//! The columns of `dump timeline`.

use tracesift_analysis::timeline::Grid;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

use super::spark;
use super::{Measure, Unit};
use crate::answer::{ColumnOf, Kind, Value};
use crate::columns::Columns;
use crate::process_columns::{self as of_process, OfProcess, name_with_marks};
use crate::question::disk::disk_number;
use crate::threads;

/// Key of the column with the drawing.
pub(super) const SPARK: &str = "drawing";

/// Whom a lane is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Lane {
    /// A process.
    Process(ProcessRow),
    /// A thread with its process.
    Thread(Option<ProcessRow>, ThreadRow),
    /// A CPU.
    Cpu(i16),
    /// A disk.
    Disk(i32),
    /// The provider and the name of events.
    Event(String, String),
    /// A stack tag.
    Tag(String),
    /// A kind of operation or page fault, a system call, a direction, a figure of memory, a method, a module or a definition of regions.
    Kind(String),
}

/// One lane of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) lane: Lane,
    pub(super) measure: Measure,
    /// Name of the counter, of a hardware counter.
    pub(super) counter: Option<String>,
    /// Figures of the buckets.
    pub(super) values: Vec<i64>,
    /// Figure of all buckets: their sum, of a rate the mean.
    pub(super) total: i64,
    pub(super) grid: Grid,
    /// How many CPUs could work for it at a time; `None`: its figure has no share.
    pub(super) at_once: Option<i64>,
}

impl Lane {
    /// Its name: the column `lane`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Process(process) => name_with_marks(process),
            Self::Thread(process, thread) => threads::label(process.as_ref(), thread),
            // Not every recording tells where something ran.
            Self::Cpu(..0) => "unknown CPU".to_owned(),
            Self::Cpu(cpu) => format!("CPU {cpu}"),
            Self::Disk(disk) => format!("disk {}", disk_number(i64::from(*disk))),
            Self::Event(provider, event) => format!("{provider} {event}"),
            Self::Tag(name) | Self::Kind(name) => name.clone(),
        }
    }
}

/// Number, name, number, and time, by which lanes are ordered.
type LaneOrder = (i64, String, i64, Option<i64>);

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        match &self.lane {
            Lane::Process(process) => Some(process),
            Lane::Thread(process, _) => process.as_ref(),
            _ => None,
        }
    }
}

impl Row {
    /// Whom it is of.
    #[must_use]
    pub fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Name of the counter, of a hardware counter.
    #[must_use]
    pub fn counter(&self) -> Option<&str> {
        self.counter.as_deref()
    }

    /// What its figures are.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The figure of each bucket.
    #[must_use]
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// The figure of all buckets: their sum, of a rate the mean.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.total
    }

    /// How many CPUs could work for it at a time; `None`: its figure has no share.
    #[must_use]
    pub fn at_once(&self) -> Option<i64> {
        self.at_once
    }

    pub(super) fn peak(&self) -> i64 {
        self.values.iter().copied().max().unwrap_or(0)
    }

    /// What orders rows by name or number.
    pub(super) fn order(&self) -> (LaneOrder, Option<String>) {
        (self.order_of_lane(), self.counter.clone())
    }

    fn order_of_lane(&self) -> LaneOrder {
        match &self.lane {
            Lane::Process(process) => (0, process.name.to_lowercase(), process.pid, process.start),
            Lane::Thread(process, thread) => {
                let name = process.as_ref().map(|process| process.name.to_lowercase()).unwrap_or_default();
                (process.as_ref().map_or(0, |process| process.pid), name, thread.tid, thread.start)
            }
            Lane::Cpu(cpu) => (i64::from(*cpu), String::new(), 0, None),
            Lane::Disk(disk) => (i64::from(*disk), String::new(), 0, None),
            Lane::Event(provider, event) => (0, format!("{provider}\0{event}"), 0, None),
            Lane::Tag(name) | Lane::Kind(name) => (0, name.clone(), 0, None),
        }
    }

    /// Its name: the column `lane`.
    #[must_use]
    pub fn label(&self) -> String {
        self.lane.label()
    }

    /// A figure, if it has this unit.
    fn in_unit(&self, unit: Unit, figure: i64) -> Value {
        (self.measure.unit() == unit).then_some(figure).into()
    }

    /// A rate in MHz.
    fn mhz(&self, figure: i64) -> Value {
        (self.measure.unit() == Unit::Rate).then_some(figure as f64 / 1000.0).into()
    }

    fn share(&self) -> Option<f64> {
        let most = i128::from(self.grid.range().length()) * i128::from(self.at_once?);
        (most > 0).then(|| self.total as f64 / most as f64 * 100.0)
    }

    /// Start of the first of the largest buckets.
    fn peak_at(&self) -> Option<i64> {
        let peak = self.peak();
        let place = self.values.iter().position(|value| *value == peak && peak > 0)?;
        Some(self.grid.bucket(place).start)
    }
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    ColumnOf::always(
        "lane",
        "Lane",
        Kind::Text,
        |r| r.label().into(),
        "What the row is of: `name(pid)` of a process, its thread, a CPU, a disk, the provider and the event, a stack tag, or the column `kind`.",
    ),
    of_process::name(),
    of_process::pid(),
    ColumnOf::machine(
        "tid",
        "Tid",
        Kind::Id,
        |r| if let Lane::Thread(_, thread) = &r.lane { thread.tid.into() } else { Value::None },
        "Thread id.",
    ),
    ColumnOf::machine(
        "cpu",
        "CPU",
        Kind::Id,
        |r| if let Lane::Cpu(cpu @ 0..) = r.lane { i64::from(cpu).into() } else { Value::None },
        "The CPU; empty where the recording does not tell it.",
    ),
    ColumnOf::machine(
        "disk",
        "Disk",
        Kind::Text,
        |r| if let Lane::Disk(disk) = r.lane { disk_number(i64::from(disk)).into() } else { Value::None },
        "Number of the disk; of Linux `major:minor`.",
    ),
    ColumnOf::machine(
        "provider",
        "Provider",
        Kind::Text,
        |r| if let Lane::Event(provider, _) = &r.lane { provider.into() } else { Value::None },
        "Provider of the events.",
    ),
    ColumnOf::machine(
        "event",
        "Event",
        Kind::Text,
        |r| if let Lane::Event(_, event) = &r.lane { event.into() } else { Value::None },
        "Name of the events.",
    ),
    ColumnOf::machine(
        "stack_tag",
        "Stack tag",
        Kind::Text,
        |r| if let Lane::Tag(tag) = &r.lane { tag.into() } else { Value::None },
        "The stack tag.",
    ),
    ColumnOf::machine(
        "kind",
        "Kind",
        Kind::Text,
        |r| if let Lane::Kind(kind) = &r.lane { kind.into() } else { Value::None },
        "Kind of operation on files or of page fault; the system call; `sent` or `received`; the figure of memory; the method or module; the path of the definition of regions.",
    ),
    ColumnOf::always(
        "measure",
        "Measure",
        Kind::Text,
        |r| r.measure.word().into(),
        "The measure: a word of `--measure`.",
    ),
    ColumnOf::always(
        "counter",
        "Counter",
        Kind::Text,
        |r| r.counter.as_ref().into(),
        "Name of the hardware counter, of `counter`.",
    ),
    ColumnOf::people(
        SPARK,
        "Timeline",
        Kind::Text,
        |r| spark::line(&r.values).into(),
        "With `--spark` a character per bucket. The whole block is the largest bucket of the row, a space is nothing.",
    ),
    ColumnOf::always(
        "total_ns",
        "Time",
        Kind::Milliseconds,
        |r| r.in_unit(Unit::Time, r.total),
        "Sum of the buckets, of a measure that is a time.",
    ),
    ColumnOf::always(
        "total_bytes",
        "Bytes",
        Kind::Bytes,
        |r| r.in_unit(Unit::Bytes, r.total),
        "Sum of the buckets, of a measure in bytes; of memory the last bucket.",
    ),
    ColumnOf::always(
        "total",
        "Count",
        Kind::Count,
        |r| r.in_unit(Unit::Number, r.total),
        "Sum of the buckets, of a measure that is a number; of regions those of the time range, each once.",
    ),
    ColumnOf::always(
        "mean_mhz",
        "MHz",
        Kind::Number(0),
        |r| r.mhz(r.total),
        "Mean clock rate of the time range, of `frequency`.",
    ),
    ColumnOf::always(
        "percent",
        "%",
        Kind::Number(1),
        |r| r.share().into(),
        "Share of the time range; of a process and its CPU or run time, share of the time range on all CPUs. Empty: the measure has no share.",
    ),
    ColumnOf::always(
        "peak_ns",
        "Peak",
        Kind::Milliseconds,
        |r| r.in_unit(Unit::Time, r.peak()),
        "The largest bucket, of a measure that is a time.",
    ),
    ColumnOf::always(
        "peak_bytes",
        "Peak bytes",
        Kind::Bytes,
        |r| r.in_unit(Unit::Bytes, r.peak()),
        "The largest bucket, of a measure in bytes.",
    ),
    ColumnOf::always(
        "peak",
        "Peak count",
        Kind::Count,
        |r| r.in_unit(Unit::Number, r.peak()),
        "The largest bucket, of a measure that is a number.",
    ),
    ColumnOf::always(
        "peak_mhz",
        "Peak MHz",
        Kind::Number(0),
        |r| r.mhz(r.peak()),
        "The largest bucket, of `frequency`.",
    ),
    ColumnOf::always("peak_at_ns", "Peak at", Kind::Time, |r| r.peak_at().into(), "Start of the largest bucket."),
    ColumnOf::machine(
        "from_ns",
        "From",
        Kind::Time,
        |r| r.grid.first().into(),
        "Start of the first bucket. The first and the last bucket may reach beyond the time range; what they have is cut to it.",
    ),
    ColumnOf::machine("bucket_ns", "Bucket", Kind::Milliseconds, |r| r.grid.width().into(), "Length of a bucket."),
    ColumnOf::machine(
        "values",
        "Values",
        Kind::Integers,
        |r| Value::Integers(r.values.clone()),
        "The figure of each bucket: ns, bytes, kHz or a number.",
    ),
]);
