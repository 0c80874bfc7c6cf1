//! Options of `dump cpu`, which has two forms: a row per process, or a row per method.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgGroup, Args, ValueEnum};
use tracesift_analysis::tags::TagSet;
use tracesift_ask::label_cut::LabelCut;
use tracesift_ask::order::{Between, Top};
use tracesift_ask::question::{cpu, merged_cpu, merged_methods, methods};
use tracesift_ask::tag_cache::TagCache;
use tracesift_ask::time_format::TimeStyle;
use tracesift_ask::{Ask, MethodPatterns};
use tracesift_grammar::Patterns;

use super::files::{microseconds, milliseconds, seconds};
use super::output::WhichTime;
use super::{FileArgs, GranularityArgs, OutputArgs, ProcessArgs, RowArgs, RunArgs, SeriesArgs};
use crate::command::tag_files;
use crate::exit::UsageError;
use crate::terminal::Messages;

/// Options of `dump cpu`.
#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
    #[command(flatten)]
    pub(crate) series: SeriesArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    figures: FigureArgs,
    #[command(flatten)]
    methods: MethodArgs,
    #[command(flatten)]
    pub(crate) runs: RunArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Of both forms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct FigureArgs {
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu")]
    sort: Sort,
    /// Smallest sampled CPU (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_cpu: Option<i64>,
    /// Largest sampled CPU
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_cpu: Option<i64>,
    /// Shortest wait (ms without unit): of a process the sum over its threads, of a method the time in which any thread waited
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_wait: Option<i64>,
    /// Longest wait
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_wait: Option<i64>,
    /// Shortest ready time (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_ready: Option<i64>,
    /// Longest ready time
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_ready: Option<i64>,
    /// What to add up: `total` files only, `process` also processes, `method` also shows the methods [default: process without
    /// methods, else none]
    #[arg(long, value_name = "WHAT", conflicts_with = "bucket")]
    totals: Option<Totals>,
    /// A row per name of processes over all files, or per name and method or stack tag: sums, and figures file by file. Filters are of
    /// single processes and rows of single files, --top of names
    #[arg(long, conflicts_with_all = ["bucket", "core_numbers", "show_modules", "totals", "per_thread", "percentiles", "first_last", "by"])]
    pub(crate) merge: bool,
    /// The numbers of the CPUs on which each process ran, from the events
    #[arg(long, conflicts_with = "per_method")]
    core_numbers: bool,
    /// Show version, product, company and description of the image that a process runs, or of a method's module; with
    /// `=PATTERNS` only of those where one of these texts matches
    #[arg(long, value_name = "PATTERNS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    show_modules: Option<String>,
    /// CPU per kind of core, mean clock rate, and CPU at the nominal rate of each row, where the recording tells; from the events
    #[arg(long)]
    cores: bool,
}

