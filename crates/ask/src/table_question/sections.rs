//! The answers about parts of a recording.

use tracesift_analysis::Span;
use tracesift_archive::Error;
use tracesift_grammar::TimeRange;

use super::asked::Asked;
use super::dimension::Of;
use super::list::{self, Listing};
use super::names::Names;
use super::plan::Plan;
use super::{Imported, built_in_tags, candidates, groups, layout, options, rows, stacks_below, summary};
use crate::answer::{Column, Section, View};
use crate::ask::{Ask, RANGES_AT_ONCE, Reads};
use crate::candidates::Candidates;
use crate::columns;
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::order::Between;
use crate::processes;
use crate::recording::OpenRecording;
use crate::shown::Shown;

impl Ask for Asked {
    fn name(&self) -> &'static str {
        self.stated.name
    }

    fn tables(&self) -> &'static [&'static str] {
        self.stated.tables
    }

    fn reads(&self) -> Reads {
        let is_code =
            |place: &usize| matches!(self.stated.dimensions[*place].of, Of::Method | Of::Stack | Of::Module | Of::Tag);
        // Where nothing fits a name, the methods of all samples and waits are counted.
        let names_code = self.patterns.iter().any(|(place, _)| is_code(place));
        match self.stated.reads.filter(|_| self.listing.is_none() && self.inside.is_empty() && !names_code) {
            None => Reads::Everything,
            Some(tables) if self.by.iter().any(is_code) => Reads::Tables(tables),
            Some(tables) => Reads::TablesWithoutStacks(tables),
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        self.patterns.iter().map(|(place, wanted)| candidates::of(&self.stated, recording, *place, wanted)).collect()
    }

    fn limits(&self) -> Vec<&'static str> {
        let stated = &self.stated;
        let given =
            |(place, between): &(usize, Between)| between.given(stated.limits[*place].options).collect::<Vec<_>>();
        let of_group = |(place, between): &(usize, Between)| {
            let limits = stated.measures[*place].limits;
            limits.map_or_else(Vec::new, |limits| between.given(limits.options).collect())
        };
        let of_groups = self.group_limits.iter().flat_map(of_group);
        let conditions = self.conditions.iter().map(|place| stated.conditions[*place].option);
        let exited = self.include_exited.then_some(options::INCLUDE_EXITED);
        let inside = Inside::options(&self.inside);
        self.limits.iter().flat_map(given).chain(of_groups).chain(conditions).chain(exited).chain(inside).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        // A tree has its own order, in which only siblings are sorted.
        self.sort
            .filter(|_| self.listing != Some(Listing::Flat) && !self.tree)
            .map(|place| self.stated.measures[place].column.key)
    }

    fn columns(&self) -> Vec<Column> {
        if self.listing == Some(Listing::Flat) {
            return list::descriptions(&self.stated);
        }
        let mut columns = layout::descriptions(&self.stated, Some((&self.by, self.tree)));
        let below = match self.listing {
            Some(Listing::OfGroups(_)) => Some(layout::ROWS),
            Some(Listing::Stacks(_)) => Some(stacks_below::STACKS),
            _ => None,
        };
        let below = below.and_then(|below| columns.iter_mut().find(|column| column.key == below.key));
        below.into_iter().for_each(|column| column.view = View::Always);
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(self.of_range(time, origin))
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        if self.listing != Some(Listing::Flat) {
            return Some(Box::new(Self { shown: shown.clone(), ..self.clone() }));
        }
        // A list has all of its columns. Those from other tables stay empty where nobody looks at them.
        let has_joined = |column: &Column| self.stated.joined.contains(&column.key);
        let mut joined = self.stated.list.iter().filter(|column| has_joined(column)).peekable();
        joined.peek()?;
        let joins = joined.any(|column| shown.has(column.key));
        Some(Box::new(Self { joins, ..self.clone() }))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.sections(recording, &[self.time])?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        self.sections(recording, ranges)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }

    fn sums_suffice(&self) -> bool {
        let is_of_sums = self.listing.is_none() && self.limits.is_empty() && self.conditions.is_empty();
        let is_everything = self.time.is_everything() && self.inside.is_empty();
        match self.stated.imported {
            Imported::Nothing => false,
            Imported::Sums => is_everything && is_of_sums,
            Imported::Whole => is_everything,
            Imported::Rows => true,
        }
    }
}

