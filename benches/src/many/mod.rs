//! Questions over 600 archives against DuckDB answering the same from the same Parquet files: the same rows, which is verified, in the
//! same columns, both with two threads, everything in the page cache.
//!
//! Ours is the whole program, from its start to the last byte of its table. Of DuckDB there are two figures: the query alone over a
//! connection that has answered it before, which is the yardstick, and a process that starts, answers and writes CSV.
//!
//! The archives take some GB in the benchmarks' directory and are kept there from run to run. DuckDB is the Python package
//! (`pip install duckdb`); `TRACESIFT_PYTHON` names the interpreter that has it.

mod archives;
mod duckdb;
mod names;
mod rows;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

use self::duckdb::DuckDb;
use crate::measure::{self, against, timed};

/// Threads of each.
const THREADS: &str = "2";
/// Counted rounds.
const RUNS: usize = 15;

/// A question in both languages.
struct Question {
    name: &'static str,
    /// Arguments behind `dump cpu`.
    arguments: &'static [&'static str],
    /// The columns that the table shows, as machine formats name them: those of the query, in its order.
    columns: &'static str,
    query: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question {
        name: "dump cpu --top 10",
        arguments: &["--top", "10"],
        columns: "file;process;pid;start_ns;end_ns;cpu_ns;samples;cores_used;priority;command_line",
        query: include_str!("processes.sql"),
    },
    Question {
        name: "dump cpu --methods '*StreamWriter.Flush*'",
        arguments: &["--methods", "*StreamWriter.Flush*"],
        columns: "file;process;pid;start_ns;end_ns;cpu_ns;exclusive_cpu_ns;wait_ns;ready_ns;module;method;command_line",
        query: include_str!("methods.sql"),
    },
    Question {
        name: "dump cpu --stacktags '*Defender*'",
        arguments: &["--stacktags", "*Defender*"],
        columns: "file;process;pid;start_ns;end_ns;cpu_ns;exclusive_cpu_ns;wait_ns;ready_ns;stack_tag;command_line",
        query: include_str!("tags.sql"),
    },
];

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let python = measure::python();
    if !duckdb::is_there(&python) {
        return say("DuckDB is not installed (pip install duckdb; TRACESIFT_PYTHON names the interpreter): skipped");
    }
    let directory = directory.join("many");
    std::fs::create_dir_all(&directory)?;
    let archives = archives::directory(&directory)?;
    say(&format!("{} archives, {} MiB", archives::ARCHIVES, size(&archives)? >> 20))?;
    for question in &QUESTIONS {
        compare(question, &directory, &archives, &python)?;
    }
    Ok(())
}

fn compare(question: &Question, directory: &Path, archives: &Path, python: &str) -> anyhow::Result<()> {
    let query = directory.join("query.sql");
    let path = archives.to_str().context("the directory's name is no text")?;
    let text = question.query.replace("{archives}", &path.replace('\'', "''"));
    std::fs::write(&query, text.replace("{like}", "%StreamWriter.Flush%"))?;

    let (ours, theirs) = (directory.join("ours.csv"), directory.join("theirs.csv"));
    let mut duckdb = DuckDb::start(python, THREADS, &query)?;
    duckdb.write(&theirs)?;
    whole(program(question, archives)?.args(["--columns", question.columns, "--csv"]).arg(&ours))?;
    let rows =
        rows::same(&ours, &theirs, archives).with_context(|| format!("{} differs from DuckDB", question.name))?;
    say(&format!("{}: {rows} rows, the same as DuckDB {}", question.name, duckdb.version()?))?;

    let ours = || whole(&mut program(question, archives)?);
    against(question.name, Some(1.0), RUNS, ours, "DuckDB, query alone", || duckdb.answer())?;
    against(question.name, Some(1.0), RUNS, ours, "DuckDB, process", || {
        Ok(timed(|| DuckDb::start(python, THREADS, &query)?.write(&theirs))?.1)
    })
}

fn program(question: &Question, archives: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(measure::program()?);
    command
        .args(["dump", "cpu"])
        .args(question.arguments)
        .arg("-f")
        .arg(archives.join("*"))
        .env("RAYON_NUM_THREADS", THREADS);
    Ok(command)
}

/// The time of a process whose output goes nowhere.
fn whole(command: &mut Command) -> anyhow::Result<Duration> {
    let run = || Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?);
    let (output, time) = timed(run).context("cargo build --release builds the program")?;
    anyhow::ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(time)
}

/// Bytes of the files in the directories of a directory.
fn size(directory: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for archive in std::fs::read_dir(directory)? {
        for file in std::fs::read_dir(archive?.path())? {
            bytes += file?.metadata()?.len();
        }
    }
    Ok(bytes)
}

#[expect(clippy::print_stdout, clippy::unnecessary_wraps, reason = "a benchmark's output is its result")]
fn say(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
