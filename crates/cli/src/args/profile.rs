//! Options of `flame` and `export`.

use std::path::PathBuf;

use clap::Args;
use tracesift_ask::filter::ProcessFilter;
use tracesift_ask::inside::Inside;
use tracesift_ask::measure::Measure;
use tracesift_ask::path::AccountOptions;
use tracesift_ask::profile::{self, PathQuestion};
use tracesift_ask::words::{Word, one_of};
use tracesift_ask::{MethodPatterns, RegionOptions, WhenOptions};
use tracesift_export::flame::{Change, Flame, Orientation};
use tracesift_export::{Format, Grouping};
use tracesift_grammar::TimeRange;

use super::{FileArgs, RunArgs};
use crate::exit::UsageError;

/// What a profile is of.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    pub(crate) when: WhenOptions,
    #[command(flatten)]
    inside: RegionOptions,
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    path: PathArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
struct PathArgs {
    /// Show where the time of a window went: the stack of a thread, below it that of the thread that it waited
    /// for, and so on
    #[arg(long, conflicts_with_all = ["measure", "methods", "time", "in_region", "region_file", "in_focus"])]
    path: bool,
    #[command(flatten)]
    account: AccountOptions,
}

/// What a profile is of.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// A measure, added up over stacks.
    Measure(profile::Question),
    /// The path of a window.
    Path(PathQuestion),
}

impl Wanted {
    /// The measure in words.
    pub(crate) fn measure(&self) -> tracesift_export::Measure {
        match self {
            Self::Measure(question) => question.measure.exported(),
            Self::Path(_) => tracesift_export::Measure::PATH,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Stacks")]
struct StackArgs {
    /// What to show
    #[arg(long, value_name = "WHAT", default_value = "cpu", value_parser = Measure::parser())]
    measure: Measure,
    /// Only stacks with such a function, or `module!function`
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    methods: String,
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
    #[arg(long, value_name = "WHAT", default_value = "time", requires = "against", value_parser = one_of(CHANGES))]
    change: Change,
    /// What stands below the outermost frames [default: process; program with --against]
    #[arg(long, value_name = "WHAT", value_parser = one_of(GROUPS))]
    group: Option<Grouping>,
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

const CHANGES: &[Word<Change>] = &[("time", "", Change::Absolute), ("share", "", Change::Share)];

const GROUPS: &[Word<Grouping>] = &[
    ("all", "Nothing", Grouping::All),
    ("program", "Names of programs", Grouping::Program),
    ("process", "Processes", Grouping::Process),
    ("thread", "Processes, and their threads", Grouping::Thread),
];

/// Options of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// The format [default: what the name of the file ends in, else folded]
    #[arg(long, value_name = "FORMAT", help_heading = "Output", value_parser = one_of(Format::WORDS))]
    format: Option<Format>,
    /// Write to this file [default: NAME.MEASURE.EXTENSION in the current directory; `-`: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
}

impl ProfileArgs {
    /// What the profile is of. `warn` takes what is wrong in files of tags and does no harm.
    ///
    /// # Errors
    /// When a file of regions or tags cannot be read, or options are given that the profile does not look at.
    pub(crate) fn wanted(&self, warn: &mut dyn FnMut(&str)) -> Result<Wanted, UsageError> {
        let PathArgs { path, account } = &self.path;
        if *path {
            let accounts = account.query(&self.filter, warn)?;
            return Ok(Wanted::Path(PathQuestion { accounts, origin: 0, said: self.filters() }));
        }
        if let Some(option) = account.given() {
            return Err(UsageError::new(
                format!("{option} is about the path of a window"),
                "add --path, or choose a part of the recording with --window or --time",
            ));
        }
        let mut inside = self.inside.inside()?;
        if let Some(window) = account.window() {
            inside.push(Inside::window(window)?);
        }
        Ok(Wanted::Measure(profile::Question {
            inside,
            measure: self.stacks.measure,
            filter: self.filter.clone(),
            processes: None,
            time: TimeRange::default(),
            origin: 0,
            methods: MethodPatterns::parse(&self.stacks.methods, false),
            said: self.filters(),
        }))
    }

    /// The filters in words, as a line below a title.
    fn filters(&self) -> String {
        let named = |name: &str, value: &str| if value.is_empty() { String::new() } else { format!("{name} {value}") };
        let parts = [
            self.path.account.to_string(),
            self.filter.to_string(),
            named("methods", &self.stacks.methods),
            named("time", &self.when.part.time.to_string()),
            self.inside.to_string(),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
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
            subtitle: self.profile.filters(),
            orientation: if picture.flames { Orientation::Flame } else { Orientation::Icicle },
            grouping: picture.group.unwrap_or(otherwise),
            min_share: picture.min_share / 100.0,
            ..Flame::default()
        }
    }

    /// What it is compared with, and how.
    pub(crate) fn against(&self) -> Option<(&str, Change)> {
        self.picture.against.as_deref().map(|path| (path, self.picture.change))
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
        self.format.or_else(by_name).unwrap_or(Format::Folded)
    }

    /// Where it goes.
    pub(crate) fn out(&self) -> Option<&PathBuf> {
        self.out.as_ref()
    }
}
