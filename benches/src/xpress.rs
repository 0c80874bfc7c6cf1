//! XPRESS decompression against `lz4_flex` on the same content.

use std::path::Path;
use std::time::{Duration, Instant};

use tracesift_etl::{write, xpress};

use crate::measure::{RUNS, against};
use crate::scale;

/// Bytes of content.
const BYTES: u64 = 64 << 20;
/// Bytes per block: the usual size of a session's buffer.
const BLOCK: usize = 64 << 10;

pub(crate) fn run(directory: &Path) -> anyhow::Result<()> {
    let content = std::fs::read(scale::recording(directory, BYTES)?)?;
    let blocks: Vec<&[u8]> = content.chunks(BLOCK).collect();
    let mut compressor = write::Compressor::default();
    let packed: Vec<(Vec<u8>, usize)> = blocks
        .iter()
        .map(|block| {
            let mut out = Vec::new();
            compressor.compress(block, &mut out);
            (out, block.len())
        })
        .collect();
    let lz4: Vec<Vec<u8>> = blocks.iter().map(|block| lz4_flex::block::compress(block)).collect();
    let mut output = vec![0; BLOCK];
    let mut other = vec![0; BLOCK];
    let ours = || -> anyhow::Result<Duration> {
        let start = Instant::now();
        for (block, length) in &packed {
            std::hint::black_box(xpress::decompress(block, &mut output[..*length]));
        }
        Ok(start.elapsed())
    };
    let theirs = || -> anyhow::Result<Duration> {
        let start = Instant::now();
        for block in &lz4 {
            lz4_flex::block::decompress_into(block, &mut other)?;
        }
        Ok(start.elapsed())
    };
    // At least 0.4 times the speed is at most 2.5 times the time.
    against("XPRESS, 64 MiB", Some(2.5), RUNS, ours, "lz4_flex", theirs)
}
