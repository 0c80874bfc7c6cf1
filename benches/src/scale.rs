//! The scale recording: made once per size, kept in the benchmarks' directory.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The recording of about `bytes` bytes.
pub(crate) fn recording(directory: &Path, bytes: u64) -> anyhow::Result<PathBuf> {
    let path = directory.join(format!("scale-{}MiB.etl", bytes >> 20));
    if !path.exists() {
        let unfinished = path.with_extension("tmp");
        let file = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
        tracesift_scenario::scale(file, bytes, 1)?;
        std::fs::rename(&unfinished, &path)?;
    }
    Ok(path)
}
