//! `dump ui`: threads with windows that did not look after their messages, what they did meanwhile, and who had the focus.

pub mod columns;
mod delays;
pub mod focus;
mod inside;
pub mod list;
mod messages;
mod options;
pub mod sums;
mod switches;

use std::sync::Arc;

use clap::ValueEnum;
use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::Span;
use tracesift_analysis::tags::{TagSet, TagSource, Tagger};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_grammar::{Patterns, TimeRange};
use tracesift_trace::rows::{FocusRow, ProcessRow, ThreadRow, UiDelayRow};
use tracesift_trace::{ProcessId, ThreadId};

pub use self::columns::{COLUMNS, Row};
pub use self::options::Options;

use self::columns::{READY, RUN, WAIT};
use self::delays::{Delay, Report};
use self::focus::FocusTimes;
use self::inside::{Inside, Places};
use crate::answer::{Column, Fact, Kind, Section};
use crate::ask::Ask;
use crate::candidates::Candidates;
use crate::filter::ProcessFilter;
use crate::order::{Between, Top};
use crate::processes::Processes;
use crate::question::waits::longest::{Wait, WaitRow};
use crate::question::waits::{self, chain};
use crate::recording::OpenRecording;
use crate::recording_label::RowSource;
use crate::stack_labels::Labels;
use crate::stack_names::StackNames;
use crate::table_question::built_in_tags;
use crate::threads::Threads;

/// The recordings that have delays.
const SOURCE: RowSource = RowSource::windows("UI");

/// Shorter delays have no rows where nobody says how long they are to be.
const LEAST: i64 = 200_000_000;

/// What has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The process.
    Process,
    /// The thread.
    Thread,
    /// Where the thread waited or ran most.
    Method,
    /// The stack tag of where the thread waited or ran most.
    Tag,
    /// The window message.
    Message,
    /// The class of the window.
    Class,
    /// What tells of the delays.
    Kind,
}

/// Order of the rows, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Length of the delay; with --by their sum.
    Delay,
    /// The longest delay.
    Longest,
    /// Number of delays.
    Delays,
    /// Run time.
    Run,
    /// Wait.
    Wait,
    /// Begin: the order of --focus.
    Start,
    /// Process and thread, or name.
    Name,
}

