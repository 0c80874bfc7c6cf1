//! Handles, kernel objects, their references, and mapped views.

mod document;
mod spans;

pub use document::{Change, ExistingHandle, HandleData, HandleEvent, ObjectTrace, ViewEvent};

use rustc_hash::FxHashMap;
use tracesift_trace::rows::{HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, handle_kinds, handle_origins};
use tracesift_trace::{ProcessId, RowSink, StackId, ThreadId};

use self::spans::{Begin, End, Span, pair};
use super::stacks::StackPlaces;
use super::who::Who;
use crate::limits::TextBudget;
use crate::values::Integer;

/// The type of an object that stands for a mapped view.
const FILE_MAP: i64 = 1000;

/// Set in the value of a handle of the kernel itself.
const OF_KERNEL: i64 = 1 << 31;

/// A life of a handle. `of`: place of what its object has.
#[derive(Clone, Copy, Debug)]
struct Handle {
    span: Span,
    owner: ProcessId,
    value: i64,
    made_by: i8,
    source: (Option<ProcessId>, Option<i64>),
    of: u32,
}

/// A life of an object.
#[derive(Clone, Copy, Debug)]
struct Object {
    start: Option<i64>,
    end: Option<i64>,
    process: Option<ProcessId>,
    stacks: [Option<StackId>; 2],
    taken: i64,
    given_back: i64,
    number: i32,
    of: u32,
}

/// References that were taken or given back at once.
#[derive(Clone, Copy, Debug)]
struct Reference {
    time: i64,
    change: i64,
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
    number: i32,
    of: u32,
}

/// A life of a view.
#[derive(Clone, Copy, Debug)]
struct View {
    span: Span,
    process: ProcessId,
    base: i64,
    size: i64,
    offset: Option<i64>,
    object: i64,
}

/// What all rows of an object have.
#[derive(Clone, Debug)]
struct Shared {
    address: i64,
    /// Place of the name of its type.
    type_name: u32,
    name: Option<String>,
}

/// What can be rows, each list in the order of time.
#[derive(Debug, Default)]
pub(super) struct HandleRows {
    handles: Vec<Handle>,
    objects: Vec<Object>,
    references: Vec<Reference>,
    views: Vec<View>,
    shared: Vec<Shared>,
    types: Vec<String>,
    end: i64,
}

/// Something that happened, as much of it as all kinds of events have.
#[derive(Clone, Copy, Debug)]
struct At {
    time: i64,
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
}

impl HandleRows {
    /// `end`: length of the session, ns. `None` when the texts of all rows exceed the budget.
    pub(super) fn read(
        part: HandleData,
        end: i64,
        stacks: &StackPlaces,
        who: &mut Who<'_>,
        budget: &mut TextBudget,
    ) -> Option<Self> {
        let mut rows = Self { end, ..Self::default() };
        let mut types = Types::of(part.object_type_map.0);
        for trace in part.object_references.0 {
            rows.views(&trace, stacks, who);
            if trace.object_type.0 == Some(FILE_MAP) {
                continue;
            }
            let Some(address) = trace.object_ptr.0 else {
                super::unreadable(who.health, || "an object without an address".to_owned());
                continue;
            };
            let of = u32::try_from(rows.shared.len()).ok()?;
            let type_name = types.place(trace.object_type)?;
            let before = rows.handles.len() + rows.objects.len();
            rows.object(&trace, of, stacks, who);
            rows.handles(&trace, of, stacks, who);
            let texts = [types.names.get(type_name as usize), trace.name.as_ref()];
            for _ in before..rows.handles.len() + rows.objects.len() {
                texts.into_iter().flatten().try_for_each(|text| budget.spend(text))?;
            }
            let name = trace.name.filter(|name| !name.is_empty());
            rows.shared.push(Shared { address, type_name, name });
        }
        rows.types = types.names;
        rows.handles.sort_by_key(|handle| handle.span.end);
        rows.objects.sort_by_key(|object| object.end.unwrap_or(end));
        rows.references.sort_by_key(|reference| reference.time);
        rows.views.sort_by_key(|view| view.span.end);
        Some(rows)
    }

