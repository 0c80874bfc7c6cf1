//! A year of runs whose changes are known: each is found at its run, with the build that made it.

use std::path::Path;
use std::sync::Arc;

use tracesift_ask::compare::kept::KeptAccounts;
use tracesift_ask::compare::{Settings, Verdict};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::history::{CaseHistory, History, RunsOrder, Turn, history};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_testing::archive::Random;
use tracesift_trace::ModuleId;
use tracesift_trace::rows::ModuleRow;

use crate::compare::{Parts, USUAL, archive_with};

/// 100 ns.
const DAY: i64 = 864_000_000_000;

const RUNS: usize = 500;

/// Runs that somebody else disturbed for long, by chance.
const DISTURBED: [usize; 7] = [11, 47, 200, 201, 333, 430, 455];

/// What is true of a run: the version of its build and its parts.
fn truth(run: usize) -> (&'static str, Parts) {
    // The machine becomes slower by half a percent over the year.
    let drift = (run / 167) as i64 / 2;
    let taken = if DISTURBED.contains(&run) {
        180
    } else if (290..).contains(&run) {
        25
    } else {
        0
    };
    let (version, parse) = match run {
        0..170 => ("1.9", 200),
        // Eighteen of 290 ms.
        170..390 => ("1.10", 218),
        _ => ("1.11", 190),
    };
    (version, Parts { parse: parse + drift, taken, ..USUAL })
}

fn year(directory: &Path, truth: impl Fn(usize) -> (&'static str, Parts), runs: usize) -> Vec<Source> {
    let mut dice = Random(17);
    let source = |run: usize| {
        let (version, parts) = truth(run);
        let module = |id, name: &str, version: &str| ModuleRow {
            module: ModuleId(id),
            name: name.to_owned(),
            build_id: Some(format!("{name}-{version}")),
            file_version: Some(version.to_owned()),
            ..ModuleRow::default()
        };
        let modules = [module(0, "app", version), module(1, "library", "7.0")];
        let start = 133_000_000_000_000_000 + DAY * i64::try_from(run).expect("few");
        Source::archive(archive_with(directory, run, parts.varied(&mut dice), "x", start, &modules))
    };
    (0..runs).map(source).collect()
}

fn asked(sources: &[Source], order: &str, settings: &Settings) -> History {
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let found = history(sources, &order.parse().expect("an order"), &accounts, settings).expect("numbers");
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    found
}

fn only(found: &History) -> &CaseHistory {
    let [case] = found.cases.as_slice() else { panic!("{} cases", found.cases.len()) };
    case
}

fn verdicts(turn: &Turn) -> [Verdict; 2] {
    [turn.figures[0].verdict, turn.figures[1].verdict]
}

fn versions(turn: &Turn) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    turn.events.iter().map(|event| format!("{} {} {}", event.name, text(&event.before), text(&event.after))).collect()
}

/// The row that leads the difference, and its time, ms.
fn leader(turn: &Turn) -> (String, f64) {
    let result = turn.near.result.as_ref().expect("a result");
    let shown = &result.difference.shown[0];
    let sum: i128 = result.difference.shown.iter().map(|shown| shown.delta).sum();
    assert_eq!(sum, result.difference.total);
    (shown.text(), shown.delta as f64 / 1e6)
}

