//! Whether a question tells events that were not recorded from events that did not happen.

use tracesift_ask::question::{disk, dns, virtualalloc};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, When, ask};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::extract_file;
use tracesift_trace::info::TraceInfo;

/// Whether each of the questions has an answer, be it empty.
fn are_answered(source: &Source, questions: &[&dyn Ask]) -> Vec<bool> {
    let is_answered = |question: &&dyn Ask| {
        let outcome = ask(std::slice::from_ref(source), *question, &When::default());
        assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
        outcome.answer.sections.iter().all(|section| section.rows.is_empty() && !section.is_absent)
    };
    questions.iter().map(is_answered).collect()
}

#[test]
fn events_that_were_enabled_and_did_not_happen_are_an_answer() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let writer = create(&directory.path().join("X.sift"));
    let info = TraceInfo { kind: "perf".to_owned(), enabled: vec!["dns_queries".to_owned()], ..TraceInfo::default() };
    let source = Source::archive(finish_as(writer, info));
    let questions: [&dyn Ask; 2] = [&dns::Question::default(), &disk::Question::default()];
    assert_eq!(are_answered(&source, &questions), [true, false]);
}

#[test]
fn a_recording_of_windows_tells_which_kernel_events_were_enabled() {
    let Some(cases) = cases("etl") else { return };
    let out = tempfile::tempdir().expect("temporary directory");
    for (name, expected) in [
        // Session flags of PerfView: disks, hard faults, network; no virtual allocations, no file operations.
        ("net.4.5.2.x64.etl.zip", &["disk_io", "hard_faults", "connections", "network_io"][..]),
        ("net.4.5.2.x86.etl.zip", &["disk_io", "hard_faults", "connections", "network_io"]),
        // A session without kernel events.
        ("Tx-Process.etl", &[]),
    ] {
        let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
        let archive = extract_file(&cases.join(name), &options).archive;
        let recording = OpenRecording::open(&Source::archive(archive.clone())).expect("an archive");
        assert_eq!(recording.info().enabled, expected, "{name}");
        let questions: [&dyn Ask; 1] = [&virtualalloc::Question::default()];
        assert_eq!(are_answered(&Source::archive(archive), &questions), [false], "{name}");
    }
}
