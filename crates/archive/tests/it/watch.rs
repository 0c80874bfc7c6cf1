//! Readings tell their watch how far they are, and end when it is cancelled.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use tracesift_archive::{Archive, Error, Keys, Progress, Watch};
use tracesift_testing::archive::write_switches;
use tracesift_testing::chains::{Chains, chains};
use tracesift_trace::rows::{ContextSwitchRow, LongSpanRow, StackRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::view;

use crate::long_spans::{GROUP, write};

view! {
    /// The columns by which rows are chosen.
    #[derive(Clone, Copy, Debug)]
    struct Key of ContextSwitchRow { time, thread }
}

/// Reads the table of switches, and calls back for each row.
type Reading = fn(&Archive, Option<Range<i64>>, &mut dyn FnMut()) -> Result<(), Error>;

/// Readings that show every row that touches the time.
const READINGS: &[(&str, Reading)] = &[
    ("scan", |archive, time, seen| archive.scan(time, |_: &ContextSwitchRow| seen())),
    ("scan_while", |archive, time, seen| {
        archive.scan_while(time, |_: &Key| {
            seen();
            ControlFlow::Continue(())
        })
    }),
    ("scan_chosen", |archive, time, seen| {
        archive.scan_chosen(
            time,
            |_: &Key| true,
            |_: &ContextSwitchRow| {
                seen();
                ControlFlow::Continue(())
            },
        )
    }),
    ("scan_backwards", |archive, time, seen| archive.scan_backwards(time, |_: &ContextSwitchRow| seen())),
    ("row_groups", |archive, time, seen| {
        let groups = archive.row_groups::<ContextSwitchRow>(time)?;
        groups.numbers().iter().try_for_each(|group| groups.scan(*group, |_: &Key| seen()))
    }),
];

/// Readings that show these and perhaps some more, or all rows whatever the time.
const OTHERS: &[(&str, Reading)] = &[
    ("scan_around", |archive, time, seen| archive.scan_around(time, |_: &ContextSwitchRow| seen())),
    ("scan_around_backwards", |archive, time, seen| archive.scan_around_backwards(time, |_: &Key| seen())),
    ("scan_by_keys", |archive, _, seen| {
        let all = |keys: &Keys<'_, Key>| Ok(vec![true; keys.rows()]);
        archive.scan_by_keys(ColumnSet::ALL, all, |_: &ContextSwitchRow| seen())
    }),
    ("rows", |archive, _, seen| archive.rows::<ContextSwitchRow>().map(|rows| rows.iter().for_each(|_| seen()))),
    ("stored_rows", |archive, _, seen| {
        let rows = archive.stored_rows::<Key, ContextSwitchRow>(ColumnSet::ALL)?;
        rows.keys().map(|keys| keys.iter().for_each(|_| seen()))
    }),
    ("fold_keys", |archive, _, seen| {
        let count = |count: &mut usize, keys: &Keys<'_, Key>| {
            *count += keys.rows();
            Ok(())
        };
        archive.fold_keys(ColumnSet::ALL, 0, count).map(|count| (0..count).for_each(|_| seen()))
    }),
];

fn all() -> impl Iterator<Item = &'static (&'static str, Reading)> {
    READINGS.iter().chain(OTHERS)
}

/// An archive with an index of long spans, and its rows.
fn archive(directory: &Path) -> (Archive, Chains) {
    let chains = chains(3, 4_000);
    let archive = write(&directory.join("switches.sift"), &chains);
    assert!(archive.row_count::<LongSpanRow>() > 20, "no index");
    (archive, chains)
}

/// Rows that are done, and all.
fn rows_of(watch: &Watch) -> (u64, u64) {
    let progress = watch.progress();
    (progress.done, progress.all)
}

fn times(chains: &Chains) -> [Option<Range<i64>>; 4] {
    let end = chains.end;
    [None, Some(end / 3..end / 2), Some(i64::MIN..end / 5), Some(end / 4..end / 4)]
}

#[test]
fn a_reading_has_done_all_rows_when_it_ends() {
    let root = tempfile::tempdir().expect("temporary directory");
    let (archive, chains) = archive(root.path());
    for (name, read) in all() {
        for time in times(&chains) {
            let watch = Watch::default();
            let watched = archive.clone().watched_by(&watch);
            let (before, mut last, mut seen) = (archive.rows_read(), Progress::default(), 0_u64);
            let mut see = || {
                let now = watch.progress();
                assert!(last.done <= now.done && last.all <= now.all && now.done <= now.all, "{name} {last:?} {now:?}");
                (last, seen) = (now, seen + 1);
            };
            read(&watched, time.clone(), &mut see).expect("read");
            let Progress { done, all, .. } = watch.progress();
            assert_eq!(done, all, "{name} {time:?}");
            assert!(all >= seen && (all > 0) == (seen > 0), "{name} {time:?}: {seen} rows of {all}");
            let read = archive.rows_read() - before;
            assert!(read <= all && (read == all || name == &"row_groups"), "{name} {time:?}: {read} of {all}");
        }
    }
}

