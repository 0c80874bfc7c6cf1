//! Rows that are found with the index of long spans are those that are found without it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use tracesift_archive::{Archive, ArchiveWriter, WriterOptions};
use tracesift_testing::archive::{Random, TRACE};
use tracesift_testing::chains::{Chains, chains};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, LongSpanRow, switch_flags};
use tracesift_trace::{Clock, Health, RowSink as _, ThreadId};

pub(crate) const GROUP: usize = 128;

/// Writes the archive with its index.
pub(crate) fn write(target: &Path, chains: &Chains) -> Archive {
    let options = WriterOptions { trace: TRACE.to_owned(), group_rows: Some(GROUP), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(target, options).expect("created");
    writer.write_table(&chains.threads);
    chains.switches.iter().for_each(|row| writer.context_switch(row));
    let clock = Clock::new(0, 10_000_000);
    let mut sealed = writer.seal(TraceInfo::default(), &clock).wait().expect("sealed");
    let archive = sealed.archive().clone();
    let mut found = Ok(());
    sealed.write_each(|write| found = archive.find_long_spans(write));
    found.expect("found");
    Archive::open(&sealed.finish(&Health::new(), &clock).expect("finished")).expect("opened")
}

pub(crate) fn ranges(random: &mut Random, end: i64) -> Vec<Range<i64>> {
    let mut ranges: Vec<_> = (0..60)
        .map(|_| {
            let length = [0, 1, 50, end / 50 + 1, end / 5 + 1][random.below(5)];
            let start = random.below(usize::try_from(end + 200).expect("small")) as i64 - 100;
            start..start + length
        })
        .collect();
    ranges.extend([i64::MIN..i64::MAX, i64::MIN..0, end..i64::MAX, 0..end, end..end + 1]);
    ranges
}

fn touches(row: &ContextSwitchRow, time: &Range<i64>) -> bool {
    !time.is_empty() && row.off_time < time.end && row.time > time.start
}

/// The rows, by their place in the table, without which it cannot be told what threads and CPUs do in a range.
fn needed(all: &Chains, time: &Range<i64>) -> Vec<usize> {
    let mut needed = Vec::new();
    let mut neighbours = |chain: &[(usize, i64, i64)], life: (i64, i64)| {
        // What lies between the rows of a chain, and before and behind them.
        for place in 0..chain.len() {
            let (row, start, end) = chain[place];
            let before = place.checked_sub(1).map_or(life.0, |before| chain[before].2);
            let behind = chain.get(place + 1).map_or(life.1, |behind| behind.1);
            let touches = |start: i64, end: i64| start <= time.end && end >= time.start;
            if touches(start, end) || touches(before, start) || touches(end, behind) {
                needed.push(row);
            }
        }
    };
    let (mut threads, mut cpus) = (BTreeMap::<ThreadId, Vec<_>>::new(), BTreeMap::<(i16, bool), Vec<_>>::new());
    for (place, row) in all.switches.iter().enumerate() {
        threads.entry(row.thread).or_default().push((place, row.off_time, row.time));
        let is_switch_in = row.flags & switch_flags::NO_SWITCH_IN == 0;
        if let Some(cpu) = row.cpu {
            cpus.entry((cpu, false)).or_default().push((place, row.time, row.time));
            if is_switch_in {
                cpus.entry((cpu, true)).or_default().push((place, row.time, row.time));
            }
        }
    }
    for thread in &all.threads {
        let life = (thread.start.unwrap_or(i64::MIN), thread.end.unwrap_or(i64::MAX));
        threads.get(&thread.thread).into_iter().for_each(|chain| neighbours(chain, life));
    }
    cpus.values().for_each(|chain| neighbours(chain, (i64::MIN, i64::MAX)));
    let is_of = |cpu: i16, row: &ContextSwitchRow| row.cpu == Some(cpu) && row.prev_thread.is_some();
    needed.extend(cpus.keys().filter_map(|(cpu, _)| all.switches.iter().position(|row| is_of(*cpu, row))));
    needed.sort_unstable();
    needed.dedup();
    needed
}

#[test]
fn rows_in_a_range_are_the_same_with_the_index() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut skipped = 0;
    for seed in 0..8 {
        let all = chains(seed, 4_000);
        let archive = write(&root.path().join(format!("{seed}.sift")), &all);
        assert!(archive.row_count::<LongSpanRow>() > 20, "seed {seed} has no index");
        let groups = archive.row_groups::<ContextSwitchRow>(None).expect("read").numbers().len();
        assert!(groups > 25, "{groups} row groups");
        for (place, time) in ranges(&mut Random(seed + 1_000), all.end).into_iter().enumerate() {
            let expected: Vec<_> = all.switches.iter().filter(|row| touches(row, &time)).cloned().collect();
            let before = archive.rows_read();
            let mut found = Vec::new();
            archive.scan(Some(time.clone()), |row: &ContextSwitchRow| found.push(row.clone())).expect("read");
            assert!(found == expected, "seed {seed}, {time:?}: {} rows of {}", found.len(), expected.len());
            skipped += u64::from(archive.rows_read() - before < all.switches.len() as u64 / 2);

            let mut backwards = Vec::new();
            archive
                .scan_backwards(Some(time.clone()), |row: &ContextSwitchRow| backwards.push(row.clone()))
                .expect("read");
            backwards.reverse();
            assert!(backwards == expected, "seed {seed}, {time:?} backwards");

            // Each row group is a pass over the file.
            if place % 8 > 0 {
                continue;
            }
            let mut of_groups = Vec::new();
            let groups = archive.row_groups::<ContextSwitchRow>(Some(time.clone())).expect("read");
            for group in groups.numbers() {
                groups.scan(*group, |row: &ContextSwitchRow| of_groups.push(row.clone())).expect("read");
            }
            assert!(of_groups == expected, "seed {seed}, {time:?} by row groups");
        }
    }
    assert!(skipped > 100, "few ranges left rows out: {skipped}");
}

