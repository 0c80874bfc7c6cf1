//! The laws of call trees, against sums over the stacks themselves.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tracesift_analysis::call_tree::{Direction, Limits, Line, Role, Shape, Step, What};
use tracesift_analysis::{CallTree, MethodId, Weight};

/// Methods, leaf first, and time.
type Stacks = Vec<(Vec<u32>, i64)>;

/// A few methods in four modules, so that stacks have much in common and recur in themselves.
fn stacks() -> impl Strategy<Value = Stacks> {
    prop::collection::vec((prop::collection::vec(0..12_u32, 0..10), 0..100_i64), 0..40)
}

fn module(method: u32) -> u32 {
    method / 3
}

/// Sets of modules and methods as bits.
#[derive(Clone, Copy, Debug)]
struct Rules {
    shape: Shape,
    wanted: u16,
    roots: u16,
    folded: u8,
    cut: u8,
}

impl Rules {
    fn role(&self, method: MethodId) -> Role {
        let module = module(method.0);
        Role {
            wanted: self.wanted >> method.0 & 1 == 1,
            root: self.roots >> method.0 & 1 == 1,
            fold: (self.folded >> module & 1 == 1).then_some(module),
            cut: self.cut >> module & 1 == 1,
        }
    }

    fn tree(&self, stacks: &Stacks) -> CallTree {
        let (mut tree, mut path) = (CallTree::default(), Vec::new());
        for (methods, time) in stacks {
            let methods: Vec<MethodId> = methods.iter().copied().map(MethodId).collect();
            if self.shape.path(&methods, |method| self.role(method), &mut path) {
                tree.add(&path, Weight { amount: *time, count: 1 });
            }
        }
        tree
    }

