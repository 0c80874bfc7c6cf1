//! Finds the tag of a stack.
//!
//! Of the rules that match a stack, that with the highest priority counts; among equals the one whose frame is nearest to the
//! leaf; at the same frame a child before others, the deeper one first; then the first in the order of the files. What is there to
//! know of a method is found once, so a stack costs one look per frame.
//!
//! A child matches where its parent matches, too, at a frame nearer to the root. If it says no priority it takes the place of the
//! tag that the frame had without it: it has the priority of that one or its parent's, whichever is higher.

use rustc_hash::FxHashMap;

use super::file::HintOperator;
use super::rules::RuleFinder;
use super::set::{SetRule, Tag, TagId, TagSet};
use crate::names::{MethodId, MethodNames};

/// Finds the tags of stacks. What it learns of methods it keeps: 16 bytes per method.
#[derive(Debug)]
pub struct Tagger<'a> {
    set: &'a TagSet,
    names: &'a MethodNames,
    finder: RuleFinder<'a>,
    /// Per rule, whether it is a child or has one, so that the frames above tell what it means.
    nested: Vec<bool>,
    methods: Vec<Option<Fulfilled>>,
    /// Of all methods, the rules that they fulfil and that are children or have some.
    nested_rules: Vec<u32>,
    /// Per rule, whether it matched at a frame nearer to the root of the stack at hand.
    matched: Vec<bool>,
    /// The rules of which that is so.
    matches: Vec<u32>,
    /// Tags that hint tags found in stacks; their numbers go on behind those of the set.
    found: Vec<Tag>,
    found_by_name: FxHashMap<String, TagId>,
    scratch: Vec<u32>,
}

/// What a method fulfils.
#[derive(Clone, Copy, Debug)]
struct Fulfilled {
    /// Of the rules that are no children, the one that counts.
    rule: Option<Ranked>,
    /// Where its nested rules are.
    nested: (u32, u32),
}

/// A rule with its priority.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    priority: i32,
    rule: u32,
}

impl<'a> Tagger<'a> {
    /// Tags stacks of the methods in `names`.
    #[must_use]
    pub fn new(set: &'a TagSet, names: &'a MethodNames) -> Self {
        let mut nested = vec![false; set.rules().len()];
        for (number, rule) in set.rules().iter().enumerate() {
            for place in rule.parent.map(|parent| [parent as usize, number]).into_iter().flatten() {
                if let Some(nested) = nested.get_mut(place) {
                    *nested = true;
                }
            }
        }
        Self {
            set,
            names,
            finder: RuleFinder::new(set),
            matched: vec![false; nested.len()],
            nested,
            methods: vec![None; names.len()],
            nested_rules: Vec::new(),
            matches: Vec::new(),
            found: Vec::new(),
            found_by_name: FxHashMap::default(),
            scratch: Vec::new(),
        }
    }

    /// The tag of a stack, given as its methods, leaf first. A stack without any has [`TagId::NO_STACK`].
    pub fn tag(&mut self, stack: &[MethodId]) -> TagId {
        if stack.is_empty() {
            return TagId::NO_STACK;
        }
        let mut best: Option<(Ranked, usize)> = None;
        let mut nested = false;
        for (depth, &method) in stack.iter().enumerate() {
            let fulfilled = self.fulfilled(method);
            nested |= fulfilled.nested.0 != fulfilled.nested.1;
            if let Some(rule) = fulfilled.rule
                && best.is_none_or(|(best, _)| rule.priority > best.priority)
            {
                best = Some((rule, depth));
            }
        }
        if nested {
            best = self.best_with_children(stack);
        }
        best.map_or(TagId::OTHER, |(best, depth)| self.tag_of(best.rule, stack, depth))
    }

