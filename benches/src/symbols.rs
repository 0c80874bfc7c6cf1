//! Names for a million addresses of a large PDB against `llvm-symbolizer`, which reads the same addresses from its input.
//!
//! The program is generated, compiled by clang and linked by lld-link at the first run, which takes a minute or two.

#[path = "../../crates/symbols/tests/common/generated.rs"]
mod generated;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tracesift_symbols::Table;
use tracesift_symbols::pdb::Pdb;

use crate::measure::against;

/// Addresses that are looked up.
const ADDRESSES: usize = 1_000_000;
/// The yardstick takes minutes.
const RUNS: usize = 1;

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let directory = directory.join("symbols");
    fs::create_dir_all(&directory)?;
    let image = directory.join("program.exe");
    let pdb = image.with_extension("pdb");
    if !pdb.exists() {
        generated::make(&directory, generated::BIG).context("clang and lld-link are needed")?;
    }
    let size = pdb.metadata()?.len();
    if size < 50_000_000 {
        bail!("the PDB has {size} bytes only");
    }
    let table = Pdb::read(File::open(&pdb)?, None)?.table("")?;
    println!("PDB: {size} bytes; {table:?}");
    let addresses = addresses(&table);
    let list = directory.join("addresses");
    let mut text = std::io::BufWriter::new(File::create(&list)?);
    for address in &addresses {
        writeln!(text, "{address:#x}")?;
    }
    text.into_inner()?.sync_all()?;
    let stored = directory.join("table");
    fs::write(&stored, table.bytes())?;
    drop(table);
    let yardstick = || symbolizer(&image, &list);
    let parse = || -> anyhow::Result<Duration> {
        let start = Instant::now();
        black_box(Pdb::read(File::open(&pdb)?, None)?.table("")?);
        Ok(start.elapsed())
    };
    against("first parse", Some(1.0 / 5.0), RUNS, parse, "llvm-symbolizer, 1 M addresses", yardstick)?;
    let look_up = || -> anyhow::Result<Duration> {
        let start = Instant::now();
        let table = open(&stored)?;
        for address in &addresses {
            table.frames(*address).for_each(|frame| {
                black_box(frame);
            });
        }
        Ok(start.elapsed())
    };
    against("1 M look-ups, table from a file", Some(1.0 / 20.0), RUNS, look_up, "llvm-symbolizer", yardstick)
}

fn open(path: &Path) -> anyhow::Result<Table> {
    Ok(Table::open(fs::read(path)?.into())?)
}

/// Random addresses from the first function to the last, the same ones every time.
fn addresses(table: &Table) -> Vec<u64> {
    let mut stretches = table.stretches().map(|(start, _)| start);
    let first = stretches.next().unwrap_or(0);
    let last = stretches.last().unwrap_or(first + 1);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        first + (state >> 33) % (last - first)
    };
    (0..ADDRESSES).map(|_| next()).collect()
}

/// Time of `llvm-symbolizer`, with what it prints for each frame.
fn symbolizer(image: &Path, addresses: &Path) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let status = Command::new("llvm-symbolizer")
        .args(["--relative-address", "--functions=short", "--inlining", "--obj"])
        .arg(image)
        .stdin(File::open(addresses)?)
        .stdout(Stdio::null())
        .status()
        .context("llvm-symbolizer is needed")?;
    if !status.success() {
        bail!("llvm-symbolizer failed");
    }
    Ok(start.elapsed())
}
