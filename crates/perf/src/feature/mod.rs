//! Features of the header: what the recorder tells of the machine and of itself (`HEADER_*` in tools/perf/util/header.h).

mod parse;

use crate::build_id::BuildIdEntry;
use crate::cursor::Cursor;
use crate::damage::{DamageLog, kind};
use crate::event::Described;

/// Numbers of features.
pub(crate) mod number {
    pub(crate) const TRACING_DATA: u32 = 1;
    pub(crate) const BUILD_ID: u32 = 2;
    pub(crate) const HOSTNAME: u32 = 3;
    pub(crate) const OSRELEASE: u32 = 4;
    pub(crate) const VERSION: u32 = 5;
    pub(crate) const ARCH: u32 = 6;
    pub(crate) const NRCPUS: u32 = 7;
    pub(crate) const CPUDESC: u32 = 8;
    pub(crate) const CPUID: u32 = 9;
    pub(crate) const TOTAL_MEM: u32 = 10;
    pub(crate) const CMDLINE: u32 = 11;
    pub(crate) const EVENT_DESC: u32 = 12;
    pub(crate) const CPU_TOPOLOGY: u32 = 13;
    pub(crate) const PMU_MAPPINGS: u32 = 16;
    pub(crate) const GROUP_DESC: u32 = 17;
    pub(crate) const SAMPLE_TIME: u32 = 21;
    pub(crate) const CLOCKID: u32 = 23;
    pub(crate) const COMPRESSED: u32 = 27;
    pub(crate) const CLOCK_DATA: u32 = 29;
    pub(crate) const HYBRID_TOPOLOGY: u32 = 30;
}

/// The words of the field for features, by number.
const NAMES: [&str; 34] = [
    "RESERVED",
    "TRACING_DATA",
    "BUILD_ID",
    "HOSTNAME",
    "OSRELEASE",
    "VERSION",
    "ARCH",
    "NRCPUS",
    "CPUDESC",
    "CPUID",
    "TOTAL_MEM",
    "CMDLINE",
    "EVENT_DESC",
    "CPU_TOPOLOGY",
    "NUMA_TOPOLOGY",
    "BRANCH_STACK",
    "PMU_MAPPINGS",
    "GROUP_DESC",
    "AUXTRACE",
    "STAT",
    "CACHE",
    "SAMPLE_TIME",
    "MEM_TOPOLOGY",
    "CLOCKID",
    "DIR_FORMAT",
    "BPF_PROG_INFO",
    "BPF_BTF",
    "COMPRESSED",
    "CPU_PMU_CAPS",
    "CLOCK_DATA",
    "HYBRID_TOPOLOGY",
    "PMU_CAPS",
    "CPU_DOMAIN_INFO",
    "E_MACHINE",
];

/// The field's word for a feature.
#[must_use]
pub fn name(feature: u32) -> Option<&'static str> {
    NAMES.get(feature as usize).copied()
}

/// What the recorder told; `None` or empty where it did not.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// Name of the machine.
    pub hostname: Option<String>,
    /// Release of the kernel.
    pub os_release: Option<String>,
    /// Version of perf.
    pub perf_version: Option<String>,
    /// Architecture, in uname's words.
    pub arch: Option<String>,
    /// CPUs that the machine has, and that were online.
    pub cpus: Option<CpuCounts>,
    /// The processor's name.
    pub cpu_description: Option<String>,
    /// The processor's identity: vendor, family, model, stepping.
    pub cpu_id: Option<String>,
    /// Memory in KiB.
    pub total_memory_kib: Option<u64>,
    /// perf's own command line.
    pub command_line: Vec<String>,
    /// Cores, packages and where CPUs are.
    pub topology: Option<Topology>,
    /// Groups of events.
    pub groups: Vec<Group>,
    /// Names of PMUs by the type number of their events.
    pub pmus: Vec<(u32, String)>,
    /// Names of the PMUs of each kind of core, and the CPUs that are of it, as lists such as `0-15,18`: of processors with several kinds.
    pub core_types: Vec<(String, String)>,
    /// First and last time of a sample in ns of the recording's clock.
    pub sample_times: Option<(u64, u64)>,
    /// Resolution in ns of the clock that `--clockid` chose.
    pub clock_resolution: Option<u64>,
    /// A moment in the recording's clock and in wall time.
    pub clock_data: Option<ClockData>,
    /// How records were compressed.
    pub compression: Option<Compression>,
    /// Files with samples and their identities.
    pub build_ids: Vec<BuildIdEntry>,
    /// Numbers of all features that were there, in their order.
    pub present: Vec<u32>,
    pub(crate) event_description: Option<Vec<Described>>,
}

