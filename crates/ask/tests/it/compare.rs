//! Two sets of runs whose every part is known: the rows add up, what was put in leads, and equal sets are no change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracesift_archive::ArchiveWriter;
use tracesift_ask::compare::grouping::Grouping;
use tracesift_ask::compare::kept::KeptAccounts;
use tracesift_ask::compare::{Case, CaseResult, Compared, Measure, Set, Settings, Side, Verdict, compare, compare_by};
use tracesift_ask::filter::{ProcessFilter, ProcessPatterns};
use tracesift_ask::path::{AccountQuery, WindowQuery};
use tracesift_ask::recording::Source;
use tracesift_testing::archive::{Random, create_as, finish_as};
use tracesift_testing::rows::{self, process, stack};
use tracesift_trace::info::TraceInfo;
use tracesift_trace::rows::{
    ContextSwitchRow, CpuSampleRow, ModuleRow, ProcessRow, SymbolRow, ThreadRow, switch_flags,
};
use tracesift_trace::{FrameId, ProcessId, RowSink as _, StackId, ThreadId};

const MS: i64 = 1_000_000;
const FUNCTIONS: [(&str, &str); 4] =
    [("app", "parse"), ("app", "new_check"), ("app", "wait_for_reply"), ("app", "print")];

/// What a run consists of, ms: its code, a wait for a timer, and time in which another program has the CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) parse: i64,
    pub(crate) new_check: i64,
    pub(crate) wait: i64,
    pub(crate) taken: i64,
    pub(crate) print: i64,
}

pub(crate) const USUAL: Parts = Parts { parse: 200, new_check: 0, wait: 50, taken: 0, print: 40 };

impl Parts {
    fn length(self) -> i64 {
        self.parse + self.new_check + self.wait + self.taken + self.print
    }

    /// With noise of a few percent, as runs have it.
    pub(crate) fn varied(self, dice: &mut Random) -> Self {
        let mut vary = |ms: i64| ms + ms * (dice.below(41) as i64 - 20) / 1_000;
        Self { parse: vary(self.parse), wait: vary(self.wait), print: vary(self.print), ..self }
    }
}

fn archive(directory: &Path, number: usize, parts: Parts, cpu: &str) -> PathBuf {
    let start = 133_000_000_000_000_000 + 600_000_000 * i64::try_from(number).expect("few");
    archive_with(directory, number, parts, cpu, start, &[])
}

/// The archive of a run that started at a time, 100 ns since 1601, with these modules.
pub(crate) fn archive_with(
    directory: &Path,
    number: usize,
    parts: Parts,
    cpu: &str,
    start: i64,
    modules: &[ModuleRow],
) -> PathBuf {
    let (writer, info) = begun(directory, number, parts, cpu, start, modules);
    finish_as(writer, info)
}

