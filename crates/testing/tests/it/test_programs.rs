//! Few test programs, as each of them has to be linked; and none is left out that has a test.

use std::fs;
use std::path::{Path, PathBuf};

/// Test programs besides `tests/it`, and their reason: they record the whole machine, which tests beside them would disturb.
const OTHERS: [&str; 2] = ["crates/cli/tests/workloads", "crates/extract/tests/linux"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The packages of the workspace, as folders below its root.
fn packages() -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let names = crates.map(|entry| format!("crates/{}", entry.expect("an entry").file_name().display()));
    let mut packages: Vec<String> = names.chain(["benches".to_owned(), "workloads".to_owned()]).collect();
    packages.retain(|package| root().join(package).join("Cargo.toml").is_file());
    packages.sort();
    assert!(packages.len() > 18, "{packages:?}");
    packages
}

/// Paths and texts of all Rust files in a folder, those of nested folders included.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            found.push((path, text));
        }
    }
    found
}

#[test]
fn a_crate_has_one_test_program() {
    for package in packages() {
        let Ok(entries) = fs::read_dir(root().join(&package).join("tests")) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_program = name.ends_with(".rs") || path.join("main.rs").is_file();
            let is_known = name == "it" || OTHERS.contains(&&*format!("{package}/tests/{name}"));
            assert!(!is_program || is_known, "{package}/tests/{name}: a module of tests/it has no program to link");
        }
    }
}

#[test]
fn no_file_is_compiled_into_two_crates() {
    let folders = packages().into_iter().chain(["fuzz/fuzz_targets".to_owned()]);
    for (path, text) in folders.flat_map(|folder| sources(&root().join(folder))) {
        let found = text.lines().any(|line| line.trim_start().starts_with(concat!("#[", "path")));
        assert!(!found, "{}: shared code is a crate (fixtures, testing)", path.display());
    }
}

/// A manifest switches off the test program of a library without unit tests, and the documentation's of one without examples.
#[test]
fn no_test_is_switched_off() {
    for package in packages() {
        let manifest = fs::read_to_string(root().join(&package).join("Cargo.toml")).expect("a manifest");
        let library = manifest.split_once("[lib]\n").map_or("", |(_, rest)| rest.split("\n[").next().unwrap_or(rest));
        let sources = sources(&root().join(&package).join("src"));
        if library.contains("\ntest = false") || library.starts_with("test = false") {
            let tested = sources.iter().find(|(_, text)| text.contains(concat!("#[", "test]")));
            assert!(
                tested.is_none(),
                "{package}: {:?} has a test, but the manifest says test = false",
                tested.map(|it| &it.0)
            );
        }
        if library.contains("doctest = false") {
            let example = sources.iter().find(|(_, text)| has_example(text));
            assert!(
                example.is_none(),
                "{package}: {:?} has an example, but the manifest says doctest = false",
                example.map(|it| &it.0)
            );
        }
    }
}

/// Whether a documentation comment has code of Rust.
fn has_example(text: &str) -> bool {
    let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("///") || line.starts_with("//!"));
    let fences = comments.filter_map(|line| line[3..].trim_start().strip_prefix("```"));
    // Every second fence ends a block.
    let rust = ["rust", "no_run", "compile_fail", "should_panic"];
    fences.step_by(2).any(|language| language.is_empty() || rust.iter().any(|word| language.starts_with(word)))
}
