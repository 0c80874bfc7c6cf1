//! The scale recording: made once per size, kept in the benchmarks' directory.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use tracesift_scenario::linux;

/// The recording of about `bytes` bytes.
pub(crate) fn recording(directory: &Path, bytes: u64) -> anyhow::Result<PathBuf> {
    let write = |file| Ok(tracesift_scenario::scale(file, bytes, 1).map(|_| ())?);
    made(&directory.join(format!("scale-{}MiB.etl", bytes >> 20)), write)
}

/// Where the recording of a Linux machine lies.
pub(crate) fn perf_data_path(directory: &Path, bytes: u64) -> PathBuf {
    directory.join(format!("scale-{}MiB.perf.data", bytes >> 20))
}

/// The same of a Linux machine.
pub(crate) fn perf_data(directory: &Path, bytes: u64) -> anyhow::Result<PathBuf> {
    let knobs = linux::Knobs { bytes, ..linux::Knobs::default() };
    let write = |file| Ok(linux::write(file, &knobs).map(|_| ())?);
    made(&perf_data_path(directory, bytes), write)
}

/// Where the recording of many programs lies.
pub(crate) fn processes_path(directory: &Path, programs: u64) -> PathBuf {
    directory.join(format!("{programs}-processes.perf.data"))
}

/// A build server: so many programs start, with 20 files each, and end soon.
pub(crate) fn processes(directory: &Path, programs: u64) -> anyhow::Result<PathBuf> {
    let knobs = linux::Knobs {
        bytes: 0,
        processes: 50,
        threads: 50,
        files: 20,
        events_per_birth: 15,
        programs,
        ..linux::Knobs::default()
    };
    let write = |file| Ok(linux::write(file, &knobs).map(|_| ())?);
    made(&processes_path(directory, programs), write)
}

fn made(path: &Path, write: impl FnOnce(BufWriter<File>) -> anyhow::Result<()>) -> anyhow::Result<PathBuf> {
    if !path.exists() {
        let unfinished = path.with_extension("tmp");
        write(BufWriter::with_capacity(1 << 20, File::create(&unfinished)?))?;
        std::fs::rename(&unfinished, path)?;
    }
    Ok(path.to_owned())
}
