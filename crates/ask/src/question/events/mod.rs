//! `dump events`: how many events of which kinds there are, and what their fields add up to.

mod answer;
mod by_columns;
mod dimension;
mod groups;
mod keys;
mod options;
mod sums;
#[cfg(test)]
mod tests;

use tracesift_archive::Error;
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::EventRow;
use tracesift_trace::schema::{ColumnSet, Row as _};

pub use self::dimension::{By, Fact};
pub use self::options::{Options, Sort};
pub use self::sums::Figure;
use crate::answer::{Column, Section};
use crate::ask::{Ask, RANGES_AT_ONCE};
use crate::candidates::Candidates;
use crate::events::{EventFilter, EventKind, Events, FieldFilter, FieldPath, choice};
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::order::Top;
use crate::recording::OpenRecording;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which events: kinds, processes, threads.
    pub filter: EventFilter,
    /// What their fields must say; all of it.
    pub fields: Vec<FieldFilter>,
    /// Which part of the recording.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// By what they are grouped.
    pub by: Vec<By>,
    /// The fields of which figures are wanted.
    pub sums: Vec<FieldPath>,
    /// What becomes cells of a row.
    pub pivot: Option<By>,
    /// The figure of a cell.
    pub figure: Figure,
    /// Order of the rows; `None`: by the sum of a field, else by the number of events.
    pub sort: Option<Sort>,
    /// How many rows.
    pub top: Top,
}

/// Events of which the names of fields are looked at, where no event has the wanted ones.
const LOOKED_AT: usize = 100_000;

impl Ask for Question {
    fn name(&self) -> &'static str {
        "events"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["events"]
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter.processes)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut found = self.candidate_kinds(recording)?;
        if !self.sums.is_empty() || !self.fields.is_empty() {
            found.push(self.candidate_fields(recording)?);
        }
        Ok(found)
    }

    fn limits(&self) -> Vec<&'static str> {
        let tid = (!self.filter.threads.is_everything()).then_some("--tid");
        let fields = (!self.fields.is_empty()).then_some("--where");
        tid.into_iter().chain(fields).chain(Inside::options(&self.inside)).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        self.sort.and_then(Sort::key)
    }

    fn columns(&self) -> Vec<Column> {
        answer::columns(&self.by, &self.sums, self.pivot.is_some())
    }

    fn sums_suffice(&self) -> bool {
        // An import has the single events, if it has any.
        true
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.series(recording, &[self.time], 0)?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        let file = &recording.file;
        if recording.archive().row_count::<EventRow>() == 0 {
            return Ok(ranges.iter().map(|_| file.absent("events", file.absence_of(EventRow::TABLE.name))).collect());
        }
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(vec![absent; ranges.len()]);
        }
        answer::sections(self, recording, ranges)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}

impl Question {
    /// Order of the rows.
    fn order(&self) -> Sort {
        let usual = if self.sums.is_empty() || self.pivot.is_some() { Sort::Count } else { Sort::Sum };
        self.sort.unwrap_or(usual)
    }

    /// What the filters of kinds could let pass.
    fn candidate_kinds(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let EventFilter { provider, class, name, .. } = &self.filter;
        let mut found: Vec<Candidates> = Vec::new();
        let mut add = |option,
                       what,
                       patterns: String,
                       name: &dyn Fn(&EventKind) -> String,
                       passes: &dyn Fn(&EventKind) -> bool| {
            let mut of = Candidates { option, what, patterns, figure: "most events", ..Candidates::default() };
            recording.archive().scan(None, |kind: &EventKind| {
                of.passing += usize::from(passes(kind));
                of.add(name(kind), 1);
            })?;
            found.push(of);
            Ok::<(), Error>(())
        };
        let class_of = |kind: &EventKind| kind.event.split('/').next().unwrap_or_default().to_owned();
        if !provider.is_empty() {
            let passes =
                |kind: &EventKind| provider.matches_any(&[&kind.provider, &kind.guid, &format!("{{{}}}", kind.guid)]);
            add("--provider", ["provider", "providers"], provider.to_string(), &|kind| kind.provider.clone(), &passes)?;
        }
        if !class.is_empty() {
            let what = ["class of events", "classes of events"];
            add("--class", what, class.to_string(), &class_of, &|kind| class.matches(&class_of(kind)))?;
        }
        if !name.is_empty() {
            let what = ["name of events", "names of events"];
            add("--name", what, name.to_string(), &|kind| kind.event.clone(), &|kind| name.matches(&kind.event))?;
        }
        if !self.filter.ids.is_everything() {
            let passes = |kind: &EventKind| self.filter.ids.contains(u32::from(kind.number()));
            add("--id", ["id", "ids"], "the ids".to_owned(), &|kind| kind.number().to_string(), &passes)?;
        }
        Ok(found)
    }

    /// The fields of the events of those kinds.
    fn candidate_fields(&self, recording: &OpenRecording) -> Result<Candidates, Error> {
        let wanted: Vec<&str> = self.sums.iter().map(FieldPath::text).collect();
        let patterns = if wanted.is_empty() { "the conditions".to_owned() } else { wanted.join(",") };
        let option = if wanted.is_empty() { "--where" } else { "--sum" };
        let mut of =
            Candidates { option, what: ["field", "fields"], patterns, figure: "most events", ..Candidates::default() };
        let mut looked_at = 0;
        let needed = ColumnSet::of(&["time"]);
        let filter = EventFilter::default();
        let events = Events {
            filter: &filter,
            fields: &[],
            choose: choice(&self.filter),
            needed,
            with_fields: true,
            times: None,
        };
        events.read(recording.archive(), TimeRange::default(), &mut |event| {
            let mut has_fields = !wanted.is_empty();
            for path in &self.sums {
                let mut is_there = false;
                path.each(event.fields, &mut |_| is_there = true);
                has_fields &= is_there;
            }
            let passes = self.fields.iter().all(|filter| filter.accepts(event.fields));
            of.passing += usize::from(if wanted.is_empty() { passes } else { has_fields });
            event.fields.fields.iter().for_each(|(name, _)| of.add((*name).to_owned(), 1));
            looked_at += 1;
            if looked_at < LOOKED_AT { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
        })?;
        Ok(of)
    }
}
