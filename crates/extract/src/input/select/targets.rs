//! Groups files into targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesift_archive::Archive;
use tracesift_trace::info::{IMPORTED, SourceFile};

use super::arguments::Exclusions;
use super::listing::{self, FoundFile, directory_of, folded};
use super::{InputRecording, Purpose, Selection, Target};
use crate::input::error::{InputError, Note};
use crate::input::file_kind::{self, Format, Packing};
use crate::input::parts::{part_of, same_name};
use crate::input::source_file;

/// Puts files together to targets.
pub(super) struct Targets<'a> {
    exclusions: &'a Exclusions,
    purpose: Purpose,
}

/// Files of one name in one directory.
#[derive(Default)]
struct Family {
    extracts: Vec<PathBuf>,
    /// Best first.
    files: Vec<FoundFile>,
    named: bool,
}

/// Directory, and name without extensions and case.
type Key = (PathBuf, String);

impl<'a> Targets<'a> {
    pub(super) fn new(exclusions: &'a Exclusions, purpose: Purpose) -> Self {
        Targets { exclusions, purpose }
    }

    /// Adds the targets that the found files are, with what there is to say about them.
    pub(super) fn collect(&self, found: Vec<FoundFile>, selection: &mut Selection) {
        let mut families = self.families(found, selection);
        self.add_siblings(&mut families);
        let parts = take_parts(&mut families);
        for (key, family) in families {
            if let Some(extract) = family.extracts.first() {
                if family.has_an_extract() {
                    selection.targets.extend(family.extracts.into_iter().map(Target::Extract));
                    continue;
                }
                if let Some(found) = family.files.first() {
                    let (extract, recording) = (extract.clone(), found.path.clone());
                    selection.notes.push(Note::OtherExtract { extract, recording });
                }
            }
            let mut parts = parts.get(&key).into_iter().flatten().map(|part| part.path.clone());
            for (at, files) in recordings(family.files).into_iter().flat_map(same_spelling).enumerate() {
                let mut files = files.into_iter().map(|found| found.path);
                let Some(first) = files.next().or_else(|| parts.next()) else { continue };
                let stands_for: Vec<PathBuf> = files.collect();
                for instead_of in &stands_for {
                    selection.notes.push(Note::ArchiveWins { used: first.clone(), instead_of: instead_of.clone() });
                }
                let name = if at == 0 { name_of(&first, &key.1) } else { other_name_of(&first) };
                let files = std::iter::once(first).chain(parts.by_ref()).collect();
                let recording = InputRecording { name, files, stands_for, forced: false, named: family.named };
                selection.targets.push(Target::Recording(recording));
            }
        }
    }

    /// Sorts files into families. Empty files are reported and dropped.
    fn families(&self, found: Vec<FoundFile>, selection: &mut Selection) -> BTreeMap<Key, Family> {
        let mut families: BTreeMap<Key, Family> = BTreeMap::new();
        let mut empty: Vec<PathBuf> = Vec::new();
        for found in found {
            if found.size == 0 && !found.is_extract {
                if !empty.contains(&found.path) {
                    empty.push(found.path.clone());
                    match found.named {
                        true => selection.problems.push(InputError::Empty { path: found.path, member: None }),
                        false => selection.notes.push(Note::EmptyLeftOut { path: found.path, member: None }),
                    }
                }
                continue;
            }
            families.entry(key_of(&found.path)).or_default().add(found);
        }
        families
    }

    /// Adds what stands beside a found file and belongs to it: the archive made from it, its parts, its extract.
    fn add_siblings(&self, families: &mut BTreeMap<Key, Family>) {
        let directories: Vec<PathBuf> = {
            let mut directories: Vec<PathBuf> = families.keys().map(|(directory, _)| directory.clone()).collect();
            directories.dedup();
            directories
        };
        for directory in directories {
            // What cannot be read here was reported when it was searched, or was not asked for.
            let siblings = listing::list(&directory, 1, &mut Vec::new()).unwrap_or_default();
            for sibling in siblings {
                let (directory, stem) = key_of(&sibling.path);
                let belongs = families
                    .get(&(directory.clone(), stem.clone()))
                    .is_some_and(|family| sibling.is_extract || family.may_hold(&sibling))
                    || is_loose(&sibling.path)
                        && part_of(&stem).is_some_and(|(base, _)| {
                            families
                                .get(&(directory.clone(), base.to_owned()))
                                .is_some_and(|main| !main.files.is_empty())
                        });
                let of_use = match sibling.is_extract {
                    true => self.purpose == Purpose::Ask,
                    false => sibling.size > 0,
                };
                if belongs && of_use && !self.exclusions.exclude(&sibling.path) {
                    families.entry((directory, stem)).or_default().add(sibling);
                }
            }
        }
    }
}

impl Family {
    /// Whether a file beside those of the family can be the same recording as one of them.
    fn may_hold(&self, sibling: &FoundFile) -> bool {
        let says = recording_of(sibling);
        self.files.is_empty()
            || self.files.iter().any(|found| match (recording_of(found), &says) {
                (Some(known), Some(said)) => known == *said,
                _ => true,
            })
    }

