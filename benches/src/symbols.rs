//! Names for the addresses of a large PDB against `llvm-symbolizer`, which reads the same addresses from its input; and the memory that many
//! such PDBs take.
//!
//! The program is generated, compiled by clang and linked by lld-link at the first run, which takes a minute or two. As
//! `llvm-symbolizer` takes some two milliseconds per address, ratios are those of a tenth of the addresses, the same ones for both; what all
//! of them take us stands beside.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tracesift_fixtures::windows_program;
use tracesift_symbols::cache::Cache;
use tracesift_symbols::pdb::Pdb;
use tracesift_symbols::search::{Identity, Key, Source};
use tracesift_symbols::{PdbId, Table};

use crate::measure::{against, timed};
use crate::symbols_memory;

/// Addresses that are looked up.
const ADDRESSES: usize = 1_000_000;
/// As many of them as the yardstick gets.
const SHARED: usize = ADDRESSES / 10;
/// The yardstick takes minutes.
const RUNS: usize = 1;

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let directory = directory.join("symbols");
    fs::create_dir_all(&directory)?;
    let image = directory.join("program.exe");
    let pdb = image.with_extension("pdb");
    if !pdb.exists() {
        windows_program::make(&directory, windows_program::BIG).context("clang and lld-link are needed")?;
    }
    let size = pdb.metadata()?.len();
    if size < 50_000_000 {
        bail!("the PDB has {size} bytes only");
    }
    let id = id_of(&pdb)?;
    let cache = Cache::new(directory.join("cache"));
    let key = Key::new(&Identity::Pdb(id.clone()), Source::Pdb).context("a name")?;
    let table = parse(&pdb)?;
    println!("PDB of {size} bytes, table of {}", table.bytes().len());
    cache.put(&key, &table)?;
    let addresses = addresses(&table);
    drop(table);
    let shared = directory.join("addresses");
    write(&shared, &addresses[..SHARED])?;
    let one = directory.join("address");
    write(&one, &addresses[..1])?;

    // Each yardstick runs once and serves both ratios, which it would otherwise double the time of.
    let yardstick = symbolizer(&image, &shared)?;
    let first = || -> anyhow::Result<Duration> {
        let (table, time) = timed(|| parse(&pdb))?;
        Ok(time + look_up(&table, &addresses[..SHARED]))
    };
    let name = format!("llvm-symbolizer, {SHARED} addresses");
    against("first parse and look-ups", Some(1.0 / 5.0), RUNS, first, &name, || Ok(yardstick))?;
    let cached = |addresses: &[u64]| -> anyhow::Result<Duration> {
        let (table, time) = timed(|| cache.get(&key).context("it is there"))?;
        Ok(time + look_up(&table, addresses))
    };
    against(
        "look-ups through the cache",
        Some(1.0 / 20.0),
        RUNS,
        || cached(&addresses[..SHARED]),
        &name,
        || Ok(yardstick),
    )?;
    println!("{ADDRESSES} look-ups through the cache: {:.3} s", cached(&addresses)?.as_secs_f64());
    println!(
        "for scale: first parse {:.3} s; llvm-symbolizer, which reads what an address needs, for a single one {:.3} s",
        timed(|| parse(&pdb))?.1.as_secs_f64(),
        symbolizer(&image, &one)?.as_secs_f64()
    );
    symbols_memory::compare(&directory, &pdb, &id)
}

fn parse(pdb: &Path) -> anyhow::Result<Table> {
    Ok(Pdb::read(File::open(pdb)?, None)?.table("")?)
}

fn id_of(pdb: &Path) -> anyhow::Result<PdbId> {
    let read = Pdb::read(File::open(pdb)?, None)?;
    let name = pdb.file_name().context("a name")?.to_string_lossy().into_owned();
    Ok(PdbId { name, guid: read.guid(), age: read.age() })
}

fn look_up(table: &Table, addresses: &[u64]) -> Duration {
    let start = Instant::now();
    for address in addresses {
        table.frames(*address).for_each(|frame| {
            black_box(frame);
        });
    }
    start.elapsed()
}

/// Random addresses from the first function to the last, the same ones every time.
fn addresses(table: &Table) -> Vec<u64> {
    let mut stretches = table.code_ranges().map(|(start, _)| start);
    let first = stretches.next().unwrap_or(0);
    let last = stretches.last().unwrap_or(first + 1);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        first + (state >> 33) % (last - first)
    };
    (0..ADDRESSES).map(|_| next()).collect()
}

fn write(path: &Path, addresses: &[u64]) -> anyhow::Result<()> {
    let mut text = std::io::BufWriter::new(File::create(path)?);
    for address in addresses {
        writeln!(text, "{address:#x}")?;
    }
    text.into_inner()?.sync_all()?;
    Ok(())
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
