//! Stack tags against a plain reading of their rules, and their figures against what the simulated machine really did.

use std::cmp::Reverse;

use proptest::prelude::*;
use tracesift_analysis::tags::{Nesting, TagFile, TagId, TagRow, TagSet, TagSource, Tagger};
use tracesift_analysis::{MethodAggregator, MethodId, MethodNames, Span};
use tracesift_trace::StackId;

use crate::properties::methods::{a_range, expected};
use crate::properties::simulation;

/// A tag as a file has it; those in front of it are written before it.
#[derive(Clone, Debug)]
struct Tag {
    /// The tag that it is in; the outermost ones are in the file's root.
    within: Option<usize>,
    priority: Option<i32>,
    is_child: Option<bool>,
    /// Patterns of module and method.
    entries: Vec<(&'static str, &'static str)>,
}

/// What the simulated machine's methods are called: module and function.
const METHODS: [(Option<&str>, &str); 12] = [
    (Some("a.dll"), "Read"),
    (Some("a.dll"), "Program.Main"),
    (Some("A.DLL"), "Program::Main"),
    (Some("a.dll"), "gc::Mark"),
    (Some("b.sys"), "Read"),
    (Some("b.sys"), "ReadFile"),
    (Some("b.sys"), "gc.Mark"),
    (Some("b.sys"), "b.sys+0x12"),
    (Some("libc.so.6"), "read"),
    (None, "Program.Main"),
    (None, "[unknown]"),
    (Some("b.sys"), "Größe"),
];

const PATTERNS: [(&str, &str); 14] = [
    ("a.dll", "Read"),
    ("A.*", "read*"),
    ("b.sys", "*"),
    ("*", "*Program::Main*"),
    ("*", "*.Main"),
    ("?.*", "gc*"),
    ("b.sys", "gc::Mark"),
    ("*.sys", "*+0x*"),
    ("*", "Read"),
    ("b.sys", "gRÖ?e"),
    ("lib*", "*"),
    ("*", "*r*a*"),
    ("*", "[unknown]"),
    ("nothing", "*"),
];

fn names() -> MethodNames {
    let mut names = MethodNames::new();
    for (number, (module, function)) in (0..).zip(METHODS) {
        assert_eq!(names.function(module, function), MethodId(number));
    }
    names
}

fn written(tags: &[Tag]) -> String {
    fn write(tags: &[Tag], within: Option<usize>, out: &mut String) {
        for (number, tag) in tags.iter().enumerate().filter(|(_, tag)| tag.within == within) {
            out.push_str(&format!("<Tag Name=\"t{number}\""));
            tag.priority.iter().for_each(|priority| out.push_str(&format!(" Priority=\"{priority}\"")));
            tag.is_child.iter().for_each(|is_child| out.push_str(&format!(" IsChild=\"{is_child}\"")));
            out.push('>');
            // Half of them behind the tags within, which must not matter.
            let (before, behind) = tag.entries.split_at(tag.entries.len() / 2);
            let entry =
                |(module, method): &(&str, &str)| format!("<Entrypoint Module=\"{module}\" Method=\"{method}\"/>");
            out.extend(before.iter().map(entry));
            write(tags, Some(number), out);
            out.extend(behind.iter().map(entry));
            out.push_str("</Tag>");
        }
    }
    let mut out = "<Tag Name=\"\">".to_owned();
    write(tags, None, &mut out);
    out + "</Tag>"
}

/// The rules as `docs/stack-tags.md` tells them, word by word.
struct Oracle<'a> {
    tags: &'a [Tag],
    nesting: Nesting,
    /// Places of tags in the file.
    order: Vec<usize>,
}

impl<'a> Oracle<'a> {
    fn new(tags: &'a [Tag], nesting: Nesting) -> Self {
        fn walk(tags: &[Tag], within: Option<usize>, order: &mut Vec<usize>) {
            for number in (0..tags.len()).filter(|&number| tags[number].within == within) {
                order.push(number);
                walk(tags, Some(number), order);
            }
        }
        let mut order = Vec::new();
        walk(tags, None, &mut order);
        Self { tags, nesting, order }
    }

