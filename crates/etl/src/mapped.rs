//! A local file in memory, without copying it.

use std::fs::File;
use std::ops::Range;

use bytes::Bytes;

/// A mapped file.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct MappedFile {
    bytes: Bytes,
    map: std::sync::Arc<memmap2::Mmap>,
}

#[cfg(target_os = "linux")]
impl MappedFile {
    /// Maps a regular, local file; `None` where that is not possible or not advisable.
    pub(crate) fn of(file: &File, length: u64) -> Option<Self> {
        if length == 0 || !file.metadata().is_ok_and(|facts| facts.is_file()) || !is_local(file) {
            return None;
        }
        #[expect(unsafe_code, reason = "a map of a file that somebody else might write cannot be had without")]
        // SAFETY: the map is only read, as bytes of which every value is valid, so a writer can at worst cause wrong
        // records. Who truncates a recording while it is read ends the reader; the file system is local, so that is a deliberate
        // act on this machine.
        let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
        if map.len() as u64 != length {
            return None;
        }
        let map = std::sync::Arc::new(map);
        Some(Self { bytes: Bytes::from_owner(Owner(std::sync::Arc::clone(&map))), map })
    }

    /// All of the file.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Lets the system take the pages that lie wholly in the range; they come back from the file when they are needed.
    pub(crate) fn release(&self, range: Range<u64>) {
        let page = rustix::param::page_size() as u64;
        let (start, end) =
            (range.start.checked_next_multiple_of(page), range.end.min(self.map.len() as u64) / page * page);
        let Some(start) = start else { return };
        if let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(end.saturating_sub(start)))
            && length > 0
        {
            #[expect(unsafe_code, reason = "the advice is unsafe for maps whose content would be lost")]
            // SAFETY: a shared map of a file loses nothing: its pages are read again.
            // The advice cannot fail in a way that matters: without it the pages stay a little longer.
            let _ = unsafe { self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, length) };
        }
    }
}

/// Elsewhere files are read: Windows refuses to truncate a mapped file, which would disturb its recorder.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum MappedFile {}

#[cfg(not(target_os = "linux"))]
impl MappedFile {
    pub(crate) fn of(_file: &File, _length: u64) -> Option<Self> {
        None
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        match *self {}
    }

    pub(crate) fn release(&self, _range: Range<u64>) {
        match *self {}
    }
}

#[cfg(target_os = "linux")]
struct Owner(std::sync::Arc<memmap2::Mmap>);

#[cfg(target_os = "linux")]
impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Whether a file lies on this machine, as far as the kind of its file system tells.
#[cfg(target_os = "linux")]
fn is_local(file: &File) -> bool {
    /// Numbers of file systems behind which another machine or another program stands: NFS, SMB (three of them), FUSE, 9P, AFS
    /// (two of them), Ceph, NCP, Coda.
    const REMOTE: [u32; 11] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x0102_1997,
        0x5346_414f,
        0x6b41_4653,
        0x00c3_6400,
        0x564c,
        0x7375_7245,
    ];
    // The kernel's numbers have 32 bits; the type of the field differs between architectures.
    rustix::fs::fstatfs(file).is_ok_and(|facts| !REMOTE.contains(&(facts.f_type as u32)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;

    use super::MappedFile;

    #[test]
    fn released_pages_come_back() {
        let mut file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        file.write_all(&content).unwrap();
        let map = MappedFile::of(&file, content.len() as u64).expect("a local file");
        assert!(map.bytes()[..] == content);
        map.release(100..content.len() as u64 + 7);
        map.release(u64::MAX - 5..u64::MAX);
        assert!(map.bytes()[..] == content);
    }

    #[test]
    fn what_is_no_file_is_not_mapped() {
        let device = std::fs::File::open("/dev/zero").unwrap();
        assert!(MappedFile::of(&device, 4096).is_none());
    }
}
