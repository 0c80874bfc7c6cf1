//! What each step of a script does.

use super::history::What;
use super::machine::Machine;
use super::task::Action;
use super::world::{DiskOp, Part, Step, WaitKind};

impl Machine {
    /// Performs a step of a running thread. False: the thread runs or waits now, and its script goes on
    /// later.
    pub(super) fn perform(&mut self, thread: usize, step: Step) -> bool {
        match step {
            Step::Run(stack, ns) => {
                self.go_on_at(thread, stack);
                let length = self.chance.length(ns);
                self.work(thread, length);
                return false;
            }
            Step::At(stack) => self.go_on_at(thread, stack),
            Step::Lock(_) | Step::Await(_) | Step::Pass(_) | Step::Join(_) => return self.wait_for(thread, &step),
            Step::Unlock(lock) => {
                let next = self.locks[lock].1.pop_front();
                self.locks[lock].0 = next;
                self.wake_all(thread, next);
            }
            Step::Signal(event) => match self.events[event].1.pop_front() {
                Some(waiting) => self.wake(waiting, Ok(thread)),
                None => self.events[event].0 += 1,
            },
            Step::Close(gate) => self.gates[gate].0 = true,
            Step::Open(gate) => {
                self.gates[gate].0 = false;
                let waiting = std::mem::take(&mut self.gates[gate].1);
                self.wake_all(thread, waiting);
            }
            Step::Disk(op, ns) => return self.disk(thread, op, ns),
            Step::Sleep(ns) => {
                let mut end = self.now + self.chance.length(ns);
                if self.noise.timer > 0 {
                    end = (end / self.noise.timer + 1) * self.noise.timer;
                }
                self.at(end, Action::Interrupt { thread, timer: true });
                self.block(thread, WaitKind::Sleep);
                return false;
            }
            Step::Spawn(other) => self.spawn(thread, other),
            Step::Call(server) => {
                self.tasks[server].inbox.push_back(thread);
                if self.tasks[server].wait == WaitKind::Queue {
                    self.wake(server, Ok(thread));
                }
                self.block(thread, WaitKind::Reply);
                return false;
            }
            Step::Receive => match self.tasks[thread].inbox.pop_front() {
                Some(client) => self.tasks[thread].client = Some(client),
                None => {
                    // It looks again when it is awake.
                    self.first(thread, vec![Step::Receive]);
                    self.block(thread, WaitKind::Queue);
                    return false;
                }
            },
            Step::Reply => {
                let client = self.tasks[thread].client.take();
                self.wake_all(thread, client);
            }
            Step::Stop => self.stop(thread),
            Step::Resume => {
                self.stopped[self.world.threads[thread].process] = None;
                let stopped = std::mem::take(&mut self.suspended);
                self.wake_all(thread, stopped);
            }
            Step::Mark(text) => {
                let cpu = self.cpu_of(thread);
                self.note(cpu, What::Mark { thread, text: text.to_string() });
            }
            Step::Loop(..) => {}
        }
        true
    }

    fn wake_all(&mut self, by: usize, threads: impl IntoIterator<Item = usize>) {
        for thread in threads {
            self.wake(thread, Ok(by));
        }
    }

    /// Goes on where there is nothing to wait for.
    fn wait_for(&mut self, thread: usize, step: &Step) -> bool {
        let wait = match *step {
            Step::Lock(lock) => {
                let (owner, waiting) = &mut self.locks[lock];
                if owner.is_none() {
                    *owner = Some(thread);
                    return true;
                }
                waiting.push_back(thread);
                WaitKind::Lock
            }
            Step::Await(event) => {
                let (count, waiting) = &mut self.events[event];
                if *count > 0 {
                    *count -= 1;
                    return true;
                }
                waiting.push_back(thread);
                WaitKind::Event
            }
            Step::Pass(gate) if self.gates[gate].0 => {
                self.gates[gate].1.push(thread);
                WaitKind::Gate
            }
            Step::Join(other) if !self.tasks[other].has_ended => {
                self.tasks[other].joiners.push(thread);
                WaitKind::Join
            }
            _ => return true,
        };
        self.block(thread, wait);
        false
    }

    /// A disk operation: where the test asks, the scanner looks first, and the volume may be held.
    fn disk(&mut self, thread: usize, op: DiskOp, ns: i64) -> bool {
        let process = self.world.threads[thread].process;
        let is_test = self.world.processes[process].part == Part::Test;
        let is_first = self.tasks[thread].disk.is_none();
        if is_test && is_first && (self.world.scanner.is_some() || self.world.volume.is_some()) {
            let scan = self.world.scanner.map(Step::Call);
            let pass = self.world.volume.map(Step::Pass);
            // The operation is under way: the next time it goes to the device.
            self.tasks[thread].disk = Some((self.now, self.cpu_of(thread)));
            self.first(thread, scan.into_iter().chain(pass).chain([Step::Disk(op, ns)]).collect());
            return true;
        }
        let length = self.chance.length(ns) * self.noise.disk_factor / 1_000;
        self.tasks[thread].disk = Some((self.now, self.cpu_of(thread)));
        self.at(self.now + length, Action::Interrupt { thread, timer: false });
        self.block(thread, WaitKind::Disk(op));
        false
    }
}
