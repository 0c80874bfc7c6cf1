//! The table of records by class: those of an `.etl` are kinds of events, those of a `perf.data` samples by event and other
//! records by kind.

use tracesift_etl::counts::{Count, Key};
use tracesift_etl::{Guid, LogfileHeader};
use tracesift_trace::Clock;

use super::etl::Counted;
use crate::answer::{ColumnOf, Kind, Table, descriptions, values};

/// Records of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountRow {
    pub(super) kind: &'static str,
    pub(super) group: Option<u8>,
    pub(super) guid: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) id: Option<u32>,
    pub(super) opcode: Option<u8>,
    pub(super) version: Option<u8>,
    pub(super) name: Option<String>,
    pub(super) provider_name: Option<String>,
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) stacks: u64,
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: Option<i64>,
    pub(super) stops_early: Option<bool>,
}

/// The columns. Those that a class does not have are left out of its object in JSON.
pub const COLUMNS: &[ColumnOf<CountRow>] = &[
    ColumnOf::machine(
        "kind",
        "Kind",
        Kind::Text,
        |r| r.kind.into(),
        "`kernel` (class, group, opcode, version), `classic` (guid, opcode, version), `event` (provider, id, version) or `message` (guid, id); of a `perf.data` `sample` or `record` (id, name).",
    ),
    ColumnOf::machine(
        "class",
        "Class",
        Kind::Text,
        |r| r.name.as_ref().and_then(|name| Some(name.split_once('/')?.0)).into(),
        "What stands before the slash in the name, as for `events --class`.",
    ),
    ColumnOf::machine("group", "Group", Kind::Id, |r| r.group.map(i32::from).into(), "Number of a kernel class."),
    ColumnOf::machine("guid", "Guid", Kind::Text, |r| r.guid.clone().into(), "Class of a classic record or message."),
    ColumnOf::machine("provider", "Provider", Kind::Text, |r| r.provider.clone().into(), "Provider of an event."),
    ColumnOf::machine(
        "id",
        "Id",
        Kind::Id,
        |r| r.id.into(),
        "Number of an event or message; of a `perf.data` of an event in it, or of a kind of records.",
    ),
    ColumnOf::machine("opcode", "Opcode", Kind::Id, |r| r.opcode.map(i32::from).into(), "Type inside the class."),
    ColumnOf::machine("version", "Version", Kind::Id, |r| r.version.map(i32::from).into(), "Version of the payload."),
    ColumnOf::machine(
        "name",
        "Name",
        Kind::Text,
        |r| r.name.clone().into(),
        "Name of the event, as for `events --name`: `PerfInfo/Sample`, `EventID(7)` where nobody names it; null for self-describing events, whose names stand in `tracelogging_events`.",
    ),
    ColumnOf::machine(
        "provider_name",
        "Provider name",
        Kind::Text,
        |r| r.provider_name.clone().into(),
        "Name of the provider, as for `events --provider`, where it is known: `Windows Kernel` for the kernel's classes; on Linux the system of a tracepoint, else `perf`.",
    ),
    ColumnOf::people(
        "provider_label",
        "Provider",
        Kind::Text,
        |r| provider(r).map(str::to_owned).into(),
        "Name of the provider, else its GUID.",
    ),
    ColumnOf::people("event", "Event", Kind::Text, |r| event(r).into(), "Name of the event."),
    ColumnOf::people(
        "number",
        "Id",
        Kind::Id,
        |r| r.opcode.map(u32::from).or(r.id.filter(|_| r.version.is_some())).into(),
        "Id; of a kernel or classic event its opcode.",
    ),
    ColumnOf::people("v", "Version", Kind::Id, |r| r.version.map(i32::from).into(), "Version of the payload."),
    ColumnOf::always("count", "Count", Kind::Count, |r| r.count.into(), "Records."),
    ColumnOf::always("bytes", "Size", Kind::Bytes, |r| r.bytes.into(), "Their bytes with headers, without padding."),
    ColumnOf::always("stacks", "Stacks", Kind::Count, |r| r.stacks.into(), "Records with a stack."),
    ColumnOf::always(
        "first_ns",
        "First",
        Kind::Time,
        |r| r.first_ns.into(),
        "Time of the earliest record, ns since the session's start; of a `perf.data` since its first record with a time.",
    ),
    ColumnOf::always("last_ns", "Last", Kind::Time, |r| r.last_ns.into(), "Time of the latest record."),
    ColumnOf::machine(
        "stops_early",
        "Stops early",
        Kind::Bool,
        |r| r.stops_early.into(),
        "The class came at a steady rate and fell silent well before the end: another session may have taken it over.",
    ),
    ColumnOf::people(
        "note",
        "Note",
        Kind::Text,
        |r| r.stops_early.filter(|stops| *stops).map(|_| "stops early").into(),
        "Whether the class stops early.",
    ),
];

