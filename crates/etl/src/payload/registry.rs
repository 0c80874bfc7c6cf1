//! Class Registry: operations on keys and values, and the names of the kernel's key control blocks.

use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};

/// When an operation began, in the session's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryBegin {
    /// At this time. From version 2 on; 0 where the kernel took no time.
    At(i64),
    /// So long before the event. Versions 0 and 1.
    Before(i64),
}

/// Registry 10 to 29: an operation ended at the record's time; or a key control block has this name.
///
/// No public recording has these events; the layout is that of Microsoft's class `Registry_TypeGroup1` and its older versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryOperation<'a> {
    /// When it began.
    pub begin: RegistryBegin,
    /// NTSTATUS.
    pub status: u32,
    /// Number of the subkey or value of an enumeration, else the kind of information that is asked for. From version 1 on.
    pub index: Option<u32>,
    /// Address of the key control block that the name is relative to; 0: the name is whole. In version 0 a handle.
    pub key: u64,
    /// Name of a key below that one, or of one of its values; of a key control block its whole name.
    pub name: Option<WideStr<'a>>,
}

impl RegistryOperation<'_> {
    /// Opcode: a key is created or opened.
    pub const CREATE: u8 = 10;
    /// Opcode: a key is opened.
    pub const OPEN: u8 = 11;
    /// Opcode: a key is deleted.
    pub const DELETE: u8 = 12;
    /// Opcode: information about a key is asked for.
    pub const QUERY: u8 = 13;
    /// Opcode: a value is set.
    pub const SET_VALUE: u8 = 14;
    /// Opcode: a value is deleted.
    pub const DELETE_VALUE: u8 = 15;
    /// Opcode: a value is read.
    pub const QUERY_VALUE: u8 = 16;
    /// Opcode: a subkey is listed.
    pub const ENUMERATE_KEY: u8 = 17;
    /// Opcode: a value is listed.
    pub const ENUMERATE_VALUE: u8 = 18;
    /// Opcode: several values are read.
    pub const QUERY_VALUES: u8 = 19;
    /// Opcode: information about a key is set.
    pub const SET_INFORMATION: u8 = 20;
    /// Opcode: a key is written to the disk.
    pub const FLUSH: u8 = 21;
    /// Opcode: a key control block is made. In version 1 it is there.
    pub const KCB_CREATE: u8 = 22;
    /// Opcode: a key control block is deleted.
    pub const KCB_DELETE: u8 = 23;
    /// Opcode: a key control block is there at the begin.
    pub const KCB_RUNDOWN_BEGIN: u8 = 24;
    /// Opcode: a key control block is there at the end.
    pub const KCB_RUNDOWN_END: u8 = 25;
    /// Opcode: an access is redirected to the user's own keys.
    pub const VIRTUALIZE: u8 = 26;
    /// Opcode: a key is closed.
    pub const CLOSE: u8 = 27;
    /// Opcode: owner or rights of a key are set.
    pub const SET_SECURITY: u8 = 28;
    /// Opcode: owner or rights of a key are asked for.
    pub const QUERY_SECURITY: u8 = 29;
}

impl<'a> Payload<'a> for RegistryOperation<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let name = |reader: &mut Reader<'a>| reader.optional(|reader| reader.wide("name of the key or value"));
        if version >= 2 {
            let begin = RegistryBegin::At(reader.i64("initial time")?);
            let (status, index) = (reader.u32("status")?, reader.u32("index")?);
            let key = reader.pointer("key control block")?;
            return Ok(Self { begin, status, index: Some(index), key, name: name(reader) });
        }
        // Only the lower half of a pointer is the status.
        let status = reader.pointer("status")? as u32;
        let key = reader.pointer("key control block")?;
        let begin = RegistryBegin::Before(reader.i64("elapsed time")?);
        let index = if version == 1 { Some(reader.u32("index")?) } else { None };
        Ok(Self { begin, status, index, key, name: name(reader) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn versions_and_pointer_sizes() {
        let (time, status, index) = (0x0102_0304_0506_i64, 0xC000_0034_u32, 7_u32);
        let name = wide(r"Software\Ä");
        for (size, key) in [(4_u8, 0x8123_4567_u64), (8, 0xFFFF_A801_2345_6780)] {
            let pointer = |value: u64| value.to_le_bytes()[..usize::from(size)].to_vec();
            let (times, four) = (time.to_le_bytes(), status.to_le_bytes());
            // The upper half of a status in a pointer says nothing.
            let wide_status = pointer(u64::from(status) | 0xFFFF_FFFF_0000_0000);
            let index_bytes = index.to_le_bytes();
            let layouts = [
                (0, [&wide_status[..], &pointer(key), &times].concat()),
                (1, [&wide_status[..], &pointer(key), &times, &index_bytes].concat()),
                (2, [&times[..], &four, &index_bytes, &pointer(key)].concat()),
            ];
            for (version, head) in layouts {
                let whole = [head.clone(), name.clone()].concat();
                let event = RegistryOperation::parse(&whole, version, size).expect("a whole event");
                let begin = if version < 2 { RegistryBegin::Before(time) } else { RegistryBegin::At(time) };
                assert_eq!((event.begin, event.status, event.key), (begin, status, key), "{version} {size}");
                assert_eq!(event.index, (version > 0).then_some(index));
                assert_eq!(event.name.map(|name| name.to_string()).as_deref(), Some(r"Software\Ä"));
                let without = RegistryOperation::parse(&head, version, size).expect("an event without a name");
                assert!(without.name.is_none_or(|name| name.is_empty()));
                for length in 0..head.len() {
                    assert!(RegistryOperation::parse(&head[..length], version, size).is_err(), "{version} {length}");
                }
            }
        }
    }
}
