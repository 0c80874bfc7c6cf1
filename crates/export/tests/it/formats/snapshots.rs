//! What the formats look like.

use tracesift_export::{Grouping, firefox, folded, speedscope};

use crate::synthetic;

#[test]
fn folded_stacks() {
    let mut out = Vec::new();
    folded::write(&synthetic::small().fold(), Grouping::Process, &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn speedscope_file() {
    let mut out = Vec::new();
    speedscope::write(&synthetic::small(), &mut out).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&out).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&file).unwrap());
}

#[test]
fn firefox_file() {
    let mut out = Vec::new();
    firefox::write(&synthetic::small(), &mut out).unwrap();
    // Samples are a column each; they are not what is looked at here.
    let text = String::from_utf8(out).unwrap();
    let head = text.split(",\n\"threads\":[").next().unwrap();
    insta::assert_snapshot!(head);
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!("firefox_markers", serde_json::to_string_pretty(&file["threads"][0]["markers"]).unwrap());
}
