//! Which files the modules of a run are.

use std::collections::BTreeMap;

use tracesift_analysis::roles::module_role;
use tracesift_archive::Error;
use tracesift_trace::rows::ModuleRow;

use crate::recording::OpenRecording;

/// The files that go by one name in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Module {
    /// What makes the file unlike any other: build id, else GUID and age of its PDB, else time stamp and size; several are separated
    /// by commas. `None`: the recording does not tell it of each.
    pub(crate) identity: Option<String>,
    /// Its version, for people.
    pub(crate) version: Option<String>,
}

/// The modules of a recording by the names that they have in the next build.
pub(super) fn of(recording: &OpenRecording, image: Option<&str>) -> Result<BTreeMap<String, Module>, Error> {
    let mut found: BTreeMap<String, Vec<ModuleRow>> = BTreeMap::new();
    for row in recording.archive().rows::<ModuleRow>()? {
        let is_main = image.is_some_and(|image| image.eq_ignore_ascii_case(&row.name));
        found.entry(module_role(&row.name, is_main)).or_default().push(row);
    }
    Ok(found.into_iter().map(|(role, rows)| (role, module(&rows))).collect())
}

fn module(rows: &[ModuleRow]) -> Module {
    let mut identities: Vec<Option<String>> = rows.iter().map(identity).collect();
    identities.sort_unstable();
    identities.dedup();
    let identity = identities.into_iter().collect::<Option<Vec<String>>>().map(|identities| identities.join(", "));
    let version = rows.iter().find_map(|row| row.binary_file_version.clone().or_else(|| row.file_version.clone()));
    Module { identity, version }
}

fn identity(row: &ModuleRow) -> Option<String> {
    let of_pdb = || Some(format!("{}-{}", row.pdb_guid.as_ref()?, row.pdb_age.unwrap_or(0)));
    let of_header = || {
        let stamp = row.time_date_stamp.filter(|stamp| *stamp != 0)?;
        Some(format!("{stamp:x}-{:x}", row.size))
    };
    row.build_id.clone().or_else(of_pdb).or_else(of_header)
}
