//! What is the same for all events of one kind: names, schema, and whether the filter can let them pass. Looked up once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_etl::schema::{EventSchema, Schemas};
use tracesift_etl::{EventClass, Guid, ItemKind, Record, names};

use super::EventFilter;

/// Kinds that are remembered; more only a forged recording has.
const MAX_KINDS: usize = 1 << 16;

/// One kind of event.
#[derive(Debug)]
pub(super) struct EventKind {
    pub(super) provider: String,
    pub(super) event: String,
    /// Id; `None` for kernel and classic events and for messages.
    pub(super) id: Option<u16>,
    pub(super) is_kernel: bool,
    pub(super) schema: Option<Arc<EventSchema>>,
    pub(super) wanted: bool,
}

/// The kinds met so far.
#[derive(Debug, Default)]
pub(super) struct EventKinds {
    by_class: FxHashMap<EventClass, Arc<EventKind>>,
    /// Of events that describe themselves, by the address of the schema, which lives as long as the kind does.
    by_schema: FxHashMap<usize, Arc<EventKind>>,
}

impl EventKinds {
    pub(super) fn of(&mut self, record: &Record<'_>, schemas: &mut Schemas, filter: &EventFilter) -> Arc<EventKind> {
        let class = record.class();
        let describes_itself = record.extended_item(ItemKind::SCHEMA).is_some();
        if !describes_itself && let Some(kind) = self.by_class.get(&class) {
            return Arc::clone(kind);
        }
        let schema = schemas.find(record);
        let address = schema.as_ref().map_or(0, |schema| Arc::as_ptr(schema) as usize);
        if describes_itself && let Some(kind) = self.by_schema.get(&address) {
            return Arc::clone(kind);
        }
        let kind = Arc::new(new_kind(class, schema, schemas, filter));
        if self.by_class.len() + self.by_schema.len() >= MAX_KINDS {
            self.by_class.clear();
            self.by_schema.clear();
        }
        if describes_itself {
            self.by_schema.insert(address, Arc::clone(&kind));
        } else {
            self.by_class.insert(class, Arc::clone(&kind));
        }
        kind
    }
}

fn new_kind(class: EventClass, schema: Option<Arc<EventSchema>>, schemas: &Schemas, filter: &EventFilter) -> EventKind {
    let (guid, id, otherwise) = match class {
        EventClass::Kernel { group, opcode, .. } => {
            let hook = names::hook(u16::from_be_bytes([group.0, opcode]));
            let class = names::group(group).map_or_else(|| format!("Class({:#04x})", group.0), str::to_owned);
            let event = hook.map_or_else(|| format!("Opcode({opcode})"), str::to_owned);
            (group.guid().unwrap_or_default(), None, format!("{class}/{event}"))
        }
        EventClass::Classic { guid, opcode, .. } => (guid, None, format!("Opcode({opcode})")),
        EventClass::Event { provider, id, .. } => (provider, Some(id), format!("EventID({id})")),
        EventClass::Message { guid, number } => (guid, None, format!("Message({number})")),
    };
    let is_kernel = matches!(class, EventClass::Kernel { .. });
    let stated = schema.as_ref().and_then(|schema| schema.provider_name.as_deref());
    let provider = stated.or_else(|| schemas.provider_name(guid)).map(str::to_owned);
    let provider = provider.unwrap_or_else(|| if is_kernel { "Windows Kernel".to_owned() } else { guid_text(guid) });
    let event = schema.as_ref().map_or(otherwise, |schema| schema.name());
    let number = match class {
        EventClass::Kernel { opcode, .. } | EventClass::Classic { opcode, .. } => u16::from(opcode),
        EventClass::Event { id, .. } => id,
        EventClass::Message { number, .. } => number,
    };
    let wanted = filter.accepts_kind(&provider, &guid_text(guid), &event, number);
    EventKind { provider, event, id, is_kernel, schema, wanted }
}

fn guid_text(guid: Guid) -> String {
    guid.to_string()
}
