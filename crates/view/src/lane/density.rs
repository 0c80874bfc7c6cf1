//! Lanes of rows that `dump timeline` does not have: operations on files, network, page faults, system calls, .NET, memory.

use tracesift_analysis::Span;
use tracesift_analysis::timeline::{Grid, Series};
use tracesift_archive::Error;
use tracesift_ask::recording::OpenRecording;
use tracesift_trace::rows::{
    FileIoRow, GcCollectionRow, JitMethodRow, MemoryStateRow, NetworkIoRow, PageFaultRow, SyscallRow,
};
use tracesift_trace::{ProcessId, view};

use super::columns::Figures;
use super::machine::time_option;
use super::people::People;

view! {
    /// An operation on a file.
    #[derive(Clone, Copy, Debug)]
    struct FileOperation of FileIoRow { time }
}

view! {
    /// Data on the network.
    #[derive(Clone, Copy, Debug)]
    struct Data of NetworkIoRow { time, kind, size }
}

view! {
    /// Page faults.
    #[derive(Clone, Copy, Debug)]
    struct Faults of PageFaultRow { time, weight }
}

view! {
    /// A system call.
    #[derive(Clone, Copy, Debug)]
    struct Call of SyscallRow { time }
}

view! {
    /// A collection of .NET.
    #[derive(Clone, Copy, Debug)]
    struct Collection of GcCollectionRow { time, start, process }
}

view! {
    /// A compilation of .NET.
    #[derive(Clone, Copy, Debug)]
    struct Compilation of JitMethodRow { time, start, process }
}

view! {
    /// A reading of the machine's memory.
    #[derive(Clone, Debug)]
    struct Memory of MemoryStateRow { time, free, active, commit, available, cached }
}

/// What such a lane is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Files,
    Network,
    Faults,
    Syscalls,
    Memory,
    Gc(ProcessId),
    Jit(ProcessId),
}

/// Kinds of network operations whose bytes count: sent and received.
const SENT: i8 = 1;
const RECEIVED: i8 = 2;

impl What {
    /// Those of the machine.
    pub(crate) const MACHINE: [Self; 5] = [Self::Files, Self::Network, Self::Memory, Self::Faults, Self::Syscalls];

    /// The kind of the lane, and its number.
    pub(crate) fn id(self) -> (&'static str, i32) {
        match self {
            Self::Files => ("file", 0),
            Self::Network => ("network", 0),
            Self::Faults => ("fault", 0),
            Self::Syscalls => ("syscall", 0),
            Self::Memory => ("memory", 0),
            Self::Gc(process) => ("gc", process.0),
            Self::Jit(process) => ("jit", process.0),
        }
    }

