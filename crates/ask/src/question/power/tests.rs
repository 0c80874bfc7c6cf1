//! Settings of scenarios side by side.

use std::path::{Path, PathBuf};

use tracesift_etl::Guid;
use tracesift_etl::write::PointerSize;
use tracesift_scenario::power::{self, CHANGE, Data, HETERO_POLICY, Override, RUNDOWN, SCHEDULING};
use tracesift_scenario::providers::{self, Logged};
use tracesift_testing::recording::{Extracted, Recording};

use super::Options;
use crate::answer::{Answer, Value};
use crate::ask::{When, ask};
use crate::options::{Asking, Plan, Registered};
use crate::recording::Source;
use crate::runs::Selection;

const SECOND: i64 = 1_000_000_000;

fn extracted(name: &str, events: Vec<Logged>) -> Extracted {
    let bytes = providers::write(PointerSize::Eight, 10, &[(4, "System")], events).expect("a recording");
    Recording::of(name, &bytes).extract()
}

fn with(name: &str, changed: &[(Guid, u32)]) -> Extracted {
    extracted(name, power::windows_10(9 * SECOND, changed, PointerSize::Eight))
}

fn answer(arguments: &[&str], files: &[&Extracted]) -> Answer {
    // Recordings of the same time are in the order of their paths; those of the directories are random.
    let shown = |archive: &Path| PathBuf::from(archive.file_name().expect("a name"));
    let source = |archive: &Path| Source { shown: shown(archive), ..Source::archive(archive.to_owned()) };
    let sources: Vec<Source> = files.iter().map(|file| source(&file.report.archive)).collect();
    let (when, plan) = Registered::of::<Options>("dump power").plan(arguments).expect("a plan");
    let Plan::Archives(Asking { question, then, .. }) = plan else { panic!("archives answer") };
    let mut outcome = ask(&sources, &*question, &when);
    assert_eq!(outcome.failures, []);
    then(&mut outcome.answer, &Selection::default());
    outcome.answer
}

/// The values of the columns with these keys, for each row.
fn values(answer: &Answer, keys: &[&str]) -> Vec<Vec<Value>> {
    let places: Vec<usize> = keys
        .iter()
        .map(|key| answer.columns.iter().position(|column| column.key == *key).unwrap_or_else(|| panic!("{key}")))
        .collect();
    answer.rows().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect()
}

fn fact(answer: &Answer, label: &str) -> Value {
    answer.facts.iter().find(|fact| fact.label == label).unwrap_or_else(|| panic!("{label}")).value.clone()
}

#[test]
fn two_of_three_files_are_equal_and_three_settings_differ() {
    let usual = with("a.etl", &[]);
    let changed = with("b.etl", &power::FAST_CORES_FIRST);
    let again = with("c.etl", &[]);
    let answer = answer(&["--diff"], &[&usual, &changed, &again]);
    let settings: Vec<&str> =
        answer.columns.iter().filter(|column| super::is_setting(column)).map(|column| column.key).collect();
    assert_eq!(settings, ["heteropolicy", "schedpolicy", "shortschedpolicy"]);
    let rows = values(&answer, &["heteropolicy", "schedpolicy", "shortschedpolicy", "equal_files"]);
    assert_eq!(
        rows,
        [
            vec![4.into(), "5 automatic".into(), "5 automatic".into(), Value::List(vec!["c".to_owned()])],
            vec![3.into(), "0 all processors".into(), "0 all processors".into(), Value::List(Vec::new())],
        ]
    );
    assert_eq!(answer.sections[0].title, "a +1");
    assert_eq!((fact(&answer, "settings"), fact(&answer, "settings that differ")), (55.into(), 3.into()));
}

#[test]
fn all_settings_are_those_that_were_written() {
    let usual = with("a.etl", &[]);
    let answer = answer(&[], &[&usual]);
    for (guid, value) in power::WINDOWS_10 {
        let setting = super::settings::all().find(|setting| setting.guid == guid.to_string()).expect("a setting");
        let shown = &values(&answer, &[setting.column.key])[0][0];
        match shown {
            Value::Int(number) => assert_eq!(*number, i64::from(value)),
            Value::Text(text) => assert_eq!(text.split(' ').next(), Some(value.to_string().as_str())),
            other => panic!("{guid}: {other:?}"),
        }
    }
    assert_eq!(values(&answer, &["active_scheme", "others"]), [vec!["balanced".into(), Value::None]]);
}

#[test]
fn settings_without_a_name_are_compared_by_guid() {
    let other = Guid::from_u128(0x1234_5678_9abc_def0_1234_5678_9abc_def0);
    let hint = Guid::from_u128(0x619b7505_003b_4e82_b7a6_4dd29c300972);
    let of = |name: &str, value: u32| {
        let event =
            |guid, value| power::event(SECOND, RUNDOWN, guid, Data::U32(value), Override::Absent, PointerSize::Eight);
        extracted(name, vec![event(other, value), event(hint, 99)])
    };
    let (one, two) = (of("a.etl", 1), of("b.etl", 2));
    let whole = answer(&[], &[&one, &two]);
    let map = |value: i64, with_hint: bool| {
        let hint = with_hint.then(|| ("latencyhintperf1".to_owned(), 99.into()));
        Value::Map(
            std::iter::once(("12345678-9abc-def0-1234-56789abcdef0".to_owned(), value.into())).chain(hint).collect(),
        )
    };
    assert_eq!(values(&whole, &["others"]), [vec![map(1, true)], vec![map(2, true)]]);
    let differing = answer(&["--diff"], &[&one, &two]);
    assert_eq!(values(&differing, &["others"]), [vec![map(1, false)], vec![map(2, false)]]);
}

