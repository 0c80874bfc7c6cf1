//! `dump objectref`: kernel objects with their handles, or mapped views: who shares them, who inherits them, what is left.

mod columns;
mod history;
mod lives;
mod options;
mod references;
#[cfg(test)]
mod tests;
mod views;
mod views_of_objects;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::{HandleRow, MappedViewRow, ObjectRow, ProcessRow, ThreadRow};
use tracesift_trace::schema::Row as _;
use tracesift_trace::{ProcessId, StackId, ThreadId, view};

pub use self::options::{Options, Sort};

use self::columns::{COLUMNS, HandleOf, Row, ViewOf};
use self::lives::{Held, Life, collect, is_inherited};
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::Ask;
use crate::candidates::Candidates;
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::method_patterns::MethodPatterns;
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::question::exit_stacks::ExitStacks;
use crate::question::handles::hexadecimal;
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::shown::Shown;
use crate::stack_filter::StackFilter;
use crate::stack_lines::StackLines;

view! {
    /// The columns of a handle that the question needs.
    #[derive(Clone, Debug)]
    struct HandleView of HandleRow {
        time, start, process, thread, stack, owner, handle, object, object_type, name, made_by, close_stack, by_exit, open,
    }
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Which processes: one of them has a handle, made the object, or has the view.
    pub filter: ProcessFilter,
    /// Which processes made the object, or have the view.
    pub creator: ProcessPatterns,
    /// Objects, handles and views that touch this range.
    pub time: TimeRange,
    /// Whether the rows are mapped views.
    pub map: bool,
    /// Only objects with a handle, and only views, that were made in the range and that nobody closed.
    pub leak: bool,
    /// Whether what the end of a process closed counts as not closed.
    pub with_exited: bool,
    /// Only objects of which two processes have handles.
    pub multi_process: bool,
    /// Only objects of which a process has a handle from its creator.
    pub inherited: bool,
    /// Only objects of which a process has several handles at once.
    pub overlapped: bool,
    /// Types of objects.
    pub types: Patterns,
    /// Addresses of objects; keys of files of views.
    pub objects: Patterns,
    /// Names of objects; files of views.
    pub names: Patterns,
    /// Values of handles.
    pub handles: Patterns,
    /// Life of the object or view inside the recording, ns.
    pub duration: Between,
    /// Begin of the life, ns. Objects and views that were there before the recording have none.
    pub begin: Between,
    /// Numbers of objects.
    pub number: Between,
    /// Functions of a stack of the object, of one of its handles, or of the view.
    pub stack: MethodPatterns,
    /// Functions of the stack of the creation, or of mapping.
    pub create_stack: MethodPatterns,
    /// Functions of the stack of the deletion, or of unmapping.
    pub destroy_stack: MethodPatterns,
    /// Whether objects are shown with each event of their references.
    pub references: bool,
    /// Whether objects are shown with their events in order.
    pub history: bool,
    /// Only objects with mapped views.
    pub mapped: bool,
    /// Size of a view, bytes.
    pub map_size: Between,
    /// An address inside of a view.
    pub address: Option<i64>,
    /// Addresses of views.
    pub bases: Patterns,
    /// Order of the rows; `None`: by number of handles, or by size of the view.
    pub sort: Option<Sort>,
    /// How many rows.
    pub top: Top,
    /// The columns that somebody looks at.
    pub shown: Shown,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "objectref"
    }

    fn tables(&self) -> &'static [&'static str] {
        match (self.map, self.references) {
            (true, _) => &["mapped_views"],
            (false, false) => &["handles", "objects", "mapped_views"],
            (false, true) => &["handles", "objects", "mapped_views", "object_references"],
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        if self.map { Ok(Vec::new()) } else { self.candidates_of_objects(recording) }
    }

    fn limits(&self) -> Vec<&'static str> {
        let flags = [
            (!self.creator.is_empty(), "--creator"),
            (self.leak, "--leak"),
            (self.multi_process, "--multi-process"),
            (self.inherited, "--inherited"),
            (self.overlapped, "--overlapped"),
            (self.mapped, "--map"),
            (self.address.is_some(), "--address-in-map"),
            (self.map && !self.names.is_empty(), "--name"),
            (self.map && !self.objects.is_empty(), "--object"),
            (!self.bases.is_empty(), "--view-base"),
            (!self.stack.is_empty(), "--stack"),
            (!self.create_stack.is_empty(), "--create-stack"),
            (!self.destroy_stack.is_empty(), "--destroy-stack"),
        ];
        let given = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option);
        given
            .chain(self.duration.given(["--min-duration", "--max-duration"]))
            .chain(self.begin.given(["--min-time", "--max-time"]))
            .chain(self.number.given(["--min-id", "--max-id"]))
            .chain(self.map_size.given(["--min-map-size", "--max-map-size"]))
            .collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            None if self.map => "size",
            None | Some(Sort::Handles) => "handle_count",
            Some(Sort::Size) => "size",
            Some(Sort::Open) => "open",
            Some(Sort::Processes) => "processes",
            Some(Sort::References) => "references",
            Some(Sort::Duration) => "duration_ns",
            Some(Sort::Created) if self.map => "mapped_ns",
            Some(Sort::Created) => "created_ns",
            Some(Sort::Destroyed) if self.map => "unmapped_ns",
            Some(Sort::Destroyed) => "destroyed_ns",
        })
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = if self.map { views::COLUMNS.descriptions() } else { COLUMNS.descriptions() };
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(Self { time, begin: self.begin.shifted(origin), ..self.clone() })
    }

    // An import has single objects, handles and views with their times.
    fn sums_suffice(&self) -> bool {
        true
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if self.map { self.views(recording) } else { self.objects(recording) }
    }
}

