//! Processors and memory.

use crate::payload::array::{Addresses, Item, Items};
use crate::payload::reader::Reader;
use crate::payload::text::WideStr;
use crate::payload::{Payload, PayloadError};

/// SystemConfig 10: processors, memory and names of the machine; versions 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu<'a> {
    /// Nominal clock rate.
    pub mhz: u32,
    /// Logical processors.
    pub number_of_processors: u32,
    /// Memory, MiB.
    pub memory_mib: u32,
    /// Size of a page, bytes.
    pub page_size: u32,
    /// Granularity of address-space allocations, bytes.
    pub allocation_granularity: u32,
    /// Name of the computer.
    pub computer_name: WideStr<'a>,
    /// Name of its domain.
    pub domain_name: WideStr<'a>,
    /// Mask of the processors with hyper-threading.
    pub hyper_threading_flag: Option<u64>,
    /// Highest address of a program. From version 3 on.
    pub highest_user_address: Option<u64>,
    /// Processor architecture: 0 x86, 5 ARM, 9 x64, 12 ARM64. From version 3 on.
    pub processor_architecture: Option<u16>,
    /// Processor family. From version 3 on.
    pub processor_level: Option<u16>,
    /// Model in the high byte, stepping in the low one. From version 3 on.
    pub processor_revision: Option<u16>,
    /// Data pages are not executable. From version 3 on.
    pub nx_enabled: Option<bool>,
    /// Physical addresses are extended. From version 3 on.
    pub pae_enabled: Option<bool>,
    /// Memory clock, MHz. From version 3 on.
    pub memory_speed: Option<u32>,
}

impl<'a> Payload<'a> for Cpu<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        let domain_units = if version >= 2 { 134 } else { 132 };
        let mut cpu = Self {
            mhz: reader.u32("clock rate")?,
            number_of_processors: reader.u32("number of processors")?,
            memory_mib: reader.u32("memory size")?,
            page_size: reader.u32("page size")?,
            allocation_granularity: reader.u32("allocation granularity")?,
            computer_name: reader.fixed_wide(256, "computer name")?,
            domain_name: reader.fixed_wide(domain_units, "domain name")?,
            hyper_threading_flag: reader.optional(|r| r.pointer("hyper-threading flag")),
            highest_user_address: None,
            processor_architecture: None,
            processor_level: None,
            processor_revision: None,
            nx_enabled: None,
            pae_enabled: None,
            memory_speed: None,
        };
        if version >= 3 {
            cpu.highest_user_address = reader.optional(|r| r.pointer("highest user address"));
            cpu.processor_architecture = reader.optional(|r| r.u16("processor architecture"));
            cpu.processor_level = reader.optional(|r| r.u16("processor level"));
            cpu.processor_revision = reader.optional(|r| r.u16("processor revision"));
            cpu.nx_enabled = reader.optional(|r| r.u8("NX flag")).map(|flag| flag != 0);
            cpu.pae_enabled = reader.optional(|r| r.u8("PAE flag")).map(|flag| flag != 0);
            cpu.memory_speed = reader.optional(|r| r.u32("memory speed"));
        }
        Ok(cpu)
    }
}

/// SystemConfig 35: one logical processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor<'a> {
    /// Number of the processor.
    pub index: u32,
    /// Bits of processor features.
    pub feature_set: u32,
    /// Nominal clock rate, MHz.
    pub speed_mhz: u32,
    /// Name of the processor.
    pub name: WideStr<'a>,
    /// Family, model and stepping in words.
    pub identifier: WideStr<'a>,
    /// Maker (`GenuineIntel`).
    pub vendor: WideStr<'a>,
}

impl<'a> Payload<'a> for Processor<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            index: reader.u32("processor index")?,
            feature_set: reader.u32("feature set")?,
            speed_mhz: reader.u32("clock rate")?,
            name: reader.fixed_wide(64, "processor name")?,
            identifier: reader.fixed_wide(128, "processor identifier")?,
            vendor: reader.fixed_wide(16, "processor vendor")?,
        })
    }
}

/// SystemConfig 24: the processors of each NUMA node, in the order of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaNodes<'a> {
    /// The nodes.
    pub nodes: Items<'a, GroupAffinity>,
}

impl<'a> Payload<'a> for NumaNodes<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let count = reader.u32("number of NUMA nodes")?;
        Ok(Self { nodes: reader.items(count, "NUMA nodes")? })
    }
}

/// Processors of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupAffinity {
    /// Mask of the processors.
    pub mask: u64,
    /// Processor group.
    pub group: u16,
}

impl Item for GroupAffinity {
    const SIZE: usize = 16;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (mask, rest) = bytes.split_first_chunk()?;
        Some(Self { mask: u64::from_le_bytes(*mask), group: u16::from_le_bytes(*rest.first_chunk()?) })
    }
}

/// SystemConfig 26: the processor groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorGroups<'a> {
    /// Mask of the active processors of each group.
    pub active_masks: Addresses<'a>,
}

impl<'a> Payload<'a> for ProcessorGroups<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let count = reader.u32("number of processor groups")?;
        Ok(Self { active_masks: reader.addresses(count, "masks of processor groups")? })
    }
}

/// SystemConfig 27: group and number of each processor, in the order of the CPU indexes that buffers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorNumbers<'a> {
    /// The processors.
    pub processors: Items<'a, ProcessorNumber>,
}

impl<'a> Payload<'a> for ProcessorNumbers<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let count = reader.u32("number of processors")?;
        Ok(Self { processors: reader.items(count, "processor numbers")? })
    }
}

/// A processor by group and number inside the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorNumber {
    /// Processor group.
    pub group: u16,
    /// Number inside the group.
    pub number: u8,
}

impl Item for ProcessorNumber {
    const SIZE: usize = 4;

    fn decode(bytes: &[u8]) -> Option<Self> {
        let [low, high, number, _] = *bytes.first_chunk()?;
        Some(Self { group: u16::from_le_bytes([low, high]), number })
    }
}
