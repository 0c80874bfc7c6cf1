//! The scenes: what each thread of a recording plays.

use super::cast::{Cast, Halves, Role};
use super::counters::Rates;
use super::plot::{Episode, Plot, Work, Writing};
use super::stage::{Aside, DELAY_EXECUTION, Extra, Part, Play, SLOT, Stage, Waker};
use crate::record::{DiskIo, Event, HardFault, Record};
use crate::rng::SplitMix64;

/// Slot in which FileWriter is started.
const START: usize = 400;
/// Slots from there to the first file.
const STARTUP: usize = 60;
/// Slots that FileWriter needs to end.
const EXIT: usize = 25;
/// Slots that are recorded behind its end.
const EPILOGUE: usize = 300;
/// First slot of the work.
pub(super) const FIRST: usize = START + STARTUP;

const EXECUTIVE: i8 = 0;
const USER_REQUEST: i8 = 6;
const QUEUE: i8 = 15;

const KERNEL_WAIT: &[&str] = &[
    "ntoskrnl.exe!KiSwapContext",
    "ntoskrnl.exe!KiSwapThread",
    "ntoskrnl.exe!KiCommitThreadWait",
    "ntoskrnl.exe!KeWaitForSingleObject",
];
const SYSTEM_CALL: &str = "ntoskrnl.exe!KiSystemServiceCopyEnd";
const SYSTEM_THREAD: &[&str] =
    &["ntoskrnl.exe!ExpWorkerThread", "ntoskrnl.exe!PspSystemThreadStartup", "ntoskrnl.exe!KiStartSystemThread"];
const USER_THREAD: &[&str] = &["kernel32.dll!BaseThreadInitThunk", "ntdll.dll!RtlUserThreadStart"];
const MAIN: &[&str] = &[
    "FileWriter.Program.Main",
    "coreclr.dll!Assembly::ExecuteMainMethod",
    "coreclr.dll!RunMain",
    "hostpolicy.dll!corehost_main",
    "hostfxr.dll!hostfxr_main_startupinfo",
    "FileWriter.exe!wmain",
    "kernel32.dll!BaseThreadInitThunk",
    "ntdll.dll!RtlUserThreadStart",
];
const POOL: &[&str] = &[
    "FileWriter.DataGenerator+<>c__DisplayClass9_0.<CreateFilesParallel>b__0",
    "System.Threading.ThreadPoolWorkQueue.Dispatch",
    "System.Threading.Thread.StartCallback",
    "coreclr.dll!ThreadNative::KickOffThread",
    "kernel32.dll!BaseThreadInitThunk",
    "ntdll.dll!RtlUserThreadStart",
];
const CREATE_FILES: &[&str] = &["FileWriter.DataGenerator.CreateFiles"];
const FILTER_MANAGER: &[&str] =
    &["FLTMGR.SYS!FltpPerformPreCallbacks", "FLTMGR.SYS!FltpDispatch", "ntoskrnl.exe!IofCallDriver"];

/// NT paths of the files that disk operations name: those that FileWriter creates come first.
pub(super) fn files() -> Vec<String> {
    let written = (0..WRITES).map(|index| format!(r"\Device\HarddiskVolume3\temp\Test\test_{index:04}.cmd"));
    let runtime = r"\Device\HarddiskVolume3\Program Files\dotnet\shared\Microsoft.NETCore.App\6.0.3\coreclr.dll";
    written.chain([runtime.to_owned()]).collect()
}

/// Disk writes while the files are written: 4 MiB in 53 ms, as the post finds them.
pub(super) const WRITES: usize = 16;
/// Bytes of each.
pub(super) const WRITE_BYTES: u32 = 256 * 1024;
/// Hard faults while FileWriter starts: 0.3 ms in all.
pub(super) const HARD_FAULTS: usize = 6;

/// A recording before it is played.
pub(super) struct Scene {
    pub(super) stage: Stage,
    /// Records that need no stage: disk operations.
    pub(super) records: Vec<Record>,
}

/// What the threads that write files show.
struct Writers<'a> {
    cast: &'a mut Cast,
    root: Vec<&'a str>,
}

