//! Operations on the registry: rows of events of the class Registry.

use std::fmt::Write as _;

use tracesift_etl::Record;
use tracesift_etl::payload::{RegistryBegin, RegistryOperation, WideStr};
use tracesift_trace::registry_keys::RegistryKeys;
use tracesift_trace::rows::RegistryRow;
use tracesift_trace::{HealthKind, RowSink};

use super::{SecondPass, cpu_number};

/// Opcode of the operation 0.
const FIRST: u8 = RegistryOperation::CREATE;

/// Names of keys, and memory for rows.
pub(super) struct Registry {
    keys: RegistryKeys,
    row: RegistryRow,
    key: String,
    value: String,
}

impl Registry {
    pub(super) fn new(keys: RegistryKeys) -> Self {
        Self { keys, row: RegistryRow::default(), key: String::new(), value: String::new() }
    }

    /// The name of the key of an operation, and of the value; `false`: it has none.
    fn name(&mut self, event: &RegistryOperation<'_>, opcode: u8, version: u8, ticks: i64) -> [bool; 2] {
        let name = event.name.filter(|name| !name.is_empty());
        let (of_key, of_value) = if is_about_value(opcode) { (None, name) } else { (name, None) };
        self.key.clear();
        // What begins with a separator is whole.
        let is_whole = of_key.is_some_and(|name| name.units().next() == Some(u16::from(b'\\')));
        if !is_whole && event.key != 0 {
            match self.keys.find(event.key, ticks) {
                Some(known) if version > 0 => self.key.push_str(known),
                _ => {
                    let what = if version > 0 { "KCB" } else { "handle" };
                    // Writing to a text cannot fail.
                    let _ = write!(self.key, "{what} {:#x}", event.key);
                }
            }
        }
        if let Some(name) = of_key {
            if !is_whole && !self.key.is_empty() && !self.key.ends_with('\\') {
                self.key.push('\\');
            }
            name.append_to(&mut self.key);
        }
        self.value.clear();
        of_value.iter().for_each(|name: &WideStr<'_>| name.append_to(&mut self.value));
        [!self.key.is_empty(), of_value.is_some() || has_value(opcode)]
    }
}

/// Whether the name in an event is that of a value.
fn is_about_value(opcode: u8) -> bool {
    matches!(
        opcode,
        RegistryOperation::SET_VALUE
            ..=RegistryOperation::QUERY_VALUE | RegistryOperation::ENUMERATE_VALUE | RegistryOperation::QUERY_VALUES
    )
}

/// Whether an operation is on a value: one without a name is the default value of the key.
fn has_value(opcode: u8) -> bool {
    matches!(opcode, RegistryOperation::SET_VALUE..=RegistryOperation::QUERY_VALUE)
}

/// Whether an event is about an operation, and not about the name of a key.
fn is_operation(opcode: u8) -> bool {
    matches!(
        opcode,
        RegistryOperation::CREATE..=RegistryOperation::FLUSH
            | RegistryOperation::VIRTUALIZE..=RegistryOperation::QUERY_SECURITY
    )
}

/// A text of a row, whose memory is used again.
fn set(text: &mut Option<String>, value: &str, has_value: bool) {
    if has_value {
        let text = text.get_or_insert_default();
        text.clear();
        text.push_str(value);
    } else {
        *text = None;
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the class Registry.
    pub(super) fn registry_operation(&mut self, record: &Record<'_>, opcode: u8, version: u8) {
        if !is_operation(opcode) {
            return;
        }
        let Some(event) = self.decode::<RegistryOperation<'_>>(record, version) else { return };
        let by = self.kernel_caller(record);
        let ticks = record.time();
        let start = self.begin_of_registry(event.begin, ticks);
        if start.is_none() {
            self.health.count(HealthKind::REGISTRY_WITHOUT_BEGIN, Some(ticks), || {
                format!("Registry {opcode}: {:?}", event.begin)
            });
        }
        let [has_key, has_value] = self.registry.name(&event, opcode, version, ticks);
        let Registry { row, key, value, .. } = &mut self.registry;
        set(&mut row.key, key, has_key);
        set(&mut row.value, value, has_value);
        row.time = by.time;
        row.start = start.unwrap_or(by.time);
        row.cpu = cpu_number(record);
        row.process = by.process;
        row.thread = by.thread;
        row.operation = opcode.wrapping_sub(FIRST).cast_signed();
        row.status = event.status.into();
        row.index = event.index.map(i64::from);
        row.begin_unknown = Some(start.is_none());
        row.stack = by.stack;
        self.sink.registry(row);
    }

    /// The begin of an operation, ns; `None` where it is not inside of the recording.
    fn begin_of_registry(&self, begin: RegistryBegin, end: i64) -> Option<i64> {
        let ticks = match begin {
            RegistryBegin::At(ticks) => ticks,
            RegistryBegin::Before(ticks) if ticks < 0 => return None,
            RegistryBegin::Before(ticks) => end.checked_sub(ticks)?,
        };
        let start = self.clock.ns(ticks);
        (ticks <= end && start >= self.start).then_some(start)
    }
}
