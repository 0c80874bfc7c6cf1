//! Every event that PerfView's own tests print, field by field, against what `events` shows.

mod baseline;
mod mapping;
mod value;

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_ask::events::EventFilter;
use tracesift_etl::schema::Value;
use tracesift_fixtures::cases;

use crate::recorded::events;
use baseline::{Baseline, Event};
use value::Shown;

/// An event as this reader shows it.
struct Ours {
    time: i64,
    cpu: u16,
    pid: Option<u32>,
    tid: Option<u32>,
    process: Option<String>,
    payload_bytes: usize,
    fields: Vec<(String, Shown)>,
    taken: bool,
}

/// All events of a recording by PerfView's name of their kind.
fn ours(path: &Path) -> BTreeMap<String, Vec<Ours>> {
    let mut of_kind: BTreeMap<String, Vec<Ours>> = BTreeMap::new();
    events(path, &EventFilter::default(), |event| {
        let kind = mapping::kind(event.provider, event.event);
        let flags = event.fields.get("Flags").and_then(Value::number);
        if mapping::is_listed(&kind, event.tid, flags) {
            of_kind.entry(kind).or_default().push(Ours {
                time: event.time,
                cpu: event.cpu.expect("a CPU"),
                pid: event.pid,
                tid: event.tid,
                process: event.process.map(str::to_owned),
                payload_bytes: event.payload_bytes.expect("a record has a payload"),
                fields: with_members(&event.fields.fields),
                taken: false,
            });
        }
    });
    of_kind
}

/// All fields, and the members of structures by their own names.
fn with_members(fields: &[(&str, Value<'_>)]) -> Vec<(String, Shown)> {
    let mut all = Vec::new();
    for (name, value) in fields {
        all.push(((*name).to_owned(), Shown::of(value)));
        if let Value::Struct(members) = value {
            all.extend(with_members(members));
        }
    }
    all
}

/// The event that the baseline shows: of those of its kind that are left, the first with its time and CPU.
fn find<'o>(events: &'o mut [Ours], event: &Event) -> Option<&'o mut Ours> {
    // Milliseconds with three digits, rounded one way or the other.
    let near = |time: i64| (time as f64 / 1e6 - event.time_ms).abs() < 0.0011;
    events.iter_mut().find(|ours| !ours.taken && near(ours.time) && i64::from(ours.cpu) == event.cpu)
}

fn compare(name: &str) {
    let Some(cases) = cases("etl") else { return };
    let text = std::fs::read_to_string(cases.join(format!("{name}.baseline.txt"))).expect("the baseline is readable");
    let baseline = Baseline::parse(&text);
    let mut ours = ours(&cases.join(format!("{name}.etl.zip")));
    let mut problems = Vec::new();

    for event in &baseline.events {
        let of_kind = ours.get_mut(&event.kind).map(Vec::as_mut_slice).unwrap_or_default();
        let Some(found) = find(of_kind, event) else {
            problems.push(format!("{} at {}: no such event", event.kind, event.time_ms));
            continue;
        };
        found.taken = true;
        compare_event(event, found, &mut problems);
    }
    for (kind, count) in &baseline.counts {
        let found = ours.get(kind).map_or(0, Vec::len);
        if found != *count && !mapping::count_differs(name, kind, found, *count) {
            problems.push(format!("{kind}: {found} events, PerfView has {count}"));
        }
    }
    for (kind, events) in &ours {
        if !baseline.counts.contains_key(kind) && !mapping::is_not_listed(kind) {
            problems.push(format!("{kind}: {} events that PerfView does not have", events.len()));
        }
    }
    problems.dedup();
    assert!(problems.is_empty(), "{} differences:\n{}", problems.len(), problems.join("\n"));
}

fn compare_event(event: &Event, ours: &Ours, problems: &mut Vec<String>) {
    let mut differs = |what: &str, theirs: &str, ours: String| {
        problems.push(format!("{} at {}: {what} is {theirs}, here {ours}", event.kind, event.time_ms));
    };
    if event.data_bytes != ours.payload_bytes {
        differs("DataLen", &event.data_bytes.to_string(), ours.payload_bytes.to_string());
    }
    if !mapping::same_ids(event, ours.pid, ours.tid) {
        differs("PID/TID", &format!("{}/{}", event.pid, event.tid), format!("{:?}/{:?}", ours.pid, ours.tid));
    }
    if let Some(process) = &ours.process
        && event.pid == ours.pid.map_or(-1, i64::from)
        && !mapping::same_process(&event.process, process)
    {
        differs("PName", &event.process, process.clone());
    }
    for (field, text) in &event.fields {
        let Some(name) = mapping::field(&event.kind, field) else { continue };
        match ours.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            None if text.is_empty() || mapping::may_be_absent(&event.kind, field, text) => {}
            None => differs(field, text, "absent".to_owned()),
            Some((_, value)) if value.agrees_with(text) || mapping::value_differs(&event.kind, field, text, value) => {}
            Some((_, value)) => differs(field, text, value.text.clone()),
        }
    }
}

#[test]
fn gc_events() {
    compare("gcevents");
}

#[test]
fn gc_rundown_events() {
    compare("gcrundownevents");
}

#[test]
fn primitive_types() {
    compare("primitive-types");
}

#[test]
fn net_64() {
    compare("net.4.5.2.x64");
}

#[test]
fn net_32() {
    compare("net.4.5.2.x86");
}
