//! Signals of Linux, from the sender to the delivery.
//!
//! A signal is sent to a thread or to a process, and is pending until a thread takes it. Of ordinary signals one of a number is pending
//! at a time; of real-time signals all are, and the first one is delivered first. A signal whose default is to end the process is not
//! delivered where nobody handles it: each thread gets the signal `SIGKILL` in its place.

use rustc_hash::FxHashMap;

use super::held::HeldRows;
use crate::ids::{FrameId, ProcessId, ThreadId};
use crate::overlapping::Overlapping;
use crate::rows::{ExceptionRow, exception_handling as handling};

/// Signals that are pending, at most.
const MOST: usize = 1 << 16;
/// Signals of one number that are pending for one thread or process, at most.
const MOST_OF_ONE: usize = 256;
/// Processes whose last signal that can end them is remembered, at most.
const MOST_PROCESSES: usize = 1 << 16;

/// The signal that ends a process without asking it.
const SIGKILL: i32 = 9;

/// Names of the signals 1 to 31 of x86, Arm and RISC-V.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Values of [`Generated::result`].
mod results {
    pub(super) const IGNORED: i64 = 1;
    pub(super) const PENDING: i64 = 2;
}

/// Values of [`Delivered::handler`] that are no addresses.
mod handlers {
    pub(super) const DEFAULT: u64 = 0;
    pub(super) const IGNORE: u64 = 1;
}

/// Reasons of signals: positive ones are the kernel's.
pub mod signal_codes {
    /// A process called `kill`.
    pub const USER: i64 = 0;
    /// The kernel.
    pub const KERNEL: i64 = 0x80;

    /// Whether a process called `kill`, `tgkill` or `sigqueue`.
    #[must_use]
    pub fn is_of_process(code: i64) -> bool {
        matches!(code, USER | -1 | -6)
    }

    /// The name of a reason; `None`: another one.
    #[must_use]
    pub fn name(signal: i64, code: i64) -> Option<&'static str> {
        const OF_ALL: [(i64, &str); 8] = [
            (USER, "SI_USER"),
            (KERNEL, "SI_KERNEL"),
            (-1, "SI_QUEUE"),
            (-2, "SI_TIMER"),
            (-3, "SI_MESGQ"),
            (-4, "SI_ASYNCIO"),
            (-5, "SI_SIGIO"),
            (-6, "SI_TKILL"),
        ];
        let of_signal: &[&str] = match signal {
            4 => &["ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC"],
            5 => &["TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT"],
            7 => &["BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"],
            8 => &[
                "FPE_INTDIV",
                "FPE_INTOVF",
                "FPE_FLTDIV",
                "FPE_FLTOVF",
                "FPE_FLTUND",
                "FPE_FLTRES",
                "FPE_FLTINV",
                "FPE_FLTSUB",
            ],
            11 => &["SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"],
            17 => &["CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"],
            _ => &[],
        };
        let place = usize::try_from(code).ok().and_then(|code| code.checked_sub(1));
        let known = place.and_then(|place| of_signal.get(place)).copied();
        known.or_else(|| OF_ALL.iter().find(|(known, _)| *known == code).map(|(_, name)| *name))
    }
}

/// The name of a signal: `SIGSEGV`, or `SIGRTMIN+1`.
#[must_use]
pub fn signal_name(signal: i64) -> String {
    /// The first one that is no program's of the C library.
    const REAL_TIME: i64 = 34;
    let place = usize::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    match place.and_then(|place| NAMES.get(place)) {
        Some(name) => (*name).to_owned(),
        None if signal == REAL_TIME => "SIGRTMIN".to_owned(),
        None if signal > REAL_TIME => format!("SIGRTMIN+{}", signal - REAL_TIME),
        None => format!("signal {signal}"),
    }
}

/// Whether a signal that nobody handles ends the process.
fn ends_process(signal: i32) -> bool {
    // Children, urgent data and sizes of windows are of no effect; others stop the process, or let it go on.
    !matches!(signal, 17..=23 | 28)
}

