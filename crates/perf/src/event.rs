//! The events of a recording, and which of them a record belongs to.

use linux_perf_event_reader::Endianness;
use rustc_hash::FxHashMap;

use crate::attr::Attr;
use crate::damage::{DamageLog, kind};
use crate::layout::Layout;

/// More events than anybody records; beyond that the file is hostile.
const MAX_EVENTS: usize = 1 << 16;
/// As [`MAX_EVENTS`], for ids: one per event and CPU or thread.
const MAX_IDS: usize = 1 << 22;

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
    /// All ids stand at the same places, so one look tells the event.
    uniform: bool,
    no_layout: Layout,
    old_names: Vec<(u64, String)>,
}

impl Events {
    pub(crate) fn new(endian: Endianness) -> Self {
        let empty = [0, 0, 0, 0, 64, 0, 0, 0].into_iter().chain([0; 56]).collect::<Vec<u8>>();
        let attr = Attr::parse(&empty, Endianness::LittleEndian);
        let no_layout = Layout::new(&attr.unwrap_or_else(|_| unreachable!("64 bytes are an attribute")), endian);
        let (list, layouts, by_id) = Default::default();
        Self { endian, list, layouts, by_id, uniform: true, no_layout, old_names: Vec::new() }
    }

    /// Adds an event; what is too much or contradicts others is counted.
    pub(crate) fn push(&mut self, attr: Attr, ids: Vec<u64>, offset: u64, damage: &mut DamageLog) {
        if self.list.len() >= MAX_EVENTS || self.by_id.len() + ids.len() > MAX_IDS {
            return damage.add(kind::TOO_MANY, offset, || format!("event {} with {} ids", self.list.len(), ids.len()));
        }
        let index = self.list.len() as u32;
        let layout = Layout::new(&attr, self.endian);
        for &id in &ids {
            let known = *self.by_id.entry(id).or_insert(index);
            if known != index {
                damage.add(kind::UNKNOWN_EVENT, offset, || format!("id {id} belongs to events {known} and {index}"));
            }
        }
        self.uniform &= self.layouts.first().is_none_or(|first| {
            first.same_id_places(&layout) || first.has_identifier() && layout.has_identifier()
        });
        self.layouts.push(layout);
        let name = self.old_names.iter().find(|(config, _)| *config == attr.config).map(|(_, name)| name.clone());
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
        if self.uniform {
            let id = first.id(body, sample);
            let event = id.and_then(|id| self.by_id.get(&id).copied());
            return Resolved { event, layout: event.or(Some(0)), id };
        }
        self.resolve_slowly(body, sample)
    }

    /// Events that keep their ids at different places: one is meant if its id stands where it keeps it.
    fn resolve_slowly(&self, body: &[u8], sample: bool) -> Resolved {
        for (index, layout) in (0..).zip(&self.layouts) {
            let id = layout.id(body, sample);
            if id.is_some_and(|id| self.by_id.get(&id) == Some(&index)) {
                return Resolved { event: Some(index), layout: Some(index), id };
            }
        }
        Resolved { event: None, layout: Some(0), id: None }
    }

    /// Gives names by ids, or by place where there are none.
    pub(crate) fn describe(&mut self, described: &[Described]) {
        let same = described.len() == self.list.len();
        for (index, Described { ids, name }) in described.iter().enumerate() {
            let found = ids.iter().find_map(|id| self.by_id.get(id).map(|&index| index as usize));
            let index = found.or(same.then_some(index));
            if let Some(event) = index.and_then(|index| self.list.get_mut(index)).filter(|_| !name.is_empty()) {
                event.name = Some(name.clone());
            }
        }
    }

    /// Names by number, as writers until Linux 3.x had them; events may come before or after.
    pub(crate) fn describe_old(&mut self, config: u64, name: String) {
        if self.old_names.len() >= MAX_EVENTS {
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
    let known = |names: &[&str]| {
        usize::try_from(attr.config).ok().and_then(|at| names.get(at).map(|name| (*name).to_owned()))
    };
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
