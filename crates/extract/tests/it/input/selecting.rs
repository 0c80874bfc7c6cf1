//! Arguments on a tree of files.

use std::path::{Path, PathBuf};

use tracesift_extract::input::{InputError, Note, Purpose, SelectOptions, Selection, Target, merge, select};

struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    /// Files of a few bytes; a name that ends in `/` is a directory, one that ends in `=0` an empty file.
    fn new(names: &[&str]) -> Tree {
        let directory = tempfile::tempdir().expect("temporary directory");
        for name in names {
            let (name, content) = match name.strip_suffix("=0") {
                Some(name) => (name, b"".as_slice()),
                None => (*name, b"content".as_slice()),
            };
            let path = directory.path().join(name);
            if name.ends_with('/') {
                std::fs::create_dir_all(&path).expect("make a directory");
            } else {
                std::fs::create_dir_all(path.parent().expect("parent")).expect("make the directory");
                std::fs::write(&path, content).expect("write a file");
            }
        }
        Tree { directory }
    }

    fn options(&self) -> SelectOptions {
        SelectOptions { base: self.directory.path().to_owned(), ..SelectOptions::default() }
    }

    fn select(&self, arguments: &[&str]) -> Selection {
        select(arguments, &self.options())
    }

    fn below(&self, path: &Path) -> String {
        path.strip_prefix(self.directory.path()).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    /// Paths of the targets; `+` joins the files of one recording.
    fn targets(&self, selection: &Selection) -> Vec<String> {
        let shown = |target: &Target| match target {
            Target::Recording(recording) => {
                recording.files.iter().map(|path| self.below(path)).collect::<Vec<_>>().join(" + ")
            }
            Target::Extract(directory) => self.below(directory),
        };
        selection.targets.iter().map(shown).collect()
    }

    fn text(&self, text: impl ToString) -> String {
        let root = self.directory.path().display().to_string();
        text.to_string().replace(&format!("{root}{}", std::path::MAIN_SEPARATOR), "").replace(&root, "BASE")
    }

    /// Selects without any problem or note.
    fn found(&self, arguments: &[&str]) -> Vec<String> {
        let selection = self.select(arguments);
        assert!(selection.problems.is_empty(), "{:?}", selection.problems);
        assert!(selection.notes.is_empty(), "{:?}", selection.notes);
        self.targets(&selection)
    }

    fn problem(&self, arguments: &[&str]) -> String {
        let selection = self.select(arguments);
        match selection.problems.as_slice() {
            [problem] => self.text(problem),
            other => panic!("one problem expected, not {other:?}"),
        }
    }
}

fn posts() -> Tree {
    Tree::new(&[
        "CreateSerial.etl.zip",
        "CreateSerial_WithAV.etl",
        "CreateParallel.7z",
        "readme.txt",
        "other.json.xz",
        "old/CreateSerial_2.etl",
        "old/deep/X.etl.gz",
        "runs/a/good1.etl",
        "runs/b/good2.etl",
        "runs/b/bad.etl",
    ])
}

#[test]
fn files_directories_and_nothing() {
    let tree = posts();
    let top = ["CreateParallel.7z", "CreateSerial.etl.zip", "CreateSerial_WithAV.etl"];
    assert_eq!(tree.found(&[]), top);
    assert_eq!(tree.found(&["."]), top);
    assert_eq!(tree.found(&["old"]), ["old/CreateSerial_2.etl"]);
    assert_eq!(
        tree.found(&["old/CreateSerial_2.etl", "CreateParallel.7z"]),
        ["CreateParallel.7z", "old/CreateSerial_2.etl"]
    );
    let absolute = tree.directory.path().join("old");
    assert_eq!(tree.found(&[&absolute.to_string_lossy()]), ["old/CreateSerial_2.etl"]);
    assert_eq!(tree.found(&["old", "./old/", "old/CreateSerial_2.etl"]), ["old/CreateSerial_2.etl"], "each once");
}

#[test]
fn recursive() {
    let tree = posts();
    let options = SelectOptions { recursive: true, ..tree.options() };
    let found = |arguments: &[&str]| tree.targets(&select(arguments, &options));
    assert_eq!(found(&["old"]), ["old/CreateSerial_2.etl", "old/deep/X.etl.gz"]);
    assert_eq!(found(&["*Serial*;!*WithAV*"]), ["CreateSerial.etl.zip", "old/CreateSerial_2.etl"]);
    assert_eq!(found(&["runs/*good*"]), ["runs/a/good1.etl", "runs/b/good2.etl"]);
    assert_eq!(found(&["*;!*/b/*;!old/*;!*WithAV"]), ["CreateParallel.7z", "CreateSerial.etl.zip", "runs/a/good1.etl"]);
}

