//! Well-known kernel drivers: who makes them, and what for.
//!
//! A virus scanner, an encryption or a backup agent hooks into the file system as a filter driver, and every file access pays for it: so
//! whoever looks at CPU in the kernel wants to know which is which. Microsoft hands out the places of filters in the stack of filters,
//! "altitudes", in groups by purpose, and publishes who has which ("Allocated filter altitudes" in the Windows driver documentation, here
//! as of 2025-10-28). The table has of that a line per driver: file name in lower case, its altitudes, of each group the highest, and
//! the vendor. Purpose follows from the altitude.
//!
//! This lies with the questions as it says what a module is, not what a figure means.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// What filter drivers of a group of altitudes are for.
#[derive(Debug, PartialEq, Eq)]
pub struct Category {
    /// Name, lower case.
    pub name: &'static str,
    /// The group's altitudes; those with a fraction lie within, too.
    pub altitudes: RangeInclusive<u32>,
}

const fn category(name: &'static str, first: u32, last: u32) -> Category {
    Category { name, altitudes: first..=last }
}

/// All groups, from the top of the stack down.
pub const CATEGORIES: [Category; 24] = [
    category("top", 400_000, 409_999),
    category("security monitor", 392_000, 394_999),
    category("activity monitor", 360_000, 389_999),
    category("undelete", 340_000, 349_999),
    category("antivirus", 320_000, 329_999),
    category("replication", 300_000, 309_999),
    category("continuous backup", 280_000, 289_999),
    category("security content screener", 272_000, 274_999),
    category("content screener", 260_000, 269_999),
    category("quota management", 240_000, 249_999),
    category("system recovery", 220_000, 229_999),
    category("cluster file system", 200_000, 209_999),
    category("hierarchical storage", 180_000, 189_999),
    category("imaging", 170_000, 174_999),
    category("compression", 160_000, 169_999),
    category("encryption", 140_000, 149_999),
    category("virtualization", 130_000, 139_999),
    category("physical quota management", 120_000, 129_999),
    category("open file", 100_000, 109_999),
    category("security enhancer", 80_000, 89_999),
    category("copy protection", 60_000, 69_999),
    category("security bottom", 52_000, 54_999),
    category("bottom", 40_000, 49_999),
    category("system", 20_000, 29_999),
];

static TABLE: LazyLock<Vec<(&str, Driver)>> =
    LazyLock::new(|| include_str!("table.txt").lines().filter_map(entry).collect());

/// A driver of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Its maker; `A / B` where several were given a place for a file of this name.
    pub vendor: &'static str,
    altitudes: &'static str,
}

impl Driver {
    /// What it is for, the highest group first.
    pub fn categories(&self) -> impl Iterator<Item = &'static Category> {
        let altitudes = self.altitudes.split(',').filter_map(|altitude| altitude.parse::<u32>().ok());
        altitudes.filter_map(|altitude| CATEGORIES.iter().find(|category| category.altitudes.contains(&altitude)))
    }

    /// The categories as one text.
    #[must_use]
    pub fn category(&self) -> String {
        self.categories().map(|category| category.name).collect::<Vec<_>>().join(", ")
    }
}

/// The driver with this file name, in any case.
#[must_use]
pub fn find(file_name: &str) -> Option<Driver> {
    let name = file_name.to_ascii_lowercase();
    let at = TABLE.binary_search_by(|(known, _)| (*known).cmp(&name)).ok()?;
    TABLE.get(at).map(|(_, driver)| *driver)
}

fn entry(line: &'static str) -> Option<(&'static str, Driver)> {
    let (name, rest) = line.split_once(' ')?;
    let (altitudes, vendor) = rest.split_once(' ')?;
    Some((name, Driver { vendor, altitudes }))
}

#[cfg(test)]
mod tests {
    use super::{CATEGORIES, TABLE, find};

    #[test]
    fn every_line_is_a_driver_with_its_group() {
        assert_eq!(TABLE.len(), include_str!("table.txt").lines().count());
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b), "in order, each once");
        for (name, driver) in TABLE.iter() {
            assert!(
                name.ends_with(".sys") && *name == name.to_ascii_lowercase() && !name.contains(['\\', '*']),
                "{name}"
            );
            assert!(!driver.vendor.is_empty() && driver.vendor.trim() == driver.vendor, "{name}");
            assert!(!driver.vendor.contains(char::is_control), "{name}");
            let altitudes: Vec<u32> = driver.altitudes.split(',').map(|text| text.parse().expect("a number")).collect();
            assert!(altitudes.is_sorted_by(|a, b| a > b), "{name}");
            let categories: Vec<_> = driver.categories().map(|category| category.name).collect();
            assert_eq!(categories.len(), altitudes.len(), "{name}: every altitude has its group");
            assert!(categories.iter().enumerate().all(|(at, name)| !categories[..at].contains(name)), "{name}");
        }
        assert!(CATEGORIES.is_sorted_by(|a, b| a.altitudes.start() > b.altitudes.end()));
    }

    #[test]
    fn drivers_are_found_in_any_case() {
        let known = |name: &str| find(name).map(|driver| (driver.category(), driver.vendor));
        assert_eq!(known("WdFilter.sys"), Some(("antivirus".to_owned(), "Microsoft")));
        assert_eq!(known("CLDFLT.SYS"), Some(("top, hierarchical storage".to_owned(), "Microsoft")));
        assert_eq!(known("csagent.sys").map(|(category, _)| category), Some("antivirus".to_owned()));
        assert_eq!(known("ntfs.sys"), None);
        assert_eq!(known("wdfilter"), None);
    }
}
