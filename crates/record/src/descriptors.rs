//! Descriptors of the processes that run when a recording begins and ends: calls tell the number of a descriptor and not what it stands
//! for.

use std::fs;
use std::path::Path;

use crate::error::Shortfall;
use crate::facts::{DescriptorFacts, Instant, ProcessDescriptors};

/// Descriptors of a look at all processes.
const MOST: usize = 1 << 20;
/// Bytes of a look at all processes as they are written down: the whole document has to stay small enough to be read.
const MOST_BYTES: usize = 5 << 20;
/// What an entry takes beside its text.
const ENTRY: usize = 16;

/// What is left for one look.
struct Budget {
    descriptors: usize,
    bytes: usize,
}

impl Budget {
    fn take(&mut self, text: &str) -> Option<()> {
        self.descriptors = self.descriptors.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(text.len() + ENTRY)?;
        Some(())
    }
}

impl DescriptorFacts {
    /// Looks at all processes as the recording begins.
    pub(crate) fn begin(&mut self) {
        (self.start, self.cut) = look(Path::new("/proc"), true, MOST_BYTES);
    }

    /// Looks at all processes as the recording ends.
    pub(crate) fn finish(&mut self) {
        let (end, cut) = look(Path::new("/proc"), false, MOST_BYTES);
        self.end = end;
        self.cut |= cut;
    }

    /// What is missing.
    pub(crate) fn shortfall(&self) -> Option<Shortfall> {
        let what = "some descriptors have no names: more processes and files are open than the recorder notes";
        self.cut.then(|| Shortfall::new(what))
    }
}

/// The processes below a directory that is as `/proc`, and whether some are left out. Those that may not be looked at are not among them.
/// `with_flags`: also which descriptors go when a process starts another program.
fn look(root: &Path, with_flags: bool, most_bytes: usize) -> (Vec<ProcessDescriptors>, bool) {
    let mut budget = Budget { descriptors: MOST, bytes: most_bytes };
    let names = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut pids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    let mut found = Vec::new();
    for pid in pids {
        let Some(from_ns) = Instant::now().clock_ns else { break };
        let Some((process, whole)) = process(root, pid, with_flags, &mut budget) else { continue };
        let to_ns = Instant::now().clock_ns.unwrap_or(from_ns);
        if !whole {
            // What is left out of a process would look as if it were closed.
            return (found, true);
        }
        found.push(ProcessDescriptors { from_ns, to_ns, ..process });
    }
    (found, false)
}

/// A process, and whether all of it found room. `None`: it has no descriptors, has ended, or may not be looked at.
fn process(root: &Path, pid: u32, with_flags: bool, budget: &mut Budget) -> Option<(ProcessDescriptors, bool)> {
    let directory = root.join(pid.to_string());
    let target = |link: &Path| fs::read_link(link).ok().map(|target| target.to_string_lossy().into_owned());
    let mut open: Vec<(i32, String)> = Vec::new();
    for entry in fs::read_dir(directory.join("fd")).ok()? {
        // An error tells nothing of what comes behind it.
        let entry = entry.ok()?;
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that is closed meanwhile has no target.
        let Some(target) = target(&entry.path()) else { continue };
        open.push((number, target));
    }
    if open.is_empty() {
        return None;
    }
    open.sort_unstable();
    let goes = |number: &i32| {
        let info = fs::read_to_string(directory.join("fdinfo").join(number.to_string()));
        info.is_ok_and(|info| is_close_on_exec(&info))
    };
    let numbers = open.iter().map(|(number, _)| *number);
    let close_on_exec: Vec<i32> = numbers.filter(|number| with_flags && goes(number)).collect();
    let cwd = target(&directory.join("cwd"));
    let mut whole = budget.take(cwd.as_deref().unwrap_or_default());
    budget.bytes = budget.bytes.saturating_sub(close_on_exec.len() * ENTRY);
    let open: Vec<String> = open
        .into_iter()
        .map(|(number, target)| {
            whole = whole.and_then(|()| budget.take(&target));
            format!("{number} {target}")
        })
        .collect();
    Some((ProcessDescriptors { pid, from_ns: 0, to_ns: 0, cwd, open, close_on_exec }, whole.is_some()))
}

/// Whether the flags in `/proc/PID/fdinfo/N`, an octal number, have that of close-on-exec.
fn is_close_on_exec(info: &str) -> bool {
    const CLOSE_ON_EXEC: u64 = 0o2_000_000;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & CLOSE_ON_EXEC != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn make(root: &Path, pid: &str, cwd: &str, open: &[(&str, &str)]) {
        let directory = root.join(pid);
        fs::create_dir_all(directory.join("fd")).unwrap();
        symlink(cwd, directory.join("cwd")).unwrap();
        for (number, target) in open {
            symlink(target, directory.join("fd").join(number)).unwrap();
        }
    }

    #[test]
    fn a_look_has_all_processes_with_their_numbers_in_order() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path();
        make(root, "10", "/home/x", &[("10", "socket:[77]"), ("2", "/dev/null"), ("0", "/a b (deleted)")]);
        make(root, "9", "/", &[("3", "pipe:[1]")]);
        // A thread of the kernel, one that may not be looked at, and what is no process.
        make(root, "2", "/", &[]);
        fs::create_dir(root.join("11")).unwrap();
        make(root, "self", "/", &[("0", "/dev/null")]);
        fs::create_dir(root.join("10/fdinfo")).unwrap();
        fs::write(root.join("10/fdinfo/2"), "pos:\t0\nflags:\t02100001\nmnt_id:\t2\n").unwrap();
        fs::write(root.join("10/fdinfo/10"), "pos:\t0\nflags:\t0100001\n").unwrap();
        let (found, cut) = look(root, true, MOST_BYTES);
        assert!(!cut);
        assert_eq!(found[1].close_on_exec, [2]);
        let told: Vec<_> =
            found.iter().map(|process| (process.pid, process.cwd.as_deref(), &process.open[..])).collect();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (of_9, of_10) = (texts(&["3 pipe:[1]"]), texts(&["0 /a b (deleted)", "2 /dev/null", "10 socket:[77]"]));
        assert_eq!(told, [(9, Some("/"), &of_9[..]), (10, Some("/home/x"), &of_10[..])]);
        assert!(found.iter().all(|process| 0 < process.from_ns && process.from_ns <= process.to_ns));
        // A process that does not fit is left out as a whole, and those behind it.
        let (found, cut) = look(root, true, 60);
        assert_eq!((found.len(), found[0].pid, cut), (1, 9, true));
    }

    #[test]
    fn this_process_has_the_files_that_it_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (found, _) = look(Path::new("/proc"), true, MOST_BYTES);
        let own = found.iter().find(|process| process.pid == std::process::id()).expect("this process");
        let path = file.path().to_str().unwrap();
        assert_eq!(own.open.iter().filter(|open| open.ends_with(path)).count(), 1, "{own:?}");
        use std::os::fd::AsRawFd as _;
        assert!(own.close_on_exec.contains(&file.as_file().as_raw_fd()) && !own.close_on_exec.contains(&0), "{own:?}");
        let directory = std::env::current_dir().unwrap();
        assert_eq!(own.cwd.as_deref(), directory.to_str());
    }
}
