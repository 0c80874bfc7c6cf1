//! Which handles belong to which life of a kernel object, and what they say about it.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use tracesift_trace::rows::{MappedViewRow, handle_origins};
use tracesift_trace::{ProcessId, StackId, ThreadId};

/// A life of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// Address of the object.
    pub(super) object: i64,
    /// When it was made, ns.
    pub(super) start: i64,
    /// When it was closed, ns; end of the recording where it is open.
    pub(super) end: i64,
    /// Whether it is open at the end of the recording.
    pub(super) is_open: bool,
    /// Whether the end of its process closed it.
    pub(super) by_exit: bool,
    /// Process that has it.
    pub(super) owner: ProcessId,
    /// Value.
    pub(super) value: i64,
    /// Process that made it.
    pub(super) process: Option<ProcessId>,
    /// Thread that made it.
    pub(super) thread: Option<ThreadId>,
    /// Stack of the creation.
    pub(super) stack: Option<StackId>,
    /// Stack of the close.
    pub(super) close_stack: Option<StackId>,
    /// A value of [`handle_origins`].
    pub(super) made_by: i8,
    /// Number of the name of its type.
    pub(super) object_type: Option<u32>,
    /// Number of the name of the object.
    pub(super) name: Option<u32>,
}

impl Held {
    /// The first instant at which it is closed.
    fn until(&self) -> i64 {
        if self.is_open { i64::MAX } else { self.end }
    }

    /// Of handles that begin at once the longest stands first: the others begin while it is open.
    fn order(&self) -> (i64, i64, Reverse<i64>) {
        (self.object, self.start, Reverse(self.until()))
    }

    /// Whether it was made in a time range and is closed by nobody; the end of its process counts where it is told to.
    pub(super) fn is_leaked(&self, (from, to): (i64, i64), with_exited: bool) -> bool {
        let is_left = self.is_open || (with_exited && self.by_exit);
        self.made_by != handle_origins::THERE && is_left && self.start >= from && self.start < to
    }
}

/// A life of an object, with its handles in the order of their creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// Address.
    pub(super) address: i64,
    /// Number of the object; `None`: only its handles tell of it.
    pub(super) number: Option<i32>,
    /// When it was created, ns.
    pub(super) start: i64,
    /// When it was deleted, ns; end of the recording where it is open.
    pub(super) end: i64,
    /// Whether it was there before its first event.
    pub(super) there: bool,
    /// Whether it was not deleted in the recording.
    pub(super) is_open: bool,
    /// Process that created it.
    pub(super) process: Option<ProcessId>,
    /// Stack of the creation.
    pub(super) stack: Option<StackId>,
    /// Stack of the deletion; of an object of which only handles are known that of the close of the last one.
    pub(super) end_stack: Option<StackId>,
    /// Number of the name of its type.
    pub(super) object_type: Option<u32>,
    /// Number of its name.
    pub(super) name: Option<u32>,
    /// References that were taken, and given back.
    pub(super) references: Option<(i64, i64)>,
    /// Its handles.
    pub(super) handles: Vec<Held>,
    /// Its mapped views, in the order of mapping.
    pub(super) views: Vec<MappedViewRow>,
}

impl Life {
    /// The life of an object of which only handles are known, from the first of them.
    fn of_handle(handle: &Held) -> Self {
        let is_created = handle.made_by == handle_origins::CREATED;
        Self {
            address: handle.object,
            number: None,
            start: handle.start,
            end: handle.end,
            there: !is_created,
            is_open: handle.is_open,
            process: handle.process.filter(|_| is_created),
            stack: handle.stack.filter(|_| is_created),
            end_stack: None,
            object_type: None,
            name: None,
            references: None,
            handles: Vec::new(),
            views: Vec::new(),
        }
    }

    /// The first instant at which it is deleted.
    pub(super) fn until(&self) -> i64 {
        if self.is_open { i64::MAX } else { self.end }
    }

    /// Adds a handle that begins no earlier than those before. A handle knows the type and the name of the object, too.
    fn add(&mut self, handle: Held) {
        self.object_type = self.object_type.or(handle.object_type);
        self.name = self.name.or(handle.name);
        if self.number.is_none() {
            if handle.end >= self.end {
                self.end_stack = handle.close_stack;
            }
            self.end = self.end.max(handle.end);
            self.is_open |= handle.is_open;
        }
        self.handles.push(handle);
    }

    /// Whether a handle that begins after those before is one of this object, of which only handles are known. When nobody has a
    /// handle, the system deletes an object, and its address is free for another one.
    fn goes_on_with(&self, handle: &Held) -> bool {
        let is_other = self.object_type.is_some() && handle.object_type.is_some_and(|of| Some(of) != self.object_type);
        self.address == handle.object && handle.start < self.until() && !is_other
    }