    /// Whether a stack is in the tree, told in the plainest way.
    fn takes(&self, methods: &[u32]) -> bool {
        let role = |method: &u32| self.role(MethodId(*method));
        // What is left when everything inside of the outermost cut is taken away.
        let outermost_cut = methods.iter().enumerate().filter(|(_, method)| role(method).cut).map(|(at, _)| at).max();
        let left = &methods[outermost_cut.unwrap_or(0)..];
        (!self.shape.selects || methods.iter().any(|method| role(method).wanted))
            && (!self.shape.has_roots || left.iter().any(|method| role(method).root))
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (flags, any::<u16>(), any::<u16>(), any::<u8>(), any::<u8>()).prop_map(|(flags, wanted, roots, folded, cut)| {
        let direction = if flags.0 { Direction::Callers } else { Direction::Callees };
        Rules { shape: Shape { direction, selects: flags.1, has_roots: flags.2 }, wanted, roots, folded, cut }
    })
}

fn plain(direction: Direction) -> Rules {
    Rules { shape: Shape { direction, ..Shape::default() }, wanted: 0, roots: 0, folded: 0, cut: 0 }
}

fn sum(weights: impl Iterator<Item = Weight>) -> Weight {
    let mut sum = Weight::default();
    weights.for_each(|weight| sum.add(weight));
    sum
}

fn below(lines: &[Line], parent: Option<usize>) -> impl Iterator<Item = &Line> {
    lines.iter().filter(move |line| line.parent == parent)
}

/// The time of each method, folded out of the lines that satisfy a condition.
fn by_method(lines: &[Line], wanted: impl Fn(&Line) -> bool) -> BTreeMap<u32, i64> {
    let mut times = BTreeMap::new();
    for line in lines.iter().filter(|line| wanted(line)) {
        if let What::Step(Step::Method(method)) = line.what {
            *times.entry(method.0).or_default() += line.total.amount;
        }
    }
    times
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_time_is_lost_whatever_is_folded_cut_or_summed_up(
        stacks in stacks(), rules in rules(), smallest in 0..300_i64, depth in prop::option::of(0..6_usize),
    ) {
        let tree = rules.tree(&stacks);
        let taken = stacks.iter().filter(|(methods, _)| rules.takes(methods));
        let expected = sum(taken.map(|(_, time)| Weight { amount: *time, count: 1 }));
        prop_assert_eq!(tree.total(), expected);
        let lines = tree.lines(Limits { smallest, depth });
        prop_assert_eq!(sum(lines.iter().map(|line| line.own)), expected);
        prop_assert_eq!(sum(below(&lines, None).map(|line| line.total)), expected);
        for (at, line) in lines.iter().enumerate() {
            let mut with_own = sum(below(&lines, Some(at)).map(|line| line.total));
            with_own.add(line.own);
            prop_assert_eq!(line.total, with_own, "line {}", at);
        }
    }

    #[test]
    fn lines_stand_depth_first_and_the_largest_first(
        stacks in stacks(), rules in rules(), smallest in 0..300_i64, depth in prop::option::of(0..6_usize),
    ) {
        let tree = rules.tree(&stacks);
        let lines = tree.lines(Limits { smallest, depth });
        let mut above: Vec<usize> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            prop_assert!(line.depth <= above.len());
            above.truncate(line.depth);
            prop_assert_eq!(line.parent, above.last().copied());
            above.push(at);
            let all = line.parent.map_or(tree.total(), |parent| lines[parent].total);
            let only = below(&lines, line.parent).count() == 1;
            prop_assert_eq!(line.goes_on, only && line.total == all);
            match line.what {
                What::Step(_) => {
                    prop_assert!(line.total.amount >= smallest && depth.is_none_or(|depth| line.depth < depth));
                }
                What::More(count) => prop_assert!(count > 0 && line.is_last && below(&lines, Some(at)).next().is_none()),
            }
        }
        for parent in (0..lines.len()).map(Some).chain([None]) {
            let level: Vec<&Line> = below(&lines, parent).collect();
            prop_assert!(level.iter().rev().skip(1).all(|line| !line.is_last && !matches!(line.what, What::More(_))));
            prop_assert!(level.last().is_none_or(|line| line.is_last));
            let steps = level.iter().filter(|line| matches!(line.what, What::Step(_))).map(|line| line.total);
            prop_assert!(steps.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn the_roots_towards_the_callers_are_exclusive_times(stacks in stacks()) {
        let mut exclusive: BTreeMap<u32, i64> = BTreeMap::new();
        for (methods, time) in &stacks {
            methods.first().into_iter().for_each(|leaf| *exclusive.entry(*leaf).or_default() += time);
        }
        let lines = plain(Direction::Callers).tree(&stacks).lines(Limits::default());
        prop_assert_eq!(by_method(&lines, |line| line.parent.is_none()), exclusive);
    }

    #[test]
    fn outermost_lines_of_a_method_have_its_inclusive_time(stacks in stacks()) {
        let mut inclusive: BTreeMap<u32, i64> = BTreeMap::new();
        for (methods, time) in &stacks {
            let once: BTreeSet<u32> = methods.iter().copied().collect();
            once.into_iter().for_each(|method| *inclusive.entry(method).or_default() += time);
        }
        for direction in [Direction::Callees, Direction::Callers] {
            let lines = plain(direction).tree(&stacks).lines(Limits::default());
            // What recurs below itself is counted above already.
            let is_first = |line: &Line| {
                let mut above = line.parent;
                while let Some(at) = above {
                    if lines[at].what == line.what {
                        return false;
                    }
                    above = lines[at].parent;
                }
                true
            };
            prop_assert_eq!(by_method(&lines, is_first), inclusive.clone());
        }
        // So have trees that begin at the method.
        for (method, time) in inclusive {
            for direction in [Direction::Callees, Direction::Callers] {
                let mut rules = Rules { roots: 1 << method, ..plain(direction) };
                rules.shape.has_roots = true;
                let tree = rules.tree(&stacks);
                let lines = tree.lines(Limits::default());
                prop_assert_eq!(tree.total().amount, time);
                let mut roots = lines.iter().filter(|line| line.parent.is_none());
                let is_method = |line: &Line| line.what == What::Step(Step::Method(MethodId(method)));
                prop_assert!(roots.all(is_method));
            }
        }
    }

    #[test]
    fn folded_modules_never_follow_themselves(stacks in stacks(), rules in rules()) {
        let lines = rules.tree(&stacks).lines(Limits::default());
        for line in &lines {
            let above = line.parent.map(|parent| lines[parent].what);
            match line.what {
                What::Step(step @ Step::Module(module)) => {
                    prop_assert!(rules.folded >> module & 1 == 1);
                    prop_assert_ne!(above, Some(What::Step(step)));
                }
                What::Step(Step::Method(method)) => prop_assert!(rules.folded >> module(method.0) & 1 == 0),
                _ => {}
            }
        }
    }
}
