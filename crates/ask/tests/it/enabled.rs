//! Whether a question tells events that were not recorded from events that did not happen.

use tracesift_ask::question::{contention, disk, dns, gc, gcalloc, handles, jit, minifilter, sockets, virtualalloc};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, When, ask};
use tracesift_etl::Guid;
use tracesift_etl::class::{DNS_CLIENT, KERNEL_EVENT_TRACING, WINSOCK_AFD};
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_etl::write::payload::Bytes;
use tracesift_etl::write::{Hook, PointerSize, SessionOptions};
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::providers::{self, KernelRecord, Logged};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::{Recording, extract_file};
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

/// Kernel-EventTracing 14: a session enabled a provider with these keywords up to this level.
fn enabled(session: &str, provider: Guid, keywords: u64, level: u8) -> Logged {
    let mut payload = Bytes::new(PointerSize::Eight);
    payload.guid(provider);
    payload.utf16(session);
    payload.u64(keywords);
    payload.u64(0);
    payload.u32(0);
    payload.u8(level);
    let payload = payload.into_vec();
    Logged { time: 1_000, cpu: 0, provider: KERNEL_EVENT_TRACING, id: 14, version: 1, pid: 4, tid: 8, payload }
}

#[test]
fn a_session_tells_which_providers_it_enabled() {
    const OWN: &str = "Own session";
    let answered_of = |events: Vec<Logged>| {
        let options = SessionOptions { session_name: OWN.to_owned(), ..SessionOptions::default() };
        let bytes = providers::write_session(options, 1, &[(7, "a.exe")], events).expect("a recording");
        let extracted = Recording::of("enabled.etl", &bytes).extract();
        let questions: [&dyn Ask; 2] = [&dns::Question::default(), &sockets::Question::default()];
        are_answered(&Source::archive(extracted.report.archive.clone()), &questions)
    };
    assert_eq!(answered_of(vec![enabled(OWN, DNS_CLIENT, u64::MAX, 5)]), [true, false]);
    let both = vec![enabled(OWN, DNS_CLIENT, 0, 0), enabled(OWN, WINSOCK_AFD, 0, 255)];
    assert_eq!(answered_of(both), [true, true]);
    // Another session, some of the events, and a session without names of keywords tell nothing of this one.
    let others = vec![
        enabled("Other session", DNS_CLIENT, 0, 0),
        enabled(OWN, DNS_CLIENT, 0x100, 5),
        enabled(OWN, WINSOCK_AFD, 0, 2),
        Logged { version: 0, ..enabled(OWN, WINSOCK_AFD, 0, 0) },
    ];
    assert_eq!(answered_of(others), [false, false]);
}

#[test]
fn keywords_and_levels_tell_which_events_of_dotnet_a_session_gets() {
    const OWN: &str = "Own session";
    let answered_of = |keywords: u64, level: u8| {
        let options = SessionOptions { session_name: OWN.to_owned(), ..SessionOptions::default() };
        let events = vec![enabled(OWN, RUNTIME_PROVIDER, keywords, level)];
        let bytes = providers::write_session(options, 1, &[(7, "a.exe")], events).expect("a recording");
        let extracted = Recording::of("enabled.etl", &bytes).extract();
        let questions: [&dyn Ask; 4] = [
            &gc::Question::default(),
            &gcalloc::Question::default(),
            &jit::Question::default(),
            &contention::Question::default(),
        ];
        are_answered(&Source::archive(extracted.report.archive.clone()), &questions)
    };
    assert_eq!(answered_of(0x1, 4), [true, false, false, false]);
    assert_eq!(answered_of(0x1, 5), [true, true, false, false]);
    assert_eq!(answered_of(0x18, 5), [false, false, true, false]);
    assert_eq!(answered_of(0x4010, 5), [false, false, false, true]);
    assert_eq!(answered_of(0, 0), [true; 4]);
}

#[test]
fn all_words_of_the_masks_are_read() {
    let answered_of = |word: usize, bits: u32| {
        let mut payload = Bytes::new(PointerSize::Eight);
        (0..8).for_each(|place| payload.u32(if place == word { bits } else { 0 }));
        payload.u32(0);
        let extension =
            KernelRecord { time: 1_000, cpu: 0, hook: Hook::new(0, 5, 2), caller: (4, 8), payload: payload.into_vec() };
        let kernel = vec![extension];
        let bytes = providers::write_with_kernel(SessionOptions::default(), 1, &[(7, "a.exe")], Vec::new(), kernel);
        let extracted = Recording::of("masks.etl", &bytes.expect("a recording")).extract();
        let questions: [&dyn Ask; 3] =
            [&disk::Question::default(), &handles::Question::default(), &minifilter::Question::default()];
        are_answered(&Source::archive(extracted.report.archive.clone()), &questions)
    };
    assert_eq!(answered_of(0, 0x100), [true, false, false]);
    assert_eq!(answered_of(4, 0x40), [false, true, false]);
    assert_eq!(answered_of(4, 0x10_0000), [false, false, true]);
    assert_eq!(answered_of(3, 0x10_0140), [false, false, false]);
}
