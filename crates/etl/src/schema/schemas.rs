//! All that a recording says of its events, and what the built-in tables know beyond that.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::decode::Decoded;
use super::event::EventSchema;
use super::info::{self, UnmappedSchema};
use super::layout::ValueMap;
use super::manifest::{self, Manifest};
use super::table::BUILT_IN;
use super::trace_logging;
use crate::class::{self, EventClass};
use crate::extended::ItemKind;
use crate::format::event_flag;
use crate::payload::AnsiStr;
use crate::{Guid, Record};

/// Id of the events in which an EventSource writes its manifest.
const MANIFEST_EVENT: u16 = 0xfffe;

/// Bytes of a manifest, and of all that are unfinished: those of real providers have a few hundred KiB.
const MAX_MANIFEST_BYTES: usize = 4 << 20;
const MAX_UNFINISHED_BYTES: usize = 64 << 20;

/// Bytes of schemas from the recording, about: of any more only a forged one has need.
const MAX_SCHEMA_BYTES: usize = 128 << 20;

/// Bytes of the schemas of TraceLogging events that are remembered, about.
const MAX_TRACE_LOGGING_BYTES: usize = 64 << 20;

/// Bytes that a field of a schema takes, about.
const FIELD_BYTES: usize = 160;

/// The schemas of a recording.
///
/// Show it all records that [`Schemas::has_schema`] before the first event is decoded: the merge of a recording puts its metadata
/// anywhere, and providers write their manifests at the start and at the end.
#[derive(Debug, Default)]
pub struct Schemas {
    events: FxHashMap<(Guid, u16, u8), Arc<EventSchema>>,
    classic: FxHashMap<(Guid, u8, u8), Arc<EventSchema>>,
    /// Metadata whose maps may still come.
    unmapped: Vec<UnmappedSchema>,
    maps: FxHashMap<(Guid, Box<str>), Arc<ValueMap>>,
    provider_names: FxHashMap<Guid, Box<str>>,
    manifests: ManifestParts,
    trace_logging: FxHashMap<Guid, Described>,
    trace_logging_bytes: usize,
    schema_bytes: usize,
    problems: Vec<String>,
}

/// Schemas by the description that each event brings; `None` for one that cannot be read.
type Described = FxHashMap<Box<[u8]>, Option<Arc<EventSchema>>>;

/// Problems that are described; further ones are left out.
const MAX_PROBLEMS: usize = 20;

impl Schemas {
    /// The built-in tables only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the record describes other records.
    #[must_use]
    pub fn has_schema(record: &Record<'_>) -> bool {
        match record.event_id() {
            Some(id) => id == MANIFEST_EVENT,
            None => record.kind().is_classic() && record.class_guid() == Some(class::EVENT_METADATA),
        }
    }

    /// Takes a record that describes others. Others are ignored.
    pub fn learn(&mut self, record: &Record<'_>) {
        match record.class() {
            EventClass::Event { provider, id: MANIFEST_EVENT, .. } => {
                let chunk = self.manifests.add(provider, record.pid(), record.payload());
                if let Some(xml) = chunk {
                    self.add_manifest(&String::from_utf8_lossy(&xml));
                }
            }
            EventClass::Classic { guid: class::EVENT_METADATA, .. } if self.schema_bytes > MAX_SCHEMA_BYTES => {
                self.problem(|| "more event metadata than any recording needs".to_owned());
            }
            EventClass::Classic { guid: class::EVENT_METADATA, opcode: 32, .. } => {
                match info::event(record.payload()) {
                    Some(event) => {
                        let maps: usize =
                            event.maps.iter().map(|(_, name)| size_of::<(usize, Box<str>)>() + name.len()).sum();
                        let fields = event.schema.layout.fields.len();
                        self.schema_bytes += record.payload().len() + FIELD_BYTES * (2 + fields) + maps;
                        if let Some(name) = &event.schema.provider_name {
                            self.provider_names.entry(event.schema.provider).or_insert_with(|| name.clone());
                        }
                        self.unmapped.push(event);
                    }
                    None => self.problem(|| "event metadata that cannot be read".to_owned()),
                }
            }
            EventClass::Classic { guid: class::EVENT_METADATA, opcode: 33, .. } => {
                if let Some((provider, map)) = info::value_map(record.payload()) {
                    self.schema_bytes += 2 * record.payload().len();
                    self.maps.insert((provider, map.name.clone()), Arc::new(map));
                }
            }
            _ => {}
        }
    }

