//! `dump waits --by …`: all waits added up, by where they were, for whom, or whose they are.
//!
//! One pass over the switches, newest first, so that a union takes two numbers. What is kept grows with the rows of the answer. For whom a
//! wait was tells its chain: these are found for many waits at once, a part of them at a time.

pub mod columns;
mod ends;
mod spread;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use clap::ValueEnum;
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::{DescendingUnion, Interrupt, PartsByEnd, Span, TimesOfThreads, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_trace::rows::{ProcessRow, ThreadRow, switch_flags};
use tracesift_trace::{ProcessId, ThreadId};

pub use self::columns::{COLUMNS, Row};

use self::columns::{OF_METHODS, OF_PROCESSES, OF_THREADS, OF_WAKERS};
use self::ends::Ends;
use self::spread::Spread;
use super::longest::{Filter, Wait, WaitRow};
use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::{Ask, Reads};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::order::Top;
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::stack_labels::Labels;
use crate::stack_names::StackNames;
use crate::threads::Threads;
use tracesift_grammar::TimeRange;

/// Waits whose chains are found at once: some tens of megabytes.
const AT_ONCE: usize = 1 << 16;

/// Waits that have not got their turn yet; a sound archive has at most one per thread of them.
const MOST_PENDING: usize = 1 << 20;

/// What has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Where the threads waited.
    #[default]
    Method,
    /// For whom they waited: the end of the chain, and what that did.
    Waker,
    /// The thread that waited.
    Thread,
    /// The process that waited.
    Process,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sum of the waits.
    #[default]
    Sum,
    /// Time in which any of the threads waited.
    Union,
    /// Number of waits.
    Waits,
    /// The longest wait.
    Longest,
    /// Name.
    Name,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which waits; how many are shown is the number of rows here.
    pub waits: super::Question,
    /// What has a row.
    pub by: By,
    /// Order of the rows.
    pub sort: Sort,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    /// The number of a label, if there is a stack.
    Method(Option<u32>),
    Thread(ThreadId),
    Process(ProcessId),
    For(End),
}

/// For whom a wait was in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum End {
    /// Nobody until the end of the recording or of the thread.
    Nobody,
    /// It was not recorded.
    Unknown,
    /// A device or the clock.
    Interrupt(Interrupt),
    /// A thread, what it did most of the time, the number of the label that says where, and the device or clock that ended its
    /// own wait.
    Thread(ThreadId, Did, Option<u32>, Option<Interrupt>),
}

/// What a thread did for the largest part of a wait that it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Did {
    Run,
    Wait,
    Ready,
    Unknown,
}

impl Did {
    fn word(self) -> &'static str {
        match self {
            Self::Run => "ran",
            Self::Wait => "waited",
            Self::Ready => "ready",
            Self::Unknown => "unknown",
        }
    }
}

/// The waits of one row.
#[derive(Clone, Debug, Default)]
struct WaitSums {
    waits: i64,
    open: i64,
    sum: i64,
    /// What the thread at the end of the chain ended itself.
    direct: i64,
    union: DescendingUnion,
    longest: i64,
    longest_start: i64,
    spread: Spread,
    threads: FxHashSet<ThreadId>,
}

impl WaitSums {
    fn add(&mut self, wait: &Wait, is_direct: bool) {
        let length = wait.span.length();
        // They come newest first: of equals the first one in time counts.
        if length >= self.longest {
            (self.longest, self.longest_start) = (length, wait.span.start);
        }
        self.waits += 1;
        self.open += i64::from(is_open(&wait.row));
        self.sum = self.sum.saturating_add(length);
        self.direct = self.direct.saturating_add(if is_direct { length } else { 0 });
        self.union.add(wait.span);
        self.spread.add(length);
        self.threads.insert(wait.row.thread);
    }
}

