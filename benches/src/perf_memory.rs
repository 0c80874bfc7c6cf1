//! Peak memory of the extract of a perf.data: bounded, and not growing with the recording. Its files are large, so the larger one
//! goes when it was measured.

use std::path::Path;

use crate::{memory, scale};

const SIZES: [u64; 2] = [5 << 28, 5 << 30];

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let measured = memory::compare(SIZES, |bytes| scale::perf_data(directory, bytes));
    match std::fs::remove_file(scale::perf_data_path(directory, SIZES[1])) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => measured,
    }
}
