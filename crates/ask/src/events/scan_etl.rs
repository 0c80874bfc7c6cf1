//! Walks a Windows recording and hands out the events that pass the filter.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tracesift_etl::schema::Decoded;
use tracesift_etl::{EtlFile, Merge, MergeOptions, Record, Wanted};
use tracesift_extract::Survey;
use tracesift_extract::event_kinds::{EventChoice, EventKind, EventKinds, WantedHooks, subject};

use super::EventFilter;
use super::line::{EventLine, Scanned};
use super::subjects::Subjects;

/// As [`super::scan`].
pub(super) fn scan_etl(
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
    let subjects = Subjects::new(filter, || survey.population.processes().collect());
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
        // Only events of the kernel's classes name their process in their fields.
        let named = kind.is_kernel.then(|| decode(kind, &record));
        let (pid, tid) = subject(&record, named.as_ref(), &survey.population);
        let id = pid.and_then(|pid| survey.population.known_process_at(pid, record.time()));
        let process = pid.and_then(|pid| match id {
            Some(process) => survey.population.recorded_name(process),
            None => match pid {
                0 => Some(Cow::Borrowed("Idle")),
                4 => Some(Cow::Borrowed("System")),
                _ => None,
            },
        });
        if !subjects.accept(id, pid, tid, process.as_deref()) {
            continue;
        }
        let fields = named.unwrap_or_else(|| decode(kind, &record));
        if !filter.accepts_fields(&fields) {
            continue;
        }
        let line = EventLine {
            time: survey.clock.ns(record.time()),
            cpu: Some(record.cpu()),
            pid,
            tid,
            process: process.as_deref(),
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
        scanned.count(&line);
        if visit(&line).is_break() {
            break;
        }
    }
    scanned.close(&subjects)
}

fn decode<'a>(kind: &'a EventKind, record: &Record<'a>) -> Decoded<'a> {
    match &kind.schema {
        Some(schema) => schema.decode(record),
        None => Decoded::undescribed(record.payload()),
    }
}
