//! The options of `dump cpu`, which has two forms, a row per process or a row per method, and each of them merged over files.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgGroup, Args, ValueEnum};
use tracesift_analysis::tags::TagSet;
use tracesift_grammar::{Patterns, TimeRange, microseconds, milliseconds, seconds};

use super::{COLUMNS, Question, Sort};
use crate::answer::{Answer, ColumnOf, Fact, Kind, Layout, Section, descriptions, values};
use crate::ask::When;
use crate::etwanalyzer::{Legacy, Switch, To, switch};
use crate::granularity::GranularityOptions;
use crate::inside_options::InsideOptions;
use crate::label_cut::LabelCut;
use crate::method_patterns::MethodPatterns;
use crate::options::{Asking, Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::question::{merged_cpu, merged_methods, methods};
use crate::shown::Shown;
use crate::tag_cache::TagCache;
use crate::tag_files;
use crate::time_format::TimeFormat;
use crate::totals::{self, Totals};
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;

/// The options.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    #[command(flatten)]
    inside: InsideOptions,
    #[command(flatten)]
    figures: FigureOptions,
    #[command(flatten)]
    methods: MethodOptions,
}

/// Of both forms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rows")]
struct FigureOptions {
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu", value_parser = sort_keys())]
    sort: String,
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
    merge: bool,
    /// The numbers of the CPUs on which each process ran; computed from samples and context switches
    #[arg(long, conflicts_with = "per_method")]
    core_numbers: bool,
    /// Show version, product, company and description of the image that a process runs, or of a method's module; with
    /// `=PATTERNS` only of those where one of these texts matches
    #[arg(long, value_name = "PATTERNS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    show_modules: Option<Patterns>,
    /// CPU per kind of core, mean clock rate, and CPU at the nominal rate of each row, where the recording tells; computed from samples and context switches
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
struct MethodOptions {
    /// A row per method of these names: functions, or `module!function`; '*.dll' alone means functions without symbols
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    methods: Option<String>,
    /// A row per stack tag of these names: whole, or the last part; '*virus*'
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    stacktags: Option<Patterns>,
    /// Take stack tags from this file, in the format of Windows Performance Analyzer; may be given several times; `builtin`: the built-in rules
    #[arg(long, value_name = "FILE", requires = "of_tags")]
    tag_file: Vec<PathBuf>,
    /// List the names of all stack tags, of our own rules or of those of --tag-file
    #[arg(long)]
    list_tags: bool,
    /// A tag inside a tag matches only below it; the outer tag shows the total
    #[arg(long, requires = "stacktags")]
    nested: bool,
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
    granularity: GranularityOptions,
    /// A row per thread and method
    #[arg(long, requires = "per_method")]
    per_thread: bool,
    /// Percentiles of the single waits and ready spans (those after deep sleep apart), priority and CPUs of each row
    #[arg(long, requires = "per_method")]
    percentiles: bool,
    /// Show first and last time of each row and the time between, in this format
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, requires = "per_method")]
    first_last: Option<Option<TimeFormat>>,
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

/// The keys of `--sort`: those of all forms, each once.
fn sort_keys() -> PossibleValuesParser {
    fn keys<S: ValueEnum + 'static>() -> impl Iterator<Item = PossibleValue> {
        S::value_variants().iter().filter_map(ValueEnum::to_possible_value)
    }
    let all = keys::<methods::Sort>()
        .chain(keys::<Sort>())
        .chain(keys::<merged_methods::Sort>())
        .chain(keys::<merged_cpu::Sort>());
    let mut keys: Vec<PossibleValue> = Vec::new();
    for key in all {
        if keys.iter().all(|known| known.get_name() != key.get_name()) {
            keys.push(key);
        }
    }
    // The last resort of every form stands last.
    keys.sort_by_key(|key| key.get_name() == NAME);
    PossibleValuesParser::new(keys)
}

