//! What counters counted, by the rows of an archive: at switches, at other readings, in samples.

mod best;
mod sums;

use rustc_hash::FxHashMap;
use tracesift_analysis::{CounterSpans, CounterSwitch};
use tracesift_archive::{Archive, Error};
use tracesift_trace::counter_roles::roles;
use tracesift_trace::info::{SampleSource, TraceInfo};
use tracesift_trace::rows::{CounterSampleRow, CounterValueRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

pub use self::best::{BestCount, best_counts};
pub use self::sums::counter_sums;

/// The counters of a recording. A counter has one name, wherever it was read.
#[derive(Clone, Debug, Default)]
struct Names {
    names: Vec<String>,
    /// The counters at switches, in their order.
    at_switches: Vec<Counter>,
    /// The counters of samples and readings, by number of the source.
    of_sources: FxHashMap<i32, Counter>,
}

/// A counter: the place of its name, and what it counts.
type Counter = (usize, Option<i8>);

impl Names {
    fn of(info: &TraceInfo) -> Self {
        let mut counters = Self::default();
        let of_switches = roles(info.counters.iter().map(String::as_str));
        for (name, role) in info.counters.iter().zip(of_switches) {
            let place = counters.place(name);
            counters.at_switches.push((place, role));
        }
        for (number, role) in roles_of_sources(&info.sample_sources) {
            let source = info.sample_sources.iter().find(|source| i32::try_from(source.number) == Ok(number));
            let place = counters.place(source.map_or("", |source| &source.name));
            counters.of_sources.insert(number, (place, role));
        }
        counters
    }

    /// The place of a name, which may be new.
    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The counter of a source. A source that the recording does not name has its number as its name.
    fn of_source(&mut self, source: i32) -> Counter {
        if let Some(counter) = self.of_sources.get(&source) {
            return *counter;
        }
        let counter = (self.place(&source.to_string()), None);
        self.of_sources.insert(source, counter);
        counter
    }
}

/// What the sources of samples count, by their numbers.
pub(crate) fn roles_of_sources(sources: &[SampleSource]) -> FxHashMap<i32, Option<i8>> {
    let roles = roles(sources.iter().map(|source| source.name.as_str()));
    let number = |source: &SampleSource| i32::try_from(source.number).ok();
    sources.iter().zip(roles).filter_map(|(source, role)| Some((number(source)?, role))).collect()
}

/// A counter that is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SampledCounter {
    /// Events from sample to sample.
    pub(crate) period: Option<i64>,
    /// What it counts.
    pub(crate) role: Option<i8>,
}

/// How a count came about, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum CountSource {
    /// Difference of a counter of a CPU between two switches.
    Switches,
    /// The count of a thread over its whole life, read at its end.
    Total,
    /// Difference between readings in samples of other events: the thread that ran at the reading has all of it.
    Readings,
    /// A sample, which stands for the events of its period.
    Samples,
}

/// What a counter counted.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// How the count came about.
    source: CountSource,
    /// The counter.
    counter: Counter,
    /// Whether it is the first counter of a difference.
    is_first: bool,
    /// The process; `None`: the recording does not tell.
    process: Option<ProcessId>,
    /// The thread; `None`: the recording does not tell.
    thread: Option<ThreadId>,
    /// The CPU, where it is known.
    cpu: Option<i16>,
    /// Begin of the span, ns; of a reading and a sample its time.
    start: i64,
    /// End of the span, ns.
    time: i64,
    /// Events; `None`: their number is not known.
    value: Option<i64>,
}

impl Count {
    /// A count at an instant, of nothing and nobody yet.
    fn at(time: i64) -> Self {
        Self {
            source: CountSource::Samples,
            counter: (0, None),
            is_first: false,
            process: None,
            thread: None,
            cpu: None,
            start: time,
            time,
            value: None,
        }
    }
}

view! {
    /// The columns of a sample that tell who counted what.
    #[derive(Clone, Copy, Debug)]
    struct CountedSample of CounterSampleRow { time, cpu, process, thread, source, period }
}

view! {
    /// The process of a thread.
    #[derive(Clone, Copy, Debug)]
    struct ThreadProcess of ThreadRow { thread, process }
}

/// Whether the tables of an archive can tell what counters counted.
#[must_use]
pub fn are_there(archive: &Archive) -> bool {
    !archive.info().counters.is_empty()
        || archive.row_count::<CounterSampleRow>() > 0
        || archive.row_count::<CounterValueRow>() > 0
}

/// Hands over all counts, and gives the names of the counters. The counts of a difference follow each other, one for each counter.
///
/// # Errors
/// When a table cannot be read.
fn scan(archive: &Archive, mut visit: impl FnMut(&Count)) -> Result<Vec<String>, Error> {
    let mut names = Names::of(archive.info());
    if !archive.info().counters.is_empty() {
        switches(archive, &names.at_switches, &mut visit)?;
    }
    let read = |at: i64, cpu: i16| Count { cpu: Some(cpu).filter(|cpu| *cpu >= 0), ..Count::at(at) };
    archive.scan(None, |row: &CounterValueRow| {
        let source = if row.total == Some(true) { CountSource::Total } else { CountSource::Readings };
        visit(&Count {
            source,
            counter: names.of_source(row.source),
            process: Some(row.process),
            thread: Some(row.thread),
            value: Some(row.value),
            ..read(row.time, row.cpu)
        });
    })?;
    archive.scan(None, |row: &CountedSample| {
        visit(&Count {
            source: CountSource::Samples,
            counter: names.of_source(row.source),
            process: Some(row.process),
            thread: Some(row.thread),
            value: row.period,
            ..read(row.time, row.cpu)
        });
    })?;
    Ok(names.names)
}

fn switches(archive: &Archive, counters: &[Counter], visit: &mut impl FnMut(&Count)) -> Result<(), Error> {
    let mut processes: FxHashMap<ThreadId, ProcessId> = FxHashMap::default();
    archive.scan(None, |row: &ThreadProcess| {
        processes.insert(row.thread, row.process);
    })?;
    let mut spans = CounterSpans::default();
    archive.scan(None, |row: &CounterSwitch| {
        spans.switch(row, |counted| {
            let process = counted.thread.and_then(|thread| processes.get(&thread)).copied();
            for (place, (counter, value)) in counters.iter().zip(counted.counts).enumerate() {
                visit(&Count {
                    source: CountSource::Switches,
                    counter: *counter,
                    is_first: place == 0,
                    process,
                    thread: counted.thread,
                    cpu: Some(counted.cpu),
                    start: counted.span.start,
                    value: *value,
                    ..Count::at(counted.span.end)
                });
            }
        });
    })
}
