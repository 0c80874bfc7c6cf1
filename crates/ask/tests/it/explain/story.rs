//! A recording of one second that a test tells piece by piece: what the main thread of `app.exe` did, and who had its time.

use std::path::PathBuf;

use tempfile::TempDir;
use tracesift_archive::ArchiveWriter;
use tracesift_ask::explain::{Explanation, Finding, explain};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::{self, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, ProcessRow, SymbolRow, ThreadRow, switch_flags};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

pub(super) const MS: i64 = 1_000_000;
/// Length of the recording, and of the life of the program.
pub(super) const LENGTH: i64 = 1_000 * MS;

/// Functions: each is a frame, and the only one of the stack with its number.
const FUNCTIONS: [(&str, &str); 11] = [
    ("app.exe", "work"),
    ("app.exe", "rest"),
    ("ntoskrnl.exe", "KiTimerExpiration"),
    ("ntfs.sys", "NtfsCheckpointVolume"),
    ("ntoskrnl.exe", "MiIssueHardFault"),
    ("ntdll.dll", "RtlEnterCriticalSection"),
    ("ntoskrnl.exe", "KxWaitForSpinLock"),
    ("wdfilter.sys", "MpPreCreate"),
    ("ntdll.dll", "NtDelayExecution"),
    ("storport.sys", "RaidpAdapterRedirectDpcRoutine"),
    ("ntdll.dll", "RtlDebugAllocateHeap"),
];

/// Stacks, by the places of their functions.
pub(super) const WORK: i32 = 0;
pub(super) const REST: i32 = 1;
pub(super) const TIMER: i32 = 2;
pub(super) const CHECKPOINT: i32 = 3;
pub(super) const HARD_FAULT: i32 = 4;
pub(super) const LOCK: i32 = 5;
pub(super) const SPIN: i32 = 6;
pub(super) const SCANNER: i32 = 7;
pub(super) const SLEEP: i32 = 8;
pub(super) const DISK: i32 = 9;
pub(super) const DEBUG_HEAP: i32 = 10;

/// Threads: the idle loop, the program's two, and one of each other process. A process has the number of its first thread.
pub(super) const IDLE: i32 = 0;
pub(super) const MAIN: i32 = 1;
pub(super) const WORKER: i32 = 2;
pub(super) const SYSTEM: i32 = 3;
pub(super) const ANTIVIRUS: i32 = 4;
pub(super) const OTHER: i32 = 5;

/// How long a thread that could not run runs before it ends the wait for it, ns.
const RUN_AT_LAST: i64 = 1_000;

/// What the main thread does for some time, ns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// It runs with this stack.
    Run(i64, i32),
    /// It waits in the first stack, and an interrupt with the second one ends the wait.
    Wait(i64, i32, i32),
    /// It waits in this stack for a thread, which runs with another stack and then wakes it.
    WaitFor(i64, i32, i32, i32),
    /// It waits in this stack for a thread that could run, while another thread has the CPU of that one.
    WaitForReady(i64, i32, i32, i32),
    /// It could run, and this thread has its CPU.
    Ready(i64, i32),
    /// Switches are missing.
    Broken(i64),
}

impl Piece {
    fn length(self) -> i64 {
        match self {
            Self::Run(length, _)
            | Self::Wait(length, ..)
            | Self::WaitFor(length, ..)
            | Self::WaitForReady(length, ..)
            | Self::Ready(length, _)
            | Self::Broken(length) => length,
        }
    }
}

/// Writes more rows.
type Write = Box<dyn Fn(&mut ArchiveWriter)>;

/// The recording.
pub(super) struct Story {
    pieces: Vec<Piece>,
    before: Vec<Write>,
    more: Vec<Write>,
    info: TraceInfo,
}

impl Story {
    /// The main thread does these things, and works for the rest of the time.
    pub(super) fn of(pieces: &[Piece]) -> Self {
        let info = TraceInfo {
            name: "story".to_owned(),
            kind: "etl".to_owned(),
            // Longer than the life of the program, so that figures are those of a part.
            end_ns: LENGTH + MS,
            has_switches: true,
            has_ready: true,
            cpu_count: 2,
            ..TraceInfo::default()
        };
        Self { pieces: pieces.to_vec(), before: Vec::new(), more: Vec::new(), info }
    }

