//! Class Thread: starts, ends, rundown, names and priorities of threads.

use super::reader::{Reader, u32_at};
use super::text::WideStr;
use super::{Payload, PayloadError};

/// Thread 1 (start), 2 (end), 3 and 4 (rundown at start and end of the session); versions 0 to 4.
///
/// The header of a start names the creator, not the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread<'a> {
    /// The process that it belongs to.
    pub process_id: u32,
    /// Thread id.
    pub thread_id: u32,
    /// Stacks. From version 1 on, there not in end records.
    pub stacks: Option<ThreadStacks>,
    /// Start address inside the system. Versions 1 and 2.
    pub start_address: Option<u64>,
    /// Mask of the CPUs of its group that it may run on. From version 3 on.
    pub affinity: Option<u64>,
    /// Start address that the creator gave. From version 1 on.
    pub win32_start_address: Option<u64>,
    /// Mode in which the thread waits: 0 kernel, 1 user. Version 1.
    pub wait_mode: Option<i8>,
    /// Address of the thread environment block. From version 2 on.
    pub teb: Option<u64>,
    /// Tag of the service that the thread works for, the key of [`Service`](super::system_config::Service). From version 2 on.
    pub sub_process_tag: Option<u32>,
    /// Base priority. From version 3 on.
    pub base_priority: Option<u8>,
    /// Priority of its memory pages. From version 3 on.
    pub page_priority: Option<u8>,
    /// Priority of its I/O. From version 3 on.
    pub io_priority: Option<u8>,
    /// Bit 0: a registry notification thread. From version 3 on.
    pub flags: Option<u8>,
    /// Name that the program gave it. From version 3 on, on Windows 10 and later, when it has one.
    pub name: Option<WideStr<'a>>,
}

/// The stacks of a thread; addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStacks {
    /// Upper end of the kernel stack.
    pub base: u64,
    /// Lower end of the kernel stack.
    pub limit: u64,
    /// Upper end of the user stack.
    pub user_base: u64,
    /// Lower end of the user stack.
    pub user_limit: u64,
}

impl ThreadStacks {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, PayloadError> {
        Ok(Self {
            base: reader.pointer("stack base")?,
            limit: reader.pointer("stack limit")?,
            user_base: reader.pointer("user stack base")?,
            user_limit: reader.pointer("user stack limit")?,
        })
    }
}

impl Thread<'_> {
    /// Opcode: the thread starts.
    pub const START: u8 = 1;
    /// Opcode: the thread ends.
    pub const END: u8 = 2;
    /// Opcode: the thread lives when the session starts.
    pub const DC_START: u8 = 3;
    /// Opcode: the thread lives when the session ends.
    pub const DC_END: u8 = 4;
}

impl<'a> Payload<'a> for Thread<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let ids = reader.block::<8>("thread and process id")?;
        let (first, second) = (u32_at(ids, 0), u32_at(ids, 4));
        let (thread_id, process_id) = if version == 0 { (first, second) } else { (second, first) };
        let mut thread = Self {
            process_id,
            thread_id,
            stacks: None,
            start_address: None,
            affinity: None,
            win32_start_address: None,
            wait_mode: None,
            teb: None,
            sub_process_tag: None,
            base_priority: None,
            page_priority: None,
            io_priority: None,
            flags: None,
            name: None,
        };
        if version == 0 {
            return Ok(thread);
        }
        // End records of version 1 stop here, and whoever knows a thread by its ids can use any record that has them.
        thread.stacks = reader.optional(ThreadStacks::read);
        let start_or_affinity = reader.optional(|r| r.pointer("start address or affinity"));
        if version >= 3 {
            thread.affinity = start_or_affinity;
        } else {
            thread.start_address = start_or_affinity;
        }
        thread.win32_start_address = reader.optional(|r| r.pointer("Win32 start address"));
        if version == 1 {
            thread.wait_mode = reader.optional(|r| r.i8("wait mode"));
        } else {
            thread.teb = reader.optional(|r| r.pointer("thread environment block"));
            thread.sub_process_tag = reader.optional(|r| r.u32("sub-process tag"));
        }
        if version >= 3 {
            thread.base_priority = reader.optional(|r| r.u8("base priority"));
            thread.page_priority = reader.optional(|r| r.u8("page priority"));
            thread.io_priority = reader.optional(|r| r.u8("I/O priority"));
            thread.flags = reader.optional(|r| r.u8("thread flags"));
            thread.name = reader.optional(|r| r.wide("thread name"));
        }
        Ok(thread)
    }
}

/// Thread 72 (SetName): a thread gets a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadName<'a> {
    /// The process that the thread belongs to.
    pub process_id: u32,
    /// Thread id.
    pub thread_id: u32,
    /// The name.
    pub name: WideStr<'a>,
}

impl ThreadName<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 72;
}

impl<'a> Payload<'a> for ThreadName<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            process_id: reader.u32("process id")?,
            thread_id: reader.u32("thread id")?,
            name: reader.wide("thread name")?,
        })
    }
}

/// Thread 48 (priority), 49 (base priority), 51 (page priority), 52 (I/O priority): a priority changes.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPriority {
    /// Thread id.
    pub thread_id: u32,
    /// Priority before.
    pub old_priority: u8,
    /// Priority from now on.
    pub new_priority: u8,
}

impl ThreadPriority {
    /// Opcode: the priority.
    pub const PRIORITY: u8 = 48;
    /// Opcode: the base priority.
    pub const BASE_PRIORITY: u8 = 49;
    /// Opcode: the page priority.
    pub const PAGE_PRIORITY: u8 = 51;
    /// Opcode: the I/O priority.
    pub const IO_PRIORITY: u8 = 52;
}

impl<'a> Payload<'a> for ThreadPriority {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let block = reader.block::<8>("thread priority")?;
        Ok(Self { thread_id: u32_at(block, 0), old_priority: block[4], new_priority: block[5] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_0_names_the_thread_first() {
        let payload = [7, 0, 0, 0, 9, 0, 0, 0];
        let thread = Thread::parse(&payload, 0, 4).unwrap();
        assert_eq!((thread.thread_id, thread.process_id), (7, 9));
        let thread = Thread::parse(&payload, 1, 4).unwrap();
        assert_eq!((thread.thread_id, thread.process_id), (9, 7));
    }

    #[test]
    fn priority_change() {
        let change = ThreadPriority::parse(&[7, 0, 0, 0, 8, 15, 0, 0], 3, 8).unwrap();
        assert_eq!(change, ThreadPriority { thread_id: 7, old_priority: 8, new_priority: 15 });
    }
}
