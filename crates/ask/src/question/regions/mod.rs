//! `dump regions`: spans between two events, such as collections, requests and tasks, added up or one by one.

mod columns;
mod options;
mod sums;
mod tree;

use std::sync::Arc;

use clap::ValueEnum;
use rustc_hash::FxHashMap;
use tracesift_analysis::Span;
use tracesift_analysis::regions::{Definitions, Loose, Nesting, Region, Regions};
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, ThreadId};

pub use self::columns::{COLUMNS, LIST, Row, Single};
pub use self::options::Options;
pub use crate::regions::source::{Pair, PairError};

use self::sums::Sums;
use crate::answer::{Column, Fact, Kind, Section, View};
use crate::ask::{Ask, RANGES_AT_ONCE};
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::limit::{Limit, LimitKind};
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::recording::OpenRecording;
use crate::regions;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum By {
    /// The process of the event that begins them.
    Process,
    /// The thread of that event.
    Thread,
    /// Their definition.
    Region,
    /// Their name.
    Name,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Sum of their times; of single regions their time.
    #[default]
    Sum,
    /// Number of regions.
    Count,
    /// Time in which at least one of them ran.
    Union,
    /// The longest one.
    Longest,
    /// Time without regions that lie in them.
    Exclusive,
    /// Begin of single regions.
    Start,
    /// Process, region and name.
    Name,
}

/// How the regions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Added up.
    #[default]
    Groups,
    /// One by one.
    List,
    /// Added up below the regions around them.
    Tree,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Regions with a part in this range; their times are cut to it.
    pub time: TimeRange,
    /// How many rows per file, and in a tree below each row.
    pub top: Top,
    /// What begins and ends regions.
    pub definitions: Arc<Definitions>,
    /// Definitions with such a name or path.
    pub region: Patterns,
    /// Regions with such a name.
    pub name: Patterns,
    /// Their whole time, ns.
    pub duration: Between,
    /// What a row is about.
    pub by: Vec<By>,
    /// How they are shown.
    pub show: Show,
    /// Order of the rows.
    pub sort: Sort,
}

impl Question {
    /// All regions of these definitions, by process and definition.
    #[must_use]
    pub fn new(definitions: Arc<Definitions>) -> Self {
        Self {
            filter: ProcessFilter::default(),
            time: TimeRange::default(),
            top: Top::default(),
            definitions,
            region: Patterns::default(),
            name: Patterns::default(),
            duration: Between::default(),
            by: vec![By::Process, By::Region],
            show: Show::Groups,
            sort: Sort::Sum,
        }
    }
}

/// The regions of a recording, and whom they are of.
struct Found {
    regions: Regions,
    nesting: Nesting,
    /// Rows of the processes that are asked for.
    processes: FxHashMap<ProcessId, Arc<ProcessRow>>,
    threads: FxHashMap<ThreadId, Arc<ThreadRow>>,
}

/// What the regions of a row have in common.
type Key = (Option<ProcessId>, Option<ThreadId>, Option<u32>, Option<u32>);

impl Question {
    /// The definitions, without events of those that are not asked for: their regions have no part in the nesting of others.
    fn chosen(&self) -> Arc<Definitions> {
        if self.region.is_empty() {
            return self.definitions.clone();
        }
        let mut chosen = Definitions::clone(&self.definitions);
        for definition in &mut chosen.all {
            if !self.region.matches_any(&[&definition.name, &definition.path]) {
                [&mut definition.starts, &mut definition.stops].into_iter().for_each(Vec::clear);
                definition.durations.clear();
            }
        }
        Arc::new(chosen)
    }

