//! `dump path --segments`: the path itself, a row for each of its segments, by time.

use std::cmp::Reverse;

use tracesift_analysis::path::Link;
use tracesift_archive::Error;

use super::{Question, Sums};
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::Ask;
use crate::filter::ProcessFilter;
use crate::order::Top;
use crate::path::Missing;
use crate::path::account::{Account, Did, Level};
use crate::path::chains::{Chains, Wait};
use crate::path::parties::Parties;
use crate::path::places::{Place, Places};
use crate::path::rows::{Detail, Namer};
use crate::path::witness::{Piece, Segment, Witness};
use crate::recording::OpenRecording;
use crate::shown::Shown;
use crate::threads;
use tracesift_grammar::TimeRange;
use tracesift_trace::ThreadId;

pub use super::segment_columns::{COLUMNS, Row};

/// Segments of a recording that an answer has where nobody says how many: some 50 MiB of rows.
const MOST: usize = 100_000;

/// Chains of threads of a window that are told apart, with the beginnings of chains.
const MOST_CHAINS: usize = 1 << 16;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Segments(pub Question);

impl Ask for Segments {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn tables(&self) -> &'static [&'static str] {
        self.0.tables()
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        self.0.processes()
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        self.0.shown.keep(&mut columns);
        columns
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self(Question { shown: shown.clone(), ..self.0.clone() })))
    }

    fn within(&self, _: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(self.clone())
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let Question { accounts, top, shown, .. } = &self.0;
        if Level::of(recording) == Some(Level::Samples) {
            return Ok(recording.file.absent("context switches", recording.file.absence_of("context_switches")));
        }
        let top = Top { take: top.take.or(Some(MOST)), ..*top };
        let (mut rows, mut sums) = (Vec::new(), Sums::default());
        let found = accounts.each_with(recording, Path::default, |account, namer, path| {
            sums.add(account, namer, &namer.rows(account, Detail::default()));
            rows.extend(path.rows(account, namer, top, &mut sums));
        })?;
        if let Err(Missing { what, why }) = found {
            return Ok(recording.file.absent(what, why));
        }
        if sums.windows == 0 {
            let why = format!("nothing fits {}", accounts.windows.shown());
            let facts = vec![Fact::local("window", Kind::Text, why)];
            return Ok(COLUMNS.section_showing(&recording.file, &[], facts, shown));
        }
        let mut section = COLUMNS.section_showing(&recording.file, &rows, sums.facts(), shown);
        section.notes.extend(sums.notes("segments"));
        section.warnings.extend(sums.warning());
        Ok(section)
    }
}

/// The segments of a path, and the chains of threads that lead to them.
struct Path {
    chains: Chains<Place>,
    segments: Vec<Segment>,
}

impl Default for Path {
    fn default() -> Self {
        Self { chains: Chains::new(MOST_CHAINS), segments: Vec::new() }
    }
}

impl Witness for Path {
    const TAKES: bool = false;
    const SEGMENTS: bool = true;

    fn chain(&mut self, chain: &[Link], _: &mut Parties<'_>, places: &mut Places<'_>) -> u32 {
        // Chains of threads, not of roles: the number of a thread is that of its row.
        let number = |thread: ThreadId| u32::try_from(thread.0).unwrap_or(u32::MAX);
        self.chains.of(chain, number, |stack| places.of(stack))
    }

    fn piece(&mut self, _: &Piece) {}

    fn segment(&mut self, segment: &Segment) {
        self.segments.push(*segment);
    }
}

impl Path {
    /// The longest segments, by time.
    fn rows(mut self, account: &Account, namer: &Namer<'_, '_, '_>, top: Top, sums: &mut Sums) -> Vec<Row> {
        let all = self.segments.len();
        // Of equal lengths the first ones stay.
        self.segments.sort_unstable_by_key(|one| (one.span.length(), Reverse(one.span.start)));
        top.apply(&mut self.segments);
        self.segments.sort_unstable_by_key(|one| one.span.start);
        let shown = self.segments.iter().fold(0_i64, |sum, one| sum.saturating_add(one.span.length()));
        sums.hide(all - self.segments.len(), shown);
        self.segments.iter().map(|one| self.row(account, namer, one)).collect()
    }

    fn row(&self, account: &Account, namer: &Namer<'_, '_, '_>, segment: &Segment) -> Row {
        let mut name = namer.name(&segment.key);
        if let Did::Run(_) = segment.key.did {
            // Samples tell of rows, not of segments, which code ran.
            (name.tag, name.disturbance) = (None, None);
        }
        let (thread, process) = namer.parties.rows_of(segment.thread);
        let (thread, process) = (thread.cloned(), process.cloned());
        let chain = self.chain(namer, segment.chain);
        let depth = chain.as_ref().map(|chain| chain.len().saturating_sub(1));
        Row { window: account.window, span: segment.span, thread, process, name, depth, chain }
    }

    /// The threads of a chain, each with the method in which it waited for the next one; `None` of a chain for
    /// which there was no room.
    fn chain(&self, namer: &Namer<'_, '_, '_>, number: u32) -> Option<Vec<String>> {
        let steps = self.chains.steps(number);
        let waits = steps.iter().skip(1).map(|step| step.wait).chain([None]);
        let label = |party: u32| {
            let thread = i32::try_from(party).map(ThreadId).ok();
            let (row, process) = thread.map_or((None, None), |thread| namer.parties.rows_of(thread));
            row.map_or_else(|| "unknown thread".to_owned(), |row| threads::label(process, row))
        };
        let text = |(party, wait): (u32, Option<Wait<Place>>)| match wait {
            Some(Wait::At(place)) => format!("{} ({})", label(party), namer.place_text(place)),
            Some(Wait::Birth) => format!("{} (start of the thread)", label(party)),
            None => label(party),
        };
        let texts: Vec<String> = steps.iter().map(|step| step.party).zip(waits).map(text).collect();
        (!texts.is_empty()).then_some(texts)
    }
}
