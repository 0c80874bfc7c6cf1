//! Interrupts, softirqs, timers and work items, held against what the kernel counts and against the events that perf prints.

use std::collections::BTreeMap;

use tracesift_trace::rows::{InterruptRow, interrupt_kinds as kinds};

use crate::extracted::Extracted;
use crate::perf::{self, Traced};

const EVENTS: &[&str] = &[
    "irq:*",
    "workqueue:workqueue_queue_work",
    "workqueue:workqueue_execute_start",
    "workqueue:workqueue_execute_end",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "timer:timer_expire_entry",
    "timer:timer_expire_exit",
];

const LOCAL: &[&str] = &["irq_vectors:local_timer_entry", "irq_vectors:local_timer_exit"];

/// Prints the counters of the kernel, with perf's clock before and after reading them, then works, then prints them again.
const COUNTERS: &str = "
import os, socket, tempfile, time
def show():
    before = time.monotonic_ns()
    texts = {name: open('/proc/' + name).read() for name in ('interrupts', 'softirqs')}
    after = time.monotonic_ns()
    for name, text in texts.items():
        cpus, *lines = text.splitlines()
        cpus = [int(cpu[3:]) for cpu in cpus.split()]
        for line in lines:
            key, *counts = line.split()
            for cpu, count in zip(cpus, counts):
                if count.isdigit():
                    print(name, key.rstrip(':'), cpu, before, after, count)
show()
a, b = socket.socketpair(socket.AF_UNIX)
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
end = time.monotonic() + 1
with tempfile.NamedTemporaryFile(dir='.') as file:
    while time.monotonic() < end:
        client.sendall(b'x' * 1000)
        peer.recv(1000)
        file.write(b'y' * 4096)
        file.flush()
        os.fsync(file.fileno())
        time.sleep(0.002)
show()
time.sleep(0.05)
";

/// Time that a virtual CPU may stand between the count of an interrupt and its event, ns.
const LATEST: i64 = 30_000_000;

fn record() -> Option<(perf::Recorded, Extracted)> {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let is_x86 = std::path::Path::new("/sys/kernel/tracing/events/irq_vectors").exists();
    let local = if is_x86 { LOCAL } else { &[] };
    let events = EVENTS.iter().chain(local).flat_map(|event| ["-e", event]);
    let arguments: Vec<&str> = ["-a", "-m", "8M", "-k", "CLOCK_MONOTONIC"].into_iter().chain(events).collect();
    let recorded = perf::record(&arguments, &[&python, "-c", COUNTERS])?;
    if recorded.lost() > 0 {
        tracesift_fixtures::skipped("perf lost events of interrupts");
        return None;
    }
    let extracted = Extracted::of(&recorded.file);
    Some((recorded, extracted))
}

/// The begins in perf's text of a line of `/proc/interrupts` or `/proc/softirqs` on a CPU, as times.
fn begins_in_text<'a>(lines: &'a [Traced], file: &'a str, key: &'a str, cpu: i16) -> impl Iterator<Item = i64> + 'a {
    let is_of_line = move |line: &&Traced| {
        line.cpu == cpu
            && match (line.event.as_str(), file) {
                ("irq:irq_handler_entry", "interrupts") => field(&line.text, "irq=") == key,
                ("irq_vectors:local_timer_entry", "interrupts") => key == "LOC",
                ("irq:softirq_entry", "softirqs") => line.text.contains(&format!("[action={key}]")),
                _ => false,
            }
    };
    lines.iter().filter(is_of_line).map(|line| line.time)
}

