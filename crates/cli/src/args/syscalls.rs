//! Options of `dump syscalls`.

use clap::{Args, ValueEnum};
use tracesift_ask::order::Between;
use tracesift_ask::question::syscalls;
use tracesift_grammar::Patterns;

use super::files::milliseconds;
use super::{FileArgs, OutputArgs, ProcessArgs, RowArgs, RunArgs};

/// Options of `dump syscalls`.
#[derive(Debug, Args)]
pub(crate) struct SyscallsArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    calls: CallRowArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct CallRowArgs {
    /// Only these system calls, by name or number
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    calls: String,
    /// Only calls that failed with such an error: ENOENT or 2; '*': all that failed
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    errors: String,
    /// Only calls that took so long (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_duration: Option<i64>,
    /// Only calls that did not take longer
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_duration: Option<i64>,
    /// A row per thread and call in place of a row per process and call
    #[arg(long)]
    per_thread: bool,
    /// Add up: a row per call, whoever made it, per process, per thread, or per error
    #[arg(long, value_name = "WHAT", conflicts_with = "per_thread")]
    by: Option<By>,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "sum")]
    sort: CallSort,
}

/// Order of `dump syscalls`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CallSort {
    #[value(alias = "time")]
    Sum,
    Calls,
    Failed,
    Open,
    Average,
    Longest,
    Name,
}

/// What has a row.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Call,
    Process,
    Thread,
    Error,
}

impl SyscallsArgs {
    /// The question.
    pub(crate) fn question(&self) -> syscalls::Question {
        let calls = &self.calls;
        syscalls::Question {
            filter: self.processes.filter(),
            calls: Patterns::parse(&calls.calls),
            errors: Patterns::parse(&calls.errors),
            duration: Between { min: calls.min_duration, max: calls.max_duration },
            by: match calls.by {
                None if calls.per_thread => syscalls::By::ThreadAndCall,
                None => syscalls::By::ProcessAndCall,
                Some(By::Call) => syscalls::By::Call,
                Some(By::Process) => syscalls::By::Process,
                Some(By::Thread) => syscalls::By::Thread,
                Some(By::Error) => syscalls::By::Error,
            },
            sort: match calls.sort {
                CallSort::Sum => syscalls::Sort::Sum,
                CallSort::Calls => syscalls::Sort::Calls,
                CallSort::Failed => syscalls::Sort::Failed,
                CallSort::Open => syscalls::Sort::Open,
                CallSort::Average => syscalls::Sort::Average,
                CallSort::Longest => syscalls::Sort::Longest,
                CallSort::Name => syscalls::Sort::Name,
            },
            top: self.rows.top(),
            ..syscalls::Question::default()
        }
    }
}
