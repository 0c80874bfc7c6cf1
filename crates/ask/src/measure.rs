//! What call trees, flame graphs and profiles are of: time of threads, or a figure of the rows of a table.

use std::sync::LazyLock;

use clap::builder::TypedValueParser;
use tracesift_analysis::Measure as OfThreads;
use tracesift_export::{Measure as Exported, Unit};

use crate::answer::Kind;
use crate::ask::Reads;
use crate::question::STACK_MEASURES;
use crate::table_question::StackMeasure;
use crate::words::{Word, one_of};

/// What is added up by stacks.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// Time of threads, from samples and context switches.
    Threads(OfThreads),
    /// A figure of the rows of a table.
    Rows(&'static StackMeasure),
}

impl Default for Measure {
    fn default() -> Self {
        Self::CPU
    }
}

impl Measure {
    /// CPU, from samples; without samples from context switches.
    pub const CPU: Self = Self::Threads(OfThreads::Cpu);
    /// Waits, by the stacks with which threads left the CPU.
    pub const WAIT: Self = Self::Threads(OfThreads::Wait);
    /// Time ready to run, by the same stacks.
    pub const READY: Self = Self::Threads(OfThreads::Ready);

    /// Whether it is CPU.
    #[must_use]
    pub fn is_cpu(self) -> bool {
        matches!(self, Self::Threads(OfThreads::Cpu))
    }

    /// Words and unit for files and titles.
    #[must_use]
    pub fn exported(self) -> Exported {
        match self {
            Self::Threads(OfThreads::Cpu) => Exported::CPU,
            Self::Threads(OfThreads::Wait) => Exported::WAIT,
            Self::Threads(OfThreads::Ready) => Exported::READY,
            Self::Rows(rows) => rows.exported,
        }
    }

    /// How tables show its amounts.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.exported().unit {
            Unit::Nanoseconds => Kind::Milliseconds,
            Unit::Bytes => Kind::Bytes,
            Unit::Count => Kind::Count,
        }
    }

    /// The tables that it is made from.
    #[must_use]
    pub fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Threads(OfThreads::Cpu) => &["cpu_samples", "context_switches"],
            Self::Threads(OfThreads::Wait | OfThreads::Ready) => &["context_switches"],
            Self::Rows(rows) => rows.tables,
        }
    }

    /// What a recording that is extracted for this figure alone is extracted with.
    pub(crate) fn reads(self) -> Reads {
        match self {
            Self::Threads(_) => Reads::Tables(self.tables()),
            Self::Rows(rows) => rows.reads.map_or(Reads::Everything, Reads::Tables),
        }
    }

    /// All of them, with words and meanings.
    #[must_use]
    pub fn words() -> &'static [Word<Self>] {
        &WORDS
    }

    /// The parser of an option.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        one_of(Self::words())
    }
}

static WORDS: LazyLock<Vec<Word<Measure>>> = LazyLock::new(|| {
    let threads = [
        ("cpu", "CPU", Measure::CPU),
        ("wait", "Waits, by the stack with which a thread left the CPU", Measure::WAIT),
        ("ready", "Time ready to run without a CPU, by the same stack", Measure::READY),
    ];
    let of_rows = STACK_MEASURES.iter().map(|rows| (rows.exported.key, rows.help, Measure::Rows(rows)));
    threads.into_iter().chain(of_rows).collect()
});
