//! What a worker has told of halves and pairs of them, and what became of them here.

use tracesift_trace::ids::{ProcessId, StackId};
use tracesift_trace::stack_binder::Untaken;
use tracesift_trace::stacks::HalfId;
use tracesift_trace::{Population, RowSink};

use super::SecondPass;
use crate::etl::worked_slice::{LeftHalves, NewHalf, ToldHalf, ToldPair, WorkedSlice};

/// The numbers of one worker.
#[derive(Debug, Default)]
pub(crate) struct Told {
    halves: Vec<Half>,
    addresses: Vec<u64>,
    /// With their stack, once it was asked for.
    pairs: Vec<(ToldPair, Option<Option<StackId>>)>,
    processes: Processes,
    /// Of the caches here, when halves and stacks were looked up.
    generation: (u32, u32),
}

/// A half of a worker.
#[derive(Clone, Copy, Debug)]
struct Half {
    told: NewHalf,
    /// Start of its addresses.
    start: usize,
    /// The half here, once it was used.
    here: Option<HalfId>,
}

/// Processes that no record tells of, by their numbers behind the known ones.
#[derive(Debug, Default)]
struct Processes {
    known: usize,
    unknown: Vec<(u32, i64)>,
}

impl Processes {
    /// The process, or any where no record tells of it: for kernel halves, which all processes share. No process is made for them, as
    /// that would depend on who met them first.
    fn known(&self, process: ProcessId) -> ProcessId {
        if process.index() < self.known { process } else { ProcessId::from_index(0) }
    }

    fn find(&self, process: ProcessId, population: &mut Population) -> ProcessId {
        match process.index().checked_sub(self.known).and_then(|place| self.unknown.get(place)) {
            Some((pid, ticks)) => population.process_at(*pid, *ticks),
            None => process,
        }
    }
}

impl Told {
    /// Nothing yet, where so many processes are known.
    pub(crate) fn new(processes: usize) -> Self {
        Self { processes: Processes { known: processes, ..Processes::default() }, ..Self::default() }
    }

    /// Takes what is new with a slice.
    pub(crate) fn learn(&mut self, found: &WorkedSlice) {
        if found.is_anew {
            *self = Self::new(self.processes.known);
        }
        let mut start = self.addresses.len();
        self.addresses.extend_from_slice(&found.new_addresses);
        for told in &found.new_halves {
            self.halves.push(Half { told: *told, start, here: None });
            start += told.length as usize;
        }
        self.pairs.extend(found.new_pairs.iter().map(|pair| (*pair, None)));
        self.processes.unknown.extend_from_slice(&found.new_pids);
    }

    /// Forgets what was looked up before the caches here were dropped, so that ids do not depend on which worker asks.
    fn renew(&mut self, generation: (u32, u32)) {
        if self.generation != generation {
            self.generation = generation;
            self.halves.iter_mut().for_each(|half| half.here = None);
            self.pairs.iter_mut().for_each(|(_, stack)| *stack = None);
        }
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// The half here that one of a worker is.
    pub(super) fn half_of(&mut self, half: ToldHalf, told: &mut Told) -> Option<HalfId> {
        told.renew(self.stacks.generation());
        let half = told.halves.get_mut(half.0 as usize)?;
        if half.here.is_none() {
            let addresses = told.addresses.get(half.start..half.start + half.told.length as usize)?;
            let process = if addresses.last().is_some_and(|root| self.stacks.is_kernel(*root)) {
                told.processes.known(half.told.process)
            } else {
                told.processes.find(half.told.process, &mut self.population)
            };
            half.here = self.stacks.inline_half(process, addresses.iter().copied(), half.told.ticks);
        }
        half.here
    }

    /// The stack that a pair of a worker is.
    pub(super) fn stack_of_pair(&mut self, number: u32, told: &mut Told) -> Option<StackId> {
        told.renew(self.stacks.generation());
        let (pair, known) = *told.pairs.get(number as usize)?;
        if let Some(stack) = known {
            return stack;
        }
        let [kernel, user] = self.pair_of(pair, told);
        let stack = self.stacks.stack(kernel, user, &mut self.health, self.sink);
        if let Some((_, known)) = told.pairs.get_mut(number as usize) {
            *known = Some(stack);
        }
        stack
    }

    fn pair_of(&mut self, pair: ToldPair, told: &mut Told) -> [Option<HalfId>; 2] {
        pair.map(|half| half.and_then(|half| self.half_of(half, told)))
    }

    /// Halves that no event of a worker took.
    pub(super) fn add_left(&mut self, left: &LeftHalves, told: &mut Told) {
        let [kernel, user] = self.pair_of(left.pair, told);
        self.binder.add_untaken(&Untaken { kernel, user, ..left.event });
    }
}
