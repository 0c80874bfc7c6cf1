//! Recordings for the rival: context switches and wake-ups as the Perfetto UI reads them, of a machine like that of the scale recording.

use std::io::{self, Write};

use tracesift_testing::archive::Random;

const CPUS: usize = 64;
const THREADS: usize = 4_000;
const PROCESSES: usize = 301;

/// Time between two switches, ns, as in the scale recording.
const GAP: usize = 5_850;

/// Switches of a bundle.
const BUNDLE: usize = 2_000;

/// Numbers of fields of the format.
mod field {
    pub(super) const PACKET: u32 = 1;
    pub(super) const PACKET_FTRACE: u32 = 1;
    pub(super) const PACKET_PROCESSES: u32 = 2;
    pub(super) const PACKET_SEQUENCE: u32 = 10;
    pub(super) const TREE_PROCESS: u32 = 1;
    pub(super) const TREE_THREAD: u32 = 2;
    pub(super) const BUNDLE_CPU: u32 = 1;
    pub(super) const BUNDLE_SCHED: u32 = 4;
    pub(super) const SCHED_NAMES: u32 = 5;
    /// Of a switch: time since the one before, state of the thread before, thread, its priority, place of its name.
    pub(super) const SWITCH: [u32; 5] = [1, 2, 3, 4, 6];
    /// Of a wake-up: time since the one before, thread, its CPU, its priority, place of its name, flags.
    pub(super) const WAKING: [u32; 6] = [7, 8, 9, 10, 11, 12];
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    varint(out, u64::from(field) << 3);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    varint(out, u64::from(field) << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Columns of one kind of event.
struct Events<const N: usize> {
    fields: [u32; N],
    columns: [Vec<u8>; N],
    last: u64,
    count: usize,
}

impl<const N: usize> Events<N> {
    fn new(fields: [u32; N]) -> Self {
        Self { fields, columns: std::array::from_fn(|_| Vec::new()), last: 0, count: 0 }
    }

    /// Adds an event; the first value is its time.
    fn add(&mut self, values: [u64; N]) {
        for (place, (column, value)) in self.columns.iter_mut().zip(values).enumerate() {
            varint(column, if place == 0 { value - self.last } else { value });
        }
        self.last = values[0];
        self.count += 1;
    }

    /// Writes the columns. The next ones begin with a whole time.
    fn take(&mut self, out: &mut Vec<u8>) {
        for (field, column) in self.fields.iter().zip(&mut self.columns) {
            bytes(out, *field, column);
            column.clear();
        }
        (self.last, self.count) = (0, 0);
    }
}

struct Cpu {
    running: usize,
    switches: Events<5>,
    wakings: Events<6>,
}

fn pid(thread: usize) -> u64 {
    if thread == 0 { 0 } else { 2_000 + thread as u64 * 4 }
}

fn process(thread: usize) -> u64 {
    // The first thread of a process has its number.
    pid(1 + (thread - 1) % PROCESSES)
}

/// Place of the name of a thread: the names of a bundle are "swapper" and those of processes.
fn name(thread: usize) -> u64 {
    if thread == 0 { 0 } else { 1 + ((thread - 1) % PROCESSES) as u64 }
}

fn packet(out: &mut impl Write, field: u32, content: &[u8]) -> io::Result<()> {
    let (mut inner, mut whole) = (Vec::with_capacity(content.len() + 16), Vec::new());
    number(&mut inner, field::PACKET_SEQUENCE, 1);
    bytes(&mut inner, field, content);
    bytes(&mut whole, field::PACKET, &inner);
    out.write_all(&whole)
}

/// The processes and threads.
fn tree() -> Vec<u8> {
    let mut tree = Vec::new();
    for thread in 1..=THREADS {
        let mut one = Vec::new();
        number(&mut one, 1, pid(thread));
        if thread <= PROCESSES {
            number(&mut one, 2, 1);
            bytes(&mut one, 3, format!("worker{thread}").as_bytes());
            bytes(&mut tree, field::TREE_PROCESS, &one);
        } else {
            bytes(&mut one, 2, format!("pool{thread}").as_bytes());
            number(&mut one, 3, process(thread));
            bytes(&mut tree, field::TREE_THREAD, &one);
        }
    }
    tree
}

fn flush(out: &mut impl Write, number_of_cpu: usize, cpu: &mut Cpu) -> io::Result<()> {
    let (mut sched, mut bundle) = (Vec::new(), Vec::new());
    bytes(&mut sched, field::SCHED_NAMES, b"swapper");
    for process in 1..=PROCESSES {
        bytes(&mut sched, field::SCHED_NAMES, format!("worker{process}").as_bytes());
    }
    cpu.switches.take(&mut sched);
    cpu.wakings.take(&mut sched);
    number(&mut bundle, field::BUNDLE_CPU, number_of_cpu as u64);
    bytes(&mut bundle, field::BUNDLE_SCHED, &sched);
    packet(out, field::PACKET_FTRACE, &bundle)
}

/// Writes so many switches and half as many wake-ups.
pub(super) fn write(mut out: impl Write, switches: u64) -> io::Result<()> {
    packet(&mut out, field::PACKET_PROCESSES, &tree())?;
    let new = || Cpu { running: 0, switches: Events::new(field::SWITCH), wakings: Events::new(field::WAKING) };
    let mut cpus: Vec<Cpu> = (0..CPUS).map(|_| new()).collect();
    let mut is_running = vec![false; THREADS + 1];
    let (mut random, mut time) = (Random(5), 1_000_000_000_u64);
    for number in 0..switches {
        time += 1_000 + random.below(2 * (GAP - 1_000)) as u64;
        let at = random.below(CPUS);
        let cpu = &mut cpus[at];
        // Half of all switches lead to idleness, as a machine with much to wait for has it.
        let next = if cpu.running != 0 && random.below(2) == 0 { 0 } else { ready(&mut random, &is_running) };
        if number % 2 == 0 {
            let woken = if next == 0 { ready(&mut random, &is_running) } else { next };
            cpu.wakings.add([time - 700, pid(woken), at as u64, 120, name(woken), 1]);
        }
        let before = std::mem::replace(&mut cpu.running, next);
        (is_running[before], is_running[next]) = (false, next != 0);
        // Interruptible sleep, or ready still.
        let state = if before != 0 && random.below(8) > 0 { 1 } else { 0 };
        cpu.switches.add([time, state, pid(next), 120, name(next)]);
        if cpu.switches.count >= BUNDLE {
            flush(&mut out, at, cpu)?;
        }
    }
    for (number, cpu) in cpus.iter_mut().enumerate().filter(|(_, cpu)| cpu.switches.count > 0) {
        flush(&mut out, number, cpu)?;
    }
    out.flush()
}

/// A thread that has no CPU.
fn ready(random: &mut Random, is_running: &[bool]) -> usize {
    loop {
        let thread = 1 + random.below(THREADS);
        if !is_running[thread] {
            return thread;
        }
    }
}
