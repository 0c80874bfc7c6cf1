//! `dump energy`: what counters of energy counted, and the shares of processes by estimate.

mod columns;
mod processes;
mod readings;
mod shares;

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::{CpuSampleRow, EnergyRow};

use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::{Ask, When};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;
use columns::{COLUMNS, Row};
use readings::{Counted, Counter};

const TABLE: &str = "energy";
/// The profile of `tracesift record` that reads the counters.
const PROFILE: &str = "Power";
/// What the names of counters of a whole package begin with.
const PACKAGE: &str = "package";

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// A row per counter
    #[default]
    Counter,
    /// A row per process: an estimate that adds up to the counter
    Process,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By the name of the counter
    Counter,
    /// By energy
    Joules,
    /// By mean power, of rows per counter
    Watts,
    /// By the share of the counter, of rows per process
    Percent,
}

impl Sort {
    /// The usual order of rows of a kind.
    fn usual(by: By) -> Self {
        match by {
            By::Counter => Self::Counter,
            By::Process => Self::Percent,
        }
    }

    /// The column of the order.
    fn key(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Joules => "joules",
            Self::Watts => "watts",
            Self::Percent => "percent",
        }
    }
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    /// What a row is about; without it a process where -p chooses some, else a counter
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Only these counters; without it --by process shares those of packages, where there are any
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    counter: Patterns,
    /// Order of the rows; the largest stands last [default: counter; with --by process percent]
    #[arg(long, value_name = "KEY", hide_default_value = true)]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[
        Form { title: "A row per counter:\n\n", ..Form::usual("energy", || columns::shown(By::Counter)) },
        Form {
            with: &[&["--by=process"]],
            title: "With `--by process` a row per process:\n\n",
            ..Form::usual("energy", || columns::shown(By::Process))
        },
    ];
    const SHORT: &'static [&'static str] =
        &["process", "time", "bucket", "top", "by", "sort", "counter", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump energy X.sift", "joules and mean watts of each counter"),
        ("tracesift dump energy X.sift --by process --top 5", "the processes that used most, by estimate"),
        ("tracesift dump energy X.sift -p build --counter cores", "of one process and of the cores alone"),
        ("tracesift dump energy X.sift --bucket 1s --sort watts", "the mean power in each second"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--sort=watts"], &["--by=process", "--sort=joules"]];

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let usual = if self.usual.filter.is_empty() { By::Counter } else { By::Process };
        let by = self.by.unwrap_or(usual);
        match (by, self.sort) {
            (By::Process, Some(Sort::Watts)) => {
                let hint = "sort by percent, joules or counter, or leave out --by process and -p";
                return Err(UsageError::new("--sort watts is of rows per counter", hint));
            }
            (By::Counter, Some(Sort::Percent)) => {
                return Err(UsageError::new("--sort percent is of rows per process", "add --by process"));
            }
            _ => {}
        }
        Ok(Plan::from(Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            top: self.usual.top,
            by,
            counter: self.counter.clone(),
            sort: self.sort,
        }))
    }
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Whose share is shown.
    pub filter: ProcessFilter,
    /// Readings in this range.
    pub time: TimeRange,
    /// How many rows per file.
    pub top: Top,
    /// What a row is about.
    pub by: By,
    /// Which counters.
    pub counter: Patterns,
    /// Order of the rows; `None`: by counter, or by share.
    pub sort: Option<Sort>,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "energy"
    }

    fn tables(&self) -> &'static [&'static str] {
        if self.by == By::Process { &[TABLE, "context_switches", "cpu_frequencies"] } else { &[TABLE] }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        (self.by == By::Process).then_some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        if self.counter.is_empty() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        recording.archive().scan(None, |row: &EnergyRow| names.push((row.counter.clone(), 0)))?;
        let (what, patterns) = (["counter", "counters"], self.counter.to_string());
        Ok(vec![Candidates::of("--counter", what, &patterns, names, |name| self.counter.matches(name))])
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(self.order().key())
    }

    fn columns(&self) -> Vec<Column> {
        let of_others = columns::of_others(self.by);
        let mut columns = COLUMNS.descriptions();
        columns
            .iter_mut()
            .filter(|column| of_others.contains(&column.key))
            .for_each(|column| column.view = View::Nowhere);
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let (archive, file) = (recording.archive(), &recording.file);
        if archive.row_count::<EnergyRow>() == 0 {
            let absence = file.absence_with_cure_anywhere(TABLE, PROFILE);
            return Ok(file.absent("energy", absence));
        }
        let is_blind = !recording.info().has_switches && archive.row_count::<CpuSampleRow>() == 0;
        if self.by == By::Process && is_blind {
            let absence = file.absence_with_cure_anywhere("context_switches", "CSwitch,Power");
            return Ok(file.absent("run time of processes", absence));
        }
        let (start, end) = self.time.bounds();
        let mut counters = readings::read(archive, Span::new(start, end))?;
        self.choose(&mut counters);
        let has_counts = counters.values().flatten().any(|counted| counted.counts.is_some());
        let facts = facts(&counters);
        let (mut rows, mut notes) = match self.by {
            By::Counter => {
                (counters.iter().map(|(counter, counted)| of_counter(counter, counted)).collect(), Vec::new())
            }
            By::Process => processes::rows(recording, self, &counters)?,
        };
        self.sort_rows(&mut rows);
        self.top.apply(&mut rows);
        let mut section = COLUMNS.section(file, &rows, facts);
        if has_counts {
            notes.push("the unit of Windows' counters is not documented: counts are not joules".to_owned());
        }
        section.notes.append(&mut notes);
        Ok(section)
    }
}

