//! Holds an archive against the truth.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use tracesift_scenario::{MethodName, OffCause, ProcessKind, ThreadTruth, Truth};
use tracesift_trace::rows::{ContextSwitchRow, Origin, ProcessRow, switch_flags};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use crate::scenarios::pipeline::Extracted;

/// Differences listed per scenario.
const MAX_DIFFERENCES: usize = 12;

/// What tells a process apart in both worlds: kind, pid and start.
type ProcessKey = (u8, i64, Option<i64>);
/// What tells a thread apart: its process' key, tid, CPU of the idle thread, start.
type ThreadKey = (ProcessKey, i64, Option<i16>, Option<i64>);

/// Everything in which the archive differs from the truth, in words.
pub(crate) fn differences(truth: &Truth, found: &Extracted) -> Vec<String> {
    let mut list = Differences::default();
    list.check("end", &truth.end, &found.info.end_ns);
    let switched = !truth.switches.is_empty();
    list.check("has_switches", &switched, &found.info.has_switches);
    list.check("contradictions", &0, &found.contradictions);
    processes(truth, found, &mut list);
    threads(truth, found, &mut list);
    samples(truth, found, &mut list);
    switches(truth, found, &mut list);
    methods(truth, found, &mut list);
    list.0
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, what: impl AsRef<str>, expected: &T, found: &T) {
        if expected != found && self.0.len() < MAX_DIFFERENCES {
            self.0.push(format!("{}: expected {expected:?}, found {found:?}", what.as_ref()));
        }
    }
}

fn processes(truth: &Truth, found: &Extracted, list: &mut Differences) {
    let mut sums: HashMap<ProcessId, (u64, u64, i64)> = HashMap::new();
    for row in &found.samples {
        let sum = sums.entry(row.process).or_default();
        sum.0 += 1;
        sum.1 += u64::from(row.stack.is_none());
        sum.2 += row.weight;
    }
    let expected: BTreeMap<ProcessKey, _> = truth
        .processes
        .iter()
        .enumerate()
        // Pseudo-processes exist where something is charged to them, the idle process where an idle thread is known.
        .filter(|(index, process)| match process.kind {
            ProcessKind::Interrupts => truth.samples.iter().any(|sample| sample.process == *index),
            ProcessKind::Idle => process.name.is_some() || truth.threads.iter().any(|thread| thread.process == *index),
            ProcessKind::Instance => true,
        })
        .map(|(index, process)| {
            let name = process.name.clone();
            (
                truth_process(truth, index),
                (name, process.end, process.samples, process.samples_without_stack, process.cpu),
            )
        })
        .collect();
    let extracted: BTreeMap<ProcessKey, _> = found
        .processes
        .iter()
        .map(|row| {
            let sum = sums.get(&row.process).copied().unwrap_or_default();
            let named = Some(row.name.clone()).filter(|name| *name != format!("pid {}", row.pid));
            (found_process(row), (named, row.end, sum.0, sum.1, sum.2))
        })
        .collect();
    for (key, expected) in &expected {
        let extracted = extracted.get(key);
        // Idle and System have names even where no record names them; so do pseudo-processes.
        let ours = extracted.map(|(name, ..)| name.clone());
        if expected.0.is_some() {
            list.check(format!("name of process {key:?}"), &Some(expected.0.clone()), &ours);
        }
        let rest = |all: &(Option<String>, Option<i64>, u64, u64, i64)| (all.1, all.2, all.3, all.4);
        let what = format!("process {key:?} (end, samples, without stack, cpu)");
        list.check(what, &Some(rest(expected)), &extracted.map(rest));
    }
    for key in extracted.keys().filter(|key| !expected.contains_key(*key)) {
        // A stack record of an idle CPU makes the idle process known, too.
        let idle = key.0 == 1 && extracted[key].2 == 0;
        list.check(format!("process {key:?}"), &"absent", &if idle { "absent" } else { "present" });
    }
    for row in &found.process_summary {
        let sum = sums.get(&row.process).copied().unwrap_or_default();
        list.check(
            "process_summary",
            &(sum.0 as i64, sum.1 as i64, sum.2),
            &(row.samples, row.samples_without_stack, row.cpu),
        );
    }
}