    /// The object itself, where the recording has more than its handles.
    fn object(&mut self, trace: &ObjectTrace, of: u32, stacks: &StackPlaces, who: &mut Who<'_>) {
        let mut at = |event: &Change| {
            let Change { time_ns, process_idx, thread_id, stack_idx, .. } = *event;
            At::of([time_ns, process_idx, thread_id, stack_idx], stacks, who)
        };
        let (made, deleted) =
            (trace.create_event.as_ref().and_then(&mut at), trace.destroy_event.as_ref().and_then(&mut at));
        if made.is_none() && deleted.is_none() && trace.ref_changes.0.is_empty() {
            return;
        }
        let Ok(number) = i32::try_from(self.objects.len()) else { return };
        let (mut taken, mut given_back) = (0_i64, 0_i64);
        for change in &trace.ref_changes.0 {
            let (Some(At { time, process, thread, stack }), Some(change)) = (at(change), change.ref_count_change.0)
            else {
                continue;
            };
            match change {
                0.. => taken = taken.saturating_add(change),
                _ => given_back = given_back.saturating_sub(change),
            }
            self.references.push(Reference { time, change, process, thread, stack, number, of });
        }
        self.objects.push(Object {
            start: made.map(|made| made.time),
            end: deleted.map(|deleted| deleted.time),
            process: made.and_then(|made| made.process),
            stacks: [made, deleted].map(|event| event?.stack),
            taken,
            given_back,
            number,
            of,
        });
    }

    /// The handles of an object.
    fn handles(&mut self, trace: &ObjectTrace, of: u32, stacks: &StackPlaces, who: &mut Who<'_>) {
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let made = [
            (&trace.handle_create_events, handle_origins::CREATED),
            (&trace.handle_duplicate_events, handle_origins::DUPLICATED),
        ];
        for (events, made_by) in made {
            for event in &events.0 {
                if let Some((key, at)) = handle_of(event, stacks, who) {
                    let is_copy = made_by == handle_origins::DUPLICATED;
                    let source = if is_copy { who.process(event.source_process_idx) } else { None };
                    let from = (source, event.source_handle_value.0.filter(|_| is_copy));
                    begins.push(Begin { key, at, more: (made_by, from) });
                }
            }
        }
        for event in &trace.handle_close_events.0 {
            ends.extend(handle_of(event, stacks, who).map(|(key, at)| End { key, at }));
        }
        let mut left = Vec::new();
        for ExistingHandle { handle, process } in &trace.existing.0 {
            let owner = who.process(*process);
            left.extend(owner.zip(handle.0).map(|(owner, value)| key_of(owner, value, who.system)));
        }
        for (key, span, more) in pair(begins, ends, left, self.end, |(owner, _)| who.end_of(*owner)) {
            let (made_by, source) = more.unwrap_or((handle_origins::THERE, (None, None)));
            self.handles.push(Handle { span, owner: key.0, value: key.1, made_by, source, of });
        }
    }

    /// The views at addresses.
    fn views(&mut self, trace: &ObjectTrace, stacks: &StackPlaces, who: &mut Who<'_>) {
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        for event in &trace.file_map_events.0 {
            begins.extend(view_of(event, stacks, who).map(|(key, at)| Begin { key, at, more: *event }));
        }
        for event in &trace.file_unmap_events.0 {
            ends.extend(view_of(event, stacks, who).map(|(key, at)| (End { key, at }, *event)));
        }
        // A view that was there before is known by its end alone.
        let unmapped: FxHashMap<_, _> = ends.iter().map(|(end, event)| ((end.key, end.at.time), *event)).collect();
        let ends = ends.into_iter().map(|(end, _)| end).collect();
        for (key, span, event) in pair(begins, ends, Vec::new(), self.end, |(process, _)| who.end_of(*process)) {
            let Some(event) = event.or_else(|| unmapped.get(&(key, span.end)).copied()) else { continue };
            self.views.push(View {
                span,
                process: key.0,
                base: key.1,
                size: event.view_size.count().unwrap_or(0),
                offset: event.byte_offset.count().filter(|offset| *offset > 0),
                object: event.file_object.0.unwrap_or(0),
            });
        }
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        for handle in &self.handles {
            let Some(shared) = self.shared.get(handle.of as usize) else { continue };
            let span = &handle.span;
            sink.handle(&HandleRow {
                time: span.end,
                start: span.start,
                process: span.made.and_then(|at| at.process),
                thread: span.made.and_then(|at| at.thread),
                stack: span.made.and_then(|at| at.stack),
                owner: handle.owner,
                kind: handle_kinds::KERNEL,
                handle: handle.value,
                object: Some(shared.address),
                object_type: self.types.get(shared.type_name as usize).cloned(),
                name: shared.name.clone(),
                made_by: handle.made_by,
                source_process: handle.source.0,
                source_handle: handle.source.1,
                close_thread: span.ended.and_then(|at| at.thread),
                close_stack: span.ended.and_then(|at| at.stack),
                by_exit: Some(span.by_exit),
                open: Some(span.is_open),
            });
        }
        for object in &self.objects {
            let Some(shared) = self.shared.get(object.of as usize) else { continue };
            sink.object(&ObjectRow {
                time: object.end.unwrap_or(self.end).max(object.start.unwrap_or(0)),
                start: object.start.unwrap_or(0),
                object: object.number,
                address: shared.address,
                object_type: self.types.get(shared.type_name as usize).cloned(),
                name: shared.name.clone(),
                process: object.process,
                stack: object.stacks[0],
                end_stack: object.stacks[1],
                references: object.taken,
                dereferences: object.given_back,
                there: Some(object.start.is_none()),
                open: Some(object.end.is_none()),
            });
        }
        for reference in &self.references {
            let Some(shared) = self.shared.get(reference.of as usize) else { continue };
            sink.object_reference(&ObjectReferenceRow {
                time: reference.time,
                cpu: -1,
                process: reference.process,
                thread: reference.thread,
                object: Some(reference.number),
                address: shared.address,
                change: reference.change,
                tag: String::new(),
                stack: reference.stack,
            });
        }
        self.views.iter().for_each(|view| sink.mapped_view(&view.row()));
    }
}

