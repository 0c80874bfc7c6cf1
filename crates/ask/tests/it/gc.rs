//! `dump gc` over collections that are known: a pause counts with its part in a time range, a collection where its last pause ends.

use std::path::{Path, PathBuf};

use clap::{Args as _, FromArgMatches as _};
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::options::{Plan, QuestionOptions as _};
use tracesift_ask::question::gc;
use tracesift_ask::recording::Source;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{When, ask};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::rows::process;
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{GcCollectionRow, GcFinalizedRow, GcSuspensionRow};
use tracesift_trace::{ProcessId, RowSink as _};

/// Number, process, generation, kind, reason, end, parts of the pause, allocated bytes.
type Known = (i32, i32, i8, i8, i8, i64, &'static [i64], Option<i64>);

/// The second one is in the background: the third one runs in its first pause, the fourth while threads run. The last one has no
/// suspension.
const COLLECTIONS: [Known; 6] = [
    (1, 1, 0, 0, 0, 48, &[40, 50], Some(1_000)),
    (3, 1, 0, 0, 0, 120, &[115, 125], Some(0)),
    (4, 1, 1, 2, 1, 210, &[200, 216], Some(500)),
    (2, 1, 2, 1, 0, 430, &[100, 115, 125, 130, 400, 420], Some(2_000)),
    (1, 2, 2, 0, 1, 460, &[405, 465], None),
    (2, 2, 0, 0, 4, 490, &[], None),
];

fn archive() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut writer = create(&directory.path().join("gc.sift"));
    writer.write_table(&[process(1, 100, "server"), process(2, 200, "tool")]);
    for (number, process, generation, kind, reason, time, pauses, allocated) in COLLECTIONS {
        let pause: i64 = pauses.chunks(2).map(|part| part[1] - part[0]).sum();
        writer.gc_collection(&GcCollectionRow {
            time,
            start: pauses.first().copied().unwrap_or(time - 5),
            process: ProcessId(process),
            runtime: 9,
            number,
            generation,
            kind,
            reason,
            pause: (!pauses.is_empty()).then_some(pause),
            pauses: (!pauses.is_empty()).then(|| pauses.to_vec()),
            since_pause: allocated.and(Some(100)),
            allocated,
            allocated_large: allocated.and(Some(0)),
            size_before: Some(vec![1_000, i64::from(number) * 100]),
            peak_size: Some(1_000 + i64::from(number) * 100),
            size_after: Some(vec![100, 300]),
            free: Some(vec![0, 40]),
            promoted: Some(vec![50, 1]),
            heap_size: Some(400),
            ..GcCollectionRow::default()
        });
    }
    for (start, time, process, collection) in [(40, 50, 1, Some(1)), (480, 490, 1, None), (492, 494, 2, None)] {
        writer.gc_suspension(&GcSuspensionRow {
            start,
            time,
            process: ProcessId(process),
            reason: if collection.is_some() { 1 } else { 4 },
            collection,
            ..GcSuspensionRow::default()
        });
    }
    let finalized = |process: i32, name: &str, count: i64| GcFinalizedRow {
        process: ProcessId(process),
        type_name: Some(name.to_owned()),
        count,
        first: 10,
        last: 20,
    };
    writer.gc_finalized(&finalized(1, "A.Stream", 3));
    writer.gc_finalized(&finalized(2, "A.Timer", 7));
    let info = TraceInfo { kind: "etl".to_owned(), end_ns: 500, ..TraceInfo::default() };
    let archive = finish_as(writer, info);
    (directory, archive)
}

fn answer(archive: &Path, words: &[&str], time: Option<(i64, i64)>) -> Answer {
    let command = gc::Options::augment_args(clap::Command::new("gc").no_binary_name(true));
    let command = command.arg(clap::Arg::new("details").long("details").action(clap::ArgAction::SetTrue));
    let matches = command.try_get_matches_from(words).expect("options");
    let options = gc::Options::from_arg_matches(&matches).expect("options");
    let Plan::Archives(asking) = options.plan(&mut |warning| panic!("{warning}")).expect("a plan") else {
        panic!("archives answer");
    };
    let mut when = When::default();
    if let Some((start, end)) = time {
        when.time = format!("{start}ns..{end}ns").parse::<TimeSpec>().expect("a time range");
    }
    ask(&[Source::archive(archive.to_owned())], asking.question.as_ref(), &when).answer
}