/// The key that all forms have.
const NAME: &str = "name";

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form::usual("cpu", || COLUMNS.descriptions()),
        Form { with: &[OF_METHODS], ..Form::usual("methods", || methods::COLUMNS.descriptions()) },
        Form {
            with: &[MERGED],
            title: "With `--merge`:\n\n",
            ..Form::usual("cpu", || descriptions(merged_cpu::COLUMNS))
        },
        Form {
            with: &[MERGED, OF_METHODS],
            title: "With `--merge`:\n\n",
            ..Form::usual("methods", || descriptions(merged_methods::COLUMNS))
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "sort", "methods", "stacktags", "top_methods", "merge", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump cpu recordings/ --top 10", "the ten largest processes of each"),
        ("tracesift dump cpu X.sift -p App --top-methods 20", "their largest methods"),
        ("tracesift dump cpu X.sift --stacktags '*virus*'", "a row per stack tag"),
        ("tracesift dump cpu X.sift --methods '*Stream*' --sort wait", "methods by name, by their waits"),
        ("tracesift dump cpu X.sift -p App --top-methods 10 --by line", "lines of source"),
        ("tracesift dump cpu A.sift B.sift --merge --sort difference", "what changed"),
        ("tracesift dump cpu X.sift -p App --bucket 100ms", "a series"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[
        &["--methods=*", "--percentiles"],
        &["--methods=*", "--percentiles", "--per-thread"],
        &["--stacktags=*"],
        &["--cores", "--core-numbers", "--show-modules"],
    ];
    const LEGACY: Option<Legacy> = Some(Legacy { name: "cpu", switches: SWITCHES });

    fn when(&self) -> When {
        self.usual.when()
    }

    fn time_format(&self) -> Option<TimeFormat> {
        self.methods.first_last.flatten()
    }

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if self.methods.list_tags {
            return Ok(Plan::Answer(names_of(&*tag_files::load(&self.methods.tag_file, self.methods.nested, warn)?)));
        }
        Ok(Plan::Archives(match (self.methods.are_asked(), self.figures.merge) {
            (false, false) => with_totals(Asking::plain(self.by_process()?)),
            (true, false) => with_totals(Asking::plain(self.by_method(warn)?)),
            (false, true) => self.merged_processes()?,
            (true, true) => self.merged_methods(warn)?,
        }))
    }
}

/// One of these options asks for rows of methods or of stack tags.
const OF_METHODS: &[&str] = &["--methods=*", "--stacktags=*", "--top-methods=10"];
const MERGED: &[&str] = &["--merge"];

/// The switches of `-dump CPU`.
const SWITCHES: &[Switch] = &[
    switch(&["merge"], To::OfProcesses("--merge")),
    switch(&["processfmt"], To::ProcessTimes("+start_ns;+end_ns")),
    switch(&["methods"], To::Value("--methods")),
    switch(&["topnmethods"], To::Top("--top-methods", "--skip-methods")),
    switch(&["includedll", "id"], To::Flag("--include-module")),
    switch(&["includeargs", "ia"], To::Flag("--include-args")),
    switch(&["cutmethod"], To::Value("--cut-method")),
    switch(&["showonmethod"], To::Flag("--show-on-method")),
    // The second format is that of the last time; ours is of both.
    switch(&["fld", "firstlastduration"], To::FirstLast),
    switch(&["threadcount"], To::Columns("", "+threads")),
    switch(&["minmaxfirst"], To::Range("--min-first", "--max-first", "s")),
    switch(&["minmaxlast"], To::Range("--min-last", "--max-last", "s")),
    switch(&["minmaxduration"], To::Range("--min-duration", "--max-duration", "s")),
    switch(&["minmaxreadyavgus"], To::Range("--min-ready-average", "--max-ready-average", "us")),
    switch(&["minmaxcswitchcount"], To::Range("--min-switches", "--max-switches", "")),
    switch(&["stacktags"], To::Value("--stacktags")),
    switch(&["minmaxcpums"], To::Range("--min-cpu", "--max-cpu", "ms")),
    switch(&["minmaxwaitms"], To::Range("--min-wait", "--max-wait", "ms")),
    switch(&["minmaxreadyms"], To::Range("--min-ready", "--max-ready", "ms")),
    switch(
        &["sortby"],
        To::Word(
            "--sort",
            &[
                ("cpu", "cpu"),
                ("priority", "priority"),
                ("starttime", "start"),
                ("first", "first"),
                ("last", "last"),
                ("wait", "wait"),
                ("ready", "ready"),
                ("cpuwait", "cpu-wait"),
                ("cpuwaitready", "cpu-wait-ready"),
                ("readyavg", "ready-average"),
                ("cswitchcount", "switches"),
                // What costs CPU itself, and not what it calls: that is what its formula is for.
                ("stackdepth", "exclusive"),
            ],
        ),
    ),
    switch(
        &["showtotal"],
        To::Word(
            "--totals",
            // There `File` leaves out no rows; our totals of processes come besides.
            &[("none", "none"), ("total", "total"), ("file", "method"), ("process", "process"), ("method", "method")],
        ),
    ),
    switch(&["smi", "showmoduleinfo"], To::Modules),
    // Columns of rows of processes; there, too, rows of methods have none.
    switch(&["nopriority"], To::Columns("!priority", "")),
    switch(&["nocoreusage"], To::Columns("!cores_used", "")),
    switch(&["showcorenumber"], To::OfProcesses("--core-numbers")),
    switch(&["noready"], To::Columns("", "!ready*")),
    switch(&["nofrequency"], To::Dropped(0, "frequencies are shown by `--cores` only")),
    switch(&["normalize"], To::Flag("--cores")),
];

