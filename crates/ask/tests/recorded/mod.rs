//! The shared recordings, event by event.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tracesift_ask::events::{EventFilter, EventLine, Scanned, scan};
use tracesift_extract::input::{self, OpenOptions, SelectOptions, Target};
use tracesift_extract::{open, survey};

/// The folder with the recordings; prints why and gives `None` when it is absent.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn cases() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/etl"));
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: ../shared/cases is absent");
    None
}

/// Shows the events of a recording that pass the filter; one result per recording in the file.
pub(crate) fn events(path: &Path, filter: &EventFilter, mut visit: impl FnMut(&EventLine<'_>)) -> Vec<Scanned> {
    let selection = input::select(&[path.display().to_string()], &SelectOptions::default());
    let Some(Target::Recording(recording)) = selection.targets.first() else { panic!("no recording: {selection:?}") };
    let opened = open(recording, &OpenOptions::default()).expect("it can be opened");
    let scanned = opened.iter().map(|opened| {
        let mut survey = survey(&opened.files).expect("it can be read");
        scan(&opened.files, &mut survey, filter, &mut |event| {
            visit(event);
            ControlFlow::Continue(())
        })
    });
    scanned.collect()
}