/// Texts that many rows share, each once.
#[derive(Debug, Default)]
struct Texts {
    texts: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: Option<&String>) -> Option<u32> {
        let text = text?;
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        let number = u32::try_from(self.texts.len()).ok()?;
        self.texts.push(text.clone());
        self.numbers.insert(text.clone(), number);
        Some(number)
    }

    fn text(&self, number: Option<u32>) -> Option<&String> {
        self.texts.get(number? as usize)
    }

    /// Whether the patterns let each of the texts pass.
    fn matching(&self, patterns: &Patterns) -> Vec<bool> {
        self.texts.iter().map(|text| patterns.matches(text)).collect()
    }
}

/// The objects of a recording.
struct Known {
    texts: Texts,
    lives: Vec<Life>,
}

fn known(recording: &OpenRecording) -> Result<Known, Error> {
    let archive = recording.archive();
    let (mut texts, mut lives, mut handles) = (Texts::default(), Vec::new(), Vec::new());
    archive.scan(None, |row: &ObjectRow| {
        lives.push(Life {
            address: row.address,
            number: Some(row.object),
            start: row.start,
            end: row.time,
            there: row.there == Some(true),
            is_open: row.open == Some(true),
            process: row.process,
            stack: row.stack,
            end_stack: row.end_stack,
            object_type: texts.number(row.object_type.as_ref()),
            name: texts.number(row.name.as_ref()),
            references: Some((row.references, row.dereferences)),
            handles: Vec::new(),
            views: Vec::new(),
        });
    })?;
    let exits = ExitStacks::of(archive)?;
    archive.scan(None, |row: &HandleView| {
        // Handles of the window manager and of GDI have no object.
        let Some(object) = row.object else { return };
        handles.push(Held {
            object,
            start: row.start,
            end: row.time,
            is_open: row.open == Some(true),
            by_exit: row.by_exit == Some(true) || exits.has(row.close_stack),
            owner: row.owner,
            value: row.handle,
            process: row.process,
            thread: row.thread,
            stack: row.stack,
            close_stack: row.close_stack,
            made_by: row.made_by,
            object_type: texts.number(row.object_type.as_ref()),
            name: texts.number(row.name.as_ref()),
        });
    })?;
    let mut lives = collect(lives, handles);
    views_of_objects::add(archive, &texts, &mut lives)?;
    Ok(Known { texts, lives })
}

/// The ids of all threads.
fn tids(recording: &OpenRecording) -> Result<FxHashMap<ThreadId, i64>, Error> {
    Ok(recording.archive().rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row.tid)).collect())
}

/// The filters by stacks.
struct Stacks<'a> {
    any: StackFilter<'a>,
    create: StackFilter<'a>,
    destroy: StackFilter<'a>,
}

impl<'a> Stacks<'a> {
    fn new(question: &'a Question, recording: &OpenRecording) -> Result<Self, Error> {
        let filter = |patterns: &'a MethodPatterns| StackFilter::new(recording, patterns);
        let Question { stack, create_stack, destroy_stack, .. } = question;
        Ok(Self { any: filter(stack)?, create: filter(create_stack)?, destroy: filter(destroy_stack)? })
    }

    /// Whether what was made and ended with these stacks, and has all of `stacks`, passes.
    fn let_pass(
        &mut self,
        made: Option<StackId>,
        ended: Option<StackId>,
        mut stacks: impl Iterator<Item = StackId>,
    ) -> bool {
        self.create.lets_pass(made)
            && self.destroy.lets_pass(ended)
            && (self.any.is_empty() || stacks.any(|stack| self.any.lets_pass(Some(stack))))
    }
}