/// What the rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Delays.
    #[default]
    Delays,
    /// Delays added up.
    Sums(By),
    /// Reports of delays.
    Reports,
    /// Who had the focus.
    Focus,
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which processes.
    pub filter: ProcessFilter,
    /// Delays in this range; they are cut to it.
    pub time: TimeRange,
    /// What the rows are.
    pub about: About,
    /// Length of a delay, ns; without a lower limit at least 200 ms.
    pub length: Between,
    /// Only reports of these kinds.
    pub kind: Patterns,
    /// Only delays by these messages.
    pub message: Patterns,
    /// Only delays of windows of these classes.
    pub class: Patterns,
    /// Only delays during which the process had the focus.
    pub in_focus: bool,
    /// The rules for tags, with [`By::Tag`]; `None`: the built-in ones.
    pub tags: Option<Arc<TagSet>>,
    /// Order of the rows.
    pub sort: Option<Sort>,
    /// How many.
    pub top: Top,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "ui"
    }

    fn tables(&self) -> &'static [&'static str] {
        match self.about {
            About::Focus => &["focus"],
            About::Reports => &["ui_delays", "focus", "context_switches"],
            About::Delays | About::Sums(_) => &["ui_delays", "focus", "context_switches", "cpu_samples"],
        }
    }

    fn processes(&self) -> Option<&ProcessFilter> {
        Some(&self.filter)
    }

    fn candidates(&self, recording: &OpenRecording) -> Result<Vec<Candidates>, Error> {
        let mut reports: Vec<Report> = Vec::new();
        recording.archive().scan(None, |row: &Report| reports.push(row.clone()))?;
        let lengths = |name: &dyn Fn(&Report) -> Option<String>| {
            let named = |report: &Report| Some((name(report)?, report.span().length()));
            reports.iter().filter_map(named).collect::<Vec<_>>()
        };
        let kinds = lengths(&|report| Some(delays::kind(report.kind)));
        let by_message = lengths(&|report| report.message.map(messages::name));
        let classes = lengths(&|report| report.class.clone());
        let all = [
            ("--kind", ["kind", "kinds"], &self.kind, kinds),
            ("--message", ["message", "messages"], &self.message, by_message),
            ("--class", ["class", "classes"], &self.class, classes),
        ];
        let given = all.into_iter().filter(|(_, _, patterns, _)| !patterns.is_empty());
        let candidates = given.map(|(option, what, patterns, names)| Candidates {
            figure: "longest delays",
            ..Candidates::of(option, what, &patterns.to_string(), names, |name| patterns.matches(name))
        });
        Ok(candidates.collect())
    }

    fn limits(&self) -> Vec<&'static str> {
        let lengths = self.length.given(["--min-delay", "--max-delay"]);
        lengths.chain(self.in_focus.then_some("--in-focus")).collect()
    }

    fn sorted_by(&self) -> Option<&'static str> {
        match (self.about, self.sort) {
            (_, Some(Sort::Name)) => None,
            (About::Focus, None | Some(Sort::Start)) => Some("from_ns"),
            (About::Focus, _) => Some("focus_ns"),
            (About::Reports, Some(Sort::Start)) => Some("from_ns"),
            (About::Reports, _) => Some("report_ns"),
            (About::Sums(_), Some(Sort::Start)) => Some("first_ns"),
            (About::Sums(_), Some(Sort::Longest)) => Some("longest_ns"),
            (About::Sums(_), Some(Sort::Delays)) => Some("delays"),
            (About::Delays, Some(Sort::Start)) => Some("from_ns"),
            (_, Some(Sort::Run)) => Some("run_ns"),
            (_, Some(Sort::Wait)) => Some("wait_ns"),
            _ => Some("delay_ns"),
        }
    }

    fn columns(&self) -> Vec<Column> {
        match self.about {
            About::Delays => COLUMNS.descriptions(),
            About::Sums(by) => sums::columns(by),
            About::Reports => list::COLUMNS.descriptions(),
            About::Focus => focus::COLUMNS.descriptions(),
        }
    }

    fn within(&self, time: TimeRange, _: i64) -> Box<dyn Ask> {
        Box::new(Self { time, ..self.clone() })
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let archive = recording.archive();
        let is_linux = archive.info().kind == "perf";
        let absent = |what: &'static str, table: &'static str| {
            recording.file.absent(what, recording.file.absence_with_cure(table, SOURCE, is_linux))
        };
        let without_delays = || absent("UI delays", "ui_delays");
        let is_of_focus = self.about == About::Focus;
        let tells_by_switches = !is_of_focus && switches::can_tell(recording)?;
        let has_delays = archive.row_count::<UiDelayRow>() > 0;
        if !(is_of_focus || has_delays || tells_by_switches) {
            return Ok(without_delays());
        }
        if (is_of_focus || self.in_focus) && archive.row_count::<FocusRow>() == 0 {
            return Ok(absent("changes of the focus", "focus"));
        }
        let processes: Vec<ProcessRow> = archive.rows()?;
        let threads: Vec<ThreadRow> = archive.rows()?;
        let accepted: FxHashSet<ProcessId> =
            Processes::new(&processes).selected(&self.filter).map(|row| row.process).collect();
        if is_of_focus {
            return focus::section(recording, self, &processes, &threads, &accepted);
        }
        let known = Known::new(&processes, &threads);
        // Only switches and samples have stacks here.
        let has_stacks = recording.info().has_switches || recording.file.has_samples;
        let mut names = if has_stacks {
            StackNames::new(recording.named_stacks(Granularity::default())?)
        } else {
            StackNames::default()
        };
        let is_asked = |report: &Report| known.process_of(report).is_some_and(|process| accepted.contains(&process));
        let mut reports = delays::reports(recording, self, is_asked, &mut names)?;
        if tells_by_switches {
            match switches::reports(recording, self, &known, is_asked, &mut names)? {
                Some(more) => reports.extend(more.into_iter().filter(|report| self.has_kind(report))),
                None if !has_delays => return Ok(without_delays()),
                None => {}
            }
        }
        let focus = FocusTimes::read(archive)?;
        match self.about {
            About::Reports => Ok(list::section(recording, self, self.list_rows(reports, &focus, &known))),
            about => {
                let (start, end) = self.time.bounds();
                let mut delays = delays::unite(reports, Span::new(start, end), &focus);
                delays.retain(|delay| self.passes(delay));
                self.of_delays(recording, about, delays, &known, &mut names)
            }
        }
    }
}