impl Writers<'_> {
    fn stack(&mut self, parts: &[&[&str]]) -> Halves {
        let root = self.root.clone();
        let mut all = parts.to_vec();
        all.push(&root);
        self.cast.stack(&all)
    }

    /// One card per sampled slot.
    fn deck(&mut self, work: &Work) -> Vec<Option<Halves>> {
        const HANDLER: &str = "System.Runtime.CompilerServices.DefaultInterpolatedStringHandler";
        let to_string = format!("{HANDLER}.ToStringAndClear");
        let append = format!("{HANDLER}.AppendFormatted");
        let rent = "System.Buffers.TlsOverPerCoreLockedStacksArrayPool`1[System.Char].Rent";
        let write_line = "System.IO.StreamWriter.WriteLine";
        let flush = ["System.IO.StreamWriter.Flush", write_line];
        let open = "System.IO.Strategies.OSFileStreamStrategy..ctor";
        let dispose = ["System.IO.Strategies.OSFileStreamStrategy.Dispose", "System.IO.StreamWriter.Dispose"];
        let write_file = [
            "ntoskrnl.exe!NtWriteFile",
            SYSTEM_CALL,
            "ntdll.dll!NtWriteFile",
            "KERNELBASE.dll!WriteFile",
            "System.IO.RandomAccess.WriteAtOffset",
        ];
        let create_file = [
            "ntoskrnl.exe!IopParseDevice",
            "ntoskrnl.exe!NtCreateFile",
            SYSTEM_CALL,
            "ntdll.dll!NtCreateFile",
            "KERNELBASE.dll!CreateFileW",
        ];
        let close_file = ["ntoskrnl.exe!NtClose", SYSTEM_CALL, "ntdll.dll!NtClose", "KERNELBASE.dll!CloseHandle"];
        let cached_write = ["ntoskrnl.exe!CcCopyWriteEx", "Ntfs.sys!NtfsCopyWriteA"];
        let create = ["Ntfs.sys!NtfsCommonCreate", "Ntfs.sys!NtfsFsdCreate"];
        let cleanup = ["Ntfs.sys!NtfsCommonCleanup", "Ntfs.sys!NtfsFsdCleanup"];
        let cards = [
            (work.to_string - work.to_string * 2 / 5, self.stack(&[&[&to_string]])),
            (work.to_string * 2 / 5, self.stack(&[&["coreclr.dll!JIT_New", &to_string]])),
            (work.append, self.stack(&[&[&append]])),
            (work.rent, self.stack(&[&[rent]])),
            (work.write_line, self.stack(&[&[write_line]])),
            (work.encode, self.stack(&[&["System.Text.UTF8Encoding.GetBytes"], &flush])),
            (work.write, self.stack(&[&cached_write, FILTER_MANAGER, &write_file, &flush])),
            (work.write_scanned, self.stack(&[&["WdFilter.sys!MpPreWrite"], FILTER_MANAGER, &write_file, &flush])),
            (work.open, self.stack(&[&["ntdll.dll!RtlAllocateHeap", open]])),
            (work.create, self.stack(&[&create, FILTER_MANAGER, &create_file, &[open]])),
            (work.create_scanned, self.stack(&[&["WdFilter.sys!MpPreCreate"], FILTER_MANAGER, &create_file, &[open]])),
            (work.dispose, self.stack(&[&dispose])),
            (work.close, self.stack(&[&cleanup, FILTER_MANAGER, &close_file, &dispose])),
            (work.close_scanned, self.stack(&[&["WdFilter.sys!MpPreCleanup"], FILTER_MANAGER, &close_file, &dispose])),
            (work.own, self.stack(&[])),
        ];
        cards.into_iter().flat_map(|(count, stack)| std::iter::repeat_n(Some(stack), count)).collect()
    }

    /// Waits while a file is created: for the scanner's answer, or for the volume.
    fn wait(&mut self, scanned: bool) -> Halves {
        let create_file = [
            "ntoskrnl.exe!IopParseDevice",
            "ntoskrnl.exe!NtCreateFile",
            SYSTEM_CALL,
            "ntdll.dll!NtCreateFile",
            "KERNELBASE.dll!CreateFileW",
            "System.IO.Strategies.OSFileStreamStrategy..ctor",
        ];
        let inside: &[&str] = if scanned {
            &["WdFilter.sys!MpAsyncFileScan", "WdFilter.sys!MpPostCreate", "FLTMGR.SYS!FltpPerformPostCallbacks"]
        } else {
            &[
                "ntoskrnl.exe!ExpWaitForResource",
                "ntoskrnl.exe!ExAcquireResourceExclusiveLite",
                "Ntfs.sys!NtfsAcquireSharedVcb",
                "Ntfs.sys!NtfsCommonCreate",
                "Ntfs.sys!NtfsFsdCreate",
            ]
        };
        self.stack(&[KERNEL_WAIT, inside, &FILTER_MANAGER[1..], &create_file])
    }

    /// The plays between the first and the last sample, shuffled, with the waits for checkpoints still missing.
    fn plays(&mut self, writing: &Writing, scanned: bool, rng: &mut SplitMix64) -> Vec<Play> {
        let mut deck = self.deck(&writing.work);
        deck.extend(std::iter::repeat_n(None, writing.stackless));
        shuffle(&mut deck, rng);
        // The first and the last sample show the method.
        for end in [0, deck.len() - 1] {
            if deck[end].is_none()
                && let Some(other) = (1..deck.len() - 1).find(|other| deck[*other].is_some())
            {
                deck.swap(end, other);
            }
        }
        let wait_stack = Some(self.wait(scanned));
        let own = Some(self.stack(&[]));
        let (wait, waits) = writing.wait;
        let (preempted, preemptions) = writing.preempted;
        let mut breaks: Vec<Vec<Play>> = Vec::new();
        let ready = partition(writing.ready_after_wait, waits, rng);
        for (slots, ready) in partition(wait, waits, rng).into_iter().zip(ready) {
            let mut plays = vec![Play::Wait(wait_stack, EXECUTIVE); slots];
            plays.extend(std::iter::repeat_n(Play::Ready(wait_stack), ready));
            breaks.push(plays);
        }
        for slots in partition(preempted, preemptions, rng) {
            breaks.push(vec![Play::Ready(own); slots]);
        }
        shuffle(&mut breaks, rng);
        // Breaks stand between two cards, never two in one place.
        let mut places: Vec<usize> = (1..deck.len()).collect();
        shuffle(&mut places, rng);
        places.truncate(breaks.len());
        places.sort_unstable();
        let mut plays = Vec::new();
        let mut breaks = breaks.into_iter();
        for (index, card) in deck.into_iter().enumerate() {
            if places.binary_search(&index).is_ok() {
                plays.extend(breaks.next().unwrap_or_default());
            }
            plays.push(Play::Run(card));
        }
        plays
    }
}

