//! The inputs that fuzzing of archive files and file names starts from: they are what their names say. With `WRITE_CORPUS=1`
//! they are written.

use std::path::Path;

use cab::CompressionType;
use tracesift_extract::input::test_name;

use super::fixtures::{cabinet, content, contents, gzip, open, place, solid_7z, xz, zip};

/// Names and bytes of the files in a folder of `fuzz/corpus`; `made` replaces them when asked to.
fn corpus(folder: &str, made: impl Fn() -> Vec<(&'static str, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus")).join(folder);
    if std::env::var_os("WRITE_CORPUS").is_some() {
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, bytes) in made() {
            std::fs::write(folder.join(name), bytes).expect("written");
        }
    }
    made()
        .into_iter()
        .map(|(name, _)| {
            (name.to_owned(), std::fs::read(folder.join(name)).unwrap_or_else(|_| panic!("{name} is missing")))
        })
        .collect()
}

#[test]
fn packed_inputs_open() {
    let made = || {
        let (first, second) = (content(1, 900), content(2, 300));
        let files: &[(&str, &[u8])] = &[("c.txt", b"text"), ("a.etl", &first), ("d/b.etl", &second)];
        let inner = zip(&[("b.etl", &second)]);
        vec![
            ("zip", zip(files)),
            ("zip_in_zip", zip(&[("a.etl", &first), ("inner.etl.zip", &inner)])),
            ("7z", solid_7z(files)),
            ("cabinet", cabinet(files, CompressionType::MsZip)),
            ("cabinet_stored", cabinet(files, CompressionType::None)),
            ("gzip", gzip(&first)),
            ("xz", xz(&first)),
        ]
    };
    for (name, bytes) in corpus("containers", made) {
        let placed = place("x.zip", &bytes);
        let opened = open(&placed.path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lengths: Vec<usize> = contents(&opened).into_iter().map(|(_, content)| content.len()).collect();
        let expected: &[usize] = if matches!(name.as_str(), "gzip" | "xz") { &[900] } else { &[900, 300] };
        assert_eq!(lengths, expected, "{name}");
    }
}

#[test]
fn file_names_name_tests() {
    let made = || {
        let names = [
            ("new_style", "Load_2382ms_RN1884F4EB-386C_SRV_TestStatus-Passed_20220425-215857.7z"),
            ("underscores", "T_0ms_A_SRV_B_CLT_TestStatus-Failed_20000229-000000.etl.zip"),
            ("old_style", "Test_3117msFO9DE01T0162PC.20200717-124447.7z"),
            ("old_style_with_a_dash", "runs/TestCase_500msMachine-20200725-235959.sift"),
        ];
        names.map(|(name, text)| (name, text.as_bytes().to_vec())).into()
    };
    for (name, text) in corpus("names", made) {
        let text = String::from_utf8(text).expect("text");
        assert!(test_name(&text).is_some_and(|test| test.time().is_some()), "{name}");
    }
}