fn threads(truth: &Truth, found: &Extracted, list: &mut Differences) {
    let switched = !truth.switches.is_empty();
    let rows: BTreeMap<ThreadKey, usize> =
        (0..found.threads.len()).map(|index| (found_thread(found, index), index)).collect();
    for thread in &truth.threads {
        let key = truth_thread(truth, thread);
        let Some(index) = rows.get(&key).copied() else {
            list.check(format!("thread {key:?}"), &"present", &"absent");
            continue;
        };
        list.check(format!("end of thread {key:?}"), &thread.end, &found.threads[index].end);
        let account = &found.accounts[index];
        list.check(format!("life of thread {key:?}"), &thread.life, &(account.life.start, account.life.end));
        if switched {
            let expected = (thread.run, thread.wait, thread.ready, thread.open, thread.unknown);
            let ready = account.ready.unwrap_or(0);
            let what = format!("thread {key:?} (run, wait, ready, open, unknown)");
            list.check(what, &expected, &(account.run, account.wait, ready, account.open, account.unknown));
            list.check(format!("switches of {key:?}"), &(thread.switches as i64), &account.switches);
        }
        let sum = account.run + account.wait + account.ready.unwrap_or(0) + account.open + account.unknown;
        list.check(format!("identity of thread {key:?}"), &(account.life.end - account.life.start), &sum);
    }
    let expected: std::collections::BTreeSet<ThreadKey> =
        truth.threads.iter().map(|thread| truth_thread(truth, thread)).collect();
    for key in rows.keys().filter(|key| !expected.contains(*key)) {
        list.check(format!("thread {key:?}"), &"absent", &"present");
    }
    list.check("threads", &truth.threads.len(), &found.threads.len());
}

fn samples(truth: &Truth, found: &Extracted, list: &mut Differences) {
    let names = stack_names(found);
    list.check("samples", &truth.samples.len(), &found.samples.len());
    let processes: HashMap<ProcessId, ProcessKey> =
        found.processes.iter().map(|row| (row.process, found_process(row))).collect();
    let mut expected: Vec<_> = truth
        .samples
        .iter()
        .map(|sample| {
            let stack = sample.stack.map(|stack| show_truth_stack(truth, stack));
            let thread = truth_thread(truth, &truth.threads[sample.thread]);
            (sample.time, sample.cpu as i16, thread, truth_process(truth, sample.process), sample.weight, stack)
        })
        .collect();
    let mut extracted: Vec<_> = found
        .samples
        .iter()
        .map(|row| {
            let stack = row.stack.map(|stack| show(&names[&stack]));
            let thread = found_thread(found, row.thread.index());
            (row.time, row.cpu, thread, processes[&row.process], row.weight, stack)
        })
        .collect();
    expected.sort();
    extracted.sort();
    for (expected, extracted) in expected.iter().zip(&extracted) {
        list.check("sample", expected, extracted);
    }
}

fn switches(truth: &Truth, found: &Extracted, list: &mut Differences) {
    let names = stack_names(found);
    let key = |thread: ThreadId| found_thread(found, thread.index());
    let mut rows: Vec<&ContextSwitchRow> =
        found.switches.iter().filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0).collect();
    rows.sort_by_key(|row| (row.time, row.cpu));
    list.check("switches", &truth.switches.len(), &rows.len());
    let mut sorted: Vec<_> = truth.switches.iter().collect();
    sorted.sort_by_key(|switch| (switch.time, switch.cpu));
    for (switch, row) in sorted.iter().zip(rows) {
        let thread = truth_thread(truth, &truth.threads[switch.thread]);
        let what = format!("switch at {} on CPU {}", switch.time, switch.cpu);
        list.check(&what, &(switch.time, Some(switch.cpu as i16), thread), &(row.time, row.cpu, key(row.thread)));
        let previous = truth_thread(truth, &truth.threads[switch.previous]);
        list.check(format!("{what}: previous"), &Some(previous), &row.prev_thread.map(key));
        let cause = match row.flags {
            flags if flags & switch_flags::BROKEN != 0 => OffCause::Unknown,
            flags if flags & switch_flags::OPEN_LEFT != 0 => OffCause::Open,
            flags if flags & switch_flags::PREEMPTED != 0 => OffCause::Preempted,
            _ => OffCause::Blocked,
        };
        let off = (switch.off.cause, switch.off.from);
        list.check(format!("{what}: off"), &off, &(cause, row.off_time));
        if matches!(cause, OffCause::Blocked | OffCause::Open) {
            list.check(format!("{what}: ready"), &switch.off.ready_from, &row.ready_time);
        }
        if cause == OffCause::Blocked {
            let readier = switch.readier.map(|thread| truth_thread(truth, &truth.threads[thread]));
            list.check(format!("{what}: readier"), &readier, &row.readier.map(key));
            let ready_stack = switch.ready_stack.map(|stack| show_truth_stack(truth, stack));
            let ours = row.ready_stack.map(|stack| show(&names[&stack]));
            list.check(format!("{what}: ready stack"), &ready_stack, &ours);
        }
        let wait_stack = switch.wait_stack.map(|stack| show_truth_stack(truth, stack));
        let ours = row.wait_stack.map(|stack| show(&names[&stack]));
        list.check(format!("{what}: wait stack"), &wait_stack, &ours);
        let counters: Vec<u64> = row.counters.iter().flatten().map(|value| value.cast_unsigned()).collect();
        list.check(format!("{what}: counters"), &switch.counters, &counters);
    }
}

