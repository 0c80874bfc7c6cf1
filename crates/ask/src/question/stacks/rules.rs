//! The rules of the question for each method. They are evaluated once per method, however many stacks have it, and before several
//! threads make trees.

use rustc_hash::FxHashMap;
use tracesift_analysis::call_tree::{Role, Shape};
use tracesift_analysis::{MethodId, MethodName, MethodNames};
use tracesift_grammar::Patterns;

use super::Question;

/// What frames outside of any module go by.
const UNKNOWN: &str = "[unknown]";

/// The rules of the trees, and the names that they are about.
pub(super) struct Rules<'a> {
    question: &'a Question,
    names: &'a MethodNames,
    known: Vec<Option<Role>>,
    modules: Vec<String>,
    module_numbers: FxHashMap<String, u32>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(question: &'a Question, names: &'a MethodNames) -> Self {
        let (modules, module_numbers) = (Vec::new(), FxHashMap::default());
        let mut rules = Self { question, names, known: Vec::new(), modules, module_numbers };
        if !rules.are_none() {
            rules.known = vec![None; names.len()];
        }
        rules
    }

    /// The shape of the trees.
    pub(super) fn shape(&self) -> Shape {
        Shape {
            direction: self.question.direction,
            selects: !self.question.methods.is_empty(),
            has_roots: !self.question.root.is_empty(),
        }
    }

    /// The names of the methods.
    pub(super) fn names(&self) -> &'a MethodNames {
        self.names
    }

    /// The module whose frames are folded under this number.
    pub(super) fn module(&self, number: u32) -> Option<&str> {
        self.modules.get(number as usize).map(String::as_str)
    }

    /// Whether all methods have the same role: there are no rules.
    pub(super) fn are_none(&self) -> bool {
        let Question { methods, root, fold, cut, .. } = self.question;
        methods.is_empty() && root.is_empty() && fold.is_empty() && cut.is_empty()
    }

    /// Finds out what is to be done with a method.
    pub(super) fn learn(&mut self, method: MethodId) {
        let index = method.0 as usize;
        if matches!(self.known.get(index), Some(None)) {
            let role = self.find(&self.names.name(method));
            self.known[index] = Some(role);
        }
    }

    /// What is to be done with a method, which was [learned](Self::learn) if there are rules.
    #[inline]
    pub(super) fn role(&self, method: MethodId) -> Role {
        self.known.get(method.0 as usize).copied().flatten().unwrap_or_default()
    }

    fn find(&mut self, name: &MethodName) -> Role {
        let Question { methods, root, fold, cut, .. } = self.question;
        let module = name.module.as_deref().unwrap_or(UNKNOWN);
        Role {
            wanted: methods.matches(name.module.as_deref(), &name.function),
            root: root.matches(name.module.as_deref(), &name.function),
            fold: is_one_of(fold, module).then(|| self.number(module)),
            cut: is_one_of(cut, module),
        }
    }

    fn number(&mut self, module: &str) -> u32 {
        // Frames have the name of a module as their symbols or its file write it.
        let folded = module.to_lowercase();
        *self.module_numbers.entry(folded).or_insert_with(|| {
            self.modules.push(module.to_owned());
            u32::try_from(self.modules.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// Whether a list of modules, with or without extension, has one; an empty list has none.
fn is_one_of(list: &Patterns, module: &str) -> bool {
    let stem = module.rsplit_once('.').map_or(module, |(stem, _)| stem);
    !list.is_empty() && list.matches_any(&[module, stem])
}