impl Asked {
    /// The answers about several parts of a recording, which follow each other, from one reading.
    fn sections(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Result<Vec<Section>, Error> {
        let absent = match self.absent(recording, ranges) {
            Some(absent) => Some(absent),
            None => Inside::absent(&self.inside, recording)?,
        };
        if let Some(absent) = absent {
            return Ok(ranges.iter().map(|_| absent.clone()).collect());
        }
        let archive = recording.archive();
        let stated = &self.stated;
        let mut plan = Plan::new(self);
        if recording.file.is_imported {
            plan.unknown = self.unknown_in_imports();
            // Sums that tell nothing of these rows are not read.
            plan.joined &= !stated.joined.iter().any(|key| plan.unknown.contains(key));
        }
        plan.inside = Inside::times(&self.inside, recording)?;
        let processes = processes::read(archive, &self.filter, &self.shown)?;
        // Where the idle loop counts without a filter, whoever leaves out another process has it, too.
        let asked = match stated.with_idle && self.filter.has_only_names() {
            true => processes.iter().filter(|row| self.filter.accepts(row, None)).collect(),
            false => processes::asked(&processes, &self.filter),
        };
        // A series has no notes: they are about a whole answer. Totals alone have none either.
        let notes = match ranges {
            [range] if !self.shown.is_nothing() => (stated.rows.notes)(archive, *range, &asked)?,
            _ => Vec::new(),
        };
        let accepted = asked.into_iter().map(|row| (row.process, row)).collect();
        let mut names = Names::load(recording, &plan, accepted)?;
        let mut read = match summary::of(self, &plan, archive, ranges) {
            Some(summary) => summary::read(&summary, self, &plan, &mut names, archive)?,
            None => (stated.rows.read)(self, &plan, &mut names, recording, ranges)?,
        };
        for dimension in plan.keys.iter().filter(|place| matches!(stated.dimensions[**place].of, Of::Tag)) {
            let set = self.tags.clone().unwrap_or_else(built_in_tags);
            let key = plan.key_of(*dimension);
            let stacks = read.numbers.chunks(read.width).map(|numbers| numbers[key]);
            names.tag_stacks(recording, *dimension, set, stacks)?;
        }
        let whole = Span::new(recording.file.start, recording.file.end);
        let recorded = |range: &TimeRange| {
            let (start, end) = range.bounds();
            whole.intersect(Span::new(start, end))
        };
        let spans: Vec<Span> = ranges.iter().map(recorded).collect();
        let groups = groups::of_ranges(self, &plan, &mut read, &spans, &mut names);
        if plan.numbers_stacks {
            names.number_stacks(&read.numbers, read.width, &plan);
        }
        let section = |groups| {
            let (rows, facts) = rows::of_groups(self, &plan, &mut names, groups, &mut read);
            let section = columns::section_of(&recording.file, rows, facts, &self.shown);
            Section { notes: notes.clone(), ..section }
        };
        let sections = groups.into_iter().map(section);
        let with_time = |(mut section, range): (Section, &TimeRange)| {
            section.facts.extend(Inside::fact(plan.inside.as_ref(), recording, *range));
            section
        };
        Ok(sections.zip(ranges).map(with_time).collect())
    }

    /// The keys of the measures that an import does not tell.
    fn unknown_in_imports(&self) -> &'static [&'static str] {
        let stated = &self.stated;
        let is_summed = |place: &usize| stated.per_process.contains(&stated.dimensions[*place].name);
        let is_per_process = self.by.iter().all(is_summed) && self.listing.is_none() && !self.asks_of_rows();
        if is_per_process { stated.unknown_per_process } else { stated.unknown_in_imports }
    }

    /// The answer about each of the ranges, where the recording has nothing to make one of.
    fn absent(&self, recording: &OpenRecording, ranges: &[TimeRange]) -> Option<Section> {
        let archive = recording.archive();
        let file = &recording.file;
        let stated = &self.stated;
        if (stated.rows.count)(archive) == 0 {
            let absence = file.absence_with_cure(stated.table.name, stated.source, archive.info().kind == "perf");
            return Some(file.absent(stated.what[1], absence));
        }
        if ranges.iter().all(TimeRange::is_everything) {
            return None;
        }
        if stated.only_whole {
            return Some(file.absent(stated.what[1], "the archive has their sums over the whole recording"));
        }
        let parts = stated.parts?;
        let is_left_out = file.left_out.iter().any(|table| table == parts.name);
        is_left_out.then(|| {
            let text = format!("figures of a part need the table {}, which was not extracted", parts.name);
            file.absent(stated.what[1], &*text)
        })
    }
}
