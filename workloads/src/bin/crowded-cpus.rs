//! More threads than CPUs, at several priorities.

use std::io;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread::scope;
use std::time::{Duration, Instant};

use serde_json::json;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Priority, Report, Usage, extra_cpu, run, set_priority, spin, thread,
};

const USAGE: Usage = Usage {
    name: "crowded-cpus",
    problem: "More threads want to run than there are CPUs: they are ready and get none, those of low priority most of all.",
    options: &[
        Opt {
            name: "threads",
            kind: Kind::Count(0),
            default: "0",
            meaning: "at each of the three priorities; 0: one per CPU",
        },
        Opt { name: "seconds", kind: Kind::Time, default: "3", meaning: "how long" },
    ],
    keys: &[
        ("threads[].priority", "normal, low or lower: nice 0, 3, 6; on Windows 0, -1 and -2 relative to the process"),
        ("truth.cpu_ns", "CPU time of all threads"),
        (
            "truth.ready_ns",
            "how long they could have run and had no CPU, summed over the threads; null where the system does not say",
        ),
        ("truth.cpus", "CPUs that the process may use"),
    ],
    methods: &[Method {
        name: "spin_until",
        parts: |arguments| {
            let each = each_priority(arguments).map_err(|error| error.to_string())?;
            Ok((each * Priority::ALL.len()) as u64)
        },
    }],
    lock: None,
};

/// Threads at each priority.
fn each_priority(arguments: &Arguments) -> io::Result<usize> {
    match arguments.size("threads") {
        0 => Ok(std::thread::available_parallelism()?.get()),
        threads => Ok(threads),
    }
}

#[inline(never)]
fn spin_until(end: Instant) {
    while Instant::now() < end {
        spin!(Duration::from_micros(500));
    }
    extra_cpu!("spin_until");
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (cpus, each) = (std::thread::available_parallelism()?.get(), each_priority(arguments)?);
    let all = Barrier::new(each * Priority::ALL.len());
    let told = report.phase("crowd", || {
        let end = Instant::now() + arguments.time("seconds");
        scope(|scope| {
            let all = &all;
            let mut threads = Vec::new();
            for priority in Priority::ALL {
                for number in 0..each {
                    let body = move || {
                        let set = set_priority(priority);
                        all.wait();
                        spin_until(end);
                        set
                    };
                    threads.push((priority, thread(scope, format!("{}-{number}", priority.name()), body)?));
                }
            }
            let panicked = |_| io::Error::other("a thread panicked");
            let join = |(priority, thread): (_, std::thread::ScopedJoinHandle<'_, _>)| {
                let (told, set): (_, io::Result<()>) = thread.join().map_err(panicked)?;
                set.map(|()| (priority, told))
            };
            threads.into_iter().map(join).collect::<io::Result<Vec<(Priority, tracesift_workloads::ThreadTold)>>>()
        })
    })?;
    for (priority, told) in &told {
        report.thread(told, &[("priority", json!(priority.name()))]);
    }
    report.tell("cpu_ns", told.iter().map(|(_, told)| told.cpu()).sum::<i64>());
    report.tell("ready_ns", told.iter().map(|(_, told)| told.ready()).sum::<Option<i64>>());
    report.tell("cpus", cpus);
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
