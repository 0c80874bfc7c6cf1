//! Events that an archive does not keep one by one, made anew from the tables that show them.
//!
//! An archive can have both: with `--events all` the events of the runtime are in `events`, too. A table counts only where
//! none of its events is there.

use std::sync::Arc;

use serde_json::{Value, json};
use tracesift_analysis::regions::{Definitions, EventKind, Role};
use tracesift_archive::{Archive, Error};
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_trace::rows::{ClrAllocationRow, GcCollectionRow, GcSuspensionRow, JitMethodRow, MarkRow};
use tracesift_trace::{ProcessId, ThreadId, view};

use super::KindOfEvent;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// The provider of events that are made of marks.
const OWN: &str = "tracesift";

/// An event that is made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) time: i64,
    /// Of events at one instant: ends of what began before, begins, ends of what began at the instant.
    order: u8,
    pub(super) process: Option<ProcessId>,
    pub(super) thread: Option<ThreadId>,
    pub(super) fields: Value,
    pub(super) roles: Arc<[Role]>,
}

/// Events of the runtime that one table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Collections,
    Suspensions,
    Compilations,
    Allocations,
}

impl Family {
    const ALL: [Self; 4] = [Self::Collections, Self::Suspensions, Self::Compilations, Self::Allocations];

    /// The ids of its events, with their names.
    const fn events(self) -> &'static [(i32, &'static str)] {
        match self {
            Self::Collections => &[(1, "GC/Start"), (2, "GC/Stop")],
            Self::Suspensions => {
                &[(9, "GC/SuspendEEStart"), (8, "GC/SuspendEEStop"), (7, "GC/RestartEEStart"), (3, "GC/RestartEEStop")]
            }
            Self::Compilations => &[(145, "Method/JittingStarted"), (143, "Method/LoadVerbose")],
            Self::Allocations => &[(10, "GC/AllocationTick")],
        }
    }

    fn rows(self, archive: &Archive) -> u64 {
        match self {
            Self::Collections => archive.row_count::<GcCollectionRow>(),
            Self::Suspensions => archive.row_count::<GcSuspensionRow>(),
            Self::Compilations => archive.row_count::<JitMethodRow>(),
            Self::Allocations => archive.row_count::<ClrAllocationRow>(),
        }
    }
}

/// What the events of a kind do; each kind is looked up once.
struct Roles<'d> {
    definitions: &'d Definitions,
    guid: String,
}

impl Roles<'_> {
    fn of(&self, id: i32, version: Option<i16>) -> Arc<[Role]> {
        let mut events = Family::ALL.iter().flat_map(|family| family.events());
        let event = events.find(|(known, _)| *known == id).map_or("", |(_, name)| name);
        let kind = EventKind { guid: &self.guid, provider: RUNTIME, event, id, version };
        self.definitions.roles(&kind).into()
    }
}

/// The events that have a part in regions, in the order of time.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn events(archive: &Archive, definitions: &Definitions) -> Result<Vec<Made>, Error> {
    let roles = Roles { definitions, guid: RUNTIME_PROVIDER.to_string() };
    let has_part = |family: &Family| family.events().iter().any(|(id, _)| !roles.of(*id, None).is_empty());
    let mut families: Vec<Family> =
        Family::ALL.into_iter().filter(|family| has_part(family) && family.rows(archive) > 0).collect();
    if !families.is_empty() {
        archive.scan(None, |row: &KindOfEvent| {
            if row.provider == RUNTIME {
                families.retain(|family| !family.events().iter().any(|(id, _)| Some(*id) == row.id));
            }
        })?;
    }
    let mut made = Vec::new();
    for family in families {
        match family {
            Family::Collections => collections(archive, &roles, &mut made)?,
            Family::Suspensions => suspensions(archive, &roles, &mut made)?,
            Family::Compilations => compilations(archive, &roles, &mut made)?,
            Family::Allocations => allocations(archive, &roles, &mut made)?,
        }
    }
    marks(archive, definitions, &mut made)?;
    made.retain(|event| !event.roles.is_empty());
    made.sort_by_key(|event| (event.time, event.order));
    Ok(made)
}

const BEGIN: u8 = 1;

/// The place of an end among the events of its instant.
fn order_of_end(start: i64, end: i64) -> u8 {
    if start < end { 0 } else { 2 }
}

view! {
    #[derive(Clone, Debug)]
    struct Collection of GcCollectionRow { time, start, process, thread, runtime, number, generation, kind, reason, open }
}

fn collections(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    let [begin, end] = [1, 2].map(|id| roles.of(id, None));
    archive.scan(None, |row: &Collection| {
        let (process, thread) = (Some(row.process), row.thread);
        let fields = json!({
            "Count": row.number, "Depth": row.generation, "Reason": row.reason, "Type": row.kind, "ClrInstanceID": row.runtime,
        });
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields, roles: begin.clone() });
        if row.open != Some(true) {
            let fields = json!({"Count": row.number, "Depth": row.generation, "ClrInstanceID": row.runtime});
            let order = order_of_end(row.start, row.time);
            made.push(Made { time: row.time, order, process, thread, fields, roles: end.clone() });
        }
    })
}

view! {
    #[derive(Clone, Debug)]
    struct Suspension of GcSuspensionRow { time, start, stopped, restart, process, thread, runtime, reason, open }
}

