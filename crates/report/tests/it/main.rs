//! Pages of made-up comparisons and explanations: nothing is lost, names stay text, and the size has a limit.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does: by panicking")]

mod explanation;
mod sample;

use std::collections::BTreeMap;

use roxmltree::{Document, Node};
use sample::{hostile, report};
use tracesift_report::comparison_page as page;
use tracesift_report::model::comparison::Report;

const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}gpj\u{1b}[2J<!--";

/// What is between the tags of the main part, which is well-formed XML.
fn main_of(page: &str) -> &str {
    let (from, to) = (page.find("<main>").unwrap(), page.find("</main>").unwrap());
    &page[from..to + "</main>".len()]
}

fn with_class<'a>(document: &'a Document<'a>, name: &str, class: &str) -> Vec<Node<'a, 'a>> {
    let is_meant = |node: &Node<'_, '_>| {
        let classes = node.attribute("class").unwrap_or_default();
        node.has_tag_name(name) && classes.split(' ').any(|of| of == class)
    };
    document.descendants().filter(is_meant).collect()
}

fn values(row: Node<'_, '_>) -> Vec<Option<f64>> {
    let cells = row.children().filter(|cell| cell.has_tag_name("td"));
    cells.map(|cell| cell.attribute("data-v").map(|value| value.parse().unwrap())).collect()
}

fn check(report: &Report) {
    let page = page(report);
    let document = Document::parse(main_of(&page)).unwrap();
    for (table, case) in with_class(&document, "table", "waterfall").into_iter().zip(&report.cases) {
        let outcome = case.outcome.as_ref().unwrap();
        let steps: Vec<Node<'_, '_>> =
            table.descendants().filter(|row| row.attribute("class") == Some("step")).collect();
        assert_eq!(steps.len(), outcome.steps.len());
        let sum: f64 = steps.iter().map(|row| values(*row)[0].unwrap()).sum();
        assert_eq!(sum as i128, outcome.difference);
        // Each bar begins where the one before it ends.
        let ends: Vec<(String, String)> = steps
            .iter()
            .map(|row| {
                let links: Vec<&str> = row
                    .descendants()
                    .filter(|node| node.attribute("class") == Some("link"))
                    .map(|node| node.attribute("d").unwrap().split(' ').next().unwrap())
                    .collect();
                (links[0].to_owned(), links[1].to_owned())
            })
            .collect();
        for pair in ends.windows(2) {
            assert_eq!(pair[0].1, pair[1].0);
        }
    }
    for (table, case) in with_class(&document, "table", "rows").into_iter().zip(&report.cases) {
        let outcome = case.outcome.as_ref().unwrap();
        let rows: Vec<Vec<Option<f64>>> =
            table.descendants().filter(|node| node.has_tag_name("tr")).skip(1).map(values).collect();
        let (sum, rows) = rows.split_last().unwrap();
        let total: f64 = rows.iter().map(|row| row[2].unwrap()).sum();
        assert_eq!((total as i128, sum[2].unwrap() as i128), (outcome.difference, outcome.difference));
    }
    for (table, case) in with_class(&document, "table", "runs").into_iter().zip(&report.cases) {
        let rows = table.descendants().filter(|node| node.has_tag_name("tr")).skip(1);
        for (row, run) in rows.zip(&case.runs) {
            let cells: BTreeMap<&str, i64> = row
                .children()
                .filter_map(|cell| Some((cell.attribute("data-kind")?, cell.attribute("data-v")?.parse().unwrap())))
                .collect();
            assert_eq!(cells.values().sum::<i64>(), run.duration);
        }
    }
}

#[test]
fn every_part_adds_up_on_the_page() {
    for runs in [1, 3, 10] {
        check(&report(runs, 60, "App"));
    }
}

#[test]
fn several_cases_have_a_table_that_leads_to_each() {
    let mut several = report(3, 40, "One");
    several.cases.extend(report(3, 40, "Two").cases);
    let page = page(&several);
    for (place, name) in ["One", "Two"].iter().enumerate() {
        assert!(page.contains(&format!("<a href=\"#case-{place}\">{name} (old → new)</a>")), "{name}");
        assert!(page.contains(&format!("id=\"case-{place}\" data-case=\"{name}\"")), "{name}");
    }
    assert!(page.contains("Geometric mean"));
    check(&several);
}

#[test]
fn two_times_fifty_runs_have_a_bounded_size() {
    let report = report(50, 6_000, "a_process_with_a_rather_long_name");
    let size = page(&report).len();
    assert!(size <= 1_500_000, "{size}");
    check(&report);
}

#[test]
fn names_stay_text() {
    let report = hostile(report(3, 40, HOSTILE), HOSTILE);
    let page = page(&report);
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(!page.contains("alert(1)</script>") && !page.contains(['\u{202e}', '\u{1b}']));
    let document = Document::parse(main_of(&page)).unwrap();
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("<script>alert(1)</script>\"'&\u{fffd}gpj")), "{texts:?}");
    // Long names are cut.
    let long = hostile(sample::report(2, 40, "x"), &"<b>".repeat(20_000));
    assert!(tracesift_report::comparison_page(&long).len() < 1_500_000);
}

#[test]
fn the_page_allows_itself_its_own_style_and_script_alone() {
    let page = page(&report(3, 40, "App"));
    let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    for name in ["style", "script"] {
        assert_eq!(page.matches(&format!("<{name}>")).count(), 1);
    }
    // Attributes with a style would be refused; addresses would be a network.
    assert!(!page.contains(" style=") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn sets_that_cannot_be_compared_have_no_figures() {
    let mut report = report(2, 10, "App");
    report.cases[0].outcome = None;
    report.cases[0].comparable = "no";
    let page = page(&report);
    assert!(page.contains("Not comparable") && !page.contains("<svg viewBox"));
    Document::parse(main_of(&page)).unwrap();
}

/// Writes pages to look at while the style changes: `cargo test -p tracesift-report pages_to_look_at -- --ignored`.
#[test]
#[ignore = "it writes files for people"]
fn pages_to_look_at() {
    for runs in [1, 8, 50] {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{runs}.html"));
        std::fs::write(path, page(&report(runs, 300, "App"))).unwrap();
    }
}
