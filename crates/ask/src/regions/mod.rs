//! The regions of a recording: its events, and what typed tables have in their place, matched by definitions.

mod kinds;
pub mod lanes;
mod made;
pub(crate) mod source;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::Value;
use tracesift_analysis::regions::{Definitions, Event, EventKind, Fields, Matcher, Regions};
use tracesift_archive::{Archive, Error};
use tracesift_trace::rows::EventRow;
use tracesift_trace::schema::ColumnSet;
use tracesift_trace::view;

use self::kinds::Kinds;
use self::made::Made;

view! {
    /// An event with what regions are made of.
    #[derive(Clone, Debug)]
    struct Logged of EventRow { time, process, thread, provider, event, id, version, opcode, activity, fields, guid }
}

impl Logged {
    fn kind(&self) -> EventKind<'_> {
        EventKind {
            guid: &self.guid,
            provider: &self.provider,
            event: &self.event,
            id: self.id.unwrap_or(i32::from(self.opcode)),
            version: Some(self.version),
        }
    }
}

/// The fields of an event of the archive, read when somebody looks at one.
#[derive(Debug)]
struct Stored<'a> {
    text: &'a str,
    document: OnceCell<Value>,
}

impl Stored<'_> {
    fn document(&self) -> &Value {
        self.document.get_or_init(|| serde_json::from_str(self.text).unwrap_or(Value::Null))
    }
}

impl Fields for Stored<'_> {
    fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        text_of(self.document(), name)
    }

    fn json(&self) -> String {
        self.text.to_owned()
    }
}

/// The text of a field; a member of a structure has its name behind that of the structure: `Connection.Port`.
fn text_of<'v>(document: &'v Value, name: &str) -> Option<Cow<'v, str>> {
    let member = |value: &'v Value, name: &str| {
        let members = value.as_object()?;
        members
            .get(name)
            .or_else(|| members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
    };
    let value = member(document, name).or_else(|| name.split('.').try_fold(document, member))?;
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.as_str().into()),
        other => Some(other.to_string().into()),
    }
}

/// The regions of an archive. `with_fields`: with the fields of the events that begin them.
///
/// # Errors
/// When a table cannot be read.
pub(crate) fn read(archive: &Archive, definitions: &Arc<Definitions>, with_fields: bool) -> Result<Regions, Error> {
    let mut matcher = Matcher::new(definitions, with_fields);
    let makers = made::makers(archive, definitions)?;
    let mut made = made::events(archive, definitions, makers, with_fields)?.into_iter().peekable();
    let mut before = |matcher: &mut Matcher<'_>, time: i64| {
        while let Some(event) = made.next_if(|event| event.time <= time) {
            event.hand_to(matcher);
        }
    };
    let mut kinds = Kinds::new(definitions.clone());
    // Of most recordings no event has a part, only what tables show.
    if !makers.known {
        before(&mut matcher, i64::MAX);
        return Ok(matcher.finish());
    }
    archive.scan_by_keys(ColumnSet::ALL, kinds::chosen(definitions.clone()), |row: &Logged| {
        before(&mut matcher, row.time);
        let fields = Stored { text: &row.fields, document: OnceCell::new() };
        let event = Event {
            time: row.time,
            process: row.process,
            thread: row.thread,
            activity: row.activity.as_deref(),
            fields: &fields,
        };
        matcher.event(&event, kinds.roles(&row.kind()));
    })?;
    before(&mut matcher, i64::MAX);
    Ok(matcher.finish())
}

/// Whether an archive has something that regions can be made of.
pub(crate) fn has_events(archive: &Archive, definitions: &Arc<Definitions>) -> Result<bool, Error> {
    Ok(archive.row_count::<EventRow>() > 0 || made::has_any(archive, definitions)?)
}

impl Made {
    fn hand_to(&self, matcher: &mut Matcher<'_>) {
        let event =
            Event { time: self.time, process: self.process, thread: self.thread, activity: None, fields: &self.fields };
        matcher.event(&event, &self.roles);
    }
}
