//! Methods and modules that samples are counted for.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::{Attribution, MethodId, MethodName};
use tracesift_archive::Error;
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::StackId;

use crate::recording::OpenRecording;

/// What can be on a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A method.
    Method(MethodName),
    /// File name of a module.
    Module(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(name) => name.fmt(out),
            Self::Module(name) => out.write_str(name),
        }
    }
}

/// No subject.
const NONE: u32 = u32::MAX;

/// The methods and modules that were chosen in a recording.
#[derive(Debug)]
pub struct Subjects {
    named: Arc<NamedStacks>,
    all: Vec<Subject>,
    /// The method and the module that a method counts for.
    of_method: Vec<[u32; 2]>,
}

impl Subjects {
    /// Those that are wanted among the methods of the recording, in the order of its dictionary. A method tells that it is wanted, and
    /// whether its module is.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn of(recording: &OpenRecording, mut is_wanted: impl FnMut(&MethodName) -> [bool; 2]) -> Result<Self, Error> {
        let named = recording.named_stacks(Granularity::default())?;
        let mut subjects = Self { named, all: Vec::new(), of_method: Vec::new() };
        let mut modules: FxHashMap<String, u32> = FxHashMap::default();
        let names = &subjects.named.names;
        for number in 0..names.len() {
            let name = names.name(MethodId(u32::try_from(number).unwrap_or(NONE)));
            let [method, module] = is_wanted(&name);
            let mut numbers = [NONE; 2];
            if let Some(module) = name.module.as_ref().filter(|_| module) {
                numbers[1] = match modules.get(module) {
                    Some(known) => *known,
                    None => {
                        let number = add(&mut subjects.all, Subject::Module(module.clone()));
                        modules.insert(module.clone(), number);
                        number
                    }
                };
            }
            if method {
                numbers[0] = add(&mut subjects.all, Subject::Method(name));
            }
            subjects.of_method.push(numbers);
        }
        Ok(subjects)
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Subject] {
        &self.all
    }

    /// The subjects at a place, each once.
    pub(super) fn at(&self, place: Attribution, methods: &mut Vec<MethodId>, found: &mut Vec<u32>) {
        methods.clear();
        found.clear();
        place.methods(&mut &self.named.stacks, methods);
        let numbers = methods.iter().filter_map(|method| self.of_method.get(method.0 as usize)).flatten();
        found.extend(numbers.filter(|number| **number != NONE));
        found.sort_unstable();
        found.dedup();
    }

    /// The subjects of all stacks.
    pub(super) fn of_stacks(&self) -> OfStacks {
        let (mut methods, mut found) = (Vec::new(), Vec::new());
        let mut of = OfStacks::default();
        for number in 0..self.named.stacks.stacks().numbered() {
            let stack = StackId(i32::try_from(number).unwrap_or(i32::MAX));
            self.at(Attribution::Stack(stack), &mut methods, &mut found);
            of.numbers.extend_from_slice(&found);
            of.ends.push(of.numbers.len());
        }
        of
    }
}

fn add(all: &mut Vec<Subject>, subject: Subject) -> u32 {
    all.push(subject);
    u32::try_from(all.len() - 1).unwrap_or(NONE)
}

/// The subjects of each stack, one stack behind the other.
#[derive(Debug, Default)]
pub(super) struct OfStacks {
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

impl OfStacks {
    /// Those of a stack; `None`: its number lies behind a gap, as in a damaged archive.
    pub(super) fn of(&self, stack: StackId) -> Option<&[u32]> {
        let place = usize::try_from(stack.0).ok()?;
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.numbers.get(start..end)
    }
}
