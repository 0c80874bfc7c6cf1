//! Opens files and maps memory, and gives neither back.

use std::fs::File;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use memmap2::MmapMut;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Report, Usage, extra_cpu, on_stack, raise_descriptor_limit, run, told,
};

const USAGE: Usage = Usage {
    name: "leaker",
    problem: "Open files and mappings of memory are never given back: both grow until the process may have no more of them.",
    options: &[
        Opt { name: "descriptors", kind: Kind::Count(0), default: "2000", meaning: "open files that are kept" },
        Opt { name: "mappings", kind: Kind::Count(0), default: "1000", meaning: "mappings that are kept" },
        Opt { name: "size", kind: Kind::Size, default: "64K", meaning: "of each mapping" },
        Opt {
            name: "closed",
            kind: Kind::Count(0),
            default: "1000",
            meaning: "files that are opened and closed again, as it should be",
        },
        Opt { name: "seconds", kind: Kind::Time, default: "2", meaning: "how long, about: it sleeps in between" },
    ],
    keys: &[
        ("truth.opened", "files that were opened"),
        ("truth.closed", "of these, files that were closed again"),
        ("truth.leaked_descriptors", "files that are open at the end"),
        ("truth.leaked_mappings", "mappings that are there at the end"),
        ("truth.leaked_bytes", "bytes of these mappings"),
        (
            "truth.descriptors_at_end",
            "open files of the process at the end, with those that it began with; null where the system does not say",
        ),
    ],
    methods: &[
        Method { name: "leak_descriptor", parts: |arguments| Ok(arguments.number("descriptors")) },
        Method { name: "leak_mapping", parts: |arguments| Ok(arguments.number("mappings")) },
        Method { name: "open_and_close", parts: |arguments| Ok(arguments.number("closed")) },
    ],
    lock: None,
};

#[inline(never)]
fn leak_descriptor(kept: &mut Vec<File>) -> io::Result<()> {
    kept.push(File::open(std::env::current_exe()?)?);
    extra_cpu!("leak_descriptor");
    Ok(())
}

#[inline(never)]
fn leak_mapping(kept: &mut Vec<MmapMut>, size: usize) -> io::Result<()> {
    let mut memory = MmapMut::map_anon(size)?;
    memory[0] = 1;
    kept.push(memory);
    extra_cpu!("leak_mapping");
    Ok(())
}

#[inline(never)]
fn open_and_close() -> io::Result<()> {
    let closed = File::open(std::env::current_exe()?).map(drop);
    extra_cpu!("open_and_close");
    on_stack(closed)
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let [descriptors, mappings, closed] = ["descriptors", "mappings", "closed"].map(|name| arguments.number(name));
    let size = arguments.size("size");
    raise_descriptor_limit(descriptors + 100)?;
    let (mut files, mut memory, mut gone) = (Vec::new(), Vec::new(), 0_u64);
    let (told, leaked) = report.phase("leak", || {
        told("main", || -> io::Result<()> {
            const STEPS: u64 = 200;
            let pause = arguments.time("seconds") / STEPS as u32;
            for step in 1..=STEPS {
                // So many there are after this step.
                let due = |all: u64| all * step / STEPS;
                while (files.len() as u64) < due(descriptors) {
                    leak_descriptor(&mut files)?;
                }
                while (memory.len() as u64) < due(mappings) {
                    leak_mapping(&mut memory, size)?;
                }
                while gone < due(closed) {
                    open_and_close()?;
                    gone += 1;
                }
                std::thread::sleep(pause.max(Duration::from_micros(1)));
            }
            Ok(())
        })
    });
    leaked?;
    report.thread(&told, &[]);
    let at_end = std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count().saturating_sub(1));
    report.tell("opened", files.len() as u64 + gone);
    report.tell("closed", gone);
    report.tell("leaked_descriptors", files.len());
    report.tell("leaked_mappings", memory.len());
    report.tell("leaked_bytes", memory.len() * size);
    report.tell("descriptors_at_end", at_end);
    // The process ends with them.
    std::mem::forget((files, memory));
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
