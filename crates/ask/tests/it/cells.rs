//! Values of the rows of an answer by the keys of their columns, and a recording that has most kinds of them.

use tracesift_ask::Ask;
use tracesift_ask::answer::Value;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_extract::Options;
use tracesift_scenario::story;
use tracesift_testing::recording::extract_file;

/// The shortest recording of the demo.
pub(crate) fn recording(directory: &tempfile::TempDir) -> OpenRecording {
    let figures = story::figures().into_iter().min_by_key(|figures| story::scenario(figures).recording.end_ticks);
    let bytes = story::scenario(&figures.expect("a story")).bytes().expect("a recording");
    let file = directory.path().join("demo.etl");
    std::fs::write(&file, bytes).expect("written");
    OpenRecording::open(&Source::archive(extract_file(&file, &Options::default()).archive)).expect("opened")
}

pub(crate) fn value<'a>(question: &dyn Ask, row: &'a [Value], key: &str) -> &'a Value {
    let place = question.columns().iter().position(|column| column.key == key);
    &row[place.unwrap_or_else(|| panic!("no column {key}"))]
}

pub(crate) fn integer(question: &dyn Ask, row: &[Value], key: &str) -> i64 {
    if let Value::Int(value) = value(question, row, key) { *value } else { 0 }
}

pub(crate) fn text(question: &dyn Ask, row: &[Value], key: &str) -> String {
    if let Value::Text(text) = value(question, row, key) { text.to_string() } else { String::new() }
}
