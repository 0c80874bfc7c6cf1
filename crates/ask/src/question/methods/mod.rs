//! `dump cpu --methods …`: CPU, wait and ready per process and method.
//!
//! Inclusive CPU counts a sample once for each method in its stack; wait and ready are unions over the threads of the process. Figures come
//! from the archive's summary where it is sure to have all that the question needs, else from samples and switches.

pub mod columns;
mod from_events;
mod from_summary;
mod modules;
mod notes;
mod order;
mod processes;
mod series;
mod shared;
mod spans;
mod tags;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{By, Granularity};
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ProcessRow, ProcessSummaryRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

pub use self::columns::{COLUMNS, Row};
pub(crate) use self::notes::NO_LINES;
pub use self::order::{Kind as RowKind, Method, Ranges, Sort};
pub use self::spans::Spans;
pub use self::tags::Tags;
use crate::method_patterns::MethodPatterns;

use self::columns::{OF_MODULES, OF_PROCESSES, OF_SPANS, OF_TIMES};
use self::from_summary::FromSummary;
use self::modules::MethodModules;
use self::processes::OfProcesses;
use crate::answer::{Column, Fact, Group, Kind, Section, View};
use crate::ask::{Ask, RANGES_AT_ONCE, Reads};
use crate::candidates::{self, Candidates};
use crate::core_columns as of_cores;
use crate::filter::ProcessFilter;
use crate::inside::Inside;
use crate::label_cut::LabelCut;
use crate::order::Top;
use crate::process_columns::name_with_marks;
use crate::recording::OpenRecording;
use crate::shown::Shown;
pub use crate::totals::Totals;
use tracesift_grammar::TimeRange;

