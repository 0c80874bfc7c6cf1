//! Events of TraceLogging and EventSource providers.

use std::fmt::Write as _;

use serde::Deserialize;
use tracesift_trace::rows::EventRow;
use tracesift_trace::{ProcessId, RowSink, StackId, ThreadId};

use super::stacks::{StackList, StackPlaces};
use super::who::Who;
use crate::bounded::{Entries, List};
use crate::document::Moment;
use crate::limits::{EVENTS, PROVIDERS, TextBudget, VALUES};
use crate::values::Integer;

/// `TraceLogging`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TraceLogging {
    /// The providers by name or GUID.
    pub events_by_provider: Entries<Provider, PROVIDERS>,
    /// Their stacks, where they have no file of their own.
    pub stacks: Option<StackList>,
}

/// A provider.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Provider {
    /// GUID.
    pub provider_id: Option<String>,
    /// Name.
    pub provider_name: Option<String>,
    /// Names of the events and their fields, by number.
    pub event_descriptors: Entries<Descriptor, EVENTS>,
    /// The events.
    pub events: List<LoggedEvent, EVENTS>,
}

/// An element of `EventDescriptors`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Descriptor {
    /// Name of the event.
    pub name: Option<String>,
}

/// An element of `Events`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LoggedEvent {
    /// Number of the event in its provider.
    pub event_id: Integer,
    /// Id of the thread.
    pub thread_id: Integer,
    /// Process, by its place in the list of processes.
    pub process_idx: Integer,
    /// Stack, by its place.
    pub stack_idx: Integer,
    /// When.
    pub time_stamp: Option<Moment>,
    /// Values of fields as text.
    pub fields: Entries<Option<String>, VALUES>,
    /// Values of fields that are lists.
    pub lists: Entries<List<Option<String>, VALUES>, VALUES>,
}

/// What the events of a provider have in common.
#[derive(Debug, Default)]
struct Common {
    name: String,
    guid: String,
    events: Vec<(i64, String)>,
}

/// An event, as much of it as a row needs. `of`: place of its provider.
#[derive(Debug)]
struct Single {
    time: i64,
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    stack: Option<StackId>,
    id: Option<i64>,
    of: u32,
    /// The fields as a JSON object.
    fields: String,
}

/// The events that can be rows, in the order of time.
#[derive(Debug, Default)]
pub(super) struct TraceLoggingRows {
    providers: Vec<Common>,
    events: Vec<Single>,
}

impl TraceLoggingRows {
    /// `None` when the texts of all rows exceed the budget.
    pub(super) fn read(
        part: TraceLogging,
        zero: Moment,
        stacks: &StackPlaces,
        who: &mut Who<'_>,
        budget: &mut TextBudget,
    ) -> Option<Self> {
        let mut rows = Self::default();
        for (key, provider) in part.events_by_provider.0 {
            let of = u32::try_from(rows.providers.len()).ok()?;
            let common = Common::of(key, &provider);
            for event in provider.events.0 {
                let Some(time) = event.time_stamp.filter(|time| time.is_known()) else {
                    super::unreadable(who.health, || "an event of a provider without a time".to_owned());
                    continue;
                };
                let fields = object(&event);
                let id = event.event_id.count();
                [common.name.as_str(), common.event(id), &fields]
                    .into_iter()
                    .try_for_each(|text| budget.spend(text))?;
                let process = who.process(event.process_idx);
                let thread = who.thread(process, event.thread_id);
                let stack = stacks.at(event.stack_idx);
                rows.events.push(Single { time: time.ns_since(zero), process, thread, stack, id, of, fields });
            }
            rows.providers.push(common);
        }
        rows.events.sort_by_key(|event| event.time);
        Some(rows)
    }

    pub(super) fn write(&self, sink: &mut impl RowSink) {
        for event in &self.events {
            let Some(provider) = self.providers.get(event.of as usize) else { continue };
            sink.event(&EventRow {
                time: event.time,
                cpu: -1,
                process: event.process,
                thread: event.thread,
                stack: event.stack,
                provider: provider.name.clone(),
                event: provider.event(event.id).to_owned(),
                id: event.id.and_then(|id| i32::try_from(id).ok()),
                fields: event.fields.clone(),
                schema: Some("tracelogging".to_owned()),
                guid: provider.guid.clone(),
                ..EventRow::default()
            });
        }
    }
}

impl Common {
    fn of(key: String, provider: &Provider) -> Self {
        let name = provider.provider_name.clone().filter(|name| !name.is_empty());
        let events = provider.event_descriptors.0.iter().filter_map(|(number, descriptor)| {
            Some((number.parse::<i64>().ok()?, descriptor.name.clone().filter(|name| !name.is_empty())?))
        });
        Self {
            guid: provider.provider_id.as_deref().unwrap_or_default().to_lowercase(),
            events: events.collect(),
            name: name.unwrap_or(key),
        }
    }

    /// The name of an event; empty where the extract has none.
    fn event(&self, id: Option<i64>) -> &str {
        self.events.iter().find(|(number, _)| Some(*number) == id).map_or("", |(_, name)| name)
    }
}

/// The fields of an event as a JSON object. The extract has all values as text: those that are whole numbers become numbers again.
fn object(event: &LoggedEvent) -> String {
    let mut text = String::from("{");
    let mut member = |name: &str, write: &dyn Fn(&mut String)| {
        if text.len() > 1 {
            text.push(',');
        }
        quoted(&mut text, name);
        text.push(':');
        write(&mut text);
    };
    for (name, value) in &event.fields.0 {
        member(name, &|text| scalar(text, value.as_deref()));
    }
    for (name, values) in &event.lists.0 {
        member(name, &|text| {
            text.push('[');
            for (place, value) in values.0.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                scalar(text, value.as_deref());
            }
            text.push(']');
        });
    }
    text.push('}');
    text
}

fn scalar(text: &mut String, value: Option<&str>) {
    match value {
        None => text.push_str("null"),
        Some(value) => match value.parse::<i64>().ok().filter(|number| number.to_string() == value) {
            Some(number) => _ = write!(text, "{number}"),
            None => quoted(text, value),
        },
    }
}

fn quoted(text: &mut String, value: &str) {
    text.push_str(&serde_json::Value::from(value).to_string());
}

#[cfg(test)]
mod tests {
    use super::{LoggedEvent, object};

    #[test]
    fn values_are_numbers_where_they_look_like_numbers() {
        let event: LoggedEvent = serde_json::from_str(
            r#"{ "Fields": { "n": "-17", "zeros": "007", "text": "a \"b\"", "none": null }, "Lists": { "l": ["1", "x"] } }"#,
        )
        .expect("an event");
        assert_eq!(object(&event), r#"{"n":-17,"zeros":"007","text":"a \"b\"","none":null,"l":[1,"x"]}"#);
        assert_eq!(object(&LoggedEvent::default()), "{}");
    }
}
