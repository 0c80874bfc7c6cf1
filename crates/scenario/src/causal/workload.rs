//! A test with known parts: a main thread that prepares, lets workers work, and reports; workers that parse,
//! read, take a lock and compute.

use super::noise::Noise;
use super::world::{DiskOp, Part, Script, StackNo, Step, World};

const MS: i64 = 1_000_000;

/// The parts of the test, all lengths in ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// CPUs of the machine.
    pub cpus: usize,
    /// Worker threads.
    pub workers: usize,
    /// Items of work of all workers together.
    pub items: usize,
    /// `Program.prepare`, once in the main thread.
    pub prepare: i64,
    /// `Report.build`, once in the main thread.
    pub report: i64,
    /// Pauses of `Report.poll` in the main thread: how many, and how long each.
    pub pauses: (u32, i64),
    /// `Worker.parse`, per item.
    pub parse: i64,
    /// `Worker.read`, the wait for the disk, per item.
    pub read: i64,
    /// `Cache.update`, which holds the lock, per item.
    pub hold: i64,
    /// `Worker.compute`, per item.
    pub compute: i64,
    /// Name of `Worker.compute`.
    pub compute_name: String,
    /// `Worker.check`, per item; 0: there is none.
    pub check: i64,
    /// Page faults of `Program.load` in the main thread: how many, and how long the disk takes for each.
    pub faults: (u32, i64),
    /// Another thread takes the lock again and again: how long it holds it and how long it pauses. Length 0:
    /// there is none.
    pub second: (i64, i64),
    /// All threads are stopped: how often, and for how long. The first time is after so many ns.
    pub stops: (u32, i64, i64),
    /// CPUs that the test may run on, a bit each.
    pub allowed: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            cpus: 6,
            workers: 4,
            items: 96,
            prepare: 150 * MS,
            report: 120 * MS,
            pauses: (4, 15 * MS),
            parse: 4 * MS,
            read: 3 * MS,
            hold: MS,
            compute: 12 * MS,
            compute_name: "Worker.compute".to_owned(),
            check: 0,
            faults: (0, 0),
            second: (0, 0),
            stops: (0, 0, 0),
            allowed: u64::MAX,
        }
    }
}

impl Workload {
    /// The machine with the test.
    #[must_use]
    pub fn world(&self) -> World {
        let mut world = World::new(self.cpus, 60_000 * MS);
        let shell = world.process("shell", Part::Shell);
        let test = world.process("app", Part::Test);
        let lock = world.lock();
        let workers: Vec<usize> = (0..self.workers)
            .map(|index| {
                let script = self.worker(&mut world, index, lock);
                world.thread(test, &format!("worker-{index}"), script)
            })
            .collect();
        let helpers: Vec<usize> = [self.second(&mut world, lock), self.collector(&mut world)]
            .into_iter()
            .flatten()
            .map(|(name, script)| world.thread(test, name, script))
            .collect();
        let script = self.main(&mut world, &workers, &helpers);
        // The first thread of a process is its main thread.
        let main = world.thread(test, "main", script);
        world.main = Some(main);
        for thread in &mut world.threads {
            thread.cpus = self.allowed;
        }
        if let Some(thread) = helpers.last().filter(|_| self.stops.0 > 0) {
            world.threads[*thread].priority = 10;
        }
        let idle = world.stack(&["shell!Shell.run", "shell!Shell.main"]);
        let script = Script::at(idle).run(idle, 100_000).then(Step::Spawn(main)).then(Step::Join(main)).run(idle, MS);
        world.old_thread(shell, "shell", MS, script);
        world
    }

