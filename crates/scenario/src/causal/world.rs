//! What there is before a machine runs: CPUs, processes, threads with their scripts, and the code on their
//! stacks.

use std::sync::Arc;

/// Index into [`World::codes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeId(pub usize);

/// Index into [`World::stacks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackNo(pub usize);

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// File name of its module; of a driver with its extension.
    pub module: String,
    /// Name; of a method with its type.
    pub name: String,
    /// Code of the kernel or a driver.
    pub kernel: bool,
}

/// What a process is to the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The kernel's process.
    System,
    /// The test and what it starts.
    Test,
    /// The shell that starts the test.
    Shell,
    /// A virus scanner.
    Scanner,
    /// Anything else.
    Other,
}

/// A process. Index 0 of [`World::processes`] is the kernel's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Name without extension.
    pub name: String,
    /// What it is.
    pub part: Part,
}

/// A thread and what it does.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Index into [`World::processes`].
    pub process: usize,
    /// Name; empty where it has none.
    pub name: String,
    /// Priority: a higher one takes the CPU of a lower one.
    pub priority: u8,
    /// CPUs that it may run on, a bit each.
    pub cpus: u64,
    /// Time at which it comes to life by itself, ns: its first step begins then, after a wait that began
    /// before the recording. `None`: another thread makes it.
    pub starts: Option<i64>,
    /// What it does.
    pub script: Arc<[Step]>,
}

/// A step of a script. Steps that take no time of their own run with the stack of the step before.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Runs with a stack for so many ns on a CPU of normal speed.
    Run(StackNo, i64),
    /// Goes on with a stack: waits that follow happen there.
    At(StackNo),
    /// Takes a lock, and waits for its owner where it has one. Locks are given in the order of asking.
    Lock(usize),
    /// Gives a lock to the next thread that waits for it, and readies it.
    Unlock(usize),
    /// Counts an event up by one, or readies the thread that has waited for it longest.
    Signal(usize),
    /// Counts an event down by one, or waits for a signal.
    Await(usize),
    /// Waits for a device for so many ns; its interrupt ends the wait.
    Disk(DiskOp, i64),
    /// Waits for so many ns; the timer ends the wait.
    Sleep(i64),
    /// Makes a thread and readies it; the first thread of a process makes the process, too.
    Spawn(usize),
    /// Waits for the end of a thread, which readies this one.
    Join(usize),
    /// Waits while a gate is closed, for the thread that opens it.
    Pass(usize),
    /// Closes a gate.
    Close(usize),
    /// Opens a gate and readies all who wait for it.
    Open(usize),
    /// Asks a thread, and waits for its reply.
    Call(usize),
    /// Waits until somebody asks.
    Receive,
    /// Replies to the one whose question was received last, and readies it.
    Reply,
    /// Stops all other threads of its process, wherever they are, until it lets them go on.
    Stop,
    /// Lets the stopped threads go on: readies them.
    Resume,
    /// Writes a mark.
    Mark(Arc<str>),
    /// Repeats steps; [`FOREVER`] times without an end.
    Loop(u32, Arc<[Step]>),
}

/// As many repetitions as there is time for.
pub const FOREVER: u32 = u32::MAX;

/// What a device is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiskOp {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads a page that code touched.
    Fault,
}

/// Why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    /// For a lock.
    Lock,
    /// For an event.
    Event,
    /// For a device.
    Disk(DiskOp),
    /// For the timer.
    Sleep,
    /// For the end of a thread.
    Join,
    /// For a gate.
    Gate,
    /// For a reply.
    Reply,
    /// For a question.
    Queue,
    /// It is stopped.
    Stopped,
}

/// Everything before the machine runs.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Functions.
    pub codes: Vec<Code>,
    /// Stacks, leaf first; code of the kernel comes before other code.
    pub stacks: Vec<Vec<CodeId>>,
    /// Processes; the first is the kernel's.
    pub processes: Vec<Process>,
    /// Threads.
    pub threads: Vec<Thread>,
    /// Relative speed of each CPU, thousandths: less than 1000 for an efficient core.
    pub speeds: Vec<i64>,
    /// The thread whose end ends the run; without one the run ends at [`World::limit`].
    pub main: Option<usize>,
    /// Time of the end at the latest, ns.
    pub limit: i64,
    /// The thread that virus scanning asks; disk operations of the test do.
    pub scanner: Option<usize>,
    /// The gate that disk operations of the test pass.
    pub volume: Option<usize>,
    locks: usize,
    events: usize,
    gates: usize,
}

