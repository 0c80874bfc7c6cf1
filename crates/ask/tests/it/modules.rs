//! Modules of real recordings: versions as the recording's own events have them, and which of them are well-known drivers.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::TempDir;
use tracesift_ask::answer::{Outcome, Value};
use tracesift_ask::events::EventFilter;
use tracesift_ask::question::{cpu, version};
use tracesift_ask::recording::Source;
use tracesift_ask::{Ask, When, ask, drivers};
use tracesift_extract::{EventSelection, Options};
use tracesift_fixtures::cases;
use tracesift_grammar::Patterns;
use tracesift_testing::recording::try_extract;

use crate::recorded;

const RECORDINGS: [&str; 3] = ["net.4.5.2.x64.etl.zip", "net.4.5.2.x86.etl.zip", "TraceLoggingTester.7z"];

fn archive(recording: &Path) -> (TempDir, Vec<Source>) {
    let out = TempDir::new().expect("a directory");
    let options =
        Options { out: Some(out.path().to_owned()), events: Some(EventSelection::None), ..Options::default() };
    let reports = try_extract(recording, &options).expect("extracted");
    let sources = reports.into_iter().map(|report| Source::archive(report.archive)).collect();
    (out, sources)
}

/// The rows of an answer: the texts of some columns.
fn texts<const N: usize>(outcome: &Outcome, keys: [&str; N]) -> Vec<[Option<String>; N]> {
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let columns = &outcome.answer.columns;
    let at = keys.map(|key| columns.iter().position(|column| column.key == key).expect("a column"));
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        Value::None => None,
        other => panic!("{other:?} is no text"),
    };
    outcome.answer.rows().map(|row| at.map(|at| text(&row[at]))).collect()
}

fn versions(sources: &[Source], question: &version::Question) -> Outcome {
    ask(sources, question as &dyn Ask, &When::default())
}

/// Original name, file version, product version, product, company and description, as the events `ImageID/FileVersion` have them.
fn recorded_versions(recording: &Path) -> BTreeSet<[String; 6]> {
    const FIELDS: [&str; 6] =
        ["OrigFileName", "FileVersion", "ProductVersion", "ProductName", "CompanyName", "FileDescription"];
    let mut found = BTreeSet::new();
    recorded::events(recording, &EventFilter::default(), |event| {
        if event.event.ends_with("FileVersion") {
            let mut fields = String::new();
            event.fields.write_json(&mut fields);
            let fields: serde_json::Value = serde_json::from_str(&fields).expect("JSON");
            found.insert(FIELDS.map(|field| fields[field].as_str().unwrap_or_default().to_owned()));
        }
    });
    found
}

#[test]
fn versions_are_those_of_the_recorded_events() {
    let Some(cases) = cases("etl") else { return };
    for recording in RECORDINGS {
        let recording = cases.join(recording);
        let (_out, sources) = archive(&recording);
        let keys = ["original_file_name", "file_version", "product_version", "product", "company", "description"];
        let outcome = versions(&sources, &version::Question::default());
        let shown: BTreeSet<[String; 6]> =
            texts(&outcome, keys).into_iter().map(|row| row.map(Option::unwrap_or_default)).collect();
        let recorded = recorded_versions(&recording);
        assert!(!recorded.is_empty(), "{} has versions", recording.display());
        // Modules without a version resource have no event; what they were called first other events say, too.
        let unknown: Vec<_> =
            shown.difference(&recorded).filter(|row| row[1..].iter().any(|text| !text.is_empty())).collect();
        assert_eq!(unknown, Vec::<&[String; 6]>::new(), "{}", recording.display());
        let share = recorded.intersection(&shown).count();
        assert!(share * 10 >= recorded.len() * 9, "{}: {share} of {}", recording.display(), recorded.len());
    }
}

#[test]
fn well_known_drivers_are_found_by_vendor_and_category() {
    let Some(cases) = cases("etl") else { return };
    let (_out, sources) = archive(&cases.join(RECORDINGS[0]));
    let of = |driver: &str| {
        let question = version::Question { driver: Patterns::parse(driver), ..version::Question::default() };
        texts(&versions(&sources, &question), ["module", "driver_vendor", "driver_category"])
    };
    let all = texts(&versions(&sources, &version::Question::default()), ["module"]);
    let known: Vec<String> =
        all.into_iter().flatten().flatten().filter(|module| drivers::find(module).is_some()).collect();
    let found = of("*");
    assert_eq!(found.iter().map(|[module, ..]| module.clone().expect("a name")).collect::<Vec<_>>(), known);
    assert!(found.iter().all(|row| row.iter().all(Option::is_some)), "{found:?}");
    let antivirus = of("*antivirus*");
    let names: Vec<_> = antivirus.iter().filter_map(|[module, ..]| module.as_deref()).collect();
    assert_eq!(names, ["WdFilter.sys"], "all of them: {found:?}");
    assert_eq!(of("Microsoft;!antivirus").len() + names.len(), found.len());
}

#[test]
fn processes_show_the_image_that_they_run() {
    let Some(cases) = cases("etl") else { return };
    let (_out, sources) = archive(&cases.join(RECORDINGS[0]));
    let keys = ["process", "module", "file_version", "company"];
    let of = |modules: Option<&str>| {
        let question = cpu::Question { modules: modules.map(Patterns::parse), ..cpu::Question::default() };
        texts(&ask(&sources, &question, &When::default()), keys)
    };
    let without = of(None);
    assert!(without.iter().all(|[_, module, ..]| module.is_none()));
    let with = of(Some(""));
    assert_eq!(with.len(), without.len());
    for [process, module, version, _] in &with {
        let process = process.as_deref().expect("a name");
        if let Some(module) = module.as_deref() {
            assert!(process == "System" || module.eq_ignore_ascii_case(process), "{process} {module}");
            assert!(version.is_some() || module != "ntoskrnl.exe", "{process} has a version");
        }
    }
    assert!(with.iter().filter(|[_, module, ..]| module.is_some()).count() * 10 >= with.len() * 8, "{with:?}");
    let microsoft = of(Some("Microsoft*"));
    assert!(!microsoft.is_empty() && microsoft.len() < with.len());
    assert!(microsoft.iter().all(|row| row[3].as_deref().is_some_and(|company| company.starts_with("Microsoft"))));
}
