//! DuckDB in a process of its own, which answers one query as often as it is told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

/// A running interpreter.
pub(crate) struct DuckDb {
    child: Child,
    // Taken when the process is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Whether the interpreter has the package.
pub(crate) fn is_there(python: &str) -> bool {
    Command::new(python).args(["-c", "import duckdb"]).output().is_ok_and(|output| output.status.success())
}

impl DuckDb {
    /// Starts the interpreter with the query of a file.
    pub(crate) fn start(python: &str, threads: &str, query: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(python)
            .args(["-c", include_str!("answer.py"), threads])
            .arg(query)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("it is piped")?;
        Ok(Self { input: child.stdin.take(), output: BufReader::new(output), child })
    }

    /// Answers into memory; the time that this took inside.
    pub(crate) fn answer(&mut self) -> anyhow::Result<Duration> {
        self.seconds("table")
    }

    /// Answers into a CSV file.
    pub(crate) fn write(&mut self, path: &Path) -> anyhow::Result<()> {
        self.seconds(&format!("write {}", path.display())).map(drop)
    }

    /// The version of DuckDB.
    pub(crate) fn version(&mut self) -> anyhow::Result<String> {
        self.tell("version")
    }

    fn seconds(&mut self, what: &str) -> anyhow::Result<Duration> {
        let answer = self.tell(what)?;
        Ok(Duration::from_secs_f64(answer.parse().context("DuckDB failed")?))
    }

    fn tell(&mut self, what: &str) -> anyhow::Result<String> {
        let input = self.input.as_mut().context("it still runs")?;
        writeln!(input, "{what}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        // It ends with its input.
        self.input = None;
        let _ = self.child.wait();
    }
}
