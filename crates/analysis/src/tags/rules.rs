//! Which rules a method fulfils.
//!
//! A set has hundreds of entry points and a recording up to hundreds of thousands of methods, of which most stand in modules that no
//! entry point names. So entry points are sorted by module once, when a method of it is first met, and within a
//! module by how their method begins; what is then left to be compared is a handful.

use rustc_hash::FxHashMap;

use super::set::{SetEntryPoint, TagSet};
use crate::names::MethodName;
use crate::pattern::{Pattern, fold};

/// Finds the rules of methods.
#[derive(Debug)]
pub(super) struct RuleFinder<'a> {
    entry_points: &'a [SetEntryPoint],
    /// Entry points by the pattern of their module, so that each pattern is compared once per module.
    modules: Vec<(Pattern, Vec<u32>)>,
    /// Entry points for any module.
    everywhere: Methods,
    by_module: FxHashMap<String, Methods>,
    folded: String,
}

impl<'a> RuleFinder<'a> {
    pub(super) fn new(set: &'a TagSet) -> Self {
        let entry_points = set.entry_points();
        let mut by_pattern: FxHashMap<&str, usize> = FxHashMap::default();
        let mut modules: Vec<(Pattern, Vec<u32>)> = Vec::new();
        let mut everywhere = Methods::default();
        for (number, entry) in (0_u32..).zip(entry_points) {
            if entry.module == "*" {
                everywhere.add(entry);
                continue;
            }
            let place = *by_pattern.entry(&entry.module).or_insert_with(|| {
                modules.push((Pattern::new(&entry.module), Vec::new()));
                modules.len() - 1
            });
            if let Some((_, numbers)) = modules.get_mut(place) {
                numbers.push(number);
            }
        }
        Self { entry_points, modules, everywhere, by_module: FxHashMap::default(), folded: String::new() }
    }

    /// Hands out the numbers of the rules that a method fulfils, in any order; one may come more than once.
    pub(super) fn find(&mut self, name: &MethodName, mut found: impl FnMut(u32)) {
        self.folded.clear();
        fold_method(&name.function, &mut self.folded);
        self.everywhere.find(&self.folded, &mut found);
        let module = name.module.as_deref().unwrap_or_default();
        if !self.by_module.contains_key(module) {
            let mut methods = Methods::default();
            let matching = self.modules.iter().filter(|(pattern, _)| pattern.matches(module));
            let numbers = matching.flat_map(|(_, numbers)| numbers);
            numbers.filter_map(|&number| self.entry_points.get(number as usize)).for_each(|entry| methods.add(entry));
            self.by_module.insert(module.to_owned(), methods);
        }
        if let Some(methods) = self.by_module.get(module) {
            methods.find(&self.folded, &mut found);
        }
    }
}

/// The entry points of a module by how their method begins.
#[derive(Debug, Default)]
struct Methods {
    /// For any method.
    all: Vec<u32>,
    /// Without wildcards, by the folded name.
    literal: FxHashMap<String, Vec<u32>>,
    /// By the first character.
    by_first: FxHashMap<char, Vec<(Pattern, u32)>>,
    /// Those that begin with a wildcard.
    anywhere: Vec<(Pattern, u32)>,
}

impl Methods {
    fn add(&mut self, entry: &SetEntryPoint) {
        let mut folded = String::new();
        fold_method(&entry.method, &mut folded);
        let pattern = Pattern::new(&folded);
        match folded.chars().next() {
            _ if folded == "*" => self.all.push(entry.rule),
            _ if pattern.is_literal() => self.literal.entry(folded).or_default().push(entry.rule),
            None | Some('*' | '?') => self.anywhere.push((pattern, entry.rule)),
            Some(first) => self.by_first.entry(first).or_default().push((pattern, entry.rule)),
        }
    }

    fn find(&self, folded: &str, found: &mut impl FnMut(u32)) {
        self.all.iter().for_each(|&rule| found(rule));
        self.literal.get(folded).into_iter().flatten().for_each(|&rule| found(rule));
        let first = folded.chars().next();
        let by_first = first.and_then(|first| self.by_first.get(&first)).into_iter().flatten();
        by_first
            .chain(&self.anywhere)
            .filter(|(pattern, _)| pattern.matches(folded))
            .for_each(|&(_, rule)| found(rule));
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
