//! Archives of neighbouring versions: unknown columns are ignored, missing nullable ones read as null.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use tracesift_archive::{Archive, Error, Table, record_batch};
use tracesift_testing::archive::{TRACE, bless, sample_rows, small_archive};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::*;
use tracesift_trace::view;

view! {
    /// A nullable column and another one.
    #[derive(Debug)]
    struct IdealCpu of ContextSwitchRow { ideal_cpu, time }
}

/// Replaces the file of a table by these columns, as another version would have written it.
fn rewrite(archive: &Path, table: &str, fields: Vec<Field>, columns: Vec<ArrayRef>) {
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("batch");
    let file = std::fs::File::create(archive.join(format!("{table}.parquet"))).expect("file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    bless(archive, table, Some(batch.num_rows() as u64));
}

fn columns_of<T: Table>() -> (Vec<T>, Vec<Field>, Vec<ArrayRef>) {
    let rows: Vec<T> = sample_rows(5, 40);
    let batch = record_batch(TRACE, &rows).expect("batch");
    let fields = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    (rows, fields, batch.columns().to_vec())
}

#[test]
fn an_unknown_column_is_ignored() {
    let root = tempfile::tempdir().expect("temporary directory");
    let archive = small_archive(&root.path().join("x.sift"));
    let (rows, mut fields, mut columns) = columns_of::<ContextSwitchRow>();
    fields.insert(3, Field::new("of_version_1_1", arrow_schema::DataType::Int64, true));
    columns.insert(3, Arc::new(Int64Array::from(vec![9; 40])));
    rewrite(archive.path(), "context_switches", fields, columns);
    let archive = Archive::open(archive.path()).expect("opened");
    assert_eq!(archive.rows::<ContextSwitchRow>().expect("rows"), rows);
    archive.verify().expect("intact");
}

#[test]
fn a_missing_nullable_column_reads_as_null() {
    let root = tempfile::tempdir().expect("temporary directory");
    let archive = small_archive(&root.path().join("x.sift"));
    let (mut rows, mut fields, mut columns) = columns_of::<ContextSwitchRow>();
    // The last column, and one from the middle.
    fields.pop();
    columns.pop();
    let ideal = fields.iter().position(|field| field.name() == "ideal_cpu").expect("there");
    fields.remove(ideal);
    columns.remove(ideal);
    rewrite(archive.path(), "context_switches", fields, columns);
    for row in &mut rows {
        row.counters = None;
        row.ideal_cpu = None;
    }
    let archive = Archive::open(archive.path()).expect("opened");
    assert_eq!(archive.rows::<ContextSwitchRow>().expect("rows"), rows);
    let mut times = Vec::new();
    archive
        .scan(None, |row: &IdealCpu| {
            assert_eq!(row.ideal_cpu, None);
            times.push(row.time);
        })
        .expect("scanned");
    assert_eq!(times, rows.iter().map(|row| row.time).collect::<Vec<_>>());
}

#[test]
fn a_missing_required_column_or_another_type_is_damage() {
    let root = tempfile::tempdir().expect("temporary directory");
    let archive = small_archive(&root.path().join("x.sift"));
    let reason = |archive: &Path| match Archive::open(archive).expect("opened").rows::<MarkRow>() {
        Err(Error::Corrupt { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let (_, mut fields, mut columns) = columns_of::<MarkRow>();
    fields.remove(1);
    columns.remove(1);
    rewrite(archive.path(), "marks", fields.clone(), columns.clone());
    assert_eq!(reason(archive.path()), "it has no column time");

    fields.insert(1, Field::new("time", arrow_schema::DataType::Int16, false));
    columns.insert(1, Arc::new(arrow_array::Int16Array::from(vec![1; 40])));
    rewrite(archive.path(), "marks", fields, columns);
    assert_eq!(reason(archive.path()), "column time has the unexpected type Int16");
}

#[test]
fn impossible_values_are_damage() {
    let root = tempfile::tempdir().expect("temporary directory");
    let archive = small_archive(&root.path().join("x.sift"));
    let (_, fields, mut columns) = columns_of::<ThreadRow>();
    let origin = columns.len() - 1;
    columns[origin] = Arc::new(arrow_array::Int8Array::from(vec![77; 40]));
    rewrite(archive.path(), "threads", fields.clone(), columns);
    let error = Archive::open(archive.path()).expect("opened").rows::<ThreadRow>().expect_err("no such origin");
    assert!(error.to_string().contains("row 0 has an impossible origin"), "{error}");

    let (_, fields, mut columns) = columns_of::<ThreadRow>();
    columns[1] = Arc::new(arrow_array::Int32Array::from(vec![-1; 40]));
    rewrite(archive.path(), "threads", fields, columns);
    let error = Archive::open(archive.path()).expect("opened").rows::<ThreadRow>().expect_err("no such id");
    assert!(error.to_string().contains("row 0 has an impossible thread"), "{error}");
}

#[test]
fn another_major_version_says_what_to_do() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    small_archive(&path);
    let trace = path.join("trace.json");
    let text = std::fs::read_to_string(&trace).expect("trace.json");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["schema"] = serde_json::json!([2, 7, "and more"]);
    value["sources"] = serde_json::json!("spelt differently");
    std::fs::write(&trace, value.to_string()).expect("written");
    let error = Archive::open(&path).expect_err("newer");
    assert!(matches!(error, Error::Version { found: 2, supported: 1, .. }));
    assert!(error.to_string().ends_with("x.sift has archive format 2, this version reads format 1; extract again"));

    value["schema"] = serde_json::json!([1, 7]);
    value["sources"] = serde_json::json!([]);
    value["of_a_later_minor_version"] = serde_json::json!({"a": 1});
    std::fs::write(&trace, value.to_string()).expect("written");
    assert_eq!(Archive::open(&path).expect("same major version").info().schema, [1, 7]);
}

/// Archives of recordings without such events are not larger than before the list existed, and those say that nothing is known.
#[test]
fn an_empty_list_of_enabled_tables_is_not_written() {
    let none = TraceInfo { id: "1".to_owned(), ..TraceInfo::default() };
    let text = serde_json::to_string(&none).expect("it can be written");
    assert!(!text.contains("enabled"), "{text}");
    assert_eq!(serde_json::from_str::<TraceInfo>(&text).expect("it can be read"), none);
    let some = TraceInfo { enabled: vec!["disk_io".to_owned()], ..none };
    let text = serde_json::to_string(&some).expect("it can be written");
    assert!(text.contains(r#""enabled":["disk_io"]"#), "{text}");
    assert_eq!(serde_json::from_str::<TraceInfo>(&text).expect("it can be read"), some);
}
