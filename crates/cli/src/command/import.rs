//! `import`: extracts of ETWAnalyzer become archives, one after the other.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tracesift_ask::answer::{Kind, Value};
use tracesift_ask::time_format::TimeStyle;
use tracesift_etwanalyzer::{Options, Outcome, Report, import, main_of_part};
use tracesift_grammar::Pattern;

use crate::args::ImportArgs;
use crate::exit::Exit;
use crate::output::cell;
use crate::terminal::Messages;

/// Imports what the arguments name.
pub(crate) fn run(args: &ImportArgs, messages: &Messages) -> anyhow::Result<Exit> {
    let options = Options { out: args.out.clone(), overwrite: args.overwrite, ..Options::default() };
    let (mut usable, mut failed) = (0, 0);
    let files: Vec<PathBuf> = args.files.iter().flat_map(|file| expanded(file)).collect();
    // A `*.json` names the parts of an extract beside its main document, which is imported with them.
    let is_named = |file: &PathBuf| main_of_part(file).is_some_and(|main| files.contains(&main));
    for file in files.iter().filter(|file| !is_named(file)) {
        match import(file, &options) {
            Ok(outcome) => {
                usable += 1;
                say(file, &outcome, messages)?;
            }
            Err(error) => {
                failed += 1;
                messages.error(&error.to_string());
            }
        }
    }
    Ok(Exit::of(usable, failed))
}

/// The files that a pattern of names stands for, in the order of their names: not every shell expands it. What names a file, or matches
/// none, stands for itself.
fn expanded(file: &Path) -> Vec<PathBuf> {
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if !name.contains(['*', '?']) || file.exists() {
        return vec![file.to_owned()];
    }
    let directory = file.parent().unwrap_or(Path::new(""));
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let pattern = Pattern::new(&name);
    let matching = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        pattern.matches(&name.to_string_lossy()).then(|| directory.join(name))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(here)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(matching)
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    if files.is_empty() { vec![file.to_owned()] } else { files }
}

/// One line per extract: what was found, and what limits the figures.
fn say(file: &Path, outcome: &Outcome, messages: &Messages) -> io::Result<()> {
    let file = file.display();
    let line = match outcome {
        Outcome::UpToDate(archive) => format!("{file}: {} is up to date", archive.display()),
        Outcome::Imported(report) => format!("{file}: {} -> {}", found(report), report.archive.display()),
    };
    writeln!(io::stdout().lock(), "{}", cell::clean(&line))?;
    if let Outcome::Imported(report) = outcome {
        for caveat in &report.extract.info.caveats {
            messages.warning(&format!("{file}: {caveat}"));
        }
    }
    Ok(())
}

/// `38.448 s, 295 processes, 5,546 methods, 0 modules`
fn found(report: &Report) -> String {
    let show = |value: i64, kind: Kind| cell::text(&Value::Int(value), kind, TimeStyle::default(), None);
    let extract = &report.extract;
    let count = |count: usize| show(i64::try_from(count).unwrap_or(i64::MAX), Kind::Count);
    let methods = extract.process_summary.iter().map(|row| row.methods).fold(0, i64::saturating_add);
    format!(
        "{} s, {} processes, {} methods of processes, {} modules",
        show(extract.info.end_ns, Kind::Seconds),
        count(extract.processes.len()),
        show(methods, Kind::Count),
        count(extract.modules.len()),
    )
}