    /// When it began; `None`: it was there before its first event.
    pub(super) fn begin(&self) -> Option<i64> {
        (!self.there).then_some(self.start)
    }

    /// Stack of its end; `None` where it has no end in the recording.
    pub(super) fn stack_of_end(&self) -> Option<StackId> {
        self.end_stack.filter(|_| !self.is_open)
    }

    /// All its stacks, and those of its handles.
    pub(super) fn stacks(&self) -> impl Iterator<Item = StackId> {
        let of_handles = self.handles.iter().flat_map(|handle| [handle.stack, handle.close_stack]);
        [self.stack, self.stack_of_end()].into_iter().chain(of_handles).flatten()
    }

    /// Time in the recording, ns.
    pub(super) fn duration(&self) -> i64 {
        self.end.saturating_sub(self.start)
    }

    /// Keeps the handles and views that touch a time range. Whether the object touches it.
    pub(super) fn cut(&mut self, range: (i64, i64)) -> bool {
        self.handles.retain(|handle| touches(range, handle.start, handle.until()));
        let until = |view: &MappedViewRow| if view.open == Some(true) { i64::MAX } else { view.time };
        self.views.retain(|view| touches(range, view.start, until(view)));
        touches(range, self.start, self.until())
    }

    /// Number of processes that have handles.
    pub(super) fn processes(&self) -> usize {
        self.handles.iter().map(|handle| handle.owner).collect::<FxHashSet<_>>().len()
    }

    /// Whether two processes have handles.
    pub(super) fn is_multi_process(&self) -> bool {
        self.handles.iter().any(|handle| Some(handle.owner) != self.handles.first().map(|first| first.owner))
    }

    /// Whether a process has several handles at once: one is made while another one is open.
    pub(super) fn is_overlapped(&self) -> bool {
        let mut until: FxHashMap<ProcessId, i64> = FxHashMap::default();
        self.handles.iter().any(|handle| {
            let latest = until.entry(handle.owner).or_insert(i64::MIN);
            let is_open = handle.start < *latest;
            *latest = handle.until().max(*latest);
            is_open
        })
    }

    /// Whether a process has a handle from its creator.
    pub(super) fn is_inherited(&self) -> bool {
        self.handles.iter().any(is_inherited)
    }
}

/// Whether its process got a handle from its creator.
pub(super) fn is_inherited(handle: &Held) -> bool {
    handle.made_by == handle_origins::INHERITED
}

/// Whether a life from `start` to before `until` touches a range; one without a length belongs to where it stands.
pub(super) fn touches((from, to): (i64, i64), start: i64, until: i64) -> bool {
    start < to && (until > from || start >= from)
}

/// The lives of all objects: those that have a row of their own, and those of which only handles are known. A handle belongs to the life
/// of the object at its address in which it begins.
pub(super) fn collect(mut lives: Vec<Life>, mut handles: Vec<Held>) -> Vec<Life> {
    lives.sort_by_key(|life| (life.address, life.start, life.until()));
    handles.sort_by_key(Held::order);
    let mut alone: Vec<Life> = Vec::new();
    for handle in handles {
        match place(&lives, &handle) {
            Some(place) => lives[place].add(handle),
            None => {
                if !alone.last().is_some_and(|life| life.goes_on_with(&handle)) {
                    alone.push(Life::of_handle(&handle));
                }
                alone.iter_mut().last().into_iter().for_each(|life| life.add(handle));
            }
        }
    }
    lives.append(&mut alone);
    lives
}

