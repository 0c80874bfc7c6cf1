//! A file of the cache in memory, without copying it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;

/// The bytes of a file: mapped where nobody else can cut it off, else read.
pub(super) fn bytes(mut file: &File, length: u64) -> io::Result<Bytes> {
    if is_ours(file)? {
        #[expect(unsafe_code, reason = "a map of a file that somebody else might write cannot be had without")]
        // SAFETY: the map is only read, as bytes of which every value is valid. This program never writes into a table nor cuts it off once it
        // has its name: it is replaced or removed as a whole, which leaves maps as they are. The file belongs to this user and lies on this
        // machine, so whoever cuts it off does so to himself.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        return Ok(Bytes::from_owner(map));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

/// Whether a file belongs to this user and lies on this machine, as far as that can be told.
#[cfg(target_os = "linux")]
fn is_ours(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    /// Numbers of file systems behind which another machine or another program stands: NFS, SMB (three of them), FUSE, 9P, AFS (two of
    /// them), Ceph, NCP, Coda.
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
    let is_local = rustix::fs::fstatfs(file).is_ok_and(|facts| !REMOTE.contains(&(facts.f_type as u32)));
    Ok(is_local && file.metadata()?.uid() == rustix::process::geteuid().as_raw())
}

/// Windows refuses to cut off a mapped file.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn is_ours(_file: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(any(target_os = "linux", windows)))]
fn is_ours(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(file.metadata()?.uid() == rustix::process::geteuid().as_raw())
}
