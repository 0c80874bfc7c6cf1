//! Archives to look at: of random scenarios, of the shared recordings, and of a recording that the test makes.

use std::path::{Path, PathBuf};

use tracesift_extract::Options;
use tracesift_fixtures::{cases, skipped};
use tracesift_scenario::{Knobs, Scenario, linux, story};
use tracesift_testing::recording::{perf_bytes, try_extract, with_disk_and_marks};

/// A recording in a directory: its file, which is no archive yet.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) file: PathBuf,
}

/// Writes recordings into directories of their own.
fn written(directory: &Path, name: &str, bytes: &[u8]) -> Raw {
    let file = directory.join(name);
    std::fs::write(&file, bytes).unwrap();
    Raw { file }
}

/// The demo, and random scenarios of both systems.
pub(crate) fn scenarios(directory: &Path, seeds: std::ops::Range<u64>) -> Vec<Raw> {
    let demo = story::figures().into_iter().min_by_key(|figures| story::scenario(figures).recording.end_ticks);
    let mut all = vec![written(directory, "demo.etl", &story::scenario(&demo.unwrap()).bytes().unwrap())];
    for seed in seeds {
        let knobs = Knobs { separate_rundown: false, ..Knobs::random(seed) };
        let scenario = with_disk_and_marks(Scenario::random(seed, &knobs), seed);
        all.push(written(directory, &format!("scenario{seed}.etl"), &scenario.bytes().unwrap()));
        let knobs =
            linux::Knobs { bytes: 300_000, seed, cpus: 4, processes: 5, threads: 12, ..linux::Knobs::default() };
        all.push(written(directory, &format!("linux{seed}.perf.data"), &perf_bytes(&knobs).0));
    }
    all
}

/// The shared recordings; none, with a word, in a checkout without them.
pub(crate) fn shared() -> Vec<Raw> {
    let Some(cases) = cases("") else { return Vec::new() };
    let files = |folder: &str| {
        let entries = std::fs::read_dir(cases.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
        files.sort();
        files
    };
    let is_recording = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [".etl", ".zip", ".7z"].iter().any(|end| name.ends_with(end)) && name != "empty.etl"
    };
    files("etl").into_iter().filter(is_recording).chain(files("perf")).map(|file| Raw { file }).collect()
}

/// A recording of this machine while it lists directories.
#[cfg(target_os = "linux")]
pub(crate) fn of_this_machine(directory: &Path) -> Option<Raw> {
    let _alone = crate::recording::RECORDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !crate::recording::can_record() {
        return None;
    }
    let line = [
        "record",
        "-o",
        "here.data",
        "--",
        "sh",
        "-c",
        "for i in 1 2 3 4 5; do ls -lR /usr/share/doc >/dev/null; done",
    ];
    let output = crate::recording::tracesift(directory, &line).output().unwrap();
    assert!(output.status.success(), "{}", crate::recording::said(&output));
    Some(Raw { file: directory.join("here.data") })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of_this_machine(_: &Path) -> Option<Raw> {
    skipped("perf records on Linux alone");
    None
}

/// The archives of a recording below a directory; none of what is no recording.
pub(crate) fn extracted(raw: &Raw, directory: &Path, options: &Options) -> Vec<PathBuf> {
    std::fs::create_dir_all(directory).unwrap();
    let options = Options { out: Some(directory.to_owned()), ..options.clone() };
    match try_extract(&raw.file, &options) {
        Ok(reports) => reports.into_iter().map(|report| report.archive).collect(),
        Err(error) => {
            skipped(&format!("{}: {error}", raw.file.file_name().unwrap_or_default().display()));
            Vec::new()
        }
    }
}

/// A number that a variable names.
pub(crate) fn variable(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The seed of random command lines, which `TRACESIFT_SEED` changes.
pub(crate) fn seed() -> u64 {
    variable("TRACESIFT_SEED", 1) as u64
}
