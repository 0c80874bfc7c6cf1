//! `overview`: a recording on one screen. What and when, how complete, who used the CPU and who waited, and which question goes on from there.
//!
//! It asks the other questions; only the disks are its own.

mod absent;
mod classes;
mod columns;
mod disks;
mod next;
mod others;
mod parts;

use std::sync::Arc;

use clap::Args;
use rustc_hash::FxHashSet;
use tracesift_analysis::tags::TagSet;
use tracesift_archive::Error;
use tracesift_grammar::Patterns;
use tracesift_trace::FrameId;
use tracesift_trace::HealthKind;
use tracesift_trace::rows::{FrameRow, HealthRow, SymbolRow};
use tracesift_trace::view;

pub(crate) use self::absent::recorded_profiles;
pub use self::absent::{AbsentPart, of as absent_parts, profiles};
pub use self::classes::ClassPart;
pub use self::columns::{
    COLUMNS, absent_columns, call_columns, class_columns, disk_columns, next_columns, process_columns, tag_columns,
    wait_columns,
};
pub use self::disks::DiskPart;
pub use self::next::NextPart;
pub use self::parts::Parts;

use self::others::{Row as Other, Rows};
use crate::answer::{Column, Section};
use crate::ask::Ask;
use crate::explain::{Finding, first_cheap};
use crate::filter::{ProcessFilter, ProcessPatterns};
use crate::options::{Form, Plan, QuestionOptions};
use crate::order::Top;
use crate::question::{cpu, methods, syscalls, waits};
use crate::recorded_program;
use crate::recording::OpenRecording;
use crate::recording_label::RecordingLabel;
use crate::shown::Shown;
use crate::tag_cache::TagCache;
use crate::tag_files;
use crate::usage_error::UsageError;
use tracesift_grammar::TimeRange;

/// Processes of which something is said.
const PROCESSES: usize = 5;
/// Tags of each.
const TAGS: usize = 3;
/// Waits.
const WAITS: usize = 3;
/// Kinds of system calls that failed.
const CALLS: usize = 3;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The rules of the stack tags: our own.
    pub tags: Arc<TagSet>,
    /// Where it is kept what rules say that archives do not keep.
    pub cache: Option<Arc<TagCache>>,
    /// Which columns somebody looks at.
    pub shown: Shown,
}

/// The options: none of its own.
#[derive(Args, Debug)]
pub struct Options {}

impl QuestionOptions for Options {
    const FORMS: &'static [Form] = &[Form {
        objects: &[
            ("The objects of `processes`:\n\n", process_columns),
            ("The objects of their `tags`:\n\n", tag_columns),
            ("The objects of `waits`:\n\n", wait_columns),
            ("The objects of `disks`:\n\n", disk_columns),
            ("The objects of `failing_calls`:\n\n", call_columns),
            ("The objects of `classes`:\n\n", class_columns),
            ("The objects of `absent`:\n\n", absent_columns),
            ("The objects of `next`:\n\n", next_columns),
        ],
        ..Form::usual("overview", || COLUMNS.descriptions())
    }];
    const SHORT: &'static [&'static str] = &["format", "out", "wide"];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tracesift overview X.sift", "one screen: who used the CPU, who waited, what is missing"),
        ("tracesift overview recordings/", "a line per recording"),
        ("tracesift overview X.sift --format json", "for programs"),
    ];

    fn plan(&self, warn: &mut dyn FnMut(&str)) -> Result<Plan, UsageError> {
        Ok(Plan::from(Question::usual(warn)?))
    }
}

impl Question {
    /// The question with our own rules of stack tags.
    ///
    /// # Errors
    /// When these cannot be read.
    pub fn usual(warn: &mut dyn FnMut(&str)) -> Result<Self, UsageError> {
        let tags = tag_files::load(&[], false, warn)?;
        Ok(Self { tags, cache: TagCache::of_user().map(Arc::new), shown: Shown::default() })
    }
}

