//! One slot per pair of process and method, and groups of slots that share their unions.
//!
//! Two methods of a process that occurred in exactly the same stacks have exactly the same waits,
//! so one union serves both. A stack that has only a part of a group splits the group: both parts
//! continue from the same union. Groups are never joined. Each stack is therefore a list of whole
//! groups. The frames from the start of a thread to its message loop, for example, are one update
//! instead of fifteen.

use tracesift_trace::ProcessId;

use crate::item::Item;
use crate::method_total::MethodTotal;
use crate::names::MethodId;
use crate::owner::Owner;
use crate::process_number::ProcessNumber;
use crate::shared_totals::SharedTotals;
use crate::slot_index::SlotIndex;
use crate::spans::Span;
use crate::union::DescendingUnion;

#[derive(Debug)]
pub(crate) struct MethodSlots<I = MethodId> {
    /// Per process: how often a group of it was split, counted from 1. Lists of groups that are older are out of date.
    splits: Vec<u32>,

    index: SlotIndex,
    keys: Vec<(ProcessNumber, I)>,
    sums: Vec<SharedTotals>,
    exclusive: Vec<i64>,
    group_of: Vec<u32>,
    /// Round in which the slot was looked at last.
    round_of: Vec<u32>,

    unions: Vec<Unions>,
    groups: Vec<Group>,
    /// Counts walks over stacks; what was marked in an earlier one is not marked.
    round: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Unions {
    wait: DescendingUnion,
    ready: DescendingUnion,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Number of slots in it.
    size: u32,
    /// Round in which it was looked at last; the two below hold for that round only.
    round: u32,
    /// Slots of it that the stack at hand has.
    hits: u32,
    /// The group that takes those, when the stack has not all of them.
    split_into: Option<u32>,
}

impl<I> Default for MethodSlots<I> {
    fn default() -> Self {
        Self {
            splits: Vec::new(),
            index: SlotIndex::default(),
            keys: Vec::new(),
            sums: Vec::new(),
            exclusive: Vec::new(),
            group_of: Vec::new(),
            round_of: Vec::new(),
            unions: Vec::new(),
            groups: Vec::new(),
            round: 0,
        }
    }
}

impl<I: Item> MethodSlots<I> {
    /// How often groups of the process were split; never 0. Of a process with a stack only.
    pub(crate) fn splits(&self, process: ProcessNumber) -> u32 {
        self.splits[process.0 as usize]
    }

    /// Appends the slots of the methods of a stack, leaf first, each once, and sees to it that the stack consists of
    /// whole groups.
    pub(crate) fn add_stack(&mut self, process: ProcessNumber, methods: &[I], slots: &mut Vec<u32>) {
        let start = slots.len();
        let round = self.next_round();
        self.index.turn_to(process, &self.keys);
        if self.splits.len() <= process.0 as usize {
            self.splits.resize(process.0 as usize + 1, 1);
        }
        for &method in methods {
            let slot = self.slot(process, method);
            let recurs = std::mem::replace(&mut self.round_of[slot as usize], round) == round;
            if !recurs {
                slots.push(slot);
            }
        }
        self.split(process, &slots[start..]);
    }

    /// Fills in the groups of these slots, each once; returns how many they are.
    pub(crate) fn groups_of(&mut self, slots: &[u32], groups: &mut [u32]) -> usize {
        let round = self.next_round();
        let mut count = 0;
        for &slot in slots {
            let number = self.group_of[slot as usize];
            let group = &mut self.groups[number as usize];
            if group.round != round {
                group.round = round;
                groups[count] = number;
                count += 1;
            }
        }
        count
    }

    #[inline]
    pub(crate) fn add_wait(&mut self, group: u32, span: Span) {
        self.unions[group as usize].wait.add(span);
    }

    #[inline]
    pub(crate) fn add_ready(&mut self, group: u32, span: Span) {
        self.unions[group as usize].ready.add(span);
    }

    pub(crate) fn add_exclusive(&mut self, slot: u32, weight: i64) {
        let exclusive = &mut self.exclusive[slot as usize];
        *exclusive = exclusive.saturating_add(weight);
    }

    pub(crate) fn merge(&mut self, slot: u32, sums: &SharedTotals) {
        self.sums[slot as usize].merge(sums);
    }

    /// The methods that have slots, each as often as it has.
    pub(crate) fn methods(&self) -> impl Iterator<Item = I> {
        self.keys.iter().map(|(_, method)| *method)
    }

    /// Bytes in use, about; sets of many threads apart.
    pub(crate) fn bytes(&self) -> usize {
        // Beside the sums: exclusive CPU, group, round, and the slot before it in its process.
        let per_slot =
            size_of::<SharedTotals>() + size_of::<(ProcessNumber, I)>() + size_of::<i64>() + 3 * size_of::<u32>();
        self.keys.len() * per_slot + self.groups.len() * (size_of::<Group>() + size_of::<Unions>())
    }

    pub(crate) fn method_of(&self, slot: u32) -> I {
        self.keys[slot as usize].1
    }

    pub(crate) fn sums(&self, slot: u32) -> &SharedTotals {
        &self.sums[slot as usize]
    }

    pub(crate) fn exclusive(&self, slot: u32) -> i64 {
        self.exclusive[slot as usize]
    }

    pub(crate) fn wait_union(&self, slot: u32) -> i64 {
        self.unions[self.group_of[slot as usize] as usize].wait.covered()
    }

    pub(crate) fn ready_union(&self, slot: u32) -> i64 {
        self.unions[self.group_of[slot as usize] as usize].ready.covered()
    }

