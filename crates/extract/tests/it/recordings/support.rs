//! Extracts files into temporary directories.

use std::path::Path;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_extract::{Error, Options, Outcome, Report, extract, input, unwatched};

/// Extracted archives in a directory of their own.
pub(crate) struct Extracted {
    out: TempDir,
    pub(crate) reports: Vec<Report>,
}

impl Extracted {
    pub(crate) fn archives(&self) -> Vec<Archive> {
        self.reports.iter().map(|report| Archive::open(&report.archive).expect("archive")).collect()
    }

    /// Extracts the file once more into the same directory.
    pub(crate) fn again(&self, file: &Path, overwrite: bool) -> Result<Vec<Outcome>, Error> {
        run(file, Options { out: Some(self.out.path().to_owned()), overwrite, ..Options::default() })
    }
}

pub(crate) fn extract_file(file: &Path) -> Result<Extracted, Error> {
    extract_with(file, Options::default())
}

/// Extracts a file with options into a directory of its own.
pub(crate) fn extract_with(file: &Path, options: Options) -> Result<Extracted, Error> {
    let out = tempfile::tempdir().expect("directory");
    let outcomes = run(file, Options { out: Some(out.path().to_owned()), ..options });
    let left = std::fs::read_dir(out.path()).expect("directory").filter_map(Result::ok);
    let left: Vec<_> =
        left.map(|entry| entry.file_name()).filter(|name| !name.to_string_lossy().ends_with(".lock")).collect();
    if outcomes.is_err() {
        assert!(left.is_empty(), "left behind: {left:?}");
    }
    let reports = outcomes?
        .into_iter()
        .map(|outcome| match outcome {
            Outcome::Extracted(report) => *report,
            Outcome::UpToDate(path) | Outcome::Named(path, _) => panic!("{} was there", path.display()),
        })
        .collect();
    Ok(Extracted { out, reports })
}

fn run(file: &Path, options: Options) -> Result<Vec<Outcome>, Error> {
    let argument = file.display().to_string();
    let mut selection = input::select(&[argument], &input::SelectOptions::default());
    if let Some(problem) = selection.problems.pop() {
        return Err(Error::Input(problem));
    }
    let input::Target::Recording(recording) = selection.targets.remove(0) else { panic!("a recording") };
    extract(&recording, &options, &mut unwatched).map(|extraction| extraction.outcomes)
}
