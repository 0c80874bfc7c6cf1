//! A recording of a known program, extracted, beside what the program told.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use tracesift_analysis::{Accounting, RecordingFacts, Span, ThreadAccount};
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{ContextSwitchRow, ThreadRow};

use super::programs::Truth;
use crate::extracted::Extracted;
use crate::perf;

/// One recording of everything at a time, so that none loses records to the others.
static RECORDING: Mutex<()> = Mutex::new(());

/// Recordings until one has what a test needs.
pub(super) const ATTEMPTS: usize = 5;

/// Holds a recording against what its programs tell. A machine that drops records without a word may spoil one, and another, but a
/// mistake of ours is in all of them.
pub(super) fn in_one_of_several<T>(record: impl Fn() -> Option<T>, check: impl Fn(&T)) {
    for attempt in 1.. {
        let Some(recorded) = record() else { return };
        if attempt == ATTEMPTS {
            return check(&recorded);
        }
        if catch_unwind(AssertUnwindSafe(|| check(&recorded))).is_ok() {
            return;
        }
    }
}

/// What the tests ask of an extract.
pub(super) struct Measured {
    pub(super) truth: Truth,
    pub(super) extracted: Extracted,
    /// CPU time of the samples, ns, by tid.
    sampled: BTreeMap<i64, i64>,
    recorded: perf::Recorded,
}

/// Records a program and everything around it, without a loss; prints why and gives `None` where that is not possible.
pub(super) fn record(program: &str, arguments: &[&str]) -> Option<Measured> {
    record_of("programs", program, arguments)
}

/// As [`record`], with a program of another module.
pub(super) fn record_of(module: &str, program: &str, arguments: &[&str]) -> Option<Measured> {
    let executable = std::env::current_exe().unwrap();
    let name = format!("known::{module}::{program}");
    record_words(&[executable.to_str().unwrap(), "--exact", &name, "--ignored", "--nocapture"], arguments)
}

/// As [`record`], with the words of a command line.
pub(super) fn record_words(workload: &[&str], arguments: &[&str]) -> Option<Measured> {
    let _alone = RECORDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Buffers that hold what comes while somebody else has the CPUs, and the clock that the programs have as well.
    let arguments = [arguments, &["-m", "16M", "-k", "CLOCK_MONOTONIC"]].concat();
    for _ in 0..ATTEMPTS {
        let recorded = perf::record(&arguments, workload)?;
        let measured = Measured::of(recorded);
        assert!(!measured.truth.0.is_empty(), "{workload:?}: {}", measured.recorded.output);
        if measured.extracted.info.events_lost == 0 {
            return Some(measured);
        }
    }
    skipped("perf lost records, as this machine has too much to do");
    None
}

impl Measured {
    fn of(recorded: perf::Recorded) -> Self {
        let extracted = Extracted::of(&recorded.file);
        let mut sampled: BTreeMap<i64, i64> = BTreeMap::new();
        for sample in &extracted.samples {
            *sampled.entry(sample.tid).or_default() += sample.weight;
        }
        Self { truth: Truth::parse(&recorded.output), extracted, sampled, recorded }
    }

    /// The tracepoints as perf itself prints them.
    pub(super) fn tracepoints(&self) -> Vec<perf::Traced> {
        self.recorded.tracepoints()
    }

    /// CPU time of the samples of a thread, ns.
    pub(super) fn sampled(&self, tid: i64) -> i64 {
        self.sampled.get(&tid).copied().unwrap_or(0)
    }

    /// The thread of that id; a short recording has no other one.
    pub(super) fn thread(&self, tid: i64) -> &ThreadRow {
        let threads: Vec<_> = self.extracted.threads.iter().filter(|thread| thread.tid == tid).collect();
        let [thread] = threads.as_slice() else { panic!("{tid}: {threads:?}") };
        thread
    }

    /// Where its time went while it did what it tells of.
    pub(super) fn account(&self, told: &BTreeMap<String, i64>) -> ThreadAccount {
        let zero = self.extracted.info.clock_zero;
        let range = Span::new(told["begin"] - zero, told["end"] - zero);
        let thread = self.thread(told["tid"]);
        let mut accounting =
            Accounting::new(&RecordingFacts::from(&self.extracted.info), range, std::slice::from_ref(thread));
        self.switches_of(told["tid"]).into_iter().for_each(|row| accounting.switch(row, &mut |_| {}));
        let mut accounts = accounting.finish(&mut |_| {});
        assert_eq!((accounts.contradictions, accounts.threads.len()), (0, 1));
        accounts.threads.remove(0)
    }

    /// Whether it is known of nearly all of the time what the threads did. perf leaves out switches without a word (of some
    /// threads of a virtual machine's host, here), and who ran then is not known.
    pub(super) fn is_known(&self) -> bool {
        let accounts: Vec<_> = self.truth.0.values().map(|told| self.account(told)).collect();
        let sum = |part: fn(&ThreadAccount) -> i64| accounts.iter().map(part).sum::<i64>();
        let mostly = |account: &ThreadAccount| account.open == 0 && account.unknown * 4 <= account.life.length();
        sum(|account| account.unknown) * 20 <= sum(|account| account.life.length()) && accounts.iter().all(mostly)
    }

    /// Whether perf has exactly as many switches away from each thread as the kernel counted for it. Where it left out both that a thread came and that it
    /// went, no chain is broken, and others have what it ran.
    pub(super) fn has_all_switches(&self) -> bool {
        let traced = self.recorded.tracepoints();
        let left = |tid: i64, begin: i64, end: i64| {
            let leaves = format!("prev_pid={tid} ");
            let switches =
                traced.iter().filter(|line| line.event == "sched:sched_switch" && line.text.contains(&leaves));
            switches.filter(|line| (begin..end).contains(&line.time)).count() as i64
        };
        self.truth.0.values().all(|told| {
            let counted = told["voluntary"] + told["preempted"];
            // One that lies between the reading of the clock and that of the count makes a sound recording look short, and costs another
            // attempt. One that is missing in the middle may hide any length of time, so nothing is let through.
            left(told["tid"], told["begin"], told["end"]) == counted
        })
    }

    /// Its times off the CPU.
    pub(super) fn switches_of(&self, tid: i64) -> Vec<&ContextSwitchRow> {
        let thread = self.thread(tid).thread;
        self.extracted.switches.iter().filter(|row| row.thread == thread).collect()
    }

    /// Holds sampled CPU time against what was used: n samples have a standard deviation of at most √n. `deviations` is how many of these
    /// are allowed: one figure of dozens lies further away now and then.
    pub(super) fn assert_sampled(&self, found: i64, told: i64, deviations: f64, what: &str) {
        let interval = self.extracted.info.sample_sources[0].interval_ns as f64;
        let allowed = (deviations * (told as f64 / interval).sqrt() * interval).max(told as f64 * 0.05);
        assert!(
            (found - told).abs() as f64 <= allowed,
            "{what}: {found} ns sampled of {told} ns, {allowed} ns allowed"
        );
    }
}

/// Whether a figure is the truth: but for 5 %, or `slack` where that is more.
pub(super) fn is_close(found: i64, told: i64, slack: i64) -> bool {
    (found - told).abs() <= allowed(told, slack)
}

/// Holds a figure against the truth.
pub(super) fn assert_close(found: i64, told: i64, slack: i64, what: &str) {
    assert!(is_close(found, told, slack), "{what}: {found} instead of {told}, {} allowed", allowed(told, slack));
}

fn allowed(told: i64, slack: i64) -> i64 {
    (told.abs() / 20).max(slack)
}
