//! Options of `dump threads`.

use clap::{Args, ValueEnum};
use tracesift_ask::order::Between;
use tracesift_ask::question::threads;

use super::files::milliseconds;
use super::{FileArgs, OutputArgs, ProcessArgs, RowArgs, RunArgs, SeriesArgs};

/// Options of `dump threads`.
#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    threads: ThreadRowArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct ThreadRowArgs {
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu")]
    sort: ThreadSort,
    /// Smallest sampled CPU (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_cpu: Option<i64>,
    /// Largest sampled CPU
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_cpu: Option<i64>,
    /// Shortest wait (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_wait: Option<i64>,
    /// Longest wait
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_wait: Option<i64>,
    /// Shortest ready time (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_ready: Option<i64>,
    /// Longest ready time
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_ready: Option<i64>,
}

/// Order of `dump threads`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ThreadSort {
    Cpu,
    Run,
    Wait,
    Ready,
    Switches,
    Start,
    Name,
}

impl ThreadsArgs {
    /// The question.
    pub(crate) fn question(&self) -> threads::Question {
        let rows = &self.threads;
        threads::Question {
            filter: self.processes.filter(),
            sort: match rows.sort {
                ThreadSort::Cpu => threads::Sort::Cpu,
                ThreadSort::Run => threads::Sort::Run,
                ThreadSort::Wait => threads::Sort::Wait,
                ThreadSort::Ready => threads::Sort::Ready,
                ThreadSort::Switches => threads::Sort::Switches,
                ThreadSort::Start => threads::Sort::Start,
                ThreadSort::Name => threads::Sort::Name,
            },
            top: self.rows.top(),
            cpu: Between { min: rows.min_cpu, max: rows.max_cpu },
            wait: Between { min: rows.min_wait, max: rows.max_wait },
            ready: Between { min: rows.min_ready, max: rows.max_ready },
            ..threads::Question::default()
        }
    }
}
