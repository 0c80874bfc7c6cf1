//! `dump memory --pressure` over a recording of which each reclaim is known.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value;
use tracesift_ask::question::memory::pressure::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask as _, When, ask};
use tracesift_fixtures::perf_data::Endianness;
use tracesift_fixtures::reclaims::{BEGIN, Kernel, PROCESSES, Reclaim, recording};
use tracesift_testing::recording::{Extracted, Recording};

const KINDS: [&str; 5] = ["reclaim", "cgroup reclaim", "kswapd", "compaction", "out of memory"];
const COLUMNS: [&str; 7] = ["reclaims", "total_ns", "union_ns", "longest_ns", "reclaimed", "kills", "under_way"];

/// Figures by process and kind; no sum of bytes is −1.
type Sums = BTreeMap<Vec<String>, [i64; 7]>;

fn extracted() -> (Extracted, Vec<Reclaim>) {
    let (recording, truth) = recording(Endianness::LittleEndian, Kernel::New);
    (Recording::of("reclaims.data", &recording.file()).extract(), truth)
}

/// Sums of the truth in `[from, until)`, instant by instant.
fn expected(truth: &[Reclaim], key: impl Fn(&Reclaim) -> Vec<String>, from: i64, until: i64) -> Sums {
    let mut groups: BTreeMap<Vec<String>, Vec<&Reclaim>> = BTreeMap::new();
    let span = |row: &Reclaim| ((row.start - BEGIN).cast_signed(), (row.end - BEGIN).cast_signed());
    let is_in = |row: &&Reclaim, at: i64| span(row).0 <= at && at < span(row).1;
    let ends = |row: &Reclaim| (from..until).contains(&span(row).1);
    for row in truth {
        if (from..until).any(|at| is_in(&row, at)) || ends(row) {
            groups.entry(key(row)).or_default().push(row);
        }
    }
    let sums = |rows: Vec<&Reclaim>| {
        let ended = || rows.iter().filter(|row| ends(row));
        let length = |row: &&&Reclaim| (from..until).filter(|at| is_in(row, *at)).count() as i64;
        let pages: Option<i64> = ended().filter_map(|row| row.pages).reduce(|sum, pages| sum + pages);
        [
            ended().filter(|row| row.kind != 4).count() as i64,
            rows.iter().map(|row| length(&row)).sum(),
            (from..until).filter(|at| rows.iter().any(|row| is_in(row, *at))).count() as i64,
            ended().map(|row| span(row).1 - span(row).0).max().unwrap_or(-1),
            pages.map_or(-1, |pages| pages * 4096),
            ended().filter(|row| row.kind == 4).count() as i64,
            ended().filter(|row| row.is_open).count() as i64,
        ]
    };
    groups.into_iter().map(|(key, rows)| (key, sums(rows))).collect()
}

fn process(row: &Reclaim) -> String {
    PROCESSES.iter().find(|(tid, _)| *tid == row.tid).expect("a process").1.to_owned()
}

fn kind(row: &Reclaim) -> String {
    KINDS[usize::try_from(row.kind).expect("a kind")].to_owned()
}

fn found(source: &Source, question: &Question, time: &str, keys: &[&str]) -> Sums {
    let when = When { time: time.parse().expect("a range"), ..When::default() };
    let outcome = ask(std::slice::from_ref(source), question, &when);
    let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| if let Value::Text(text) = value { text.to_string() } else { panic!("{value:?}") };
    let int = |value: &Value| match value {
        Value::Int(number) => *number,
        Value::None => -1,
        other => panic!("{other:?}"),
    };
    let rows = outcome.answer.rows();
    rows.map(|row| (keys.iter().map(|key| text(&row[at(key)])).collect(), COLUMNS.map(|column| int(&row[at(column)]))))
        .collect()
}

#[test]
fn sums_are_those_of_the_reclaims() {
    let (extracted, truth) = extracted();
    let source = Source::archive(extracted.report.archive.clone());
    let usual = Question::default();
    let by_both = |row: &Reclaim| vec![process(row), kind(row)];
    let whole = expected(&truth, by_both, 0, 701);
    assert_eq!(found(&source, &usual, "..", &["process", "kind"]), whole);
    assert_eq!(whole[&vec!["eater".to_owned(), "reclaim".to_owned()]], [1, 100, 100, 100, 32 * 4096, 0, 0]);
    assert_eq!(whole[&vec!["kswapd0".to_owned(), "kswapd".to_owned()]], [2, 200, 200, 100, -1, 0, 1]);
    // What one does inside of the other is in both kinds, and once in the united time of the process.
    let by_process = Question::default().by(&["process"]).expect("a dimension");
    let one = |row: &Reclaim| vec![process(row)];
    assert_eq!(found(&source, &by_process, "..", &["process"]), expected(&truth, one, 0, 701));
    for (from, until) in [(150, 250), (0, 120), (310, 360), (521, 700), (100, 101)] {
        let time = format!("{from}ns..{until}ns");
        assert_eq!(
            found(&source, &usual, &time, &["process", "kind"]),
            expected(&truth, by_both, from, until),
            "{time}"
        );
    }
    assert_eq!(usual.sorted_by(), Some("total_ns"));
}
