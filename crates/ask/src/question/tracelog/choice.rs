//! Which providers and events: `Provider`, `Provider:Start*,12,!Stop;Other`.

use std::fmt;
use std::str::FromStr;

use tracesift_grammar::pattern::Pattern;
use tracesift_grammar::patterns::has_wildcards;

/// Providers, each with the events that are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderChoice {
    include: Vec<Chosen>,
    exclude: Vec<Pattern>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Chosen {
    provider: Pattern,
    /// `None`: nothing is said of its events.
    events: Option<EventChoice>,
}

/// Events of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EventChoice {
    include: Vec<Event>,
    exclude: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Id(u16),
    Name(Pattern),
}

/// A text that names no provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as PROVIDER, or PROVIDER:EVENT,ID,!EVENT; several with ; between them")]
pub struct ChoiceError;

impl FromStr for ProviderChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let mut choice = Self { text: text.to_owned(), ..Self::default() };
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let (provider, events) = match item.split_once(':') {
                Some((provider, events)) => (provider.trim(), Some(EventChoice::of(events))),
                None => (item, None),
            };
            match provider.strip_prefix('!').map(str::trim) {
                Some("") => return Err(ChoiceError),
                // Single events of a provider are left out by its own list.
                Some(_) if events.is_some() => return Err(ChoiceError),
                Some(excluded) => choice.exclude.push(Pattern::new(excluded)),
                None if provider.is_empty() => return Err(ChoiceError),
                None => choice.include.push(Chosen { provider: Pattern::new(provider), events }),
            }
        }
        Ok(choice)
    }
}

impl fmt::Display for ProviderChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ProviderChoice {
    /// Whether all providers are meant because none is named.
    pub(super) fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether events of a provider are named.
    pub(super) fn names_events(&self) -> bool {
        self.include.iter().any(|chosen| chosen.events.is_some())
    }

    /// Whether a provider is meant, whatever its events are.
    pub(super) fn accepts_provider(&self, provider: &str, guid: &str) -> bool {
        let is_it = |pattern: &Pattern| is_provider(pattern, provider, guid);
        (self.include.is_empty() || self.include.iter().any(|chosen| is_it(&chosen.provider)))
            && !self.exclude.iter().any(is_it)
    }

    /// Whether an event is meant.
    pub(super) fn accepts(&self, provider: &str, guid: &str, event: &str, id: u16) -> bool {
        let is_meant = |chosen: &Chosen| {
            is_provider(&chosen.provider, provider, guid)
                && chosen.events.as_ref().is_none_or(|events| events.accepts(event, id))
        };
        (self.include.is_empty() || self.include.iter().any(is_meant))
            && !self.exclude.iter().any(|pattern| is_provider(pattern, provider, guid))
    }
}

/// By name, or by GUID with or without braces.
fn is_provider(pattern: &Pattern, provider: &str, guid: &str) -> bool {
    pattern.matches(provider)
        || (!guid.is_empty() && (pattern.matches(guid) || pattern.matches(&format!("{{{guid}}}"))))
}

impl EventChoice {
    fn of(text: &str) -> Self {
        let mut choice = Self::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item.strip_prefix('!').map(str::trim) {
                Some("") => {}
                Some(excluded) => choice.exclude.push(Event::of(excluded)),
                None => choice.include.push(Event::of(item)),
            }
        }
        choice
    }

    fn accepts(&self, event: &str, id: u16) -> bool {
        let is_it = |known: &Event| known.is(event, id);
        (self.include.is_empty() || self.include.iter().any(is_it)) && !self.exclude.iter().any(is_it)
    }
}

impl Event {
    /// A number is an id, all else a part of a name, or a pattern for all of it.
    fn of(text: &str) -> Self {
        match text.parse() {
            Ok(id) => Self::Id(id),
            Err(_) => Self::Name(part(text)),
        }
    }

