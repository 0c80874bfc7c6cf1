//! Chooses the rows that stay, and orders them.

use std::cmp::Ordering;

use clap::ValueEnum;
use tracesift_analysis::Place;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::MethodSummaryRow;

use crate::order::Between;

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A method.
    #[default]
    Method,
    /// A stack tag: its name stands where that of the function does.
    Tag,
}

/// A method or tag of a process with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// What it is.
    pub kind: Kind,
    /// The figures. Where a recording has no samples, the CPU is the precise run time.
    pub figures: MethodSummaryRow,
    /// The line or instruction, if rows are that fine.
    pub place: Option<Place>,
    /// The thread, if rows are that fine.
    pub thread: Option<ThreadId>,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// CPU: of a process sampled, of a method inclusive.
    #[default]
    Cpu,
    /// CPU of the method itself, without what it calls.
    #[value(alias = "self")]
    Exclusive,
    /// Samples.
    Samples,
    /// Wait: of a process the sum over its threads, of a method the union.
    Wait,
    /// Ready time, in the same way.
    Ready,
    /// CPU and wait.
    CpuWait,
    /// CPU, wait and ready.
    CpuWaitReady,
    /// The longest single wait.
    #[value(alias = "longest")]
    LongestWait,
    /// Mean of the single ready spans.
    #[value(alias = "ready-avg")]
    ReadyAverage,
    /// Switch-ins.
    Switches,
    /// Threads.
    Threads,
    /// First time seen.
    First,
    /// Last time seen.
    Last,
    /// Time from first to last.
    #[value(alias = "last-first")]
    Duration,
    /// Name.
    Name,
}

/// Figures by which the archive's summary decides what it keeps.
pub(super) const MEASURES: [Sort; 4] = [Sort::Cpu, Sort::Exclusive, Sort::Wait, Sort::Ready];

/// Which figures a row must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    /// Inclusive CPU, ns.
    pub cpu: Between,
    /// Exclusive CPU, ns.
    pub exclusive: Between,
    /// Union of the waits, ns.
    pub wait: Between,
    /// Union of the ready spans, ns.
    pub ready: Between,
    /// Mean ready span, ns.
    pub ready_average: Between,
    /// Switch-ins.
    pub switches: Between,
    /// First time seen, ns.
    pub first: Between,
    /// Last time seen, ns.
    pub last: Between,
    /// Last minus first, ns.
    pub duration: Between,
}

impl Ranges {
    /// Each of them with the column whose figures it is about, and with its options.
    fn all(&self) -> [(&Between, &'static str, [&'static str; 2]); 9] {
        let Self { cpu, exclusive, wait, ready, ready_average, switches, first, last, duration } = self;
        [
            (cpu, "cpu_ns", ["--min-cpu", "--max-cpu"]),
            (exclusive, "exclusive_cpu_ns", ["--min-exclusive", "--max-exclusive"]),
            (wait, "wait_ns", ["--min-wait", "--max-wait"]),
            (ready, "ready_ns", ["--min-ready", "--max-ready"]),
            (ready_average, "ready_average_ns", ["--min-ready-average", "--max-ready-average"]),
            (switches, "switches", ["--min-switches", "--max-switches"]),
            (first, "first_ns", ["--min-first", "--max-first"]),
            (last, "last_ns", ["--min-last", "--max-last"]),
            (duration, "duration_ns", ["--min-duration", "--max-duration"]),
        ]
    }

    /// The options that set one of them.
    #[must_use]
    pub(super) fn given(&self) -> Vec<&'static str> {
        self.all().into_iter().flat_map(|(range, _, options)| range.given(options)).collect()
    }

    /// Whether one of them leaves out rows by the figures of this column.
    #[must_use]
    pub(super) fn are_about(&self, column: &str) -> bool {
        self.all().into_iter().any(|(range, of, _)| of == column && *range != Between::default())
    }

    /// Whether a row has such figures.
    #[must_use]
    pub fn accept(&self, method: &Method) -> bool {
        let figures = &method.figures;
        let seen = seen(figures.first, figures.last);
        self.cpu.contains(Some(figures.cpu))
            && self.exclusive.contains(Some(figures.exclusive_cpu))
            && self.wait.contains(wait(figures))
            && self.ready.contains(figures.ready)
            && self.ready_average.contains(ready_average(figures.ready_sum, figures.ready_count))
            && self.switches.contains(figures.switches)
            && self.first.contains(seen.map(|[first, _]| first))
            && self.last.contains(seen.map(|[_, last]| last))
            && self.duration.contains(seen.map(|[first, last]| last.saturating_sub(first)))
    }

    /// The range of one of the [`MEASURES`].
    pub(super) fn of(&self, measure: Sort) -> Between {
        match measure {
            Sort::Exclusive => self.exclusive,
            Sort::Wait => self.wait,
            Sort::Ready => self.ready,
            _ => self.cpu,
        }
    }
}

