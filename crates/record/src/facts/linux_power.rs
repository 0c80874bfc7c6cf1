//! Clock rates, idle states and power of a Linux machine, from `/sys`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::linux::{number, text};
use super::{IdleFacts, IdleStateFacts, LimitFacts, PowerFacts};

/// Idle states of a CPU at most.
const MOST_STATES: usize = 32;

/// Directories below `devices/system/cpu` that are CPUs.
pub(super) fn cpu_directories(sysfs: &Path) -> Vec<PathBuf> {
    numbered(sysfs).into_values().collect()
}

/// The CPUs by number.
fn numbered(sysfs: &Path) -> BTreeMap<u32, PathBuf> {
    let entries = fs::read_dir(sysfs.join("devices/system/cpu")).into_iter().flatten().flatten();
    let cpu = |entry: fs::DirEntry| {
        let number = entry.file_name().to_string_lossy().strip_prefix("cpu")?.parse().ok()?;
        Some((number, entry.path()))
    };
    entries.filter_map(cpu).collect()
}

pub(super) fn power(sysfs: &Path) -> PowerFacts {
    let cpus = numbered(sysfs);
    let each = |name: &str| {
        let texts: BTreeSet<String> = cpus.values().filter_map(|cpu| text(cpu.join("cpufreq").join(name))).collect();
        texts.into_iter().collect::<Vec<_>>()
    };
    let root = sysfs.join("devices/system/cpu");
    let turbo_off = number::<u8>(root.join("intel_pstate/no_turbo")).map(|off| off == 0);
    let supplies = fs::read_dir(sysfs.join("class/power_supply")).into_iter().flatten().flatten();
    let mains: Vec<bool> = supplies
        .filter(|supply| text(supply.path().join("type")).is_some_and(|kind| kind == "Mains"))
        .filter_map(|supply| number::<u8>(supply.path().join("online")))
        .map(|online| online == 1)
        .collect();
    let is_some = |text: &String| text != "none";
    PowerFacts {
        governors: each("scaling_governor"),
        driver: each("scaling_driver").into_iter().next(),
        energy_preferences: each("energy_performance_preference"),
        boost: turbo_off.or_else(|| number::<u8>(root.join("cpufreq/boost")).map(|boost| boost == 1)),
        scheme: text(sysfs.join("firmware/acpi/platform_profile")),
        on_battery: (!mains.is_empty()).then(|| !mains.contains(&true)),
        limits: limits(&cpus),
        idle_driver: text(root.join("cpuidle/current_driver")).filter(is_some),
        idle_governor: text(root.join("cpuidle/current_governor"))
            .or_else(|| text(root.join("cpuidle/current_governor_ro")))
            .filter(is_some),
        idle: idle(&cpus),
    }
}

fn limits(cpus: &BTreeMap<u32, PathBuf>) -> Vec<LimitFacts> {
    let of_cpu = |directory: &Path| {
        let khz = |name: &str| number(directory.join("cpufreq").join(name)).filter(|khz: &u64| *khz > 0);
        let limits = LimitFacts {
            cpus: String::new(),
            base_khz: khz("base_frequency"),
            hardware_min_khz: khz("cpuinfo_min_freq"),
            hardware_max_khz: khz("cpuinfo_max_freq"),
            min_khz: khz("scaling_min_freq"),
            max_khz: khz("scaling_max_freq"),
        };
        (limits != LimitFacts::default()).then_some(limits)
    };
    grouped(cpus, of_cpu).into_iter().map(|(limits, cpus)| LimitFacts { cpus, ..limits }).collect()
}

fn idle(cpus: &BTreeMap<u32, PathBuf>) -> Vec<IdleFacts> {
    let of_cpu = |directory: &Path| {
        let state = |place: usize| {
            let state = directory.join("cpuidle").join(format!("state{place}"));
            state.is_dir().then(|| IdleStateFacts {
                name: text(state.join("name")),
                latency_us: number(state.join("latency")),
                residency_us: number(state.join("residency")),
                disabled: number::<u8>(state.join("disable")).map(|off| off != 0),
            })
        };
        let states: Vec<IdleStateFacts> = (0..MOST_STATES).map_while(state).collect();
        (!states.is_empty()).then_some(states)
    };
    grouped(cpus, of_cpu).into_iter().map(|(states, cpus)| IdleFacts { cpus, states }).collect()
}

