//! The questions and their own options.

use clap::{Args, Subcommand, ValueEnum};
use tracesift_ask::When;
use tracesift_ask::order::Between;
use tracesift_ask::question::{process, version};
use tracesift_ask::runs::Selection;
use tracesift_grammar::Patterns;

use super::cpu::CpuArgs;
use super::files::seconds;
use super::stacks::StacksArgs;
use super::syscalls::SyscallsArgs;
use super::threads::ThreadsArgs;
use super::waits::WaitsArgs;
use super::{FileArgs, OutputArgs, ProcessArgs, RowArgs, RunArgs};

/// The question.
#[derive(Debug, Subcommand)]
pub(crate) enum Dump {
    /// Which process used the CPU, in which methods, and under which stack tags
    Cpu(Box<CpuArgs>),
    /// Where the time of each thread went, what it waited for, and who woke it
    Threads(Box<ThreadsArgs>),
    /// Call trees of CPU, wait or ready time, per process or thread
    Stacks(Box<StacksArgs>),
    /// The longest waits, who ended each, and what that one did meanwhile
    Waits(Box<WaitsArgs>),
    /// Which system calls were made, how long they took, and which failed with what
    Syscalls(Box<SyscallsArgs>),
    /// Which processes lived, for how long, and how they ended
    Process(Box<ProcessQuestionArgs>),
    /// Which modules were loaded, in which version
    Version(Box<VersionArgs>),
    /// Which tests the recordings belong to, by their names
    #[command(visible_alias = "test-run")]
    Testrun(Box<TestrunArgs>),
    /// What a recording or archive consists of
    Stats(Box<StatsArgs>),
}

impl Dump {
    /// What all questions take.
    pub(crate) fn common(&self) -> (&FileArgs, &RunArgs, &OutputArgs) {
        match self {
            Self::Cpu(args) => (&args.files, &args.runs, &args.output),
            Self::Threads(args) => (&args.files, &args.runs, &args.output),
            Self::Stacks(args) => (&args.files, &args.runs, &args.output),
            Self::Waits(args) => (&args.files, &args.runs, &args.output),
            Self::Syscalls(args) => (&args.files, &args.runs, &args.output),
            Self::Process(args) => (&args.files, &args.runs, &args.output),
            Self::Version(args) => (&args.files, &args.runs, &args.output),
            Self::Testrun(args) => (&args.files, &args.runs, &args.output),
            Self::Stats(args) => (&args.files, &args.runs, &args.output),
        }
    }

    /// Which part of the recordings, and from when on times are counted.
    pub(crate) fn when(&self) -> When {
        match self {
            Self::Cpu(args) => When { bucket: args.series.bucket, ..args.processes.when.when() },
            Self::Threads(args) => When { bucket: args.series.bucket, ..args.processes.when.when() },
            Self::Stacks(args) => args.processes.when.when(),
            Self::Waits(args) => args.processes.when.when(),
            Self::Syscalls(args) => args.processes.when.when(),
            Self::Process(args) => args.processes.when.when(),
            Self::Version(args) => args.processes.when.when(),
            Self::Testrun(_) | Self::Stats(_) => When::default(),
        }
    }

    /// The test runs to keep.
    pub(crate) fn selection(&self, now: chrono::NaiveDateTime) -> Selection {
        self.common().1.selection(now)
    }
}

/// Options of `dump process`.
#[derive(Debug, Args)]
pub(crate) struct ProcessQuestionArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    processes: ProcessArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    lives: ProcessRowArgs,
    #[command(flatten)]
    runs: RunArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct ProcessRowArgs {
    /// Order of the rows
    #[arg(long, value_name = "KEY", default_value = "name")]
    sort: ProcessSort,
    /// Only processes that an error ended, or that Windows Error Reporting was started for
    #[arg(long)]
    crash: bool,
    /// Shortest life inside the recording (s without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    min_duration: Option<i64>,
    /// Longest life inside the recording
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    max_duration: Option<i64>,
    /// Earliest start (s since the session's start without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    min_start: Option<i64>,
    /// Latest start
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    max_start: Option<i64>,
}

/// Order of `dump process`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProcessSort {
    /// By name, then by start
    Name,
    /// Those that ran all the time, then those that ended, then those that started
    Time,
    /// By end
    Stop,
    /// By session
    Session,
    /// Children below their parents
    Tree,
}

impl ProcessQuestionArgs {
    /// The question.
    pub(crate) fn question(&self) -> process::Question {
        let lives = &self.lives;
        process::Question {
            filter: self.processes.filter(),
            sort: match lives.sort {
                ProcessSort::Name => process::Sort::Name,
                ProcessSort::Time => process::Sort::Time,
                ProcessSort::Stop => process::Sort::Stop,
                ProcessSort::Session => process::Sort::Session,
                ProcessSort::Tree => process::Sort::Tree,
            },
            top: self.rows.top(),
            crash: lives.crash,
            duration: Between { min: lives.min_duration, max: lives.max_duration },
            start: Between { min: lives.min_start, max: lives.max_start },
            ..process::Question::default()
        }
    }
}

/// Options of `dump version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    processes: ProcessArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    modules: VersionRowArgs,
    #[command(flatten)]
    runs: RunArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct VersionRowArgs {
    /// Only these modules, with or without extension
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    dll: String,
    /// Only modules with such a path, version, product, company or description
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    version_filter: String,
    /// Only well-known filter drivers of such a vendor or category ('*antivirus*', '*backup*'); '*': all of them
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    driver_filter: String,
    /// A row per process and module in place of a row per module
    #[arg(long)]
    per_process: bool,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "name")]
    sort: VersionSort,
}

/// Order of `dump version`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum VersionSort {
    Name,
    Path,
    Version,
    Size,
    Processes,
}

impl VersionArgs {
    /// The question.
    pub(crate) fn question(&self) -> version::Question {
        let modules = &self.modules;
        version::Question {
            filter: self.processes.filter(),
            module: Patterns::parse(&modules.dll),
            version: Patterns::parse(&modules.version_filter),
            driver: Patterns::parse(&modules.driver_filter),
            per_process: modules.per_process,
            sort: match modules.sort {
                VersionSort::Name => version::Sort::Name,
                VersionSort::Path => version::Sort::Path,
                VersionSort::Version => version::Sort::Version,
                VersionSort::Size => version::Sort::Size,
                VersionSort::Processes => version::Sort::Processes,
            },
            top: self.rows.top(),
            ..version::Question::default()
        }
    }
}

/// Options of `dump testrun`.
#[derive(Debug, Args)]
pub(crate) struct TestrunArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    runs: RunArgs,
    /// A row per file in place of a row per test
    #[arg(long, help_heading = "Rows")]
    pub(crate) print_files: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options of `dump stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    files: FileArgs,
    /// Only these properties, by key or title: 'os*;cpu*;!*mhz'
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, help_heading = "Rows")]
    pub(crate) properties: String,
    #[command(flatten)]
    runs: RunArgs,
    #[command(flatten)]
    output: OutputArgs,
}
