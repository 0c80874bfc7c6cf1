//! Stack tags by a file that was never used before, and the flame graph, of an archive with two million samples; against DuckDB, which counts the
//! samples per stack and joins the frames from the same files. All are whole processes; of DuckDB the time inside of it is told, too.
//!
//! `TRACESIFT_PYTHON` names a Python with the package `duckdb`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::measure::{Spread, program, python, spread, timed};
use crate::stacks_archive::{SAMPLES, STACKS, archive};

/// Counted rounds, after one that is not.
const ROUNDS: usize = 7;
/// Largest flame graph.
const SVG_BYTES: u64 = 2 << 20;

/// What a round measures, in seconds.
#[derive(Default)]
struct Times {
    tags: Vec<f64>,
    flame: Vec<f64>,
    /// DuckDB: inside of its process, and the whole process.
    frames: (Vec<f64>, Vec<f64>),
    names: (Vec<f64>, Vec<f64>),
    folded: (Vec<f64>, Vec<f64>),
}

#[expect(clippy::print_stdout, reason = "a benchmark's output is its result")]
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let archive = archive(directory)?;
    println!("archive of {SAMPLES} samples and {STACKS} stacks, in {} bytes", size(&archive)?);
    let python = python();
    let script = directory.join("count-stacks.py");
    std::fs::write(&script, include_str!("../count-stacks.py"))?;
    let version = Command::new(&python).args(["-c", "import duckdb; print(duckdb.__version__)"]).output();
    let duckdb = version.ok().filter(|output| output.status.success());
    match &duckdb {
        Some(output) => println!("DuckDB {}", String::from_utf8_lossy(&output.stdout).trim()),
        None => println!("{python} has no DuckDB (TRACESIFT_PYTHON names one that has): no yardstick"),
    }

    let program = program()?;
    let (tag_file, svg) = (directory.join("new.stacktags"), directory.join("stacks.svg"));
    // What an earlier run of this kept would serve as well.
    let cache = directory.join("stacks-cache");
    let _ = std::fs::remove_dir_all(&cache);
    let tags = |round: usize| -> anyhow::Result<f64> {
        std::fs::write(&tag_file, tag_file_of(round))?;
        let mut dump = Command::new(&program);
        dump.env("XDG_CACHE_HOME", &cache).env("LOCALAPPDATA", &cache);
        dump.args(["dump", "cpu", "--stacktags", "*", "--tag-file"]).arg(&tag_file).arg(&archive);
        whole(&mut dump).map(|(time, _)| time)
    };
    let flame = || whole(Command::new(&program).arg("flame").arg(&archive).arg("-o").arg(&svg)).map(|(time, _)| time);
    let query = |kind: &str, (inside, outside): &mut (Vec<f64>, Vec<f64>)| -> anyhow::Result<()> {
        if duckdb.is_some() {
            let (time, said) = whole(Command::new(&python).arg(&script).arg(kind).arg(&archive))?;
            outside.push(time);
            inside.push(said.split(' ').next().and_then(|text| text.parse().ok()).context("seconds")?);
        }
        Ok(())
    };
    let mut times = Times::default();
    for round in 0..=ROUNDS {
        if round == 1 {
            times = Times::default();
        }
        times.tags.push(tags(round)?);
        query("frames", &mut times.frames)?;
        times.flame.push(flame()?);
        query("names", &mut times.names)?;
        query("folded", &mut times.folded)?;
    }

    let file = |times: &[f64]| spread(times.to_vec());
    println!("first use of a tag file: {} s per archive; flame graph: {} s", file(&times.tags), file(&times.flame));
    for (what, (inside, outside)) in [
        ("samples per stack, frames joined", &times.frames),
        ("the same with names", &times.names),
        ("a line of names per stack", &times.folded),
    ] {
        if inside.is_empty() {
            continue;
        }
        println!("DuckDB, {what}: {} s inside of its process, {} s with it", file(inside), file(outside));
        for (ours, our_times) in [("tags", &times.tags), ("flame graph", &times.flame)] {
            let budget = if std::ptr::eq(inside, &raw const times.frames.0) { ", budget 1" } else { "" };
            let (in_process, of_process) = (ratio(our_times, inside), ratio(our_times, outside));
            println!("  ratio {ours}: {in_process}, to the whole process {of_process}{budget}");
        }
    }
    println!("SVG: {} bytes, budget {SVG_BYTES}", std::fs::metadata(&svg)?.len());
    Ok(())
}

/// A tag file as people write them, with a tag of its own for each round, so that nothing that was kept of another one serves.
fn tag_file_of(round: usize) -> String {
    let mut text = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Tag Name=\"Round {round}\">\n");
    for tag in 0..60 {
        text.push_str(&format!("<Tag Name=\"Part {tag}\" Priority=\"{}\">\n", tag % 7));
        text.push_str(&format!("<Entrypoint Module=\"Company.Product.Part{tag}.dll\" Method=\"*Worker1*\"/>\n"));
        text.push_str(&format!("<Entrypoint Module=\"*\" Method=\"*HandleRequest{tag}7*\"/>\n"));
        text.push_str(&format!("<Entrypoint Module=\"driver{tag}.sys\" Method=\"*\"/>\n</Tag>\n"));
    }
    text.push_str("</Tag>\n");
    text
}

fn ratio(ours: &[f64], theirs: &[f64]) -> Spread {
    spread(ours.iter().zip(theirs).map(|(our, their)| our / their).collect())
}

fn size(archive: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for file in std::fs::read_dir(archive)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}

/// Seconds that a process takes, and what it prints.
fn whole(command: &mut Command) -> anyhow::Result<(f64, String)> {
    let (output, time) = timed(|| Ok(command.stdin(Stdio::null()).output()?))
        .with_context(|| format!("{command:?} (cargo build --profile dist builds it)"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command:?}: {}: {said}", output.status);
    Ok((time.as_secs_f64(), String::from_utf8_lossy(&output.stdout).into_owned()))
}
