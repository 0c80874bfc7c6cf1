//! The facts that all events of one kind share: names, schema, and whether the kind is chosen. They
//! are looked up once.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_etl::class;
use tracesift_etl::format::event_flag;
use tracesift_etl::schema::{Decoded, EventNames, EventSchema, Schemas, Value};
use tracesift_etl::{EventClass, Guid, ItemKind, Record, Wanted};
use tracesift_trace::Population;

pub use tracesift_etl::schema::KERNEL_PROVIDER;

/// Kinds that are remembered; more only a forged recording has.
const MAX_KINDS: usize = 1 << 16;

/// Fields of their schemas, likewise.
const MAX_FIELDS: usize = 1 << 18;

/// Versions of kernel events are below that; a version from there on is let pass and looked at one by one.
const VERSIONS: u8 = 16;

/// One kind of event.
#[derive(Debug)]
pub struct EventKind {
    /// Name of the provider, `Windows Kernel` for the kernel's classes, the GUID where no name is known; on Linux the system of
    /// a tracepoint.
    pub provider: String,
    /// GUID of the provider or event class; `None` on Linux, which has none.
    pub guid: Option<Guid>,
    /// The GUID as text; empty where there is none.
    pub guid_text: String,
    /// Name of the event.
    pub event: String,
    /// Id; `None` for kernel and classic events and for messages.
    pub id: Option<u16>,
    /// The id; of kernel and classic events the opcode, of messages their number.
    pub number: u16,
    /// An event of the kernel's classes.
    pub is_kernel: bool,
    /// What is known of its fields.
    pub schema: Option<Arc<EventSchema>>,
    /// Whether the choice accepts it; not decided yet when it is asked.
    pub chosen: bool,
}

/// Which kinds of events are of interest.
#[derive(Clone)]
pub struct EventChoice(Arc<dyn Fn(&EventKind) -> bool + Send + Sync>);

impl EventChoice {
    /// The kinds that `accepts` accepts; asked once per kind.
    pub fn new(accepts: impl Fn(&EventKind) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(accepts))
    }

    /// Whether it accepts a kind.
    pub(crate) fn accepts(&self, kind: &EventKind) -> bool {
        (self.0)(kind)
    }
}

impl fmt::Debug for EventChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventChoice")
    }
}

/// The kinds met so far.
#[derive(Debug)]
pub struct EventKinds {
    choice: EventChoice,
    kinds: Vec<Arc<EventKind>>,
    /// Index of a kernel event's kind, by hook and version: these are nearly all events.
    by_hook: FxHashMap<u32, usize>,
    /// By class, and whether the event says that it is a text.
    by_class: FxHashMap<(EventClass, bool), usize>,
    /// Of events that describe themselves, by class and the address of the schema, which lives as long as the kind does.
    by_schema: FxHashMap<(EventClass, usize), usize>,
    /// Fields of the schemas.
    fields: usize,
}

impl EventKinds {
    /// None yet.
    #[must_use]
    pub fn new(choice: EventChoice) -> Self {
        Self {
            choice,
            kinds: Vec::new(),
            by_hook: FxHashMap::default(),
            by_class: FxHashMap::default(),
            by_schema: FxHashMap::default(),
            fields: 0,
        }
    }

    /// The kind of a record.
    pub fn of(&mut self, record: &Record<'_>, schemas: &mut Schemas) -> &Arc<EventKind> {
        let index = match record.hook() {
            Some(hook) => {
                let key = u32::from(hook) << 8 | u32::from(record.version());
                match self.by_hook.get(&key) {
                    Some(index) => *index,
                    None => {
                        let index = self.add(record.class(), schemas.find(record), schemas);
                        self.by_hook.insert(key, index);
                        index
                    }
                }
            }
            None => self.with_guid(record, schemas),
        };
        &self.kinds[index]
    }

