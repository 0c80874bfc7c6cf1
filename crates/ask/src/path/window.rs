//! The windows of a recording that a [`WindowSpec`] describes, each with the thread from which its account starts.

use rustc_hash::FxHashMap;
use tracesift_analysis::{Span, pieces};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::Granularity;
use tracesift_grammar::Patterns;
use tracesift_trace::rows::{ContextSwitchRow, MarkRow, ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::marking_process::marking_process;
use super::on_cpu::running_at;
use super::spec::{FORMS, WindowKind, WindowSpec};
use crate::absence::Absence;
use crate::filter::{PARTS, Part, ProcessFilter};
use crate::method_patterns::MethodPatterns;
use crate::processes::Processes;
use crate::recorded_program;
use crate::recording::OpenRecording;
use crate::sightings::{self, WantedStacks};
use crate::time_format::seconds;
use crate::time_spec::no_calendar;
use tracesift_trace::rows::switch_flags;

/// More windows than anybody reads accounts of.
const MOST_WINDOWS: usize = 100;

/// Candidates that a message names.
const NAMED: usize = 5;
/// Characters of a command line in a message.
const COMMAND_LENGTH: usize = 40;

view! {
    /// The columns of a switch row that tell a wait and who ended it.
    #[derive(Clone, Copy, Debug)]
    struct MarkedWait of ContextSwitchRow { time, thread, off_time, ready_time, readier, wait_stack, flags }
}

/// A window of time with the thread from which its account starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its place among the windows that fit, by time; the first is 1.
    pub(crate) number: usize,
    /// The time.
    pub(crate) span: Span,
    /// The thread that the account starts with, at the end of the window.
    pub(crate) anchor: ThreadId,
    /// The process of the test, if one is known.
    pub(crate) process: Option<ProcessId>,
    /// Whether the anchor at the end works for another request than at the start, because the ends were seen in different threads.
    pub(crate) hops: bool,
    /// How many processes fit, where the one that was recorded was taken; else 1.
    pub(crate) among: usize,
}

/// Which of several processes that fit count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// All of them.
    All,
    /// The program that was recorded, if it is one of them.
    Recorded,
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct WindowQuery {
    /// The window.
    pub spec: WindowSpec,
    /// Processes that it may belong to.
    pub filter: ProcessFilter,
    /// The thread that an account starts with, by name or id, in place of the one that the window implies.
    pub anchor: Patterns,
}

/// The processes and threads of a recording.
#[derive(Clone, Copy)]
pub(crate) struct People<'a> {
    pub(crate) processes: &'a [ProcessRow],
    pub(crate) threads: &'a [ThreadRow],
}

impl People<'_> {
    /// The first thread of each process. Linux gives it the id of the process; on Windows it is the one that began first.
    pub(crate) fn first_threads(self) -> FxHashMap<ProcessId, ThreadId> {
        let pids: FxHashMap<ProcessId, i64> = self.processes.iter().map(|row| (row.process, row.pid)).collect();
        let mut first: FxHashMap<ProcessId, (bool, Option<i64>, ThreadId)> = FxHashMap::default();
        // Samples of a dead thread of Linux belong to a thread without an id, which is none.
        for row in self.threads.iter().filter(|row| row.tid >= 0) {
            // Who has no start is older than the recording.
            let rank = (pids.get(&row.process) != Some(&row.tid), row.start, row.thread);
            let best = first.entry(row.process).or_insert(rank);
            *best = (*best).min(rank);
        }
        first.into_iter().map(|(process, (.., thread))| (process, thread)).collect()
    }
}

/// The windows, none where nothing fits, or the reason why a recording cannot have any.
pub(crate) type Found = Result<Vec<Window>, Absence>;

