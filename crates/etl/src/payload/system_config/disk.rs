//! Physical disks and what is on them.

use crate::payload::reader::Reader;
use crate::payload::text::WideStr;
use crate::payload::{Payload, PayloadError};

/// SystemConfig 11: a physical disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalDisk<'a> {
    /// Disk number, as the disk operations have it.
    pub disk_number: u32,
    /// Bytes per sector.
    pub bytes_per_sector: u32,
    /// Sectors per track.
    pub sectors_per_track: u32,
    /// Tracks per cylinder.
    pub tracks_per_cylinder: u32,
    /// Cylinders.
    pub cylinders: u64,
    /// SCSI port.
    pub scsi_port: u32,
    /// SCSI path.
    pub scsi_path: u32,
    /// SCSI target.
    pub scsi_target: u32,
    /// SCSI logical unit.
    pub scsi_lun: u32,
    /// Maker and model.
    pub manufacturer: WideStr<'a>,
    /// Partitions.
    pub partition_count: u32,
    /// Writes go to the disk's cache.
    pub write_cache_enabled: bool,
    /// Letter of the drive that the machine boots from, when it is on this disk.
    pub boot_drive_letter: WideStr<'a>,
    /// Text-sized padding behind it, empty in all known recordings.
    pub spare: WideStr<'a>,
}

impl<'a> Payload<'a> for PhysicalDisk<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let mut disk = Self {
            disk_number: reader.u32("disk number")?,
            bytes_per_sector: reader.u32("bytes per sector")?,
            sectors_per_track: reader.u32("sectors per track")?,
            tracks_per_cylinder: reader.u32("tracks per cylinder")?,
            cylinders: reader.u64("cylinders")?,
            scsi_port: reader.u32("SCSI port")?,
            scsi_path: reader.u32("SCSI path")?,
            scsi_target: reader.u32("SCSI target")?,
            scsi_lun: reader.u32("SCSI logical unit")?,
            manufacturer: reader.fixed_wide(256, "manufacturer")?,
            partition_count: reader.u32("number of partitions")?,
            write_cache_enabled: reader.u8("write-cache flag")? != 0,
            boot_drive_letter: WideStr::default(),
            spare: WideStr::default(),
        };
        reader.skip(1, "padding")?;
        disk.boot_drive_letter = reader.fixed_wide(3, "boot drive letter")?;
        disk.spare = reader.fixed_wide(2, "padding")?;
        Ok(disk)
    }
}

/// SystemConfig 12: a partition or volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalDisk<'a> {
    /// Byte offset on its disk.
    pub start_offset: u64,
    /// Bytes.
    pub partition_size: u64,
    /// Number of its disk.
    pub disk_number: u32,
    /// Size of this structure, bytes.
    pub size: u32,
    /// 1 partition, 2 volume, 4 extent of a volume.
    pub drive_type: u32,
    /// Drive letter with colon; empty when it has none.
    pub drive_letter: WideStr<'a>,
    /// Number of the partition.
    pub partition_number: u32,
    /// Sectors per cluster.
    pub sectors_per_cluster: u32,
    /// Bytes per sector.
    pub bytes_per_sector: u32,
    /// Free clusters.
    pub number_of_free_clusters: u64,
    /// Clusters.
    pub total_number_of_clusters: u64,
    /// Name of the file system.
    pub file_system: WideStr<'a>,
    /// Extents of the volume.
    pub volume_extent: u32,
}

impl<'a> Payload<'a> for LogicalDisk<'a> {
    fn read(reader: &mut Reader<'a>, _version: u8) -> Result<Self, PayloadError> {
        let start_offset = reader.u64("start offset")?;
        let partition_size = reader.u64("partition size")?;
        let disk_number = reader.u32("disk number")?;
        let size = reader.u32("structure size")?;
        let drive_type = reader.u32("drive type")?;
        let drive_letter = reader.fixed_wide(4, "drive letter")?;
        reader.skip(4, "padding")?;
        let partition_number = reader.u32("partition number")?;
        let sectors_per_cluster = reader.u32("sectors per cluster")?;
        let bytes_per_sector = reader.u32("bytes per sector")?;
        reader.skip(4, "padding")?;
        let disk = Self {
            start_offset,
            partition_size,
            disk_number,
            size,
            drive_type,
            drive_letter,
            partition_number,
            sectors_per_cluster,
            bytes_per_sector,
            number_of_free_clusters: reader.u64("free clusters")?,
            total_number_of_clusters: reader.u64("clusters")?,
            file_system: reader.fixed_wide(16, "file system")?,
            volume_extent: reader.u32("volume extents")?,
        };
        reader.skip(4, "padding")?;
        Ok(disk)
    }
}
