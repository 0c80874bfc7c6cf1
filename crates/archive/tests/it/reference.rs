//! `docs/archive-format.md` and the definitions agree. With `UPDATE_DOCS=1` this test writes the reference.

use std::path::Path;

use tracesift_archive::{SCHEMA_VERSION, column_reference};

const BEGIN: &str = "<!-- columns: made by `cargo regenerate` -->\n";
const END: &str = "<!-- end of columns -->\n";

#[test]
fn the_document_lists_every_table_and_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/archive-format.md");
    let document = std::fs::read_to_string(&path).expect("docs/archive-format.md").replace("\r\n", "\n");
    let (before, rest) = document.split_once(BEGIN).expect("the marker where the columns begin");
    let (columns, after) = rest.split_once(END).expect("the marker where the columns end");
    let expected = format!("\n{}", column_reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        // Another test reads the document at the same time.
        if columns == expected {
            return;
        }
        std::fs::write(&path, [before, BEGIN, &expected, END, after].concat()).expect("written");
    } else {
        assert!(columns == expected, "docs/archive-format.md is out of date: run `cargo regenerate`");
    }
    let version = format!("Format version: {}.{}", SCHEMA_VERSION[0], SCHEMA_VERSION[1]);
    assert!(document.contains(&version), "{version}");
}

/// A flag that the code has and the reference does not tell leaves a reader of the table with a number.
#[test]
fn every_flag_of_a_switch_is_told() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/src/rows/activity.rs");
    let source = std::fs::read_to_string(source).expect("the rows");
    let (_, module) = source.split_once("pub mod switch_flags {").expect("the flags");
    let (module, _) = module.split_once("\n}").expect("their end");
    let values = module.lines().filter_map(|line| line.trim().strip_prefix("pub const ")?.split_once(" = "));
    let flags: Vec<i16> = values.filter_map(|(_, value)| value.trim_end_matches(';').parse().ok()).collect();
    assert!(flags.len() > 10 && flags.contains(&1024), "{flags:?}");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/archive-format.md");
    let document = std::fs::read_to_string(document).expect("docs/archive-format.md");
    let line = document.lines().find(|line| line.starts_with("| `flags` ") && line.contains("broken")).expect("a line");
    for flag in flags {
        assert!(line.split([' ', ',']).any(|word| word == flag.to_string()), "{flag} is not told: {line}");
    }
}