/// A recording in few words.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The recording.
    pub file: RecordingLabel,
    /// Product name and build of the operating system.
    pub os: Option<String>,
    /// Logical CPUs.
    pub cpu_count: u32,
    /// The command that was recorded, if our recorder noted one.
    pub command: Option<String>,
    /// Sampled CPU of all processes but the idle loop, ns; `None` where the CPU was not sampled.
    pub cpu: Option<i64>,
    /// Precise run time of these processes, ns; `None` without context switches.
    pub run: Option<i64>,
    /// Number of these processes.
    pub process_count: i64,
    /// Their samples.
    pub samples: Option<i64>,
    /// Samples without a stack.
    pub samples_without_stack: Option<i64>,
    /// Events that the recorder says it lost.
    pub events_lost: u64,
    /// Buffers that the recorder says it lost.
    pub buffers_lost: u64,
    /// Broken switch chains.
    pub broken_chains: i64,
    /// Code addresses in stacks.
    pub frames: Option<i64>,
    /// Those of them without a name.
    pub frames_without_name: Option<i64>,
    /// The largest processes, ascending.
    pub processes: Vec<ProcessPart>,
    /// The longest waits of these processes, ascending.
    pub waits: Vec<WaitPart>,
    /// The disks, the busiest last.
    pub disks: Vec<DiskPart>,
    /// System calls; `None` where they were not recorded.
    pub calls: Option<i64>,
    /// System calls that failed.
    pub failed_calls: Option<i64>,
    /// The calls that failed most often, ascending.
    pub failing: Vec<CallPart>,
    /// Classes of events that are in no other block.
    pub classes: Vec<ClassPart>,
    /// What is not in the recording.
    pub absent: Vec<AbsentPart>,
    /// The first finding of those rules of `explain` that need neither an account nor much time.
    pub finding: Option<Finding>,
    /// The commands that go deeper.
    pub next: Vec<NextPart>,
}

/// A process of an overview.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessPart {
    /// Its name.
    pub process: String,
    /// Its id.
    pub pid: i64,
    /// Its start inside the recording: ids and names are used again.
    pub start: Option<i64>,
    /// Name, id and marks of start and end.
    pub label: String,
    /// Sampled CPU, ns.
    pub cpu: Option<i64>,
    /// Precise run time, ns.
    pub run: Option<i64>,
    /// Wait, summed over its threads, ns.
    pub wait: Option<i64>,
    /// Ready, summed over its threads, ns.
    pub ready: Option<i64>,
    /// Its largest stack tags by CPU, ascending.
    pub tags: Vec<TagPart>,
}

/// A stack tag of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TagPart {
    /// Full name.
    pub tag: String,
    /// Its CPU, ns: sampled, else precise.
    pub cpu: i64,
}

/// A wait of an overview.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitPart {
    /// Process that waited.
    pub process: String,
    /// Its id.
    pub pid: i64,
    /// The thread.
    pub tid: Option<i64>,
    /// Process, thread id and name.
    pub label: String,
    /// Length, ns.
    pub wait: i64,
    /// Start, ns since time zero.
    pub from: i64,
    /// Why.
    pub reason: Option<String>,
    /// Where.
    pub method: Option<String>,
    /// Who ended it.
    pub woken_by: Option<String>,
    /// Threads of the wait chain.
    pub links: usize,
    /// The last of them.
    pub end: Option<ChainEnd>,
}

/// The last thread of a wait chain: the one that did the work, or that waited for a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainEnd {
    /// Process and thread.
    pub label: String,
    /// How long it ran meanwhile, ns.
    pub run: i64,
    /// How long it was ready meanwhile, ns.
    pub ready: i64,
    /// How long it waited meanwhile, ns.
    pub wait: i64,
    /// Where its longest wait was.
    pub method: Option<String>,
    /// The thread or device that ended that wait.
    pub woken_by: Option<String>,
}

/// Calls of one kind that failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallPart {
    /// The process.
    pub process: String,
    /// Its id.
    pub pid: i64,
    /// The call.
    pub call: String,
    /// Number of failures.
    pub failed: i64,
    /// The errors with their counts, the most frequent first.
    pub errors: Vec<(String, i64)>,
}

