//! `dump syscalls`: the time that threads were off the CPUs in their calls, and the answers that are made of the table `syscall_summary`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracesift_analysis::syscall_sums::SyscallSums;
use tracesift_ask::answer::{Answer, Value};
use tracesift_ask::filter::ProcessPatterns;
use tracesift_ask::order::Between;
use tracesift_ask::question::syscalls::Question;
use tracesift_ask::recording::Source;
use tracesift_ask::shown::Shown;
use tracesift_ask::table_question::Listing;
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_fixtures::perf_data::{Bytes, Endianness};
use tracesift_fixtures::perf_tracepoints::{Recording as Tracepoints, SWITCH, SYS_ENTER, SYS_EXIT};
use tracesift_scenario::{PointerSize, SplitMix64, system_calls};
use tracesift_testing::archive::{create, finish_as};
use tracesift_testing::recording::{Extracted, Recording};
use tracesift_testing::rows::{process, thread};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, SyscallRow, SyscallSummaryRow, switch_flags};
use tracesift_trace::{ProcessId, RowSink as _, ThreadId};

const MS: i64 = 1_000_000;

fn answer(archive: &Path, question: &dyn Ask, time: &str) -> Answer {
    let when = When { time: time.parse::<TimeSpec>().expect("a time range"), ..When::default() };
    let outcome = ask(&[Source::archive(archive.to_owned())], question, &when);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    outcome.answer
}

/// Figures of each row by the whole numbers of these columns; `None`: the column is empty.
fn figures(answer: &Answer, keys: &[&str]) -> Vec<Vec<Option<i64>>> {
    let at = |key: &str| answer.columns.iter().position(|column| column.key == key).expect("a column");
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::None => None,
        other => panic!("{other:?} is no whole number"),
    };
    answer.rows().map(|row| keys.iter().map(|key| number(&row[at(key)])).collect()).collect()
}

fn by(names: &[&str]) -> Question {
    Question::default().by(names).expect("dimensions of calls")
}

/// The columns that the table of sums has figures for.
fn summed(question: &Question) -> Box<dyn Ask> {
    let keys = question.columns().into_iter().map(|column| column.key);
    let shown = Shown::only(keys.filter(|key| !matches!(*key, "cpu_ns" | "wait_ns")));
    question.showing(&shown).expect("it reads what is looked at")
}

fn archive(
    directory: &Path,
    calls: &[SyscallRow],
    switches: &[ContextSwitchRow],
    sums: &[SyscallSummaryRow],
) -> PathBuf {
    let mut writer = create(&directory.join("calls.sift"));
    writer.write_table(&[process(1, 100, "a"), process(2, 200, "b")]);
    writer.write_table(&[thread(0, 1, 10), thread(1, 1, 11), thread(2, 2, 12), thread(3, 2, 13)]);
    calls.iter().for_each(|call| writer.syscall(call));
    switches.iter().for_each(|switch| writer.context_switch(switch));
    writer.write_table(sums);
    let info =
        TraceInfo { name: "calls".to_owned(), kind: "perf".to_owned(), end_ns: 100 * MS, ..TraceInfo::default() };
    finish_as(writer, info)
}

prop_compose! {
    /// A call: its times in ms, 0..=100, who calls what, and how it ends.
    fn call()(
        start in 0..90_i64,
        duration in 0..30_i64,
        thread in 0..4_i32,
        number in 0..3_i32,
        ending in prop::option::of(prop::option::of(1..4_i64)),
    ) -> SyscallRow {
        SyscallRow {
            time: (start + duration).min(100) * MS,
            start: start * MS,
            process: ProcessId(1 + thread / 2),
            thread: ThreadId(thread),
            number,
            result: ending.map(|error| error.map_or(7, |error| -error)),
            error: ending.flatten(),
            ..SyscallRow::default()
        }
    }
}

/// In each ms, whether a thread is off the CPUs: it runs and leaves in turn.
fn is_off(parts: &[(i64, i64)]) -> Vec<bool> {
    let mut off: Vec<bool> = parts
        .iter()
        .flat_map(|(ran, left)| [vec![false; *ran as usize], vec![true; *left as usize]].concat())
        .collect();
    off.resize(100, false);
    off
}