/// Of the form with a row per method.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Methods",
    group(ArgGroup::new("per_method").args(["methods", "stacktags", "top_methods"]).multiple(true)),
    group(ArgGroup::new("of_methods").args(["methods", "top_methods"]).multiple(true)),
    group(ArgGroup::new("of_tags").args(["stacktags", "list_tags"]).multiple(true)),
    mut_args(|arg| match arg.get_id().as_str() {
        // Call trees have them, too, where they need nothing else.
        "include_args" | "by" | "fold_unresolved" => arg.requires("of_methods"),
        _ => arg,
    })
)]
struct MethodArgs {
    /// A row per method of these names: functions, or `module!function`; '*.dll' alone means functions without symbols
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    methods: Option<String>,
    /// A row per stack tag of these names: whole, or the last part; '*virus*'
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    stacktags: Option<String>,
    /// Take stack tags from this file, in the format of Windows Performance Analyzer; may be given several times, `builtin` is our own
    #[arg(long, value_name = "FILE", requires = "of_tags")]
    pub(crate) tag_file: Vec<PathBuf>,
    /// List the names of all stack tags, of our own rules or of those of --tag-file
    #[arg(long)]
    list_tags: bool,
    /// Tags within tags match only below them, and those show the total
    #[arg(long, requires = "stacktags")]
    pub(crate) nested: bool,
    /// A row for each of the N largest methods, or stack tags, of each process
    #[arg(long, value_name = "N")]
    top_methods: Option<usize>,
    /// Leave out the N largest methods of each process first
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, requires = "per_method")]
    skip_methods: usize,
    /// Patterns of methods always describe `module!function`
    #[arg(long, requires = "of_methods")]
    include_module: bool,
    #[command(flatten)]
    granularity: GranularityArgs,
    /// A row per thread and method
    #[arg(long, requires = "per_method")]
    per_thread: bool,
    /// Percentiles of the single waits and ready spans (those after deep sleep apart), priority and CPUs of each row
    #[arg(long, requires = "per_method")]
    percentiles: bool,
    /// Show first and last time of each row and the time between, in this format
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, requires = "per_method")]
    first_last: Option<Option<WhichTime>>,
    /// Show a part of long names: 10-40 leaves out 10 characters and shows 40, -60 shows the last 60
    #[arg(long, value_name = "PART", allow_hyphen_values = true, requires = "per_method")]
    cut_method: Option<LabelCut>,
    /// The process on the line of each method
    #[arg(long, requires = "per_method")]
    show_on_method: bool,
    /// Smallest exclusive CPU (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds, requires = "per_method")]
    min_exclusive: Option<i64>,
    /// Largest exclusive CPU
    #[arg(long, value_name = "TIME", value_parser = milliseconds, requires = "per_method")]
    max_exclusive: Option<i64>,
    /// Smallest mean of the single ready spans (µs without unit)
    #[arg(long, value_name = "TIME", value_parser = microseconds, requires = "per_method")]
    min_ready_average: Option<i64>,
    /// Largest mean of the single ready spans
    #[arg(long, value_name = "TIME", value_parser = microseconds, requires = "per_method")]
    max_ready_average: Option<i64>,
    /// Fewest switches
    #[arg(long, value_name = "N", requires = "per_method")]
    min_switches: Option<i64>,
    /// Most switches
    #[arg(long, value_name = "N", requires = "per_method")]
    max_switches: Option<i64>,
    /// Earliest first time (s since the session's start without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, requires = "per_method")]
    min_first: Option<i64>,
    /// Latest first time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, requires = "per_method")]
    max_first: Option<i64>,
    /// Earliest last time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, requires = "per_method")]
    min_last: Option<i64>,
    /// Latest last time
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true, requires = "per_method")]
    max_last: Option<i64>,
    /// Shortest time from first to last (s without unit)
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "per_method")]
    min_duration: Option<i64>,
    /// Longest time from first to last
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "per_method")]
    max_duration: Option<i64>,
}

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// CPU
    Cpu,
    /// CPU of the method itself, without what it calls
    #[value(alias = "self")]
    Exclusive,
    /// Samples
    Samples,
    /// Wait
    Wait,
    /// Ready
    Ready,
    /// CPU and wait
    CpuWait,
    /// CPU, wait and ready
    CpuWaitReady,
    /// The longest single wait
    #[value(alias = "longest")]
    LongestWait,
    /// Mean of the single ready spans
    #[value(alias = "ready-avg")]
    ReadyAverage,
    /// Switches
    Switches,
    /// Threads
    Threads,
    /// First time seen
    First,
    /// Last time seen
    Last,
    /// Time from first to last
    #[value(alias = "last-first")]
    Duration,
    /// Precise run time of a process
    Run,
    /// Mean priority of a process
    Priority,
    /// CPUs on which a process ran
    Cores,
    /// CPU in the last file minus that in the first one, with --merge
    Difference,
    /// Start of a process
    Start,
    /// Name
    Name,
}

/// What to add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Totals {
    None,
    Total,
    Process,
    Method,
}

impl CpuArgs {
    /// The rules whose names are asked for, in place of an answer.
    ///
    /// # Errors
    /// When a file of tags cannot be read.
    pub(crate) fn listed_tags(&self, messages: &Messages) -> Result<Option<Arc<TagSet>>, UsageError> {
        let of_methods = &self.methods;
        let load = || tag_files::load(&of_methods.tag_file, of_methods.nested, messages);
        of_methods.list_tags.then(load).transpose()
    }

    /// The question.
    pub(crate) fn question(&self, messages: &Messages) -> Result<Box<dyn Ask>, UsageError> {
        Ok(if self.methods.are_asked() { Box::new(self.by_method(messages)?) } else { Box::new(self.by_process()?) })
    }

    /// How instants are shown.
    pub(crate) fn time_style(&self) -> TimeStyle {
        match self.methods.first_last {
            Some(Some(format)) => TimeStyle { format: format.format(), ..self.output.time_style() },
            _ => self.output.time_style(),
        }
    }

