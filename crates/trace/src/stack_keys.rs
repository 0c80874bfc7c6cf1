//! Stacks by key: which frames a key stood for at a time.
//!
//! A recorder that caches stacks writes a key with each event and the frames once: when the cache evicts the key, or at
//! the end of the session. So nearly every definition comes after its references, and keys are used again for other
//! frames. All definitions are collected first; 24 bytes each stay in memory, the frames spill.
//!
//! A key is often used again in the very tick in which its old definition was written. So definitions and references are
//! told apart by their position in the stream of stack records, not by time.

use std::io;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use crate::spill::Spill;

/// Frames kept in memory before they spill, bytes.
const FRAMES_IN_MEMORY: usize = 32 << 20;

/// Most frames that a definition may have; the recorder's own limit is 256.
const MAX_FRAMES: usize = 1024;

/// Which half of a stack a key stands for. The same number may be live in both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Kernel-mode frames, the leaf side.
    Kernel,
    /// User-mode frames, the root side.
    User,
}

/// When a definition was written in relation to the references that it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// At the creation of the key: references follow.
    Later,
    /// At the eviction of the key or at the end of the session: references precede.
    Earlier,
}

#[derive(Clone, Copy, Debug)]
struct Definition {
    key: u64,
    position: u64,
    /// Place in the spill shifted left by 12, then whether it serves later references, then the number of frames.
    place: u64,
}

impl Definition {
    fn serves(self) -> Serves {
        if self.place >> 11 & 1 == 1 { Serves::Later } else { Serves::Earlier }
    }
}

/// A definition, stable once the table is sealed: the key of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionId {
    half: Half,
    index: u32,
}

/// Positions of stack records, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
}

/// Collects definitions.
#[derive(Debug)]
pub struct StackKeysBuilder {
    kernel: Vec<Definition>,
    user: Vec<Definition>,
    frames: Spill,
    bytes: Vec<u8>,
}

/// All definitions, ready to be asked.
#[derive(Debug)]
pub struct StackKeys {
    kernel: Table,
    user: Table,
    frames: Spill,
}

#[derive(Debug, Default)]
struct Table {
    definitions: Vec<Definition>,
    ranges: FxHashMap<u64, (u32, u32)>,
}

impl StackKeysBuilder {
    /// Nothing defined; frames spill into `directory` (default: the system's temporary one).
    #[must_use]
    pub fn new(directory: Option<PathBuf>) -> Self {
        let frames = Spill::new(FRAMES_IN_MEMORY, directory);
        Self { kernel: Vec::new(), user: Vec::new(), frames, bytes: Vec::new() }
    }

    /// A definition, the `position`-th stack record of the recording. Frames beyond 1,024 are cut.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn define(
        &mut self,
        half: Half,
        key: u64,
        position: u64,
        serves: Serves,
        frames: impl Iterator<Item = u64>,
    ) -> io::Result<()> {
        self.bytes.clear();
        for frame in frames.take(MAX_FRAMES) {
            self.bytes.extend_from_slice(&frame.to_le_bytes());
        }
        let count = (self.bytes.len() / 8) as u64;
        let start = self.frames.append(&self.bytes)?;
        let later = u64::from(serves == Serves::Later);
        let place = start << 12 | later << 11 | count.min(0x7ff);
        let table = match half {
            Half::Kernel => &mut self.kernel,
            Half::User => &mut self.user,
        };
        table.push(Definition { key, position, place });
        Ok(())
    }

    /// Orders the definitions.
    #[must_use]
    pub fn seal(self) -> StackKeys {
        StackKeys { kernel: Table::new(self.kernel), user: Table::new(self.user), frames: self.frames }
    }
}

