//! The files that the arguments of a question led to, with notes for the user.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Local, NaiveDateTime};
use tracesift_archive::Archive;
use tracesift_ask::inputs::{FoundInputs, Inputs};
use tracesift_ask::recording::name_of;
use tracesift_ask::runs::{Run, Selection, TestFile, group};
use tracesift_ask::time_format::Zero;
use tracesift_extract::input::{InputError, InputRecording, test_name};

use crate::terminal::Messages;

/// Finds inputs and says what there is to say. The number is that of arguments that gave nothing.
pub(crate) fn find(inputs: &Inputs, messages: &Messages) -> (FoundInputs, usize) {
    report(inputs.find(), messages)
}

/// Finds recordings, whether or not they are extracted.
pub(crate) fn find_recordings(inputs: &Inputs, messages: &Messages) -> (FoundInputs, usize) {
    report(inputs.find_recordings(), messages)
}

/// Finds recordings, and in directories that have none the archives: a recording has more events than its archive.
pub(crate) fn find_events(inputs: &Inputs, messages: &Messages) -> (FoundInputs, usize) {
    let mut found = inputs.find_recordings();
    found.problems.retain(|problem| {
        let InputError::NothingInDirectory { directory, .. } = problem else { return true };
        let arguments = vec![directory.to_string_lossy().into_owned()];
        let mut archives = Inputs { arguments, ..inputs.clone() }.find().archives;
        let is_empty = archives.is_empty();
        found.archives.append(&mut archives);
        is_empty
    });
    report(found, messages)
}

/// Says that nothing is left to be asked, when nobody has said why yet. True when nothing is left.
pub(crate) fn nothing_left(found: &FoundInputs, failed: usize, messages: &Messages) -> bool {
    let nothing = found.archives.is_empty() && found.recordings.is_empty();
    if nothing && failed == 0 {
        messages.error("no file is left");
        messages.hint("loosen --file and the choice of test runs");
    }
    nothing
}

fn report(found: FoundInputs, messages: &Messages) -> (FoundInputs, usize) {
    for note in &found.notes {
        messages.note(&note.to_string());
    }
    say(&found.problems, messages);
    let failed = found.problems.len();
    (found, failed)
}

/// Says what arguments gave nothing.
pub(crate) fn say(problems: &[InputError], messages: &Messages) {
    for problem in problems {
        messages.error(&problem.to_string());
    }
    // A newcomer has nothing yet.
    if problems.iter().any(|problem| matches!(problem, InputError::NothingInDirectory { .. })) {
        messages.hint("`tracesift record -- COMMAND` makes a recording, `tracesift demo` writes examples");
    }
}

/// Keeps the files of the selected test runs.
pub(crate) fn keep_selected(found: &mut FoundInputs, selection: &Selection) {
    if *selection == Selection::default() {
        return;
    }
    let kept: Vec<PathBuf> = runs(found, selection).iter().flat_map(Run::files).map(|file| file.path.clone()).collect();
    found.archives.retain(|path| kept.contains(path));
    found.recordings.retain(|recording| kept.iter().any(|path| is_of(recording, path)));
}

/// The test runs that the files belong to.
pub(crate) fn runs(found: &FoundInputs, selection: &Selection) -> Vec<Run> {
    let archives = found.archives.iter().map(|path| of_archive(path));
    let recordings = found.recordings.iter().map(of_recording);
    group(archives.chain(recordings).collect(), selection)
}

fn is_of(recording: &InputRecording, path: &Path) -> bool {
    recording.files.first().is_some_and(|file| file == path)
}

fn of_archive(path: &Path) -> TestFile {
    let name = name_of(path);
    let size = std::fs::read_dir(path).ok().map(|entries| {
        entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).fold(0, u64::saturating_add)
    });
    // The name mostly says when; only then is opening hundreds of archives avoided.
    let dated = test_name(&name).is_some_and(|test| test.time().is_some());
    let recorded = if dated { None } else { Archive::open(path).ok().and_then(|archive| local_start(&archive)) };
    TestFile::new(path.to_owned(), name, recorded.unwrap_or_else(|| modified(path)), size)
}

fn of_recording(recording: &InputRecording) -> TestFile {
    let path = recording.files.first().cloned().unwrap_or_default();
    let sizes = recording.files.iter().filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
    let size = Some(sizes.fold(0, u64::saturating_add));
    let otherwise = modified(&path);
    TestFile::new(path, recording.name.clone(), otherwise, size)
}

/// Start of the recording, local time of the recorder.
fn local_start(archive: &Archive) -> Option<NaiveDateTime> {
    let info = archive.info();
    let zero = Zero { filetime: info.start_filetime, utc_offset_minutes: 0 };
    let minutes = chrono::TimeDelta::minutes(info.utc_offset_minutes.into());
    zero.instant(0)?.naive_utc().checked_sub_signed(minutes)
}

fn modified(path: &Path) -> NaiveDateTime {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.map_or(NaiveDateTime::default(), |time| DateTime::<Local>::from(time).naive_local())
}
