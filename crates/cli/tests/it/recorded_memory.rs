//! Real recordings of memory, held against what programs read in `/proc` meanwhile.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::PoisonError;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{MemoryProcessRow, MemoryStateRow, PageFaultRow, ProcessRow};

use crate::recording::{RECORDING, ask, can_record, said, tracesift};

const PAGE: i64 = 4096;
/// What the kernel may count behind, for each thread.
const BEHIND: i64 = 64 * PAGE;

/// It maps, touches and frees memory, and says after each step what `/proc/self/statm` has.
const STEPS: &str = r#"
import mmap, os, resource, sys, time
BYTES = 96 << 20
def tell(step):
    size, resident = open("/proc/self/statm").read().split()[:2]
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    print(step, os.getpid(), now, size, resident, flush=True)
def step(name):
    tell(name)
    time.sleep(1.6)
    tell(name)
step("begun")
private = mmap.mmap(-1, BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
private.madvise(mmap.MADV_NOHUGEPAGE)
step("mapped")
for at in range(0, BYTES, 4096):
    private[at] = 1
step("touched")
private.close()
step("freed")
fd = os.open("mapped", os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(64 * 65536))
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
of_file = mmap.mmap(fd, 64 * 65536, mmap.MAP_SHARED, mmap.PROT_READ)
of_file.madvise(mmap.MADV_RANDOM)
for at in range(0, 64 * 65536, 65536):
    of_file[at]
print("faults", os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_majflt, 0, 0, flush=True)
"#;

/// It says what `/proc/meminfo` has, many times.
const MACHINE: &str = r#"
import time
while True:
    figures = dict(line.split(":") for line in open("/proc/meminfo"))
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    kib = lambda key: int(figures[key].split()[0])
    print(now, kib("MemFree") << 10, kib("Committed_AS") << 10, flush=True)
    time.sleep(0.01)
"#;

struct Recorded {
    directory: TempDir,
    archive: Archive,
}

impl Recorded {
    /// Records both programs; prints why and gives `None` where that is not possible.
    fn memory() -> Option<Self> {
        let directory = TempDir::new_in(std::env::current_exe().ok()?.parent()?).expect("a directory");
        let own = directory.path();
        let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        if Command::new(&python).arg("--version").output().is_err() {
            skipped("no python3");
            return None;
        }
        if !can_record() {
            return None;
        }
        fs::write(own.join("steps.py"), STEPS).expect("a program");
        fs::write(own.join("machine.py"), MACHINE).expect("a program");
        let both = format!("{python} machine.py >machine & other=$!; {python} steps.py >steps; kill $other");
        let arguments = ["record", "--profile", "Memory", "-o", "a.data", "--", "sh", "-c", &both];
        let output = tracesift(own, &arguments).output().expect("a recording");
        assert!(output.status.success(), "{}", said(&output));
        let extracted = tracesift(own, &["extract", "a.data"]).output().expect("an extract");
        assert!(extracted.status.success(), "{}", said(&extracted));
        let archive = Archive::open(&own.join("a.sift")).expect("an archive");
        Some(Self { directory, archive })
    }

    /// The words of the lines that a program wrote.
    fn lines(&self, name: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.directory.path().join(name)).expect("what it wrote");
        text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }
}

fn number(word: &str) -> i64 {
    word.parse().expect("a number")
}

#[test]
fn memory_is_what_proc_has() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(recorded) = Recorded::memory() else { return };
    let lines = recorded.lines("steps");
    let pid = number(&lines[0][1]);
    of_process(&recorded, &lines, pid);
    of_machine(&recorded);
    of_faults(&recorded, &lines, pid);
}

