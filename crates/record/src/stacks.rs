//! Chooses the events that get call stacks, and the way in which stacks are recorded.

use std::str::FromStr;

use crate::Error;

/// A class of events that get call stacks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StackClass {
    /// Samples of the CPU.
    Cpu,
    /// Threads that leave a CPU.
    Switch,
    /// Threads that end another one's wait.
    Ready,
    /// Requests to disks.
    Disk,
    /// Operations on files.
    File,
    /// Connections and sockets.
    Network,
    /// System calls.
    Syscall,
    /// Memory that is mapped, and page faults.
    Memory,
    /// Handles.
    Handle,
    /// Processes that are made.
    Process,
    /// Exceptions.
    Exception,
    /// Windows that get the focus.
    Focus,
    /// Samples of hardware counters.
    Counter,
}

impl StackClass {
    /// All classes with what the command line calls them and whether they have stacks when the user says nothing. Those that do
    /// not are so many that their stacks would be most of the recording.
    pub const ALL: [(Self, &'static str, bool); 13] = [
        (Self::Cpu, "cpu", true),
        (Self::Switch, "switch", true),
        (Self::Ready, "ready", true),
        (Self::Disk, "disk", true),
        (Self::File, "file", false),
        (Self::Network, "network", true),
        (Self::Syscall, "syscall", false),
        (Self::Memory, "memory", true),
        (Self::Handle, "handle", true),
        (Self::Process, "process", true),
        (Self::Exception, "exception", true),
        (Self::Focus, "focus", true),
        (Self::Counter, "counter", true),
    ];
}

/// The classes of events that get call stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stacks(Vec<StackClass>);

impl Stacks {
    /// Whether events of that class get stacks.
    #[must_use]
    pub fn contains(&self, class: StackClass) -> bool {
        self.0.contains(&class)
    }
}

impl Default for Stacks {
    fn default() -> Self {
        Self(StackClass::ALL.iter().filter(|(_, _, usual)| *usual).map(|(class, _, _)| *class).collect())
    }
}

impl FromStr for Stacks {
    type Err = Error;

    /// `cpu,switch`, `all`, `none`; `default,file` adds to the usual ones.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut classes = Vec::new();
        for word in text.split([',', ';']).map(str::trim).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "all" => classes.extend(StackClass::ALL.map(|(class, _, _)| class)),
                "none" => {}
                "default" => classes.extend(Self::default().0),
                word => {
                    let class = StackClass::ALL.iter().find(|(_, name, _)| *name == word);
                    classes.push(class.ok_or_else(|| Error::UnknownStackClass(word.to_owned()))?.0);
                }
            }
        }
        Ok(Self(classes))
    }
}

/// How call stacks are found on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallGraph {
    /// By frame pointers: cheap; wrong below code that was compiled without them.
    #[default]
    FramePointers,
    /// A copy of so many bytes of the stack, which is unwound when the recording is extracted.
    Dwarf(u32),
    /// By the CPU's records of calls.
    BranchRecords,
}

impl CallGraph {
    /// As much of a stack as perf copies when it is not told how much.
    pub const USUAL_COPY: u32 = 8192;
}

impl FromStr for CallGraph {
    type Err = Error;

    /// `fp`, `dwarf`, `dwarf,BYTES` or `lbr`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownCallGraph(text.to_owned());
        match text.split_once(',') {
            None if text == "fp" => Ok(Self::FramePointers),
            None if text == "dwarf" => Ok(Self::Dwarf(Self::USUAL_COPY)),
            None if text == "lbr" => Ok(Self::BranchRecords),
            Some(("dwarf", bytes)) => {
                // perf takes multiples of eight below 64 KiB.
                let bytes: u32 = bytes.parse().map_err(|_| unknown())?;
                if (8..=65_528).contains(&bytes) && bytes.is_multiple_of(8) {
                    Ok(Self::Dwarf(bytes))
                } else {
                    Err(unknown())
                }
            }
            _ => Err(unknown()),
        }
    }
}
