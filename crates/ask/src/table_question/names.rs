//! Texts of the numbers that stand for dimensions while rows are read.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracesift_analysis::tags::{TagId, TagSet, TagSource, Tagger};
use tracesift_analysis::{MethodId, MethodName, MethodSource as _};
use tracesift_archive::{Archive, Error};
use tracesift_extract::stack_methods::{Granularity, NamedStacks};
use tracesift_trace::rows::{ProcessRow, ThreadRow};
use tracesift_trace::{ProcessId, StackId, ThreadId};

use super::dimension::{self, Of};
use super::places::{UNKNOWN, UNTOLD, UNTOLD_TEXT};
use super::plan::Plan;
use super::reading::code_of_number;
use super::row_names::RowNames;
use super::stacks_below::{self, StackNumbers};
use super::stated::Stated;
use super::wanted::Wanted;
use crate::process_columns::name_with_marks;
use crate::question::paths::{reversed, steps};
use crate::recording::OpenRecording;
use crate::stack_names::StackNames;
use crate::threads;

/// Texts by number, each once.
#[derive(Debug, Default)]
pub(super) struct Interner {
    numbers: FxHashMap<Box<str>, i64>,
    texts: Vec<Box<str>>,
}

impl Interner {
    /// The number of a text.
    #[inline]
    pub(super) fn number(&mut self, text: &str) -> i64 {
        match self.numbers.get(text) {
            Some(number) => *number,
            None => self.add(text),
        }
    }

    #[cold]
    fn add(&mut self, text: &str) -> i64 {
        let number = i64::try_from(self.texts.len()).unwrap_or(UNKNOWN);
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: i64) -> Option<&str> {
        self.texts.get(usize::try_from(number).ok()?).map(|text| &**text)
    }
}

/// Lists of texts by number, each list once.
#[derive(Debug, Default)]
pub(super) struct Lists {
    texts: Interner,
    numbers: FxHashMap<Box<[i64]>, i64>,
    /// The texts of each list, as numbers.
    lists: Vec<Box<[i64]>>,
    /// The list at hand.
    list: Vec<i64>,
}

impl Lists {
    /// The number of a list. A text that it has twice counts once.
    pub(super) fn number(&mut self, texts: &[String]) -> i64 {
        self.list.clear();
        for text in texts {
            let number = self.texts.number(text);
            if !self.list.contains(&number) {
                self.list.push(number);
            }
        }
        match self.numbers.get(&*self.list) {
            _ if self.list.is_empty() => UNKNOWN,
            Some(number) => *number,
            None => {
                let number = i64::try_from(self.lists.len()).unwrap_or(UNKNOWN);
                self.lists.push(self.list.as_slice().into());
                self.numbers.insert(self.list.as_slice().into(), number);
                number
            }
        }
    }

    /// The numbers of the texts of a list.
    fn of(&self, list: i64) -> &[i64] {
        usize::try_from(list).ok().and_then(|list| self.lists.get(list)).map_or(&[], |list| &**list)
    }

    /// Whether patterns let a text of a list pass.
    pub(super) fn lets_pass(&self, list: i64, wanted: &Wanted) -> bool {
        self.of(list).iter().any(|text| wanted.lets_pass_text(self.texts.text(*text)))
    }
}

/// The texts of the dimensions of a question.
pub(super) struct Names<'r> {
    /// What the question states.
    stated: Arc<Stated>,
    processes: FxHashMap<ProcessId, &'r ProcessRow>,
    threads: FxHashMap<ThreadId, ThreadRow>,
    /// What the dimensions have beside processes and threads, by their place.
    of: Vec<Known>,
    /// Whether the parts of paths stand in reverse order.
    reverse_paths: bool,
}

enum Known {
    Nothing,
    Methods(Arc<NamedStacks>),
    Table(FxHashMap<i64, String>),
    /// The same, made when they are asked for.
    Rows(RowNames),
    /// The same, for dimensions in which numbers of one name are one value.
    Merged(FxHashMap<i64, String>, Interner),
    /// Functions of stacks, one per line, with the numbers of the stacks.
    Stacks(Arc<NamedStacks>, Interner, StackNumbers),
    /// Modules of stacks.
    Modules(StackNames, Interner),
    /// The rules, and the tag of each stack that rows have.
    Tags(Arc<TagSet>, FxHashMap<i64, TagId>),
    Texts(Interner),
    Lists(Lists),
}

