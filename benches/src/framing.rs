//! Framing: the merged iterator that extract itself uses, against summing the mapped file and against dissect.etl.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use tracesift_etl::{EtlFile, Merge, MergeOptions, Record};

use crate::measure::{RUNS, against, python, timed};
use crate::{SCALE_BYTES, scale};

/// Bytes of the recording for the reader in Python, which is slow.
const SMALL_BYTES: u64 = 1 << 20;

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let path = scale::recording(directory, SCALE_BYTES)?;
    let sum_of_file = || Ok(timed(|| sum(&path))?.1);
    let ours = || {
        let (count, time) = timed(|| walk(&path))?;
        anyhow::ensure!(count > 0, "no records");
        Ok(time)
    };
    against("framing 1 GiB", None, RUNS, ours, "sum of the mapped file", sum_of_file)?;
    let ours = || Ok(timed(|| read_a_field(&path))?.1);
    against("framing 1 GiB, a field of each record", Some(3.0), RUNS, ours, "sum of the mapped file", sum_of_file)?;

    let small = scale::recording(directory, SMALL_BYTES)?;
    let dissect = format!(
        "from dissect.etl import ETL\nn = 0\nfor record in ETL(open({:?}, 'rb')):\n    n += 1\n",
        small.display().to_string()
    );
    let python = python();
    if !Command::new(&python).args(["-c", "import dissect.etl"]).output()?.status.success() {
        return say(
            "dissect.etl is not installed (pip install dissect.etl; TRACESIFT_PYTHON names the interpreter): skipped",
        );
    }
    let theirs = || {
        let (output, time) = timed(|| Ok(Command::new(&python).args(["-c", &dissect]).output()?))?;
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(time)
    };
    against("framing 1 MiB", Some(0.01), 1, || Ok(timed(|| walk(&small))?.1), "dissect.etl", theirs)
}

/// Walks all records of a recording in order of time and counts them.
pub(crate) fn walk(path: &Path) -> anyhow::Result<u64> {
    let mut records = 0;
    each_record(path, |_| records += 1)?;
    Ok(records)
}

/// Walks all records and reads a field of each: until then a record is not in the cache.
fn read_a_field(path: &Path) -> anyhow::Result<u64> {
    let mut versions = 0;
    each_record(path, |record| versions += u64::from(record.version()))?;
    Ok(std::hint::black_box(versions))
}

#[inline]
fn each_record(path: &Path, mut visit: impl FnMut(&Record<'_>)) -> anyhow::Result<()> {
    let files = [EtlFile::open_path(path)?];
    let mut merge = Merge::new(&files, MergeOptions::default());
    while let Some(record) = merge.next() {
        visit(&record);
    }
    Ok(())
}

fn sum(path: &Path) -> anyhow::Result<u64> {
    let file = File::open(path)?;
    #[expect(unsafe_code, reason = "the yardstick is a mapped file; nobody changes it meanwhile")]
    let map = unsafe { memmap2::Mmap::map(&file)? };
    let sum = map.as_chunks::<8>().0.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    Ok(std::hint::black_box(sum))
}

#[expect(clippy::print_stdout, clippy::unnecessary_wraps, reason = "a benchmark's output is its result")]
fn say(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
