//! Single spans of a lane: what a thread did, who ran on a CPU, operations of a disk, events, marks.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::timeline::{OffCpuKind, Watched};
use tracesift_analysis::{Accounting, RecordingFacts, Run, Span, SwitchWithoutPriorities};
use tracesift_archive::Error;
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::{DiskIoRow, DiskOperation, EventRow, GcCollectionRow, JitMethodRow, MarkRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::disks::DiskPart;
use super::people::People;
use super::totals::shown;

view! {
    /// A disk operation.
    #[derive(Clone, Copy, Debug)]
    struct Operation of DiskIoRow { time, start, disk, operation, size, process, thread }
}

view! {
    /// An event.
    #[derive(Clone, Debug)]
    struct Event of EventRow { time, cpu, process, thread, provider, event }
}

view! {
    /// A mark.
    #[derive(Clone, Debug)]
    struct Mark of MarkRow { time, cpu, process, thread, text }
}

view! {
    /// A collection of .NET.
    #[derive(Clone, Copy, Debug)]
    struct Collection of GcCollectionRow { time, start, process, thread, generation }
}

view! {
    /// A compilation of .NET.
    #[derive(Clone, Debug)]
    struct Compilation of JitMethodRow { time, start, process, thread, namespace, method }
}

/// The words of states, by number.
pub(crate) const STATES: [&str; 13] =
    ["run", "ready", "wait", "open", "unknown", "read", "write", "flush", "event", "mark", "gc", "jit", "region"];

const RUN: usize = 0;

/// The place of waits in [`STATES`].
pub(crate) const WAIT: usize = 2;

/// The place of regions in [`STATES`].
pub(crate) const REGION: usize = 12;

/// A span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    /// A place in [`STATES`].
    pub(crate) state: usize,
    pub(crate) cpu: Option<i16>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) process: Option<ProcessId>,
    pub(crate) bytes: Option<i64>,
    pub(crate) text: Option<String>,
}

impl Piece {
    pub(crate) fn new(span: Span, state: usize) -> Self {
        Self { span, state, cpu: None, thread: None, process: None, bytes: None, text: None }
    }

    pub(crate) fn state(&self) -> &'static str {
        STATES.get(self.state).copied().unwrap_or_default()
    }
}

/// Pieces, as many as somebody wants.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) all: Vec<Piece>,
    most: usize,
    /// Whether there are more.
    pub(crate) is_full: bool,
}

impl Pieces {
    pub(crate) fn new(most: usize) -> Self {
        Self { all: Vec::new(), most, is_full: false }
    }

    /// More than anybody wants.
    pub(crate) fn full() -> Self {
        Self { is_full: true, ..Self::default() }
    }

    pub(crate) fn add(&mut self, piece: Piece) {
        if self.all.len() < self.most { self.all.push(piece) } else { self.is_full = true }
    }

    fn sorted(mut self) -> Self {
        self.all.sort_by_key(|piece| (piece.span.start, piece.span.end, piece.state, piece.thread));
        self
    }
}

/// What some threads do.
struct OfThreads(FxHashMap<ThreadId, Pieces>);

impl Watched for OfThreads {
    fn run(&mut self, run: Run) {
        if let Some(pieces) = self.0.get_mut(&run.thread) {
            pieces.add(Piece { cpu: run.cpu, thread: Some(run.thread), ..Piece::new(run.span, RUN) });
        }
    }

    fn off(&mut self, thread: ThreadId, kind: OffCpuKind, span: Span) {
        let state = match kind {
            OffCpuKind::Ready => 1,
            OffCpuKind::Wait => WAIT,
            OffCpuKind::Open => 3,
            OffCpuKind::Unknown => 4,
        };
        if let Some(pieces) = self.0.get_mut(&thread) {
            pieces.add(Piece { thread: Some(thread), ..Piece::new(span, state) });
        }
    }
}

/// Who runs on a CPU.
struct OfCpu {
    cpu: i16,
    threads: FxHashSet<ThreadId>,
    pieces: Pieces,
}

impl Watched for OfCpu {
    fn run(&mut self, run: Run) {
        if run.cpu == Some(self.cpu) && self.threads.contains(&run.thread) {
            self.pieces.add(Piece { cpu: run.cpu, thread: Some(run.thread), ..Piece::new(run.span, RUN) });
        }
    }

    fn off(&mut self, _: ThreadId, _: OffCpuKind, _: Span) {}
}

/// Shows what threads do in a range, as the accounts of threads have it.
fn watch(recording: &OpenRecording, people: &People, range: Span, watched: &mut impl Watched) -> Result<(), Error> {
    let facts = RecordingFacts::from(recording.info());
    let mut accounting = Accounting::new(&facts, range, &people.threads);
    recording.archive().scan_around(Some(range.start..range.end), |row: &SwitchWithoutPriorities| {
        accounting.switch_watched(*row, watched);
    })?;
    accounting.finish_watched(watched);
    Ok(())
}

/// Pieces in order, with their processes.
fn owned(pieces: Pieces, people: &People) -> Pieces {
    let mut pieces = pieces.sorted();
    for piece in &mut pieces.all {
        piece.process = piece.thread.and_then(|thread| people.thread(thread)).map(|row| row.process);
    }
    pieces
}

/// What threads do in a range, from one reading; of each as many pieces as somebody wants.
pub(crate) fn of_threads(
    recording: &OpenRecording,
    people: &People,
    threads: &FxHashSet<ThreadId>,
    range: Span,
    most: usize,
) -> Result<FxHashMap<ThreadId, Pieces>, Error> {
    let mut watched = OfThreads(threads.iter().map(|thread| (*thread, Pieces::new(most))).collect());
    watch(recording, people, range, &mut watched)?;
    Ok(watched.0.into_iter().map(|(thread, pieces)| (thread, owned(pieces, people))).collect())
}

