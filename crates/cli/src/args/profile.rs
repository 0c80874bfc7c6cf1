//! Options of `flame` and `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tracesift_ask::MethodPatterns;
use tracesift_ask::profile;
use tracesift_export::flame::{Change, Flame, Orientation};
use tracesift_export::{Format, Grouping, Measure};
use tracesift_grammar::TimeRange;

use super::{FileArgs, ProcessArgs, RunArgs};

/// What a profile is of.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Stacks")]
struct StackArgs {
    /// What to show
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    measure: WhichMeasure,
    /// Only stacks with such a function, or `module!function`
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    methods: String,
}

/// What a profile shows.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichMeasure {
    /// Sampled CPU
    Cpu,
    /// Time blocked, by the stacks with which threads left the CPU
    Wait,
    /// Time ready without a CPU, by the same stacks
    Ready,
}

/// Options of `flame`.
#[derive(Debug, Args)]
pub(crate) struct FlameArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    #[command(flatten)]
    picture: PictureArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Picture")]
struct PictureArgs {
    /// Draw what changed since this archive or recording: red is more, blue is less
    #[arg(long, value_name = "PATH")]
    against: Option<String>,
    /// What the colours of --against show: `time`, or `share` of the whole, for recordings of other lengths or loads
    #[arg(long, value_name = "WHAT", default_value = "time", requires = "against")]
    change: WhichChange,
    /// What stands below the outermost frames [default: process; program with --against]
    #[arg(long, value_name = "WHAT")]
    group: Option<WhichGroup>,
    /// Outermost frames at the bottom
    #[arg(long)]
    flames: bool,
    /// Frames with a smaller share of the whole are drawn as a part of their callers, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.01)]
    min_share: f64,
    /// Title [default: the recording's name]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    title: String,
    /// Write to this file [default: NAME.MEASURE.svg in the current directory; `-`: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichChange {
    Time,
    Share,
}

/// What stands below the outermost frames.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichGroup {
    /// Nothing
    All,
    /// Names of programs
    Program,
    /// Processes
    Process,
    /// Processes, and their threads
    Thread,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// The format [default: what the name of the file ends in, else folded]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<WhichFormat>,
    /// Write to this file [default: NAME.MEASURE.EXTENSION in the current directory; `-`: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
}

/// A format of another tool.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichFormat {
    /// Folded stacks: a line per stack
    Folded,
    /// speedscope
    Speedscope,
    /// Firefox Profiler
    Firefox,
    /// pprof
    Pprof,
    /// Perfetto
    Perfetto,
}

impl ProfileArgs {
    /// What the profile is of.
    pub(crate) fn question(&self) -> profile::Question {
        profile::Question {
            measure: match self.stacks.measure {
                WhichMeasure::Cpu => Measure::Cpu,
                WhichMeasure::Wait => Measure::Wait,
                WhichMeasure::Ready => Measure::Ready,
            },
            filter: self.processes.filter(),
            time: TimeRange::default(),
            origin: 0,
            methods: MethodPatterns::parse(&self.stacks.methods, false),
        }
    }

    /// What limits the profile, as a line below a title.
    pub(crate) fn subtitle(&self) -> String {
        let named = |name: &str, value: &str| (!value.is_empty()).then(|| format!("{name} {value}"));
        let of = &self.processes;
        let parts = [
            named("processes", &of.process),
            named("children of", &of.parent),
            named("command lines", &of.cmdline),
            named("users", &of.user),
            named("sessions", &of.session),
            named("containers", &of.container),
            named("methods", &self.stacks.methods),
            named("time", &of.when.time.to_string()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl FlameArgs {
    /// How the picture is drawn.
    pub(crate) fn flame(&self) -> Flame {
        let picture = &self.picture;
        // Processes of two recordings have other ids.
        let otherwise = if picture.against.is_some() { Grouping::Program } else { Grouping::Process };
        Flame {
            title: picture.title.clone(),
            subtitle: self.profile.subtitle(),
            orientation: if picture.flames { Orientation::Flame } else { Orientation::Icicle },
            grouping: picture.group.map_or(otherwise, |group| match group {
                WhichGroup::All => Grouping::All,
                WhichGroup::Program => Grouping::Program,
                WhichGroup::Process => Grouping::Process,
                WhichGroup::Thread => Grouping::Thread,
            }),
            min_share: picture.min_share / 100.0,
            ..Flame::default()
        }
    }

    /// What it is compared with, and how.
    pub(crate) fn against(&self) -> Option<(&str, Change)> {
        let change = match self.picture.change {
            WhichChange::Share => Change::Share,
            WhichChange::Time => Change::Absolute,
        };
        self.picture.against.as_deref().map(|path| (path, change))
    }

    /// Where it goes.
    pub(crate) fn out(&self) -> Option<&PathBuf> {
        self.picture.out.as_ref()
    }
}

impl ExportArgs {
    /// The format.
    pub(crate) fn format(&self) -> Format {
        let by_name = || Format::of_file_name(&self.out.as_ref()?.file_name()?.to_string_lossy());
        match self.format {
            Some(WhichFormat::Folded) => Format::Folded,
            Some(WhichFormat::Speedscope) => Format::Speedscope,
            Some(WhichFormat::Firefox) => Format::Firefox,
            Some(WhichFormat::Pprof) => Format::Pprof,
            Some(WhichFormat::Perfetto) => Format::Perfetto,
            None => by_name().unwrap_or(Format::Folded),
        }
    }

    /// Where it goes.
    pub(crate) fn out(&self) -> Option<&PathBuf> {
        self.out.as_ref()
    }
}