    /// Adds the providers of a manifest, for example one that a user has at hand.
    pub fn add_manifest(&mut self, xml: &str) {
        match manifest::parse(xml) {
            Ok(manifests) => manifests.into_iter().for_each(|manifest| self.add_provider(manifest)),
            Err(error) => self.problem(|| format!("manifest in the recording: {error}")),
        }
    }

    fn add_provider(&mut self, manifest: Manifest) {
        self.provider_names.entry(manifest.provider).or_insert(manifest.name);
        for event in manifest.events {
            if self.schema_bytes > MAX_SCHEMA_BYTES {
                break;
            }
            self.schema_bytes += FIELD_BYTES * (2 + event.layout.fields.len());
            self.events.entry((event.provider, event.id, event.version)).or_insert_with(|| Arc::new(event));
        }
    }

    /// What was wrong with schemas in the recording, in words.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The schema of a record; `None` when nobody knows it.
    pub fn find(&mut self, record: &Record<'_>) -> Option<Arc<EventSchema>> {
        self.settle();
        let class = record.class();
        if let EventClass::Event { provider, .. } = class
            && let Some(item) = record.extended_item(ItemKind::SCHEMA)
        {
            return self.trace_logging(record, provider, item.data);
        }
        self.of(class, record.event_flags() & event_flag::STRING_ONLY != 0)
    }

    /// The schema of a class of events that do not describe themselves, `is_text` where they say that they are a text and
    /// nothing else; `None` when nobody knows it.
    /// [`Schemas::settle`] comes first.
    #[must_use]
    pub fn of(&self, class: EventClass, is_text: bool) -> Option<Arc<EventSchema>> {
        match class {
            EventClass::Event { provider, id, version } => self.of_id(provider, id, version, is_text),
            EventClass::Kernel { group, opcode, version } => self.of_class(group.guid()?, opcode, version),
            EventClass::Classic { guid, opcode, version } => self.of_class(guid, opcode, version),
            EventClass::Message { .. } => None,
        }
    }

    /// The schema of an event of a kernel or classic class.
    #[must_use]
    pub fn of_class(&self, guid: Guid, opcode: u8, version: u8) -> Option<Arc<EventSchema>> {
        if let Some(schema) = self.classic.get(&(guid, opcode, version)) {
            return Some(Arc::clone(schema));
        }
        BUILT_IN.providers.get(&guid)?.find(u16::from(opcode), version).cloned()
    }

    fn of_id(&self, provider: Guid, id: u16, version: u8, is_text: bool) -> Option<Arc<EventSchema>> {
        if id == MANIFEST_EVENT {
            return BUILT_IN.manifest_data.clone();
        }
        if let Some(schema) = self.events.get(&(provider, id, version)) {
            return Some(Arc::clone(schema));
        }
        if is_text {
            return BUILT_IN.string_only.clone();
        }
        let table = BUILT_IN.providers.get(&provider).filter(|table| !table.is_class)?;
        table.find(id, version).cloned()
    }

    fn trace_logging(&mut self, record: &Record<'_>, provider: Guid, data: &[u8]) -> Option<Arc<EventSchema>> {
        let known = self.trace_logging.entry(provider).or_default();
        if let Some(schema) = known.get(data) {
            return schema.clone();
        }
        let mut schema = trace_logging::event(provider, data);
        if let Some(schema) = &mut schema {
            let traits = record.extended_item(ItemKind::PROVIDER_TRAITS);
            let name = traits.and_then(|item| Some(AnsiStr::until_nul(item.provider_traits()?.name).to_text()));
            schema.provider_name = name.map(Into::into);
            (schema.id, schema.version) = (record.event_id().unwrap_or(0), record.version());
        }
        let schema = schema.map(Arc::new);
        if self.trace_logging_bytes > MAX_TRACE_LOGGING_BYTES {
            self.trace_logging.clear();
            self.trace_logging_bytes = 0;
        }
        let fields = schema.as_ref().map_or(0, |schema| schema.layout.fields.len());
        self.trace_logging_bytes += data.len() + FIELD_BYTES * (2 + fields);
        self.trace_logging.entry(provider).or_default().insert(data.into(), schema.clone());
        schema
    }