#[test]
fn wildcards() {
    let tree = posts();
    assert_eq!(tree.found(&["*serial*"]), ["CreateSerial.etl.zip", "CreateSerial_WithAV.etl"]);
    assert_eq!(tree.found(&["*Serial"]), ["CreateSerial.etl.zip"], "compared without extension");
    assert_eq!(tree.found(&["*Create*.etl"]), ["CreateSerial.etl.zip", "CreateSerial_WithAV.etl"]);
    assert_eq!(tree.found(&["*.zip"]), ["CreateSerial.etl.zip"]);
    assert_eq!(tree.found(&["CreateSeria?"]), ["CreateSerial.etl.zip"]);
    assert_eq!(tree.found(&["old/*"]), ["old/CreateSerial_2.etl"]);
    assert_eq!(tree.found(&["old\\*_2.etl"]), ["old/CreateSerial_2.etl"], "a backslash separates too");
    assert_eq!(tree.found(&["runs/*/good*"]), ["runs/a/good1.etl", "runs/b/good2.etl"]);
    assert_eq!(tree.found(&["r*/b/*"]), ["runs/b/bad.etl", "runs/b/good2.etl"]);
}

#[test]
fn lists_and_exclusions() {
    let tree = posts();
    assert_eq!(tree.found(&["*Serial*;!*WithAV*"]), ["CreateSerial.etl.zip"]);
    assert_eq!(tree.found(&["!*withav*"]), ["CreateParallel.7z", "CreateSerial.etl.zip"]);
    assert_eq!(
        tree.found(&["*Serial*", "!*WithAV*", "runs/b"]),
        ["CreateSerial.etl.zip", "runs/b/bad.etl", "runs/b/good2.etl"]
    );
    assert_eq!(tree.found(&["runs/*/*;!runs/b/b*"]), ["runs/a/good1.etl", "runs/b/good2.etl"]);
    assert_eq!(tree.found(&["runs\\*\\*;!*\\bad"]), ["runs/a/good1.etl", "runs/b/good2.etl"]);
    assert_eq!(tree.found(&["runs/b;old"]), ["old/CreateSerial_2.etl", "runs/b/bad.etl", "runs/b/good2.etl"]);
    assert_eq!(tree.found(&["runs/b/bad.etl;runs/a;!good*"]), ["runs/b/bad.etl"]);
    assert_eq!(tree.problem(&["runs/a;!*good*"]), "all 1 inputs are excluded by '!*good*'; loosen the exclusions");
}

#[test]
fn an_extension_may_be_left_out() {
    let tree = posts();
    assert_eq!(tree.found(&["CreateSerial"]), ["CreateSerial.etl.zip"]);
    assert_eq!(tree.found(&["createserial.ETL"]), ["CreateSerial.etl.zip"]);
    assert_eq!(tree.found(&["old\\deep\\x"]), ["old/deep/X.etl.gz"]);
    assert_eq!(tree.found(&["CreateSerial;old/CreateSerial_2"]), ["CreateSerial.etl.zip", "old/CreateSerial_2.etl"]);
}

#[cfg(unix)]
#[test]
fn a_name_that_looks_like_a_pattern_is_first_a_name() {
    let tree = Tree::new(&["a;b.etl", "c*.etl", "cd.etl", "!x.etl", "back\\slash.etl"]);
    assert_eq!(tree.found(&["a;b.etl"]), ["a;b.etl"]);
    assert_eq!(tree.found(&["c*.etl"]), ["c*.etl"]);
    assert_eq!(tree.found(&["!x.etl"]), ["!x.etl"]);
    assert_eq!(tree.found(&["c*"]), ["c*.etl", "cd.etl"]);
    let named = tree.select(&["back\\slash.etl"]);
    assert_eq!(named.targets[0].path(), tree.directory.path().join("back\\slash.etl"));
}

#[test]
fn what_is_not_there() {
    let tree = posts();
    assert_eq!(tree.problem(&["none.etl"]), "none.etl: not found; check the path, or give a wildcard such as '*.etl'");
    assert_eq!(tree.problem(&["none/*.etl"]), "none: not found; check the path, or give a wildcard such as '*.etl'");
    assert_eq!(
        tree.problem(&["*nowhere*"]),
        "no recording in BASE matches '*nowhere*'; add --recursive to search the directories below it"
    );
    assert_eq!(tree.problem(&["runs"]), "no recording in runs; add --recursive to search the directories below it");
    let selection = tree.select(&["none.etl", "CreateParallel"]);
    assert_eq!((selection.problems.len(), tree.targets(&selection)), (1, vec!["CreateParallel.7z".to_owned()]));
    let empty = Tree::new(&[]);
    assert!(matches!(empty.select(&[]).problems.as_slice(), [InputError::NothingInDirectory { .. }]));
}