/// The same archive before it is finished: other rows can be added.
pub(crate) fn begun(
    directory: &Path,
    number: usize,
    parts: Parts,
    cpu: &str,
    start: i64,
    modules: &[ModuleRow],
) -> (ArchiveWriter, TraceInfo) {
    let target = directory.join(format!("app_{number}.sift"));
    let mut writer = create_as(&target, number as u128);
    let end = (10 + parts.length()) * MS;
    writer.write_table(&[
        process(0, 0, "Idle"),
        ProcessRow { start: Some(10 * MS), end: Some(end), ..process(1, 10, "app") },
        process(2, 20, "other"),
    ]);
    writer.write_table(&[
        ThreadRow { idle_cpu: Some(0), ..rows::thread(0, 0, 0) },
        ThreadRow { start: Some(10 * MS), end: Some(end), ..rows::thread(1, 1, 10) },
        rows::thread(2, 2, 20),
    ]);
    let symbol = |(frame, (module, function)): (i32, &(&str, &str))| SymbolRow {
        frame: FrameId(frame),
        module: Some((*module).to_owned()),
        function: (*function).to_owned(),
        ..SymbolRow::default()
    };
    writer.write_table(modules);
    writer.write_table(&(0..4).map(|frame| rows::frame(frame, 1)).collect::<Vec<_>>());
    writer.write_table(&(0..).zip(&FUNCTIONS).map(symbol).collect::<Vec<_>>());
    writer.write_table(&(0..4).map(|id| stack(id, &[id])).collect::<Vec<_>>());

    let waits_from = 10 + parts.parse + parts.new_check;
    let on = waits_from + parts.wait;
    let off = |off: i64, ready: i64, on: i64, flags: i16| ContextSwitchRow {
        thread: ThreadId(1),
        cpu: Some(0),
        prev_thread: Some(ThreadId(if flags & switch_flags::PREEMPTED == 0 { 0 } else { 2 })),
        off_time: off * MS,
        ready_time: Some(ready * MS),
        time: on * MS,
        wait_stack: Some(StackId(2)),
        readier: Some(ThreadId(0)),
        flags,
        ..ContextSwitchRow::default()
    };
    writer.context_switch(&off(waits_from, on, on, switch_flags::READIED_FROM_DPC));
    if parts.taken > 0 {
        writer.context_switch(&off(on, on, on + parts.taken, switch_flags::PREEMPTED));
    }
    let ended = ContextSwitchRow {
        cpu: None,
        prev_thread: None,
        ready_time: None,
        readier: None,
        ..off(0, 0, 0, switch_flags::TERMINATED)
    };
    writer.context_switch(&ContextSwitchRow { off_time: end, time: end, ..ended });
    let mut at = 10;
    for (length, stack) in [(parts.parse, 0), (parts.new_check, 1), (parts.wait + parts.taken, -1), (parts.print, 3)] {
        for ms in at..at + length {
            if stack >= 0 {
                writer.cpu_sample(&CpuSampleRow {
                    time: ms * MS,
                    process: ProcessId(1),
                    thread: ThreadId(1),
                    weight: MS,
                    stack: Some(StackId(stack)),
                    ..CpuSampleRow::default()
                });
            }
        }
        at += length;
    }
    let info = TraceInfo {
        name: format!("app_{number}"),
        kind: "perf".to_owned(),
        end_ns: end,
        start_filetime: start,
        has_switches: true,
        has_ready: true,
        cpu_name: Some(cpu.to_owned()),
        ..TraceInfo::default()
    };
    (writer, info)
}

/// Compares `runs` runs each of two kinds, recorded in turn.
fn compared(runs: usize, a: impl Fn(usize) -> Parts, b: impl Fn(usize) -> Parts, cpus: [&str; 2]) -> Compared {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut dice = Random(7);
    let mut sets = ["A", "B"].map(|label| Set { label: label.to_owned(), ..Set::default() });
    for run in 0..runs {
        for (place, set) in sets.iter_mut().enumerate() {
            let parts = if place == 0 { a(run) } else { b(run) }.varied(&mut dice);
            set.sources.push(Source::archive(archive(directory.path(), 2 * run + place, parts, cpus[place])));
        }
    }
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let mut compared = compare(&sets, &accounts, &Settings::default()).expect("numbers that can be compared");
    assert!(compared.failures.is_empty(), "{:?}", compared.failures);
    // The names of these files tell of no test.
    assert!(!compared.cases.is_empty(), "{:?}", compared.unpaired);
    compared.cases.sort_by(|a, b| a.name.cmp(&b.name));
    compared
}

fn only(compared: &Compared) -> (&Case, &CaseResult) {
    let [case] = compared.cases.as_slice() else {
        panic!("{:?}", compared.cases.iter().map(|case| &case.name).collect::<Vec<_>>())
    };
    (case, case.result.as_ref().expect("a result"))
}

