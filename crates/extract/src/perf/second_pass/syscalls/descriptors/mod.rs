//! What the descriptors of processes stand for: names of rows of file operations, and rows of descriptors.

mod looks;
mod rows;

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_trace::descriptors::{Change, Descriptors, Taken};
use tracesift_trace::dns::Caller;
use tracesift_trace::file_names::PathId;
use tracesift_trace::handles::{End, Source};
use tracesift_trace::rows::{HandleRow, handle_origins};
use tracesift_trace::{FileId, HealthKind, ProcessId, RowSink, ThreadId};

use super::descriptor_call::{DescriptorCall, Effect};
use super::end_names::{EndNames, Made};
use super::names::of_tracepoint;
use super::object::{Object, has_path};
use super::paths::Paths;
use crate::perf::second_pass::mapped_files::MappedFiles;
use crate::perf::second_pass::page_cache::Added;
use crate::perf::second_pass::rows::Rows;
use crate::perf::second_pass::sample_context::SampleContext;
use crate::perf::tracepoint::{Inode, PathFields, Tracepoint};
use crate::recorder_facts::{Looks, ProcessDescriptors};

/// Where the kernel makes what is read, or a device has it.
const UNCACHED: [&str; 3] = ["/proc/", "/sys/", "/dev/"];
/// Threads whose path waits for the call that opens it, at most.
const MAX_ASKED: usize = 1 << 16;
/// Calls without which the lives of descriptors have gaps; every architecture has them.
const NEEDED: [&str; 7] = ["openat", "close", "dup3", "pipe2", "socket", "accept4", "eventfd2"];

/// What a descriptor stands for, and since when.
#[derive(Clone, Copy, Debug, Default)]
struct Life {
    start: i64,
    maker: Caller,
    made_by: i8,
    source: Source,
    what: What,
    /// Losses of events that had been when it was known last.
    losses: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct What {
    object: Option<PathId>,
    name: Option<PathId>,
    /// What rows of file operations name.
    file: Option<PathId>,
    /// A link told all of it.
    of_link: bool,
    /// Reads go past the page cache (`O_DIRECT`).
    is_direct: bool,
}

impl What {
    fn or(self, other: Self) -> Self {
        if self.object.is_none() {
            return other;
        }
        Self { name: self.name.or(other.name), file: self.file.or(other.file), ..self }
    }
}

/// A path that a thread asks the kernel to open.
struct Asked {
    address: u64,
    path: PathId,
}

/// Follows the descriptors of all processes.
#[derive(Default)]
pub(crate) struct DescriptorLives {
    /// Whether calls are recorded that name them.
    are_followed: bool,
    /// Whether all calls are recorded that make and close them.
    have_rows: bool,
    /// Whether changes of the current directory are recorded.
    follows_directories: bool,
    open: Descriptors<ProcessId, Life>,
    paths: Paths,
    end_names: EndNames,
    /// Looks at processes that are still to come.
    looks: VecDeque<ProcessDescriptors>,
    directories: FxHashMap<ProcessId, Directory>,
    asked: FxHashMap<ThreadId, Asked>,
    /// Ends of processes, in ns, the next one first; none before the first call.
    ends: Option<VecDeque<(i64, ProcessId)>>,
    /// Processes that ended. A look that was under way can still have what they had.
    ended: FxHashSet<ProcessId>,
    losses: u32,
    replaced: i64,
    /// No row ends later.
    latest: Option<i64>,
    row: HandleRow,
    text: String,
}

#[derive(Clone, Copy, Debug)]
struct Directory {
    /// Ticks of the change.
    since: i64,
    path: Option<PathId>,
}

impl DescriptorLives {
    /// Those of a recording with these events.
    pub(super) fn of(tracepoints: &[Option<Tracepoint>]) -> Self {
        let calls = || {
            tracepoints.iter().flatten().filter_map(|tracepoint| match tracepoint {
                Tracepoint::Syscall(fields) => Some(fields),
                _ => None,
            })
        };
        let is_raw = calls().any(|fields| fields.raw);
        let has = |name: &str| {
            is_raw || calls().any(|fields| fields.name.as_deref().is_some_and(|own| of_tracepoint(own) == name))
        };
        let is_of_one = |name: &str| DescriptorCall::of(of_tracepoint(name)).is_some();
        Self {
            are_followed: is_raw || calls().any(|fields| fields.name.as_deref().is_some_and(is_of_one)),
            have_rows: NEEDED.into_iter().all(has),
            follows_directories: has("chdir") && has("fchdir"),
            ..Self::default()
        }
    }

