//! Class Process: starts, ends and rundown of processes.

use super::pointer_size::parse_either;
use super::reader::Reader;
use super::sid::Sid;
use super::text::{AnsiStr, WideStr};
use super::{Payload, PayloadError};

/// Bits of [`Process::flags`].
pub mod process_flags {
    /// The process has an application id.
    pub const HAS_APPLICATION_ID: u32 = 1;
    /// A 32-bit process on a 64-bit system.
    pub const WOW64: u32 = 2;
    /// A protected process.
    pub const PROTECTED: u32 = 4;
    /// The process belongs to an app package.
    pub const PACKAGED: u32 = 8;
}

/// Process 1 (start), 2 (end), 3 and 4 (rundown at start and end of the session), 39 (defunct: ended, but still
/// referenced); versions 0 to 5.
///
/// The header of a start names the creator, not the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process<'a> {
    /// Address of the process object: unique as long as it lives. From version 2 on.
    pub unique_process_key: Option<u64>,
    /// Process id.
    pub process_id: u32,
    /// Process id of the parent; the parent may be gone and its id be reused.
    pub parent_id: u32,
    /// Terminal-services session. From version 1 on.
    pub session_id: Option<u32>,
    /// Exit status; real in end records only, else 0x103 (still active) or 0. From version 1 on.
    pub exit_status: Option<i32>,
    /// Physical address of the page directory. Version 1, and from version 3 on.
    pub directory_table_base: Option<u64>,
    /// See [`process_flags`]. From version 4 on.
    pub flags: Option<u32>,
    /// The user; absent for the first system processes.
    pub user_sid: Option<Sid<'a>>,
    /// File name of the image, without path; long names may be cut.
    pub image_file_name: AnsiStr<'a>,
    /// Command line, often empty for ended processes. From version 2 on.
    pub command_line: Option<WideStr<'a>>,
    /// Full name of the app package, empty for others. From version 4 on.
    pub package_full_name: Option<WideStr<'a>>,
    /// Application user model id, empty for most. From version 4 on.
    pub application_id: Option<WideStr<'a>>,
    /// When the process ended, FILETIME. From version 5 on.
    pub exit_time: Option<u64>,
}

impl<'a> Process<'a> {
    /// Opcode: the process starts.
    pub const START: u8 = 1;
    /// Opcode: the process ends.
    pub const END: u8 = 2;
    /// Opcode: the process lives when the session starts.
    pub const DC_START: u8 = 3;
    /// Opcode: the process lives when the session ends.
    pub const DC_END: u8 = 4;
    /// Opcode: the process has ended, but its object is still referenced. Rundown.
    pub const DEFUNCT: u8 = 39;

    /// Decodes a payload whose FULL header may state the wrong pointer size: where a reading with 4-byte pointers does
    /// not end exactly at the payload's end and one with 8-byte pointers does, that is taken.
    ///
    /// # Errors
    /// As [`Payload::parse`].
    pub fn parse_either(payload: &'a [u8], version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        parse_either(payload, version, pointer_size, |_| true)
    }
}

impl<'a> Payload<'a> for Process<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let mut directory_table_base = None;
        let mut unique_process_key = None;
        let (process_id, parent_id);
        let (mut session_id, mut exit_status) = (None, None);
        if version == 0 {
            // Pointer-sized in memory, 32 bits in value.
            process_id = reader.pointer("process id")? as u32;
            parent_id = reader.pointer("parent process id")? as u32;
        } else {
            if version == 1 {
                directory_table_base = Some(reader.pointer("page directory base")?);
            } else {
                unique_process_key = Some(reader.pointer("unique process key")?);
            }
            process_id = reader.u32("process id")?;
            parent_id = reader.u32("parent process id")?;
            session_id = Some(reader.u32("session id")?);
            exit_status = Some(reader.i32("exit status")?);
            if version >= 3 {
                directory_table_base = Some(reader.pointer("directory table base")?);
            }
        }
        let flags = if version >= 4 { Some(reader.u32("process flags")?) } else { None };
        let user_sid = reader.embedded_sid("user")?;
        let image_file_name = reader.ansi("image file name")?;
        let command_line = if version >= 2 { reader.optional(|r| r.wide("command line")) } else { None };
        let (mut package_full_name, mut application_id) = (None, None);
        if version >= 4 {
            package_full_name = reader.optional(|r| r.wide("package full name"));
            application_id = reader.optional(|r| r.wide("application id"));
        }
        let exit_time = if version >= 5 { reader.optional(|r| r.u64("exit time")) } else { None };
        Ok(Self {
            unique_process_key,
            process_id,
            parent_id,
            session_id,
            exit_status,
            directory_table_base,
            flags,
            user_sid,
            image_file_name,
            command_line,
            package_full_name,
            application_id,
            exit_time,
        })
    }
}

