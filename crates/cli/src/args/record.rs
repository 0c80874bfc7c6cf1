//! Options of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_grammar::quantity;
use tracesift_record::{CallGraph, Condition, Each, Rate, Stacks};

/// Options of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Command to record, behind -- [default: record until Ctrl-C]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    /// The recording [default: the command's name, date and time, in the current directory]
    #[arg(short, long, value_name = "FILE", overrides_with = "output")]
    pub(crate) output: Option<PathBuf>,

    /// Replace a recording that exists
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// What to record: names of --list-profiles, or on Windows FILE.wprp!PROFILE; `,` separates, and the option may be repeated
    #[arg(
        short,
        long = "profile",
        value_name = "PROFILES",
        value_delimiter = ',',
        default_value = "Default",
        help_heading = "What"
    )]
    pub(crate) profiles: Vec<String>,

    /// How often the CPU is sampled, as a frequency or a time: 8kHz … 10ms [default: 999Hz]
    #[arg(long, value_name = "RATE", help_heading = "What")]
    pub(crate) rate: Option<Rate>,

    /// Events that get call stacks: all, none, default, cpu, switch, ready, disk, file, network, syscall, memory, handle, process, exception, focus, counter; `,` separates [default: all but file and syscall]
    #[arg(long, value_name = "CLASSES", help_heading = "What")]
    pub(crate) stacks: Option<Stacks>,

    /// How call stacks are found on Linux: fp, dwarf, dwarf,BYTES or lbr [default: fp]
    #[arg(long, value_name = "METHOD", help_heading = "What")]
    pub(crate) call_graph: Option<CallGraph>,

    /// Hardware counters of PMC profiles instead of the usual ones, names of --list-counters; `,` separates
    #[arg(long, value_name = "COUNTERS", value_delimiter = ',', help_heading = "What")]
    pub(crate) counters: Vec<String>,

    /// Only the command and what it starts, or a running process by its id or name
    #[arg(long, value_name = "PROCESS", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "What")]
    pub(crate) only_process: Option<String>,

    /// Blocks of the heap of a running process, by its id: calls of malloc, calloc, realloc and free in its C library (Linux); only this process is recorded
    #[arg(long, value_name = "PID", conflicts_with_all = ["only_process", "command"], help_heading = "What")]
    pub(crate) heap: Option<u32>,

    /// Memory for events that are not written yet: per CPU on Linux [default: 4MiB where it is allowed], of each session on Windows [default: 256MiB]; more of it loses fewer events
    #[arg(long, value_name = "SIZE", value_parser = buffer, conflicts_with = "ring", help_heading = "What")]
    pub(crate) buffer: Option<u64>,

    /// Keep only the newest events, in at most this much memory: 512MiB
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "rotate", help_heading = "How long")]
    pub(crate) ring: Option<u64>,

    /// Begin a new file after each so much time, or so many bytes: 5min, 2GB
    #[arg(long, value_name = "TIME", value_parser = each, help_heading = "How long")]
    pub(crate) rotate: Option<Each>,

    /// Remove the oldest files beyond so many bytes: 40GB
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "rotate", help_heading = "How long")]
    pub(crate) keep: Option<u64>,

    /// End the recording, not the command, when this condition holds: cpu>90%, cpu<5%, memory>8GiB, memory>90%, file=PATH (it appears), time=30s; may be repeated
    #[arg(long, value_name = "CONDITION", help_heading = "How long")]
    pub(crate) stop_when: Vec<Condition>,

    /// Start a recording and come back
    #[arg(long, group = "action", conflicts_with = "command", help_heading = "Around what runs already")]
    pub(crate) start: bool,

    /// End the recording that was started, and keep it
    #[arg(long, group = "action", conflicts_with = "command", help_heading = "Around what runs already")]
    pub(crate) stop: bool,

    /// End the recording that was started, and throw it away
    #[arg(long, group = "action", conflicts_with = "command", help_heading = "Around what runs already")]
    pub(crate) cancel: bool,

    /// Tell of the recording that was started: since when, how large it is, and what killed recordings left here
    #[arg(long, group = "action", conflicts_with = "command", help_heading = "Around what runs already")]
    pub(crate) status: bool,

    /// Write a mark into the recording that was started, or that this command is part of
    #[arg(
        long,
        value_name = "TEXT",
        group = "action",
        conflicts_with = "command",
        help_heading = "Around what runs already"
    )]
    pub(crate) mark: Option<String>,

    /// List the profiles
    #[arg(long, group = "action", help_heading = "Look first")]
    pub(crate) list_profiles: bool,

    /// List the hardware counters of this machine
    #[arg(long, group = "action", help_heading = "Look first")]
    pub(crate) list_counters: bool,

    /// Print what would run, and record nothing
    #[arg(long, conflicts_with_all = ["stop", "cancel", "mark", "status"], help_heading = "Look first")]
    pub(crate) dry_run: bool,

    /// System whose command line --dry-run prints [default: this one]
    #[arg(long, value_name = "SYSTEM", requires = "dry_run", help_heading = "Look first")]
    pub(crate) platform: Option<Platform>,

    /// Where the call that started this recording looks for it
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,
}

/// A system that has a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Platform {
    /// wpr
    Windows,
    /// perf
    Linux,
}

fn size(text: &str) -> Result<u64, String> {
    let size = quantity::parse_bytes(text).ok().filter(|bytes| *bytes > 0);
    size.ok_or_else(|| "write a size such as 512MiB or 40GB".to_owned())
}

fn buffer(text: &str) -> Result<u64, String> {
    let size = quantity::parse_bytes(text).ok().filter(|bytes| (128 << 10..=1 << 30).contains(bytes));
    size.ok_or_else(|| "write a size between 128KiB and 1GiB".to_owned())
}

fn each(text: &str) -> Result<Each, String> {
    let time = quantity::parse_duration(text).ok().filter(|time| time.as_secs() > 0).map(Each::Time);
    let each = time.or_else(|| quantity::parse_bytes(text).ok().filter(|bytes| *bytes > 0).map(Each::Bytes));
    each.ok_or_else(|| "write a time of at least a second such as 5min, or a size such as 2GB".to_owned())
}