/// Splits `total` into `parts` numbers, each at least 1 where there is enough, else 0.
fn partition(total: usize, parts: usize, rng: &mut SplitMix64) -> Vec<usize> {
    let least = usize::from(total >= parts);
    let mut sizes = vec![least; parts];
    for _ in 0..total - least * parts {
        sizes[rng.index(parts)] += 1;
    }
    sizes
}

fn shuffle<T>(items: &mut [T], rng: &mut SplitMix64) {
    for index in (1..items.len()).rev() {
        items.swap(index, rng.index(index + 1));
    }
}

/// Inserts the waits for checkpoints into the plays of all writers at the same slots; returns those slots.
fn stall(all: &mut [Vec<Play>], episodes: &[Episode], stack: Option<Halves>) -> Vec<usize> {
    let mut starts = Vec::new();
    for episode in episodes {
        // A thread that is runnable does not begin to wait.
        let free = |plays: &Vec<Play>, at: usize| matches!(plays[at - 1], Play::Run(_) | Play::Wait(..));
        let last = all.iter().map(Vec::len).min().unwrap_or(0);
        let at = (episode.at..last).find(|at| all.iter().all(|plays| free(plays, *at))).unwrap_or(episode.at);
        for plays in all.iter_mut() {
            plays.splice(at..at, std::iter::repeat_n(Play::Wait(stack, EXECUTIVE), episode.stall));
        }
        starts.push(at);
    }
    starts
}