impl World {
    /// A machine with so many CPUs of normal speed and the kernel's process, which runs until `limit` at the
    /// latest.
    #[must_use]
    pub fn new(cpus: usize, limit: i64) -> Self {
        let system = Process { name: "System".to_owned(), part: Part::System };
        Self { speeds: vec![1_000; cpus.max(1)], processes: vec![system], limit, ..Self::default() }
    }

    /// The function with this name.
    pub fn code(&mut self, module: &str, name: &str, kernel: bool) -> CodeId {
        let code = Code { module: module.to_owned(), name: name.to_owned(), kernel };
        let found = self.codes.iter().position(|other| *other == code);
        CodeId(found.unwrap_or_else(|| push(&mut self.codes, code)))
    }

    /// The stack of these functions, `module!name`, leaf first. A module with an extension `.sys` is the
    /// kernel's.
    pub fn stack(&mut self, names: &[&str]) -> StackNo {
        let codes: Vec<CodeId> = names
            .iter()
            .map(|name| {
                let (module, function) = name.split_once('!').unwrap_or(("program", name));
                self.code(module, function, module.ends_with(".sys"))
            })
            .collect();
        let found = self.stacks.iter().position(|other| *other == codes);
        StackNo(found.unwrap_or_else(|| push(&mut self.stacks, codes)))
    }

    /// Adds a process.
    pub fn process(&mut self, name: &str, part: Part) -> usize {
        push(&mut self.processes, Process { name: name.to_owned(), part })
    }

    /// Adds a thread of priority 8 for any CPU, which another one makes.
    pub fn thread(&mut self, process: usize, name: &str, script: Script) -> usize {
        let name = name.to_owned();
        let script = script.steps.into();
        push(&mut self.threads, Thread { process, name, priority: 8, cpus: u64::MAX, starts: None, script })
    }

    /// Adds a thread that is older than the recording and comes to life at a time.
    pub fn old_thread(&mut self, process: usize, name: &str, starts: i64, script: Script) -> usize {
        let thread = self.thread(process, name, script);
        self.threads[thread].starts = Some(starts);
        thread
    }

    /// Adds a lock.
    pub fn lock(&mut self) -> usize {
        self.locks += 1;
        self.locks - 1
    }

    /// Adds an event.
    pub fn event(&mut self) -> usize {
        self.events += 1;
        self.events - 1
    }

    /// Adds a gate, which is open.
    pub fn gate(&mut self) -> usize {
        self.gates += 1;
        self.gates - 1
    }

    pub(super) fn counts(&self) -> (usize, usize, usize) {
        (self.locks, self.events, self.gates)
    }

    /// Name of a stack's leaf: `module!name`.
    #[must_use]
    pub fn leaf(&self, stack: StackNo) -> String {
        let leaf = self.stacks.get(stack.0).and_then(|stack| stack.first());
        leaf.map_or_else(String::new, |code| format!("{}!{}", self.codes[code.0].module, self.codes[code.0].name))
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> usize {
    list.push(item);
    list.len() - 1
}

/// Steps in the making.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
}

impl Script {
    /// An empty script whose steps happen at a stack.
    #[must_use]
    pub fn at(stack: StackNo) -> Self {
        Self { steps: vec![Step::At(stack)] }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds a run, ns.
    #[must_use]
    pub fn run(self, stack: StackNo, ns: i64) -> Self {
        self.then(Step::Run(stack, ns))
    }

    /// Adds all steps of another script.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    /// Adds a loop over another script.
    #[must_use]
    pub fn repeat(self, times: u32, body: Self) -> Self {
        self.then(Step::Loop(times, body.steps.into()))
    }
}