    fn slot(&mut self, process: ProcessNumber, method: I) -> u32 {
        if let Some(slot) = self.index.find(process, method, &self.keys) {
            return slot;
        }
        let slot = dense(self.keys.len());
        self.keys.push((process, method));
        self.index.insert(process, method, slot);
        self.sums.push(SharedTotals::default());
        self.exclusive.push(0);
        self.group_of.push(NO_GROUP);
        self.round_of.push(0);
        slot
    }

    /// Makes the slots of a stack whole groups: those that are new become one, and of each group that the stack has a
    /// part of, that part becomes a group of its own.
    fn split(&mut self, process: ProcessNumber, slots: &[u32]) {
        let round = self.next_round();
        for &slot in slots {
            if let Some(group) = self.groups.get_mut(self.group_of[slot as usize] as usize) {
                if group.round != round {
                    *group = Group { size: group.size, round, hits: 0, split_into: None };
                }
                group.hits += 1;
            }
        }
        let mut fresh = None;
        let mut any_split = false;
        for &slot in slots {
            let old = self.group_of[slot as usize];
            let target = match self.groups.get(old as usize).copied() {
                None => *fresh.get_or_insert(self.unions.len()),
                Some(group) if group.hits == group.size => continue,
                Some(group) => {
                    any_split = true;
                    group.split_into.map_or(self.unions.len(), |target| target as usize)
                }
            };
            if target == self.unions.len() {
                self.unions.push(self.unions.get(old as usize).copied().unwrap_or_default());
                self.groups.push(Group { size: 0, round: 0, hits: 0, split_into: None });
            }
            if let Some(group) = self.groups.get_mut(old as usize) {
                group.split_into = Some(dense(target));
                // Both shrink together, so that a part stays a part until the last of its slots has left.
                group.size -= 1;
                group.hits -= 1;
            }
            self.groups[target].size += 1;
            self.group_of[slot as usize] = dense(target);
        }
        if any_split {
            // Wrapping around would take four billion splits; 0 stays free for lists that were never filled in.
            let splits = &mut self.splits[process.0 as usize];
            *splits = splits.wrapping_add(1).max(1);
        }
    }

    fn next_round(&mut self) -> u32 {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.groups.iter_mut().for_each(|group| group.round = 0);
            self.round_of.fill(0);
            self.round = 1;
        }
        self.round
    }
}

/// The slots with those whose figures they have.
#[derive(Debug)]
pub(crate) struct OwnedSlots<I = MethodId, O = ProcessId> {
    pub(crate) slots: MethodSlots<I>,
    /// By the numbers of processes.
    owners: Vec<O>,
}

impl<I: Item, O: Owner> OwnedSlots<I, O> {
    pub(crate) fn new(slots: MethodSlots<I>, owners: Vec<O>) -> Self {
        Self { slots, owners }
    }

    /// All slots by owner and method.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let mut owners: Vec<_> = self.owners.iter().zip((0..).map(ProcessNumber)).collect();
        owners.sort_unstable();
        let mut order = Vec::with_capacity(self.slots.keys.len());
        for (_, number) in owners {
            let start = order.len();
            order.extend(self.slots.index.slots_of(number));
            order[start..].sort_unstable_by_key(|&slot| self.slots.method_of(slot));
        }
        order
    }

    pub(crate) fn total(&self, slot: u32) -> MethodTotal<I, O> {
        let sums = self.slots.sums(slot);
        MethodTotal {
            owner: self.owner_of(slot),
            method: self.slots.method_of(slot),
            samples: sums.samples,
            cpu: sums.cpu,
            exclusive_cpu: self.slots.exclusive(slot),
            wait: sums.wait.with_union(self.slots.wait_union(slot)),
            ready: sums.ready.with_union(self.slots.ready_union(slot)),
            switches: sums.switches,
            threads: sums.threads.count(),
            first: sums.first,
            last: sums.last,
        }
    }

    pub(crate) fn owner_of(&self, slot: u32) -> O {
        self.owners[self.slots.keys[slot as usize].0.0 as usize]
    }
}

/// A slot that no stack has yet. There are never as many groups.
const NO_GROUP: u32 = u32::MAX;

/// Numbers stay below 2^32: what they number takes more than a hundred bytes each.
fn dense(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::MethodSlots;
    use crate::names::MethodId;
    use crate::process_number::ProcessNumber;
    use crate::spans::Span;

    #[test]
    fn methods_share_a_union_until_a_stack_tells_them_apart() {
        let mut slots: MethodSlots = MethodSlots::default();
        let process = ProcessNumber(7);
        let mut groups = |stack: &[u32], span: Span| {
            let methods = stack.iter().map(|&method| MethodId(method)).collect::<Vec<_>>();
            let (mut of_stack, mut groups) = (Vec::new(), vec![0; stack.len()]);
            slots.add_stack(process, &methods, &mut of_stack);
            let count = slots.groups_of(&of_stack, &mut groups);
            groups[..count].iter().for_each(|&group| slots.add_wait(group, span));
            (count, (0..5).map_while(|slot| (slot < slots.keys.len() as u32).then(|| slots.wait_union(slot))).collect())
        };
        let unions = |waits: &[i64]| waits.to_vec();
        assert_eq!(groups(&[0, 1, 2, 1], Span::new(90, 100)), (1, unions(&[10, 10, 10])));
        assert_eq!(groups(&[1, 2], Span::new(70, 75)), (1, unions(&[10, 15, 15])));
        assert_eq!(groups(&[3, 2, 0], Span::new(50, 51)), (3, unions(&[11, 15, 16, 1])));
        assert_eq!(groups(&[0, 1, 2], Span::new(0, 50)), (3, unions(&[61, 65, 66, 1])));
        assert_eq!(slots.splits(process), 3);
    }
}
