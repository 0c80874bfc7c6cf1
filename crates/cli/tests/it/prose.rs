//! Pages written by hand: lines of at most 100 columns, and paths and links that lead somewhere.

use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;
const FOLDERS: [&str; 8] = ["crates/", "benches/", "docs/", "fuzz/", "packaging/", "workloads/", ".ci/", ".github/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages, as paths from the root of the checkout.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(PathBuf::from).into();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && GENERATED.iter().all(|page| path != Path::new(page))
            {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Pages that are generated as a whole.
const GENERATED: [&str; 2] = ["docs/cli.md", "docs/health.md"];

/// Calls `look` with each line of a page that is neither code nor generated, and with its number.
fn each_line(page: &Path, mut look: impl FnMut(usize, &str)) {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let (mut is_code, mut is_generated) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("<!-- ") {
            is_generated = line.contains(": begin") || line.contains(": made by");
        } else if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !is_generated && !line.starts_with("    ") {
            look(number, line);
        }
    }
}

/// The texts between two marks.
fn between<'l>(line: &'l str, open: &'l str, close: char) -> impl Iterator<Item = &'l str> {
    line.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(inner, _)| inner))
}

#[test]
fn lines_have_at_most_100_columns() {
    let mut long = Vec::new();
    for page in pages() {
        each_line(&page, |number, line| {
            let is_exempt = line.starts_with('|') || line.contains("](") || line.contains("://");
            if !is_exempt && line.chars().count() > COLUMNS {
                long.push(format!("{}:{number}", page.display()));
            }
        });
    }
    assert!(long.is_empty(), "longer than {COLUMNS} columns: {long:#?}");
}

#[test]
fn paths_and_links_lead_somewhere() {
    let root = root();
    let mut missing = Vec::new();
    for page in pages() {
        let folder = root.join(page.parent().unwrap());
        each_line(&page, |number, line| {
            // Code spans are every second piece between backticks.
            let spans = line.split('`').skip(1).step_by(2);
            let is_path = |span: &&str| {
                let is_pattern = span.contains(['*', '{', ' ', '…', '<', '$']) || span.contains("NAME");
                FOLDERS.iter().any(|folder| span.starts_with(folder)) && !is_pattern
            };
            for span in spans.filter(is_path) {
                if !root.join(span).exists() {
                    missing.push(format!("{}:{number}: {span}", page.display()));
                }
            }
            for link in between(line, "](", ')').filter(|link| !link.contains("://")) {
                let file = link.split('#').next().unwrap_or_default();
                if !file.is_empty() && !folder.join(file).exists() {
                    missing.push(format!("{}:{number}: {link}", page.display()));
                }
            }
        });
    }
    assert!(missing.is_empty(), "no such files: {missing:#?}");
}
