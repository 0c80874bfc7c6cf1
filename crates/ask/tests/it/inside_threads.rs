//! Times that regions choose, for questions about what threads did: the answer about several spans of time is the sum of the answers about
//! each of them as a time range. Nothing but the time range is in both.

use std::collections::BTreeMap;

use tracesift_analysis::{Span, Times};
use tracesift_ask::answer::{Section, Value};
use tracesift_ask::inside::Inside;
use tracesift_ask::measure::Measure;
use tracesift_ask::order::Top;
use tracesift_ask::question::waits::sums::By;
use tracesift_ask::question::{cpu, methods, threads, waits};
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::{Ask, MethodPatterns, profile};
use tracesift_export::{Grouping, folded};
use tracesift_extract::Options;
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, SplitMix64};
use tracesift_testing::recording::{extract_file, write_etl};
use tracesift_trace::ProcessId;
use tracesift_trace::rows::ProcessRow;

/// Figures by what they are of.
type Sums = BTreeMap<Vec<String>, Vec<i64>>;

/// The spans of time that are chosen, none of which touches another one.
fn spans(seed: u64, end: i64) -> Vec<Span> {
    let mut random = SplitMix64::new(seed);
    let mut instants: Vec<i64> = (0..random.between(2, 24)).map(|_| random.between(0, end)).collect();
    instants.sort_unstable();
    instants.dedup();
    instants.chunks_exact(2).map(|ends| Span::new(ends[0], ends[1])).collect()
}

fn range(span: Span) -> TimeRange {
    TimeRange { start: Some(span.start), end: Some(span.end) }
}

