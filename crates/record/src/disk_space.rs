//! The size of recordings, and the free space for them.

use std::path::Path;

use crate::options::Options;
use crate::profiles::{self, SWITCH};
use crate::stacks::CallGraph;

/// Bytes that a recording grows by in a second: on a quiet machine, and on a busy one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// With one CPU at work.
    pub least: u64,
    /// With all CPUs at work, threads that wake each other and many calls.
    pub most: u64,
}

/// Head of a sample with its times and ids.
const SAMPLE: u64 = 80;
/// A chain of frame pointers, of a kernel thread and of a deep program.
const CHAIN: (u64, u64) = (60, 320);
/// Registers, and the head of a copy.
const REGISTERS: u64 = 200;
/// Switches of a CPU per second, each with the wake-up of somebody.
const SWITCHES: (u64, u64) = (100, 2_500);
/// Calls of a CPU per second where all calls are recorded, each with its entry and its exit.
const CALLS: (u64, u64) = (500, 25_000);
/// Bytes of the two.
const CALL: u64 = 180;
/// Other events of a CPU per second, for each profile that has some.
const OTHERS: (u64, u64) = (5, 500);

/// What recordings of these options grow by on a machine with so many CPUs. It is an estimate: how often threads switch and call the
/// kernel is known only afterwards.
#[must_use]
pub fn growth(options: &Options, cpus: u32) -> Growth {
    let profiles = profiles::complete(&options.profiles);
    let copied = |bytes: u32| SAMPLE + REGISTERS + u64::from(bytes);
    let (small, large) = match options.call_graph {
        CallGraph::FramePointers => (SAMPLE + CHAIN.0, SAMPLE + CHAIN.1),
        // Each thread that is not in the middle of the kernel's own work has a stack that is copied.
        CallGraph::Dwarf(bytes) => (copied(bytes), copied(bytes) + CHAIN.1),
        CallGraph::BranchRecords => (SAMPLE + CHAIN.1, SAMPLE + 2 * CHAIN.1),
    };
    let (mut least, mut most) = (0_u64, 0_u64);
    let mut add = |per_second: (u64, u64), bytes: (u64, u64)| {
        least = least.saturating_add(per_second.0.saturating_mul(bytes.0));
        most = most.saturating_add(per_second.1.saturating_mul(bytes.1));
    };
    if profiles.iter().any(|profile| profile.linux.samples) {
        let rate = options.rate.per_second();
        add((rate, rate), (small, large));
    }
    if profiles.iter().any(|profile| profile.linux.events.contains(&SWITCH)) {
        add((2 * SWITCHES.0, 2 * SWITCHES.1), (small, large));
    }
    if profiles.iter().any(|profile| profile.name == "SysCall") {
        add(CALLS, (CALL, CALL));
    }
    for _ in profiles.iter().filter(|profile| !profile.linux.calls.is_empty() || !profile.linux.events.is_empty()) {
        add(OTHERS, (small, large));
    }
    Growth { least, most: most.saturating_mul(cpus.max(1).into()) }
}

/// Bytes that this user may still write where the file or directory is, or will be. `None` where the system does not say.
#[must_use]
pub fn left(path: &Path) -> Option<u64> {
    let absolute = std::path::absolute(path).ok()?;
    let there = absolute.ancestors().find(|path| path.exists())?;
    system::left(there)
}

#[cfg(unix)]
mod system {
    use std::path::Path;

    pub(super) fn left(path: &Path) -> Option<u64> {
        let about = rustix::fs::statvfs(path).ok()?;
        about.f_bavail.checked_mul(about.f_frsize)
    }
}

#[cfg(not(unix))]
mod system {
    use std::path::Path;

    pub(super) fn left(_: &Path) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(names: &[&str], call_graph: CallGraph) -> Options {
        let profiles = names.iter().filter_map(|name| profiles::find(name)).collect();
        Options { profiles, call_graph, ..Options::default() }
    }

    /// Recordings that were made on machines with two CPUs: bytes per second.
    #[test]
    fn real_recordings_lie_between() {
        let dwarf = CallGraph::Dwarf(CallGraph::USUAL_COPY);
        for (names, call_graph, measured) in [
            (&["CSwitch", "SysCall"][..], CallGraph::FramePointers, 4_700_000),
            (&["CSwitch"], dwarf, 33_000_000),
            // All CPUs at work, for half a minute.
            (&["CSwitch"], dwarf, 100_000_000),
        ] {
            let Growth { least, most } = growth(&options(names, call_graph), 2);
            assert!((least..=most).contains(&measured), "{names:?}: {measured} is not in {least}..{most}");
        }
    }

    #[test]
    fn more_is_larger() {
        let of = |names: &[&str], call_graph| growth(&options(names, call_graph), 4);
        let plain = of(&["Default"], CallGraph::FramePointers);
        assert!(plain.least > 0 && plain.least < plain.most);
        assert!(of(&["CSwitch"], CallGraph::FramePointers).most > plain.most);
        assert!(of(&["Default"], CallGraph::Dwarf(8192)).least > 10 * plain.least);
        assert_eq!(growth(&options(&["Default"], CallGraph::FramePointers), 0).most, plain.most / 4);
    }

    #[test]
    #[cfg(unix)]
    fn the_room_of_a_file_that_is_not_there_yet() {
        let directory = tempfile::TempDir::new().unwrap();
        assert!(left(&directory.path().join("not/yet/here.data")).is_some_and(|bytes| bytes > 0));
    }
}
