//! Events that an archive does not keep one by one, made anew from the tables that show them.
//!
//! An archive can have both: with `--events all` the events of the runtime are in `events`, too. A table counts only where
//! none of its events is there.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};
use tracesift_analysis::regions::{Definitions, EventKind, Fields, Role, canonical};
use tracesift_archive::{Archive, Error, Keys};
use tracesift_etl::payload::dotnet::RUNTIME_PROVIDER;
use tracesift_trace::rows::{ClrAllocationRow, EventRow, GcCollectionRow, GcSuspensionRow, JitMethodRow, MarkRow};
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::{ProcessId, ThreadId, view};

use crate::events::column_keys::{GUID, ID, PROVIDER};

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
    pub(super) fields: MadeFields,
    pub(super) roles: Arc<[Role]>,
}

/// The fields of an event that is made: those of its row, which an event of a begin and one of an end share.
#[derive(Clone, Debug)]
pub(super) enum MadeFields {
    CollectionBegin(Rc<Collection>),
    CollectionEnd(Rc<Collection>),
    SuspensionBegin(Rc<Suspension>),
    Suspended(Rc<Suspension>),
    /// With a number of the method: no table has that of the runtime, and any of its own brings begin and end together.
    CompilationBegin(Rc<Compilation>, u64),
    CompilationEnd(Rc<Compilation>, u64),
    Allocation(Box<Tick>),
    Mark(Box<Mark>),
}

/// A mark, and what its region is called.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    name: String,
    text: String,
}

/// The value of a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(Option<i64>),
    Text(Option<&'a str>),
}

impl MadeFields {
    fn field(&self, name: &str) -> Option<Field<'_>> {
        let mut found = None;
        self.each(|field, value| {
            if field.len() == name.len() && field.eq_ignore_ascii_case(name) {
                found = Some(value);
            }
        });
        found
    }

    #[inline]
    fn each<'a>(&'a self, mut show: impl FnMut(&'static str, Field<'a>)) {
        let mut number = |name, number: i64| show(name, Field::Number(Some(number)));
        match self {
            Self::CollectionBegin(row) | Self::CollectionEnd(row) => {
                number("Count", row.number.into());
                number("Depth", row.generation.into());
                number("ClrInstanceID", row.runtime.into());
                if matches!(self, Self::CollectionBegin(_)) {
                    number("Reason", row.reason.into());
                    number("Type", row.kind.into());
                }
            }
            Self::SuspensionBegin(row) | Self::Suspended(row) => {
                number("ClrInstanceID", row.runtime.into());
                if matches!(self, Self::SuspensionBegin(_)) {
                    number("Reason", row.reason.into());
                }
            }
            Self::CompilationBegin(row, method) | Self::CompilationEnd(row, method) => {
                number("MethodID", i64::try_from(*method).unwrap_or(i64::MAX));
                show("ClrInstanceID", Field::Number(row.runtime.map(i64::from)));
                show("MethodNamespace", Field::Text(Some(&row.namespace)));
                show("MethodName", Field::Text(Some(&row.method)));
                show("MethodSignature", Field::Text(Some(&row.arguments)));
                match self {
                    Self::CompilationBegin(..) => show("MethodILSize", Field::Number(Some(row.il_size))),
                    _ => show("MethodSize", Field::Number(row.native_size)),
                }
            }
            Self::Allocation(row) => {
                number("AllocationAmount64", row.amount);
                show("AllocationKind", Field::Number(row.kind.map(i64::from)));
                show("ClrInstanceID", Field::Number(row.runtime.map(i64::from)));
                show("TypeName", Field::Text(row.object_type.as_deref()));
                show("HeapIndex", Field::Number(row.heap.map(i64::from)));
                show("ObjectSize", Field::Number(row.object_size));
            }
            Self::Mark(mark) => {
                show("Name", Field::Text(Some(&mark.name)));
                show("Text", Field::Text(Some(&mark.text)));
            }
        }
    }
}

impl Fields for MadeFields {
    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.field(name)? {
            Field::Number(number) => number.map(|number| number.to_string().into()),
            Field::Text(text) => text.map(Cow::Borrowed),
        }
    }

    fn add_text(&self, name: &str, text: &mut String) -> Option<()> {
        match self.field(name)? {
            Field::Number(number) => write!(text, "{}", number?).ok(),
            Field::Text(own) => own.map(|own| text.push_str(&canonical(own.into()))),
        }
    }

    fn json(&self) -> String {
        let mut fields = Map::new();
        self.each(|field, value| {
            let value = match value {
                Field::Number(number) => number.map_or(Value::Null, Value::from),
                Field::Text(text) => text.map_or(Value::Null, Value::from),
            };
            fields.insert(field.to_owned(), value);
        });
        Value::Object(fields).to_string()
    }
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

