//! Who gets a CPU: wake-ups, idle CPUs, preemption, switches.

use std::cmp::Reverse;

use super::history::{Device, Did, Leave, Stretch, Waker, What};
use super::machine::{INTERRUPT, Machine};
use super::task::{Action, Status};

impl Machine {
    /// Makes a waiting thread runnable: by a running thread, or by a device where the thread ran last.
    pub(super) fn wake(&mut self, thread: usize, waker: Result<usize, Device>) {
        if self.tasks[thread].status != Status::Waiting {
            return;
        }
        let cpu = match waker {
            Ok(by) => self.cpu_of(by),
            Err(_) => self.tasks[thread].last_cpu,
        };
        let by = self.cpus[cpu].running.map(|running| (running, self.tasks[running].stack));
        let since = self.tasks[thread].since;
        let new = self.timelines[thread].born == Some(since) && self.timelines[thread].stretches.is_empty();
        let time = self.note(cpu, What::Wake { thread, by, device: waker.err(), new });
        let task = &self.tasks[thread];
        let did = match waker {
            Ok(by) if new => Did::Made(by),
            Ok(by) => Did::Wait(task.wait, task.stack, Waker::Thread(by)),
            Err(device) => Did::Wait(task.wait, task.stack, Waker::Device(device)),
        };
        self.pass(thread, time, did);
        self.tasks[thread].status = Status::Ready;
        self.place(thread);
    }

    /// What a thread did since the last change.
    pub(super) fn pass(&mut self, thread: usize, end: i64, did: Did) {
        let start = self.tasks[thread].since;
        self.tasks[thread].since = end;
        if start < end {
            self.timelines[thread].stretches.push(Stretch { start, end, did });
        }
    }

    pub(super) fn may_run(&self, thread: usize, cpu: usize) -> bool {
        self.world.threads[thread].cpus >> cpu & 1 == 1
    }

    /// Finds a CPU for a runnable thread: an idle one, one with somebody less important, or none yet.
    pub(super) fn place(&mut self, thread: usize) {
        let cpus = self.cpus.len();
        let last = self.tasks[thread].last_cpu;
        let idle = |cpu: &usize| self.cpus[*cpu].running.is_none() && self.cpus[*cpu].claimed.is_none();
        let free = std::iter::once(last).chain(0..cpus).filter(|cpu| self.may_run(thread, *cpu)).find(idle);
        if let Some(cpu) = free {
            self.cpus[cpu].claimed = Some(thread);
            let latency = self.chance.between(self.noise.latency);
            self.at(self.now + latency, Action::Dispatch { cpu });
            return;
        }
        self.runnable.push(thread);
        let of = |cpu: usize| self.cpus[cpu].running.map(|running| self.world.threads[running].priority);
        let weakest = (0..cpus).filter(|cpu| self.may_run(thread, *cpu)).filter_map(|cpu| Some((of(cpu)?, cpu))).min();
        if let Some((priority, cpu)) = weakest
            && priority < self.world.threads[thread].priority
        {
            self.at(self.now + INTERRUPT, Action::Preempt { cpu });
        }
    }

    /// Place of the most important runnable thread for a CPU; of those the one that has waited longest.
    pub(super) fn best_for(&self, cpu: usize) -> Option<usize> {
        let fitting = (0..self.runnable.len()).filter(|place| self.may_run(self.runnable[*place], cpu));
        fitting.min_by_key(|place| Reverse(self.priority_at(*place)))
    }

    pub(super) fn priority_at(&self, place: usize) -> u8 {
        self.world.threads[self.runnable[place]].priority
    }

    pub(super) fn preempt(&mut self, cpu: usize) {
        let Some(thread) = self.cpus[cpu].running else { return };
        self.account_work(thread);
        self.leave(cpu, Leave::Preempted);
        self.place(thread);
    }

    /// What is left of a run that is interrupted.
    pub(super) fn account_work(&mut self, thread: usize) {
        let speed = self.speed(self.tasks[thread].last_cpu);
        let task = &mut self.tasks[thread];
        let done = (self.now - task.work_since) * speed / 1_000_000;
        task.work = (task.work - done).max(0);
    }

    /// The running thread leaves its CPU to the next one.
    pub(super) fn leave(&mut self, cpu: usize, leave: Leave) {
        let next = self.best_for(cpu).map(|place| self.runnable.remove(place));
        self.switch(cpu, next, leave);
    }

    pub(super) fn switch(&mut self, cpu: usize, new: Option<usize>, leave: Leave) {
        let running = self.cpus[cpu].running;
        let old = running.map(|old| (old, self.tasks[old].stack));
        let time = self.note(cpu, What::Switch { old, leave, new });
        if let Some(old) = running {
            self.close_slice(old, time);
            self.pass(old, time, Did::Run(cpu));
            self.tasks[old].status = match leave {
                Leave::Waits(_) | Leave::Idle => Status::Waiting,
                Leave::Preempted => Status::Ready,
                Leave::Ends => Status::Ended,
            };
            if leave == Leave::Ends {
                self.timelines[old].ended = Some(time);
            }
        }
        self.cpus[cpu].running = new;
        self.occupants[cpu].push((time, new));
        if let Some(new) = new {
            self.enter(cpu, new, time);
        }
    }

    pub(super) fn enter(&mut self, cpu: usize, thread: usize, time: i64) {
        let is_first = self.timelines[thread].born.is_none() && self.timelines[thread].stretches.is_empty();
        self.pass(thread, time, if is_first { Did::Unseen } else { Did::Ready(Some(cpu)) });
        let quantum = self.noise.quantum;
        let task = &mut self.tasks[thread];
        task.status = Status::Running(cpu);
        task.last_cpu = cpu;
        task.turn += 1;
        task.slice = time;
        let turn = task.turn;
        self.schedule_work(thread);
        self.at(self.now + quantum, Action::Quantum { thread, turn });
    }
}
