//! The events of an object in their order, with `--history`.

use super::columns::{HandleOf, Row, ViewOf};
use super::references::Reference;
use crate::answer::{Column, ColumnOf, Kind, Table, Value, descriptions, values};
use crate::question::handles::{hexadecimal, made_by};

/// Name and pid of a process.
type Who = Option<(String, i64)>;

/// One event of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Event {
    time: i64,
    /// Events of one instant stand in this order: what begins before what it is made of, and ends behind it.
    rank: u8,
    what: String,
    who: Who,
    tid: Option<i64>,
    /// Value of a handle, or address of a view.
    handle: Option<i64>,
    /// Bytes of a view.
    size: Option<i64>,
    /// References that were taken; below 0: given back.
    change: Option<i64>,
    method: Option<String>,
}

const CREATED: u8 = 0;
const BEGINS: u8 = 1;
const CHANGES: u8 = 2;
const ENDS: u8 = 3;
const DELETED: u8 = 4;

/// The innermost function of a stack.
fn leaf(stack: Option<&Vec<String>>) -> Option<String> {
    stack.and_then(|functions| functions.first().cloned())
}

fn of_object(row: &Row, events: &mut Vec<Event>) {
    if row.life.number.is_none() {
        // Only handles tell of it, and have events of their own.
        return;
    }
    let who = row.process.as_ref().map(|process| (process.name.clone(), process.pid));
    if !row.life.there {
        let method = leaf(row.stacks[0].as_ref());
        events.push(Event {
            time: row.life.start,
            rank: CREATED,
            what: "created".into(),
            who,
            method,
            ..Event::default()
        });
    }
    if !row.life.is_open {
        let method = leaf(row.stacks[1].as_ref());
        events.push(Event { time: row.life.end, rank: DELETED, what: "deleted".into(), method, ..Event::default() });
    }
}

fn of_handle(handle: &HandleOf, events: &mut Vec<Event>) {
    let held = &handle.held;
    let event = Event { who: handle.owner.clone(), handle: Some(held.value), ..Event::default() };
    if let Some(time) = handle.opened() {
        events.push(Event {
            time,
            rank: BEGINS,
            what: format!("handle {}", made_by(i64::from(held.made_by))),
            tid: handle.tid,
            method: leaf(handle.stacks[0].as_ref()),
            ..event.clone()
        });
    }
    if !held.is_open {
        let what = if held.by_exit { "handle closed by exit" } else { "handle closed" };
        let method = leaf(handle.stacks[1].as_ref());
        events.push(Event { time: held.end, rank: ENDS, what: what.into(), method, ..event });
    }
}

fn of_view(view: &ViewOf, events: &mut Vec<Event>) {
    let row = &view.view;
    let event = Event { who: view.process.clone(), handle: Some(row.base), size: Some(row.size), ..Event::default() };
    if row.there != Some(true) {
        let method = leaf(view.stacks[0].as_ref());
        let tid = view.tid;
        events.push(Event { time: row.start, rank: BEGINS, what: "mapped".into(), tid, method, ..event.clone() });
    }
    if row.open != Some(true) {
        let what = if row.by_exit == Some(true) { "unmapped by exit" } else { "unmapped" };
        let method = leaf(view.stacks[1].as_ref());
        events.push(Event { time: row.time, rank: ENDS, what: what.into(), method, ..event });
    }
}

fn of_reference(reference: &Reference, events: &mut Vec<Event>) {
    let Reference { time, change, tag, process, tid, method } = reference;
    let what = if *change < 0 { "released" } else { "referenced" };
    events.push(Event {
        time: *time,
        rank: CHANGES,
        what: format!("{what} {tag}"),
        who: process.clone(),
        tid: *tid,
        change: Some(*change),
        method: method.clone(),
        ..Event::default()
    });
}

/// The events of an object in a time range, in their order.
pub(super) fn table(row: &Row, (from, to): (i64, i64)) -> Value {
    let mut events = Vec::new();
    of_object(row, &mut events);
    row.handles.iter().for_each(|handle| of_handle(handle, &mut events));
    row.views.iter().for_each(|view| of_view(view, &mut events));
    row.references.iter().for_each(|reference| of_reference(reference, &mut events));
    events.retain(|event| event.time >= from && event.time < to);
    events.sort_by_key(|event| (event.time, event.rank));
    Value::Table(Table { columns: columns(), rows: values(COLUMNS, &events), is_sparse: false })
}

/// The columns of the objects in `history`.
pub(super) fn columns() -> Vec<Column> {
    descriptions(COLUMNS)
}

const COLUMNS: &[ColumnOf<Event>] = &[
    ColumnOf::always("time", "Time", Kind::Time, |r| r.time.into(), "When it happened."),
    ColumnOf::always(
        "event",
        "Event",
        Kind::Text,
        |r| r.what.as_str().into(),
        "`created` or `deleted`; `handle` with the way in which it was made or closed; `mapped` or `unmapped`; `referenced` or `released` with the tag of the code (with `--references`).",
    ),
    ColumnOf::always(
        "handle",
        "Handle",
        Kind::Text,
        |r| r.handle.map(hexadecimal).into(),
        "Value of the handle; of a view its address.",
    ),
    ColumnOf::always("size", "Size", Kind::Bytes, |r| r.size.into(), "Size of the view."),
    ColumnOf::always(
        "change",
        "Change",
        Kind::Count,
        |r| r.change.into(),
        "References that were taken; below 0: references that were released.",
    ),
    ColumnOf::always(
        "process",
        "Process",
        Kind::Text,
        |r| r.who.as_ref().map(|(name, _)| name.clone()).into(),
        "Process that created the object, has the handle or the view, or took the references.",
    ),
    ColumnOf::always("pid", "Pid", Kind::Id, |r| r.who.as_ref().map(|(_, pid)| *pid).into(), "Its process id."),
    ColumnOf::always(
        "tid",
        "Tid",
        Kind::Id,
        |r| r.tid.into(),
        "Thread that did it; of a close and a deletion it is not known.",
    ),
    ColumnOf::always(
        "method",
        "Method",
        Kind::Text,
        |r| r.method.clone().into(),
        "Function at which the stack of the event was taken, as `module!function`.",
    ),
];
