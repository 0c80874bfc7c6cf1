//! Class StackWalk: the call stacks of other records, which name their record by time and thread.

use super::array::Addresses;
use super::reader::{Reader, u32_at, u64_at};
use super::{Payload, PayloadError};

/// Is this the address of kernel code or data?
///
/// `pointer_size` is that of the system that made the stack: frames of 32-bit processes on a 64-bit system have 64 bits. On a
/// 32-bit system that gives three quarters of the address space to programs, their upper half is taken for kernel too.
#[inline]
pub fn is_kernel_address(address: u64, pointer_size: u8) -> bool {
    if pointer_size == 4 { address >= 0x8000_0000 } else { address >= 0x8000_0000_0000_0000 }
}

/// StackWalk 32: a stack with its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack<'a> {
    /// Time of the record that the stack belongs to, in the session's clock.
    pub event_timestamp: u64,
    /// Process of that record.
    pub process_id: u32,
    /// Thread of that record.
    pub thread_id: u32,
    /// Return addresses, leaf first.
    pub frames: Addresses<'a>,
}

impl Stack<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 32;
}

impl<'a> Payload<'a> for Stack<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let block = reader.block::<16>("stack")?;
        Ok(Self {
            event_timestamp: u64_at(block, 0),
            process_id: u32_at(block, 8),
            thread_id: u32_at(block, 12),
            frames: reader.remaining_addresses(),
        })
    }
}

/// StackWalk 37 (kernel part) and 38 (user part): a stack by the key of its definition, which comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackReference {
    /// Time of the record that the stack belongs to, in the session's clock.
    pub event_timestamp: u64,
    /// Process of that record.
    pub process_id: u32,
    /// Thread of that record.
    pub thread_id: u32,
    /// Key of the first definition at or after this record.
    pub stack_key: u64,
}

impl StackReference {
    /// Opcode: the frames nearest the leaf, in the kernel.
    pub const KERNEL: u8 = 37;
    /// Opcode: the frames nearest the root, in the program.
    pub const USER: u8 = 38;
}

impl<'a> Payload<'a> for StackReference {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let block = reader.block::<16>("stack reference")?;
        Ok(Self {
            event_timestamp: u64_at(block, 0),
            process_id: u32_at(block, 8),
            thread_id: u32_at(block, 12),
            stack_key: reader.pointer("stack key")?,
        })
    }
}

/// StackWalk 34 (create), 35 (the key is given up), 36 (rundown): the frames behind a key. Keys are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackDefinition<'a> {
    /// The key.
    pub stack_key: u64,
    /// Return addresses, leaf first.
    pub frames: Addresses<'a>,
}

impl StackDefinition<'_> {
    /// Opcode: the key is given out.
    pub const CREATE: u8 = 34;
    /// Opcode: the key is given up.
    pub const DELETE: u8 = 35;
    /// Opcode: the key is in use when the session ends.
    pub const RUNDOWN: u8 = 36;
}

impl<'a> Payload<'a> for StackDefinition<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { stack_key: reader.pointer("stack key")?, frames: reader.remaining_addresses() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_stack() {
        let mut payload = [[1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 3, 0, 0, 0]].concat();
        payload.extend([0, 0x10, 0, 0x80, 0, 0x20, 0x40, 0]);
        let stack = Stack::parse(&payload, 2, 4).unwrap();
        assert_eq!((stack.event_timestamp, stack.process_id, stack.thread_id), (1, 2, 3));
        let kernel: Vec<_> = stack.frames.iter().map(|frame| is_kernel_address(frame, 4)).collect();
        assert_eq!(kernel, [true, false]);
        let reference = StackReference::parse(&payload, 2, 4).unwrap();
        assert_eq!(reference.stack_key, 0x8000_1000);
    }

    #[test]
    fn kernel_addresses() {
        assert!(is_kernel_address(0xFFFF_F800_0000_0000, 8));
        assert!(!is_kernel_address(0x0000_7FFF_FFFF_FFFF, 8));
        assert!(!is_kernel_address(0xFFFF_F000, 8));
    }
}
