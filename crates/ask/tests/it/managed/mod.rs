//! Questions about the .NET runtime, asked of real recordings and of recordings made byte by byte.

mod exceptions;
mod gc;
mod gcalloc;
mod jit;

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask};
use tracesift_etl::write::PointerSize;
use tracesift_extract::Options;
use tracesift_fixtures::cases;
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::{Extracted, Recording, try_extract};

/// The archive of a real recording; `None`: there are no shared cases.
fn real(name: &str) -> Option<(TempDir, PathBuf)> {
    let file = cases("etl")?.join(name);
    let out = tempfile::tempdir().expect("a directory");
    let options = Options { out: Some(out.path().to_owned()), ..Options::default() };
    let report = try_extract(&file, &options).expect("an extract").pop().expect("a report");
    Some((out, report.archive))
}

/// A recording of ten seconds with these events, of process 7, `app.exe`.
fn made(pointer_size: PointerSize, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(pointer_size, 10, &[(7, "app.exe"), (9, "other.exe")], events).expect("a recording");
    Recording::of("managed.etl", &bytes).extract()
}

fn answer(archive: &Path, question: &dyn Ask) -> Answer {
    ask(&[Source::archive(archive.to_owned())], question, &When::default()).answer
}

/// The columns of each row, texts and numbers as text.
fn table(answer: &Answer, keys: &[&str]) -> Vec<Vec<String>> {
    let place = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let text = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::None => "-".to_owned(),
        other => panic!("{other:?}"),
    };
    answer.rows().map(|row| keys.iter().map(|key| text(&row[place(key)])).collect()).collect()
}

/// The row that begins with this text.
fn row<'a>(rows: &'a [Vec<String>], first: &str) -> &'a [String] {
    rows.iter().find(|row| row[0] == first).unwrap_or_else(|| panic!("no row of {first}: {rows:?}"))
}

/// Nanoseconds as milliseconds with three digits, as other tools print them.
fn ms(ns: &str) -> String {
    let ns: i64 = ns.parse().expect("a number");
    format!("{:.3}", ns as f64 / 1e6)
}
