//! Walks a Linux recording and hands out the events that pass the filter.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use tracesift_extract::linux_events::{LinuxKinds, ValueFields, subject};
use tracesift_extract::{EventSelection, LinuxSurvey};
use tracesift_perf::{MergeOptions, PerfFile};

use super::EventFilter;
use super::line::{EventLine, Scanned};
use super::subjects::Subjects;

/// As [`super::scan`].
pub(super) fn scan_linux(
    file: &PerfFile,
    survey: &LinuxSurvey,
    filter: &EventFilter,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Scanned {
    let LinuxSurvey { clock, metadata, population } = survey;
    let mut scanned = Scanned::default();
    let mut kinds = LinuxKinds::new(Arc::clone(metadata), EventSelection::Chosen(filter.choice()));
    let subjects = Subjects::new(filter, || population.processes().collect());
    let mut merged = file.merged(MergeOptions::default());
    // What has no time of its own happened about when the record before it did.
    let mut ticks = clock.zero;
    while let Some(record) = merged.next() {
        if let Some(time) = record.time() {
            // What comes late happens now, as in an archive.
            ticks = ticks.max(i64::try_from(time).unwrap_or(i64::MAX));
        }
        let time = clock.ns(ticks);
        // Records that come late are handed out late, so the end of the time range is not that of the walk.
        if !filter.time.is_everything() && !filter.time.contains(time) {
            continue;
        }
        let Some(index) = kinds.of(&record) else { continue };
        let kind = kinds.kind(index);
        if !kind.names.chosen {
            continue;
        }
        let (pid, tid) = subject(&record);
        let id = pid.and_then(|pid| population.known_process_at(pid, ticks));
        let process = pid.and_then(|pid| match id {
            Some(process) => population.recorded_name(process),
            None => (pid == 0).then_some(Cow::Borrowed("Idle")),
        });
        if !subjects.accept(id, pid, tid, process.as_deref()) {
            continue;
        }
        let mut values = ValueFields::default();
        let rest = kinds.read(index, &record, &mut values);
        let fields = values.decoded(rest);
        if !filter.accepts_fields(&fields) {
            continue;
        }
        let line = EventLine {
            time,
            cpu: record.cpu().and_then(|cpu| i16::try_from(cpu).ok()).map(i16::cast_unsigned),
            pid,
            tid,
            process: process.as_deref(),
            provider: &kind.names.provider,
            event: &kind.names.event,
            id: kind.names.id,
            version: 0,
            opcode: u8::try_from(record.kind().number()).unwrap_or(u8::MAX),
            level: None,
            keyword: None,
            activity: None,
            related_activity: None,
            user: None,
            origin: kind.origin,
            payload_bytes: None,
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
