//! Real recordings of a program that opens files and other things, held against what the kernel says of it in `/proc`.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{
    FileIoRow, FileRow, HandleRow, ProcessRow, SyscallNameRow, SyscallRow, file_operations, handle_kinds,
    handle_origins,
};

use crate::recorded_names::probes;
use crate::recording::{RECORDING, ask, can_record, said, tracesift};

/// Its first process prints the id of a second one, which it starts and which does all the work. The second one then waits to be killed,
/// with what it has opened, unless `HELD_ENDS` is set.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void work(int ready) {
    char name[100], bytes[5000];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "leak-%d", i);
        int fd = open(name, O_CREAT | O_RDWR, 0600);
        for (int turn = 0; turn <= i; turn++)
            if (write(fd, bytes, 1000 + turn) < 0) _exit(1);
        pread(fd, bytes, 300, 7);
    }
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "closed-%d", i);
        int fd = open(name, O_CREAT | O_RDWR, 0600);
        struct iovec parts[2] = {{bytes, 10}, {bytes, 20}};
        if (writev(fd, parts, 2) != 30) _exit(1);
        lseek(fd, 0, SEEK_SET);
        while (read(fd, bytes, 13) > 0) {}
        close(fd);
    }
    int from = open("leak-1", O_RDONLY), to = open("copy", O_CREAT | O_RDWR, 0600);
    if (copy_file_range(from, 0, to, 0, 1500, 0) != 1500 || sendfile(to, from, 0, 400) != 400) _exit(1);
    close(from);
    close(to);
    open("nowhere/at-all", O_RDONLY);
    int ends[2], pair[2];
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) _exit(1);
    if (write(pair[0], bytes, 99) != 99 || read(pair[1], bytes, 200) != 99) _exit(1);
    socket(AF_INET, SOCK_DGRAM, 0);
    close(socket(AF_INET, SOCK_STREAM, 0));
    eventfd(0, EFD_CLOEXEC);
    epoll_create1(0);
    int first = open("leak-0", O_RDONLY);
    dup(first);
    dup2(first, 100);
    fcntl(first, F_DUPFD, 200);
    close(first);
    if (write(ready, "x", 1) != 1) _exit(1);
    if (getenv("HELD_ENDS")) _exit(0);
    /* Nobody has killed it: the test has failed. */
    alarm(300);
    for (;;) pause();
}

int main(void) {
    int ready[2];
    char byte;
    if (pipe(ready)) return 1;
    int pid = fork();
    if (!pid) work(ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) return 1;
    printf("%d\n", pid);
    return 0;
}
"#;

/// A recording of the program, and the process that waits.
struct Held {
    directory: TempDir,
    pid: u32,
    /// Whether files that are opened through the C library have names.
    has_paths: bool,
}

impl Held {
    /// Records the program; prints why and gives `None` where that is not possible.
    fn record(profiles: &[&str]) -> Option<Self> {
        // The process that waits must not keep our pipe open.
        Self::record_as(profiles, "exec ./held >pid 2>/dev/null")
    }

    /// As [`Self::record`], started by a line of the shell.
    fn record_as(profiles: &[&str], shell: &str) -> Option<Self> {
        let directory = TempDir::new().expect("a directory");
        let own = directory.path();
        fs::write(own.join("held.c"), SOURCE).expect("the program");
        match Command::new("gcc").args(["-O1", "-w", "-o", "held", "held.c"]).current_dir(own).output() {
            Err(error) => {
                skipped(&format!("no C compiler: {error}"));
                return None;
            }
            Ok(output) => assert!(output.status.success(), "{}", said(&output)),
        }
        if !can_record() {
            return None;
        }
        let mut arguments = vec!["record"];
        arguments.extend(profiles.iter().flat_map(|profile| ["--profile", profile]));
        arguments.extend(["-o", "a.data", "--", "sh", "-c", shell]);
        let output = tracesift(own, &arguments).output().expect("a recording");
        assert!(output.status.success(), "{}", said(&output));
        let has_paths = !said(&output).contains("paths of files that are opened are not recorded");
        assert_eq!(probes(), Vec::<String>::new(), "probes are left: {}", said(&output));
        let pid = fs::read_to_string(own.join("pid")).expect("the output").trim().parse().expect("a pid");
        let extracted = tracesift(own, &["extract", "a.data"]).output().expect("an extract");
        assert!(extracted.status.success(), "{}", said(&extracted));
        Some(Self { directory, pid, has_paths })
    }

