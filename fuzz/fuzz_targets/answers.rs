//! Every question to an archive.

use std::ops::ControlFlow;
use std::path::Path;

use tracesift_ask::events::{EventFilter, scan_archive};
use tracesift_ask::question::{cpu, process, stats, version};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::time_range::TimeRange;
use tracesift_ask::{Ask, ask};
use tracesift_extract::input::Patterns;

/// Asks the archive everything, with and without a time range. Failures are fine.
pub(crate) fn ask_everything(archive: &Path) {
    let source = Source::archive(archive.to_owned());
    for time in [TimeRange::default(), TimeRange { start: Some(1_000), end: Some(500_000_000) }] {
        let process = process::Question { time, ..Default::default() };
        let tree = process::Question { sort: process::Sort::Tree, ..process.clone() };
        let version = version::Question { time, ..Default::default() };
        let per_process = version::Question { per_process: true, ..version.clone() };
        let cpu = cpu::Question { time, ..Default::default() };
        for question in [&cpu as &dyn Ask, &process, &tree, &version, &per_process] {
            let _ = ask(std::slice::from_ref(&source), question);
        }
    }
    if let Ok(recording) = OpenRecording::open(&source) {
        for stack in ["", "!*nothing*"] {
            let conditions = ["a=1", "b.c!=x*"].map(|text| text.parse().expect("a condition")).into();
            for conditions in [Vec::new(), conditions] {
                let filter = EventFilter { stack: Patterns::parse(stack), conditions, ..Default::default() };
                let _ = scan_archive(recording.archive(), &filter, true, &mut |event| {
                    let mut text = String::new();
                    event.fields.write_json(&mut text);
                    ControlFlow::Continue(())
                });
            }
        }
        let _ = stats::archive(&recording).map(|row| stats::answer(vec![row], &Default::default()));
    }
}
