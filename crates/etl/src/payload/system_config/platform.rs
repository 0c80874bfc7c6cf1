//! The machine as a product, and how Windows is set up on it.

use crate::guid::Guid;
use crate::payload::reader::Reader;
use crate::payload::text::WideStr;
use crate::payload::{Payload, PayloadError};

/// SystemConfig 25: maker, model and firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform<'a> {
    /// Maker.
    pub manufacturer: WideStr<'a>,
    /// Model.
    pub product: WideStr<'a>,
    /// Date of the firmware.
    pub bios_date: WideStr<'a>,
    /// Version of the firmware.
    pub bios_version: WideStr<'a>,
}

impl<'a> Payload<'a> for Platform<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            manufacturer: reader.wide("manufacturer")?,
            product: reader.wide("product name")?,
            bios_date: reader.wide("firmware date")?,
            bios_version: reader.wide("firmware version")?,
        })
    }
}

/// SystemConfig 16: sleep states that the machine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Power {
    /// S1 to S5.
    pub sleep_states: [bool; 5],
    /// Always on, always connected (modern standby).
    pub always_on: bool,
}

impl<'a> Payload<'a> for Power {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let [s1, s2, s3, s4, s5, always_on, _, _] = *reader.block("sleep states")?;
        Ok(Self { sleep_states: [s1, s2, s3, s4, s5].map(|flag: u8| flag != 0), always_on: always_on != 0 })
    }
}

/// SystemConfig 28: resolution of the screen, dots per inch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dpi {
    /// Of the machine.
    pub machine: u32,
    /// Of the user.
    pub user: u32,
}

impl<'a> Payload<'a> for Dpi {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { machine: reader.u32("machine DPI")?, user: reader.u32("user DPI")? })
    }
}

/// SystemConfig 30: identity of the Windows installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineId {
    /// The identity.
    pub guid: Guid,
}

impl<'a> Payload<'a> for MachineId {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { guid: reader.guid("machine id")? })
    }
}

/// SystemConfig 33, and SystemConfigEx 37: family of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFamily {
    /// Version of the app platform: four 16-bit numbers, the highest first.
    pub uap_version: u64,
    /// Family: 3 desktop, 9 server.
    pub family: u32,
    /// Form of the device.
    pub form: u32,
}

impl<'a> Payload<'a> for DeviceFamily {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            uap_version: reader.u64("app platform version")?,
            family: reader.u32("device family")?,
            form: reader.u32("device form")?,
        })
    }
}

/// SystemConfig 34: experiments that Windows takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlightIds<'a> {
    /// Of the update service.
    pub update: WideStr<'a>,
    /// Of features.
    pub features: WideStr<'a>,
}

impl<'a> Payload<'a> for FlightIds<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { update: reader.wide("update flight ids")?, features: reader.wide("feature flight ids")? })
    }
}

/// SystemConfig 36: virtualisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Virtualization {
    /// Flags, as stored.
    pub flags: [u8; 4],
}

impl<'a> Payload<'a> for Virtualization {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { flags: *reader.block("virtualisation flags")? })
    }
}

/// SystemConfig 37: how the machine booted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Bits of the boot.
    pub flags: u64,
    /// 1 BIOS, 2 UEFI.
    pub firmware_type: u32,
    /// Secure boot is on.
    pub secure_boot_enabled: bool,
    /// Secure boot is possible.
    pub secure_boot_capable: bool,
}

impl<'a> Payload<'a> for Boot {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let flags = reader.u64("boot flags")?;
        let firmware_type = reader.u32("firmware type")?;
        let [enabled, capable, _, _] = *reader.block("secure-boot flags")?;
        Ok(Self { flags, firmware_type, secure_boot_enabled: enabled != 0, secure_boot_capable: capable != 0 })
    }
}