/// The filters of objects, made ready for many of them.
struct Chosen<'a> {
    question: &'a Question,
    /// `None`: whoever has it.
    processes: Option<FxHashSet<ProcessId>>,
    /// `None`: whoever made it.
    creators: Option<FxHashSet<ProcessId>>,
    types: Vec<bool>,
    names: Vec<bool>,
    /// Whether a name or type that nobody knows passes.
    unknown: [bool; 2],
}

impl Chosen<'_> {
    fn has(&self, life: &Life) -> bool {
        let Question { multi_process, overlapped, objects, duration, begin, number, .. } = self.question;
        let passes = |texts: &[bool], number: Option<u32>, unknown: bool| {
            number.map_or(unknown, |number| texts.get(number as usize).copied().unwrap_or(unknown))
        };
        let is_made = |creators: &FxHashSet<ProcessId>| life.process.is_some_and(|maker| creators.contains(&maker));
        self.creators.as_ref().is_none_or(is_made)
            && passes(&self.types, life.object_type, self.unknown[0])
            && passes(&self.names, life.name, self.unknown[1])
            && duration.contains(Some(life.duration()))
            && begin.contains(life.begin())
            && number.contains(life.number.map(i64::from))
            && (objects.is_empty() || objects.matches(&hexadecimal(life.address)))
            && (!multi_process || life.is_multi_process())
            && (!overlapped || life.is_overlapped())
            && self.has_view(life)
            && self.has_handle(life)
    }

    /// Whether one view passes the filters of views.
    fn has_view(&self, life: &Life) -> bool {
        let question = self.question;
        !question.asks_of_views() || life.views.iter().any(|view| question.has_map(view))
    }

    /// Whether one handle passes the filters of handles and of processes. The process that made the object needs no handle.
    fn has_handle(&self, life: &Life) -> bool {
        let Question { leak, with_exited, inherited, handles, .. } = self.question;
        let is_of_handles = *leak || *inherited || !handles.is_empty();
        let processes = self.processes.as_ref();
        let is_asked = |process: &ProcessId| processes.is_none_or(|processes| processes.contains(process));
        if !is_of_handles && (processes.is_none() || life.process.as_ref().is_some_and(is_asked)) {
            return true;
        }
        let range = self.question.time.bounds();
        life.handles.iter().any(|handle| {
            is_asked(&handle.owner)
                && (!leak || handle.is_leaked(range, *with_exited))
                && (!inherited || is_inherited(handle))
                && (handles.is_empty() || handles.matches(&hexadecimal(handle.value)))
        })
    }
}

impl Question {
    /// The processes that pass the filter.
    fn accepted(&self, processes: &[ProcessRow]) -> FxHashSet<ProcessId> {
        Processes::new(processes).accepted(&self.filter).map(|(_, row)| row.process).collect()
    }

    /// Whether something is asked of the mapped views of objects.
    fn asks_of_views(&self) -> bool {
        let Self { mapped, map_size, address, bases, .. } = self;
        *mapped || *map_size != Between::default() || address.is_some() || !bases.is_empty()
    }

    /// The processes that may have made an object. `None`: any.
    fn creators(&self, processes: &[ProcessRow]) -> Option<FxHashSet<ProcessId>> {
        let filter = ProcessFilter { process: self.creator.clone(), ..ProcessFilter::default() };
        let accepted = || Processes::new(processes).accepted(&filter).map(|(_, row)| row.process).collect();
        (!self.creator.is_empty()).then(accepted)
    }

