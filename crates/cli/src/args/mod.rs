//! The command line: one definition for the parser, the help texts, the man pages, the completions and `docs/cli.md`.

pub(crate) mod asked;
pub(crate) mod compare;
mod deferred;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod extract;
pub(crate) mod files;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod keywords;
pub(crate) mod output;
pub(crate) mod pages;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod report_format;
pub(crate) mod run;
pub(crate) mod symbols;
pub(crate) mod topics;
pub(crate) mod view;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracesift_ask::question::{instants, overview};

pub(crate) use asked::Asked;
pub(crate) use compare::CompareArgs;
pub(crate) use deferred::Deferred;
pub(crate) use dump::Dump;
pub(crate) use events::EventsArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use extract::ExtractArgs;
pub(crate) use files::{FileArgs, RunArgs};
pub(crate) use history::HistoryArgs;
pub(crate) use import::ImportArgs;
pub(crate) use keywords::KeywordsArgs;
pub(crate) use output::{Format, OutputArgs};
pub(crate) use profile::{ExportArgs, FlameArgs, Wanted};
pub(crate) use record::RecordArgs;
pub(crate) use report_format::ReportFormat;
pub(crate) use run::PlanArgs;
pub(crate) use symbols::Symbols;
pub(crate) use view::ViewArgs;

/// Reads recordings of a whole machine (Windows ETW .etl, Linux perf.data) on any system, extracts each once into a small columnar archive, and answers questions over hundreds of them
#[derive(Debug, Parser)]
#[command(name = "tracesift", bin_name = "tracesift", version, max_term_width = MAX_WIDTH, disable_help_subcommand = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Write without colours
    // Last of its heading: the place of an option of all commands would otherwise depend on how many of them there are.
    #[arg(long, global = true, help_heading = "Output", display_order = 1000)]
    pub(crate) no_color: bool,

    /// Print only errors, no warnings and no notes
    #[arg(short, long, global = true, help_heading = "Output", display_order = 1001)]
    pub(crate) quiet: bool,
}

/// Help is not wrapped wider, as nobody reads such lines.
pub(crate) const MAX_WIDTH: usize = 120;

/// The definition of the command line, with its pages of help.
pub(crate) fn definition() -> clap::Command {
    pages::apply(deferred::with_all_options(Cli::command))
}

/// The command line that these arguments are.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut plain = Cli::command();
    let matches = plain.try_get_matches_from_mut(arguments).or_else(|error| match error.kind() {
        // Pages are made for those who read them: they cost more than all else that the parser does.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            definition().try_get_matches_from(arguments)
        }
        // An archive or a recording by itself: what is in it.
        ErrorKind::InvalidSubcommand => match of_a_path(&plain, &error, arguments) {
            Some(arguments) => plain.try_get_matches_from_mut(arguments),
            None => Err(error),
        },
        _ => Err(error),
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut plain))
}

/// The command line that these arguments are, if `check` has nothing against the options that they give.
pub(crate) fn parse_checked<E>(
    arguments: &[OsString],
    check: impl FnOnce(&clap::Command, &clap::ArgMatches) -> Result<(), E>,
) -> Result<Result<Cli, E>, clap::Error> {
    let mut plain = Cli::command();
    let matches = plain.try_get_matches_from_mut(arguments)?;
    if let Err(error) = check(&plain, &matches) {
        return Ok(Err(error));
    }
    Cli::from_arg_matches(&matches).map(Ok).map_err(|error| error.format(&mut plain))
}

/// The arguments with the command that shows what is in a recording, where they begin with one and there is such a command.
fn of_a_path(definition: &clap::Command, error: &clap::Error, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let overview = definition.find_subcommand(OVERVIEW)?.get_name();
    let (program, rest) = arguments.split_first()?;
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let path = rest.first().filter(|path| path.to_str() == Some(unknown) && Path::new(path).exists());
    path.map(|_| [&[program.clone(), overview.into()], rest].concat())
}

/// The command that shows what is in a recording.
pub(crate) const OVERVIEW: &str = "overview";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Record a command, or the whole machine, with the system's own recorder
    Record(Deferred<RecordArgs>),
    /// Run the tests of a plan again and again, record each run, and show where their time went
    Run(Deferred<PlanArgs>),
    /// Extract recordings into archives that can be asked
    Extract(Deferred<ExtractArgs>),
    /// Import the JSON extracts of ETWAnalyzer
    Import(Deferred<ImportArgs>),
    /// Show a recording on one screen, or many on a line each: who used the CPU, who waited, what is missing, what to ask next
    Overview(Deferred<Asked<overview::Options>>),
    /// Ask archives, or recordings, a question
    Dump(DumpArgs),
    /// Explain a recording: where its time went, and known causes
    Explain(Deferred<ExplainArgs>),
    /// Compare sets of runs: how much slower, how sure, and why
    Compare(Deferred<CompareArgs>),
    /// Show when a test became slower or faster, and what changed there
    History(Deferred<HistoryArgs>),
    /// Show recordings in the browser: lanes, tables, flame graphs
    View(Deferred<ViewArgs>),
    /// Show the events of a recording, decoded
    Events(Deferred<EventsArgs>),
    /// Draw a flame graph of a recording, or of what changed between two
    Flame(Deferred<FlameArgs>),
    /// Write a profile for other tools: folded stacks, speedscope, Firefox Profiler, pprof, Perfetto
    Export(Deferred<ExportArgs>),
    /// Tell an instant on every clock, such as the recorder's and UTC
    Time(Deferred<Asked<instants::Options>>),
    /// Names of code: load them into archives, tell what is missing
    Symbols(SymbolsArgs),
    /// Tell a provider's keyword mask in names, and names as a mask
    Keywords(Deferred<KeywordsArgs>),
    /// Write example recordings, extract them, and show on one screen what four questions tell of them
    Demo(Deferred<DemoArgs>),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Directory for the pages; without it the main page goes to standard output
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Show all of a command's help, or a topic: `filters`, the options that every question takes
    Help {
        /// A command, or `filters` [default: all commands]
        #[arg(value_name = "COMMAND|TOPIC")]
        words: Vec<String>,
    },
}

/// Options of `dump`.
#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// The question
    #[command(subcommand)]
    pub(crate) question: Dump,
}

/// Options of `symbols`.
#[derive(Debug, Args)]
pub(crate) struct SymbolsArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: Symbols,
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Directory for recordings and archives
    #[arg(value_name = "DIR", default_value = "tracesift-demo")]
    pub(crate) directory: PathBuf,

    /// Show more questions, with all that they print
    #[arg(long)]
    pub(crate) all: bool,
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_consistent() {
        super::definition().debug_assert();
    }
}
