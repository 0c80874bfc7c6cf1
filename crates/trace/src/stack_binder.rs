//! Stack records find their events.
//!
//! A stack record names the event that it belongs to by raw time stamp and thread and comes later: its kernel half at
//! once, its user half when the thread returns to user mode. A cursor that runs ahead of the events adds halves here;
//! the event takes what is there when it comes by. Halves that are later than the cursor's lead are added beforehand.

use rustc_hash::FxHashMap;

use crate::slice_heads::{NONE, SliceHeads};
use crate::stacks::HalfId;

/// Events that wait for their stacks in one slice of time, at most: a forged recording must not make the search quadratic.
const MAX_PER_SLICE: usize = 4096;

/// Slices of time per second, at least. Events come in the order of time, so those of one slice meet memory that the one before
/// them has just used.
const SLICES_PER_SECOND: u64 = 100_000;

/// Kernel halves that wait for the return of one thread to user mode, at most.
const MAX_WAITING: usize = 4096;

/// Late user halves of one thread that serve events of one time, at most: more only a forged recording has.
const MAX_SERVING: usize = 64;

/// What a stack record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The kernel-mode side; the user side may follow.
    Kernel(HalfId),
    /// The user-mode side.
    User(HalfId),
    /// Both sides in one record.
    Whole(HalfId),
}

/// A stack record, with its frames already interned.
#[derive(Clone, Copy, Debug)]
pub struct StackRecord {
    /// Raw time of the event that it belongs to.
    pub event_ticks: i64,
    /// Raw time of the stack record itself.
    pub ticks: i64,
    /// Thread of the event.
    pub tid: u32,
    /// The life of that tid, as a number: a kernel half does not wait for the user half of the tid's next owner.
    pub instance: u32,
    /// CPU on which the record was logged.
    pub cpu: u16,
    /// The frames.
    pub part: Part,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    next: u32,
    ticks: i64,
    tid: u32,
    cpu: u16,
    whole: bool,
    /// The user half came for another event of the same stay in kernel mode.
    borrowed: bool,
    kernel: Option<HalfId>,
    user: Option<HalfId>,
}

/// The halves of an event that did not take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// Raw time of the event.
    pub ticks: i64,
    /// Thread of the event.
    pub tid: u32,
    /// CPU on which its kernel half was logged.
    pub cpu: u16,
    /// Kernel half, or the whole stack.
    pub kernel: Option<HalfId>,
    /// User half.
    pub user: Option<HalfId>,
    /// The kernel half is a whole stack.
    pub whole: bool,
    /// The user half came for another event of the same stay in kernel mode.
    pub borrowed: bool,
}

/// A user half that comes later than the lead of the cursor: it serves the kernel halves of its thread from
/// `first_event_ticks` to `ticks`.
#[derive(Clone, Copy, Debug)]
pub struct LateUserHalf {
    /// Thread.
    pub tid: u32,
    /// Time of the event that it names.
    pub event_ticks: i64,
    /// Oldest event that waits for it.
    pub first_event_ticks: i64,
    /// When it was logged.
    pub ticks: i64,
    /// The frames.
    pub half: HalfId,
}

/// A late user half whose time has come.
#[derive(Clone, Copy, Debug)]
struct Serving {
    late: LateUserHalf,
    /// The event that it names has taken it. It still serves the others of its stay in kernel mode.
    is_taken: bool,
}

impl Serving {
    fn names(&self, ticks: i64) -> bool {
        !self.is_taken && self.late.event_ticks == ticks
    }
}

/// The user halves that an event may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserHalves {
    /// Only one that came for this event.
    Own,
    /// Also one that came for another event of the same stay in kernel mode.
    Shared,
}

impl Untaken {
    /// Whether it may be the stack of an event of `tid`.
    #[must_use]
    pub fn is_of(&self, tid: Option<u32>, cpu: u16) -> bool {
        is_of((self.tid, self.cpu), tid, cpu)
    }
}

/// Whether the stack of a thread, logged on a CPU, may be that of an event of `tid`.
#[inline]
fn is_of((stack_tid, stack_cpu): (u32, u16), tid: Option<u32>, cpu: u16) -> bool {
    match tid {
        // Every CPU has an idle thread with tid 0, so its stacks are told apart by CPU.
        None | Some(0) => stack_cpu == cpu && tid.is_none_or(|tid| stack_tid == tid),
        Some(tid) => stack_tid == tid,
    }
}

