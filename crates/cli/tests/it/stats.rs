//! `dump stats` against the counts that two independent readers agree on.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use tracesift_fixtures::cases;

/// Keys that name a record's class; names are more than what is expected there.
const IDENTITY: [&str; 8] = ["kind", "group", "opcode", "version", "provider", "id", "guid", "count"];

#[test]
fn every_recording_has_the_counts_of_two_other_readers() {
    let Some(cases) = cases("") else { return };
    let text = std::fs::read_to_string(cases.join("expected/etl-counts.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut by_file: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for entry in &entries {
        by_file.entry(entry["file"].as_str().unwrap()).or_default().push(entry);
    }
    for (file, members) in by_file {
        let output = Command::new(env!("CARGO_BIN_EXE_tracesift"))
            .args(["dump", "stats", "--format", "json"])
            .arg(cases.join(file))
            .output()
            .unwrap();
        if members.iter().any(|member| member.get("counts").is_none()) {
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{file}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found.len(), members.len(), "{file}");
        for expected in members {
            let name = expected.get("member").unwrap_or(&Value::Null);
            let found = found.iter().find(|found| found["member"] == *name);
            compare(file, expected, found.unwrap_or_else(|| panic!("{file} has no {name}")));
        }
    }
}

fn compare(file: &str, expected: &Value, found: &Value) {
    for (key, value) in expected.as_object().unwrap() {
        match key.as_str() {
            "file" => assert!(found["file"].as_str().unwrap().ends_with(file)),
            "counts" => assert_eq!(identities(value), identities(&found["counts"]), "{file}"),
            "tracelogging_events" => assert_eq!(sorted(value), sorted(&found[key]), "{file}"),
            "records_by_header_type" => {
                let map = |value: &Value| value.as_object().unwrap().clone().into_iter().collect::<BTreeMap<_, _>>();
                assert_eq!(map(value), map(&found[key]), "{file}");
            }
            _ => assert_eq!(*value, found[key], "{file}: {key}"),
        }
    }
    // What has a name there has one here: of a kernel event another one, of a provider the whole one.
    for class in expected["counts"].as_array().unwrap() {
        let identity = identity(class);
        let same = found["counts"].as_array().unwrap().iter().find(|found| self::identity(found) == identity).unwrap();
        if class.get("name").is_some_and(Value::is_string) {
            let name = same["name"].as_str().unwrap_or_default();
            assert!(!name.is_empty() && !name.contains("Opcode("), "{file}: {identity} {name}");
        }
        if let Some(wanted) = class.get("provider_name").and_then(Value::as_str) {
            let name = same["provider_name"].as_str().unwrap_or_default();
            let name =
                [("DotNETRuntimeRundown", ".NETRundown"), ("DotNETRuntimePrivate", ".NETPrivate"), ("DotNET", ".NET")]
                    .iter()
                    .fold(name.to_owned(), |name, (whole, short)| name.replace(whole, short));
            assert!(name.ends_with(wanted), "{file}: {identity} {name}");
        }
    }
}

fn identity(class: &Value) -> String {
    IDENTITY.iter().filter_map(|key| Some(format!("{key} {} ", class.get(*key)?))).collect()
}

fn identities(counts: &Value) -> Vec<String> {
    let mut identities: Vec<String> = counts.as_array().unwrap().iter().map(identity).collect();
    identities.sort();
    identities
}

fn sorted(rows: &Value) -> Vec<String> {
    let mut rows: Vec<String> = rows.as_array().unwrap().iter().map(ToString::to_string).collect();
    rows.sort();
    rows
}