impl WindowQuery {
    /// Finds the windows in a recording.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub(crate) fn find(&self, recording: &OpenRecording, people: People<'_>, among: Among) -> Result<Found, Error> {
        let search = Search { query: self, recording, people, among };
        let mut windows = match search.all()? {
            Ok(windows) => windows,
            Err(why) => return Ok(Err(why)),
        };
        windows.sort_by_key(|window| (window.span.start, window.span.end, window.anchor));
        (1..).zip(&mut windows).for_each(|(number, window)| window.number = number);
        Ok(self.pick(windows).and_then(|windows| search.with_anchor(windows)))
    }

    fn pick(&self, windows: Vec<Window>) -> Found {
        let count = windows.len();
        match self.spec.number {
            _ if count == 0 => Ok(windows),
            None if count > MOST_WINDOWS => {
                let text = self.shown();
                Err(Absence::Because(format!(
                    "{count} windows fit {text}: choose one with '{text}#1', or fewer with -p"
                )))
            }
            None => Ok(windows),
            Some(number) => {
                let why =
                    || format!("only {count} {} {}", if count == 1 { "window fits" } else { "windows fit" }, self.spec);
                let window = windows.into_iter().find(|window| window.number == number);
                window.map(|window| vec![window]).ok_or_else(|| Absence::Because(why()))
            }
        }
    }

    /// The window as a message names it.
    pub(crate) fn shown(&self) -> String {
        match (self.spec.kind.clone(), self.spec.to_string()) {
            (WindowKind::Auto, _) => self.processes(),
            (_, text) => text,
        }
    }

    /// All that chooses the window: two queries with the same text find the same windows.
    pub(crate) fn whole(&self) -> String {
        let spec = match (self.spec.kind.clone(), self.spec.to_string()) {
            (WindowKind::Auto, text) if text.is_empty() => "auto".to_owned(),
            (_, text) => text,
        };
        let anchor = self.anchor.to_string();
        let anchor = if anchor.is_empty() { anchor } else { format!("--anchor {anchor}") };
        let parts = [spec, self.processes(), anchor];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The processes that it may belong to.
    fn processes(&self) -> String {
        let text = |part: &Part| match ((part.value)(&self.filter), part.option) {
            (value, _) if value.is_empty() => None,
            (value, "--process") => Some(format!("process:{value}")),
            (value, option) => Some(format!("{option} {value}")),
        };
        PARTS.iter().filter_map(text).collect::<Vec<_>>().join(" ")
    }
}

struct Search<'a> {
    query: &'a WindowQuery,
    recording: &'a OpenRecording,
    people: People<'a>,
    among: Among,
}

impl<'a> Search<'a> {
    fn all(&self) -> Result<Found, Error> {
        let own = self.accepted();
        match &self.query.spec.kind {
            WindowKind::Auto => self.auto(&own),
            WindowKind::Process(patterns) => {
                let named = own.iter().filter(|row| patterns.matches(&row.name, row.pid));
                Ok(Ok(named.filter_map(|row| self.life(row)).collect()))
            }
            WindowKind::Method(patterns) => self.sightings(patterns, &own).map(Ok),
            WindowKind::Wait(patterns) => self.waits(patterns, &own).map(Ok),
            WindowKind::Marks(from, to) => self.marks(from, to, &own),
            WindowKind::Time(_) => Ok(self.range(&own)),
        }
    }