/// Holds the halves whose events are still to come.
#[derive(Debug)]
pub struct StackBinder {
    /// Ticks in a slice of time, as a power of two.
    slice_bits: u32,
    by_slice: SliceHeads,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Kernel halves by tid and life that wait for its return to user mode: event time and entry.
    waiting: FxHashMap<(u32, u32), Vec<(i64, u32)>>,
    /// Late user halves that serve no event yet: the last one begins first.
    late: Vec<LateUserHalf>,
    /// Those that serve events of this time, by thread. Few: a thread returns to user mode before it waits again.
    serving: FxHashMap<u32, Vec<Serving>>,
    swept: i64,
}

impl StackBinder {
    /// Nothing waits; times are ticks of `frequency` per second, and the cursor runs `lead` ticks ahead.
    #[must_use]
    pub fn new(frequency: i64, lead: i64) -> Self {
        let slice = u64::try_from(frequency).unwrap_or(0) / SLICES_PER_SECOND;
        let slice_bits = slice.max(1).ilog2();
        Self {
            slice_bits,
            by_slice: SliceHeads::new((lead >> slice_bits).saturating_add(1)),
            entries: Vec::new(),
            free: Vec::new(),
            waiting: FxHashMap::default(),
            late: Vec::new(),
            serving: FxHashMap::default(),
            swept: 0,
        }
    }

    /// Takes the user halves that the cursor will not reach in time. To be said before the first event.
    pub fn set_late(&mut self, mut halves: Vec<LateUserHalf>) {
        halves.sort_by_key(|half| std::cmp::Reverse(half.first_event_ticks));
        self.late = halves;
    }

    /// The events before `now` are through: late halves that serve the next ones come into play, and halves that no event took are handed
    /// over, in the order of slices of time. What waits for the returns of threads is looked through once per `interval` ticks.
    #[inline]
    pub fn advance(&mut self, now: i64, interval: i64, untaken: impl FnMut(Untaken)) {
        let (entries, free, mut untaken) = (&mut self.entries, &mut self.free, untaken);
        self.by_slice.advance(now >> self.slice_bits, |head| forget_all(entries, free, head, &mut untaken));
        while let Some(half) = self.late.pop_if(|half| half.first_event_ticks <= now) {
            let serving = self.serving.entry(half.tid).or_default();
            serving.retain(|half| half.late.ticks >= now);
            if serving.len() < MAX_SERVING {
                serving.push(Serving { late: half, is_taken: false });
            }
        }
        if now.saturating_sub(self.swept) >= interval {
            self.sweep(now, interval);
        }
    }

    /// A stack record from the cursor that runs ahead.
    pub fn add(&mut self, record: &StackRecord) {
        match record.part {
            Part::Kernel(half) => {
                let Some(index) = self.kernel_half(record, half) else { return };
                if self.entries[index as usize].user.is_none() {
                    let waiting = self.waiting.entry((record.tid, record.instance)).or_default();
                    if waiting.len() >= MAX_WAITING {
                        waiting.clear();
                    }
                    waiting.push((record.event_ticks, index));
                }
            }
            Part::User(half) => {
                let open = |entry: &Entry| !entry.whole && (entry.user.is_none() || entry.borrowed);
                if let Some(index) = self.entry_for(record, open) {
                    let entry = &mut self.entries[index as usize];
                    entry.user = Some(half);
                    entry.borrowed = false;
                }
                let waiting = self.waiting.get_mut(&(record.tid, record.instance));
                for (ticks, index) in waiting.into_iter().flat_map(|waiting| waiting.drain(..)) {
                    let waiting = &mut self.entries[index as usize];
                    let same = waiting.ticks == ticks && waiting.tid == record.tid;
                    if same && waiting.user.is_none() && waiting.kernel.is_some() {
                        waiting.user = Some(half);
                        waiting.borrowed = true;
                    }
                }
            }
            Part::Whole(half) => self.whole(record, half),
        }
    }