impl Sort {
    /// Whether a sum of the figures means anything.
    pub(super) fn adds_up(self) -> bool {
        !matches!(
            self,
            Self::First
                | Self::Last
                | Self::Duration
                | Self::Name
                | Self::LongestWait
                | Self::ReadyAverage
                | Self::Threads
        )
    }

    /// The figure by which rows are sorted; `None` for names.
    #[must_use]
    pub fn figure(self, figures: &MethodSummaryRow) -> Option<i64> {
        let wait = wait(figures).unwrap_or(0);
        Some(match self {
            Self::Cpu => figures.cpu,
            Self::Exclusive => figures.exclusive_cpu,
            Self::Wait => wait,
            Self::Ready => figures.ready.unwrap_or(0),
            Self::CpuWait => figures.cpu.saturating_add(wait),
            Self::CpuWaitReady => figures.cpu.saturating_add(wait).saturating_add(figures.ready.unwrap_or(0)),
            Self::LongestWait => figures.wait_longest.unwrap_or(0),
            Self::ReadyAverage => ready_average(figures.ready_sum, figures.ready_count).unwrap_or(0),
            Self::Samples => figures.samples,
            Self::Switches => figures.switches.unwrap_or(0),
            Self::Threads => figures.threads.into(),
            Self::First => figures.first,
            Self::Last => figures.last,
            Self::Duration => figures.last.saturating_sub(figures.first),
            Self::Name => return None,
        })
    }

    /// Order of two rows. Those with the same figure stand in the order of CPU, wait and name.
    #[must_use]
    pub fn compare(self, a: &Method, b: &Method) -> Ordering {
        let (x, y) = (&a.figures, &b.figures);
        let by_name = || {
            let names = (&x.module, &x.function).cmp(&(&y.module, &y.function));
            let names = a.kind.cmp(&b.kind).then(names);
            names.then_with(|| a.place.cmp(&b.place)).then_with(|| a.thread.cmp(&b.thread))
        };
        match self.figure(x).cmp(&self.figure(y)) {
            Ordering::Equal if self == Self::Name => by_name(),
            // Of equals the first by name stands last, where the largest stand: the summary keeps it first, too.
            Ordering::Equal => (x.cpu, x.wait).cmp(&(y.cpu, y.wait)).then_with(|| by_name().reverse()),
            order => order,
        }
    }
}

/// Mean of the single ready spans, ns, rounded down.
#[must_use]
pub(super) fn ready_average(sum: Option<i64>, count: Option<i64>) -> Option<i64> {
    sum?.checked_div(count?)
}

/// The union of the waits; of imported tags, of which nothing else is known, their plain sum.
#[must_use]
pub(super) fn wait(figures: &MethodSummaryRow) -> Option<i64> {
    figures.wait.or(figures.wait_sum)
}

/// First and last time seen; of imported tags they may not be known.
#[must_use]
pub(super) fn seen(first: i64, last: i64) -> Option<[i64; 2]> {
    (first <= last).then_some([first, last])
}
