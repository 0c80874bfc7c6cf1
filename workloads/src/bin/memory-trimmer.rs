//! Memory that is touched, trimmed, and touched again.

use std::io;
use std::process::ExitCode;

use memmap2::MmapMut;
use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Piece, Report, Usage, extra_cpu, measure, on_stack, page_faults, run, told, trim,
};

const USAGE: Usage = Usage {
    name: "memory-trimmer",
    problem: "A program gives its memory back to be a good neighbour, needs it again at once, and pays for each page a second time.",
    options: &[
        Opt { name: "size", kind: Kind::Size, default: "256M", meaning: "of the memory" },
        Opt {
            name: "rounds",
            kind: Kind::Count(1),
            default: "10",
            meaning: "how often it is mapped, touched, trimmed and touched again",
        },
    ],
    keys: &[
        ("truth.bytes", "bytes of the memory in each round"),
        ("truth.rounds", "how often"),
        ("truth.first_cpu_ns", "CPU time in `touch_first_time`: the pages come"),
        ("truth.first_page_faults", "page faults of the process meanwhile; null where the system does not say"),
        ("truth.resident_cpu_ns", "CPU time in `touch_resident`: they are there"),
        ("truth.resident_page_faults", "page faults meanwhile"),
        ("truth.trim_cpu_ns", "CPU time in `trim_memory`"),
        ("truth.again_cpu_ns", "CPU time in `touch_after_trim`: they come once more"),
        ("truth.again_page_faults", "page faults meanwhile"),
    ],
    methods: &[
        Method { name: "touch_first_time", parts: |arguments| Ok(arguments.number("rounds")) },
        Method { name: "touch_resident", parts: |arguments| Ok(arguments.number("rounds")) },
        Method { name: "trim_memory", parts: |arguments| Ok(arguments.number("rounds")) },
        Method { name: "touch_after_trim", parts: |arguments| Ok(arguments.number("rounds")) },
    ],
    lock: None,
};

/// Writes to each page, in the function that calls it: that is the one that stacks end in.
#[inline(always)]
fn touch(memory: &mut [u8], value: u8) {
    for byte in memory.iter_mut().step_by(4096) {
        *byte = value;
    }
}

#[inline(never)]
fn touch_first_time(memory: &mut [u8]) {
    touch(memory, std::hint::black_box(1));
    extra_cpu!("touch_first_time");
}

#[inline(never)]
fn touch_resident(memory: &mut [u8]) {
    touch(memory, std::hint::black_box(2));
    extra_cpu!("touch_resident");
}

#[inline(never)]
fn trim_memory(memory: &mut MmapMut) -> io::Result<()> {
    let trimmed = trim(memory);
    extra_cpu!("trim_memory");
    on_stack(trimmed)
}

#[inline(never)]
fn touch_after_trim(memory: &mut [u8]) {
    touch(memory, std::hint::black_box(3));
    extra_cpu!("touch_after_trim");
}

/// What a piece took, and its page faults.
#[derive(Default)]
struct Cost {
    piece: Piece,
    faults: Option<i64>,
}

impl Cost {
    fn of<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = page_faults();
        let (piece, result) = measure(work);
        let faults = page_faults().zip(before).map(|(after, before)| after - before);
        self.piece += piece;
        self.faults = faults.map(|faults| faults + self.faults.unwrap_or(0));
        result
    }
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (size, rounds) = (arguments.size("size"), arguments.number("rounds"));
    let [mut first, mut resident, mut trimmed, mut again] =
        [const { Cost { piece: Piece { elapsed: 0, cpu: 0 }, faults: None } }; 4];
    let (told, done) = told("main", || -> io::Result<()> {
        for _ in 0..rounds {
            let mut memory = MmapMut::map_anon(size)?;
            // So that a page is a page, however the machine is set up.
            #[cfg(target_os = "linux")]
            let _ = memory.advise(memmap2::Advice::NoHugePage);
            report.phase("first", || first.of(|| touch_first_time(&mut memory)));
            resident.of(|| touch_resident(&mut memory));
            report.phase("trim", || trimmed.of(|| trim_memory(&mut memory)))?;
            report.phase("again", || again.of(|| touch_after_trim(&mut memory)));
        }
        Ok(())
    });
    done?;
    report.thread(&told, &[]);
    report.tell("bytes", size);
    report.tell("rounds", rounds);
    for (name, cost) in [("first", first), ("resident", resident), ("trim", trimmed), ("again", again)] {
        report.tell(&format!("{name}_cpu_ns"), cost.piece.cpu);
        if name != "trim" {
            report.tell(&format!("{name}_page_faults"), cost.faults);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
