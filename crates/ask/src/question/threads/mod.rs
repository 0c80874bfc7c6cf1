//! `dump threads`: where the time of each thread went, what it waited for, and who woke it.

pub mod columns;
mod start_method;
mod wakers;

use std::cmp::Ordering;

use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;
use tracesift_analysis::{AccountedSwitch, Accounting, RecordingFacts, Span, ThreadAccount, Times};
use tracesift_archive::Error;
use tracesift_trace::rows::{CpuSampleRow, ProcessRow, ThreadRow};
use tracesift_trace::{ThreadId, view};

pub use self::columns::{COLUMNS, Row, reason_columns, waker_columns};

use self::start_method::StartMethods;
use self::wakers::Detail;
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::{Ask, Reads, When};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::inside_options::InsideOptions;
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::recording::{self, OpenRecording};
use crate::shown::Shown;
use crate::thread_filter::ThreadFilter;
use crate::usage_error::UsageError;
use crate::usual_options::UsualOptions;
use tracesift_grammar::{TimeRange, milliseconds};

view! {
    /// The columns of a sample that the sums of threads need.
    #[derive(Clone, Copy, Debug)]
    struct SampleOfThread of CpuSampleRow { time, process, thread, weight }
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sampled CPU; precise run time where there are no samples.
    #[default]
    Cpu,
    /// Precise run time.
    Run,
    /// Wait.
    Wait,
    /// Ready.
    Ready,
    /// Switch-ins.
    Switches,
    /// Start of the thread.
    Start,
    /// Process and thread.
    Name,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// Which threads.
    pub threads: ThreadFilter,
    /// Order of the rows.
    pub sort: Sort,
    /// How many rows per file.
    pub top: Top,
    /// Sampled CPU, ns.
    pub cpu: Between,
    /// Wait, ns.
    pub wait: Between,
    /// Ready, ns.
    pub ready: Between,
    /// Which columns somebody looks at.
    pub shown: Shown,
}

/// The options.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub struct Options {
    #[command(flatten)]
    usual: UsualOptions,
    #[command(flatten)]
    threads: ThreadFilter,
    #[command(flatten)]
    inside: InsideOptions,
    /// Order of the rows; the largest stands last
    #[arg(long, value_name = "KEY", default_value = "cpu")]
    sort: Sort,
    /// Smallest sampled CPU (ms without unit)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    min_cpu: Option<i64>,
    /// Largest sampled CPU
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    max_cpu: Option<i64>,
    /// Shortest wait (ms without unit)
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
}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form {
        objects: &[
            ("The objects of `wait_reasons`:\n\n", reason_columns),
            ("The objects of `wakers`:\n\n", waker_columns),
        ],
        ..Form::usual("threads", || COLUMNS.descriptions())
    }];
    const SHORT: &'static [&'static str] =
        &["process", "time", "top", "sort", "min_cpu", "min_wait", "min_ready", "csv", "details"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift dump threads X.sift -p App", "where each thread's time went"),
        ("tracesift dump threads X.sift --sort ready --top 10", "who lacked a CPU most"),
        ("tracesift dump threads X.sift --time 3s..5s --sort wait", "of these two seconds"),
    ];

    fn when(&self) -> When {
        self.usual.when()
    }

    fn plan(&self, _: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question {
            filter: self.usual.filter.clone(),
            time: TimeRange::default(),
            inside: self.inside.inside()?,
            threads: self.threads.clone(),
            sort: self.sort,
            top: self.usual.top,
            cpu: Between { min: self.min_cpu, max: self.max_cpu },
            wait: Between { min: self.min_wait, max: self.max_wait },
            ready: Between { min: self.min_ready, max: self.max_ready },
            shown: Shown::default(),
        }))
    }
}

