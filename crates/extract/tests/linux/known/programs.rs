//! Programs with known behaviour, for tests to record. None is a test: each tells what it did, measured on its own clocks.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _, pipe};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;
use std::sync::Mutex;
use std::thread::{Builder, Scope, scope, sleep};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::thread::gettid;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// What a line of the truth begins with; the test harness may write before it.
const TRUTH: &str = "truth of ";

/// What a program tells of itself: figures by name of the thread and of the figure.
#[derive(Debug, Default)]
pub(crate) struct Truth(pub(crate) BTreeMap<String, BTreeMap<String, i64>>);

impl Truth {
    pub(crate) fn parse(text: &str) -> Self {
        let mut truth = Self::default();
        for line in text.lines() {
            let Some((_, told)) = line.split_once(TRUTH) else { continue };
            let mut words = told.split(' ');
            let figures = truth.0.entry(words.next().unwrap().to_owned()).or_default();
            for word in words {
                let (name, figure) = word.split_once('=').unwrap();
                figures.insert(name.to_owned(), figure.parse().unwrap());
            }
        }
        truth
    }
}

#[expect(clippy::print_stdout, reason = "the test that records it reads it")]
pub(super) fn tell(thread: &str, figures: &[(&str, i64)]) {
    let figures: String = figures.iter().map(|(name, figure)| format!(" {name}={figure}")).collect();
    println!("{TRUTH}{thread}{figures}");
}

pub(super) fn clock(id: ClockId) -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(id);
    tv_sec * 1_000_000_000 + tv_nsec
}

/// ns that this thread has run.
fn cpu_time() -> i64 {
    clock(ClockId::ThreadCPUTime)
}

/// ns that this thread was runnable and did not run, as the scheduler counts them.
fn run_delay() -> i64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').nth(1).and_then(|figure| figure.parse().ok()).unwrap_or(0)
}

/// How often this thread left the CPU because it waited, and because others wanted it.
fn switches() -> [i64; 2] {
    let text = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"].map(|key| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.trim().parse().unwrap_or(0)
    })
}

/// ns that a hypervisor took from all CPUs, in steps of 10 ms. The scheduler leaves them out of CPU times.
fn stolen() -> i64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = text.lines().next().unwrap_or_default();
    all.split_whitespace().nth(8).and_then(|figure| figure.parse::<i64>().ok()).unwrap_or(0) * 10_000_000
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap()
}

/// What this thread has done up to one moment.
struct Reading {
    time: i64,
    cpu: i64,
    ready: i64,
    switches: [i64; 2],
}

impl Reading {
    /// Read once more if the thread lost its CPU meanwhile.
    fn take() -> Self {
        loop {
            let (ready, switches) = (run_delay(), switches());
            let (time, cpu) = (clock(ClockId::Monotonic), cpu_time());
            if run_delay() == ready {
                return Self { time, cpu, ready, switches };
            }
        }
    }
}

/// Runs `work` in a thread of that name, which tells where its time went, and what `work` returns.
fn thread<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    work: impl FnOnce() -> Vec<(&'static str, i64)> + Send + 'scope,
) {
    let name: String = name.into();
    let builder = Builder::new().name(name.clone());
    let told = move || {
        let (begin, before) = (Reading::take(), stolen());
        let mut figures = work();
        let (end, after) = (Reading::take(), stolen());
        // The system's figure is rounded, but has what was taken while the thread did not work.
        let stolen = STOLEN_FROM_WORK.get().max(after - before);
        let [voluntary, preempted] = [0, 1].map(|index| end.switches[index] - begin.switches[index]);
        figures.extend([("tid", gettid().as_raw_nonzero().get().into()), ("begin", begin.time), ("end", end.time)]);
        figures.extend([("cpu", end.cpu - begin.cpu), ("ready", end.ready - begin.ready)]);
        figures.extend([("voluntary", voluntary), ("preempted", preempted), ("stolen", stolen)]);
        tell(&name, &figures);
    };
    builder.spawn_scoped(scope, told).unwrap();
}

thread_local! {
    /// ns that a hypervisor took from this thread while it worked.
    static STOLEN_FROM_WORK: Cell<i64> = const { Cell::new(0) };
}

/// Works until the thread has run so long. It never sleeps, so what is neither CPU time nor waiting for a CPU was stolen.
fn spin(time: Duration) {
    let begin = Reading::take();
    let end = begin.cpu + nanos(time);
    while cpu_time() < end {
        (0..1_000_u64).for_each(|turn| _ = std::hint::black_box(turn));
    }
    let end = Reading::take();
    let stolen = (end.time - begin.time) - (end.cpu - begin.cpu) - (end.ready - begin.ready);
    STOLEN_FROM_WORK.set(STOLEN_FROM_WORK.get() + stolen.max(0));
}

