//! The table of records by class: those of an `.etl` are kinds of events, those of a `perf.data` samples by event and other
//! records by kind.

use tracesift_etl::counts::{Count, Counts, Key};
use tracesift_etl::{Group, Guid, LogfileHeader, names};
use tracesift_trace::Clock;

use crate::answer::{ColumnOf, Kind, Table, descriptions, values};

/// Records of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountRow {
    pub(super) kind: &'static str,
    pub(super) class: Option<String>,
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
        |r| r.class.clone().into(),
        "Name of the class, where it is known.",
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
        "Name of a kernel event, where it is known; of a `perf.data` of the event or the kind of records.",
    ),
    ColumnOf::machine(
        "provider_name",
        "Provider name",
        Kind::Text,
        |r| r.provider_name.clone().into(),
        "Name of the provider, where it is known.",
    ),
    ColumnOf::people("event", "Event", Kind::Text, |r| label(r).into(), "Class or provider, and which event of it."),
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

/// The table of an `.etl`, the most frequent class last; and the labels of the classes that stop early.
pub(super) fn of_etl(
    counts: &Counts,
    header: &LogfileHeader,
    stops_early: impl Fn(Key) -> bool,
) -> (Table, Vec<String>) {
    let clock = Clock::new(header.zero_ticks(), header.frequency());
    let mut rows: Vec<CountRow> =
        counts.by_key().into_iter().map(|(key, count)| row(counts, key, &count, clock, stops_early(key))).collect();
    rows.reverse();
    let silent = rows.iter().filter(|row| row.stops_early == Some(true)).map(label).collect();
    (table(&rows), silent)
}

fn row(counts: &Counts, key: Key, count: &Count, clock: Clock, stops_early: bool) -> CountRow {
    let base = CountRow {
        count: count.records,
        bytes: count.bytes,
        stacks: count.stacks,
        first_ns: Some(clock.ns(count.first_time)),
        last_ns: Some(clock.ns(count.last_time)),
        stops_early: Some(stops_early),
        ..CountRow::default()
    };
    match key {
        Key::Kernel { hook, version } => {
            let [opcode, group] = hook.to_le_bytes();
            CountRow {
                kind: "kernel",
                class: Some(names::group(Group(group)).map_or_else(|| format!("Group{group}"), str::to_owned)),
                group: Some(group),
                opcode: Some(opcode),
                version: Some(version),
                name: names::hook(hook).map(str::to_owned),
                ..base
            }
        }
        Key::Classic { guid, opcode, version } => CountRow {
            kind: "classic",
            class: names::classic(guid).map(str::to_owned),
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
            provider_name: counts.provider_name(provider).map(str::to_owned),
            ..base
        },
        Key::Message { guid, number } => {
            CountRow { kind: "message", guid: Some(guid.to_string()), id: Some(number.into()), ..base }
        }
    }
}

/// `PerfInfo/46 SampledProfile v2`, `cycles:P`
fn label(row: &CountRow) -> String {
    let class = row.class.as_ref().or(row.provider_name.as_ref()).or(row.provider.as_ref()).or(row.guid.as_ref());
    let Some(class) = class else { return row.name.clone().unwrap_or_default() };
    let number = row.opcode.map(u32::from).or(row.id).unwrap_or_default();
    let name = row.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let version = row.version.map(|version| format!(" v{version}")).unwrap_or_default();
    format!("{class}/{number}{name}{version}")
}

struct SelfDescribing {
    provider: String,
    provider_name: Option<String>,
    event: String,
    count: u64,
}

/// Self-describing events by provider and name; none when there are none.
pub(super) fn self_describing(counts: &Counts) -> Option<Table> {
    const COLUMNS: &[ColumnOf<SelfDescribing>] = &[
        ColumnOf::always("provider", "Provider", Kind::Text, |r| (&r.provider).into(), "Provider."),
        ColumnOf::always("provider_name", "Provider name", Kind::Text, |r| r.provider_name.clone().into(), "Its name."),
        ColumnOf::always("event", "Event", Kind::Text, |r| (&r.event).into(), "Name of the event."),
        ColumnOf::always("count", "Count", Kind::Count, |r| r.count.into(), "Records."),
    ];
    let rows: Vec<SelfDescribing> = counts
        .self_describing()
        .into_iter()
        .rev()
        .map(|(provider, event, count): (Guid, String, u64)| SelfDescribing {
            provider_name: counts.provider_name(provider).map(str::to_owned),
            provider: provider.to_string(),
            event,
            count,
        })
        .collect();
    (!rows.is_empty()).then(|| Table { columns: descriptions(COLUMNS), rows: values(COLUMNS, &rows), is_sparse: true })
}
