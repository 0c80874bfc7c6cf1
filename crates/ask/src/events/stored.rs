//! Events of an archive: the rows of its table, shown as those of a recording are.

use std::borrow::Cow;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use tracesift_archive::{Archive, Error};
use tracesift_etl::Guid;
use tracesift_etl::schema::{Decoded, Origin, Value};
use tracesift_trace::StackId;
use tracesift_trace::rows::{EventRow, ProcessRow, ThreadRow};

use super::EventFilter;
use super::line::{EventLine, Scanned, recorded_name};
use super::read::EventKind;
use super::stored_stacks::StoredStacks;
use super::subjects::Subjects;

/// Hands the events of an archive that pass to `visit`, in order of time, until it breaks off; with their stacks, where these are
/// asked for.
///
/// # Errors
/// When a table cannot be read.
pub fn scan_archive(
    archive: &Archive,
    filter: &EventFilter,
    with_stacks: bool,
    visit: &mut dyn FnMut(&EventLine<'_>) -> ControlFlow<()>,
) -> Result<Scanned, Error> {
    let by_stack = !filter.stack.is_empty();
    let stacks = if with_stacks || by_stack { StoredStacks::read(archive)? } else { StoredStacks::default() };
    let processes: Vec<ProcessRow> = archive.rows()?;
    let threads: Vec<ThreadRow> = archive.rows()?;
    let subjects = Subjects::new(filter, || processes.clone());
    let mut scanned = Scanned::default();
    let mut passing: FxHashMap<Option<StackId>, bool> = FxHashMap::default();
    let mut bytes = Vec::new();
    let (start, end) = filter.time.bounds();
    let time = (!filter.time.is_everything()).then_some(start..end);
    let mut visit_row = |row: &EventRow| {
        let passes = || filter.accepts_stack(stacks.frames(row.stack));
        if by_stack && !*passing.entry(row.stack).or_insert_with(passes) {
            return ControlFlow::Continue(());
        }
        let process = row.process.and_then(|id| processes.get(id.index()));
        let (pid, name) = (process.and_then(|row| u32::try_from(row.pid).ok()), process.and_then(recorded_name));
        let tid = row.thread.and_then(|id| u32::try_from(threads.get(id.index())?.tid).ok());
        if !subjects.accept(row.process, pid, tid, name) {
            return ControlFlow::Continue(());
        }
        let document = serde_json::from_str(&row.fields).unwrap_or(serde_json::Value::Null);
        unhex(row.raw.as_deref().unwrap_or_default(), &mut bytes);
        let fields = Decoded { fields: members(&document), rest: &bytes, stopped: None };
        for condition in &filter.conditions {
            if let Some((field, name)) = condition.name_for_number(&fields)
                && !scanned.named_fields.contains_key(field)
            {
                scanned.named_fields.insert(field.to_owned(), name.to_owned());
            }
        }
        if !filter.accepts_fields(&fields) {
            return ControlFlow::Continue(());
        }
        let line = EventLine {
            time: row.time,
            cpu: u16::try_from(row.cpu).ok(),
            pid,
            tid,
            process: name,
            provider: &row.provider,
            event: &row.event,
            id: row.id.and_then(|id| u16::try_from(id).ok()),
            version: byte(row.version),
            opcode: byte(row.opcode),
            level: row.level.map(byte),
            keyword: row.keyword.map(i64::cast_unsigned),
            activity: guid(row.activity.as_deref()),
            related_activity: guid(row.related_activity.as_deref()),
            user: row.user.as_deref().map(Cow::Borrowed),
            origin: row.schema.as_deref().and_then(Origin::from_name),
            fields,
            payload_bytes: None,
            stack: if with_stacks { stacks.frames(row.stack).collect() } else { Vec::new() },
        };
        scanned.count(&line);
        visit(&line)
    };
    if filter.chooses_kinds() {
        let mut kinds = Kinds::of(filter);
        archive.scan_chosen(time, move |row: &EventKind| kinds.accepts(row), &mut visit_row)?;
    } else {
        archive.scan_while(time, &mut visit_row)?;
    }
    Ok(scanned.close(&subjects))
}

/// Whether the kinds met so far pass: by event, provider and GUID, and number, so that a look-up copies no text.
pub(super) struct Kinds {
    filter: EventFilter,
    known: FxHashMap<String, FxHashMap<String, Vec<Known>>>,
    count: usize,
}

struct Known {
    guid: String,
    number: u16,
    passes: bool,
}

/// Kinds that are remembered; more only a forged archive has.
const MAX_KINDS: usize = 1 << 16;

/// Kinds of one event and provider, which are looked through; likewise.
const MAX_ALIKE: usize = 64;

impl Kinds {
    pub(super) fn of(filter: &EventFilter) -> Self {
        Self { filter: filter.of_kinds(), known: FxHashMap::default(), count: 0 }
    }

    pub(super) fn accepts(&mut self, row: &EventKind) -> bool {
        let number = row.number();
        let same = |known: &&Known| known.number == number && known.guid == row.guid;
        let of_event = self.known.get(&row.event).and_then(|providers| providers.get(&row.provider));
        if let Some(known) = of_event.and_then(|known| known.iter().find(same)) {
            return known.passes;
        }
        if self.count >= MAX_KINDS {
            self.known.clear();
            self.count = 0;
        }
        let passes = self.filter.accepts_kind(&row.provider, &row.guid, &row.event, number);
        let alike = self.known.entry(row.event.clone()).or_default().entry(row.provider.clone()).or_default();
        if alike.len() >= MAX_ALIKE {
            alike.clear();
        }
        alike.push(Known { guid: row.guid.clone(), number, passes });
        self.count += 1;
        passes
    }
}

fn byte(value: i16) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn guid(text: Option<&str>) -> Option<Guid> {
    text?.parse().ok()
}

/// The values of a JSON object, as they were before they became JSON as far as that can be told.
pub(super) fn members(document: &serde_json::Value) -> Vec<(&str, Value<'_>)> {
    let members = document.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), of_json(value))).collect()
}

fn of_json(value: &serde_json::Value) -> Value<'_> {
    use serde_json::Value as Json;
    match value {
        Json::Null => Value::Sid(None),
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => Value::Unsigned(value),
            (None, Some(value)) => Value::Signed(value),
            (None, None) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => hex(text).map_or(Value::Text(Cow::Borrowed(text)), Value::Hex),
        Json::Array(values) => Value::List(values.iter().map(of_json).collect()),
        Json::Object(_) => Value::Struct(members(value)),
    }
}

/// The number that this text shows, where it does so exactly as a number in hexadecimal would be shown.
fn hex(text: &str) -> Option<u64> {
    let number = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
    (format!("{number:#x}") == text).then_some(number)
}

fn unhex(text: &str, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(
        text.as_bytes()
            .as_chunks::<2>()
            .0
            .iter()
            .filter_map(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()),
    );
}
