//! The shared recordings, event by event.

mod paths;
mod timelines;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_ask::events::{EventFilter, EventLine, Scanned, scan};
use tracesift_extract::input::OpenOptions;
use tracesift_extract::open;
use tracesift_testing::recording::input_of;

/// All recordings but the empty one.
pub(crate) fn recordings(cases: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cases).expect("the cases are readable");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_recording = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [".etl", ".zip", ".7z"].iter().any(|end| name.ends_with(end)) && name != "empty.etl"
    };
    let mut recordings: Vec<PathBuf> = paths.filter(is_recording).collect();
    recordings.sort();
    // The folder grows; an emptier one than today's would test less in silence.
    assert!(recordings.len() >= 22, "{}", recordings.len());
    recordings
}

/// All recordings of Linux.
pub(crate) fn linux_recordings(cases: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cases).expect("the cases are readable");
    let mut recordings: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    recordings.sort();
    assert!(recordings.len() >= 37, "{}", recordings.len());
    recordings
}

/// Shows the events of a recording that pass the filter; one result per recording in the file.
pub(crate) fn events(path: &Path, filter: &EventFilter, mut visit: impl FnMut(&EventLine<'_>)) -> Vec<Scanned> {
    let opened = open(&input_of(path), &OpenOptions::default()).expect("it can be opened");
    let scanned = opened.iter().map(|opened| {
        let scanned = scan(&opened.files, filter, &mut |event| {
            visit(event);
            ControlFlow::Continue(())
        });
        scanned.expect("it can be read")
    });
    scanned.collect()
}
