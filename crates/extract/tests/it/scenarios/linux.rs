//! The whole pipeline on synthetic Linux recordings: what was counted as it was written is in the archive.

use tracesift_analysis::{Accounting, RecordingFacts, Span};
use tracesift_archive::Archive;
use tracesift_scenario::linux::{Figures, Knobs};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, Origin, ProcessRow, ThreadRow, switch_flags};

fn small() -> Knobs {
    Knobs { bytes: 12 << 20, processes: 60, threads: 400, events_per_birth: 100, ..Knobs::default() }
}

/// Writes and extracts a recording.
fn extracted(knobs: &Knobs) -> (Extracted, Figures) {
    let (recording, figures) = Recording::perf(knobs);
    (recording.extract(), figures)
}

#[test]
fn linux_recordings_come_back_as_they_were_counted() {
    for knobs in [small(), Knobs { stream: true, every_kind: true, seed: 2, ..small() }] {
        let (extracted, figures) = extracted(&knobs);
        compare(&extracted.archive, &figures, &knobs);
    }
}

#[test]
fn what_is_lost_leaves_no_contradiction() {
    for (lost_percent, seed) in [(1, 1), (9, 2), (40, 3)] {
        let (extracted, figures) = extracted(&Knobs { lost_percent, seed, ..small() });
        let archive = &extracted.archive;
        assert_eq!(archive.info().events_lost, figures.lost);
        let switches: Vec<ContextSwitchRow> = archive.rows().expect("switches");
        assert!(switches.is_sorted_by_key(|row| row.time), "{lost_percent} %");
        let threads: Vec<ThreadRow> = archive.rows().expect("threads");
        let mut accounting = Accounting::new(&RecordingFacts::from(archive.info()), Span::ALL, &threads);
        switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
        let accounts = accounting.finish(&mut |_| {});
        assert_eq!(accounts.contradictions, 0, "{lost_percent} %");
        for account in &accounts.threads {
            let sum = account.run + account.wait + account.ready.unwrap_or(0) + account.open + account.unknown;
            assert_eq!(sum, account.life.length(), "{account:?}");
        }
    }
}

fn compare(archive: &Archive, figures: &Figures, knobs: &Knobs) {
    let info = archive.info();
    assert!(info.has_switches && info.has_ready);
    assert_eq!(archive.row_count::<CpuSampleRow>(), figures.samples);
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    let threads: Vec<ThreadRow> = archive.rows().expect("threads");
    let switches: Vec<ContextSwitchRow> = archive.rows().expect("switches");
    let born = |start: Option<i64>| start.is_some();
    assert_eq!(threads.iter().filter(|thread| born(thread.start)).count() as u64, figures.births);
    // The last ones may be dead and not yet switched out for the last time.
    assert_eq!(threads.iter().filter(|thread| thread.end.is_some()).count() as u64, figures.deaths);
    let lasting =
        |process: &&ProcessRow| process.start.is_none() && process.origin != Origin::Pseudo && process.pid > 0;
    assert_eq!(processes.iter().filter(lasting).count(), knobs.processes as usize);

    let broken = switches.iter().filter(|row| row.flags & (switch_flags::BROKEN | switch_flags::GAP) != 0);
    // Who has said that it ends and was not seen to leave for the last time is not known to live on.
    let ending = |row: &ContextSwitchRow| row.flags & switch_flags::OPEN_RIGHT != 0;
    let broken: Vec<_> = broken.filter(|row| !ending(row)).collect();
    assert!(broken.is_empty(), "{broken:?}");
    // Every switch is one row but those to the idle threads, which are rows as well, and a first one has no row for who went.
    let switched_in = switches.iter().filter(|row| row.flags & switch_flags::NO_SWITCH_IN == 0).count() as u64;
    assert_eq!(switched_in, figures.switches);
    let mut accounting = Accounting::new(&RecordingFacts::from(info), Span::ALL, &threads);
    switches.iter().for_each(|row| accounting.switch(row, &mut |_| {}));
    let accounts = accounting.finish(&mut |_| {});
    assert_eq!(accounts.contradictions, 0);
    // Each CPU always runs somebody, an idle thread at least.
    let run: i64 = accounts.threads.iter().map(|account| account.run).sum();
    assert_eq!(run, (info.end_ns - info.start_ns) * i64::from(knobs.cpus));
}
