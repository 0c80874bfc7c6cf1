//! Writes many files, one after the other or in several threads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::scope;

use tracesift_workloads::{
    Arguments, Kind, Method, Opt, Piece, Report, ThreadTold, Usage, extra_cpu, measure, on_stack, run, thread,
};

const USAGE: Usage = Usage {
    name: "file-writer",
    problem: "Many files are written, line by line: is one thread the bottleneck, the disk, or what looks at each new file?",
    options: &[
        Opt {
            name: "mode",
            kind: Kind::Choice(&["serial", "parallel"]),
            default: "serial",
            meaning: "one thread, or several",
        },
        Opt { name: "threads", kind: Kind::Count(0), default: "0", meaning: "of parallel; 0: one per CPU" },
        Opt { name: "files", kind: Kind::Count(1), default: "8000", meaning: "how many" },
        Opt { name: "size", kind: Kind::Size, default: "100K", meaning: "of each file" },
        Opt { name: "dir", kind: Kind::Directory, default: "", meaning: "where; the system's temporary directory" },
    ],
    keys: &[
        ("threads[].files", "files that this thread wrote"),
        ("truth.files", "files that were written"),
        ("truth.bytes", "bytes that were written"),
        ("truth.write_elapsed_ns", "from the first byte to the last one: the duration of the phase `write`"),
        ("truth.write_cpu_ns", "CPU time in `write_file`, of all threads"),
        ("truth.write_sum_ns", "time in `write_file`, summed over the threads"),
    ],
    methods: &[
        Method { name: "write_file", parts: |arguments| Ok(arguments.number("files")) },
        Method { name: "write_files", parts: |arguments| Ok(arguments.number("files")) },
    ],
    lock: None,
};

/// A line of text of 100 bytes, or what is left.
#[inline(always)]
fn write_line(file: &mut impl io::Write, number: u64, left: u64) -> io::Result<u64> {
    let line =
        format!("{number:020} This is a line of text that somebody writes into one of the many files of this test\n");
    let bytes = &line.as_bytes()[..line.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
    file.write_all(bytes)?;
    Ok(bytes.len() as u64)
}

/// Creates one file of that size.
#[inline(never)]
fn write_file(path: &Path, size: u64) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(4096, File::create_new(path)?);
    let (mut written, mut number) = (0, 0);
    while written < size {
        written += write_line(&mut file, number, size - written)?;
        number += 1;
    }
    file.flush()?;
    extra_cpu!("write_file");
    Ok(on_stack(written))
}

/// What one thread wrote.
#[derive(Default)]
struct Written {
    files: u64,
    bytes: u64,
    piece: Piece,
}

/// Writes files until there is no further one to write.
#[inline(never)]
fn write_files(directory: &Path, next: &AtomicU64, files: u64, size: u64) -> io::Result<Written> {
    let mut written = Written::default();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= files {
            return Ok(written);
        }
        let path: PathBuf = directory.join(format!("{number:06}.txt"));
        let (piece, bytes) = measure(|| write_file(&path, size));
        written.piece += piece;
        written.bytes += bytes?;
        written.files += 1;
        extra_cpu!("write_files");
    }
}

fn work(arguments: &Arguments, report: &mut Report) -> io::Result<()> {
    let (files, size) = (arguments.number("files"), arguments.number("size"));
    let threads = match (arguments.word("mode"), arguments.size("threads")) {
        ("serial", _) => 1,
        (_, 0) => std::thread::available_parallelism()?.get(),
        (_, threads) => threads,
    };
    let directory = tempfile::Builder::new().prefix("file-writer-").tempdir_in(arguments.directory("dir"))?;
    let next = AtomicU64::new(0);
    let (all, told) = report.phase("write", || {
        measure(|| {
            scope(|scope| {
                let start = |number| {
                    let body = || write_files(directory.path(), &next, files, size);
                    thread(scope, format!("writer-{number}"), body)
                };
                let threads: Vec<_> = (0..threads).map(start).collect::<io::Result<_>>()?;
                threads.into_iter().map(join).collect::<io::Result<Vec<_>>>()
            })
        })
    });
    let mut sum = Written::default();
    for (told, written) in &told? {
        report.thread(told, &[("files", written.files.into())]);
        sum.files += written.files;
        sum.bytes += written.bytes;
        sum.piece += written.piece;
    }
    report.tell("files", sum.files);
    report.tell("bytes", sum.bytes);
    report.tell("write_elapsed_ns", all.elapsed);
    report.tell("write_cpu_ns", sum.piece.cpu);
    report.tell("write_sum_ns", sum.piece.elapsed);
    report.phase("clean-up", || fs::remove_dir_all(directory.path()))
}

type Joined<'scope> = std::thread::ScopedJoinHandle<'scope, (ThreadTold, io::Result<Written>)>;

fn join(thread: Joined<'_>) -> io::Result<(ThreadTold, Written)> {
    let (told, written) = thread.join().map_err(|_| io::Error::other("a thread panicked"))?;
    Ok((told, written?))
}

fn main() -> ExitCode {
    run(&USAGE, work)
}