#[test]
fn rows_around_a_range_have_all_that_tells_what_happens_in_it() {
    let root = tempfile::tempdir().expect("temporary directory");
    for seed in 100..108 {
        let all = chains(seed, 4_000);
        let archive = write(&root.path().join(format!("{seed}.sift")), &all);
        for time in ranges(&mut Random(seed), all.end) {
            let mut found = Vec::new();
            archive.scan_around(Some(time.clone()), |row: &ContextSwitchRow| found.push(row.clone())).expect("read");
            // They are rows of the table, in their order.
            let mut rows = all.switches.iter().enumerate();
            let places: Vec<usize> = found
                .iter()
                .map(|row| rows.find(|(_, known)| *known == row).expect("a row of the table, in its order").0)
                .collect();
            let needed = needed(&all, &time);
            let missing: Vec<_> = needed.iter().filter(|place| places.binary_search(place).is_err()).collect();
            // Of equal rows the first one may stand for the second.
            let missing: Vec<_> = missing.iter().filter(|place| !found.contains(&all.switches[***place])).collect();
            assert!(missing.is_empty(), "seed {seed}, {time:?}: {missing:?}");

            let mut backwards = Vec::new();
            archive
                .scan_around_backwards(Some(time.clone()), |row: &ContextSwitchRow| backwards.push(row.clone()))
                .expect("read");
            backwards.reverse();
            assert!(backwards == found, "seed {seed}, {time:?} backwards");
        }
    }
}

#[test]
fn rows_that_contradict_each_other_have_no_index() {
    let root = tempfile::tempdir().expect("temporary directory");
    let all = chains(7, 4_000);
    let index_of = |name: &str, chains: &Chains| write(&root.path().join(name), chains).row_count::<LongSpanRow>();
    assert!(index_of("sound.sift", &all) > 0);
    let mut overlapping = all.clone();
    let place = overlapping.switches.len() / 2;
    overlapping.switches[place].off_time = 0;
    assert_eq!(index_of("overlapping.sift", &overlapping), 0);
    let mut unordered = all.clone();
    unordered.switches.swap(place, place + 300);
    assert_eq!(index_of("unordered.sift", &unordered), 0);
    let mut unknown = all.clone();
    unknown.threads.truncate(3);
    assert_eq!(index_of("unknown.sift", &unknown), 0);
    let mut short = all;
    short.switches.truncate(2 * GROUP);
    assert_eq!(index_of("short.sift", &short), 0);
}
