//! Options of `dump stacks`.

use clap::{Args, ValueEnum};
use tracesift_analysis::Measure;
use tracesift_analysis::call_tree::Direction;
use tracesift_ask::MethodPatterns;
use tracesift_ask::order::Top;
use tracesift_ask::question::stacks;
use tracesift_grammar::Patterns;
use tracesift_grammar::TimeRange;
use tracesift_grammar::{Share, parse_share};

use super::{FileArgs, GranularityArgs, OutputArgs, ProcessArgs, RunArgs};

/// Options of `dump stacks`.
#[derive(Debug, Args)]
pub(crate) struct StacksArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    rows: TopArgs,
    #[command(flatten)]
    trees: TreeArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How many processes; trees are cut by their own options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct TopArgs {
    /// Keep the N largest processes of each file [default: 5]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Leave out the N largest processes first
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: usize,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Trees")]
struct TreeArgs {
    /// What the trees are of
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    measure: WhichMeasure,
    /// From the functions where time was spent to their callers, in place of from callers to what they call
    #[arg(long)]
    callers: bool,
    /// Only stacks in which such a function stands, or `module!function`
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    methods: String,
    /// Trees begin at such functions: at the outermost of each stack, with --callers at the innermost; other stacks are left out
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    root: String,
    /// Patterns of methods always describe `module!function`
    #[arg(long)]
    include_module: bool,
    /// Frames of these modules that follow each other are one line, with the module's name
    #[arg(long, value_name = "MODULES", default_value = "", hide_default_value = true)]
    fold: String,
    /// Do not show what functions of these modules call: it counts as their own time
    #[arg(long, value_name = "MODULES", default_value = "", hide_default_value = true)]
    cut: String,
    /// A tree per thread
    #[arg(long)]
    per_thread: bool,
    #[command(flatten)]
    granularity: GranularityArgs,
    /// Sum up lines below this share of the process' tree
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_share)]
    min_share: Share,
    /// Show so many levels of calls
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// What trees are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhichMeasure {
    /// CPU
    Cpu,
    /// Waits, by the stack with which a thread left the CPU
    Wait,
    /// Time ready to run without a CPU, by the same stack
    Ready,
}

impl StacksArgs {
    /// The question.
    pub(crate) fn question(&self) -> stacks::Question {
        let trees = &self.trees;
        stacks::Question {
            filter: self.processes.filter(),
            time: TimeRange::default(),
            measure: match trees.measure {
                WhichMeasure::Cpu => Measure::Cpu,
                WhichMeasure::Wait => Measure::Wait,
                WhichMeasure::Ready => Measure::Ready,
            },
            direction: if trees.callers { Direction::Callers } else { Direction::Callees },
            methods: MethodPatterns::parse(&trees.methods, trees.include_module),
            root: MethodPatterns::parse(&trees.root, trees.include_module),
            fold: Patterns::parse(&trees.fold),
            cut: Patterns::parse(&trees.cut),
            per_thread: trees.per_thread,
            granularity: trees.granularity.granularity(),
            min_share: trees.min_share,
            depth: trees.depth,
            top: Top { take: self.rows.top, skip: self.rows.skip },
        }
    }
}
