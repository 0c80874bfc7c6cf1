//! Walks a recording and hands out the events that pass the filter.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tracesift_etl::schema::{Decoded, Origin, Value};
use tracesift_etl::{EtlFile, Merge, MergeOptions, Record, Wanted};
use tracesift_extract::Survey;

use super::EventFilter;
use super::kinds::{EventKinds, WantedHooks};

/// One event, ready to be shown.
#[derive(Debug)]
pub struct EventLine<'a> {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// CPU whose buffer holds it.
    pub cpu: u16,
    /// Process: that which a kernel event is about, else that which logged it.
    pub pid: Option<u32>,
    /// Thread, likewise.
    pub tid: Option<u32>,
    /// Name of the process, where the recording says it.
    pub process: Option<&'a str>,
    /// Name of the provider, its GUID where the name is not known.
    pub provider: &'a str,
    /// Name of the event.
    pub event: &'a str,
    /// Id; `None` for kernel and classic events.
    pub id: Option<u16>,
    /// Version.
    pub version: u8,
    /// Opcode.
    pub opcode: u8,
    /// Where its schema comes from; `None` without one.
    pub origin: Option<Origin>,
    /// Its fields.
    pub fields: Decoded<'a>,
    /// The payload as it is.
    pub payload: &'a [u8],
}

impl<'a> EventLine<'a> {
    /// The bytes that no field shows: all of them without a schema; where the schema does not fit, those from the trouble on; else
    /// those behind the last field, if there are any.
    #[must_use]
    pub fn raw(&self) -> Option<&'a [u8]> {
        match (self.origin, &self.fields.stopped) {
            (None, _) => Some(self.payload),
            (Some(_), None) if self.fields.rest.is_empty() => None,
            (Some(_), _) => Some(self.fields.rest),
        }
    }
}

/// What a scan met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Events that passed the filter.
    pub events: u64,
    /// Of these, by provider and event, those that could not be taken apart.
    pub unreadable: BTreeMap<(String, String), Unreadable>,
}

/// Kinds of unreadable events that are counted one by one; more only a forged recording has.
const MAX_UNREADABLE: usize = 1 << 14;

impl Scanned {
    fn count_unreadable(&mut self, provider: &str, event: &str, fields: &Decoded<'_>) {
        let key = match self.unreadable.len() {
            0..MAX_UNREADABLE => (provider.to_owned(), event.to_owned()),
            _ => ("other providers".to_owned(), "other events".to_owned()),
        };
        let entry = self.unreadable.entry(key).or_default();
        match &fields.stopped {
            None => entry.without_schema += 1,
            Some(stopped) => {
                entry.misfits += 1;
                entry.example.get_or_insert_with(|| stopped.to_string());
            }
        }
    }
}

/// Events of one kind that could not be taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Without a schema.
    pub without_schema: u64,
    /// With a schema that does not fit.
    pub misfits: u64,
    /// Why the first of these does not fit.
    pub example: Option<String>,
}

/// Hands the events that pass to `visit`, in order of time, until it breaks off.
pub fn scan(
    files: &[EtlFile],
    survey: &mut Survey,
    filter: &EventFilter,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Scanned {
    let options = MergeOptions::default();
    if filter.chooses_kinds() {
        let wanted = WantedHooks::of(&survey.schemas, filter);
        return scan_merged(Merge::of(files, options, wanted), survey, filter, visit);
    }
    scan_merged(Merge::new(files, options), survey, filter, visit)
}

fn scan_merged<W: Wanted>(
    mut merge: Merge<W>,
    survey: &mut Survey,
    filter: &EventFilter,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Scanned {
    let mut scanned = Scanned::default();
    let mut kinds = EventKinds::default();
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
        let kind = kinds.of(&record, &mut survey.schemas, filter);
        if !kind.wanted {
            continue;
        }
        let fields = kind.schema.as_ref().map(|schema| schema.decode(&record)).unwrap_or_default();
        let (pid, tid) = ids(&record, if kind.is_kernel { Some(&fields) } else { None }, survey);
        let process = pid.and_then(|pid| survey.population.known_process_at(pid, record.time()));
        if !filter.threads.is_everything() && !tid.is_some_and(|tid| filter.threads.contains(tid)) {
            continue;
        }
        if !filter.process.is_empty() {
            let name = process.map_or("", |row| row.name.as_str());
            if !pid.is_some_and(|pid| filter.process.matches(name, i64::from(pid))) {
                continue;
            }
        }
        if !filter.conditions.iter().all(|condition| condition.accepts(&fields)) {
            continue;
        }
        scanned.events += 1;
        if kind.schema.is_none() || fields.stopped.is_some() {
            scanned.count_unreadable(&kind.provider, &kind.event, &fields);
        }
        let line = EventLine {
            time: survey.clock.ns(record.time()),
            cpu: record.cpu(),
            pid,
            tid,
            process: process.map(|row| row.name.as_str()),
            provider: &kind.provider,
            event: &kind.event,
            id: kind.id,
            version: record.version(),
            opcode: record.opcode(),
            origin: kind.schema.as_ref().map(|schema| schema.origin),
            payload: record.payload(),
            fields,
        };
        if visit(&line).is_break() {
            break;
        }
    }
    scanned
}

/// Process and thread. Many kernel events are logged by somebody else than whom they are about, or by nobody; those name the
/// process or thread in their fields.
fn ids(record: &Record<'_>, fields: Option<&Decoded<'_>>, survey: &mut Survey) -> (Option<u32>, Option<u32>) {
    let named = |names: &[&str]| {
        let value = names.iter().find_map(|name| fields?.get(name).and_then(Value::number))?;
        u32::try_from(value).ok().filter(|id| *id != u32::MAX)
    };
    let (own_pid, own_tid) =
        (named(&["ProcessID", "PID"]), named(&["ThreadID", "TThreadID", "IssuingThreadID", "NewThreadID"]));
    // Who logged the record may belong to another process than the one that it is about.
    let logger = record.tid().filter(|_| own_pid.is_none() || own_pid == record.pid());
    let tid = own_tid.or(logger);
    let pid = own_pid.or_else(|| {
        if own_tid.is_none() {
            return record.pid();
        }
        let tid = own_tid?;
        let owner = survey.population.known_thread_at(tid, record.cpu(), record.time()).and_then(|thread| {
            let process = survey.population.process_of(thread);
            u32::try_from(survey.population.processes().get(process.index())?.pid).ok()
        });
        owner.or(record.pid().filter(|_| record.tid() == Some(tid)))
    });
    (pid, tid)
}
