//! The shared recordings, event by event.

#![allow(dead_code, reason = "each test program uses its part")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_ask::events::{EventFilter, EventLine, Scanned, scan};
use tracesift_extract::input::{self, OpenOptions, SelectOptions, Target};
use tracesift_extract::open;

/// The folder with the recordings; prints why and gives `None` when it is absent.
pub(crate) fn cases() -> Option<PathBuf> {
    folder("etl")
}

/// As [`cases`], of Linux.
pub(crate) fn linux_cases() -> Option<PathBuf> {
    folder("perf")
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn folder(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases")).join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: ../shared/cases is absent");
    None
}

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

/// The file as an input.
pub(crate) fn input_of(path: &Path) -> input::InputRecording {
    let mut selection = input::select(&[path.display().to_string()], &SelectOptions::default());
    match selection.targets.pop() {
        Some(Target::Recording(recording)) => recording,
        _ => panic!("no recording: {selection:?}"),
    }
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