    fn read(&self, recording: &OpenRecording) -> Result<Found, Error> {
        let archive = recording.archive();
        let definitions = self.chosen();
        let regions = regions::read(archive, &definitions, self.show == Show::List)?;
        let nesting = Nesting::of(&regions.regions, &definitions);
        let processes: Vec<ProcessRow> = archive.rows()?;
        let mut is_asked = vec![false; processes.len()];
        Processes::new(&processes).accepted(&self.filter).for_each(|(place, _)| is_asked[place] = true);
        let asked = processes.into_iter().zip(is_asked).filter(|(_, is_asked)| *is_asked);
        let processes = asked.map(|(row, _)| (row.process, Arc::new(row))).collect();
        let threads = archive.rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, Arc::new(row)));
        Ok(Found { regions, nesting, processes, threads: threads.collect() })
    }

    /// Whether a region of this process and name is asked for.
    fn is_asked(&self, found: &Found, process: Option<ProcessId>, name: &str) -> bool {
        let of_process = match process {
            Some(process) => found.processes.contains_key(&process),
            None => self.filter.is_empty(),
        };
        of_process && self.name.matches(name)
    }

    /// Whether a region is asked for, wherever it lies in time.
    fn takes(&self, found: &Found, region: &Region) -> bool {
        let duration = region.end.map(|end| end.saturating_sub(region.start));
        self.duration.contains(duration) && self.is_asked(found, region.process, found.regions.name(region.name))
    }

    fn key(&self, process: Option<ProcessId>, thread: Option<ThreadId>, definition: u32, name: u32) -> Key {
        let has = |by| self.by.contains(&by);
        // Rows of threads have their process.
        let process = process.filter(|_| has(By::Process) || has(By::Thread));
        (
            process,
            thread.filter(|_| has(By::Thread)),
            has(By::Region).then_some(definition),
            has(By::Name).then_some(name),
        )
    }

    fn row(&self, found: &Found, (process, thread, definition, name): Key, sums: Sums) -> Row {
        let definition = definition.and_then(|definition| self.definitions.all.get(definition as usize));
        Row {
            process: process.and_then(|process| found.processes.get(&process)).cloned(),
            thread: thread.and_then(|thread| found.threads.get(&thread)).cloned(),
            region: definition.map(|definition| definition.name.clone()),
            path: definition.map(|definition| definition.path.clone()),
            name: name.map(|name| found.regions.name(tracesift_analysis::regions::NameId(name)).to_owned()),
            depth: None,
            figures: sums.figures(),
        }
    }

    /// The events that are asked for and belong to no region. Nothing is known of their time, so that a limit of it lets none pass.
    fn loose<'a>(&'a self, found: &'a Found, range: Span) -> impl Iterator<Item = &'a Loose> {
        let has_limit = self.duration != Between::default();
        found.regions.loose.iter().filter(move |loose| {
            !has_limit
                && range.contains(loose.time)
                && self.is_asked(found, loose.process, found.regions.name(loose.name))
        })
    }

    /// The regions added up, and the sums of all.
    fn groups(&self, found: &Found, range: Span) -> (Vec<Row>, Sums) {
        let exclusive = found.nesting.exclusive(&found.regions.regions, range);
        let mut groups: FxHashMap<Key, Sums> = FxHashMap::default();
        let mut all = Sums::default();
        for (region, exclusive) in found.regions.regions.iter().zip(exclusive) {
            let key = self.key(region.process, region.thread, region.definition, region.name.0);
            match part(region, range) {
                Part::None => {}
                _ if !self.takes(found, region) => {}
                Part::Open => [&mut all, groups.entry(key).or_default()].into_iter().for_each(Sums::open),
                Part::Of(part) => {
                    all.region(part, exclusive);
                    groups.entry(key).or_default().region(part, exclusive);
                }
            }
        }
        for loose in self.loose(found, range) {
            let key = self.key(loose.process, loose.thread, loose.definition, loose.name.0);
            [&mut all, groups.entry(key).or_default()].into_iter().for_each(|sums| sums.loose(loose.kind));
        }
        let mut rows: Vec<Row> = groups.into_iter().map(|(key, sums)| self.row(found, key, sums)).collect();
        // Where nothing but ends without a begin is of a name, a row would say nothing.
        rows.retain(|row| row.figures.count + row.figures.open + row.figures.ignored > 0);
        rows.sort_by_cached_key(|row| (self.figure(row), row.order()));
        (rows, all)
    }

    /// The figure by which rows are sorted.
    fn figure(&self, row: &Row) -> i64 {
        match self.sort {
            Sort::Sum => row.figures.sum,
            Sort::Count => row.figures.count,
            Sort::Union => row.figures.union,
            Sort::Longest => row.figures.longest.map_or(0, Span::length),
            Sort::Exclusive => row.figures.exclusive,
            Sort::Start | Sort::Name => 0,
        }
    }

    fn list(&self, found: &Found, range: Span) -> (Vec<Single>, Sums) {
        let exclusive = found.nesting.exclusive(&found.regions.regions, range);
        let mut all = Sums::default();
        let mut rows = Vec::new();
        for (place, region) in found.regions.regions.iter().enumerate() {
            let part = part(region, range);
            if matches!(part, Part::None) || !self.takes(found, region) {
                continue;
            }
            match part {
                Part::Of(part) => all.region(part, exclusive[place]),
                _ => all.open(),
            }
            let definition = self.definitions.all.get(region.definition as usize);
            rows.push(Single {
                process: region.process.and_then(|process| found.processes.get(&process)).cloned(),
                thread: region.thread.and_then(|thread| found.threads.get(&thread)).cloned(),
                region: definition.map(|definition| definition.name.clone()).unwrap_or_default(),
                path: definition.map(|definition| definition.path.clone()).unwrap_or_default(),
                name: found.regions.name(region.name).to_owned(),
                depth: found.nesting.depths.get(place).copied().unwrap_or(0),
                start: region.start,
                end: region.end,
                exclusive: region.end.and(exclusive.get(place).copied()),
                fields: region.fields.as_deref().map(str::to_owned),
            });
        }
        self.loose(found, range).for_each(|loose| all.loose(loose.kind));
        match self.sort {
            Sort::Sum | Sort::Longest | Sort::Count | Sort::Union => {
                rows.sort_by_key(|row| (row.duration(), row.start));
            }
            Sort::Exclusive => rows.sort_by_key(|row| (row.exclusive, row.start)),
            Sort::Start => rows.sort_by_key(|row| (row.start, std::cmp::Reverse(row.end))),
            Sort::Name => rows.sort_by(|a, b| (&a.path, &a.name, a.start).cmp(&(&b.path, &b.name, b.start))),
        }
        (rows, all)
    }

    /// The answer about a part of a recording.
    fn answer(&self, recording: &OpenRecording, found: &Found, time: TimeRange) -> Section {
        let (start, end) = time.bounds();
        let range = Span::new(start, end);
        let file = &recording.file;
        let (mut section, all) = match self.show {
            Show::List => {
                let (mut rows, all) = self.list(found, range);
                self.top.apply(&mut rows);
                (LIST.section(file, &rows, Vec::new()), all)
            }
            Show::Tree => {
                let (_, all) = self.groups(found, range);
                (COLUMNS.section(file, &tree::rows(self, found, range), Vec::new()), all)
            }
            Show::Groups => {
                let (mut rows, all) = self.groups(found, range);
                self.top.apply(&mut rows);
                (COLUMNS.section(file, &rows, Vec::new()), all)
            }
        };
        let figures = all.figures();
        section.facts.push(Fact::new("regions", Kind::Count, figures.count));
        section.facts.push(Fact::new("sum", Kind::Milliseconds, figures.sum));
        section.facts.push(Fact::local("united", Kind::Milliseconds, figures.union));
        let others = [("open", figures.open), ("ends alone", figures.stops), ("ignored", figures.ignored)];
        let others = others.into_iter().filter(|(_, count)| *count > 0);
        section.facts.extend(others.map(|(what, count)| Fact::new(what, Kind::Count, count)));
        if found.regions.dropped > 0 {
            let text =
                format!("{} events are in no region: there are more than fit into memory", found.regions.dropped);
            section.warnings.push(Limit::new(LimitKind::Other, text));
        }
        section
    }
}