/// Whether nobody ended it. Who was readied and never ran again waited no longer.
fn is_open(row: &WaitRow) -> bool {
    row.flags & switch_flags::OPEN_RIGHT != 0 && row.ready_time.is_none()
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "waits"
    }

    fn tables(&self) -> &'static [&'static str] {
        // What a waker ran is in samples.
        if self.by == By::Waker { &["cpu_samples", "context_switches"] } else { &["context_switches"] }
    }

    fn reads(&self) -> Reads {
        match self.waits.reads() {
            Reads::Tables(_) => Reads::Tables(self.tables()),
            others => others,
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        self.waits.processes()
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        self.waits.candidates(recording)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.waits.limits()
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        let (of_methods, of_wakers) = (self.by == By::Method, self.by == By::Waker);
        let (of_threads, of_processes) = (self.by == By::Thread, self.by == By::Process);
        for (keys, is_shown) in [
            (&OF_METHODS[..], of_methods),
            (&OF_WAKERS[..], of_wakers),
            (&OF_THREADS[..], of_threads),
            (&OF_PROCESSES[..], of_threads || of_processes),
            // A thread is one.
            (&["threads"][..], !of_threads),
            // Both are on the line of a thread.
            (&["process_label"][..], of_processes),
        ] {
            for column in columns.iter_mut().filter(|column| keys.contains(&column.key) && !is_shown) {
                column.view = View::Nowhere;
            }
        }
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { waits: super::Question { time, ..self.waits.clone() }, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if !recording.info().has_switches {
            return Ok(recording.file.absent("context switches", recording.file.absence_of("context_switches")));
        }
        if let Some(absent) = Inside::absent(&self.waits.inside, recording)? {
            return Ok(absent);
        }
        let processes: Vec<ProcessRow> = recording.archive().rows()?;
        let threads: Vec<ThreadRow> = recording.archive().rows()?;
        let times = self.waits.times(recording, &threads)?;
        let accepted = Processes::new(&processes).selected(&self.waits.filter).map(|row| row.process).collect();
        let known = Threads::new(&threads, &processes);
        let mut names = StackNames::new(recording.named_stacks(Granularity::default())?);
        let mut adder = Adder {
            by: self.by,
            ends: Ends::new(recording, &known),
            labels: Labels::default(),
            sums: FxHashMap::default(),
        };
        self.read((recording, times), &accepted, &known, &mut names, &mut adder)?;

        let Adder { labels, sums, .. } = adder;
        let mut rows: Vec<Row> =
            sums.into_iter().map(|(key, sums)| Row::new(key, sums, &known, &processes, &labels)).collect();
        rows.sort_by(|a, b| self.compare(a, b));
        let (waits, sum) =
            rows.iter().fold((0, 0_i64), |(waits, sum), row| (waits + row.waits, sum.saturating_add(row.sum)));
        let Top { take, skip } = self.waits.top;
        Top { take, skip }.apply(&mut rows);
        let facts = vec![Fact::new("waits", Kind::Count, waits), Fact::new("wait sum", Kind::Milliseconds, sum)];
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }
}

/// A wait in the order of its end.
struct ByEnd(Wait);

impl ByEnd {
    fn rank(&self) -> (i64, i64, ThreadId) {
        (self.0.span.end, self.0.span.start, self.0.row.thread)
    }
}

impl Ord for ByEnd {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for ByEnd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByEnd {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for ByEnd {}

impl Question {
    /// Shows the waits to `adder`, by descending end.
    fn read(
        &self,
        (recording, times): (&OpenRecording, Option<TimesOfThreads>),
        processes: &FxHashSet<ProcessId>,
        threads: &Threads<'_>,
        names: &mut StackNames,
        adder: &mut Adder<'_>,
    ) -> Result<(), Error> {
        let has_ready = recording.info().has_ready;
        let range = self.waits.range();
        let mut filter = Filter::new(&self.waits, processes, threads);
        let mut pending: BinaryHeap<ByEnd> = BinaryHeap::new();
        let mut due: Vec<Wait> = Vec::new();
        // A scan cannot break off; what fails inside is told behind it.
        let mut failed = None;
        let time = range.if_bounded();
        let mut see = |row: &WaitRow, range: Span, end: i64| {
            // What is still to come ends before this part does.
            while pending.peek().is_some_and(|wait| wait.0.span.end >= end) || pending.len() > MOST_PENDING {
                due.extend(pending.pop().map(|wait| wait.0));
            }
            if due.len() >= AT_ONCE && failed.is_none() {
                failed = adder.add(&due, names).err();
            }
            if due.len() >= AT_ONCE {
                due.clear();
            }
            if let Some(span) = pieces(row, has_ready).clip(range).wait
                && filter.accepts(row, span, names)
            {
                pending.push(ByEnd(Wait { span, row: *row }));
            }
        };
        let mut parts = times.map(PartsByEnd::new);
        recording.archive().scan_backwards(time, |row: &WaitRow| match &mut parts {
            None => see(row, range, row.time),
            Some(parts) => parts.row(row.thread, (row.off_time.min(row.time), row.time), *row, &mut see),
        })?;
        if let Some(parts) = &mut parts {
            parts.finish(&mut see);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        while let Some(wait) = pending.pop() {
            due.push(wait.0);
            if due.len() >= AT_ONCE {
                adder.add(&due, names)?;
                due.clear();
            }
        }
        adder.add(&due, names)
    }

    fn compare(&self, a: &Row, b: &Row) -> Ordering {
        let figure = |row: &Row| match self.sort {
            Sort::Sum => row.sum,
            Sort::Union => row.union,
            Sort::Waits => row.waits,
            Sort::Longest => row.longest,
            Sort::Name => 0,
        };
        figure(a).cmp(&figure(b)).then_with(|| match self.sort {
            Sort::Name => a.name().cmp(&b.name()),
            _ => a.sum.cmp(&b.sum).then_with(|| a.name().cmp(&b.name())),
        })
    }
}

/// Adds waits to their rows.
struct Adder<'a> {
    by: By,
    ends: Ends<'a>,
    labels: Labels,
    sums: FxHashMap<Key, WaitSums>,
}

impl Adder<'_> {
    fn add(&mut self, waits: &[Wait], names: &mut StackNames) -> Result<(), Error> {
        if self.by == By::Waker {
            for (wait, (end, is_direct)) in waits.iter().zip(self.ends.of(waits, &mut self.labels, names)?) {
                self.sums.entry(Key::For(end)).or_default().add(wait, is_direct);
            }
            return Ok(());
        }
        for wait in waits {
            let key = match self.by {
                By::Thread => Key::Thread(wait.row.thread),
                By::Process => match self.ends.process(wait.row.thread) {
                    Some(process) => Key::Process(process),
                    None => continue,
                },
                By::Method | By::Waker => Key::Method(self.labels.of(wait.row.wait_stack, names)),
            };
            self.sums.entry(key).or_default().add(wait, false);
        }
        Ok(())
    }
}