    /// Halves that another binder has put together, and that none of its events took.
    pub fn add_untaken(&mut self, halves: &Untaken) {
        let Untaken { ticks, tid, cpu, kernel, user, whole, borrowed } = *halves;
        let half = kernel.or(user);
        let Some(part) = half.map(Part::Whole) else { return };
        let record = StackRecord { event_ticks: ticks, ticks, tid, instance: 0, cpu, part };
        if let Some(index) = self.entry_for(&record, |_| false) {
            let entry = &mut self.entries[index as usize];
            (entry.kernel, entry.user, entry.whole, entry.borrowed) = (kernel, user, whole, borrowed);
        }
    }

    /// A kernel half, or a whole stack, that the cursor will not reach in time; to be said before the first event. It waits for no user
    /// half of the cursor: that of its stay in kernel mode is late as well.
    pub fn add_late(&mut self, record: &StackRecord) {
        match record.part {
            Part::Kernel(half) => _ = self.kernel_half(record, half),
            Part::Whole(half) => self.whole(record, half),
            Part::User(_) => {}
        }
    }

    fn kernel_half(&mut self, record: &StackRecord, half: HalfId) -> Option<u32> {
        let index = self.entry_for(record, |entry: &Entry| entry.kernel.is_none() && !entry.whole)?;
        let entry = &mut self.entries[index as usize];
        entry.kernel = Some(half);
        entry.cpu = record.cpu;
        Some(index)
    }

    fn whole(&mut self, record: &StackRecord, half: HalfId) {
        let open = |entry: &Entry| entry.kernel.is_none() && entry.user.is_none();
        let Some(index) = self.entry_for(record, open) else { return };
        let entry = &mut self.entries[index as usize];
        entry.kernel = Some(half);
        entry.whole = true;
    }

    /// The kernel and user halves of the event of thread `tid` (unknown: `None`) at `ticks` on `cpu`, at most once each.
    pub fn take(
        &mut self,
        ticks: i64,
        tid: Option<u32>,
        cpu: u16,
        user: UserHalves,
    ) -> (Option<HalfId>, Option<HalfId>) {
        let chosen = self.entry_of(ticks, tid, cpu);
        let halves = self.halves(chosen, ticks, tid, user);
        let tid = chosen.map(|chosen| self.entries[chosen as usize].tid).or(tid);
        if let Some(chosen) = chosen {
            self.unlink(self.slice(ticks), chosen);
        }
        if let (Some(user), Some(tid)) = (halves.1, tid) {
            self.take_late(ticks, tid, user);
        }
        halves
    }

    /// An event has taken its user half: no other event of the same thread and time gets it as its own.
    fn take_late(&mut self, ticks: i64, tid: u32, user: HalfId) {
        if self.serving.is_empty() {
            return;
        }
        let serving = self.serving.get_mut(&tid).into_iter().flatten();
        let own = serving.filter(|half| half.names(ticks) && half.late.half == user);
        if let Some(own) = own.min_by_key(|half| half.late.ticks) {
            own.is_taken = true;
        }
    }

    /// As [`Self::take`], and leaves them there: for whoever must not take them from another event of that moment.
    #[must_use]
    pub fn peek(&self, ticks: i64, tid: Option<u32>, cpu: u16, user: UserHalves) -> (Option<HalfId>, Option<HalfId>) {
        self.halves(self.entry_of(ticks, tid, cpu), ticks, tid, user)
    }

    fn entry_of(&self, ticks: i64, tid: Option<u32>, cpu: u16) -> Option<u32> {
        self.chain(self.by_slice.get(self.slice(ticks)))
            .filter(|index| {
                let entry = &self.entries[*index as usize];
                entry.ticks == ticks && is_of((entry.tid, entry.cpu), tid, cpu)
            })
            // Several records with the same time and thread: the one logged on the event's CPU comes first.
            .min_by_key(|index| self.entries[*index as usize].cpu != cpu)
    }

