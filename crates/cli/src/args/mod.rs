//! The command line: one definition for the parser, the help texts, the man pages, the completions and `docs/cli.md`.

pub(crate) mod cpu;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod extract;
pub(crate) mod files;
pub(crate) mod granularity;
pub(crate) mod import;
pub(crate) mod keywords;
pub(crate) mod output;
pub(crate) mod processes;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod stacks;
pub(crate) mod symbols;
pub(crate) mod syscalls;
pub(crate) mod threads;
pub(crate) mod time;
pub(crate) mod waits;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use dump::Dump;
pub(crate) use events::EventsArgs;
pub(crate) use extract::ExtractArgs;
pub(crate) use files::{FileArgs, RunArgs};
pub(crate) use granularity::GranularityArgs;
pub(crate) use import::ImportArgs;
pub(crate) use keywords::KeywordsArgs;
pub(crate) use output::{Format, OutputArgs, RowArgs};
pub(crate) use processes::{ProcessArgs, SeriesArgs, WhenArgs, ZeroArgs};
pub(crate) use profile::{ExportArgs, FlameArgs};
pub(crate) use record::RecordArgs;
pub(crate) use run::PlanArgs;
pub(crate) use symbols::Symbols;
pub(crate) use time::TimeArgs;

/// Reads recordings of a whole machine (Windows ETW .etl, Linux perf.data) on any system, extracts each once into a small columnar archive, and answers questions over hundreds of them
#[derive(Debug, Parser)]
#[command(name = "tracesift", bin_name = "tracesift", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Write without colours
    // Last of its heading: the place of an option of all commands would otherwise depend on how many of them there are.
    #[arg(long, global = true, help_heading = "Output", display_order = 1000)]
    pub(crate) no_color: bool,
}

const EXAMPLES: &str = "\
Examples:
  tracesift demo                                      write, extract and ask example recordings
  tracesift record -- ./build.sh                      record the machine while a command runs
  tracesift extract recordings/                       extract what is new in recordings/
  tracesift dump cpu recordings/ --top 10             the ten largest users of the CPU in each
  tracesift dump process -f '*Serial*;!*WithAV*' --sort tree
  tracesift dump stats X.etl                          works on a raw recording, as every dump does

ETWAnalyzer's own command lines run too: tracesift -dump CPU -pn System -fd X -topn 10

Exit codes: 0 fine (losses are warned of), 1 nothing usable, 2 done but some inputs failed, 64 wrong usage";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Record a command, or the whole machine, with the system's own recorder
    Record(Box<RecordArgs>),
    /// Run the tests of a plan again and again, record each run, and show where their time went
    Run(Box<PlanArgs>),
    /// Extract recordings into archives that can be asked
    Extract(Box<ExtractArgs>),
    /// Import the JSON extracts of ETWAnalyzer
    Import(ImportArgs),
    /// Ask archives, or recordings, a question
    Dump(DumpArgs),
    /// Show the events of a recording, decoded
    Events(Box<EventsArgs>),
    /// Draw a flame graph: one SVG file with zoom and search, of one recording or of what changed between two
    Flame(Box<FlameArgs>),
    /// Write a profile for other tools: folded stacks, speedscope, Firefox Profiler, pprof, Perfetto
    Export(Box<ExportArgs>),
    /// Tell an instant on every clock: seconds of the session, the recorder's time of day, UTC
    Time(Box<TimeArgs>),
    /// Names of code: load them into archives, tell what is missing
    Symbols(SymbolsArgs),
    /// Tell a provider's keyword mask in names, and names as a mask
    Keywords(KeywordsArgs),
    /// Write example recordings, extract them and show the first answers
    Demo(DemoArgs),
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
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
