//! The options of `dump stacks`.

use clap::Args;
use tracesift_analysis::call_tree::Direction;
use tracesift_grammar::{Patterns, Share, TimeRange, parse_share};

use super::{COLUMNS, Question};
use crate::ask::{When, WhenOptions};
use crate::filter::ProcessFilter;
use crate::granularity::GranularityOptions;
use crate::inside_options::InsideOptions;
use crate::measure::Measure;
use crate::method_patterns::MethodPatterns;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::thread_filter::ThreadFilter;
use crate::usage_error::UsageError;

/// The options. Trees are cut by options of their own: `--top` counts processes.
#[derive(Args, Debug)]
#[command(mut_args(|option| match option.get_id().as_str() {
    "top" => option.help("Keep the N largest processes of each file [default: 5]"),
    "skip" => option.help("Leave out the N largest processes first"),
    _ => option,
}))]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    threads: ThreadFilter,
    #[command(flatten)]
    inside: InsideOptions,
    #[command(flatten)]
    top: Top,
    #[command(flatten)]
    trees: TreeOptions,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Trees")]
struct TreeOptions {
    /// What the trees are of
    #[arg(long, value_name = "WHAT", default_value = "cpu", value_parser = Measure::parser())]
    measure: Measure,
    /// Trees go from the functions where time was spent to their callers
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
    fold: Patterns,
    /// Do not show the functions that these modules call: their time counts as the caller's own
    #[arg(long, value_name = "MODULES", default_value = "", hide_default_value = true)]
    cut: Patterns,
    /// A tree per thread
    #[arg(long)]
    per_thread: bool,
    #[command(flatten)]
    granularity: GranularityOptions,
    /// Sum up lines below this share of the process' tree
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_share)]
    min_share: Share,
    /// Show at most this many levels of calls
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("stacks", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "measure", "callers", "methods", "min_share", "out"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump stacks X.sift -p App --min-share 5%", "what calls what"),
        ("tracesift dump stacks X.sift --methods '*lock*' --callers", "who calls it"),
        ("tracesift dump stacks X.sift -p App --measure wait", "where it waited"),
        ("tracesift dump stacks X.sift --measure disk-bytes", "the code that read and wrote most"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--measure=wait", "--callers"],
        &["--root=*", "--per-thread"],
        &["--by=line"],
        &["--measure=disk", "--per-thread"],
        &["--measure=page-faults"],
        &["--tid=0..5000"],
    ];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let trees = &self.trees;
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            threads: self.threads.clone(),
            measure: trees.measure,
            direction: if trees.callers { Direction::Callers } else { Direction::Callees },
            methods: MethodPatterns::parse(&trees.methods, trees.include_module),
            root: MethodPatterns::parse(&trees.root, trees.include_module),
            fold: trees.fold.clone(),
            cut: trees.cut.clone(),
            per_thread: trees.per_thread,
            granularity: trees.granularity.granularity(),
            min_share: trees.min_share,
            depth: trees.depth,
            top: self.top,
        }))
    }
}