    pub(crate) fn parse(kind: &str, number: i32) -> Option<Self> {
        let of_process = [Self::Gc(ProcessId(number)), Self::Jit(ProcessId(number))];
        Self::MACHINE.into_iter().chain(of_process).find(|what| what.id() == (kind, number))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Files => "Operations on files",
            Self::Network => "Network",
            Self::Faults => "Page faults",
            Self::Syscalls => "System calls",
            Self::Memory => "Memory",
            Self::Gc(_) => "Garbage collections",
            Self::Jit(_) => "JIT compilations",
        }
    }

    /// Whether a recording has rows of it, of any process.
    pub(crate) fn is_in(self, recording: &OpenRecording) -> bool {
        let archive = recording.archive();
        let rows = match self {
            Self::Files => archive.row_count::<FileIoRow>(),
            Self::Network => archive.row_count::<NetworkIoRow>(),
            Self::Faults => archive.row_count::<PageFaultRow>(),
            Self::Syscalls => archive.row_count::<SyscallRow>(),
            Self::Memory => archive.row_count::<MemoryStateRow>(),
            Self::Gc(_) => archive.row_count::<GcCollectionRow>(),
            Self::Jit(_) => archive.row_count::<JitMethodRow>(),
        };
        rows > 0
    }

    /// The command about it.
    fn words(self, people: &People, range: Span) -> Vec<String> {
        let time = time_option(range.start, range.end);
        let of = |process| people.process(process).map(|row| row.pid.to_string()).unwrap_or_default();
        let words = match self {
            Self::Files => vec!["dump", "file", &time],
            Self::Network => vec!["dump", "tcp", &time],
            Self::Faults => vec!["dump", "faults", &time],
            Self::Syscalls => vec!["dump", "syscalls", &time],
            Self::Memory => vec!["dump", "memory", "--total-memory", &time],
            Self::Gc(process) => return own(&["dump", "gc", "-p", &of(process), &time]),
            Self::Jit(process) => return own(&["dump", "jit", "-p", &of(process), &time]),
        };
        own(&words)
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The figures of a lane.
pub(crate) fn figures(recording: &OpenRecording, people: &People, what: What, grid: Grid) -> Result<Figures, Error> {
    let (unit, series) = match what {
        What::Memory => ("bytes", memory(recording, grid)?),
        What::Network => ("bytes", network(recording, grid)?),
        What::Gc(process) => ("ns", vec![("gc", collections(recording, process, grid)?)]),
        What::Jit(process) => ("ns", vec![("jit", compilations(recording, process, grid)?)]),
        What::Files | What::Faults | What::Syscalls => ("count", vec![("count", counts(recording, what, grid)?)]),
    };
    let words = what.words(people, grid.range());
    Ok(Figures {
        unit,
        words: series.iter().map(|(name, _)| (*name, words.clone())).collect(),
        series,
        ..Figures::default()
    })
}

/// How often it happened; an operation counts when it ends.
fn counts(recording: &OpenRecording, what: What, grid: Grid) -> Result<Vec<i64>, Error> {
    let (archive, range) = (recording.archive(), grid.range());
    let time = Some(range.start..range.end);
    let mut series = Series::new(&grid);
    match what {
        What::Files => archive.scan(time, |row: &FileOperation| series.add_at(&grid, row.time, 1))?,
        What::Syscalls => archive.scan(time, |row: &Call| series.add_at(&grid, row.time, 1))?,
        _ => archive.scan(time, |row: &Faults| series.add_at(&grid, row.time, row.weight))?,
    }
    Ok(series.finish(&grid))
}

fn network(recording: &OpenRecording, grid: Grid) -> Result<Vec<(&'static str, Vec<i64>)>, Error> {
    let (mut sent, mut received) = (Series::new(&grid), Series::new(&grid));
    let range = grid.range();
    recording.archive().scan(Some(range.start..range.end), |row: &Data| match row.kind {
        SENT => sent.add_at(&grid, row.time, row.size),
        RECEIVED => received.add_at(&grid, row.time, row.size),
        _ => {}
    })?;
    Ok(vec![("sent", sent.finish(&grid)), ("received", received.finish(&grid))])
}

/// The lengths of collections, cut to the columns. A background collection and one in the foreground can overlap: they add up.
fn collections(recording: &OpenRecording, process: ProcessId, grid: Grid) -> Result<Vec<i64>, Error> {
    let (mut series, range) = (Series::new(&grid), grid.range());
    recording.archive().scan(Some(range.start..range.end), |row: &Collection| {
        if row.process == process {
            series.add_span(&grid, Span::new(row.start, row.time));
        }
    })?;
    Ok(series.finish(&grid))
}

/// The lengths of compilations, cut to the columns. A nested one counts for itself and for the one around it.
fn compilations(recording: &OpenRecording, process: ProcessId, grid: Grid) -> Result<Vec<i64>, Error> {
    let (mut series, range) = (Series::new(&grid), grid.range());
    recording.archive().scan(Some(range.start..range.end), |row: &Compilation| {
        if row.process == Some(process) {
            series.add_span(&grid, Span::new(row.start, row.time));
        }
    })?;
    Ok(series.finish(&grid))
}

/// The last reading in or before each column; unknown before the first one.
fn memory(recording: &OpenRecording, grid: Grid) -> Result<Vec<(&'static str, Vec<i64>)>, Error> {
    const NAMES: [&str; 5] = ["free", "active", "commit", "available", "cached"];
    let mut readings: Vec<(i64, [Option<i64>; 5])> = Vec::new();
    recording.archive().scan(None, |row: &Memory| {
        readings.push((row.time, [row.free, row.active, row.commit, row.available, row.cached]));
    })?;
    readings.sort_by_key(|(time, _)| *time);
    let mut all = Vec::new();
    for (place, name) in NAMES.into_iter().enumerate() {
        let known: Vec<(i64, i64)> =
            readings.iter().filter_map(|(time, figures)| Some((*time, (*figures.get(place)?)?))).collect();
        if known.is_empty() {
            continue;
        }
        let value = |column: usize| {
            let end = grid.bucket(column).end;
            let before = known.partition_point(|(time, _)| *time < end);
            before.checked_sub(1).and_then(|last| known.get(last)).map_or(UNKNOWN, |(_, figure)| *figure)
        };
        all.push((name, (0..grid.buckets()).map(value).collect()));
    }
    Ok(all)
}

/// No number of a frame: see [`crate::frame::number`].
const UNKNOWN: i64 = i64::MIN;

/// The processes that have rows of a kind, in the order of their ids.
pub(crate) fn processes(recording: &OpenRecording, is_gc: bool) -> Result<Vec<ProcessId>, Error> {
    let mut found = std::collections::BTreeSet::new();
    if is_gc {
        recording.archive().scan(None, |row: &Collection| {
            found.insert(row.process);
        })?;
    } else {
        recording.archive().scan(None, |row: &Compilation| {
            found.extend(row.process);
        })?;
    }
    Ok(found.into_iter().collect())
}
