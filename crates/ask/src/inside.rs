//! Times that regions and the focus choose: `--in-region`, `--in-focus`.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_analysis::regions::Definitions;
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::ProcessId;
use tracesift_trace::rows::{EventRow, FocusRow};
use tracesift_trace::schema::Row as _;

use crate::answer::Section;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::regions;

/// What chooses the times that an answer is about.
#[derive(Clone, Debug)]
pub enum Inside {
    /// The times with at least one region whose definition has such a name or path, or which has such a name.
    Regions(Arc<Definitions>, Patterns),
    /// Of each process the times in which it has the focus.
    Focus,
    /// These times.
    #[cfg(test)]
    Spans(Vec<Span>),
}

/// Times of one recording: the spans of each list are in order, and none touches another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    /// Those of processes that have none of their own.
    everybody: Vec<Span>,
    /// Those of single processes.
    of_processes: FxHashMap<ProcessId, Vec<Span>>,
}

impl Inside {
    /// The times of a recording in which all of these hold.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn times(all: &[Self], recording: &OpenRecording) -> Result<Times, Error> {
        let mut times = Times { everybody: vec![Span::ALL], of_processes: FxHashMap::default() };
        for inside in all {
            times = times.and(&inside.alone(recording)?);
        }
        Ok(times)
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
                #[cfg(test)]
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
                Ok(Times { everybody: united(spans), of_processes: FxHashMap::default() })
            }
            Self::Focus => {
                let mut spans: FxHashMap<ProcessId, Vec<Span>> = FxHashMap::default();
                archive.scan(None, |row: &FocusRow| {
                    if let Some(process) = row.process {
                        spans.entry(process).or_default().push(Span::new(row.start, row.time));
                    }
                })?;
                let of_processes = spans.into_iter().map(|(process, spans)| (process, united(spans))).collect();
                Ok(Times { everybody: Vec::new(), of_processes })
            }
            #[cfg(test)]
            Self::Spans(spans) => Ok(Times { everybody: united(spans.clone()), of_processes: FxHashMap::default() }),
        }
    }
}

impl Times {
    /// The spans of a process.
    fn of(&self, process: Option<ProcessId>) -> &[Span] {
        process.and_then(|process| self.of_processes.get(&process)).unwrap_or(&self.everybody)
    }

    /// The spans of a process that a span touches, its ends included.
    pub(crate) fn touching(&self, process: Option<ProcessId>, start: i64, end: i64) -> &[Span] {
        let spans = self.of(process);
        let from = spans.partition_point(|span| span.end < start);
        let to = spans.partition_point(|span| span.start <= end);
        spans.get(from..to).unwrap_or_default()
    }

    /// From the begin of the first span to the end of the last one; empty where there are none.
    pub(crate) fn bounds(&self) -> Range<i64> {
        let lists = || self.of_processes.values().chain([&self.everybody]);
        let start = lists().filter_map(|spans| spans.first()).map(|span| span.start).min();
        let end = lists().filter_map(|spans| spans.last()).map(|span| span.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }

    /// How long all spans in a range are together, where they are the same for all processes.
    pub(crate) fn length(&self, range: Span) -> Option<i64> {
        let length = self.everybody.iter().map(|span| span.intersect(range).length()).sum();
        self.of_processes.is_empty().then_some(length)
    }

    /// Both times at once.
    fn and(&self, other: &Self) -> Self {
        let processes = self.of_processes.keys().chain(other.of_processes.keys());
        let of_process = |process: &ProcessId| {
            let process = *process;
            (process, common(self.of(Some(process)), other.of(Some(process))))
        };
        Self { everybody: common(&self.everybody, &other.everybody), of_processes: processes.map(of_process).collect() }
    }
}

/// Spans in order, of which none touches another one.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut all: Vec<Span> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}

/// What two spans have in common. A span that holds no instant lies in another one that holds its begin.
pub(crate) fn overlap(one: Span, other: Span) -> Option<Span> {
    let is_inside = |one: Span, other: Span| one.is_empty() && other.contains(one.start);
    let both = one.intersect(other);
    (!both.is_empty() || is_inside(one, other) || is_inside(other, one)).then_some(both)
}

/// What two lists of spans have in common.
fn common(some: &[Span], others: &[Span]) -> Vec<Span> {
    let (mut at, mut of_others) = (0, 0);
    let mut all = Vec::new();
    while let (Some(one), Some(other)) = (some.get(at), others.get(of_others)) {
        all.extend(overlap(*one, *other));
        if one.end <= other.end { at += 1 } else { of_others += 1 }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;
    use tracesift_analysis::Span;
    use tracesift_trace::ProcessId;

    use super::{Times, common, united};

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec((0..100_i64, 1..20_i64), 0..12)
            .prop_map(|spans| spans.into_iter().map(|(start, length)| Span::new(start, start + length)).collect())
    }

    fn has(spans: &[Span], time: i64) -> bool {
        spans.iter().any(|span| span.contains(time))
    }

    proptest! {
        #[test]
        fn each_instant_is_in_both(some in spans(), others in spans()) {
            let both = common(&united(some.clone()), &united(others.clone()));
            for time in 0..130 {
                prop_assert_eq!(has(&both, time), has(&some, time) && has(&others, time), "{}", time);
            }
            prop_assert!(united(some).windows(2).all(|pair| pair[0].end < pair[1].start));
        }

        #[test]
        fn what_touches_is_what_a_look_at_all_finds(some in spans(), start in 0..120_i64, length in 0..30_i64) {
            let end = start + length;
            let times = Times { everybody: united(some), of_processes: FxHashMap::default() };
            let expected: Vec<Span> =
                times.everybody.iter().filter(|span| span.start <= end && span.end >= start).copied().collect();
            prop_assert_eq!(times.touching(Some(ProcessId(1)), start, end), expected);
        }
    }

    #[test]
    fn a_process_without_the_focus_has_no_time() {
        let of_processes = [(ProcessId(1), vec![Span::new(10, 20)])].into_iter().collect();
        let focus = Times { everybody: Vec::new(), of_processes };
        let regions = Times { everybody: vec![Span::new(15, 40)], of_processes: FxHashMap::default() };
        let both = regions.and(&focus);
        assert_eq!(both.touching(Some(ProcessId(1)), 0, 100), [Span::new(15, 20)]);
        assert_eq!(both.touching(Some(ProcessId(2)), 0, 100), []);
        assert_eq!((both.bounds(), both.length(Span::ALL), regions.length(Span::new(0, 20))), (15..20, None, Some(5)));
    }
}