    fn is(&self, event: &str, id: u16) -> bool {
        match self {
            Self::Id(known) => *known == id,
            Self::Name(pattern) => pattern.matches(event),
        }
    }
}

/// A pattern for a text of which this is a part; with wildcards it describes all of it.
pub(super) fn part(text: &str) -> Pattern {
    if has_wildcards(text) { Pattern::new(text) } else { Pattern::new(&format!("*{text}*")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ProviderChoice;

    const GUID: &str = "0ad614c4-0ef4-4225-8a1b-000000000001";

    fn accepts(choice: &str, provider: &str, event: &str, id: u16) -> bool {
        choice.parse::<ProviderChoice>().expect("providers").accepts(provider, GUID, event, id)
    }

    #[test]
    fn providers_and_events_are_chosen() {
        for (choice, provider, event, id, expected) in [
            ("", "P", "Start", 1, true),
            ("P", "p", "Start", 1, true),
            ("P", "Px", "Start", 1, false),
            ("P*", "Px", "Start", 1, true),
            ("!P", "Px", "Start", 1, true),
            ("!P", "P", "Start", 1, false),
            (GUID, "P", "Start", 1, true),
            ("{0AD614C4-*}", "P", "Start", 1, true),
            ("{1AD614C4-*}", "P", "Start", 1, false),
            ("P:start", "P", "MyStarted", 1, true),
            ("P:start*", "P", "MyStarted", 1, false),
            ("P:*started", "P", "MyStarted", 1, true),
            ("P:12", "P", "Event112", 112, false),
            ("P:12", "P", "Other", 12, true),
            ("P:ev1,12,!ev3", "P", "ev1", 0, true),
            ("P:ev1,12,!ev3", "P", "ev13", 0, true),
            ("P:ev,!ev3", "P", "ev3", 0, false),
            ("P:!ev3", "P", "ev1", 0, true),
            ("P:!ev3,!7", "P", "ev1", 7, false),
            ("P:*", "P", "ev1", 7, true),
            ("P:", "P", "ev1", 7, true),
            ("P:ev1;Q", "Q", "ev3", 0, true),
            ("P:ev1;Q", "R", "ev1", 0, false),
            ("P:ev1;P:ev2", "P", "ev2", 0, true),
            ("P*:ev1;!Pq", "Pq", "ev1", 0, false),
        ] {
            assert_eq!(accepts(choice, provider, event, id), expected, "{choice} {provider} {event} {id}");
        }
        for wrong in ["!", ":12", "P;!", "!P:ev1"] {
            assert!(wrong.parse::<ProviderChoice>().is_err(), "{wrong}");
        }
    }

    proptest! {
        /// Lists of two providers with short lists of events, read plainly.
        #[test]
        fn lists_are_read_as_they_stand(
            lists in prop::collection::vec((0..2_usize, prop::option::of(prop::collection::vec((any::<bool>(), 0..4_u16), 0..4))), 0..4),
            provider in 0..2_usize,
            id in 0..4_u16,
        ) {
            let name = |at: usize| ["Alpha", "Beta"][at];
            let item = |(at, events): &(usize, Option<Vec<(bool, u16)>>)| match events {
                None => name(*at).to_owned(),
                Some(events) => {
                    let events = events.iter().map(|(not, id)| format!("{}{id}", if *not { "!" } else { "" }));
                    format!("{}:{}", name(*at), events.collect::<Vec<_>>().join(","))
                }
            };
            let text = lists.iter().map(item).collect::<Vec<_>>().join(";");
            let expected = lists.is_empty() || lists.iter().any(|(at, events)| {
                let events = events.clone().unwrap_or_default();
                let named = |not: bool| events.contains(&(not, id));
                let has_positive = events.iter().any(|(not, _)| !not);
                *at == provider && (!has_positive || named(false)) && !named(true)
            });
            prop_assert_eq!(accepts(&text, name(provider), "Happened", id), expected, "{}", text);
        }
    }
}
