//! Events in, regions out: each end finds the begin that it belongs to.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use tracesift_trace::{ProcessId, ThreadId};

use super::definition::{Definition, Definitions, DurationEvent, EventPattern, Keys, Role, canonical, number};

/// Regions, and begins and ends without a region, that are kept: some 2 GiB.
const MOST: usize = 1 << 24;

/// The fields of an event.
pub trait Fields: std::fmt::Debug {
    /// The value of a field as text; `None`: the event has no such field.
    fn text(&self, name: &str) -> Option<Cow<'_, str>>;

    /// Adds the value of a field to a text. `None`: as above, and nothing is added.
    fn add_text(&self, name: &str, text: &mut String) -> Option<()> {
        text.push_str(&canonical(self.text(name)?));
        Some(())
    }

    /// All fields as a JSON object.
    fn json(&self) -> String;
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Nanoseconds since time zero.
    pub time: i64,
    /// Process.
    pub process: Option<ProcessId>,
    /// Thread.
    pub thread: Option<ThreadId>,
    /// Activity.
    pub activity: Option<&'a str>,
    /// The fields.
    pub fields: &'a dyn Fields,
}

/// A name in [`Regions::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Place of its definition.
    pub definition: u32,
    /// Its name: the value of the field that names it, else the name of its definition.
    pub name: NameId,
    /// Process of the event that begins it.
    pub process: Option<ProcessId>,
    /// Thread of that event.
    pub thread: Option<ThreadId>,
    /// Begin, ns.
    pub start: i64,
    /// End, ns; `None`: it is open, no event ends it.
    pub end: Option<i64>,
    /// The fields of the event that begins it as a JSON object, where they are asked for.
    pub fields: Option<Box<str>>,
}

/// Why an event is in no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LooseKind {
    /// An end without a begin.
    Stop,
    /// A begin while a region with the same keys is open, which must not nest.
    Ignored,
}

/// A begin or an end that is in no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loose {
    /// Place of the definition.
    pub definition: u32,
    /// The name that its region would have.
    pub name: NameId,
    /// Process of the event.
    pub process: Option<ProcessId>,
    /// Thread of the event.
    pub thread: Option<ThreadId>,
    /// Its time, ns.
    pub time: i64,
    /// Why.
    pub kind: LooseKind,
}

/// All regions of a recording.
#[derive(Debug, Default)]
pub struct Regions {
    /// In the order of the events that begin them, but for those whose end tells their length.
    pub regions: Vec<Region>,
    /// In the order of time.
    pub loose: Vec<Loose>,
    /// The names, by their number.
    pub names: Vec<String>,
    /// Events that were left out because there were more than fit into memory.
    pub dropped: u64,
}

impl Regions {
    /// The text of a name.
    #[must_use]
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name.0 as usize).map_or("", String::as_str)
    }
}

/// What an open region and its end have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    definition: u32,
    process: Option<ProcessId>,
    thread: Option<ThreadId>,
    /// Activity and fields, with ends.
    texts: String,
}

/// Finds the regions of events, which come in the order of time.
#[derive(Debug)]
pub struct Matcher<'d> {
    definitions: &'d Definitions,
    /// The places of the open regions with each key, the one that began last at the end.
    open: FxHashMap<Key, Vec<usize>>,
    /// Empty lists of such places, to be used again.
    spare: Vec<Vec<usize>>,
    found: Regions,
    numbers: FxHashMap<String, NameId>,
    /// The names of the definitions.
    own_names: Vec<NameId>,
    with_fields: bool,
}

impl<'d> Matcher<'d> {
    /// No events yet. `with_fields`: regions have the fields of the events that begin them.
    #[must_use]
    pub fn new(definitions: &'d Definitions, with_fields: bool) -> Self {
        let mut matcher = Self {
            definitions,
            open: FxHashMap::default(),
            spare: Vec::new(),
            found: Regions::default(),
            numbers: FxHashMap::default(),
            own_names: Vec::new(),
            with_fields,
        };
        matcher.own_names = definitions.all.iter().map(|definition| matcher.number(&definition.name)).collect();
        matcher
    }

    /// Takes an event with what its kind does.
    pub fn event(&mut self, event: &Event<'_>, roles: &[Role]) {
        let definitions = self.definitions;
        for role in roles {
            let Some(definition) = definitions.all.get(role.definition as usize) else { continue };
            let fits = |places: &[usize], patterns: &[EventPattern]| {
                places.iter().filter_map(|place| patterns.get(*place)).any(|pattern| pattern.has_values(event.fields))
            };
            // An event that ends a region and begins the next one ends first.
            if fits(&role.stops, &definition.stops) {
                self.stop(event, role.definition, definition);
            }
            let mut durations = role.durations.iter().filter_map(|place| definition.durations.get(*place));
            if let Some(duration) = durations.find(|duration| duration.event.has_values(event.fields)) {
                self.lasting(event, role.definition, definition, duration);
            }
            if fits(&role.starts, &definition.starts) {
                self.start(event, role.definition, definition);
            }
        }
    }

