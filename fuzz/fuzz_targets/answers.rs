//! Every question to an archive.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use tracesift_analysis::tags::{Nesting, TagSet};
use tracesift_ask::events::{EventFilter, scan_archive};
use tracesift_ask::question::{cpu, methods, process, stacks, stats, threads, version, waits};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_grammar::TimeRange;
use tracesift_ask::zero_time::ZeroTime;
use tracesift_ask::{Ask, MethodPatterns, When, ask};
use tracesift_grammar::Patterns;

/// Asks the archive everything, with and without a time range. Failures are fine.
pub(crate) fn ask_everything(archive: &Path) {
    let source = Source::archive(archive.to_owned());
    for time in [TimeRange::default(), TimeRange { start: Some(1_000), end: Some(500_000_000) }] {
        let process = process::Question { time, ..Default::default() };
        let tree = process::Question { sort: process::Sort::Tree, ..process.clone() };
        let version = version::Question { time, ..Default::default() };
        let per_process = version::Question { per_process: true, ..version.clone() };
        let cpu = cpu::Question { time, ..Default::default() };
        let all = Some(MethodPatterns::default());
        let methods = methods::Question { time, methods: all, percentiles: true, ..Default::default() };
        let per_thread = methods::Question { per_thread: true, ..methods.clone() };
        let set = Arc::new(TagSet::built_in(Nesting::Names).expect("a test reads them"));
        let tags = Some(methods::Tags { patterns: Patterns::parse("*"), set, cache: None });
        let tags = methods::Question { time, tags, ..Default::default() };
        let waits = waits::Question { time, ..Default::default() };
        let threads = threads::Question { time, ..Default::default() };
        let stacks = stacks::Question { time, ..Default::default() };
        let questions: [&dyn Ask; 11] =
            [&cpu, &process, &tree, &version, &per_process, &methods, &per_thread, &tags, &waits, &threads, &stacks];
        let first = "first:*a*".parse().expect("a landmark");
        let zero = ZeroTime { landmarks: vec![first], ..Default::default() };
        for when in [When::default(), When { zero, bucket: Some(100_000_000), ..When::default() }] {
            for question in questions {
                let _ = ask(std::slice::from_ref(&source), question, &when);
            }
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
