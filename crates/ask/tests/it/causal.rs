//! Comparisons of machines whose every nanosecond is known: what was put in is the first row, and has its time. The benchmark
//! `compare` does the same many times over.

use std::io::Cursor;

use tracesift_ask::compare::difference::{Difference, Part};
use tracesift_ask::compare::run::Run;
use tracesift_ask::compare::{Case, Measure, Settings, Verdict};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_scenario::causal::pairs::{Pair, pair, test_account};
use tracesift_scenario::causal::workload::{Expected, Injection, Workload};
use tracesift_scenario::causal::{History, Noise, etl, perf};
use tracesift_testing::recording::{Extracted, Recording, with_symbol_files};

const MS: i64 = 1_000_000;
const RUNS: usize = 4;

/// Names of the kernel's functions tell what a disk and a checkpoint are; names of managed methods tell the rest.
fn extracted(kind: Injection, history: &History) -> Extracted {
    match kind {
        Injection::SlowDisk | Injection::Checkpoint | Injection::Scanner(_) => {
            let mut bytes = Cursor::new(Vec::new());
            perf::write(history, MS, &mut bytes).expect("written");
            Recording::of("perf.data", &bytes.into_inner()).extract()
        }
        // What a wait was for is known from the kernel's names.
        Injection::PageFaults => {
            let recording = Recording::etl(&etl::scenario(history, MS));
            let options = with_symbol_files(&recording.directory().join("symbols"), &etl::symbol_files(history));
            recording.extract_with(&options)
        }
        _ => Recording::etl(&etl::scenario(history, MS)).extract(),
    }
}

fn measured(kind: Injection, histories: &[History], set: usize) -> Vec<Run> {
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let run = |(number, history): (usize, &History)| {
        let extracted = extracted(kind, history);
        let source = Source::archive(extracted.report.archive.clone());
        let mut run = Run::measure(&source, &accounts, Measure::Window, None).expect("an account");
        let (start, end) = history.window();
        // The first thread and its process begin microseconds apart.
        assert!((run.duration() - (end - start)).abs() < 50_000, "{kind:?}");
        // In turn, a minute each.
        let minute = i64::try_from(2 * number + usize::from((number % 2 == 1) != (set == 1))).expect("few");
        (run.time, run.id) = (600_000_000 * minute, format!("{set}-{number}"));
        run
    };
    histories.iter().enumerate().map(run).collect()
}

fn compared(pair: &Pair) -> Case {
    let sets = [measured(pair.injection, &pair.a, 0), measured(pair.injection, &pair.b, 1)];
    let case = Case::of("app".to_owned(), sets, ["A", "B"].map(str::to_owned), &Settings::default());
    case.expect("numbers that can be compared")
}

fn of(kind: Injection, seed: u64) -> (Pair, Case) {
    // A common factor needs several methods with samples enough.
    let workload = match kind.expected() {
        Expected::Speed => Workload { items: 192, check: 3 * MS, hold: 2 * MS, ..Workload::default() },
        _ => Workload::default(),
    };
    let noise = Noise { step_cv_ppm: 10_000, run_cv_ppm: 5_000, ..Noise::default() };
    let pair = pair(kind, &workload, &noise, (RUNS, RUNS), seed);
    let case = compared(&pair);
    (pair, case)
}

fn is_first(difference: &Difference, expected: Expected) -> bool {
    let moved =
        |part: &Part, name: &str| matches!(part, Part::Moved(sites) if sites.iter().any(|site| site.contains(name)));
    let Some(first) = difference.shown.first() else { return false };
    match (&first.part, expected) {
        (_, Expected::Key(_, name)) if difference.shown.iter().any(|shown| moved(&shown.part, name)) => true,
        (Part::Row(row), Expected::Key(state, name)) => row.state() == state && row.text().contains(name),
        (Part::Row(row), Expected::Disturbance(kind)) => row.disturbance() == Some(&*kind.replace(' ', "-")),
        (Part::Speed(_), Expected::Speed) => true,
        _ => false,
    }
}