/// The table of rows in this order.
pub(super) fn table(rows: &[CountRow]) -> Table {
    Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, rows), is_sparse: true }
}

/// The table of an `.etl`, the most frequent class last; and the names of the events that stop early.
pub(super) fn of_etl(
    counted: &Counted,
    header: &LogfileHeader,
    stops_early: impl Fn(Key) -> bool,
) -> (Table, Vec<String>) {
    let clock = Clock::new(header.zero_ticks(), header.frequency());
    let named = |(key, count): (Key, Count)| CountRow {
        stops_early: Some(stops_early(key)),
        ..row(counted, key, &count, clock)
    };
    let mut rows: Vec<CountRow> = counted.counts.by_key().into_iter().map(named).collect();
    rows.reverse();
    let mut silent: Vec<String> = rows.iter().filter(|row| row.stops_early == Some(true)).map(event).collect();
    silent.dedup();
    (table(&rows), silent)
}

fn row(counted: &Counted, key: Key, count: &Count, clock: Clock) -> CountRow {
    let names = counted.names(key);
    let base = CountRow {
        provider_name: names.provider,
        name: Some(names.event),
        count: count.records,
        bytes: count.bytes,
        stacks: count.stacks,
        first_ns: Some(clock.ns(count.first_time)),
        last_ns: Some(clock.ns(count.last_time)),
        ..CountRow::default()
    };
    match key {
        Key::Kernel { hook, version } => {
            let [opcode, group] = hook.to_le_bytes();
            CountRow { kind: "kernel", group: Some(group), opcode: Some(opcode), version: Some(version), ..base }
        }
        Key::Classic { guid, opcode, version } => CountRow {
            kind: "classic",
            guid: Some(guid.to_string()),
            opcode: Some(opcode),
            version: Some(version),
            ..base
        },
        Key::Event { provider, id, version } => CountRow {
            kind: "event",
            provider: Some(provider.to_string()),
            id: Some(id.into()),
            version: Some(version),
            name: base.name.filter(|_| !counted.describes_itself(key)),
            ..base
        },
        Key::Message { guid, number } => {
            CountRow { kind: "message", guid: Some(guid.to_string()), id: Some(number.into()), ..base }
        }
    }
}

fn provider(row: &CountRow) -> Option<&str> {
    row.provider_name.as_deref().or(row.provider.as_deref()).or(row.guid.as_deref())
}

fn event(row: &CountRow) -> String {
    row.name.clone().unwrap_or_else(|| "(self-describing)".to_owned())
}

struct SelfDescribing {
    provider: String,
    provider_name: Option<String>,
    event: String,
    count: u64,
}

/// Self-describing events by provider and name; none when there are none.
pub(super) fn self_describing(counted: &Counted) -> Option<Table> {
    const COLUMNS: &[ColumnOf<SelfDescribing>] = &[
        ColumnOf::always("provider", "Provider", Kind::Text, |r| (&r.provider).into(), "Provider."),
        ColumnOf::always("provider_name", "Provider name", Kind::Text, |r| r.provider_name.clone().into(), "Its name."),
        ColumnOf::always("event", "Event", Kind::Text, |r| (&r.event).into(), "Name of the event."),
        ColumnOf::always("count", "Count", Kind::Count, |r| r.count.into(), "Records."),
    ];
    let rows: Vec<SelfDescribing> = counted
        .counts
        .self_describing()
        .into_iter()
        .rev()
        .map(|(provider, event, count): (Guid, String, u64)| SelfDescribing {
            provider_name: counted.provider_name(provider),
            provider: provider.to_string(),
            event,
            count,
        })
        .collect();
    (!rows.is_empty()).then(|| Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, &rows), is_sparse: true })
}