/// Who runs on a CPU in a range; the idle loop is nobody.
pub(crate) fn of_cpu(
    recording: &OpenRecording,
    people: &People,
    cpu: i16,
    range: Span,
    most: usize,
) -> Result<Pieces, Error> {
    let processes = shown(people);
    let threads = people.threads.iter().filter(|row| processes.contains(&row.process));
    let mut watched = OfCpu { cpu, threads: threads.map(|row| row.thread).collect(), pieces: Pieces::new(most) };
    watch(recording, people, range, &mut watched)?;
    Ok(owned(watched.pieces, people))
}

/// The operations of a disk, or of a part of what it does, that touch a range.
pub(crate) fn of_disk(
    recording: &OpenRecording,
    (disk, part): (i32, Option<DiskPart>),
    range: Span,
    most: usize,
) -> Result<Pieces, Error> {
    let mut pieces = Pieces::new(most);
    recording.archive().scan(Some(range.start..range.end), |row: &Operation| {
        let span = Span::new(row.start, row.time);
        let is_of = row.disk == disk && part.is_none_or(|part| part.has(row.operation));
        if is_of && row.start < range.end && row.time >= range.start {
            let state = match row.operation {
                DiskOperation::Read => 5,
                DiskOperation::Write => 6,
                DiskOperation::Flush => 7,
            };
            let bytes = Some(row.size);
            pieces.add(Piece { thread: row.thread, process: row.process, bytes, ..Piece::new(span, state) });
        }
    })?;
    Ok(pieces.sorted())
}

/// The events of a kind in a range.
pub(crate) fn of_event(
    recording: &OpenRecording,
    (provider, event): (&str, &str),
    range: Span,
    most: usize,
) -> Result<Pieces, Error> {
    let mut pieces = Pieces::new(most);
    recording.archive().scan(Some(range.start..range.end), |row: &Event| {
        if range.contains(row.time) && row.provider == provider && row.event == event {
            let cpu = Some(row.cpu).filter(|cpu| *cpu >= 0);
            let span = Span::new(row.time, row.time);
            pieces.add(Piece { cpu, thread: row.thread, process: row.process, ..Piece::new(span, 8) });
        }
    })?;
    Ok(pieces.sorted())
}

/// The marks in a range.
pub(crate) fn of_marks(recording: &OpenRecording, range: Span, most: usize) -> Result<Pieces, Error> {
    let mut pieces = Pieces::new(most);
    recording.archive().scan(Some(range.start..range.end), |row: &Mark| {
        if range.contains(row.time) {
            let cpu = Some(row.cpu).filter(|cpu| *cpu >= 0);
            let (span, text) = (Span::new(row.time, row.time), Some(row.text.clone()));
            pieces.add(Piece { cpu, thread: row.thread, process: row.process, text, ..Piece::new(span, 9) });
        }
    })?;
    Ok(pieces.sorted())
}

/// The garbage collections of a process that touch a range.
pub(crate) fn of_collections(
    recording: &OpenRecording,
    process: ProcessId,
    range: Span,
    most: usize,
) -> Result<Pieces, Error> {
    let mut pieces = Pieces::new(most);
    recording.archive().scan(Some(range.start..range.end), |row: &Collection| {
        if row.process == process && row.start < range.end && row.time >= range.start {
            let text = Some(format!("generation {}", row.generation));
            let piece = Piece::new(Span::new(row.start, row.time), 10);
            pieces.add(Piece { thread: row.thread, process: Some(process), text, ..piece });
        }
    })?;
    Ok(pieces.sorted())
}

/// The compilations of a process that touch a range.
pub(crate) fn of_compilations(
    recording: &OpenRecording,
    process: ProcessId,
    range: Span,
    most: usize,
) -> Result<Pieces, Error> {
    let mut pieces = Pieces::new(most);
    recording.archive().scan(Some(range.start..range.end), |row: &Compilation| {
        if row.process == Some(process) && row.start < range.end && row.time >= range.start {
            let name = [row.namespace.as_str(), row.method.as_str()].into_iter().filter(|part| !part.is_empty());
            let text = Some(name.collect::<Vec<_>>().join("."));
            let piece = Piece::new(Span::new(row.start, row.time), 11);
            pieces.add(Piece { thread: row.thread, process: Some(process), text, ..piece });
        }
    })?;
    Ok(pieces.sorted())
}

/// The whole span of a thread or a CPU that has an instant, whatever its length.
pub(crate) fn around(
    recorded: Span,
    ns: i64,
    mut pieces: impl FnMut(Span) -> Result<Pieces, Error>,
) -> Result<Option<Piece>, Error> {
    /// So much is looked at first, ns.
    const FIRST: i64 = 50_000_000;
    let mut reach = FIRST;
    loop {
        let range = Span::new(ns.saturating_sub(reach), ns.saturating_add(reach)).intersect(recorded);
        let found = pieces(range)?.all.into_iter().find(|piece| piece.span.contains(ns));
        let Some(piece) = found else { return Ok(None) };
        let is_cut = |at: i64, edge: i64, end: i64| at == edge && edge != end;
        if !is_cut(piece.span.start, range.start, recorded.start) && !is_cut(piece.span.end, range.end, recorded.end) {
            return Ok(Some(piece));
        }
        reach = reach.saturating_mul(16);
    }
}