#[test]
fn the_value_at_the_end_of_a_time_range_counts() {
    let event = |time, id, value| {
        power::event(time * SECOND, id, SCHEDULING, Data::U32(value), Override::Absent, PointerSize::Eight)
    };
    let changes = extracted("a.etl", vec![event(2, RUNDOWN, 5), event(4, CHANGE, 2), event(6, CHANGE, 1)]);
    let at = |time: &str| values(&answer(&[time], &[&changes]), &["schedpolicy"])[0][0].clone();
    assert_eq!(at("--time=..3"), "5 automatic".into());
    assert_eq!(at("--time=..5"), "2 prefer performant".into());
    assert_eq!(at("--time=.."), "1 performant processors".into());
    // The first value was told later, but was in force.
    assert_eq!(at("--time=..1"), "5 automatic".into());

    let unknown = power::event(4 * SECOND, CHANGE, HETERO_POLICY, Data::U32(2), Override::Absent, PointerSize::Eight);
    let unknown = extracted("b.etl", vec![unknown]);
    assert_eq!(values(&answer(&["--time=..1"], &[&unknown]), &["heteropolicy"]), [vec![Value::None]]);

    let rows = values(&answer(&["--changes"], &[&changes]), &["time_ns", "setting", "before", "after"]);
    let title = "Scheduling of long threads";
    assert_eq!(
        rows,
        [
            vec![(4 * SECOND).into(), title.into(), "5 automatic".into(), "2 prefer performant".into()],
            vec![(6 * SECOND).into(), title.into(), "2 prefer performant".into(), "1 performant processors".into()],
        ]
    );
}

#[test]
fn a_recording_without_settings_says_how_to_record_them() {
    let none = extracted("a.etl", Vec::new());
    let outcome = ask(&[Source::archive(none.report.archive.clone())], &super::Question::default(), &When::default());
    let fact = &outcome.answer.sections[0].facts[0];
    assert_eq!(fact.value, "not recorded; record with: tracesift record --profile Power".into());
}

#[test]
fn settings_of_profiles_are_not_in_force() {
    // SCHEDPOLICY as it stands in a payload.
    let guid = [0xdc, 0xb6, 0xb8, 0x93, 0x98, 0x06, 0x1c, 0x4d, 0x9e, 0xe4, 0x06, 0x44, 0xe9, 0x00, 0xc8, 0x5d];
    let of_profile = |time: i64, condition: u8, value: u8| {
        let head = [&[1][..], b"X\0", &[condition, 0, 0, 0, 0], &guid, &[1, 0, 0, 0, value]].concat();
        let (provider, payload) = (tracesift_etl::payload::PROCESSOR_POWER, head);
        Logged { time: time * SECOND, cpu: 0, provider, id: 106, version: 0, pid: 4, tid: 8, payload }
    };
    let mut events = power::windows_10(SECOND, &[], PointerSize::Eight);
    events.extend([of_profile(2, 0, 0), of_profile(3, 1, 0), of_profile(4, 0, 5)]);
    let file = extracted("profiles.etl", events);
    let in_force = answer(&[], &[&file]);
    assert_eq!(values(&in_force, &["schedpolicy"]), [["5 automatic".into()]]);
    assert_eq!(answer(&["--changes"], &[&file]).rows().count(), 0);
    let keys = ["profile", "setting", "on", "class", "value"];
    let row = |on: &str, value: &str| {
        vec!["1".into(), "Scheduling of long threads".into(), on.into(), Value::Int(0), value.into()]
    };
    let all = answer(&["--profiles"], &[&file]);
    assert_eq!(values(&all, &keys), [row("mains", "5 automatic"), row("battery", "0 all processors")]);
    let part = answer(&["--profiles", "--time", "..3.5s", "--top", "2"], &[&file]);
    assert_eq!(values(&part, &keys)[0], row("mains", "0 all processors"));
    assert!(Registered::of::<Options>("dump power").plan(&["--top", "2"]).is_err(), "settings have no order");
}

#[test]
fn the_last_changes_can_be_kept() {
    let change = |time: i64, value: u32| {
        power::event(time * SECOND, CHANGE, SCHEDULING, Data::U32(value), Override::Byte(true), PointerSize::Eight)
    };
    let file = extracted("changes.etl", vec![change(1, 1), change(2, 2), change(3, 3)]);
    let times = |arguments: &[&str]| values(&answer(arguments, &[&file]), &["time_ns"]);
    assert_eq!(times(&["--changes"]).len(), 3);
    assert_eq!(times(&["--changes", "--top", "2"]), [[(2 * SECOND).into()], [(3 * SECOND).into()]]);
    assert_eq!(times(&["--changes", "--top", "1", "--skip", "1"]), [[(2 * SECOND).into()]]);
}