    /// Whether one of the extracts is of one of these files, as far as extracts tell; also where only extracts are there.
    fn has_an_extract(&self) -> bool {
        let is_of_one = |extract: &PathBuf| self.files.iter().any(|found| is_extract_of(extract, &found.path));
        self.files.is_empty() || self.extracts.iter().any(is_of_one)
    }

    fn add(&mut self, found: FoundFile) {
        self.named |= found.named;
        if found.is_extract {
            if !self.extracts.contains(&found.path) {
                self.extracts.push(found.path);
            }
            return;
        }
        let order = |found: &FoundFile| (rank(found), found.path.clone());
        if let Err(at) = self.files.binary_search_by_key(&order(&found), order) {
            self.files.insert(at, found);
        }
    }
}

/// Whether an extract was made from this content. One that does not open says why when it is asked, and an import is of another file.
fn is_extract_of(extract: &Path, file: &Path) -> bool {
    let Ok(archive) = Archive::open(extract) else { return true };
    let info = archive.info();
    let Ok(metadata) = std::fs::metadata(file) else { return true };
    let is_of_size = |source: &&SourceFile| source.size == metadata.len();
    let of_size: Vec<&SourceFile> = info.sources.iter().filter(is_of_size).collect();
    // A copy has another time and the same content.
    let has_content =
        || source_file(file, None).is_ok_and(|now| of_size.iter().any(|of| of.head_hash == now.head_hash));
    info.kind == IMPORTED || !of_size.is_empty() && has_content()
}

fn rank(found: &FoundFile) -> usize {
    Packing::rank(&listing::file_name(&found.path))
}

/// Which recording a file is by its name, packed or not; `None` when the name does not say.
fn recording_of(found: &FoundFile) -> Option<(Format, String)> {
    let name = listing::file_name(&found.path);
    let plain = file_kind::plain_name(&name)?;
    Some((Format::by_name(plain)?, folded(plain)))
}

/// `X.etl` and `X.data` are two recordings of one name. What does not say which of them it holds, such as `X.zip`, belongs
/// to the first. There is always one list.
fn recordings(files: Vec<FoundFile>) -> Vec<Vec<FoundFile>> {
    let mut names: Vec<_> = files.iter().filter_map(recording_of).collect();
    names.sort();
    names.dedup();
    let mut recordings: Vec<Vec<FoundFile>> = names.iter().map(|_| Vec::new()).collect();
    if recordings.len() < 2 {
        return vec![files];
    }
    for found in files {
        let at = recording_of(&found).and_then(|says| names.binary_search(&says).ok()).unwrap_or(0);
        if let Some(recording) = recordings.get_mut(at) {
            recording.push(found);
        }
    }
    recordings
}

/// Where a file system tells `x.etl` from `X.etl`, they are two recordings: the files of a family are then told apart by
/// their exact spelling. Without such a clash, spelling does not count. There is always one list.
fn same_spelling(files: Vec<FoundFile>) -> Vec<Vec<FoundFile>> {
    if !files.windows(2).any(|pair| rank(&pair[0]) == rank(&pair[1])) {
        return vec![files];
    }
    let mut spellings: BTreeMap<String, Vec<FoundFile>> = BTreeMap::new();
    for found in files {
        let name = listing::file_name(&found.path);
        spellings.entry(file_kind::stem(&name).to_owned()).or_default().push(found);
    }
    spellings.into_values().collect()
}

/// Takes the families that are only a loose part out, if what they are a part of is there too, or another part of it.
fn take_parts(families: &mut BTreeMap<Key, Family>) -> BTreeMap<Key, Vec<FoundFile>> {
    let mut parts: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    for (key, family) in families.iter() {
        let loose = family.extracts.is_empty() && family.files.iter().all(|found| is_loose(&found.path));
        if let (true, Some((base, _))) = (loose, part_of(&key.1)) {
            parts.entry((key.0.clone(), base.to_owned())).or_default().push(key.clone());
        }
    }
    parts.retain(|main, parts| families.contains_key(main) || parts.len() > 1);
    let mut taken: BTreeMap<Key, Vec<FoundFile>> = BTreeMap::new();
    for (main, keys) in parts {
        for key in keys {
            let Some(family) = families.remove(&key) else { continue };
            families.entry(main.clone()).or_default().named |= family.named;
            taken.entry(main.clone()).or_default().extend(family.files);
        }
    }
    taken
}

fn key_of(path: &Path) -> Key {
    (directory_of(path), folded(file_kind::stem(&listing::file_name(path))))
}

fn is_loose(path: &Path) -> bool {
    Format::by_name(&listing::file_name(path)) == Some(Format::Etl)
}

/// The name of a recording, spelt as in its first file; that may be a part, whose own suffix does not count then.
fn name_of(first: &Path, key: &str) -> String {
    let file_name = listing::file_name(first);
    let stem = file_kind::stem(&file_name);
    match part_of(stem) {
        Some((base, _)) if same_name(base, key) => base.to_owned(),
        _ => stem.to_owned(),
    }
}

/// The name of a further recording whose name is taken: that of its file, unpacked.
fn other_name_of(first: &Path) -> String {
    let file_name = listing::file_name(first);
    match file_kind::plain_name(&file_name) {
        // Where only the spelling of the name differs, that tells them apart.
        Some(plain) if Format::by_name(plain) == Some(Format::Perf) => plain.to_owned(),
        _ => file_kind::stem(&file_name).to_owned(),
    }
}