impl Table {
    fn new(mut definitions: Vec<Definition>) -> Self {
        definitions.shrink_to_fit();
        definitions.sort_by_key(|definition| (definition.key, definition.position));
        let mut ranges: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
        for (index, definition) in definitions.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            ranges.entry(definition.key).or_insert((index, index)).1 = index.saturating_add(1);
        }
        Self { definitions, ranges }
    }

    fn find(&self, key: u64, position: u64) -> Option<(u32, Positions)> {
        let &(start, end) = self.ranges.get(&key)?;
        let of_key = &self.definitions[start as usize..end as usize];
        let next = of_key.partition_point(|definition| definition.position < position);
        let earlier = next.checked_sub(1);
        let first = earlier.map_or(0, |earlier| of_key[earlier].position + 1);
        let last = of_key.get(next).map_or(u64::MAX, |definition| definition.position);
        let chosen = match of_key.get(next) {
            Some(definition) if definition.serves() == Serves::Earlier => next,
            // The next record creates the key anew: what it stood for before was said at its last creation.
            Some(_) => match earlier {
                Some(earlier) if of_key[earlier].serves() == Serves::Later => earlier,
                _ => next,
            },
            None => earlier?,
        };
        Some((start + u32::try_from(chosen).unwrap_or(0), Positions { first, last }))
    }
}

impl StackKeys {
    /// The definition that a reference in `half`, the `position`-th stack record, means: the first after it, because
    /// definitions follow their references; else the last before it. Also the positions at which all references of the key mean it.
    #[must_use]
    pub fn find(&self, half: Half, key: u64, position: u64) -> Option<(DefinitionId, Positions)> {
        let table = match half {
            Half::Kernel => &self.kernel,
            Half::User => &self.user,
        };
        let (index, positions) = table.find(key, position)?;
        Some((DefinitionId { half, index }, positions))
    }

    /// The frames of a definition, leaf first, into `into`.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn frames(&self, id: DefinitionId, into: &mut Vec<u64>) -> io::Result<()> {
        let table = match id.half {
            Half::Kernel => &self.kernel,
            Half::User => &self.user,
        };
        let place = table.definitions[id.index as usize].place;
        let mut bytes = [0; MAX_FRAMES * 8];
        let bytes = bytes.get_mut(..(place & 0x7ff) as usize * 8).unwrap_or_default();
        self.frames.read(place >> 12, bytes)?;
        into.clear();
        into.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        Ok(())
    }

    /// Number of definitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kernel.definitions.len() + self.user.definitions.len()
    }

    /// Whether nothing was defined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Half, Serves, StackKeys, StackKeysBuilder};

    fn frames_at(keys: &StackKeys, half: Half, key: u64, position: u64) -> Option<Vec<u64>> {
        let (id, _) = keys.find(half, key, position)?;
        let mut frames = Vec::new();
        keys.frames(id, &mut frames).unwrap();
        Some(frames)
    }

    #[test]
    fn a_reference_means_the_first_definition_at_or_after_it() {
        let mut builder = StackKeysBuilder::new(None);
        builder.define(Half::Kernel, 7, 100, Serves::Earlier, [1, 2].into_iter()).unwrap();
        builder.define(Half::Kernel, 7, 300, Serves::Earlier, [3].into_iter()).unwrap();
        builder.define(Half::User, 7, 200, Serves::Earlier, [4].into_iter()).unwrap();
        let keys = builder.seal();
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 50), Some(vec![1, 2]));
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 100), Some(vec![1, 2]));
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 101), Some(vec![3]));
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 400), Some(vec![3]));
        assert_eq!(frames_at(&keys, Half::User, 7, 101), Some(vec![4]));
        assert_eq!(frames_at(&keys, Half::User, 8, 101), None);
    }

    #[test]
    fn a_creation_serves_what_follows_it() {
        let mut builder = StackKeysBuilder::new(None);
        builder.define(Half::Kernel, 7, 100, Serves::Later, [1].into_iter()).unwrap();
        builder.define(Half::Kernel, 7, 300, Serves::Later, [2].into_iter()).unwrap();
        let keys = builder.seal();
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 150), Some(vec![1]));
        assert_eq!(frames_at(&keys, Half::Kernel, 7, 350), Some(vec![2]));
    }
}
