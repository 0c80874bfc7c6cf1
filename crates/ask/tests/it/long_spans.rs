//! Answers about a range of time are the same with and without the index of long spans.

use std::path::{Path, PathBuf};

use tracesift_analysis::{AccountedSwitch, Accounting, RecordingFacts, Run, RunStacks, RunSwitch, Span, ThreadAccount};
use tracesift_archive::{Archive, ArchiveWriter, WriterOptions};
use tracesift_ask::answer::Section;
use tracesift_ask::measure::Measure;
use tracesift_ask::order::Top;
use tracesift_ask::question::{cpu, methods, missing, threads, waits};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, MethodPatterns, profile};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::archive::TRACE;
use tracesift_testing::chains::{Chains, chains};
use tracesift_testing::recording::{extract_file, write_etl};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::LongSpanRow;
use tracesift_trace::{Clock, Health, RowSink as _, StackId};

/// Ranges of all lengths, some of which lie at an edge or beyond it.
fn ranges(seed: u64, end: i64, count: usize) -> Vec<TimeRange> {
    let mut random = SplitMix64::new(seed);
    (0..count)
        .map(|place| {
            let length = [1, end / 100, end / 10, end / 2][place % 4].max(1);
            let start = random.between(-length, end);
            let (start, end) = (Some(start), Some(start + random.between(1, length)));
            match place % 9 {
                7 => TimeRange { start, end: None },
                8 => TimeRange { start: None, end },
                _ => TimeRange { start, end },
            }
        })
        .collect()
}

fn written(target: &Path, chains: &Chains) -> Archive {
    let options = WriterOptions { trace: TRACE.to_owned(), group_rows: Some(128), ..WriterOptions::default() };
    let mut writer = ArchiveWriter::create(target, options).expect("created");
    writer.write_table(&chains.threads);
    chains.switches.iter().for_each(|row| writer.context_switch(row));
    let clock = Clock::new(0, 10_000_000);
    let info = TraceInfo { end_ns: chains.end, has_switches: true, ..TraceInfo::default() };
    let mut sealed = writer.seal(info, &clock).wait().expect("sealed");
    let archive = sealed.archive().clone();
    let mut found = Ok(());
    sealed.write_each(|write| found = archive.find_long_spans(write));
    found.expect("found");
    let archive = Archive::open(&sealed.finish(&Health::new(), &clock).expect("finished")).expect("opened");
    assert!(archive.row_count::<LongSpanRow>() > 0);
    archive
}

/// A run: when, the thread and the CPU.
type KnownRun = (Span, i32, Option<i16>);

/// Accounts of the rows that `scan` shows, and the runs that they know of.
fn accounts(
    (recording, range, all): (&RecordingFacts, Span, &Chains),
    scan: impl FnOnce(&mut dyn FnMut(&AccountedSwitch)),
) -> (Vec<ThreadAccount>, Vec<KnownRun>) {
    let mut runs = Vec::new();
    let mut accounting = Accounting::new(recording, range, &all.threads);
    let mut run = |run: Run| runs.push((run.span, run.thread.0, run.cpu));
    scan(&mut |row| accounting.switch(row, &mut run));
    let accounts = accounting.finish(&mut run);
    runs.sort_by_key(|(span, thread, cpu)| (span.start, span.end, *thread, *cpu));
    (accounts.threads, runs)
}

/// Runs and their stacks, newest row first.
fn stacks(
    (recording, range, all): (&RecordingFacts, Span, &Chains),
    scan: impl FnOnce(&mut dyn FnMut(&RunSwitch)),
) -> Vec<(i64, i64, i32, Option<StackId>)> {
    let mut found = Vec::new();
    let mut runs = RunStacks::new(recording, range, &all.threads);
    let mut visit = |run: Run, stack| found.push((run.span.start, run.span.end, run.thread.0, stack));
    scan(&mut |row| runs.switch(row, &mut visit));
    runs.finish(&mut visit);
    found.sort_unstable();
    found
}