/// What CPUs have, each once, with the list of these CPUs.
fn grouped<T: PartialEq>(cpus: &BTreeMap<u32, PathBuf>, of_cpu: impl Fn(&Path) -> Option<T>) -> Vec<(T, String)> {
    let mut groups: Vec<(T, Vec<u32>)> = Vec::new();
    for (cpu, directory) in cpus {
        let Some(found) = of_cpu(directory) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == found) {
            Some((_, cpus)) => cpus.push(*cpu),
            None => groups.push((found, vec![*cpu])),
        }
    }
    groups.into_iter().map(|(found, cpus)| (found, list(&cpus))).collect()
}

/// Numbers in order as `0-15,18`.
fn list(numbers: &[u32]) -> String {
    let mut list = String::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let comma = if list.is_empty() { "" } else { "," };
        let _ = if first == last { write!(list, "{comma}{first}") } else { write!(list, "{comma}{first}-{last}") };
    }
    list
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn put(sysfs: &TempDir, path: &str, content: &str) {
        let path = sysfs.path().join("devices/system/cpu").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }

    #[test]
    fn cpus_with_the_same_figures_are_one_group() {
        let sysfs = TempDir::new().unwrap();
        for cpu in [0, 1, 2, 3, 10] {
            let is_fast = cpu < 2 || cpu == 10;
            let most = if is_fast { "4200000" } else { "2800000" };
            put(&sysfs, &format!("cpu{cpu}/cpufreq/cpuinfo_max_freq"), most);
            put(&sysfs, &format!("cpu{cpu}/cpufreq/scaling_max_freq"), "2500000");
            put(&sysfs, &format!("cpu{cpu}/cpufreq/scaling_governor"), "powersave");
            put(&sysfs, &format!("cpu{cpu}/cpuidle/state0/name"), "POLL");
            put(&sysfs, &format!("cpu{cpu}/cpuidle/state1/name"), "C1");
            put(&sysfs, &format!("cpu{cpu}/cpuidle/state1/latency"), "2");
            put(&sysfs, &format!("cpu{cpu}/cpuidle/state1/disable"), if is_fast { "0" } else { "1" });
        }
        put(&sysfs, "cpu0/cpufreq/base_frequency", "2600000");
        put(&sysfs, "cpu4/online", "0");
        put(&sysfs, "cpufreq/boost", "1");
        put(&sysfs, "cpuidle/current_driver", "none");
        put(&sysfs, "cpuidle/current_governor", "menu");
        let facts = power(sysfs.path());
        let limits = |cpus: &str, most, base_khz| LimitFacts {
            cpus: cpus.to_owned(),
            base_khz,
            hardware_max_khz: Some(most),
            max_khz: Some(2_500_000),
            ..LimitFacts::default()
        };
        let expected =
            [limits("0", 4_200_000, Some(2_600_000)), limits("1,10", 4_200_000, None), limits("2-3", 2_800_000, None)];
        assert_eq!(facts.limits, expected);
        let idle = |cpus: &str, disabled| IdleFacts {
            cpus: cpus.to_owned(),
            states: vec![
                IdleStateFacts { name: Some("POLL".to_owned()), ..IdleStateFacts::default() },
                IdleStateFacts {
                    name: Some("C1".to_owned()),
                    latency_us: Some(2),
                    disabled: Some(disabled),
                    ..IdleStateFacts::default()
                },
            ],
        };
        assert_eq!(facts.idle, [idle("0-1,10", false), idle("2-3", true)]);
        assert_eq!((facts.idle_driver, facts.idle_governor.as_deref()), (None, Some("menu")));
        assert_eq!((facts.governors, facts.boost), (vec!["powersave".to_owned()], Some(true)));
        assert_eq!(power(TempDir::new().unwrap().path()), PowerFacts::default());
    }
}
