//! Recordings that are not needed any more go: those of runs whose archives are whole.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_ask::compare::gates::GateState;
use tracesift_ask::compare::{Case, Compared, outliers};
use tracesift_extract::input::source_file;
use tracesift_record::runner::{Kind, Plan, Run, State};
use tracesift_trace::HealthKind;
use tracesift_trace::health_kinds::Severity;
use tracesift_trace::rows::HealthRow;

use crate::args::run::Keep;
use crate::command::extract::size;
use crate::terminal::Messages;

/// The extensions of what a recorder writes.
const EXTENSIONS: [&str; 2] = ["data", "etl"];

/// Removes the recordings of the runs that the plan counts, but for those that stay.
pub(super) fn remove(keep: Keep, plan: &Plan, state: &State, compared: Option<&Compared>, messages: &Messages) {
    if keep == Keep::All {
        return;
    }
    let noteworthy = Noteworthy::of(plan, state, compared);
    let (mut removed, mut bytes) = (0_usize, 0_u64);
    let mut stay: BTreeMap<String, usize> = BTreeMap::new();
    for run in plan.cases.iter().flat_map(|case| state.runs_of(case, Kind::Recorded)) {
        let Some(recording) = recording(run, state.directory()) else { continue };
        let why = noteworthy.why(run).filter(|_| keep == Keep::Failed).map(str::to_owned);
        let archive = run.archive(state.directory()).unwrap_or_default();
        let gone = match why {
            Some(why) => Err(why),
            None => check(&recording, &archive).and_then(|()| remove_file(&recording)),
        };
        match gone {
            Ok(length) => {
                removed += 1;
                bytes = bytes.saturating_add(length);
            }
            Err(why) => *stay.entry(why).or_default() += 1,
        }
    }
    let recordings = |count: usize| if count == 1 { "1 recording".to_owned() } else { format!("{count} recordings") };
    if removed > 0 {
        let (is, their) = if removed == 1 { ("is", "its archive stays") } else { ("are", "their archives stay") };
        messages.note(&format!("{} of {} {is} removed; {their}", recordings(removed), size(bytes)));
    }
    for (why, count) in stay {
        messages.note(&format!("{} {}: {why}", recordings(count), if count == 1 { "stays" } else { "stay" }));
    }
}

/// The recording of a run, if it is a file that the recorder can have written into the directory. The document of the runs may be damaged,
/// or that of a stranger: a name in it is no path, and a link leads elsewhere.
fn recording(run: &Run, directory: &Path) -> Option<PathBuf> {
    let name = Path::new(run.recording.as_deref()?);
    let mut parts = name.components();
    let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let is_recording = name.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
    let path = directory.join(name);
    let is_file = || path.symlink_metadata().is_ok_and(|about| about.is_file());
    (is_name && is_recording && is_file()).then_some(path)
}

/// Whether an archive has all of a recording. `Err`: why it has not.
fn check(recording: &Path, archive: &Path) -> Result<(), String> {
    let source = source_file(recording, None).map_err(|error| error.to_string())?;
    if !archive.exists() {
        return Err("it has no archive".to_owned());
    }
    if !Archive::is_current(archive, &[source]) {
        return Err("its archive is that of another file".to_owned());
    }
    let unreadable = |error: tracesift_archive::Error| error.to_string();
    let archive = Archive::open(archive).map_err(unreadable)?;
    archive.verify().map_err(unreadable)?;
    if !["default", "all"].contains(&archive.info().events.as_str()) {
        return Err("its archive lacks events (extract --events)".to_owned());
    }
    if !archive.info().left_out.is_empty() {
        return Err("its archive lacks tables (extract --tables)".to_owned());
    }
    let health: Vec<HealthRow> = archive.rows().map_err(unreadable)?;
    let is_unreadable =
        |row: &HealthRow| HealthKind::of_word(&row.kind).is_none_or(|kind| kind.severity() == Severity::Unreadable);
    match health.iter().find(|row| is_unreadable(row)) {
        Some(row) => Err(format!("a part of it could not be read ({})", row.kind)),
        None => Ok(()),
    }
}

/// Removes a file. Its length.
fn remove_file(path: &Path) -> Result<u64, String> {
    let length = path.symlink_metadata().map_or(0, |about| about.len());
    std::fs::remove_file(path).map(|()| length).map_err(|error| format!("it cannot be removed: {error}"))
}

/// Runs that somebody may want to look into, by the names of their recordings.
#[derive(Default)]
struct Noteworthy {
    of_failed_gates: HashSet<String>,
    apart: HashSet<String>,
}

impl Noteworthy {
    fn of(plan: &Plan, state: &State, compared: Option<&Compared>) -> Self {
        let mut found = Self::default();
        for case in &plan.cases {
            let runs = state.runs_of(case, Kind::Recorded).filter(|run| run.finished.failure.is_none());
            let (names, durations): (Vec<String>, Vec<f64>) =
                runs.filter_map(|run| Some((stem(run)?, run.finished.duration_ns as f64))).unzip();
            found.apart.extend(outliers(&durations).into_iter().filter_map(|place| names.get(place).cloned()));
        }
        compared.into_iter().flat_map(|compared| &compared.cases).for_each(|case| found.add(case));
        found
    }

    fn add(&mut self, case: &Case) {
        if case.gates.iter().any(|gate| gate.state == GateState::Failed) {
            self.of_failed_gates.extend(case.runs.iter().map(|run| run.name.clone()));
        }
        let figures = case.result.iter().flat_map(|result| [&result.duration, &result.undisturbed]);
        let apart = figures.flat_map(|figure| &figure.outliers).filter_map(|place| case.runs.get(*place));
        self.apart.extend(apart.map(|run| run.name.clone()));
    }

    /// Why the recording of a run stays.
    fn why(&self, run: &Run) -> Option<&'static str> {
        let is_in = |names: &HashSet<String>| stem(run).is_some_and(|name| names.contains(&name));
        if run.finished.failure.is_some() {
            Some("the test failed")
        } else if is_in(&self.of_failed_gates) {
            Some("a gate failed")
        } else {
            is_in(&self.apart).then_some("the run stands apart from the others")
        }
    }
}

fn stem(run: &Run) -> Option<String> {
    Some(Path::new(run.recording.as_deref()?).file_stem()?.to_string_lossy().into_owned())
}
