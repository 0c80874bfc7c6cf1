//! Readings of an archive that keeps the numbers that were read last show the same rows as those of one that keeps nothing.

use std::ops::{ControlFlow, Range};

use tracesift_archive::Archive;
use tracesift_testing::archive::Random;
use tracesift_testing::chains::chains;
use tracesift_trace::ThreadId;
use tracesift_trace::rows::ContextSwitchRow;
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::view;

use crate::long_spans::{ranges, write};

view! {
    /// Numbers alone.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Numbers of ContextSwitchRow { time, cpu, thread, prev_thread, off_time, flags }
}

view! {
    /// Some of them.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Key of ContextSwitchRow { time, thread }
}

/// A reading, and what it shows.
type Reading = fn(&Archive, Range<i64>) -> Vec<String>;

fn collected<V: std::fmt::Debug>(read: impl FnOnce(&mut dyn FnMut(&V))) -> Vec<String> {
    let mut found = Vec::new();
    read(&mut |row| found.push(format!("{row:?}")));
    found
}

fn some(time: &Range<i64>) -> [ThreadId; 2] {
    [1, 3].map(|number| ThreadId(number + i32::try_from(time.start.rem_euclid(5)).expect("small")))
}

const READINGS: &[Reading] = &[
    |archive, time| collected(|see| archive.scan(Some(time), |row: &Numbers| see(row)).expect("read")),
    |archive, time| collected(|see| archive.scan(Some(time), |row: &ContextSwitchRow| see(row)).expect("read")),
    |archive, _| collected(|see| archive.scan(None, |row: &Key| see(row)).expect("read")),
    |archive, time| collected(|see| archive.scan_around(Some(time), |row: &Numbers| see(row)).expect("read")),
    |archive, time| {
        let threads = some(&time);
        collected(|see| archive.scan_around_threads(Some(time), threads, |row: &Numbers| see(row)).expect("read"))
    },
    |archive, time| collected(|see| archive.scan_around_backwards(Some(time), |row: &Key| see(row)).expect("read")),
    |archive, time| {
        collected(|see| archive.scan_backwards(Some(time), |row: &ContextSwitchRow| see(row)).expect("read"))
    },
    |archive, time| {
        let threads = some(&time);
        let visit = |see: &mut dyn FnMut(&Numbers)| {
            let choose = move |key: &Key| threads.contains(&key.thread);
            archive.scan_chosen(Some(time), choose, |row: &Numbers| {
                see(row);
                ControlFlow::Continue(())
            })
        };
        collected(|see| visit(see).expect("read"))
    },
    |archive, time| {
        let visit = |see: &mut dyn FnMut(&Numbers)| {
            let mut left = 40;
            archive.scan_while(Some(time), |row: &Numbers| {
                see(row);
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        };
        collected(|see| visit(see).expect("read"))
    },
    |archive, _| {
        let rows = archive.needed_rows::<Numbers>(ColumnSet::of(&["flags"])).expect("read");
        rows.iter().map(|row| format!("{row:?}")).collect()
    },
];

#[test]
fn kept_numbers_are_those_of_the_file() {
    let root = tempfile::tempdir().expect("temporary directory");
    for seed in 0..3 {
        let all = chains(seed, 3_000);
        let archive = write(&root.path().join(format!("{seed}.sift")), &all);
        // Nothing has room, few columns, all of them.
        for room in [0, 20_000, 64 << 20] {
            let keeping = archive.clone().keeping(room);
            let mut random = Random(seed + room);
            for time in ranges(&mut random, all.end) {
                let place = random.below(READINGS.len());
                let (expected, found) = [&archive, &keeping].map(|of| READINGS[place](of, time.clone())).into();
                let case = format!("seed {seed}, room {room}, reading {place}, {time:?}");
                assert!(found == expected, "{case}: {} rows in place of {}", found.len(), expected.len());
            }
        }
    }
}

#[test]
fn another_file_is_read_anew() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("of.sift");
    let (one, other) = (chains(1, 1_000), chains(2, 1_000));
    let keeping = write(&path, &one).keeping(64 << 20);
    let rows = |archive: &Archive| collected(|see| archive.scan(None, |row: &Numbers| see(row)).expect("read"));
    let of_one = rows(&keeping);
    assert_eq!(of_one.len(), one.switches.len());
    std::fs::remove_dir_all(&path).expect("removed");
    let of_other = rows(&write(&path, &other));
    assert_ne!(of_one, of_other);
    // It still knows the description of the first one, and the file of the second one is none that it lists.
    let mut seen = 0;
    keeping.scan(None, |_: &Numbers| seen += 1).expect_err("another file");
    assert_eq!(seen, 0);
}