    /// Whether calls are recorded that name them: else nobody needs to tell of processes.
    pub(crate) fn are_followed(&self) -> bool {
        self.are_followed
    }

    /// What the recorder saw, and what is known of descriptors that were open at the end.
    pub(crate) fn learn(&mut self, looks: Looks, end_names: EndNames) {
        if self.are_followed {
            self.looks = looks.start.into_iter().chain(looks.end).collect();
            self.end_names = end_names;
        }
    }

    /// Events were lost: whatever a number stood for, it may stand for something else now.
    pub(crate) fn lost(&mut self) {
        self.losses = self.losses.saturating_add(1);
        self.asked.clear();
        self.directories.values_mut().for_each(|directory| directory.path = None);
    }

    /// A file is about to be opened.
    pub(crate) fn path<Sink: RowSink>(
        &mut self,
        fields: &PathFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let Some(raw) = at.sample.raw else {
            return rows
                .health
                .count(HealthKind::INCOMPLETE_SYSCALLS, Some(at.ticks), || "a path without its fields".to_owned());
        };
        let mut text = std::mem::take(&mut self.text);
        let asked = fields.path(raw, &mut text).then(|| {
            let path = self.whole_path(at.process, fields.directory(raw), &text)?;
            Some(Asked { address: fields.address(raw)?, path })
        });
        self.text = text;
        if self.asked.len() >= MAX_ASKED {
            self.asked.clear();
        }
        match asked.flatten() {
            Some(asked) => drop(self.asked.insert(at.thread, asked)),
            None => drop(self.asked.remove(&at.thread)),
        }
    }

    /// A path as the process means it, where its directory is known.
    fn whole_path(&mut self, process: ProcessId, directory: Option<i32>, text: &str) -> Option<PathId> {
        if text.starts_with('/') {
            return self.paths.id(text);
        }
        let base = match directory {
            Some(number) => self.known(process, number).and_then(|life| life.what.name),
            None if self.follows_directories => self.directories.get(&process).and_then(|directory| directory.path),
            None => None,
        };
        match base.filter(|base| self.paths.name(*base).starts_with('/')) {
            Some(base) => self.paths.below(base, text),
            None => self.paths.id(text),
        }
    }

    /// The path that a call which opens a file was given.
    pub(super) fn take_path(&mut self, thread: ThreadId, arguments: &[u64; 6]) -> Option<PathId> {
        let asked = self.asked.remove(&thread)?;
        arguments.iter().take(2).any(|argument| *argument == asked.address).then_some(asked.path)
    }

    fn known(&self, process: ProcessId, number: i32) -> Option<&Life> {
        self.open.get(process, number).filter(|life| life.losses == self.losses)
    }

    /// What a descriptor stands for, as rows of file operations name it.
    pub(super) fn file(&mut self, process: ProcessId, number: i64) -> Option<FileId> {
        if !self.are_followed {
            return None;
        }
        let path = self.known(process, i32::try_from(number).ok()?)?.what.file?;
        Some(self.paths.file(path))
    }

    /// The number of a path; `None` where there is no room for it.
    pub(crate) fn path_id(&mut self, path: &str) -> Option<PathId> {
        self.paths.id(path)
    }

