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
use crate::ask::{Ask, SeriesOptions, When, WhenOptions};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
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

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    series: SeriesOptions,
    #[command(flatten)]
    top: Top,
    /// What a row is about; without it a process where -p chooses some, else a counter
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// Only these counters; without it --by process shares those of packages, where there are any
    #[arg(long, value_name = "PATTERNS", default_value = "", hide_default_value = true)]
    counter: Patterns,
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
    const SHORT: &'static [&'static str] = &["process", "time", "bucket", "top", "by", "counter", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump energy X.sift", "joules and mean watts of each counter"),
        ("tracesift dump energy X.sift --by process --top 5", "the processes that used most, by estimate"),
        ("tracesift dump energy X.sift -p build --counter cores", "of one process and of the cores alone"),
    ];

    fn when(&self) -> When {
        When { bucket: self.series.bucket, ..self.when.when() }
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let usual = if self.filter.is_empty() { By::Counter } else { By::Process };
        Ok(Plan::from(Question {
            filter: self.filter.clone(),
            time: TimeRange::default(),
            top: self.top,
            by: self.by.unwrap_or(usual),
            counter: self.counter.clone(),
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
        Some(if self.by == By::Process { "percent" } else { "counter" })
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
