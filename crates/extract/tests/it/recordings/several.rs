//! Several recordings in one archive file: each gets an archive of its own.

use std::fs::File;
use std::io::Write as _;

use tracesift_fixtures::cases;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::recordings::support::extract_file;

/// Names of the archives that two recordings of different sessions get as members of `x.zip`.
fn archive_names(members: [&str; 2]) -> Option<Vec<String>> {
    let cases = cases("etl")?;
    let folder = tempfile::tempdir().expect("directory");
    let file = folder.path().join("x.zip");
    let mut zip = ZipWriter::new(File::create(&file).expect("file"));
    for (name, recording) in members.into_iter().zip(["smallEtlFile.etl", "sawbuck-image_data_64_v1.etl"]) {
        zip.start_file(name, SimpleFileOptions::default()).expect("member");
        zip.write_all(&std::fs::read(cases.join(recording)).expect("recording")).expect("written");
    }
    zip.finish().expect("zip");
    let extracted = extract_file(&file).expect("extracted");
    let mut lengths = Vec::new();
    let mut names = Vec::new();
    for archive in extracted.archives() {
        archive.verify().expect("sound");
        lengths.push(archive.info().end_ns - archive.info().start_ns);
        names.push(archive.path().file_name().expect("name").to_string_lossy().into_owned());
    }
    assert!(lengths.len() == 2 && lengths[0] != lengths[1], "{lengths:?}");
    Some(names)
}

#[test]
fn members_of_one_name_in_different_directories() {
    let Some(names) = archive_names(["a/t.etl", "b/T.etl"]) else { return };
    assert_eq!(names, ["x.t.sift", "x.T-2.sift"]);
}

#[test]
fn members_with_names_that_windows_does_not_allow() {
    let Some(names) = archive_names(["a:b?.etl", "c.etl"]) else { return };
    assert_eq!(names, ["x.a_b_.sift", "x.c.sift"]);
}
