//! The duration of a run, and whether it passed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tracesift_grammar::Status;

use super::case::Case;
use super::settings::{Cache, DurationFrom};

/// The end of an output is looked at, so many bytes of it; a result file must not be longer.
const MOST_OUTPUT: u64 = 16 << 20;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// What the test took, ns: as it says itself, or by the wall clock.
    pub duration_ns: u64,
    /// The figure's origin: `wall`, `output`, `file` or `exit-code`.
    pub duration_from: String,
    /// Why it failed; `None`: it passed.
    pub failure: Option<String>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// Whether caches were emptied before it.
    pub cold: bool,
}

impl Finished {
    /// The word in the recording's name.
    #[must_use]
    pub fn status(&self) -> Status {
        if self.failure.is_none() { Status::Passed } else { Status::Failed }
    }
}

/// The end of a command.
pub(super) struct Ended {
    pub(super) status: Option<ExitStatus>,
    pub(super) wall: Duration,
    pub(super) timed_out: bool,
    /// When it was started: an older result file is that of another run.
    pub(super) started: SystemTime,
}

/// Judges a run that printed what is in the file `output`.
pub(super) fn judge(case: &Case, ended: &Ended, output: &Path) -> Finished {
    let output = end_of(output).unwrap_or_default();
    let output = String::from_utf8_lossy(&output);
    let exit_code = ended.status.and_then(|status| status.code());
    let told = told(case, ended, &output, exit_code);
    let (duration_ns, duration_from) = match &told {
        Ok(Some((ns, from))) => (*ns, *from),
        Ok(None) | Err(_) => (ended.wall.as_nanos().try_into().unwrap_or(u64::MAX), "wall"),
    };
    let failure = failure(case, ended, &output, exit_code, duration_ns).or(told.err());
    Finished {
        duration_ns,
        duration_from: duration_from.to_owned(),
        failure,
        exit_code,
        cold: case.cache == Cache::Cold,
    }
}

/// The duration that the test tells itself; `None`: the wall clock counts.
fn told(
    case: &Case,
    ended: &Ended,
    output: &str,
    exit_code: Option<i32>,
) -> Result<Option<(u64, &'static str)>, String> {
    match &case.duration {
        DurationFrom::Wall => Ok(None),
        DurationFrom::Line { before, behind, unit } => {
            let figure = output.lines().rev().find_map(|line| in_line(line, before, behind));
            let figure = figure.ok_or_else(|| format!("no line `{before}…{behind}` in its output"))?;
            ns(figure, *unit).map(|ns| Some((ns, "output")))
        }
        DurationFrom::Json { keys, unit, file } => {
            let (text, from) = match file {
                Some(file) => (result_file(case, file, ended)?, "file"),
                None => (output.to_owned(), "output"),
            };
            let figure = in_json(&text, keys).ok_or_else(|| format!("no figure `{}` in its {from}", keys.join(".")))?;
            ns(figure, *unit).map(|ns| Some((ns, from)))
        }
        // The kernel keeps eight bits of an exit code.
        DurationFrom::ExitCode if cfg!(unix) => Ok(None),
        DurationFrom::ExitCode => match exit_code.map(u64::try_from) {
            Some(Ok(ms)) => Ok(Some((ms * 1_000_000, "exit-code"))),
            _ => Err("a negative exit code is no duration".to_owned()),
        },
    }
}