impl Ask for Question {
    fn name(&self) -> &'static str {
        "overview"
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.descriptions();
        self.shown.keep(&mut columns);
        columns
    }

    fn within(&self, _: TimeRange, _: i64) -> Box<dyn Ask> {
        // It is about whole recordings: nothing that asks for a part of one reaches it.
        Box::new(self.clone())
    }

    fn sums_suffice(&self) -> bool {
        true
    }

    fn showing(&self, shown: &Shown) -> Option<Box<dyn Ask>> {
        Some(Box::new(Self { shown: shown.clone(), ..self.clone() }))
    }

    fn section(&self, recording: &OpenRecording) -> Result<Section, Error> {
        let overview = self.overview(recording)?;
        Ok(COLUMNS.section_showing(&recording.file, std::slice::from_ref(&overview), Vec::new(), &self.shown))
    }
}

impl Question {
    /// The overview of one recording; what nobody looks at is left empty.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn overview(&self, recording: &OpenRecording) -> Result<Overview, Error> {
        let (archive, info, file) = (recording.archive(), recording.info(), &recording.file);
        let needed = COLUMNS.needs(|column| self.shown.has(column)).parts;
        let is_sampled = file.has_samples || file.has_imported_sums;
        let sort = if is_sampled { cpu::Sort::Cpu } else { cpu::Sort::Run };
        let all = Rows::of(
            &cpu::Question {
                sort,
                shown: Shown::only([
                    "process",
                    "pid",
                    "process_label",
                    "start_ns",
                    "cpu_ns",
                    "run_ns",
                    "wait_ns",
                    "ready_ns",
                    "samples_without_stack",
                    "idle",
                ]),
                ..cpu::Question::default()
            },
            recording,
        )?;
        let busy = || all.rows().filter(|row| !row.is("idle"));
        let sum = |key: &str| {
            busy()
                .filter_map(|row| row.integer(key))
                .fold(None, |sum: Option<i64>, more| Some(sum.unwrap_or(0).saturating_add(more)))
        };
        let mut processes: Vec<ProcessPart> = busy().rev().take(PROCESSES).map(ProcessPart::of).collect();
        processes.reverse();
        if needed.has(Parts::TAGS.and(Parts::LARGEST_TAGS)) {
            // Of many recordings on a line each only the last tag is seen.
            let wanted = if needed.has(Parts::TAGS) { processes.as_mut_slice() } else { last_of(&mut processes) };
            self.add_tags(recording, wanted)?;
        }
        let (frames, frames_without_name) =
            if needed.has(Parts::FRAMES) { frames(recording)?.unzip() } else { (None, None) };
        let waits = if needed.has(Parts::WAITS) && info.has_switches {
            longest_waits(recording, &processes)?
        } else {
            Vec::new()
        };
        let calls =
            if needed.has(Parts::CALLS) && info.kind == "perf" { failing_calls(recording)? } else { Calls::default() };
        let mut overview = Overview {
            file: file.clone(),
            os: os(info.os_name.as_deref(), info.os_build.as_deref()),
            cpu_count: info.cpu_count,
            command: command(&info.facts),
            cpu: is_sampled.then(|| sum("cpu_ns").unwrap_or(0)),
            run: sum("run_ns"),
            process_count: all.fact("processes").unwrap_or(0),
            samples: all.fact("samples"),
            samples_without_stack: file.has_samples.then(|| sum("samples_without_stack").unwrap_or(0)),
            events_lost: info.events_lost,
            buffers_lost: info.buffers_lost,
            broken_chains: if needed.has(Parts::BREAKS) { broken_chains(&archive.rows()?) } else { 0 },
            frames,
            frames_without_name,
            processes,
            waits,
            disks: if needed.has(Parts::DISKS) { disks::read(archive)? } else { Vec::new() },
            calls: calls.all,
            failed_calls: calls.failed,
            failing: calls.failing,
            classes: if needed.has(Parts::CLASSES) { classes::of_recording(recording)? } else { Vec::new() },
            absent: absent::of(file, archive),
            // A table that cannot be read is named by the question about it.
            finding: if needed.has(Parts::FINDING) { first_cheap(recording).unwrap_or_default() } else { None },
            next: Vec::new(),
        };
        if needed.has(Parts::NEXT) {
            overview.next = next::of(&overview);
        }
        Ok(overview)
    }

    /// The largest stack tags of these processes.
    fn add_tags(&self, recording: &OpenRecording, processes: &mut [ProcessPart]) -> Result<(), Error> {
        if processes.is_empty() || recording.file.has_imported_sums {
            return Ok(());
        }
        let pids = pids(processes.iter().map(|process| process.pid));
        let question = methods::Question {
            filter: ProcessFilter { process: ProcessPatterns::parse(&pids), ..ProcessFilter::default() },
            tags: Some(methods::Tags {
                patterns: Patterns::parse("*"),
                set: self.tags.clone(),
                cache: self.cache.clone(),
            }),
            top_methods: Top { take: Some(TAGS), skip: 0 },
            shown: Shown::only(["process", "pid", "cpu_ns", "run_ns", "stack_tag", "start_ns"]),
            ..methods::Question::default()
        };
        let rows = Rows::of(&question, recording)?;
        for process in processes {
            let of_process = rows.rows().filter(|row| {
                row.integer("pid") == Some(process.pid)
                    && row.integer("start_ns") == process.start
                    && row.text("process").as_deref() == Some(&process.process)
            });
            let tag = |row: Other<'_>| {
                let cpu = row.integer("cpu_ns").or(row.integer("run_ns")).unwrap_or(0);
                Some(TagPart { tag: row.text("stack_tag")?, cpu }).filter(|tag| tag.cpu > 0)
            };
            process.tags = of_process.filter_map(tag).collect();
        }
        Ok(())
    }
}