/// Sums of a thread's samples.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    cpu: i64,
    samples: i64,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cpu_samples", "context_switches"]
    }

    fn reads(&self) -> Reads {
        // Stacks tell of wakers: whether a wait ended with a disk or a timer.
        let of_others =
            !self.inside.is_empty() || matches!(wakers::Wanted::of(&self.shown), Some(wakers::Wanted::Wakers));
        if of_others { Reads::Everything } else { Reads::TablesWithoutStacks(self.tables()) }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            Sort::Cpu => "cpu_ns",
            Sort::Run => "run_ns",
            Sort::Wait => "wait_ns",
            Sort::Ready => "ready_ns",
            Sort::Switches => "switches",
            Sort::Start => "thread_start_ns",
            Sort::Name => return None,
        })
    }

    fn limits(&self) -> Vec<&'static str> {
        let (cpu, wait) = (self.cpu.given(["--min-cpu", "--max-cpu"]), self.wait.given(["--min-wait", "--max-wait"]));
        let ready = self.ready.given(["--min-ready", "--max-ready"]);
        cpu.chain(wait).chain(ready).chain(self.threads.option()).chain(Inside::options(&self.inside)).collect()
    }

    fn columns(&self) -> Vec<Column> {
        COLUMNS.descriptions()
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let archive = recording.archive();
        let times = Inside::times(&self.inside, recording)?;
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let accepted: FxHashMap<_, _> =
            Processes::new(&processes).selected(&self.filter).map(|row| (row.process, row)).collect();
        let sampled = self.sampled(recording, times.as_ref(), &threads)?;
        let accounts = self.accounts(recording, times.as_ref(), &threads)?;

        let mut rows: Vec<Row> = threads
            .iter()
            .filter(|thread| self.threads.accepts(thread))
            .filter_map(|thread| {
                let process = *accepted.get(&thread.process)?;
                let sums = sampled.get(&thread.thread).copied().unwrap_or_default();
                Some(Row {
                    process: process.clone(),
                    thread: thread.clone(),
                    cpu: recording.file.has_samples.then_some(sums.cpu),
                    samples: recording.file.has_samples.then_some(sums.samples),
                    account: accounts.get(&thread.thread).cloned(),
                    start_method: None,
                    detail: Detail::default(),
                })
            })
            .filter(|row| row.was_seen() && self.passes(row))
            .collect();
        rows.sort_by(|a, b| self.compare(a, b));
        self.top.apply(&mut rows);
        if let Some(wanted) = wakers::Wanted::of(&self.shown) {
            wakers::fill(recording, (self.time, times.as_ref(), wanted), &mut rows, &threads, &processes)?;
        }
        let start_methods = StartMethods::of(archive, &rows)?;
        for row in &mut rows {
            row.start_method = start_methods.name(row);
        }
        let mut facts = vec![Fact::new("threads", Kind::Count, rows.len())];
        facts.extend(Inside::fact(times.as_ref(), recording, self.time));
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}

impl Question {
    fn sampled(
        &self,
        recording: &OpenRecording,
        times: Option<&Times>,
        threads: &[ThreadRow],
    ) -> Result<FxHashMap<ThreadId, Sampled>, Error> {
        let of_thread: FxHashMap<_, _> = threads.iter().map(|row| (row.thread, row.process)).collect();
        let (start, end) = self.time.bounds();
        let time = (!self.time.is_everything()).then_some(start..end);
        let mut sampled: FxHashMap<ThreadId, Sampled> = FxHashMap::default();
        recording.archive().scan(time, |row: &SampleOfThread| {
            // What interrupts took from an idle thread is not its own.
            let counts = times.is_none_or(|times| times.contain(Some(row.process), row.time));
            if counts && of_thread.get(&row.thread) == Some(&row.process) {
                let sums = sampled.entry(row.thread).or_default();
                sums.cpu = sums.cpu.saturating_add(row.weight);
                sums.samples += 1;
            }
        })?;
        Ok(sampled)
    }

    fn accounts(
        &self,
        recording: &OpenRecording,
        times: Option<&Times>,
        threads: &[ThreadRow],
    ) -> Result<FxHashMap<ThreadId, ThreadAccount>, Error> {
        if !recording.info().has_switches {
            return Ok(FxHashMap::default());
        }
        let (start, end) = self.time.bounds();
        let accounting = Accounting::new(&RecordingFacts::from(recording.info()), Span::new(start, end), threads);
        let mut accounting = recording::inside(accounting, times, threads);
        // Where a thread runs all through the range, rows around it say so.
        let time = (!self.time.is_everything()).then_some(start..end);
        recording.archive().scan_around(time, |row: &AccountedSwitch| accounting.switch(row, &mut |_| {}))?;
        Ok(accounting.finish(&mut |_| {}).threads.into_iter().map(|account| (account.thread, account)).collect())
    }

    fn passes(&self, row: &Row) -> bool {
        let account = row.account.as_ref();
        self.cpu.contains(row.cpu)
            && self.wait.contains(account.map(|account| account.wait))
            && self.ready.contains(account.and_then(|account| account.ready))
    }

    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let run = |row: &Row| row.account.as_ref().map_or(0, |account| account.run);
        let figure = |row: &Row| {
            let account = row.account.as_ref();
            match self.sort {
                Sort::Cpu => row.cpu.unwrap_or_else(|| run(row)),
                Sort::Run => run(row),
                Sort::Wait => account.map_or(0, |account| account.wait),
                Sort::Ready => account.and_then(|account| account.ready).unwrap_or(0),
                Sort::Switches => account.map_or(0, |account| account.switches),
                Sort::Start => row.thread.start.unwrap_or(i64::MIN),
                Sort::Name => 0,
            }
        };
        let by_name = || {
            let key = |row: &Row| (row.process.name.to_lowercase(), row.process.pid, row.thread.tid, row.thread.start);
            key(a).cmp(&key(b))
        };
        let busy = |row: &Row| (row.cpu, run(row));
        figure(a).cmp(&figure(b)).then_with(|| match self.sort {
            Sort::Name => by_name(),
            _ => busy(a).cmp(&busy(b)).then_with(by_name),
        })
    }
}
