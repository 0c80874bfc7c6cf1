//! Signals, held against what perf prints and what the program says, and exceptions of C++.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::{ExceptionRow, exception_flags, exception_handling as handling, exception_kinds};

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

/// Throws eight exceptions; five of them are thrown once more.
const THROWING: &str = r#"
#include <stdexcept>
struct Own { int x; };
static int depth(int n) { if (n == 0) throw std::runtime_error("deep"); return depth(n - 1) + 1; }
int main() {
  int caught = 0;
  for (int i = 0; i < 5; i++) {
    try {
      try { depth(3); } catch (std::exception&) { throw; }
    } catch (...) { caught++; }
  }
  for (int i = 0; i < 3; i++) { try { throw Own{1}; } catch (Own&) { caught++; } }
  return caught == 8 ? 0 : 1;
}
"#;

/// The markers of the C++ library, as probes of the kernel that go when this is dropped.
struct Markers {
    table: PathBuf,
    set: Vec<String>,
}

impl Markers {
    /// Reads the notes of a library: `Name: throw`, and a line later `Location: 0x…, …`.
    fn set(library: &str) -> Option<Self> {
        let notes = Command::new("readelf").args(["-n", library]).output().ok()?;
        let notes = String::from_utf8_lossy(&notes.stdout).into_owned();
        let mut markers = Self { table: "/sys/kernel/tracing/uprobe_events".into(), set: Vec::new() };
        let mut name = "";
        for line in notes.lines().map(str::trim) {
            if let Some(of) = line.strip_prefix("Name: ") {
                name = of;
            } else if let Some(at) = line.strip_prefix("Location: ") {
                let place = at.split(',').next()?;
                markers.write(&format!("p:sdt_libstdcxx/{name} {library}:{place}"))?;
                markers.set.push(name.to_owned());
            }
        }
        (markers.set.len() == 3).then_some(markers)
    }

    fn write(&self, line: &str) -> Option<()> {
        let mut table = OpenOptions::new().append(true).open(&self.table).ok()?;
        table.write_all(format!("{line}\n").as_bytes()).ok()
    }
}

impl Drop for Markers {
    fn drop(&mut self) {
        self.set.iter().for_each(|name| _ = self.write(&format!("-:sdt_libstdcxx/{name}")));
    }
}

/// A program with the library that it uses.
fn throwing(directory: &Path) -> Option<(PathBuf, String)> {
    let (source, program) = (directory.join("throwing.cpp"), directory.join("throwing"));
    std::fs::write(&source, THROWING).ok()?;
    let made = Command::new("g++").arg("-fno-omit-frame-pointer").arg(&source).arg("-o").arg(&program).status().ok()?;
    let used = Command::new("ldd").arg(&program).output().ok().filter(|_| made.success())?;
    let used = String::from_utf8_lossy(&used.stdout).into_owned();
    let library = used.lines().find(|line| line.contains("libstdc++"))?.split("=> ").nth(1)?.split(' ').next()?;
    Some((program, library.to_owned()))
}

#[test]
fn exceptions_of_a_program_are_those_that_it_throws() {
    let directory = tempfile::tempdir().unwrap();
    let Some((program, library)) = throwing(directory.path()) else { return skipped("there is no C++ compiler") };
    let Some(_markers) = Markers::set(&library) else { return skipped("probes cannot be set in the C++ library") };
    let events = ["throw", "rethrow", "catch"].map(|name| format!("sdt_libstdcxx:{name}"));
    let mut arguments = vec!["-g"];
    events.iter().for_each(|event| arguments.extend(["-e", event]));
    let Some(recorded) = perf::record(&arguments, &[program.to_str().unwrap()]) else { return };
    let extracted = Extracted::of(&recorded.file);
    let rows: Vec<ExceptionRow> = extracted.archive.rows().unwrap();
    assert!(rows.iter().all(|row| row.kind == exception_kinds::CPP && row.handling == handling::CAUGHT), "{rows:?}");
    assert!(rows.iter().all(|row| row.stack.is_some() && row.caught.is_some_and(|caught| caught >= row.time)));
    let again = rows.iter().filter(|row| row.flags == Some(exception_flags::RETHROWN)).count();
    assert_eq!((rows.len(), again), (13, 5));
    // Each is caught before the next one is thrown.
    assert!(rows.windows(2).all(|pair| pair[0].caught.unwrap() <= pair[1].time));
    assert_eq!(extracted.health.get("catch_without_throw"), 0);
}
