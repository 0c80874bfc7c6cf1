//! Class EventTrace: what the session says about itself. The logfile header (opcode 0) belongs to the container.

use super::array::Items;
use super::reader::Reader;
use super::text::WideStr;
use super::{Payload, PayloadError};
use crate::guid::Guid;

/// EventTrace 5 (start) and 32 (end of the session): which kernel events were on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderExtension {
    /// Groups of kernel events. Bits 29 to 31 of a PERF_ flag are the index here, its other bits are those of the word.
    pub group_masks: [u32; 8],
    /// Version of the kernel's event layouts.
    pub kernel_event_version: u32,
}

impl HeaderExtension {
    /// Opcode: as it was at the start.
    pub const START: u8 = 5;
    /// Opcode: as it was at the end.
    pub const END: u8 = 32;
}

impl<'a> Payload<'a> for HeaderExtension {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let mut group_masks = [0; 8];
        for mask in &mut group_masks {
            *mask = reader.u32("group mask")?;
        }
        Ok(Self { group_masks, kernel_event_version: reader.u32("kernel event version")? })
    }
}

/// Microsoft-Windows-Kernel-EventTracing 14, from version 1 on: a session enabled a provider.
///
/// Version 0 does not tell the keywords and the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderEnabled<'a> {
    /// The provider.
    pub provider: Guid,
    /// The session.
    pub session: WideStr<'a>,
    /// Events with any of these keywords; 0 is all events.
    pub any_keyword: u64,
    /// Events with all of these keywords.
    pub all_keywords: u64,
    /// What else was asked for.
    pub properties: u32,
    /// Events up to this level; 0 is all levels.
    pub level: u8,
}

impl ProviderEnabled<'_> {
    /// Event id.
    pub const ID: u16 = 14;

    /// Whether the session gets each event of the provider that has one of the keywords, up to a level. All events: `u64::MAX`, 5.
    #[must_use]
    pub fn has(&self, keywords: u64, level: u8) -> bool {
        let has_keywords = self.any_keyword == 0 || self.any_keyword & keywords == keywords;
        has_keywords && self.all_keywords == 0 && (self.level == 0 || self.level >= level)
    }
}

impl<'a> Payload<'a> for ProviderEnabled<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            provider: reader.guid("provider")?,
            session: reader.wide("session")?,
            any_keyword: reader.u64("any keyword")?,
            all_keywords: reader.u64("all keywords")?,
            properties: reader.u32("properties")?,
            level: reader.u8("level")?,
        })
    }
}

/// EventTrace 66: the build of Windows.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildLab<'a> {
    /// Build, architecture, branch and date.
    pub text: WideStr<'a>,
}

impl BuildLab<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 66;
}

impl<'a> Payload<'a> for BuildLab<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        Ok(Self { text: reader.wide("build lab")? })
    }
}

/// EventTrace 80: the machine (host, virtual machine, container) that a merged part was recorded in.
///
/// Decoded, not used by tracesift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionInfo<'a> {
    /// Version of the structure; not that of the header.
    pub event_version: u16,
    /// Nothing known.
    pub reserved: u16,
    /// Kind of the partition; 0 is the machine itself.
    pub partition_type: u32,
    /// Clock ticks to add when recordings of several machines are merged.
    pub qpc_offset_from_root: i64,
    /// The partition and the one that it runs in.
    pub identity: PartitionIdentity<'a>,
}

/// How a partition is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionIdentity<'a> {
    /// By GUIDs: structure version 0.
    Guids {
        /// The partition.
        partition: Guid,
        /// Its parent.
        parent: Guid,
    },
    /// By text: structure version 2.
    Texts {
        /// The partition.
        partition: WideStr<'a>,
        /// Its parent.
        parent: WideStr<'a>,
    },
    /// In a way that is not known.
    Unknown,
}

impl PartitionInfo<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 80;
}

impl<'a> Payload<'a> for PartitionInfo<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let event_version = reader.u16("partition version")?;
        let reserved = reader.u16("reserved field")?;
        let partition_type = reader.u32("partition type")?;
        let qpc_offset_from_root = reader.i64("clock offset")?;
        let identity = match event_version {
            0 => PartitionIdentity::Guids {
                partition: reader.guid("partition id")?,
                parent: reader.guid("parent partition id")?,
            },
            2 => PartitionIdentity::Texts {
                partition: reader.wide("partition id")?,
                parent: reader.wide("parent partition id")?,
            },
            _ => PartitionIdentity::Unknown,
        };
        Ok(Self { event_version, reserved, partition_type, qpc_offset_from_root, identity })
    }
}

/// EventTrace 82: when each CPU last dropped a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastDroppedTimes<'a> {
    /// One time per CPU, in the session's clock; 0: it never dropped one.
    pub times: Items<'a, u64>,
}

impl LastDroppedTimes<'_> {
    /// Opcode.
    pub const OPCODE: u8 = 82;
}

impl<'a> Payload<'a> for LastDroppedTimes<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let count = reader.u32("number of processors")?;
        reader.skip(4, "padding")?;
        Ok(Self { times: reader.items(count, "times of last drops")? })
    }
}
