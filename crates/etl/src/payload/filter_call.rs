//! Class FileIo: calls of file system filter drivers (minifilters).
//!
//! A filter has routines for operations on files, which the filter manager calls before the file system gets an operation, and
//! after it is done. Every event of a call has the same description of it at another place.

use super::reader::Reader;
use super::{Payload, PayloadError};

/// A routine of a filter and the operation that it is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterCall {
    /// Address of the routine.
    pub routine: u64,
    /// The file object.
    pub file_object: u64,
    /// What the file system keeps of the file (FsContext), the key of its name. 0 before the file is open.
    pub file_context: u64,
    /// Address of the request; 0 where there is none.
    pub irp: u64,
    /// Address of the filter manager's description of the operation, the same for all calls of an operation.
    pub callback_data: u64,
    /// The operation; [`Self::major`] is its number.
    pub major_function: u32,
}

impl FilterCall {
    /// The major function of the operation: 0 create, 3 read, and so on. Negative ones have no request packet: fast I/O, calls
    /// of the memory manager, mounts. It is a byte of which the event has 32 bits.
    #[must_use]
    pub const fn major(&self) -> i16 {
        self.major_function as u8 as i8 as i16
    }

    /// Whether events of this opcode are about a call after the operation, and not before it.
    #[must_use]
    pub const fn is_after(opcode: u8) -> bool {
        matches!(opcode, FilterCallBegin::AFTER | FilterCallEnd::AFTER | FilterCallFailure::AFTER)
    }
}

impl<'a> Payload<'a> for FilterCall {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            routine: reader.pointer("routine of the filter")?,
            file_object: reader.pointer("file object")?,
            file_context: reader.pointer("file context")?,
            irp: reader.pointer("IRP")?,
            callback_data: reader.pointer("callback data")?,
            major_function: reader.u32("major function")?,
        })
    }
}

/// FileIo 96 (before the operation), 97 (after it): a filter is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterCallBegin {
    /// The call.
    pub call: FilterCall,
}

impl FilterCallBegin {
    /// Opcode: before the operation.
    pub const BEFORE: u8 = 96;
    /// Opcode: after the operation.
    pub const AFTER: u8 = 97;
}

impl<'a> Payload<'a> for FilterCallBegin {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self { call: reader.nested(version)? })
    }
}

/// FileIo 98 (before the operation), 99 (after it): a filter is done with the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterCallEnd {
    /// When the filter was called, in the session's clock.
    pub initial_time: u64,
    /// The call.
    pub call: FilterCall,
}

impl FilterCallEnd {
    /// Opcode: before the operation.
    pub const BEFORE: u8 = 98;
    /// Opcode: after the operation.
    pub const AFTER: u8 = 99;
}

impl<'a> Payload<'a> for FilterCallEnd {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self { initial_time: reader.u64("begin of the call")?, call: reader.nested(version)? })
    }
}

/// FileIo 100 (before the operation), 101 (after it): a filter failed the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterCallFailure {
    /// The call.
    pub call: FilterCall,
    /// NTSTATUS.
    pub status: u32,
}

impl FilterCallFailure {
    /// Opcode: before the operation.
    pub const BEFORE: u8 = 100;
    /// Opcode: after the operation.
    pub const AFTER: u8 = 101;
}

impl<'a> Payload<'a> for FilterCallFailure {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        Ok(Self { call: reader.nested(version)?, status: reader.u32("status")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: FilterCall = FilterCall {
        routine: 0xF123_4567,
        file_object: 0xA000_0010,
        file_context: 0xA000_0020,
        irp: 0xA000_0030,
        callback_data: 0xA000_0040,
        major_function: 3,
    };

    /// The bytes of the call, by hand.
    fn call(pointer_size: u8) -> Vec<u8> {
        let pointers: [[u8; 4]; 5] =
            [[0x67, 0x45, 0x23, 0xF1], [0x10, 0, 0, 0xA0], [0x20, 0, 0, 0xA0], [0x30, 0, 0, 0xA0], [0x40, 0, 0, 0xA0]];
        let above: &[u8] = if pointer_size == 8 { &[0; 4] } else { &[] };
        let mut bytes: Vec<u8> = pointers.iter().flat_map(|pointer| [pointer.as_slice(), above].concat()).collect();
        bytes.extend([3, 0, 0, 0]);
        bytes
    }

    /// The whole is a value, and no part of it is.
    fn check<T: for<'a> Payload<'a> + PartialEq + std::fmt::Debug>(bytes: &[u8], pointer_size: u8, expected: T) {
        let (found, rest) = T::parse_with_rest(bytes, 3, pointer_size).unwrap();
        assert_eq!((found, rest.len()), (expected, 0));
        for length in 0..bytes.len() {
            assert!(T::parse(&bytes[..length], 3, pointer_size).is_err(), "{length} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn begins_ends_and_failures_have_the_same_call() {
        for pointer_size in [4, 8] {
            let call = call(pointer_size);
            check(&call, pointer_size, FilterCallBegin { call: CALL });
            let end = [&[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11], call.as_slice()].concat();
            check(&end, pointer_size, FilterCallEnd { initial_time: 0x1122_3344_5566_7788, call: CALL });
            let failure = [call.as_slice(), &[0x22, 0, 0, 0xC0]].concat();
            check(&failure, pointer_size, FilterCallFailure { call: CALL, status: 0xC000_0022 });
        }
    }

    #[test]
    fn operations_without_a_request_packet_are_negative() {
        for (written, major) in [(0, 0), (18, 18), (0xFF, -1), (0xF3, -13), (0xFFFF_FFF2, -14)] {
            assert_eq!(FilterCall { major_function: written, ..CALL }.major(), major);
        }
    }

    #[test]
    fn odd_opcodes_are_after_the_operation() {
        let after: Vec<u8> = (96..=101).filter(|opcode| FilterCall::is_after(*opcode)).collect();
        assert_eq!(after, [97, 99, 101]);
    }
}