    /// The place of an object in the order.
    fn key(&self, life: &Life) -> (i64, i64, i64) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let key = match self.sort.unwrap_or_default() {
            Sort::Handles | Sort::Size => count(life.handles.len()),
            Sort::Open => count(life.handles.iter().filter(|handle| handle.is_open).count()),
            Sort::Processes => count(life.processes()),
            // An object without figures stands before one without references.
            Sort::References => life.references.map_or(-1, |(taken, _)| taken),
            Sort::Duration => life.duration(),
            Sort::Created => {
                if life.there {
                    i64::MIN
                } else {
                    life.start
                }
            }
            Sort::Destroyed => {
                if life.is_open {
                    i64::MAX
                } else {
                    life.end
                }
            }
        };
        (key, life.start, life.address)
    }

    /// Whether somebody looks at stacks.
    fn shows_stacks(&self) -> bool {
        ["create_stack", "destroy_stack", "handles", "views", "history"].iter().any(|key| self.shown.has(key))
    }

    /// The objects of a recording.
    fn objects(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let (archive, file) = (recording.archive(), &recording.file);
        let Known { texts, mut lives } = known(recording)?;
        if lives.is_empty() {
            let is_linux = archive.info().kind == "perf";
            let why = file.absence_with_cure(HandleRow::TABLE.name, RowSource::windows("Handle"), is_linux);
            return Ok(file.absent("objects", why));
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let chosen = Chosen {
            question: self,
            processes: (!self.filter.is_empty()).then(|| self.accepted(&processes)),
            creators: self.creators(&processes),
            types: texts.matching(&self.types),
            names: texts.matching(&self.names),
            unknown: [self.types.matches(""), self.names.matches("")],
        };
        let range = self.time.bounds();
        let mut stacks = Stacks::new(self, recording)?;
        lives.retain_mut(|life| {
            life.cut(range) && chosen.has(life) && stacks.let_pass(life.stack, life.stack_of_end(), life.stacks())
        });
        let leaked =
            |life: &Life| life.handles.iter().filter(|handle| handle.is_leaked(range, self.with_exited)).count();
        let facts = vec![
            Fact::new("objects", Kind::Count, lives.len()),
            Fact::new("handles", Kind::Count, lives.iter().map(|life| life.handles.len()).sum::<usize>()),
            Fact::new("of them not closed", Kind::Count, lives.iter().map(leaked).sum::<usize>()),
        ];
        lives.sort_by_cached_key(|life| self.key(life));
        self.top.apply(&mut lives);
        let by_id: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
        let name_and_pid = |process: ProcessId| by_id.get(&process).map(|row| (row.name.clone(), row.pid));
        let tids = tids(recording)?;
        let mut lines = StackLines::new(recording, self.shows_stacks())?;
        let handle = |held: &Held, lines: &mut StackLines| HandleOf {
            stacks: [held.stack, held.close_stack].map(|stack| lines.of(stack)),
            held: *held,
            owner: name_and_pid(held.owner),
            maker: held.process.and_then(name_and_pid),
            tid: held.thread.and_then(|thread| tids.get(&thread)).copied(),
        };
        let view = |mapped: &MappedViewRow, lines: &mut StackLines| ViewOf {
            stacks: [mapped.stack, mapped.end_stack].map(|stack| lines.of(stack)),
            view: *mapped,
            process: name_and_pid(mapped.process),
            tid: mapped.thread.and_then(|thread| tids.get(&thread)).copied(),
        };
        let row = |life: Life| Row {
            stacks: [life.stack, life.stack_of_end()].map(|stack| lines.of(stack)),
            process: life.process.and_then(|process| by_id.get(&process)).map(|row| (*row).clone()),
            object_type: texts.text(life.object_type).cloned(),
            name: texts.text(life.name).cloned(),
            leaked: leaked(&life),
            handles: life.handles.iter().map(|held| handle(held, &mut lines)).collect(),
            views: life.views.iter().map(|mapped| view(mapped, &mut lines)).collect(),
            references: Vec::new(),
            history: None,
            life,
        };
        let mut rows: Vec<Row> = lives.into_iter().map(row).collect();
        let mut notes = Vec::new();
        if self.references {
            notes.extend(references::add(recording, &mut rows, range, &by_id, &tids)?);
        }
        if self.history {
            rows.iter_mut().for_each(|row| row.history = Some(history::table(row, range)));
        }
        let section = COLUMNS.section_showing(file, &rows, facts, &self.shown);
        Ok(Section { notes, ..section })
    }

    fn candidates_of_objects(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let given = [&self.types, &self.names, &self.objects, &self.handles];
        if given.iter().all(|patterns| patterns.is_empty()) {
            return Ok(Vec::new());
        }
        let Known { texts, lives } = known(recording)?;
        let handles = |life: &Life| i64::try_from(life.handles.len()).unwrap_or(i64::MAX);
        let named = |number: fn(&Life) -> Option<u32>| {
            let texts = &texts;
            lives.iter().filter_map(move |life| Some((texts.text(number(life))?.clone(), handles(life))))
        };
        let mut found = Vec::new();
        let mut add = |option, what, patterns: &Patterns, names: Vec<(String, i64)>| {
            if !patterns.is_empty() {
                let passes = |text: &str| patterns.matches(text);
                found.push(Candidates::of(option, what, &patterns.to_string(), names, passes));
            }
        };
        add("--type", ["type", "types"], &self.types, named(|life| life.object_type).collect());
        add("--name", ["name", "names"], &self.names, named(|life| life.name).collect());
        let addresses = lives.iter().map(|life| (hexadecimal(life.address), handles(life)));
        add("--object", ["object", "objects"], &self.objects, addresses.collect());
        let all = lives.iter().flat_map(|life| &life.handles).map(|handle| (hexadecimal(handle.value), 1));
        add("--handle", ["handle", "handles"], &self.handles, all.collect());
        Ok(found)
    }
}
