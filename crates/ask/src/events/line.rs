//! One event, ready to be shown, and what a pass over many met.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::candidates::Candidates;
use tracesift_etl::Guid;
use tracesift_etl::schema::{Decoded, Origin};
use tracesift_trace::rows::{self, ProcessRow};

use super::subjects::Subjects;

/// One event, ready to be shown.
#[derive(Debug)]
pub struct EventLine<'a> {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// CPU whose buffer holds it; `None` where that was not recorded.
    pub cpu: Option<u16>,
    /// Process: that which a kernel event is about, else that which logged it.
    pub pid: Option<u32>,
    /// Thread, likewise.
    pub tid: Option<u32>,
    /// Name of the process, where the recording says it.
    pub process: Option<&'a str>,
    /// Name of the provider, its GUID where the name is not known.
    pub provider: &'a str,
    /// Name of the event.
    pub event: &'a str,
    /// Id; `None` for kernel and classic events.
    pub id: Option<u16>,
    /// Version.
    pub version: u8,
    /// Opcode.
    pub opcode: u8,
    /// Level; `None` for kernel events.
    pub level: Option<u8>,
    /// Keyword bits; `None` for kernel and classic events.
    pub keyword: Option<u64>,
    /// Activity that it belongs to.
    pub activity: Option<Guid>,
    /// Activity from which that of the event was started.
    pub related_activity: Option<Guid>,
    /// Security identifier of the user that its header items name.
    pub user: Option<Cow<'a, str>>,
    /// Where its schema comes from; `None` without one.
    pub origin: Option<Origin>,
    /// Its fields, and the bytes that none of them shows.
    pub fields: Decoded<'a>,
    /// Bytes of the payload; `None` for an event of an archive, which does not keep that.
    pub payload_bytes: Option<usize>,
    /// Its call stack, leaf first, as `module!function`, `module+0xRVA` or an address; empty where there is none or nobody asked.
    pub stack: Vec<&'a str>,
}

impl<'a> EventLine<'a> {
    /// The bytes that no field shows: all of them without a schema; where the schema does not fit, those from the trouble on; else
    /// those behind the last field. `None` where there are none.
    #[must_use]
    pub fn raw(&self) -> Option<&'a [u8]> {
        Some(self.fields.rest).filter(|rest| !rest.is_empty())
    }
}

/// The name that the recording gives a process; `None` for one that was made up for its pid.
pub(super) fn recorded_name(row: &ProcessRow) -> Option<&str> {
    let made_up = row.origin == rows::Origin::Inferred && row.name == format!("pid {}", row.pid);
    (!made_up).then_some(row.name.as_str())
}

/// What a scan met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Events that passed the filter.
    pub events: u64,
    /// Of these, by provider and event, those that could not be taken apart.
    pub unreadable: BTreeMap<(String, String), Unreadable>,
    /// Fields that a condition compares with a number and that an archive keeps by name only, with such a name.
    pub named_fields: BTreeMap<String, String>,
    /// Where no event passed: what the parts of the filter of processes could have let pass, but for those that look at names.
    pub candidates: Vec<Candidates>,
}

/// Kinds of unreadable events that are counted one by one; more only a forged recording has.
const MAX_UNREADABLE: usize = 1 << 14;

impl Scanned {
    /// Keeps what there is to say of the processes where no event passed.
    pub(super) fn close(mut self, subjects: &Subjects<'_>) -> Self {
        if self.events == 0 {
            self.candidates = subjects.candidates();
        }
        self
    }

    /// Counts an event that passed.
    pub(super) fn count(&mut self, line: &EventLine<'_>) {
        self.events += 1;
        let stopped = line.fields.stopped.as_ref();
        if line.origin.is_some() && stopped.is_none() {
            return;
        }
        let key = match self.unreadable.len() {
            0..MAX_UNREADABLE => (line.provider.to_owned(), line.event.to_owned()),
            _ => ("other providers".to_owned(), "other events".to_owned()),
        };
        let entry = self.unreadable.entry(key).or_default();
        match stopped {
            None => entry.without_schema += 1,
            Some(stopped) => {
                entry.misfits += 1;
                entry.example.get_or_insert_with(|| stopped.to_string());
            }
        }
    }
}

/// Events of one kind that could not be taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Without a schema.
    pub without_schema: u64,
    /// With a schema that does not fit.
    pub misfits: u64,
    /// Why the first of these does not fit.
    pub example: Option<String>,
}
