//! Puts a question to many archives at once.

use clap::Args;
use rayon::prelude::*;
use tracesift_archive::Error;
use tracesift_trace::rows::ContextSwitchRow;

use crate::answer::{Answer, Column, Failure, Kind, Layout, Outcome, Section, Value, View};
use crate::candidates::Candidates;
use crate::columns::names_file;
use crate::filter::ProcessFilter;
use crate::limit::{Limit, LimitKind};
use crate::recording::{OpenRecording, Source, is_cancelled, open_all};
use crate::shown::Shown;
use crate::time_spec::{TimeSpec, no_calendar};
use crate::zero_time::{FoundZero, ZeroOptions, ZeroTime};
use tracesift_grammar::{TimeRange, milliseconds};

/// What an archive must have for an answer, of all that an extract may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Everything, as far as is known.
    Everything,
    /// These tables, with the stacks of their rows.
    Tables(&'static [&'static str]),
    /// These tables, without the stacks of their rows.
    TablesWithoutStacks(&'static [&'static str]),
}

/// A question that every archive answers by itself.
pub trait Ask: Sync {
    /// Its name, as in `dump NAME`.
    fn name(&self) -> &'static str;

    /// The tables that it reads and that an extract may leave out: where one was, the answer says so.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// What a recording that is extracted for this question alone is extracted with. The answer is that about the whole archive.
    fn reads(&self) -> Reads {
        Reads::Everything
    }

    /// Which processes it is about; `None`: it is about none.
    fn processes(&self) -> Option<&ProcessFilter> {
        None
    }

    /// Its own filters beside that of processes, and what there is in the recording that they could let pass. Asked where an answer is empty.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn candidates(&self, _recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        Ok(Vec::new())
    }

    /// The options given that leave out rows by other things than names, such as `--min-cpu`.
    fn limits(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The column by which the rows are sorted: a table shows it.
    fn sorted_by(&self) -> Option<&'static str> {
        None
    }

    /// Whether figures that somebody looks at come from context switches: else what limits those is not worth a word.
    fn relies_on_switches(&self) -> bool {
        self.tables().contains(&"context_switches")
    }

    /// The columns of the answer, in the order of every format.
    fn columns(&self) -> Vec<Column>;

    /// The same question about a part of one recording. `origin` is the instant from which its filters count times, ns since the
    /// session's start.
    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask>;

    /// Whether sums over a whole recording are enough to answer it, as an import has them, or single events are needed.
    fn sums_suffice(&self) -> bool {
        false
    }

    /// The same question by somebody who looks at these columns only, of which its answer then consists. `None`: it makes no difference.
    fn showing(&self, _shown: &Shown) -> Option<Box<dyn Ask>> {
        None
    }

    /// The answer of one recording.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn section(&self, recording: &OpenRecording) -> Result<Section, Error>;

    /// The answers of one recording about several parts, each the same as that of [`Self::within`] it. The parts follow each other.
    ///
    /// # Errors
    /// When a table cannot be read.
    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], origin: i64) -> Result<Vec<Section>, Error> {
        ranges.iter().map(|&time| self.within(time, origin).section(recording)).collect()
    }

    /// For how many parts [`Self::series`] reads the recording once.
    fn ranges_at_once(&self) -> usize {
        1
    }
}

/// Parts whose figures fit into memory at a time.
pub(crate) const RANGES_AT_ONCE: usize = 256;

/// Which part of each recording is asked for, and from when on times are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The part.
    pub time: TimeSpec,
    /// The instant that is zero.
    pub zero: ZeroTime,
    /// Rows for each time window of this length, ns: a series.
    pub bucket: Option<i64>,
}

/// The option that says which part of each recording is asked for.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Time")]
pub struct TimeOptions {
    /// Only this part of the recording, [a, b): 3.2s..7.9s, 250ms.., ..2 (s without unit), 14:02..14:02:30 (recorder's local time),
    /// 12:02Z..12:03Z (UTC)
    #[arg(long, value_name = "A..B", default_value = "..", hide_default_value = true, allow_hyphen_values = true)]
    pub time: TimeSpec,
}

/// The options that say which part of each recording is asked for, and from when on times are counted.
#[derive(Args, Clone, Debug)]
pub struct WhenOptions {
    /// The part.
    #[command(flatten)]
    pub part: TimeOptions,

    /// The instant from which times are counted.
    #[command(flatten)]
    pub zero: ZeroOptions,
}

impl WhenOptions {
    /// The part, and the instant that is zero.
    #[must_use]
    pub fn when(&self) -> When {
        When { time: self.part.time, zero: self.zero.zero(), bucket: None }
    }
}

/// The option of questions that can be a series.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Time")]
pub struct SeriesOptions {
    /// Rows for each time window of this length (ms without unit): a series
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub bucket: Option<i64>,
}

