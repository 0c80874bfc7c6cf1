//! The dependencies of the workspace: their licences, versions and sources against `deny.toml`, and none that nothing uses.
//!
//! `cargo deny` checks more, for all systems, but it is not at hand on every machine. These tests need nothing but cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

/// A crate that the workspace is built from on this system.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    name: String,
    version: String,
    licence: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_toml(path: &Path) -> Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// All crates from the registry, as cargo resolves them for this system.
fn dependencies() -> BTreeSet<Dependency> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--workspace", "--locked", "--prefix", "none", "--format", "{p}|{l}|"]).current_dir(root());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let all = text.lines().filter_map(|line| {
        let (package, rest) = line.split_once('|')?;
        let (licence, _) = rest.split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // Crates of the workspace have their folder behind the version.
        let is_ours = words.any(|word| word.starts_with('(') && word != "(proc-macro)");
        (!is_ours).then(|| Dependency { name: name.into(), version: version.into(), licence: licence.into() })
    });
    all.collect()
}

fn strings(value: Option<&Value>) -> BTreeSet<String> {
    value.and_then(Value::as_array).into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Whether one of the choices of an SPDX expression has allowed licences only.
fn allows(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "+WITH+");
    let mut words = spaced.split_whitespace().peekable();
    let result = any_of(&mut words, allowed);
    assert_eq!(words.next(), None, "{expression}");
    result
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut result = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        result |= all_of(words, allowed);
    }
    result
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut result = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        result &= one(words, allowed);
    }
    result
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let result = any_of(words, allowed);
        assert_eq!(words.next(), Some(")"));
        return result;
    }
    allowed.contains(&words.next().unwrap().replace("+WITH+", " WITH "))
}

#[test]
fn licences_are_those_of_deny_toml() {
    let deny = read_toml(&root().join("deny.toml"));
    let allowed = strings(deny["licenses"].get("allow"));
    let mut exceptions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for exception in deny["licenses"]["exceptions"].as_array().unwrap() {
        exceptions.entry(exception["crate"].as_str().unwrap()).or_default().extend(strings(exception.get("allow")));
    }
    let refused: Vec<Dependency> = dependencies()
        .into_iter()
        .filter(|dependency| {
            let of_crate = exceptions.get(dependency.name.as_str()).cloned().unwrap_or_default();
            !allows(&dependency.licence, &allowed.union(&of_crate).cloned().collect())
        })
        .collect();
    assert!(refused.is_empty(), "deny.toml does not allow the licences of {refused:#?}");
}

#[test]
fn expressions_of_licences() {
    let allowed: BTreeSet<String> = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for yes in ["MIT", "GPL-3.0/MIT", "GPL-3.0 OR Apache-2.0 WITH LLVM-exception", "(GPL-3.0 OR MIT) AND Zlib"] {
        assert!(allows(yes, &allowed), "{yes}");
    }
    for no in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(GPL-3.0 OR MIT) AND ISC"] {
        assert!(!allows(no, &allowed), "{no}");
    }
}

#[test]
fn second_versions_are_those_of_deny_toml() {
    let deny = read_toml(&root().join("deny.toml"));
    let skipped: BTreeSet<&str> =
        deny["bans"]["skip"].as_array().unwrap().iter().map(|skip| skip["crate"].as_str().unwrap()).collect();
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for dependency in dependencies() {
        versions.entry(dependency.name).or_default().insert(dependency.version);
    }
    for (name, versions) in versions.into_iter().filter(|(_, versions)| versions.len() > 1) {
        let is_skipped = |version: &String| {
            skipped.iter().any(|skip| {
                let (skipped, prefix) = skip.split_once('@').unwrap();
                skipped == name && version.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        let others = versions.iter().filter(|version| !is_skipped(version)).count();
        assert!(others <= 1, "{name} has the versions {versions:?}, which deny.toml does not explain");
    }
}

#[test]
fn everything_comes_from_the_registry() {
    let lock = read_toml(&root().join("Cargo.lock"));
    for package in lock["package"].as_array().unwrap() {
        if let Some(source) = package.get("source") {
            assert_eq!(source.as_str(), Some("registry+https://github.com/rust-lang/crates.io-index"), "{package:?}");
        }
    }
}

/// The text of all Rust files below a folder.
fn sources(folder: &Path, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// The names in the tables of dependencies with one of these names, at the top and per system.
fn named<'m>(manifest: &'m Table, tables: &[&str]) -> impl Iterator<Item = &'m String> {
    let systems = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let places = std::iter::once(manifest).chain(systems.filter_map(Value::as_table));
    let tables: Vec<&Table> =
        places.flat_map(|place| tables.iter().filter_map(|&table| place.get(table)?.as_table())).collect();
    tables.into_iter().flat_map(Table::keys)
}

/// Whether a word that is the crate's name stands in the text.
fn mentions(text: &str, name: &str) -> bool {
    let name = name.replace('-', "_");
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(&name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

#[test]
fn every_dependency_is_used() {
    let root = root();
    let workspace = read_toml(&root.join("Cargo.toml"));
    let mut crates: Vec<PathBuf> =
        std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    crates.extend(["benches", "workloads"].map(|folder| root.join(folder)));
    let mut unused = Vec::new();
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    for folder in crates.iter().filter(|folder| folder.join("Cargo.toml").is_file()) {
        let manifest = read_toml(&folder.join("Cargo.toml"));
        let mut code = String::new();
        sources(&folder.join("src"), &mut code);
        let mut tests = code.clone();
        for part in ["tests", "examples", "benches"] {
            sources(&folder.join(part), &mut tests);
        }
        for (tables, text) in
            [(&["dependencies", "build-dependencies"][..], &code), (&["dev-dependencies"][..], &tests)]
        {
            for name in named(&manifest, tables) {
                wanted.insert(name.clone());
                if !mentions(text, name) {
                    unused.push(format!("{name} in {}", folder.join("Cargo.toml").display()));
                }
            }
        }
    }
    let listed = workspace["workspace"]["dependencies"].as_table().unwrap().keys();
    unused.extend(listed.filter(|name| !wanted.contains(*name)).map(|name| format!("{name} in Cargo.toml")));
    assert!(unused.is_empty(), "nothing uses these dependencies: {unused:#?}");
}