/// Each line of `/proc/interrupts` and `/proc/softirqs`: what began between two readings of it.
#[test]
fn counts_are_those_that_the_kernel_has() {
    let Some((recorded, extracted)) = record() else { return };
    let rows: Vec<InterruptRow> = extracted.archive.rows().unwrap();
    let zero = extracted.info.clock_zero;
    let mut readings: BTreeMap<(&str, &str, i16), Vec<[i64; 3]>> = BTreeMap::new();
    for line in recorded.output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [file, key, cpu, before, after, count] = words[..] else { panic!("{line}") };
        let numbers = [before, after, count].map(|word| word.parse().unwrap());
        readings.entry((file, key, cpu.parse().unwrap())).or_default().push(numbers);
    }
    let (mut compared, mut left_out) = ([0; 3], 0);
    for ((file, key, cpu), read) in &readings {
        let [[first_before, first_after, first], [last_before, last_after, last]] = read[..] else {
            panic!("{read:?}")
        };
        let is_of_line = |row: &&InterruptRow| {
            row.cpu == *cpu
                && match (*file, key.parse::<i32>()) {
                    ("interrupts", Ok(number)) => row.kind == kinds::ISR && row.vector == Some(number),
                    ("interrupts", Err(_)) => *key == "LOC" && row.kind == kinds::LOCAL,
                    _ => row.kind == kinds::SOFTIRQ && row.name.as_deref() == Some(*key),
                }
        };
        if *file == "interrupts" && key.parse::<i32>().is_err() && *key != "LOC" {
            continue;
        }
        // The kernel counts an interrupt, and then logs that its handler begins.
        let bounds = |starts: &[i64]| {
            let began = |from, until| starts.iter().filter(|start| (from..=until).contains(*start)).count() as i64;
            began(first_after + LATEST, last_before)..=began(first_before, last_after + LATEST)
        };
        let found = bounds(&rows.iter().filter(is_of_line).map(|row| row.start + zero).collect::<Vec<_>>());
        let counted = last - first;
        if !found.contains(&counted) {
            let printed = bounds(&begins_in_text(&recorded.tracepoints(), file, key, *cpu).collect::<Vec<_>>());
            let line =
                format!("{file} {key} CPU {cpu}: {counted} counted, {found:?} found, {printed:?} in perf's text");
            assert!(found == printed, "{line}");
            left_out += 1;
            tracesift_fixtures::skipped(&format!("perf left out interrupts of {line}"));
            continue;
        }
        compared[match (*file, *key) {
            ("softirqs", _) => 0,
            (_, "LOC") => 1,
            _ => 2,
        }] += counted;
    }
    assert!(left_out > 2 || compared[0] > 100 && compared[2] > 0, "{compared:?}");
    assert_eq!(extracted.health.get("incomplete_interrupts"), 0);
}

/// A span as it is put together from the lines of perf: end, begin, CPU, kind and id of what ran, time in the queue.
type Span = (i64, i64, i16, i8, String, Option<i64>);

/// The part of a text between two others.
fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let behind = text.split_once(name).unwrap_or_else(|| panic!("{text}: {name}")).1;
    behind.split([' ', ':']).find(|word| !word.is_empty()).unwrap_or_default()
}