#[test]
fn empty_files() {
    let tree = Tree::new(&["a.etl", "empty.etl=0"]);
    let selection = tree.select(&["*"]);
    assert!(selection.problems.is_empty());
    assert_eq!(tree.targets(&selection), ["a.etl"]);
    assert_eq!(tree.text(&selection.notes[0]), "empty.etl: is empty and was left out");
    let selection = tree.select(&["empty.etl", "."]);
    assert!(matches!(selection.problems.as_slice(), [InputError::Empty { .. }]), "{:?}", selection.problems);
    assert!(selection.notes.is_empty(), "said once");
}

#[test]
fn an_archive_stands_for_the_file_it_was_made_from() {
    let tree = Tree::new(&["X.etl", "X.etl.zip", "Y.etl", "y.7z", "z.cab", "Z.zip", "loose.etl"]);
    for arguments in [&["."][..], &["*.etl", "z"], &["X.etl", "Y", "Z", "loose.etl"]] {
        let selection = tree.select(arguments);
        assert_eq!(tree.targets(&selection), ["loose.etl", "X.etl.zip", "y.7z", "Z.zip"], "{arguments:?}");
        let notes: Vec<String> = selection.notes.iter().map(|note| tree.text(note)).collect();
        assert_eq!(
            notes,
            [
                "X.etl.zip: used instead of X.etl, which is the same recording",
                "y.7z: used instead of Y.etl, which is the same recording",
                "Z.zip: used instead of z.cab, which is the same recording",
            ]
        );
    }
    let selection = tree.select(&["X.etl;!*.zip"]);
    assert_eq!(tree.targets(&selection), ["X.etl"], "unless it is excluded");
    assert_eq!(selection.notes, []);
    let Target::Recording(recording) = &tree.select(&["X.etl"]).targets[0] else { panic!("a recording") };
    assert_eq!((recording.name.as_str(), recording.named), ("X", true));
    assert_eq!(recording.stands_for, [tree.directory.path().join("X.etl")]);
}

#[test]
fn parts_are_candidates_of_one_recording() {
    let tree = Tree::new(&[
        "X.etl",
        "X.kernel.etl",
        "x.clrRundown.etl",
        "X.user_paged.1.etl",
        "XY.etl",
        "sub/X.kernel.etl",
        "alone.kernel.etl",
        "pair.kernel.etl",
        "Pair.clrRundown.etl",
    ]);
    let whole = "X.etl + x.clrRundown.etl + X.kernel.etl + X.user_paged.1.etl";
    let found = tree.found(&["."]);
    assert_eq!(found, ["alone.kernel.etl", "Pair.clrRundown.etl + pair.kernel.etl", whole, "XY.etl"]);
    assert_eq!(tree.found(&["X.etl"]), [whole], "the parts of a named file come along");
    assert_eq!(tree.found(&["X.kernel.etl"]), ["X.kernel.etl"], "but not the whole of a named part");
    assert_eq!(tree.found(&["X.etl;!*.user_*"]), ["X.etl + x.clrRundown.etl + X.kernel.etl"]);
    let names: Vec<String> = tree
        .select(&[])
        .targets
        .iter()
        .map(|target| match target {
            Target::Recording(recording) => recording.name.clone(),
            Target::Extract(_) => String::new(),
        })
        .collect();
    assert_eq!(names, ["alone.kernel", "Pair", "X", "XY"]);
}

#[test]
fn extracts_when_asking() {
    let tree =
        Tree::new(&["X.etl", "X.kernel.etl", "X.sift/cpu.zip", "Y.etl.zip", "Z.sift/trace.json", "Z.sift/sub.etl"]);
    let options = SelectOptions { purpose: Purpose::Ask, ..tree.options() };
    let found = |arguments: &[&str]| tree.targets(&select(arguments, &options));
    assert_eq!(found(&[]), ["X.sift", "Y.etl.zip", "Z.sift"]);
    assert_eq!(found(&["X.etl"]), ["X.sift"]);
    assert_eq!(found(&["z"]), ["Z.sift"]);
    assert_eq!(found(&["Z.etl"]), ["Z.sift"], "its recording may be gone");
    assert_eq!(found(&["Z.sift", "*"]), ["X.sift", "Y.etl.zip", "Z.sift"]);
    let recursive = SelectOptions { recursive: true, ..options.clone() };
    assert_eq!(tree.targets(&select(&["."], &recursive)), ["X.sift", "Y.etl.zip", "Z.sift"], "tables are no inputs");
    let extracting = SelectOptions { purpose: Purpose::Extract, recursive: true, ..options };
    assert_eq!(tree.targets(&select(&["."], &extracting)), ["X.etl + X.kernel.etl", "Y.etl.zip"]);
}