impl View {
    fn row(&self) -> MappedViewRow {
        MappedViewRow {
            time: self.span.end,
            start: self.span.start,
            process: self.process,
            thread: self.span.made.and_then(|at| at.thread),
            base: self.base,
            size: self.size,
            offset: self.offset,
            file: None,
            object: self.object,
            stack: self.span.made.and_then(|at| at.stack),
            end_stack: self.span.ended.and_then(|at| at.stack),
            there: Some(self.span.made.is_none()),
            by_exit: Some(self.span.by_exit),
            open: Some(self.span.is_open),
        }
    }
}

impl At {
    /// Time, process, thread and stack of an event; `None`: it has no time.
    fn of([time, process, thread, stack]: [Integer; 4], stacks: &StackPlaces, who: &mut Who<'_>) -> Option<Self> {
        let Some(time) = time.count() else {
            super::unreadable(who.health, || "an event of a handle without a time".to_owned());
            return None;
        };
        let process = who.process(process);
        Some(Self { time, process, thread: who.thread(process, thread), stack: stacks.at(stack) })
    }
}

/// The process that has a handle, and the value. Handles of the kernel belong to `System`.
fn key_of(owner: ProcessId, value: i64, system: Option<ProcessId>) -> (ProcessId, i64) {
    let value = i64::from(value as u32);
    let owner = system.filter(|_| value & OF_KERNEL != 0).unwrap_or(owner);
    (owner, value)
}

fn handle_of(event: &HandleEvent, stacks: &StackPlaces, who: &mut Who<'_>) -> Option<((ProcessId, i64), At)> {
    let HandleEvent { time_ns, handle_value, process_idx, thread_id, stack_idx, .. } = *event;
    let at = At::of([time_ns, process_idx, thread_id, stack_idx], stacks, who)?;
    let key = at.process.zip(handle_value.0).map(|(owner, value)| key_of(owner, value, who.system));
    if key.is_none() {
        super::unreadable(who.health, || "an event of a handle without process or value".to_owned());
    }
    key.map(|key| (key, at))
}

fn view_of(event: &ViewEvent, stacks: &StackPlaces, who: &mut Who<'_>) -> Option<((ProcessId, i64), At)> {
    let ViewEvent { time_ns, view_base, process_idx, thread_id, stack_idx, .. } = *event;
    let at = At::of([time_ns, process_idx, thread_id, stack_idx], stacks, who)?;
    let key = at.process.zip(view_base.0);
    if key.is_none() {
        super::unreadable(who.health, || "a view without process or address".to_owned());
    }
    key.map(|key| (key, at))
}

/// Names of types of objects.
struct Types {
    names: Vec<String>,
    places: FxHashMap<i64, u32>,
}

impl Types {
    fn of(map: Vec<(String, Option<String>)>) -> Self {
        let mut types = Self { names: Vec::new(), places: FxHashMap::default() };
        for (number, name) in map {
            let name = name.filter(|name| !name.is_empty());
            if let (Ok(number), Some(name), Ok(place)) = (number.parse(), name, u32::try_from(types.names.len())) {
                types.places.insert(number, place);
                types.names.push(name);
            }
        }
        types
    }

    /// The place of the name of a type; `type 5` stands for one without a name.
    fn place(&mut self, number: Integer) -> Option<u32> {
        let number = number.0.unwrap_or(-1);
        if let Some(place) = self.places.get(&number) {
            return Some(*place);
        }
        let place = u32::try_from(self.names.len()).ok()?;
        self.names.push(format!("type {number}"));
        self.places.insert(number, place);
        Some(place)
    }
}