/// Numbers of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuCounts {
    /// That the machine has.
    pub available: u32,
    /// That were online.
    pub online: u32,
}

/// Where CPUs are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// CPUs of each package, as lists such as `0-3,8`.
    pub packages: Vec<String>,
    /// CPUs of each core.
    pub cores: Vec<String>,
    /// Core and package of each CPU in order; not from writers before Linux 4.
    pub cpus: Vec<(i32, i32)>,
}

/// A group of events that were counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Index of its first event.
    pub leader: u32,
    /// Events in it.
    pub members: u32,
}

/// One moment in two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockData {
    /// The recording's clock, as in clock_gettime.
    pub clock_id: u32,
    /// ns since 1970 in UTC.
    pub wall_ns: u64,
    /// ns of the recording's clock.
    pub clock_ns: u64,
}

/// How records were compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// 1: zstd.
    pub method: u32,
    /// Level.
    pub level: u32,
    /// How much smaller it became, as the recorder found.
    pub ratio: u32,
    /// Bytes of the recorder's buffer per CPU.
    pub buffer: u32,
}

/// Whether the content of a feature is kept; others may be large and are not even read.
pub(crate) fn is_read(feature: u32) -> bool {
    use number::{CLOCK_DATA, CLOCKID, COMPRESSED, GROUP_DESC, HYBRID_TOPOLOGY, PMU_MAPPINGS, SAMPLE_TIME};
    let others = [PMU_MAPPINGS, GROUP_DESC, SAMPLE_TIME, CLOCKID, COMPRESSED, CLOCK_DATA, HYBRID_TOPOLOGY];
    (number::BUILD_ID..=number::CPU_TOPOLOGY).contains(&feature) || others.contains(&feature)
}

impl Features {
    /// Bytes of a pointer, as the architecture has them; `None` for one that is not known here.
    #[must_use]
    pub fn pointer_size(&self) -> Option<u8> {
        let arch = self.arch.as_deref()?;
        // What a 32-bit program is told on a 64-bit ARM.
        let is_compatible = arch.starts_with("armv8");
        let families = ["i386", "i486", "i586", "i686", "arm", "mips", "ppc", "riscv32", "s390", "sparc", "parisc"];
        match arch {
            "s390x" | "alpha" => Some(8),
            _ if arch.contains("64") && !is_compatible => Some(8),
            _ if families.iter().any(|family| arch.starts_with(family)) => Some(4),
            _ => None,
        }
    }

    /// Notes that a feature is there.
    pub(crate) fn note(&mut self, feature: u32) {
        if !self.present.contains(&feature) && self.present.len() < 256 {
            self.present.push(feature);
        }
    }

    /// Takes the content of a feature; unknown ones are noted and left alone.
    pub(crate) fn set(&mut self, feature: u32, content: Cursor<'_>, offset: u64, damage: &mut DamageLog) {
        self.note(feature);
        if let Err(error) = self.parse(feature, content) {
            let name = name(feature).unwrap_or("unknown");
            damage.add(kind::BAD_FEATURE, offset, || format!("{name}: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Features;

    #[test]
    fn sizes_of_pointers() {
        let size = |arch: &str| Features { arch: Some(arch.to_owned()), ..Features::default() }.pointer_size();
        for arch in ["x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "mips64", "loongarch64"] {
            assert_eq!(size(arch), Some(8), "{arch}");
        }
        for arch in ["i686", "armv7l", "armv8l", "ppc", "s390", "mips"] {
            assert_eq!(size(arch), Some(4), "{arch}");
        }
        assert_eq!(size("vax"), None);
    }
}