impl<'d> Roles<'d> {
    fn new(definitions: &'d Definitions) -> Self {
        Self { definitions, guid: RUNTIME_PROVIDER.to_string() }
    }

    fn of(&self, id: i32, version: Option<i16>) -> Arc<[Role]> {
        let mut events = Family::ALL.iter().flat_map(|family| family.events());
        let event = events.find(|(known, _)| *known == id).map_or("", |(_, name)| name);
        let kind = EventKind { guid: &self.guid, provider: RUNTIME, event, id, version };
        self.definitions.roles(&kind).into()
    }
}

/// Who logged the events of an archive, by the texts of its columns alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Makers {
    /// One of them may be known to the definitions.
    pub(super) known: bool,
    /// The runtime is among them.
    runtime: bool,
}

/// The makers of events.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn makers(archive: &Archive, definitions: &Definitions) -> Result<Makers, Error> {
    let definitions = definitions.clone();
    let needed = ColumnSet::of(&["provider", "guid"]);
    archive.fold_keys(needed, Makers::default(), move |makers, keys: &Keys<'_, EventRow>| {
        let (providers, guids) = (keys.texts::<PROVIDER>()?, keys.texts::<GUID>()?);
        let mut providers = (0..providers.count()).filter_map(|number| providers.text(number));
        let mut guids = (0..guids.count()).filter_map(|number| guids.text(number));
        makers.known = makers.known || guids.any(|guid| definitions.know(guid, ""));
        for provider in &mut providers {
            makers.known = makers.known || definitions.know("", provider);
            makers.runtime |= provider == RUNTIME;
        }
        Ok(())
    })
}

/// The families that have a part in regions, and rows, and whose events the archive does not keep.
fn families(archive: &Archive, roles: &Roles<'_>, makers: Makers) -> Result<Vec<Family>, Error> {
    let has_part = |family: &Family| family.events().iter().any(|(id, _)| !roles.of(*id, None).is_empty());
    let families: Vec<Family> =
        Family::ALL.into_iter().filter(|family| has_part(family) && family.rows(archive) > 0).collect();
    if families.is_empty() || !makers.runtime {
        return Ok(families);
    }
    let needed = ColumnSet::of(&["provider", "id"]);
    archive.fold_keys(needed, families, |families: &mut Vec<Family>, keys: &Keys<'_, EventRow>| {
        let (providers, ids) = (keys.texts::<PROVIDER>()?, keys.numbers::<ID>()?);
        let of_runtime: Vec<bool> =
            (0..providers.count()).map(|number| providers.text(number) == Some(RUNTIME)).collect();
        if of_runtime.contains(&true) {
            let is_of_runtime = |row| providers.number(row).and_then(|number| of_runtime.get(number).copied());
            for row in (0..keys.rows()).filter(|row| is_of_runtime(*row) == Some(true)) {
                let id = ids.get(row);
                families.retain(|family| !family.events().iter().any(|(known, _)| Some(i64::from(*known)) == id));
            }
        }
        Ok(())
    })
}

/// Whether there is anything that such events can be made of, where the archive keeps no events.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn has_any(archive: &Archive, definitions: &Definitions) -> Result<bool, Error> {
    if !families(archive, &Roles::new(definitions), Makers::default())?.is_empty() {
        return Ok(true);
    }
    let mut made = Vec::new();
    marks(archive, definitions, &mut made)?;
    Ok(!made.is_empty())
}

/// The events that have a part in regions, in the order of time. `makers`: those of the events that the archive keeps;
/// `with_fields`: somebody looks at fields that the definitions do not name.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn events(
    archive: &Archive,
    definitions: &Definitions,
    makers: Makers,
    with_fields: bool,
) -> Result<Vec<Made>, Error> {
    let roles = Roles::new(definitions);
    let mut made = Vec::new();
    for family in families(archive, &roles, makers)? {
        match family {
            Family::Collections => collections(archive, &roles, &mut made)?,
            Family::Suspensions => suspensions(archive, &roles, &mut made)?,
            Family::Compilations => compilations(archive, &roles, with_fields, &mut made)?,
            Family::Allocations => allocations(archive, &roles, &mut made)?,
        }
    }
    marks(archive, definitions, &mut made)?;
    made.retain(|event| !event.roles.is_empty());
    made.sort_by_cached_key(|event| (event.time, event.order));
    Ok(made)
}

const BEGIN: u8 = 1;

/// The place of an end among the events of its instant.
fn order_of_end(start: i64, end: i64) -> u8 {
    if start < end { 0 } else { 2 }
}