const MS: Duration = Duration::from_millis(1);

/// Page faults of this thread since it began.
fn page_faults() -> i64 {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name of the thread may have spaces. Behind it minor faults are the eighth figure, major faults the tenth.
    let figures: Vec<&str> = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
    [7, 9].into_iter().filter_map(|at| figures.get(at)?.parse::<i64>().ok()).sum()
}

#[test]
#[ignore = "a program that a test records"]
fn touching_pages() {
    scope(|scope| {
        for (name, times) in [("touch-much", 12), ("touch-little", 3), ("touch-nothing", 0)] {
            thread(scope, name, move || {
                for _ in 0..times {
                    // Memory of this size is given back when it is freed, and touched anew.
                    let memory = std::hint::black_box(vec![1_u8; 4 << 20]);
                    spin(5 * MS);
                    drop(memory);
                    sleep(MS);
                }
                vec![("faults", page_faults())]
            });
        }
    });
}

#[test]
#[ignore = "a program that a test records"]
fn spinning() {
    scope(|scope| {
        for (name, ms) in [("spin-long", 600), ("spin-middle", 400), ("spin-short", 200)] {
            thread(scope, name, move || {
                spin(ms * MS);
                Vec::new()
            });
        }
    });
}

#[test]
#[ignore = "a program that a test records"]
fn sleeping() {
    scope(|scope| {
        thread(scope, "sleeper", || {
            let mut slept = 0;
            for _ in 0..20 {
                let start = Instant::now();
                sleep(15 * MS);
                slept += nanos(start.elapsed());
                spin(MS);
            }
            vec![("slept", slept)]
        });
    });
}

#[test]
#[ignore = "a program that a test records"]
fn locking() {
    let (lock, (mut holds, mut held)) = (Mutex::new(()), pipe().unwrap());
    let hold = || {
        for _ in 0..10 {
            let guard = lock.lock().unwrap();
            held.write_all(b"x").unwrap();
            sleep(20 * MS);
            spin(5 * MS);
            drop(guard);
            // Longer than the other one needs to get it, so that nobody waits where nobody counts.
            sleep(10 * MS);
        }
        Vec::new()
    };
    let wait = || {
        let (mut signalled, mut waited) = (0, 0);
        for _ in 0..10 {
            let start = Instant::now();
            holds.read_exact(&mut [0]).unwrap();
            signalled += nanos(start.elapsed());
            let start = Instant::now();
            drop(lock.lock().unwrap());
            waited += nanos(start.elapsed());
        }
        vec![("waited", waited), ("signalled", signalled)]
    };
    scope(|scope| {
        thread(scope, "holder", hold);
        thread(scope, "waiter", wait);
    });
}

#[test]
#[ignore = "a program that a test records"]
fn ping_pong() {
    const ROUND_TRIPS: i64 = 3_000;
    let ((mut pong_reads, mut ping_writes), (mut ping_reads, mut pong_writes)) = (pipe().unwrap(), pipe().unwrap());
    scope(|scope| {
        thread(scope, "ping", move || {
            for _ in 0..ROUND_TRIPS {
                ping_writes.write_all(b"x").unwrap();
                ping_reads.read_exact(&mut [0]).unwrap();
            }
            vec![("round-trips", ROUND_TRIPS)]
        });
        thread(scope, "pong", move || {
            for _ in 0..ROUND_TRIPS {
                pong_reads.read_exact(&mut [0]).unwrap();
                pong_writes.write_all(b"x").unwrap();
            }
            vec![("round-trips", ROUND_TRIPS)]
        });
    });
}

#[test]
#[ignore = "a program that a test records"]
fn many_threads() {
    scope(|scope| {
        for number in 0..40 {
            thread(scope, format!("many-{number}"), || {
                spin(10 * MS);
                sleep(20 * MS);
                spin(10 * MS);
                vec![("asked", nanos(20 * MS))]
            });
        }
    });
}

#[test]
#[ignore = "a program that a test records"]
fn short_processes() {
    let mut pids = Vec::new();
    for _ in 0..60 {
        let mut child = Command::new("true").spawn().unwrap();
        pids.push(i64::from(child.id()));
        assert!(child.wait().unwrap().success());
    }
    let pids: Vec<(String, i64)> =
        (0..).zip(pids).map(|(number, pid): (u32, _)| (format!("child-{number}"), pid)).collect();
    let figures: Vec<(&str, i64)> = pids.iter().map(|(name, pid)| (name.as_str(), *pid)).collect();
    tell("processes", &[&figures[..], &[("parent", std::process::id().into())]].concat());
}

