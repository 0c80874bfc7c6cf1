//! Benchmarks: each measures a piece of work and its yardstick in turn, in one run, and prints the ratio.
//!
//!     cargo run --profile dist -p tracesift-benches -- all --dir /tmp/bench
//!
//! `perf-data`, `stacks`, `many`, `classes`, `code-classes` and `all-classes` run the program itself, which `cargo build --profile dist` builds; `TRACESIFT_PROGRAM` names another one,
//! such as that of packages (`packaging/build.sh`).
//!
//! Machines differ and are noisy, so ratios count, not seconds. Raw runs are kept in `benches/runs/`.

mod all_classes;
mod compare;
mod events;
mod extract;
mod framing;
mod long_spans;
mod many;
mod measure;
mod memory;
mod perf_data;
mod perf_memory;
mod perf_processes;
mod scale;
mod slices;
mod stacks;
mod stacks_archive;
mod symbols;
mod symbols_memory;
mod timeline;
mod view;
mod xpress;

use std::path::PathBuf;

use anyhow::{Context as _, bail};

/// Bytes of the scale recording that the benchmarks use.
const SCALE_BYTES: u64 = 1 << 30;

/// The allocator of the program, since the benchmarks run its libraries.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "all".to_owned());
    let mut directory = std::env::temp_dir().join("tracesift-benches");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dir" => directory = PathBuf::from(arguments.next().context("--dir takes a directory")?),
            "--file" => {
                // The memory benchmark starts this program anew for each extract.
                return memory::child(&PathBuf::from(arguments.next().context("--file takes a file")?));
            }
            "--store" => {
                // So does that of symbols.
                return symbols_memory::child(&PathBuf::from(arguments.next().context("--store takes a directory")?));
            }
            other => bail!("unknown argument {other}"),
        }
    }
    std::fs::create_dir_all(&directory)?;
    println!("tracesift {}, {}", env!("CARGO_PKG_VERSION"), measure::machine());
    let all = what == "all";
    let mut known = all;
    for (name, run) in [
        ("framing", framing::run as fn(&std::path::Path) -> anyhow::Result<()>),
        ("events", events::run),
        ("xpress", xpress::run),
        ("extract", extract::run),
        ("slices", slices::run),
        ("memory", memory::run),
        ("perf-data", perf_data::run),
        ("perf-memory", perf_memory::run),
        ("perf-processes", perf_processes::run),
        ("symbols", symbols::run),
        ("stacks", stacks::run),
        ("many", many::run),
        ("classes", many::run_classes),
        ("code-classes", many::run_code_classes),
        ("all-classes", all_classes::run),
        ("compare", compare::run),
        ("history", compare::run_history),
        ("long-spans", long_spans::run),
        ("timeline", timeline::run),
        ("view", view::run),
    ] {
        if all || what == name {
            known = true;
            println!("\n== {name}");
            run(&directory)?;
        }
    }
    if !known {
        bail!(
            "unknown benchmark {what}: framing, events, xpress, extract, slices, memory, perf-data, perf-memory, perf-processes, \
             symbols, stacks, many, classes, code-classes, all-classes, compare, long-spans, timeline, view or all"
        );
    }
    Ok(())
}