    /// A read of a descriptor returned, which stands for `file` as far as is known. `added`: pages that it added to the page cache. Gives
    /// the file, and bytes of these pages where the file is one of the page cache.
    pub(super) fn read(
        &mut self,
        process: ProcessId,
        number: i64,
        (file, added): (Option<FileId>, Added),
        names: &mut MappedFiles,
    ) -> (Option<FileId>, Option<i64>) {
        // Blocks of a directory or of an index belong to a device without a major number.
        let inode = added.file.filter(Inode::is_of_disk);
        match self.cached_path(process, number) {
            Some(path) => {
                if let Some(inode) = inode {
                    names.learn(inode, path);
                }
                (file, Some(added.bytes))
            }
            None if file.is_none() => {
                let path = inode.and_then(|inode| names.name_of_inode(inode, self));
                (path.map(|path| self.file_of(path)), None)
            }
            None => (file, None),
        }
    }

    /// The path of a file whose reads go through the page cache; `None` of what is no such file, or not known as one.
    fn cached_path(&self, process: ProcessId, number: i64) -> Option<PathId> {
        let life = self.known(process, i32::try_from(number).ok()?)?;
        let is_cached = |path: &PathId| {
            let name = self.paths.name(*path);
            name.starts_with('/') && !UNCACHED.iter().any(|root| name.starts_with(root))
        };
        life.what.name.filter(|_| !life.what.is_direct).filter(is_cached)
    }

    /// Reads of a descriptor go past the page cache.
    pub(super) fn is_direct(&mut self, process: ProcessId, number: i64) {
        if let Ok(number) = i32::try_from(number)
            && let Some(life) = self.open.get_mut(process, number)
        {
            life.what.is_direct = true;
        }
    }

    /// A path as rows of file operations name it.
    pub(crate) fn file_of(&mut self, path: PathId) -> FileId {
        self.paths.file(path)
    }

    /// A call returned. `path`: that of the file which it opened.
    pub(super) fn call<Sink: RowSink>(
        &mut self,
        call: DescriptorCall,
        effect: Effect,
        path: Option<PathId>,
        (maker, at): (Caller, &SampleContext<'_>),
        rows: &mut Rows<'_, Sink>,
    ) {
        self.ends_until(maker.time, rows);
        let (process, time) = (at.process, maker.time);
        let change = match effect {
            Effect::On(change) => change,
            Effect::Directory(number) => {
                let path = number.and_then(|number| self.known(process, number)).and_then(|life| life.what.name);
                self.directories.insert(process, Directory { since: at.ticks, path });
                return;
            }
        };
        let closed = End::Closed(maker.thread, maker.stack);
        let life = Life { start: time, maker, losses: self.losses, ..Life::default() };
        match change {
            Change::Made { number, close_on_exec } => {
                let object = call.object().and_then(|object| self.what(object, path));
                let what = object.unwrap_or_default().or(self.at_end(number, at));
                let before = self.open.set(process, number, close_on_exec, Life { what, ..life }, at.ticks);
                self.replaced += i64::from(before.is_some());
                self.put_all(process, before.map(|life| (number, life)), (time, End::Lost), rows);
            }
            Change::Duplicated { from, to, close_on_exec } => {
                let of = self.known(process, from).map(|life| life.what);
                let what = of.unwrap_or_default().or(self.at_end(to, at));
                let source = Source { process: Some(process), handle: u64::try_from(from).ok() };
                let life = Life { made_by: handle_origins::DUPLICATED, source, what, ..life };
                let before = self.open.set(process, to, close_on_exec, life, at.ticks);
                self.put_all(process, before.map(|life| (to, life)), (time, closed), rows);
            }
            Change::Closed { number } => {
                let life = match self.open.take(process, number, at.ticks) {
                    Taken::Life(life) => life,
                    Taken::Made => unrecorded(time),
                    Taken::Unknown => unseen(process, rows),
                };
                self.put_all(process, [(number, life)], (time, closed), rows);
            }
            Change::ClosedRange { first, last } => {
                let lives = self.open.take_range(process, first, last, at.ticks);
                self.put_all(process, lives, (time, closed), rows);
            }
            Change::Marked { first, last, close_on_exec } => self.open.mark(process, first, last, close_on_exec),
        }
    }

    /// An object of a type, perhaps with a path.
    fn what(&mut self, object: &str, path: Option<PathId>) -> Option<What> {
        let file = if has_path(object) { path } else { self.label(object) };
        Some(What { object: self.paths.id(object), name: path, file, ..What::default() })
    }

    /// What stands in place of the path of an object that has none.
    fn label(&mut self, object: &str) -> Option<PathId> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.push_str(object);
        text.push(':');
        let label = self.paths.id(&text);
        self.text = text;
        label
    }