/// Pairs lines: each end has the last begin of the same thing on its CPU, of a work item in its thread.
fn spans(lines: &[Traced]) -> Vec<Span> {
    let mut open: BTreeMap<(i8, i64, String), (i64, Option<i64>)> = BTreeMap::new();
    let mut asked: BTreeMap<(i8, i64, String), i64> = BTreeMap::new();
    let mut spans = Vec::new();
    for line in lines {
        let (system, name) = line.event.split_once(':').unwrap();
        let (kind, key, edge) = match (system, name) {
            ("irq", "irq_handler_entry" | "irq_handler_exit") => (kinds::ISR, "irq=", &name[12..]),
            ("irq", "softirq_entry" | "softirq_exit" | "softirq_raise") => (kinds::SOFTIRQ, "vec=", &name[8..]),
            ("irq", "tasklet_entry" | "tasklet_exit") => (kinds::TASKLET, "tasklet=", &name[8..]),
            ("irq_vectors", _) => (kinds::LOCAL, "vector=", name.rsplit('_').next().unwrap()),
            ("timer", name) if name.starts_with("hrtimer") => (kinds::TIMER, "hrtimer=", &name[15..]),
            ("timer", _) => (kinds::TIMER, "timer=", &name[13..]),
            ("workqueue", "workqueue_queue_work") => (kinds::WORK_ITEM, "work struct=", "queue"),
            ("workqueue", _) => (kinds::WORK_ITEM, "work struct ", name.rsplit('_').next().unwrap()),
            _ => panic!("{line:?}"),
        };
        let id = field(&line.text, key).to_owned();
        let place = if kind == kinds::WORK_ITEM { line.tid } else { line.cpu.into() };
        let asks = (kind, if kind == kinds::WORK_ITEM { 0 } else { place }, id.clone());
        match edge {
            "raise" => _ = asked.entry(asks).or_insert(line.time),
            "queue" => _ = asked.insert(asks, line.time),
            "entry" | "start" => {
                let queued = asked.remove(&asks).map(|asked| line.time - asked);
                open.insert((kind, place, id), (line.time, queued));
            }
            "exit" | "end" => {
                if let Some((start, queued)) = open.remove(&(kind, place, id.clone())) {
                    spans.push((line.time, start, line.cpu, kind, id, queued));
                }
            }
            other => panic!("{other}"),
        }
    }
    spans
}

#[test]
fn spans_are_those_of_the_lines_of_perf() {
    let Some((recorded, extracted)) = record() else { return };
    let expected = spans(&recorded.tracepoints());
    let rows: Vec<InterruptRow> = extracted.archive.rows().unwrap();
    let zero = extracted.info.clock_zero;
    type Plain = (i64, i64, i16, i8, Option<i64>, Option<i64>);
    let sorted = |mut rows: Vec<Plain>| {
        rows.sort_unstable();
        rows
    };
    // What began later on the CPU and ended before, but for what such spans have inside of them, and what runs in a thread.
    let exclusive = |(end, start, cpu, kind, ..): &Span| {
        if *kind == kinds::WORK_ITEM {
            return None;
        }
        let (from, until) = (*start, *end);
        let inside: Vec<(i64, i64)> = expected
            .iter()
            .filter(|(end, start, other, kind, ..)| {
                let is_inside = from <= *start && *end <= until && (*start, *end) != (from, until);
                cpu == other && *kind != kinds::WORK_ITEM && is_inside
            })
            .map(|(end, start, ..)| (*start, *end))
            .collect();
        let is_outermost =
            |(start, end): &&(i64, i64)| !inside.iter().any(|(s, e)| s <= start && end <= e && (s, e) != (start, end));
        Some(until - from - inside.iter().filter(is_outermost).map(|(start, end)| end - start).sum::<i64>())
    };
    let found =
        rows.iter().map(|row| (row.time + zero, row.start + zero, row.cpu, row.kind, row.queued, row.exclusive));
    let plain = |span: &Span| (span.0, span.1, span.2, span.3, span.5, exclusive(span));
    let (found, expected) = (sorted(found.collect()), sorted(expected.iter().map(plain).collect()));
    assert!(expected.len() > 500, "{}", expected.len());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    for kind in [kinds::ISR, kinds::SOFTIRQ, kinds::WORK_ITEM, kinds::TIMER] {
        assert!(expected.iter().any(|span| span.3 == kind), "no row of kind {kind}");
    }
    let has_name = |row: &InterruptRow| matches!(row.kind, kinds::ISR | kinds::SOFTIRQ | kinds::TIMER | kinds::LOCAL);
    assert!(rows.iter().filter(|row| has_name(row)).all(|row| row.name.is_some()));
    let has_routine = |row: &InterruptRow| matches!(row.kind, kinds::WORK_ITEM | kinds::TIMER | kinds::TASKLET);
    assert!(rows.iter().filter(|row| has_routine(row)).all(|row| row.frame.is_some()));
    assert!(rows.iter().any(|row| row.queued.is_some_and(|queued| queued > 0)));
}
