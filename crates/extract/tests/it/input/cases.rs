//! Real recordings, packed as their owners packed them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use tracesift_etl::ReadAt;
use tracesift_extract::input::{
    InputError, OpenOptions, Purpose, SelectOptions, Target, open as open_recording, select,
};
use tracesift_fixtures::cases;

use super::fixtures::open;

/// Member names and sizes of every recording, as an independent reader counted them: by file, in order of the names.
fn expected(cases: &Path) -> BTreeMap<String, Vec<(Option<String>, u64)>> {
    let text = std::fs::read_to_string(cases.join("expected/etl-counts.json")).expect("etl-counts.json");
    let counts: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    let mut files: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for entry in &counts {
        let member = entry["member"].as_str().map(str::to_owned);
        let file = entry["file"].as_str().expect("file").to_owned();
        files.entry(file).or_default().push((member, entry["bytes"].as_u64().expect("bytes")));
    }
    let text = std::fs::read_to_string(cases.join("expected/etl-damaged.json")).expect("etl-damaged.json");
    let damaged: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    for entry in &damaged {
        let file = entry["file"].as_str().expect("file").to_owned();
        files.entry(file).or_default().push((None, entry["bytes_unzipped"].as_u64().expect("bytes")));
    }
    files
}

#[test]
fn every_recording_opens_with_its_members_and_sizes() {
    let Some(cases) = cases("") else { return };
    for (file, mut expected) in expected(&cases) {
        let path = cases.join(&file);
        if file == "etl/empty.etl" {
            assert!(matches!(open(&path), Err(InputError::Empty { .. })));
            continue;
        }
        let opened = open(&path).unwrap_or_else(|error| panic!("{error}"));
        let mut found: Vec<_> =
            opened.members.iter().map(|member| (member.name().map(str::to_owned), member.len())).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{file}");
        for member in &opened.members {
            // Each starts with the header buffer: its length, a power of two or the exact size when compressed.
            let mut start = [0; 4];
            member.read_at(0, &mut start).expect("read");
            let length = u64::from(u32::from_le_bytes(start));
            assert!((0x48..=member.len()).contains(&length), "{file}: first buffer of {length} bytes");
        }
    }
}

#[test]
fn the_whole_directory_is_one_argument() {
    let Some(cases) = cases("") else { return };
    let options = SelectOptions { base: cases.clone(), recursive: true, purpose: Purpose::Extract };
    let selection = select(&["etl"], &options);
    assert!(selection.problems.is_empty(), "{:?}", selection.problems);
    let notes: Vec<String> = selection.notes.iter().map(|note| note.to_string()).collect();
    assert!(matches!(notes.as_slice(), [only] if only.ends_with("empty.etl: is empty and was left out")), "{notes:?}");
    let counted: Vec<String> = expected(&cases).into_keys().filter(|file| file != "etl/empty.etl").collect();
    // All that lies there but texts; recordings that nobody has counted yet among it.
    let names =
        std::fs::read_dir(cases.join("etl")).expect("readable").map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| format!("etl/{}", name.to_string_lossy()));
    let mut expected: Vec<String> = names.filter(|name| !name.ends_with(".txt") && name != "etl/empty.etl").collect();
    expected.sort();
    assert!(counted.iter().all(|file| expected.contains(file)), "{counted:?}");
    let mut found: Vec<String> = selection
        .targets
        .iter()
        .map(|target| target.path().strip_prefix(&cases).expect("below").to_string_lossy().replace('\\', "/"))
        .collect();
    found.sort();
    assert_eq!(found, expected);
    for target in &selection.targets {
        let Target::Recording(recording) = target else { panic!("no extracts there") };
        assert!(!recording.named && recording.files.len() == 1);
        let mut watch = |_| ControlFlow::Continue(());
        if recording.name.starts_with("primitive") {
            let opened = open_recording(recording, &OpenOptions::default(), &mut watch).expect("opens");
            assert_eq!(opened.members[0].name(), Some("primitive-types.etl"));
        }
    }
}
