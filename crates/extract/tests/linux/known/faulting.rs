//! Page faults of a program that maps a file which is not in the page cache.

use std::collections::BTreeSet;
use std::path::Path;

use tracesift_fixtures::skipped;
use tracesift_trace::rows::{FileRow, HardFaultRow, MappedViewRow, PageFaultRow, page_fault_kinds};

use super::measured::{self, Measured};

/// Pages that are touched, so far from each other that none is read for another one.
const TOUCHED: i64 = 64;
const STRIDE: i64 = 16 * PAGE;
const PAGE: i64 = 4096;

/// Its figures are those of the thread's `getrusage`.
const PROGRAM: &str = r#"
import mmap, os, resource, sys, threading, time
path, touched, stride = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(path, os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(touched * stride))
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
memory = mmap.mmap(fd, touched * stride, mmap.MAP_SHARED, mmap.PROT_READ)
memory.madvise(mmap.MADV_RANDOM)
maps = [line.split() for line in open("/proc/self/maps")]
first, last = next(line[0].split("-") for line in maps if line[-1] == path)
base, size = int(first, 16), int(last, 16) - int(first, 16)
def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC), resource.getrusage(resource.RUSAGE_THREAD).ru_majflt
now()
begin, before = now()
for page in range(touched):
    memory[page * stride]
end, after = now()
memory.close()
print(f"truth of faulter tid={threading.get_native_id()} from={begin} until={end} major={after - before} base={base} size={size}")
"#;

fn record(path: &Path, traps: &[&str]) -> Option<Measured> {
    let python = std::env::var("TRACESIFT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if std::process::Command::new(&python).arg("--version").output().is_err() {
        skipped("no python3");
        return None;
    }
    let (touched, stride) = (TOUCHED.to_string(), STRIDE.to_string());
    let program = [&python, "-c", PROGRAM, path.to_str().unwrap(), &touched, &stride];
    let events = ["-a", "-g", "-d", "-c", "1", "-e", "major-faults", "-e", "filemap:mm_filemap_add_to_page_cache"];
    let named = ["-e", "filemap:mm_filemap_fault"];
    let calls =
        ["mmap", "munmap"].map(|call| [format!("syscalls:sys_enter_{call}"), format!("syscalls:sys_exit_{call}")]);
    let calls: Vec<&str> = calls.iter().flatten().flat_map(|event| ["-e", event]).collect();
    measured::record_words(&program, &[&events[..], &named, &calls, traps].concat())
}

#[test]
fn hard_faults_are_those_that_the_kernel_counts_for_the_thread() {
    let directory = tempfile::TempDir::new_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let path = directory.path().canonicalize().unwrap().join("mapped");
    let traps = ["-e", "exceptions:page_fault_user"];
    for traps in [&[][..], &traps[..]] {
        let Some(measured) = record(&path, traps) else { return };
        check(&measured, &path);
    }
}

fn check(measured: &Measured, path: &Path) {
    let told = &measured.truth.0["faulter"];
    if told["major"] < TOUCHED {
        return skipped("the file stays in the page cache");
    }
    let thread = measured.thread(told["tid"]).thread;
    let zero = measured.extracted.info.clock_zero;
    let (from, until) = (told["from"] - zero, told["until"] - zero);
    let files: Vec<FileRow> = measured.extracted.archive.rows().unwrap();
    let hard: Vec<HardFaultRow> = measured.extracted.archive.rows().unwrap();
    assert!(hard.is_sorted_by_key(|row| row.time));
    let own = |row: &&HardFaultRow| row.thread == Some(thread) && (from..until).contains(&row.time);
    let hard: Vec<&HardFaultRow> = hard.iter().filter(own).collect();
    assert_eq!(hard.len() as i64, told["major"], "{told:?}");
    // Each is a fault of `page_faults`, which says so.
    let faults: Vec<PageFaultRow> = measured.extracted.archive.rows().unwrap();
    let of_thread = |row: &&PageFaultRow| row.thread == thread && (from..until).contains(&row.time);
    let faults: Vec<_> = faults.iter().filter(of_thread).map(|row| (row.time, row.kind, row.hard)).collect();
    let expected: Vec<_> = hard.iter().map(|row| (row.time, page_fault_kinds::MAJOR, Some(true))).collect();
    assert_eq!(faults, expected);

    let is_mapped = |row: &&&HardFaultRow| row.file.is_some_and(|file| Path::new(&files[file.index()].path) == path);
    let mapped: Vec<_> = hard.iter().filter(is_mapped).collect();
    let offsets: BTreeSet<i64> = mapped.iter().map(|row| row.offset).collect();
    assert_eq!(offsets, (0..TOUCHED).map(|page| page * STRIDE).collect(), "{files:?}");
    let first = mapped[0];
    for row in &mapped {
        assert_eq!((row.size, row.address - first.address), (PAGE, row.offset - first.offset), "{row:?}");
        assert!(from <= row.start && row.start < row.time && row.stack.is_some(), "{row:?}");
    }
    // A thread has one at a time.
    assert!(hard.windows(2).all(|pair| pair[0].time <= pair[1].start), "{hard:?}");
    // The kernel's own list of mappings has it.
    let views: Vec<MappedViewRow> = measured.extracted.archive.rows().unwrap();
    assert!(views.is_sorted_by_key(|row| row.time));
    let process = measured.thread(told["tid"]).process;
    let view: Vec<_> = views.iter().filter(|row| row.process == process && row.base == told["base"]).collect();
    let [view] = view[..] else { panic!("{view:?}") };
    assert_eq!((view.size, view.offset, view.open, view.by_exit), (told["size"], Some(0), Some(false), Some(false)));
    assert!(view.start < from && until < view.time && view.thread == Some(thread), "{view:?}");
    let file = view.file.map(|file| files[file.index()].path.as_str());
    assert_eq!(file.map(Path::new), Some(path));
    assert!(measured.extracted.info.enabled.iter().any(|table| table == "hard_faults"));
}
