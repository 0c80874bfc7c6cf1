//! The content of each feature: tools/perf/Documentation/perf.data-file-format.txt.

use super::{ClockData, Compression, CpuCounts, Features, Group, Topology, number};
use crate::attr::SIZE_VER0;
use crate::build_id::BuildIdEntry;
use crate::cursor::{Cursor, text};
use crate::error::Malformed;
use crate::event::Described;
use crate::metadata::MAX_BUILD_IDS;
use crate::record::HEADER_LENGTH;

impl Features {
    pub(super) fn parse(&mut self, feature: u32, content: Cursor<'_>) -> Result<(), Malformed> {
        let mut content = content;
        let at = &mut content;
        let string = |at: &mut Cursor<'_>| at.header_string("text").map(|bytes| Some(text(bytes)));
        match feature {
            number::HOSTNAME => self.hostname = string(at)?,
            number::OSRELEASE => self.os_release = string(at)?,
            number::VERSION => self.perf_version = string(at)?,
            number::ARCH => self.arch = string(at)?,
            number::CPUDESC => self.cpu_description = string(at)?,
            number::CPUID => self.cpu_id = string(at)?,
            number::NRCPUS => {
                self.cpus = Some(CpuCounts { available: at.u32("CPUs available")?, online: at.u32("CPUs online")? });
            }
            number::TOTAL_MEM => self.total_memory_kib = Some(at.u64("memory")?),
            number::CMDLINE => self.command_line = strings(at)?,
            number::EVENT_DESC => self.event_description = Some(event_description(at)?),
            number::CPU_TOPOLOGY => {
                let available = self.cpus.map_or(0, |cpus| cpus.available);
                self.topology = Some(topology(at, available)?);
            }
            number::PMU_MAPPINGS => self.pmus = pmus(at)?,
            number::GROUP_DESC => self.groups = groups(at)?,
            number::SAMPLE_TIME => self.sample_times = Some((at.u64("first time")?, at.u64("last time")?)),
            number::CLOCKID => self.clock_resolution = Some(at.u64("clock resolution")?),
            number::CLOCK_DATA => {
                at.u32("version")?;
                self.clock_data = Some(ClockData {
                    clock_id: at.u32("clock")?,
                    wall_ns: at.u64("wall time")?,
                    clock_ns: at.u64("clock time")?,
                });
            }
            number::COMPRESSED => {
                at.u32("version")?;
                self.compression = Some(Compression {
                    method: at.u32("method")?,
                    level: at.u32("level")?,
                    ratio: at.u32("ratio")?,
                    buffer: at.u32("buffer size")?,
                });
            }
            number::HYBRID_TOPOLOGY => self.core_types = core_types(at)?,
            number::BUILD_ID => build_ids(at, &mut self.build_ids)?,
            _ => {}
        }
        Ok(())
    }
}

/// Entries of a list, other than of build ids, that are believed.
const MAX_ENTRIES: u32 = 1 << 16;

/// The number of entries of a list.
fn entries(at: &mut Cursor<'_>, what: &'static str) -> Result<u32, Malformed> {
    at.u32(what).ok().filter(|&count| count <= MAX_ENTRIES).ok_or(Malformed { missing: what })
}

/// A count, and so many texts.
fn strings(at: &mut Cursor<'_>) -> Result<Vec<String>, Malformed> {
    let count = entries(at, "number of texts")?;
    (0..count).map(|_| at.header_string("text").map(text)).collect()
}

/// Attributes again, with ids and names.
fn event_description(at: &mut Cursor<'_>) -> Result<Vec<Described>, Malformed> {
    let count = entries(at, "number of events")?;
    let attr_size = at.u32("attribute size")?;
    if (attr_size as usize) < SIZE_VER0 {
        return Err(Malformed { missing: "attribute" });
    }
    let mut described = Vec::new();
    for _ in 0..count {
        at.take_u64(attr_size.into(), "attribute")?;
        let ids = at.u32("number of ids")?;
        let name = text(at.header_string("event name")?);
        let mut ids = Cursor::new(at.take_u64(u64::from(ids) * 8, "ids")?, at.endian());
        let ids = std::iter::from_fn(|| ids.u64("id").ok()).collect();
        described.push(Described { ids, name });
    }
    Ok(described)
}

fn topology(at: &mut Cursor<'_>, available: u32) -> Result<Topology, Malformed> {
    let packages = strings(at)?;
    let cores = strings(at)?;
    let mut cpus = Vec::new();
    for _ in 0..available {
        if at.is_empty() {
            break;
        }
        cpus.push((at.i32("core")?, at.i32("package")?));
    }
    Ok(Topology { packages, cores, cpus })
}

fn pmus(at: &mut Cursor<'_>) -> Result<Vec<(u32, String)>, Malformed> {
    let count = entries(at, "number of PMUs")?;
    (0..count).map(|_| Ok((at.u32("PMU type")?, text(at.header_string("PMU name")?)))).collect()
}

fn core_types(at: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Malformed> {
    let count = entries(at, "number of kinds of cores")?;
    (0..count).map(|_| Ok((text(at.header_string("PMU name")?), text(at.header_string("list of CPUs")?)))).collect()
}

fn groups(at: &mut Cursor<'_>) -> Result<Vec<Group>, Malformed> {
    let count = entries(at, "number of groups")?;
    (0..count)
        .map(|_| {
            let name = text(at.header_string("group name")?);
            Ok(Group { name, leader: at.u32("leader")?, members: at.u32("members")? })
        })
        .collect()
}

/// Records with headers of their own. Some writers left the size's last bytes of padding out, so the list ends with its bytes.
fn build_ids(at: &mut Cursor<'_>, into: &mut Vec<BuildIdEntry>) -> Result<(), Malformed> {
    while !at.is_empty() && into.len() < MAX_BUILD_IDS {
        at.u32("record type")?;
        let misc = at.u16("misc")?;
        let size = at.u16("size")?;
        let length = usize::from(size).saturating_sub(HEADER_LENGTH);
        let mut fields = Cursor::new(at.take(length, "build id")?, at.endian());
        into.push(BuildIdEntry::parse(&mut fields, misc)?);
    }
    Ok(())
}
