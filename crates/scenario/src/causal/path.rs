//! Where the time of a window went, by the recursive definition over the lives of the threads: plain, and
//! slow.
//!
//! A thread's run is its own. Its wait for another thread is what that thread did meanwhile. Its wait for a
//! device stays a wait. Its ready time belongs to those who had the CPU that it got afterwards. Before its
//! birth its creator acts for it.

use std::collections::BTreeMap;

use super::history::{Device, Did, History, Stretch, Waker};
use super::world::{StackNo, WaitKind};

/// A piece of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// First instant.
    pub start: i64,
    /// First instant behind it.
    pub end: i64,
    /// The thread that it belongs to.
    pub thread: usize,
    /// What this thread did.
    pub state: State,
    /// From the anchor to this thread: each ended a wait of the one before it. A creator stands for the
    /// thread that it made.
    pub chain: Vec<usize>,
}

/// What a thread did in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was on a CPU.
    Run,
    /// It could run, and this CPU was taken; `None`: no CPU followed.
    Ready(Option<usize>, Occupant),
    /// It waited for a device, or (`None`) nobody ended its wait.
    Wait(WaitKind, StackNo, Option<Device>),
    /// The recording does not tell.
    Unknown(Why),
}

/// Who had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// A thread.
    Thread(usize),
    /// Nobody.
    Idle,
    /// There is no such CPU.
    Unknown,
}

/// Why nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The thread is older than the recording and had no CPU yet.
    NotSeenYet,
    /// It was made after the window.
    BeforeStart,
    /// It had ended.
    AfterEnd,
    /// It never had a CPU.
    NoSwitches,
}

/// The leaves of a window, by descending time. The window lies inside of the recording.
#[must_use]
pub fn path(history: &History, window: (i64, i64), anchor: usize) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut naive = Naive { history, end: window.1, leaves: &mut leaves };
    naive.path(window, &[anchor]);
    leaves
}

struct Naive<'a> {
    history: &'a History,
    end: i64,
    leaves: &'a mut Vec<Leaf>,
}

impl Naive<'_> {
    /// What the last thread of a chain did.
    fn path(&mut self, (start, end): (i64, i64), chain: &[usize]) {
        let Some(&thread) = chain.last() else { return };
        let history = self.history;
        let life = &history.timelines[thread];
        let ended = life.ended.unwrap_or(history.end);
        self.leaf((start.max(ended), end), State::Unknown(Why::AfterEnd), chain);
        let end = end.min(ended);
        if !life.stretches.iter().any(|stretch| matches!(stretch.did, Did::Run(_))) {
            let born = life.born.unwrap_or(0);
            self.leaf((start.max(born), end), State::Unknown(Why::NoSwitches), chain);
            self.leaf((start, end.min(born)), State::Unknown(Why::BeforeStart), chain);
            return;
        }
        for stretch in life.stretches.iter().rev() {
            let piece = (stretch.start.max(start), stretch.end.min(end));
            if let Did::Made(creator) = stretch.did {
                self.before_birth((start, piece.1), stretch, creator, chain);
                return;
            }
            if piece.0 < piece.1 {
                self.stretch(piece, stretch, chain);
            }
        }
    }

    fn stretch(&mut self, piece: (i64, i64), stretch: &Stretch, chain: &[usize]) {
        let state = match stretch.did {
            Did::Run(_) => State::Run,
            Did::Ready(Some(cpu)) => return self.divide(piece, cpu, chain),
            Did::Ready(None) => State::Ready(None, Occupant::Unknown),
            Did::Wait(_, _, Waker::Thread(waker)) => return self.path(piece, &[chain, &[waker]].concat()),
            Did::Wait(kind, stack, Waker::Device(device)) => State::Wait(kind, stack, Some(device)),
            Did::Wait(kind, stack, Waker::Nobody) => State::Wait(kind, stack, None),
            Did::Made(_) | Did::Unseen => State::Unknown(Why::NotSeenYet),
        };
        self.leaf(piece, state, chain);
    }

    fn before_birth(&mut self, piece: (i64, i64), made: &Stretch, creator: usize, chain: &[usize]) {
        // Nothing of a thread that is made behind the window lies in it.
        if made.start >= self.end {
            return self.leaf(piece, State::Unknown(Why::BeforeStart), chain);
        }
        if piece.0 < piece.1 {
            let waiting = &chain[..chain.len() - 1];
            self.path(piece, &[waiting, &[creator]].concat());
        }
    }

    fn divide(&mut self, (start, end): (i64, i64), cpu: usize, chain: &[usize]) {
        let stays = &self.history.cpus[cpu];
        for (place, (from, who)) in stays.iter().enumerate().rev() {
            let to = stays.get(place + 1).map_or(i64::MAX, |(next, _)| *next);
            let occupant = who.map_or(Occupant::Idle, Occupant::Thread);
            self.leaf((start.max(*from), end.min(to)), State::Ready(Some(cpu), occupant), chain);
        }
    }

    fn leaf(&mut self, (start, end): (i64, i64), state: State, chain: &[usize]) {
        if let Some(&thread) = chain.last()
            && start < end
        {
            self.leaves.push(Leaf { start, end, thread, state, chain: chain.to_vec() });
        }
    }
}