fn failure(case: &Case, ended: &Ended, output: &str, exit_code: Option<i32>, duration_ns: u64) -> Option<String> {
    let when = &case.failed_when;
    if ended.timed_out {
        return Some(format!("it did not end within {:?}", case.timeout.unwrap_or_default()));
    }
    let code_is_duration = case.duration == DurationFrom::ExitCode && when.passing_codes.is_none() && cfg!(not(unix));
    match (exit_code, &when.passing_codes) {
        (None, _) => {
            let signal = ended.status.map_or_else(|| "it did not end".to_owned(), |status| status.to_string());
            return Some(signal);
        }
        (Some(code), Some(passing)) if !passing.contains(&code) => return Some(format!("exit code {code}")),
        (Some(code), None) if code != 0 && !code_is_duration => return Some(format!("exit code {code}")),
        _ => {}
    }
    if let Some(pattern) = &when.output
        && let Some(line) = output.lines().find(|line| pattern.matches(line))
    {
        return Some(format!("its output says: {}", line.trim().chars().take(200).collect::<String>()));
    }
    let longest = when.longer_than.filter(|longest| u128::from(duration_ns) > longest.as_nanos())?;
    Some(format!("it took longer than {longest:?}"))
}

fn ns(figure: f64, unit: f64) -> Result<u64, String> {
    let ns = figure * unit;
    if ns.is_finite() && (0.0..1e18).contains(&ns) {
        Ok(ns.round() as u64)
    } else {
        Err(format!("{figure} is no duration"))
    }
}

/// The figure between two texts of a line.
fn in_line(line: &str, before: &str, behind: &str) -> Option<f64> {
    let starts: Vec<usize> =
        if before.is_empty() { vec![0] } else { line.match_indices(before).map(|(at, _)| at + before.len()).collect() };
    starts.into_iter().find_map(|at| {
        let rest = line.get(at..)?.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (figure, rest) = rest.split_at(end);
        rest.starts_with(behind).then(|| figure.parse().ok())?
    })
}

/// The figure under these keys of the last document in a text.
fn in_json(text: &str, keys: &[String]) -> Option<f64> {
    let whole: Option<serde_json::Value> = serde_json::from_str(text.trim()).ok();
    // Programs may print other lines before it.
    let last = || text.lines().rev().find_map(|line| serde_json::from_str(line.trim()).ok());
    let document: serde_json::Value = whole.or_else(last)?;
    keys.iter().try_fold(&document, |value, key| value.get(key)).and_then(serde_json::Value::as_f64)
}

/// A file that the test wrote.
fn result_file(case: &Case, file: &Path, ended: &Ended) -> Result<String, String> {
    let path: PathBuf = case.directory_or_here().join(file);
    let unreadable = |error: std::io::Error| format!("its result file {}: {error}", path.display());
    let metadata = path.metadata().map_err(unreadable)?;
    if metadata.len() > MOST_OUTPUT {
        return Err(format!("its result file {} is longer than {MOST_OUTPUT} bytes", path.display()));
    }
    // File systems keep times in steps of up to two seconds.
    let slack = Duration::from_secs(2);
    if metadata.modified().is_ok_and(|written| written + slack < ended.started) {
        return Err(format!("its result file {} is older than the run", path.display()));
    }
    std::fs::read_to_string(&path).map_err(unreadable)
}

/// The last bytes of a file.
fn end_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_OUTPUT)))?;
    let mut bytes = Vec::new();
    file.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_outputs() {
        assert_eq!(in_line("Test took 12.5 ms.", "took ", " ms"), Some(12.5));
        assert_eq!(in_line("took long, took 7ms", "took", "ms"), Some(7.0));
        assert_eq!(in_line("took 7 s", "took ", " ms"), None);
        assert_eq!(in_line("1234", "", ""), Some(1234.0));
        let keys = |list: &[&str]| list.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert_eq!(in_json("{\n \"a\": {\"b\": 3}\n}\n", &keys(&["a", "b"])), Some(3.0));
        assert_eq!(in_json("hello\n{\"b\": 3.5}\n", &keys(&["b"])), Some(3.5));
        assert_eq!(in_json("{\"b\": \"3\"}", &keys(&["b"])), None);
        assert_eq!(ns(1.5, 1e6), Ok(1_500_000));
        assert!(ns(f64::NAN, 1.0).is_err() && ns(-1.0, 1.0).is_err());
    }
}