fn suspensions(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    let [begin, stopped, restart, end] = [9, 8, 7, 3].map(|id| roles.of(id, None));
    archive.scan(None, |row: &Suspension| {
        let (process, thread) = (Some(row.process), row.thread);
        let fields = json!({"Reason": row.reason, "ClrInstanceID": row.runtime});
        let own = || json!({"ClrInstanceID": row.runtime});
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields, roles: begin.clone() });
        let ended = (row.open != Some(true)).then_some(row.time);
        for (time, roles) in [(row.stopped, &stopped), (row.restart, &restart), (ended, &end)] {
            made.extend(time.map(|time| {
                let order = order_of_end(row.start, time);
                Made { time, order, process, thread, fields: own(), roles: roles.clone() }
            }));
        }
    })
}

view! {
    #[derive(Clone, Debug)]
    struct Compilation of JitMethodRow {
        time, start, process, thread, runtime, namespace, method, arguments, il_size, native_size, version, open,
    }
}

fn compilations(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    let begin = roles.of(145, None);
    // Version 2 of the event has the number of the method's version.
    let [end_1, end_2] = [1, 2].map(|version| roles.of(143, Some(version)));
    let mut number = 0_u64;
    archive.scan(None, |row: &Compilation| {
        // No table has the number of the method. Any number of its own brings begin and end together.
        number += 1;
        let fields = |size: (&str, Option<i64>)| {
            json!({
                "MethodID": number, (size.0): size.1, "MethodNamespace": row.namespace, "MethodName": row.method,
                "MethodSignature": row.arguments, "ClrInstanceID": row.runtime,
            })
        };
        let (process, thread) = (row.process, row.thread);
        let of_begin = fields(("MethodILSize", Some(row.il_size)));
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields: of_begin, roles: begin.clone() });
        if row.open != Some(true) {
            let roles = if row.version.is_some() { &end_2 } else { &end_1 };
            let (order, fields) = (order_of_end(row.start, row.time), fields(("MethodSize", row.native_size)));
            made.push(Made { time: row.time, order, process, thread, fields, roles: roles.clone() });
        }
    })
}

view! {
    #[derive(Clone, Debug)]
    struct Tick of ClrAllocationRow { time, process, thread, runtime, source, kind, amount, object_type, object_size, heap }
}

fn allocations(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    use tracesift_trace::rows::clr_allocation_sources::TICK;
    let tick = roles.of(10, None);
    archive.scan(None, |row: &Tick| {
        if row.source == TICK {
            let fields = json!({
                "AllocationAmount64": row.amount, "AllocationKind": row.kind, "ClrInstanceID": row.runtime,
                "TypeName": row.object_type, "HeapIndex": row.heap, "ObjectSize": row.object_size,
            });
            let (process, thread) = (row.process, row.thread);
            made.push(Made { time: row.time, order: BEGIN, process, thread, fields, roles: tick.clone() });
        }
    })
}

/// Words of marks that begin or end something.
const BEGINS: [&str; 2] = ["start", "begin"];
const ENDS: [&str; 2] = ["stop", "end"];

/// Marks with one of these words at their begin or end: `start load`, `Load_Begin`. The rest is the name of their region.
fn marks(archive: &Archive, definitions: &Definitions, made: &mut Vec<Made>) -> Result<(), Error> {
    let kind = |event| EventKind { guid: "", provider: OWN, event, id: 0, version: None };
    let [begin, end]: [Arc<[Role]>; 2] =
        ["Mark/Start", "Mark/Stop"].map(|event| definitions.roles(&kind(event)).into());
    if begin.is_empty() && end.is_empty() {
        return Ok(());
    }
    archive.scan(None, |row: &MarkRow| {
        let (rest, order, roles) = match (rest(&row.text, &ENDS), rest(&row.text, &BEGINS)) {
            (Some(rest), _) => (rest, 0, &end),
            (None, Some(rest)) => (rest, BEGIN, &begin),
            (None, None) => return,
        };
        let fields = json!({"Name": rest, "Text": row.text});
        let (time, process, thread) = (row.time, row.process, row.thread);
        made.push(Made { time, order, process, thread, fields, roles: roles.clone() });
    })
}

/// What a text has beside one of the words at its begin or end, in lower case.
fn rest(text: &str, words: &[&str]) -> Option<String> {
    let text = text.to_lowercase();
    let is_sign = |c: char| !c.is_alphanumeric();
    let beside =
        |rest: &str, is_apart: bool| (rest.is_empty() || is_apart).then(|| rest.trim_matches(is_sign).to_owned());
    words.iter().find_map(|word| {
        let behind = text.strip_prefix(word).and_then(|rest| beside(rest, rest.starts_with(is_sign)));
        behind.or_else(|| text.strip_suffix(word).and_then(|rest| beside(rest, rest.ends_with(is_sign))))
    })
}

#[cfg(test)]
mod tests {
    use super::{BEGINS, ENDS, rest};

    #[test]
    fn marks_begin_and_end_by_their_words() {
        let name = |text| (rest(text, &BEGINS), rest(text, &ENDS));
        assert_eq!(name("start load"), (Some("load".to_owned()), None));
        assert_eq!(name("Load_Begin"), (Some("load".to_owned()), None));
        assert_eq!(name("Load - End"), (None, Some("load".to_owned())));
        assert_eq!(name("stop"), (None, Some(String::new())));
        assert_eq!(name("started"), (None, None));
        assert_eq!(name("Weekend"), (None, None));
    }
}
