//! Header of a WPP message: which parts it has depends on its option flags.

use crate::bytes::{i64_at, u16_at, u32_at};
use crate::guid::Guid;

/// Option flags, in the order of the parts they announce.
mod option {
    pub(super) const SEQUENCE: u16 = 0x01;
    pub(super) const GUID: u16 = 0x02;
    pub(super) const COMPONENT: u16 = 0x04;
    pub(super) const TIMESTAMP: u16 = 0x08;
    pub(super) const SYSTEM_INFO: u16 = 0x20;
    pub(super) const POINTER_32: u16 = 0x40;
    pub(super) const POINTER_64: u16 = 0x80;
}

/// The parts that a WPP message states of itself. Its arguments can be decoded only with the program's debug information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Number of the message in its source file.
    pub number: u16,
    /// Option flags.
    pub options: u16,
    /// Sequence number.
    pub sequence: Option<u32>,
    /// GUID of the source file's messages.
    pub guid: Option<Guid>,
    /// Component, where a number is used instead of a GUID.
    pub component: Option<u32>,
    /// Raw tick.
    pub time: Option<i64>,
    /// Thread.
    pub tid: Option<u32>,
    /// Process.
    pub pid: Option<u32>,
    /// Offset of the arguments in the record.
    pub(crate) arguments_at: usize,
}

impl Message {
    /// `None` when the record is too short for the parts that its flags announce.
    pub(crate) fn parse(record: &[u8]) -> Option<Self> {
        let options = u16_at(record, 6)?;
        let mut message = Self { number: u16_at(record, 4)?, options, arguments_at: 8, ..Self::default() };
        let at = &mut message.arguments_at;
        if options & option::SEQUENCE != 0 {
            message.sequence = Some(u32_at(record, *at)?);
            *at += 4;
        }
        if options & option::GUID != 0 {
            message.guid = Some(Guid::read(record, *at)?);
            *at += 16;
        } else if options & option::COMPONENT != 0 {
            message.component = Some(u32_at(record, *at)?);
            *at += 4;
        }
        if options & option::TIMESTAMP != 0 {
            message.time = Some(i64_at(record, *at)?);
            *at += 8;
        }
        if options & option::SYSTEM_INFO != 0 {
            message.tid = Some(u32_at(record, *at)?);
            message.pid = Some(u32_at(record, *at + 4)?);
            *at += 8;
        }
        Some(message)
    }

    /// Bytes of a pointer among the arguments; 8 where the message does not say.
    #[must_use]
    pub const fn pointer_size(&self) -> u8 {
        if self.options & option::POINTER_32 != 0 && self.options & option::POINTER_64 == 0 { 4 } else { 8 }
    }
}