    /// The nearest tag around it that has entry points, if it is its child.
    fn parent(&self, tag: usize) -> Option<usize> {
        let is_child = self.tags[tag].is_child.unwrap_or(self.nesting == Nesting::Children);
        let around = std::iter::successors(self.tags[tag].within, |&around| self.tags[around].within);
        around.filter(|_| is_child).find(|&around| !self.tags[around].entries.is_empty())
    }

    fn level(&self, tag: usize) -> usize {
        self.parent(tag).map_or(0, |parent| 1 + self.level(parent))
    }

    fn priority(&self, tag: usize) -> i32 {
        self.tags[tag].priority.or_else(|| self.parent(tag).map(|parent| self.priority(parent))).unwrap_or(0)
    }

    fn matches(&self, tag: usize, stack: &[MethodId], depth: usize) -> bool {
        let (module, function) = METHODS[stack[depth].0 as usize];
        let here = self.tags[tag].entries.iter().any(|(of_module, of_method)| {
            wild(of_module, module.unwrap_or("")) && wild(&of_method.replace("::", "."), &function.replace("::", "."))
        });
        let below = |parent| (depth + 1..stack.len()).any(|above| self.matches(parent, stack, above));
        here && self.parent(tag).is_none_or(below)
    }

    fn tag(&self, stack: &[MethodId]) -> Option<usize> {
        let mut candidates = Vec::new();
        for depth in 0..stack.len() {
            let matching = || self.order.iter().copied().filter(|&tag| self.matches(tag, stack, depth));
            let generic = matching().filter(|&tag| self.parent(tag).is_none()).map(|tag| self.priority(tag)).max();
            for tag in matching() {
                let takes_over = self.parent(tag).is_some() && self.tags[tag].priority.is_none();
                let taken_over = generic.filter(|_| takes_over).unwrap_or(i32::MIN);
                let priority = self.priority(tag).max(taken_over);
                let place = self.order.iter().position(|&other| other == tag);
                candidates.push(((priority, Reverse(depth), self.level(tag), Reverse(place)), tag));
            }
        }
        candidates.into_iter().max().map(|(_, tag)| tag)
    }

    fn name(&self, tag: usize) -> String {
        let own = format!("t{tag}");
        self.tags[tag].within.map_or_else(|| own.clone(), |around| format!("{}\\{own}", self.name(around)))
    }
}

fn wild(pattern: &str, text: &str) -> bool {
    fn matches(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
            Some((wanted, rest)) => {
                text.split_first().is_some_and(|(c, text)| (wanted == c || *wanted == '?') && matches(rest, text))
            }
        }
    }
    let chars = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    matches(&chars(pattern), &chars(text))
}

fn some_tags() -> impl Strategy<Value = Vec<Tag>> {
    let tag = (
        any::<prop::sample::Index>(),
        prop::option::weighted(0.4, -2..3),
        prop::option::weighted(0.5, any::<bool>()),
        prop::collection::vec(prop::sample::select(&PATTERNS[..]), 0..3),
    );
    prop::collection::vec(tag, 0..9).prop_map(|tags| {
        let tags = tags.into_iter().enumerate();
        let tag = |(number, (within, priority, is_child, entries)): (usize, (prop::sample::Index, _, _, _))| {
            // In one of those in front of it, or in none.
            let within = within.index(number + 1).checked_sub(1);
            Tag { within, priority, is_child, entries }
        };
        tags.map(tag).collect()
    })
}

fn nesting() -> impl Strategy<Value = Nesting> {
    prop_oneof![Just(Nesting::Names), Just(Nesting::Children)]
}