view! {
    /// How many methods a process has, and how many of them the summary keeps.
    #[derive(Clone, Copy, Debug)]
    struct KeptMethods of ProcessSummaryRow { process, methods, methods_kept }
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Rows of methods: which.
    pub methods: Option<MethodPatterns>,
    /// Rows of stack tags: which.
    pub tags: Option<Tags>,
    /// What is one method.
    pub granularity: Granularity,
    /// A row per thread.
    pub per_thread: bool,
    /// Samples and spans in this range.
    pub time: TimeRange,
    /// What chooses times in it.
    pub inside: Vec<Inside>,
    /// Which figures a row must have.
    pub ranges: Ranges,
    /// Order of the rows, and of the processes.
    pub sort: Sort,
    /// How many processes per file.
    pub top: Top,
    /// How many methods per process.
    pub top_methods: Top,
    /// What to add up.
    pub totals: Totals,
    /// Distributions of the single spans, priorities and CPUs.
    pub percentiles: bool,
    /// CPU per kind of core, and clock rates.
    pub cores: bool,
    /// First and last time and their difference.
    pub first_last: bool,
    /// The process on every line in place of a line of its own.
    pub process_on_row: bool,
    /// Which part of a method's name a table shows.
    pub cut: LabelCut,
    /// Facts of the methods' modules; only of those that the patterns accept.
    pub modules: Option<Patterns>,
    /// Which columns somebody looks at.
    pub shown: Shown,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cpu_samples", "context_switches"]
    }

    fn reads(&self) -> Reads {
        let of_others = self.cores || !self.inside.is_empty();
        if of_others { Reads::Everything } else { Reads::Tables(self.tables()) }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn sorted_by(&self) -> Option<&'static str> {
        Some(match self.sort {
            Sort::Cpu => "cpu_ns",
            Sort::Exclusive => "exclusive_cpu_ns",
            Sort::Wait | Sort::CpuWait | Sort::CpuWaitReady => "wait_ns",
            Sort::Ready => "ready_ns",
            Sort::LongestWait => "wait_longest_ns",
            Sort::ReadyAverage => "ready_average_ns",
            Sort::Samples => "samples",
            Sort::Switches => "switches",
            Sort::Threads => "threads",
            Sort::First => "first_ns",
            Sort::Last => "last_ns",
            Sort::Duration => "duration_ns",
            Sort::Name => return None,
        })
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut all = match &self.methods {
            Some(patterns) => candidates::of_methods(recording, "--methods", patterns)?,
            None => Vec::new(),
        };
        if let Some(tags) = self.tags.as_ref().filter(|tags| !tags.patterns.is_empty()) {
            let names = tags.set.tags().map(|tag| tags.set.name(tag).to_owned());
            all.extend(candidates::of_tags(recording, &tags.patterns, names, |name| tags.want(name))?);
        }
        Ok(all)
    }

    fn limits(&self) -> Vec<&'static str> {
        let mut limits = self.ranges.given();
        limits.extend(Inside::options(&self.inside));
        limits.extend(self.modules.as_ref().filter(|modules| !modules.is_empty()).map(|_| "--show-modules"));
        limits
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        if self.cores {
            of_cores::show(&mut columns);
        }
        let mut show = |keys: &[&str], view: View| {
            for column in columns.iter_mut().filter(|column| keys.contains(&column.key)) {
                column.view = view;
            }
        };
        if !self.percentiles {
            show(&OF_SPANS, View::Nowhere);
        }
        if self.modules.is_none() {
            show(&OF_MODULES, View::Nowhere);
        }
        if self.first_last {
            show(&OF_TIMES, View::Always);
        }
        if !self.process_on_row {
            show(&OF_PROCESSES[..1], View::Nowhere);
            show(&OF_PROCESSES[1..], View::Machine);
            show(&["start_ns", "end_ns"], View::Machine);
        }
        if !self.per_thread {
            show(&["tid", "thread_name"], View::Nowhere);
        }
        if self.tags.is_none() {
            show(&["stack_tag"], View::Nowhere);
        }
        let are_tags = self.methods.is_none() && self.tags.is_some();
        // A stack has one tag, so that only tags with tags inside have time that is not their own.
        let has_children = self.tags.as_ref().is_some_and(|tags| tags.set.has_children());
        if are_tags && !has_children && self.sort != Sort::Exclusive {
            show(&["exclusive_cpu_ns", "exclusive_run_ns"], View::Machine);
        }
        if self.granularity.by != By::Line {
            show(&["source_file", "source_line", "source"], View::Nowhere);
        }
        if self.granularity.by != By::Address {
            show(&["rva"], View::Nowhere);
        }
        if are_tags {
            columns
                .iter_mut()
                .filter(|column| column.key == "method_label")
                .for_each(|column| column.title = "Stack tag");
        }
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, time: TimeRange, origin: i64) -> Box<dyn Ask> {
        Box::new(self.at(time, origin))
    }

    fn sums_suffice(&self) -> bool {
        self.time.is_everything()
            && self.inside.is_empty()
            && self.granularity == Granularity::default()
            && !self.per_thread
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        if let Some(absent) = Inside::absent(&self.inside, recording)? {
            return Ok(absent);
        }
        let processes = OfProcesses::read(recording, self)?;
        let (methods, from_events) = self.figures(recording, &processes.accepted)?;
        let processes = processes.rows(&methods)?;
        let accepted: FxHashMap<ProcessId, &ProcessRow> = processes.iter().map(|row| (row.process, row)).collect();
        self.of_figures(recording, &accepted, methods, from_events)
    }

    fn series(&self, recording: &OpenRecording, ranges: &[TimeRange], origin: i64) -> Result<Vec<Section>, Error> {
        series::sections(self, recording, ranges, origin)
    }

    fn ranges_at_once(&self) -> usize {
        RANGES_AT_ONCE
    }
}

impl Question {
    /// The same question about a part of a recording.
    fn at(&self, time: TimeRange, origin: i64) -> Self {
        let Ranges { first, last, .. } = self.ranges;
        let ranges = Ranges { first: first.shifted(origin), last: last.shifted(origin), ..self.ranges };
        Self { time, ranges, ..self.clone() }
    }

    /// The answer with these figures, of which those of so many processes are from the events.
    fn of_figures(
        &self,
        recording: &OpenRecording,
        accepted: &FxHashMap<ProcessId, &ProcessRow>,
        mut methods: Vec<Method>,
        from_events: usize,
    ) -> Result<Section, Error> {
        let modules = match &self.modules {
            Some(patterns) => MethodModules::keep(recording, patterns, &mut methods)?,
            None => MethodModules::default(),
        };
        let mut groups = self.groups(accepted, methods);
        self.top.apply(&mut groups);

        let mut section = self.answer(recording, &groups, &modules)?;
        if from_events > 0 && self.could_be_summary(recording) {
            let what = if from_events == 1 { "1 process has" } else { &format!("{from_events} processes have") };
            section.notes.push(format!(
                "{what} more methods than the archive's summary keeps: figures were computed from the events"
            ));
        }
        Ok(section)
    }
}

