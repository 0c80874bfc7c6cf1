//! Programs in a cgroup with little memory: one reads a file that is larger, one wants more memory.

use std::fs::{read_to_string, write};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{Advice, fadvise};
use rustix::thread::gettid;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{ProcessRow, ReclaimRow, reclaim_kinds};

use super::measured::{self, record_of};
use super::programs::tell;

const PAGE: i64 = 4096;
/// Memory of the cgroup.
const LIMIT: &str = "16777216";
/// Bytes of the file.
const FILE: usize = 64 << 20;

/// Where cgroups with a limit of memory can be made, and the file that sets it.
fn controller() -> Option<(PathBuf, &'static str)> {
    let mounts = read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, root, system, options, ..] = words[..] else { return None };
        let root = PathBuf::from(root);
        match system {
            "cgroup" if options.split(',').any(|option| option == "memory") => Some((root, "memory.limit_in_bytes")),
            "cgroup2" => {
                let controllers = read_to_string(root.join("cgroup.subtree_control")).ok()?;
                controllers.split_whitespace().any(|name| name == "memory").then_some((root, "memory.max"))
            }
            _ => None,
        }
    })
}

/// How many cgroups were made.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A cgroup with that limit, which is removed in the end.
struct Cgroup {
    root: PathBuf,
    path: PathBuf,
}

impl Cgroup {
    fn new() -> Option<Self> {
        let (root, limit) = controller()?;
        // Tests of one process may run side by side.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!("tracesift-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        let cgroup = Self { root, path };
        write(cgroup.path.join(limit), LIMIT).ok()?;
        Some(cgroup)
    }

    fn enter(path: &Path) {
        write(path.join("cgroup.procs"), std::process::id().to_string()).unwrap();
    }

    fn stat(&self, key: &str) -> Option<i64> {
        let text = read_to_string(self.path.join("memory.stat")).unwrap();
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
    }
}

/// Bytes that this process got from disks.
fn read_bytes() -> i64 {
    let text = read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "));
    line.and_then(|figure| figure.parse().ok()).unwrap()
}

#[test]
#[ignore = "a program that a test records"]
fn reclaiming() {
    let executable = std::env::current_exe().unwrap();
    let mut file = tempfile::tempfile_in(executable.parent().unwrap()).unwrap();
    let mut buffer = vec![0x5a_u8; 1 << 20];
    (0..FILE / buffer.len()).for_each(|_| file.write_all(&buffer).unwrap());
    file.sync_all().unwrap();
    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    file.rewind().unwrap();

    let cgroup = Cgroup::new().unwrap();
    Cgroup::enter(&cgroup.path);
    // What the cgroup counts, or what came from the disk and is not there any more.
    let figures = || (cgroup.stat("pgsteal_direct"), read_bytes(), cgroup.stat("cache").unwrap_or(0));
    let (stolen, read, cached) = figures();
    while file.read(&mut buffer).unwrap() > 0 {}
    let (stolen_after, read_after, cached_after) = figures();
    Cgroup::enter(&cgroup.root);
    let bytes = match stolen.zip(stolen_after) {
        Some((before, after)) => (after - before) * PAGE,
        None => (read_after - read) - (cached_after - cached),
    };
    let tid = gettid().as_raw_nonzero().get().into();
    tell("reclaimer", &[("tid", tid), ("bytes", bytes), ("read", read_after - read)]);
}

/// Wants more memory than its cgroup has. The parent has put it there.
#[test]
#[ignore = "a program that a test records"]
fn overeating() {
    // The kernel chooses this process and not another one.
    write("/proc/self/oom_score_adj", "1000").unwrap();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    loop {
        blocks.push(vec![0x5a; 1 << 20]);
        assert!(blocks.len() < 256, "nothing limits the memory of this process");
    }
}

