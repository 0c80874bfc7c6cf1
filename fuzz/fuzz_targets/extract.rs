//! A whole extract: bytes end in an error that leaves nothing, or in a sound archive that answers every question.

#![no_main]

mod answers;
mod scratch;

use libfuzzer_sys::fuzz_target;
use tracesift_archive::Archive;
use tracesift_extract::input::file_kind::Format;
use tracesift_extract::{EventSelection, Options, Outcome, extract, unwatched};
use tracesift_testing::recording::only;

fuzz_target!(|bytes: &[u8]| {
    let folder = scratch::folder();
    let (file, out) = (folder.join("x.etl"), folder.join("out"));
    std::fs::write(&file, bytes).expect("written");
    // Single events of Linux recordings cannot be kept yet.
    let events = match Format::by_content(bytes) {
        Format::Etl => EventSelection::All,
        Format::Perf => EventSelection::Default,
    };
    let options = Options { out: Some(out.clone()), events: Some(events), ..Options::default() };
    match extract(&only(file), &options, &mut unwatched) {
        Ok(extraction) => {
            for outcome in extraction.outcomes {
                let Outcome::Extracted(report) = outcome else { panic!("an archive was there") };
                Archive::open(&report.archive).and_then(|archive| archive.verify()).expect("a sound archive");
                answers::ask_everything(&report.archive);
                std::fs::remove_dir_all(&report.archive).expect("removed");
            }
        }
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains('\n') && !error.contains("the encoder stopped"), "{error}");
        }
    }
    let left = std::fs::read_dir(&out).map_or(0, Iterator::count);
    assert_eq!(left, 0, "something is left behind");
});