impl<'r> Names<'r> {
    /// Those that a plan needs; the processes are those that are asked for.
    pub(super) fn load(
        recording: &OpenRecording,
        plan: &Plan,
        processes: FxHashMap<ProcessId, &'r ProcessRow>,
    ) -> Result<Self, Error> {
        let mut names = Self {
            stated: Arc::clone(&plan.stated),
            processes,
            threads: FxHashMap::default(),
            of: plan.stated.dimensions.iter().map(|_| Known::Nothing).collect(),
            reverse_paths: plan.reverse_paths,
        };
        for place in &plan.keys {
            names.of[*place] = match plan.stated.dimensions[*place].of {
                Of::Thread => {
                    let threads: Vec<ThreadRow> = recording.archive().rows()?;
                    names.threads = threads.into_iter().map(|row| (row.thread, row)).collect();
                    Known::Nothing
                }
                Of::Method => Known::Methods(recording.named_stacks(Granularity::default())?),
                Of::Stack => {
                    let named = recording.named_stacks(Granularity::default())?;
                    Known::Stacks(named, Interner::default(), StackNumbers::default())
                }
                Of::Module => {
                    let named = recording.named_stacks(Granularity::default())?;
                    Known::Modules(StackNames::new(named), Interner::default())
                }
                Of::Number { names: dimension::Names::Paths(read), .. } => {
                    let texts = read(recording, plan.dir_level)?.into_iter().collect();
                    Known::Merged(texts, Interner::default())
                }
                Of::Number { names: dimension::Names::Table(read), raw, .. } => {
                    let texts = table(recording.archive(), read)?;
                    if raw.is_some() { Known::Table(texts) } else { Known::Merged(texts, Interner::default()) }
                }
                Of::Number { names: dimension::Names::Rows(read), raw, .. } => {
                    let names = read(recording.archive())?;
                    match raw {
                        Some(_) => Known::Rows(names),
                        None => Known::Merged(names.all().collect(), Interner::default()),
                    }
                }
                // The tags of the stacks that were found are looked up behind the reading.
                Of::Process | Of::Number { .. } | Of::Text { .. } | Of::Texts | Of::Tag => Known::Nothing,
            };
        }
        Ok(names)
    }

    /// Looks up the tags of stacks.
    pub(super) fn tag_stacks(
        &mut self,
        recording: &OpenRecording,
        dimension: usize,
        set: Arc<TagSet>,
        stacks: impl Iterator<Item = i64>,
    ) -> Result<(), Error> {
        let named = recording.named_stacks(Granularity::default())?;
        let mut source = TagSource::new(&named.stacks, Tagger::new(&set, &named.names));
        let mut tags = FxHashMap::default();
        for number in stacks {
            if let Ok(stack) = i32::try_from(number) {
                tags.entry(number).or_insert_with(|| source.tag(StackId(stack)));
            }
        }
        self.of[dimension] = Known::Tags(set, tags);
        Ok(())
    }

    /// Looks for the numbers of all stacks that rows have.
    pub(super) fn number_stacks(&mut self, numbers: &[i64], width: usize, plan: &Plan) {
        let Some(place) = self.stated.stacks() else { return };
        let key = plan.key_of(place);
        for numbers in numbers.chunks(width) {
            self.value(place, numbers[key]);
        }
        if let Known::Stacks(named, _, found) = &mut self.of[place] {
            found.find(named);
        }
    }

    /// The number of a stack of a [value](Self::value).
    pub(super) fn stack_number(&self, dimension: usize, value: i64) -> Option<i64> {
        let Known::Stacks(_, _, numbers) = &self.of[dimension] else { return None };
        numbers.of(value)
    }

    /// The texts that were found in the rows.
    pub(super) fn set_texts(&mut self, dimension: usize, texts: Interner) {
        self.of[dimension] = Known::Texts(texts);
    }

    /// The lists that were found in the rows.
    pub(super) fn set_lists(&mut self, dimension: usize, lists: Lists) {
        self.of[dimension] = Known::Lists(lists);
    }

    /// The values of a list: its texts that patterns let pass. A list without a text has one unknown value.
    pub(super) fn texts_of_list(&self, dimension: usize, list: i64, wanted: Option<&Wanted>) -> Vec<i64> {
        let Known::Lists(lists) = &self.of[dimension] else { return vec![UNKNOWN] };
        let passes = |text: i64| wanted.is_none_or(|wanted| wanted.lets_pass_text(lists.texts.text(text)));
        if list == UNKNOWN {
            vec![UNKNOWN]
        } else {
            lists.of(list).iter().copied().filter(|text| passes(*text)).collect()
        }
    }