#[test]
fn the_changes_of_a_year_are_found_with_the_builds_that_made_them() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let sources = year(directory.path(), truth, RUNS);
    let found = asked(&sources, "time", &Settings::default());
    let case = only(&found);
    assert_eq!(case.runs.len(), RUNS);
    let [slower, disturbed, faster] = case.turns.as_slice() else {
        panic!("{:?}", case.turns.iter().map(|turn| (turn.place, turn.between, &turn.seen)).collect::<Vec<_>>())
    };
    assert_eq!((slower.place, faster.place), (170, 390));
    assert!(disturbed.place.abs_diff(290) <= 1, "{}", disturbed.place);

    assert_eq!(verdicts(slower), [Verdict::Slower; 2]);
    assert_eq!(versions(slower), ["app 1.9 1.10"]);
    let change = slower.figures[1].change();
    assert!((0.052..0.073).contains(&change), "18 of 290 ms: {change}");
    let (text, ms) = leader(slower);
    assert_eq!(text, "app main runs app!parse");
    assert!((ms - 18.0).abs() < 3.0, "{ms}");

    // Others have the CPU: the test itself takes as long as before.
    assert_eq!(disturbed.figures[0].verdict, Verdict::Slower);
    assert!(!matches!(disturbed.figures[1].verdict, Verdict::Slower | Verdict::Faster));
    assert_eq!(versions(disturbed), [""; 0]);
    let (text, ms) = leader(disturbed);
    assert!(text.starts_with("disturbed: cpu-taken") && (ms - 25.0).abs() < 3.0, "{text} {ms}");

    assert_eq!(verdicts(faster)[1], Verdict::Faster);
    assert_eq!(versions(faster), ["app 1.10 1.11"]);

    let outliers: Vec<usize> = case.outliers.iter().map(|outlier| outlier.place).collect();
    assert_eq!(outliers, DISTURBED);
    assert!(case.outliers[0].parts[0].contains("cpu-taken"), "{:?}", case.outliers[0].parts);
    let latest = case.latest.as_ref().expect("enough runs");
    assert_eq!((latest.place, latest.before), (RUNS - 5, RUNS - 5 - 390));
    assert!(!matches!(latest.figures[1].verdict, Verdict::Slower | Verdict::Faster));
}

#[test]
fn a_year_without_a_change_has_one_segment() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let quiet = |run: usize| {
        let taken = if DISTURBED.contains(&run) { 180 } else { 0 };
        // A new build each month, none of which changes anything.
        (["1.0", "1.1", "1.2"][run / 30 % 3], Parts { taken, ..USUAL })
    };
    let sources = year(directory.path(), quiet, 120);
    let found = asked(&sources, "time", &Settings::default());
    let case = only(&found);
    assert_eq!((case.turns.len(), case.segments.len()), (0, 1));
    assert_eq!((case.segments[0].first, case.segments[0].end), (0, 120));
}

#[test]
fn neither_the_order_of_the_files_nor_the_cache_matters() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let step = |run: usize| ("1.0", Parts { parse: if run < 20 { 200 } else { 230 }, ..USUAL });
    let mut sources = year(directory.path(), step, 40);
    let kept = Arc::new(KeptAccounts::new(directory.path().join("kept")));
    let settings = Settings { kept: Some(kept), ..Settings::default() };
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(format!("{:?}", asked(&sources, "time", &settings)));
        sources.reverse();
    }
    assert!(answers[0] == answers[1]);
    let found = asked(&sources, "time", &settings);
    assert_eq!(only(&found).turns.iter().map(|turn| turn.place).collect::<Vec<_>>(), [20]);
}

#[test]
fn runs_are_ordered_by_the_version_of_a_module() {
    let directory = tempfile::tempdir().expect("temporary directory");
    // Both builds in turn.
    let step = |run: usize| {
        if run.is_multiple_of(2) { ("1.9", USUAL) } else { ("1.10", Parts { parse: 230, ..USUAL }) }
    };
    let sources = year(directory.path(), step, 40);
    let by_time = asked(&sources, "time", &Settings::default());
    assert_eq!(only(&by_time).turns.len(), 0);
    let by_version = asked(&sources, "version:app.exe", &Settings::default());
    let [turn] = only(&by_version).turns.as_slice() else { panic!("{}", only(&by_version).turns.len()) };
    assert_eq!((turn.place, versions(turn)), (20, vec!["app 1.9 1.10".to_owned()]));
    let none = asked(&sources, "version:nosuch", &Settings::default());
    assert_eq!((none.cases.len(), none.without_place.len()), (0, 40));
    assert_eq!("time".parse(), Ok(RunsOrder::Time));
}