fn read(tags: &[Tag], nesting: Nesting) -> TagSet {
    let xml = written(tags);
    TagSet::read(&[TagFile { name: "test", content: xml.as_bytes() }], nesting).expect("a file of stack tags")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stack_has_the_tag_that_the_rules_say(
        tags in some_tags(),
        nesting in nesting(),
        stacks in prop::collection::vec(prop::collection::vec(0..METHODS.len() as u32, 0..7), 1..8),
    ) {
        let (set, names) = (read(&tags, nesting), names());
        let mut tagger = Tagger::new(&set, &names);
        let oracle = Oracle::new(&tags, nesting);
        for stack in stacks {
            let stack = stack.into_iter().map(MethodId).collect::<Vec<_>>();
            let expected = match oracle.tag(&stack) {
                _ if stack.is_empty() => "No stack".to_owned(),
                None => "Other".to_owned(),
                Some(tag) => oracle.name(tag),
            };
            let tag = tagger.tag(&stack);
            prop_assert_eq!(tagger.name(tag), &expected, "{:?} in {}", stack, written(&tags));
        }
    }

    #[test]
    fn figures_are_what_the_machine_did_and_add_up(
        seed in any::<u64>(),
        tags in some_tags(),
        nesting in nesting(),
        range in a_range(),
        totals in any::<bool>(),
    ) {
        let machine = simulation::run(seed, true);
        let (set, names) = (read(&tags, nesting), names());
        let source = TagSource::new(machine.source(), Tagger::new(&set, &names));
        let source = if totals { source.with_totals() } else { source };
        let mut aggregator = MethodAggregator::new(&machine.recording, range, &machine.threads, source);
        machine.switches.iter().rev().for_each(|row| aggregator.switch(row));
        machine.samples.iter().for_each(|row| aggregator.sample(row));
        let found = aggregator.finish().methods;

        let oracle = Oracle::new(&tags, nesting);
        let charged = |stack: Option<StackId>| {
            let frames = stack.map(|stack| &machine.stacks[stack.index()].frames).into_iter().flatten();
            let stack = frames.flat_map(|frame| &machine.frames[frame.index()]).copied().collect::<Vec<_>>();
            let tag = match oracle.tag(&stack) {
                _ if stack.is_empty() => TagId::NO_STACK,
                None => TagId::OTHER,
                Some(tag) => set.find(&oracle.name(tag)).expect("a tag of the file"),
            };
            let above = std::iter::successors(Some(tag).filter(|_| totals), |&tag| set.parent(tag));
            std::iter::once(TagRow::Own(tag)).chain(above.map(TagRow::Total)).map(TagRow::number).collect()
        };
        prop_assert_eq!(&found, &expected(&machine, range, charged));

        // The sums of tags are those of the process.
        let whole = expected(&machine, range, |_| vec![MethodId(0)]);
        for process in whole {
            let own = found.iter().filter(|total| total.owner == process.owner);
            let own = own.filter(|total| matches!(TagRow::of(total.method), TagRow::Own(_))).collect::<Vec<_>>();
            prop_assert_eq!(own.iter().map(|total| total.cpu).sum::<i64>(), process.cpu);
            prop_assert_eq!(own.iter().map(|total| total.wait.sum).sum::<i64>(), process.wait.sum);
            prop_assert_eq!(own.iter().map(|total| total.ready.sum).sum::<i64>(), process.ready.sum);
            prop_assert!(own.iter().all(|total| total.wait.union <= process.wait.union));
        }
    }
}

#[test]
fn an_empty_range_has_no_tags() {
    let machine = simulation::run(1, true);
    let (set, names) = (read(&[], Nesting::Names), names());
    let source = TagSource::new(machine.source(), Tagger::new(&set, &names));
    let range = Span::new(1_000_000, 1_000_000);
    let mut aggregator = MethodAggregator::new(&machine.recording, range, &machine.threads, source);
    machine.samples.iter().for_each(|row| aggregator.sample(row));
    assert_eq!(aggregator.finish().methods, []);
}
