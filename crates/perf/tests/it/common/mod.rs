//! The shared cases: recordings, and what is expected of them.

pub(crate) mod example;
pub(crate) mod pb;

use std::fs;
use std::io::Read;

use serde_json::Value;
use tracesift_fixtures::cases;
use tracesift_perf::PerfFile;

/// A recording among the cases.
pub(crate) fn open(name: &str) -> PerfFile {
    PerfFile::open(cases("").expect("cases are there").join("perf").join(name)).expect("a recording")
}

/// A reference decode, unpacked; `None` if there is none of that name.
pub(crate) fn golden(name: &str) -> Option<String> {
    let folder = cases("")?.join("perf/golden");
    if let Ok(bytes) = fs::read(folder.join(name)) {
        return Some(String::from_utf8(bytes).expect("text"));
    }
    let packed = fs::read(folder.join(format!("{name}.gz"))).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("it can be unpacked");
    Some(text)
}

/// The names of all recordings among the cases.
pub(crate) fn names() -> Vec<String> {
    let folder = cases("").expect("cases are there").join("perf");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.map(|entry| entry.file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

/// The expected counts of all recordings.
pub(crate) fn expected() -> Vec<Value> {
    let path = cases("").expect("cases are there").join("expected/perf-counts.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the expectation is readable")).expect("valid JSON")
}