    /// All regions. Those without an end are open.
    #[must_use]
    pub fn finish(self) -> Regions {
        self.found
    }

    fn start(&mut self, event: &Event<'_>, number: u32, definition: &Definition) {
        let key = key(event, number, &definition.keys, |(start, _)| start);
        let is_open = key.as_ref().and_then(|key| self.open.get(key)).is_some_and(|open| !open.is_empty());
        if is_open && !definition.self_nest {
            return self.loose(event, number, definition, LooseKind::Ignored);
        }
        let Some(place) = self.region(event, number, definition, (event.time, None)) else { return };
        if let Some(key) = key {
            let spare = &mut self.spare;
            self.open.entry(key).or_insert_with(|| spare.pop().unwrap_or_default()).push(place);
        }
    }

    fn stop(&mut self, event: &Event<'_>, number: u32, definition: &Definition) {
        let key = key(event, number, &definition.keys, |(_, stop)| stop);
        let begun = key.and_then(|key| {
            let open = self.open.get_mut(&key)?;
            let place = open.pop();
            if open.is_empty() {
                self.spare.extend(self.open.remove(&key));
            }
            place
        });
        let Some(place) = begun else { return self.loose(event, number, definition, LooseKind::Stop) };
        let own = self.own_names.get(number as usize).copied();
        let unnamed = definition.name_field.is_some() && self.found.regions.get(place).map(|region| region.name) == own;
        let name = if unnamed { Some(self.name(event, number, definition)) } else { None };
        if let Some(region) = self.found.regions.get_mut(place) {
            region.end = Some(event.time.max(region.start));
            region.name = name.unwrap_or(region.name);
        }
    }

    /// An event at the end of a region whose length it tells.
    fn lasting(&mut self, event: &Event<'_>, number_of: u32, definition: &Definition, duration: &DurationEvent) {
        let length = event.fields.text(&duration.field).and_then(|text| number(&text));
        let length = length.and_then(|length| i64::try_from(length).ok()).filter(|length| *length >= 0);
        let Some(length) = length else { return self.loose(event, number_of, definition, LooseKind::Stop) };
        let start = event.time.saturating_sub(length.saturating_mul(duration.multiplier));
        let _ = self.region(event, number_of, definition, (start, Some(event.time)));
    }

    fn region(
        &mut self,
        event: &Event<'_>,
        number: u32,
        definition: &Definition,
        (start, end): (i64, Option<i64>),
    ) -> Option<usize> {
        if self.is_full() {
            return None;
        }
        let name = self.name(event, number, definition);
        let fields = self.with_fields.then(|| event.fields.json().into_boxed_str());
        let place = self.found.regions.len();
        let (process, thread) = (event.process, event.thread);
        self.found.regions.push(Region { definition: number, name, process, thread, start, end, fields });
        Some(place)
    }

    fn loose(&mut self, event: &Event<'_>, number: u32, definition: &Definition, kind: LooseKind) {
        if self.is_full() {
            return;
        }
        let name = self.name(event, number, definition);
        let (process, thread, time) = (event.process, event.thread, event.time);
        self.found.loose.push(Loose { definition: number, name, process, thread, time, kind });
    }

    fn is_full(&mut self) -> bool {
        let is_full = self.found.regions.len() + self.found.loose.len() >= MOST;
        self.found.dropped += u64::from(is_full);
        is_full
    }

    /// The name of a region by the fields of an event; without such a field that of its definition.
    fn name(&mut self, event: &Event<'_>, number: u32, definition: &Definition) -> NameId {
        let of_field = definition.name_field.as_ref().and_then(|field| event.fields.text(field));
        match of_field.filter(|text| !text.is_empty()) {
            Some(text) => self.number(&text),
            None => self.own_names.get(number as usize).copied().unwrap_or(NameId(0)),
        }
    }

    fn number(&mut self, name: &str) -> NameId {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = NameId(u32::try_from(self.found.names.len()).unwrap_or(u32::MAX));
        self.found.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// The key of an event; `None`: it does not have a field of the key, and so no partner.
fn key(event: &Event<'_>, definition: u32, keys: &Keys, side: impl Fn(&(String, String)) -> &String) -> Option<Key> {
    // Room for numbers; a GUID has 36 characters.
    let mut texts = String::with_capacity(if keys.activity { 40 } else { 24 * keys.fields.len() });
    if keys.activity {
        texts.push_str(event.activity?);
        texts.push('\0');
    }
    for pair in &keys.fields {
        event.fields.add_text(side(pair), &mut texts)?;
        texts.push('\0');
    }
    Some(Key {
        definition,
        process: event.process.filter(|_| keys.process),
        thread: event.thread.filter(|_| keys.thread),
        texts,
    })
}