    fn worker(&self, world: &mut World, index: usize, lock: usize) -> Script {
        let mut stack = |name: &str| world.stack(&[&format!("app!{name}"), "app!Worker.run"]);
        let [root, parse, read, update, compute, check] =
            ["Worker.loop", "Worker.parse", "Worker.read", "Cache.update", &self.compute_name, "Worker.check"]
                .map(&mut stack);
        let mut item = Script::default()
            .run(parse, self.parse)
            .then(Step::At(read))
            .then(Step::Disk(DiskOp::Read, self.read))
            .then(Step::At(update))
            .then(Step::Lock(lock))
            .run(update, self.hold)
            .then(Step::Unlock(lock))
            .run(compute, self.compute);
        if self.check > 0 {
            item = item.run(check, self.check);
        }
        let share = self.items / self.workers + usize::from(index < self.items % self.workers);
        Script::at(root).repeat(share as u32, item)
    }

    fn second(&self, world: &mut World, lock: usize) -> Option<(&'static str, Script)> {
        let (hold, pause) = self.second;
        let flush = world.stack(&["app!Cache.flush", "app!Flusher.run"]);
        let body = Script::at(flush)
            .then(Step::Lock(lock))
            .run(flush, hold)
            .then(Step::Unlock(lock))
            .then(Step::Sleep(pause.max(1)));
        (hold > 0).then(|| ("flusher", Script::at(flush).repeat(13, body)))
    }

    fn collector(&self, world: &mut World) -> Option<(&'static str, Script)> {
        let (count, length, first) = self.stops;
        let collect = world.stack(&["app!Collector.collect", "app!Collector.run"]);
        let body =
            Script::at(collect).then(Step::Stop).run(collect, length).then(Step::Resume).then(Step::Sleep(20 * MS));
        (count > 0).then(|| ("collector", Script::at(collect).then(Step::Sleep(first.max(1))).repeat(count, body)))
    }

    fn main(&self, world: &mut World, workers: &[usize], helpers: &[usize]) -> Script {
        let mut stack = |name: &str| world.stack(&[&format!("app!{name}"), "app!Program.main"]);
        let [prepare, load, join, report, poll]: [StackNo; 5] =
            ["Program.prepare", "Program.load", "Program.join", "Report.build", "Report.poll"].map(&mut stack);
        let fault = Script::at(load).run(load, 20_000).then(Step::Disk(DiskOp::Fault, self.faults.1));
        let mut script =
            Script::at(prepare).run(prepare, self.prepare).repeat(self.faults.0, fault).then(Step::At(join));
        for thread in helpers.iter().chain(workers) {
            script = script.then(Step::Spawn(*thread));
        }
        for thread in workers {
            script = script.then(Step::Join(*thread));
        }
        let pause = Script::at(poll).then(Step::Sleep(self.pauses.1)).run(poll, 30_000);
        script.run(report, self.report).repeat(self.pauses.0, pause).then(Step::At(join))
    }
}

/// One change between two sets of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Injection {
    /// None: both sets are alike.
    None,
    /// 120 ms more in `Report.build`.
    Cpu,
    /// 5 % more time in all items, in `Worker.compute`.
    CpuFivePercent,
    /// A new method, `Worker.check`.
    NewMethod,
    /// `Worker.compute` has another name, and takes as long.
    Renamed,
    /// `Cache.update` holds the lock four times as long.
    LockHeld,
    /// A second kind of thread takes the lock, `Cache.flush`.
    SecondLocker,
    /// The disk takes half as long again.
    SlowDisk,
    /// 40 more pauses of 15 ms in `Report.poll`.
    MoreWaits,
    /// The scanner looks at disk operations, in so many runs of the second set.
    Scanner(u8),
    /// A checkpoint holds the volume, in the first run of the second set.
    Checkpoint,
    /// 120 page faults in `Program.load`.
    PageFaults,
    /// The clock is a tenth lower.
    Clock,
    /// The test runs on efficient cores.
    EfficientCores,
    /// Other programs want the CPUs.
    ForeignLoad,
    /// Three workers instead of four.
    Parallelism,
    /// All threads of the test are stopped, eight times for 15 ms.
    Stops,
}

