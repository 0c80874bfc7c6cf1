//! What begins and ends regions, and how a begin finds its end.

use std::borrow::Cow;

use tracesift_grammar::Patterns;

use super::matching::Fields;

/// Definitions of regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Each has events that begin or end its regions. One stands behind those around it.
    pub all: Vec<Definition>,
}

/// What begins and ends the regions of one sort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// Name: `FriendlyName`, else `Name`.
    pub name: String,
    /// The names of the definitions around it, and its own, with `/` in between.
    pub path: String,
    /// Events that begin a region.
    pub starts: Vec<EventPattern>,
    /// Events that end one.
    pub stops: Vec<EventPattern>,
    /// Events that end a region whose length one of their fields tells.
    pub durations: Vec<DurationEvent>,
    /// What both events of a region have in common.
    pub keys: Keys,
    /// Whether a region can begin while another one with the same keys is open. If not, such a begin is ignored.
    pub self_nest: bool,
    /// The definition around it, by its place, and what a region has in common with the one that it lies in; without it a region lies
    /// in those of its thread.
    pub parent: Option<Parent>,
    /// The field that names regions.
    pub name_field: Option<String>,
}

/// The region around a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Place of its definition.
    pub definition: usize,
    /// Both are of one process.
    pub process: bool,
    /// Both are of one thread.
    pub thread: bool,
}

/// What two events have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The process.
    pub process: bool,
    /// The thread.
    pub thread: bool,
    /// The activity in their headers.
    pub activity: bool,
    /// A field of the begin and one of the end with the same value.
    pub fields: Vec<(String, String)>,
}

/// Events of some kinds, with some values in their fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// Who logged them.
    pub provider: ProviderSelector,
    /// Which events.
    pub event: EventSelector,
    /// Their version; `None`: any.
    pub version: Option<i16>,
    /// Fields with the value of each.
    pub fields: Vec<(String, String)>,
}

/// Who logs events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSelector {
    /// The provider with this GUID: lower case, without braces.
    Guid(String),
    /// Providers with such a name.
    Named(Patterns),
}

/// Which events of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSelector {
    /// The id; of an event without one the opcode.
    Id(i32),
    /// The name.
    Named(Patterns),
}

/// An event at the end of a region, with a field that tells its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationEvent {
    /// The event.
    pub event: EventPattern,
    /// The field.
    pub field: String,
    /// Nanoseconds of one unit of the field.
    pub multiplier: i64,
}

/// What tells kinds of events apart.
#[derive(Clone, Copy, Debug)]
pub struct EventKind<'a> {
    /// GUID of the provider, with or without braces.
    pub guid: &'a str,
    /// Name of the provider.
    pub provider: &'a str,
    /// Name of the event.
    pub event: &'a str,
    /// Its id; of an event without one its opcode.
    pub id: i32,
    /// Version of its layout; `None`: not known, so that it is of every version.
    pub version: Option<i16>,
}

/// What events of a kind do for one definition, if their fields have the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Place of the definition.
    pub definition: u32,
    /// The places of its begins that are of this kind.
    pub starts: Vec<usize>,
    /// Of its ends.
    pub stops: Vec<usize>,
    /// Of its ends with a length.
    pub durations: Vec<usize>,
}

impl Definitions {
    /// Whether any event of a provider can do something.
    #[must_use]
    pub fn know(&self, guid: &str, provider: &str) -> bool {
        self.all.iter().flat_map(Definition::patterns).any(|pattern| pattern.provider.is(guid, provider))
    }

    /// What events of a kind do.
    #[must_use]
    pub fn roles(&self, kind: &EventKind<'_>) -> Vec<Role> {
        let role = |(place, definition): (usize, &Definition)| Role {
            definition: u32::try_from(place).unwrap_or(u32::MAX),
            starts: of_kind(definition.starts.iter(), kind),
            stops: of_kind(definition.stops.iter(), kind),
            durations: of_kind(definition.durations.iter().map(|duration| &duration.event), kind),
        };
        let does = |role: &Role| !(role.starts.is_empty() && role.stops.is_empty() && role.durations.is_empty());
        self.all.iter().enumerate().map(role).filter(does).collect()
    }

