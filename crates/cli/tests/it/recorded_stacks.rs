//! Real recordings whose stacks lead through the code that the kernel maps into every process, and stacks that end early; what the
//! recorder notes of processes.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use serde_json::Value;
use tempfile::TempDir;
use tracesift_fixtures::skipped;

use crate::recording::{RECORDING, ask, can_record, said, tracesift};

/// Programs with known behaviour; each prints how much CPU its function took, in ns.
const SOURCE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <time.h>

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((noinline)) long long spin_on_clock(void) {
    long long begin = now(CLOCK_PROCESS_CPUTIME_ID), end;
    while ((end = now(CLOCK_PROCESS_CPUTIME_ID)) - begin < 500000000LL) {}
    return end - begin;
}

/* What a compiler may do without frame pointers: the register has something else. */
long frame_that_is_none[2] = {0, 0x1234};
__attribute__((noinline)) long long without_frame_pointers(void) {
    long long begin = now(CLOCK_PROCESS_CPUTIME_ID), end;
    while ((end = now(CLOCK_PROCESS_CPUTIME_ID)) - begin < 500000000LL)
        __asm__ volatile("mov %%rbp, %%rdx\n lea frame_that_is_none(%%rip), %%rbp\n mov $20000000, %%ecx\n"
                         "1: dec %%ecx\n jnz 1b\n mov %%rdx, %%rbp\n" ::: "rcx", "rdx", "cc", "memory");
    return end - begin;
}

__attribute__((noinline)) long long deep(int depth) {
    volatile char room[256];
    room[0] = (char)depth;
    long long spent = depth ? deep(depth - 1) : spin_on_clock();
    return spent + (room[0] == 1 ? 0 : 0);
}

int main(int count, char **words) {
    long long spent = 0;
    if (!strcmp(words[1], "clock")) spent = spin_on_clock();
    if (!strcmp(words[1], "register")) spent = without_frame_pointers();
    if (!strcmp(words[1], "deep")) spent = deep(100);
    printf("%lld\n", spent);
    return 0;
}
"#;

/// The program in this directory; `None`, with a word, where there is no compiler.
fn compile(directory: &Path) -> Option<()> {
    fs::write(directory.join("known.c"), SOURCE).unwrap();
    let flags = ["-g", "-O1", "-fomit-frame-pointer", "-o", "known", "known.c"];
    match Command::new("cc").args(flags).current_dir(directory).output() {
        Err(error) => {
            skipped(&format!("no C compiler: {error}"));
            None
        }
        Ok(output) => {
            assert!(output.status.success(), "{}", said(&output));
            Some(())
        }
    }
}