/// The life in which a handle begins: the latest one at its address, else the first one, which can have been there all the time.
fn place(lives: &[Life], handle: &Held) -> Option<usize> {
    let after = lives.partition_point(|life| (life.address, life.start) <= (handle.object, handle.start));
    let first = lives.partition_point(|life| life.address < handle.object);
    let has_it = |place: &usize| {
        let life = &lives[*place];
        life.address == handle.object && life.start <= handle.start && handle.start <= life.until()
    };
    after.checked_sub(1).filter(has_it).or_else(|| Some(first).filter(|first| *first < after).filter(has_it))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn handle((object, start, length, owner): (i64, i64, Option<i64>, i32)) -> Held {
        let made_by = handle_origins::CREATED;
        let (is_open, owner) = (length.is_none(), ProcessId(owner));
        let end = start + length.unwrap_or(100);
        let (process, thread, object_type, name) = (None, None, None, None);
        let (stack, close_stack) = (None, None);
        Held {
            object,
            start,
            end,
            is_open,
            by_exit: false,
            owner,
            value: 4,
            process,
            thread,
            stack,
            close_stack,
            made_by,
            object_type,
            name,
        }
    }

    fn object(address: i64, start: i64, end: i64, is_open: bool) -> Life {
        Life {
            number: Some(0),
            start,
            end,
            is_open,
            process: None,
            references: Some((0, 0)),
            handles: Vec::new(),
            views: Vec::new(),
            ..Life::of_handle(&handle((address, start, None, 0)))
        }
    }

    /// Whether one of two handles begins while the other one is open.
    fn meet(a: &Held, b: &Held) -> bool {
        let begins_in = |a: &Held, b: &Held| a.start <= b.start && (b.start < a.end || a.is_open);
        begins_in(a, b) || begins_in(b, a)
    }

    /// Whether two different handles are such a pair.
    fn has_pair(handles: &[Held], is_pair: impl Fn(&Held, &Held) -> bool) -> bool {
        (0..handles.len()).any(|a| (0..a).any(|b| is_pair(&handles[a], &handles[b])))
    }

    /// Handles that meet, directly or over others, as positions; each group once.
    fn groups(handles: &[Held]) -> Vec<Vec<usize>> {
        let mut group: Vec<usize> = (0..handles.len()).collect();
        for (a, b) in (0..handles.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if handles[a].object == handles[b].object && meet(&handles[a], &handles[b]) {
                let (old, new) = (group[a], group[b]);
                group.iter_mut().filter(|number| **number == old).for_each(|number| *number = new);
            }
        }
        let members = |number| (0..handles.len()).filter(|at| group[*at] == number).collect::<Vec<_>>();
        (0..handles.len()).map(members).filter(|members| !members.is_empty()).collect()
    }

    fn sorted(mut groups: Vec<Vec<Held>>) -> Vec<Vec<Held>> {
        let key = |handle: &Held| (handle.order(), handle.owner.0);
        groups.iter_mut().for_each(|group| group.sort_by_key(key));
        groups.sort_by_key(|group| group.first().map(key));
        groups
    }

    fn handles() -> impl Strategy<Value = Vec<Held>> {
        let length = prop_oneof![4 => (0_i64..7).prop_map(Some), 1 => Just(None)];
        let one = (0_i64..2, 0_i64..40, length, 0_i32..3).prop_map(handle);
        prop::collection::vec(one, 0..14)
    }

    proptest! {
        #[test]
        fn handles_without_objects_are_of_one_object_while_somebody_has_one(handles in handles()) {
            let lives = collect(Vec::new(), handles.clone());
            let naive: Vec<Vec<Held>> =
                groups(&handles).into_iter().map(|group| group.into_iter().map(|at| handles[at]).collect()).collect();
            prop_assert_eq!(sorted(lives.iter().map(|life| life.handles.clone()).collect()), sorted(naive));
            for life in lives {
                let of = &life.handles;
                prop_assert_eq!(life.is_multi_process(), has_pair(of, |a, b| a.owner != b.owner));
                prop_assert_eq!(life.is_overlapped(), has_pair(of, |a, b| a.owner == b.owner && meet(a, b)));
                prop_assert_eq!(Some(life.start), of.iter().map(|handle| handle.start).min());
                prop_assert_eq!(Some(life.end), of.iter().map(|handle| handle.end).max());
                prop_assert_eq!(life.is_open, of.iter().any(|handle| handle.is_open));
            }
        }

        #[test]
        fn a_handle_is_of_the_object_that_lives_when_it_begins(
            spans in prop::collection::vec((1_i64..4, 1_i64..8), 0..5),
            (is_last_open, is_there) in (any::<bool>(), any::<bool>()),
            handles in handles(),
        ) {
            let mut objects: Vec<Life> = is_there.then(|| object(0, 0, 100, true)).into_iter().collect();
            let mut now = 0;
            for (at, (gap, length)) in spans.iter().enumerate() {
                let start = now + gap;
                now = start + length;
                objects.push(object(0, start, now, is_last_open && at + 1 == spans.len()));
            }
            let lives = collect(objects.clone(), handles.clone());
            let of_object = |wanted: &Life| {
                let life = lives.iter().find(|life| (life.start, life.end) == (wanted.start, wanted.end));
                life.map(|life| life.handles.clone()).unwrap_or_default()
            };
            for wanted in &objects {
                let is_in = |object: &Life, handle: &Held| {
                    object.start <= handle.start && (handle.start <= object.end || object.is_open)
                };
                // Of several objects the one that was created last.
                let is_of = |handle: &&Held| {
                    let all = objects.iter().filter(|object| is_in(object, handle));
                    handle.object == 0 && all.map(|object| object.start).max() == Some(wanted.start)
                };
                let naive: Vec<Held> = handles.iter().filter(is_of).copied().collect();
                prop_assert_eq!(sorted(vec![of_object(wanted)]), sorted(vec![naive]));
            }
            let all: usize = lives.iter().map(|life| life.handles.len()).sum();
            prop_assert_eq!(all, handles.len());
        }
    }
}
