//! The summary of an archive keeps the largest methods only. Answers must not depend on it.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracesift_analysis::{MethodId, MethodNames, RecordingFacts, Span, StackMethods, Summaries};
use tracesift_ask::MethodPatterns;
use tracesift_ask::order::{Between, Top};
use tracesift_ask::question::methods::{Question, Ranges, Sort};
use tracesift_grammar::TimeRange;
use tracesift_testing::archive::{create, finish_as};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{ContextSwitchRow, CpuSampleRow, SymbolRow};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

use crate::methods::{answer, figures};
use tracesift_testing::rows::{self, process};

/// Methods of the process; each is a stack of its own below `Main`.
const METHODS: i32 = 40;
/// As many are kept per measure.
const KEPT: usize = 6;

/// An archive with a process of many methods: method `n` has the n-th of these samples and waits.
fn archive(directory: &Path, samples: &[u8], waits: &[u8]) -> PathBuf {
    let target = directory.join("many.sift");
    let mut writer = create(&target);
    let process = process(0, 77, "many.exe");
    let thread = rows::thread(0, 0, 78);
    let function = |frame: i32| if frame == METHODS { "Main".to_owned() } else { format!("Method{frame}") };
    let frames = 0..=METHODS;
    let frame = |frame: i32| rows::frame(frame, frame.into());
    let symbol = |frame| SymbolRow { frame: FrameId(frame), function: function(frame), ..SymbolRow::default() };
    let stack = |leaf| rows::stack(leaf, &[leaf, METHODS]);

    let mut rows: Vec<CpuSampleRow> = Vec::new();
    let mut switches: Vec<ContextSwitchRow> = Vec::new();
    let mut now = 0;
    for (leaf, (samples, waits)) in (0..METHODS).zip(samples.iter().zip(waits)) {
        for _ in 0..*samples {
            now += 10;
            rows.push(CpuSampleRow {
                time: now,
                cpu: 0,
                process: ProcessId(0),
                thread: ThreadId(0),
                weight: 10,
                stack: Some(StackId(leaf)),
                frame: None,
                priority: None,
                flags: 0,
            });
        }
        let off_time = now + 1;
        now = off_time + i64::from(*waits);
        switches.push(ContextSwitchRow {
            time: now,
            cpu: Some(0),
            thread: ThreadId(0),
            off_time,
            off_state: Some(5),
            ready_time: Some(now - i64::from(*waits) / 3),
            wait_stack: Some(StackId(leaf)),
            ..ContextSwitchRow::default()
        });
    }
    let info = TraceInfo {
        name: "many".to_owned(),
        kind: "etl".to_owned(),
        end_ns: now + 10,
        has_switches: true,
        has_ready: true,
        method_summary_cut: KEPT as u32,
        ..TraceInfo::default()
    };

    let mut names = MethodNames::new();
    let mut methods = StackMethods::new();
    for frame in frames.clone() {
        let method: MethodId = names.function(None, &function(frame));
        methods.add_frame(FrameId(frame), &[method]);
    }
    (0..METHODS).for_each(|leaf| methods.add_stack(&stack(leaf)));
    let threads = [thread];
    let mut summaries = Summaries::new(RecordingFacts::from(&info), Span::ALL, &threads, methods);
    rows.iter().for_each(|row| summaries.sample(row));
    switches.iter().rev().for_each(|row| summaries.switch(row));
    let summary = summaries.finish([ProcessId(0)], KEPT, |method| names.name(method));

    writer.write_table(&[process]);
    writer.write_table(&threads);
    writer.write_table(&frames.clone().map(frame).collect::<Vec<_>>());
    writer.write_table(&frames.map(symbol).collect::<Vec<_>>());
    writer.write_table(&(0..METHODS).map(stack).collect::<Vec<_>>());
    rows.iter().for_each(|row| writer.cpu_sample(row));
    switches.iter().for_each(|row| writer.context_switch(row));
    writer.write_table(&summary.processes);
    writer.write_table(&summary.methods.rows());
    finish_as(writer, info)
}

fn sort() -> impl Strategy<Value = Sort> {
    prop::sample::select(vec![
        Sort::Cpu,
        Sort::Exclusive,
        Sort::Wait,
        Sort::Ready,
        Sort::CpuWait,
        Sort::First,
        Sort::Name,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn answers_do_not_depend_on_what_the_summary_keeps(
        // Few different figures, so that there are equals at the cut.
        samples in prop::collection::vec(0..6_u8, METHODS as usize),
        waits in prop::collection::vec(0..6_u8, METHODS as usize),
        sort in sort(),
        take in prop::option::of(0..12_usize),
        skip in 0..3_usize,
        min_cpu in prop::option::of(0..60_i64),
        min_wait in prop::option::of(0..6_i64),
        max_ready in prop::option::of(0..3_i64),
        pattern in prop::sample::select(vec!["*", "*1*", "Main", "!Method2*"]),
    ) {
        let directory = tempfile::tempdir().expect("temporary directory");
        let archive = archive(directory.path(), &samples, &waits);
        let question = |time| Question {
            methods: Some(MethodPatterns::parse(pattern, false)),
            time,
            sort,
            top_methods: Top { take, skip },
            ranges: Ranges {
                cpu: Between { min: min_cpu, max: None },
                wait: Between { min: min_wait, max: None },
                ready: Between { min: None, max: max_ready },
                ..Ranges::default()
            },
            ..Question::default()
        };
        let any = answer(&archive, &question(TimeRange::default()));
        let events = answer(&archive, &question(TimeRange { start: Some(i64::MIN), end: None }));
        prop_assert_eq!(figures(&any), figures(&events));
        let order = |answer: &tracesift_ask::answer::Answer| answer.rows().cloned().collect::<Vec<_>>();
        prop_assert_eq!(order(&any), order(&events));
    }
}

#[test]
fn the_events_are_read_only_when_they_must_be() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let samples: Vec<u8> = (0..METHODS as u8).collect();
    let archive = archive(directory.path(), &samples, &samples);
    let reads = |question: &Question| {
        let answer = answer(&archive, question);
        answer.sections.iter().any(|section| section.notes.iter().any(|note| note.contains("from the events")))
    };
    let top = |take| Top { take: Some(take), skip: 0 };
    let min_cpu = |min| Ranges { cpu: Between { min: Some(min), max: None }, ..Ranges::default() };
    let all = || Question { methods: Some(MethodPatterns::default()), ..Question::default() };
    assert!(reads(&all()));
    assert!(reads(&Question { methods: Some(MethodPatterns::parse("Method39", false)), ..all() }));
    assert!(!reads(&Question { top_methods: top(5), ..all() }));
    assert!(!reads(&Question { top_methods: top(4), sort: Sort::Wait, ..all() }));
    assert!(reads(&Question { top_methods: top(20), ..all() }));
    assert!(reads(&Question { top_methods: top(2), sort: Sort::CpuWait, ..all() }));
    assert!(!reads(&Question { ranges: min_cpu(360), ..all() }));
    assert!(reads(&Question { ranges: min_cpu(340), ..all() }));
}