/// The figures of each row by its keys.
fn figures(answer: &Answer, keys: &[&str]) -> Vec<Vec<Option<i64>>> {
    let at =
        |key: &&str| answer.columns.iter().position(|column| column.key == *key).unwrap_or_else(|| panic!("{key}"));
    let int = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?}"),
    };
    answer.rows().map(|row| keys.iter().map(|key| int(&row[at(key)])).collect()).collect()
}

const KEYS: [&str; 6] = ["pid", "collections", "pause_sum_ns", "pause_max_ns", "gen2", "induced"];

#[test]
fn a_row_is_a_process() {
    let (_directory, archive) = archive();
    let answer = answer(&archive, &[], None);
    let tool = [200, 2, 60, 60, 1, 1].map(Some).to_vec();
    let server = [100, 4, 10 + 10 + 16 + 40, 20, 1, 1].map(Some).to_vec();
    assert_eq!(figures(&answer, &KEYS), [tool, server]);
    let more = ["allocated_bytes", "ran_ns", "peak_bytes", "after_max_bytes", "promoted_bytes", "without_pause"];
    let tool = vec![None, None, Some(1_200), Some(400), Some(102), Some(1)];
    let server = [3_500, 400, 1_400, 400, 204, 0].map(Some).to_vec();
    assert_eq!(figures(&answer, &more), [tool, server]);
    // Both processes stood from 405 to 420.
    let by_kind = self::answer(&archive, &["--by", "reason"], None);
    let union: Vec<_> = figures(&by_kind, &["pause_sum_ns", "pause_union_ns"]);
    assert_eq!(union, [vec![None, None], vec![Some(60), Some(60)], vec![Some(76), Some(76)]].map(|row| row));
}

#[test]
fn a_pause_counts_with_its_part() {
    let (_directory, archive) = archive();
    // The first pause in the background is cut, with the collection in it, and is the longest one as a whole; the collection in the
    // background ends later.
    let server = |time| figures(&answer(&archive, &["-p", "server"], Some(time)), &KEYS[1..4]);
    assert_eq!(server((110, 210)), [[1, 5 + 10 + 5 + 10, 15].map(Some).to_vec()]);
    assert_eq!(server((410, 500)), [[1, 10, 20].map(Some).to_vec()]);
    assert_eq!(server((300, 405)), [[Some(0), Some(5), None].to_vec()]);
    // Parts of a recording add up to the whole.
    let parts = [(0, 47), (47, 118), (118, 207), (207, 411), (411, 500)];
    let parts = parts.iter().flat_map(|time| server(*time));
    let sums = parts.fold((0, 0), |sums, row| (sums.0 + row[0].unwrap_or(0), sums.1 + row[1].unwrap_or(0)));
    assert_eq!(sums, (4, 76));
}

#[test]
fn filters_keep_collections() {
    let (_directory, archive) = archive();
    let many = |words: &[&str]| figures(&answer(&archive, words, None), &["collections"]);
    assert_eq!(many(&["--induced", "--by", "kind"]), [[Some(1)], [Some(1)]]);
    assert_eq!(many(&["--kind", "background", "--by", "kind"]), [[Some(1)]]);
    assert_eq!(many(&["--generation", "0", "-p", "server"]), [[Some(2)]]);
    assert_eq!(many(&["--reason", "large*"]), [[Some(1)]]);
    assert_eq!(many(&["--min-pause", "40ns", "--by", "generation"]), [[Some(2)]]);
}

#[test]
fn a_list_has_each_pause() {
    let (_directory, archive) = archive();
    let list = answer(&archive, &["--list"], None);
    let found = figures(&list, &["number", "duration_ns", "collection_pause_ns", "peak_bytes"]);
    assert_eq!(found.len(), 8);
    let background: Vec<_> = found.iter().filter(|row| row[0] == Some(2) && row[2] == Some(40)).collect();
    assert_eq!(background.iter().map(|row| row[1]).collect::<Vec<_>>(), [5, 15, 20].map(Some));
    assert!(found.iter().any(|row| *row == [Some(2), None, None, Some(1_200)]), "{found:?}");
}

#[test]
fn notes_tell_of_other_suspensions_and_finalizers() {
    let (_directory, archive) = archive();
    let notes = |words: &[&str]| answer(&archive, words, None).sections[0].notes.join("\n");
    assert!(notes(&[]).contains("2 times without a collection"), "{}", notes(&[]));
    assert!(notes(&[]).contains("finalizers of 10 objects ran: A.Timer 7, A.Stream 3"), "{}", notes(&[]));
    let server = notes(&["-p", "server"]);
    assert!(server.contains("once without a collection") && server.contains("3 objects"), "{server}");
}
