//! From the archive's rows to trees: first the time per stack of each process or thread, then a tree of the stacks.

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_analysis::call_tree::{Limits, Line, Step, What};
use tracesift_analysis::{
    Attribution, CallTree, Measure as OfThreads, MethodId, Place, RecordingFacts, StackMethods, StackWeight,
    StackWeights, Times, Weight,
};
use tracesift_archive::{Error, Watch};
use tracesift_grammar::TimeRange;
use tracesift_trace::rows::ThreadRow;
use tracesift_trace::{ProcessId, ThreadId};

use super::Question;
use super::rules::Rules;
use crate::inside::Inside;
use crate::measure::Measure;
use crate::owned_rows::{OwnedRows, OwnerNumber, Owners};
use crate::recording::OpenRecording;
use crate::table_question::StackMeasure;

/// Stacks that go into a tree before somebody who no longer waits is noticed.
const AT_ONCE: usize = 16_384;

/// What one process has.
pub(super) struct OfProcess {
    pub(super) process: ProcessId,
    /// In all.
    pub(super) all: Weight,
    /// In the stacks that were asked for.
    pub(super) shown: Weight,
    owners: Vec<Owner>,
}

/// A process or thread with its stacks.
#[derive(Clone, Copy)]
struct Owner {
    thread: Option<ThreadId>,
    all: Weight,
    shown: Weight,
    /// Where its weights begin and end.
    weights: (usize, usize),
}

/// The tree of a process or thread.
pub(super) struct Tree {
    /// `None`: of the process, of its small threads, or of rows whose thread is not known.
    pub(super) thread: Option<ThreadId>,
    /// Whether it sums up the small threads of the process.
    pub(super) is_rest: bool,
    /// Time of the thread or process.
    pub(super) all: Weight,
    /// That of the tree.
    pub(super) shown: Weight,
    pub(super) lines: Vec<Line>,
}

/// What a line is called.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Named {
    pub(super) module: Option<String>,
    pub(super) function: Option<String>,
    pub(super) place: Option<Place>,
}

/// The stacks of all processes, with their time.
pub(super) struct Trees<'a> {
    stacks: &'a StackMethods,
    rules: Rules<'a>,
    owners: Owners,
    /// By owner, then by stack.
    weights: Vec<StackWeight<OwnerNumber>>,
    watch: &'a Watch,
}

/// Finds the paths of stacks, one after the other.
struct Paths<'a> {
    stacks: &'a StackMethods,
    rules: &'a Rules<'a>,
    methods: Vec<MethodId>,
    path: Vec<Step>,
}

impl Paths<'_> {
    /// The path of a stack, if it was asked for.
    fn of(&mut self, row: &StackWeight<OwnerNumber>) -> Option<&[Step]> {
        self.methods.clear();
        row.attribution.methods(&mut self.stacks, &mut self.methods);
        let Self { rules, methods, path, .. } = self;
        rules.shape().path(methods, |method| rules.role(method), path).then_some(&self.path[..])
    }
}

impl<'a> Trees<'a> {
    pub(super) fn read(
        opened: &'a OpenRecording,
        question: &Question,
        processes: &FxHashSet<ProcessId>,
        stacks: &'a StackMethods,
        rules: Rules<'a>,
    ) -> Result<Self, Error> {
        let times = Inside::times(&question.inside, opened)?;
        let threads =
            if question.threads.option().is_some() { opened.archive().rows::<ThreadRow>()? } else { Vec::new() };
        let chosen = question.threads.chosen(&threads);
        let per_thread = question.per_thread || chosen.is_some();
        let rows = OwnedRows::new(opened, question.time, per_thread, processes)?;
        let mut rows = rows.inside(times.as_ref());
        let weights = match question.measure {
            Measure::Threads(measure) => of_threads(opened, &mut rows, measure)?,
            Measure::Rows(measure) => of_rows(opened, &mut rows, (question.time, times.as_ref()), measure)?,
        };
        let mut trees = Self { stacks, rules, owners: rows.owners, weights, watch: opened.archive().watch() };
        if let Some(chosen) = chosen {
            let Self { owners, weights, .. } = &mut trees;
            let thread = |owner: OwnerNumber| owners.owner(owner).and_then(|(_, thread)| thread);
            weights.retain(|row| thread(row.owner).is_some_and(|thread| chosen.contains(&thread)));
        }
        if !trees.rules.are_none() {
            trees.learn();
        }
        Ok(trees)
    }

    /// Finds out what is to be done with the methods of all stacks.
    fn learn(&mut self) {
        let (mut methods, mut stacks) = (Vec::new(), self.stacks);
        for row in &self.weights {
            row.attribution.methods(&mut stacks, &mut methods);
            methods.drain(..).for_each(|method| self.rules.learn(method));
        }
    }

    /// The processes that have anything in the stacks that were asked for.
    pub(super) fn of_processes(&self) -> Result<Vec<OfProcess>, Error> {
        let mut found: FxHashMap<ProcessId, OfProcess> = FxHashMap::default();
        let mut start = 0;
        while let Some(first) = self.weights.get(start).copied() {
            let count = self.weights.iter().skip(start).take_while(|row| row.owner == first.owner).count();
            let weights = (start, start + count);
            start += count;
            let Some((process, thread)) = self.owners.owner(first.owner) else { continue };
            let (all, shown) = self.sums(weights)?;
            let one = found.entry(process).or_insert_with(|| OfProcess {
                process,
                all: Weight::default(),
                shown: Weight::default(),
                owners: Vec::new(),
            });
            one.all.add(all);
            one.shown.add(shown);
            one.owners.push(Owner { thread, all, shown, weights });
        }
        Ok(found.into_values().filter(|one| one.shown.amount > 0).collect())
    }

