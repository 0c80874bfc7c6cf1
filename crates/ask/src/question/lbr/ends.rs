//! The functions between which branches go.

use rustc_hash::FxHashSet;
use tracesift_analysis::{MethodId, MethodSource as _};
use tracesift_archive::{Archive, Error};

use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::FrameId;
use tracesift_trace::rows::EntryFrameRow;

/// The functions of a branch, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The function that branched.
    pub from: i64,
    /// The function that it went to.
    pub to: i64,
    /// Whether it went to the first instruction of that function.
    pub is_entry: bool,
}

/// The functions of frames.
pub(super) struct Functions {
    named: NamedStacks,
    entries: FxHashSet<FrameId>,
    scratch: Vec<MethodId>,
}

impl Functions {
    pub(super) fn of(archive: &Archive) -> Result<Self, Error> {
        let mut entries = FxHashSet::default();
        archive.scan(None, |row: &EntryFrameRow| _ = entries.insert(row.frame))?;
        let named = NamedStacks::of_frames(archive, Granularity::default())?;
        Ok(Self { named, entries, scratch: Vec::new() })
    }

    /// The functions of a branch; `None` where the archive does not have its frames.
    pub(super) fn ends(&mut self, from: FrameId, to: FrameId) -> Option<Ends> {
        let is_entry = self.entries.contains(&to);
        Some(Ends { from: self.function(from)?, to: self.function(to)?, is_entry })
    }

    /// The function that a frame lies in. What was inlined there is a part of it.
    fn function(&mut self, frame: FrameId) -> Option<i64> {
        self.scratch.clear();
        (&self.named.stacks).frame(frame, &mut self.scratch);
        self.scratch.last().map(|method| i64::from(method.0))
    }
}

/// The names of functions by their numbers.
pub(super) fn names(archive: &Archive) -> Result<Vec<(i64, String)>, Error> {
    let named = NamedStacks::of_frames(archive, Granularity::default())?;
    // A frame with a symbol has the name of its address, too, by which nobody calls it.
    let mut is_used = vec![false; named.names.len()];
    let last = named.stacks.frames().filter_map(<[MethodId]>::last);
    last.for_each(|method| is_used.get_mut(method.0 as usize).into_iter().for_each(|used| *used = true));
    let used = (0_u32..).zip(is_used).filter(|(_, is_used)| *is_used);
    Ok(used.map(|(number, _)| (number.into(), named.names.name(MethodId(number)).into_text())).collect())
}