    /// How the rows of methods are merged; `None`: they are not, or there are none.
    pub(crate) fn merged_methods(&self) -> Result<Option<merged_methods::Merge>, UsageError> {
        if !self.figures.merge || !self.methods.are_asked() {
            return Ok(None);
        }
        let sort = match self.figures.sort {
            Sort::Cpu => merged_methods::Sort::Cpu,
            Sort::Exclusive => merged_methods::Sort::Exclusive,
            Sort::Wait => merged_methods::Sort::Wait,
            Sort::Ready => merged_methods::Sort::Ready,
            Sort::Name => merged_methods::Sort::Name,
            other => {
                return Err(wrong_sort(
                    other,
                    "is of rows that are not merged",
                    "sort by cpu, exclusive, wait, ready or name",
                ));
            }
        };
        let top_methods = Top { take: self.methods.top_methods, skip: self.methods.skip_methods };
        Ok(Some(merged_methods::Merge { sort, top: self.rows.top(), top_methods }))
    }

    /// The question about methods whose answer is merged.
    pub(crate) fn methods_to_be_merged(&self, messages: &Messages) -> Result<methods::Question, UsageError> {
        Ok(merged_methods::to_be_merged(self.by_method(messages)?))
    }

    /// Order and number of the rows where processes of files are merged; `None`: they are not.
    pub(crate) fn merged(&self) -> Result<Option<(merged_cpu::Sort, Top)>, UsageError> {
        if !self.figures.merge || self.methods.are_asked() {
            return Ok(None);
        }
        let sort = match self.figures.sort {
            Sort::Cpu => merged_cpu::Sort::Cpu,
            Sort::Difference => merged_cpu::Sort::Difference,
            Sort::Name => merged_cpu::Sort::Name,
            other => {
                return Err(wrong_sort(other, "is of rows that are not merged", "sort by cpu, difference or name"));
            }
        };
        Ok(Some((sort, self.rows.top())))
    }

    /// The question whose answer is merged: every row counts.
    pub(crate) fn to_be_merged(&self) -> cpu::Question {
        let figures = &self.figures;
        cpu::Question {
            filter: self.processes.filter(),
            cpu: figures.cpu(),
            wait: figures.wait(),
            ready: figures.ready(),
            ..cpu::Question::default()
        }
    }

    fn by_process(&self) -> Result<cpu::Question, UsageError> {
        let figures = &self.figures;
        let sort = match figures.sort {
            Sort::Cpu => cpu::Sort::Cpu,
            Sort::Samples => cpu::Sort::Samples,
            Sort::Priority => cpu::Sort::Priority,
            Sort::Cores => cpu::Sort::Cores,
            Sort::Run => cpu::Sort::Run,
            Sort::Wait => cpu::Sort::Wait,
            Sort::Ready => cpu::Sort::Ready,
            Sort::Start => cpu::Sort::Start,
            Sort::First => cpu::Sort::First,
            Sort::Last => cpu::Sort::Last,
            Sort::Name => cpu::Sort::Name,
            Sort::Difference => return Err(wrong_sort(Sort::Difference, "is of merged rows", "add --merge")),
            Sort::Exclusive
            | Sort::CpuWait
            | Sort::CpuWaitReady
            | Sort::LongestWait
            | Sort::ReadyAverage
            | Sort::Switches
            | Sort::Threads
            | Sort::Duration => {
                return Err(wrong_sort(
                    figures.sort,
                    "is of methods",
                    "add --top-methods 10, or sort by cpu, samples, wait, ready, first, last, run, priority, cores, start or name",
                ));
            }
        };
        Ok(cpu::Question {
            filter: self.processes.filter(),
            sort,
            top: self.rows.top(),
            cpu: figures.cpu(),
            wait: figures.wait(),
            ready: figures.ready(),
            always: !matches!(figures.totals, None | Some(Totals::None)),
            totals: match figures.totals {
                Some(Totals::None) => cpu::Totals::None,
                None => cpu::Totals::Process,
                Some(Totals::Process | Totals::Method) => cpu::Totals::Process,
                Some(Totals::Total) => cpu::Totals::Total,
            },
            core_numbers: figures.core_numbers,
            cores: figures.cores,
            modules: figures.show_modules.as_deref().map(Patterns::parse),
            ..cpu::Question::default()
        })
    }