    /// Name of a provider or of an event class, as far as the recording or a table says it.
    #[must_use]
    pub fn provider_name(&self, guid: Guid) -> Option<&str> {
        let own = self.provider_names.get(&guid).map(|name| &**name);
        own.or_else(|| BUILT_IN.providers.get(&guid).map(|table| &*table.name))
    }

    /// Gives descriptions the maps that came with other records. [`Schemas::find`] does so when it has to.
    pub fn settle(&mut self) {
        for unmapped in std::mem::take(&mut self.unmapped) {
            let (provider, is_classic) = (unmapped.schema.provider, unmapped.is_classic);
            let mut schema = unmapped.with_maps(|name| self.maps.get(&(provider, name.into())).cloned());
            // One name for an event, whatever the recording brings: that of the tables, which TraceEvent has as well.
            let table = BUILT_IN.providers.get(&provider).filter(|table| table.is_class == is_classic);
            let key = if is_classic { u16::from(schema.opcode) } else { schema.id };
            let known = table.and_then(|table| table.events.get(&key)?.first().cloned());
            schema.event_name = schema.event_name.or_else(|| known.and_then(|known| known.event_name.clone()));
            let version = schema.version;
            if table.is_some_and(|table| table.corrections.contains(&(key, version))) {
                continue;
            }
            if is_classic {
                self.classic.entry((provider, schema.opcode, version)).or_insert_with(|| Arc::new(schema));
            } else {
                self.events.entry((provider, schema.id, version)).or_insert_with(|| Arc::new(schema));
            }
        }
    }

    fn problem(&mut self, text: impl FnOnce() -> String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(text());
        }
    }
}

impl EventSchema {
    /// Takes the payload of a record apart.
    ///
    /// Classic events are written by programs that may state another pointer size than they use: when the stated one does not
    /// fit the payload exactly and the other one does, that is taken.
    #[must_use]
    pub fn decode<'a>(&'a self, record: &Record<'a>) -> Decoded<'a> {
        let (payload, pointer_size) = (record.payload(), record.pointer_size());
        let decoded = self.layout.decode(payload, pointer_size);
        let fits = |decoded: &Decoded<'_>| decoded.stopped.is_none() && decoded.rest.is_empty();
        if !record.kind().is_classic() || fits(&decoded) {
            return decoded;
        }
        let other = self.layout.decode(payload, 12 - pointer_size);
        if fits(&other) { other } else { decoded }
    }
}

/// Manifests whose parts have not all come.
#[derive(Debug, Default)]
struct ManifestParts {
    /// By provider and process.
    open: FxHashMap<(Guid, Option<u32>), Unfinished>,
    bytes: usize,
}

#[derive(Debug)]
struct Unfinished {
    total: u16,
    parts: Vec<Vec<u8>>,
}

impl ManifestParts {
    /// Takes a part: format, version of two bytes, a mark, number of parts, number of this part, text. Gives the manifest when it
    /// was the last.
    fn add(&mut self, provider: Guid, pid: Option<u32>, payload: &[u8]) -> Option<Vec<u8>> {
        let [_format, _major, _minor, 0x5b, total_low, total_high, number_low, number_high, text @ ..] = payload else {
            return None;
        };
        let total = u16::from_le_bytes([*total_low, *total_high]);
        let number = u16::from_le_bytes([*number_low, *number_high]);
        if total == 1 && number == 0 {
            return Some(text.to_vec());
        }
        let key = (provider, pid);
        if number == 0 {
            self.drop_parts(key);
            self.open.insert(key, Unfinished { total, parts: Vec::new() });
        }
        let Unfinished { total: of, parts } = self.open.get_mut(&key)?;
        if *of != total || parts.len() != usize::from(number) || self.bytes + text.len() > MAX_UNFINISHED_BYTES {
            self.drop_parts(key);
            return None;
        }
        self.bytes += text.len();
        parts.push(text.to_vec());
        if parts.len() < usize::from(total) {
            return None;
        }
        let whole = parts.concat();
        self.drop_parts(key);
        (whole.len() <= MAX_MANIFEST_BYTES).then_some(whole)
    }

    fn drop_parts(&mut self, key: (Guid, Option<u32>)) {
        if let Some(unfinished) = self.open.remove(&key) {
            self.bytes -= unfinished.parts.iter().map(Vec::len).sum::<usize>();
        }
    }
}
