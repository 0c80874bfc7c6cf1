//! The scheduler: switches, wake-ups, starts and ends, each possible after the records before.

use std::io::{Seek, Write};

use super::events::Event;
use super::layout::{SWITCH_ID, WAKING_ID};
use super::machine::Machine;
use super::rundown;
use super::tasks::Stage;

const PRIORITY: u32 = 120;
/// States as `sched_switch` tells them.
const INTERRUPTIBLE: u64 = 1;
const UNINTERRUPTIBLE: u64 = 2;
const DEAD: u64 = 0x10;
const ZOMBIE: u64 = 0x20;
/// Runnable, and somebody else runs (`R+`).
const PREEMPTED: u64 = 0x100;

impl<W: Write + Seek> Machine<W> {
    /// The CPU goes over to the next thread that is runnable on it, or is idle.
    pub(super) fn switch(&mut self, cpu: u16) {
        let slot = &self.cpus[usize::from(cpu)];
        if slot.running.is_none() && slot.runnable.is_empty() {
            // Nobody is there to be switched to: an interrupt wakes somebody.
            self.wake(cpu, cpu);
            self.tick();
        }
        let slot = &mut self.cpus[usize::from(cpu)];
        let (old, new) = (slot.running, slot.runnable.pop_front());
        if old.is_none() && new.is_none() {
            return;
        }
        let state = old.map_or(0, |old| self.leave(cpu, old, new.is_some()));
        self.switch_fields(old, state, new);
        self.figures.switches += 1;
        self.sample(Event::Switch, cpu, old);
        self.cpus[usize::from(cpu)].running = new;
        if let Some(old) = old {
            self.left(cpu, old, state);
        }
        if let Some(new) = new.filter(|new| self.tasks.get(*new).stage == Stage::Forked) {
            self.exec(cpu, new);
        }
    }

    /// Why a thread leaves the CPU; one that ends says so before.
    fn leave(&mut self, cpu: u16, thread: u32, wanted: bool) -> u64 {
        let task = self.tasks.get_mut(thread);
        if let Stage::Running(left) = &mut task.stage
            && *left > 0
        {
            *left -= 1;
        } else if task.stage == Stage::Running(0) {
            rundown::exit(self.writer.buffer(cpu), task, self.time, cpu);
            task.stage = Stage::Ending;
            self.figures.deaths += 1;
            self.time += 200;
            // Some are off the CPU once more before they are through.
            if self.rng.chance(70) {
                return self.die(thread);
            }
        } else if task.stage == Stage::Ending {
            return self.die(thread);
        }
        if wanted && self.rng.chance(15) {
            PREEMPTED
        } else if self.rng.chance(85) {
            INTERRUPTIBLE
        } else {
            UNINTERRUPTIBLE
        }
    }

    fn die(&mut self, thread: u32) -> u64 {
        let task = self.tasks.get_mut(thread);
        task.is_dead = true;
        if task.is_thread { DEAD } else { ZOMBIE }
    }

    /// Where a thread is that left the CPU.
    fn left(&mut self, cpu: u16, thread: u32, state: u64) {
        match state {
            PREEMPTED => self.cpus[usize::from(cpu)].runnable.push_back(thread),
            DEAD | ZOMBIE => self.tasks.get_mut(thread).stage = Stage::Free,
            _ => self.waiting.put(thread),
        }
    }

    fn switch_fields(&mut self, old: Option<u32>, state: u64, new: Option<u32>) {
        let side = |thread: Option<u32>| match thread.map(|thread| self.tasks.get(thread)) {
            Some(task) => (task.comm(), task.tid),
            None => ("swapper".to_owned(), 0),
        };
        let ((old_comm, old_tid), (new_comm, new_tid)) = (side(old), side(new));
        let raw = &mut self.raw;
        raw.u16(SWITCH_ID).u16(0).u32(old_tid);
        raw.text(&old_comm, 16).u32(old_tid).u32(PRIORITY).u64(state);
        raw.text(&new_comm, 16).u32(new_tid).u32(PRIORITY);
    }

    /// Whoever runs wakes somebody up.
    pub(super) fn waking(&mut self, cpu: u16) {
        let home = self.any_cpu();
        self.wake(cpu, home);
    }

    fn wake(&mut self, cpu: u16, home: u16) {
        // Where all are runnable, somebody is woken who is awake: the event comes, and nothing follows.
        let asleep = self.waiting.take(&mut self.rng);
        let woken = asleep.unwrap_or(0);
        self.cpus[usize::from(home)].runnable.extend(asleep);
        let waker = self.cpus[usize::from(cpu)].running;
        let task = self.tasks.get(woken);
        let waker_tid = waker.map_or(0, |waker| self.tasks.get(waker).tid);
        self.raw.u16(WAKING_ID).u16(0).u32(waker_tid);
        self.raw.text(&task.comm(), 16).u32(task.tid).u32(PRIORITY).u32(home.into());
        self.figures.wakings += 1;
        self.sample(Event::Waking, cpu, waker);
    }

    /// A process or a thread is born, where there is somebody to create it and room for it.
    pub(super) fn birth(&mut self) {
        let (cpu, home, is_thread) = (self.any_cpu(), self.any_cpu(), self.rng.chance(30));
        let Some(creator) = self.cpus[usize::from(cpu)].running else { return };
        if self.tasks.get(creator).stage != Stage::Lasting || self.tasks.get(creator).program.is_none() {
            return;
        }
        let Some(born) = self.tasks.born(creator, is_thread) else { return };
        self.tick();
        let creator = self.tasks.get(creator);
        let creator = (creator.pid, creator.tid);
        rundown::fork(self.writer.buffer(cpu), self.tasks.get(born), creator, self.time, cpu);
        self.cpus[usize::from(home)].runnable.push_back(born);
        self.figures.births += 1;
    }

    /// A new process starts its program.
    fn exec(&mut self, cpu: u16, thread: u32) {
        self.tick();
        let program = self.rng.below(self.tasks.processes().into()) as u32;
        let task = self.tasks.get_mut(thread);
        (task.program, task.stage) = (Some(program), Stage::Running(6));
        let (out, task) = (self.writer.buffer(cpu), self.tasks.get(thread));
        rundown::comm(out, task, true, self.time, cpu);
        rundown::mappings(out, task, &self.tasks, self.time, cpu);
        self.figures.programs += 1;
    }
}
