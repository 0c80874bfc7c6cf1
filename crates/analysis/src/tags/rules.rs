//! Finds the rules that a method fulfils.
//!
//! A set has hundreds of entry points and a recording up to hundreds of thousands of methods, of which most stand in modules that no
//! entry point names. So entry points are sorted once for the modules that the same patterns match, which mostly are none,
//! and then by what their method must begin with or contain; what is left to be compared is a handful.

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use super::set::{SetEntryPoint, TagSet};
use crate::names::MethodName;
use tracesift_grammar::Pattern;
use tracesift_grammar::pattern::fold;

/// Entry points that are kept sorted for modules: one and the same for many of them only if somebody wishes harm.
const MAX_KEPT: usize = 1 << 20;

/// Finds the rules of methods.
#[derive(Debug)]
pub(super) struct RuleFinder<'a> {
    entry_points: &'a [SetEntryPoint],
    /// Entry points by the pattern of their module, so that each pattern is compared once per module.
    modules: Vec<(Pattern, Vec<u32>)>,
    /// Entry points for any module.
    everywhere: Methods,
    /// Per module the patterns that match it, as a place in `sorted`.
    by_module: FxHashMap<String, usize>,
    by_patterns: FxHashMap<Vec<u32>, usize>,
    sorted: Vec<Methods>,
    /// Entry points in `sorted`.
    kept: usize,
    folded: String,
}

impl<'a> RuleFinder<'a> {
    pub(super) fn new(set: &'a TagSet) -> Self {
        let entry_points = set.entry_points();
        let mut by_pattern: FxHashMap<&str, usize> = FxHashMap::default();
        let mut modules: Vec<(Pattern, Vec<u32>)> = Vec::new();
        for (number, entry) in (0_u32..).zip(entry_points).filter(|(_, entry)| entry.module != ANY) {
            let place = *by_pattern.entry(&entry.module).or_insert_with(|| {
                modules.push((Pattern::new(&entry.module), Vec::new()));
                modules.len() - 1
            });
            if let Some((_, numbers)) = modules.get_mut(place) {
                numbers.push(number);
            }
        }
        Self {
            entry_points,
            modules,
            everywhere: Methods::new(entry_points.iter().filter(|entry| entry.module == ANY)),
            by_module: FxHashMap::default(),
            by_patterns: FxHashMap::default(),
            sorted: Vec::new(),
            kept: 0,
            folded: String::new(),
        }
    }

    /// Hands out the numbers of the rules that a method fulfils, in any order; one may come more than once.
    pub(super) fn find(&mut self, name: &MethodName, mut found: impl FnMut(u32)) {
        self.folded.clear();
        fold_method(&name.function, &mut self.folded);
        self.everywhere.find(&self.folded, &mut found);
        let module = name.module.as_deref().unwrap_or_default();
        let place = match self.by_module.get(module) {
            Some(&place) => place,
            None => self.sort(module),
        };
        if let Some(methods) = self.sorted.get_mut(place) {
            methods.find(&self.folded, &mut found);
        }
    }

    /// Sorts the entry points for a module; returns their place.
    fn sort(&mut self, module: &str) -> usize {
        if self.kept > MAX_KEPT {
            self.by_module.clear();
            self.by_patterns.clear();
            self.sorted.clear();
            self.kept = 0;
        }
        let matching = (0..).zip(&self.modules).filter(|(_, (pattern, _))| pattern.matches(module));
        let patterns = matching.map(|(number, _)| number).collect::<Vec<u32>>();
        let place = match self.by_patterns.get(&patterns) {
            Some(&place) => place,
            None => {
                let of_pattern = |number: &u32| self.modules.get(*number as usize).map(|(_, numbers)| numbers);
                let numbers = patterns.iter().filter_map(of_pattern).flatten();
                self.kept += numbers.clone().count();
                let entry_points = self.entry_points;
                let methods = Methods::new(numbers.filter_map(|&number| entry_points.get(number as usize)));
                self.sorted.push(methods);
                self.by_patterns.insert(patterns, self.sorted.len() - 1);
                self.sorted.len() - 1
            }
        };
        self.by_module.insert(module.to_owned(), place);
        place
    }
}

/// The pattern that everything matches.
const ANY: &str = "*";

/// Entry points by what their method must be.
#[derive(Debug, Default)]
struct Methods {
    /// Anything.
    all: Vec<u32>,
    /// This name, folded.
    literal: FxHashMap<String, Vec<u32>>,
    /// By the first character.
    by_first: FxHashMap<char, Vec<(Pattern, u32)>>,
    /// Beginning with a wildcard.
    anywhere: Vec<(Pattern, u32)>,
    /// The longest piece without wildcards of each of those, to be found in the names at once.
    pieces: Option<AhoCorasick>,
    /// Per one of those, the number of the latest name in which its piece was found.
    seen: Vec<u32>,
    names: u32,
}

impl Methods {
    fn new<'a>(entry_points: impl Iterator<Item = &'a SetEntryPoint>) -> Self {
        let mut methods = Self::default();
        let mut pieces = Vec::new();
        for entry in entry_points {
            let mut folded = String::new();
            fold_method(&entry.method, &mut folded);
            let pattern = Pattern::new(&folded);
            match folded.chars().next() {
                _ if folded == ANY => methods.all.push(entry.rule),
                _ if pattern.is_literal() => methods.literal.entry(folded).or_default().push(entry.rule),
                None | Some('*' | '?') => {
                    let piece = folded.split(['*', '?']).max_by_key(|piece| piece.len());
                    pieces.push(piece.unwrap_or_default().to_owned());
                    methods.anywhere.push((pattern, entry.rule));
                }
                Some(first) => methods.by_first.entry(first).or_default().push((pattern, entry.rule)),
            }
        }
        methods.seen = vec![0; methods.anywhere.len()];
        // Without it each pattern is compared: slower, and the same.
        methods.pieces = AhoCorasick::new(&pieces).ok().filter(|_| !pieces.is_empty());
        methods
    }

    fn find(&mut self, folded: &str, found: &mut impl FnMut(u32)) {
        self.all.iter().for_each(|&rule| found(rule));
        self.literal.get(folded).into_iter().flatten().for_each(|&rule| found(rule));
        let by_first = folded.chars().next().and_then(|first| self.by_first.get(&first));
        for (pattern, rule) in by_first.into_iter().flatten() {
            if pattern.matches(folded) {
                found(*rule);
            }
        }
        let Some(pieces) = &self.pieces else {
            self.anywhere.iter().filter(|(pattern, _)| pattern.matches(folded)).for_each(|&(_, rule)| found(rule));
            return;
        };
        self.names = self.names.wrapping_add(1);
        if self.names == 0 {
            self.seen.fill(0);
            self.names = 1;
        }
        for place in pieces.find_overlapping_iter(folded) {
            let number = place.pattern().as_usize();
            let (Some(seen), Some((pattern, rule))) = (self.seen.get_mut(number), self.anywhere.get(number)) else {
                continue;
            };
            if std::mem::replace(seen, self.names) != self.names && pattern.matches(folded) {
                found(*rule);
            }
        }
    }
}

/// Appends a method or the pattern of one as it is compared: without case, and with `.` for `::`, since who reads the
/// symbols of managed code writes one or the other.
fn fold_method(text: &str, folded: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ':' if chars.next_if_eq(&':').is_some() => folded.push('.'),
            c => folded.push(fold(c)),
        }
    }
}
