//! Class SystemConfig: the machine that was recorded. Process and thread of these headers mean nothing, and a merged
//! recording has the records once per part.

mod cpu;
mod device;
mod disk;
mod network;
mod platform;
mod service;

pub use cpu::{Cpu, GroupAffinity, NumaNodes, Processor, ProcessorGroups, ProcessorNumber, ProcessorNumbers};
pub use device::{IdeChannel, Irq, PlugAndPlay, PlugAndPlayStatus, UpperLowerFilters};
pub use disk::{LogicalDisk, PhysicalDisk};
pub use network::{NetworkAdapter, NetworkAddresses};
pub use platform::{Boot, DeviceFamily, Dpi, FlightIds, MachineId, Platform, Power, Virtualization};
pub use service::Service;

use super::PayloadError;
use super::reader::Reader;

/// Any record of the class. What nothing here needs stays raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemConfig<'a> {
    /// Opcode 10.
    Cpu(Cpu<'a>),
    /// Opcode 11.
    PhysicalDisk(PhysicalDisk<'a>),
    /// Opcode 12.
    LogicalDisk(LogicalDisk<'a>),
    /// Opcode 13.
    NetworkAdapter(NetworkAdapter<'a>),
    /// Opcode 15.
    Service(Service<'a>),
    /// Opcode 16.
    Power(Power),
    /// Opcode 21.
    Irq(Irq<'a>),
    /// Opcode 22.
    PlugAndPlay(PlugAndPlay<'a>),
    /// Opcode 23.
    IdeChannel(IdeChannel<'a>),
    /// Opcode 24.
    NumaNodes(NumaNodes<'a>),
    /// Opcode 25.
    Platform(Platform<'a>),
    /// Opcode 26.
    ProcessorGroups(ProcessorGroups<'a>),
    /// Opcode 27.
    ProcessorNumbers(ProcessorNumbers<'a>),
    /// Opcode 28.
    Dpi(Dpi),
    /// Opcode 30.
    MachineId(MachineId),
    /// Opcode 33.
    DeviceFamily(DeviceFamily),
    /// Opcode 34.
    FlightIds(FlightIds<'a>),
    /// Opcode 35.
    Processor(Processor<'a>),
    /// Opcode 36.
    Virtualization(Virtualization),
    /// Opcode 37.
    Boot(Boot),
    /// Any other opcode.
    Raw {
        /// The opcode.
        opcode: u8,
        /// The payload.
        payload: &'a [u8],
    },
}

impl<'a> SystemConfig<'a> {
    /// Opcode of [`Cpu`].
    pub const CPU: u8 = 10;
    /// Opcode of [`PhysicalDisk`].
    pub const PHYSICAL_DISK: u8 = 11;
    /// Opcode of [`LogicalDisk`].
    pub const LOGICAL_DISK: u8 = 12;
    /// Opcode of [`NetworkAdapter`].
    pub const NETWORK_ADAPTER: u8 = 13;
    /// Opcode of [`Service`].
    pub const SERVICE: u8 = 15;
    /// Opcode of [`Power`].
    pub const POWER: u8 = 16;
    /// Opcode of [`Irq`].
    pub const IRQ: u8 = 21;
    /// Opcode of [`PlugAndPlay`].
    pub const PLUG_AND_PLAY: u8 = 22;
    /// Opcode of [`IdeChannel`].
    pub const IDE_CHANNEL: u8 = 23;
    /// Opcode of [`NumaNodes`].
    pub const NUMA_NODES: u8 = 24;
    /// Opcode of [`Platform`].
    pub const PLATFORM: u8 = 25;
    /// Opcode of [`ProcessorGroups`].
    pub const PROCESSOR_GROUPS: u8 = 26;
    /// Opcode of [`ProcessorNumbers`].
    pub const PROCESSOR_NUMBERS: u8 = 27;
    /// Opcode of [`Dpi`].
    pub const DPI: u8 = 28;
    /// Opcode of [`MachineId`].
    pub const MACHINE_ID: u8 = 30;
    /// Opcode of [`DeviceFamily`].
    pub const DEVICE_FAMILY: u8 = 33;
    /// Opcode of [`FlightIds`].
    pub const FLIGHT_IDS: u8 = 34;
    /// Opcode of [`Processor`].
    pub const PROCESSOR: u8 = 35;
    /// Opcode of [`Virtualization`].
    pub const VIRTUALIZATION: u8 = 36;
    /// Opcode of [`Boot`].
    pub const BOOT: u8 = 37;

    /// Decodes a record of the class by its opcode.
    ///
    /// # Errors
    /// As [`Payload::parse`](super::Payload::parse).
    pub fn parse(payload: &'a [u8], opcode: u8, version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        let reader = &mut Reader::new(payload, pointer_size);
        Ok(match opcode {
            Self::CPU => Self::Cpu(reader.nested(version)?),
            Self::PHYSICAL_DISK => Self::PhysicalDisk(reader.nested(version)?),
            Self::LOGICAL_DISK => Self::LogicalDisk(reader.nested(version)?),
            Self::NETWORK_ADAPTER => Self::NetworkAdapter(reader.nested(version)?),
            Self::SERVICE => Self::Service(reader.nested(version)?),
            Self::POWER => Self::Power(reader.nested(version)?),
            Self::IRQ => Self::Irq(reader.nested(version)?),
            Self::PLUG_AND_PLAY => Self::PlugAndPlay(reader.nested(version)?),
            Self::IDE_CHANNEL => Self::IdeChannel(reader.nested(version)?),
            Self::NUMA_NODES => Self::NumaNodes(reader.nested(version)?),
            Self::PLATFORM => Self::Platform(reader.nested(version)?),
            Self::PROCESSOR_GROUPS => Self::ProcessorGroups(reader.nested(version)?),
            Self::PROCESSOR_NUMBERS => Self::ProcessorNumbers(reader.nested(version)?),
            Self::DPI => Self::Dpi(reader.nested(version)?),
            Self::MACHINE_ID => Self::MachineId(reader.nested(version)?),
            Self::DEVICE_FAMILY => Self::DeviceFamily(reader.nested(version)?),
            Self::FLIGHT_IDS => Self::FlightIds(reader.nested(version)?),
            Self::PROCESSOR => Self::Processor(reader.nested(version)?),
            Self::VIRTUALIZATION => Self::Virtualization(reader.nested(version)?),
            Self::BOOT => Self::Boot(reader.nested(version)?),
            _ => Self::Raw { opcode, payload },
        })
    }
}