/// The methods of one process, ascending.
struct OfOneProcess<'a> {
    process: &'a ProcessRow,
    methods: Vec<Method>,
}

/// Sums over rows.
#[derive(Clone, Copy, Default)]
struct MethodSums {
    cpu: i64,
    wait: Option<i64>,
    ready: Option<i64>,
}

impl MethodSums {
    fn of<'m>(methods: impl IntoIterator<Item = &'m Method>) -> Self {
        let add = |sum: Option<i64>, more: Option<i64>| match (sum, more) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
        methods.into_iter().fold(Self::default(), |sums, Method { figures, .. }| Self {
            cpu: sums.cpu.saturating_add(figures.cpu),
            wait: add(sums.wait, order::wait(figures)),
            ready: add(sums.ready, figures.ready),
        })
    }
}

impl Question {
    /// Whether the summary of methods has rows of this kind at all.
    fn could_be_summary(&self, recording: &OpenRecording) -> bool {
        self.granularity == Granularity::default() && self.could_be_tag_summary(recording)
    }

    /// Whether the summary of tags has rows of this kind at all.
    fn could_be_tag_summary(&self, recording: &OpenRecording) -> bool {
        self.time.is_everything()
            && self.inside.is_empty()
            && !self.per_thread
            && (recording.file.has_samples || recording.file.has_imported_sums)
    }

    /// The rows, and of how many processes those of methods were computed from the events.
    fn figures(
        &self,
        recording: &OpenRecording,
        processes: &FxHashSet<ProcessId>,
    ) -> Result<(Vec<Method>, usize), Error> {
        let (mut rows, from_events) = match &self.methods {
            None => (Vec::new(), 0),
            Some(patterns) if !self.could_be_summary(recording) => {
                (self.methods_from_events(recording, patterns, processes)?, processes.len())
            }
            Some(patterns) => {
                let archive = recording.archive();
                let summaries: Vec<KeptMethods> = archive.rows()?;
                let FromSummary { mut methods, incomplete } =
                    FromSummary::read(archive, self, patterns, processes, &summaries)?;
                if !incomplete.is_empty() {
                    methods.append(&mut self.methods_from_events(recording, patterns, &incomplete)?);
                }
                (methods, incomplete.len())
            }
        };
        if let Some(tags) = &self.tags {
            rows.append(&mut tags::rows(recording, self, tags, processes)?);
        }
        Ok((rows, from_events))
    }

    fn methods_from_events(
        &self,
        recording: &OpenRecording,
        patterns: &MethodPatterns,
        processes: &FxHashSet<ProcessId>,
    ) -> Result<Vec<Method>, Error> {
        let mut methods = from_events::methods(recording, self, &[self.time], patterns, processes)?;
        Ok(methods.pop().unwrap_or_default())
    }