/// Sets the stage for one recording.
pub(super) fn scene(plot: &Plot, cast: &mut Cast, rng: &mut SplitMix64) -> Scene {
    let slots = FIRST + plot.milliseconds + 1 + EXIT + EPILOGUE;
    let rates = Rates { writer: Role::FileWriter as usize, cpi: plot.cpi, misses: plot.misses };
    let mut stage = Stage { slots, parts: Vec::new(), extras: Vec::new(), asides: Vec::new(), rates };
    let end = FIRST + plot.milliseconds + 1;
    let cmd = cast.thread(Role::Cmd, "", 8);
    let main = cast.thread(Role::FileWriter, "", 8);
    command_line(cast, &mut stage, (cmd, main), end);
    let stalls = writers(plot, cast, &mut stage, (cmd, main), end, rng);
    start_process(&mut stage, main, cmd);
    tiering(plot, cast, &mut stage, main, end);
    end_process(&mut stage, main, end);
    marks(plot, &mut stage, main);
    quick_faults(cast, &mut stage, main);
    if !plot.episodes.is_empty() {
        checkpoint(plot, cast, &mut stage, &stalls, rng);
    }
    others(plot, cast, &mut stage, end);
    let records = disk_writes(cast, plot);
    Scene { stage, records }
}

/// The shell starts FileWriter and waits for it.
fn command_line(cast: &mut Cast, stage: &mut Stage, (thread, main): (usize, usize), end: usize) {
    let running = cast.stack(&[&["cmd.exe!ExecPgm"], USER_THREAD]);
    let wait_for = [
        "ntoskrnl.exe!NtWaitForSingleObject",
        SYSTEM_CALL,
        "ntdll.dll!NtWaitForSingleObject",
        "KERNELBASE.dll!WaitForSingleObjectEx",
        "cmd.exe!ExecPgm",
    ];
    let waiting = Some(cast.stack(&[KERNEL_WAIT, &wait_for, USER_THREAD]));
    let mut part = Part::new(thread);
    part.leads = true;
    part.woken_at.push((end + EXIT, Waker::Thread(main)));
    part.push(START - 3, Play::Wait(waiting, USER_REQUEST));
    part.push(6, Play::Run(Some(running)));
    part.push(end + EXIT - (START + 3), Play::Wait(waiting, USER_REQUEST));
    part.push(4, Play::Run(Some(running)));
    part.push(1, Play::Wait(waiting, USER_REQUEST));
    stage.parts.push(part);
}