    /// All tags known by now: those of the set, then those that hint tags found.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = TagId> {
        (0..number(self.set.tag_table().len() + self.found.len())).map(TagId)
    }

    /// The full name of a tag, `Parent\Child`; empty for a number that was not given out here.
    #[must_use]
    pub fn name(&self, tag: TagId) -> &str {
        self.entry(tag).map_or("", |tag| &tag.name)
    }

    /// The tag whose name is in front of this one's.
    #[must_use]
    pub fn parent(&self, tag: TagId) -> Option<TagId> {
        self.entry(tag)?.parent
    }

    fn entry(&self, tag: TagId) -> Option<&Tag> {
        let (index, of_set) = (tag.0 as usize, self.set.tag_table());
        of_set.get(index).or_else(|| self.found.get(index.checked_sub(of_set.len())?))
    }

    fn rule(&self, number: u32) -> Option<&'a SetRule> {
        self.set.rules().get(number as usize)
    }

    #[inline]
    fn fulfilled(&mut self, method: MethodId) -> Fulfilled {
        match self.methods.get(method.0 as usize) {
            Some(&Some(fulfilled)) => fulfilled,
            _ => self.ask(method),
        }
    }

    /// Finds out what a method fulfils.
    #[cold]
    fn ask(&mut self, method: MethodId) -> Fulfilled {
        let mut numbers = std::mem::take(&mut self.scratch);
        numbers.clear();
        self.finder.find(&self.names.name(method), |rule| numbers.push(rule));
        numbers.sort_unstable();
        numbers.dedup();
        let mut best: Option<Ranked> = None;
        let start = number(self.nested_rules.len());
        for &number in &numbers {
            let Some(rule) = self.rule(number) else { continue };
            if rule.parent.is_none() && best.is_none_or(|best| rule.priority > best.priority) {
                best = Some(Ranked { priority: rule.priority, rule: number });
            }
            if self.nested.get(number as usize) == Some(&true) {
                self.nested_rules.push(number);
            }
        }
        self.scratch = numbers;
        let fulfilled = Fulfilled { rule: best, nested: (start, number(self.nested_rules.len())) };
        if let Some(known) = self.methods.get_mut(method.0 as usize) {
            *known = Some(fulfilled);
        } else {
            // A number without a name, which a damaged archive may hold, is not worth keeping.
            self.nested_rules.truncate(start as usize);
        }
        fulfilled
    }

    /// The rule that counts for a stack in which children or their parents may match, and its depth.
    fn best_with_children(&mut self, stack: &[MethodId]) -> Option<(Ranked, usize)> {
        let mut best: Option<(Ranked, usize)> = None;
        // From the root on, so that what is known to have matched stands above.
        for (depth, &method) in stack.iter().enumerate().rev() {
            let fulfilled = self.fulfilled(method);
            let here = self.best_here(fulfilled);
            if let Some(here) = here
                && best.is_none_or(|(best, _)| here.priority >= best.priority)
            {
                best = Some((here, depth));
            }
            self.note_matches(fulfilled);
        }
        for rule in self.matches.drain(..) {
            if let Some(matched) = self.matched.get_mut(rule as usize) {
                *matched = false;
            }
        }
        best
    }

    /// The rule that counts at a frame.
    fn best_here(&self, fulfilled: Fulfilled) -> Option<Ranked> {
        let mut best = fulfilled.rule;
        let mut best_level = 0;
        for (number, rule) in self.nested_at(fulfilled) {
            if rule.parent.is_none_or(|parent| !self.has_matched(parent)) {
                continue;
            }
            let taken_over = fulfilled.rule.filter(|_| rule.takes_over).map_or(rule.priority, |rule| rule.priority);
            let priority = rule.priority.max(taken_over);
            if best.is_none_or(|best| (priority, rule.level) > (best.priority, best_level)) {
                best = Some(Ranked { priority, rule: number });
                best_level = rule.level;
            }
        }
        best
    }

    /// Notes which parents match at a frame, for the frames below.
    fn note_matches(&mut self, fulfilled: Fulfilled) {
        let before = self.matches.len();
        for index in fulfilled.nested.0..fulfilled.nested.1 {
            let Some(&number) = self.nested_rules.get(index as usize) else { continue };
            let Some(rule) = self.rule(number) else { continue };
            let matches = rule.parent.is_none_or(|parent| self.has_matched(parent)) && !self.has_matched(number);
            // Only noted: what matches here counts from the next frame on.
            if matches {
                self.matches.push(number);
            }
        }
        for &number in self.matches.get(before..).unwrap_or_default() {
            if let Some(matched) = self.matched.get_mut(number as usize) {
                *matched = true;
            }
        }
    }

    fn nested_at(&self, fulfilled: Fulfilled) -> impl Iterator<Item = (u32, &'a SetRule)> {
        let (start, end) = fulfilled.nested;
        let numbers = self.nested_rules.get(start as usize..end as usize).unwrap_or_default();
        numbers.iter().filter_map(|&number| Some((number, self.rule(number)?)))
    }

    fn has_matched(&self, rule: u32) -> bool {
        self.matched.get(rule as usize) == Some(&true)
    }

    /// The tag of a rule that matches at a frame of the stack.
    fn tag_of(&mut self, rule: u32, stack: &[MethodId], depth: usize) -> TagId {
        let Some(rule) = self.rule(rule) else { return TagId::OTHER };
        let Some(hint) = rule.hint else { return rule.tag };
        let neighbour = match hint.operator {
            HintOperator::Callee => depth.checked_sub(1),
            HintOperator::Caller => depth.checked_add(1),
        };
        let Some(&method) = neighbour.and_then(|depth| stack.get(depth)) else { return rule.tag };
        let name = self.names.name(method);
        let module = self.find_tag(rule.tag, name.module.as_deref().unwrap_or("[unknown]"));
        if hint.only_module { module } else { self.find_tag(module, &name.function) }
    }

    /// The tag of a name below another one.
    fn find_tag(&mut self, parent: TagId, own: &str) -> TagId {
        let name = format!("{}\\{own}", self.name(parent));
        if let Some(&tag) = self.found_by_name.get(&name) {
            return tag;
        }
        let of_set = self.set.find(&name);
        let tag = of_set.unwrap_or_else(|| TagId(number(self.set.tag_table().len() + self.found.len())));
        if of_set.is_none() {
            self.found.push(Tag { name: name.clone(), parent: Some(parent) });
        }
        self.found_by_name.insert(name, tag);
        tag
    }
}

/// Numbers stay below 2^32: what they number takes more than a byte each.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
