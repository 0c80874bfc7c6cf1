//! From command-line arguments to a list of targets.
//!
//! An argument names a file, a directory, a wildcard, or a `;` list of these with `!` exclusions. Shells on Windows do
//! not expand wildcards, and quoted ones are not expanded anywhere, so they are expanded here, with `\` as good as `/`.
//! Several files can be one target: an archive file stands for the `.etl` it was made from, and the parts that one
//! recorder wrote side by side belong to one recording until their headers say otherwise.

mod arguments;
mod listing;
mod targets;

use std::path::{Path, PathBuf};

use super::error::{InputError, Note, one_line};
use arguments::{Exclusions, Wanted};
use targets::Targets;
use tracesift_grammar::patterns::{self, Item};

/// What the targets are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be extracted: recordings only.
    #[default]
    Extract,
    /// To be asked: extracted archives, and recordings that have none beside them.
    Ask,
}

/// How to select.
#[derive(Clone, Debug)]
pub struct SelectOptions {
    /// Directory to which relative arguments refer.
    pub base: PathBuf,
    /// Whether directories below a named one count too.
    pub recursive: bool,
    /// What the targets are for.
    pub purpose: Purpose,
}

impl Default for SelectOptions {
    fn default() -> Self {
        SelectOptions { base: PathBuf::from("."), recursive: false, purpose: Purpose::Extract }
    }
}

/// One thing to extract or to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One or more files that may be one recording.
    Recording(InputRecording),
    /// A directory `X.sift`.
    Extract(PathBuf),
}

impl Target {
    /// The directory of an extract, or the first file of a recording.
    pub fn path(&self) -> &Path {
        match self {
            Target::Recording(recording) => &recording.files[0],
            Target::Extract(directory) => directory,
        }
    }
}

/// Files that may be one recording; see [`super::parts::group`] for the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRecording {
    /// File name without `.etl`, `.zip` …, or the name that the user gave.
    pub name: String,
    /// Its files, at least one; the one that gave the name stands first.
    pub files: Vec<PathBuf>,
    /// Files left aside because the first file is an archive of the same name.
    pub stands_for: Vec<PathBuf>,
    /// Whether the files are one recording because the user said so.
    pub forced: bool,
    /// Whether the user named the first file itself. Only then is it an error if it turns out to be something else: a
    /// `.zip` that a search came upon need not hold a recording.
    pub named: bool,
}

/// Result of [`select`].
#[derive(Debug, Default)]
pub struct Selection {
    /// The targets, sorted by path.
    pub targets: Vec<Target>,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// Arguments that gave nothing. The rest is usable nevertheless.
    pub problems: Vec<InputError>,
}

/// Finds the targets that `arguments` name; without any, those in the base directory.
///
/// * A file or directory that exists as written is taken as such, whatever its name looks like.
/// * A pattern without slash is compared with file names, with one with the path; either may leave out the extension.
///   `*` also runs over slashes.
/// * Exclusions hold for all arguments, wherever they stand.
/// * Names compare without case.
pub fn select(arguments: &[impl AsRef<str>], options: &SelectOptions) -> Selection {
    let mut selection = Selection::default();
    let mut wanted = Vec::new();
    let mut excluded = Vec::new();
    for argument in arguments {
        let argument = argument.as_ref();
        match arguments::existing(argument, &options.base) {
            Some(path) => wanted.push(Wanted::Path(path)),
            None => {
                for item in patterns::split(argument) {
                    match item {
                        Item::Include(text) => wanted.push(Wanted::parse(text, &options.base)),
                        Item::Exclude(text) => excluded.push(text),
                    }
                }
            }
        }
    }
    if wanted.is_empty() {
        wanted.push(Wanted::Path(listing::simplified(&options.base)));
    }
    let exclusions = Exclusions::new(&excluded, &options.base);

    let mut found = Vec::new();
    for wanted in &wanted {
        match wanted.find(options, &mut selection.notes) {
            Ok(more) => found.extend(more),
            Err(problem) => selection.problems.push(problem),
        }
    }
    let count = found.len();
    found.retain(|found| !exclusions.exclude(&found.path));
    if count > 0 && found.is_empty() {
        let exclusions = excluded.iter().map(|text| format!("!{}", one_line(text))).collect::<Vec<_>>().join(";");
        selection.problems.push(InputError::AllExcluded { count, exclusions });
    }
    Targets::new(&exclusions, options.purpose).collect(found, &mut selection);
    selection.targets.sort_by_cached_key(|target| listing::sort_key(target.path()));
    selection
}

/// One recording of all the files that `arguments` name, whatever their headers say.
///
/// # Errors
/// The first problem of the selection, or [`InputError::NothingToMerge`].
pub fn merge(name: &str, arguments: &[impl AsRef<str>], options: &SelectOptions) -> Result<InputRecording, InputError> {
    let options = SelectOptions { purpose: Purpose::Extract, ..options.clone() };
    let nothing = || InputError::NothingToMerge { name: name.to_owned() };
    if arguments.is_empty() {
        return Err(nothing());
    }
    let selection = select(arguments, &options);
    if let Some(problem) = selection.problems.into_iter().next() {
        return Err(problem);
    }
    let files = selection.targets.into_iter().flat_map(|target| match target {
        Target::Recording(recording) => recording.files,
        Target::Extract(_) => Vec::new(),
    });
    let files: Vec<PathBuf> = files.collect();
    if files.is_empty() {
        return Err(nothing());
    }
    Ok(InputRecording { name: name.to_owned(), files, stands_for: Vec::new(), forced: true, named: true })
}
