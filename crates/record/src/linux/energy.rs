//! Counters of energy of the processor (RAPL), which the kernel shows as zones of powercap.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::facts::{EnergyCounter, EnergyReading};

/// Zones that are read. Zones of other drivers show the same counters again.
const ZONE: &str = "intel-rapl:";
/// Counters that are read at most.
const MOST: usize = 256;

/// Whether counters can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// They can be read.
    Readable,
    /// They are there, but not for this user.
    Forbidden,
    /// There are none, as in most virtual machines.
    #[default]
    Missing,
}

impl Access {
    /// Looks below the root of sysfs.
    #[must_use]
    pub fn below(sysfs: &Path) -> Self {
        let zones = zones(sysfs);
        match zones.values().any(|zone| value(zone).is_some()) {
            true => Self::Readable,
            false if zones.is_empty() => Self::Missing,
            false => Self::Forbidden,
        }
    }
}

/// The counters of a machine.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) counters: Vec<EnergyCounter>,
    zones: Vec<PathBuf>,
}

impl Counters {
    /// Those below the root of sysfs that can be read; `None`: there are none.
    pub(crate) fn below(sysfs: &Path) -> Option<Self> {
        let readable = zones(sysfs).into_iter().filter(|(_, zone)| value(zone).is_some());
        let (counters, zones): (Vec<_>, Vec<_>) = readable
            .take(MOST)
            .map(|(name, zone)| {
                let highest_uj = number(&zone.join("max_energy_range_uj"));
                let counter =
                    EnergyCounter { zone: name, name: text(&zone.join("name")).unwrap_or_default(), highest_uj };
                (counter, zone)
            })
            .unzip();
        (!counters.is_empty()).then_some(Self { counters, zones })
    }

    /// The value of each counter at a time, ns of the recorder's clock.
    pub(crate) fn read(zones: &[PathBuf], seen_ns: i64) -> Option<EnergyReading> {
        let values: Vec<Option<u64>> = zones.iter().map(|zone| value(zone)).collect();
        values.iter().any(Option::is_some).then_some(EnergyReading { seen_ns, values })
    }

    /// The counters, and where their values stand.
    pub(crate) fn into_parts(self) -> (Vec<EnergyCounter>, Vec<PathBuf>) {
        (self.counters, self.zones)
    }
}

/// The zones by name. The class lists all of them, and a zone holds those inside of it, too.
fn zones(sysfs: &Path) -> BTreeMap<String, PathBuf> {
    let mut zones = BTreeMap::new();
    let outer = zones_in(&sysfs.join("class/powercap"));
    for (name, path) in outer {
        zones.extend(zones_in(&path));
        zones.insert(name, path);
    }
    zones
}

fn zones_in(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let zone = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.starts_with(ZONE))?;
        Some((name, entry.path()))
    };
    entries.filter_map(zone).collect()
}

fn value(zone: &Path) -> Option<u64> {
    number(&zone.join("energy_uj"))
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn put(sysfs: &TempDir, zone: &str, files: &[(&str, &str)]) {
        let zone = sysfs.path().join("class/powercap").join(zone);
        fs::create_dir_all(&zone).unwrap();
        for (name, content) in files {
            fs::write(zone.join(name), format!("{content}\n")).unwrap();
        }
    }

    #[test]
    fn counters_are_those_of_one_driver() {
        let sysfs = TempDir::new().unwrap();
        assert_eq!(Access::below(sysfs.path()), Access::Missing);
        put(&sysfs, "intel-rapl", &[("enabled", "1")]);
        put(&sysfs, "intel-rapl-mmio:0", &[("name", "package-0"), ("energy_uj", "5")]);
        assert_eq!(Access::below(sysfs.path()), Access::Missing);
        put(&sysfs, "intel-rapl:0", &[("name", "package-0"), ("max_energy_range_uj", "999")]);
        assert_eq!(Access::below(sysfs.path()), Access::Forbidden);
        assert!(Counters::below(sysfs.path()).is_none());
        put(&sysfs, "intel-rapl:0", &[("energy_uj", "7")]);
        // Listed by the class, or only inside of its zone.
        put(&sysfs, "intel-rapl:0:0", &[("name", "core"), ("energy_uj", "3"), ("max_energy_range_uj", "999")]);
        put(&sysfs, "intel-rapl:0/intel-rapl:0:1", &[("name", "dram"), ("energy_uj", "x")]);
        put(&sysfs, "intel-rapl:0/intel-rapl:0:2", &[("name", "uncore"), ("energy_uj", "1")]);
        assert_eq!(Access::below(sysfs.path()), Access::Readable);
        let (counters, zones) = Counters::below(sysfs.path()).unwrap().into_parts();
        let counter = |zone: &str, name: &str, highest_uj| EnergyCounter {
            zone: zone.to_owned(),
            name: name.to_owned(),
            highest_uj,
        };
        let expected = [
            counter("intel-rapl:0", "package-0", Some(999)),
            counter("intel-rapl:0:0", "core", Some(999)),
            counter("intel-rapl:0:2", "uncore", None),
        ];
        assert_eq!(counters, expected);
        put(&sysfs, "intel-rapl:0:0", &[("energy_uj", "")]);
        let reading = EnergyReading { seen_ns: 4, values: vec![Some(7), None, Some(1)] };
        assert_eq!(Counters::read(&zones, 4), Some(reading));
        drop(sysfs);
        assert_eq!(Counters::read(&zones, 4), None);
    }
}