/// The rows of the same.
fn switches(thread: i32, parts: &[(i64, i64)]) -> Vec<ContextSwitchRow> {
    let mut now = 0;
    let row = |(ran, left): &(i64, i64)| {
        let off_time = now + ran;
        now = off_time + left;
        // Whether it could have run makes no difference.
        let flags = if left % 2 == 0 { switch_flags::PREEMPTED } else { 0 };
        let (time, off_time, thread) = (now * MS, off_time * MS, ThreadId(thread));
        ContextSwitchRow { time, off_time, thread, cpu: Some(0), flags, ..ContextSwitchRow::default() }
    };
    parts.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn time_on_and_off_the_cpus_is_that_of_the_switches(
        mut calls in prop::collection::vec(call(), 1..40),
        parts in prop::collection::vec(prop::collection::vec((0..15_i64, 0..15_i64), 0..7), 4),
        (begin, end) in (0..60_i64, 40..110_i64).prop_map(|(a, b)| if a < b { (a, b) } else { (b, a + 1) }),
        whole: bool,
    ) {
        calls.sort_by_key(|call| call.time);
        let rows = parts.iter().enumerate().flat_map(|(thread, parts)| switches(thread as i32, parts));
        let mut rows: Vec<ContextSwitchRow> = rows.collect();
        rows.sort_by_key(|row| row.time);
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(directory.path(), &calls, &rows, &[]);
        let (begin, end) = if whole { (0, 1000) } else { (begin, end) };
        let time = if whole { "..".to_owned() } else { format!("{begin}ms..{end}ms") };
        for (dimension, key) in [("thread", "tid"), ("process", "pid")] {
            let mut expected: BTreeMap<i64, [Option<i64>; 2]> = BTreeMap::new();
            for call in &calls {
                let (start, until) = (call.start / MS, call.time / MS);
                if start >= end || (until <= begin && start < begin) {
                    continue;
                }
                let id = if key == "tid" { i64::from(call.thread.0) + 10 } else { i64::from(call.process.0) * 100 };
                let sums = expected.entry(id).or_default();
                let parts = &parts[call.thread.index()];
                // A thread without a switch is not known.
                if !parts.is_empty() {
                    let off = is_off(parts);
                    let count = |is_off: bool| (start.max(begin)..until.min(end)).filter(|ms| off[*ms as usize] == is_off).count();
                    for (sum, is_off) in sums.iter_mut().zip([false, true]) {
                        *sum = Some(sum.unwrap_or(0) + count(is_off) as i64 * MS);
                    }
                }
            }
            let found = figures(&answer(&archive, &by(&[dimension]), &time), &[key, "cpu_ns", "wait_ns"]);
            let found: BTreeMap<i64, [Option<i64>; 2]> =
                found.iter().map(|row| (row[0].expect("an id"), [row[1], row[2]])).collect();
            prop_assert_eq!(found, expected, "{}", dimension);
        }
    }

}

proptest! {
    // Each case asks hundreds of questions.
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn sums_answer_as_calls_do(mut calls in prop::collection::vec(call(), 1..60), with_switches: bool) {
        calls.sort_by_key(|call| call.time);
        let mut sums = SyscallSums::default();
        calls.iter().for_each(|call| sums.add(call));
        let directory = tempfile::tempdir().expect("temporary directory");
        let switches = if with_switches { switches(1, &[(3, 4), (5, 6)]) } else { Vec::new() };
        sums_are_those_of_rows(&archive(directory.path(), &calls, &switches, &sums.finish()), &["1", "!2", "*"]);
    }
}

/// Compares answers about a whole recording with those about a part that has all of it.
fn sums_are_those_of_rows(archive: &Path, calls: &[&str]) {
    let groupings: [&[&str]; 6] = [
        &["process", "call"],
        &["process"],
        &["call"],
        &["error"],
        &["process", "error"],
        &["process", "call", "error"],
    ];
    let filters = calls.iter().map(|calls| ("--calls", *calls)).chain([("--errors", "*"), ("--errors", "!2")]);
    let filters: Vec<Option<(&str, &str)>> = filters.map(Some).chain([None]).collect();
    let mut rows = 0;
    for names in groupings {
        for sort in ["sum", "calls", "failed", "open", "average", "longest", "start", "name"] {
            for filter in &filters {
                let mut question = by(names).sorted_by_word(sort).expect("a word");
                if let Some((option, patterns)) = filter {
                    question = question.matching(option, patterns).expect("an option");
                }
                let question = summed(&question);
                let whole = answer(archive, &*question, "..");
                let part = answer(archive, &*question, "0s..1000s");
                let place = format!("{names:?} by {sort}, {filter:?}");
                for (whole, part) in whole.sections.iter().zip(&part.sections) {
                    assert_eq!(whole.rows, part.rows, "{place}");
                    assert_eq!(whole.facts, part.facts, "{place}");
                    rows += whole.rows.len();
                }
            }
        }
    }
    assert!(rows > 0, "no row at all");
}

