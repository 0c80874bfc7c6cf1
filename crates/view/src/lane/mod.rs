//! Lanes: what has a row in the picture. Their names go to the page and come back from it.

pub(crate) mod columns;
pub(crate) mod density;
pub(crate) mod disks;
pub(crate) mod groups;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod peaks;
pub(crate) mod people;
pub(crate) mod regions;
pub(crate) mod spans;
pub(crate) mod top;
pub(crate) mod totals;

use std::fmt;

use tracesift_trace::{ProcessId, ThreadId};

use self::density::What;
use self::disks::DiskPart;
use crate::failure::Failure;

/// Lanes that a request names, at most.
pub(crate) const MOST_LANES: usize = 500;

/// A lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// All lanes of a kind; `cpus` and `processes` have figures of their own.
    Group(Group),
    Process(ProcessId),
    Thread(ThreadId),
    Cpu(i16),
    Disk(i32),
    /// A part of what a disk does.
    DiskPart(i32, DiskPart),
    /// The kind of event with this number, in the order of provider and name.
    Event(usize),
    Frequency(i16),
    Counter(String),
    /// The tags of a file of the session.
    TagFile(String),
    /// A stack tag by its name.
    Tag(String, String),
    Marks,
    /// The regions of a definition, by its path.
    Region(String),
    /// Rows of a table of their own.
    Rows(What),
}

/// What has lanes below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Processes,
    Cpus,
    Disks,
    Events,
    Marks,
    Frequencies,
    Counters,
    Tags,
    Files,
    Network,
    Memory,
    Gc,
    Jit,
    Regions,
}

impl Group {
    /// All of them, in the order of the page.
    pub(crate) const ALL: [Self; 14] = [
        Self::Processes,
        Self::Cpus,
        Self::Disks,
        Self::Files,
        Self::Network,
        Self::Memory,
        Self::Gc,
        Self::Jit,
        Self::Regions,
        Self::Marks,
        Self::Events,
        Self::Frequencies,
        Self::Counters,
        Self::Tags,
    ];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Cpus => "cpus",
            Self::Disks => "disks",
            Self::Events => "events",
            Self::Marks => "marks",
            Self::Frequencies => "frequencies",
            Self::Counters => "counters",
            Self::Tags => "tags",
            Self::Files => "files",
            Self::Network => "network",
            Self::Memory => "memory",
            Self::Gc => "gc",
            Self::Jit => "jit",
            Self::Regions => "regions",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Processes => "Processes",
            Self::Cpus => "CPUs",
            Self::Disks => "Disks",
            Self::Events => "Events",
            Self::Marks => "Marks",
            Self::Frequencies => "Clock rates",
            Self::Counters => "Hardware counters",
            Self::Tags => "Stack tags",
            Self::Files => "Files",
            Self::Network => "Network",
            Self::Memory => "Memory",
            Self::Gc => "Garbage collections",
            Self::Jit => "JIT compilations",
            Self::Regions => "Regions",
        }
    }
}

impl Lane {
    /// The lanes above it, the outermost first.
    pub(crate) fn path(&self, people: &people::People) -> Vec<Self> {
        let group = |group| vec![Self::Group(group)];
        match self {
            Self::Group(_) => Vec::new(),
            Self::Process(_) => group(Group::Processes),
            Self::Thread(thread) => {
                let process = people.thread(*thread).map(|row| Self::Process(row.process));
                group(Group::Processes).into_iter().chain(process).collect()
            }
            Self::Cpu(_) => group(Group::Cpus),
            Self::Disk(_) => group(Group::Disks),
            Self::DiskPart(disk, _) => vec![Self::Group(Group::Disks), Self::Disk(*disk)],
            Self::Event(_) => group(Group::Events),
            Self::Frequency(_) => group(Group::Frequencies),
            Self::Counter(_) => group(Group::Counters),
            Self::TagFile(_) => group(Group::Tags),
            Self::Tag(file, _) => vec![Self::Group(Group::Tags), Self::TagFile(file.clone())],
            Self::Marks => group(Group::Marks),
            Self::Region(_) => group(Group::Regions),
            Self::Rows(What::Files | What::Syscalls) => group(Group::Files),
            Self::Rows(What::Network) => group(Group::Network),
            Self::Rows(What::Memory | What::Faults) => group(Group::Memory),
            Self::Rows(What::Gc(_)) => group(Group::Gc),
            Self::Rows(What::Jit(_)) => group(Group::Jit),
        }
    }

