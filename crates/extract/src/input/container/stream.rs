//! Files that are one compressed stream: gzip and xz.

use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::run::Run;
use crate::input::error::InputError;

/// Bytes read ahead from the file.
const BUFFER: usize = 128 << 10;

pub(super) fn unpack_gzip(source: impl Read, run: &mut Run<'_>) -> Result<(), InputError> {
    run.take_stream(&mut MultiGzDecoder::new(BufReader::with_capacity(BUFFER, source)))
}

pub(super) fn unpack_xz(source: impl Read, run: &mut Run<'_>) -> Result<(), InputError> {
    let max_kib = u32::try_from(run.max_dictionary() >> 10).unwrap_or(u32::MAX);
    run.take_stream(&mut XzReader::new_mem_limit(BufReader::with_capacity(BUFFER, source), true, max_kib))
}