    fn by_method(&self, messages: &Messages) -> Result<methods::Question, UsageError> {
        let (figures, of_methods) = (&self.figures, &self.methods);
        let sort = match figures.sort {
            Sort::Cpu => methods::Sort::Cpu,
            Sort::Exclusive => methods::Sort::Exclusive,
            Sort::Samples => methods::Sort::Samples,
            Sort::Wait => methods::Sort::Wait,
            Sort::Ready => methods::Sort::Ready,
            Sort::CpuWait => methods::Sort::CpuWait,
            Sort::CpuWaitReady => methods::Sort::CpuWaitReady,
            Sort::LongestWait => methods::Sort::LongestWait,
            Sort::ReadyAverage => methods::Sort::ReadyAverage,
            Sort::Switches => methods::Sort::Switches,
            Sort::Threads => methods::Sort::Threads,
            Sort::First => methods::Sort::First,
            Sort::Last => methods::Sort::Last,
            Sort::Duration => methods::Sort::Duration,
            Sort::Name => methods::Sort::Name,
            Sort::Difference => return Err(wrong_sort(Sort::Difference, "is of merged rows", "add --merge")),
            Sort::Run | Sort::Priority | Sort::Cores | Sort::Start => {
                return Err(wrong_sort(
                    figures.sort,
                    "is of processes",
                    "leave out --methods, --stacktags and --top-methods, or sort by cpu, exclusive, wait, ready, first, last …",
                ));
            }
        };
        Ok(methods::Question {
            filter: self.processes.filter(),
            methods: of_methods.patterns(),
            tags: of_methods.tags(messages)?,
            granularity: of_methods.granularity.granularity(),
            per_thread: of_methods.per_thread,
            ranges: methods::Ranges {
                cpu: figures.cpu(),
                exclusive: Between { min: of_methods.min_exclusive, max: of_methods.max_exclusive },
                wait: figures.wait(),
                ready: figures.ready(),
                ready_average: Between { min: of_methods.min_ready_average, max: of_methods.max_ready_average },
                switches: Between { min: of_methods.min_switches, max: of_methods.max_switches },
                first: Between { min: of_methods.min_first, max: of_methods.max_first },
                last: Between { min: of_methods.min_last, max: of_methods.max_last },
                duration: Between { min: of_methods.min_duration, max: of_methods.max_duration },
            },
            sort,
            top: self.rows.top(),
            top_methods: Top { take: of_methods.top_methods, skip: of_methods.skip_methods },
            totals: match figures.totals {
                None | Some(Totals::None) => methods::Totals::None,
                Some(Totals::Total) => methods::Totals::Total,
                Some(Totals::Process) => methods::Totals::Process,
                Some(Totals::Method) => methods::Totals::Method,
            },
            percentiles: of_methods.percentiles,
            cores: figures.cores,
            first_last: of_methods.first_last.is_some(),
            // Rows of a series stand in no groups.
            process_on_row: of_methods.show_on_method || self.series.bucket.is_some(),
            cut: of_methods.cut_method.unwrap_or_default(),
            modules: figures.show_modules.as_deref().map(Patterns::parse),
            ..methods::Question::default()
        })
    }
}

impl FigureArgs {
    fn cpu(&self) -> Between {
        Between { min: self.min_cpu, max: self.max_cpu }
    }

    fn wait(&self) -> Between {
        Between { min: self.min_wait, max: self.max_wait }
    }

    fn ready(&self) -> Between {
        Between { min: self.min_ready, max: self.max_ready }
    }
}

impl MethodArgs {
    fn are_asked(&self) -> bool {
        self.methods.is_some() || self.stacktags.is_some() || self.top_methods.is_some()
    }

    /// Which methods; all of them where neither methods nor tags are named.
    fn patterns(&self) -> Option<MethodPatterns> {
        let list = self.methods.as_deref().or(self.stacktags.is_none().then_some("*"));
        list.map(|list| MethodPatterns::parse(list, self.include_module))
    }

    fn tags(&self, messages: &Messages) -> Result<Option<methods::Tags>, UsageError> {
        let tags = |patterns: &String| {
            let set = tag_files::load(&self.tag_file, self.nested, messages)?;
            Ok(methods::Tags { patterns: Patterns::parse(patterns), set, cache: TagCache::of_user().map(Arc::new) })
        };
        self.stacktags.as_ref().map(tags).transpose()
    }
}

fn wrong_sort(sort: Sort, what: &str, hint: &str) -> UsageError {
    let name = sort.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    UsageError::new(format!("--sort {name} {what}"), hint)
}
