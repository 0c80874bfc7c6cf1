//! `dump frequency`: how fast CPUs and processes were clocked while they ran.

mod states;
mod sums;

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{CpuFrequencyRow, CpuRow, ProcessRow};

use super::running::{self, Work};
use crate::answer::{Column, ColumnOf, Kind, Section, Value, View};
use crate::ask::{Ask, RANGES_AT_ONCE, When};
use crate::clock_rates::Rates;
use crate::columns::Columns;
use crate::etwanalyzer::Legacy;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;
use crate::time_windows::TimeWindows;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;
use states::{OfCpu, States};
use sums::Sums;

const TABLE: &str = "cpu_frequencies";

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// A row per CPU
    #[default]
    Cpu,
    /// A row per kind of core
    CoreType,
    /// A row per process
    Process,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By the number of the CPU
    Cpu,
    /// By run time
    Run,
    /// By the mean clock rate
    Mhz,
}

impl Sort {
    /// The column of the order.
    fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Run => "run_ns",
            Self::Mhz => "mean_mhz",
        }
    }
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    /// What a row is about
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    by: By,
    /// Order of the rows; the largest stands last [default: cpu; with --by run]
    #[arg(long, value_name = "KEY", hide_default_value = true)]
    sort: Option<Sort>,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("frequency", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] = &["process", "time", "bucket", "top", "by", "sort", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump frequency X.sift", "the clock rate of each CPU while it worked"),
        ("tracesift dump frequency X.sift --by process --top 5", "the clock rates at which processes ran"),
        ("tracesift dump frequency X.sift --by core-type -p build", "on each kind of core, for one process"),
        ("tracesift dump frequency X.sift --bucket 1s", "in each second of the recording"),
        ("tracesift dump frequency X.sift --sort mhz", "the CPU with the highest rate last"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] =
        &[&["--by=core-type"], &["--by=process"], &["--bucket=1s"], &["--by=process", "--sort=mhz"]];
    const LEGACY: Option<Legacy> = None;

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        if self.sort == Some(Sort::Cpu) && self.by != By::Cpu {
            return Err(UsageError::new("--sort cpu is of rows per CPU", "sort by run or mhz, or leave out --by"));
        }
        Ok(Plan::from(Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            top: self.usual.top,
            by: self.by,
            sort: self.sort,
        }))
    }
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Whose run time counts.
    pub filter: ProcessFilter,
    /// Run time in this range.
    pub time: TimeRange,
    /// How many rows per file.
    pub top: Top,
    /// What a row is about.
    pub by: By,
    /// Order of the rows; `None`: by CPU, or by run time where rows are about something else.
    pub sort: Option<Sort>,
}

/// A row of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    cpu: Option<i16>,
    core_type: Option<String>,
    sums: Sums,
    /// Time in which the CPU was parked and capped.
    states: OfCpu,
}

impl OfProcess for Row {
    fn process(&self) -> Option<&ProcessRow> {
        self.process.as_ref()
    }
}

fn mhz(khz: Option<i64>) -> Value {
    khz.map(|khz| khz as f64 / 1000.0).into()
}

