//! The events of a recording, and which of them a record belongs to.

use linux_perf_event_reader::{AttrFlags, Endianness};
use rustc_hash::FxHashMap;

use crate::attr::Attr;
use crate::damage::{DamageLog, kind};
use crate::layout::Layout;

/// More events than anybody records; beyond that the file is hostile.
pub(crate) const MAX_EVENTS: usize = 1 << 16;
/// As [`MAX_EVENTS`], for ids: one per event and CPU or thread.
pub(crate) const MAX_IDS: usize = 1 << 22;
/// As [`MAX_EVENTS`], for descriptions of all events: perf writes one.
const MAX_DESCRIPTIONS: u32 = 8;
/// As [`MAX_EVENTS`], for names by number: the writers that had them knew some dozens.
const MAX_OLD_NAMES: usize = 1 << 10;

/// One event: a counter or tracepoint that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// How it was opened.
    pub attr: Attr,
    /// Its ids, one per CPU or thread; none in recordings of one event.
    pub ids: Vec<u64>,
    /// The name that the recorder gave it; see [`crate::Metadata::event_name`] for one that is always there.
    pub name: Option<String>,
    /// The unit of its counts.
    pub unit: Option<String>,
    /// What one count is in that unit.
    pub scale: Option<f64>,
}

/// The events of a recording, in its order.
#[derive(Clone, Debug)]
pub struct Events {
    endian: Endianness,
    list: Vec<Event>,
    layouts: Vec<Layout>,
    by_id: FxHashMap<u64, u32>,
    ids: usize,
    /// One event for each pair of places at which ids stand, mostly a single one.
    places: Vec<u32>,
    no_layout: Layout,
    old_names: Vec<(u64, String)>,
    described: Vec<Described>,
    described_ids: FxHashMap<u64, u32>,
    descriptions: u32,
}

impl Events {
    pub(crate) fn new(endian: Endianness) -> Self {
        Self {
            endian,
            list: Vec::new(),
            layouts: Vec::new(),
            by_id: FxHashMap::default(),
            ids: 0,
            places: Vec::new(),
            no_layout: Layout::none(endian),
            old_names: Vec::new(),
            described: Vec::new(),
            described_ids: FxHashMap::default(),
            descriptions: 0,
        }
    }

    /// How many more ids are taken.
    pub(crate) fn room_for_ids(&self) -> usize {
        MAX_IDS - self.ids
    }

    /// Adds an event; what is too much or contradicts others is counted.
    pub(crate) fn push(&mut self, attr: Attr, ids: Vec<u64>, offset: u64, damage: &mut DamageLog) {
        if self.list.len() >= MAX_EVENTS || ids.len() > self.room_for_ids() {
            return damage.add(kind::TOO_MANY, offset, || format!("event {} with {} ids", self.list.len(), ids.len()));
        }
        self.ids += ids.len();
        let index = self.list.len() as u32;
        let mut layout = Layout::new(&attr, self.endian);
        layout.build_ids = self.no_layout.build_ids;
        for &id in &ids {
            let known = *self.by_id.entry(id).or_insert(index);
            if known != index {
                damage.add(kind::UNKNOWN_EVENT, offset, || format!("id {id} belongs to events {known} and {index}"));
            }
        }
        if !self.places.iter().any(|&known| self.layout(Some(known)).same_id_places(&layout)) {
            self.places.push(index);
        }
        self.layouts.push(layout);
        if attr.flags.contains(AttrFlags::BUILD_ID) && !self.no_layout.build_ids {
            self.layouts.iter_mut().chain([&mut self.no_layout]).for_each(|layout| layout.build_ids = true);
        }
        let old_name = self.old_names.iter().find(|(config, _)| *config == attr.config);
        let name = self.description(index, &ids).or(old_name.map(|(_, name)| name)).cloned();
        self.list.push(Event { attr, ids, name, unit: None, scale: None });
    }

    /// The events, in the order of the recording.
    #[must_use]
    pub fn all(&self) -> &[Event] {
        &self.list
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none (yet, in a stream).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One event.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Event> {
        self.list.get(index)
    }

    /// The index of the event that `id` belongs to.
    #[must_use]
    pub fn by_id(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).map(|&index| index as usize)
    }

    /// The recorder's name for an event, else one made from type and number in perf's words.
    pub(crate) fn name(&self, index: usize) -> String {
        let Some(event) = self.list.get(index) else { return String::new() };
        event.name.clone().unwrap_or_else(|| default_name(&event.attr))
    }