    fn halves(
        &self,
        entry: Option<u32>,
        ticks: i64,
        tid: Option<u32>,
        user: UserHalves,
    ) -> (Option<HalfId>, Option<HalfId>) {
        let Some(entry) = entry else {
            return (None, tid.and_then(|tid| self.late_user_half(ticks, tid, UserHalves::Own)));
        };
        let entry = &self.entries[entry as usize];
        let user = match entry.user {
            _ if entry.whole => None,
            Some(user) if !entry.borrowed => Some(user),
            _ if user == UserHalves::Own => self.late_user_half(ticks, entry.tid, UserHalves::Own),
            None => self.late_user_half(ticks, entry.tid, UserHalves::Shared),
            borrowed => self.late_user_half(ticks, entry.tid, UserHalves::Own).or(borrowed),
        };
        (entry.kernel, user)
    }

    /// A late user half that names this event or, where shared ones count too, serves its stay in kernel mode.
    fn late_user_half(&self, ticks: i64, tid: u32, halves: UserHalves) -> Option<HalfId> {
        if self.serving.is_empty() {
            return None;
        }
        let serving = self.serving.get(&tid)?;
        if let Some(own) = serving.iter().filter(|half| half.names(ticks)).min_by_key(|half| half.late.ticks) {
            return Some(own.late.half);
        }
        let serves = |half: &&Serving| half.late.first_event_ticks <= ticks && ticks <= half.late.ticks;
        let next = serving.iter().filter(serves).min_by_key(|half| half.late.ticks)?;
        (halves == UserHalves::Shared).then_some(next.late.half)
    }

    #[inline(never)]
    fn sweep(&mut self, now: i64, interval: i64) {
        self.swept = now;
        self.waiting.retain(|_, waiting| {
            waiting.retain(|(ticks, _)| *ticks >= now.saturating_sub(interval));
            !waiting.is_empty()
        });
        self.serving.retain(|_, serving| {
            serving.retain(|half| half.late.ticks >= now);
            !serving.is_empty()
        });
    }

    fn slice(&self, ticks: i64) -> i64 {
        ticks >> self.slice_bits
    }

    fn chain(&self, head: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |index: u32| Some(index).filter(|index| *index != NONE);
        std::iter::successors(some(head), move |index| some(self.entries[*index as usize].next))
    }

    /// The first entry of the record's event that `open` accepts, else a new one at the end of the chain; `None` where too many
    /// wait already.
    fn entry_for(&mut self, record: &StackRecord, open: impl Fn(&Entry) -> bool) -> Option<u32> {
        let slice = self.slice(record.event_ticks);
        if self.by_slice.is_over(slice) {
            return None;
        }
        let mut last = None;
        let mut length = 0;
        for index in self.chain(self.by_slice.get(slice)) {
            let entry = &self.entries[index as usize];
            let same_thread = entry.tid == record.tid && (record.tid != 0 || entry.cpu == record.cpu);
            if entry.ticks == record.event_ticks && same_thread && open(entry) {
                return Some(index);
            }
            last = Some(index);
            length += 1;
        }
        if length >= MAX_PER_SLICE {
            return None;
        }
        let entry = Entry {
            next: NONE,
            ticks: record.event_ticks,
            tid: record.tid,
            cpu: record.cpu,
            whole: false,
            borrowed: false,
            kernel: None,
            user: None,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.entries[index as usize] = entry;
                index
            }
            None => {
                self.entries.push(entry);
                u32::try_from(self.entries.len() - 1).unwrap_or(NONE)
            }
        };
        match last {
            Some(last) => self.entries[last as usize].next = index,
            None => self.by_slice.set(slice, index),
        }
        Some(index)
    }

    fn unlink(&mut self, slice: i64, index: u32) {
        let head = self.by_slice.get(slice);
        let next = self.entries[index as usize].next;
        if head == index {
            self.by_slice.set(slice, next);
        } else {
            let before = self.chain(head).find(|at| self.entries[*at as usize].next == index);
            if let Some(before) = before {
                self.entries[before as usize].next = next;
            }
        }
        forget(&mut self.entries, &mut self.free, index);
    }
}

/// Forgets an entry that is in no chain. A waiting list may still point there: the tid and time of the next tenant tell that it is
/// another.
fn forget(entries: &mut [Entry], free: &mut Vec<u32>, index: u32) {
    entries[index as usize].kernel = None;
    entries[index as usize].tid = NONE;
    free.push(index);
}

