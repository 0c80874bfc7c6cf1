//! The path of one stack in a call tree.

use crate::names::MethodId;

/// What a line of a tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Whatever has no stack.
    NoStack,
    /// A run of frames of one module, under the number that the rules gave it.
    Module(u32),
    /// A method, line or instruction.
    Method(MethodId),
}

/// Which way a tree grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the outermost frame to what it calls.
    #[default]
    Callees,
    /// From the leaf to its callers.
    Callers,
}

/// What the rules of a tree say of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// A stack that has it is in the tree.
    pub wanted: bool,
    /// The tree begins here.
    pub root: bool,
    /// It is a part of the line of its module, which has this number.
    pub fold: Option<u32>,
    /// What it calls is not shown.
    pub cut: bool,
}

/// The rules of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Which way it grows.
    pub direction: Direction,
    /// Only stacks with a [wanted](Role::wanted) method are in it.
    pub selects: bool,
    /// It begins at the outermost [root](Role::root) of each stack, or at the innermost where it grows towards the callers; stacks
    /// without one are not in it.
    pub has_roots: bool,
}

impl Shape {
    /// Whether every stack is in the tree.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        !self.selects && !self.has_roots
    }

    /// Fills in the lines of a stack, from the root of the tree on, and tells whether it is in the tree. `methods` stand leaf first; none
    /// of them: there is no stack.
    pub fn path(&self, methods: &[MethodId], mut role: impl FnMut(MethodId) -> Role, path: &mut Vec<Step>) -> bool {
        path.clear();
        if methods.is_empty() {
            path.extend(self.takes_all().then_some(Step::NoStack));
            return self.takes_all();
        }
        if self.selects && !methods.iter().any(|&method| role(method).wanted) {
            return false;
        }
        // The first such frame from the outside: what it called stands before it.
        let cut = methods.iter().rposition(|&method| role(method).cut).unwrap_or(0);
        let shown = methods.get(cut..).unwrap_or_default();
        let mut is_root = |method: &MethodId| role(*method).root;
        let shown = match (self.has_roots, self.direction) {
            (false, _) => Some(shown),
            (true, Direction::Callees) => shown.iter().rposition(&mut is_root).and_then(|root| shown.get(..=root)),
            (true, Direction::Callers) => shown.iter().position(&mut is_root).and_then(|root| shown.get(root..)),
        };
        let Some(shown) = shown else { return false };
        let mut push = |&method: &MethodId| {
            let step = role(method).fold.map_or(Step::Method(method), Step::Module);
            let goes_on = matches!(step, Step::Module(_)) && path.last() == Some(&step);
            path.extend((!goes_on).then_some(step));
        };
        match self.direction {
            Direction::Callees => shown.iter().rev().for_each(&mut push),
            Direction::Callers => shown.iter().for_each(&mut push),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, Role, Shape, Step};
    use crate::names::MethodId;

    /// Methods of ten and more are of the module of their tens; leaf first.
    const STACK: [u32; 7] = [31, 30, 2, 12, 11, 2, 1];

    fn path(shape: Shape, role: impl Fn(u32) -> Role) -> Option<Vec<u32>> {
        let methods = STACK.map(MethodId);
        let mut path = Vec::new();
        shape.path(&methods, |method| role(method.0), &mut path).then(|| {
            let number = |step: &Step| match step {
                Step::NoStack => 0,
                Step::Module(module) => module * 1000,
                Step::Method(method) => method.0,
            };
            path.iter().map(number).collect()
        })
    }

    #[test]
    fn both_directions() {
        let callers = Shape { direction: Direction::Callers, ..Shape::default() };
        assert_eq!(path(Shape::default(), |_| Role::default()), Some(vec![1, 2, 11, 12, 2, 30, 31]));
        assert_eq!(path(callers, |_| Role::default()), Some(STACK.to_vec()));
    }

    #[test]
    fn runs_of_a_folded_module_are_one_line() {
        let fold = |method| Role { fold: (method >= 10).then_some(method / 10), ..Role::default() };
        assert_eq!(path(Shape::default(), fold), Some(vec![1, 2, 1000, 2, 3000]));
        let one = |method| Role { fold: (method / 10 == 1).then_some(1), ..Role::default() };
        assert_eq!(path(Shape::default(), one), Some(vec![1, 2, 1000, 2, 30, 31]));
    }

    #[test]
    fn nothing_is_shown_below_the_outermost_cut() {
        let cut = |method| Role { cut: method >= 10, ..Role::default() };
        assert_eq!(path(Shape::default(), cut), Some(vec![1, 2, 11]));
        let callers = Shape { direction: Direction::Callers, ..Shape::default() };
        assert_eq!(path(callers, cut), Some(vec![11, 2, 1]));
    }

    #[test]
    fn roots_are_the_outermost_downwards_and_the_innermost_upwards() {
        let root = |method| Role { root: method == 2, ..Role::default() };
        let down = Shape { has_roots: true, ..Shape::default() };
        assert_eq!(path(down, root), Some(vec![2, 11, 12, 2, 30, 31]));
        let up = Shape { direction: Direction::Callers, ..down };
        assert_eq!(path(up, root), Some(vec![2, 12, 11, 2, 1]));
        assert_eq!(path(down, |_| Role::default()), None);
        // A root that is cut off is none.
        assert_eq!(path(down, |method| Role { root: method == 31, cut: method == 30, ..Role::default() }), None);
    }

    #[test]
    fn stacks_are_chosen_by_any_of_their_methods() {
        let shape = Shape { selects: true, ..Shape::default() };
        // Also by what is cut off.
        let leaf = |method| Role { wanted: method == 31, cut: method == 1, ..Role::default() };
        assert_eq!(path(shape, leaf), Some(vec![1]));
        assert_eq!(path(shape, |_| Role::default()), None);
    }

    #[test]
    fn what_has_no_stack_is_a_line_of_its_own() {
        let mut path = Vec::new();
        assert!(Shape::default().path(&[], |_| Role::default(), &mut path));
        assert_eq!(path, [Step::NoStack]);
        let all = |_| Role { wanted: true, root: true, ..Role::default() };
        assert!(!Shape { selects: true, ..Shape::default() }.path(&[], all, &mut path));
        assert!(!Shape { has_roots: true, ..Shape::default() }.path(&[], all, &mut path));
    }
}
