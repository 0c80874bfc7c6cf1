//! The archive of a recording is the same however it is cut into slices, and however many threads work on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesift_extract::{Budget, EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_scenario::{Knobs, Scenario};
use tracesift_testing::recording::{Recording, extract_file, try_extract};

/// The files of the archive that an extract writes into `directory`, by name.
fn files(recording: &Path, directory: &Path, slice_records: usize, threads: usize) -> BTreeMap<PathBuf, Vec<u8>> {
    let out = directory.join(format!("{slice_records}-{threads}"));
    let options = Options {
        out: Some(out),
        events: Some(EventSelection::Default),
        budget: Budget { slice_records: Some(slice_records), threads: Some(threads), ..Budget::default() },
        ..Options::default()
    };
    let archive = extract_file(recording, &options).archive;
    let entries = std::fs::read_dir(&archive).expect("an archive");
    let of_entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("a file").path();
        let bytes = std::fs::read(&path).expect("its bytes");
        (path.file_name().map(PathBuf::from).unwrap_or_default(), bytes)
    };
    entries.map(of_entry).collect()
}

/// Compares the archives of many cuts with that of none.
fn hold(recording: &Path, cuts: &[(usize, usize)]) {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = files(recording, directory.path(), usize::MAX, 1);
    for (slice_records, threads) in cuts {
        let cut = files(recording, directory.path(), *slice_records, *threads);
        assert!(whole.keys().eq(cut.keys()), "{}: files of {slice_records}, {threads}", recording.display());
        for (name, bytes) in &whole {
            let same = cut.get(name) == Some(bytes);
            assert!(same, "{}: {} of {slice_records} records, {threads} threads", recording.display(), name.display());
        }
    }
}

#[test]
fn scenarios_have_the_same_archive_with_any_cut() {
    for seed in 0..12 {
        let recording = Recording::etl(&Scenario::random(seed, &Knobs::random(seed)));
        hold(recording.file(), &[(1, 3), (7, 2), (50, 1), (700, 4)]);
    }
}

#[test]
fn shared_recordings_have_the_same_archive_with_any_cut() {
    let Some(directory) = cases("etl") else { return };
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut held = 0;
    for path in paths {
        // Some are no recordings, others are several.
        if path.extension().is_some_and(|extension| extension == "txt") || path.ends_with("empty.etl") {
            continue;
        }
        let scratch = tempfile::tempdir().expect("a directory");
        let options = Options { out: Some(scratch.path().to_owned()), ..Options::default() };
        if try_extract(&path, &options).is_ok_and(|reports| reports.len() == 1) {
            hold(&path, &[(1 << 10, 3), (1 << 14, 2)]);
            held += 1;
        }
    }
    assert!(held > 10, "{held} recordings");
}
