//! Probes that are set for a recording, in programs and in the kernel.
//!
//! A probe is an entry in a table of the kernel. It stays there until it is removed, also when its recorder has been killed. So the name
//! of its group tells who made it, a process of its own removes it when the recorder is gone, and each recording first removes what
//! processes left that are gone.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tracesift_symbols::elf;

use crate::process::{self, Identity};

/// What the groups of our probes begin with: probes of names that are looked up, of files that are opened, and of the heap. Behind it
/// stand the recorder's process id, when it was started, and a number.
const GROUPS: [&str; 3] = [NAMES, PATHS, HEAP];
/// Of names that are looked up.
pub(super) const NAMES: &str = "tracesift_dns_";
/// Of files that are opened.
pub(super) const PATHS: &str = "tracesift_open_";
/// Of blocks of the heap of a process.
pub(super) const HEAP: &str = "tracesift_heap_";
/// The table of probes in programs.
pub(super) const PROGRAMS: &str = "uprobe_events";
/// The table of probes in the kernel.
pub(super) const KERNEL: &str = "kprobe_events";
/// C libraries that get probes, at most. Each container can have its own.
const MOST_LIBRARIES: usize = 16;
/// Processes whose libraries are looked for, at most.
const MOST_PROCESSES: usize = 4096;
/// Places of the C library of the machine itself.
const USUAL: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Registers with the arguments of a call, and where the seventh one is.
pub(super) struct Registers {
    /// Number of the machine in the header of an ELF file.
    pub(super) machine: u16,
    pub(super) arguments: [&'static str; 3],
    pub(super) seventh: &'static str,
    /// Where the return address is at the entry of a function.
    pub(super) caller: &'static str,
}

/// Those of this machine.
pub(super) fn registers() -> Option<Registers> {
    Some(match std::env::consts::ARCH {
        "x86_64" => Registers { machine: 62, arguments: ["%di", "%si", "%dx"], seventh: "+8(%sp)", caller: "+0(%sp)" },
        "aarch64" => Registers { machine: 183, arguments: ["%x0", "%x1", "%x2"], seventh: "%x6", caller: "%x30" },
        "riscv64" => Registers { machine: 243, arguments: ["%a0", "%a1", "%a2"], seventh: "%a6", caller: "%ra" },
        _ => return None,
    })
}

/// The table with that name, if it may be changed.
pub(super) fn table(name: &str) -> Option<PathBuf> {
    let roots = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(Path::new);
    let tables = roots.map(|root| root.join(name));
    tables.into_iter().find(|table| OpenOptions::new().append(true).open(table).is_ok())
}

/// Probes that are set. They go when this is dropped.
#[derive(Debug)]
pub(crate) struct Probes {
    table: PathBuf,
    /// What the names of the groups of these probes begin with.
    group: String,
    /// `group/event`.
    events: Vec<String>,
    /// It removes the probes when this process is gone.
    watcher: Option<Child>,
}

impl Probes {
    /// None yet, in a table; those of the dead go. Tells in words why that is not possible.
    pub(super) fn in_table(name: &str, group: &str) -> Result<Self, String> {
        let table = table(name).ok_or("the kernel's table of probes cannot be written")?;
        remove_abandoned(&table);
        let own = Identity::own().ok_or("this process cannot be found")?;
        let group = format!("{group}{}_{}", own.pid, own.started);
        Ok(Self { table, group, events: Vec::new(), watcher: None })
    }

