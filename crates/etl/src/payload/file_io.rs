//! Class FileIo: names of files, and operations on them as the file systems see them.
//!
//! A *file key* identifies a file as long as it is open anywhere, a *file object* one opening of it. Version 3 moved the thread
//! behind the pointers and made it 32 bits wide.

use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};
use crate::Guid;

/// Microsoft-Windows-Kernel-File: the same operations as events of a provider, from Windows 8 on.
pub const KERNEL_FILE: Guid = Guid::from_u128(0xedd08927_9cc4_4e65_b970_c2560fb5c289);

/// FileIo 0 (name), 32 (create), 35 (delete), 36 (rundown): the name behind a file key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'a> {
    /// The file key. 0 and 32 begin its life, 35 ends it.
    pub file_key: u64,
    /// Path as the kernel knows it (`\Device\HarddiskVolume3\…`).
    pub name: WideStr<'a>,
}

impl FileName<'_> {
    /// Opcode: the name of a key.
    pub const NAME: u8 = 0;
    /// Opcode: a key comes to life.
    pub const CREATE: u8 = 32;
    /// Opcode: a key ends.
    pub const DELETE: u8 = 35;
    /// Opcode: a key lives when the session ends.
    pub const RUNDOWN: u8 = 36;
}

impl<'a> Payload<'a> for FileName<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { file_key: reader.pointer("file key")?, name: reader.wide("file name")? })
    }
}

/// FileIo 37 (map), 38 (unmap), 39 and 40 (mapped at the start, at the end of the session): a view of a section in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedView {
    /// Address of the view.
    pub base: u64,
    /// Key of the file, or address of the section where no file is behind it.
    pub file_key: u64,
    /// Flags of the memory manager.
    pub misc: u64,
    /// Bytes.
    pub size: u64,
    /// Offset in the section, bytes. From version 3 on.
    pub offset: Option<u64>,
    /// Process that has the view.
    pub process_id: u32,
}

impl MappedView {
    /// Opcode: a view is mapped.
    pub const MAP: u8 = 37;
    /// Opcode: a view is unmapped.
    pub const UNMAP: u8 = 38;
    /// Opcode: a view is there when the session starts.
    pub const DC_START: u8 = 39;
    /// Opcode: a view is there when the session ends.
    pub const DC_END: u8 = 40;
}

impl<'a> Payload<'a> for MappedView {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            base: reader.pointer("view base")?,
            file_key: reader.pointer("file key")?,
            misc: reader.u64("flags of the view")?,
            size: reader.pointer("view size")?,
            offset: if version >= 3 { Some(reader.u64("offset in the section")?) } else { None },
            process_id: reader.u32("process id")?,
        })
    }
}

/// FileIo 64 (create): a file is created or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileCreate<'a> {
    /// Address of the request.
    pub irp: u64,
    /// The file object.
    pub file_object: u64,
    /// The thread.
    pub thread_id: u32,
    /// Low 24 bits: create options; high byte: 0 supersede, 1 open, 2 create, 3 open or create, 4 overwrite, 5 overwrite or create.
    pub create_options: u32,
    /// File attributes.
    pub file_attributes: u32,
    /// Share access: 1 read, 2 write, 4 delete.
    pub share_access: u32,
    /// The path that was asked for.
    pub open_path: WideStr<'a>,
}

impl FileCreate<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 64;
}

impl<'a> Payload<'a> for FileCreate<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let irp = reader.pointer("IRP")?;
        let (file_object, thread_id);
        if version >= 3 {
            file_object = reader.pointer("file object")?;
            thread_id = reader.u32("thread id")?;
        } else {
            thread_id = wide_thread_id(reader)?;
            file_object = reader.pointer("file object")?;
        }
        Ok(Self {
            irp,
            file_object,
            thread_id,
            create_options: reader.u32("create options")?,
            file_attributes: reader.u32("file attributes")?,
            share_access: reader.u32("share access")?,
            open_path: reader.wide("path")?,
        })
    }
}

/// FileIo 65 (cleanup), 66 (close), 73 (flush): what every operation on an open file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOperation {
    /// Address of the request, which pairs with its [`FileOperationEnd`].
    pub irp: u64,
    /// The file object.
    pub file_object: u64,
    /// The file key.
    pub file_key: u64,
    /// The thread.
    pub thread_id: u32,
}

impl FileOperation {
    /// Opcode: the last handle is closed.
    pub const CLEANUP: u8 = 65;
    /// Opcode: the file object goes away.
    pub const CLOSE: u8 = 66;
    /// Opcode: buffers are flushed.
    pub const FLUSH: u8 = 73;
}