impl ProcessPart {
    fn of(row: Other<'_>) -> Self {
        Self {
            process: row.text("process").unwrap_or_default(),
            pid: row.integer("pid").unwrap_or(0),
            start: row.integer("start_ns"),
            label: row.text("process_label").unwrap_or_default(),
            cpu: row.integer("cpu_ns"),
            run: row.integer("run_ns"),
            wait: row.integer("wait_ns"),
            ready: row.integer("ready_ns"),
            tags: Vec::new(),
        }
    }

    /// The figure that it is large by.
    #[must_use]
    pub fn time(&self) -> i64 {
        self.cpu.or(self.run).unwrap_or(0)
    }
}

impl Overview {
    /// The figure that processes are large by, of all of them.
    #[must_use]
    pub fn time(&self) -> i64 {
        self.cpu.or(self.run).unwrap_or(0)
    }
}

/// A filter of processes with these ids.
fn pids(pids: impl Iterator<Item = i64>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for pid in pids.map(|pid| pid.to_string()) {
        if !seen.contains(&pid) {
            seen.push(pid);
        }
    }
    seen.join(";")
}

fn last_of(processes: &mut [ProcessPart]) -> &mut [ProcessPart] {
    let from = processes.len().saturating_sub(1);
    processes.get_mut(from..).unwrap_or_default()
}