/// The columns.
pub const COLUMNS: Columns<Row> = Columns(&[
    of_process::name(),
    of_process::pid(),
    ColumnOf::always("cpu", "CPU", Kind::Id, |row| row.cpu.map(i64::from).into(), "The CPU, in rows per CPU."),
    ColumnOf::always(
        "core_type",
        "Core type",
        Kind::Text,
        |row| row.core_type.as_ref().into(),
        "Its kind of core: the recorder's word, else its efficiency class (0 is the most efficient).",
    ),
    ColumnOf::always(
        "run_ns",
        "Run",
        Kind::Milliseconds,
        |row| row.sums.run.into(),
        "Run time, without the idle loop. Without context switches: sampled CPU time.",
    ),
    ColumnOf::details(
        "known_ns",
        "Known",
        Kind::Milliseconds,
        |row| row.sums.known.into(),
        "Run time at a known clock rate. The rate is unknown before its first change in the recording.",
    ),
    ColumnOf::always(
        "mean_mhz",
        "MHz",
        Kind::Number(0),
        |row| row.sums.mean_mhz().into(),
        "Mean clock rate, weighted with the run time at a known rate.",
    ),
    ColumnOf::always(
        "percent_of_nominal",
        "% of nominal",
        Kind::Number(1),
        |row| row.sums.percent_of_nominal().into(),
        "Mean share of the nominal clock rate, weighted alike; empty where no nominal rate is known.",
    ),
    ColumnOf::always("min_mhz", "Min MHz", Kind::Number(0), |row| mhz(row.sums.least), "Lowest rate at which it ran."),
    ColumnOf::always("max_mhz", "Max MHz", Kind::Number(0), |row| mhz(row.sums.most), "Highest rate at which it ran."),
    ColumnOf::always(
        "at_cap_ns",
        "At cap",
        Kind::Milliseconds,
        |row| (row.sums.limited > 0).then_some(row.sums.at_cap).into(),
        "Run time at the highest rate that the CPU was allowed to have; empty where the recording tells no limits (Linux tells them).",
    ),
    ColumnOf::always(
        "parked_ns",
        "Parked",
        Kind::Milliseconds,
        |row| row.states.parked.into(),
        "Time in which the CPU was parked, softly or not, in rows per CPU.",
    ),
    ColumnOf::always(
        "capped_ns",
        "Capped",
        Kind::Milliseconds,
        |row| row.states.capped.into(),
        "Time in which heat or the firmware held the CPU below its full performance (Windows), or in which the system did not allow the highest rate of the CPU (Linux), in rows per CPU.",
    ),
    of_process::label(),
    of_process::command_line().shown(View::Machine),
]);