#[test]
fn a_method_that_was_added_leads_and_all_rows_add_up() {
    let compared = compared(6, |_| USUAL, |_| Parts { new_check: 20, ..USUAL }, ["x", "x"]);
    let (case, result) = only(&compared);
    assert_eq!((case.order.word(), case.comparable.text().as_str()), ("interleaved", "comparable"));
    assert_eq!(result.duration.verdict, Verdict::Slower);
    let mean = |side| {
        let runs = case.set(side);
        runs.iter().map(|run| i128::from(run.duration())).sum::<i128>() * 1_000 / runs.len() as i128
    };
    let delta = mean(Side::B) - mean(Side::A);
    assert!((result.difference.total * 1_000 - delta).abs() <= 1_000, "{} {delta}", result.difference.total);
    let rows: i128 = result.difference.rows.iter().map(|row| row.delta).sum();
    let shown: i128 = result.difference.shown.iter().map(|shown| shown.delta).sum();
    assert_eq!((rows, shown), (result.difference.total, result.difference.total));
    let first = result.difference.shown[0].row().expect("a row");
    assert_eq!((first.text().as_str(), first.is_flagged), ("app main runs app!new_check", true));
    assert_eq!(first.mark.map(|mark| mark.word()), Some("new"));
    assert!((first.delta - 20 * i128::from(MS)).abs() < i128::from(MS), "{}", first.delta);
    assert!(result.sentence.starts_with("B is slower by"), "{}", result.sentence);
    assert!(result.sentence.contains("app main runs app!new_check (new), +20.0 ms"), "{}", result.sentence);
}

#[test]
fn time_that_another_program_took_is_a_disturbance_and_hides_nothing() {
    // Others take up to 300 ms, in either set alike; the change is 20 ms.
    let taken = |run: usize| [0, 90, 300, 10, 180, 40][run % 6];
    let compared = compared(
        6,
        |run| Parts { taken: taken(run), ..USUAL },
        |run| Parts { taken: taken(run + 3), new_check: 20, ..USUAL },
        ["x", "x"],
    );
    let (_, result) = only(&compared);
    assert_eq!((result.duration.verdict, result.undisturbed.verdict), (Verdict::Undecided, Verdict::Slower));
    let own = result.difference.shown.iter().filter_map(|shown| shown.row()).find(|row| row.disturbance().is_none());
    assert_eq!(own.map(|row| row.text()).as_deref(), Some("app main runs app!new_check"));
    // Both sets lost the same to others, so that the row is no part of the difference.
    let taken = result.difference.rows.iter().find(|row| row.disturbance() == Some("cpu-taken")).expect("a row");
    assert_eq!((taken.names()[4], taken.delta), (Some("other"), 0));
    assert!(result.sentence.contains("The duration does not show it, because of its spread"), "{}", result.sentence);
}

#[test]
fn a_duration_that_changed_otherwise_than_the_tests_own_time_is_named() {
    let a = |_| Parts { taken: 100, ..USUAL };
    let compared = compared(6, a, |_| Parts { new_check: 20, ..USUAL }, ["x", "x"]);
    let (_, result) = only(&compared);
    assert_eq!((result.duration.verdict, result.undisturbed.verdict), (Verdict::Faster, Verdict::Slower));
    let sentence = &result.sentence;
    assert!(sentence.contains("The duration is shorter by") && !sentence.contains("spread"), "{sentence}");
}

#[test]
fn a_gate_is_undecided_if_one_run_makes_the_change() {
    let of_b = |run: usize| Parts { new_check: if run == 3 { 400 } else { 0 }, ..USUAL };
    let mut compared = compared(8, |_| Parts { new_check: 10, ..USUAL }, of_b, ["x", "x"]);
    let gate = "method:*new_check* > +20%".parse().expect("a gate");
    compared.decide(&[gate], &Settings::default()).expect("a limit that fits");
    let outcome = &compared.cases[0].gates[0];
    assert_eq!((outcome.state.word(), outcome.change.map(f64::round)), ("undecided", Some(4.0)), "{outcome:?}");
    assert!(outcome.reason.starts_with("the change of the means is +400 %, though most"), "{}", outcome.reason);
}

#[test]
fn equal_sets_are_no_change_and_longer_waits_are_told_from_more_of_them() {
    let equal = compared(6, |_| USUAL, |_| USUAL, ["x", "x"]);
    let (_, result) = only(&equal);
    assert!(matches!(result.duration.verdict, Verdict::Same | Verdict::Undecided), "{:?}", result.duration.verdict);
    assert!(result.difference.rows.iter().all(|row| !row.is_flagged));
    let longer = compared(6, |_| USUAL, |_| Parts { wait: 80, ..USUAL }, ["x", "x"]);
    let (_, result) = only(&longer);
    let first = result.difference.shown[0].row().expect("a row");
    assert!(first.text().starts_with("app main waits for interrupt in app!wait_for_reply"), "{}", first.text());
    let [often, long] = first.often_longer.expect("waits are counted");
    assert_eq!(often, 0);
    assert!((long - first.delta).abs() <= 1, "{long} {}", first.delta);
}