/// The threads that write files. Returns the slots at which they begin to wait for checkpoints.
fn writers(
    plot: &Plot,
    cast: &mut Cast,
    stage: &mut Stage,
    (cmd, main): (usize, usize),
    end: usize,
    rng: &mut SplitMix64,
) -> Vec<usize> {
    let startup = cast.stack(&[&["coreclr.dll!EEStartup"], &MAIN[2..]]);
    let exit = cast.stack(&[&["coreclr.dll!RunMain"], &MAIN[3..]]);
    let mut part = Part::new(main);
    part.leads = true;
    part.woken_by = Waker::Process(if plot.scanned { Role::MsMpEng } else { Role::System } as usize);
    part.woken_at.push((START + 1, Waker::Thread(cmd)));
    part.push(START, Play::Absent);
    part.push(1, Play::Wait(None, EXECUTIVE));
    part.push(STARTUP - 1, Play::Run(Some(startup)));
    let stalls = if plot.serial() {
        let mut group = Writers { cast, root: [CREATE_FILES, MAIN].concat() };
        let mut plays = [group.plays(&plot.writers[0], plot.scanned, rng)];
        let stack = Some(group.wait(false));
        let stalls = stall(&mut plays, plot.episodes, stack);
        part.plays.append(&mut plays[0]);
        stalls.into_iter().map(|at| FIRST + at).collect()
    } else {
        let (before, after) = (3, 4);
        let root = [&["FileWriter.DataGenerator.CreateFilesParallel"], MAIN].concat();
        let split = ["System.Threading.Tasks.Parallel.For"];
        let running = cast.stack(&[&split, &root]);
        let join = [
            "ntoskrnl.exe!NtWaitForSingleObject",
            SYSTEM_CALL,
            "ntdll.dll!NtWaitForSingleObject",
            "KERNELBASE.dll!WaitForSingleObjectEx",
            "coreclr.dll!CLREventWaitHelper",
            "System.Threading.ManualResetEventSlim.Wait",
        ];
        let waiting = cast.stack(&[KERNEL_WAIT, &join, &split, &root]);
        part.push(before, Play::Run(Some(running)));
        part.push(plot.milliseconds + 1 - before - after, Play::Wait(Some(waiting), USER_REQUEST));
        part.push(after, Play::Run(Some(running)));
        let threads: Vec<usize> = plot.writers.iter().map(|_| cast.thread(Role::FileWriter, "", 8)).collect();
        let mut group = Writers { cast, root: POOL.to_vec() };
        let mut all: Vec<Vec<Play>> =
            plot.writers.iter().map(|writing| group.plays(writing, plot.scanned, rng)).collect();
        let stack = Some(group.wait(false));
        let stalls = stall(&mut all, plot.episodes, stack);
        let idle = pool_wait(cast);
        let done = cast.stack(&[&POOL[1..]]);
        let leaving = cast.stack(&[USER_THREAD]);
        let last = threads.last().copied().unwrap_or(main);
        part.woken_at.push((FIRST + plot.milliseconds + 1 - after, Waker::Thread(last)));
        for (offset, (thread, plays)) in threads.into_iter().zip(all).enumerate() {
            let mut worker = Part::new(thread);
            worker.woken_by = part.woken_by;
            worker.woken_at = vec![(FIRST + 3, Waker::Thread(main)), (end + 10 + offset, Waker::Thread(main))];
            worker.push(FIRST + 2, Play::Absent);
            worker.push(1, Play::Wait(None, EXECUTIVE));
            worker.plays.extend(plays);
            // The last one tells the main thread that all is done.
            if thread == last {
                worker.push(1, Play::Run(Some(done)));
            }
            worker.push(end + 10 + offset - worker.plays.len(), Play::Wait(Some(idle), QUEUE));
            worker.push(1, Play::Run(Some(leaving)));
            worker.push(1, Play::Absent);
            let (event, on) = (Event::ThreadStart { thread, by: main }, main);
            stage.asides.push(Aside { slot: FIRST + 2, micros: 100 + 10 * offset as i64, on, event });
            stage.asides.push(thread_end(thread, end + 10 + offset));
            stage.parts.push(worker);
        }
        stalls.into_iter().map(|at| FIRST + before + at).collect()
    };
    part.push(EXIT, Play::Run(Some(exit)));
    part.push(1, Play::Absent);
    stage.parts.push(part);
    stalls
}

fn pool_wait(cast: &mut Cast) -> Halves {
    let queue = [
        "ntoskrnl.exe!IoRemoveIoCompletion",
        SYSTEM_CALL,
        "ntdll.dll!NtRemoveIoCompletion",
        "System.Threading.Thread.StartCallback",
        "coreclr.dll!ThreadNative::KickOffThread",
    ];
    cast.stack(&[&KERNEL_WAIT[..3], &["ntoskrnl.exe!KeRemovePriQueue"], &queue, USER_THREAD])
}

fn thread_end(thread: usize, slot: usize) -> Aside {
    Aside { slot, micros: 900, on: thread, event: Event::ThreadEnd { thread } }
}

fn start_process(stage: &mut Stage, main: usize, cmd: usize) {
    let start = Event::ProcessStart { process: Role::FileWriter as usize, by: cmd };
    stage.asides.push(Aside { slot: START, micros: 200, on: cmd, event: start });
    stage.asides.push(Aside { slot: START, micros: 300, on: cmd, event: Event::ThreadStart { thread: main, by: cmd } });
}