    /// The trees of a process; the thread with the most time stands last, as all rows of equal rank.
    pub(super) fn build(&self, question: &Question, one: &OfProcess) -> Result<Vec<Tree>, Error> {
        let smallest = question.min_share.of(one.shown.amount);
        let limits = Limits { smallest, depth: question.depth };
        if !question.per_thread {
            let mut tree = CallTree::default();
            one.owners.iter().try_for_each(|owner| self.add(owner.weights, &mut tree))?;
            let (all, shown, lines) = (one.all, one.shown, tree.lines(limits));
            return Ok(vec![Tree { thread: None, is_rest: false, all, shown, lines }]);
        }
        let mut owners: Vec<Owner> = one.owners.iter().copied().filter(|owner| owner.shown.count > 0).collect();
        owners.sort_by_key(|owner| (owner.shown, owner.thread));
        let (small, large) = owners.split_at(owners.partition_point(|owner| owner.shown.amount < smallest));
        let mut trees = Vec::new();
        if !small.is_empty() {
            let (mut all, mut shown) = (Weight::default(), Weight::default());
            small.iter().for_each(|owner| all.add(owner.all));
            small.iter().for_each(|owner| shown.add(owner.shown));
            let what = What::More(small.len());
            let line = Line { what, parent: None, depth: 0, total: shown, own: shown, goes_on: true, is_last: true };
            trees.push(Tree { thread: None, is_rest: true, all, shown, lines: vec![line] });
        }
        for owner in large {
            let mut tree = CallTree::default();
            self.add(owner.weights, &mut tree)?;
            let Owner { thread, all, shown, .. } = *owner;
            trees.push(Tree { thread, is_rest: false, all, shown, lines: tree.lines(limits) });
        }
        Ok(trees)
    }

    /// What a line is called.
    pub(super) fn named(&self, what: What) -> Named {
        match what {
            What::Step(Step::Method(method)) => {
                let name = self.rules.names().name(method);
                let place = self.rules.names().place(method);
                Named { module: name.module, function: Some(name.function), place }
            }
            What::Step(Step::Module(number)) => {
                Named { module: self.rules.module(number).map(str::to_owned), ..Named::default() }
            }
            What::Step(Step::NoStack) | What::More(_) => Named::default(),
        }
    }

    /// Time of these weights, and of those in stacks that were asked for.
    fn sums(&self, weights: (usize, usize)) -> Result<(Weight, Weight), Error> {
        let (mut all, mut shown) = (Weight::default(), Weight::default());
        if self.rules.shape().takes_all() {
            self.weights_at(weights).iter().for_each(|row| all.add(row.weight));
            return Ok((all, all));
        }
        let mut paths = self.paths();
        for some in self.weights_at(weights).chunks(AT_ONCE) {
            self.watch.check()?;
            for row in some {
                all.add(row.weight);
                if paths.of(row).is_some() {
                    shown.add(row.weight);
                }
            }
        }
        Ok((all, shown))
    }

    fn add(&self, weights: (usize, usize), tree: &mut CallTree) -> Result<(), Error> {
        let mut paths = self.paths();
        for some in self.weights_at(weights).chunks(AT_ONCE) {
            self.watch.check()?;
            for row in some {
                if let Some(path) = paths.of(row) {
                    tree.add(path, row.weight);
                }
            }
        }
        Ok(())
    }

    fn weights_at(&self, (from, to): (usize, usize)) -> &[StackWeight<OwnerNumber>] {
        self.weights.get(from..to).unwrap_or_default()
    }

    fn paths(&self) -> Paths<'_> {
        Paths { stacks: self.stacks, rules: &self.rules, methods: Vec::new(), path: Vec::new() }
    }
}

/// Time of threads.
fn of_threads(
    opened: &OpenRecording,
    rows: &mut OwnedRows<'_>,
    measure: OfThreads,
) -> Result<Vec<StackWeight<OwnerNumber>>, Error> {
    if measure == OfThreads::Cpu && opened.file.has_samples {
        return rows.stack_sums();
    }
    let recording = RecordingFacts::from(opened.info());
    let mut weights = StackWeights::new(&recording, rows.range(), rows.owned_threads(), measure);
    if let Some(times) = rows.times_of_threads(rows.range()) {
        weights = weights.inside(times);
    }
    match measure {
        OfThreads::Cpu => rows.cpu(&recording, |owner, row| weights.sample(owner, row))?,
        OfThreads::Wait | OfThreads::Ready => rows.switches(|_, row| weights.switch(row))?,
    }
    Ok(weights.finish())
}

/// A figure of the rows of a table.
fn of_rows(
    opened: &OpenRecording,
    rows: &mut OwnedRows<'_>,
    (time, times): (TimeRange, Option<&Times>),
    measure: &StackMeasure,
) -> Result<Vec<StackWeight<OwnerNumber>>, Error> {
    let mut sums: FxHashMap<(OwnerNumber, Attribution), Weight> = FxHashMap::default();
    measure.scan(opened, (time, times), |charged| {
        if let Some(owner) = charged.process.and_then(|process| rows.asked_number(process, charged.thread)) {
            sums.entry((owner, charged.at)).or_default().add(Weight { amount: charged.amount, count: 1 });
        }
    })?;
    let mut weights: Vec<StackWeight<OwnerNumber>> =
        sums.into_iter().map(|((owner, attribution), weight)| StackWeight { owner, attribution, weight }).collect();
    weights.sort_unstable_by_key(|row| (row.owner, row.attribution));
    Ok(weights)
}
