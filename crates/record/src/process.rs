//! Processes that are not our children, or that a thread of ours waits for.

use serde::{Deserialize, Serialize};

/// How a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It may tidy up.
    Ask,
    /// It may not.
    Force,
}

/// A process, also after its id has been used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its id.
    pub pid: u32,
    /// When it was started, in a unit of the system; 0 where that is not known.
    pub started: u64,
}

impl Identity {
    /// This process.
    #[must_use]
    pub fn own() -> Option<Self> {
        let pid = std::process::id();
        Some(Self { pid, started: system::started(pid)? })
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_alive(self) -> bool {
        system::started(self.pid) == Some(self.started)
    }
}

#[cfg(target_os = "linux")]
pub(crate) use system::signal;
pub(crate) use system::{CAN_HALT, detach, end, go_on, halt};

/// Processes that are called so, as the kernel knows them; `.exe` may be left out.
#[must_use]
pub fn named(name: &str) -> Vec<u32> {
    system::named(name)
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use rustix::process::{Pid, Signal, kill_process};

    use super::Ending;

    /// Ends a process that may have ended by itself.
    pub(crate) fn end(pid: u32, ending: Ending) {
        signal(
            pid,
            match ending {
                Ending::Ask => Signal::TERM,
                Ending::Force => Signal::KILL,
            },
        );
    }

    /// Whether processes can be halted.
    pub(crate) const CAN_HALT: bool = true;

    /// Lets a process stand still.
    pub(crate) fn halt(pid: u32) {
        signal(pid, Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn go_on(pid: u32) {
        signal(pid, Signal::CONT);
    }

    /// To a process that may have ended by itself.
    pub(crate) fn signal(pid: u32, signal: Signal) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    pub(super) fn named(name: &str) -> Vec<u32> {
        // The kernel keeps no more of a name.
        let known = name.get(..15).unwrap_or(name);
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_called =
            |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == known);
        ids.filter(is_called).collect()
    }

    /// Ctrl-C in this terminal is not for the process.
    pub(crate) fn detach(command: &mut Command) {
        command.process_group(0);
    }

    /// Clock ticks from the start of the machine to that of the process. One that has ended and was not waited for is gone.
    pub(super) fn started(pid: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold anything, parentheses too.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_gone = matches!(fields.first(), Some(&"Z" | &"X"));
        if is_gone { None } else { fields.get(19)?.parse().ok() }
    }
}

#[cfg(windows)]
mod system {
    use std::os::windows::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use sysinfo::{Pid, ProcessesToUpdate, System};

    use super::Ending;

    /// Ends a process that may have ended by itself, and what it has started.
    pub(crate) fn end(pid: u32, ending: Ending) {
        let mut command = Command::new("taskkill");
        command.args(["/T", "/PID", &pid.to_string()]);
        if ending == Ending::Force {
            command.arg("/F");
        }
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }

    /// Whether processes can be halted.
    pub(crate) const CAN_HALT: bool = false;

    pub(crate) fn halt(_: u32) {}

    pub(crate) fn go_on(_: u32) {}

    pub(super) fn named(name: &str) -> Vec<u32> {
        let is_called = |process: &str| {
            let stem = process.len().checked_sub(".exe".len()).and_then(|end| process.split_at_checked(end));
            let stem = stem.filter(|(_, end)| end.eq_ignore_ascii_case(".exe")).map_or(process, |(stem, _)| stem);
            process.eq_ignore_ascii_case(name) || stem.eq_ignore_ascii_case(name)
        };
        let system = processes(ProcessesToUpdate::All);
        let found = system.processes().iter().filter(|(_, process)| is_called(&process.name().to_string_lossy()));
        found.map(|(pid, _)| pid.as_u32()).collect()
    }

    fn processes(which: ProcessesToUpdate<'_>) -> System {
        let mut system = System::new();
        system.refresh_processes(which, true);
        system
    }

    /// Ctrl-C in this console is not for the process.
    pub(crate) fn detach(command: &mut Command) {
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }

    /// Seconds since 1970.
    pub(super) fn started(pid: u32) -> Option<u64> {
        let pid = Pid::from_u32(pid);
        Some(processes(ProcessesToUpdate::Some(&[pid])).process(pid)?.start_time())
    }
}