/// The mean difference of a state of the test's main thread, or of its other threads.
fn truth(pair: &Pair, state: &str, is_main: bool) -> f64 {
    let mean = |set: &[History]| {
        let of_run = |history: &History| -> i64 {
            let account = test_account(history).into_iter();
            let of_state = account.filter(|(key, _)| key.state == state && key.process == "app");
            of_state.filter(|(key, _)| (key.thread == "main") == is_main).map(|(_, ns)| ns).sum()
        };
        set.iter().map(of_run).sum::<i64>() as f64 / set.len() as f64
    };
    mean(&pair.b) - mean(&pair.a)
}

#[test]
fn what_was_put_in_is_the_first_row_and_exact_parts_have_its_time() {
    for (number, kind) in (0..).zip(Injection::ALL) {
        if kind == Injection::None {
            continue;
        }
        let (pair, case) = of(kind, 0xB4 + number);
        let result = case.result.as_ref().expect("a result");
        let difference = &result.difference;
        let text: Vec<String> =
            difference.shown.iter().map(|shown| format!("{:+.1} {}", shown.delta as f64 / 1e6, shown.text())).collect();
        assert!(is_first(difference, kind.expected()), "{kind:?}: {text:#?}");
        let shown: i128 = difference.shown.iter().map(|shown| shown.delta).sum();
        let rows: i128 = difference.rows.iter().map(|row| row.delta).sum();
        assert_eq!((shown, rows), (difference.total, difference.total), "{kind:?}");
        for (state, is_main) in ["run", "ready", "wait"].into_iter().flat_map(|state| [(state, true), (state, false)]) {
            let is_of_app = |names: [Option<&str>; 7]| names[0] == Some("app") && (names[1] == Some("main")) == is_main;
            let rows = difference.rows.iter().filter(|row| row.state() == state && is_of_app(row.names()));
            let found: i128 = rows.map(|row| row.delta).sum();
            let truth = truth(&pair, state, is_main);
            let allowed = (0.02 * truth.abs()).max(20_000.0);
            let where_from = format!("{kind:?}, {state}, main {is_main}");
            assert!((found as f64 - truth).abs() <= allowed, "{where_from}: {found} ns, {truth} ns really");
        }
    }
}

#[test]
fn a_lower_clock_is_one_row_and_no_method_beside_it() {
    let (_, case) = of(Injection::Clock, 9);
    let difference = &case.result.as_ref().expect("a result").difference;
    let speed = difference.speed.expect("a factor");
    assert!((speed.factor - 1.0 / 0.9).abs() < 0.03, "{speed:?}");
    let flagged = difference.shown.iter().filter_map(|shown| shown.row()).filter(|row| row.is_flagged);
    assert_eq!(flagged.map(|row| row.text()).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn equal_sets_have_no_flag_and_a_scanner_is_named_with_its_runs() {
    // Of twenty comparisons one may flag something.
    let flagged = (3..9).filter(|seed| {
        let (_, case) = of(Injection::None, *seed);
        let result = case.result.as_ref().expect("a result");
        assert!(!matches!(result.undisturbed.verdict, Verdict::Slower | Verdict::Faster), "{}", result.sentence);
        result.difference.rows.iter().any(|row| row.is_flagged)
    });
    assert!(flagged.count() <= 1);
    let (_, case) = of(Injection::Scanner(2), 5);
    let result = case.result.as_ref().expect("a result");
    let first = &result.difference.shown[0];
    let mut most = first.most.clone();
    most.sort_unstable();
    // The runs of the second set follow those of the first.
    assert_eq!(most, [RUNS, RUNS + 1], "{}", result.sentence);
    assert!(!matches!(result.undisturbed.verdict, Verdict::Slower | Verdict::Faster), "{}", result.sentence);
}
