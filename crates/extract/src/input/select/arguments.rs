//! The files that an argument asks for.

use std::path::{Path, PathBuf};

use super::listing::{self, FoundFile, folded, list, simplified, slashed};
use super::{Purpose, SelectOptions};
use crate::input::error::{InputError, Note};
use crate::input::file_kind;
use tracesift_grammar::Pattern;
use tracesift_grammar::patterns::has_wildcards;

/// One entry of an argument that is no exclusion.
pub(super) enum Wanted {
    /// A file or directory that exists.
    Path(PathBuf),
    /// A name that does not exist as written; perhaps its extension was left out.
    Name { directory: PathBuf, name: String },
    /// A wildcard below a directory.
    Wildcard(Wildcard),
}

pub(super) struct Wildcard {
    /// As the user wrote it.
    text: String,
    /// The part before the first component with a wildcard.
    directory: PathBuf,
    /// The rest.
    pattern: Pattern,
    /// Slashes in the rest.
    slashes: usize,
}

/// The path that an argument names, if that exists. A `\` also separates where the path as written does not exist.
pub(super) fn existing(text: &str, base: &Path) -> Option<PathBuf> {
    if text.is_empty() {
        return None;
    }
    let as_written = simplified(&base.join(text));
    if as_written.exists() {
        return Some(as_written);
    }
    let with_slashes = simplified(&base.join(text.replace('\\', "/")));
    with_slashes.exists().then_some(with_slashes)
}

impl Wanted {
    pub(super) fn parse(text: &str, base: &Path) -> Wanted {
        if let Some(path) = existing(text, base) {
            return Wanted::Path(path);
        }
        let text = text.replace('\\', "/");
        let wildcard = text.find(['*', '?']).unwrap_or(text.len());
        let (directory, rest) = match text[..wildcard].rfind('/') {
            Some(slash) => (base.join(&text[..=slash]), &text[slash + 1..]),
            None => (base.to_owned(), text.as_str()),
        };
        let directory = simplified(&directory);
        if !has_wildcards(rest) {
            return Wanted::Name { directory, name: rest.to_owned() };
        }
        let (pattern, slashes) = (Pattern::new(rest), rest.matches('/').count());
        Wanted::Wildcard(Wildcard { directory, pattern, slashes, text })
    }

    /// Everything that it asks for.
    pub(super) fn find(&self, options: &SelectOptions, notes: &mut Vec<Note>) -> Result<Vec<FoundFile>, InputError> {
        match self {
            Wanted::Path(path) => find_path(path, options, notes),
            Wanted::Name { directory, name } => find_name(directory, name, options, notes),
            Wanted::Wildcard(wildcard) => wildcard.find(options, notes),
        }
    }
}

fn find_path(path: &Path, options: &SelectOptions, notes: &mut Vec<Note>) -> Result<Vec<FoundFile>, InputError> {
    let unreadable = |reason| InputError::Unreadable { path: path.to_owned(), reason };
    if let Some(found) = FoundFile::look(path.to_owned(), true).map_err(unreadable)? {
        return Ok(vec![found]);
    }
    if !path.is_dir() {
        return Err(InputError::NotAFile { path: path.to_owned() });
    }
    let mut found = list(path, depth(options, 0), notes)?;
    found.retain(|found| is_of_use(found, options.purpose));
    if found.is_empty() {
        return Err(InputError::NothingInDirectory { directory: path.to_owned(), recursive: options.recursive });
    }
    Ok(found)
}

/// A name without its extension finds every file that goes by it: `X` finds `X.etl.zip`, and so does `X.etl`.
fn find_name(
    directory: &Path,
    name: &str,
    options: &SelectOptions,
    notes: &mut Vec<Note>,
) -> Result<Vec<FoundFile>, InputError> {
    let missing = || InputError::NotFound { path: simplified(&directory.join(name)) };
    if name.is_empty() || !directory.is_dir() {
        return Err(missing());
    }
    let mut found = list(directory, depth(options, 0), notes)?;
    let wanted = folded(name);
    // An extract goes by the name of its recording too, which may be gone.
    let wanted_stem = folded(file_kind::stem(name));
    found.retain(|found| {
        let file_name = listing::file_name(&found.path);
        is_of_use(found, options.purpose)
            && (file_kind::spellings(&file_name).any(|spelling| folded(spelling) == wanted)
                || found.is_extract && folded(file_kind::stem(&file_name)) == wanted_stem)
    });
    if found.is_empty() {
        return Err(missing());
    }
    found.iter_mut().for_each(|found| found.named = true);
    Ok(found)
}

impl Wildcard {
    fn find(&self, options: &SelectOptions, notes: &mut Vec<Note>) -> Result<Vec<FoundFile>, InputError> {
        if !self.directory.is_dir() {
            return Err(InputError::NotFound { path: self.directory.clone() });
        }
        let mut found = list(&self.directory, depth(options, self.slashes), notes)?;
        found.retain(|found| is_of_use(found, options.purpose) && self.matches(&found.path, options.recursive));
        if found.is_empty() {
            return Err(InputError::NothingMatched {
                pattern: self.text.clone(),
                directory: self.directory.clone(),
                recursive: options.recursive,
            });
        }
        Ok(found)
    }

    /// With slashes it is the path below the directory that must match, else the file name at any depth.
    fn matches(&self, path: &Path, recursive: bool) -> bool {
        let below = path.strip_prefix(&self.directory).unwrap_or(path);
        let below = slashed(below);
        if !recursive && below.matches('/').count() != self.slashes {
            return false;
        }
        let compared = match self.slashes {
            0 => below.rsplit('/').next().unwrap_or(&below),
            _ => below.as_str(),
        };
        file_kind::spellings(compared).any(|spelling| self.pattern.matches(spelling))
    }
}

/// Directory levels to list for a pattern with that many slashes.
fn depth(options: &SelectOptions, slashes: usize) -> usize {
    if options.recursive { usize::MAX } else { slashes + 1 }
}

fn is_of_use(found: &FoundFile, purpose: Purpose) -> bool {
    !found.is_extract || purpose == Purpose::Ask
}

/// The exclusions of all arguments.
pub(super) struct Exclusions {
    names: Vec<Pattern>,
    paths: Vec<Pattern>,
    base: PathBuf,
}

impl Exclusions {
    pub(super) fn new(texts: &[&str], base: &Path) -> Exclusions {
        let mut exclusions = Exclusions { names: Vec::new(), paths: Vec::new(), base: simplified(base) };
        for text in texts {
            let text = text.replace('\\', "/");
            let text = text.strip_prefix("./").unwrap_or(&text);
            let list = if text.contains('/') { &mut exclusions.paths } else { &mut exclusions.names };
            list.push(Pattern::new(text));
        }
        exclusions
    }

    /// Whether a file is excluded, by its name or by its path as it is shown or below the base directory.
    pub(super) fn exclude(&self, path: &Path) -> bool {
        let hit = |patterns: &[Pattern], text: &str| {
            file_kind::spellings(text).any(|spelling| patterns.iter().any(|pattern| pattern.matches(spelling)))
        };
        let whole = slashed(path);
        let below = path.strip_prefix(&self.base).map(slashed);
        hit(&self.names, &listing::file_name(path))
            || hit(&self.paths, &whole)
            || below.is_ok_and(|below| hit(&self.paths, &below))
    }
}
