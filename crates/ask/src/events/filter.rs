//! The filter of events.

use std::str::FromStr;

use tracesift_etl::schema::Decoded;
use tracesift_extract::event_kinds::EventChoice;
use tracesift_grammar::Patterns;

use super::Condition;
use crate::filter::ProcessFilter;
use tracesift_grammar::TimeRange;

/// Filter of events; everything in it must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    /// Name or GUID of the provider.
    pub provider: Patterns,
    /// What stands before the slash in the event's name.
    pub class: Patterns,
    /// Name of the event.
    pub name: Patterns,
    /// Id of the event, of a kernel or classic event its opcode.
    pub ids: IdRanges,
    /// The process.
    pub processes: ProcessFilter,
    /// Ids of threads.
    pub threads: IdRanges,
    /// When.
    pub time: TimeRange,
    /// What its fields must say.
    pub conditions: Vec<Condition>,
    /// What a frame of its stack must be: `module!function`, the module or the function alone.
    pub stack: Patterns,
}

impl EventFilter {
    /// Whether it chooses by the kind of the event.
    pub(super) fn chooses_kinds(&self) -> bool {
        !(self.provider.is_empty() && self.class.is_empty() && self.name.is_empty() && self.ids.is_everything())
    }

    /// What it asks of the kind of an event.
    pub(super) fn of_kinds(&self) -> Self {
        let (provider, class, name, ids) =
            (self.provider.clone(), self.class.clone(), self.name.clone(), self.ids.clone());
        Self { provider, class, name, ids, ..Self::default() }
    }

    /// The kinds of events that pass.
    #[must_use]
    pub fn choice(&self) -> EventChoice {
        let filter = self.of_kinds();
        EventChoice::new(move |kind| {
            let guid = kind.guid.map(|guid| guid.to_string()).unwrap_or_default();
            filter.accepts_kind(&kind.provider, &guid, &kind.event, kind.number)
        })
    }

    /// Whether the kind of an event passes.
    pub(super) fn accepts_kind(&self, provider: &str, guid: &str, name: &str, id: u16) -> bool {
        let class = name.split('/').next().unwrap_or(name);
        (self.provider.is_empty() || self.provider.matches_any(&[provider, guid, &format!("{{{guid}}}")]))
            && (self.class.is_empty() || self.class.matches(class))
            && (self.name.is_empty() || self.name.matches(name))
            && self.ids.contains(u32::from(id))
    }

    /// Whether an event passes by its thread.
    pub(super) fn accepts_thread(&self, tid: Option<u32>) -> bool {
        self.threads.is_everything() || tid.is_some_and(|tid| self.threads.contains(tid))
    }

    /// Whether an event passes by what it says.
    pub(super) fn accepts_fields(&self, fields: &Decoded<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.accepts(fields))
    }

    /// Whether a stack with these frames passes: `module!function`, `module+0xRVA` or an address.
    pub(super) fn accepts_stack<'f>(&self, frames: impl Iterator<Item = &'f str>) -> bool {
        let names: Vec<&str> = frames
            .flat_map(|frame| {
                // Modules such as notepad++.exe have a plus in their name.
                let parts = frame.split_once('!').or_else(|| frame.rsplit_once("+0x"));
                [Some(frame), parts.map(|parts| parts.0), parts.map(|parts| parts.1)]
            })
            .flatten()
            .collect();
        self.stack.is_empty() || self.stack.matches_any(&names)
    }
}

/// Numbers and ranges of numbers: `3006,3008`, `1..9`; all numbers when there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdRanges(Vec<(u32, u32)>);

impl IdRanges {
    /// Whether a number is in it.
    #[must_use]
    pub fn contains(&self, id: u32) -> bool {
        self.0.is_empty() || self.0.iter().any(|(first, last)| (*first..=*last).contains(&id))
    }

    /// Whether all numbers are in it because none was named.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

/// A text that is no list of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no number and no range of numbers; write it as 3006,3008 or 1..9")]
pub struct IdRangesError(String);

impl FromStr for IdRanges {
    type Err = IdRangesError;

    fn from_str(text: &str) -> Result<Self, IdRangesError> {
        let number = |text: &str| {
            let text = text.trim();
            match text.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            }
        };
        let ranges = text.split([',', ';']).map(|item| {
            let range = match item.split_once("..") {
                Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
                None => number(item).map(|id| (id, id)),
            };
            range.ok_or_else(|| IdRangesError(item.to_owned()))
        });
        ranges.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use tracesift_grammar::Patterns;

    use super::{EventFilter, IdRanges, IdRangesError};

    #[test]
    fn frames_are_matched_as_a_whole_and_by_their_parts() {
        let accepts = |patterns: &str, frame: &str| {
            let filter = EventFilter { stack: Patterns::parse(patterns), ..EventFilter::default() };
            filter.accepts_stack([frame].into_iter())
        };
        for pattern in ["notepad++.exe", "NOTEPAD++.EXE+0x1a", "notepad*"] {
            assert!(accepts(pattern, "notepad++.exe+0x1a"), "{pattern}");
        }
        assert!(!accepts("notepad", "notepad++.exe+0x1a"));
        assert!(accepts("notepad++.exe;", "notepad++.exe!main"));
        assert!(accepts("operator+", "a.dll!operator+"));
        assert!(accepts("a.dll", "a.dll!operator+"));
        assert!(!accepts("operator", "operator+"));
        assert!(accepts("0x7ff*", "0x7ff0"));
    }

    #[test]
    fn numbers_and_ranges() {
        let ids: IdRanges = "3006,0x10; 5..7".parse().expect("ranges");
        assert_eq!([3006, 16, 5, 6, 7, 4, 8].map(|id| ids.contains(id)), [true, true, true, true, true, false, false]);
        assert!(IdRanges::default().contains(u32::MAX));
        assert_eq!("1,x".parse::<IdRanges>(), Err(IdRangesError("x".to_owned())));
        assert_eq!("9..1".parse::<IdRanges>(), Err(IdRangesError("9..1".to_owned())));
    }
}
