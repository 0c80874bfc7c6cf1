//! A question that somebody watches has the same answer, tells how far it is, and has none when it is cancelled.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tracesift_archive::{Error, Progress, Watch};
use tracesift_ask::answer::{Answer, Failure, Outcome};
use tracesift_ask::compare::grouping::Grouping;
use tracesift_ask::compare::kept::KeptAccounts;
use tracesift_ask::compare::{Set, Settings, compare, compare_by};
use tracesift_ask::explain::explain_all;
use tracesift_ask::measure::Measure;
use tracesift_ask::options::Plan;
use tracesift_ask::path::AccountQuery;
use tracesift_ask::profile;
use tracesift_ask::question;
use tracesift_ask::recording::{OpenRecording, Source};
use tracesift_ask::time_spec::TimeSpec;
use tracesift_ask::{Ask, When, ask};
use tracesift_grammar::TimeRange;
use tracesift_scenario::{Knobs, Scenario, linux};
use tracesift_testing::archive::small_archive;
use tracesift_testing::recording::{Extracted, Recording};

/// Archives of recordings of both systems, and one with random rows in every table.
struct Archives {
    sources: Vec<Source>,
    _extracted: Vec<Extracted>,
    _directory: TempDir,
}

impl Archives {
    fn new() -> Self {
        let knobs = linux::Knobs { bytes: 1 << 17, cpus: 2, processes: 3, threads: 6, ..linux::Knobs::default() };
        let recordings = [Recording::etl(&Scenario::random(5, &Knobs::random(5))), Recording::perf(&knobs).0];
        let extracted: Vec<Extracted> = recordings.into_iter().map(Recording::extract).collect();
        let directory = TempDir::new().expect("a directory");
        let random = small_archive(&directory.path().join("random.sift")).path().to_owned();
        let paths = extracted.iter().map(|extracted| extracted.report.archive.clone()).chain([random]);
        Self { sources: paths.map(Source::archive).collect(), _extracted: extracted, _directory: directory }
    }

    fn watched_by(&self, watch: &Watch) -> Vec<Source> {
        self.sources.iter().cloned().map(|source| source.watched_by(watch)).collect()
    }
}

fn cancelled() -> Watch {
    let watch = Watch::default();
    watch.cancel();
    watch
}

/// Asks every question of the list in every way, of a part of the recordings, too.
fn for_each_question(mut ask: impl FnMut(&str, &dyn Ask, &When)) -> usize {
    let part = TimeSpec::from(TimeRange { start: Some(1_000), end: Some(500_000_000) });
    let mut asked = 0;
    for (known, arguments) in question::all().flat_map(|one| one.ways().map(move |arguments| (one, arguments))) {
        let (_, plan) = known.plan(&arguments).expect("a plan");
        let Plan::Archives(asking) = plan else { continue };
        asked += 1;
        for when in [When::default(), When { time: part, ..When::default() }] {
            ask(&format!("{} {arguments:?} {when:?}", known.command), &*asking.question, &when);
        }
    }
    asked
}

fn said(outcome: &Outcome) -> String {
    // Some figures are no numbers, which are not even equal to themselves.
    format!("{outcome:?}")
}

fn has_rows(answer: &Answer) -> bool {
    answer.rows().next().is_some()
}

#[test]
fn a_watched_question_has_the_same_answer_and_has_done_all_rows() {
    let archives = Archives::new();
    let asked = for_each_question(|what, question, when| {
        let watch = Watch::default();
        let alone = ask(&archives.sources, question, when);
        let watched = ask(&archives.watched_by(&watch), question, when);
        assert_eq!(said(&watched), said(&alone), "{what}");
        let Progress { done, all, archives: through } = watch.progress();
        assert_eq!((done, through), (all, 3), "{what}");
        // The clocks are in the description of an archive.
        assert!(all > 0 || !has_rows(&alone.answer) || what.starts_with("time "), "{what} has rows of nothing");
    });
    assert!(asked > 80, "{asked} ways to ask");
}