impl Ask for Question {
    fn name(&self) -> &'static str {
        "frequency"
    }

    fn tables(&self) -> &'static [&'static str] {
        &[TABLE, "context_switches"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(self.order().key())
    }

    fn columns(&self) -> Vec<Column> {
        let is_about = |key: &str| match key {
            "cpu" | "parked_ns" | "capped_ns" => self.by == By::Cpu,
            "core_type" => self.by != By::Process,
            "process" | "pid" | "process_label" | "command_line" => self.by == By::Process,
            _ => true,
        };
        let mut columns = COLUMNS.descriptions();
        columns.iter_mut().filter(|column| !is_about(column.key)).for_each(|column| column.view = View::Nowhere);
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.sections(recording, &[self.time])?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        self.sections(recording, ranges)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}

/// Run time of a range by process and CPU.
type SumsOfRange = FxHashMap<(ProcessId, i16), Sums>;

impl Question {
    fn order(&self) -> Sort {
        self.sort.unwrap_or(if self.by == By::Cpu { Sort::Cpu } else { Sort::Run })
    }

    /// The answers about parts of a recording, which follow each other, from one reading.
    fn sections(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        let (archive, file) = (recording.archive(), &recording.file);
        if archive.row_count::<CpuFrequencyRow>() == 0 {
            let absence = file.absence_with_cure_anywhere(TABLE, "Power");
            return Ok(vec![file.absent("clock rates", absence); ranges.len()]);
        }
        let cpus: Vec<CpuRow> = archive.rows()?;
        let rates = Rates::read(archive, &cpus)?;
        let processes: Vec<ProcessRow> = archive.rows()?;
        let accepted: FxHashMap<ProcessId, &ProcessRow> = Processes::new(&processes)
            .selected(&self.filter)
            .filter(|row| !is_idle(*row))
            .map(|row| (row.process, row))
            .collect();
        let sums = self.sums(recording, &rates, ranges, &accepted)?;
        let windows = TimeWindows::inside(ranges, Span::new(file.start, file.end));
        let states = States::read(archive, &windows)?;
        let section = |(place, sums): (usize, SumsOfRange)| {
            let mut rows = self.rows(sums, &cpus, &accepted);
            for row in &mut rows {
                row.states = row.cpu.map(|cpu| states.of(place, cpu, &rates)).unwrap_or_default();
            }
            let mut section = COLUMNS.section(file, &rows, Vec::new());
            if !recording.info().has_switches {
                section.notes.push("without context switches, sampled CPU time stands for run time".to_owned());
            }
            section
        };
        Ok(sums.into_iter().enumerate().map(section).collect())
    }

    fn sums(
        &self,
        recording: &OpenRecording,
        rates: &Rates,
        ranges: &[TimeRange],
        accepted: &FxHashMap<ProcessId, &ProcessRow>,
    ) -> Result<Vec<SumsOfRange>, Error> {
        let windows = TimeWindows::of(ranges);
        let mut sums = vec![SumsOfRange::default(); ranges.len()];
        // With rows per CPU or kind of core the process makes no difference.
        let owner = |process: ProcessId| if self.by == By::Process { process } else { ProcessId::from_index(0) };
        running::each(recording, all_of(ranges), &mut |process, cpu, work| {
            let Some(cpu) = cpu.filter(|_| accepted.contains_key(&process)) else { return };
            let key = (owner(process), cpu);
            match work {
                Work::Run(span) => {
                    for place in windows.touching(span.start, span.end) {
                        if let Some(part) = span.clip(windows.spans()[place]) {
                            sums[place].entry(key).or_default().run(rates, cpu, part);
                        }
                    }
                }
                Work::Sample { time, weight } => {
                    if let Some(place) = windows.at(time) {
                        sums[place].entry(key).or_default().sample(rates, cpu, time, weight);
                    }
                }
            }
        })?;
        Ok(sums)
    }

    fn rows(&self, sums: SumsOfRange, cpus: &[CpuRow], accepted: &FxHashMap<ProcessId, &ProcessRow>) -> Vec<Row> {
        let kinds: FxHashMap<i16, String> = cpus.iter().filter_map(|row| Some((row.cpu, core_type(row)?))).collect();
        let mut by: BTreeMap<Key, Sums> = BTreeMap::new();
        for ((process, cpu), sums) in sums {
            let kind = kinds.get(&cpu).cloned();
            let key = match self.by {
                By::Cpu => (None, Some(cpu), kind),
                By::CoreType => (None, None, kind),
                By::Process => (Some(process), None, None),
            };
            by.entry(key).or_default().join(&sums);
        }
        let row = |((process, cpu, core_type), sums): (Key, Sums)| Row {
            process: process.and_then(|process| accepted.get(&process)).map(|row| (*row).clone()),
            cpu,
            core_type,
            sums,
            states: OfCpu::default(),
        };
        let mut rows: Vec<Row> = by.into_iter().map(row).collect();
        match self.order() {
            Sort::Cpu => {}
            Sort::Run => rows.sort_by_key(|row| row.sums.run),
            Sort::Mhz => rows.sort_by(|a, b| {
                let mean = |row: &Row| row.sums.mean_mhz().unwrap_or(f64::NEG_INFINITY);
                mean(a).total_cmp(&mean(b))
            }),
        }
        self.top.apply(&mut rows);
        rows
    }
}

/// From the start of the first range to the end of the last one.
fn all_of(ranges: &[TimeRange]) -> TimeRange {
    TimeRange { start: ranges.first().and_then(|range| range.start), end: ranges.last().and_then(|range| range.end) }
}

/// What a row is about: process, CPU and kind of core.
type Key = (Option<ProcessId>, Option<i16>, Option<String>);

/// The word for a CPU's kind of core.
fn core_type(row: &CpuRow) -> Option<String> {
    row.core_type.clone().or_else(|| row.efficiency_class.map(|class| format!("class {class}")))
}
