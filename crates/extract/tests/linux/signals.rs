//! Signals, held against what perf prints and what the program says.

use std::collections::{BTreeMap, VecDeque};

use tracesift_trace::rows::{ExceptionRow, exception_handling as handling, exception_kinds};

use crate::extracted::Extracted;
use crate::perf;

/// Handles signals, ignores some, lets children die of others, and tells how many of each.
const SENDING: &str = "
import os, signal, subprocess, sys, time
handled = [0]
def count(number, frame):
    handled[0] += 1
signal.signal(signal.SIGUSR1, count)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
for _ in range(20):
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR2)
died = []
for number in [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV]:
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])
    time.sleep(0.3)
    child.send_signal(number)
    child.wait()
    died.append(child.pid)
fault = subprocess.Popen([sys.executable, '-c', 'import ctypes; ctypes.string_at(0)'])
fault.wait()
print(os.getpid(), handled[0], fault.pid, *died)
";

/// The number behind a name in the text of an event.
fn number(text: &str, name: &str) -> Option<i64> {
    let rest = text.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
    rest.parse().ok().or_else(|| i64::from_str_radix(rest, 16).ok())
}

/// Number of signals by tid of the receiver and number, and how many of them a handler got: from the lines of perf, in order.
fn expected(recorded: &perf::Recorded) -> BTreeMap<i64, i64> {
    let mut sent = BTreeMap::new();
    for line in recorded.tracepoints().iter().filter(|line| line.event == "signal:signal_generate") {
        *sent.entry(number(&line.text, "sig").unwrap()).or_default() += 1;
    }
    sent
}

#[test]
fn signals_are_those_that_perf_prints() {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["-a", "-g", "-m", "4M", "-e", "signal:signal_generate", "-e", "signal:signal_deliver"];
    let Some(recorded) = perf::record(&arguments, &[&python, "-c", SENDING]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<ExceptionRow> = extracted.archive.rows().unwrap();
    assert!(rows.is_sorted_by_key(|row| row.time));
    assert!(rows.iter().all(|row| row.kind == exception_kinds::SIGNAL));

    // Each signal that was sent has a row; of those that were sent before, the delivery alone is there.
    let said: Vec<i64> = recorded.output.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [parent, handled, fault, term, kill, segv] = said[..] else { panic!("{said:?}") };
    let pid = |row: &ExceptionRow| row.process.map(|process| extracted.processes[process.index()].pid);
    let name = |row: &ExceptionRow| row.exception_type.clone().unwrap();
    let of = |wanted: i64, signal: &str| -> Vec<i8> {
        let rows = rows.iter().filter(|row| pid(row) == Some(wanted) && name(row) == signal);
        rows.map(|row| row.handling).collect()
    };
    let usr1 = of(parent, "SIGUSR1");
    assert_eq!(usr1.iter().filter(|of| **of == handling::CAUGHT).count() as i64, handled);
    assert_eq!(of(parent, "SIGUSR2"), [handling::NO_EFFECT; 20]);
    assert_eq!(of(term, "SIGTERM"), [handling::UNHANDLED]);
    assert_eq!(of(kill, "SIGKILL"), [handling::UNHANDLED]);
    assert_eq!(of(segv, "SIGSEGV"), [handling::UNHANDLED]);
    assert_eq!(of(fault, "SIGSEGV"), [handling::UNHANDLED]);
    let fault = rows.iter().find(|row| pid(row) == Some(fault) && name(row) == "SIGSEGV").unwrap();
    assert_eq!(fault.message.as_deref(), Some("SEGV_MAPERR"));
    assert!(fault.stack.is_some());
    let term = rows.iter().find(|row| pid(row) == Some(term) && name(row) == "SIGTERM").unwrap();
    assert_eq!(term.message.as_deref(), Some(&*format!("SI_USER from {parent}")));

    let sent = expected(&recorded);
    let mut found: BTreeMap<String, i64> = BTreeMap::new();
    rows.iter().for_each(|row| *found.entry(name(row)).or_default() += 1);
    for (signal, count) in sent {
        let name = tracesift_trace::exceptions::signal_name(signal);
        // Deliveries without a sender only add.
        assert!(found.get(&name).is_some_and(|found| *found >= count), "{name}: {count} of {found:?}");
    }
}

/// The deliveries that a plain reading of perf's lines gives each signal of ordinary numbers: time sent, time taken by a handler.
#[test]
fn times_from_sending_to_handlers_are_those_of_perf() {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["-m", "4M", "-e", "signal:signal_generate", "-e", "signal:signal_deliver"];
    let Some(recorded) = perf::record(&arguments, &[&python, "-c", SENDING]) else { return };
    let said: Vec<i64> = recorded.output.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let parent = said[0];
    let mut pending: BTreeMap<i64, VecDeque<i64>> = BTreeMap::new();
    let mut expected = Vec::new();
    for line in recorded.tracepoints() {
        let signal = number(&line.text, "sig").unwrap();
        match line.event.as_str() {
            "signal:signal_generate" if number(&line.text, "pid") == Some(parent) => {
                if number(&line.text, "res") == Some(0) {
                    pending.entry(signal).or_default().push_back(line.time);
                }
            }
            "signal:signal_deliver" if line.tid == parent => {
                let sent = pending.entry(signal).or_default().pop_front();
                expected.extend(sent.map(|sent| (sent, line.time)));
            }
            _ => {}
        }
    }
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<ExceptionRow> = extracted.archive.rows().unwrap();
    let of_parent =
        rows.iter().filter(|row| row.process.is_some_and(|process| extracted.processes[process.index()].pid == parent));
    let zero = recorded.tracepoints().iter().map(|line| line.time).min().unwrap()
        - rows.iter().map(|row| row.time).min().unwrap();
    let mut found: Vec<(i64, i64)> = of_parent.filter_map(|row| Some((row.time + zero, row.caught? + zero))).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert!(found.len() >= 20, "{found:?}");
    assert_eq!(found, expected);
}