fn end_process(stage: &mut Stage, main: usize, end: usize) {
    let slot = end + EXIT - 1;
    stage.asides.push(thread_end(main, slot));
    let event = Event::ProcessEnd { process: Role::FileWriter as usize, by: main };
    stage.asides.push(Aside { slot, micros: 950, on: main, event });
}

/// The runtime compiles busy methods again in the background: 750 ms of sleep between its turns.
fn tiering(plot: &Plot, cast: &mut Cast, stage: &mut Stage, main: usize, end: usize) {
    let thread = cast.thread(Role::FileWriter, ".NET Tiered Compilation Worker", 8);
    let worker = ["coreclr.dll!TieredCompilationBackgroundWorker::Run", "coreclr.dll!ThreadNative::KickOffThread"];
    let compile = cast.stack(&[
        &["clrjit.dll!LinearScan::allocateRegisters", "clrjit.dll!Compiler::compCompile"],
        &worker,
        USER_THREAD,
    ]);
    let sleep = [
        "ntoskrnl.exe!KeDelayExecutionThread",
        "ntoskrnl.exe!NtDelayExecution",
        SYSTEM_CALL,
        "ntdll.dll!NtDelayExecution",
        "KERNELBASE.dll!SleepEx",
    ];
    let sleep = cast.stack(&[&KERNEL_WAIT[..3], &sleep, &worker, USER_THREAD]);
    let done = [
        "ntoskrnl.exe!NtWaitForSingleObject",
        SYSTEM_CALL,
        "ntdll.dll!NtWaitForSingleObject",
        "KERNELBASE.dll!WaitForSingleObjectEx",
    ];
    let done = cast.stack(&[KERNEL_WAIT, &done, &worker, USER_THREAD]);
    let born = FIRST - 20;
    let mut part = Part::new(thread);
    part.woken_at = vec![(born + 1, Waker::Thread(main)), (end + 5, Waker::Thread(main))];
    part.push(born, Play::Absent);
    part.push(1, Play::Wait(None, EXECUTIVE));
    part.push(2, Play::Run(Some(compile)));
    let fault = ["ntoskrnl.exe!MiIssueHardFault", "ntoskrnl.exe!MmAccessFault", "ntoskrnl.exe!KiPageFault"];
    let fault = cast.stack(&[KERNEL_WAIT, &fault, &["clrjit.dll!Compiler::compCompile"], &worker, USER_THREAD]);
    let mut faults = plot.cold_faults.iter().enumerate();
    for slots in [100, 100, 100, 100, 100, 100, 100, 50] {
        part.push(slots, Play::Wait(Some(sleep), DELAY_EXECUTION));
        part.push(4, Play::Run(Some(compile)));
        if let Some((index, slots)) = faults.next() {
            // The thread reads the page when it is switched in again.
            let (start, slot) = (part.plays.len(), part.plays.len() + slots);
            let start = cast.machine.zero_ticks + start as i64 * SLOT;
            let event = hard_fault(thread, start, HARD_FAULTS + index);
            stage.asides.push(Aside { slot, micros: 100, on: thread, event });
            part.push(*slots, Play::Wait(Some(fault), EXECUTIVE));
            part.woken_at.push((slot, Waker::Disk));
        }
        part.push(4, Play::Run(Some(compile)));
    }
    part.push(end + 5 - part.plays.len(), Play::Wait(Some(done), USER_REQUEST));
    part.push(1, Play::Run(Some(cast.stack(&[USER_THREAD]))));
    part.push(1, Play::Absent);
    stage.asides.push(Aside { slot: born, micros: 400, on: main, event: Event::ThreadStart { thread, by: main } });
    stage.asides.push(thread_end(thread, end + 5));
    stage.parts.push(part);
}

