//! User stacks of `--call-graph dwarf`: what is unwound here against what perf unwinds, frame by frame.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use tracesift_extract::Options;

use crate::extracted::Extracted;
use crate::perf::{self, Recorded, ScriptSample, UNKNOWN};

/// How deep the program calls itself.
const DEPTH: u32 = 40;

/// What perf prints behind a caller that lies beyond the copy of the stack: it could not read the return address and goes on with 0,
/// less one for the call.
const BOGUS: u64 = u64::MAX;

#[test]
fn unwound_stacks_are_those_of_perf_script() {
    let Some(recorded) = record(&["--call-graph", "dwarf,16384"], "nested_calls") else { return };
    let extracted = Extracted::with(&recorded.file, whole_machine());
    compare(&recorded, &extracted);
    let deepest = extracted.samples.iter().map(|sample| in_program(&sample.frames)).max().unwrap_or(0);
    assert!(deepest >= DEPTH as usize, "{deepest} frames of the program");
}

#[test]
fn signal_handlers_and_libraries_are_left_as_perf_leaves_them() {
    let Some(recorded) = record(&["--call-graph", "dwarf,16384", "--buildid-mmap"], "library_calls") else { return };
    // The build ids are in the recording: the files of this machine will do.
    let extracted = Extracted::of(&recorded.file);
    compare(&recorded, &extracted);
    // The kernel's own code in every process has no file; it is this machine's where the kernel is known to be.
    let is_in_vdso = |sample: &ScriptSample| sample.frames.iter().any(|(_, module)| module == "[vdso]");
    let in_vdso = extracted.samples.iter().filter(|sample| is_in_vdso(&sample.as_perf_has_it())).count();
    let without_file = extracted.health.get("user_stacks_without_file");
    assert!(without_file <= i64::try_from(in_vdso).unwrap(), "{:?}", extracted.health);
}

/// A path in a recording is no reason to open a file: without a build id and without a root there are leaves, and health says why.
#[test]
fn without_its_files_a_stack_is_its_leaf() {
    let Some(recorded) = record(&["--call-graph", "dwarf,8192", "--no-buildid"], "nested_calls") else { return };
    let extracted = Extracted::of(&recorded.file);
    let deepest = extracted.samples.iter().map(|sample| in_program(&sample.frames)).max();
    assert_eq!(deepest, Some(1));
    let in_user_mode = extracted.samples.iter().filter(|sample| in_program(&sample.frames) == 1).count();
    let counted = extracted.health.get("user_stacks_without_file");
    assert!(counted >= i64::try_from(in_user_mode).unwrap(), "{counted} of {in_user_mode}: {:?}", extracted.health);
}

/// Below the root lies another program of the same name; the one of this machine is the one that was recorded.
#[test]
fn another_program_of_the_same_name_is_not_taken() {
    let Some(recorded) = record(&["--call-graph", "dwarf,8192", "--buildid-mmap"], "nested_calls") else { return };
    let root = tempfile::TempDir::new().unwrap();
    let program = std::env::current_exe().unwrap();
    let other = root.path().join(program.strip_prefix("/").unwrap());
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::copy("/bin/sh", &other).unwrap();
    let options = Options { sysroot: Some(root.path().to_owned()), ..Options::default() };
    let extracted = Extracted::with(&recorded.file, options);
    let expected = Extracted::of(&recorded.file);
    assert!(expected.samples.iter().any(|sample| in_program(&sample.frames) > 10), "a build id is as good as a root");
    assert!(extracted.samples.iter().zip(&expected.samples).all(|(one, other)| one.frames == other.frames));
}

/// Every file as it is on this machine, which is the recorded one.
fn whole_machine() -> Options {
    Options { sysroot: Some(PathBuf::from("/")), ..Options::default() }
}

fn record(arguments: &[&str], program: &str) -> Option<Recorded> {
    let executable = std::env::current_exe().unwrap();
    let workload = [executable.to_str().unwrap(), "--exact", &format!("unwinding::{program}"), "--ignored"];
    perf::record(&[&["--sample-cpu", "-e", "cpu-clock/freq=999/"], arguments].concat(), &workload)
}