/// Inclusive and exclusive sampled CPU per process and method, summed up from the archive by hand, and the summary table.
fn methods(truth: &Truth, found: &Extracted, list: &mut Differences) {
    let names = stack_names(found);
    let frames = frame_names(found);
    let keys: HashMap<ProcessId, ProcessKey> =
        found.processes.iter().map(|row| (row.process, found_process(row))).collect();
    type Sums = BTreeMap<String, (u64, i64, i64)>;
    let mut sums: BTreeMap<ProcessKey, Sums> = BTreeMap::new();
    for row in &found.samples {
        let stack = match (row.stack, row.frame) {
            (Some(stack), _) => names[&stack].clone(),
            (None, Some(frame)) => vec![frames[&frame.0].clone()],
            (None, None) => Vec::new(),
        };
        let methods = sums.entry(keys[&row.process]).or_default();
        let mut once: Vec<String> = stack.iter().map(ToString::to_string).collect();
        if let Some(leaf) = once.first() {
            methods.entry(leaf.clone()).or_default().2 += row.weight;
        }
        once.sort();
        once.dedup();
        for name in once {
            let sum = methods.entry(name).or_default();
            sum.0 += 1;
            sum.1 += row.weight;
        }
    }
    for (index, process) in truth.processes.iter().enumerate() {
        let key = truth_process(truth, index);
        let mut expected: Sums = process
            .methods
            .iter()
            .map(|(name, method)| (name.to_string(), (method.samples, method.inclusive, method.exclusive)))
            .collect();
        // Without a stack the sampled function is charged, so that exclusive CPU adds up to the process.
        for sample in truth.samples.iter().filter(|sample| sample.process == index && sample.stack.is_none()) {
            let sum = expected.entry(truth.names[sample.function].to_string()).or_default();
            *sum = (sum.0 + 1, sum.1 + sample.weight, sum.2 + sample.weight);
        }
        let ours = sums.get(&key).cloned().unwrap_or_default();
        for (name, expected) in &expected {
            let what = format!("method {name} of {key:?} (samples, inclusive, exclusive)");
            list.check(what, &Some(*expected), &ours.get(name).copied());
        }
        list.check(format!("methods of {key:?}"), &expected.len(), &ours.len());
    }
    for row in &found.method_summary {
        let name = match &row.module {
            Some(module) => format!("{module}!{}", row.function),
            None => row.function.clone(),
        };
        let ours = sums.get(&keys[&row.process]).and_then(|sums| sums.get(&name)).copied().unwrap_or_default();
        let what = format!("method_summary {name} (samples, inclusive, exclusive)");
        list.check(what, &ours, &(row.samples as u64, row.cpu, row.exclusive_cpu));
    }
}

fn truth_process(truth: &Truth, index: usize) -> ProcessKey {
    let process = &truth.processes[index];
    match process.kind {
        ProcessKind::Interrupts => (2, 0, None),
        ProcessKind::Idle => (1, 0, None),
        ProcessKind::Instance => (0, i64::from(process.pid), process.start),
    }
}

fn found_process(row: &ProcessRow) -> ProcessKey {
    match (row.origin, row.pid) {
        (Origin::Pseudo, 0) => (2, 0, None),
        (_, 0) => (1, 0, None),
        _ => (0, row.pid, row.start),
    }
}

fn truth_thread(truth: &Truth, thread: &ThreadTruth) -> ThreadKey {
    let cpu = thread.idle_cpu.map(|cpu| cpu as i16);
    (truth_process(truth, thread.process), i64::from(thread.tid), cpu, thread.start)
}

fn found_thread(found: &Extracted, index: usize) -> ThreadKey {
    let row = &found.threads[index];
    let process = &found.processes[row.process.index()];
    (found_process(process), row.tid, row.idle_cpu, row.start)
}

fn frame_names(found: &Extracted) -> HashMap<i32, MethodName> {
    let symbols: HashMap<i32, _> = found.symbols.iter().map(|row| (row.frame.0, row)).collect();
    found
        .frames
        .iter()
        .map(|frame| {
            let name = match (symbols.get(&frame.frame.0), frame.module, frame.rva) {
                (Some(symbol), ..) => MethodName { module: symbol.module.clone(), function: symbol.function.clone() },
                (None, Some(module), Some(rva)) => {
                    let module = found.modules[module.index()].name.clone();
                    let function = format!("{module}+{rva:#x}");
                    MethodName { module: Some(module), function }
                }
                _ => MethodName { module: None, function: "[unknown]".to_owned() },
            };
            (frame.frame.0, name)
        })
        .collect()
}

fn stack_names(found: &Extracted) -> HashMap<StackId, Vec<MethodName>> {
    let frames = frame_names(found);
    let name = |frame: &tracesift_trace::FrameId| frames[&frame.0].clone();
    found.stacks.iter().map(|row| (row.stack, row.frames.iter().map(name).collect())).collect()
}

fn show(stack: &[MethodName]) -> String {
    stack.iter().map(ToString::to_string).collect::<Vec<_>>().join(" < ")
}

fn show_truth_stack(truth: &Truth, stack: usize) -> String {
    truth.stack_names(stack).iter().map(ToString::to_string).collect::<Vec<_>>().join(" < ")
}