    /// What a link says.
    fn of_link(&mut self, target: &str) -> What {
        let Object { kind, name } = Object::of_link(target);
        let name = name.and_then(|name| self.paths.id(name));
        let file = if has_path(&kind) { name } else { self.label(&kind) };
        What { object: self.paths.id(&kind), name, file, of_link: true, is_direct: false }
    }

    /// What the descriptor that a call made stood for at the end of the recording, if it was open until then.
    fn at_end(&mut self, number: i32, at: &SampleContext<'_>) -> What {
        let pid = at.sample.pid.and_then(|pid| u32::try_from(pid).ok());
        let made = pid.map(|pid| Made { pid, number, ticks: at.ticks });
        let end_names = std::mem::take(&mut self.end_names);
        let what = made.and_then(|made| end_names.get(made)).map(|target| self.of_link(target));
        self.end_names = end_names;
        what.unwrap_or_default()
    }

    /// A process begins with the descriptors of its creator.
    pub(crate) fn fork<Sink: RowSink>(&mut self, [parent, child]: [u32; 2], ticks: i64, rows: &mut Rows<'_, Sink>) {
        let start = rows.clock.ns(ticks);
        self.ends_until(start, rows);
        let [parent, child] = [parent, child].map(|pid| rows.population.process_at(pid, ticks));
        if parent == child {
            return;
        }
        self.open.fork(parent, child, ticks, |number, life| Life {
            start,
            maker: Caller::default(),
            made_by: handle_origins::INHERITED,
            source: Source { process: Some(parent), handle: u64::try_from(number).ok() },
            ..*life
        });
        match self.directories.get(&parent).copied() {
            Some(directory) => drop(self.directories.insert(child, directory)),
            None => drop(self.directories.remove(&child)),
        }
    }

    /// A process starts another program.
    pub(crate) fn exec<Sink: RowSink>(&mut self, [pid, tid]: [u32; 2], ticks: i64, rows: &mut Rows<'_, Sink>) {
        let time = rows.clock.ns(ticks);
        self.ends_until(time, rows);
        let process = rows.population.process_at(pid, ticks);
        let thread = rows.population.named_thread_at(tid, 0, ticks);
        let lives = self.open.exec(process, ticks);
        self.put_all(process, lives, (time, End::Closed(Some(thread), None)), rows);
    }
}

/// A descriptor that something made which is not recorded: first known now.
fn unrecorded(time: i64) -> Life {
    Life { start: time, made_by: handle_origins::CREATED, ..Life::default() }
}

/// A descriptor that was there when the recording, or its process, began.
fn unseen<Sink>(process: ProcessId, rows: &Rows<'_, Sink>) -> Life {
    let (start, parent) = rows.population.birth(process);
    match (start, parent) {
        (Some(start), Some(parent)) => {
            let source = Source { process: Some(parent), handle: None };
            Life { start, made_by: handle_origins::INHERITED, source, ..Life::default() }
        }
        _ => Life { start: start.unwrap_or(0), made_by: handle_origins::THERE, ..Life::default() },
    }
}
