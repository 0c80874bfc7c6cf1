//! The catalog of a profile: names, frames, stacks, processes and threads.

use super::frames::Frames;
use super::stacks::Stacks;
use super::{Frame, FrameId, Origin, ProcessId, StackId, StringId, Strings, ThreadId};

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The name of the program.
    pub name: StringId,
    /// The id that the system gave it. Systems use ids again, so two processes may have the same one.
    pub pid: u32,
    /// When it began, in nanoseconds since time zero; none when that was before the recording.
    pub start: Option<i64>,
    /// When it ended, in nanoseconds since time zero; none when that was after the recording.
    pub end: Option<i64>,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process that it belongs to.
    pub process: ProcessId,
    /// Its name, or the empty text.
    pub name: StringId,
    /// The id that the system gave it.
    pub tid: u32,
    /// When it began, in nanoseconds since time zero; none when that was before the recording.
    pub start: Option<i64>,
    /// When it ended, in nanoseconds since time zero; none when that was after the recording.
    pub end: Option<i64>,
}

/// Names, frames, stacks, processes and threads of one profile, each of the first three stored once.
///
/// Ids belong to the catalog that gave them. One of another catalog names a wrong row, or panics where there is none.
#[derive(Clone, Debug)]
pub struct Catalog {
    strings: Strings,
    frames: Frames,
    stacks: Stacks,
    processes: Vec<Process>,
    threads: Vec<Thread>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl Catalog {
    /// A catalog with nothing but the empty text and [`StackId::NONE`].
    pub fn new() -> Self {
        let mut catalog = Self {
            strings: Strings::new(),
            frames: Frames::default(),
            stacks: Stacks::default(),
            processes: Vec::new(),
            threads: Vec::new(),
        };
        let function = catalog.string("[no stack]");
        let frame = catalog.frame(Frame::named(function, Origin::Unresolved));
        catalog.stacks.push(None, frame);
        catalog
    }

    /// The id of a text.
    pub fn string(&mut self, text: &str) -> StringId {
        self.strings.intern(text)
    }

    /// The id of a frame.
    pub fn frame(&mut self, frame: Frame) -> FrameId {
        self.frames.intern(frame)
    }

    /// The id of the stack of these frames, **outermost first**: [`StackId::NONE`] when there are none.
    ///
    /// Stacks that resemble the one before cost little, so it pays to give them in the order of the table that they come from.
    pub fn stack(&mut self, outermost_first: impl IntoIterator<Item = FrameId>) -> StackId {
        self.stacks.intern(outermost_first).unwrap_or(StackId::NONE)
    }

    /// The id of the stack of `frame` called from `caller`.
    pub fn call(&mut self, caller: Option<StackId>, frame: FrameId) -> StackId {
        self.stacks.push(caller, frame)
    }

    /// Adds a process.
    pub fn process(&mut self, process: Process) -> ProcessId {
        let id = ProcessId::next(self.processes.len());
        self.processes.push(process);
        id
    }

    /// Adds a thread.
    pub fn thread(&mut self, thread: Thread) -> ThreadId {
        let id = ThreadId::next(self.threads.len());
        self.threads.push(thread);
        id
    }

    /// The text of an id.
    pub fn text(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// All texts, by id. The first one is empty.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.strings.iter()
    }

    /// All frames, by id.
    pub fn frames(&self) -> &[Frame] {
        self.frames.rows()
    }

    /// All processes, by id.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// All threads, by id.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// How many stacks there are, parts of stacks included. They have the rows `0..stack_count()`, callers before what they call.
    pub fn stack_count(&self) -> usize {
        self.stacks.len()
    }

    /// All stacks, callers before what they call.
    pub fn stacks(&self) -> impl Iterator<Item = StackId> + use<> {
        (0..self.stacks.len() as u32).map(StackId)
    }

    /// The stack of the caller.
    pub fn caller(&self, stack: StackId) -> Option<StackId> {
        self.stacks.parent(stack)
    }

    /// The innermost frame of a stack.
    pub fn leaf(&self, stack: StackId) -> FrameId {
        self.stacks.frame(stack)
    }

    /// The frames of a stack, innermost first.
    pub fn frames_of(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        std::iter::successors(Some(stack), |&stack| self.caller(stack)).map(|stack| self.leaf(stack))
    }

    /// `module!function`, or the function alone where the module is not known.
    pub fn label(&self, frame: &Frame) -> String {
        match self.text(frame.module) {
            "" => self.text(frame.function).to_owned(),
            module => format!("{module}!{}", self.text(frame.function)),
        }
    }

    /// `name(pid)`, as processes are headed in every format.
    pub fn process_label(&self, process: ProcessId) -> String {
        let process = &self.processes[process.row()];
        format!("{}({})", self.text(process.name), process.pid)
    }

    /// `name(tid)`, or `thread(tid)` where it has no name.
    pub fn thread_label(&self, thread: ThreadId) -> String {
        let thread = &self.threads[thread.row()];
        let name = match self.text(thread.name) {
            "" => "thread",
            name => name,
        };
        format!("{name}({})", thread.tid)
    }
}