fn marks(plot: &Plot, stage: &mut Stage, main: usize) {
    let times = [(FIRST - 1, "start"), (FIRST + plot.milliseconds + 1, "stop")];
    for (slot, what) in times {
        let event = Event::Mark { thread: main, text: format!("{} {what}", plot.test) };
        stage.asides.push(Aside { slot, micros: 300, on: main, event });
    }
}

/// Hard faults that the disk's cache answers: the thread hardly waits.
fn quick_faults(cast: &Cast, stage: &mut Stage, main: usize) {
    for index in 0..HARD_FAULTS {
        let slot = START + 5 + index * 4;
        let start = cast.machine.zero_ticks + slot as i64 * SLOT + 1_000;
        stage.asides.push(Aside { slot, micros: 150, on: main, event: hard_fault(main, start, index) });
    }
}

/// A fault in the runtime's file. `index` counts them.
fn hard_fault(thread: usize, start: i64, index: usize) -> Event {
    const SIZE: u32 = 0x8000;
    let offset = index as u64 * u64::from(SIZE);
    Event::HardFault(HardFault { thread, start, file: WRITES, offset, address: 0x7FFC_1900_0000 + offset, size: SIZE })
}

/// The file system's checkpoint: bursts of CPU and waits for the log, while all creators of files wait for it.
fn checkpoint(plot: &Plot, cast: &mut Cast, stage: &mut Stage, stalls: &[usize], rng: &mut SplitMix64) {
    let volume = ["Ntfs.sys!NtfsCheckpointVolume", "Ntfs.sys!NtfsCheckpointAllVolumes"];
    let list = ["ntoskrnl.exe!RtlFindNextForwardRunClear", "Ntfs.sys!NtfsFreeRecentlyDeallocated"];
    let own = cast.stack(&[&list, &volume, SYSTEM_THREAD]);
    let flush = ["ntoskrnl.exe!CcFlushCache"];
    let elsewhere = cast.stack(&[&["WdFilter.sys!MpPreWrite"], FILTER_MANAGER, &flush, &volume, SYSTEM_THREAD]);
    let waiting = cast.stack(&[KERNEL_WAIT, &flush, &volume, SYSTEM_THREAD]);
    let rest = system_rest(cast);
    let thread = cast.thread(Role::System, "", 13);
    let mut part = Part::new(thread);
    part.pinned = Some(0);
    part.woken_by = Waker::Disk;
    for (episode, stalled) in plot.episodes.iter().zip(stalls) {
        let start = stalled + episode.stall - episode.slots();
        part.push(start - part.plays.len(), Play::Wait(Some(rest), QUEUE));
        let mut cards = vec![Some(elsewhere); episode.elsewhere];
        cards.resize(episode.cpu, Some(own));
        shuffle(&mut cards, rng);
        let waits = episode.wait / 40;
        let mut cards = cards.into_iter();
        let mut runs = partition(episode.cpu, waits + 1, rng).into_iter();
        for wait in partition(episode.wait, waits, rng) {
            let run = runs.next().unwrap_or(0);
            part.plays.extend(cards.by_ref().take(run).map(Play::Run));
            part.push(wait, Play::Wait(Some(waiting), EXECUTIVE));
        }
        part.plays.extend(cards.map(Play::Run));
    }
    part.push(1, Play::Wait(Some(rest), QUEUE));
    stage.parts.push(part);
}

fn system_rest(cast: &mut Cast) -> Halves {
    cast.stack(&[&KERNEL_WAIT[..3], &["ntoskrnl.exe!KeRemovePriQueue"], SYSTEM_THREAD])
}

