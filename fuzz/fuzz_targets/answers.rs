//! Every question to an archive.

use std::ops::ControlFlow;
use std::path::Path;

use tracesift_ask::events::{EventFilter, scan_archive};
use tracesift_ask::options::Plan;
use tracesift_ask::question;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::runs::Selection;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::zero_time::ZeroTime;
use tracesift_ask::{When, ask};
use tracesift_grammar::{Patterns, TimeRange};

/// Asks the archive every question in every way, with and without a time range. Failures are fine.
pub(crate) fn ask_everything(archive: &Path) {
    let source = Source::archive(archive.to_owned());
    let sources = std::slice::from_ref(&source);
    let part = TimeSpec::from(TimeRange { start: Some(1_000), end: Some(500_000_000) });
    let first = "first:*a*".parse().expect("a landmark");
    let zero = ZeroTime { landmarks: vec![first], ..Default::default() };
    for (registered, arguments) in question::all().flat_map(|one| one.ways().map(move |arguments| (one, arguments))) {
        for time in [TimeSpec::default(), part] {
            for (zero, bucket) in [(ZeroTime::default(), None), (zero.clone(), Some(100_000_000))] {
                let Ok((_, plan)) = registered.plan(&arguments) else { panic!("{}: {arguments:?}", registered.command) };
                match plan {
                    Plan::Archives(asking) => {
                        let mut outcome = ask(sources, asking.question.as_ref(), &When { time, zero, bucket });
                        (asking.then)(&mut outcome.answer, &Selection::default());
                    }
                    Plan::Files(question) => drop(question.answer(&[], sources)),
                    Plan::Names(question) => drop(question.answer(&[])),
                    Plan::Answer(_) => {}
                }
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
    }
}