    /// Whether a field has a part in what begins, ends or names regions.
    #[must_use]
    pub fn look_at(&self, field: &str) -> bool {
        let is_it = |name: &str| name.eq_ignore_ascii_case(field);
        self.all.iter().any(|definition| {
            let mut patterns = definition.patterns();
            patterns.any(|pattern| pattern.fields.iter().any(|(name, _)| is_it(name)))
                || definition.durations.iter().any(|duration| is_it(&duration.field))
                || definition.keys.fields.iter().any(|(start, stop)| is_it(start) || is_it(stop))
                || definition.name_field.as_deref().is_some_and(is_it)
        })
    }

    /// Adds other definitions.
    pub fn append(&mut self, other: Self) {
        let before = self.all.len();
        self.all.extend(other.all.into_iter().map(|mut definition| {
            definition.parent.iter_mut().for_each(|parent| parent.definition += before);
            definition
        }));
    }
}

impl Definition {
    /// All events that it names.
    fn patterns(&self) -> impl Iterator<Item = &EventPattern> {
        self.starts.iter().chain(&self.stops).chain(self.durations.iter().map(|duration| &duration.event))
    }
}

impl ProviderSelector {
    /// Whether a provider is meant.
    fn is(&self, guid: &str, provider: &str) -> bool {
        match self {
            Self::Guid(own) => is_guid(own, guid),
            Self::Named(patterns) => patterns.matches(provider),
        }
    }
}

impl EventPattern {
    /// Whether events of this kind can be meant.
    #[must_use]
    pub fn is_kind(&self, kind: &EventKind<'_>) -> bool {
        let of_event = || match &self.event {
            EventSelector::Id(id) => *id == kind.id,
            EventSelector::Named(patterns) => patterns.matches(kind.event),
        };
        let of_version = || self.version.is_none() || kind.version.is_none() || self.version == kind.version;
        self.provider.is(kind.guid, kind.provider) && of_event() && of_version()
    }

    /// Whether the fields have the values.
    #[must_use]
    pub fn has_values(&self, fields: &dyn Fields) -> bool {
        self.fields.iter().all(|(field, value)| fields.text(field).is_some_and(|text| is_same(&text, value)))
    }
}

/// The places of the patterns by which events of this kind can be meant.
fn of_kind<'p>(patterns: impl Iterator<Item = &'p EventPattern>, kind: &EventKind<'_>) -> Vec<usize> {
    patterns.enumerate().filter(|(_, pattern)| pattern.is_kind(kind)).map(|(place, _)| place).collect()
}

fn is_guid(lower: &str, other: &str) -> bool {
    other.trim_start_matches('{').trim_end_matches('}').eq_ignore_ascii_case(lower)
}

/// A GUID in the form of [`ProviderSelector::Guid`]; `None`: the text is none.
#[must_use]
pub fn guid(text: &str) -> Option<String> {
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = inner.split('-').collect();
    let is_guid = parts.len() == 5 && parts.iter().zip([8, 4, 4, 4, 12]).all(|(part, count)| digits(part, count));
    is_guid.then(|| inner.to_ascii_lowercase())
}

/// Whether two texts of values are the same: numbers by their value, all else in any case.
fn is_same(text: &str, value: &str) -> bool {
    text.eq_ignore_ascii_case(value) || number(text).is_some_and(|number_of| Some(number_of) == number(value))
}

/// The text by which a value is compared: `0x10` and `16` are the same.
#[must_use]
pub fn canonical(text: Cow<'_, str>) -> Cow<'_, str> {
    // Most texts are no hexadecimal numbers.
    let number = if text.starts_with("0x") { number(&text) } else { None };
    number.map_or(text, |number| number.to_string().into())
}

/// A whole number, decimal or hexadecimal.
pub(super) fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
