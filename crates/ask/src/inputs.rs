//! Finds the files of a question.

use std::path::{Path, PathBuf};

use tracesift_extract::input::{InputError, InputRecording, Note, Purpose, SelectOptions, Target, file_kind, select};
use tracesift_grammar::Pattern;

use crate::recording_label::path_text;

/// `-f`: patterns of files, `;` separated, `!` excludes. A pattern with a slash is compared with the path, one without with
/// the name without `.etl`, `.zip`, `.sift`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFilter {
    include: Vec<FilePattern>,
    exclude: Vec<FilePattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FilePattern {
    pattern: Pattern,
    of_path: bool,
}

impl FileFilter {
    /// Several lists as one.
    #[must_use]
    pub fn parse(lists: &[impl AsRef<str>]) -> Self {
        let mut filter = Self::default();
        for item in lists.iter().flat_map(|list| list.as_ref().split(';')).map(str::trim) {
            let (text, patterns) = match item.strip_prefix('!') {
                Some(text) => (text.trim(), &mut filter.exclude),
                None => (item, &mut filter.include),
            };
            if !text.is_empty() {
                let text = text.replace('\\', "/");
                patterns.push(FilePattern { pattern: Pattern::new(&text), of_path: text.contains('/') });
            }
        }
        filter
    }

    /// Whether the file at `path` passes.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let path = path_text(path).replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        let name = path.rsplit('/').next().unwrap_or(path);
        let hit = |patterns: &[FilePattern]| {
            patterns.iter().any(|FilePattern { pattern, of_path }| {
                let directory = if *of_path { path.strip_suffix(name).unwrap_or_default() } else { "" };
                file_kind::spellings(name).any(|spelling| pattern.matches(&format!("{directory}{spelling}")))
            })
        };
        (self.include.is_empty() || hit(&self.include)) && !hit(&self.exclude)
    }
}

/// What the user named.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Files, directories, wildcards and lists; without any and without a filter, the base directory.
    pub arguments: Vec<String>,
    /// Lists of `-f`.
    pub filter: Vec<String>,
    /// Directories below the named ones too.
    pub recursive: bool,
    /// Directory to which relative paths refer.
    pub base: PathBuf,
}

/// What was found.
#[derive(Debug, Default)]
pub struct FoundInputs {
    /// Extracted archives.
    pub archives: Vec<PathBuf>,
    /// Recordings without an archive beside them.
    pub recordings: Vec<InputRecording>,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// Arguments that gave nothing.
    pub problems: Vec<InputError>,
}

impl Inputs {
    /// Finds archives, and recordings that have none.
    #[must_use]
    pub fn find(&self) -> FoundInputs {
        self.find_for(Purpose::Ask)
    }

    /// Finds recordings, whether or not they are extracted.
    #[must_use]
    pub fn find_recordings(&self) -> FoundInputs {
        self.find_for(Purpose::Extract)
    }

    /// The arguments that are files, as opposed to archives, directories and patterns.
    #[must_use]
    pub fn split_files(&self) -> (Self, Self) {
        let (files, others) = self.arguments.iter().cloned().partition(|argument| self.base.join(argument).is_file());
        (Self { arguments: files, ..self.clone() }, Self { arguments: others, ..self.clone() })
    }

    fn find_for(&self, purpose: Purpose) -> FoundInputs {
        let options = SelectOptions { base: self.base.clone(), recursive: self.recursive, purpose };
        // Without arguments the filter says where to look: `-f 'runs/*Serial*'` looks into runs.
        let arguments = if self.arguments.is_empty() { &self.filter } else { &self.arguments };
        let selection = select(arguments, &options);
        let filter = FileFilter::parse(if self.arguments.is_empty() { &[] } else { self.filter.as_slice() });
        let mut found = FoundInputs { notes: selection.notes, problems: selection.problems, ..FoundInputs::default() };
        for target in selection.targets.into_iter().filter(|target| filter.matches(target.path())) {
            match target {
                Target::Extract(path) => found.archives.push(path),
                Target::Recording(recording) => found.recordings.push(recording),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths() {
        let matches = |list: &str, path: &str| FileFilter::parse(&[list]).matches(Path::new(path));
        for list in
            ["", "*serial*", "Serial_1", "serial_1.sift", "runs/*", "*/serial_1", "!x", "*;!*WithAV*", "runs\\*"]
        {
            assert!(matches(list, "./runs/Serial_1.sift"), "{list}");
        }
        for list in ["serial", "runs", "!*serial*", "other/*", "*;!runs/*"] {
            assert!(!matches(list, "./runs/Serial_1.sift"), "{list}");
        }
        assert!(FileFilter::parse(&["a", "b;!c"]).matches(Path::new("b.etl.zip")));
    }
}