    /// The kind of an event that names its provider or class.
    fn with_guid(&mut self, record: &Record<'_>, schemas: &mut Schemas) -> usize {
        let class = record.class();
        let describes_itself = record.extended_item(ItemKind::SCHEMA).is_some();
        let is_text = record.event_flags() & event_flag::STRING_ONLY != 0;
        if !describes_itself && let Some(index) = self.by_class.get(&(class, is_text)) {
            return *index;
        }
        let schema = schemas.find(record);
        let address = schema.as_ref().map_or(0, |schema| Arc::as_ptr(schema) as usize);
        if describes_itself && let Some(index) = self.by_schema.get(&(class, address)) {
            return *index;
        }
        let index = self.add(class, schema, schemas);
        if describes_itself {
            self.by_schema.insert((class, address), index);
        } else {
            self.by_class.insert((class, is_text), index);
        }
        index
    }

    fn add(&mut self, class: EventClass, schema: Option<Arc<EventSchema>>, schemas: &Schemas) -> usize {
        if self.kinds.len() >= MAX_KINDS || self.fields >= MAX_FIELDS {
            *self = Self::new(self.choice.clone());
        }
        let kind = new_kind(class, schema, schemas, &self.choice);
        self.fields += kind.schema.as_ref().map_or(0, |schema| schema.layout.fields().len());
        self.kinds.push(Arc::new(kind));
        self.kinds.len() - 1
    }
}

/// Whether records of a class were written by a merge tool, with time stamps copied from elsewhere.
pub(crate) fn is_injected(guid: Guid) -> bool {
    [
        class::IMAGE_ID,
        class::SYSTEM_CONFIG_EX,
        class::WIN_SAT,
        class::EVENT_METADATA,
        class::KERNEL_TRACE_CONTROL,
        class::PERF_TRACK,
    ]
    .contains(&guid)
}

fn new_kind(class: EventClass, schema: Option<Arc<EventSchema>>, schemas: &Schemas, choice: &EventChoice) -> EventKind {
    let (guid, id, number) = match class {
        EventClass::Kernel { group, opcode, .. } => (group.guid().unwrap_or_default(), None, u16::from(opcode)),
        EventClass::Classic { guid, opcode, .. } => (guid, None, u16::from(opcode)),
        EventClass::Event { provider, id, .. } => (provider, Some(id), id),
        EventClass::Message { guid, number } => (guid, None, number),
    };
    let is_kernel = matches!(class, EventClass::Kernel { .. });
    let EventNames { provider, event } = schemas.names(class, schema.as_deref());
    let provider = provider.unwrap_or_else(|| guid.to_string());
    let mut kind = EventKind {
        provider,
        guid: Some(guid),
        guid_text: guid.to_string(),
        event,
        id,
        number,
        is_kernel,
        schema,
        chosen: false,
    };
    kind.chosen = choice.accepts(&kind);
    kind
}

/// Process and thread of an event. Many kernel events are logged by somebody else than whom they are about, or by nobody; those
/// name the process or thread in their fields, of which `fields` are `None` for all other events.
#[must_use]
pub fn subject(
    record: &Record<'_>,
    fields: Option<&Decoded<'_>>,
    population: &Population,
) -> (Option<u32>, Option<u32>) {
    let named = |names: &[&str]| {
        let value = names.iter().find_map(|name| fields?.get(name).and_then(Value::number))?;
        u32::try_from(value).ok().filter(|id| *id != u32::MAX)
    };
    let (own_pid, own_tid) =
        (named(&["ProcessID", "PID"]), named(&["ThreadID", "TThreadID", "IssuingThreadID", "TTID", "NewThreadID"]));
    // Who logged the record may belong to another process than the one that it is about.
    let logger = record.tid().filter(|_| own_pid.is_none() || own_pid == record.pid());
    let tid = own_tid.or(logger);
    let pid = own_pid.or_else(|| {
        if own_tid.is_none() {
            return record.pid();
        }
        let tid = own_tid?;
        let owner = population.recorded_owner(tid, record.time());
        owner.or(record.pid().filter(|_| record.tid() == Some(tid)))
    });
    (pid, tid)
}