view! {
    /// A collection.
    #[derive(Clone, Debug)]
    pub(super) struct Collection of GcCollectionRow {
        time, start, process, thread, runtime, number, generation, kind, reason, open,
    }
}

fn collections(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    let [begin, end] = [1, 2].map(|id| roles.of(id, None));
    archive.scan(None, |row: &Collection| {
        let (process, thread, row) = (Some(row.process), row.thread, Rc::new(row.clone()));
        let fields = MadeFields::CollectionBegin(Rc::clone(&row));
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields, roles: begin.clone() });
        if row.open != Some(true) {
            let (time, order) = (row.time, order_of_end(row.start, row.time));
            let fields = MadeFields::CollectionEnd(row);
            made.push(Made { time, order, process, thread, fields, roles: end.clone() });
        }
    })
}

view! {
    /// A suspension.
    #[derive(Clone, Debug)]
    pub(super) struct Suspension of GcSuspensionRow {
        time, start, stopped, restart, process, thread, runtime, reason, open,
    }
}

fn suspensions(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    let [begin, stopped, restart, end] = [9, 8, 7, 3].map(|id| roles.of(id, None));
    archive.scan(None, |row: &Suspension| {
        let (process, thread, row) = (Some(row.process), row.thread, Rc::new(row.clone()));
        let fields = MadeFields::SuspensionBegin(Rc::clone(&row));
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields, roles: begin.clone() });
        let ended = (row.open != Some(true)).then_some(row.time);
        for (time, roles) in [(row.stopped, &stopped), (row.restart, &restart), (ended, &end)] {
            made.extend(time.map(|time| {
                let order = order_of_end(row.start, time);
                let fields = MadeFields::Suspended(Rc::clone(&row));
                Made { time, order, process, thread, fields, roles: roles.clone() }
            }));
        }
    })
}

view! {
    /// A compilation.
    #[derive(Clone, Debug)]
    pub(super) struct Compilation of JitMethodRow {
        time, start, process, thread, runtime, namespace, method, arguments, il_size, native_size, version, open,
    }
}

/// Texts of a compilation, and the field that each of them is.
const TEXTS: [(ColumnSet<Compilation>, &str); 3] = [
    (ColumnSet::of(&["namespace"]), "MethodNamespace"),
    (ColumnSet::of(&["method"]), "MethodName"),
    (ColumnSet::of(&["arguments"]), "MethodSignature"),
];

fn compilations(archive: &Archive, roles: &Roles<'_>, with_fields: bool, made: &mut Vec<Made>) -> Result<(), Error> {
    let begin = roles.of(145, None);
    // Version 2 of the event has the number of the method's version.
    let [end_1, end_2] = [1, 2].map(|version| roles.of(143, Some(version)));
    let unused = TEXTS.iter().filter(|(_, field)| !with_fields && !roles.definitions.look_at(field));
    let needed = unused.fold(ColumnSet::ALL, |needed, (column, _)| needed.without(*column));
    let mut number = 0_u64;
    archive.scan_needed(needed, None, None::<fn(&Compilation) -> bool>, |row: &Compilation| {
        number += 1;
        let (process, thread, row) = (row.process, row.thread, Rc::new(row.clone()));
        let fields = MadeFields::CompilationBegin(Rc::clone(&row), number);
        made.push(Made { time: row.start, order: BEGIN, process, thread, fields, roles: begin.clone() });
        if row.open != Some(true) {
            let roles = if row.version.is_some() { &end_2 } else { &end_1 };
            let (time, order) = (row.time, order_of_end(row.start, row.time));
            let fields = MadeFields::CompilationEnd(row, number);
            made.push(Made { time, order, process, thread, fields, roles: roles.clone() });
        }
        ControlFlow::Continue(())
    })
}

view! {
    /// A tick of allocations.
    #[derive(Clone, Debug)]
    pub(super) struct Tick of ClrAllocationRow {
        time, process, thread, runtime, source, kind, amount, object_type, object_size, heap,
    }
}

fn allocations(archive: &Archive, roles: &Roles<'_>, made: &mut Vec<Made>) -> Result<(), Error> {
    use tracesift_trace::rows::clr_allocation_sources::TICK;
    let tick = roles.of(10, None);
    archive.scan(None, |row: &Tick| {
        if row.source == TICK {
            let (time, process, thread) = (row.time, row.process, row.thread);
            let fields = MadeFields::Allocation(Box::new(row.clone()));
            made.push(Made { time, order: BEGIN, process, thread, fields, roles: tick.clone() });
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
        let fields = MadeFields::Mark(Box::new(Mark { name: rest, text: row.text.clone() }));
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