#[test]
fn rows_around_a_range_account_for_all_of_its_time() {
    let root = tempfile::tempdir().expect("temporary directory");
    let mut spared = 0;
    for seed in 0..16 {
        let all = chains(seed, 2_500);
        let archive = written(&root.path().join(format!("{seed}.sift")), &all);
        for has_ready in [false, true] {
            let info = TraceInfo { has_ready, ..archive.info().clone() };
            let recording = RecordingFacts::from(&info);
            for range in ranges(seed, all.end, 15) {
                let (start, end) = range.bounds();
                let of = (&recording, Span::new(start, end), &all);
                let expected = accounts(of, |visit| archive.scan(None, visit).expect("read"));
                let before = archive.rows_read();
                let found = accounts(of, |visit| archive.scan_around(Some(start..end), visit).expect("read"));
                spared += u64::from((archive.rows_read() - before) * 2 < all.switches.len() as u64);
                assert_eq!(found, expected, "seed {seed}, {range:?}");

                let expected = stacks(of, |visit| archive.scan_backwards(None, visit).expect("read"));
                let found = stacks(of, |visit| archive.scan_around_backwards(Some(start..end), visit).expect("read"));
                assert_eq!(found, expected, "seed {seed}, {range:?}");
            }
        }
    }
    assert!(spared > 125, "few ranges left rows out: {spared}");
}

/// A recording whose tables have small row groups, with its index.
fn extracted(seed: u64, directory: &Path) -> PathBuf {
    let knobs = Knobs { duration_ms: 400, mean_run_micros: 150, ..Knobs::random(seed) };
    let mut options = Options::default();
    (options.budget.group_rows, options.budget.long_from) = (Some(100), 0);
    extract_file(&write_etl(&Scenario::random(seed, &knobs), directory), &options).archive
}

/// Makes the archive one without the index.
fn forget_index(archive: &Path) {
    let path = archive.join("trace.json");
    let mut info: TraceInfo = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    info.tables.retain(|table| table.name != "long_spans");
    std::fs::write(&path, serde_json::to_vec(&info).expect("JSON")).expect("written");
}

/// What each question says about a range.
fn answers(archive: &Path, ranges: &[TimeRange]) -> Vec<(String, Section)> {
    let recording = OpenRecording::open(&Source::archive(archive.to_owned())).expect("opened");
    let all = Top { take: Some(usize::MAX), ..Top::default() };
    let mut answers = Vec::new();
    for &time in ranges {
        let waits = waits::Question { time, top: all, ..waits::Question::default() };
        let methods = Some(MethodPatterns::parse("*", false));
        let questions: [Box<dyn Ask>; 6] = [
            Box::new(threads::Question { time, ..threads::Question::default() }),
            Box::new(cpu::Question { time, core_numbers: true, ..cpu::Question::default() }),
            Box::new(waits.clone()),
            Box::new(waits::sums::Question { waits, ..waits::sums::Question::default() }),
            Box::new(methods::Question { time, methods, per_thread: true, ..methods::Question::default() }),
            Box::new(missing::Question { time, ..missing::Question::default() }),
        ];
        for question in questions {
            let section = question.section(&recording).expect("an answer");
            answers.push((format!("{} of {time:?}", question.name()), section));
        }
        for measure in [Measure::CPU, Measure::WAIT] {
            let question = profile::Question {
                processes: None,
                measure,
                filter: Default::default(),
                time,
                inside: Vec::new(),
                origin: 0,
                methods: MethodPatterns::default(),
                said: String::new(),
            };
            let total = question.timed(&recording).expect("read").samples.total();
            let section = Section { title: total.to_string(), ..Section::default() };
            answers.push((format!("profile of {time:?}"), section));
        }
    }
    answers
}

#[test]
fn questions_say_the_same_with_and_without_the_index() {
    let (mut with_index, mut rows) = (0, 0);
    for seed in 700..716 {
        let directory = tempfile::tempdir().expect("a directory");
        let archive = extracted(seed, directory.path());
        let opened = Archive::open(&archive).expect("opened");
        let ranges = ranges(seed, opened.info().end_ns, 6);
        with_index += usize::from(opened.row_count::<LongSpanRow>() > 0);
        rows += opened.row_count::<LongSpanRow>();
        let found = answers(&archive, &ranges);
        forget_index(&archive);
        let expected = answers(&archive, &ranges);
        for ((what, found), (_, expected)) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "seed {seed}: {what}");
        }
    }
    assert!(with_index > 6 && rows > 150, "{with_index} archives have an index, with {rows} rows");
}