    fn archive(&self) -> Archive {
        Archive::open(&self.directory.path().join("a.sift")).expect("an archive")
    }

    /// Numbers and targets of the process' links.
    fn open(&self) -> BTreeMap<i64, String> {
        let links = fs::read_dir(format!("/proc/{}/fd", self.pid)).expect("the process waits").flatten();
        let link = |entry: fs::DirEntry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
        };
        links.filter_map(link).collect()
    }

    /// The program again, as strace sees the calls of its second process: of each how many ns they took. Prints why and gives `None`
    /// where that is not possible.
    fn traced(&self) -> Option<BTreeMap<String, Traced>> {
        let own = self.directory.path();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-T", "-e", "trace=%file,%desc", "-o", "strace.out", "./held"]);
        let output = strace.current_dir(own).env("HELD_ENDS", "1").output();
        let pid = match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            Ok(output) => {
                skipped(&format!("strace cannot trace: {}", said(&output)));
                return None;
            }
            Err(error) => {
                skipped(&format!("no strace: {error}"));
                return None;
            }
        };
        Some(traced(&own.join("strace.out"), &pid))
    }

    /// A figure of the process' `/proc/PID/io`.
    fn io(&self, key: &str) -> i64 {
        let text = fs::read_to_string(format!("/proc/{}/io", self.pid)).expect("figures");
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        line.and_then(|number| number.parse().ok()).expect("a figure")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // One that has ended has lost its id.
        let name = fs::read_to_string(format!("/proc/{}/comm", self.pid)).unwrap_or_default();
        if name.trim() == "held" {
            let _ = Command::new("kill").args(["-9", &self.pid.to_string()]).status();
        }
    }
}

/// The process with an id.
fn process(archive: &Archive, pid: u32) -> ProcessRow {
    let processes: Vec<ProcessRow> = archive.rows().expect("processes");
    processes.into_iter().find(|row| row.pid == i64::from(pid)).expect("the process")
}

fn whole(directory: &Path, name: &str) -> String {
    directory.canonicalize().expect("a path").join(name).to_string_lossy().into_owned()
}

/// The calls of a name, in order: how many ns each took, where strace says so in the same line.
type Traced = Vec<Option<i64>>;

/// The calls of a process in the output of strace.
fn traced(output: &Path, pid: &str) -> BTreeMap<String, Traced> {
    let mut calls: BTreeMap<String, Traced> = BTreeMap::new();
    for line in fs::read_to_string(output).expect("its calls").lines() {
        let call = line.strip_prefix(pid).and_then(|line| line.trim_start().split_once('('));
        if let Some((name, _)) = call.filter(|(name, _)| !name.contains(' ')) {
            // `= 3 <0.000021>`; a call during which another process called has it on another line.
            let seconds = line.strip_suffix('>').and_then(|line| line.rsplit_once('<')?.1.parse::<f64>().ok());
            calls.entry(name.to_owned()).or_default().push(seconds.map(|seconds| (seconds * 1e9) as i64));
        }
    }
    calls
}

/// Calls of a process, by name: how many ns they took, in order.
fn durations(archive: &Archive, pid: u32) -> BTreeMap<String, Vec<i64>> {
    let own = process(archive, pid).process;
    let names: Vec<SyscallNameRow> = archive.rows().expect("names");
    let mut calls: Vec<SyscallRow> = archive.rows().expect("calls");
    calls.sort_by_key(|row| row.start);
    let mut durations: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for row in calls.iter().filter(|row| row.process == own) {
        let name = names.iter().find(|name| name.number == row.number).expect("a name");
        durations.entry(name.name.clone()).or_default().push(row.time - row.start);
    }
    durations
}

