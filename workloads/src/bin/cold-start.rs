//! A start that reads files which are not in memory.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Report, ThreadTold, Usage, drop_from_cache, extra_cpu, on_stack, run, thread,
};

const USAGE: Usage = Usage {
    name: "cold-start",
    problem: "A program reads many files when it starts, and after a boot none of them is in memory: it waits for the disk. \
              A second start finds them.",
    options: &[
        Opt { name: "files", kind: Kind::Count(1), default: "300", meaning: "how many" },
        Opt { name: "size", kind: Kind::Size, default: "1M", meaning: "of each" },
        Opt {
            name: "dir",
            kind: Kind::Directory,
            default: "",
            meaning: "where, on a disk; the system's temporary directory",
        },
    ],
    keys: &[
        ("truth.files", "files that were read in each start"),
        ("truth.bytes", "bytes that were read in each start"),
        ("truth.cold_elapsed_ns", "how long the first start took: `read_cold_files`"),
        (
            "truth.cold_off_cpu_ns",
            "how much of it was without a CPU: it waited for the disk, and for a CPU behind that",
        ),
        ("truth.cold_from_disk", "bytes that came from the disk then; null where the system does not say"),
        ("truth.warm_elapsed_ns", "how long the second start took: `read_warm_files`"),
        ("truth.warm_off_cpu_ns", "how much of it was without a CPU"),
    ],
    methods: &[
        Method { name: "install_files", parts: |arguments| Ok(arguments.number("files")) },
        Method { name: "read_cold_files", parts: |_| Ok(1) },
        Method { name: "read_warm_files", parts: |_| Ok(1) },
    ],
    lock: None,
};

fn read_files(paths: &[PathBuf]) -> io::Result<u64> {
    let (mut bytes, mut buffer) = (0, vec![0; 1 << 20]);
    for path in paths {
        let mut file = File::open(path)?;
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                length => bytes += length as u64,
            }
        }
    }
    Ok(bytes)
}

#[inline(never)]
fn read_cold_files(paths: &[PathBuf]) -> io::Result<u64> {
    let bytes = read_files(paths);
    extra_cpu!("read_cold_files");
    on_stack(bytes)
}

#[inline(never)]
fn read_warm_files(paths: &[PathBuf]) -> io::Result<u64> {
    let bytes = read_files(paths);
    // Another function than the cold one, also for a compiler that puts equal ones together.
    std::hint::black_box(&bytes);
    extra_cpu!("read_warm_files");
    on_stack(bytes)
}

/// Files as an installation leaves them: on the disk, and nowhere else.
#[inline(never)]
fn install_files(directory: &Path, files: u64, size: usize) -> io::Result<Vec<PathBuf>> {
    let paths: Vec<_> = (0..files).map(|number| directory.join(format!("{number:05}.bin"))).collect();
    let content = vec![0x5a; size];
    for path in &paths {
        fs::write(path, &content)?;
    }
    for path in &paths {
        File::options().write(true).open(path)?.sync_all()?;
        drop_from_cache(path)?;
        extra_cpu!("install_files");
    }
    Ok(paths)
}

/// Bytes that storage was asked to read for this process.
fn from_disk() -> Option<i64> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

fn start(name: &str, read: impl FnOnce() -> io::Result<u64> + Send) -> io::Result<(ThreadTold, u64)> {
    std::thread::scope(|scope| {
        let ended = thread(scope, name, read)?.join();
        let (told, bytes) = ended.map_err(|_| io::Error::other("a thread panicked"))?;
        Ok((told, bytes?))
    })
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let directory = tempfile::Builder::new().prefix("cold-start-").tempdir_in(arguments.directory("dir"))?;
    let (files, size) = (arguments.number("files"), arguments.size("size"));
    let paths = report.phase("install", || install_files(directory.path(), files, size))?;
    let before = from_disk();
    let (cold, bytes) = report.phase("cold", || start("cold", || read_cold_files(&paths)))?;
    let cold_from_disk = from_disk().zip(before).map(|(after, before)| after - before);
    let (warm, _) = report.phase("warm", || start("warm", || read_warm_files(&paths)))?;
    report.thread(&cold, &[]);
    report.thread(&warm, &[]);
    report.tell("files", files);
    report.tell("bytes", bytes);
    report.tell("cold_elapsed_ns", cold.elapsed());
    report.tell("cold_off_cpu_ns", cold.off_cpu());
    report.tell("cold_from_disk", cold_from_disk);
    report.tell("warm_elapsed_ns", warm.elapsed());
    report.tell("warm_off_cpu_ns", warm.off_cpu());
    report.phase("uninstall", || directory.close())
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