/// What of a region lies in a time range.
enum Part {
    None,
    /// It begins before the end of the range, and no event ends it.
    Open,
    Of(Span),
}

fn part(region: &Region, range: Span) -> Part {
    match region.end {
        None if region.start < range.end => Part::Open,
        None => Part::None,
        Some(end) => Span::new(region.start, end).clip(range).map_or(Part::None, Part::Of),
    }
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "regions"
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let found = regions::read(recording.archive(), &self.definitions, false)?;
        let path =
            |region: &Region| self.definitions.all.get(region.definition as usize).map(|known| known.path.clone());
        let mut candidates = Vec::new();
        if !self.region.is_empty() {
            let names = found.regions.iter().filter_map(|region| Some((path(region)?, 1)));
            let passes = |path: &str| self.region.matches_any(&[path, path.rsplit('/').next().unwrap_or(path)]);
            candidates.push(Candidates::of(
                "--region",
                ["definition", "definitions"],
                &self.region.to_string(),
                names,
                passes,
            ));
        }
        if !self.name.is_empty() {
            let names = found.regions.iter().map(|region| (found.name(region.name).to_owned(), 1));
            let passes = |name: &str| self.name.matches(name);
            candidates.push(Candidates::of("--name", ["region", "regions"], &self.name.to_string(), names, passes));
        }
        Ok(candidates)
    }

    fn limits(&self) -> Vec<&'static str> {
        self.duration.given(["--min-duration", "--max-duration"]).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        match (self.show, self.sort) {
            (Show::Tree, _) | (_, Sort::Name) => None,
            (Show::List, Sort::Start) => Some("start_ns"),
            (Show::List, Sort::Exclusive) | (_, Sort::Exclusive) => Some("exclusive_ns"),
            (Show::List, _) => Some("duration_ns"),
            (Show::Groups, Sort::Count) => Some("count"),
            (Show::Groups, Sort::Union) => Some("union_ns"),
            (Show::Groups, Sort::Longest) => Some("longest_ns"),
            (Show::Groups, _) => Some("sum_ns"),
        }
    }

    fn columns(&self) -> Vec<Column> {
        if self.show == Show::List {
            return LIST.descriptions();
        }
        let (has, is_tree) = (|by| self.by.contains(&by), self.show == Show::Tree);
        let of_threads = has(By::Thread) && !is_tree;
        let mut hidden: Vec<&str> = Vec::new();
        let mut hide = |keys: &[&'static str], hides: bool| hidden.extend(keys.iter().filter(|_| hides));
        hide(&columns::OF_PROCESSES, is_tree || !(has(By::Process) || of_threads));
        hide(&["process_label"], of_threads);
        hide(&columns::OF_THREADS, !of_threads);
        hide(&columns::OF_REGIONS, !is_tree && !has(By::Region));
        hide(&columns::OF_NAMES, !is_tree && !has(By::Name));
        hide(&columns::OF_TREE, !is_tree);
        let mut columns = COLUMNS.descriptions();
        for column in &mut columns {
            if hidden.contains(&column.key) {
                column.view = View::Nowhere;
            } else if is_tree && ["region", "name"].contains(&column.key) {
                // The column of the tree has both.
                column.view = View::Machine;
            }
        }
        columns
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        Ok(self.series(recording, &[self.time], 0)?.pop().unwrap_or_default())
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], _: i64) -> Result<Vec<Section>, Error> {
        if !regions::has_events(recording.archive(), &self.definitions)? {
            let absence = recording.file.absence_with_cure_anywhere(EventRow::TABLE.name, "Default");
            return Ok(ranges.iter().map(|_| recording.file.absent("regions", absence.clone())).collect());
        }
        let found = self.read(recording)?;
        Ok(ranges.iter().map(|range| self.answer(recording, &found, *range)).collect())
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}