impl<'a> Payload<'a> for FileOperation {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version >= 3 {
            Ok(Self {
                irp: reader.pointer("IRP")?,
                file_object: reader.pointer("file object")?,
                file_key: reader.pointer("file key")?,
                thread_id: reader.u32("thread id")?,
            })
        } else {
            let irp = reader.pointer("IRP")?;
            let thread_id = wide_thread_id(reader)?;
            Ok(Self {
                irp,
                file_object: reader.pointer("file object")?,
                file_key: reader.pointer("file key")?,
                thread_id,
            })
        }
    }
}

/// FileIo 67 (read) and 68 (write).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileReadWrite {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Request, file and thread.
    pub operation: FileOperation,
    /// Bytes asked for.
    pub size: u32,
    /// IRP flags.
    pub flags: u32,
    /// More flags, which newer systems append.
    pub extra_flags: Option<u32>,
}

impl FileReadWrite {
    /// Opcode: a read.
    pub const READ: u8 = 67;
    /// Opcode: a write.
    pub const WRITE: u8 = 68;
}

impl<'a> Payload<'a> for FileReadWrite {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            offset: reader.u64("file offset")?,
            operation: reader.nested(version)?,
            size: reader.u32("size")?,
            flags: reader.u32("IRP flags")?,
            extra_flags: if version >= 3 { reader.optional(|r| r.u32("more flags")) } else { None },
        })
    }
}

/// FileIo 69 (set information), 70 (delete), 71 (rename), 74 (query information), 75 (file-system control), 82 (set link), and 79
/// (delete path), 80 (rename path), 81 (set link path), which add the path. No documentation shows the layout of 83 to 86 (security,
/// extended attributes); those that are as long as the others are read as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInformation<'a> {
    /// Address of the request, which pairs with its [`FileOperationEnd`].
    pub irp: u64,
    /// The file object.
    pub file_object: u64,
    /// The file key.
    pub file_key: u64,
    /// What the kind of information says: a size, an end of file.
    pub extra_info: u64,
    /// The thread.
    pub thread_id: u32,
    /// Kind of information (FILE_INFORMATION_CLASS), or the control code.
    pub info_class: u32,
    /// The path. Opcodes 79 to 81 only: the field is what is left behind the others.
    pub path: Option<WideStr<'a>>,
}

impl FileInformation<'_> {
    /// Opcode: information is set.
    pub const SET: u8 = 69;
    /// Opcode: the file is deleted.
    pub const DELETE: u8 = 70;
    /// Opcode: the file is renamed.
    pub const RENAME: u8 = 71;
    /// Opcode: information is queried.
    pub const QUERY: u8 = 74;
    /// Opcode: a file-system control.
    pub const CONTROL: u8 = 75;
    /// Opcode: the path of a delete.
    pub const DELETE_PATH: u8 = 79;
    /// Opcode: the path of a rename.
    pub const RENAME_PATH: u8 = 80;
    /// Opcode: the path of a new link.
    pub const SET_LINK_PATH: u8 = 81;
    /// Opcode: a link is made.
    pub const SET_LINK: u8 = 82;
    /// Opcode: the security descriptor is set.
    pub const SET_SECURITY: u8 = 83;
    /// Opcode: the security descriptor is queried.
    pub const QUERY_SECURITY: u8 = 84;
    /// Opcode: extended attributes are set.
    pub const SET_ATTRIBUTES: u8 = 85;
    /// Opcode: extended attributes are queried.
    pub const QUERY_ATTRIBUTES: u8 = 86;

    /// Whether a payload is as long as that of an operation without a path.
    #[must_use]
    pub fn has_length(payload: &[u8], version: u8, pointer_size: u8) -> bool {
        let pointers = if version >= 3 { 4 } else { 5 };
        let numbers = if version >= 3 { 8 } else { 4 };
        payload.len() == pointers * usize::from(pointer_size) + numbers
    }
}

impl<'a> Payload<'a> for FileInformation<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let irp = reader.pointer("IRP")?;
        let thread_before = if version >= 3 { None } else { Some(wide_thread_id(reader)?) };
        let file_object = reader.pointer("file object")?;
        let file_key = reader.pointer("file key")?;
        let extra_info = reader.pointer("extra information")?;
        let thread_id = match thread_before {
            Some(thread_id) => thread_id,
            None => reader.u32("thread id")?,
        };
        Ok(Self {
            irp,
            file_object,
            file_key,
            extra_info,
            thread_id,
            info_class: reader.u32("information class")?,
            path: reader.optional(|r| r.wide("path")),
        })
    }
}

/// FileIo 72 (enumerate a directory) and 77 (notify of changes in it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDirectory<'a> {
    /// Request, directory and thread.
    pub operation: FileOperation,
    /// Bytes of the caller's buffer.
    pub length: u32,
    /// Kind of information asked for.
    pub info_class: u32,
    /// Where the enumeration goes on.
    pub file_index: u32,
    /// Pattern of an enumeration, path of a notification.
    pub name: WideStr<'a>,
}