/// Adds the rows of a section, without those that have nothing.
fn add(sums: &mut Sums, columns: &[&str], question: &dyn Ask, section: &Section, keys: &[&str]) {
    let described = question.columns();
    let place = |key: &str| described.iter().position(|column| column.key == key);
    for row in &section.rows {
        let text = |key: &&str| place(key).map_or(String::new(), |place| format!("{:?}", row[place]));
        let figure = |key: &&str| {
            let place = place(key).unwrap_or_else(|| panic!("no column {key}"));
            if let Value::Int(figure) = row[place] { figure } else { 0 }
        };
        let figures: Vec<i64> = columns.iter().map(figure).collect();
        if figures.iter().any(|figure| *figure != 0) {
            let of_key = sums.entry(keys.iter().map(text).collect()).or_insert_with(|| vec![0; columns.len()]);
            of_key.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
}

/// Compares the answer about chosen times with the sum of those about each span.
fn compare<Q: Ask>(
    what: &str,
    (recording, spans): (&OpenRecording, &[Span]),
    (keys, columns): (&[&str], &[&str]),
    question: impl Fn(TimeRange, Vec<Inside>) -> Q,
) {
    let inside = || vec![Inside::Spans(spans.to_vec())];
    let mut expected = Sums::new();
    for span in spans {
        let question = question(range(*span), Vec::new());
        add(&mut expected, columns, &question, &question.section(recording).expect("an answer"), keys);
    }
    let chosen = question(TimeRange::default(), inside());
    let mut found = Sums::new();
    add(&mut found, columns, &chosen, &chosen.section(recording).expect("an answer"), keys);
    assert_eq!(found, expected, "{what}: {spans:?}");

    // A series, of which each part has its own chosen times.
    let half = (recording.file.start + recording.file.end) / 2;
    let parts = [(None, Some(half)), (Some(half), None)].map(|(start, end)| TimeRange { start, end });
    let series = chosen.series(recording, &parts, 0).expect("an answer");
    for (part, section) in parts.iter().zip(&series) {
        let alone = question(*part, inside());
        let [mut one, mut other] = [Sums::new(), Sums::new()];
        add(&mut one, columns, &alone, section, keys);
        add(&mut other, columns, &alone, &alone.section(recording).expect("an answer"), keys);
        assert_eq!(one, other, "{what}: {part:?} of {spans:?}");
    }
}

/// What each process did: run, wait, ready, open and unknown time, switches.
fn figures(recording: &OpenRecording, time: TimeRange, times: Option<&Times>) -> BTreeMap<ProcessId, [i64; 6]> {
    let processes: Vec<ProcessRow> = recording.archive().rows().expect("processes");
    let rows = recording.process_figures(&processes, time, times).expect("figures");
    let figures = rows.iter().map(|row| {
        let figures = [row.run, row.wait, row.ready, row.open, row.unknown, row.switches];
        (row.process, figures.map(Option::unwrap_or_default))
    });
    figures.filter(|(_, figures)| figures.iter().any(|figure| *figure != 0)).collect()
}

/// Every recording with some spans of time.
fn each(mut visit: impl FnMut(u64, &OpenRecording, &[Span])) {
    for seed in 300..324 {
        let scenario = Scenario::random(seed, &Knobs::random(seed));
        let directory = tempfile::tempdir().expect("a directory");
        let extracted = extract_file(&write_etl(&scenario, directory.path()), &Options::default());
        let recording = OpenRecording::open(&Source::archive(extracted.archive)).expect("opened");
        let spans = spans(seed, recording.file.end);
        visit(seed, &recording, &spans);
    }
}

#[test]
fn processes_threads_and_methods_have_the_sums_of_the_spans() {
    let of_methods = [
        "cpu_ns",
        "exclusive_cpu_ns",
        "samples",
        "wait_ns",
        "wait_sum_ns",
        "wait_count",
        "ready_ns",
        "ready_sum_ns",
        "ready_count",
        "switches",
    ];
    each(|seed, recording, spans| {
        let what = |question: &str| format!("{question} of seed {seed}");
        let keys = ["process", "pid", "start_ns"];
        // A process that did not run has no row, however long it waited.
        let of_running = ["run_ns", "cpu_ns", "samples"];
        compare(&what("cpu"), (recording, spans), (&keys, &of_running), |time, inside| cpu::Question {
            time,
            inside,
            ..cpu::Question::default()
        });
        assert_eq!(
            figures(recording, TimeRange::default(), Some(&Times::of_spans(spans.to_vec()))),
            spans.iter().fold(BTreeMap::new(), |mut sums, span| {
                for (process, figures) in figures(recording, range(*span), None) {
                    let of_process = sums.entry(process).or_insert([0; 6]);
                    of_process.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
                }
                sums
            }),
            "{}: {spans:?}",
            what("cpu")
        );
        let keys = ["process", "pid", "tid", "thread_start_ns"];
        // A thread that was ready and nothing else has no row.
        let of_seen = ["run_ns", "wait_ns", "switches", "cpu_ns", "samples"];
        compare(&what("threads"), (recording, spans), (&keys, &of_seen), |time, inside| threads::Question {
            time,
            inside,
            ..threads::Question::default()
        });
        for per_thread in [false, true] {
            let keys = ["process", "pid", "start_ns", "tid", "module", "method"];
            compare(&what("methods"), (recording, spans), (&keys, &of_methods), |time, inside| methods::Question {
                time,
                inside,
                per_thread,
                methods: Some(MethodPatterns::parse("*", false)),
                ..methods::Question::default()
            });
        }
    });
}

#[test]
fn waits_are_cut_to_the_spans() {
    each(|seed, recording, spans| {
        let all = Top { take: Some(usize::MAX), ..Top::default() };
        let keys = ["process", "pid", "tid", "from_ns", "wait_method"];
        let one = |time, inside| waits::Question { time, inside, top: all, ..waits::Question::default() };
        compare(&format!("waits of seed {seed}"), (recording, spans), (&keys, &["wait_ns"]), one);
        for by in [By::Method, By::Thread, By::Process] {
            let keys = ["process", "pid", "tid", "wait_method"];
            let columns = ["waits", "wait_sum_ns", "wait_ns"];
            compare(
                &format!("waits by {by:?} of seed {seed}"),
                (recording, spans),
                (&keys, &columns),
                |time, inside| waits::sums::Question {
                    waits: one(time, inside),
                    by,
                    ..waits::sums::Question::default()
                },
            );
        }
    });
}

#[test]
fn profiles_have_the_sums_of_the_spans() {
    each(|seed, recording, spans| {
        for measure in [Measure::CPU, Measure::WAIT, Measure::READY] {
            let question = |time, inside| profile::Question {
                processes: None,
                measure,
                filter: Default::default(),
                time,
                inside,
                origin: 0,
                methods: MethodPatterns::default(),
                said: String::new(),
            };
            let lines = |question: &profile::Question, sums: &mut Sums| {
                let mut text = Vec::new();
                let folded = question.folded(recording).expect("read");
                folded::write(&folded, Grouping::Thread, &mut text).expect("memory");
                let text = String::from_utf8(text).expect("text");
                for (stack, weight) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
                    let sum = sums.entry(vec![stack.to_owned()]).or_insert_with(|| vec![0]);
                    sum[0] += weight.parse::<i64>().expect("a number");
                }
            };
            let [mut found, mut expected] = [Sums::new(), Sums::new()];
            let chosen = question(TimeRange::default(), vec![Inside::Spans(spans.to_vec())]);
            lines(&chosen, &mut found);
            spans.iter().for_each(|span| lines(&question(range(*span), Vec::new()), &mut expected));
            assert_eq!(found, expected, "seed {seed}, {measure:?}: {spans:?}");
            let timed = chosen.timed(recording).expect("read");
            let all: i64 = expected.values().map(|sums| sums[0]).sum();
            assert_eq!(timed.samples.total(), all.cast_unsigned(), "seed {seed}, {measure:?}, with times");
        }
    });
}

#[test]
fn all_of_the_time_is_everything() {
    each(|seed, recording, _| {
        let [chosen, plain] = [vec![Inside::Spans(vec![Span::ALL])], Vec::new()].map(|inside| {
            let question = threads::Question { inside, ..threads::Question::default() };
            question.section(recording).expect("an answer").rows
        });
        assert_eq!(chosen, plain, "seed {seed}");
    });
}
