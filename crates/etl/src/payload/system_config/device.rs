//! Devices.

use crate::guid::Guid;
use crate::payload::reader::Reader;
use crate::payload::text::{WideStr, WideStrs};
use crate::payload::{Payload, PayloadError};

/// SystemConfig 22: a device; versions 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlugAndPlay<'a> {
    /// Class of the device. From version 4 on.
    pub class_guid: Option<Guid>,
    /// State of the device. From version 5 on.
    pub status: Option<PlugAndPlayStatus>,
    /// Instance path of the device.
    pub device_id: WideStr<'a>,
    /// Kind of the device in words.
    pub description: WideStr<'a>,
    /// Name of the device in words; often empty.
    pub friendly_name: WideStr<'a>,
    /// Name of its kernel object. From version 3 on.
    pub pdo_name: Option<WideStr<'a>>,
    /// Name of its driver's service. From version 4 on.
    pub service_name: Option<WideStr<'a>>,
    /// Drivers that filter it. From version 4 on.
    pub filters: Option<UpperLowerFilters<'a>>,
}

/// State of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlugAndPlayStatus {
    /// Bits of the device node.
    pub status: u32,
    /// Problem code, 0 for none.
    pub problem: u32,
}

/// Drivers that filter a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperLowerFilters<'a> {
    /// Above its driver.
    pub upper: WideStrs<'a>,
    /// Below its driver.
    pub lower: WideStrs<'a>,
}

impl<'a> Payload<'a> for PlugAndPlay<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version < 4 {
            reader.skip(3 * 4, "string lengths")?;
            return Ok(Self {
                class_guid: None,
                status: None,
                device_id: reader.wide("device id")?,
                description: reader.wide("device description")?,
                friendly_name: reader.wide("friendly name")?,
                pdo_name: if version >= 3 { reader.optional(|r| r.wide("device object name")) } else { None },
                service_name: None,
                filters: None,
            });
        }
        let class_guid = Some(reader.guid("device class")?);
        let upper = reader.u32("number of upper filters")?;
        let lower = reader.u32("number of lower filters")?;
        let status = if version >= 5 {
            Some(PlugAndPlayStatus { status: reader.u32("device status")?, problem: reader.u32("device problem")? })
        } else {
            None
        };
        Ok(Self {
            class_guid,
            status,
            device_id: reader.wide("device id")?,
            description: reader.wide("device description")?,
            friendly_name: reader.wide("friendly name")?,
            pdo_name: reader.optional(|r| r.wide("device object name")),
            service_name: reader.optional(|r| r.wide("service name")),
            filters: reader.optional(|r| {
                Ok(UpperLowerFilters {
                    upper: r.wide_strings(upper, "upper filters")?,
                    lower: r.wide_strings(lower, "lower filters")?,
                })
            }),
        })
    }
}

/// SystemConfig 21: an interrupt request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irq<'a> {
    /// Mask of the CPUs that serve it.
    pub affinity: u64,
    /// Processor group of the mask. From version 3 on.
    pub group: Option<u16>,
    /// Number of the line; message-signalled ones are negative.
    pub irq: i32,
    /// Characters of the description, with its NUL.
    pub description_length: u32,
    /// The device.
    pub description: WideStr<'a>,
}

impl<'a> Payload<'a> for Irq<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let affinity = reader.u64("affinity")?;
        let group = if version >= 3 {
            let group = reader.u16("processor group")?;
            reader.skip(2, "reserved field")?;
            Some(group)
        } else {
            None
        };
        Ok(Self {
            affinity,
            group,
            irq: reader.i32("interrupt line")?,
            description_length: reader.u32("description length")?,
            description: reader.wide("description")?,
        })
    }
}

/// SystemConfig 23: a channel of an IDE controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdeChannel<'a> {
    /// Number of the device on the channel.
    pub target_id: u32,
    /// Kind of the device.
    pub device_type: u32,
    /// Timing mode.
    pub timing_mode: u32,
    /// Characters of the location.
    pub location_length: u32,
    /// Where it is.
    pub location: WideStr<'a>,
}

impl<'a> Payload<'a> for IdeChannel<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            target_id: reader.u32("target id")?,
            device_type: reader.u32("device type")?,
            timing_mode: reader.u32("timing mode")?,
            location_length: reader.u32("location length")?,
            location: reader.wide("location")?,
        })
    }
}
