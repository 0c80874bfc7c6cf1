//! Provider Microsoft-Windows-Kernel-Process: the manifest twin of the classes Process, Thread and Image.
//!
//! Versions of manifest events may insert fields. A version that is not known is refused here; the schema in the recording
//! decodes it.

use super::reader::Reader;
use super::text::{AnsiStr, WideStr};
use super::thread::ThreadStacks;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// The provider Microsoft-Windows-Kernel-Process.
pub const KERNEL_PROCESS: Guid = Guid::from_u128(0x22fb2cd6_0e7b_422b_a0c7_2fad1fd0e716);

/// Kernel-Process 1: a process starts; versions 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelProcessStart<'a> {
    /// Process id.
    pub process_id: u32,
    /// When it started, FILETIME.
    pub create_time: u64,
    /// Process id of the parent.
    pub parent_id: u32,
    /// Terminal-services session.
    pub session_id: u32,
    /// Flags. From version 1 on.
    pub flags: Option<u32>,
    /// Path of the image as the kernel knows it.
    pub image_name: WideStr<'a>,
    /// Checksum of the image. From version 2 on.
    pub image_checksum: Option<u32>,
    /// Time stamp of the image. From version 2 on.
    pub time_date_stamp: Option<u32>,
    /// Full name of the app package. From version 2 on.
    pub package_full_name: Option<WideStr<'a>>,
    /// Application id inside the package. From version 2 on.
    pub package_relative_app_id: Option<WideStr<'a>>,
}

impl KernelProcessStart<'_> {
    /// Event id.
    pub const ID: u16 = 1;
}

impl<'a> Payload<'a> for KernelProcessStart<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 2 {
            return Err(PayloadError::UnknownVersion { what: "ProcessStart", version });
        }
        let mut start = Self {
            process_id: reader.u32("process id")?,
            create_time: reader.u64("create time")?,
            parent_id: reader.u32("parent process id")?,
            session_id: reader.u32("session id")?,
            flags: if version >= 1 { Some(reader.u32("process flags")?) } else { None },
            image_name: reader.wide("image name")?,
            image_checksum: None,
            time_date_stamp: None,
            package_full_name: None,
            package_relative_app_id: None,
        };
        if version >= 2 {
            start.image_checksum = reader.optional(|r| r.u32("image checksum"));
            start.time_date_stamp = reader.optional(|r| r.u32("image time stamp"));
            start.package_full_name = reader.optional(|r| r.wide("package full name"));
            start.package_relative_app_id = reader.optional(|r| r.wide("package relative application id"));
        }
        Ok(start)
    }
}

/// Kernel-Process 15: a process lives when the provider is enabled; version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelProcessRundown<'a> {
    /// The process, with the fields of a version 2 start.
    pub process: KernelProcessStart<'a>,
}

impl KernelProcessRundown<'_> {
    /// Event id.
    pub const ID: u16 = 15;
}

impl<'a> Payload<'a> for KernelProcessRundown<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 0 {
            return Err(PayloadError::UnknownVersion { what: "ProcessRundown", version });
        }
        Ok(Self { process: reader.nested(2)? })
    }
}

/// Kernel-Process 2 (stop); versions 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelProcessStop<'a> {
    /// Process id.
    pub process_id: u32,
    /// When it started, FILETIME.
    pub create_time: u64,
    /// When it ended, FILETIME.
    pub exit_time: u64,
    /// Exit code.
    pub exit_code: u32,
    /// Elevation of its token: 1 default, 2 full, 3 limited.
    pub token_elevation: u32,
    /// Handles open at the end.
    pub handle_count: u32,
    /// Committed memory at the end, bytes.
    pub commit_charge: u64,
    /// Largest committed memory, bytes.
    pub commit_peak: u64,
    /// What it used. From version 1 on.
    pub usage: Option<ProcessUsage>,
    /// File name of the image.
    pub image_name: AnsiStr<'a>,
}

/// What a process used in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU cycles.
    pub cpu_cycles: u64,
    /// Read operations.
    pub read_operations: u32,
    /// Write operations.
    pub write_operations: u32,
    /// Read, KiB.
    pub read_kib: u32,
    /// Written, KiB.
    pub write_kib: u32,
    /// Hard page faults.
    pub hard_faults: u32,
}

impl KernelProcessStop<'_> {
    /// Event id.
    pub const ID: u16 = 2;
}

impl<'a> Payload<'a> for KernelProcessStop<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 1 {
            return Err(PayloadError::UnknownVersion { what: "ProcessStop", version });
        }
        Ok(Self {
            process_id: reader.u32("process id")?,
            create_time: reader.u64("create time")?,
            exit_time: reader.u64("exit time")?,
            exit_code: reader.u32("exit code")?,
            token_elevation: reader.u32("token elevation")?,
            handle_count: reader.u32("handle count")?,
            commit_charge: reader.u64("commit charge")?,
            commit_peak: reader.u64("commit peak")?,
            usage: if version >= 1 {
                Some(ProcessUsage {
                    cpu_cycles: reader.u64("CPU cycles")?,
                    read_operations: reader.u32("read operations")?,
                    write_operations: reader.u32("write operations")?,
                    read_kib: reader.u32("KiB read")?,
                    write_kib: reader.u32("KiB written")?,
                    hard_faults: reader.u32("hard faults")?,
                })
            } else {
                None
            },
            image_name: reader.ansi("image name")?,
        })
    }
}