/// Processes and threads by their numbers.
struct Known<'a> {
    threads: Threads<'a>,
    processes: FxHashMap<ProcessId, &'a ProcessRow>,
}

impl<'a> Known<'a> {
    fn new(processes: &'a [ProcessRow], threads: &'a [ThreadRow]) -> Self {
        let by_id = processes.iter().map(|row| (row.process, row)).collect();
        Self { threads: Threads::new(threads, processes), processes: by_id }
    }

    fn process_of(&self, report: &Report) -> Option<ProcessId> {
        report.process.or_else(|| self.threads.row(report.thread?).map(|row| row.process))
    }

    fn rows(&self, process: Option<ProcessId>, thread: Option<ThreadId>) -> (Option<ProcessRow>, Option<ThreadRow>) {
        let thread = thread.and_then(|thread| self.threads.row(thread));
        let process = process.or(thread.map(|row| row.process)).and_then(|process| self.processes.get(&process));
        (process.map(|row| (*row).clone()), thread.cloned())
    }
}

impl Question {
    /// The limits, with the one that is there without an option.
    fn lengths(&self) -> Between {
        Between { min: self.length.min.or(Some(LEAST)), ..self.length }
    }

    fn has_kind(&self, report: &Report) -> bool {
        self.kind.is_empty() || self.kind.matches(&delays::kind(report.kind))
    }

    fn passes(&self, delay: &Delay) -> bool {
        self.lengths().contains(Some(delay.span.length()))
            && self.has_names(delay.message, delay.class.as_deref())
            && (!self.in_focus || delay.focus.is_some_and(|focus| focus > 0))
    }

    fn has_names(&self, message: Option<i64>, class: Option<&str>) -> bool {
        let has_message = || message.is_some_and(|message| self.message.matches(&messages::name(message)));
        let has_class = || class.is_some_and(|class| self.class.matches(class));
        (self.message.is_empty() || has_message()) && (self.class.is_empty() || has_class())
    }

    fn list_rows(&self, reports: Vec<Report>, focus: &FocusTimes, known: &Known<'_>) -> Vec<list::Row> {
        let (start, end) = self.time.bounds();
        let range = Span::new(start, end);
        let row = |report: Report| {
            let span = report.span().intersect(range);
            let of_focus = focus.of(known.process_of(&report), span);
            let (process, thread) = known.rows(report.process, report.thread);
            list::Row { process, thread, report, span, focus: of_focus }
        };
        let passes = |row: &list::Row| {
            !row.span.is_empty()
                && self.lengths().contains(Some(row.span.length()))
                && self.has_names(row.report.message, row.report.class.as_deref())
                && (!self.in_focus || row.focus.is_some_and(|focus| focus > 0))
        };
        reports.into_iter().map(row).filter(passes).collect()
    }