    /// The lane of a name.
    pub(crate) fn parse(id: &str) -> Result<Self, Failure> {
        let unknown = || Failure::bad(format!("lane: `{}` is none", id.chars().take(100).collect::<String>()));
        if let Some(group) = Group::ALL.into_iter().find(|group| group.id() == id) {
            return Ok(Self::Group(group));
        }
        let (kind, rest) = id.split_once(':').ok_or_else(unknown)?;
        let lane = match kind {
            "process" => rest.parse().ok().map(|id| Self::Process(ProcessId(id))),
            "thread" => rest.parse().ok().map(|id| Self::Thread(ThreadId(id))),
            "cpu" => rest.parse().ok().map(Self::Cpu),
            "disk" => match rest.split_once(':') {
                None => rest.parse().ok().map(Self::Disk),
                Some((disk, part)) => {
                    disk.parse().ok().zip(DiskPart::parse(part)).map(|(disk, part)| Self::DiskPart(disk, part))
                }
            },
            "event" => rest.parse().ok().map(Self::Event),
            "frequency" => rest.parse().ok().map(Self::Frequency),
            "counter" if !rest.is_empty() => Some(Self::Counter(rest.to_owned())),
            "tags" if !rest.is_empty() => Some(Self::TagFile(rest.to_owned())),
            "tag" => rest.split_once(':').map(|(file, tag)| Self::Tag(file.to_owned(), tag.to_owned())),
            "mark" if rest == "0" => Some(Self::Marks),
            "region" if !rest.is_empty() => Some(Self::Region(rest.to_owned())),
            _ => rest.parse().ok().and_then(|number| What::parse(kind, number)).map(Self::Rows),
        };
        // A number has one spelling.
        lane.filter(|lane| lane.to_string() == id).ok_or_else(unknown)
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(group) => formatter.write_str(group.id()),
            Self::Process(id) => write!(formatter, "process:{}", id.0),
            Self::Thread(id) => write!(formatter, "thread:{}", id.0),
            Self::Cpu(cpu) => write!(formatter, "cpu:{cpu}"),
            Self::Disk(disk) => write!(formatter, "disk:{disk}"),
            Self::DiskPart(disk, part) => write!(formatter, "disk:{disk}:{}", part.id()),
            Self::Event(number) => write!(formatter, "event:{number}"),
            Self::Frequency(cpu) => write!(formatter, "frequency:{cpu}"),
            Self::Counter(name) => write!(formatter, "counter:{name}"),
            Self::TagFile(file) => write!(formatter, "tags:{file}"),
            Self::Tag(file, tag) => write!(formatter, "tag:{file}:{tag}"),
            Self::Marks => formatter.write_str("mark:0"),
            Self::Region(path) => write!(formatter, "region:{path}"),
            Self::Rows(what) => {
                let (kind, number) = what.id();
                write!(formatter, "{kind}:{number}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Lane};

    #[test]
    fn names_of_lanes_come_back() {
        let names = [
            "process:12",
            "thread:0",
            "cpu:-1",
            "disk:8",
            "disk:0:read",
            "disk:8388608:queue",
            "event:3",
            "frequency:1",
            "counter:a:b",
            "tags:t0",
            "tag:builtin:A\\B:c",
            "mark:0",
            "file:0",
            "network:0",
            "memory:0",
            "fault:0",
            "gc:3",
            "jit:12",
            "region:GC/Collection",
        ];
        for name in names.into_iter().chain(Group::ALL.map(Group::id)) {
            assert_eq!(Lane::parse(name).map(|lane| lane.to_string()).ok().as_deref(), Some(name));
        }
        for wrong in [
            "",
            "process",
            "process:",
            "process:+1",
            "process:01",
            "cpu:99999",
            "event:-1",
            "mark:1",
            "x:1",
            "disk:1:flush",
            "disk::read",
            "counter:",
            "region:",
        ] {
            assert!(Lane::parse(wrong).is_err(), "{wrong}");
        }
    }
}
