//! Whether two answers are the same, row by row and in the same order.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use tracesift_archive::Archive;

/// Compares our CSV with DuckDB's; gives the number of rows. We name a recording by its path, the tables by its id.
pub(crate) fn same(ours: &Path, theirs: &Path, archives: &Path) -> anyhow::Result<usize> {
    let mut ids = HashMap::new();
    for entry in fs::read_dir(archives)? {
        let path = entry?.path();
        let id = Archive::open(&path)?.info().id.clone();
        ids.insert(path.to_str().context("a name that is text")?.to_owned(), id);
    }
    let (ours, theirs) = (records(&fs::read_to_string(ours)?), records(&fs::read_to_string(theirs)?));
    ensure!(ours.len() == theirs.len(), "{} rows against {}", ours.len(), theirs.len());
    ensure!(ours.len() > 1, "there are no rows");
    ensure!(ours[0] == theirs[0], "columns {:?} against {:?}", ours[0], theirs[0]);
    for (our, their) in ours.iter().zip(&theirs).skip(1) {
        let file = our.first().and_then(|path| ids.get(path)).context("a row of no file")?;
        let is_same = our.len() == their.len()
            && Some(file) == their.first()
            && our.iter().zip(their).skip(1).all(|(our, their)| is_same(our, their));
        ensure!(is_same, "{our:?} against {their:?}");
    }
    Ok(ours.len() - 1)
}

/// The same text, or the same number in another spelling: `8` and `8.0`.
fn is_same(our: &str, their: &str) -> bool {
    our == their || matches!((our.parse::<f64>(), their.parse::<f64>()), (Ok(our), Ok(their)) if our == their)
}

/// The fields of each record.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut characters) = (false, text.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            character => field.push(character),
        }
    }
    records
}
