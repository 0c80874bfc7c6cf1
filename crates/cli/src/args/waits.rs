//! Options of `dump waits`.

use clap::Args;
use tracesift_ask::order::Between;
use tracesift_ask::question::methods::MethodPatterns;
use tracesift_ask::question::waits;

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
}

impl WaitsArgs {
    /// The question.
    pub(crate) fn question(&self) -> waits::Question {
        waits::Question {
            filter: self.processes.filter(),
            methods: MethodPatterns::parse(&self.waits.methods, self.waits.include_module),
            length: Between { min: self.waits.min_wait, max: self.waits.max_wait },
            top: self.rows.top(),
            ..waits::Question::default()
        }
    }
}