#[test]
fn another_machine_is_said_before_any_number() {
    let compared = compared(6, |_| USUAL, |_| USUAL, ["x", "y"]);
    let (case, _) = only(&compared);
    assert_eq!(case.comparable.text(), "comparable with reservations: cpu.name \"x\" → \"y\"");
}

#[test]
fn runs_without_a_time_have_no_order() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut dice = Random(5);
    let mut sets = ["A", "B"].map(|label| Set { label: label.to_owned(), ..Set::default() });
    for number in 0..12 {
        // One run tells no time: nobody knows what it came before.
        let start = if number == 7 { 0 } else { 133_000_000_000_000_000 + 600_000_000 * number };
        let number = usize::try_from(number).expect("few");
        let path = archive_with(directory.path(), number, USUAL.varied(&mut dice), "x", start, &[]);
        sets[number % 2].sources.push(Source::archive(path));
    }
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let compared = compare(&sets, &accounts, &Settings::default()).expect("numbers that can be compared");
    let (case, _) = only(&compared);
    let text = case.comparable.text();
    assert_eq!(case.order.word(), "unknown");
    assert!(text.contains("nothing tells when some of the runs were recorded"), "{text}");
}

#[test]
fn one_run_each_has_rows_and_no_verdict() {
    let compared = compared(1, |_| USUAL, |_| Parts { new_check: 20, ..USUAL }, ["x", "x"]);
    let (_, result) = only(&compared);
    assert_eq!(
        (result.duration.verdict, result.duration.p(), result.duration.interval()),
        (Verdict::Undecided, None, None)
    );
    assert_eq!(result.difference.rows.iter().map(|row| row.delta).sum::<i128>(), result.difference.total);
}