/// Frames in the test's own executable.
fn in_program(frames: &[(u64, String)]) -> usize {
    let program = std::env::current_exe().unwrap();
    frames.iter().filter(|frame| Path::new(&frame.1) == program).count()
}

/// How a stack is to perf's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    Same,
    /// It goes on where perf's ends.
    Longer,
    Different,
}

/// A stack as perf prints it is ours with the calls instead of the return addresses.
fn likeness(found: &ScriptSample, expected: &ScriptSample) -> Likeness {
    let is_bogus = |frame: &&(u64, String)| frame.0 == BOGUS && frame.1 == UNKNOWN;
    let bogus = expected.frames.iter().rev().take_while(is_bogus).count();
    let expected = &expected.frames[..expected.frames.len() - bogus];
    // Frames of the kernel, the leaf, and the code that a signal handler returns to are as they are.
    let is_kernel = |frame: &(u64, String)| frame.0 >= 1 << 63;
    let mut leaf = true;
    let same = |(found, expected): (&(u64, String), &(u64, String))| {
        let as_it_is = is_kernel(expected) || leaf;
        leaf &= is_kernel(expected);
        let called = found.0.wrapping_sub(1) == expected.0;
        let is_trampoline = found.0 == expected.0 && found.1.contains("/libc.so");
        found.1 == expected.1 && if as_it_is { found.0 == expected.0 } else { called || is_trampoline }
    };
    match found.frames.len().checked_sub(expected.len()) {
        Some(more) if found.frames.iter().zip(expected).all(same) => match more {
            0 => Likeness::Same,
            _ => Likeness::Longer,
        },
        _ => Likeness::Different,
    }
}

#[expect(clippy::print_stdout, reason = "what differs is shown even where it is few enough")]
fn compare(recorded: &Recorded, extracted: &Extracted) {
    let expected = recorded.samples();
    assert!(expected.len() > 100, "{} samples", expected.len());
    assert_eq!(extracted.samples.len(), expected.len());
    let (mut longer, mut different) = (0, 0);
    for (found, expected) in extracted.samples.iter().map(|sample| sample.as_perf_has_it()).zip(&expected) {
        assert_eq!((found.time, found.tid), (expected.time, expected.tid));
        match likeness(&found, expected) {
            Likeness::Same => continue,
            Likeness::Longer => longer += 1,
            Likeness::Different => different += 1,
        }
        println!("ours {:x?}\nperf {:x?}", found.frames, expected.frames);
    }
    println!("{longer} of {} samples are longer, {different} differ; {:?}", expected.len(), extracted.health);
    // perf does not read the last word of the copy, and gives up in the last instructions of functions.
    assert!(longer * 50 <= expected.len(), "{longer} of {} samples are longer", expected.len());
    assert!(different * 200 <= expected.len(), "{different} of {} samples differ", expected.len());
}

/// What is recorded, not a test.
#[test]
#[ignore = "the program that another test records"]
fn nested_calls() {
    for turn in 0..800 {
        black_box(nest(black_box(DEPTH), turn));
    }
}

/// What is recorded, not a test.
#[test]
#[ignore = "the program that another test records"]
fn library_calls() {
    for turn in 0..400_u64 {
        let mut numbers: Vec<u64> =
            (0..5000).map(|number| (number ^ turn).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        numbers.sort_by(|a, b| black_box(a).cmp(black_box(b)));
        let text: Vec<String> = numbers.iter().map(|number| format!("{number:x} {}", *number as f64)).collect();
        black_box(text.concat());
        black_box(std::time::Instant::now());
    }
}

/// Calls itself: no loop can be made of it, as something is left to be done behind the call.
#[inline(never)]
fn nest(depth: u32, turn: u64) -> u64 {
    if depth == 0 {
        return (0..200_000).fold(turn, |sum, number| black_box(sum.wrapping_mul(31) + number));
    }
    let below = nest(black_box(depth - 1), turn);
    below.wrapping_add(black_box(u64::from(depth)))
}
