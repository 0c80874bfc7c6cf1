//! Tags in the place of methods: the aggregator of methods then has the figures of tags, with their unions, and no sum has a
//! second definition.

use tracesift_trace::{FrameId, StackId};

use super::set::{TagId, TagSet};
use super::tagger::Tagger;
use crate::item::Item;
use crate::names::{MethodId, MethodNames};
use crate::stacks::MethodSource;
use rustc_hash::FxHashMap;

/// What a row of figures is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagRow {
    /// The tag alone. Such rows add up to the whole: each stack is in one.
    Own(TagId),
    /// The tag with all that are below it in the hierarchy of names. Overlaps with other rows.
    Total(TagId),
}

/// A [`TagRow`] as a dense number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagNumber(u32);

impl Item for TagNumber {
    #[inline]
    fn number(self) -> u32 {
        self.0
    }
}

impl TagRow {
    /// What a number of a [`TagSource`] stands for.
    #[must_use]
    pub fn of(number: TagNumber) -> Self {
        let tag = TagId(number.0 >> 1);
        if number.0 & 1 == 0 { Self::Own(tag) } else { Self::Total(tag) }
    }

    /// The number that stands for it.
    #[must_use]
    pub fn number(self) -> TagNumber {
        match self {
            Self::Own(TagId(tag)) => TagNumber(tag << 1),
            Self::Total(TagId(tag)) => TagNumber(tag << 1 | 1),
        }
    }
}

/// The tags of stacks in the place of methods: numbers that [`TagRow::of`] understands.
///
/// A stack has one [`TagRow::Own`], first, so that exclusive CPU time is the tag's, too; what has no stack, or no more of it than
/// the sampled instruction, has that of [`TagId::NO_STACK`]. With [`Self::with_totals`] there is a [`TagRow::Total`] for each tag above it besides.
#[derive(Debug)]
pub struct TagSource<'a, S> {
    source: S,
    tagger: Tagger<'a>,
    totals: bool,
    stacks: TagsOfStacks,
    /// By tag, the first stack that has it.
    first: Vec<Option<StackId>>,
    scratch: Vec<MethodId>,
}

impl<'a, S: MethodSource<Item = MethodId>> TagSource<'a, S> {
    /// Tags of the stacks of `source`.
    #[must_use]
    pub fn new(source: S, tagger: Tagger<'a>) -> Self {
        Self { source, tagger, totals: false, stacks: TagsOfStacks::default(), first: Vec::new(), scratch: Vec::new() }
    }

    /// Those for rows of figures: with totals where tags have children.
    #[must_use]
    pub fn for_rows(source: S, set: &'a TagSet, names: &'a MethodNames) -> Self {
        let source = Self::new(source, Tagger::new(set, names));
        if set.has_children() { source.with_totals() } else { source }
    }

    /// Adds rows with totals: for each stack one for its tag and one for each of the tags above.
    #[must_use]
    pub fn with_totals(mut self) -> Self {
        self.totals = true;
        self
    }

    /// The tagger, which knows the names.
    #[must_use]
    pub fn tagger(&self) -> &Tagger<'a> {
        &self.tagger
    }

    /// Whether there are rows with totals.
    pub(crate) fn has_totals(&self) -> bool {
        self.totals
    }

    /// The tag of a stack.
    pub fn tag(&mut self, stack: StackId) -> TagId {
        if let Some(tag) = self.stacks.get(stack) {
            return tag;
        }
        self.scratch.clear();
        self.source.stack(stack, &mut self.scratch);
        let tag = self.tagger.tag(&self.scratch);
        self.stacks.insert(stack, tag);
        tag
    }

    /// For each of the stacks numbered from 0 to `count` one that has the same tag, the same one for all of them.
    #[must_use]
    pub fn representatives(&mut self, count: usize) -> Vec<StackId> {
        (0..count).map(|number| self.representative(StackId::from_index(number))).collect()
    }

    fn push(&self, tag: TagId, numbers: &mut Vec<TagNumber>) {
        numbers.push(TagRow::Own(tag).number());
        if self.totals {
            let mut next = Some(tag);
            while let Some(tag) = next {
                numbers.push(TagRow::Total(tag).number());
                next = self.tagger.parent(tag);
            }
        }
    }
}

impl<S: MethodSource<Item = MethodId>> MethodSource for TagSource<'_, S> {
    type Item = TagNumber;

    fn stack(&mut self, stack: StackId, numbers: &mut Vec<TagNumber>) {
        let tag = self.tag(stack);
        self.push(tag, numbers);
    }

    /// One instruction is no stack: what called it, which most rules are about, is not known.
    fn frame(&mut self, _frame: FrameId, numbers: &mut Vec<TagNumber>) {
        self.no_stack(numbers);
    }

    /// Samples and spans are added up once per tag and not once per stack, which takes most of the time.
    fn representative(&mut self, stack: StackId) -> StackId {
        let tag = self.tag(stack).0 as usize;
        if tag >= self.first.len() {
            self.first.resize(tag + 1, None);
        }
        self.first.get_mut(tag).map_or(stack, |first| *first.get_or_insert(stack))
    }

    fn no_stack(&mut self, numbers: &mut Vec<TagNumber>) {
        self.push(TagId::NO_STACK, numbers);
    }
}

/// Stacks below this number have a place in a list: 16 MiB of it, at most.
const LISTED: usize = 1 << 22;

/// The tags of stacks. Numbers of stacks begin at 0 and leave nothing out, except for those of a damaged archive, which must not
/// take any memory they like.
#[derive(Debug, Default)]
struct TagsOfStacks {
    listed: Vec<TagId>,
    others: FxHashMap<StackId, TagId>,
}

/// A place in the list without a tag.
const NONE: TagId = TagId(u32::MAX);

impl TagsOfStacks {
    #[inline]
    fn get(&self, stack: StackId) -> Option<TagId> {
        let listed = usize::try_from(stack.0).ok().and_then(|place| self.listed.get(place)).copied();
        listed.filter(|tag| *tag != NONE).or_else(|| self.others.get(&stack).copied())
    }

    fn insert(&mut self, stack: StackId, tag: TagId) {
        match usize::try_from(stack.0) {
            Ok(place) if place < LISTED => {
                if place >= self.listed.len() {
                    self.listed.resize(place + 1, NONE);
                }
                if let Some(listed) = self.listed.get_mut(place) {
                    *listed = tag;
                }
            }
            _ => {
                self.others.insert(stack, tag);
            }
        }
    }
}
