//! `dump frequency`: how fast CPUs and processes were clocked while they ran.

pub(super) mod rates;
mod states;

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
use crate::ask::{Ask, When, WhenOptions};
use crate::columns::Columns;
use crate::etwanalyzer::Legacy;
use crate::filter::ProcessFilter;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::process_columns::{self as of_process, OfProcess};
use crate::processes::{Processes, is_idle};
use crate::recording::OpenRecording;
use crate::usage_error::UsageError;
use rates::{Rates, Sums};
use states::States;

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

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    filter: ProcessFilter,
    #[command(flatten)]
    when: WhenOptions,
    #[command(flatten)]
    top: Top,
    /// What a row is about
    #[arg(long, value_name = "WHAT", default_value = "cpu")]
    by: By,
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form::usual("frequency", || COLUMNS.descriptions())];
    const SHORT: &'static [&'static str] = &["process", "time", "top", "by", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump frequency X.sift", "the clock rate of each CPU while it worked"),
        ("tracesift dump frequency X.sift --by process --top 5", "the clock rates at which processes ran"),
        ("tracesift dump frequency X.sift --by core-type -p build", "on each kind of core, for one process"),
    ];
    const VARIANTS: &'static [&'static [&'static str]] = &[&["--by=core-type"], &["--by=process"]];
    const LEGACY: Option<Legacy> = None;

    fn when(&self) -> When {
        self.when.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        let time = TimeRange::default();
        Ok(Plan::from(Question { filter: self.filter.clone(), time, top: self.top, by: self.by }))
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
}

/// A row of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    process: Option<ProcessRow>,
    cpu: Option<i16>,
    core_type: Option<String>,
    sums: Sums,
    /// Time in which the CPU was parked, and capped, ns.
    states: Option<[i64; 2]>,
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
        |row| row.states.map(|[parked, _]| parked).into(),
        "Time in which the CPU was parked, softly or not, in rows per CPU.",
    ),
    ColumnOf::always(
        "capped_ns",
        "Capped",
        Kind::Milliseconds,
        |row| row.states.map(|[_, capped]| capped).into(),
        "Time in which heat or the firmware held the CPU below its full performance, in rows per CPU.",
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
        Some(if self.by == By::Cpu { "cpu" } else { "run_ns" })
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
        let archive = recording.archive();
        if archive.row_count::<CpuFrequencyRow>() == 0 {
            let absence = recording.file.absence_with_cure_anywhere(TABLE, "Power");
            return Ok(recording.file.absent("clock rates", absence));
        }
        let cpus: Vec<CpuRow> = archive.rows()?;
        let rates = Rates::read(archive, &cpus)?;
        let processes: Vec<ProcessRow> = archive.rows()?;
        let accepted: FxHashMap<ProcessId, &ProcessRow> = Processes::new(&processes)
            .selected(&self.filter)
            .filter(|row| !is_idle(*row))
            .map(|row| (row.process, row))
            .collect();
        let sums = self.sums(recording, &rates, &accepted)?;
        let mut rows = self.rows(sums, &cpus, &accepted);
        let file = &recording.file;
        let (start, end) = self.time.bounds();
        let states = States::read(archive, Span::new(start.max(file.start), end.min(file.end)))?;
        rows.iter_mut().for_each(|row| row.states = row.cpu.and_then(|cpu| states.of(cpu)));
        let mut section = COLUMNS.section(file, &rows, Vec::new());
        if !recording.info().has_switches {
            section.notes.push("without context switches, sampled CPU time stands for run time".to_owned());
        }
        Ok(section)
    }
}

impl Question {
    /// Run time by process and CPU.
    fn sums(
        &self,
        recording: &OpenRecording,
        rates: &Rates,
        accepted: &FxHashMap<ProcessId, &ProcessRow>,
    ) -> Result<FxHashMap<(ProcessId, i16), Sums>, Error> {
        let mut sums: FxHashMap<(ProcessId, i16), Sums> = FxHashMap::default();
        // With rows per CPU or kind of core the process makes no difference.
        let owner = |process: ProcessId| if self.by == By::Process { process } else { ProcessId::from_index(0) };
        running::each(recording, self.time, &mut |process, cpu, work| {
            let Some(cpu) = cpu.filter(|_| accepted.contains_key(&process)) else { return };
            let sums = sums.entry((owner(process), cpu)).or_default();
            match work {
                Work::Run(span) => sums.run(rates, cpu, span),
                Work::Sample { time, weight } => sums.sample(rates, cpu, time, weight),
            }
        })?;
        Ok(sums)
    }

    fn rows(
        &self,
        sums: FxHashMap<(ProcessId, i16), Sums>,
        cpus: &[CpuRow],
        accepted: &FxHashMap<ProcessId, &ProcessRow>,
    ) -> Vec<Row> {
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
            states: None,
        };
        let mut rows: Vec<Row> = by.into_iter().map(row).collect();
        if self.by != By::Cpu {
            rows.sort_by_key(|row| row.sums.run);
        }
        self.top.apply(&mut rows);
        rows
    }
}

/// What a row is about: process, CPU and kind of core.
type Key = (Option<ProcessId>, Option<i16>, Option<String>);

/// The word for a CPU's kind of core.
fn core_type(row: &CpuRow) -> Option<String> {
    row.core_type.clone().or_else(|| row.efficiency_class.map(|class| format!("class {class}")))
}
