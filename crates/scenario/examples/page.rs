//! Writes recordings that the tests of the page look at, and what is true of them, as `known.json`:
//!
//!     cargo run -p tracesift-scenario --example page -- DIRECTORY

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracesift_etl::write::PointerSize;
use tracesift_scenario::causal::workload::Workload;
use tracesift_scenario::causal::{self, Noise};
use tracesift_scenario::{
    Code, DiskIo, Event, Knobs, Machine, ManagedModule, Method, MethodOrigin, OffCause, OffSpan, Process, Record,
    Recording, Sample, Scenario, Switch, Thread, Truth, Walk,
};

/// Names that are no names: an element with a script, marks that turn the direction of writing, other controls, quotes of shells.
const HOSTILE: [&str; 4] = [
    "<img src=x onerror=alert(1)>",
    "\u{202e}exe.cod\u{202c}\u{200f}",
    "\u{1b}[2J\u{7}<script>alert(2)</script>",
    "$(touch /tmp/x)`id`\"';&|%PATH%",
];

/// What long names consist of.
const LONG_PART: &str = "<b>\u{202e}x";

/// Ticks of a microsecond.
const MICROSECOND: i64 = 10;
const SECOND: i64 = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).map(PathBuf::from).ok_or("arguments: DIRECTORY")?;
    std::fs::create_dir_all(&directory)?;
    let knobs = Knobs {
        duration_ms: 2_000,
        preemption: true,
        mean_run_micros: 3_000,
        mean_wait_micros: 9_000,
        ..Knobs::default()
    };
    let known = Scenario::random(7, &knobs);
    write(&known, &directory, "known")?;
    std::fs::write(directory.join("known.json"), truth(&known.truth())?)?;
    write(&rare(), &directory, "rare")?;
    write(&hostile(), &directory, "hostile")?;
    history(&directory.join("history"))
}

/// Recordings of 20 runs of a test: from the eleventh on, `Program.prepare` takes 12 ms longer. The fourth run has a checkpoint.
fn history(directory: &Path) -> Result<(), Box<dyn Error>> {
    const MS: i64 = 1_000_000;
    std::fs::create_dir_all(directory)?;
    for number in 0..20_usize {
        let longer = [if number >= 10 { 12 * MS } else { 0 }, if number == 3 { 60 * MS } else { 0 }];
        let workload = Workload {
            items: 4,
            prepare: 60 * MS + longer[0],
            report: 30 * MS + longer[1],
            pauses: (1, 5 * MS),
            ..Workload::default()
        };
        let noise = Noise { step_cv_ppm: 10_000, ..Noise::default() };
        let run = causal::run(workload.world(), &noise, 1 + number as u64);
        let name = causal::pairs::file_stem(&run, "Case", number);
        for part in causal::etl::scenario(&run, MS).parts()? {
            std::fs::write(directory.join(format!("{name}{}", part.suffix)), &part.bytes)?;
        }
    }
    Ok(())
}

fn write(scenario: &Scenario, directory: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    std::fs::write(directory.join(format!("{name}.etl")), scenario.bytes()?)?;
    Ok(())
}

/// The states of each thread, as JSON: those of which the states add up to what is true of the thread.
fn truth(truth: &Truth) -> Result<String, std::fmt::Error> {
    let mut pieces: Vec<Vec<(&str, i64, i64)>> = vec![Vec::new(); truth.threads.len()];
    for (place, switch) in truth.switches.iter().enumerate() {
        let next = truth.switches[place + 1..].iter().find(|next| next.cpu == switch.cpu);
        pieces[switch.thread].push(("run", switch.time, next.map_or(truth.end, |next| next.time)));
        pieces[switch.thread].extend(off(&switch.off));
    }
    let mut text = String::new();
    for (thread, pieces) in truth.threads.iter().zip(&mut pieces) {
        pieces.extend(thread.closing.iter().flat_map(off));
        pieces.sort_by_key(|(_, from, _)| *from);
        let sum =
            |state: &str| pieces.iter().filter(|(of, ..)| *of == state).map(|(_, from, to)| to - from).sum::<i64>();
        let known = [
            ("run", thread.run),
            ("wait", thread.wait),
            ("ready", thread.ready),
            ("open", thread.open),
            ("unknown", thread.unknown),
        ];
        if thread.idle_cpu.is_some() || known.iter().any(|(state, figure)| sum(state) != *figure) {
            continue;
        }
        let spans: Vec<String> = pieces.iter().map(|(state, from, to)| format!("[\"{state}\",{from},{to}]")).collect();
        let pid = truth.processes[thread.process].pid;
        write!(
            text,
            "{}{{\"pid\":{pid},\"tid\":{},\"spans\":[{}]}}",
            if text.is_empty() { "" } else { ",\n" },
            thread.tid,
            spans.join(",")
        )?;
    }
    Ok(format!("{{\"end\":{},\"threads\":[\n{text}\n]}}\n", truth.end))
}

fn off(span: &OffSpan) -> Vec<(&'static str, i64, i64)> {
    let ready = span.ready_from.unwrap_or(span.to);
    let first = match span.cause {
        OffCause::Open => "open",
        OffCause::Blocked => "wait",
        OffCause::Preempted => "ready",
        OffCause::Unknown => return vec![("unknown", span.from, span.to)],
    };
    vec![(first, span.from, ready), ("ready", ready, span.to)]
}

