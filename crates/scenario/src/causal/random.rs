//! Random worlds, in which threads wait for each other in every way that a machine knows.

use super::noise::Noise;
use super::world::{DiskOp, FOREVER, Part, Script, StackNo, Step, World};
use crate::rng::SplitMix64;

const US: i64 = 1_000;
const LIMIT: i64 = 80_000_000;

/// A small random world, and noise for it.
#[must_use]
pub fn random(seed: u64) -> (World, Noise) {
    let mut rng = SplitMix64::new(seed ^ 0x7261_6e64);
    let mut world = World::new(1 + rng.index(4), LIMIT);
    let test = world.process("app", Part::Test);
    let mut maker = Maker { locks: (0..1 + rng.index(3)).map(|_| world.lock()).collect(), rng, world, test };
    let server = maker.server();
    let workers: Vec<usize> = (0..1 + maker.rng.index(5)).map(|index| maker.worker(index, server)).collect();
    let collector = maker.rng.chance(40).then(|| maker.collector());
    maker.main(&workers, collector);
    for index in 0..maker.rng.index(4) {
        maker.foreigner(index);
    }
    let Maker { mut rng, mut world, .. } = maker;
    for thread in &mut world.threads {
        thread.priority = 7 + rng.below(4) as u8;
        if rng.chance(15) {
            thread.cpus = 1 << rng.index(world.speeds.len());
        }
    }
    let noise = Noise {
        step_cv_ppm: rng.between(0, 400_000),
        run_cv_ppm: rng.between(0, 100_000),
        outlier_percent: 10,
        clock: rng.between(700, 1_200),
        latency: (0, rng.between(1, 40) * US),
        quantum: rng.between(200, 4_000) * US,
        timer: if rng.chance(30) { 1_000_000 } else { 0 },
        efficient: (rng.index(world.speeds.len()), 600),
        foreign: (0..rng.index(3)).map(|_| (rng.between(50, 900) * US, rng.between(50, 900) * US)).collect(),
        scanner: if rng.chance(30) { 300 * US } else { 0 },
        checkpoint: if rng.chance(30) { (rng.between(0, 30_000) * US, 20_000 * US) } else { (0, 0) },
        ..Noise::default()
    };
    (world, noise)
}

struct Maker {
    rng: SplitMix64,
    world: World,
    test: usize,
    locks: Vec<usize>,
}

impl Maker {
    fn stack(&mut self) -> StackNo {
        let (leaf, root) = (self.rng.below(12), self.rng.below(3));
        self.world.stack(&[&format!("app!Work.step{leaf}"), &format!("app!Work.root{root}")])
    }

    fn ns(&mut self) -> i64 {
        self.rng.between(1, 900) * US
    }

    fn run(&mut self, script: Script) -> Script {
        let (stack, ns) = (self.stack(), self.ns());
        script.run(stack, ns)
    }

    /// Locks are taken in their order, so that nobody waits for himself in a circle.
    fn locked(&mut self, script: Script) -> Script {
        let first = self.rng.index(self.locks.len());
        let mut taken = vec![self.locks[first]];
        if self.rng.chance(30) {
            taken.extend(self.locks.get(first + 1));
        }
        let script = taken.iter().fold(script, |script, lock| script.then(Step::Lock(*lock)));
        let script = self.work(script);
        taken.iter().rev().fold(script, |script, lock| script.then(Step::Unlock(*lock)))
    }

    /// A run, with a wait for a device now and then.
    fn work(&mut self, script: Script) -> Script {
        let script = self.run(script);
        let ns = self.ns();
        match self.rng.below(6) {
            0 => script.then(Step::Disk([DiskOp::Read, DiskOp::Write, DiskOp::Fault][self.rng.index(3)], ns)),
            1 => script.then(Step::Sleep(ns)),
            _ => script,
        }
    }

    fn worker(&mut self, index: usize, server: usize) -> usize {
        let mut script = Script::at(self.stack());
        let (there, back) = (self.world.event(), self.world.event());
        for _ in 0..2 + self.rng.index(6) {
            script = match self.rng.below(10) {
                0..4 => self.locked(script),
                4..7 => self.work(script),
                7 => script.then(Step::Call(server)),
                8 => {
                    // A thread for a moment, which hands something back and forth.
                    let partner = Script::at(self.stack()).then(Step::Await(there));
                    let partner = self.work(partner).then(Step::Signal(back));
                    let partner = self.world.thread(self.test, &format!("partner-{index}"), partner);
                    let script = self.run(script.then(Step::Spawn(partner)).then(Step::Signal(there)));
                    script.then(Step::Await(back)).then(Step::Join(partner))
                }
                _ => script.then(Step::Mark("a mark".into())),
            };
        }
        self.world.thread(self.test, &format!("worker-{index}"), script)
    }

    fn server(&mut self) -> usize {
        let process = self.world.process("server", Part::Other);
        let script = Script::at(self.stack()).then(Step::Receive);
        let body = self.work(script).then(Step::Reply);
        let script = Script::at(self.stack()).repeat(FOREVER, body);
        self.world.old_thread(process, "server", 0, script)
    }

    fn collector(&mut self) -> usize {
        let script = Script::at(self.stack()).then(Step::Stop);
        let script = self.run(script).then(Step::Resume);
        let pause = 4 * self.ns();
        let script = Script::at(self.stack()).repeat(3, script.then(Step::Sleep(pause)));
        self.world.thread(self.test, "collector", script)
    }

    fn main(&mut self, workers: &[usize], collector: Option<usize>) {
        let mut script = Script::at(self.stack());
        script = self.work(script);
        for thread in collector.iter().chain(workers) {
            script = self.run(script.then(Step::Spawn(*thread)));
        }
        for thread in workers {
            script = script.then(Step::Join(*thread));
        }
        let script = self.work(script);
        let main = self.world.thread(self.test, "main", script);
        self.world.main = Some(main);
        let shell = self.world.process("shell", Part::Shell);
        let stack = self.stack();
        let script = Script::at(stack).run(stack, 50 * US).then(Step::Spawn(main)).then(Step::Join(main));
        let starts = self.ns();
        let script = self.run(script);
        self.world.old_thread(shell, "shell", starts, script);
    }

    /// Somebody else with a life of his own, who takes a lock of the test now and then.
    fn foreigner(&mut self, index: usize) {
        let process = self.world.process(&format!("foreign{index}"), Part::Other);
        let script = Script::default();
        let body = self.work(script);
        let body = if self.rng.chance(50) { self.locked(body) } else { body };
        let pause = self.ns();
        let script = Script::at(self.stack()).repeat(FOREVER, body.then(Step::Sleep(pause)));
        let starts = self.rng.between(0, 20_000) * US;
        self.world.old_thread(process, "foreign", starts, script);
    }
}
