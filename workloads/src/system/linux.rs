//! Linux.

use std::fs::{File, OpenOptions, read_to_string};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;

use memmap2::{MmapMut, UncheckedAdvice};
use rustix::fs::{Advice, fadvise};
use rustix::process::{Resource, getrlimit, setpriority_process, setrlimit};
use rustix::thread::gettid;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde_json::json;

use super::Priority;

pub(super) const CLOCK: &str = "CLOCK_MONOTONIC";

fn clock(id: ClockId) -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(id);
    tv_sec * 1_000_000_000 + tv_nsec
}

pub(super) fn time_ns() -> i64 {
    clock(ClockId::Monotonic)
}

pub(super) fn thread_cpu_ns() -> i64 {
    clock(ClockId::ThreadCPUTime)
}

pub(super) fn process_cpu_ns() -> i64 {
    clock(ClockId::ProcessCPUTime)
}

/// The word at an index, of the text of a file below `/proc`.
fn word(text: &str, index: usize) -> Option<i64> {
    text.split_ascii_whitespace().nth(index)?.parse().ok()
}

pub(super) fn stolen_ns() -> Option<i64> {
    let text = read_to_string("/proc/stat").ok()?;
    // `cpu  user nice system idle iowait irq softirq steal`
    Some(word(text.lines().next()?, 8)? * 10_000_000)
}

pub(super) fn run_delay_ns() -> Option<i64> {
    word(&read_to_string("/proc/thread-self/schedstat").ok()?, 1)
}

pub(super) fn switches() -> Option<[i64; 2]> {
    let text = read_to_string("/proc/thread-self/status").ok()?;
    let count = |key| text.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok();
    Some([count("voluntary_ctxt_switches:")?, count("nonvoluntary_ctxt_switches:")?])
}

pub(super) fn thread_id() -> i64 {
    gettid().as_raw_nonzero().get().into()
}

pub(super) fn page_faults() -> Option<i64> {
    let text = read_to_string("/proc/self/stat").ok()?;
    // Anything may stand in the name, between parentheses; behind it: state and eight fields, of which minor faults are the eighth.
    let (_, fields) = text.rsplit_once(')')?;
    Some(word(fields, 7)? + word(fields, 9)?)
}

pub(super) fn set_priority(priority: Priority) -> io::Result<()> {
    let nice = match priority {
        Priority::Normal => 0,
        Priority::Low => 3,
        Priority::Lower => 6,
    };
    // Of a thread and not of its process, if it is the thread's id.
    Ok(setpriority_process(Some(gettid()), nice)?)
}

pub(super) fn raise_descriptor_limit(count: u64) -> io::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < count) {
        limit.current = Some(limit.maximum.map_or(count, |maximum| maximum.min(count)));
        setrlimit(Resource::Nofile, limit)?;
    }
    Ok(())
}

pub(super) fn drop_from_cache(path: &Path) -> io::Result<()> {
    Ok(fadvise(File::open(path)?, 0, None, Advice::DontNeed)?)
}

pub(super) fn trim(memory: &mut MmapMut) -> io::Result<()> {
    #[expect(unsafe_code, reason = "the advice is unsafe for maps whose content would be lost")]
    // SAFETY: the map is ours alone and anonymous: its bytes become zero, which is what every caller expects.
    unsafe {
        memory.unchecked_advise(UncheckedAdvice::DontNeed)
    }
}

/// Names the file that takes the marks of a recording which `tracesift record` makes.
const MARKS: &str = "TRACESIFT_MARKS";

pub(super) fn mark(text: &str) -> bool {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    static MARKER: OnceLock<Option<File>> = OnceLock::new();
    let line = json!({ "at": { "clock": CLOCK, "clock_ns": time_ns() }, "text": text });
    let file = FILE.get_or_init(|| OpenOptions::new().append(true).open(std::env::var_os(MARKS)?).ok());
    let open = || {
        let paths = ["/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker"];
        paths.iter().find_map(|path| OpenOptions::new().write(true).open(path).ok())
    };
    let marker = MARKER.get_or_init(open);
    // One write per mark: each is a line of its own, whoever else writes.
    let write = |file: &Option<File>, line: String| {
        file.as_ref().is_some_and(|mut file| file.write_all(line.as_bytes()).is_ok())
    };
    let recorded = write(file, format!("{line}\n"));
    write(marker, format!("{text}\n")) || recorded
}