/// Records the program and extracts it: the CPU that its function took by its own clock, ns.
fn record(directory: &Path, call_graph: &str, mode: &str) -> i64 {
    let arguments =
        ["record", "--only-process", "--call-graph", call_graph, "--overwrite", "-o", "a.data", "--", "./known", mode];
    let output = tracesift(directory, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let truth = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    extract(directory);
    truth
}

fn extract(directory: &Path) {
    let extracted = tracesift(directory, &["extract", "a.data", "--symbols", "local", "--overwrite"]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
}

fn methods(directory: &Path, pattern: &str) -> Vec<Value> {
    ask(directory, &["dump", "cpu", "a.sift", "-p", "known", "--methods", pattern, "--format", "json"])
}

fn cpu(rows: &[Value]) -> i64 {
    rows.iter().map(|row| row["cpu_ns"].as_i64().unwrap_or(0)).sum()
}

/// All that an answer for people says.
fn text(directory: &Path, arguments: &[&str]) -> String {
    let output = tracesift(directory, arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &said(&output)
}

/// The stacks ended in `[vdso]`, and 62 to 96 % of a program's CPU was missing from its functions.
#[test]
fn a_function_that_asks_for_the_time_has_the_cpu_of_the_code_that_the_kernel_maps() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    if !can_record() || compile(directory).is_none() {
        return;
    }
    let truth = record(directory, "dwarf", "clock");
    let all = cpu(&ask(directory, &["dump", "cpu", "a.sift", "-p", "known", "--format", "json"]));
    let spinning = cpu(&methods(directory, "*!spin_on_clock"));
    // What is not the function's own is the program's start; some samples may be lost.
    assert!(spinning * 100 >= all * 95, "{spinning} of {all} ns");
    // A sample stands for a millisecond.
    let error = 3_000_000 * (truth / 1_000_000).isqrt();
    assert!((spinning - truth).abs() <= error, "{spinning} ns in place of {truth}");

    // As perf calls it, which finds the names and not the callers.
    let arguments = ["script", "-i", "a.data", "--no-inline", "-F", "ip,sym,dso"];
    let script = Command::new("perf").args(arguments).current_dir(directory).output().unwrap();
    let script = String::from_utf8_lossy(&script.stdout).into_owned();
    let in_vdso: Vec<&str> = script.lines().filter(|line| line.contains("vdso")).collect();
    let rows = methods(directory, "[vdso]!*");
    assert!(!rows.is_empty() && !in_vdso.is_empty(), "{rows:?}");
    for row in rows {
        let name = row["function"].as_str().or_else(|| row["method"].as_str()).unwrap().to_owned();
        let name = name.rsplit('!').next().unwrap();
        assert!(in_vdso.iter().any(|line| line.split_whitespace().any(|word| word == name)), "{name}");
    }
    // What is whole needs no word.
    let said = text(directory, &["dump", "stacks", "a.sift", "-p", "known"]);
    assert!(!said.contains("end early"), "{said}");

    // Without the recorder's document it is found by the kernel's build id; of another kernel it is not taken.
    fs::remove_file(directory.join("a.machine.json")).unwrap();
    extract(directory);
    assert!(cpu(&methods(directory, "*!spin_on_clock")) * 100 >= all * 95);
}

/// Inclusive figures were too small without a word.
#[test]
fn stacks_that_end_early_are_said_with_what_helps() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    if !can_record() || compile(directory).is_none() {
        return;
    }
    let stacks = ["dump", "stacks", "a.sift", "-p", "known"];
    let cpu_of_methods = ["dump", "cpu", "a.sift", "-p", "known", "--methods", "*"];
    let tags = ["dump", "cpu", "a.sift", "-p", "known", "--stacktags", "*"];
    for (call_graph, mode, expected) in [
        ("fp", "register", Some("record with --call-graph dwarf")),
        ("dwarf", "register", None),
        ("dwarf,1024", "deep", Some("--call-graph dwarf,65528")),
        ("dwarf,65528", "deep", None),
    ] {
        record(directory, call_graph, mode);
        for question in [&stacks[..], &cpu_of_methods, &tags] {
            let said = text(directory, question);
            match expected {
                None => assert!(!said.contains("end early"), "{call_graph} {mode}: {said}"),
                Some(cure) => {
                    let line = said.lines().find(|line| line.contains("end early"));
                    let line = line.unwrap_or_else(|| panic!("{call_graph} {mode}: {said}"));
                    assert!(line.contains("% of known(") && line.contains(cure), "{line}");
                }
            }
        }
    }
}

/// All were called `/usr/bin/python3`.
#[test]
fn processes_of_one_program_are_told_apart_by_their_arguments() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    for name in ["prod", "cons"] {
        let script = format!("echo $$ > {name}.pid\nsleep 0.7\n{}\n", if name == "prod" { "echo done" } else { "cat" });
        fs::write(directory.join(format!("{name}.sh")), script).unwrap();
    }
    // The third one starts another program in its place, which is looked for once per second.
    let command = "sh prod.sh | sh cons.sh; sh -c 'echo $$ > exec.pid; sleep 0.4; exec sleep 2.6'";
    let arguments = ["record", "--profile", "cswitch", "-o", "a.data", "--", "sh", "-c", command];
    let output = tracesift(directory, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let extracted = tracesift(directory, &["extract", "a.data"]).output().unwrap();
    assert!(extracted.status.success(), "{}", said(&extracted));
    let pid_of = |name: &str| -> i64 {
        fs::read_to_string(directory.join(format!("{name}.pid"))).unwrap().trim().parse().unwrap()
    };
    for question in ["process", "threads"] {
        let rows = ask(directory, &["dump", question, "a.sift", "--format", "json"]);
        for (name, expected) in [("prod", "sh prod.sh"), ("cons", "sh cons.sh"), ("exec", "sleep 2.6")] {
            let pid = pid_of(name);
            let row = rows.iter().find(|row| row["pid"] == pid).unwrap_or_else(|| panic!("{question}: {name}"));
            assert_eq!(row["command_line"], expected, "{question}: {row}");
        }
    }
}

/// A Python whose functions have trampolines (`-X perf`); `None`, with a word, where there is none.
fn python_with_trampolines() -> Option<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let versions = fs::read_dir(Path::new(&home).join(".pyenv/versions")).into_iter().flatten().flatten();
    let mut programs: Vec<String> =
        versions.map(|entry| entry.path().join("bin/python3").to_string_lossy().into_owned()).collect();
    programs.sort();
    programs.extend(["python3.14", "python3.13", "python3.12", "python3"].map(str::to_owned));
    let has_them = "import sys; sys.activate_stack_trampoline('perf'); sys.deactivate_stack_trampoline()";
    let has_them = |program: &String| {
        let output = Command::new(program).args(["-c", has_them]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = programs.into_iter().find(has_them);
    if found.is_none() {
        skipped("no Python from 3.12 on");
    }
    found
}

/// They ended at the first trampoline, so that a function which only calls had hardly any CPU.
#[test]
fn stacks_go_on_above_the_trampolines_of_python() {
    let _alone = RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !can_record() {
        return;
    }
    let Some(python) = python_with_trampolines() else { return };
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    let script = "
import time
def leaf(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
def only_calls():
    begin = time.process_time_ns()
    while time.process_time_ns() - begin < 600_000_000:
        leaf(20000)
    return time.process_time_ns() - begin
print(only_calls())
";
    fs::write(directory.join("job.py"), script).unwrap();
    let command =
        ["--only-process", "--call-graph", "dwarf,16384", "-o", "a.data", "--", &python, "-X", "perf", "job.py"];
    let output = tracesift(directory, &[&["record"][..], &command].concat()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let truth: i64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    extract(directory);
    let cpu_of =
        |pattern: &str| cpu(&ask(directory, &["dump", "cpu", "a.sift", "--methods", pattern, "--format", "json"]));
    let (leaf, calls, module) = (cpu_of("*py::leaf:*"), cpu_of("*py::only_calls:*"), cpu_of("*py::<module>:*job.py"));
    // The copy of a stack can end below the callers: a sample of hundreds.
    let has = |callers: i64, callee: i64| callers * 100 >= callee * 99;
    assert!(leaf > 0 && has(calls, leaf) && has(module, calls), "leaf {leaf}, only_calls {calls}, module {module} ns");
    assert!((calls - truth).abs() <= truth / 10, "{calls} ns in place of {truth}");
}
