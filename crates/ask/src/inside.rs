//! Times that regions, the focus and windows choose: `--in-region`, `--in-focus`, `--window`.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::regions::Definitions;
use tracesift_analysis::{Span, Times};
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{EventRow, FocusRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::Row as _;

use crate::answer::{Fact, Kind, Section};
use crate::path::window::{Among, Found, People};
use crate::path::{WindowKind, WindowQuery, WindowSpec};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::regions;
use crate::usage_error::UsageError;

/// What chooses the times that an answer is about.
#[derive(Clone, Debug)]
pub enum Inside {
    /// The times with at least one region whose definition has such a name or path, or which has such a name.
    Regions(Arc<Definitions>, Patterns),
    /// Of each process the times in which it has the focus.
    Focus,
    /// The windows that fit.
    Window(Box<WindowQuery>),
    /// These times.
    Spans(Vec<Span>),
}

impl Inside {
    /// The times of a window.
    ///
    /// # Errors
    /// When it is a range of time, which has an option of its own.
    pub fn window(spec: &WindowSpec) -> Result<Self, UsageError> {
        if matches!(spec.kind, WindowKind::Time(_)) {
            return Err(UsageError::new("a range of time is no window here", "give it with --time"));
        }
        Ok(Self::Window(Box::new(WindowQuery { spec: spec.clone(), ..WindowQuery::default() })))
    }

    /// The times of a recording in which all of these hold; `None`: nothing chooses times.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn times(all: &[Self], recording: &OpenRecording) -> Result<Option<Times>, Error> {
        let mut times: Option<Times> = None;
        for inside in all {
            let alone = inside.alone(recording)?;
            times = Some(times.map_or_else(|| alone.clone(), |times| times.and(&alone)));
        }
        Ok(times)
    }

    /// The options that were given.
    pub(crate) fn options(all: &[Self]) -> impl Iterator<Item = &'static str> {
        all.iter().map(|inside| match inside {
            Self::Focus => "--in-focus",
            Self::Window(_) => "--window",
            Self::Regions(..) | Self::Spans(_) => "--in-region",
        })
    }

    /// How long the times are inside of a range of the recording, where they are the same for all processes.
    pub(crate) fn fact(times: Option<&Times>, recording: &OpenRecording, range: TimeRange) -> Option<Fact> {
        let (start, end) = range.bounds();
        let range = Span::new(recording.file.start, recording.file.end).intersect(Span::new(start, end));
        let length = times?.length(range)?;
        Some(Fact::local("chosen time", Kind::Milliseconds, length))
    }

    /// The empty answer where a recording has nothing that these times could be made of.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn absent(all: &[Self], recording: &OpenRecording) -> Result<Option<Section>, Error> {
        let (archive, file) = (recording.archive(), &recording.file);
        for inside in all {
            let (has, what, why) = match inside {
                Self::Regions(definitions, _) => {
                    let why = || file.absence_with_cure_anywhere(EventRow::TABLE.name, "Default");
                    (regions::has_events(archive, definitions)?, "regions", why())
                }
                Self::Focus => {
                    let is_linux = archive.info().kind == "perf";
                    let why = || file.absence_with_cure(FocusRow::TABLE.name, RowSource::windows("UI"), is_linux);
                    (archive.row_count::<FocusRow>() > 0, "changes of the focus", why())
                }
                Self::Window(query) => match windows(query, recording)? {
                    Ok(_) => continue,
                    Err(why) => return Ok(Some(file.absent("window", why))),
                },
                Self::Spans(_) => continue,
            };
            if !has {
                return Ok(Some(file.absent(what, why)));
            }
        }
        Ok(None)
    }

    fn alone(&self, recording: &OpenRecording) -> Result<Times, Error> {
        let archive = recording.archive();
        match self {
            Self::Regions(definitions, patterns) => {
                let regions = regions::read(archive, definitions, false)?;
                let mut spans = Vec::new();
                for region in &regions.regions {
                    let known = definitions.all.get(region.definition as usize);
                    let (name, path) = known.map_or(("", ""), |known| (&*known.name, &*known.path));
                    // Of a region without an end nobody knows how long it was.
                    if let Some(end) = region.end
                        && patterns.matches_any(&[name, path, regions.name(region.name)])
                    {
                        spans.push(Span::new(region.start, end));
                    }
                }
                Ok(Times::of_spans(spans))
            }
            Self::Focus => {
                let mut spans: FxHashMap<ProcessId, Vec<Span>> = FxHashMap::default();
                archive.scan(None, |row: &FocusRow| {
                    if let Some(process) = row.process {
                        spans.entry(process).or_default().push(Span::new(row.start, row.time));
                    }
                })?;
                Ok(Times::of_processes(spans))
            }
            Self::Window(query) => {
                let windows = windows(query, recording)?.unwrap_or_default();
                Ok(Times::of_spans(windows.into_iter().map(|window| window.span).collect()))
            }
            Self::Spans(spans) => Ok(Times::of_spans(spans.clone())),
        }
    }
}

/// The windows of a recording, or why it cannot have any.
fn windows(query: &WindowQuery, recording: &OpenRecording) -> Result<Found, Error> {
    let archive = recording.archive();
    let (processes, threads): (Vec<ProcessRow>, Vec<ThreadRow>) = (archive.rows()?, archive.rows()?);
    query.find(recording, People { processes: &processes, threads: &threads }, Among::All)
}