    /// Probes of some functions in the C libraries of this machine. `told` says what the probes of a function tell: at its entry, and at
    /// its return where that gets one, too. Tells in words why that is not possible.
    pub(super) fn in_libraries<const N: usize>(
        group: &str,
        functions: [&'static str; N],
        told: impl Fn(&Registers, &str) -> (String, Option<&'static str>),
    ) -> Result<Self, String> {
        let registers = registers().ok_or("the registers of this processor are not known")?;
        let mut probes = Self::in_table(PROGRAMS, group)?;
        let mut failed = None;
        for (number, library) in libraries(registers.machine).iter().enumerate() {
            let told = |function: &str| told(&registers, function);
            if let Err(why) = probes.set_in(library, number, functions, told) {
                failed = Some(format!("{}: {why}", library.display()));
            }
        }
        if probes.events.is_empty() {
            return Err(failed.unwrap_or_else(|| "no C library was found".to_owned()));
        }
        Ok(probes.watched())
    }

    /// Probes of some functions in one C library; `told` as of [`in_libraries`](Self::in_libraries).
    pub(super) fn in_library<const N: usize>(
        group: &str,
        library: &Path,
        functions: [&'static str; N],
        told: impl Fn(&Registers, &str) -> (String, Option<&'static str>),
    ) -> Result<Self, String> {
        let registers = registers().ok_or("the registers of this processor are not known")?;
        let mut probes = Self::in_table(PROGRAMS, group)?;
        probes.set_in(library, 0, functions, |function| told(&registers, function))?;
        if probes.events.is_empty() {
            return Err(format!("{} has none of the functions", library.display()));
        }
        Ok(probes.watched())
    }

    fn set_in<const N: usize>(
        &mut self,
        library: &Path,
        number: usize,
        functions: [&'static str; N],
        told: impl Fn(&str) -> (String, Option<&'static str>),
    ) -> Result<(), String> {
        let file = File::open(library).map_err(|error| error.to_string())?;
        let offsets = elf::exported(std::io::BufReader::new(file), functions).map_err(|error| error.to_string())?;
        for (function, offset) in functions.iter().zip(offsets) {
            let Some(offset) = offset else { continue };
            let (entry, result) = told(function);
            let place = format!("{}:{offset:#x}", library.display());
            self.set('p', number, function, &place, &entry)?;
            if let Some(result) = result {
                self.set('r', number, &format!("{function}__return"), &place, result)?;
            }
        }
        Ok(())
    }

    /// Sets a probe: `p` at the entry of a function, `r` at its return.
    pub(super) fn set(
        &mut self,
        kind: char,
        number: usize,
        event: &str,
        place: &str,
        told: &str,
    ) -> Result<(), String> {
        let name = format!("{}_{number}/{event}", self.group);
        self.write(&format!("{kind}:{name} {place} {told}\n")).map_err(|error| error.to_string())?;
        self.events.push(name);
        Ok(())
    }

    fn write(&self, line: &str) -> std::io::Result<()> {
        OpenOptions::new().append(true).open(&self.table)?.write_all(line.as_bytes())
    }

    /// Arguments of perf that record the probes. `terms` are those of events with a stack.
    pub(crate) fn arguments(&self, terms: &str) -> impl Iterator<Item = String> {
        self.events.iter().flat_map(move |event| {
            let terms = if event.ends_with("__return") { "" } else { terms };
            ["-e".to_owned(), format!("{}{terms}", event.replacen('/', ":", 1))]
        })
    }

    /// Starts a process that waits until this one is gone, and then removes the probes: as soon as perf, which ends then, too, has let
    /// go of them.
    pub(super) fn watched(mut self) -> Self {
        const SCRIPT: &str = "cat >/dev/null 2>&1; table=$1; shift; turn=0
            while [ $# -gt 0 ] && [ $turn -lt 2000 ]; do
                { echo \"-:$1\" >>\"$table\"; } 2>/dev/null || set -- \"$@\" \"$1\"
                shift; turn=$((turn + 1)); [ $((turn % 16)) -ne 0 ] || sleep 0.2
            done";
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(&self.table).args(&self.events);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        process::detach(&mut command);
        self.watcher = command.spawn().ok();
        self
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        /// perf has ended; the kernel may need a moment.
        const TURNS: u32 = 50;
        if let Some(mut watcher) = self.watcher.take() {
            let _ = watcher.kill();
            let _ = watcher.wait();
        }
        for _ in 0..TURNS {
            let left: Vec<String> = self.events.drain(..).collect();
            self.events = left.into_iter().filter(|event| self.write(&format!("-:{event}\n")).is_err()).collect();
            if self.events.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Removes probes of recorders that are gone.
fn remove_abandoned(table: &Path) {
    let text = fs::read_to_string(table).unwrap_or_default();
    for event in text.lines().filter_map(event_of).filter(|event| is_abandoned(event)) {
        // A probe that is still recorded cannot be removed, and is in nobody's way.
        let removed = OpenOptions::new().append(true).open(table);
        let _ = removed.and_then(|mut table| table.write_all(format!("-:{event}\n").as_bytes()));
    }
}

/// `group/event` of a line `p:group/event place …`.
fn event_of(line: &str) -> Option<&str> {
    line.split_whitespace().next()?.split_once(':').map(|(_, event)| event)
}

/// Whether the recorder that set a probe is gone. Probes of others are not ours to judge.
fn is_abandoned(event: &str) -> bool {
    let maker = |event: &str| {
        let own = GROUPS.iter().find_map(|group| event.strip_prefix(group))?;
        let mut numbers = own.split('/').next()?.split('_');
        Some(Identity { pid: numbers.next()?.parse().ok()?, started: numbers.next()?.parse().ok()? })
    };
    maker(event).is_some_and(|maker| !maker.is_alive())
}

/// The C libraries of the machine and of the processes that run, each file once.
pub(super) fn libraries(machine: u16) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |path: PathBuf| {
        let id = fs::metadata(&path).map(|about| (about.dev(), about.ino()));
        // The table's lines are separated by spaces.
        let can_be_named = path.to_str().is_some_and(|path| !path.contains(char::is_whitespace));
        let is_new = id.is_ok_and(|id| seen.insert(id));
        if is_new && can_be_named && found.len() < MOST_LIBRARIES && is_of(&path, machine) {
            found.push(path);
        }
    };
    for directory in USUAL {
        let below = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        // Distributions with several architectures have a directory for each.
        let is_multiarch =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"));
        let (multiarch, files): (Vec<_>, Vec<_>) = below.partition(is_multiarch);
        files.into_iter().filter(|path| is_c_library(path)).for_each(&mut add);
        multiarch.into_iter().map(|directory| directory.join("libc.so.6")).for_each(&mut add);
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_process = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    };
    for process in processes.filter(is_process).take(MOST_PROCESSES) {
        let maps = fs::read_to_string(process.join("maps")).unwrap_or_default();
        let paths = maps.lines().filter_map(|line| line.find('/').and_then(|at| line.get(at..)));
        let mut paths: Vec<&str> = paths.filter(|path| is_c_library(Path::new(path))).collect();
        paths.dedup();
        paths.into_iter().for_each(|path| add(process.join("root").join(path.trim_start_matches('/'))));
    }
    found
}

/// Whether a file is called as C libraries are: that of GNU, also before version 2.34, and musl.
pub(super) fn is_c_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "libc.so.6"
        || name.starts_with("libc-2.") && name.ends_with(".so")
        || name.starts_with("ld-musl-")
        || name.starts_with("libc.musl-")
}

/// Whether a file is a 64-bit ELF file of a machine.
fn is_of(path: &Path, machine: u16) -> bool {
    let mut head = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    let [first, second] = machine.to_le_bytes();
    read.is_ok() && head.starts_with(b"\x7fELF\x02") && head.ends_with(&[first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_the_dead_are_told_from_those_of_the_living() {
        let own = Identity::own().unwrap();
        let is = |line: &str| event_of(line).is_some_and(is_abandoned);
        for group in GROUPS {
            let line =
                |pid: u32, started: u64| format!("p:{group}{pid}_{started}_0/getaddrinfo /lib/libc.so.6:0x12 name=x");
            assert!(!is(&line(own.pid, own.started)));
            assert!(is(&line(own.pid, own.started + 1)), "another process had the id");
            assert!(is(&line(4_000_000_001, 7)));
        }
        for other in ["p:probe_libc/getaddrinfo /lib/libc.so.6:0x12", "p:tracesift_dns_x_y/a b", "", "nothing"] {
            assert!(!is(other), "{other}");
        }
    }
}