/// strace stops a program before the kernel tells of its call, and again behind.
#[test]
fn calls_lie_within_those_of_strace() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = Command::new("strace").args(["-o", "/dev/null", "true"]).output() {
        return skipped(&format!("no strace: {error}"));
    }
    let strace = "HELD_ENDS=1 exec strace -f -qq -T -e trace=%file,%desc -o strace.out ./held >pid 2>/dev/null";
    let Some(held) = Held::record_as(&["File"], strace) else { return };
    let found = durations(&held.archive(), held.pid);
    let told = traced(&held.directory.path().join("strace.out"), &held.pid.to_string());
    let mut compared = 0;
    for name in ["openat", "close", "read", "write", "writev", "pread64", "copy_file_range", "sendfile"] {
        let (found, told) = (found.get(name).expect(name), told.get(name).expect(name));
        assert_eq!(found.len(), told.len(), "{name}");
        for (found, told) in found.iter().zip(told) {
            // It counts µs.
            let Some(told) = told else { continue };
            assert!(*found <= told + 2_000, "{name}: {found} ns, {told} ns of strace");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn descriptors_that_are_open_are_those_of_proc() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(held) = Held::record(&["Handle"]) else { return };
    let archive = held.archive();
    let own = process(&archive, held.pid).process;
    let rows: Vec<HandleRow> = archive.rows().expect("handles");
    let rows: Vec<&HandleRow> = rows.iter().filter(|row| row.owner == own).collect();
    assert!(rows.iter().all(|row| row.kind == handle_kinds::DESCRIPTOR));
    let expected = held.open();
    let open: Vec<&&HandleRow> = rows.iter().filter(|row| row.open == Some(true)).collect();
    let numbers: BTreeSet<i64> = open.iter().map(|row| row.handle).collect();
    assert_eq!(numbers, expected.keys().copied().collect());
    assert_eq!(open.len(), expected.len(), "each number once");
    assert!(expected.len() >= 3 + 20 + 2 + 2 + 1 + 2 + 3, "{expected:?}");
    for row in &open {
        let target = &expected[&row.handle];
        let kind = row.object_type.as_deref().expect("a type");
        match target.split_once(':') {
            Some(("anon_inode", "[eventfd]")) => assert_eq!((kind, row.name.as_deref()), ("eventfd", None)),
            Some(("anon_inode", inode)) => assert_eq!(kind, format!("anon_inode:{}", inode.trim_matches(['[', ']']))),
            Some((before, _)) if !before.contains('/') => {
                assert_eq!((kind, row.name.as_deref()), (before, Some(target.as_str())));
            }
            _ => assert_eq!((kind, row.name.as_deref()), ("file", Some(target.as_str()))),
        }
    }
    // Its own count: 20 files that nobody closes, 30 that it closes.
    let directory = held.directory.path();
    let of_name = |name: &str, keep: &dyn Fn(&HandleRow) -> bool| {
        let prefix = whole(directory, name);
        let has_name = |row: &&&HandleRow| row.name.as_ref().is_some_and(|name| name.starts_with(&prefix));
        rows.iter().filter(has_name).filter(|row| keep(row)).count()
    };
    let made = |row: &HandleRow| row.made_by == handle_origins::CREATED && row.thread.is_some();
    assert_eq!(of_name("leak-", &|row| made(row) && row.open == Some(true)), 20);
    let duplicates = |row: &HandleRow| row.made_by == handle_origins::DUPLICATED && row.source_handle.is_some();
    assert_eq!(of_name("leak-0", &duplicates), 3);
    let closed: Vec<_> = rows.iter().filter(|row| made(row) && row.close_thread.is_some()).collect();
    // Files, the two of the copies, a socket, and the one that was duplicated.
    assert_eq!(closed.len(), 30 + 2 + 1 + 1, "{closed:?}");
    if held.has_paths {
        assert_eq!(of_name("closed-", &|row| row.close_thread.is_some()), 30);
    }
    let pid = held.pid.to_string();
    let filter = ["--leak", "--made-by", "created", "--name", "*/leak-*", "--by", "process", "--format", "json"];
    let answer = ask(directory, &[&["dump", "handles", "a.sift", "-p", &pid][..], &filter].concat());
    let [leaks] = &answer[..] else { panic!("{answer:?}") };
    assert_eq!((leaks["leaked"].as_i64(), leaks["open_last"].as_i64()), (Some(20), Some(20)), "{leaks}");
}

#[test]
fn operations_on_files_add_up_to_what_the_kernel_counts() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(held) = Held::record(&["File"]) else { return };
    let (directory, pid) = (held.directory.path(), held.pid.to_string());
    let question = ["dump", "file", "a.sift", "-p", &pid, "--by", "process", "--format", "json"];
    let answer = ask(directory, &question);
    let [sums] = &answer[..] else { panic!("{answer:?}") };
    for (key, of_kernel) in [("reads", "syscr"), ("read_bytes", "rchar"), ("writes", "syscw"), ("write_bytes", "wchar")]
    {
        assert_eq!(sums[key].as_i64(), Some(held.io(of_kernel)), "{key}: {sums}");
    }
    let archive = held.archive();
    let own = process(&archive, held.pid).process;
    let files: Vec<FileRow> = archive.rows().expect("files");
    let rows: Vec<FileIoRow> = archive.rows().expect("operations");
    let named = |operation: i8, name: &str| {
        let prefix = whole(directory, name);
        let is_it = |row: &&FileIoRow| {
            let path = row.file.map(|file| files[file.index()].path.as_str());
            row.process == own && row.operation == operation && path.is_some_and(|path| path.starts_with(&prefix))
        };
        rows.iter().filter(is_it).count()
    };
    // One that is read again, one that is copied twice, and 1 to 20 writes each. What is opened to be copied has its name from probes only.
    let copied = usize::from(held.has_paths);
    assert_eq!(named(file_operations::OPEN, "leak-"), 21 + copied);
    assert_eq!(named(file_operations::WRITE, "leak-"), 210);
    assert_eq!(named(file_operations::READ, "leak-"), 20 + 2 * copied);
    if held.has_paths {
        // Two calls, each a read of one file and a write of the other.
        assert_eq!([file_operations::READ, file_operations::WRITE].map(|kind| named(kind, "copy")), [0, 2]);
        assert_eq!(named(file_operations::OPEN, "closed-"), 30);
        assert_eq!(named(file_operations::WRITE, "closed-"), 30);
        // 30 bytes in parts of 13, and the end of the file.
        assert_eq!(named(file_operations::READ, "closed-"), 30 * 4);
        assert_eq!(named(file_operations::CLOSE, "closed-"), 30);
        assert_eq!(named(file_operations::OPEN, "nowhere/at-all"), 1);
    }
    if let Some(traced) = held.traced() {
        let names: Vec<SyscallNameRow> = archive.rows().expect("names");
        let calls: Vec<SyscallRow> = archive.rows().expect("calls");
        let copies = ["copy_file_range", "sendfile"];
        let others = ["openat", "close", "read", "write", "writev", "pread64", "dup", "dup2", "fcntl"];
        for name in copies.into_iter().chain(others) {
            let number = names.iter().find(|row| row.name == name).map(|row| row.number).expect("a call");
            let of_call = calls.iter().filter(|row| row.process == own && row.number == number).count();
            assert_eq!(Some(of_call), traced.get(name).map(Vec::len), "{name}");
            let operations = rows.iter().filter(|row| row.process == own && row.syscall == Some(number)).count();
            let operations_of_a_call = match name {
                "dup" | "dup2" | "fcntl" => 0,
                name => 1 + usize::from(copies.contains(&name)),
            };
            assert_eq!(operations, of_call * operations_of_a_call, "{name}");
        }
    }
    // Not all calls of descriptors are in the profile, so nothing is said of their lives.
    assert!(archive.rows::<HandleRow>().expect("no handles").is_empty());
}

