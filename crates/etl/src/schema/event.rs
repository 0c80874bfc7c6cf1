//! The facts about one kind of event.

use std::fmt::Write as _;

use super::layout::Layout;
use crate::Guid;

/// One kind of event of one provider: its names and the layout of its payload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSchema {
    /// Provider or event class.
    pub provider: Guid,
    /// Name of the provider.
    pub provider_name: Option<Box<str>>,
    /// Event id; 0 for classic events, and for TraceLogging events without one.
    pub id: u16,
    /// Version of the layout.
    pub version: u8,
    /// Opcode.
    pub opcode: u8,
    /// Name of the event itself: TraceLogging events and those of the built-in tables have one.
    pub event_name: Option<Box<str>>,
    /// Name of the task.
    pub task_name: Option<Box<str>>,
    /// Name of the opcode.
    pub opcode_name: Option<Box<str>>,
    /// Names of the event's keywords.
    pub keyword_names: Vec<Box<str>>,
    /// The text that the provider shows for it, with `%1` … for the fields.
    pub message: Option<Box<str>>,
    /// The payload.
    pub layout: Layout,
    /// Where all this comes from.
    pub origin: Origin,
}

/// Where a schema comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The metadata that the merge added to the recording.
    #[default]
    Metadata,
    /// The event itself.
    TraceLogging,
    /// The manifest that the provider wrote into the recording.
    Manifest,
    /// A table of this library that was held against real records.
    BuiltIn,
    /// A table of this library made from documentation; no real record was ever seen.
    Unverified,
}

impl Origin {
    /// The origin with that [name](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Metadata, Self::TraceLogging, Self::Manifest, Self::BuiltIn, Self::Unverified]
            .into_iter()
            .find(|origin| origin.name() == name)
    }

    /// One word for it: `metadata`, `tracelogging`, `manifest`, `built-in`, `unverified`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::TraceLogging => "tracelogging",
            Self::Manifest => "manifest",
            Self::BuiltIn => "built-in",
            Self::Unverified => "unverified",
        }
    }
}

impl EventSchema {
    /// Name of the event: its own, or task and opcode with a slash between them, as TraceEvent and PerfView have it. The opcode
    /// "Info" says nothing and is left out.
    #[must_use]
    pub fn name(&self) -> String {
        if let Some(name) = &self.event_name {
            return name.to_string();
        }
        let mut name = match &self.task_name {
            Some(task) => task.to_string(),
            None => format!("EventID({})", self.id),
        };
        if let Some(opcode) = self.opcode_name.as_deref().filter(|_| self.opcode != 0) {
            let _ = write!(name, "/{opcode}");
        }
        name
    }
}