#[test]
#[ignore = "a program that a test records"]
fn starving() {
    let cgroup = Cgroup::new().unwrap();
    let own = |name: &str| -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("known::reclaims::{name}"), "--ignored", "--nocapture"]);
        command
    };
    // The child is in the cgroup from its first page on.
    Cgroup::enter(&cgroup.path);
    let child = own("overeating").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Cgroup::enter(&cgroup.root);
    let mut child = child.unwrap();
    let pid = i64::from(child.id());
    let signal = child.wait().unwrap().signal();
    tell("eater", &[("pid", pid), ("signal", signal.map_or(0, i64::from))]);
}

#[test]
fn a_process_that_the_kernel_kills_for_memory_is_named() {
    if Cgroup::new().is_none() {
        return skipped("no cgroup with a limit of memory can be made here");
    }
    let Some(measured) = record_of("reclaims", "starving", &["-a", "-e", "oom:mark_victim"]) else { return };
    let told = &measured.truth.0["eater"];
    if told["signal"] == 0 {
        return skipped(
            "the cgroup of this machine does not limit memory: there is swap, or somebody else has the limit",
        );
    }
    assert_eq!(told["signal"], 9);
    let rows: Vec<ReclaimRow> = measured.extracted.archive.rows().unwrap();
    let processes: Vec<ProcessRow> = measured.extracted.archive.rows().unwrap();
    let pid =
        |row: &ReclaimRow| processes.iter().find(|process| Some(process.process) == row.process).map(|row| row.pid);
    let killed: Vec<_> = rows.iter().filter(|row| row.kind == reclaim_kinds::OOM_KILL).map(pid).collect();
    assert_eq!(killed.iter().filter(|pid| **pid == Some(told["pid"])).count(), 1, "{killed:?}");
}

#[test]
fn memory_that_a_full_cgroup_gives_back_is_reclaimed_by_who_needs_some() {
    if Cgroup::new().is_none() {
        return skipped("no cgroup with a limit of memory can be made here");
    }
    let events = ["vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end"];
    let arguments = ["-a", "-g", "-e", events[0], "-e", events[1]];
    let Some(measured) = record_of("reclaims", "reclaiming", &arguments) else { return };
    let told = &measured.truth.0["reclaimer"];
    if told["read"] == 0 {
        return skipped("the test executable does not lie on a disk");
    }
    let thread = measured.thread(told["tid"]).thread;
    let rows: Vec<ReclaimRow> = measured.extracted.archive.rows().unwrap();
    let own: Vec<&ReclaimRow> = rows.iter().filter(|row| row.thread == Some(thread)).collect();
    assert!(!own.is_empty() && own.iter().all(|row| row.kind == reclaim_kinds::CGROUP));
    assert!(own.iter().any(|row| row.stack.is_some()));
    // Exactly what perf prints.
    let traced: Vec<_> = measured.tracepoints().into_iter().filter(|line| line.tid == told["tid"]).collect();
    let of = |event: &'static str| traced.iter().filter(move |line| line.event == event);
    let pages = |text: &str| -> i64 { text.split_once("nr_reclaimed=").unwrap().1.trim().parse().unwrap() };
    let zero = measured.extracted.info.clock_zero;
    let begins: Vec<i64> = of(events[0]).map(|line| line.time).collect();
    let ends: Vec<(i64, i64)> = of(events[1]).map(|line| (line.time, pages(&line.text) * PAGE)).collect();
    assert_eq!(own.iter().map(|row| row.start + zero).collect::<Vec<_>>(), begins);
    let found: Vec<(i64, i64)> = own.iter().map(|row| (row.time + zero, row.reclaimed.unwrap())).collect();
    assert_eq!(found, ends);
    let reclaimed: i64 = own.iter().filter_map(|row| row.reclaimed).sum();
    // The program has some memory that no file has, and the kernel has caches.
    measured::assert_close(reclaimed, told["bytes"], 512 * PAGE, "reclaimed");
    assert!(reclaimed > (FILE as i64) / 2, "{reclaimed}");
}
