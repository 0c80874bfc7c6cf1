//! Questions over 600 archives (`TRACESIFT_ARCHIVES`: another number; `TRACESIFT_QUESTIONS=dns,tcp`: these questions alone) against DuckDB
//! answering the same from the same Parquet files: the same rows, which is verified, in the same columns, both with two threads, everything in the page cache.
//!
//! Ours is the whole program, from its start to the last byte of its table. Of DuckDB there are two figures: the query alone over a
//! connection that has answered it before, which is the yardstick, and a process that starts, answers and writes CSV.
//!
//! The archives take some GB in the benchmarks' directory and are kept there from run to run. DuckDB is the Python package
//! (`pip install duckdb`); `TRACESIFT_PYTHON` names the interpreter that has it.

mod archives;
mod classes;
mod code_classes;
mod duckdb;
mod made;
mod names;
mod of_classes;
mod of_code;
mod rows;
mod runtime_classes;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

use self::duckdb::DuckDb;
use crate::measure::{self, against, timed};

/// Threads of each.
const THREADS: &str = "2";

/// A question.
struct Question {
    /// What stands behind `tracesift dump`.
    arguments: &'static [&'static str],
    /// `None`: no plain query gives the answer, and a budget of time holds.
    rival: Option<Rival>,
}

/// The same question as a query.
struct Rival {
    /// The columns of the query, in its order, as machine formats name them: those that the table has.
    columns: &'static str,
    query: &'static str,
}

/// The longest time of a question that no plain query answers.
const BUDGET: Duration = Duration::from_secs(2);

/// Questions about processors, which summaries answer.
const OF_CPU: &[Question] = &[
    Question {
        arguments: &["cpu", "--top", "10"],
        rival: Some(Rival {
            columns: "file;process;pid;start_ns;end_ns;cpu_ns;samples;cores_used;priority;command_line",
            query: include_str!("queries/processes.sql"),
        }),
    },
    Question {
        arguments: &["cpu", "--methods", "*StreamWriter.Flush*"],
        rival: Some(Rival {
            columns: "file;process;pid;start_ns;end_ns;cpu_ns;exclusive_cpu_ns;wait_ns;ready_ns;module;method;command_line",
            query: include_str!("queries/methods.sql"),
        }),
    },
    Question {
        arguments: &["cpu", "--stacktags", "*Defender*"],
        rival: Some(Rival {
            columns: "file;process;pid;start_ns;end_ns;cpu_ns;exclusive_cpu_ns;wait_ns;ready_ns;stack_tag;command_line",
            query: include_str!("queries/tags.sql"),
        }),
    },
];

/// Questions about processors.
pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    answer(directory, archives::directory, OF_CPU, (15, true))
}

/// Questions about what threads wait for.
pub(crate) fn run_classes(directory: &Path) -> anyhow::Result<()> {
    answer(directory, classes::directory, of_classes::QUESTIONS, (5, false))
}

/// Questions about what made code slow.
pub(crate) fn run_code_classes(directory: &Path) -> anyhow::Result<()> {
    answer(directory, code_classes::directory, of_code::QUESTIONS, (5, false))
}

fn answer(
    directory: &Path,
    make: fn(&Path) -> anyhow::Result<PathBuf>,
    questions: &[Question],
    (runs, with_start): (usize, bool),
) -> anyhow::Result<()> {
    let python = measure::python();
    if !duckdb::is_there(&python) {
        return say("DuckDB is not installed (pip install duckdb; TRACESIFT_PYTHON names the interpreter): skipped");
    }
    let directory = directory.join("many");
    std::fs::create_dir_all(&directory)?;
    let archives = make(&directory)?;
    say(&format!("{} archives, {} MiB", archives::count()?, size(&archives)? >> 20))?;
    let bench = Bench { directory, archives, python, runs, with_start };
    let names = std::env::var("TRACESIFT_QUESTIONS").unwrap_or_default();
    let is_asked =
        |question: &&Question| names.is_empty() || names.split(',').any(|name| question.arguments[0] == name);
    questions.iter().filter(is_asked).try_for_each(|question| bench.measure(question))
}

/// What the questions of a benchmark share.
struct Bench {
    directory: PathBuf,
    archives: PathBuf,
    python: String,
    /// Counted rounds.
    runs: usize,
    /// Whether a process that starts DuckDB is measured, too. Queries over rows of events take longer than any start.
    with_start: bool,
}

impl Bench {
    fn measure(&self, question: &Question) -> anyhow::Result<()> {
        let name = format!("dump {}", question.arguments.join(" "));
        match &question.rival {
            Some(rival) => self.compare(question, rival, &name),
            None => self.within_budget(question, &name),
        }
    }

    /// Compares the rows, then the times.
    fn compare(&self, question: &Question, rival: &Rival, name: &str) -> anyhow::Result<()> {
        let query = self.directory.join("query.sql");
        let path = self.archives.to_str().context("the directory's name is no text")?;
        let text = rival.query.replace("{archives}", &path.replace('\'', "''"));
        std::fs::write(&query, text.replace("{like}", "%StreamWriter.Flush%"))?;

        let (our_rows, their_rows) = (self.directory.join("ours.csv"), self.directory.join("theirs.csv"));
        let mut duckdb = DuckDb::start(&self.python, THREADS, &query)?;
        duckdb.write(&their_rows)?;
        whole(self.program(question)?.args(["--columns", rival.columns, "--csv"]).arg(&our_rows))?;
        let rows = rows::same(&our_rows, &their_rows, &self.archives);
        let rows = rows.with_context(|| format!("{name} differs from DuckDB"))?;
        say(&format!("{name}: {rows} rows, the same as DuckDB {}", duckdb.version()?))?;

        let ours = || whole(self.program(question)?.args(["--columns", rival.columns]));
        against(name, Some(1.0), self.runs, ours, "DuckDB, query alone", || duckdb.answer())?;
        if !self.with_start {
            return Ok(());
        }
        against(name, Some(1.0), self.runs, ours, "DuckDB, process", || {
            Ok(timed(|| DuckDb::start(&self.python, THREADS, &query)?.write(&their_rows))?.1)
        })
    }

    /// Prints the time of a question that has nothing to be compared with.
    fn within_budget(&self, question: &Question, name: &str) -> anyhow::Result<()> {
        let ours = || whole(&mut self.program(question)?);
        ours()?;
        let mut times = (0..self.runs).map(|_| ours()).collect::<anyhow::Result<Vec<Duration>>>()?;
        times.sort_unstable();
        let [least, median, most] =
            [0, self.runs / 2, self.runs - 1].map(|place| times.get(place).map_or(0.0, Duration::as_secs_f64));
        say(&format!("{name}: {median:.3} ({least:.3}..{most:.3}) s, budget {} s", BUDGET.as_secs()))
    }

    fn program(&self, question: &Question) -> anyhow::Result<Command> {
        let mut command = Command::new(measure::program()?);
        command.arg("dump").args(question.arguments).arg("-f").arg(self.archives.join("*"));
        command.env("RAYON_NUM_THREADS", THREADS);
        Ok(command)
    }
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
