//! Provider of the Visual Studio diagnostics hub: what a `.diagsession` recording was made of.

use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// The provider.
pub const VS_DIAGNOSTICS_HUB: Guid = Guid::from_u128(0x9e5f9046_43c6_4f62_ba13_7b19896253ff);

/// Events 1 (started, version 2) and 2 (stopped, version 1): profiling of a process began or ended.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosticsTarget {
    /// Process id.
    pub process_id: u32,
    /// Why it began: 0 launch of an app package. Only in version 2.
    pub start_reason: Option<u32>,
    /// Time, in the session's clock.
    pub timestamp: u64,
}

impl DiagnosticsTarget {
    /// Event id: profiling of the process began.
    pub const STARTED_ID: u16 = 1;
    /// Event id: profiling of the process ended.
    pub const STOPPED_ID: u16 = 2;
}

impl<'a> Payload<'a> for DiagnosticsTarget {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if !(1..=2).contains(&version) {
            return Err(PayloadError::UnknownVersion { what: "diagnostics target", version });
        }
        Ok(Self {
            process_id: reader.u32("process id")?,
            start_reason: if version >= 2 { Some(reader.u32("start reason")?) } else { None },
            timestamp: reader.u64("time")?,
        })
    }
}

/// Event 5: the machine.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosticsMachine<'a> {
    /// Host name.
    pub name: WideStr<'a>,
    /// Operating system in words.
    pub os_description: WideStr<'a>,
    /// 1: x64.
    pub architecture: u32,
}

impl DiagnosticsMachine<'_> {
    /// Event id.
    pub const ID: u16 = 5;
}

impl<'a> Payload<'a> for DiagnosticsMachine<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            name: reader.wide("machine name")?,
            os_description: reader.wide("operating system")?,
            architecture: reader.u32("architecture")?,
        })
    }
}

/// Event 6: a counter's value at a time.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiagnosticsCounter {
    /// Which counter; 2 is CPU use in percent.
    pub counter: u32,
    /// Time, in the session's clock.
    pub timestamp: u64,
    /// The value.
    pub value: f64,
}

impl DiagnosticsCounter {
    /// Event id.
    pub const ID: u16 = 6;
}

impl<'a> Payload<'a> for DiagnosticsCounter {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            counter: reader.u32("counter")?,
            timestamp: reader.u64("time")?,
            value: reader.f64("counter value")?,
        })
    }
}
