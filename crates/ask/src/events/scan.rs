//! Walks a recording and hands out the events that pass the filter.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tracesift_etl::schema::Decoded;
use tracesift_etl::{EtlFile, Merge, MergeOptions, Wanted};
use tracesift_extract::Survey;
use tracesift_extract::event_kinds::{EventChoice, EventKinds, WantedHooks, subject};

use super::EventFilter;
use super::line::{EventLine, Scanned, recorded_name};

/// Hands the events that pass to `visit`, in order of time, until it breaks off. Stacks are not known yet while a recording is
/// walked: the filter's choice by stack is left out here.
pub fn scan(
    files: &[EtlFile],
    survey: &mut Survey,
    filter: &EventFilter,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Scanned {
    let options = MergeOptions::default();
    let choice = filter.choice();
    if filter.chooses_kinds() {
        let wanted = WantedHooks::of(&survey.schemas, &choice);
        return scan_merged(Merge::of(files, options, wanted), survey, filter, choice, visit);
    }
    scan_merged(Merge::new(files, options), survey, filter, choice, visit)
}

fn scan_merged<W: Wanted>(
    mut merge: Merge<W>,
    survey: &mut Survey,
    filter: &EventFilter,
    choice: EventChoice,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Scanned {
    let mut scanned = Scanned::default();
    let mut kinds = EventKinds::new(choice);
    let limited = !filter.time.is_everything();
    while let Some(record) = merge.next() {
        if limited {
            let time = survey.clock.ns(record.time());
            if filter.time.end.is_some_and(|end| time >= end) {
                break;
            }
            if !filter.time.contains(time) {
                continue;
            }
        }
        let kind = kinds.of(&record, &mut survey.schemas);
        if !kind.chosen {
            continue;
        }
        let fields = match &kind.schema {
            Some(schema) => schema.decode(&record),
            None => Decoded::undescribed(record.payload()),
        };
        let (pid, tid) = subject(&record, kind.is_kernel.then_some(&fields), &survey.population);
        let process = pid.and_then(|pid| match survey.population.known_process_at(pid, record.time()) {
            Some(row) => recorded_name(row),
            None => match pid {
                0 => Some("Idle"),
                4 => Some("System"),
                _ => None,
            },
        });
        let line = EventLine {
            time: survey.clock.ns(record.time()),
            cpu: record.cpu(),
            pid,
            tid,
            process,
            provider: &kind.provider,
            event: &kind.event,
            id: kind.id,
            version: record.version(),
            opcode: record.opcode(),
            level: (!kind.is_kernel).then(|| record.level()),
            keyword: record.kind().is_event().then(|| record.keyword()),
            activity: record.activity_id(),
            related_activity: record.related_activity_id(),
            user: record.user().map(|user| Cow::Owned(user.to_string())),
            origin: kind.schema.as_ref().map(|schema| schema.origin),
            payload_bytes: Some(record.payload().len()),
            fields,
            stack: Vec::new(),
        };
        if !filter.accepts_event(&line) {
            continue;
        }
        scanned.count(&line);
        if visit(&line).is_break() {
            break;
        }
    }
    scanned
}