    pub(crate) fn layout(&self, index: Option<u32>) -> &Layout {
        index.and_then(|index| self.layouts.get(index as usize)).unwrap_or(&self.no_layout)
    }

    /// To which event a record belongs, and whose layout it has.
    #[inline]
    pub(crate) fn resolve(&self, body: &[u8], sample: bool) -> Resolved {
        let Some(first) = self.layouts.first() else { return Resolved { event: None, layout: None, id: None } };
        if self.layouts.len() == 1 {
            return Resolved { event: Some(0), layout: Some(0), id: None };
        }
        if self.places.len() == 1 {
            let id = first.id(body, sample);
            let event = id.and_then(|id| self.by_id.get(&id).copied());
            return Resolved { event, layout: event.or(Some(0)), id };
        }
        self.resolve_among_places(body, sample)
    }

    /// Events that keep their ids at different places: one is meant if its id stands where it keeps it.
    fn resolve_among_places(&self, body: &[u8], sample: bool) -> Resolved {
        for &place in &self.places {
            let layout = self.layout(Some(place));
            let Some(id) = layout.id(body, sample) else { continue };
            let event = self.by_id.get(&id).copied();
            if event.is_some_and(|event| self.layout(Some(event)).same_id_places(layout)) {
                return Resolved { event, layout: event, id: Some(id) };
            }
        }
        Resolved { event: None, layout: Some(0), id: None }
    }

    /// The name in the description of an event: by its ids, or by its place where one side has none.
    fn description(&self, index: u32, ids: &[u64]) -> Option<&String> {
        let named =
            ids.iter().find_map(|id| self.described_ids.get(id)).and_then(|&at| self.described.get(at as usize));
        let placed = || self.described.get(index as usize).filter(|entry| ids.is_empty() || entry.ids.is_empty());
        named.or_else(placed).map(|entry| &entry.name).filter(|name| !name.is_empty())
    }

    /// Gives names to the events that are known, and to those that come.
    pub(crate) fn describe(&mut self, described: Vec<Described>) {
        if self.descriptions >= MAX_DESCRIPTIONS {
            return;
        }
        self.descriptions += 1;
        self.described_ids.clear();
        for (index, entry) in (0..).zip(&described) {
            self.described_ids.extend(entry.ids.iter().map(|&id| (id, index)));
        }
        self.described = described;
        for index in 0..self.list.len() {
            let ids = self.list.get(index).map(|event| event.ids.as_slice()).unwrap_or_default();
            let name = self.description(index as u32, ids).cloned();
            if let Some(event) = self.list.get_mut(index).filter(|_| name.is_some()) {
                event.name = name;
            }
        }
    }

    /// Names by number, as writers until Linux 3.x had them; events may come before or after.
    pub(crate) fn describe_old(&mut self, config: u64, name: String) {
        if self.old_names.len() >= MAX_OLD_NAMES {
            return;
        }
        for event in self.list.iter_mut().filter(|event| event.attr.config == config && event.name.is_none()) {
            event.name = Some(name.clone());
        }
        self.old_names.push((config, name));
    }

    pub(crate) fn of_id_mut(&mut self, id: u64) -> Option<&mut Event> {
        let index = match self.by_id.get(&id) {
            Some(&index) => index,
            None if self.list.len() == 1 => 0,
            None => return None,
        };
        self.list.get_mut(index as usize)
    }
}

/// What [`Events::resolve`] found.
pub(crate) struct Resolved {
    pub(crate) event: Option<u32>,
    pub(crate) layout: Option<u32>,
    pub(crate) id: Option<u64>,
}

/// An entry of the event description.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) ids: Vec<u64>,
    pub(crate) name: String,
}

const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

const SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// A name from type and number.
fn default_name(attr: &Attr) -> String {
    let known =
        |names: &[&str]| usize::try_from(attr.config).ok().and_then(|at| names.get(at).map(|name| (*name).to_owned()));
    let name = match attr.kind {
        0 => known(&HARDWARE),
        1 => known(&SOFTWARE),
        2 => Some(format!("tracepoint {}", attr.config)),
        4 => Some(format!("raw {:#x}", attr.config)),
        5 => Some(format!("mem:{:#x}", attr.config1)),
        _ => None,
    };
    name.unwrap_or_else(|| format!("event {}/{:#x}", attr.kind, attr.config))
}
