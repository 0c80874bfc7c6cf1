//! The code that the kernel maps into every process, this one too.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

/// It has one or two pages; more than this is something else.
const MOST: u64 = 1 << 20;

/// Its bytes, which are an ELF file.
pub(super) fn bytes() -> Option<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with(super::VDSO))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let length = end.checked_sub(start).filter(|length| *length <= MOST)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}