fn process(pid: u32, name: &str, command_line: &str) -> Process {
    Process {
        pid,
        parent_pid: 4,
        name: name.to_owned(),
        command_line: command_line.to_owned(),
        session: 1,
        user: vec![21, 1, 2, 3, 1001],
        images: Vec::new(),
        start: None,
        end: None,
        exit_code: 0,
    }
}

fn thread(process: usize, tid: u32, name: &str) -> Thread {
    Thread { process, tid, name: name.to_owned(), base_priority: 8, service_tag: 0, start: None, end: None }
}

fn switch(old: usize, new: usize) -> Switch {
    Switch {
        old,
        new,
        old_state: if old == 0 { 2 } else { 5 },
        wait_reason: 6,
        user_mode_wait: true,
        new_priority: 8,
        old_priority: 8,
        previous_c_state: 0,
        walk: None,
        counters: Vec::new(),
    }
}

/// A thread runs for 50 µs in a minute, others every 100 ms.
fn rare() -> Scenario {
    let mut machine = Machine::new(1, SECOND, PointerSize::Eight);
    machine.processes.extend([process(40, "Often.exe", "Often.exe"), process(44, "Rare.exe", "Rare.exe")]);
    machine.threads.extend([thread(1, 41, "often"), thread(2, 45, "rare")]);
    let zero = machine.zero_ticks;
    let mut records = Vec::new();
    let mut run = |thread: usize, from: i64, length: i64| {
        for (ticks, old, new) in [(from, 0, thread), (from + length, thread, 0)] {
            records.push(Record { ticks: zero + ticks, cpu: 0, event: Event::Switch(switch(old, new)) });
        }
    };
    for at in 0..600 {
        run(1, at * SECOND / 10 + 7, 3_000 * MICROSECOND);
    }
    run(2, 31 * SECOND + 50_000 * MICROSECOND, 50 * MICROSECOND);
    records.sort_by_key(|record| record.ticks);
    Scenario { recording: Recording::new(zero + 60 * SECOND), machine, records }
}

/// Processes, threads, methods and files with hostile names, and a machine with one.
fn hostile_machine(long: &str) -> (Machine, Recording) {
    let mut machine = Machine::new(2, SECOND, PointerSize::Eight);
    machine.name = HOSTILE[0].to_owned();
    machine.managed_modules.push(ManagedModule {
        name: HOSTILE[0].to_owned(),
        path: format!("C:\\{}", HOSTILE[0]),
        id: 1,
    });
    let mut recording = Recording::new(machine.zero_ticks + 2 * SECOND);
    for (place, name) in HOSTILE.iter().enumerate() {
        let (id, index) = (place as u32, place + 1);
        machine.processes.push(process(100 + 10 * id, name, if place == 0 { long } else { name }));
        machine.threads.push(thread(index, 101 + 10 * id, name));
        machine.methods.push(Method {
            process: index,
            module: 0,
            namespace: (*name).to_owned(),
            name: if place == 1 { LONG_PART.repeat(1_200) } else { (*name).to_owned() },
            signature: (*name).to_owned(),
            start: 0x7ff0_0000_0000 + 0x1000 * u64::from(id),
            size: 0x100,
            origin: MethodOrigin::Rundown,
        });
        recording.files.push(format!("\\Device\\HarddiskVolume1\\{name}"));
    }
    (machine, recording)
}

/// Every name that a recording can hold is hostile.
fn hostile() -> Scenario {
    let long = LONG_PART.repeat(6_000);
    let (mut machine, recording) = hostile_machine(&long);
    let mut records = Vec::new();
    let zero = machine.zero_ticks;
    let functions: Vec<_> = (0..HOSTILE.len()).map(|method| machine.add_function(Code::Managed { method })).collect();
    let stacks: Vec<_> = functions.iter().map(|function| machine.stack_id(&[*function, functions[0]])).collect();
    for turn in 0..400 {
        let (from, place) = (zero + turn * 50_000, (turn % 4) as usize);
        let runs = place + usize::from(machine.cpus);
        let walk =
            |ticks: i64| Some(Walk { kernel: None, user: Some(stacks[place]), user_ticks: ticks + 5, user_cpu: 0 });
        let mut at = |ticks: i64, event: Event| records.push(Record { ticks, cpu: 0, event });
        at(from + 100, Event::Switch(Switch { walk: walk(from + 100), ..switch(0, runs) }));
        let sample = Sample {
            thread: runs,
            function: functions[place],
            priority: 8,
            count: 1,
            in_dpc: false,
            in_isr: false,
            walk: walk(from + 10_000),
        };
        at(from + 10_000, Event::Sample(sample));
        if turn % 40 < 4 {
            at(
                from + 15_000,
                Event::Mark { thread: runs, text: if turn == 0 { long.clone() } else { HOSTILE[place].to_owned() } },
            );
            let start = from + 12_000;
            at(
                from + 20_000,
                Event::Disk(DiskIo {
                    thread: runs,
                    write: true,
                    start,
                    start_cpu: 0,
                    file: place,
                    offset: 4_096,
                    size: 512,
                }),
            );
        }
        at(from + 30_000, Event::Switch(switch(runs, 0)));
    }
    Scenario { machine, records, recording }
}
