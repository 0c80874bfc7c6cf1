//! `events` and its options.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_ask::TimeOptions;
use tracesift_ask::events::{Condition, EventFilter, IdRanges};
use tracesift_ask::filter::ProcessFilter;
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;

use crate::args::output::Format;
use crate::args::{FileArgs, RunArgs};
use crate::exit::UsageError;

/// Options of `events`.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "paths" => arg.required(true).help("Recordings, and archives that keep events"),
    _ => arg,
}))]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Only these providers, by name or GUID; `;` separates, `!` excludes, `*` and `?` are wildcards
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    provider: Patterns,

    /// Only events of these classes: what stands before the slash in their names, such as Process, TcpIp, GC
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    class: Patterns,

    /// Only events with these names: 'GC/Start', '*/Stop'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    name: Patterns,

    /// Only events with these ids, of kernel events opcodes: 3006,3008 or 1..9
    #[arg(long, value_name = "IDS", help_heading = "Events")]
    id: Option<IdRanges>,

    /// Only events of these threads
    #[arg(long, value_name = "IDS", help_heading = "Events")]
    tid: Option<IdRanges>,

    /// Only events with such a field: Status!=0, QueryName=*.example.com, Size>=4096; several must all hold
    #[arg(long = "where", value_name = "CONDITION", help_heading = "Events")]
    conditions: Vec<Condition>,

    /// Only events with such a frame on their stack: module!function, or one of both; recordings are extracted for that first
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Events")]
    stack: Patterns,

    #[command(flatten)]
    processes: ProcessFilter,

    #[command(flatten)]
    pub(crate) time: TimeOptions,

    #[command(flatten)]
    pub(crate) runs: RunArgs,

    /// Show call stacks, the leaf first; recordings are extracted for that first
    #[arg(long, help_heading = "Output")]
    pub(crate) stacks: bool,

    /// Stop after N events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    pub(crate) limit: Option<u64>,

    /// Format [default: what the name of the file says, else table]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<EventFormat>,

    /// Write to a file; its name tells the format: .csv, .jsonl
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Do not cut lines at the terminal's width
    #[arg(long, help_heading = "Output")]
    pub(crate) wide: bool,

    /// End with exit code 1 if no event passes
    #[arg(long, help_heading = "Output")]
    pub(crate) fail_if_empty: bool,
}

/// Format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// For people
    Table,
    /// One object per line, raw units
    Jsonl,
    /// RFC 4180, raw units, the fields as JSON
    Csv,
}

impl EventsArgs {
    /// The format; where none is named, the one that the name of the file ends with, if events can be written so.
    pub(crate) fn format(&self) -> Result<EventFormat, UsageError> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        Ok(match self.out.as_deref().and_then(Format::of_file_name) {
            Some(Format::Csv) => EventFormat::Csv,
            Some(Format::Jsonl) => EventFormat::Jsonl,
            None | Some(Format::Table) => EventFormat::Table,
            Some(Format::Json | Format::Parquet) => {
                return Err(UsageError::new(
                    "events are written as .csv or .jsonl",
                    "name the file so, or say what it is to hold with --format",
                ));
            }
        })
    }

    /// Which events, of all times.
    pub(crate) fn filter(&self) -> EventFilter {
        EventFilter {
            provider: self.provider.clone(),
            class: self.class.clone(),
            name: self.name.clone(),
            ids: self.id.clone().unwrap_or_default(),
            processes: self.processes.clone(),
            threads: self.tid.clone().unwrap_or_default(),
            time: TimeRange::default(),
            conditions: self.conditions.clone(),
            stack: self.stack.clone(),
        }
    }

    /// Whether providers are chosen by name, and these are not among them.
    pub(crate) fn excludes(&self, these: &[&str]) -> bool {
        !self.provider.is_empty() && !these.iter().any(|provider| self.provider.matches(provider))
    }

    /// Whether stacks are needed, which stand in an archive only.
    pub(crate) fn needs_stacks(&self) -> bool {
        self.stacks || !self.stack.is_empty()
    }
}