/// The scanner's service, and what else lives on the machine.
fn others(plot: &Plot, cast: &mut Cast, stage: &mut Stage, end: usize) {
    let service = ["mpengine.dll!UfsScannerWrapper::ScanFile", "mpengine.dll!ScanFile"];
    let read = [
        "ntoskrnl.exe!IofCallDriver",
        "ntoskrnl.exe!NtReadFile",
        SYSTEM_CALL,
        "ntdll.dll!NtReadFile",
        "KERNELBASE.dll!ReadFile",
    ];
    let pool = ["ntdll.dll!TppWorkerThread"];
    let scanning = vec![
        cast.stack(&[&["mpengine.dll!hashscan"], &service, &pool, USER_THREAD]),
        cast.stack(&[&["mpengine.dll!scan_pe"], &service, &pool, USER_THREAD]),
        cast.stack(&[&read, &service, &pool, USER_THREAD]),
    ];
    let queue = ["ntoskrnl.exe!IoRemoveIoCompletion", SYSTEM_CALL, "ntdll.dll!NtRemoveIoCompletion"];
    let idle = cast.stack(&[&KERNEL_WAIT[..3], &["ntoskrnl.exe!KeRemovePriQueue"], &queue, &pool, USER_THREAD]);
    for index in 0..8 {
        let thread = cast.thread(Role::MsMpEng, "", 8);
        let (burst, pause, active) = if plot.scanned {
            ((6, 40), (1, 6), FIRST..end)
        } else {
            ((1, 3), (150 + 40 * index, 600 + 40 * index), 0..stage.slots)
        };
        let stacks = scanning.clone();
        // Who creates files asks for a scan.
        let woken_by = if plot.scanned { Waker::Process(Role::FileWriter as usize) } else { Waker::Timer };
        let rest = (idle, QUEUE);
        stage.extras.push(Extra { thread, burst, pause, active, filler: true, stacks, rest, woken_by });
    }
    let rest = system_rest(cast);
    let write_back = cast.stack(&[&["ntoskrnl.exe!MiWriteComplete", "ntoskrnl.exe!CcFlushCache"], SYSTEM_THREAD]);
    let all = 0..stage.slots;
    for _ in 0..3 {
        let thread = cast.thread(Role::System, "", 12);
        let (stacks, rest) = (vec![write_back], (rest, QUEUE));
        let (burst, pause, active, woken_by) = ((1, 2), (60, 200), all.clone(), Waker::Timer);
        stage.extras.push(Extra { thread, burst, pause, active, filler: true, stacks, rest, woken_by });
    }
    for (role, function, threads, burst, pause) in [
        (Role::Svchost, "svchost.exe!ServiceStarter", 3, (1, 3), (100, 400)),
        (Role::Explorer, "explorer.exe!CTray::MainThreadProc", 2, (1, 4), (80, 300)),
    ] {
        let stacks = vec![cast.stack(&[&[function], USER_THREAD])];
        let wait_for = [
            "ntoskrnl.exe!KeWaitForMultipleObjects",
            "ntoskrnl.exe!NtWaitForSingleObject",
            SYSTEM_CALL,
            "ntdll.dll!NtWaitForSingleObject",
            function,
        ];
        let rest = (cast.stack(&[&KERNEL_WAIT[..3], &wait_for, USER_THREAD]), USER_REQUEST);
        for _ in 0..threads {
            let thread = cast.thread(role, "", 8);
            let (active, stacks) = (all.clone(), stacks.clone());
            let woken_by = Waker::Timer;
            stage.extras.push(Extra { thread, burst, pause, active, filler: true, stacks, rest, woken_by });
        }
    }
}

/// The system writes back a little of what the cache holds: durations of 3 and 4 ms, 53 ms in all, one after the other.
fn disk_writes(cast: &Cast, plot: &Plot) -> Vec<Record> {
    let machine = &cast.machine;
    let is_system = |thread: &crate::Thread| thread.process == Role::System as usize;
    let thread = machine.threads.iter().rposition(is_system).unwrap_or(0);
    (0..WRITES)
        .map(|index| {
            let slot = FIRST + 200 + index * (plot.milliseconds - 400) / WRITES;
            let start = machine.zero_ticks + slot as i64 * SLOT + 1_500;
            let length = if index < 5 { 4 } else { 3 };
            let disk = DiskIo {
                thread,
                write: true,
                start,
                start_cpu: 1,
                file: index,
                offset: 0x1_0000_0000 + index as u64 * u64::from(WRITE_BYTES) * 4,
                size: WRITE_BYTES,
            };
            Record { ticks: start + length * SLOT, cpu: 1, event: Event::Disk(disk) }
        })
        .collect()
}
