//! Which crate uses which: the table of `ARCHITECTURE.md` holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

/// By crate of the table, in its order: the crates that it may use.
fn allowed(architecture: &str) -> Vec<(String, BTreeSet<String>)> {
    let rows = architecture.lines().skip_while(|line| *line != "| crate | owns | uses |").skip(2);
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    rows.map_while(|line| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
        let [name, _, uses] = cells[..] else { panic!("three cells: {line}") };
        Some((names(name).pop_first().unwrap_or_else(|| panic!("a crate: {line}")), names(uses)))
    })
    .collect()
}

/// The crates of the workspace that a manifest names, on any system, but for its tests.
fn used(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    let dependencies = tables.flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")]).flatten();
    let names = dependencies.filter_map(Value::as_table).flat_map(Table::keys);
    names.filter_map(|name| name.strip_prefix("tracesift-")).map(str::to_owned).collect()
}

#[test]
fn crates_use_what_the_table_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = allowed(&std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    let mut crates = BTreeMap::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let manifest: Table = std::fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap();
        crates.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), used(&manifest));
    }
    assert!(table.len() > 10, "{table:?}");
    let mut above = BTreeSet::new();
    for (name, allowed) in &table {
        let used = crates.get(name).unwrap_or_else(|| panic!("`{name}` of the table is no crate"));
        assert_eq!(used, allowed, "`{name}` uses the crates on the left; the table allows those on the right");
        assert!(allowed.is_subset(&above), "`{name}` may use {allowed:?}, which do not all stand above it");
        above.insert(name.clone());
    }
    // Crates that are not in the table serve tests alone: the check above has found them under no crate of the table.
    for name in crates.keys().filter(|name| !above.contains(*name)) {
        assert!(["fixtures", "testing"].contains(&name.as_str()), "`{name}` is missing in the table");
    }
}
