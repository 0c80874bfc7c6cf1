//! Reports of JUnit, held against what readers of them ask for.

use std::path::Path;

use roxmltree::{Document, Node};
use tracesift_fixtures::{have, skipped};

/// A test case of a report.
pub(crate) struct Test {
    pub(crate) class: String,
    pub(crate) name: String,
    /// `failure` or `skipped`, and the text in it; `None`: it passed.
    pub(crate) said: Option<String>,
}

/// An element: its name, the attributes that it must have, those that it may have, and the elements in it. The schema of Jenkins (junit-10)
/// has more of them; a report has no others.
struct Element(&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const ELEMENTS: [Element; 5] = [
    Element("testsuites", &[], &["name", "time", "tests", "failures", "errors"], &["testsuite"]),
    Element(
        "testsuite",
        &["name", "tests", "failures", "errors"],
        &["skipped", "time", "timestamp", "hostname", "id", "package"],
        &["testcase"],
    ),
    Element("testcase", &["name"], &["classname", "time"], &["failure", "skipped"]),
    Element("failure", &[], &["message", "type"], &[]),
    Element("skipped", &[], &["message", "type"], &[]),
];

/// Checks elements, attributes and counts. The test cases.
pub(crate) fn check(text: &str) -> Vec<Test> {
    let document = Document::parse(text).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    check_element(root);
    let mut all = Vec::new();
    let mut sums = [0; 3];
    for suite in elements(root) {
        let tests: Vec<Test> = elements(suite).map(test).collect();
        let begins = |word: &str| {
            tests.iter().filter(|test| test.said.as_deref().is_some_and(|said| said.starts_with(word))).count()
        };
        let counts = [tests.len(), begins("failure"), begins("skipped")];
        assert!(!suite.attribute("name").unwrap().is_empty());
        assert_counts(suite, &["tests", "failures", "skipped"], counts);
        assert_eq!(suite.attribute("errors"), Some("0"));
        sums = [0, 1, 2].map(|place| sums[place] + counts[place]);
        all.extend(tests);
    }
    assert_counts(root, &["tests", "failures"], sums);
    all
}

/// Lets a validator check a report, where there is one and somebody has named a schema.
pub(crate) fn check_by_schema(report: &Path) {
    let Ok(schema) = std::env::var("TRACESIFT_JUNIT_SCHEMA") else {
        return skipped("TRACESIFT_JUNIT_SCHEMA names no schema of JUnit");
    };
    if !have(&["xmllint"]) {
        return;
    }
    let output = std::process::Command::new("xmllint").args(["--noout", "--schema", &schema]).arg(report).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

fn check_element(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let Element(_, needed, allowed, inside) = ELEMENTS.iter().find(|element| element.0 == name).unwrap();
    for attribute in node.attributes() {
        let is_known = needed.iter().chain(*allowed).any(|known| *known == attribute.name());
        assert!(is_known, "{name} has no attribute {}", attribute.name());
    }
    for attribute in *needed {
        assert!(node.attribute(*attribute).is_some(), "{name} lacks {attribute}");
    }
    for child in elements(node) {
        assert!(inside.contains(&child.tag_name().name()), "{name} has a {}", child.tag_name().name());
        check_element(child);
    }
}

fn assert_counts<const N: usize>(node: Node<'_, '_>, names: &[&str], counts: [usize; N]) {
    for (name, count) in names.iter().zip(counts) {
        assert_eq!(node.attribute(*name), Some(count.to_string().as_str()), "{name}");
    }
}

fn test(case: Node<'_, '_>) -> Test {
    let results: Vec<Node<'_, '_>> = elements(case).collect();
    assert!(results.len() <= 1);
    let attribute = |name: &str| case.attribute(name).unwrap().to_owned();
    let said = results.first().map(|result| {
        assert!(result.attribute("message").is_some_and(|why| !why.is_empty()));
        format!("{} {}", result.tag_name().name(), result.text().unwrap_or(""))
    });
    Test { class: attribute("classname"), name: attribute("name"), said }
}
