//! Where the time of threads and of pieces of work goes, on the clocks of the system.

use std::io;
use std::ops::AddAssign;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use serde_json::{Map, Value, json};

use crate::system;

/// What a thread tells of itself.
#[derive(Clone, Debug)]
pub struct ThreadTold {
    name: String,
    tid: i64,
    begin: i64,
    end: i64,
    cpu: i64,
    ready: Option<i64>,
    switches: Option<[i64; 2]>,
}

/// What a piece of work took; pieces add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// From its begin to its end, ns.
    pub elapsed: i64,
    /// CPU time of the thread, ns.
    pub cpu: i64,
}

impl ThreadTold {
    /// CPU time of the thread, ns.
    pub fn cpu(&self) -> i64 {
        self.cpu
    }

    /// How long it could have run and had no CPU, ns; `None` where the system does not say.
    pub fn ready(&self) -> Option<i64> {
        self.ready
    }

    /// How long it lived, ns.
    pub fn elapsed(&self) -> i64 {
        self.end - self.begin
    }

    /// How long it did not run, ns: it waited for something, or for a CPU.
    pub fn off_cpu(&self) -> i64 {
        self.elapsed() - self.cpu
    }

    pub(crate) fn report(&self) -> Map<String, Value> {
        let value = json!({
            "name": self.name,
            "tid": self.tid,
            "begin_ns": self.begin,
            "end_ns": self.end,
            "cpu_ns": self.cpu,
            "ready_ns": self.ready,
            "waits": self.switches.map(|[waits, _]| waits),
            "preemptions": self.switches.map(|[_, preemptions]| preemptions),
        });
        match value {
            Value::Object(object) => object,
            other => unreachable!("{other}"),
        }
    }
}

impl AddAssign for Piece {
    fn add_assign(&mut self, other: Self) {
        self.elapsed += other.elapsed;
        self.cpu += other.cpu;
    }
}

/// What this thread has done up to one moment.
struct Reading {
    time: i64,
    cpu: i64,
    ready: Option<i64>,
    switches: Option<[i64; 2]>,
}

impl Reading {
    /// Read once more if the thread lost its CPU meanwhile, so that the three are of one moment.
    fn take() -> Self {
        loop {
            let (ready, switches) = (system::run_delay_ns(), system::switches());
            let (time, cpu) = (system::time_ns(), system::thread_cpu_ns());
            if system::run_delay_ns() == ready {
                return Self { time, cpu, ready, switches };
            }
        }
    }
}

/// Does work, and tells where the time of this thread went meanwhile, under that name.
pub fn told<T>(name: impl Into<String>, work: impl FnOnce() -> T) -> (ThreadTold, T) {
    let begin = Reading::take();
    let result = work();
    let end = Reading::take();
    let told = ThreadTold {
        name: name.into(),
        tid: system::thread_id(),
        begin: begin.time,
        end: end.time,
        cpu: end.cpu - begin.cpu,
        ready: end.ready.zip(begin.ready).map(|(after, before)| after - before),
        switches: end.switches.zip(begin.switches).map(|([a, b], [c, d])| [a - c, b - d]),
    };
    (told, result)
}

/// Does work in a thread of that name, which tells where its time went.
pub fn thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, (ThreadTold, T)>> {
    let name: String = name.into();
    Builder::new().name(name.clone()).spawn_scoped(scope, move || told(name, work))
}

/// Where the clocks of this thread stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    time: i64,
    cpu: i64,
}

impl Clocks {
    // The clock of the thread is a system call, at the end of which the system likes to give the CPU to others: that is no part of the work.
    pub(crate) fn now() -> Self {
        let (cpu, time) = (system::thread_cpu_ns(), system::time_ns());
        Self { time, cpu }
    }

    /// What this thread did since then.
    pub(crate) fn until_now(self) -> Piece {
        let (time, cpu) = (system::time_ns(), system::thread_cpu_ns());
        Piece { elapsed: time - self.time, cpu: cpu - self.cpu }
    }
}

/// Does a piece of work and tells what it took.
pub fn measure<T>(work: impl FnOnce() -> T) -> (Piece, T) {
    let begin = Clocks::now();
    let result = work();
    (begin.until_now(), result)
}

/// Gives a value back as it is. Behind the last call of a function it keeps that from becoming a jump, with which the function would
/// be missing in stacks.
#[inline(always)]
pub fn on_stack<T>(value: T) -> T {
    std::hint::black_box(value)
}

/// Uses the CPU for so long, on the clock of the thread, in the function that it stands in: stacks end there.
#[macro_export]
macro_rules! spin {
    ($time:expr) => {{
        let end = $crate::thread_cpu_ns().saturating_add(i64::try_from($time.as_nanos()).unwrap_or(i64::MAX));
        loop {
            // The clock is a system call: it is looked at seldom, and more often towards the end. A turn takes a few ns at most.
            let left = end.saturating_sub($crate::thread_cpu_ns());
            if left <= 0 {
                break;
            }
            let (mut turn, turns) = (0_i64, (left / 8).max(1_000));
            while turn < turns {
                turn = std::hint::black_box(turn + 1);
            }
        }
    }};
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_spin_uses_cpu_and_a_sleep_does_not() {
        let (spun, ()) = measure(|| crate::spin!(Duration::from_millis(40)));
        assert!(spun.cpu >= 40 * MS && spun.elapsed * 2 > spun.cpu, "{spun:?}");
        let (slept, ()) = measure(|| std::thread::sleep(Duration::from_millis(40)));
        assert!(slept.cpu < 20 * MS && slept.elapsed >= 40 * MS, "{slept:?}");
    }

    #[test]
    fn a_thread_tells_of_itself_alone() {
        let told = std::thread::scope(|scope| {
            let sleeper = thread(scope, "sleeper", || std::thread::sleep(Duration::from_millis(50))).unwrap();
            crate::spin!(Duration::from_millis(50));
            sleeper.join().unwrap().0
        });
        assert!(told.cpu() < 25 * MS && told.elapsed() >= 50 * MS, "{told:?}");
        assert_eq!(told.report()["name"], "sleeper");
        assert!(told.report()["tid"].as_i64().unwrap() != i64::from(std::process::id()));
        assert!((25 * MS..=told.elapsed()).contains(&told.off_cpu()), "{told:?}");
    }
}
