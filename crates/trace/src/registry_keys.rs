//! The name of a key control block of the registry at a time. Blocks are reused, and many names come at the end of the
//! recording.

use rustc_hash::FxHashMap;

/// What an event tells of a key control block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEdge {
    /// It has the name from now on.
    Begin,
    /// It had the name up to now.
    End,
    /// It has the name.
    There,
}

/// Bytes of names and of what is known of blocks that are kept at most.
const BUDGET: usize = 128 << 20;
/// Beside its text a name takes so many bytes, about.
const NAME_BYTES: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Known {
    ticks: i64,
    edge: KeyEdge,
    name: u32,
}

/// Key control blocks with their names. Fed in the order of time.
#[derive(Debug)]
pub struct RegistryKeys {
    by_block: FxHashMap<u64, Vec<Known>>,
    names: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, u32>,
    left: usize,
}

impl Default for RegistryKeys {
    fn default() -> Self {
        Self::with_budget(BUDGET)
    }
}

impl RegistryKeys {
    fn with_budget(bytes: usize) -> Self {
        Self { by_block: FxHashMap::default(), names: Vec::new(), ids: FxHashMap::default(), left: bytes }
    }

    /// An event about a block. An empty name says nothing but that the block begins, ends or is there. Returns `false` when the budget
    /// is used up and the event was left out.
    pub fn named(&mut self, ticks: i64, block: u64, edge: KeyEdge, name: &str) -> bool {
        let last = self.by_block.get(&block).and_then(|known| known.last());
        // Rundowns repeat what is known.
        if edge == KeyEdge::There
            && let Some(Known { edge: KeyEdge::Begin | KeyEdge::There, name: known, .. }) = last
            && (name.is_empty() || *self.names[*known as usize] == *name)
        {
            return true;
        }
        let Some(left) = self.left.checked_sub(size_of::<Known>()) else { return false };
        let id = match self.ids.get(name) {
            Some(id) => *id,
            None => {
                let Some(left) = left.checked_sub(2 * name.len() + NAME_BYTES) else { return false };
                let Ok(id) = u32::try_from(self.names.len()) else { return false };
                self.left = left;
                self.names.push(name.into());
                self.ids.insert(name.into(), id);
                id
            }
        };
        self.left = self.left.saturating_sub(size_of::<Known>());
        self.by_block.entry(block).or_default().push(Known { ticks, edge, name: id });
        true
    }

    /// The name of a block at a time. `None`: no event tells it.
    #[must_use]
    pub fn find(&self, block: u64, ticks: i64) -> Option<&str> {
        let known = self.by_block.get(&block)?;
        let after = known.partition_point(|known| known.ticks <= ticks);
        let before = known[..after].last().filter(|known| known.edge != KeyEdge::End);
        // Of a life whose begin is not recorded, its end or a rundown tells the name.
        let behind = || known.get(after).filter(|known| known.edge != KeyEdge::Begin);
        let name = |known: &Known| self.names.get(known.name as usize).map(|name| &**name);
        let is_told = |name: &&str| !name.is_empty();
        // A block that began without a name may get it from its end.
        before.and_then(name).filter(is_told).or_else(|| behind().and_then(name).filter(is_told))
    }

    /// Number of distinct names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no name is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyEdge, RegistryKeys};

    #[test]
    fn a_reused_block_has_the_name_of_its_time() {
        let mut keys = RegistryKeys::default();
        keys.named(100, 1, KeyEdge::End, "a");
        keys.named(200, 1, KeyEdge::Begin, "b");
        keys.named(300, 1, KeyEdge::End, "");
        keys.named(900, 1, KeyEdge::There, "c");
        let at = |ticks| keys.find(1, ticks);
        assert_eq!([50, 100, 150, 200, 299].map(at), [Some("a"), None, None, Some("b"), Some("b")]);
        assert_eq!([300, 899, 900, 2_000].map(at), [Some("c"); 4]);
        assert_eq!(keys.find(2, 50), None);
    }

    #[test]
    fn a_budget_bounds_what_is_kept() {
        let mut keys = RegistryKeys::with_budget(1_000);
        let taken = (0..100).filter(|block| keys.named(0, *block, KeyEdge::There, "name")).count();
        assert!(taken > 10 && taken < 60, "{taken}");
        let taken = (0..100).filter(|number| keys.named(0, 7, KeyEdge::There, &format!("{number}"))).count();
        assert_eq!(taken, 0);
    }

    /// Lives of blocks, some of which are recorded in part: each time has the name of the life around it, if any event of the life or a
    /// rundown in it tells it.
    #[test]
    fn names_are_those_of_a_plain_list_of_lives() {
        let mut seed = 7_u64;
        let mut below = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let mut keys = RegistryKeys::default();
            // Begin, end and name; whether begin and end are recorded.
            let mut lives: Vec<(i64, i64, String)> = Vec::new();
            let mut events: Vec<(i64, KeyEdge, String)> = Vec::new();
            let mut time = 0_i64;
            for life in 0..below(6) {
                let begin = time + below(3) as i64;
                let end = begin + 2 + below(20) as i64;
                let name = format!("key {life}");
                let is_first = life == 0 && below(2) == 0;
                if !is_first {
                    events.push((begin, KeyEdge::Begin, name.clone()));
                }
                if below(3) == 0 {
                    events.push((begin + 1, KeyEdge::There, name.clone()));
                }
                events.push((end, KeyEdge::End, if is_first { name.clone() } else { String::new() }));
                lives.push((if is_first { i64::MIN } else { begin }, end, name));
                time = end;
            }
            events.iter().for_each(|(ticks, edge, name)| assert!(keys.named(*ticks, 5, *edge, name)));
            for ticks in -1..time + 3 {
                let expected = lives.iter().find(|(begin, end, _)| (*begin..*end).contains(&ticks));
                assert_eq!(keys.find(5, ticks), expected.map(|(.., name)| &**name), "{ticks} of {events:?}");
            }
        }
    }
}