/// Bytes that storage was asked to write for this process.
fn to_disk() -> i64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes:")).unwrap_or_default();
    line.trim().parse().unwrap_or(0)
}

/// Where files lie on a disk: where the test executable itself does.
#[test]
#[ignore = "a program that a test records"]
fn writing() {
    const FILES: i64 = 8;
    const BYTES: usize = 2 << 20;
    const ALIGNMENT: usize = 4096;
    let program = std::env::current_exe().unwrap();
    let directory = tempfile::TempDir::new_in(program.parent().unwrap()).unwrap();
    let write = || {
        for number in 0..FILES {
            // Past the page cache: what stands in it the kernel's own threads may write first.
            let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap();
            let path = directory.path().join(number.to_string());
            let mut file = OpenOptions::new().write(true).create_new(true).custom_flags(direct).open(path).unwrap();
            let buffer = vec![number as u8; BYTES + ALIGNMENT];
            let start = buffer.as_ptr().align_offset(ALIGNMENT);
            file.write_all(&buffer[start..start + BYTES]).unwrap();
            file.sync_all().unwrap();
        }
        vec![("written", FILES * BYTES as i64), ("to-disk", to_disk())]
    };
    scope(|scope| thread(scope, "writer", write));
}

/// Page faults of this thread, without data that had to be read and with them, and when they were read. The buffer is touched before, so
/// that no fault comes between the count and the time.
fn faults() -> (i64, [i64; 2]) {
    let mut buffer = [1_u8; 2048];
    let mut file = std::fs::File::open("/proc/thread-self/stat").unwrap();
    let length = file.read(&mut buffer).unwrap();
    let time = clock(ClockId::Monotonic);
    let text = String::from_utf8_lossy(&buffer[..length]);
    // Behind the name, which may have blanks.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let count = |place: usize| fields.get(place).and_then(|field| field.parse().ok()).unwrap_or(0);
    (time, [count(7), count(9)])
}

#[test]
#[ignore = "a program that a test records"]
fn touching() {
    const PAGES: usize = 3_000;
    const PAGE: usize = 4096;
    let touch = || {
        // What reading them touches for the first time was touched before.
        let _ = (faults(), faults());
        let (from, before) = faults();
        let mut memory: Vec<u8> = Vec::with_capacity(PAGES * PAGE);
        memory.resize(PAGES * PAGE, 1);
        let (until, after) = faults();
        assert_eq!(std::hint::black_box(&memory).len(), PAGES * PAGE);
        let [minor, major] = [0, 1].map(|kind| after[kind] - before[kind]);
        vec![("from", from), ("until", until), ("minor", minor), ("major", major)]
    };
    scope(|scope| thread(scope, "toucher", touch));
}

/// Pages that are touched once and given back.
#[test]
#[ignore = "a program that a test records"]
fn holding() {
    const BYTES: usize = 48 << 20;
    let hold = || {
        let resident = || -> i64 {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split(' ').nth(1).unwrap().parse::<i64>().unwrap() * 4096
        };
        let before = resident();
        let mut memory = vec![0_u8; BYTES];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        let touched = resident();
        drop(std::hint::black_box(memory));
        vec![("touched", touched - before), ("given-back", touched - resident())]
    };
    scope(|scope| thread(scope, "holder", hold));
}

/// Memory that is mapped, grown, given back and kept.
#[test]
#[ignore = "a program that a test records"]
fn mapping() {
    const MIB: usize = 1 << 20;
    let map = || {
        let data = || -> i64 {
            let text = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() * 1024
        };
        // The allocator maps blocks as large as these by themselves, behind a header.
        let base = |memory: &Vec<u8>| memory.as_ptr() as i64 & !4095;
        // The first calls make the heap of the thread.
        (0..3).for_each(|_| assert!(data() > 0));
        let (before, from) = (data(), clock(ClockId::Monotonic));
        let kept = vec![0_u8; 40 * MIB];
        let mut grown: Vec<u8> = Vec::with_capacity(50 * MIB);
        let small = base(&grown);
        let freed = vec![0_u8; 60 * MIB];
        let largest = data();
        let bases = [("kept", base(&kept)), ("small", small), ("freed", base(&freed))];
        drop(std::hint::black_box(freed));
        grown.reserve_exact(70 * MIB);
        let figures = [("grown", base(&grown)), ("largest", largest - before), ("data", data() - before)];
        std::mem::forget(std::hint::black_box((kept, grown)));
        let times = [("from", from), ("until", clock(ClockId::Monotonic))];
        [&bases[..], &figures, &times].concat()
    };
    scope(|scope| thread(scope, "mapper", map));
}
