//! An extract of ETWAnalyzer: bytes end in an error that leaves nothing, or in a sound archive that answers every question. Behind the
//! first byte 0 of a loose document stands its part with modules.

#![no_main]

mod answers;
mod scratch;

use libfuzzer_sys::fuzz_target;
use tracesift_archive::Archive;
use tracesift_etwanalyzer::{Limits, Options, Outcome, import};

fuzz_target!(|bytes: &[u8]| {
    let folder = scratch::folder();
    let (main, part, out) = (folder.join("x.json"), folder.join("x_Derived_Modules.json"), folder.join("out"));
    let is_packed = bytes.starts_with(b"7z");
    let mut documents = bytes.splitn(2, |byte| !is_packed && *byte == 0);
    std::fs::write(&main, documents.next().unwrap_or_default()).expect("written");
    match documents.next() {
        Some(modules) => std::fs::write(&part, modules).expect("written"),
        None => drop(std::fs::remove_file(&part)),
    }
    let limits = Limits { unpacked: 4 << 20, row_texts: 16 << 20, dictionary: 64 << 20, ..Limits::default() };
    match import(&main, &Options { out: Some(out.clone()), limits, ..Options::default() }) {
        Ok(outcome) => {
            let Outcome::Imported(report) = outcome else { panic!("an archive was there") };
            Archive::open(&report.archive).and_then(|archive| archive.verify()).expect("a sound archive");
            answers::ask_everything(&report.archive);
            std::fs::remove_dir_all(&report.archive).expect("removed");
        }
        Err(error) => {
            let error = error.to_string();
            assert!(!error.contains(char::is_control) && !error.contains("the encoder stopped"), "{error}");
        }
    }
    let left = std::fs::read_dir(&out).map_or(0, Iterator::count);
    assert_eq!(left, 0, "something is left behind");
});