impl FileDirectory<'_> {
    /// Opcode: an enumeration.
    pub const ENUMERATE: u8 = 72;
    /// Opcode: a notification is asked for.
    pub const NOTIFY: u8 = 77;
}

impl<'a> Payload<'a> for FileDirectory<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            operation: reader.nested(version)?,
            length: reader.u32("length")?,
            info_class: reader.u32("information class")?,
            file_index: reader.u32("file index")?,
            name: reader.wide("name")?,
        })
    }
}

/// FileIo 76: an operation ended. Pairs with the last begun one of the same IRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileOperationEnd {
    /// Address of the request.
    pub irp: u64,
    /// Bytes transferred or returned.
    pub extra_info: u64,
    /// NTSTATUS.
    pub status: u32,
}

impl FileOperationEnd {
    /// Opcode.
    pub const OPCODE: u8 = 76;
}

impl<'a> Payload<'a> for FileOperationEnd {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            irp: reader.pointer("IRP")?,
            extra_info: reader.pointer("extra information")?,
            status: reader.u32("status")?,
        })
    }
}

/// A thread id that was written as a pointer; its value has 32 bits.
fn wide_thread_id(reader: &mut Reader<'_>) -> Result<u32, PayloadError> {
    reader.pointer("thread id").map(|id| id as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(values: &[u64], pointer_size: u8) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()[..usize::from(pointer_size)].to_vec()).collect()
    }

    fn path() -> Vec<u8> {
        r"\x\y".encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    /// The same operation in the layouts of versions 2 and 3: request 1, object 2, key 3, thread 4.
    fn operation(version: u8, pointer_size: u8) -> Vec<u8> {
        if version >= 3 {
            [pointers(&[1, 2, 3], pointer_size), pointers(&[4], 4)].concat()
        } else {
            pointers(&[1, 4, 2, 3], pointer_size)
        }
    }

    const OPERATION: FileOperation = FileOperation { irp: 1, file_object: 2, file_key: 3, thread_id: 4 };

    #[test]
    fn versions_2_and_3_differ_in_the_place_of_the_thread() {
        for (version, pointer_size) in [(2, 4), (2, 8), (3, 4), (3, 8)] {
            let simple = operation(version, pointer_size);
            let (decoded, rest) = FileOperation::parse_with_rest(&simple, version, pointer_size).unwrap();
            assert_eq!((decoded, rest.len()), (OPERATION, 0));

            let transfer = [pointers(&[0x1000], 8), simple.clone(), pointers(&[512, 7], 4)].concat();
            let (decoded, rest) = FileReadWrite::parse_with_rest(&transfer, version, pointer_size).unwrap();
            let expected =
                FileReadWrite { offset: 0x1000, operation: OPERATION, size: 512, flags: 7, extra_flags: None };
            assert_eq!((decoded, rest.len()), (expected, 0));

            let directory = [simple, pointers(&[512, 3, 0], 4), path()].concat();
            let (decoded, rest) = FileDirectory::parse_with_rest(&directory, version, pointer_size).unwrap();
            assert_eq!((decoded.operation, rest.len()), (OPERATION, 0));
            assert_eq!(decoded.name, r"\x\y");

            let create = if version >= 3 {
                [pointers(&[1, 2], pointer_size), pointers(&[4, 0x0300_0020, 0x80, 7], 4), path()].concat()
            } else {
                [pointers(&[1, 4, 2], pointer_size), pointers(&[0x0300_0020, 0x80, 7], 4), path()].concat()
            };
            let (decoded, rest) = FileCreate::parse_with_rest(&create, version, pointer_size).unwrap();
            assert_eq!((decoded.irp, decoded.file_object, decoded.thread_id, rest.len()), (1, 2, 4, 0));
            assert_eq!((decoded.create_options, decoded.share_access), (0x0300_0020, 7));

            let information = if version >= 3 {
                [pointers(&[1, 2, 3, 9], pointer_size), pointers(&[4, 20], 4), path()].concat()
            } else {
                [pointers(&[1, 4, 2, 3, 9], pointer_size), pointers(&[20], 4), path()].concat()
            };
            let (decoded, rest) = FileInformation::parse_with_rest(&information, version, pointer_size).unwrap();
            assert_eq!((decoded.thread_id, decoded.extra_info, decoded.info_class, rest.len()), (4, 9, 20, 0));
            assert!(!FileInformation::has_length(&information, version, pointer_size));
            let without_path = &information[..information.len() - path().len()];
            assert!(FileInformation::has_length(without_path, version, pointer_size));
            assert!(decoded.path.is_some_and(|path| path == r"\x\y"));

            let end = [pointers(&[1, 512], pointer_size), pointers(&[0xC000_0034], 4)].concat();
            let decoded = FileOperationEnd::parse(&end, version, pointer_size).unwrap();
            assert_eq!(decoded, FileOperationEnd { irp: 1, extra_info: 512, status: 0xC000_0034 });
        }
    }
}
