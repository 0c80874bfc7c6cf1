//! The facts about a recording besides its records. A file has them at the start; in a stream they
//! come with the records.

use std::sync::Arc;

use linux_perf_event_reader::{AttrFlags, Endianness};

use crate::attr::Attr;
use crate::build_id::BuildIdEntry;
use crate::cursor::{Cursor, text, until_nul};
use crate::damage::{DamageLog, kind};
use crate::event::Events;
use crate::feature::Features;
use crate::kind::Kind;
use crate::payload::{EventUpdate, Update};
use crate::tracing::TracingData;

/// Build ids that are kept; real recordings have thousands.
pub(crate) const MAX_BUILD_IDS: usize = 1 << 20;

/// How a recording was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To a file, with a header that stands for the places of everything.
    File,
    /// As a stream (`perf record -o -`): everything is a record.
    Pipe,
}

/// Events, features and formats of a recording.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// How it was written.
    pub mode: Mode,
    /// Byte order of the machine that wrote it.
    pub endian: Endianness,
    /// The events.
    pub events: Events,
    /// What the recorder told of the machine and of itself.
    pub features: Features,
    /// Formats of tracepoints; `None` when none were recorded.
    pub tracing: Option<Arc<TracingData>>,
}

impl Metadata {
    pub(crate) fn new(mode: Mode, endian: Endianness) -> Self {
        Self { mode, endian, events: Events::new(endian), features: Features::default(), tracing: None }
    }

    /// The name of an event: the recorder's, else that of the tracepoint's format, else made from type and number.
    #[must_use]
    pub fn event_name(&self, index: usize) -> String {
        let unnamed = self.events.get(index).filter(|event| event.name.is_none() && event.attr.is_tracepoint());
        let tracing = self.tracing.as_ref();
        let format = unnamed.and_then(|event| tracing.and_then(|tracing| tracing.by_id(event.attr.config)));
        format.map_or_else(|| self.events.name(index), |format| format!("{}:{}", format.system, format.name))
    }

    /// The clock of the times, in clock_gettime's words; the scheduler's unless one was chosen.
    #[must_use]
    pub fn clock_name(&self) -> &'static str {
        let first = self.events.all().first().filter(|event| event.attr.flags.contains(AttrFlags::USE_CLOCKID));
        match first.map(|event| event.attr.clock_id) {
            None => "scheduler clock",
            Some(0) => "CLOCK_REALTIME",
            Some(1) => "CLOCK_MONOTONIC",
            Some(4) => "CLOCK_MONOTONIC_RAW",
            Some(7) => "CLOCK_BOOTTIME",
            Some(11) => "CLOCK_TAI",
            Some(_) => "another clock",
        }
    }

    /// Whether a record of this kind changes anything here.
    pub(crate) fn concerns(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::Attr | Kind::EventType | Kind::BuildId | Kind::EventUpdate | Kind::Feature | Kind::OldFeature(_)
        )
    }

    /// Takes what a record tells.
    pub(crate) fn apply(&mut self, record: Kind, misc: u16, body: &[u8], offset: u64, damage: &mut DamageLog) {
        let mut at = Cursor::new(body, self.endian);
        let result = match record {
            Kind::Attr => {
                self.attribute(body, offset, damage);
                Ok(())
            }
            Kind::EventType => at.u64("event number").map(|config| {
                self.events.describe_old(config, text(until_nul(at.rest())));
            }),
            Kind::BuildId if self.features.build_ids.len() >= MAX_BUILD_IDS => {
                damage.add(kind::TOO_MANY, offset, || "build id".to_owned());
                Ok(())
            }
            Kind::BuildId => BuildIdEntry::parse(&mut at, misc).map(|entry| self.features.build_ids.push(entry)),
            Kind::EventUpdate => EventUpdate::parse(&mut at).map(|update| self.update(&update)),
            Kind::Feature => at.u64("feature").map(|feature| {
                self.feature(u32::try_from(feature).unwrap_or(u32::MAX), at, offset, damage);
            }),
            Kind::OldFeature(feature) => {
                self.feature(feature.into(), at, offset, damage);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = result {
            damage.add(kind::SHORT_RECORD, offset, || format!("{record:?}: {error}"));
        }
    }

    /// Takes a feature; event names reach events that are known, and those that come later.
    pub(crate) fn feature(&mut self, feature: u32, content: Cursor<'_>, offset: u64, damage: &mut DamageLog) {
        self.features.set(feature, content, offset, damage);
        if let Some(described) = self.features.event_description.take() {
            self.events.describe(described);
        }
    }

    fn attribute(&mut self, body: &[u8], offset: u64, damage: &mut DamageLog) {
        match Attr::parse(body, self.endian) {
            Ok(attr) => {
                let mut ids = Cursor::new(body.get(attr.size as usize..).unwrap_or_default(), self.endian);
                let ids = std::iter::from_fn(|| ids.u64("id").ok()).collect();
                self.events.push(attr, ids, offset, damage);
            }
            Err(error) => damage.add(kind::BAD_ATTRIBUTE, offset, || error.to_string()),
        }
    }

    fn update(&mut self, update: &EventUpdate<'_>) {
        let Some(event) = self.events.of_id_mut(update.id) else { return };
        match update.update {
            Update::Unit(unit) => event.unit = Some(text(unit)),
            Update::Scale(scale) => event.scale = Some(scale),
            Update::Name(name) => event.name = Some(text(name)),
            Update::Cpus(_) | Update::Other(..) => {}
        }
    }

    /// Takes the formats of tracepoints.
    pub(crate) fn tracing_data(&mut self, bytes: &[u8], offset: u64, damage: &mut DamageLog) {
        match TracingData::parse(bytes) {
            Ok(data) => {
                if let Some(problem) = data.incomplete() {
                    damage.add(kind::BAD_TRACING_DATA, offset, || problem.to_owned());
                }
                self.tracing = Some(Arc::new(data));
            }
            Err(error) => damage.add(kind::BAD_TRACING_DATA, offset, || error.to_string()),
        }
    }
}
