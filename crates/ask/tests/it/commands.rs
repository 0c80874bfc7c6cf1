//! Answers of command lines, for tests that hold one question against another.

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_ask::answer::Value;
use tracesift_ask::options::Plan;
use tracesift_ask::recording::Source;
use tracesift_ask::{ask, question};

/// A row by the keys of its columns.
pub(crate) type Row = BTreeMap<&'static str, Value>;

/// The rows of a command such as `dump disk --by disk` about an archive.
pub(crate) fn rows(archive: &Path, words: &[&str]) -> Vec<Row> {
    let name = words[..2].join(" ");
    let known = question::DUMP.iter().find(|known| known.command == name).unwrap_or_else(|| panic!("no {name}"));
    let (when, plan) = known.plan(&words[2..]).unwrap_or_else(|error| panic!("{words:?}: {error:?}"));
    let Plan::Archives(asking) = plan else { panic!("{words:?} is not about archives") };
    let outcome = ask(&[Source::archive(archive.to_owned())], &*asking.question, &when);
    assert!(outcome.failures.is_empty(), "{words:?}: {:?}", outcome.failures);
    let keys: Vec<&'static str> = outcome.answer.columns.iter().map(|column| column.key).collect();
    outcome.answer.rows().map(|row| keys.iter().copied().zip(row.iter().cloned()).collect()).collect()
}

/// An integer; 0 where the row has none.
pub(crate) fn integer(row: &Row, key: &str) -> i64 {
    match row.get(key) {
        Some(Value::Int(value)) => *value,
        Some(_) => 0,
        None => panic!("no column {key}"),
    }
}

/// The figures of the buckets of a row of `dump timeline`.
pub(crate) fn values(row: &Row) -> Vec<i64> {
    match &row["values"] {
        Value::Integers(values) => values.clone(),
        other => panic!("{other:?} in place of values"),
    }
}

/// What names a row: the texts of some columns.
pub(crate) fn texts(row: &Row, keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| format!("{:?}", row[key])).collect()
}

/// `--time` of a range, ns.
pub(crate) fn time(start: i64, end: i64) -> String {
    format!("--time={start}ns..{end}ns")
}

/// Figures of lanes by buckets.
pub(crate) type Lanes = BTreeMap<Vec<String>, Vec<i64>>;

/// The lanes of `dump timeline`, by what names them. Two with one name are one.
pub(crate) fn lanes(rows: &[Row], keys: &[&str]) -> Lanes {
    let mut lanes = Lanes::new();
    for row in rows {
        let values = values(row);
        let total = ["total_ns", "total_bytes", "total"].map(|key| integer(row, key)).iter().sum::<i64>();
        assert_eq!(values.iter().sum::<i64>(), total);
        let sums = lanes.entry(texts(row, keys)).or_insert_with(|| vec![0; values.len()]);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    lanes
}

/// The figures of another question about the time of each bucket, `first` + n × `width` cut to `range`.
pub(crate) fn by_bucket(
    archive: &Path,
    words: &[&str],
    (keys, figure): (&[&str], &str),
    ((start, end), first, width): ((i64, i64), i64, i64),
    count: usize,
) -> Lanes {
    let mut lanes = Lanes::new();
    for place in 0..count {
        let from = first + width * place as i64;
        let time = time(from.max(start), (from + width).min(end));
        for row in rows(archive, &[words, &[time.as_str()]].concat()) {
            let value = integer(&row, figure);
            if value != 0 {
                lanes.entry(texts(&row, keys)).or_insert_with(|| vec![0; count])[place] += value;
            }
        }
    }
    lanes
}