#[test]
fn a_cancelled_question_has_no_answer() {
    let archives = Archives::new();
    let watch = cancelled();
    let sources = archives.watched_by(&watch);
    for_each_question(|what, question, when| {
        let Outcome { answer, failures } = ask(&sources, question, when);
        assert_eq!((answer.sections, failures), (Vec::new(), vec![Failure::cancelled()]), "{what}");
        // Of several archives one is enough.
        let mixed = [archives.sources[0].clone(), sources[1].clone()];
        let Outcome { answer, failures } = ask(&mixed, question, when);
        assert_eq!((answer.sections, failures), (Vec::new(), vec![Failure::cancelled()]), "{what}");
    });
    for known in question::all() {
        let (_, plan) = known.plan(&[]).expect("a plan");
        let Plan::Files(question) = plan else { continue };
        let of_files = question.answer(&[], &sources);
        assert!(of_files.answer.is_none(), "{}", known.command);
        assert_eq!(of_files.failures, [Failure::cancelled().reason], "{}", known.command);
        assert_eq!(question.answer(&[], &archives.sources).usable, 3, "{}", known.command);
    }
    assert_eq!(watch.progress().done, 0);
}

#[test]
fn a_question_that_is_cancelled_meanwhile_has_a_whole_answer_or_none() {
    let archives = Archives::new();
    let (mut whole, mut none) = (0, 0);
    for_each_question(|what, question, when| {
        let watch = Watch::default();
        let sources = archives.watched_by(&watch);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while watch.progress().all == 0 && !watch.is_cancelled() {
                    std::thread::yield_now();
                }
                watch.cancel();
            });
            let outcome = ask(&sources, question, when);
            // It may have read nothing.
            let is_late = !watch.is_cancelled();
            watch.cancel();
            if is_late { None } else { Some(outcome) }
        });
        let Some(outcome) = outcome else { return };
        if outcome.failures == [Failure::cancelled()] {
            assert_eq!(outcome.answer.sections, [], "{what}");
            none += 1;
        } else {
            assert_eq!(said(&outcome), said(&ask(&archives.sources, question, when)), "{what}");
            whole += 1;
        }
    });
    assert!(none > 0, "{whole} were faster than the watch, none was cancelled");
}

#[test]
fn comparisons_explanations_and_pictures_are_cancelled() {
    let archives = Archives::new();
    let kept = TempDir::new().expect("a directory");
    let settings = Settings { kept: Some(Arc::new(KeptAccounts::new(kept.path().to_owned()))), ..Settings::default() };
    let accounts = AccountQuery::default();
    let sources = archives.watched_by(&cancelled());

    let (explanations, failures) = explain_all(&sources, &accounts);
    assert!(explanations.is_empty());
    assert_eq!(failures, [Failure::cancelled()]);

    let set = |label: &str| Set { label: label.to_owned(), sources: sources.clone(), ..Set::default() };
    let grouping = Grouping::By(Box::new("build=old..new".parse().expect("a property")));
    let compared = [
        compare(&[set("a"), set("b")], &accounts, &settings).expect("comparable"),
        compare_by(&sources, &grouping, &accounts, &settings).expect("comparable"),
    ];
    for compared in compared {
        assert_eq!(compared.failures, [Failure::cancelled()]);
        assert!(compared.cases.is_empty() && compared.unpaired.is_empty());
    }
    assert_eq!(files(kept.path()), 0);

    for source in &archives.sources[..2] {
        let watch = Watch::default();
        let recording = OpenRecording::open(&source.clone().watched_by(&watch)).expect("opened");
        let question = profile::Question {
            processes: None,
            measure: Measure::Threads(tracesift_analysis::Measure::Cpu),
            filter: Default::default(),
            time: TimeRange::default(),
            inside: Vec::new(),
            origin: 0,
            methods: Default::default(),
            said: String::new(),
        };
        question.listed(&recording, true).expect("read");
        let Progress { done, all, .. } = watch.progress();
        assert!(done == all && all > 0, "{done} of {all}");
        watch.cancel();
        let ends = [
            question.listed(&recording, false).map(drop),
            question.folded(&recording).map(drop),
            question.timed(&recording).map(drop),
            OpenRecording::open(&sources[0]).map(drop),
        ];
        assert!(ends.iter().all(|end| matches!(end, Err(Error::Cancelled))), "{ends:?}");
    }
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}
