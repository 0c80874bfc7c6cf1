//! A second opinion on values: what dissect.etl finds in a record must be in what this reader finds there.
//!
//! Names differ, so an event's values are compared without them: each that the other reader has must be among ours. Runs where
//! `python3` (or `TRACESIFT_PYTHON`) has dissect.etl.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use tracesift_etl::schema::{Schemas, Value};
use tracesift_etl::{BufferReader, EtlFile, Guid};
use tracesift_fixtures::{cases, skipped};

/// Recordings of which every record is compared; the others take the slow reader minutes.
const RECORDINGS: [&str; 8] = [
    "SelfDescribingSingleEvent.etl",
    "ShutdownPerfDiagLogger.etl",
    "sawbuck-image_data_32_v0.etl",
    "sawbuck-process_data_32_v1.etl",
    "sawbuck-process_data_32_v2.etl",
    "Tx-BondEtwSample.etl",
    "AMSITrace.etl",
    "lxcore_kernel.etl",
];

fn python() -> Option<String> {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import dissect.etl"]).output().ok()?.status.success();
    if !found {
        skipped(&format!("{python} has no dissect.etl (pip install dissect.etl)"));
    }
    found.then_some(python)
}

/// Numbers and texts in a value.
fn flatten(value: &Value<'_>, numbers: &mut Vec<i128>, texts: &mut Vec<String>) {
    match value {
        Value::List(values) => values.iter().for_each(|value| flatten(value, numbers, texts)),
        Value::Struct(members) => members.iter().for_each(|(_, value)| flatten(value, numbers, texts)),
        other => {
            numbers.extend(other.number());
            texts.push(other.to_string());
        }
    }
}

/// Whether a value is one of ours. Signs are no part of what both read: the same bits may be −1 and 4,294,967,295.
fn is_among(value: &serde_json::Value, numbers: &[i128], texts: &[String]) -> bool {
    let Some(text) = value.as_str() else {
        let number = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
        return number.is_some_and(|number| {
            let same = |bits: u32| numbers.iter().any(|ours| (ours - number) % (1_i128 << bits) == 0);
            numbers.contains(&number) || (number < 0 || number > i128::from(i32::MAX)) && (same(32) || same(64))
        });
    };
    // A GUID is 16 bytes there.
    let bytes: Vec<u8> = text.chars().filter_map(|character| u8::try_from(u32::from(character)).ok()).collect();
    let guid = <[u8; 16]>::try_from(bytes).ok().map(|bytes| Guid::from_bytes(bytes).to_string());
    let text = text.trim_end_matches('\0');
    texts.iter().any(|ours| ours == text || guid.as_ref() == Some(ours))
}

#[test]
fn what_dissect_finds_is_found() {
    let Some(cases) = cases("") else { return };
    let Some(python) = python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/dissect/values.py");
    let (mut compared, mut missing): (u64, BTreeMap<String, u64>) = (0, BTreeMap::new());
    for name in RECORDINGS {
        let path = cases.join("etl").join(name);
        let mut child = Command::new(&python).arg(script).arg(&path).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let file = EtlFile::open_path(&path).expect("a recording");
        let mut reader = BufferReader::default();
        let mut schemas = Schemas::new();
        for buffer in file.buffers() {
            reader.records(&file, buffer).filter(Schemas::has_schema).for_each(|record| schemas.learn(&record));
        }
        for buffer in file.buffers() {
            for record in reader.records(&file, buffer) {
                let Some(Ok(line)) = lines.next() else { break };
                let theirs: Vec<(String, serde_json::Value)> = serde_json::from_str(&line).expect("JSON");
                let Some(schema) = schemas.find(&record).filter(|_| !theirs.is_empty()) else { continue };
                let decoded = schema.decode(&record);
                let (mut numbers, mut texts) = (Vec::new(), Vec::new());
                decoded.fields.iter().for_each(|(_, value)| flatten(value, &mut numbers, &mut texts));
                for (field, value) in theirs {
                    // Fields without a meaning have no name here and are not shown.
                    if field.starts_with("Reserved") {
                        continue;
                    }
                    compared += 1;
                    if !is_among(&value, &numbers, &texts) {
                        let what = format!("{name} {}.{field} (for example {value})", schema.name());
                        *missing.entry(what).or_default() += 1;
                    }
                }
            }
        }
        drop(lines);
        let _ = child.wait();
    }
    println!("{compared} values compared");
    let examples: Vec<String> = missing.iter().take(60).map(|(what, count)| format!("{count} × {what}")).collect();
    assert!(missing.is_empty(), "{} differ:\n{}", missing.len(), examples.join("\n"));
}