    /// Rows and processes in order, both cut down to what is shown.
    fn groups<'a>(
        &self,
        processes: &FxHashMap<ProcessId, &'a ProcessRow>,
        methods: Vec<Method>,
    ) -> Vec<OfOneProcess<'a>> {
        let mut by_process: FxHashMap<ProcessId, Vec<Method>> = FxHashMap::default();
        for method in methods {
            by_process.entry(method.figures.process).or_default().push(method);
        }
        let mut groups: Vec<OfOneProcess<'a>> = by_process
            .into_iter()
            .filter_map(|(process, mut methods)| {
                methods.sort_by(|a, b| self.sort.compare(a, b));
                self.top_methods.apply(&mut methods);
                Some(OfOneProcess { process: processes.get(&process)?, methods })
            })
            .filter(|group| !group.methods.is_empty())
            .collect();
        groups.sort_by(|a, b| {
            let by_total = || {
                let total = |group: &OfOneProcess<'_>| -> i64 {
                    let figures = group.methods.iter().filter_map(|method| self.sort.figure(&method.figures));
                    figures.fold(0, i64::saturating_add)
                };
                total(a).cmp(&total(b))
            };
            let by_largest = || match (a.methods.last(), b.methods.last()) {
                (Some(a), Some(b)) => self.sort.figure(&a.figures).cmp(&self.sort.figure(&b.figures)),
                _ => std::cmp::Ordering::Equal,
            };
            let by_name = || {
                let key = |group: &OfOneProcess<'_>| (group.process.name.to_lowercase(), group.process.pid);
                key(a).cmp(&key(b)).then(a.process.start.cmp(&b.process.start))
            };
            let order = if self.totals == Totals::None || !self.sort.adds_up() { by_largest() } else { by_total() };
            order.then_with(by_name)
        });
        groups
    }

    fn answer(
        &self,
        recording: &OpenRecording,
        groups: &[OfOneProcess<'_>],
        modules: &MethodModules,
    ) -> Result<Section, Error> {
        let imported = recording.file.has_imported_sums;
        let precise = !recording.file.has_samples && !imported;
        let shown: Vec<&Method> = groups.iter().flat_map(|group| &group.methods).collect();
        let sums = |methods: &[&Method]| facts(MethodSums::of(methods.iter().copied()), precise && !methods.is_empty());
        let rows_are_shown = matches!(self.totals, Totals::None | Totals::Method);
        let threads: FxHashMap<ThreadId, ThreadRow> = if self.per_thread {
            recording.archive().rows::<ThreadRow>()?.into_iter().map(|row| (row.thread, row)).collect()
        } else {
            FxHashMap::default()
        };
        // An import has no events that single spans could be read from.
        let mut spans = if (self.percentiles || self.cores) && rows_are_shown && !imported {
            spans::of(recording, self, &shown)?.into_iter().map(Some).collect()
        } else {
            vec![None; shown.len()]
        }
        .into_iter();
        let mut row = |process: &ProcessRow, method: &Method| Row {
            process: process.clone(),
            label: self.cut.apply(&label(method)),
            precise,
            imported,
            thread: method.thread.and_then(|thread| threads.get(&thread)).cloned(),
            module: modules.of(method).cloned(),
            spans: spans.next().flatten(),
            method: method.clone(),
        };
        let all = groups.iter().flat_map(|group| group.methods.iter().map(|method| (group.process, method)));
        let rows: Vec<Row> = all.filter(|_| rows_are_shown).map(|(process, method)| row(process, method)).collect();
        let with_totals = self.totals != Totals::None;
        let file_facts = if with_totals { sums(&shown) } else { Vec::new() };
        let mut section = COLUMNS.section_showing(&recording.file, &rows, file_facts, &self.shown);
        section.always = with_totals;
        if self.totals != Totals::Total && (!self.process_on_row || self.totals == Totals::Process) {
            section.groups = groups
                .iter()
                .map(|group| Group {
                    title: name_with_marks(group.process),
                    text: group.process.command_line.clone(),
                    facts: if with_totals { sums(&group.methods.iter().collect::<Vec<_>>()) } else { Vec::new() },
                    rows: if rows_are_shown { group.methods.len() } else { 0 },
                })
                .collect();
        }
        section.notes.extend(notes::of(self, recording, &shown, &rows));
        let processes = groups.iter().map(|group| group.process).filter(|_| !shown.is_empty());
        section.notes.extend(crate::stack_ends::note(recording, processes)?);
        Ok(section)
    }
}

/// `module!function`, and the function alone where its name has the module already.
fn label(method: &Method) -> String {
    let figures = &method.figures;
    match &figures.module {
        Some(module) => format!("{module}!{}", figures.function),
        None => figures.function.clone(),
    }
}

fn facts(sums: MethodSums, precise: bool) -> Vec<Fact> {
    let cpu = if precise { "run" } else { "CPU" };
    let mut facts = vec![Fact::new(cpu, Kind::Milliseconds, sums.cpu)];
    facts.extend(sums.wait.map(|wait| Fact::new("wait", Kind::Milliseconds, wait)));
    facts.extend(sums.ready.map(|ready| Fact::new("ready", Kind::Milliseconds, ready)));
    facts
}