    /// With rows that stand before those of the story.
    pub(super) fn before(mut self, write: impl Fn(&mut ArchiveWriter) + 'static) -> Self {
        self.before.push(Box::new(write));
        self
    }

    /// With rows of other tables, or behind those of the story.
    pub(super) fn with(mut self, write: impl Fn(&mut ArchiveWriter) + 'static) -> Self {
        self.more.push(Box::new(write));
        self
    }

    /// With another description.
    pub(super) fn described(mut self, change: impl Fn(&mut TraceInfo)) -> Self {
        change(&mut self.info);
        self
    }

    /// What explains it, of the life of the program.
    pub(super) fn explained(&self) -> Explanation {
        self.explained_as("app")
    }

    /// The same with a filter of processes.
    pub(super) fn explained_as(&self, filter: &str) -> Explanation {
        let directory = TempDir::new().expect("a directory");
        let archive = self.archive(&directory);
        let recording = OpenRecording::open(&Source::archive(archive)).expect("an archive");
        let filter = ProcessFilter { process: ProcessPatterns::parse(filter), ..ProcessFilter::default() };
        let windows = WindowQuery { filter, ..WindowQuery::default() };
        explain(&recording, &AccountQuery { windows, ..AccountQuery::default() }).expect("an explanation")
    }

    pub(super) fn archive(&self, directory: &TempDir) -> PathBuf {
        let mut writer = create(&directory.path().join("story.sift"));
        writer.write_table(&[
            process(IDLE, 0, "Idle"),
            ProcessRow { start: Some(0), end: Some(LENGTH), ..process(MAIN, 10, "app.exe") },
            process(SYSTEM, 4, "System"),
            process(ANTIVIRUS, 40, "MsMpEng.exe"),
            process(OTHER, 50, "other.exe"),
        ]);
        writer.write_table(&[
            ThreadRow { idle_cpu: Some(0), ..rows::thread(IDLE, IDLE, 0) },
            ThreadRow { start: Some(0), end: Some(LENGTH), ..rows::thread(MAIN, MAIN, 11) },
            ThreadRow { start: Some(0), end: Some(LENGTH), ..rows::thread(WORKER, MAIN, 12) },
            rows::thread(SYSTEM, SYSTEM, 33),
            rows::thread(ANTIVIRUS, ANTIVIRUS, 44),
            rows::thread(OTHER, OTHER, 55),
        ]);
        let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
            frame: FrameId(frame),
            module: Some((*module).to_owned()),
            function: (*function).to_owned(),
            ..SymbolRow::default()
        };
        let count = i32::try_from(FUNCTIONS.len()).expect("few");
        writer.write_table(&(0..count).map(|frame| rows::frame(frame, i64::from(frame) + 1)).collect::<Vec<_>>());
        writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
        writer.write_table(&(0..count).map(|id| stack(id, &[id])).collect::<Vec<_>>());
        self.before.iter().for_each(|write| write(&mut writer));
        self.write_switches(&mut writer);
        self.more.iter().for_each(|write| write(&mut writer));
        finish_as(writer, self.info.clone())
    }

    /// Every thread but the main one runs from the start to the end, each on a CPU of its own.
    fn write_switches(&self, writer: &mut ArchiveWriter) {
        for (cpu, thread) in (0..).zip([MAIN, WORKER, SYSTEM, ANTIVIRUS, OTHER]) {
            writer.context_switch(&ContextSwitchRow {
                thread: ThreadId(thread),
                cpu: Some(cpu),
                prev_thread: Some(ThreadId(IDLE)),
                flags: switch_flags::OPEN_LEFT,
                ..ContextSwitchRow::default()
            });
        }
        let used: i64 = self.pieces.iter().map(|piece| piece.length()).sum();
        assert!(used < LENGTH, "{used}");
        let mut at = 0;
        for piece in self.pieces.iter().chain(&[Piece::Run(LENGTH - used, WORK)]) {
            write_piece(writer, *piece, at);
            at += piece.length();
        }
        writer.context_switch(&ContextSwitchRow {
            thread: ThreadId(MAIN),
            off_time: LENGTH,
            time: LENGTH,
            flags: switch_flags::TERMINATED,
            ..ContextSwitchRow::default()
        });
    }
}