/// A table of sums that says something else than the calls shows what is made of it.
#[test]
fn what_needs_single_calls_is_not_made_of_sums() {
    let call = |time: i64, thread: i32| SyscallRow {
        time: time * MS,
        start: (time - 1) * MS,
        process: ProcessId(1),
        thread: ThreadId(thread),
        result: Some(0),
        ..SyscallRow::default()
    };
    let calls = [call(5, 0), call(7, 1)];
    let sums = [SyscallSummaryRow { process: ProcessId(1), calls: 1000, ..SyscallSummaryRow::default() }];
    let directory = || tempfile::tempdir().expect("temporary directory");
    let total = |archive: &Path, question: &dyn Ask, time: &str| -> i64 {
        let found = figures(&answer(archive, question, time), &["calls"]);
        found.iter().map(|row| row[0].expect("a number")).sum()
    };
    let (of_plain, of_switched) = (directory(), directory());
    let plain = archive(of_plain.path(), &calls, &[], &sums);
    let switched = archive(of_switched.path(), &calls, &switches(0, &[(1, 1)]), &sums);
    let with_filter = |option: &str, patterns: &str| Question::default().matching(option, patterns).expect("an option");
    for question in [by(&["process"]), by(&["call", "error"]), with_filter("--calls", "0")] {
        assert_eq!(total(&plain, &question, ".."), 1000, "{question:?}");
        assert_eq!(total(&plain, &*summed(&question), ".."), 1000, "{question:?}");
        assert_eq!(total(&switched, &*summed(&question), ".."), 1000, "{question:?}");
    }
    // Where nothing is shown of processes their filter still holds.
    for (process, calls) in [("a", 1000), ("b", 0)] {
        let mut question = by(&["call"]);
        question.filter.process = ProcessPatterns::parse(process);
        let question = question.showing(&Shown::only(["calls"])).expect("it reads what is looked at");
        assert_eq!(total(&plain, &*question, ".."), calls, "{process}");
    }
    // The time off the CPUs is in no sum.
    assert_eq!(total(&switched, &by(&["process"]), ".."), 2);
    let long = Between { min: Some(1), max: None };
    let limited = Question::default().between("--min-duration", long).expect("an option");
    for question in [by(&["thread"]), by(&["method"]), by(&["stack", "process"]), limited] {
        assert_eq!(total(&plain, &question, ".."), 2, "{question:?}");
    }
    assert_eq!(total(&plain, &by(&["process"]), "0s..1s"), 2);
    assert_eq!(answer(&plain, &by(&["process"]).listed(Listing::Flat), "..").rows().count(), 2);
    let below = answer(&plain, &by(&["process"]).listed(Listing::OfGroups(5)), "..");
    assert_eq!(figures(&below, &["calls"]), [[Some(2)]]);
}

/// A call of Linux: thread, number, error, begin, end, time off the CPU.
type LinuxCall = (u32, u64, Option<i64>, u64, u64, u64);

