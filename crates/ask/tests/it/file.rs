//! `dump file` over operations that are known, from the recording to the answer.

use std::collections::BTreeMap;

use tracesift_ask::answer::Value;
use tracesift_ask::question::file;
use tracesift_ask::recording::Source;
use tracesift_ask::{When, ask};
use tracesift_scenario::PointerSize;
use tracesift_scenario::files::{self, Kind, Operation};
use tracesift_testing::recording::Recording;

type Sums = BTreeMap<(i64, String), [i64; 8]>;

/// Reads, bytes read, time of reads, writes, bytes written, failed, open, time by process and file, from the operations alone.
fn expected(all: &[Operation]) -> Sums {
    let mut sums = Sums::new();
    for of in all {
        let path = files::path(of.file).unwrap_or_else(|| "(no file)".to_owned());
        let sum = sums.entry((of.by.0.into(), path)).or_default();
        let (time, bytes, failed) = match of.end {
            Some((time, bytes, status)) => (time - of.start, bytes as i64, status != 0),
            None => (0, 0, false),
        };
        let of_kind = |kind: Kind, figure: i64| if of.kind == kind { figure } else { 0 };
        let more = [
            of_kind(Kind::Read, 1),
            of_kind(Kind::Read, bytes),
            of_kind(Kind::Read, time),
            of_kind(Kind::Write, 1),
            of_kind(Kind::Write, bytes),
            failed.into(),
            of.end.is_none().into(),
            time,
        ];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    sums
}

#[test]
fn sums_are_those_of_the_operations() {
    for (seed, source) in [(1, files::Source::Class(3)), (2, files::Source::Provider(1)), (3, files::Source::Class(2))]
    {
        let all = files::operations(seed);
        let bytes = files::write(&all, source, PointerSize::Eight, true).expect("a recording");
        let extracted = Recording::of("files.etl", &bytes).extract();
        let source = Source::archive(extracted.report.archive.clone());
        let outcome = ask(&[source], &file::Question::default(), &When::default());
        let at = |key: &str| outcome.answer.columns.iter().position(|column| column.key == key).expect("a column");
        let places =
            ["reads", "read_bytes", "read_ns", "writes", "write_bytes", "failed", "open_ended", "total_ns"].map(at);
        let int = |value: &Value| if let Value::Int(number) = value { *number } else { panic!("{value:?}") };
        let found: Sums = outcome
            .answer
            .rows()
            .map(|row| {
                let Value::Text(path) = &row[at("path")] else { panic!("{row:?}") };
                ((int(&row[at("pid")]), path.clone()), places.map(|place| int(&row[place])))
            })
            .collect();
        assert_eq!(found, expected(&all), "seed {seed}");
        assert!(found.len() > 10, "{found:?}");
    }
}