    /// The processes that the filter lets pass.
    fn accepted(&self) -> Vec<&'a ProcessRow> {
        Processes::new(self.people.processes).selected(&self.query.filter).collect()
    }

    /// The life of the program that was recorded, or of the processes that were named, or of the process that wrote the marks.
    fn auto(&self, own: &[&'a ProcessRow]) -> Result<Found, Error> {
        let program = self.recorded();
        if !self.query.filter.is_empty() {
            let mut windows: Vec<Window> = own.iter().filter_map(|row| self.life(row)).collect();
            let among = windows.len();
            let is_program = |window: &Window| program.is_some_and(|row| window.process == Some(row.process));
            // A number chooses by itself.
            if among > 1 && self.query.spec.number.is_none() && windows.iter().any(is_program) {
                windows.retain(is_program);
                windows.iter_mut().for_each(|window| window.among = among);
            }
            return Ok(Ok(windows));
        }
        let (program, why) = match recorded_program::pid(&self.recording.info().facts) {
            Some(pid) => (program, format!("the program that was tested, process {pid}, is not in it")),
            None => {
                let marking = marking_process(self.recording.archive())?;
                let program = self.people.processes.iter().find(|row| Some(row.process) == marking);
                let forms = format!("name it with -p, or give --window {FORMS}");
                (program, format!("the recording does not tell which program was tested: {forms}"))
            }
        };
        let window = program.and_then(|row| self.life(row));
        Ok(window.map(|window| vec![window]).ok_or(Absence::Because(why)))
    }

    /// The program that was recorded, where it counts more than others.
    fn recorded(&self) -> Option<&'a ProcessRow> {
        let of_all = self.among == Among::All && !self.query.filter.is_empty();
        recorded_program::process(&self.recording.info().facts, self.people.processes).filter(|_| !of_all)
    }

    /// From the start to the end of a process, as far as the recording goes.
    fn life(&self, process: &ProcessRow) -> Option<Window> {
        let (first, last) = (self.recording.file.start, self.recording.file.end);
        let span = Span::new(process.start.unwrap_or(first), process.end.unwrap_or(last));
        // Of a process that has ended, a thread whose end is not known did not end last. Linux names no thread in samples of a dead one.
        let without_end = if process.end.is_some() { i64::MIN } else { i64::MAX };
        let rank = |row: &&ThreadRow| (row.tid >= 0, row.end.unwrap_or(without_end), std::cmp::Reverse(row.thread));
        // Of those that end last the first one.
        let last = self.threads_of(process.process).max_by_key(rank)?;
        self.window(span, last.thread, false)
    }

    fn threads_of(&self, process: ProcessId) -> impl Iterator<Item = &'a ThreadRow> + use<'a> {
        self.people.threads.iter().filter(move |row| row.process == process)
    }

    /// From the first to the last sighting of a method, for each process.
    fn sightings(&self, patterns: &MethodPatterns, own: &[&'a ProcessRow]) -> Result<Vec<Window>, Error> {
        struct Seen {
            first: (i64, ThreadId),
            last: (i64, ThreadId),
        }
        let mut of_processes: FxHashMap<ProcessId, Option<Seen>> = own.iter().map(|row| (row.process, None)).collect();
        let is_of = of_processes.keys().copied().collect::<rustc_hash::FxHashSet<_>>();
        sightings::each(
            self.recording,
            patterns,
            |process| is_of.contains(&process),
            |sighting| {
                let (from, to) = ((sighting.from, sighting.thread), (sighting.to, sighting.thread));
                match of_processes.get_mut(&sighting.process) {
                    Some(Some(seen)) => {
                        seen.first = if from.0 < seen.first.0 { from } else { seen.first };
                        seen.last = if to.0 > seen.last.0 { to } else { seen.last };
                    }
                    Some(none) => *none = Some(Seen { first: from, last: to }),
                    None => {}
                }
            },
        )?;
        let window = |Seen { first, last }: Seen| self.window(Span::new(first.0, last.0), last.1, first.1 != last.1);
        Ok(of_processes.into_values().flatten().filter_map(window).collect())
    }

    /// The waits in such a method that somebody ended. Whoever ended it knows best what the phase consisted of.
    fn waits(&self, patterns: &MethodPatterns, own: &[&'a ProcessRow]) -> Result<Vec<Window>, Error> {
        let processes: rustc_hash::FxHashSet<ProcessId> = own.iter().map(|row| row.process).collect();
        let threads: rustc_hash::FxHashSet<ThreadId> =
            self.people.threads.iter().filter(|row| processes.contains(&row.process)).map(|row| row.thread).collect();
        let mut stacks = WantedStacks::new(self.recording.named_stacks(Granularity::default())?, patterns);
        let has_ready = self.recording.info().has_ready;
        let mut windows = Vec::new();
        self.recording.archive().scan(None, |row: &MarkedWait| {
            if !threads.contains(&row.thread) || row.wait_stack.is_none() || !stacks.has(row.wait_stack, None) {
                return;
            }
            let Some(wait) = pieces(row, has_ready).wait else { return };
            let is_thread = row.flags & switch_flags::READIED_FROM_DPC == 0;
            let readier = row.readier.filter(|_| is_thread && row.ready_time.is_some());
            windows.extend(self.window(wait, readier.unwrap_or(row.thread), false));
        })?;
        Ok(windows)
    }

    /// From each mark of the first kind to the next one of the second kind.
    fn marks(&self, from: &Patterns, to: &Patterns, own: &[&'a ProcessRow]) -> Result<Found, Error> {
        let archive = self.recording.archive();
        let mut marks: Vec<MarkRow> = archive.rows()?;
        if marks.is_empty() {
            let why = self.recording.file.absence_of("marks");
            return Ok(Err(Absence::Because(format!("it has no marks: {why}"))));
        }
        marks.sort_by_key(|mark| mark.time);
        let mut pairs: Vec<(Span, Option<ThreadId>)> = Vec::new();
        let mut begin: Option<i64> = None;
        for mark in &marks {
            match begin {
                Some(start) if to.matches(&mark.text) => {
                    pairs.push((Span::new(start, mark.time), mark.thread));
                    begin = None;
                }
                None if from.matches(&mark.text) => begin = Some(mark.time),
                _ => {}
            }
        }
        // A mark without a thread was written by whoever of the test ran then.
        let untold: Vec<i64> = pairs.iter().filter(|(_, thread)| thread.is_none()).map(|(span, _)| span.end).collect();
        let mut running = self.running_at(own, &untold)?.into_iter();
        let process = self.only(own).or(own.first().copied());
        let main = main_thread(self.people, process).filter(|_| !self.query.filter.is_empty());
        let mut windows = Vec::new();
        for (span, thread) in pairs {
            let Some(anchor) = thread.or_else(|| running.next().flatten()).or(main) else {
                return Ok(Err(no_thread()));
            };
            windows.extend(self.window(span, anchor, false));
        }
        Ok(Ok(windows))
    }

    /// The threads of these processes that ran at some instants.
    fn running_at(&self, own: &[&'a ProcessRow], instants: &[i64]) -> Result<Vec<Option<ThreadId>>, Error> {
        if self.query.filter.is_empty() || instants.is_empty() || !self.recording.info().has_switches {
            return Ok(vec![None; instants.len()]);
        }
        let first = self.recording.file.start;
        let of_process = |row: &&ProcessRow| self.threads_of(row.process);
        let threads = own.iter().flat_map(of_process).map(|row| (row.thread, row.start.unwrap_or(first))).collect();
        running_at(self.recording.archive(), &threads, instants)
    }

    /// The range of time that was given, with the main thread of the processes that were named.
    fn range(&self, own: &[&'a ProcessRow]) -> Found {
        let WindowKind::Time(time) = &self.query.spec.kind else { return Ok(Vec::new()) };
        let file = &self.recording.file;
        let Some(range) = time.resolve(file.zero, file.end, 0) else {
            return Err(Absence::Because(no_calendar(&file.name)));
        };
        let span = Span::new(range.start.unwrap_or(file.start), range.end.unwrap_or(file.end));
        // An anchor that is named takes the place of this thread.
        let any = || self.people.threads.first().map(|row| row.thread).filter(|_| !self.query.anchor.is_empty());
        let (main, among) = match self.query.filter.is_empty() {
            true => (any(), 1),
            false => {
                let (process, among) = self.process_in(own, span)?;
                (main_thread(self.people, process), among)
            }
        };
        let window = |anchor| self.window(span, anchor, false).map(|window| Window { among, ..window });
        match main {
            Some(anchor) => Ok(window(anchor).into_iter().collect()),
            None if self.query.filter.is_empty() => Err(no_thread()),
            None => Ok(Vec::new()),
        }
    }

    /// The process of a range of time, and among how many it was chosen. Which of several is meant nobody but the user knows, unless one of
    /// them was recorded or an anchor chooses.
    fn process_in(&self, own: &[&'a ProcessRow], span: Span) -> Result<(Option<&'a ProcessRow>, usize), Absence> {
        let alive = self.alive(own, span);
        if let Some(process) = self.only(&alive) {
            return Ok((Some(process), alive.len()));
        }
        if alive.len() > 1 && self.query.anchor.is_empty() && self.among == Among::Recorded {
            let windows: Vec<Window> = alive.iter().filter_map(|row| self.life(row)).collect();
            let (count, filter) = (alive.len(), self.query.processes());
            let candidates = candidates(&windows, self.people.processes);
            return Err(Absence::Because(format!(
                "{count} processes fit {filter}: choose one by its id with -p: {candidates}"
            )));
        }
        Ok((alive.first().or(own.first()).copied(), 1))
    }

    /// Those of the processes that lived in a time, without those that have no thread.
    fn alive(&self, own: &[&'a ProcessRow], span: Span) -> Vec<&'a ProcessRow> {
        let first_threads = self.people.first_threads();
        let is_alive = |row: &&ProcessRow| {
            row.start.is_none_or(|start| start < span.end)
                && row.end.is_none_or(|end| end > span.start)
                && first_threads.contains_key(&row.process)
        };
        own.iter().copied().filter(|row| is_alive(row)).collect()
    }

    /// The only one of these processes, or the program that was recorded if it is one of them.
    fn only(&self, processes: &[&'a ProcessRow]) -> Option<&'a ProcessRow> {
        let program = self.recorded();
        let is_program = |row: &&&ProcessRow| program.is_some_and(|program| program.process == row.process);
        if let [only] = processes { Some(only) } else { processes.iter().find(is_program).copied() }
    }

    /// A window that is not empty.
    fn window(&self, span: Span, anchor: ThreadId, hops: bool) -> Option<Window> {
        let process = self.people.threads.iter().find(|row| row.thread == anchor).map(|row| row.process);
        (!span.is_empty()).then_some(Window { number: 0, span, anchor, process, hops, among: 1 })
    }

    /// The windows with the anchor that was named: of several threads the one that lives in the window and ends last.
    fn with_anchor(&self, windows: Vec<Window>) -> Found {
        let patterns = &self.query.anchor;
        if patterns.is_empty() {
            return Ok(windows);
        }
        let own: Vec<ProcessId> = self.accepted().iter().map(|row| row.process).collect();
        let is_own = |row: &ThreadRow| self.query.filter.is_empty() || own.contains(&row.process);
        // Rows call the first thread of a process so.
        let first = self.people.first_threads();
        let role = |row: &ThreadRow| if first.get(&row.process) == Some(&row.thread) { "main" } else { "" };
        let is_named = |row: &ThreadRow| {
            patterns.matches_any(&[row.name.as_deref().unwrap_or(""), &row.tid.to_string(), role(row)])
        };
        let named: Vec<&ThreadRow> = self.people.threads.iter().filter(|row| is_own(row) && is_named(row)).collect();
        let anchored = |window: Window| {
            let lives = |row: &&&ThreadRow| {
                row.start.is_none_or(|start| start < window.span.end)
                    && row.end.is_none_or(|end| end > window.span.start)
            };
            let rank = |row: &&&ThreadRow| {
                let in_process = Some(row.process) == window.process;
                (in_process, row.end.unwrap_or(i64::MAX).min(window.span.end), std::cmp::Reverse(row.thread))
            };
            let thread = named.iter().filter(lives).max_by_key(rank).ok_or_else(|| {
                let (start, end) = (seconds(window.span.start, 3), seconds(window.span.end, 3));
                Absence::Because(format!("no thread that fits --anchor {patterns} lives from {start} s to {end} s"))
            })?;
            Ok(Window { anchor: thread.thread, process: Some(thread.process), ..window })
        };
        windows.into_iter().map(anchored).collect()
    }
}

/// The main thread of a process.
fn main_thread(people: People<'_>, process: Option<&ProcessRow>) -> Option<ThreadId> {
    people.first_threads().get(&process?.process).copied()
}

/// The first windows of those among which somebody has to choose: number, process, start and command line of each.
pub(crate) fn candidates(windows: &[Window], processes: &[ProcessRow]) -> String {
    let text = |window: &Window| {
        let process = processes.iter().find(|row| Some(row.process) == window.process);
        let name = process.map_or_else(|| "(unknown process)".to_owned(), |row| format!("{}({})", row.name, row.pid));
        let number = if window.number == 0 { String::new() } else { format!("#{} ", window.number) };
        let line = process.and_then(|row| row.command_line.as_deref()).map(str::trim).filter(|line| !line.is_empty());
        let line = line.map(|line| format!(", {}", shortened(line))).unwrap_or_default();
        format!("{number}{name} from {} s{line}", seconds(window.span.start, 3))
    };
    let mut texts: Vec<String> = windows.iter().take(NAMED).map(text).collect();
    if windows.len() > NAMED {
        texts.push(format!("and {} more", windows.len() - NAMED));
    }
    texts.join("; ")
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(COMMAND_LENGTH) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}

fn no_thread() -> Absence {
    Absence::Because(
        "nothing tells which thread it starts from: name the process with -p, or the thread with --anchor".to_owned(),
    )
}