/// Adds the totals of test runs and tests.
fn with_totals(asking: Asking) -> Asking {
    Asking {
        then: Box::new(|answer, selection| {
            answer.sums = totals::of_runs_and_tests(&answer.sections, selection.one_run);
            // Totals of nothing say nothing, unless they were asked for.
            if !answer.sections.iter().any(|section| section.always) {
                answer.sums.retain(|group| group.facts.iter().any(Fact::is_figure));
            }
        }),
        ..asking
    }
}

/// The names of all stack tags.
fn names_of(tags: &TagSet) -> Answer {
    const COLUMNS: &[ColumnOf<String>] =
        &[ColumnOf::always("stack_tag", "Stack tag", Kind::Text, |tag| tag.into(), "Full name of the tag.")];
    let mut names: Vec<String> = tags.tags().map(|tag| tags.name(tag).to_owned()).collect();
    names.sort_by_key(|name| name.to_lowercase());
    let facts = vec![Fact::new("tags", Kind::Count, names.len())];
    let section =
        Section { title: "stack tags".to_owned(), rows: values(COLUMNS, &names), facts, ..Section::default() };
    Answer {
        question: "tags",
        columns: descriptions(COLUMNS),
        layout: Layout::Rows,
        sorted: None,
        sections: vec![section],
        sums: Vec::new(),
        facts: Vec::new(),
    }
}

impl Options {
    fn merged_processes(&self) -> Result<Asking, UsageError> {
        let sort: merged_cpu::Sort =
            self.figures.sort(|| ("is of rows that are not merged", "sort by cpu, difference or name"))?;
        let (figures, top) = (&self.figures, self.usual.top);
        // Every row counts.
        let question = Question {
            filter: self.usual.filter.clone(),
            inside: self.inside.inside()?,
            cpu: figures.cpu(),
            wait: figures.wait(),
            ready: figures.ready(),
            ..Question::default()
        };
        Ok(Asking {
            columns: Some(descriptions(merged_cpu::COLUMNS)),
            then: Box::new(move |answer, _| *answer = merged_cpu::merge(answer, sort, top)),
            ..Asking::plain(question)
        })
    }

    fn merged_methods(&self, warn: &mut dyn FnMut(&str)) -> Result<Asking, UsageError> {
        let sort: merged_methods::Sort =
            self.figures.sort(|| ("is of rows that are not merged", "sort by cpu, exclusive, wait, ready or name"))?;
        let merge = merged_methods::Merge { sort, top: self.usual.top, top_methods: self.methods.top() };
        // Rows of single files have an order of their own.
        let question = self.of_methods(methods::Sort::default(), warn)?;
        Ok(Asking {
            columns: Some(descriptions(merged_methods::COLUMNS)),
            then: Box::new(move |answer, _| *answer = merged_methods::merge(answer, merge)),
            ..Asking::plain(merged_methods::to_be_merged(question))
        })
    }

