//! Allocates much: many small pieces, and few large ones.

use std::collections::VecDeque;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;

use tracesift_workloads::{Arguments, Kind, Method, Opt, Report, Usage, extra_cpu, measure, page_faults, run, told};

const USAGE: Usage = Usage {
    name: "allocator",
    problem: "Memory is asked for and given back all the time: many small pieces keep the allocator busy, \
              large ones the system, which has to map and clear each page anew.",
    options: &[
        Opt {
            name: "small",
            kind: Kind::Count(1),
            default: "30000000",
            meaning: "how many small ones, of 16 to 271 bytes",
        },
        Opt { name: "live", kind: Kind::Count(1), default: "10000", meaning: "small ones that are in use at a time" },
        Opt { name: "large", kind: Kind::Count(1), default: "32", meaning: "how many large ones" },
        Opt { name: "large-size", kind: Kind::Size, default: "64M", meaning: "of each large one" },
    ],
    keys: &[
        ("truth.small", "small allocations"),
        ("truth.small_bytes", "their bytes"),
        ("truth.small_cpu_ns", "CPU time in `allocate_many_small`"),
        ("truth.small_page_faults", "page faults of the process meanwhile; null where the system does not say"),
        ("truth.large", "large allocations"),
        ("truth.large_bytes", "their bytes"),
        ("truth.large_cpu_ns", "CPU time in `allocate_many_large`"),
        ("truth.large_page_faults", "page faults of the process meanwhile"),
    ],
    methods: &[
        Method { name: "allocate_many_small", parts: |_| Ok(1) },
        Method { name: "allocate_many_large", parts: |arguments| Ok(arguments.number("large")) },
    ],
    lock: None,
};

/// Gives the oldest piece back for each new one. How many bytes there were.
#[inline(never)]
fn allocate_many_small(count: u64, live: usize) -> u64 {
    let mut pieces: VecDeque<Vec<u8>> = VecDeque::with_capacity(live);
    let mut bytes = 0;
    for number in 0..count {
        if pieces.len() == live {
            pieces.pop_front();
        }
        // Sizes in no order, the same in each run.
        let size = 16 + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56);
        let mut piece = Vec::with_capacity(size as usize);
        piece.push(black_box(number as u8));
        pieces.push_back(black_box(piece));
        bytes += size;
    }
    extra_cpu!("allocate_many_small");
    bytes
}

/// Writes to each page of each piece, and gives it back at once.
#[inline(never)]
fn allocate_many_large(count: u64, size: usize) -> u64 {
    let mut bytes = 0;
    for number in 0..count {
        let mut piece: Vec<u8> = Vec::with_capacity(size);
        for page in piece.spare_capacity_mut().iter_mut().step_by(4096) {
            page.write(number as u8);
        }
        bytes += black_box(piece).capacity() as u64;
        extra_cpu!("allocate_many_large");
    }
    bytes
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let faults_since = |before: Option<i64>| page_faults().zip(before).map(|(after, before)| after - before);
    let (told, ()) = told("main", || {
        let (small, before) = (arguments.number("small"), page_faults());
        let live = arguments.size("live");
        let (piece, bytes) = report.phase("small", || measure(|| allocate_many_small(small, live)));
        report.tell("small", small);
        report.tell("small_bytes", bytes);
        report.tell("small_cpu_ns", piece.cpu);
        report.tell("small_page_faults", faults_since(before));

        let (large, before) = (arguments.number("large"), page_faults());
        let size = arguments.size("large-size");
        let (piece, bytes) = report.phase("large", || measure(|| allocate_many_large(large, size)));
        report.tell("large", large);
        report.tell("large_bytes", bytes);
        report.tell("large_cpu_ns", piece.cpu);
        report.tell("large_page_faults", faults_since(before));
    });
    report.thread(&told, &[]);
    Ok(())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