/// Process 11: the process begins to terminate.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessTermination {
    /// Process id.
    pub process_id: u32,
}

impl ProcessTermination {
    /// Opcode.
    pub const OPCODE: u8 = 11;
}

impl<'a> Payload<'a> for ProcessTermination {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { process_id: reader.u32("process id")? })
    }
}

/// Process 32 (PerfCtr, at exit) and 33 (rundown): memory figures of a process. Sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCounters {
    /// Process id.
    pub process_id: u32,
    /// Page faults.
    pub page_fault_count: u32,
    /// Open handles.
    pub handle_count: u32,
    /// Nothing known.
    pub reserved: u32,
    /// Largest virtual size.
    pub peak_virtual_size: u64,
    /// Largest working set.
    pub peak_working_set_size: u64,
    /// Largest page-file use.
    pub peak_pagefile_usage: u64,
    /// Largest charge for paged pool.
    pub quota_peak_paged_pool_usage: u64,
    /// Largest charge for non-paged pool.
    pub quota_peak_non_paged_pool_usage: u64,
    /// Virtual size.
    pub virtual_size: u64,
    /// Working set.
    pub working_set_size: u64,
    /// Page-file use.
    pub pagefile_usage: u64,
    /// Charge for paged pool.
    pub quota_paged_pool_usage: u64,
    /// Charge for non-paged pool.
    pub quota_non_paged_pool_usage: u64,
    /// Private bytes.
    pub private_page_count: u64,
}

impl ProcessCounters {
    /// Opcode: the process exits.
    pub const EXIT: u8 = 32;
    /// Opcode: rundown.
    pub const RUNDOWN: u8 = 33;
}

impl<'a> Payload<'a> for ProcessCounters {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            process_id: reader.u32("process id")?,
            page_fault_count: reader.u32("page-fault count")?,
            handle_count: reader.u32("handle count")?,
            reserved: reader.u32("reserved field")?,
            peak_virtual_size: reader.pointer("peak virtual size")?,
            peak_working_set_size: reader.pointer("peak working set")?,
            peak_pagefile_usage: reader.pointer("peak page-file use")?,
            quota_peak_paged_pool_usage: reader.pointer("peak paged pool")?,
            quota_peak_non_paged_pool_usage: reader.pointer("peak non-paged pool")?,
            virtual_size: reader.pointer("virtual size")?,
            working_set_size: reader.pointer("working set")?,
            pagefile_usage: reader.pointer("page-file use")?,
            quota_paged_pool_usage: reader.pointer("paged pool")?,
            quota_non_paged_pool_usage: reader.pointer("non-paged pool")?,
            private_page_count: reader.pointer("private bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_0_has_pointer_sized_ids() {
        let mut payload = Vec::new();
        payload.extend(1234_u64.to_le_bytes());
        payload.extend(4_u64.to_le_bytes());
        payload.extend([0; 4]);
        payload.extend(b"cmd.exe\0");
        let (process, rest) = Process::parse_with_rest(&payload, 0, 8).unwrap();
        assert!(rest.is_empty());
        assert_eq!((process.process_id, process.parent_id), (1234, 4));
        assert_eq!(process.image_file_name, "cmd.exe");
        assert_eq!(process.session_id, None);
    }

    #[test]
    fn a_missing_tail_does_not_hide_the_process() {
        let mut payload = vec![0; 8];
        for value in [1234_u32, 4, 1, 0x103] {
            payload.extend(value.to_le_bytes());
        }
        payload.extend([0; 8 + 4 + 4]);
        payload.extend(b"cmd.exe\0");
        let process = Process::parse(&payload, 5, 8).unwrap();
        assert_eq!(process.image_file_name, "cmd.exe");
        assert_eq!((process.command_line, process.exit_time), (None, None));
    }
}
