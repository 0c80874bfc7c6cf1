//! The clock rates that CPUs could have, and were allowed to have when the recording began, as the recorder noted them.

use std::collections::BTreeMap;

use tracesift_trace::cpu_list;
use tracesift_trace::info::TraceInfo;

/// The beginning of the paths of these facts.
const PATH: &str = "power.limits.";
/// More CPUs, and more groups of them, only a forged document has.
const MOST: usize = 4096;

/// Clock rates of some CPUs, kHz.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuLimits {
    /// A list such as `0-15,18`.
    list: String,
    /// The rate for which the processor is sold.
    pub(super) nominal: Option<i64>,
    /// The highest rate that the hardware can have.
    pub(super) highest: Option<i64>,
    /// The highest rate that was allowed.
    pub(super) most: Option<i64>,
    /// The lowest rate that was allowed.
    pub(super) least: Option<i64>,
}

impl CpuLimits {
    /// The CPUs.
    pub(super) fn cpus(&self) -> impl Iterator<Item = i16> {
        cpu_list::numbers(&self.list).take(MOST)
    }
}

/// The limits of groups of CPUs.
pub(super) fn of(info: &TraceInfo) -> Vec<CpuLimits> {
    let mut groups: BTreeMap<&str, CpuLimits> = BTreeMap::new();
    for (path, value) in &info.facts {
        let Some((group, fact)) = path.strip_prefix(PATH).and_then(|rest| rest.split_once('.')) else { continue };
        if groups.len() >= MOST && !groups.contains_key(group) {
            continue;
        }
        let limits = groups.entry(group).or_default();
        let khz = value.parse().ok().filter(|khz: &i64| *khz > 0);
        match fact {
            "cpus" => limits.list.clone_from(value),
            "base_khz" => limits.nominal = khz,
            "hardware_max_khz" => limits.highest = khz,
            "max_khz" => limits.most = khz,
            "min_khz" => limits.least = khz,
            _ => {}
        }
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_become_limits() {
        let fact = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        let info = TraceInfo {
            facts: vec![
                fact("power.limits.0.cpus", "0-2,5"),
                fact("power.limits.0.base_khz", "2600000"),
                fact("power.limits.0.hardware_max_khz", "4200000"),
                fact("power.limits.0.max_khz", "3000000"),
                fact("power.limits.1.cpus", "3"),
                fact("power.limits.1.max_khz", "-7"),
                fact("power.limits.1.min_khz", "x"),
                fact("power.limits.odd", "1"),
            ],
            ..TraceInfo::default()
        };
        let found = of(&info);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].cpus().collect::<Vec<_>>(), [0, 1, 2, 5]);
        let first = &found[0];
        assert_eq!((first.nominal, first.highest), (Some(2_600_000), Some(4_200_000)));
        assert_eq!((first.most, first.least), (Some(3_000_000), None));
        assert_eq!(found[1], CpuLimits { list: "3".to_owned(), ..CpuLimits::default() });
    }
}