    /// The answer about these delays, with what is inside of them.
    fn of_delays(
        &self,
        recording: &OpenRecording,
        about: About,
        delays: Vec<Delay>,
        known: &Known<'_>,
        names: &mut StackNames,
    ) -> Result<Section, Error> {
        let named = names.methods();
        let tags = (about == About::Sums(By::Tag)).then(|| self.tags.clone().unwrap_or_else(built_in_tags));
        let mut places = match &tags {
            None => Places::Methods(Labels::default()),
            Some(set) => {
                let mut source = TagSource::new(&named.stacks, Tagger::new(set, &named.names));
                Places::Tags(set, Box::new(move |stack| source.tag(stack)))
            }
        };
        let inside = inside::of(recording, &delays, &mut places, names)?;
        let mut rows: Vec<(Row, Inside)> = delays
            .into_iter()
            .zip(inside)
            .map(|(delay, inside)| (row_of(delay, &inside, known, &places), inside))
            .collect();
        if let About::Sums(by) = about {
            let mut charged: Vec<(Row, Option<String>)> = Vec::with_capacity(rows.len());
            for (row, inside) in rows {
                let place = charged_to(&inside, &mut places, names);
                charged.push((row, place));
            }
            return Ok(sums::section(recording, self, by, &charged));
        }
        rows.sort_by(|(a, _), (b, _)| {
            let (first, second) = (self.figure(a), self.figure(b));
            first.cmp(&second).then_with(|| a.name().cmp(&b.name()))
        });
        let sum = rows.iter().fold(0_i64, |sum, (row, _)| sum.saturating_add(row.delay.span.length()));
        let facts = vec![Fact::new("delays", Kind::Count, rows.len()), Fact::new("delay sum", Kind::Milliseconds, sum)];
        self.top.apply(&mut rows);
        let rows = with_waits(recording, rows, known, names)?;
        Ok(COLUMNS.section(&recording.file, &rows, facts))
    }

    fn figure(&self, row: &Row) -> i64 {
        match self.sort {
            None | Some(Sort::Delay | Sort::Longest | Sort::Delays) => row.delay.span.length(),
            Some(Sort::Run) => row.part(RUN).unwrap_or(-1),
            Some(Sort::Wait) => row.part(WAIT).unwrap_or(-1),
            Some(Sort::Start) => row.delay.span.start,
            Some(Sort::Name) => 0,
        }
    }
}

/// The place of the longest wait, where that took the largest part; else the one in which the thread ran most.
fn charged_to(inside: &Inside, places: &mut Places<'_>, names: &mut StackNames) -> Option<String> {
    let wait = inside.activity.as_ref().filter(|activity| activity.mostly_waits());
    let place = match wait.and_then(|activity| activity.longest.as_ref()) {
        Some((_, wait)) => places.of(wait.wait_stack, names),
        None => inside.most.map(|(place, _)| place),
    };
    places.text(place?)
}

fn row_of(delay: Delay, inside: &Inside, known: &Known<'_>, places: &Places<'_>) -> Row {
    let (process, thread) = known.rows(delay.process, Some(delay.thread));
    let parts = inside.activity.as_ref().map(|activity| {
        let mut parts = [activity.unknown; 4];
        (parts[RUN], parts[READY], parts[WAIT]) = (activity.run, activity.ready, activity.wait);
        parts
    });
    let method = inside.most.and_then(|(place, cpu)| Some((places.text(place)?, cpu)));
    Row { process, thread, delay, parts, cpu: inside.cpu, method, wait: None }
}

/// The rows with their longest waits, and the chains of these.
fn with_waits(
    recording: &OpenRecording,
    rows: Vec<(Row, Inside)>,
    known: &Known<'_>,
    names: &mut StackNames,
) -> Result<Vec<Row>, Error> {
    let wait = |inside: &Inside| -> Option<(Span, WaitRow)> { inside.activity.as_ref()?.longest };
    let waits: Vec<Wait> =
        rows.iter().filter_map(|(_, inside)| wait(inside)).map(|(span, row)| Wait { span, row }).collect();
    let mut chains = waits.iter().zip(chain::of(recording, &waits, &known.threads, names)?);
    let with_wait = |(mut row, inside): (Row, Inside)| {
        if wait(&inside).is_some() {
            row.wait = chains.next().map(|(wait, chain)| waits::Row::new(wait, chain, &known.threads, names));
        }
        row
    };
    Ok(rows.into_iter().map(with_wait).collect())
}
