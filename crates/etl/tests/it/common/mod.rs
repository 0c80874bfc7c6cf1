//! The shared cases: recordings out of plain files, zip, 7z and gzip.

pub(crate) mod build;
pub(crate) mod compress;

use std::fs;
use std::io::{Cursor, Read};

use tracesift_fixtures::cases;

/// The bytes of a case, `member` of it where it is an archive.
pub(crate) fn read(path: &str, member: Option<&str>) -> Vec<u8> {
    let bytes = fs::read(cases("").expect("cases are there").join(path)).expect("the case is readable");
    match path.rsplit('.').next() {
        Some("zip") => {
            let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
            let mut content = Vec::new();
            let mut file = archive.by_name(member.expect("a member")).expect("the member is there");
            file.read_to_end(&mut content).expect("it can be decompressed");
            content
        }
        Some("7z") => {
            let mut archive =
                sevenz_rust2::ArchiveReader::new(Cursor::new(bytes), sevenz_rust2::Password::empty()).expect("a 7z");
            archive.read_file(member.expect("a member")).expect("the member is there")
        }
        Some("gz") => {
            let mut content = Vec::new();
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut content).expect("it can be decompressed");
            content
        }
        _ => bytes,
    }
}

/// An expected result.
pub(crate) fn expected(name: &str) -> serde_json::Value {
    let path = cases("").expect("cases are there").join("expected").join(name);
    serde_json::from_str(&fs::read_to_string(path).expect("the expectation is readable")).expect("valid JSON")
}
