//! The profiles: what each of them records, on either system.
//!
//! They are called as those of the recording profile for Windows that is best known. What a profile has no counterpart for
//! on a system it leaves out there, and the recording says so.

mod table;

pub use self::table::PROFILES;
pub(crate) use self::table::{ALL_CALLS, PAGE_FAULTS, SWITCH};

use crate::stacks::StackClass;

/// A set of events that belong to one kind of question. Profiles add up.
#[derive(Debug)]
pub struct Profile {
    /// What the command line calls it.
    pub name: &'static str,
    /// What it records, for people.
    pub about: &'static str,
    /// Whether it comes with CPU samples and disk operations. Those for long recordings do not.
    pub with_default: bool,
    /// Events of perf.
    pub linux: Linux,
    /// What ETW records.
    pub windows: Windows,
}

/// The part of a profile that perf records.
#[derive(Debug)]
pub struct Linux {
    /// Whether the CPU is sampled by time.
    pub samples: bool,
    /// Tracepoints and software events.
    pub events: &'static [LinuxEvent],
    /// System calls by name.
    pub calls: &'static [&'static str],
    /// Hardware counters that are read at every switch.
    pub counted: &'static [&'static str],
    /// Hardware counters that are sampled each time they have counted that many.
    pub sampled: &'static [(&'static str, u32)],
    /// Whether samples carry the last branches.
    pub branches: bool,
    /// Whether probes in the C library tell which names programs look up.
    pub names: bool,
    /// Whether counters of energy are read once a second.
    pub energy: bool,
    /// Whether the memory of processes is read once a second.
    pub process_memory: bool,
    /// Whether probes in the kernel tell the paths of files that are opened.
    pub paths: bool,
    /// Whether it is noted what the descriptors of processes stand for.
    pub descriptors: bool,
}

/// An event of perf, and which class of events its stacks belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxEvent {
    /// `system:name` of a tracepoint, the name alone of a software event.
    pub name: &'static str,
    /// The class of its stacks; `None`: it never has one.
    pub stacks: Option<StackClass>,
    /// What perf does itself to write the recording is left out. Where it were not, each record would make another one.
    pub without_perf: bool,
    /// Only events with such fields are recorded; empty: all.
    pub filter: &'static str,
    /// Version of the kernel from which on the event has the fields of the filter.
    pub since: (u32, u32),
}

/// The part of a profile that ETW records.
#[derive(Debug)]
pub struct Windows {
    /// Keywords of the kernel's provider.
    pub keywords: &'static [&'static str],
    /// Events of the kernel that may have stacks.
    pub stacks: &'static [(&'static str, StackClass)],
    /// Other providers.
    pub providers: &'static [Provider],
    /// Hardware counters that are read at every switch.
    pub counted: &'static [&'static str],
    /// Hardware counters that are sampled each time they have counted that many.
    pub sampled: &'static [(&'static str, u32)],
    /// Whether samples carry the last branches.
    pub branches: bool,
}

/// A provider of ETW that is not the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Registered name.
    pub name: &'static str,
    /// Its GUID, where the name is not registered on every machine.
    pub guid: Option<&'static str>,
    /// Level: 4 information, 5 verbose.
    pub level: u8,
    /// Mask of keywords; 0: all.
    pub keywords: u64,
    /// The class of its stacks; `None`: it never has one.
    pub stacks: Option<StackClass>,
    /// Only these events have stacks; empty: all.
    pub stack_events: &'static [u16],
    /// These events are left out: they say little and are many.
    pub without_events: &'static [u16],
    /// It only tells, when the recording is saved, what there is.
    pub rundown_only: bool,
    /// Keywords of what it tells when the recording is saved; 0: nothing.
    pub rundown: u64,
}

/// The profile with that name, whatever the case of its letters.
#[must_use]
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name.eq_ignore_ascii_case(name))
}

/// The profiles, and in front of them `Default` where one of them comes with it; each once, in the order of the list.
#[must_use]
pub fn complete(chosen: &[&'static Profile]) -> Vec<&'static Profile> {
    let with_default = chosen.iter().any(|profile| profile.with_default);
    let is_wanted = |profile: &&Profile| {
        profile.name == "Default" && with_default || chosen.iter().any(|one| one.name == profile.name)
    };
    PROFILES.iter().filter(is_wanted).collect()
}
