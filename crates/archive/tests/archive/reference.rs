//! `docs/archive-format.md` and the definitions agree. With `UPDATE_DOCS=1` this test writes the reference.

use std::path::Path;

use tracesift_archive::{SCHEMA_VERSION, column_reference};

const BEGIN: &str =
    "<!-- columns: made by `UPDATE_DOCS=1 cargo test -p tracesift-archive --test archive reference` -->\n";
const END: &str = "<!-- end of columns -->\n";

#[test]
fn the_document_lists_every_table_and_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/archive-format.md");
    let document = std::fs::read_to_string(&path).expect("docs/archive-format.md").replace("\r\n", "\n");
    let (before, rest) = document.split_once(BEGIN).expect("the marker where the columns begin");
    let (columns, after) = rest.split_once(END).expect("the marker where the columns end");
    let expected = format!("\n{}", column_reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, [before, BEGIN, &expected, END, after].concat()).expect("written");
    } else {
        assert!(columns == expected, "docs/archive-format.md is out of date: run this test with UPDATE_DOCS=1");
    }
    let version = format!("Format version: {}.{}", SCHEMA_VERSION[0], SCHEMA_VERSION[1]);
    assert!(document.contains(&version), "{version}");
}