/// Which records are worth putting in order: told by the hook of a kernel event alone, so that what nobody wants is dropped where
/// it is found.
#[derive(Clone, Debug)]
pub struct WantedHooks(Arc<[u64; 1 << 10]>);

impl WantedHooks {
    /// The hooks of kernel events that are chosen, and all other events.
    #[must_use]
    pub fn of(schemas: &Schemas, choice: &EventChoice) -> Self {
        let mut hooks = [u64::MAX; 1 << 10];
        // Groups beyond that have no class; their events are looked at one by one.
        for hook in 0..0x1f00_u16 {
            // Versions with one schema are of one kind.
            let mut latest: Option<Option<Arc<EventSchema>>> = None;
            let wanted = (0..VERSIONS).any(|version| {
                let class = EventClass::from_hook(hook, version);
                let EventClass::Kernel { group, opcode, version } = class else { return true };
                let schema = group.guid().and_then(|guid| schemas.of_class(guid, opcode, version));
                let address = |schema: &Option<Arc<EventSchema>>| schema.as_ref().map(Arc::as_ptr);
                if latest.as_ref().is_some_and(|latest| address(latest) == address(&schema)) {
                    return false;
                }
                latest = Some(schema.clone());
                new_kind(class, schema, schemas, choice).chosen
            });
            if !wanted {
                hooks[usize::from(hook >> 6)] &= !(1 << (hook & 63));
            }
        }
        Self(Arc::new(hooks))
    }
}

impl Wanted for WantedHooks {
    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        match record.hook() {
            Some(hook) => self.0[usize::from(hook >> 6)] >> (hook & 63) & 1 != 0 || record.version() >= VERSIONS,
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use tracesift_etl::Record;
    use tracesift_etl::schema::Schemas;

    use super::{EventChoice, EventKinds};

    /// An event of the provider with these bytes; `flags` 1 has an item of that kind.
    fn event(provider: u8, id: u8, flags: u8, item: Option<(u8, &[u8])>) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0x13, 0xc0, flags, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0];
        bytes.extend([0; 8]);
        bytes.extend([provider; 16]);
        bytes.extend([id, 0]);
        bytes.resize(80, 0);
        if let Some((kind, data)) = item {
            bytes.extend([8 + data.len().next_multiple_of(8) as u8, 0, kind, 0, 0, 0, data.len() as u8, 0]);
            bytes.extend(data);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes.extend([b'a', 0, 0, 0]);
        bytes[0] = bytes.len() as u8;
        bytes
    }

    #[test]
    fn kinds_are_told_apart() {
        let unreadable: &[u8] = b"\x08\0\0E\0x\0\x1f";
        let readable: &[u8] = b"\x08\0\0E\0x\0\x04";
        let (mut kinds, mut schemas) = (EventKinds::new(EventChoice::new(|_| true)), Schemas::new());
        let mut kind = |bytes: &[u8]| {
            let record = Record::parse(bytes, 0, 0).expect("a record");
            let kind = kinds.of(&record, &mut schemas);
            (kind.provider.get(..2).unwrap_or_default().to_owned(), kind.id, kind.event.clone())
        };
        let expect = |provider: &str, id, event: &str| (provider.to_owned(), Some(id), event.to_owned());
        // Descriptions that cannot be read, of two providers; the same description with two ids.
        assert_eq!(kind(&event(0xaa, 7, 1, Some((11, unreadable)))), expect("aa", 7, "EventID(7)"));
        assert_eq!(kind(&event(0xbb, 7, 1, Some((11, unreadable)))), expect("bb", 7, "EventID(7)"));
        assert_eq!(kind(&event(0xaa, 7, 1, Some((11, readable)))), expect("aa", 7, "E"));
        assert_eq!(kind(&event(0xaa, 9, 1, Some((11, readable)))), expect("aa", 9, "E"));
        // An event that says that it is a text, and the same without that.
        assert_eq!(kind(&event(0xcc, 0, 4, None)), expect("cc", 0, "EventSourceMessage"));
        assert_eq!(kind(&event(0xcc, 0, 0, None)), expect("cc", 0, "EventID(0)"));
    }
}