/// Threads that call the kernel on one CPU, where they take turns.
fn of_linux(seed: u64, with_switches: bool) -> (Extracted, Vec<LinuxCall>) {
    let formats = if with_switches { vec![SYS_ENTER, SYS_EXIT, SWITCH] } else { vec![SYS_ENTER, SYS_EXIT] };
    let mut tracepoints = Tracepoints::new(Endianness::LittleEndian, formats);
    tracepoints.arch = Some("x86_64");
    let mut random = SplitMix64::new(seed);
    let tids = [7_u32, 8, 9];
    for tid in tids {
        tracepoints.comm(tid, tid, 900, &format!("p{tid}"));
    }
    let mut calls: Vec<LinuxCall> = Vec::new();
    // Number and begin of the open call of each thread, its time off the CPU in it, and when it left.
    let mut open: [Option<(u64, u64, u64)>; 3] = [None; 3];
    let mut left = [0_u64; 3];
    let (mut now, mut running) = (1_000_u64, None::<usize>);
    let mut steps = 400;
    while steps > 0 || open.iter().any(Option::is_some) {
        steps = (steps - 1).max(0);
        now += 1 + random.below(3_000);
        let choice = random.below(10);
        match running {
            Some(at) if choice < 3 && steps > 0 && open[at].is_none() => {
                let number = [0, 1, 257, 3][random.index(4)];
                open[at] = Some((number, now, 0));
                tracepoints.sample(0, tids[at], now, 0, |raw| _ = raw.u64(number).u64s(&[3, 0, 0, 0, 0, 0]));
            }
            Some(at) if choice < 6 && open[at].is_some() => {
                let Some((number, start, off)) = open[at].take() else { continue };
                let error = (random.below(3) == 0).then(|| [2, 13][random.index(2)]);
                let result = error.map_or(5, |error: i64| -error);
                tracepoints.sample(1, tids[at], now, 0, |raw| _ = raw.u64(number).u64s(&[result.cast_unsigned()]));
                calls.push((tids[at], number, error, start, now, off));
            }
            _ => {
                let next = random.index(3);
                if running == Some(next) {
                    continue;
                }
                let old = running.map_or(0, |at| tids[at]);
                if with_switches {
                    let record = |raw: &mut Bytes| _ = raw.u32(old).u32(0).u64(1).u32(tids[next]).u32(0);
                    tracepoints.sample(2, old, now, 0, record);
                }
                running.into_iter().for_each(|at: usize| left[at] = now);
                if let Some((_, _, off)) = &mut open[next] {
                    *off += now - left[next];
                }
                running = Some(next);
            }
        }
    }
    (Recording::of("perf.data", &tracepoints.file()).extract(), calls)
}

#[test]
fn calls_of_linux_have_their_time_off_the_cpu() {
    for seed in 1..=3 {
        let (extracted, calls) = of_linux(seed, true);
        let mut expected: BTreeMap<(i64, i64), [i64; 4]> = BTreeMap::new();
        for (tid, number, _, start, end, off) in &calls {
            let sums = expected.entry((i64::from(*tid), number.cast_signed())).or_default();
            let (length, off) = ((end - start).cast_signed(), off.cast_signed());
            let of_call = [1, length, length - off, off];
            sums.iter_mut().zip(of_call).for_each(|(sum, of_call)| *sum += of_call);
        }
        let columns = ["tid", "number", "calls", "duration_sum_ns", "cpu_ns", "wait_ns"];
        let found = figures(&answer(&extracted.report.archive, &by(&["thread", "call"]), ".."), &columns);
        let found: BTreeMap<(i64, i64), [i64; 4]> = found
            .iter()
            .map(|row| row.iter().map(|figure| figure.expect("a figure")).collect::<Vec<i64>>())
            .map(|row| ((row[0], row[1]), [row[2], row[3], row[4], row[5]]))
            .collect();
        assert_eq!(found, expected, "seed {seed}");
        assert!(expected.values().any(|sums| sums[3] > 0), "no call waited");
    }
}

#[test]
fn sums_of_linux_recordings_are_those_of_their_calls() {
    for with_switches in [true, false] {
        let (extracted, calls) = of_linux(5, with_switches);
        let archive = &extracted.report.archive;
        let kinds: BTreeSet<_> = calls.iter().map(|(tid, number, error, ..)| (tid, number, error)).collect();
        let sums: Vec<SyscallSummaryRow> = extracted.archive.rows().expect("sums");
        assert_eq!(sums.len(), kinds.len());
        assert_eq!(sums.iter().map(|row| row.calls).sum::<i64>(), calls.len() as i64);
        sums_are_those_of_rows(archive, &["openat", "!close"]);
        let found = figures(&answer(archive, &by(&["process"]), ".."), &["cpu_ns", "wait_ns"]);
        assert!(found.iter().flatten().all(|figure| figure.is_some() == with_switches), "{found:?}");
    }
}

#[test]
fn sums_of_windows_recordings_are_those_of_their_calls() {
    let story = system_calls::story(4, true);
    let bytes = system_calls::write(&story, PointerSize::Eight, false).expect("a recording");
    let extracted = Recording::of("calls.etl", &bytes).extract();
    let sums: Vec<SyscallSummaryRow> = extracted.archive.rows().expect("sums");
    let calls: Vec<SyscallRow> = extracted.archive.rows().expect("calls");
    assert_eq!(sums.iter().map(|row| row.calls).sum::<i64>(), calls.len() as i64);
    assert!(sums.iter().all(|row| row.frame.is_some()), "{sums:?}");
    sums_are_those_of_rows(&extracted.report.archive, &["ntoskrnl.exe+0x1*", "!*0x1040"]);
}