#[test]
fn a_reading_that_has_enough_is_done() {
    let root = tempfile::tempdir().expect("temporary directory");
    let (archive, chains) = archive(root.path());
    let watch = Watch::default();
    let archive = archive.watched_by(&watch);
    let rows = chains.switches.len() as u64;
    archive.scan_while(None, |_: &Key| ControlFlow::Break(())).expect("read");
    assert_eq!(rows_of(&watch), (rows, rows));
    archive.scan_backwards_while(None, |_: &Key| ControlFlow::Break(())).expect("read");
    assert_eq!(rows_of(&watch), (2 * rows, 2 * rows));
}

#[test]
fn nothing_is_read_under_a_cancelled_watch() {
    let root = tempfile::tempdir().expect("temporary directory");
    let (archive, chains) = archive(root.path());
    let watch = Watch::default();
    watch.cancel();
    let watched = archive.clone().watched_by(&watch);
    for (name, read) in all() {
        // Nothing touches an empty range, which needs no reading.
        for time in &times(&chains)[..3] {
            let result = read(&watched, time.clone(), &mut || panic!("{name} shows a row"));
            assert!(matches!(result, Err(Error::Cancelled)), "{name} {time:?}: {result:?}");
        }
    }
    assert_eq!(watch.progress().done, 0);
    // Others read the same archive.
    assert_eq!(archive.rows::<ContextSwitchRow>().expect("read"), chains.switches);
}

#[test]
fn a_cancelled_reading_ends_with_its_row_group() {
    let root = tempfile::tempdir().expect("temporary directory");
    let (archive, chains) = archive(root.path());
    let rows = chains.switches.len();
    for (name, read) in READINGS {
        for after in [1, GROUP - 1, GROUP, 5 * GROUP + 7, rows] {
            let watch = Watch::default();
            let watched = archive.clone().watched_by(&watch);
            let mut seen = 0;
            let result = read(&watched, None, &mut || {
                seen += 1;
                if seen == after {
                    watch.cancel();
                }
            });
            // Backwards the first row group is the last one, which has fewer rows.
            let last = if name == &"scan_backwards" { (rows - 1) % GROUP + 1 } else { GROUP };
            let expected = (after.saturating_sub(last).next_multiple_of(GROUP) + last).min(rows);
            assert_eq!(seen, expected, "{name} after {after}");
            let Progress { done, all, .. } = watch.progress();
            assert_eq!(done, expected as u64, "{name} after {after}");
            match result {
                // What cannot be cancelled any more was read in full.
                Ok(()) => assert_eq!(seen, rows, "{name} after {after}"),
                Err(error) => assert!(matches!(error, Error::Cancelled), "{name} after {after}: {error}"),
            }
            assert!(all >= done && all <= rows as u64, "{name} after {after}: {done} of {all}");
        }
    }
}

#[test]
fn a_reading_that_counts_by_keys_ends_with_its_row_group() {
    let root = tempfile::tempdir().expect("temporary directory");
    let (archive, _) = archive(root.path());
    let (watch, seen) = (Watch::default(), Watch::default());
    let (cancelled, counted) = (watch.clone(), seen.clone());
    let result = archive.watched_by(&watch).fold_keys(ColumnSet::ALL, (), move |(), _: &Keys<'_, Key>| {
        assert!(!counted.is_cancelled(), "a row group behind the one in which it was cancelled");
        counted.cancel();
        cancelled.cancel();
        Ok(())
    });
    assert!(matches!(result, Err(Error::Cancelled)) && seen.is_cancelled(), "{result:?}");
}

#[test]
fn stacks_and_long_spans_are_watched() {
    let root = tempfile::tempdir().expect("temporary directory");
    let watch = Watch::default();
    let stacks = write_switches(&root.path().join("stacks.sift"), 50_000);
    let stacks = Archive::open(&stacks).expect("opened").watched_by(&watch);
    let mut seen = 0;
    stacks.scan_stacks(|_, _| seen += 1).expect("read");
    let rows = stacks.row_count::<StackRow>();
    assert_eq!((rows_of(&watch), seen), ((rows, rows), 50_000));

    let (switches, _) = archive(root.path());
    let switches = switches.watched_by(&watch);
    let mut seen = 0;
    switches.find_long_spans(&mut |_| seen += 1).expect("read");
    let Progress { done, all, .. } = watch.progress();
    assert!(seen > 20 && done == all && all > rows + 2 * 4_000, "{seen}: {done} of {all}");

    // One watch ends all that is read under it.
    watch.cancel();
    for result in [stacks.scan_stacks(|_, _| ()), switches.find_long_spans(&mut |_| ()), stacks.verify()] {
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    }
}
