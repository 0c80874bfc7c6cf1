//! The files that fuzzing of archives starts from: each a sound file of an archive behind two bytes, the place of its table
//! and its number of rows. With `WRITE_CORPUS=1` they are written.

use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_testing::archive::{bless, create, finish, readable, sample_rows, small_archive};
use tracesift_trace::every_table;
use tracesift_trace::rows::*;
use tracesift_trace::schema::Row as _;

/// Rows of a table.
const ROWS: u8 = 8;

/// The first byte of a `trace.json`: no table has that place.
const TRACE_JSON: u8 = 0xff;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/archive")
}

fn write_corpus() {
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    let mut writer = create(&path);
    macro_rules! write {
        ($($row:ident),+) => { $( writer.write_table(&sample_rows::<$row>(7, usize::from(ROWS))); )+ };
    }
    every_table!(write);
    finish(writer);
    std::fs::create_dir_all(folder()).expect("a folder");
    let put = |name: &str, head: [u8; 2], file: String| {
        let content = std::fs::read(path.join(file)).expect("a file of the archive");
        std::fs::write(folder().join(name), [&head[..], &content].concat()).expect("written");
    };
    for (place, table) in TABLES.iter().enumerate() {
        put(table.name, [place as u8, ROWS], format!("{}.parquet", table.name));
    }
    put("trace_json", [TRACE_JSON, 0], "trace.json".to_owned());
}

#[test]
fn the_corpus_holds_every_file_of_an_archive() {
    if std::env::var_os("WRITE_CORPUS").is_some() {
        write_corpus();
    }
    let root = tempfile::tempdir().expect("temporary directory");
    let path = root.path().join("x.sift");
    small_archive(&path);
    let read = |name: &str| std::fs::read(folder().join(name)).unwrap_or_else(|_| panic!("{name} is missing"));
    for (place, table) in TABLES.iter().enumerate() {
        let bytes = read(table.name);
        assert_eq!(bytes[..2], [place as u8, ROWS], "{}", table.name);
        std::fs::write(path.join(format!("{}.parquet", table.name)), &bytes[2..]).expect("written");
        bless(&path, table.name, Some(ROWS.into()));
    }
    let archive = Archive::open(&path).expect("opened");
    macro_rules! check {
        ($($row:ident),+) => { $( assert_eq!(
            readable::<$row>(&archive).expect("rows"), usize::from(ROWS), "{}", $row::TABLE.name
        ); )+ };
    }
    every_table!(check);
    let trace_json = read("trace_json");
    assert_eq!(trace_json[0], TRACE_JSON);
    std::fs::write(path.join("trace.json"), &trace_json[2..]).expect("written");
    Archive::open(&path).expect("opened");
}