#[test]
fn merging_forces_one_recording() {
    let tree = posts();
    let recording = merge("both", &["runs/b/good2.etl", "CreateParallel"], &tree.options()).expect("merges");
    assert_eq!((recording.name.as_str(), recording.forced), ("both", true));
    let files: Vec<String> = recording.files.iter().map(|path| tree.below(path)).collect();
    assert_eq!(files, ["CreateParallel.7z", "runs/b/good2.etl"]);
    assert!(matches!(merge("none", &[] as &[&str], &tree.options()), Err(InputError::NothingToMerge { .. })));
    assert!(matches!(merge("x", &["none.etl"], &tree.options()), Err(InputError::NotFound { .. })));
}

#[test]
fn the_current_directory_is_not_spelt_out() {
    let selection = select(&["Cargo*", "src"], &SelectOptions::default());
    let directories: Vec<PathBuf> = selection
        .problems
        .iter()
        .map(|problem| match problem {
            InputError::NothingMatched { directory, .. } | InputError::NothingInDirectory { directory, .. } => {
                directory.clone()
            }
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(directories, [Path::new("."), Path::new("src")]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_differ_in_case_only_are_two_recordings_where_the_file_system_says_so() {
    let tree = Tree::new(&["a.etl", "A.etl", "a.etl.zip", "A.kernel.etl", "b.sift/", "B.sift/"]);
    let selection = tree.select(&[]);
    assert_eq!(tree.targets(&selection), ["A.etl + A.kernel.etl", "a.etl.zip"]);
    assert_eq!(selection.notes.len(), 1);
    let options = SelectOptions { purpose: Purpose::Ask, ..tree.options() };
    assert_eq!(tree.targets(&select(&["b*"], &options)), ["B.sift", "b.sift"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_not_for_ever() {
    let tree = Tree::new(&["real/a.etl", "other/b.etl"]);
    let root = tree.directory.path();
    std::os::unix::fs::symlink(root.join("real"), root.join("real/loop")).expect("link");
    std::os::unix::fs::symlink(root.join("other/b.etl"), root.join("real/linked.etl")).expect("link");
    std::os::unix::fs::symlink(root.join("gone"), root.join("real/broken.etl")).expect("link");
    let options = SelectOptions { recursive: true, ..tree.options() };
    let selection = select(&["real"], &options);
    assert_eq!(tree.targets(&selection), ["real/a.etl", "real/linked.etl"]);
    let notes = selection.notes.iter().filter(|note| matches!(note, Note::Unreadable { .. })).count();
    assert_eq!(notes, 2, "{:?}", selection.notes);
}

#[test]
fn linux_recordings_are_found_by_name_and_content() {
    let tree = Tree::new(&["x.etl", "tables.data", "perf.data.zip", "empty.data=0", "pipe/"]);
    let write = |name: &str| std::fs::write(tree.directory.path().join(name), b"PERFILE2").expect("write");
    for name in ["perf.data", "perf.data.old", "x.data", "y.perf", "y.data", "z.perf.data"] {
        write(name);
    }
    let selection = tree.select(&["."]);
    assert_eq!(
        tree.targets(&selection),
        ["perf.data.old", "perf.data.zip", "x.data", "x.etl", "y.data", "y.perf", "z.perf.data"]
    );
    let notes: Vec<String> = selection.notes.iter().map(|note| tree.text(note)).collect();
    assert_eq!(notes, ["perf.data.zip: used instead of perf.data, which is the same recording"]);
    // Two recordings of one name get two archives.
    let name = |target: &Target| match target {
        Target::Recording(recording) => recording.name.clone(),
        Target::Extract(_) => panic!("no extracts there"),
    };
    let names: Vec<String> = selection.targets.iter().map(name).collect();
    assert_eq!(names, ["perf.data.old", "perf", "x.data", "x", "y", "y.perf", "z"]);
    // What is named is taken as it is, and what only has the same name beside it is not.
    assert_eq!(tree.found(&["tables.data"]), ["tables.data"]);
    assert_eq!(tree.found(&["x.data"]), ["x.data"]);
    assert_eq!(tree.found(&["x.etl"]), ["x.etl"]);
    assert_eq!(tree.found(&["z"]), ["z.perf.data"]);
    assert_eq!(tree.found(&["*.perf*"]), ["y.perf", "z.perf.data"]);
}
