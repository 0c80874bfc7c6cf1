//! Work that a command line adds to that of a program, so that the cause of a difference between two runs is known.
//!
//! It is divided into equal parts, one for each call of a method, or for each turn of its loop. What a part takes too long, as the
//! clock has a grain, the following parts take less.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::arguments::Arguments;
use crate::measure::{Clocks, Piece};
use crate::report::Report;

/// How many parts there are with these arguments, or which argument makes their number known.
pub type Parts = fn(&Arguments) -> Result<u64, String>;

/// A method of a program that can have more to do.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name, as stacks have it behind the last `::`.
    pub name: &'static str,
    /// The number of its calls, or of the turns of its loop.
    pub parts: Parts,
}

/// The options of every program.
pub(crate) const CPU: &str = "extra-cpu";
pub(crate) const LOCK: &str = "extra-lock";

/// The keys that every report has below `truth`, with what they mean.
pub(crate) const KEYS: &[(&str, &str)] = &[
    ("truth.extra_cpu_ns", "CPU time that --extra-cpu and --extra-lock added"),
    ("truth.extra_lock_ns", "time for which --extra-lock held the lock longer"),
];

/// What is added to one method.
#[derive(Debug)]
struct Addition {
    method: &'static str,
    /// In all, ns.
    total: i64,
    parts: u64,
    /// Parts that have begun.
    begun: AtomicU64,
    /// What those have used, or will use, ns.
    used: AtomicI64,
    cpu: AtomicI64,
    elapsed: AtomicI64,
}

/// What is added to this process.
#[derive(Debug, Default)]
struct Additions {
    cpu: Option<Addition>,
    lock: Option<Addition>,
}

static ADDED: OnceLock<Additions> = OnceLock::new();

/// One part of what is added: the method that asks for it does it, and then tells so.
#[derive(Debug)]
pub struct Part {
    addition: &'static Addition,
    time: i64,
    begin: Clocks,
}

impl Part {
    /// How long it is.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.time.unsigned_abs())
    }

    /// It is done. `spent` tells how much of the addition is used up by what it took, ns.
    pub fn end(self, spent: impl FnOnce(Piece) -> i64) {
        let took = self.begin.until_now();
        self.addition.cpu.fetch_add(took.cpu, Ordering::Relaxed);
        self.addition.elapsed.fetch_add(took.elapsed, Ordering::Relaxed);
        self.addition.used.fetch_add(spent(took) - self.time, Ordering::Relaxed);
    }
}

impl Addition {
    fn new(method: &Method, time: Duration, arguments: &Arguments) -> Result<Option<Self>, String> {
        if time.is_zero() {
            return Ok(None);
        }
        let parts = match (method.parts)(arguments) {
            Ok(0) => return Err(format!("{} is not called at all", method.name)),
            Ok(parts) => parts,
            Err(why) => return Err(format!("the number of calls of {} is not known beforehand: {why}", method.name)),
        };
        Ok(Some(Self {
            method: method.name,
            total: i64::try_from(time.as_nanos()).unwrap_or(i64::MAX),
            parts,
            begun: AtomicU64::new(0),
            used: AtomicI64::new(0),
            cpu: AtomicI64::new(0),
            elapsed: AtomicI64::new(0),
        }))
    }

    /// The length of the next part, ns: what is due then, without what other parts have.
    fn next(&self) -> i64 {
        let begun = self.begun.fetch_add(1, Ordering::Relaxed).saturating_add(1).min(self.parts);
        // No more than the total.
        let due = (i128::from(self.total) * i128::from(begun) / i128::from(self.parts)) as i64;
        due - self.used.fetch_max(due, Ordering::Relaxed)
    }

    fn part(&'static self) -> Option<Part> {
        let time = self.next();
        (time > 0).then(|| Part { addition: self, time, begin: Clocks::now() })
    }
}

/// The next part of what is added to this method; `None` where nothing is.
pub fn extra_part(method: &str) -> Option<Part> {
    ADDED.get()?.cpu.as_ref().filter(|addition| addition.method == method)?.part()
}

/// The next part of the time for which the lock is held longer.
pub fn extra_lock_part() -> Option<Part> {
    ADDED.get()?.lock.as_ref()?.part()
}

/// Uses CPU time where it stands, so that stacks end in the method that has it: as much as is added to that.
#[macro_export]
macro_rules! extra_cpu {
    ($method:literal) => {
        if let Some(part) = $crate::extra_part($method) {
            $crate::spin!(part.time());
            part.end(|took| took.cpu);
        }
    };
}

/// Understands what is added, for the life of the process.
pub(crate) fn begin(methods: &[Method], lock: Option<&Method>, arguments: &Arguments) -> Result<(), String> {
    let mut added = Additions::default();
    if let Some((name, time)) = arguments.addition(CPU) {
        let known = methods.iter().find(|method| method.name == name);
        let method = known.ok_or_else(|| {
            let names: Vec<&str> = methods.iter().map(|method| method.name).collect();
            format!("--{CPU}: there is no method {name}; there are {}", names.join(", "))
        })?;
        added.cpu = Addition::new(method, time, arguments)?;
    }
    let time = arguments.time(LOCK);
    added.lock = match lock {
        Some(method) => Addition::new(method, time, arguments)?,
        None if time.is_zero() => None,
        None => return Err(format!("--{LOCK}: this program has no lock")),
    };
    if added.cpu.is_some() || added.lock.is_some() {
        ADDED.set(added).map_err(|_| "a process adds work only once".to_owned())?;
    }
    Ok(())
}

/// Tells what was added.
pub(crate) fn tell(report: &mut Report) {
    let added = ADDED.get();
    let cpu = added.and_then(|added| added.cpu.as_ref());
    let lock = added.and_then(|added| added.lock.as_ref());
    let sum = cpu.into_iter().chain(lock).map(|addition| addition.cpu.load(Ordering::Relaxed)).sum::<i64>();
    report.tell("extra_cpu_ns", sum);
    report.tell("extra_lock_ns", lock.map_or(0, |addition| addition.elapsed.load(Ordering::Relaxed)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addition(total: i64, parts: u64) -> Addition {
        let number = AtomicI64::default;
        let (used, cpu, elapsed) = (number(), number(), number());
        Addition { method: "a", total, parts, begun: AtomicU64::new(0), used, cpu, elapsed }
    }

    #[test]
    fn parts_are_equal_and_add_up() {
        for (total, parts) in [(1_000, 7), (3, 7), (i64::MAX, 3), (1_000, 1)] {
            let addition = addition(total, parts);
            let times: Vec<i64> = (0..parts).map(|_| addition.next()).collect();
            assert_eq!(times.iter().sum::<i64>(), total, "{times:?}");
            let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
            assert!(most - least <= 1, "{times:?}");
            assert_eq!(addition.next(), 0, "there are no more");
        }
    }

    #[test]
    fn what_a_part_takes_too_long_the_next_one_takes_less() {
        let addition = addition(100, 10);
        assert_eq!(addition.next(), 10);
        addition.used.fetch_add(25, Ordering::Relaxed);
        // 35 are used: nothing is due before the fourth part.
        let times: Vec<i64> = (0..9).map(|_| addition.next().max(0)).collect();
        assert_eq!(times, [0, 0, 5, 10, 10, 10, 10, 10, 10]);
    }
}
