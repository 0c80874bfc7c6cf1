//! `dump waits`: the longest waits, who ended each, and what that one did meanwhile.

pub(super) mod chain;
pub mod columns;
mod kind;
pub(super) mod longest;
pub mod sums;
pub(super) mod windows;

use clap::Args;
use tracesift_analysis::{Span, TimesOfThreads};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ProcessRow, ThreadRow};

pub use self::columns::{COLUMNS, Row, chain_columns};
pub use self::kind::{WaitKind, kinds_of_threads};

use crate::answer::{Column, Section};
use crate::ask::{Ask, Reads, When, WhenOptions};
use crate::candidates::{self, Candidates};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::inside_options::InsideOptions;
use crate::method_patterns::MethodPatterns;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::thread_filter::ThreadFilter;
use crate::threads::Threads;
use crate::usage_error::UsageError;
use tracesift_grammar::{TimeRange, milliseconds};

/// Waits shown where nobody says how many.
const WAITS: usize = 20;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes wait.
    pub filter: ProcessFilter,
    /// Waits in this range; they are cut to it.
    pub time: TimeRange,
    /// What chooses times in it: a wait that they cut apart is several.
    pub inside: Vec<Inside>,
    /// Which threads wait.
    pub threads: ThreadFilter,
    /// Only waits whose stack has such a method.
    pub methods: MethodPatterns,
    /// Length of a wait, ns.
    pub length: Between,
    /// How many; the 20 longest where nothing is said.
    pub top: Top,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
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
    /// Only waits in whose stack such a function stands, or `module!function`
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    methods: String,
    /// Patterns of methods always describe `module!function`
    #[arg(long)]
    include_module: bool,
    /// Shortest wait (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_wait: Option<i64>,
    /// Longest wait
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_wait: Option<i64>,
    /// Add up all waits: a row per method waited in, per end of the wait chain (for whom, and what that did), per thread or per process that
    /// waited
    #[arg(long, value_name = "WHAT")]
    by: Option<sums::By>,
    /// Order of the rows of --by; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "sum", requires = "by")]
    sort: sums::Sort,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form {
            objects: &[("The objects of `chain`:\n\n", chain_columns)],
            ..Form::usual("waits", || COLUMNS.descriptions())
        },
        Form {
            with: &[&["--by=method"]],
            title: "With `--by`:\n\n",
            ..Form::usual("waits", || sums::COLUMNS.descriptions())
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "methods", "min_wait", "max_wait", "csv", "wide"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump waits X.sift -p App --top 5", "the five longest, and who ended them"),
        ("tracesift dump waits X.sift --methods '*Lock*'", "those in such a method"),
        ("tracesift dump waits X.sift -p App --time 3s..5s", "of these two seconds"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=waker"], &["--methods=*"], &["--tid=0..5000"]];

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let waits = Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            threads: self.threads.clone(),
            methods: MethodPatterns::parse(&self.methods, self.include_module),
            length: Between { min: self.min_wait, max: self.max_wait },
            top: self.top,
        };
        Ok(match self.by {
            Some(by) => Plan::from(sums::Question { waits, by, sort: self.sort }),
            None => Plan::from(waits),
        })
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "waits"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["context_switches"]
    }

    fn reads(&self) -> Reads {
        // Where nothing fits a name, the methods of all samples and waits are counted.
        let is_all = self.inside.is_empty() && self.methods.is_empty();
        if is_all { Reads::Tables(self.tables()) } else { Reads::Everything }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        candidates::of_methods(recording, "--methods", &self.methods)
    }

    fn limits(&self) -> Vec<&'static str> {
        let length = self.length.given(["--min-wait", "--max-wait"]);
        length.chain(self.threads.option()).chain(Inside::options(&self.inside)).collect()
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        if !recording.info().has_switches {
            return Ok(recording.file.absent("context switches", recording.file.absence_of("context_switches")));
        }
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let times = self.times(recording, &threads)?;
        let accepted = Processes::new(&processes).selected(&self.filter).map(|row| row.process).collect();
        let known = Threads::new(&threads, &processes);
        let mut names = StackNames::new(recording.named_stacks(Granularity::default())?);
        let top = Top { take: self.top.take.or(Some(WAITS)), ..self.top };
        let mut waits = longest::find(recording, self, (top, times.as_ref()), &accepted, &known, &mut names)?;
        top.apply(&mut waits);
        let chains = chain::of(recording, &waits, &known, &mut names)?;
        let rows: Vec<Row> =
            waits.iter().zip(chains).map(|(wait, chain)| Row::new(wait, chain, &known, &mut names)).collect();
        Ok(COLUMNS.section(&recording.file, &rows, Vec::new()))
    }
}

impl Question {
    /// The times of threads that are asked for; `None`: all of the range.
    fn times(&self, recording: &OpenRecording, threads: &[ThreadRow]) -> Result<Option<TimesOfThreads>, Error> {
        let threads = threads.iter().map(|row| (row.thread, row.process));
        let times = Inside::times(&self.inside, recording)?;
        Ok(times.map(|times| times.of_threads(self.range(), threads)))
    }

    fn range(&self) -> Span {
        let (start, end) = self.time.bounds();
        Span::new(start, end)
    }
}