    pub(super) fn has_process(&self, process: ProcessId) -> bool {
        self.processes.contains_key(&process)
    }

    /// Whether rows of a process are asked for, by its number, up to the largest number that is asked for and below `most`.
    pub(super) fn asked_processes(&self, most: usize) -> Vec<bool> {
        let mut asked = Vec::new();
        for place in self.processes.keys().filter_map(|process| usize::try_from(process.0).ok()) {
            if place < most {
                if asked.len() <= place {
                    asked.resize(place + 1, false);
                }
                asked[place] = true;
            }
        }
        asked
    }

    /// The process of a number.
    pub(super) fn process(&self, number: i64) -> Option<&'r ProcessRow> {
        self.processes.get(&ProcessId(i32::try_from(number).ok()?)).copied()
    }

    /// The thread of a number.
    pub(super) fn thread(&self, number: i64) -> Option<&ThreadRow> {
        self.threads.get(&ThreadId(i32::try_from(number).ok()?))
    }

    /// The value that a number of a row stands for: numbers of one value are the same.
    pub(super) fn value(&mut self, dimension: usize, number: i64) -> i64 {
        match &mut self.of[dimension] {
            Known::Tags(_, tags) => tags.get(&number).map_or(TagId::NO_STACK, |tag| *tag).0.into(),
            _ if number == UNKNOWN => UNKNOWN,
            Known::Stacks(named, texts, numbers) => {
                let new = |methods: &[MethodId]| texts.number(&lines(named, methods));
                numbers.value(named, number, new).unwrap_or(UNKNOWN)
            }
            Known::Modules(named, texts) => match module(named, number) {
                Some(text) => texts.number(&text),
                None => UNKNOWN,
            },
            Known::Methods(named) => method(named, number).map_or(UNKNOWN, |method| i64::from(method.0)),
            Known::Merged(names, texts) => match names.get(&number) {
                Some(name) => texts.number(name),
                None => texts.number(&number.to_string()),
            },
            Known::Nothing | Known::Table(_) | Known::Rows(_) | Known::Texts(_) | Known::Lists(_) => number,
        }
    }

    /// The nodes of the tree of paths that lead to the path of a number, at most `depth` below the root.
    pub(super) fn steps(&mut self, dimension: usize, number: i64, depth: Option<usize>) -> Vec<i64> {
        let Known::Merged(names, texts) = &mut self.of[dimension] else { return vec![number] };
        let most = depth.map_or(usize::MAX, |depth| depth.saturating_add(1));
        match names.get(&number) {
            Some(path) => steps(path).into_iter().take(most).map(|step| texts.number(step)).collect(),
            None if number == UNKNOWN => vec![UNKNOWN],
            None => vec![texts.number(&number.to_string())],
        }
    }

    /// The function of a [value](Self::value).
    fn method(&self, dimension: usize, value: i64) -> Option<MethodName> {
        let Known::Methods(named) = &self.of[dimension] else { return None };
        u32::try_from(value).ok().map(|method| named.names.name(MethodId(method)))
    }

    /// The text of a [value](Self::value), where it has one.
    pub(super) fn text(&self, dimension: usize, value: i64) -> Option<String> {
        match (self.stated.dimensions[dimension].of, &self.of[dimension]) {
            (Of::Process, _) => self.process(value).map(name_with_marks),
            (Of::Thread, _) => {
                let row = self.thread(value)?;
                Some(threads::label(self.processes.get(&row.process).copied(), row))
            }
            (Of::Method, _) => {
                Some(self.method(dimension, value).map_or_else(|| "(no stack)".to_owned(), |name| name.to_string()))
            }
            (Of::Stack | Of::Module, _) if value == UNKNOWN => Some("(no stack)".to_owned()),
            (_, Known::Tags(set, _)) => u32::try_from(value).ok().map(|tag| set.name(TagId(tag)).to_owned()),
            (Of::Number { .. }, _) if value == UNTOLD => Some(UNTOLD_TEXT.to_owned()),
            (Of::Number { none, .. }, _) if value == UNKNOWN => (!none.is_empty()).then(|| none.to_owned()),
            (Of::Number { names: dimension::Names::Paths(_), .. }, Known::Merged(_, texts)) if self.reverse_paths => {
                texts.text(value).map(reversed)
            }
            (
                _,
                Known::Merged(_, texts)
                | Known::Texts(texts)
                | Known::Lists(Lists { texts, .. })
                | Known::Modules(_, texts)
                | Known::Stacks(_, texts, _),
            ) => texts.text(value).map(str::to_owned),
            (_, Known::Table(names)) => Some(names.get(&value).cloned().unwrap_or_else(|| value.to_string())),
            (_, Known::Rows(names)) => Some(names.of(value).unwrap_or_else(|| value.to_string())),
            (Of::Number { names: dimension::Names::Words(words), .. }, _) => Some(words(value)),
            (Of::Number { .. } | Of::Text { .. } | Of::Texts | Of::Stack | Of::Module | Of::Tag, _) => None,
        }
    }

    /// Whether patterns let a number of a row pass. A row without a value passes none.
    pub(super) fn lets_pass(&self, dimension: usize, number: i64, wanted: &Wanted) -> bool {
        match (&self.of[dimension], wanted) {
            _ if matches!(number, UNKNOWN | UNTOLD) => false,
            (Known::Methods(named), Wanted::Methods(patterns)) => method(named, number).is_some_and(|method| {
                let name = named.names.name(method);
                patterns.matches(name.module.as_deref(), &name.function)
            }),
            // A whole stack passes by any of its functions.
            (Known::Stacks(named, ..), Wanted::Stacks(numbers)) => {
                numbers.iter().any(|wanted| stacks_below::are_equal(named, [*wanted, number]))
            }
            (Known::Stacks(named, ..), Wanted::Methods(patterns)) => {
                let mut methods = Vec::new();
                if let Ok(stack) = i32::try_from(number) {
                    (&named.stacks).stack(StackId(stack), &mut methods);
                }
                let verdict = |method: &MethodId| {
                    let name = named.names.name(*method);
                    patterns.verdict(name.module.as_deref(), &name.function)
                };
                !methods.is_empty() && patterns.lets_pass(methods.iter().map(verdict))
            }
            (Known::Table(names) | Known::Merged(names, _), Wanted::Texts(patterns)) => {
                let text = number.to_string();
                patterns.matches_any(&[names.get(&number).unwrap_or(&text), &text])
            }
            (Known::Rows(names), Wanted::Texts(patterns)) => {
                let text = number.to_string();
                patterns.matches_any(&[names.of(number).as_deref().unwrap_or(&text), &text])
            }
            (_, Wanted::Texts(patterns)) => {
                let text = self.text(dimension, number);
                let status = dimension::status(number);
                let status = status.as_deref().unwrap_or_default();
                patterns.matches_any(&[text.as_deref().unwrap_or_default(), &number.to_string(), status])
            }
            (_, Wanted::Methods(_) | Wanted::Stacks(_)) => false,
        }
    }

    /// What brings values of a dimension in order.
    pub(super) fn order(&self, dimension: usize, value: i64) -> Order {
        match self.stated.dimensions[dimension].of {
            Of::Process => match self.process(value) {
                Some(row) => Order::Text(row.name.to_lowercase(), row.pid, value),
                None => Order::Unknown,
            },
            Of::Thread => match self.thread(value) {
                Some(row) => Order::Number(row.tid, row.start.unwrap_or(UNKNOWN), value),
                None => Order::Unknown,
            },
            _ if value == UNKNOWN => Order::Unknown,
            Of::Number { names: dimension::Names::Words(_), .. } => Order::Number(value, 0, 0),
            _ => Order::Text(self.text(dimension, value).unwrap_or_default(), value, 0),
        }
    }
}

