//! A thread at work: where it is in its script, and what is to happen to it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::world::{FOREVER, StackNo, Step, Thread, WaitKind};

/// What happens next somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    /// The step of a thread's turn is over.
    StepEnd { thread: usize, turn: u64 },
    /// A turn has lasted for a quantum.
    Quantum { thread: usize, turn: u64 },
    /// Somebody more important is runnable.
    Preempt { cpu: usize },
    /// A stopped thread is taken from its CPU.
    Suspend { thread: usize, turn: u64 },
    /// An idle CPU has woken up for a thread.
    Dispatch { cpu: usize },
    /// A device ends a wait.
    Interrupt { thread: usize, timer: bool },
    /// An ended thread leaves.
    Leave { thread: usize },
    /// A thread that is older than the recording comes to life.
    Begin { thread: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Unborn,
    Ready,
    Running(usize),
    Waiting,
    Ended,
}

/// Steps that a thread is in.
#[derive(Clone, Debug)]
struct Frame {
    steps: Arc<[Step]>,
    next: usize,
    /// Repetitions after this one.
    left: u32,
}

/// A thread at work.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) status: Status,
    frames: Vec<Frame>,
    /// What is left of the current run, ns at normal speed.
    pub(super) work: i64,
    /// Since when it is at that, or runs again.
    pub(super) work_since: i64,
    /// Since when it runs with its stack.
    pub(super) slice: i64,
    pub(super) stack: StackNo,
    pub(super) turn: u64,
    /// Since when it does what it does.
    pub(super) since: i64,
    /// Why it waits.
    pub(super) wait: WaitKind,
    /// CPU that it had last.
    pub(super) last_cpu: usize,
    /// A device operation that runs: since when, and where it began.
    pub(super) disk: Option<(i64, usize)>,
    pub(super) inbox: VecDeque<usize>,
    pub(super) client: Option<usize>,
    pub(super) joiners: Vec<usize>,
    pub(super) has_ended: bool,
}

impl Task {
    /// A thread that has not begun.
    pub(super) fn new(thread: &Thread) -> Self {
        Self {
            status: if thread.starts.is_some() { Status::Waiting } else { Status::Unborn },
            frames: vec![Frame { steps: thread.script.clone(), next: 0, left: 0 }],
            work: 0,
            work_since: 0,
            slice: 0,
            stack: StackNo(0),
            turn: 0,
            since: 0,
            wait: WaitKind::Event,
            last_cpu: 0,
            disk: None,
            inbox: VecDeque::new(),
            client: None,
            joiners: Vec::new(),
            has_ended: false,
        }
    }

    /// Puts steps before those that are left.
    pub(super) fn first(&mut self, steps: Vec<Step>) {
        self.frames.push(Frame { steps: steps.into(), next: 0, left: 0 });
    }

    /// The next step that is no loop; `None` at the end of the script.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        let frames = &mut self.frames;
        loop {
            let frame = frames.last_mut()?;
            match frame.steps.get(frame.next) {
                Some(Step::Loop(times, body)) => {
                    frame.next += 1;
                    if *times > 0 && !body.is_empty() {
                        let (steps, left) = (body.clone(), times - 1);
                        frames.push(Frame { steps, next: 0, left });
                    }
                }
                Some(step) => {
                    frame.next += 1;
                    return Some(step.clone());
                }
                None if frame.left > 0 => {
                    frame.next = 0;
                    frame.left -= u32::from(frame.left != FOREVER - 1);
                }
                None => {
                    frames.pop();
                }
            }
        }
    }
}
