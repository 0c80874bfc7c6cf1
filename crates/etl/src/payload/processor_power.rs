//! Provider Microsoft-Windows-Kernel-Processor-Power: clock rates of processors and their kinds.
//!
//! Versions append fields; those that are read stand in front of them.

use super::WideStr;
use super::reader::Reader;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// The provider Microsoft-Windows-Kernel-Processor-Power.
pub const PROCESSOR_POWER: Guid = Guid::from_u128(0x0f67e49f_fe51_4e9f_b490_6f2948cc6027);

/// A processor by its group and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorNumber {
    /// The group.
    pub group: u16,
    /// The number in the group.
    pub number: u8,
}

impl ProcessorNumber {
    fn read(reader: &mut Reader<'_>) -> Result<Self, PayloadError> {
        Ok(Self { group: reader.u16("processor group")?, number: reader.u8("processor number")? })
    }
}

/// Kernel-Processor-Power 10 and 18: a processor's performance state, when the kernel changes it and when the provider's state is captured;
/// versions 0 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerformanceState {
    /// The state.
    pub state: u32,
    /// Its clock rate, MHz.
    pub mhz: u32,
    /// The processor.
    pub processor: ProcessorNumber,
}

impl PerformanceState {
    /// Event ids: changed, captured.
    pub const IDS: [u16; 2] = [10, 18];
}

impl<'a> Payload<'a> for PerformanceState {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 4 {
            return Err(PayloadError::UnknownVersion { what: "ProcessorPerfStateChange", version });
        }
        Ok(Self {
            state: reader.u32("performance state")?,
            mhz: reader.u32("clock rate")?,
            processor: ProcessorNumber::read(reader)?,
        })
    }
}

/// Kernel-Processor-Power 55 and 56: what a processor can do; version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorSummary {
    /// The processor.
    pub processor: ProcessorNumber,
    /// Number of its idle states.
    pub idle_states: u32,
    /// How they are entered.
    pub idle_implementation: u32,
    /// Its nominal clock rate, MHz.
    pub nominal_mhz: u32,
}

impl ProcessorSummary {
    /// Event ids: at start-up, and when the provider's state is captured.
    pub const IDS: [u16; 2] = [55, 56];
}

impl<'a> Payload<'a> for ProcessorSummary {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 0 {
            return Err(PayloadError::UnknownVersion { what: "processor summary", version });
        }
        Ok(Self {
            processor: ProcessorNumber::read(reader)?,
            idle_states: reader.u32("idle states")?,
            idle_implementation: reader.u32("idle implementation")?,
            nominal_mhz: reader.u32("nominal clock rate")?,
        })
    }
}

/// Kernel-Processor-Power 102 and 103: a profile of settings, of which one is active at a time; version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerProfile<'a> {
    /// Its name.
    pub name: WideStr<'a>,
    /// Its number in other events.
    pub id: u8,
}

impl PowerProfile<'_> {
    /// Event ids: registered, and when the provider's state is captured.
    pub const IDS: [u16; 2] = [102, 103];
}

impl<'a> Payload<'a> for PowerProfile<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 0 {
            return Err(PayloadError::UnknownVersion { what: "power profile", version });
        }
        Ok(Self { name: reader.wide("profile name")?, id: reader.u8("profile id")? })
    }
}

/// Kernel-Processor-Power 64: how a processor runs when the provider's state is captured; versions 0 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorPerformance {
    /// The processor.
    pub processor: ProcessorNumber,
    /// Its nominal clock rate, MHz.
    pub nominal_mhz: u32,
    /// Its efficiency class: 0 the most efficient, higher ones are faster. From version 2 on.
    pub efficiency_class: Option<u8>,
}

impl ProcessorPerformance {
    /// Event id.
    pub const ID: u16 = 64;
}

impl<'a> Payload<'a> for ProcessorPerformance {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version > 4 {
            return Err(PayloadError::UnknownVersion { what: "ProcessorPerformanceRundown", version });
        }
        let processor = ProcessorNumber::read(reader)?;
        for what in ["parked", "firmware cap", "thermal cap", "desired performance"] {
            reader.u32(what)?;
        }
        let nominal_mhz = reader.u32("nominal clock rate")?;
        let efficiency_class = if version >= 2 {
            for what in ["least percent", "most percent", "tolerance", "delivered performance"] {
                reader.u32(what)?;
            }
            Some(reader.u8("efficiency class")?)
        } else {
            None
        };
        Ok(Self { processor, nominal_mhz, efficiency_class })
    }
}
