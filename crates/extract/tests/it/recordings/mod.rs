//! Real recordings, as their users have them, all the way into archives.

mod damaged;
mod managed;
mod net_452;
mod several;
pub(crate) mod support;

use support::extract_file;
use tracesift_extract::Outcome;
use tracesift_fixtures::cases;

#[test]
fn every_recording_gives_sound_archives() {
    let Some(folder) = cases("etl") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("cases")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            !name.ends_with(".txt") && !name.starts_with("damaged-") && name != "empty.etl"
        })
        .collect();
    files.sort();
    assert!(files.len() >= 19, "{}", files.len());
    for file in files {
        let extracted = extract_file(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(extracted.reports.len(), 1, "{}", file.display());
        for archive in extracted.archives() {
            archive.verify().expect("sound");
            assert!(archive.info().start_time_utc.is_some(), "{}", file.display());
        }
    }
}

#[test]
fn the_parts_of_a_diagnostics_session_are_one_recording() {
    let Some(folder) = cases("etl") else { return };
    let extracted = extract_file(&folder.join("diaghub-dotnetcore3.1-win-x64-diagsession.zip")).expect("extracted");
    let archive = extracted.archives().remove(0);
    assert_eq!(archive.info().sources.len(), 4);
    assert_eq!(extracted.reports[0].records, 62_379 + 16_335 + 4 + 22_035);
}

#[test]
fn what_is_up_to_date_is_not_extracted_again() {
    let Some(folder) = cases("etl") else { return };
    let file = folder.join("gcevents.etl.zip");
    let first = extract_file(&file).expect("extracted");
    let again = first.again(&file, false).expect("extracted");
    assert!(matches!(again[..], [Outcome::UpToDate(_)]));
    let again = first.again(&file, true).expect("extracted");
    assert!(matches!(again[..], [Outcome::Extracted(_)]));
}

#[test]
fn what_is_no_recording_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("directory");
    for (name, content, words) in [
        ("empty.etl", &b""[..], "empty"),
        ("text.etl", &b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"[..], "Git LFS"),
        ("noise.etl", &[0xa5; 100_000][..], "not an ETL recording"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, content).expect("written");
        let error = extract_file(&file).err().unwrap_or_else(|| panic!("{name} was extracted")).to_string();
        assert!(error.contains(name) && error.to_lowercase().contains(&words.to_lowercase()), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