fn write_piece(writer: &mut ArchiveWriter, piece: Piece, at: i64) {
    let end = at + piece.length();
    let row = ContextSwitchRow {
        thread: ThreadId(MAIN),
        cpu: Some(0),
        prev_thread: Some(ThreadId(IDLE)),
        off_time: at,
        time: end,
        off_state: Some(5),
        ..ContextSwitchRow::default()
    };
    match piece {
        // A piece of running has a sample in each of its milliseconds, the last one a smaller weight.
        Piece::Run(_, stack) => write_samples(writer, MAIN, stack, at, end),
        Piece::Wait(_, stack, ended_by) => writer.context_switch(&ContextSwitchRow {
            wait_stack: Some(StackId(stack)),
            ready_time: Some(end),
            readier: Some(ThreadId(IDLE)),
            ready_stack: Some(StackId(ended_by)),
            flags: switch_flags::READIED_FROM_DPC,
            ..row
        }),
        Piece::WaitFor(_, stack, thread, runs) => {
            write_samples(writer, thread, runs, at, end);
            writer.context_switch(&ContextSwitchRow {
                wait_stack: Some(StackId(stack)),
                ready_time: Some(end),
                readier: Some(ThreadId(thread)),
                ready_stack: Some(StackId(runs)),
                ..row
            });
        }
        Piece::WaitForReady(_, stack, thread, holder) => {
            let on_cpu = end - RUN_AT_LAST;
            writer.context_switch(&ContextSwitchRow {
                thread: ThreadId(thread),
                cpu: Some(1),
                prev_thread: Some(ThreadId(holder)),
                off_time: at,
                time: on_cpu,
                off_state: Some(1),
                flags: switch_flags::PREEMPTED,
                ..ContextSwitchRow::default()
            });
            write_samples(writer, thread, WORK, on_cpu, end);
            writer.context_switch(&ContextSwitchRow {
                wait_stack: Some(StackId(stack)),
                ready_time: Some(end),
                readier: Some(ThreadId(thread)),
                ready_stack: Some(StackId(WORK)),
                ..row
            });
        }
        Piece::Ready(_, thread) => writer.context_switch(&ContextSwitchRow {
            prev_thread: Some(ThreadId(thread)),
            off_state: Some(1),
            flags: switch_flags::PREEMPTED,
            ..row
        }),
        Piece::Broken(_) => writer.context_switch(&ContextSwitchRow { flags: switch_flags::BROKEN, ..row }),
    }
}

fn write_samples(writer: &mut ArchiveWriter, thread: i32, stack: i32, from: i64, to: i64) {
    let process = ProcessId(if thread == WORKER { MAIN } else { thread });
    let mut at = from;
    while at < to {
        let weight = MS.min(to - at);
        writer.cpu_sample(&CpuSampleRow {
            time: at,
            process,
            thread: ThreadId(thread),
            weight,
            stack: Some(StackId(stack)),
            ..CpuSampleRow::default()
        });
        at += weight;
    }
}

/// The finding of a rule.
pub(super) fn finding(explanation: &Explanation, rule: &str) -> Option<Finding> {
    explanation.findings.iter().find(|finding| finding.rule == rule).cloned()
}

/// Whether the first story has the finding, and the second one not although its figures are known.
pub(super) fn has_and_nearly_has(rule: &str, has: &Story, nearly: &Story) -> Finding {
    let (has, nearly) = (has.explained(), nearly.explained());
    let found = finding(&has, rule).unwrap_or_else(|| panic!("{rule}: {:?} {:?}", has.findings, has.unlooked));
    assert_eq!(finding(&nearly, rule), None, "{rule}");
    let unlooked = nearly.unlooked.iter().find(|unlooked| unlooked.rule == rule);
    assert_eq!(unlooked, None, "{rule}: the figures of the second one are known");
    found
}
