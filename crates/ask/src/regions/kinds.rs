//! What the events of each kind do, looked up once per kind.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::regions::{Definitions, EventKind, Role};

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