/// What a piece of a path is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// `run`, `ready`, `wait` or `unknown`.
    pub state: &'static str,
    /// Process of the thread.
    pub process: String,
    /// Name of the thread; `main` for the test's main thread.
    pub thread: String,
    /// Of a run the function, `module!name`; of ready time the process that had the CPU, or `idle`; of a
    /// wait what ended it and the function that waits.
    pub what: String,
}

/// The time of each key on the path of a window, ns. The sum is the length of the window.
#[must_use]
pub fn account(history: &History, window: (i64, i64), anchor: usize) -> BTreeMap<Key, i64> {
    let mut account = BTreeMap::new();
    for leaf in path(history, window, anchor) {
        for (what, ns) in parts(history, &leaf) {
            *account.entry(key(history, &leaf, what)).or_insert(0) += ns;
        }
    }
    account
}

fn key(history: &History, leaf: &Leaf, what: String) -> Key {
    let world = &history.world;
    let thread = &world.threads[leaf.thread];
    let is_main = world.main == Some(leaf.thread);
    Key {
        state: match leaf.state {
            State::Run => "run",
            State::Ready(..) => "ready",
            State::Wait(..) => "wait",
            State::Unknown(_) => "unknown",
        },
        process: world.processes[thread.process].name.clone(),
        thread: if is_main { "main".to_owned() } else { thread.name.clone() },
        what,
    }
}

/// What a leaf is made of: a run of the functions that ran.
fn parts(history: &History, leaf: &Leaf) -> Vec<(String, i64)> {
    let world = &history.world;
    let length = leaf.end - leaf.start;
    match leaf.state {
        State::Run => {
            let code = history.timelines[leaf.thread].code.iter();
            let inside = code.map(|slice| (slice, slice.end.min(leaf.end) - slice.start.max(leaf.start)));
            inside.filter(|(_, ns)| *ns > 0).map(|(slice, ns)| (world.leaf(slice.stack), ns)).collect()
        }
        State::Ready(_, Occupant::Thread(thread)) => {
            vec![(world.processes[world.threads[thread].process].name.clone(), length)]
        }
        State::Ready(_, Occupant::Idle) => vec![("idle".to_owned(), length)],
        State::Ready(_, Occupant::Unknown) => vec![(String::new(), length)],
        State::Wait(_, stack, device) => {
            let device = match device {
                Some(Device::Timer) => "timer",
                Some(Device::Disk) => "disk",
                None => "nobody",
            };
            vec![(format!("{device} {}", world.leaf(stack)), length)]
        }
        State::Unknown(why) => vec![(format!("{why:?}"), length)],
    }
}
