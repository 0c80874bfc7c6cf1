//! Class SystemConfigEx: what the merge tool adds about the machine. Always with FULL headers.

use super::reader::Reader;
use super::system_config::DeviceFamily;
use super::text::WideStr;
use super::{Payload, PayloadError};

/// Any record of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemConfigEx<'a> {
    /// Opcode 32.
    BuildInfo(BuildInfo<'a>),
    /// Opcode 33.
    SystemPaths(SystemPaths<'a>),
    /// Opcode 34.
    UnknownVolume(UnknownVolume<'a>),
    /// Opcode 35.
    VolumeMapping(VolumeMapping<'a>),
    /// Opcode 36: a network interface, layout not known.
    NetworkInterface(&'a [u8]),
    /// Opcode 37.
    DeviceFamily(DeviceFamily),
}

impl<'a> SystemConfigEx<'a> {
    /// Opcode of [`BuildInfo`].
    pub const BUILD_INFO: u8 = 32;
    /// Opcode of [`SystemPaths`].
    pub const SYSTEM_PATHS: u8 = 33;
    /// Opcode of [`UnknownVolume`].
    pub const UNKNOWN_VOLUME: u8 = 34;
    /// Opcode of [`VolumeMapping`].
    pub const VOLUME_MAPPING: u8 = 35;
    /// Opcode of a network interface.
    pub const NETWORK_INTERFACE: u8 = 36;
    /// Opcode of [`DeviceFamily`].
    pub const DEVICE_FAMILY: u8 = 37;

    /// Decodes a record of the class by its opcode.
    ///
    /// # Errors
    /// As [`Payload::parse`]; and an opcode outside of those above.
    pub fn parse(payload: &'a [u8], opcode: u8, version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        let reader = &mut Reader::new(payload, pointer_size);
        Ok(match opcode {
            Self::BUILD_INFO => Self::BuildInfo(reader.nested(version)?),
            Self::SYSTEM_PATHS => Self::SystemPaths(reader.nested(version)?),
            Self::UNKNOWN_VOLUME => Self::UnknownVolume(reader.nested(version)?),
            Self::VOLUME_MAPPING => Self::VolumeMapping(reader.nested(version)?),
            Self::NETWORK_INTERFACE => Self::NetworkInterface(payload),
            Self::DEVICE_FAMILY => Self::DeviceFamily(reader.nested(version)?),
            _ => return Err(PayloadError::UnknownOpcode { what: "SystemConfigEx", opcode }),
        })
    }
}

/// SystemConfigEx 32: the installed Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildInfo<'a> {
    /// When it was installed, FILETIME.
    pub install_date: u64,
    /// Build, architecture, branch and date.
    pub build_lab: WideStr<'a>,
    /// Product name (`Windows Server 2022 Datacenter`).
    pub product_name: WideStr<'a>,
}

impl<'a> Payload<'a> for BuildInfo<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            install_date: reader.u64("install date")?,
            build_lab: reader.wide("build lab")?,
            product_name: reader.wide("product name")?,
        })
    }
}

/// SystemConfigEx 33: where Windows lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemPaths<'a> {
    /// `C:\Windows\system32`.
    pub system_directory: WideStr<'a>,
    /// What `\SystemRoot\` stands for: `C:\Windows\`.
    pub windows_directory: WideStr<'a>,
}

impl<'a> Payload<'a> for SystemPaths<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            system_directory: reader.wide("system directory")?,
            windows_directory: reader.wide("Windows directory")?,
        })
    }
}

/// SystemConfigEx 34: a volume for which the merge tool found no drive letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownVolume<'a> {
    /// Prefix of kernel paths.
    pub nt_path: WideStr<'a>,
}

impl<'a> Payload<'a> for UnknownVolume<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { nt_path: reader.wide("NT path")? })
    }
}

/// SystemConfigEx 35: how kernel paths become paths with drive letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeMapping<'a> {
    /// Prefix of kernel paths (`\Device\HarddiskVolume2\`).
    pub nt_path: WideStr<'a>,
    /// What replaces it (`C:\`); empty where the prefix just goes.
    pub dos_path: WideStr<'a>,
}

impl<'a> Payload<'a> for VolumeMapping<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { nt_path: reader.wide("NT path")?, dos_path: reader.wide("DOS path")? })
    }
}
