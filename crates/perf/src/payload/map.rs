//! Mappings: which file's bytes stand at which addresses of a process.

use linux_perf_event_reader::constants::{PERF_RECORD_MISC_MMAP_BUILD_ID, PERF_RECORD_MISC_MMAP_DATA};

use crate::build_id::BuildId;
use crate::cursor::Cursor;
use crate::error::Malformed;

/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;

/// A mapping of a file, of the kernel or of one of its modules.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a> {
    /// The process; −1 for the kernel.
    pub pid: i32,
    /// The thread that mapped it.
    pub tid: i32,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub length: u64,
    /// Offset in the file of the first byte; for the kernel the address of its reference symbol.
    pub file_offset: u64,
    /// Which file it is, beyond its name (`MMAP2`).
    pub file: FileId,
    /// `PROT_*` bits; `MMAP` knows only whether it is data.
    pub protection: u32,
    /// `MAP_*` bits; 0 for `MMAP`.
    pub flags: u32,
    /// Whether its pages may be executed.
    pub executable: bool,
    /// The file's path as the process saw it, or a name in brackets or slashes for what is no file.
    pub name: &'a [u8],
}

/// What tells a mapped file from others of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileId {
    /// Nothing was recorded.
    Unknown,
    /// Its place in its file system.
    Inode {
        /// Major number of the device.
        major: u32,
        /// Minor number of the device.
        minor: u32,
        /// Number of the inode.
        inode: u64,
        /// Generation of the inode.
        generation: u64,
    },
    /// The identity of its content.
    BuildId(BuildId),
}

impl FileId {
    fn parse(at: &mut Cursor<'_>, has_build_id: bool) -> Result<Self, Malformed> {
        if has_build_id {
            let length = usize::from(at.u8("length of the build id")?);
            at.take(3, "build id")?;
            let bytes = at.take(BuildId::MAX_LENGTH, "build id")?;
            return Ok(match length {
                1..=BuildId::MAX_LENGTH => Self::BuildId(BuildId::new(bytes, length)),
                _ => Self::Unknown,
            });
        }
        Ok(Self::Inode {
            major: at.u32("device")?,
            minor: at.u32("device")?,
            inode: at.u64("inode")?,
            generation: at.u64("inode generation")?,
        })
    }
}

/// The record that a mapping is told by.
#[derive(Clone, Copy)]
pub(crate) enum MappingForm {
    /// `PERF_RECORD_MMAP`.
    Mmap,
    /// `PERF_RECORD_MMAP2`, which has build ids where the event asks for them.
    Mmap2 { build_ids: bool },
}

impl<'a> Mapping<'a> {
    pub(crate) fn parse(at: &mut Cursor<'a>, misc: u16, form: MappingForm) -> Result<Self, Malformed> {
        let pid = at.i32("process")?;
        let tid = at.i32("thread")?;
        let start = at.u64("address")?;
        let length = at.u64("length")?;
        let file_offset = at.u64("file offset")?;
        let data = misc & PERF_RECORD_MISC_MMAP_DATA != 0;
        let (mut file, mut protection, mut flags) = (FileId::Unknown, 0, 0);
        if let MappingForm::Mmap2 { build_ids } = form {
            // Where another recording asks for build ids, kernels set the bit in the records of all, whose fields say what they
            // say without it.
            let has_build_id = build_ids && misc & PERF_RECORD_MISC_MMAP_BUILD_ID != 0;
            file = FileId::parse(at, has_build_id)?;
            protection = at.u32("protection")?;
            flags = at.u32("flags")?;
        }
        let executable = match form {
            MappingForm::Mmap => !data,
            MappingForm::Mmap2 { .. } => protection & EXECUTABLE != 0,
        };
        Ok(Self { pid, tid, start, length, file_offset, file, protection, flags, executable, name: at.c_str() })
    }
}