/// Forgets all entries of a chain, which nobody took.
fn forget_all(entries: &mut [Entry], free: &mut Vec<u32>, head: u32, untaken: &mut impl FnMut(Untaken)) {
    let mut next = head;
    while next != NONE {
        let index = next;
        let Entry { ticks, tid, cpu, kernel, user, whole, borrowed, .. } = entries[index as usize];
        untaken(Untaken { ticks, tid, cpu, kernel, user, whole, borrowed });
        next = entries[index as usize].next;
        forget(entries, free, index);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{LateUserHalf, Part, StackBinder, StackRecord, UserHalves};
    use crate::halves::Halves;
    use crate::ids::ProcessId;
    use crate::stacks::HalfId;

    /// A stay of a thread in kernel mode: ticks until each of its events, how long after it its kernel half is logged, and ticks until the
    /// user half is, which is that of the last event.
    type Stay = (u32, Vec<(i64, i64)>, i64);

    /// Events by time with their thread, and the stack records in the order in which they are logged.
    fn recorded(stays: &[Stay]) -> (BTreeMap<i64, u32>, Vec<StackRecord>) {
        let (mut halves, mut events, mut records) = (Halves::default(), BTreeMap::new(), Vec::new());
        let mut half = || halves.add(ProcessId(0), 0, &[1]);
        let mut now = BTreeMap::<u32, i64>::new();
        for (tid, of_stay, delay) in stays {
            let now = now.entry(*tid).or_default();
            let record =
                |event_ticks, ticks, part| StackRecord { event_ticks, ticks, tid: *tid, instance: 0, cpu: 0, part };
            let mut last = None;
            for (after, kernel_delay) in of_stay {
                // No two threads have an event at one time.
                let ticks = (*now + after) * 4 + i64::from(*tid);
                events.insert(ticks, *tid);
                records.push(record(ticks, ticks + kernel_delay, Part::Kernel(half())));
                last = Some(ticks);
                *now += after;
            }
            *now += delay;
            if let Some(event) = last {
                let logged = records.iter().map(|record| record.ticks).max().unwrap_or(0).max(*now * 4);
                records.push(record(event, logged, Part::User(half())));
                *now = logged / 4 + 1;
            }
        }
        records.sort_by_key(|record| record.ticks);
        (events, records)
    }

    /// The halves that the events take where the cursor runs `lead` ticks ahead.
    fn taken(events: &BTreeMap<i64, u32>, records: &[StackRecord], lead: i64) -> Vec<(Option<HalfId>, Option<HalfId>)> {
        let mut binder = StackBinder::new(1_000_000, lead.min(1 << 20));
        let (mut first_waiting, mut late) = (BTreeMap::new(), Vec::new());
        for record in records {
            match record.part {
                Part::User(half) => {
                    let first = first_waiting.remove(&record.tid).unwrap_or(record.event_ticks).min(record.event_ticks);
                    if record.ticks - first > lead {
                        let StackRecord { tid, event_ticks, ticks, .. } = *record;
                        late.push(LateUserHalf { tid, event_ticks, first_event_ticks: first, ticks, half });
                    }
                }
                _ => {
                    let first = first_waiting.entry(record.tid).or_insert(record.event_ticks);
                    *first = record.event_ticks.min(*first);
                    if record.ticks - record.event_ticks > lead {
                        binder.add_late(record);
                    }
                }
            }
        }
        binder.set_late(late);
        let mut ahead = records.iter().peekable();
        events
            .iter()
            // Another event of the same thread and time has no stack.
            .flat_map(|(ticks, tid)| [(ticks, tid), (ticks, tid)])
            .map(|(ticks, tid)| {
                binder.advance(*ticks, 1_000, |_| ());
                while let Some(record) = ahead.next_if(|record| record.ticks <= ticks.saturating_add(lead)) {
                    binder.add(record);
                }
                binder.take(*ticks, Some(*tid), 0, UserHalves::Shared)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn events_take_the_same_halves_with_any_lead(
            stays in prop::collection::vec(
                (1..4_u32, prop::collection::vec((1..200_i64, 0..60_i64), 1..5), 0..3000_i64), 1..40),
            lead in prop_oneof![Just(0), 1..50_i64, 1..20_000_i64],
        ) {
            let (events, records) = recorded(&stays);
            prop_assert_eq!(taken(&events, &records, lead), taken(&events, &records, i64::MAX));
        }
    }
}