impl Question {
    fn order(&self) -> Sort {
        self.sort.unwrap_or(Sort::usual(self.by))
    }

    /// Rows come in the order of counters, those of processes in the order of shares; rows with the same figure keep it.
    fn sort_rows(&self, rows: &mut [Row]) {
        match self.order() {
            Sort::Counter => rows.sort_by(|a, b| a.counter.cmp(&b.counter)),
            Sort::Joules => rows.sort_by_key(|row| row.energy),
            Sort::Watts => rows.sort_by(|a, b| {
                let watts = |row: &Row| row.watts().unwrap_or(f64::NEG_INFINITY);
                watts(a).total_cmp(&watts(b))
            }),
            Sort::Percent => {}
        }
    }

    /// Leaves the counters that are asked for. Those of packages hold others, so that these alone are shared among processes.
    fn choose<T>(&self, counters: &mut BTreeMap<Counter, T>) {
        if !self.counter.is_empty() {
            counters.retain(|counter, _| self.counter.matches(&counter.name));
        } else if self.by == By::Process && counters.keys().any(is_of_package) {
            counters.retain(|counter, _| is_of_package(counter));
        }
    }
}

fn is_of_package(counter: &Counter) -> bool {
    counter.name.starts_with(PACKAGE)
}

fn of_counter(counter: &Counter, counted: &[Counted]) -> Row {
    let sum = |figure: fn(&Counted) -> Option<i64>| {
        counted
            .iter()
            .filter_map(figure)
            .fold(None, |sum: Option<i64>, more| Some(sum.unwrap_or(0).saturating_add(more)))
    };
    Row {
        counter: counter.name.clone(),
        package: counter.package,
        cpu: counter.cpu,
        energy: sum(|counted| counted.energy),
        counts: sum(|counted| counted.counts),
        readings: i64::try_from(counted.len()).unwrap_or(i64::MAX),
        span: sum(|counted| Some(counted.span.length())).unwrap_or(0),
        ..Row::default()
    }
}

/// The energy of all packages: other counters are parts of it, or hold it.
fn facts(counters: &BTreeMap<Counter, Vec<Counted>>) -> Vec<Fact> {
    let of_packages = counters.iter().filter(|(counter, _)| is_of_package(counter));
    let energy = of_packages.flat_map(|(_, counted)| counted).filter_map(|counted| counted.energy);
    let sum = energy.fold(None, |sum: Option<i64>, more| Some(sum.unwrap_or(0).saturating_add(more)));
    sum.map(|sum| Fact::new("joules of packages", Kind::Number(3), columns::joules(sum))).into_iter().collect()
}
