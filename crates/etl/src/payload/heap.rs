//! Classes `HeapTrace` and Pool: blocks of the heaps of a process, and of the pools of the kernel.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// `HeapTrace` 33: a block is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapAllocation {
    /// The heap.
    pub heap: u64,
    /// Bytes that were asked for.
    pub size: u64,
    /// Address of the block.
    pub address: u64,
}

impl HeapAllocation {
    /// Opcode.
    pub const OPCODE: u8 = 33;
}

impl<'a> Payload<'a> for HeapAllocation {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            heap: reader.pointer("heap handle")?,
            size: reader.pointer("size")?,
            address: reader.pointer("address")?,
        })
    }
}

/// `HeapTrace` 34: a block gets another size, and may get another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapReallocation {
    /// The heap.
    pub heap: u64,
    /// Address of the block from now on.
    pub new_address: u64,
    /// Address of the block before.
    pub old_address: u64,
    /// Bytes from now on.
    pub new_size: u64,
    /// Bytes before.
    pub old_size: u64,
}

impl HeapReallocation {
    /// Opcode.
    pub const OPCODE: u8 = 34;
}

impl<'a> Payload<'a> for HeapReallocation {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            heap: reader.pointer("heap handle")?,
            new_address: reader.pointer("new address")?,
            old_address: reader.pointer("old address")?,
            new_size: reader.pointer("new size")?,
            old_size: reader.pointer("old size")?,
        })
    }
}

/// `HeapTrace` 35 and 36: a heap is destroyed, or a block of it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapFree {
    /// The heap.
    pub heap: u64,
    /// Address of the block; `None`: all blocks.
    pub address: Option<u64>,
}

impl HeapFree {
    /// Opcode: the heap is destroyed.
    pub const DESTROY: u8 = 35;
    /// Opcode: a block is given back.
    pub const FREE: u8 = 36;
}

impl<'a> Payload<'a> for HeapFree {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { heap: reader.pointer("heap handle")?, address: reader.optional(|reader| reader.pointer("address")) })
    }
}

/// `HeapTrace` 37 and 42: a heap commits pages, or gives them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapPages {
    /// The heap.
    pub heap: u64,
    /// Bytes.
    pub size: u64,
    /// First address.
    pub address: u64,
}

impl HeapPages {
    /// Opcode: the heap grows.
    pub const EXPAND: u8 = 37;
    /// Opcode: the heap shrinks.
    pub const CONTRACT: u8 = 42;
}

impl<'a> Payload<'a> for HeapPages {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            heap: reader.pointer("heap handle")?,
            size: reader.pointer("size")?,
            address: reader.pointer("address")?,
        })
    }
}

/// Pool 32 to 35: a block of a kernel pool is allocated or given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolBlock {
    /// Type of the pool.
    pub pool_type: u32,
    /// Four characters that name the component.
    pub tag: [u8; 4],
    /// Bytes.
    pub size: u64,
    /// Address.
    pub address: u64,
    /// Session; of 33 and 35.
    pub session: Option<u32>,
}

impl PoolBlock {
    /// Opcode: a block is allocated.
    pub const ALLOCATE: u8 = 32;
    /// Opcode: a block is allocated for a session.
    pub const SESSION_ALLOCATE: u8 = 33;
    /// Opcode: a block is given back.
    pub const FREE: u8 = 34;
    /// Opcode: a block of a session is given back.
    pub const SESSION_FREE: u8 = 35;
}

impl<'a> Payload<'a> for PoolBlock {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            pool_type: reader.u32("pool type")?,
            tag: reader.u32("pool tag")?.to_le_bytes(),
            size: reader.pointer("size")?,
            address: reader.pointer("address")?,
            session: reader.optional(|reader| reader.u32("session")),
        })
    }
}
