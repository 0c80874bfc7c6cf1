//! Lanes of a list with what they have in all, and their orders.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use tracesift_analysis::timeline::Grid;
use tracesift_ask::processes::all_but_idle;
use tracesift_ask::question::timeline::{Chosen, Measure, Series, Way, series};
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::ThreadRow;
use tracesift_trace::{ProcessId, ThreadId};

use super::Lane;
use super::people::People;
use crate::failure::Failure;

/// What a lane has in all; `None`: lanes of its kind have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) cpu: Option<i64>,
    pub(crate) run: Option<i64>,
    pub(crate) wait: Option<i64>,
    pub(crate) ready: Option<i64>,
    pub(crate) busy: Option<i64>,
    pub(crate) bytes: Option<i64>,
    pub(crate) count: Option<i64>,
}

impl Totals {
    /// Whether there is no time in them, no byte and no operation.
    fn is_nothing(self) -> bool {
        [self.cpu, self.run, self.wait, self.ready, self.bytes, self.count]
            .into_iter()
            .flatten()
            .all(|figure| figure == 0)
    }
}

/// A lane of a list.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) lane: Lane,
    kind: &'static str,
    name: String,
    detail: Option<String>,
    has_children: bool,
    start: Option<i64>,
    end: Option<i64>,
    totals: Totals,
    measures: Vec<&'static str>,
    /// The lanes above it, where somebody asks for it alone.
    path: Option<Vec<Lane>>,
}

impl Entry {
    pub(crate) fn new(lane: Lane, kind: &'static str, name: &str) -> Self {
        Self {
            lane,
            kind,
            name: name.to_owned(),
            detail: None,
            has_children: false,
            start: None,
            end: None,
            totals: Totals::default(),
            measures: Vec::new(),
            path: None,
        }
    }

    pub(crate) fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    pub(crate) fn with(self, totals: Totals) -> Self {
        Self { totals, ..self }
    }

    pub(crate) fn with_children(self) -> Self {
        Self { has_children: true, ..self }
    }

    pub(crate) fn with_measures(self, measures: Vec<&'static str>) -> Self {
        Self { measures, ..self }
    }

    pub(crate) fn with_path(self, path: Vec<Lane>) -> Self {
        Self { path: Some(path), ..self }
    }

    /// As the page gets it.
    pub(crate) fn json(&self) -> Value {
        let totals = self.totals;
        let figures = [
            ("cpu_ns", totals.cpu),
            ("run_ns", totals.run),
            ("wait_ns", totals.wait),
            ("ready_ns", totals.ready),
            ("busy_ns", totals.busy),
            ("bytes", totals.bytes),
            ("count", totals.count),
        ];
        let totals: serde_json::Map<String, Value> =
            figures.into_iter().filter_map(|(name, figure)| Some((name.to_owned(), figure?.into()))).collect();
        let path = self.path.as_ref().map(|path| path.iter().map(Lane::to_string).collect::<Vec<_>>());
        json!({
            "id": self.lane.to_string(),
            "kind": self.kind,
            "name": self.name,
            "detail": self.detail,
            "children": self.has_children,
            "start_ns": self.start,
            "end_ns": self.end,
            "totals": totals,
            "measures": self.measures,
            "path": path,
        })
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Cpu,
    Run,
    Wait,
    Ready,
    Start,
    Name,
}

impl Order {
    pub(crate) fn parse(word: &str) -> Result<Self, Failure> {
        Ok(match word {
            "cpu" => Self::Cpu,
            "run" => Self::Run,
            "wait" => Self::Wait,
            "ready" => Self::Ready,
            "start" => Self::Start,
            "name" => Self::Name,
            _ => return Err(Failure::bad("sort: cpu, run, wait, ready, start or name")),
        })
    }

