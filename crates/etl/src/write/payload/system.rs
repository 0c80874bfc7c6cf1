//! The machine, its disks and cards, what the merge tool adds about it, and marks.

use super::Bytes;
use crate::guid::Guid;
use crate::write::Hook;

/// Class of what the merge tool adds about the system; FULL headers.
pub const SYSTEM_CONFIG_EX_CLASS: Guid = Guid::from_u128(0x9b79_ee91_b5fd_41c0_a243_4248_e266_e9d0);

/// CPUs, memory and name of the machine, version 3.
#[derive(Clone, Copy, Debug)]
pub struct CpuConfig<'a> {
    /// Clock, MHz.
    pub mhz: u32,
    /// Logical CPUs.
    pub cpus: u32,
    /// Main memory, MiB.
    pub memory_mib: u32,
    /// Host name.
    pub computer: &'a str,
    /// Domain.
    pub domain: &'a str,
}

impl CpuConfig<'_> {
    /// CPU configuration.
    pub const HOOK: Hook = Hook::new(11, 10, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.mhz);
        out.u32(self.cpus);
        out.u32(self.memory_mib);
        out.u32(4096);
        out.u32(65_536);
        out.fixed_utf16(self.computer, 256);
        out.fixed_utf16(self.domain, 134);
        out.pointer(0); // hyper-threading
        out.pointer(0x7FFF_FFFE_FFFF); // highest user address
        out.u16(9); // x64
        out.u16(6);
        out.u16(0x9E0A);
        out.bytes(&[1, 1]); // no-execute, physical address extension
        out.u32(3200); // memory speed
    }
}

/// A disk, version 2.
#[derive(Clone, Copy, Debug)]
pub struct PhysicalDisk<'a> {
    /// Disk number.
    pub disk: u32,
    /// Cylinders of 255 tracks of 63 sectors of 512 bytes.
    pub cylinders: u64,
    /// Manufacturer and model.
    pub manufacturer: &'a str,
    /// Partitions.
    pub partitions: u32,
    /// Letter of the drive that it boots from.
    pub boot_drive: &'a str,
}

impl PhysicalDisk<'_> {
    /// Physical disk.
    pub const HOOK: Hook = Hook::new(11, 11, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        let start = out.as_slice().len();
        for value in [self.disk, 512, 63, 255] {
            out.u32(value);
        }
        out.u64(self.cylinders);
        out.zeros(16); // port, path, target, unit
        out.fixed_utf16(self.manufacturer, 256);
        out.u32(self.partitions);
        out.u16(1); // write cache on
        out.fixed_utf16(self.boot_drive, 3);
        out.pad_to(start + 568);
    }
}

/// A partition with a drive letter, version 2.
#[derive(Clone, Copy, Debug)]
pub struct LogicalDisk<'a> {
    /// First byte on the disk.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Disk number.
    pub disk: u32,
    /// Drive letter with its colon.
    pub letter: &'a str,
    /// Partition number.
    pub partition: u32,
    /// File system.
    pub file_system: &'a str,
}

impl LogicalDisk<'_> {
    /// Logical disk.
    pub const HOOK: Hook = Hook::new(11, 12, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        let start = out.as_slice().len();
        out.u64(self.offset);
        out.u64(self.size);
        out.u32(self.disk);
        out.u32(112);
        out.u32(1); // a partition
        out.fixed_utf16(self.letter, 4);
        out.zeros(4);
        out.u32(self.partition);
        out.u32(8); // sectors per cluster
        out.u32(512);
        out.zeros(4);
        out.u64(self.size / 4096 / 3);
        out.u64(self.size / 4096);
        out.fixed_utf16(self.file_system, 16);
        out.pad_to(start + 112);
    }
}

/// A network card, version 2.
#[derive(Clone, Copy, Debug)]
pub struct NetworkCard<'a> {
    /// Hardware address.
    pub mac: [u8; 6],
    /// Description.
    pub description: &'a str,
    /// Addresses, `;` separated.
    pub addresses: &'a str,
    /// DNS servers, `;` separated.
    pub dns_servers: &'a str,
}

impl NetworkCard<'_> {
    /// Network card.
    pub const HOOK: Hook = Hook::new(11, 13, 2);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.bytes(&self.mac);
        out.zeros(2);
        out.u32(self.mac.len() as u32);
        out.u32(1);
        out.u32(1);
        out.utf16(self.description);
        out.utf16(self.addresses);
        out.utf16(self.dns_servers);
    }
}

/// Build and product name: opcode 32.
#[derive(Clone, Copy, Debug)]
pub struct BuildInfo<'a> {
    /// Installation, FILETIME.
    pub install_filetime: i64,
    /// Build with its branch.
    pub build_lab: &'a str,
    /// Product.
    pub product: &'a str,
}

impl BuildInfo<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (32, 0);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.i64(self.install_filetime);
        out.utf16(self.build_lab);
        out.utf16(self.product);
    }
}

/// Where the system is installed: opcode 33.
#[derive(Clone, Copy, Debug)]
pub struct SystemPaths<'a> {
    /// `C:\Windows\system32\`.
    pub system: &'a str,
    /// `C:\Windows\`.
    pub windows: &'a str,
}

impl SystemPaths<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (33, 0);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.utf16(self.system);
        out.utf16(self.windows);
    }
}

/// The drive behind an NT device: opcode 35.
#[derive(Clone, Copy, Debug)]
pub struct VolumeMapping<'a> {
    /// `\Device\HarddiskVolume3\`.
    pub nt_prefix: &'a str,
    /// `C:\`.
    pub dos_prefix: &'a str,
}

impl VolumeMapping<'_> {
    /// Opcode and version of the FULL header.
    pub const KIND: (u8, u16) = (35, 0);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.utf16(self.nt_prefix);
        out.utf16(self.dos_prefix);
    }
}

/// A mark that somebody wrote into the recording.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    /// Text, 8 bits per character.
    pub text: &'a str,
}

impl Mark<'_> {
    /// Mark.
    pub const HOOK: Hook = Hook::new(15, 34, 0);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.text(self.text);
    }
}