    fn by_process(&self) -> Result<Question, UsageError> {
        let figures = &self.figures;
        let sort = figures.sort(|| match figures.is_of_merged_rows() {
            true => ("is of merged rows", "add --merge"),
            false => (
                "is of methods",
                "add --top-methods 10, or sort by cpu, samples, wait, ready, first, last, run, priority, cores, start or name",
            ),
        })?;
        Ok(Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            sort,
            top: self.usual.top,
            cpu: figures.cpu(),
            wait: figures.wait(),
            ready: figures.ready(),
            totals: figures.totals,
            core_numbers: figures.core_numbers,
            cores: figures.cores,
            modules: figures.show_modules.clone(),
            shown: Shown::default(),
        })
    }

    fn by_method(&self, warn: &mut dyn FnMut(&str)) -> Result<methods::Question, UsageError> {
        let sort = self.figures.sort(|| match self.figures.is_of_merged_rows() {
            true => ("is of merged rows", "add --merge"),
            false => (
                "is of processes",
                "leave out --methods, --stacktags and --top-methods, or sort by cpu, exclusive, wait, ready, first, last …",
            ),
        })?;
        self.of_methods(sort, warn)
    }

    fn of_methods(&self, sort: methods::Sort, warn: &mut dyn FnMut(&str)) -> Result<methods::Question, UsageError> {
        let (figures, of_methods) = (&self.figures, &self.methods);
        Ok(methods::Question {
            filter: self.usual.filter.clone(),
            methods: of_methods.patterns(),
            tags: of_methods.tags(warn)?,
            granularity: of_methods.granularity.granularity(),
            per_thread: of_methods.per_thread,
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            ranges: self.ranges(),
            sort,
            top: self.usual.top,
            top_methods: of_methods.top(),
            totals: figures.totals.unwrap_or_default(),
            percentiles: of_methods.percentiles,
            cores: figures.cores,
            first_last: of_methods.first_last.is_some(),
            // Rows of a series stand in no groups.
            process_on_row: of_methods.show_on_method || self.usual.series.bucket.is_some(),
            cut: of_methods.cut_method.unwrap_or_default(),
            modules: figures.show_modules.clone(),
            shown: Shown::default(),
        })
    }

    fn ranges(&self) -> methods::Ranges {
        let (figures, of_methods) = (&self.figures, &self.methods);
        methods::Ranges {
            cpu: figures.cpu(),
            exclusive: Between { min: of_methods.min_exclusive, max: of_methods.max_exclusive },
            wait: figures.wait(),
            ready: figures.ready(),
            ready_average: Between { min: of_methods.min_ready_average, max: of_methods.max_ready_average },
            switches: Between { min: of_methods.min_switches, max: of_methods.max_switches },
            first: Between { min: of_methods.min_first, max: of_methods.max_first },
            last: Between { min: of_methods.min_last, max: of_methods.max_last },
            duration: Between { min: of_methods.min_duration, max: of_methods.max_duration },
        }
    }
}

impl FigureOptions {
    /// The order of rows of one form. `otherwise` tells, of a key that this form does not have, its place and the cure.
    fn sort<S: ValueEnum>(&self, otherwise: impl Fn() -> (&'static str, &'static str)) -> Result<S, UsageError> {
        S::from_str(&self.sort, false).map_err(|_| {
            let (place, hint) = otherwise();
            UsageError::new(format!("--sort {} {place}", self.sort), hint)
        })
    }

    fn is_of_merged_rows(&self) -> bool {
        merged_cpu::Sort::from_str(&self.sort, false).is_ok()
    }

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

impl MethodOptions {
    fn are_asked(&self) -> bool {
        self.methods.is_some() || self.stacktags.is_some() || self.top_methods.is_some()
    }

    fn top(&self) -> Top {
        Top { take: self.top_methods, skip: self.skip_methods }
    }

    /// Which methods; all of them where neither methods nor tags are named.
    fn patterns(&self) -> Option<MethodPatterns> {
        let list = self.methods.as_deref().or(self.stacktags.is_none().then_some("*"));
        list.map(|list| MethodPatterns::parse(list, self.include_module))
    }

    fn tags(&self, warn: &mut dyn FnMut(&str)) -> Result<Option<methods::Tags>, UsageError> {
        let Some(patterns) = self.stacktags.clone() else { return Ok(None) };
        let set = tag_files::load(&self.tag_file, self.nested, warn)?;
        Ok(Some(methods::Tags { patterns, set, cache: TagCache::of_user().map(Arc::new) }))
    }
}
