//! Chooses the events that the archive keeps one by one, besides events that have a table of their
//! own.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tracesift_etl::payload::dotnet::{RUNDOWN_PROVIDER, RUNTIME_PROVIDER};
use tracesift_etl::{Guid, class, payload};

use crate::event_kinds::{EventChoice, EventKind, is_injected};

/// The events that an archive keeps in its table `events`.
#[derive(Clone, Debug, Default)]
pub enum EventSelection {
    /// None.
    None,
    /// Those of providers: no kernel events, nothing that only describes others, and no traffic that other tables show whole.
    #[default]
    Default,
    /// All.
    All,
    /// Those of some kinds: for an archive that is made for one question.
    Chosen(EventChoice),
}

impl EventSelection {
    /// The word for it: in `trace.json` and on the command line.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Default => "default",
            Self::All => "all",
            Self::Chosen(_) => "chosen",
        }
    }

    /// Whether an archive that keeps `stored` (its word in `trace.json`) has all of these.
    #[must_use]
    pub fn is_within(&self, stored: &str) -> bool {
        match self {
            Self::None => true,
            Self::Default => stored == "default" || stored == "all",
            Self::All => stored == "all",
            Self::Chosen(_) => false,
        }
    }

    /// Its kinds; `None` where nothing is kept.
    pub(crate) fn choice(&self) -> Option<EventChoice> {
        match self {
            Self::None => None,
            Self::Default => Some(EventChoice::new(tells_something_new)),
            Self::All => Some(EventChoice::new(|_| true)),
            Self::Chosen(choice) => Some(choice.clone()),
        }
    }
}

impl fmt::Display for EventSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that is no selection of events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no selection of events; it is none, default or all")]
pub struct EventSelectionError(String);

impl FromStr for EventSelection {
    type Err = EventSelectionError;

    fn from_str(text: &str) -> Result<Self, EventSelectionError> {
        [Self::None, Self::Default, Self::All]
            .into_iter()
            .find(|selection| selection.name() == text)
            .ok_or_else(|| EventSelectionError(text.to_owned()))
    }
}

/// Kernel events have tables of their own or come in millions, and what describes others is in the tables that they explain.
fn tells_something_new(kind: &EventKind) -> bool {
    /// An EventSource's manifest.
    const MANIFEST: u16 = 0xfffe;
    !kind.is_kernel
        && kind.guid != Some(class::EVENT_METADATA)
        && kind.guid != Some(RUNDOWN_PROVIDER)
        && kind.id != Some(MANIFEST)
        && !kind.guid.is_some_and(is_injected)
        && !is_in_a_table(kind)
}

/// Events of providers that come in millions and that another table shows whole.
const IN_TABLES: &[(Guid, &[RangeInclusive<u16>])] = &[
    (payload::KERNEL_NETWORK, &[10..=59]),
    (payload::TCPIP, &[1074..=1074, 1159..=1160, 1332..=1332]),
    (payload::KERNEL_MEMORY, &[1..=2]),
    (payload::KERNEL_FILE, &[10..=34]),
    // Allocations, ranges of memory that the GC moved, compilations, with the code and its map, and the stacks of other events of the runtime.
    (RUNTIME_PROVIDER, &[10..=10, 21..=23, 82..=82, 143..=145, 190..=190]),
    // Messages and their pump, of which `ui_delays` has the times that are long.
    (class::WIN32K, &[59..=65, 68..=71, 76..=77, 88..=88, 92..=93]),
    // Not options and aborts, whose option and reason no table has, nor what the network indicates.
    (class::WINSOCK_AFD, WINSOCK_CALLS),
];

/// Calls that `socket_calls` shows.
const WINSOCK_CALLS: &[RangeInclusive<u16>] = &[
    1000..=1000,
    1002..=1007,
    1009..=1009,
    1011..=1013,
    1015..=1015,
    1017..=1018,
    1020..=1021,
    1023..=1024,
    1026..=1027,
    1029..=1030,
    1036..=1037,
];

fn is_in_a_table(kind: &EventKind) -> bool {
    let (Some(guid), Some(id)) = (kind.guid, kind.id) else { return false };
    IN_TABLES.iter().any(|(provider, ids)| *provider == guid && ids.iter().any(|ids| ids.contains(&id)))
}
