//! The one name of each kind of event, which every question, filter and archive shows.

use super::Schemas;
use super::event::EventSchema;
use super::table::BUILT_IN;
use crate::class::{EventClass, Group};

/// Name of the provider of the kernel's classes.
pub const KERNEL_PROVIDER: &str = "Windows Kernel";

/// Names of a kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventNames {
    /// The provider; of a kernel class [`KERNEL_PROVIDER`] where no table names another; `None` where nobody names it.
    pub provider: Option<String>,
    /// The event, such as `PerfInfo/Sample`; for one that nobody describes its number: `PerfInfo/Opcode(99)`, `EventID(7)`,
    /// `Message(3)`.
    pub event: String,
}

impl Schemas {
    /// The names of a class of events with its schema, as [`Schemas::find`] and [`Schemas::of`] give it.
    #[must_use]
    pub fn names(&self, class: EventClass, schema: Option<&EventSchema>) -> EventNames {
        let (guid, unnamed) = match class {
            EventClass::Kernel { group, opcode, .. } => (group.guid(), kernel_event(group, opcode)),
            EventClass::Classic { guid, opcode, .. } => (Some(guid), format!("Opcode({opcode})")),
            EventClass::Event { provider, id, .. } => (Some(provider), format!("EventID({id})")),
            EventClass::Message { guid, number } => (Some(guid), format!("Message({number})")),
        };
        let stated = schema.and_then(|schema| schema.provider_name.as_deref());
        let provider = stated.or_else(|| self.provider_name(guid?)).map(str::to_owned);
        let is_kernel = matches!(class, EventClass::Kernel { .. });
        EventNames {
            provider: provider.or_else(|| is_kernel.then(|| KERNEL_PROVIDER.to_owned())),
            event: schema.map_or(unnamed, EventSchema::name),
        }
    }
}

/// Name of a kernel event without a schema: that of its other versions, else the class and the opcode.
fn kernel_event(group: Group, opcode: u8) -> String {
    let table = group.guid().and_then(|guid| BUILT_IN.providers.get(&guid));
    let other = table.and_then(|table| table.events.get(&u16::from(opcode))?.first());
    if let Some(name) = other.and_then(|schema| schema.event_name.as_ref()) {
        return name.to_string();
    }
    match table.and_then(|table| table.class.as_ref()) {
        Some(class) => format!("{class}/Opcode({opcode})"),
        None => format!("Class({:#04x})/Opcode({opcode})", group.0),
    }
}
