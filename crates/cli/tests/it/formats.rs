//! CSV and Parquet have what JSON has: a row for each row, a column for each key, value by value.
//!
//! CSV is read by a reader that is written here after RFC 4180, Parquet by the reader of the `parquet` crate.

use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tracesift_fixtures::cases;

use crate::support::{archives, run};

/// Every question, in forms that have other columns.
const QUESTIONS: &[&[&str]] = &[
    &["cpu"],
    &["cpu", "--core-numbers", "--show-modules"],
    &["cpu", "--merge"],
    &["cpu", "--merge", "--methods", "*", "--stacktags", "*"],
    &["cpu", "--methods", "*", "--percentiles", "--cores"],
    &["cpu", "--stacktags", "*"],
    &["cpu", "--bucket", "100ms"],
    &["threads"],
    &["stacks"],
    &["waits"],
    &["waits", "--by", "method"],
    &["waits", "--by", "waker"],
    &["waits", "--by", "thread"],
    &["waits", "--by", "process"],
    &["syscalls"],
    &["syscalls", "--per-thread"],
    &["syscalls", "--by", "call"],
    &["syscalls", "--by", "process"],
    &["syscalls", "--by", "thread"],
    &["syscalls", "--by", "error"],
    &["process"],
    &["version"],
    &["version", "--per-process"],
    &["testrun"],
    &["testrun", "--print-files"],
    &["stats"],
];

/// An answer in a file.
fn written(directory: &Path, question: &[&str], inputs: &[&str], file: &str) -> (PathBuf, String) {
    let said = run(directory, &[&["dump"], question, inputs, &["--out", file]].concat());
    // A recording without such rows has a file without rows, and says so.
    let is_absent = said.starts_with("exit: 1\n") && said.contains("note: 0 rows written") && said.contains("not ");
    assert!(said.starts_with("exit: 0\n") || is_absent, "{question:?}: {said}");
    (directory.join(file), said)
}

/// The records of a CSV file: fields between commas, in quotes where they have a comma, a quote or a line break.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(next) = rest.next() {
        match next {
            '"' if is_quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\r' if !is_quoted && rest.peek() == Some(&'\n') => {
                rest.next();
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    assert!(!is_quoted && field.is_empty() && record.is_empty(), "the file ends with a record");
    records
}

/// A cell as JSON has it. What stands there tells what kind of value it must be.
fn cell(text: &str, expected: &Value) -> Value {
    match expected {
        Value::Null | Value::String(_) if text.is_empty() => expected.clone(),
        // What a spreadsheet would take for a formula has an apostrophe in front.
        Value::String(expected) if text == format!("'{expected}") => Value::from(expected.as_str()),
        Value::Null | Value::String(_) => Value::from(text),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(format!("not JSON: {text}"))),
    }
}

fn csv_rows(file: &Path, expected: &[Map<String, Value>]) -> Vec<Map<String, Value>> {
    let mut records = records(&fs::read_to_string(file).unwrap()).into_iter();
    let header = records.next().expect("a heading");
    let row = |(at, record): (usize, Vec<String>)| {
        assert_eq!(record.len(), header.len(), "row {at} of {}", file.display());
        let nothing = Value::from("not in JSON");
        let value = |(key, text): (&String, &String)| {
            let expected = expected.get(at).and_then(|row| row.get(key)).unwrap_or(&nothing);
            (key.clone(), cell(text, expected))
        };
        header.iter().zip(&record).map(value).collect()
    };
    records.enumerate().map(row).collect()
}

/// A value of an array as JSON; of a structure also what is null.
fn stored(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let all = |array: &ArrayRef| (0..array.len()).map(|row| stored(array, row)).collect::<Vec<_>>();
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::List(_) => all(&array.as_list::<i32>().value(row)).into(),
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (all(entries.column(0)), all(entries.column(1)));
            keys.iter().map(|key| key.as_str().unwrap().to_owned()).zip(values).collect::<Map<_, _>>().into()
        }
        DataType::Struct(fields) => {
            let members = fields.iter().zip(array.as_struct().columns());
            members.map(|(field, column)| (field.name().clone(), stored(column, row))).collect::<Map<_, _>>().into()
        }
        other => panic!("{other} is no type of an answer"),
    }
}

fn parquet_rows(file: &Path) -> Vec<Map<String, Value>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(file).unwrap()).unwrap();
    let mut rows = Vec::new();
    for batch in builder.build().unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let members = batch.schema_ref().fields().iter().zip(batch.columns());
            rows.push(members.map(|(field, column)| (field.name().clone(), stored(column, row))).collect());
        }
    }
    rows
}

/// Objects inside of a row leave out what they do not know, where Parquet has a null; numbers are the same whether whole or not.
fn alike(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => found.as_f64() == expected.as_f64(),
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| alike(found, expected))
        }
        (Value::Object(found), Value::Object(expected)) => {
            let has = |key: &String, value: &Value| found.get(key).is_some_and(|found| alike(found, value));
            expected.iter().all(|(key, value)| has(key, value))
                && found.iter().all(|(key, value)| value.is_null() || expected.contains_key(key))
        }
        _ => found == expected,
    }
}