/// Kernel-Process 3 (thread start) and 4 (thread stop); versions 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelThread {
    /// Process id.
    pub process_id: u32,
    /// Thread id.
    pub thread_id: u32,
    /// Stacks.
    pub stacks: ThreadStacks,
    /// Start address inside the system.
    pub start_address: u64,
    /// Start address that the creator gave.
    pub win32_start_address: u64,
    /// Address of the thread environment block.
    pub teb: u64,
    /// Tag of the service that the thread works for. From version 1 on.
    pub sub_process_tag: Option<u32>,
    /// CPU cycles that it used. Stop records from version 1 on: the field is what is left behind the others.
    pub cycle_time: Option<u64>,
}

impl KernelThread {
    /// Event id: a thread starts.
    pub const START_ID: u16 = 3;
    /// Event id: a thread ends.
    pub const STOP_ID: u16 = 4;
}

impl<'a> Payload<'a> for KernelThread {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 1 {
            return Err(PayloadError::UnknownVersion { what: "ThreadStart or ThreadStop", version });
        }
        Ok(Self {
            process_id: reader.u32("process id")?,
            thread_id: reader.u32("thread id")?,
            stacks: ThreadStacks::read(reader)?,
            start_address: reader.pointer("start address")?,
            win32_start_address: reader.pointer("Win32 start address")?,
            teb: reader.pointer("thread environment block")?,
            sub_process_tag: if version >= 1 { Some(reader.u32("sub-process tag")?) } else { None },
            cycle_time: if version >= 1 { reader.optional(|r| r.u64("cycle time")) } else { None },
        })
    }
}

/// Kernel-Process 5 (image load) and 6 (image unload); version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelImage<'a> {
    /// Address at which it is mapped.
    pub base: u64,
    /// Size of the mapping, bytes.
    pub size: u64,
    /// Process id.
    pub process_id: u32,
    /// Checksum of the PE header.
    pub checksum: u32,
    /// Time stamp of the PE header.
    pub time_date_stamp: u32,
    /// Preferred address.
    pub default_base: u64,
    /// Path as the kernel knows it.
    pub name: WideStr<'a>,
}

impl KernelImage<'_> {
    /// Event id: an image is mapped.
    pub const LOAD_ID: u16 = 5;
    /// Event id: an image is unmapped.
    pub const UNLOAD_ID: u16 = 6;
}

impl<'a> Payload<'a> for KernelImage<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 0 {
            return Err(PayloadError::UnknownVersion { what: "ImageLoad or ImageUnload", version });
        }
        Ok(Self {
            base: reader.pointer("image base")?,
            size: reader.pointer("image size")?,
            process_id: reader.u32("process id")?,
            checksum: reader.u32("image checksum")?,
            time_date_stamp: reader.u32("image time stamp")?,
            default_base: reader.pointer("preferred image base")?,
            name: reader.wide("image name")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn rundown_has_the_fields_of_a_version_2_start() {
        let mut head = 42_u32.to_le_bytes().to_vec();
        head.extend(7_u64.to_le_bytes());
        head.extend([4_u32, 1].map(u32::to_le_bytes).concat());
        let flags = 3_u32.to_le_bytes().to_vec();
        let identity = [5_u32, 6].map(u32::to_le_bytes).concat();
        let version_0 = [head.clone(), wide("a.exe")].concat();
        let version_2 = [head, flags, wide("a.exe"), identity, wide("package"), wide("app")].concat();

        let (start, rest) = KernelProcessStart::parse_with_rest(&version_0, 0, 8).unwrap();
        assert!(rest.is_empty());
        assert_eq!((start.process_id, start.parent_id, start.flags), (42, 4, None));
        assert_eq!(start.image_name, "a.exe");

        let (start, rest) = KernelProcessStart::parse_with_rest(&version_2, 2, 8).unwrap();
        assert!(rest.is_empty());
        assert_eq!((start.flags, start.image_checksum, start.time_date_stamp), (Some(3), Some(5), Some(6)));
        assert_eq!(KernelProcessRundown::parse(&version_2, 0, 8), Ok(KernelProcessRundown { process: start }));

        let unknown = KernelProcessStart::parse(&version_2, 3, 8);
        assert_eq!(unknown, Err(PayloadError::UnknownVersion { what: "ProcessStart", version: 3 }));
        assert!(KernelProcessRundown::parse(&version_2, 1, 8).is_err());
    }
}
