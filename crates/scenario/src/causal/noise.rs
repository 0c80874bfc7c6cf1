//! What makes runs of the same scripts differ: chance, other programs, the machine.

use super::history::{History, What};
use super::world::{DiskOp, FOREVER, Part, Script, Step, World};
use crate::rng::SplitMix64;

/// Knobs; all are off by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Coefficient of variation of each step's length, millionths.
    pub step_cv_ppm: i64,
    /// Coefficient of variation of a factor that all steps of a run share, millionths.
    pub run_cv_ppm: i64,
    /// Runs in which every step takes longer, per cent of the runs.
    pub outlier_percent: u64,
    /// By how much, thousandths: 1300 is 1.3 times as long.
    pub outlier_factor: i64,
    /// Clock of all CPUs, thousandths.
    pub clock: i64,
    /// Length of all device operations, thousandths.
    pub disk_factor: i64,
    /// From a wake-up to the switch-in on an idle CPU: shortest and longest, ns.
    pub latency: (i64, i64),
    /// Longest turn while others of the same priority are runnable, ns.
    pub quantum: i64,
    /// Interval of the timer, ns; a sleep ends at a tick. 0: when its time is over.
    pub timer: i64,
    /// CPUs of lower speed, the last ones, and their speed in thousandths.
    pub efficient: (usize, i64),
    /// Foreign threads, each with a length of its runs and of its pauses, ns.
    pub foreign: Vec<(i64, i64)>,
    /// A virus scanner looks at each disk operation of the test for so many ns. 0: none.
    pub scanner: i64,
    /// A checkpoint holds the volume from this time on for so many ns. Length 0: none.
    pub checkpoint: (i64, i64),
    /// Switches that are missing in the recording, per thousand.
    pub lost_switches_per_mille: u64,
    /// Wake-ups that are missing in the recording, per thousand.
    pub lost_wake_ups_per_mille: u64,
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            step_cv_ppm: 0,
            run_cv_ppm: 0,
            outlier_percent: 0,
            outlier_factor: 1_300,
            clock: 1_000,
            disk_factor: 1_000,
            latency: (2_000, 12_000),
            quantum: 15_000_000,
            timer: 0,
            efficient: (0, 600),
            foreign: Vec::new(),
            scanner: 0,
            checkpoint: (0, 0),
            lost_switches_per_mille: 0,
            lost_wake_ups_per_mille: 0,
        }
    }
}

/// One, in the fixed-point numbers below.
const ONE: i128 = 1 << 40;

/// The chance of one run, in integers, so that it is the same on every machine.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    rng: SplitMix64,
    step_cv_ppm: i64,
    /// Factor of all steps of the run.
    run: i128,
}

impl Chance {
    pub(super) fn new(seed: u64, noise: &Noise) -> Self {
        let mut rng = SplitMix64::new(seed ^ 0x6361_7573_616c);
        let mut run = log_normal(&mut rng, noise.run_cv_ppm);
        if rng.chance(noise.outlier_percent) {
            run = run * i128::from(noise.outlier_factor) / 1_000;
        }
        Self { rng, step_cv_ppm: noise.step_cv_ppm, run }
    }

    /// The length of a step in this run: at least 1 ns where it has one.
    pub(super) fn length(&mut self, ns: i64) -> i64 {
        let factor = log_normal(&mut self.rng, self.step_cv_ppm) * self.run / ONE;
        ((i128::from(ns) * factor / ONE) as i64).max(i64::from(ns > 0))
    }

    pub(super) fn between(&mut self, (low, high): (i64, i64)) -> i64 {
        self.rng.between(low, high.max(low + 1))
    }
}

/// A factor with mean 1 and this coefficient of variation, as a fixed-point number.
fn log_normal(rng: &mut SplitMix64, cv_ppm: i64) -> i128 {
    if cv_ppm == 0 {
        return ONE;
    }
    // The sum of twelve uniform numbers is nearly normal, with variance 1 (for the small coefficients here,
    // sigma is the CV).
    let sum: i128 = (0..12).map(|_| i128::from(rng.next_u64() >> 24)).sum();
    let cv = i128::from(cv_ppm) * ONE / 1_000_000;
    let x = (sum - 6 * ONE) * cv / ONE - cv * cv / ONE / 2;
    let (mut term, mut exp) = (ONE, ONE);
    for k in 1..24 {
        term = term * x / ONE / k;
        exp += term;
    }
    exp.max(ONE / 100)
}

/// Adds to a world what the noise brings: slow CPUs, other programs, the scanner, the checkpoint.
pub(super) fn furnish(world: &mut World, noise: &Noise, seed: u64) {
    let mut rng = SplitMix64::new(seed ^ 0x0066_6f72_6569_676e);
    let (slow, speed) = noise.efficient;
    let fast = world.speeds.len().saturating_sub(slow);
    world.speeds[fast..].fill(speed);
    for (index, &(run, pause)) in noise.foreign.iter().enumerate() {
        let name = format!("other{index}");
        let process = world.process(&name, Part::Other);
        let stack = world.stack(&[&format!("{name}!Other.work"), &format!("{name}!Other.main")]);
        // From half to one and a half of each, so that other programs beat no time.
        let body = (0..16).fold(Script::default(), |body, _| {
            let vary = |ns: i64, rng: &mut SplitMix64| ns / 2 + rng.between(0, ns.max(1));
            body.run(stack, vary(run, &mut rng)).then(Step::Sleep(vary(pause, &mut rng).max(1)))
        });
        let starts = rng.between(0, (run + pause).max(1));
        world.old_thread(process, &name, starts, Script::at(stack).repeat(FOREVER, body));
    }
    if noise.scanner > 0 {
        let process = world.process("MsMpEng", Part::Scanner);
        let rest = world.stack(&["mpengine!Scanner.next", "mpengine!Scanner.main"]);
        let scan = world.stack(&["mpengine!Scanner.scan", "mpengine!Scanner.main"]);
        let body = Script::at(rest).then(Step::Receive).run(scan, noise.scanner).then(Step::Reply);
        world.scanner = Some(world.old_thread(process, "scanner", 0, Script::at(rest).repeat(FOREVER, body)));
    }
    let (start, length) = noise.checkpoint;
    if length > 0 {
        let gate = world.gate();
        world.volume = Some(gate);
        let stack = world.stack(&["Ntfs.sys!NtfsCheckpointVolume", "Ntfs.sys!NtfsCheckpointAllVolumes"]);
        let body = Script::default().run(stack, 2_000_000).then(Step::Disk(DiskOp::Write, 18_000_000));
        let rounds = (length / 20_000_000).max(1) as u32;
        let script = Script::at(stack).then(Step::Close(gate)).repeat(rounds, body).then(Step::Open(gate));
        let thread = world.old_thread(0, "jbd2/sda1-8", start, script);
        world.threads[thread].priority = 13;
    }
}

/// Takes records out of a recording. The first switch of each CPU stays: without it nobody could tell who
/// ran before.
pub(super) fn lose(history: &mut History, noise: &Noise, seed: u64) {
    let mut rng = SplitMix64::new(seed ^ 0x6c6f_7373);
    let mut seen = vec![false; history.cpus.len()];
    for (place, entry) in history.log.iter().enumerate() {
        let lost = match entry.what {
            What::Switch { .. } => {
                let is_first = !std::mem::replace(&mut seen[entry.cpu], true);
                rng.below(1_000) < noise.lost_switches_per_mille && !is_first
            }
            What::Wake { .. } => rng.below(1_000) < noise.lost_wake_ups_per_mille,
            _ => false,
        };
        if lost {
            history.lost.push(place);
        }
    }
}