/// A length of time above zero, ns.
fn length(text: &str) -> Result<i64, String> {
    match milliseconds(text) {
        Ok(length) if length > 0 => Ok(length),
        Ok(_) => Err("it must be longer than nothing, such as 100ms".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Where the series begins anew.
const BUCKET: Column = Column {
    key: "bucket_ns",
    title: "From",
    kind: Kind::Time,
    view: View::Always,
    help: "Start of the stretch of time that the row is about, with `--bucket`.",
};
/// More time windows than anybody looks at.
const MOST_BUCKETS: i64 = 10_000;
/// Switches that a series may read, again and again: some minutes.
const MOST_SWITCHES: i64 = 2_000_000_000;

/// Asks archives in parallel. The order of the answer does not depend on which one was ready first: the oldest recording
/// stands first. If the watch of a source is cancelled meanwhile, there is no section, and [`Failure::cancelled`] is the only failure.
#[must_use]
pub fn ask(sources: &[Source], question: &dyn Ask, when: &When) -> Outcome {
    let (mut recordings, mut failures) = open_all(sources);
    for file in recordings.iter_mut().map(|recording| &mut recording.file) {
        file.warnings.extend(file.warning_of_left_out(question.tables()));
    }
    let columns = when.columns(question);
    let results: Vec<Result<Section, Failure>> = recordings
        .par_iter()
        .map(|recording| {
            let section = when.section(recording, question, &columns).and_then(|mut section| {
                let failure = |error: Error| Failure::new(&recording.file.path, &error);
                keep_telling(&mut section, recording, question).map_err(failure)?;
                section.notes.extend(not_sorted(&section, &columns, question.sorted_by()));
                Ok(section)
            });
            recording.forget_stacks();
            recording.archive().watch().archive_is_through();
            section
        })
        .collect();
    let mut sections = Vec::new();
    for result in results {
        match result {
            Ok(section) => sections.push(section),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by(|a, b| a.path.cmp(&b.path));
    if is_cancelled(sources) {
        // What others could still answer is half an answer.
        (sections, failures) = (Vec::new(), vec![Failure::cancelled()]);
    }
    let facts = Section::sum_facts(&sections);
    let mut answer = Answer {
        question: question.name(),
        columns,
        layout: Layout::Rows,
        sorted: question.sorted_by(),
        sections,
        sums: Vec::new(),
        facts,
    };
    answer.drop_hidden();
    Outcome { answer, failures }
}

/// Keeps of the limits those that a figure of the answer depends on.
fn keep_telling(section: &mut Section, recording: &OpenRecording, question: &dyn Ask) -> Result<(), Error> {
    let relies_on_switches = question.relies_on_switches();
    section.warnings.retain(|limit| relies_on_switches || !limit.kind.is_of_switches());
    let relies_on_disks = question.tables().is_empty() || question.tables().contains(&"disk_io");
    section.warnings.retain(|limit| relies_on_disks || limit.kind != LimitKind::OpenDiskOperations);
    let is_of_chains = |limit: &Limit| limit.kind == LimitKind::BrokenSwitchChains;
    if let Some(filter) = question.processes().filter(|_| section.warnings.iter().any(is_of_chains))
        && recording.unknown_time(filter)? == 0
    {
        section.warnings.retain(|limit| !is_of_chains(limit));
    }
    Ok(())
}

/// What must be said where no row has the figure by which all are sorted.
fn not_sorted(section: &Section, columns: &[Column], sorted: Option<&str>) -> Option<String> {
    let (place, column) = columns.iter().enumerate().find(|(_, column)| Some(column.key) == sorted)?;
    let is_unknown = |row: &Vec<Value>| row.get(place).is_none_or(|value| *value == Value::None);
    let nothing = section.rows.len() > 1 && section.rows.iter().all(is_unknown);
    nothing.then(|| format!("nothing is known of `{}`, by which the rows were to be sorted", column.title))
}

/// Behind the columns that name the file.
fn bucket_place(columns: &[Column]) -> usize {
    columns.iter().take_while(|column| names_file(column)).count()
}

/// The answers about one time window after the other, as rows of one section.
fn series(
    recording: &OpenRecording,
    question: &dyn Ask,
    (time, origin): (TimeRange, i64),
    length: i64,
) -> Result<Section, Failure> {
    let failure = |reason: String| Failure { path: recording.file.path.clone(), reason };
    let (start, end) = time.bounds();
    // The last event stands at the end.
    let (start, end) = (start.max(recording.file.start), end.min(recording.file.end.saturating_add(1)));
    let length = length.max(1);
    if end.saturating_sub(start) / length > MOST_BUCKETS {
        let name = &recording.file.name;
        return Err(failure(format!("{name}: more than {MOST_BUCKETS} stretches of --bucket; choose longer ones")));
    }
    // Each reading may read all switches.
    let switches = i64::try_from(recording.archive().row_count::<ContextSwitchRow>()).unwrap_or(i64::MAX);
    let at_once = question.ranges_at_once().max(1);
    let readings = end.saturating_sub(start) / length / i64::try_from(at_once).unwrap_or(i64::MAX);
    if switches.saturating_mul(readings) > MOST_SWITCHES {
        let name = &recording.file.name;
        return Err(failure(format!(
            "{name}: too many switches for so many stretches; choose longer ones, or a part with --time"
        )));
    }
    let place = bucket_place(&question.columns());
    let mut all = Section { warnings: recording.file.warnings.clone(), ..recording.file.section() };
    let mut from = origin.saturating_add((start.saturating_sub(origin)).div_euclid(length).saturating_mul(length));
    let (mut starts, mut ranges) = (Vec::new(), Vec::new());
    while from < end {
        let next = from.saturating_add(length);
        starts.push(from);
        ranges.push(TimeRange { start: Some(from.max(start)), end: Some(next.min(end)) });
        from = next;
    }
    for (starts, ranges) in starts.chunks(at_once).zip(ranges.chunks(at_once)) {
        let sections = question.series(recording, ranges, origin);
        let sections = sections.map_err(|error| Failure::new(&recording.file.path, &error))?;
        for (from, section) in starts.iter().zip(sections) {
            if section.is_absent {
                return Ok(section);
            }
            all.rows.extend(section.rows.into_iter().map(|mut row| {
                row.insert(place.min(row.len()), (*from).into());
                row
            }));
            for note in section.notes {
                if !all.notes.contains(&note) {
                    all.notes.push(note);
                }
            }
        }
    }
    Ok(all)
}

/// What [`When`] means in one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The part, on the session's clock.
    pub time: TimeRange,
    /// The instant from which times are counted, ns since the session's start.
    pub origin: i64,
    /// The landmark, if there is one and the recording has it.
    pub found: Option<FoundZero>,
}

impl When {
    /// The columns of an answer: those of the question, and that of a series.
    #[must_use]
    pub fn columns(&self, question: &dyn Ask) -> Vec<Column> {
        let mut columns = question.columns();
        let sorted = question.sorted_by();
        for column in columns.iter_mut().filter(|column| Some(column.key) == sorted && column.view == View::Details) {
            column.view = View::Always;
        }
        if self.bucket.is_some() {
            columns.insert(bucket_place(&columns), BUCKET);
        }
        columns
    }

    /// What is read for the answer to a question about this part.
    #[must_use]
    pub fn reads(&self, question: &dyn Ask) -> Reads {
        // Landmarks and times of regions may be in any table.
        if self.zero.is_session() { question.reads() } else { Reads::Everything }
    }

    /// What must be said where a landmark is asked for and the recording has none.
    #[must_use]
    pub fn not_found(&self, found: Option<FoundZero>) -> Option<Limit> {
        let missing = found.is_none() && !self.zero.is_session();
        let text = "what --zero-time names is not in it: times are those since the session's start";
        missing.then(|| Limit::new(LimitKind::NoSuchTime, text))
    }

    /// What it means in a recording.
    ///
    /// # Errors
    /// When a table cannot be read, or when a time of day is asked for and the recording has no calendar.
    pub fn resolve(&self, recording: &OpenRecording) -> Result<Resolved, Failure> {
        let failure = |error: Error| Failure::new(&recording.file.path, &error);
        let found = if self.zero.is_session() { None } else { self.zero.find(recording).map_err(failure)? };
        let origin = found.map_or(0, |found| found.time);
        let no_calendar = || Failure { path: recording.file.path.clone(), reason: no_calendar(&recording.file.name) };
        let time = self.time.resolve(recording.file.zero, recording.file.end, origin).ok_or_else(no_calendar)?;
        Ok(Resolved { time, origin, found })
    }

    /// The answer of one recording about its part, with times from its own zero.
    ///
    /// # Errors
    /// When a table cannot be read, or when a time of day is asked for and the recording has no calendar.
    pub(crate) fn section(
        &self,
        recording: &OpenRecording,
        question: &dyn Ask,
        columns: &[Column],
    ) -> Result<Section, Failure> {
        let failure = |error: Error| Failure::new(&recording.file.path, &error);
        let sums_suffice = |asked: &dyn Ask| self.bucket.is_none() && asked.sums_suffice();
        if self == &Self::default() && (sums_suffice(question) || !recording.file.is_imported) {
            return question.section(recording).map_err(failure);
        }
        let Resolved { time, origin, found } = self.resolve(recording)?;
        let mut section = match self.bucket {
            _ if recording.file.is_imported && !sums_suffice(&*question.within(time, origin)) => {
                // Not "0" and not "not recorded": the recording may well have had them.
                recording.file.absent("events", "none: an import has sums of the whole recording only")
            }
            None => question.within(time, origin).section(recording).map_err(failure)?,
            Some(length) => series(recording, question, (time, origin), length)?,
        };
        section.count_from(origin, columns);
        section.warnings.extend(self.not_found(found));
        if let Some(found) = found.filter(|found| found.candidates > 1) {
            section.notes.push(format!(
                "{} instants fit --zero-time; times are counted from the one at {} s",
                found.candidates,
                crate::time_format::seconds(found.time, 3)
            ));
        }
        Ok(section)
    }
}