/// What a comparison must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Nothing,
    /// A key of the account, by its state and a part of what it names.
    Key(&'static str, &'static str),
    /// A disturbance of this kind.
    Disturbance(&'static str),
    /// All runs take longer by the same factor.
    Speed,
}

impl Injection {
    /// All kinds, each with plausible numbers.
    pub const ALL: [Self; 17] = [
        Self::None,
        Self::Cpu,
        Self::CpuFivePercent,
        Self::NewMethod,
        Self::Renamed,
        Self::LockHeld,
        Self::SecondLocker,
        Self::SlowDisk,
        Self::MoreWaits,
        Self::Scanner(2),
        Self::Checkpoint,
        Self::PageFaults,
        Self::Clock,
        Self::EfficientCores,
        Self::ForeignLoad,
        Self::Parallelism,
        Self::Stops,
    ];

    /// What both sets have so that the change can be made.
    pub fn prepare(self, workload: &mut Workload, noise: &mut Noise) {
        if self == Self::EfficientCores {
            workload.cpus = 12;
            workload.allowed = 0x3F;
            noise.efficient = (6, 600);
        }
    }

    /// Makes the change in a run of the second set.
    pub fn apply(self, workload: &mut Workload, noise: &mut Noise, run: usize) {
        match self {
            Self::None => {}
            Self::Cpu => workload.report += 120 * MS,
            Self::CpuFivePercent => {
                let item = workload.parse + workload.read + workload.hold + workload.compute;
                workload.compute += item / 20;
            }
            Self::NewMethod => workload.check = 2 * MS,
            Self::Renamed => workload.compute_name = "Worker.calculate".to_owned(),
            Self::LockHeld => workload.hold *= 4,
            Self::SecondLocker => workload.second = (20 * MS, 30 * MS),
            Self::SlowDisk => noise.disk_factor = noise.disk_factor * 3 / 2,
            Self::MoreWaits => workload.pauses.0 += 40,
            Self::Scanner(runs) if run < usize::from(runs) => noise.scanner = 2 * MS,
            Self::Checkpoint if run == 0 => noise.checkpoint = (250 * MS, 400 * MS),
            Self::Scanner(_) | Self::Checkpoint => {}
            Self::PageFaults => workload.faults = (120, 2 * MS),
            Self::Clock => noise.clock = noise.clock * 9 / 10,
            Self::EfficientCores => workload.allowed = 0xFC0,
            Self::ForeignLoad => noise.foreign = vec![(25 * MS, 5 * MS); workload.cpus + 2],
            Self::Parallelism => workload.workers = 3,
            Self::Stops => workload.stops = (8, 15 * MS, 170 * MS),
        }
    }

    /// What a comparison must find.
    #[must_use]
    pub fn expected(self) -> Expected {
        match self {
            Self::None => Expected::Nothing,
            Self::Cpu => Expected::Key("run", "Report.build"),
            Self::CpuFivePercent | Self::Parallelism => Expected::Key("run", "Worker.compute"),
            Self::NewMethod => Expected::Key("run", "Worker.check"),
            Self::Renamed => Expected::Key("run", "Worker.calculate"),
            Self::LockHeld => Expected::Key("run", "Cache.update"),
            Self::SecondLocker => Expected::Key("run", "Cache.flush"),
            Self::SlowDisk => Expected::Key("wait", "disk"),
            Self::MoreWaits => Expected::Key("wait", "Report.poll"),
            Self::Scanner(_) => Expected::Disturbance("antivirus"),
            Self::Checkpoint => Expected::Disturbance("checkpoint"),
            Self::PageFaults => Expected::Disturbance("paging"),
            Self::Clock | Self::EfficientCores => Expected::Speed,
            Self::ForeignLoad => Expected::Disturbance("cpu taken"),
            Self::Stops => Expected::Key("run", "Collector.collect"),
        }
    }
}
