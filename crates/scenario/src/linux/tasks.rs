//! Processes and threads: those that last, and slots for those that come and go.

/// Threads that come and go at the same time, at most.
const SLOTS: u32 = 64;
const FIRST_TID: u32 = 1_000;
/// Ids of those that are born; they start anew here, as the kernel's do at `pid_max`.
const FIRST_BORN: u32 = 100_000;
const PID_MAX: u32 = 4_194_304;
/// One process in so many is a thread of the kernel.
const KERNEL_SHARE: u32 = 10;

/// What becomes of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It was there before and is there afterwards.
    Lasting,
    /// A slot for a thread that is born.
    Free,
    /// A process that runs its creator's program until it runs first.
    Forked,
    /// It ends when it was switched out so many times more.
    Running(u8),
    /// It has said that it ends, and leaves the CPU for the last time next.
    Ending,
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// Number of its program; `None` for a thread of the kernel.
    pub(super) program: Option<u32>,
    pub(super) stage: Stage,
    /// Its process is its creator's.
    pub(super) is_thread: bool,
    /// It has ended and is switched out for the last time.
    pub(super) is_dead: bool,
}

impl Task {
    /// Process and thread as samples have them: a thread that nobody waits for has no ids when it is dead.
    pub(super) fn ids(&self) -> (i32, i32) {
        if self.is_dead && self.is_thread { (-1, -1) } else { (self.pid.cast_signed(), self.tid.cast_signed()) }
    }

    pub(super) fn comm(&self) -> String {
        self.program.map_or_else(|| format!("kworker/{}", self.tid), |program| format!("program-{program}"))
    }
}

/// All threads, by number.
#[derive(Debug)]
pub(super) struct Tasks {
    tasks: Vec<Task>,
    processes: u32,
    lasting: u32,
    next_id: u32,
    files: u64,
}

/// Where the files of programs are mapped, from the first to behind the last address.
const MAPPED: std::ops::Range<u64> = 0x7f00_0000_0000..0x8000_0000_0000;

impl Tasks {
    /// Bytes of each file.
    pub(super) const FILE_BYTES: u64 = 0x0010_0000;

    /// `files`: those that each process maps.
    pub(super) fn new(processes: u32, lasting: u32, files: u64) -> Self {
        let task = |index: u32| {
            let process = index % processes;
            Task {
                pid: FIRST_TID + process,
                tid: FIRST_TID + index,
                program: (process % KERNEL_SHARE != KERNEL_SHARE - 1).then_some(process),
                stage: if index < lasting { Stage::Lasting } else { Stage::Free },
                is_thread: process != index,
                is_dead: false,
            }
        };
        Self { tasks: (0..lasting + SLOTS).map(task).collect(), processes, lasting, next_id: FIRST_BORN, files }
    }

    pub(super) fn get(&self, thread: u32) -> &Task {
        &self.tasks[thread as usize]
    }

    pub(super) fn get_mut(&mut self, thread: u32) -> &mut Task {
        &mut self.tasks[thread as usize]
    }

    pub(super) fn processes(&self) -> u32 {
        self.processes
    }

    /// Files that each process maps.
    pub(super) fn files(&self) -> u64 {
        self.files
    }

    /// How many last.
    pub(super) fn lasting(&self) -> u32 {
        self.lasting
    }

    /// Those that are there at the start.
    pub(super) fn at_start(&self) -> &[Task] {
        &self.tasks[..self.lasting as usize]
    }

    /// Where the files of a thread's process are mapped: one behind the other, in each process elsewhere.
    pub(super) fn base(&self, thread: Option<u32>) -> u64 {
        self.base_of(thread.map_or(0, |thread| self.get(thread).pid))
    }

    pub(super) fn base_of(&self, pid: u32) -> u64 {
        let bytes = self.files * Self::FILE_BYTES;
        let places = ((MAPPED.end - MAPPED.start) / bytes).min(0xffff);
        MAPPED.start + u64::from(pid) % places * bytes
    }

    /// A slot for a thread of which `parent` is the creator; `None` if all are taken.
    pub(super) fn born(&mut self, parent: u32, is_thread: bool) -> Option<u32> {
        let free = |task: &Task| task.stage == Stage::Free;
        let place = self.tasks.iter().skip(self.lasting as usize).position(free)?;
        let (tid, creator) = (self.next_id, self.get(parent).clone());
        self.next_id = if tid + 1 == PID_MAX { FIRST_BORN } else { tid + 1 };
        let pid = if is_thread { creator.pid } else { tid };
        let stage = if is_thread { Stage::Running(3) } else { Stage::Forked };
        let thread = self.lasting + place as u32;
        *self.get_mut(thread) = Task { pid, tid, program: creator.program, stage, is_thread, is_dead: false };
        Some(thread)
    }
}

/// The path of a file of a program: the program itself, then libraries.
pub(super) fn path(program: u32, file: u64) -> String {
    if file == 0 { format!("/usr/bin/program-{program}") } else { format!("/usr/lib/x86_64-linux-gnu/lib{file}.so") }
}
