//! Recordings that a test makes, and their extracts.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_extract::input::{self, SelectOptions, Target};
use tracesift_extract::symbols::Finder;
use tracesift_extract::{Error, Options, Outcome, Report, extract, unwatched};
use tracesift_scenario::story::SymbolFile;
use tracesift_scenario::{DiskIo, Event, Record, Scenario, SplitMix64, linux};
use tracesift_symbols::fetch::{self, Observer};
use tracesift_symbols::search::{SearchPath, ShortNames};

/// A recording in a directory of its own.
#[derive(Debug)]
pub struct Recording {
    directory: TempDir,
    file: PathBuf,
}

impl Recording {
    /// The files of an ETW recording.
    ///
    /// # Panics
    /// The files cannot be written, as in all functions here.
    #[must_use]
    pub fn etl(scenario: &Scenario) -> Self {
        let directory = directory();
        let file = write_etl(scenario, directory.path());
        Self { directory, file }
    }

    /// A `perf.data`, and the figures that it holds.
    #[must_use]
    pub fn perf(knobs: &linux::Knobs) -> (Self, linux::Figures) {
        let (bytes, figures) = perf_bytes(knobs);
        (Self::of("perf.data", &bytes), figures)
    }

    /// A file of this name with these bytes.
    #[must_use]
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        let directory = directory();
        let file = directory.path().join(name);
        std::fs::write(&file, bytes).expect("the recording is written");
        Self { directory, file }
    }

    /// The file, the main one where there are several.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Its directory, which goes with the recording.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The recording with its archive.
    #[must_use]
    pub fn extract(self) -> Extracted {
        self.extract_with(&Options::default())
    }

    /// As [`Self::extract`], with options.
    #[must_use]
    pub fn extract_with(self, options: &Options) -> Extracted {
        let report = extract_file(&self.file, options);
        let archive = Archive::open(&report.archive).expect("an archive");
        archive.verify().expect("a sound archive");
        Extracted { archive, report, recording: self }
    }
}

/// A recording with its archive.
#[derive(Debug)]
pub struct Extracted {
    /// The archive, which is sound.
    pub archive: Archive,
    /// The report of the extract.
    pub report: Report,
    /// The recording. The archive lies in its directory unless options said otherwise.
    pub recording: Recording,
}

/// Writes the files of a scenario into a directory and gives the path of the main one, `scenario.etl`.
///
/// # Panics
/// The files cannot be written.
#[must_use]
pub fn write_etl(scenario: &Scenario, directory: &Path) -> PathBuf {
    for part in scenario.parts().expect("a recording") {
        std::fs::write(directory.join(format!("scenario{}", part.suffix)), &part.bytes).expect("written");
    }
    directory.join("scenario.etl")
}

/// Writes symbol files into a directory. Options with which an extract finds their names, and no others.
///
/// # Panics
/// The files cannot be written.
#[must_use]
pub fn with_symbol_files(directory: &Path, files: &[SymbolFile]) -> Options {
    #[derive(Debug)]
    struct Quiet;
    impl Observer for Quiet {}

    for file in files {
        let path = directory.join(&file.path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(&path, &file.text).expect("written");
    }
    let store = directory.to_str().expect("a path of Unicode");
    let path = SearchPath::parse(store, &ShortNames::default()).expect("a search path");
    let search = fetch::Options::new(directory.join("cache"));
    let finder = Finder::new(path, search, Arc::new(Quiet), Arc::new(AtomicBool::new(false)));
    Options { symbols: Some(Arc::new(finder)), ..Options::default() }
}

/// Adds disk operations, which overlap, and marks to a scenario.
#[must_use]
pub fn with_disk_and_marks(mut scenario: Scenario, seed: u64) -> Scenario {
    let mut random = SplitMix64::new(seed);
    let (zero, end) = (scenario.machine.zero_ticks + 1, scenario.recording.end_ticks - 1);
    scenario.recording.files = vec![r"\Device\HarddiskVolume1\data.bin".to_owned()];
    let threads = scenario.machine.threads.len();
    for place in 0..200 {
        let ticks = random.between(zero, end);
        let (thread, cpu) = (random.index(threads), 0);
        let event = if place % 2 == 0 {
            let start = (ticks - random.between(0, (end - zero) / 30)).max(zero);
            let (size, offset) = (512 * (1 + random.index(9) as u32), 4096 * random.index(900) as u64);
            Event::Disk(DiskIo { thread, write: place % 3 == 0, start, start_cpu: 0, file: 0, offset, size })
        } else {
            Event::Mark { thread, text: format!("mark {place}") }
        };
        scenario.records.push(Record { ticks, cpu, event });
    }
    scenario
}

/// The bytes of a `perf.data`, and the figures that it holds.
///
/// # Panics
/// The knobs contradict each other.
#[must_use]
pub fn perf_bytes(knobs: &linux::Knobs) -> (Vec<u8>, linux::Figures) {
    let mut bytes = Cursor::new(Vec::new());
    let figures = linux::write(&mut bytes, knobs).expect("a recording");
    (bytes.into_inner(), figures)
}

/// The recording that a file on the command line stands for.
///
/// # Panics
/// The file is no recording, or more than one.
#[must_use]
pub fn input_of(file: &Path) -> input::InputRecording {
    let mut selection = input::select(&[file.display().to_string()], &SelectOptions::default());
    match (selection.targets.pop(), selection.targets.pop()) {
        (Some(Target::Recording(recording)), None) => recording,
        _ => panic!("{} is not one recording: {selection:?}", file.display()),
    }
}

/// A recording of exactly this file, whatever its name and its neighbours are.
#[must_use]
pub fn only(file: PathBuf) -> input::InputRecording {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    input::InputRecording { name, files: vec![file], stands_for: Vec::new(), forced: false, named: true }
}

/// Extracts a file: one report per recording in it.
///
/// # Errors
/// The extract fails.
///
/// # Panics
/// The file is no recording, or there was an archive before.
pub fn try_extract(file: &Path, options: &Options) -> Result<Vec<Report>, Error> {
    let outcomes = extract(&input_of(file), options, &mut unwatched)?.outcomes;
    let reports = outcomes.into_iter().map(|outcome| match outcome {
        Outcome::Extracted(report) => *report,
        Outcome::UpToDate(path) | Outcome::Named(path, _) => panic!("{} was there", path.display()),
    });
    Ok(reports.collect())
}

/// Extracts a file with one recording.
///
/// # Panics
/// The extract fails, or the file holds several recordings.
#[must_use]
pub fn extract_file(file: &Path, options: &Options) -> Report {
    let mut reports = try_extract(file, options).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    match (reports.pop(), reports.pop()) {
        (Some(report), None) => report,
        _ => panic!("{} is not one recording", file.display()),
    }
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}