/// `cp` lets the kernel move the bytes where the files are on one file system.
#[test]
fn a_copy_reads_one_file_and_writes_the_other() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    const BYTES: usize = 3_000_000;
    let directory = TempDir::new().expect("a directory");
    let own = directory.path();
    fs::write(own.join("original"), vec![b'x'; BYTES]).expect("a file");
    if !can_record() {
        return;
    }
    let arguments = ["record", "--profile", "File", "-o", "a.data", "--", "cp", "--reflink=never", "original", "copy"];
    let output = tracesift(own, &arguments).output().expect("a recording");
    assert!(output.status.success(), "{}", said(&output));
    if said(&output).contains("paths of files that are opened are not recorded") {
        return skipped("no probes tell the paths of files");
    }
    let extracted = tracesift(own, &["extract", "a.data"]).output().expect("an extract");
    assert!(extracted.status.success(), "{}", said(&extracted));
    for (name, read, written) in [("original", BYTES, 0), ("copy", 0, BYTES)] {
        let path = whole(own, name);
        let question = ["dump", "file", "a.sift", "-p", "cp", "--path", &path, "--by", "process", "--format", "json"];
        let answer = ask(own, &question);
        let [sums] = &answer[..] else { panic!("{name}: {answer:?}") };
        let bytes = |key: &str| sums[key].as_u64().unwrap_or(0);
        assert_eq!((bytes("read_bytes"), bytes("write_bytes")), (read as u64, written as u64), "{name}: {sums}");
    }
}