/// What a process has at the end of each step is what the row before says.
fn of_process(recorded: &Recorded, lines: &[Vec<String>], pid: i64) {
    let processes: Vec<ProcessRow> = recorded.archive.rows().expect("processes");
    let process = processes.iter().find(|row| row.pid == pid).expect("the process").process;
    let rows: Vec<MemoryProcessRow> = recorded.archive.rows().expect("memory");
    assert!(rows.is_sorted_by_key(|row| row.time));
    let zero = recorded.archive.info().clock_zero;
    let mut steps: BTreeMap<&str, [i64; 3]> = BTreeMap::new();
    for line in lines.iter().filter(|line| line[0] != "faults") {
        steps.insert(&line[0], [&line[2], &line[3], &line[4]].map(|word| number(word)));
    }
    assert_eq!(steps.len(), 4, "{lines:?}");
    let mut compared = 0;
    for (step, [time, size, resident]) in steps {
        let before = |row: &&MemoryProcessRow| row.process == process && row.time + zero <= time;
        // Until the recorder looks at a process, events tell single parts only. On a busy machine it looks late.
        let figures = |row: &MemoryProcessRow| {
            Some([row.rss_file?.checked_add(row.rss_anon?)?.checked_add(row.rss_shmem?)?, row.virtual_size?])
        };
        let Some(row) = rows.iter().rfind(before) else { continue };
        let Some(found) = figures(row) else { continue };
        for (found, told) in found.into_iter().zip([resident, size]) {
            let differs = found - told * PAGE;
            assert!(differs.abs() <= BEHIND, "{step}: {differs} bytes, {row:?}");
        }
        compared += 1;
    }
    assert!(compared >= 2, "{compared} of 4 steps: {rows:?}");
}

/// Each reading of the machine lies among those of a program at the same time.
fn of_machine(recorded: &Recorded) {
    const AROUND: i64 = 60_000_000;
    // Others work on the machine, too.
    const SLACK: i64 = 32 << 20;
    let zero = recorded.archive.info().clock_zero;
    let lines: Vec<[i64; 3]> = recorded
        .lines("machine")
        .iter()
        .filter_map(|words| words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<i64>>>()?.try_into().ok())
        .collect();
    let rows: Vec<MemoryStateRow> = recorded.archive.rows().expect("memory");
    let mut compared = 0;
    for row in &rows {
        let near: Vec<&[i64; 3]> = lines.iter().filter(|line| (line[0] - row.time - zero).abs() <= AROUND).collect();
        if near.len() < 3 {
            continue;
        }
        compared += 1;
        for (place, figure) in [(1, row.free), (2, row.commit)] {
            let all = || near.iter().map(|line| line[place]);
            let (least, most) = (all().min().expect("some") - SLACK, all().max().expect("some") + SLACK);
            let figure = figure.expect("known");
            assert!((least..=most).contains(&figure), "{place}: {figure} of {least} to {most}");
        }
    }
    assert!(compared >= 3, "{compared} of {} readings", rows.len());
}

/// A fault is in both tables, and counts once.
fn of_faults(recorded: &Recorded, lines: &[Vec<String>], pid: i64) {
    let own = recorded.directory.path();
    let pid_text = pid.to_string();
    let question = ["dump", "faults", "a.sift", "-p", &pid_text, "--details", "--format", "json"];
    let answer = ask(own, &question);
    let [sums] = &answer[..] else { panic!("{answer:?}") };
    let figure = |key: &str| sums[key].as_i64();
    let told = number(&lines.iter().find(|line| line[0] == "faults").expect("told")[2]);
    if told < 64 {
        return skipped("the file stays in the page cache");
    }
    let processes: Vec<ProcessRow> = recorded.archive.rows().expect("processes");
    let process = processes.iter().find(|row| row.pid == pid).expect("the process").process;
    let rows: Vec<PageFaultRow> = recorded.archive.rows().expect("faults");
    let faults = rows.iter().filter(|row| row.process == process).count() as i64;
    // Those of its end come behind.
    assert!(faults >= told, "{faults} of {told}");
    assert_eq!((figure("faults"), figure("major")), (Some(faults), Some(faults)), "{sums}");
    assert!(figure("hard_faults").is_some_and(|hard| (64..=faults).contains(&hard)), "{sums}");
    assert!(figure("hard_time_sum_ns").is_some_and(|time| time > 0), "{sums}");
    let path = own.canonicalize().expect("a path").join("mapped");
    let path = path.to_str().expect("text");
    let of_file = ask(own, &[&question[..], &["--path", path]].concat());
    assert_eq!(of_file[0]["hard_faults"].as_i64(), Some(64), "{of_file:?}");
    assert_eq!(of_file[0]["hard_bytes"].as_i64(), Some(64 * PAGE), "{of_file:?}");
}