    /// The largest first, then by name.
    pub(crate) fn sort(self, entries: &mut [Entry]) {
        let figure = |totals: &Totals| match self {
            Self::Cpu => totals.cpu.or(totals.run),
            Self::Run => totals.run.or(totals.cpu),
            Self::Wait => totals.wait,
            Self::Ready => totals.ready,
            Self::Start | Self::Name => None,
        };
        entries.sort_by_cached_key(|entry| {
            let start = if self == Self::Start { entry.start.unwrap_or(i64::MIN) } else { 0 };
            (start, Reverse(figure(&entry.totals)), entry.name.to_lowercase(), entry.lane.to_string())
        });
    }
}

/// The measures of processes and threads that a recording has.
fn measures(recording: &OpenRecording) -> Vec<Measure> {
    let sampled = recording.file.has_samples.then_some(Measure::Cpu);
    let states = [Measure::Run, Measure::Wait, Measure::Ready];
    sampled.into_iter().chain(states.into_iter().filter(|_| recording.info().has_switches)).collect()
}

fn totals(found: &Series, measures: &[Measure], lane: i32) -> Totals {
    let of = |measure: Measure| {
        let place = measures.iter().position(|known| *known == measure)?;
        let values = found.lanes.get(&(lane, place)).map_or(&[][..], Vec::as_slice);
        (!found.absent.contains(&place)).then(|| values.iter().fold(0_i64, |sum, value| sum.saturating_add(*value)))
    };
    Totals {
        cpu: of(Measure::Cpu),
        run: of(Measure::Run),
        wait: of(Measure::Wait),
        ready: of(Measure::Ready),
        ..Totals::default()
    }
}

fn in_all(recording: &OpenRecording, chosen: &Chosen, all: Grid) -> Result<(Series, Vec<Measure>), Failure> {
    let measures = measures(recording);
    let found = series(recording, chosen, &measures, all, Way::Usual)?;
    Ok((found.ok_or_else(|| Failure::bad("lanes: too many"))?, measures))
}

/// The processes that a page shows: without the idle loop.
pub(crate) fn shown(people: &People) -> FxHashSet<ProcessId> {
    all_but_idle(&people.processes)
}

/// The processes.
pub(crate) fn of_processes(recording: &OpenRecording, people: &People, all: Grid) -> Result<Vec<Entry>, Failure> {
    let shown = shown(people);
    let (found, measures) = in_all(recording, &Chosen::Processes(shown.clone()), all)?;
    let words: Vec<&'static str> = measures.iter().map(|measure| measure.word()).collect();
    let rows = people.processes.iter().filter(|row| shown.contains(&row.process));
    let mut entries: Vec<Entry> = rows
        .map(|row| {
            let name = people.process_name(row.process).unwrap_or_default();
            let entry = Entry::new(Lane::Process(row.process), "process", &name)
                .with(totals(&found, &measures, row.process.0))
                .with_measures(words.clone())
                .with_children();
            Entry { detail: row.command_line.clone(), start: row.start, end: row.end, ..entry }
        })
        .collect();
    Order::Cpu.sort(&mut entries);
    Ok(entries)
}

/// What threads have in all: of those that have anything, and of the others.
pub(crate) type TotalsOfThreads = Arc<(FxHashMap<ThreadId, Totals>, Totals)>;

/// What all threads of a recording have: one reading of all samples, and of the timeline tables.
pub(crate) fn of_all_threads(
    recording: &OpenRecording,
    people: &People,
    all: Grid,
) -> Result<TotalsOfThreads, Failure> {
    of_some_threads(recording, people.threads.iter().map(|row| row.thread).collect(), all)
}

/// What the threads of a process have.
pub(crate) fn of_threads(
    recording: &OpenRecording,
    people: &People,
    process: ProcessId,
    all: Grid,
) -> Result<TotalsOfThreads, Failure> {
    let rows = people.threads.iter().filter(|row| row.process == process);
    of_some_threads(recording, rows.map(|row| row.thread).collect(), all)
}

fn of_some_threads(
    recording: &OpenRecording,
    threads: FxHashSet<ThreadId>,
    all: Grid,
) -> Result<TotalsOfThreads, Failure> {
    let (found, measures) = in_all(recording, &Chosen::Threads(threads), all)?;
    let with_any: FxHashSet<i32> = found.lanes.keys().map(|(thread, _)| *thread).collect();
    let totals_of = |thread: i32| totals(&found, &measures, thread);
    let all = with_any.into_iter().map(|thread| (ThreadId(thread), totals_of(thread))).collect();
    // There is no thread of this number.
    Ok(Arc::new((all, totals_of(i32::MIN))))
}

/// The threads of a process, with what they have.
pub(crate) fn threads(
    recording: &OpenRecording,
    people: &People,
    process: ProcessId,
    found: &TotalsOfThreads,
) -> Result<Vec<Entry>, Failure> {
    if people.process(process).is_none() {
        return Err(Failure::missing("lane: the recording has no such process"));
    }
    let (all, nothing) = &**found;
    let totals_of = |row: &ThreadRow| all.get(&row.thread).copied().unwrap_or(*nothing);
    let words: Vec<&'static str> = measures(recording).iter().map(|measure| measure.word()).collect();
    let rows = people.threads.iter().filter(|row| row.process == process);
    let mut entries: Vec<Entry> = rows
        // A thread that ends has lost its id. Where it has no time, nothing can be said of it.
        .filter(|row| row.tid >= 0 || !totals_of(row).is_nothing())
        .map(|row| {
            let name = people.thread_name(row.thread).unwrap_or_default();
            let entry =
                Entry::new(Lane::Thread(row.thread), "thread", &name).with(totals_of(row)).with_measures(words.clone());
            Entry { detail: row.service.clone(), start: row.start, end: row.end, ..entry }
        })
        .collect();
    Order::Cpu.sort(&mut entries);
    Ok(entries)
}