/// A file is read while it is not in the page cache, and again by another program.
#[test]
fn what_was_read_before_comes_from_the_page_cache() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    const BYTES: usize = 8 << 20;
    let directory = TempDir::new_in(std::env::current_exe().expect("a path").parent().expect("a directory"));
    let directory = directory.expect("a directory");
    let own = directory.path();
    let file = fs::File::create(own.join("data")).expect("a file");
    fs::write(own.join("data"), vec![b'x'; BYTES]).expect("its bytes");
    file.sync_all().expect("on the disk");
    if !can_record() {
        return;
    }
    let program = "dd if=data iflag=nocache count=0; dd if=data of=/dev/null bs=64k; wc -l data";
    let arguments = ["record", "--profile", "File", "-o", "a.data", "--", "sh", "-c", program];
    let output = tracesift(own, &arguments).output().expect("a recording");
    assert!(output.status.success(), "{}", said(&output));
    let has_paths = !said(&output).contains("paths of files that are opened are not recorded");
    if !has_paths || said(&output).contains("this kernel has no filemap:") {
        return skipped("paths of files or pages that are read cannot be recorded");
    }
    let extracted = tracesift(own, &["extract", "a.data"]).output().expect("an extract");
    assert!(extracted.status.success(), "{}", said(&extracted));
    let path = whole(own, "data");
    let sums = |program: &str| {
        let question =
            ["dump", "file", "a.sift", "-p", program, "--path", &path, "--by", "file", "--details", "--format", "json"];
        let answer = ask(own, &question);
        let [sums] = &answer[..] else { panic!("{program}: {answer:?}") };
        (sums["cached_asked"].as_u64(), sums["cache_read"].as_u64(), sums["cache_hit_percent"].as_f64())
    };
    let all = Some(BYTES as u64);
    if sums("dd").1 == Some(0) {
        return skipped("the file stays in the page cache");
    }
    assert_eq!((sums("dd"), sums("wc")), ((all, all, Some(0.0)), (all, Some(0), Some(100.0))));
}
