//! Figures per method from the truth of a scenario, computed in the plainest way.

use std::collections::{BTreeMap, BTreeSet};

use tracesift_grammar::TimeRange;
use tracesift_scenario::{MethodName, OffCause, OffSpan, ProcessKind, Truth};

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) process: String,
    pub(crate) pid: i64,
    pub(crate) start: Option<i64>,
    pub(crate) tid: Option<i64>,
    pub(crate) module: Option<String>,
    pub(crate) function: String,
}

/// Its figures; spans are union, sum, count and longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figures {
    pub(crate) samples: Option<i64>,
    pub(crate) cpu: Option<i64>,
    pub(crate) exclusive: Option<i64>,
    pub(crate) wait: [Option<i64>; 4],
    pub(crate) ready: [Option<i64>; 4],
    pub(crate) switches: Option<i64>,
    pub(crate) threads: Option<i64>,
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
}

/// Rows by what they are of, those of the same name in order.
pub(crate) type Rows = BTreeMap<Key, Vec<Figures>>;

#[derive(Default)]
struct Sums {
    samples: i64,
    cpu: i64,
    exclusive: i64,
    waits: Vec<(i64, i64)>,
    readies: Vec<(i64, i64)>,
    switches: i64,
    threads: BTreeSet<usize>,
    times: Vec<i64>,
}

pub(crate) fn figures(truth: &Truth, time: TimeRange, per_thread: bool) -> Rows {
    let (a, b) = time.bounds();
    // With the thread's number, since threads may have the same id.
    let mut sums: BTreeMap<(Key, Option<usize>), Sums> = BTreeMap::new();
    let key = |process: usize, thread: usize, name: &MethodName| {
        let process = &truth.processes[process];
        let interrupts = process.kind == ProcessKind::Interrupts;
        let key = Key {
            process: if interrupts { "DPC/ISR".to_owned() } else { String::new() },
            pid: i64::from(process.pid),
            start: if process.kind == ProcessKind::Instance { process.start } else { None },
            tid: per_thread.then(|| i64::from(truth.threads[thread].tid)),
            module: name.module.clone(),
            function: name.function.clone(),
        };
        (key, per_thread.then_some(thread))
    };
    for sample in truth.samples.iter().filter(|sample| a <= sample.time && sample.time < b) {
        let names = match sample.stack {
            Some(stack) => truth.stack_names(stack),
            None => vec![&truth.names[sample.function]],
        };
        if let Some(leaf) = names.first() {
            sums.entry(key(sample.process, sample.thread, leaf)).or_default().exclusive += sample.weight;
        }
        for name in names.into_iter().collect::<BTreeSet<_>>() {
            let sum = sums.entry(key(sample.process, sample.thread, name)).or_default();
            sum.samples += 1;
            sum.cpu += sample.weight;
            sum.threads.insert(sample.thread);
            sum.times.push(sample.time);
        }
    }
    for switch in &truth.switches {
        let Some(stack) = switch.wait_stack else { continue };
        let (wait, ready) = off_cpu(switch.off, time);
        let switched_in = a <= switch.time && switch.time < b;
        if wait.is_none() && ready.is_none() && !switched_in {
            continue;
        }
        let process = truth.threads[switch.thread].process;
        for name in truth.stack_names(stack).into_iter().collect::<BTreeSet<_>>() {
            let sum = sums.entry(key(process, switch.thread, name)).or_default();
            sum.waits.extend(wait);
            sum.readies.extend(ready);
            sum.switches += i64::from(switched_in);
            sum.threads.insert(switch.thread);
            sum.times.extend(wait.iter().chain(&ready).flat_map(|span| [span.0, span.1]));
            sum.times.extend(switched_in.then_some(switch.time));
        }
    }
    let has_switches = !truth.switches.is_empty();
    let finished = |sums: Sums| Figures {
        samples: Some(sums.samples),
        cpu: Some(sums.cpu),
        exclusive: Some(sums.exclusive),
        wait: if has_switches { spans(&sums.waits) } else { [None; 4] },
        ready: if has_switches && (truth.has_ready_events || !sums.readies.is_empty()) {
            spans(&sums.readies)
        } else {
            [None; 4]
        },
        switches: has_switches.then_some(sums.switches),
        threads: Some(sums.threads.len() as i64),
        first: sums.times.iter().min().copied(),
        last: sums.times.iter().max().copied(),
    };
    let mut rows = Rows::new();
    sums.into_iter().for_each(|((key, _), sums)| rows.entry(key).or_default().push(finished(sums)));
    rows.values_mut().for_each(|rows| rows.sort());
    rows
}

/// Start and end.
type Piece = (i64, i64);

/// Wait and ready of a span off the CPU inside of a time range.
pub(crate) fn off_cpu(off: OffSpan, time: TimeRange) -> (Option<Piece>, Option<Piece>) {
    let (a, b) = time.bounds();
    // Who was readied at once has waited, for no time.
    let clipped = |from: i64, to: i64| match from == to {
        true => Some((from, to)).filter(|_| a <= from && from < b),
        false => Some((from.max(a), to.min(b))).filter(|(from, to)| from < to),
    };
    let wait = match off.cause {
        OffCause::Blocked => clipped(off.from, off.ready_from.unwrap_or(off.to)),
        _ => None,
    };
    let ready = match off.cause {
        OffCause::Unknown => None,
        _ => off.ready_from.and_then(|from| clipped(from, off.to)),
    };
    (wait, ready)
}

fn spans(spans: &[(i64, i64)]) -> [Option<i64>; 4] {
    let lengths = || spans.iter().map(|(from, to)| to - from);
    let mut sorted = spans.to_vec();
    sorted.sort_unstable();
    let (mut union, mut end) = (0, i64::MIN);
    for (from, to) in sorted {
        union += (to - from.max(end)).max(0);
        end = end.max(to);
    }
    [union, lengths().sum(), spans.len() as i64, lengths().max().unwrap_or(0)].map(Some)
}