#[test]
fn neither_the_order_of_the_files_nor_the_threads_matter() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut dice = Random(3);
    let mut sources: [Vec<Source>; 2] = Default::default();
    for number in 0..12 {
        let parts = if number % 2 == 0 { USUAL } else { Parts { new_check: 20, ..USUAL } };
        let path = archive(directory.path(), number, parts.varied(&mut dice), "x");
        sources[number % 2].push(Source::archive(path));
    }
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let kept = KeptAccounts::new(directory.path().join("kept"));
    let settings = Settings { kept: Some(Arc::new(kept)), ..Settings::default() };
    let mut answers: Vec<String> = Vec::new();
    // The first comparison takes the runs apart, and the others have their accounts.
    for (threads, is_reversed) in [(1, false), (16, false), (2, true)] {
        let set = |place: usize| {
            let mut sources = sources[place].clone();
            if is_reversed {
                sources.reverse();
            }
            Set { label: ["A", "B"][place].to_owned(), sources, ..Set::default() }
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let compared = pool.install(|| compare(&[set(0), set(1)], &accounts, &settings)).expect("numbers");
        assert_eq!(compared.cases.len(), 1);
        answers.push(format!("{:?}", compared.cases));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_property_or_the_duration_makes_the_sets() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut dice = Random(5);
    let mut sources = Vec::new();
    let mut runs = Vec::new();
    for number in 0..12 {
        let is_new = number % 2 == 1;
        let parts = if is_new { Parts { new_check: 60, ..USUAL } } else { USUAL };
        sources.push(Source::archive(archive(directory.path(), number, parts.varied(&mut dice), "x")));
        let build = if is_new { "new" } else { "old" };
        runs.push(format!(
            r#"{{"case":"app-build-{build}","test":"app","values":{{"build":"{build}","size":"3"}},"kind":"recorded",
            "recording":"app_{number}.data","duration_ns":{},"duration_from":"output","failure":{}}}"#,
            300 + number,
            if number == 11 { "\"exit code 1\"" } else { "null" },
        ));
    }
    let document = format!(r#"{{"format":1,"runs":[{}]}}"#, runs.join(","));
    std::fs::write(directory.path().join("tracesift-run.json"), document).expect("written");
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let settings = Settings::default();

    let by = Grouping::By(Box::new("build=old..new".parse().expect("a property")));
    let compared = compare_by(&sources, &by, &accounts, &settings).expect("numbers");
    let (case, result) = only(&compared);
    assert_eq!((case.name.as_str(), case.labels.join(" ").as_str()), ("app size=3", "old new"));
    assert_eq!((case.set(Side::A).len(), case.set(Side::B).len()), (6, 5));
    assert_eq!((compared.failed.as_slice(), compared.neither), (["app_11".to_owned()].as_slice(), 0));
    assert_eq!(result.duration.verdict, Verdict::Slower);

    // The durations are in two groups, which are the two builds; they chose the sets, so there is no p.
    let split = Grouping::Split("slow".parse().expect("a limit"));
    let compared = compare_by(&sources, &split, &accounts, &settings).expect("numbers");
    let slow = compared.cases.iter().find(|case| case.labels[1] == "slow");
    assert!(slow.is_none_or(|case| case.result.as_ref().is_some_and(|result| result.duration.p().is_none())));

    let date = Grouping::By(Box::new("date:2022-01-01".parse().expect("a date")));
    let compared = compare_by(&sources, &date, &accounts, &settings).expect("numbers");
    assert!(compared.cases.is_empty() && !compared.unpaired.is_empty(), "{:?}", compared.unpaired);

    // Values that nobody has, and a parameter that nobody has.
    for (text, found) in [
        ("build=old..next", "the runs have `build` = new, old"),
        ("color=red..blue", "no run has `color`; the parameters are build, size"),
        ("version:nosuch=1..2", "no run has a version of `nosuch`"),
    ] {
        let by = Grouping::By(Box::new(text.parse().expect("a property")));
        let compared = compare_by(&sources, &by, &accounts, &settings).expect("numbers");
        assert_eq!(compared.found, Some(found.to_owned()), "{text}");
    }

    let reported = Settings { measure: Measure::Reported, ..Settings::default() };
    let compared = compare_by(&sources, &by, &accounts, &reported).expect("numbers");
    let (case, result) = only(&compared);
    assert!(case.runs.iter().all(|run| run.duration() < 1_000), "what the test told, ns");
    let outside = result.difference.rows.iter().find(|row| row.state() == "outside").expect("a row");
    assert!(outside.delta < -50_000_000, "{}", outside.delta);
    assert_eq!(result.difference.rows.iter().map(|row| row.delta).sum::<i128>(), result.difference.total);
}

#[test]
fn a_third_set_is_compared_with_the_first() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let mut dice = Random(9);
    let mut number = 0;
    let sets: Vec<Set> = [0, 20, 40]
        .map(|new_check| {
            let mut sources = Vec::new();
            for _ in 0..4 {
                let parts = Parts { new_check, ..USUAL }.varied(&mut dice);
                sources.push(Source::archive(archive(directory.path(), number, parts, "x")));
                number += 1;
            }
            Set { label: format!("+{new_check}"), sources, ..Set::default() }
        })
        .into();
    let filter = ProcessFilter { process: ProcessPatterns::parse("app"), ..ProcessFilter::default() };
    let windows = WindowQuery { filter, ..WindowQuery::default() };
    let accounts = AccountQuery { windows, ..AccountQuery::default() };
    let compared = compare(&sets, &accounts, &Settings::default()).expect("numbers");
    let labels: Vec<String> = compared.cases.iter().map(|case| case.labels.join(" ")).collect();
    assert_eq!(labels, ["+0 +20", "+0 +40"]);
    let totals =
        compared.cases.iter().map(|case| case.result.as_ref().map(|result| result.difference.total / 1_000_000));
    let totals: Vec<i128> = totals.flatten().collect();
    assert!((18..=22).contains(&totals[0]) && (38..=42).contains(&totals[1]), "{totals:?}");
    // Each of both is corrected for two comparisons.
    assert_eq!(compared.corrected().len(), 2);
}