fn compare(what: &str, found: &[Map<String, Value>], expected: &[Map<String, Value>]) {
    assert_eq!(found.len(), expected.len(), "rows of {what}");
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        let keys = |row: &Map<String, Value>| row.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(found), keys(expected), "columns of {what}");
        for (key, value) in expected {
            assert!(alike(&found[key], value), "{what}, row {number}, {key}: {} instead of {value}", found[key]);
        }
    }
}

/// All questions about these files, and the number of rows of each.
fn compare_all(directory: &Path, inputs: &[&str]) -> Vec<usize> {
    let mut counts = Vec::new();
    for question in QUESTIONS {
        let (json, _) = written(directory, question, inputs, "a.json");
        let rows: Vec<Map<String, Value>> = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        let (csv, said) = written(directory, question, inputs, "a.csv");
        compare(&format!("{question:?} as CSV"), &csv_rows(&csv, &rows), &rows);
        let counted = if rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", rows.len()) };
        assert!(said.contains(&format!("note: {counted} written to a.csv\n")), "{said}");
        let (parquet, _) = written(directory, question, inputs, "a.parquet");
        compare(&format!("{question:?} as Parquet"), &parquet_rows(&parquet), &rows);
        counts.push(rows.len());
    }
    counts
}

#[test]
fn csv_and_parquet_have_the_rows_and_columns_of_json() {
    let directory = archives();
    compare_all(directory.path(), &["."]);
}

#[test]
fn csv_and_parquet_of_recordings_have_the_rows_and_columns_of_json() {
    let Some(cases) = cases("") else { return };
    let directory = TempDir::new().unwrap();
    for case in ["perf/linuxtracepoints.perf.data", "etl/net.4.5.2.x64.etl.zip"] {
        let file = cases.join(case);
        let said = run(directory.path(), &["extract", &file.to_string_lossy(), "--out", "archives"]);
        assert!(said.starts_with("exit: 0\n"), "{said}");
    }
    let counts = compare_all(directory.path(), &["archives"]);
    // Questions about what was not recorded have no rows; most of it was.
    assert!(counts.iter().filter(|count| **count > 0).count() * 4 > counts.len() * 3, "{counts:?}");
}

/// The rows of an answer as they are with `--explode`. The members of an object are those that the heading has, at least.
fn exploded(rows: &[Map<String, Value>], list: &str, heading: &[String]) -> Vec<Map<String, Value>> {
    let keys: Vec<&str> = heading.iter().filter_map(|name| name.strip_prefix(&format!("{list}_"))).collect();
    for object in rows.iter().flat_map(|row| row[list].as_array().into_iter().flatten()) {
        let all = object.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str()));
        assert!(all && !keys.is_empty(), "{keys:?}: {object}");
    }
    let with = |row: &Map<String, Value>, object: &Value| {
        let mut members = Map::new();
        for (key, value) in row {
            if key == list {
                let of_object = |key: &&str| (format!("{list}_{key}"), object.get(key).cloned().unwrap_or_default());
                members.extend(keys.iter().map(of_object));
            } else {
                members.insert(key.clone(), value.clone());
            }
        }
        members
    };
    let of_row = |row: &Map<String, Value>| match row[list].as_array() {
        Some(objects) if !objects.is_empty() => objects.iter().map(|object| with(row, object)).collect(),
        _ => vec![with(row, &Value::Null)],
    };
    rows.iter().flat_map(of_row).collect()
}

#[test]
fn an_exploded_list_has_a_row_per_object_with_its_row_repeated() {
    let directory = archives();
    for (question, list) in [("waits", "chain"), ("threads", "wakers"), ("threads", "wait_reasons")] {
        let (json, _) = written(directory.path(), &[question], &["."], "a.json");
        let rows: Vec<Map<String, Value>> = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        let (csv, _) = written(directory.path(), &[question, "--explode", list], &["."], "a.csv");
        let heading = records(&fs::read_to_string(&csv).unwrap()).remove(0);
        let expected = exploded(&rows, list, &heading);
        compare(&format!("{question} {list} as CSV"), &csv_rows(&csv, &expected), &expected);
        let (parquet, _) = written(directory.path(), &[question, "--explode", list], &["."], "a.parquet");
        compare(&format!("{question} {list} as Parquet"), &parquet_rows(&parquet), &expected);
    }
    let refused = |arguments: &[&str]| {
        let said = run(directory.path(), arguments);
        assert!(said.starts_with("exit: 64\n"), "{said}");
        said
    };
    let said = refused(&["dump", "waits", "--explode", "links", "--format", "csv"]);
    assert!(said.contains("there is no list of objects `links`\nhint: there are chain"), "{said}");
    let said = refused(&["dump", "waits", "--explode", "chain"]);
    assert!(said.contains("--explode is for CSV and Parquet"), "{said}");
}

#[test]
fn a_file_that_nothing_is_in_is_told_of() {
    let directory = archives();
    let said = run(directory.path(), &["dump", "cpu", "-p", "nobody", "--csv", "a.csv"]);
    assert!(said.contains("note: 0 rows written to a.csv"), "{said}");
}
