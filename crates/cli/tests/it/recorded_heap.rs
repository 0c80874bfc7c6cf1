//! A real recording of the heap of a program whose leaks are known by call site, and that no probe stays behind.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::PoisonError;

use tempfile::TempDir;
use tracesift_archive::Archive;
use tracesift_fixtures::skipped;
use tracesift_trace::rows::{AllocationRow, ProcessRow, allocation_kinds as kinds};

use crate::recorded_names::{can_set_probes, kill_recorder, probes};
use crate::recording::{RECORDING, ask, can_record, said, tracesift};

/// It waits for a line, allocates and frees, tells what each function left (name, blocks, bytes), and waits for another line.
const SOURCE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))

static void *volatile kept[4096];
static int count;
static void *early;

SITE void *leak_malloc(size_t size) { void *block = malloc(size); kept[count++] = block; return block; }
SITE void *leak_calloc(size_t size) { void *block = calloc(3, size); kept[count++] = block; return block; }
/* A block that grows has the stack of its last growth. */
SITE void *grow(void *block, size_t size) { block = realloc(block, size); kept[count] = block; return block; }
SITE void *balanced(size_t size) { void *block = malloc(size); kept[count] = block; return block; }
SITE void give_back(void *block) { free(block); }

static void *other_thread(void *block) {
    give_back(block);
    for (int i = 0; i < 20; i++) leak_malloc(7);
    return NULL;
}

int main(void) {
    char line[16];
    setvbuf(stdout, NULL, _IONBF, 0);
    early = balanced(5000);
    if (write(1, "ready\n", 6) != 6 || read(0, line, sizeof line) <= 0) return 1;
    for (int i = 0; i < 100; i++) {
        leak_malloc(100 + i);
        if (i % 4 == 0) leak_calloc(1000);
        give_back(balanced(64));
        give_back(grow(grow(NULL, 10), 200000));
    }
    void *left = grow(grow(grow(NULL, 10), 20), 300000);
    kept[count++] = left;
    give_back(early);
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, balanced(77))) return 1;
    pthread_join(thread, NULL);
    int bytes = 20 * 7;
    for (int i = 0; i < 100; i++) bytes += 100 + i;
    dprintf(1, "leak_malloc 120 %d\nleak_calloc 25 75000\ngrow 1 300000\n\n", bytes);
    if (read(0, line, sizeof line) <= 0) return 1;
    return 0;
}
"#;

/// The program, which runs.
struct Leaky {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Leaky {
    /// Prints why and gives `None` where there is no C compiler.
    fn start(directory: &Path) -> Option<Self> {
        fs::write(directory.join("leaky.c"), SOURCE).unwrap();
        let flags = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-builtin", "-pthread"];
        let compiled = Command::new("gcc").args(flags).args(["-o", "leaky", "leaky.c"]).current_dir(directory).output();
        match compiled {
            Err(error) => {
                skipped(&format!("no C compiler: {error}"));
                return None;
            }
            Ok(output) => assert!(output.status.success(), "{}", said(&output)),
        }
        let mut command = Command::new(directory.join("leaky"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut leaky = Self { child, stdin, stdout: BufReader::new(stdout) };
        assert_eq!(leaky.line(), "ready");
        Some(leaky)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Lets it run. Gives blocks and bytes of each function.
    fn run(&mut self) -> BTreeMap<String, (i64, i64)> {
        self.stdin.write_all(b"go\n").unwrap();
        let mut told = BTreeMap::new();
        loop {
            let line = self.line();
            let mut words = line.split(' ');
            let (Some(name), Some(blocks), Some(bytes)) = (words.next(), words.next(), words.next()) else { break };
            told.insert(name.to_owned(), (blocks.parse().unwrap(), bytes.parse().unwrap()));
        }
        told
    }

    fn end(mut self) {
        self.stdin.write_all(b"end\n").unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Leaky {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_call_site_has_the_blocks_that_it_leaves() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    if !can_record() || !can_set_probes() {
        return;
    }
    let Some(mut leaky) = Leaky::start(directory) else { return };
    let pid = leaky.child.id().to_string();
    let started = tracesift(directory, &["record", "--heap", &pid, "--start", "-o", "a.data"]).output().unwrap();
    assert!(started.status.success(), "{}", said(&started));
    let told = leaky.run();
    let stopped = tracesift(directory, &["record", "--stop"]).output().unwrap();
    assert!(stopped.status.success(), "{}", said(&stopped));
    assert_eq!(probes(), Vec::<String>::new(), "probes are left: {}", said(&stopped));
    let extracted = tracesift(directory, &["extract", "a.data", "--symbols", "local"]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
    leaky.end();

    let archive = Archive::open(&directory.join("a.sift")).unwrap();
    let processes: Vec<ProcessRow> = archive.rows().unwrap();
    let rows: Vec<AllocationRow> = archive.rows().unwrap();
    let is_own = |row: &&AllocationRow| processes[row.process.index()].name == "leaky" && row.kind == kinds::HEAP;
    let rows: Vec<&AllocationRow> = rows.iter().filter(is_own).collect();
    let all: i64 = told.values().map(|(_, bytes)| bytes).sum();
    let open: Vec<&&AllocationRow> = rows.iter().filter(|row| row.open == Some(true)).collect();
    // A thread has a few blocks of its own in the C library.
    let left: i64 = open.iter().map(|row| row.size).sum();
    assert!(left >= all && left < all + 65_536, "{left} bytes of {all}");
    // Freed in the recording: 100 of each kind, both steps of each growth, and the block that another thread freed.
    let freed = rows.iter().filter(|row| row.open != Some(true) && row.size == 64).count();
    assert_eq!(freed, 100);
    let of_other_thread = rows.iter().find(|row| row.size == 77).expect("a block of 77 bytes");
    assert!(of_other_thread.open == Some(false) && of_other_thread.free_thread != of_other_thread.thread);

    let question =
        ["dump", "virtualalloc", "a.sift", "-p", "leaky", "--kind", "heap", "--by", "stack", "--format", "json"];
    let answer = ask(directory, &question);
    for (site, (blocks, bytes)) in &told {
        let has_site = |row: &&serde_json::Value| {
            let stack = row["stack"].as_array().into_iter().flatten().filter_map(|line| line.as_str());
            stack.into_iter().any(|line| line.ends_with(&format!("!{site}")))
        };
        let of_site: Vec<&serde_json::Value> = answer.iter().filter(has_site).collect();
        let sum = |key: &str| of_site.iter().filter_map(|row| row[key].as_i64()).sum::<i64>();
        assert_eq!((sum("not_released"), sum("not_released_bytes")), (*blocks, *bytes), "{site}: {of_site:#?}");
    }
    // The block from before the recording.
    let health = ask(directory, &["dump", "stats", "a.sift", "--format", "json"]);
    assert!(health.iter().any(|row| row.to_string().contains("frees_of_unknown_memory")), "{health:?}");
}

#[test]
fn a_killed_recorder_of_a_heap_leaves_no_probes() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    if !can_record() || !can_set_probes() {
        return;
    }
    let Some(leaky) = Leaky::start(directory.path()) else { return };
    let pid = leaky.child.id().to_string();
    kill_recorder(directory.path(), &["--heap", &pid], ":tracesift_heap_");
}