/// What brings values of a dimension in order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Unknown,
    Number(i64, i64, i64),
    Text(String, i64, i64),
}

/// Functions, the leaf first, one per line.
fn lines(named: &NamedStacks, methods: &[MethodId]) -> String {
    let lines: Vec<String> = methods.iter().map(|method| named.names.name(*method).to_string()).collect();
    lines.join("\n")
}

/// The module of the function that tells most about a stack. `None`: it has no function.
fn module(named: &mut StackNames, number: i64) -> Option<String> {
    let stack = named.of(StackId(i32::try_from(number).ok()?));
    let method = StackNames::telling(&stack)?;
    Some(method.module.as_deref().unwrap_or("(no module)").to_owned())
}

/// The function at the leaf of a stack, or that of a lone instruction.
fn method(named: &NamedStacks, number: i64) -> Option<MethodId> {
    let frame = match code_of_number(number)? {
        Ok(stack) => *named.stacks.stacks().of(stack).first()?,
        Err(frame) => frame,
    };
    let mut methods = Vec::new();
    (&named.stacks).frame(frame, &mut methods);
    methods.first().copied()
}

fn table(archive: &Archive, read: dimension::NamesOf) -> Result<FxHashMap<i64, String>, Error> {
    Ok(read(archive)?.into_iter().collect())
}