/// `Windows 10 Pro 10.0.19045`.
fn os(name: Option<&str>, build: Option<&str>) -> Option<String> {
    let parts: Vec<&str> = [name, build].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The command that our recorder recorded.
fn command(facts: &[(String, String)]) -> Option<String> {
    let words = recorded_program::command(facts);
    (!words.is_empty()).then(|| words.join(" "))
}

fn broken_chains(health: &[HealthRow]) -> i64 {
    health
        .iter()
        .filter(|row| row.kind == HealthKind::BROKEN_SWITCH_CHAIN.word())
        .map(|row| row.count)
        .fold(0, i64::saturating_add)
}

view! {
    /// The id of a frame.
    #[derive(Clone, Copy, Debug)]
    struct FrameKey of FrameRow { frame }
}

view! {
    /// The frame of a symbol.
    #[derive(Clone, Copy, Debug)]
    struct NamedFrame of SymbolRow { frame }
}

/// How many code addresses there are in stacks, and how many of them have no name, as `symbols missing` counts them.
fn frames(recording: &OpenRecording) -> Result<Option<(i64, i64)>, Error> {
    let archive = recording.archive();
    let mut named: FxHashSet<FrameId> = FxHashSet::default();
    archive.scan(None, |row: &NamedFrame| {
        named.insert(row.frame);
    })?;
    let (mut all, mut nameless) = (0_i64, 0_i64);
    archive.scan(None, |row: &FrameKey| {
        all += 1;
        nameless += i64::from(!named.contains(&row.frame));
    })?;
    Ok((all > 0).then_some((all, nameless)))
}

/// Of the waits that `dump waits` shows of these processes the longest of each process and place that a thread or a device ended: who
/// sleeps, or is never woken, waits for nobody. Where there are too few of them, the longest of the others.
fn longest_waits(recording: &OpenRecording, processes: &[ProcessPart]) -> Result<Vec<WaitPart>, Error> {
    let pids = next::waiting(processes);
    if pids.is_empty() {
        return Ok(Vec::new());
    }
    let question = waits::Question {
        filter: ProcessFilter { process: ProcessPatterns::parse(&pids), ..ProcessFilter::default() },
        ..waits::Question::default()
    };
    let rows = Rows::of(&question, recording)?;
    let is_ended_by_somebody = |row: &Other<'_>| {
        !row.is("still_open")
            && (row.integer("waker_tid").is_some()
                || row.text("woken_by").is_some_and(|by| !by.is_empty() && by != "timer"))
    };
    let (ended, others): (Vec<_>, Vec<_>) = rows.rows().rev().partition(is_ended_by_somebody);
    let mut waits: Vec<WaitPart> = Vec::new();
    for wait in ended.into_iter().chain(others).map(WaitPart::of) {
        let is_known = |known: &WaitPart| known.pid == wait.pid && known.method == wait.method;
        if waits.len() < WAITS && !waits.iter().any(is_known) {
            waits.push(wait);
        }
    }
    waits.sort_by_key(|wait| wait.wait);
    Ok(waits)
}

impl WaitPart {
    fn of(row: Other<'_>) -> Self {
        let (links, last) = row.last_below("chain").unzip();
        Self {
            process: row.text("process").unwrap_or_default(),
            pid: row.integer("pid").unwrap_or(0),
            tid: row.integer("tid"),
            label: row.text("thread_label").unwrap_or_default(),
            wait: row.integer("wait_ns").unwrap_or(0),
            from: row.integer("from_ns").unwrap_or(0),
            reason: row.text("reason"),
            method: row.text("wait_method"),
            woken_by: row.text("woken_by"),
            links: links.unwrap_or(0),
            end: last.map(|last| ChainEnd {
                label: last.text("thread").unwrap_or_default(),
                run: last.integer("run_ns").unwrap_or(0),
                ready: last.integer("ready_ns").unwrap_or(0),
                wait: last.integer("wait_ns").unwrap_or(0),
                method: last.text("longest_wait_method"),
                woken_by: last.text("woken_by").filter(|by| !by.is_empty()),
            }),
        }
    }
}

/// System calls, and which failed.
#[derive(Default)]
struct Calls {
    all: Option<i64>,
    failed: Option<i64>,
    failing: Vec<CallPart>,
}

fn failing_calls(recording: &OpenRecording) -> Result<Calls, Error> {
    let question = syscalls::Question::default().sorted_by_word("failed").unwrap_or_default();
    let rows = Rows::of(&question, recording)?;
    let call = |row: Other<'_>| CallPart {
        process: row.text("process").unwrap_or_default(),
        pid: row.integer("pid").unwrap_or(0),
        call: row.text("call").unwrap_or_default(),
        failed: row.integer("failed").unwrap_or(0),
        errors: row.map("errors"),
    };
    let mut failing: Vec<CallPart> = rows.rows().rev().take(CALLS).map(call).filter(|call| call.failed > 0).collect();
    failing.reverse();
    Ok(Calls { all: rows.fact("system calls"), failed: rows.fact("failed"), failing })
}
