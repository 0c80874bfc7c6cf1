//! What the events of each kind do, looked up once per kind.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::regions::{Definitions, EventKind, Role};
use tracesift_archive::Keys;
use tracesift_trace::rows::EventRow;
use tracesift_trace::view;

use crate::events::column_keys::{EVENT, GUID, ID, OPCODE, PROVIDER, VERSION};

view! {
    /// The columns that tell kinds of events apart.
    #[derive(Clone, Debug)]
    pub(super) struct KindOfEvent of EventRow { provider, event, id, version, opcode, guid }
}

/// Chooses the events that do something for the definitions. The texts of a kind are compared once per batch.
pub(super) fn chosen(
    definitions: Arc<Definitions>,
) -> impl FnMut(&Keys<'_, KindOfEvent>) -> Result<Vec<bool>, String> + Send + 'static {
    move |keys| {
        let (providers, events, guids) = (keys.texts::<PROVIDER>()?, keys.texts::<EVENT>()?, keys.texts::<GUID>()?);
        let (ids, versions, opcodes) = (keys.numbers::<ID>()?, keys.numbers::<VERSION>()?, keys.numbers::<OPCODE>()?);
        let guid = |number: usize| guids.text(number).unwrap_or_default();
        let provider = |number: usize| providers.text(number).unwrap_or_default();
        let mut makers: FxHashMap<(usize, usize), bool> = FxHashMap::default();
        let mut verdicts: FxHashMap<_, bool> = FxHashMap::default();
        let verdict = |row| {
            let none = usize::MAX;
            let maker = (guids.number(row).unwrap_or(none), providers.number(row).unwrap_or(none));
            // Of most makers no event does anything.
            if !*makers.entry(maker).or_insert_with(|| definitions.know(guid(maker.0), provider(maker.1))) {
                return false;
            }
            let event = events.number(row).unwrap_or(none);
            let id = ids.get(row).or_else(|| opcodes.get(row)).and_then(|id| i32::try_from(id).ok());
            let version = versions.get(row).and_then(|version| i16::try_from(version).ok());
            *verdicts.entry((maker, event, id, version)).or_insert_with(|| {
                let kind = EventKind {
                    guid: guid(maker.0),
                    provider: provider(maker.1),
                    event: events.text(event).unwrap_or_default(),
                    id: id.unwrap_or_default(),
                    version,
                };
                !definitions.roles(&kind).is_empty()
            })
        };
        Ok((0..keys.rows()).map(verdict).collect())
    }
}

/// Kinds that are remembered; more only a forged archive has.
const MAX_KINDS: usize = 1 << 16;

/// Kinds of one name, which are looked through; likewise.
const MAX_ALIKE: usize = 64;

/// The kinds met so far, so that a look-up copies no text.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    definitions: Arc<Definitions>,
    known: FxHashMap<String, Vec<Known>>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Known {
    guid: String,
    provider: String,
    id: i32,
    version: Option<i16>,
    roles: Vec<Role>,
}

impl Known {
    fn is(&self, kind: &EventKind<'_>) -> bool {
        self.id == kind.id && self.version == kind.version && self.guid == kind.guid && self.provider == kind.provider
    }
}

impl Kinds {
    pub(super) fn new(definitions: Arc<Definitions>) -> Self {
        Self { definitions, known: FxHashMap::default(), count: 0 }
    }

    /// What events of a kind do for the definitions.
    pub(super) fn roles(&mut self, kind: &EventKind<'_>) -> &[Role] {
        let place = self.known.get(kind.event).and_then(|alike| alike.iter().position(|known| known.is(kind)));
        let place = place.unwrap_or_else(|| self.add(kind));
        self.known.get(kind.event).and_then(|alike| alike.get(place)).map_or(&[], |known| &known.roles)
    }

    fn add(&mut self, kind: &EventKind<'_>) -> usize {
        if self.count >= MAX_KINDS {
            self.known.clear();
            self.count = 0;
        }
        let alike = self.known.entry(kind.event.to_owned()).or_default();
        if alike.len() >= MAX_ALIKE {
            alike.clear();
        }
        self.count += 1;
        alike.push(Known {
            guid: kind.guid.to_owned(),
            provider: kind.provider.to_owned(),
            id: kind.id,
            version: kind.version,
            roles: self.definitions.roles(kind),
        });
        alike.len() - 1
    }
}
