//! Options of `dump waits`.

use clap::{Args, ValueEnum};
use tracesift_ask::Ask;
use tracesift_ask::MethodPatterns;
use tracesift_ask::order::Between;
use tracesift_ask::question::waits::{self, sums};

use super::files::milliseconds;
use super::{FileArgs, OutputArgs, ProcessArgs, RowArgs, RunArgs};

/// Options of `dump waits`.
#[derive(Debug, Args)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    waits: WaitRowArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct WaitRowArgs {
    /// Only waits in whose stack such a function stands, or `module!function`
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    methods: String,
    /// Patterns of methods always describe `module!function`
    #[arg(long)]
    include_module: bool,
    /// Shortest wait (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_wait: Option<i64>,
    /// Longest wait
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_wait: Option<i64>,
    /// Add up all waits: a row per method waited in, per end of the wait chain (for whom, and what that did), per thread or per process that
    /// waited
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Order of the rows of --by; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "sum", requires = "by")]
    sort: Sort,
}

/// What has a row.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Method,
    Waker,
    Thread,
    Process,
}

/// Order of the rows of sums.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sort {
    Sum,
    Union,
    Waits,
    Longest,
    Name,
}

impl WaitsArgs {
    /// The question.
    pub(crate) fn question(&self) -> Box<dyn Ask> {
        let waits = self.single();
        let Some(by) = self.waits.by else { return Box::new(waits) };
        let by = match by {
            By::Method => sums::By::Method,
            By::Waker => sums::By::Waker,
            By::Thread => sums::By::Thread,
            By::Process => sums::By::Process,
        };
        let sort = match self.waits.sort {
            Sort::Sum => sums::Sort::Sum,
            Sort::Union => sums::Sort::Union,
            Sort::Waits => sums::Sort::Waits,
            Sort::Longest => sums::Sort::Longest,
            Sort::Name => sums::Sort::Name,
        };
        Box::new(sums::Question { waits, by, sort })
    }

    /// The question about single waits.
    fn single(&self) -> waits::Question {
        waits::Question {
            filter: self.processes.filter(),
            methods: MethodPatterns::parse(&self.waits.methods, self.waits.include_module),
            length: Between { min: self.waits.min_wait, max: self.waits.max_wait },
            top: self.rows.top(),
            ..waits::Question::default()
        }
    }
}