/// A signal is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Its number.
    pub signal: i32,
    /// Whether any thread of the process can take it.
    pub is_of_process: bool,
    /// What became of it: 0 and 4 it is pending, 1 the process ignores it, 2 it was pending before, 3 there was no memory.
    pub result: i64,
}

/// A thread takes a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Its number.
    pub signal: i32,
    /// Address of the handler; 0 the default, 1 nothing.
    pub handler: u64,
    /// The handler as a frame.
    pub frame: Option<FrameId>,
}

/// Whom a signal was sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    Thread(ThreadId),
    Process(ProcessId),
}

/// Follows signals. Fed in the order of time.
#[derive(Debug)]
pub(super) struct Signals {
    pending: Overlapping<(Target, i32), u64>,
    /// The last pending signal of a process that ends it where nobody handles it.
    fatal: FxHashMap<ProcessId, u64>,
}

impl Default for Signals {
    fn default() -> Self {
        Self { pending: Overlapping::new(MOST, MOST_OF_ONE), fatal: FxHashMap::default() }
    }
}

impl Signals {
    /// A signal is sent to a thread of a process; `row` has what the event tells.
    pub(super) fn generated(
        &mut self,
        rows: &mut HeldRows,
        (process, thread): (ProcessId, ThreadId),
        signal: Generated,
        row: ExceptionRow,
    ) {
        if matches!(signal.result, results::IGNORED | results::PENDING) {
            rows.push(ExceptionRow { handling: handling::NO_EFFECT, ..row }, false);
            return;
        }
        let target = if signal.is_of_process { Target::Process(process) } else { Target::Thread(thread) };
        let number = rows.push(row, true);
        if let Some(before) = self.pending.begin((target, signal.signal), number) {
            rows.give_up(before);
        }
        if ends_process(signal.signal) {
            if self.fatal.len() >= MOST_PROCESSES {
                self.fatal.clear();
            }
            self.fatal.insert(process, number);
        }
    }

    /// A thread takes a signal; `row` is that of a signal that was not seen to be sent.
    pub(super) fn delivered(
        &mut self,
        rows: &mut HeldRows,
        (process, thread): (ProcessId, ThreadId),
        signal: Delivered,
        row: ExceptionRow,
    ) {
        let targets = [Target::Thread(thread), Target::Process(process)].map(|target| (target, signal.signal));
        let found = targets.iter().find_map(|target| Some(self.pending.of(target).next()?.0));
        let sent = found.and_then(|place| self.pending.take(place));
        match sent {
            Some(number) => {
                if let Some(known) = rows.open(number) {
                    known.thread = Some(thread);
                    handle(known, signal, row.time);
                }
                rows.close(number);
            }
            // The kernel ends all threads so, whoever asked for the end.
            None if signal.signal == SIGKILL => {
                let Some(asked) = self.fatal.remove(&process) else { return };
                if let Some(row) = rows.open(asked) {
                    row.handling = handling::UNHANDLED;
                }
                rows.close(asked);
            }
            None => {
                let time = row.time;
                let mut row = row;
                handle(&mut row, signal, time);
                rows.push(row, false);
            }
        }
    }

    /// Events were lost: what is pending may have been delivered.
    pub(super) fn lost(&mut self) {
        self.pending.drain().for_each(drop);
        self.fatal.clear();
    }
}

/// What becomes of a signal that a thread takes.
fn handle(row: &mut ExceptionRow, signal: Delivered, time: i64) {
    match signal.handler {
        handlers::DEFAULT if ends_process(signal.signal) => row.handling = handling::UNHANDLED,
        handlers::DEFAULT => row.handling = handling::NOT_CAUGHT,
        handlers::IGNORE => row.handling = handling::NO_EFFECT,
        _ => {
            row.handling = handling::CAUGHT;
            row.caught = Some(time.max(row.time));
            row.caught_frame = signal.frame;
        }
    }
}
