use proptest::prelude::*;

use super::{Birth, End, Ended, Handle, Handles, Life, ObjectNames, Objects, Source, Space, View, Views};
use crate::dns::Caller;
use crate::ids::{ProcessId, StackId, ThreadId};
use crate::rows::{handle_kinds, handle_origins};

#[derive(Clone, Copy, Debug)]
enum Step {
    Create { owner: i32, value: u64, object: u64 },
    Duplicate { from: (i32, u64), owner: i32, value: u64, object: u64 },
    Close { owner: i32, value: u64, object: u64 },
    There { owner: i32, value: u64, object: u64 },
    CreateGdi { owner: i32, value: u64 },
    CloseGdi { owner: i32, value: u64 },
    Move { owner: i32, value: u64 },
    Rename { owner: i32, value: u64, new: u64 },
    Exit { owner: i32 },
}

/// Process 2 starts at time 3 and is a child of process 0.
const CHILD: Birth = Birth { begin: 0, start: Some(3), parent: Some(ProcessId(0)) };

fn birth(process: i32) -> Birth {
    if process == 2 { CHILD } else { Birth { begin: 0, start: None, parent: None } }
}

fn step() -> impl Strategy<Value = Step> {
    let (owner, value, object) = (|| 0..3_i32, || 1..4_u64, || 100..103_u64);
    prop_oneof![
        4 => (owner(), value(), object()).prop_map(|(owner, value, object)| Step::Create { owner, value, object }),
        2 => ((owner(), value()), owner(), value(), object())
            .prop_map(|(from, owner, value, object)| Step::Duplicate { from, owner, value, object }),
        4 => (owner(), value(), object()).prop_map(|(owner, value, object)| Step::Close { owner, value, object }),
        1 => (owner(), value(), object()).prop_map(|(owner, value, object)| Step::There { owner, value, object }),
        2 => (owner(), value()).prop_map(|(owner, value)| Step::CreateGdi { owner, value }),
        2 => (owner(), value()).prop_map(|(owner, value)| Step::CloseGdi { owner, value }),
        1 => (owner(), value()).prop_map(|(owner, value)| Step::Move { owner, value }),
        1 => (owner(), value(), value()).prop_map(|(owner, value, new)| Step::Rename { owner, value, new }),
        1 => owner().prop_map(|owner| Step::Exit { owner }),
    ]
}

fn caller(time: i64) -> Caller {
    let id = time as i32;
    Caller {
        time,
        process: Some(ProcessId(id % 3)),
        thread: Some(ThreadId(id + 1000)),
        stack: Some(StackId(id + 2000)),
    }
}

fn kernel(owner: i32, value: u64, object: u64) -> Handle {
    let owner = ProcessId(owner);
    Handle { space: Space::Process(owner), value, owner, object: Some(object), object_type: Some(7), name: None }
}

fn gdi(owner: i32, value: u64) -> Handle {
    let (space, owner) = (Space::Session { kind: handle_kinds::GDI, session: 1 }, ProcessId(owner));
    Handle { space, value, owner, object: None, object_type: Some(5), name: None }
}

/// The same as lists that are searched.
#[derive(Default)]
struct Plain {
    open: Vec<Life>,
    rows: Vec<Ended<Life>>,
    exited: Vec<ProcessId>,
}

impl Plain {
    fn take(&mut self, handle: &Handle, value: u64) -> Option<Life> {
        let place =
            self.open.iter().position(|life| life.handle.space == handle.space && life.handle.value == value)?;
        Some(self.open.remove(place))
    }

    fn make(&mut self, now: i64, life: Life) {
        if let Some(life) = self.take(&life.handle, life.handle.value) {
            self.rows.push(Ended { life, time: now, end: End::Lost });
        }
        self.open.push(life);
    }

    fn made(&mut self, now: i64, handle: Handle, made_by: i8, source: Source) {
        let Caller { process, thread, stack, .. } = caller(now);
        self.make(now, Life { handle, start: now, process, thread, stack, made_by, source });
    }

    fn unseen(&self, handle: Handle) -> Life {
        let is_kernel = handle.object.is_some();
        let (mut made_by, mut start, mut source) = (handle_origins::THERE, 0, Source::default());
        if is_kernel && handle.owner == ProcessId(2) {
            (made_by, start) = (handle_origins::INHERITED, 3);
            source.process = Some(ProcessId(0));
            let of_parent = |life: &&Life| {
                life.handle.space == Space::Process(ProcessId(0))
                    && life.handle.value == handle.value
                    && life.handle.object == handle.object
                    && life.start <= 3
            };
            source.handle = self.open.iter().find(of_parent).map(|life| life.handle.value);
        }
        Life { handle, start, process: None, thread: None, stack: None, made_by, source }
    }

    fn close(&mut self, now: i64, handle: Handle) {
        let Caller { thread, stack, .. } = caller(now);
        let life = match self.take(&handle, handle.value) {
            None if self.exited.contains(&handle.owner) => return,
            life => life.unwrap_or_else(|| self.unseen(handle)),
        };
        self.rows.push(Ended { life, time: now, end: End::Closed(thread, stack) });
    }

    fn step(&mut self, now: i64, step: Step) {
        match step {
            Step::Create { owner, value, object } => {
                self.made(now, kernel(owner, value, object), handle_origins::CREATED, Source::default());
            }
            Step::Duplicate { from, owner, value, object } => {
                let source = Source { process: Some(ProcessId(from.0)), handle: Some(from.1) };
                self.made(now, kernel(owner, value, object), handle_origins::DUPLICATED, source);
            }
            Step::Close { owner, value, object } => self.close(now, kernel(owner, value, object)),
            Step::There { owner, value, object } => {
                let handle = kernel(owner, value, object);
                if !self.open.iter().any(|life| life.handle.space == handle.space && life.handle.value == value) {
                    let life = self.unseen(handle);
                    self.open.push(life);
                }
            }
            Step::CreateGdi { owner, value } => {
                self.made(now, gdi(owner, value), handle_origins::CREATED, Source::default());
            }
            Step::CloseGdi { owner, value } => self.close(now, gdi(owner, value)),
            Step::Move { owner, value } => {
                let handle = gdi(owner, value);
                let before = self.take(&handle, value);
                let source = Source {
                    process: before.map(|life| life.handle.owner),
                    handle: before.map(|life| life.handle.value),
                };
                if let Some(life) = before {
                    let Caller { thread, stack, .. } = caller(now);
                    self.rows.push(Ended { life, time: now, end: End::Moved(thread, stack) });
                }
                self.made(now, handle, handle_origins::CHANGED_OWNER, source);
            }
            Step::Rename { owner, value, new } => {
                let handle = gdi(owner, new);
                let mut life = self.take(&handle, value).unwrap_or_else(|| self.unseen(handle));
                life.handle.value = new;
                self.make(now, life);
            }
            Step::Exit { owner } => {
                let owner = ProcessId(owner);
                self.exited.push(owner);
                let (gone, rest): (Vec<Life>, Vec<Life>) =
                    self.open.iter().copied().partition(|life| life.handle.owner == owner);
                self.open = rest;
                self.rows.extend(gone.into_iter().map(|life| Ended { life, time: now, end: End::Exit }));
            }
        }
    }
}

fn follow(handles: &mut Handles, now: i64, step: Step) -> Vec<Ended<Life>> {
    let by = caller(now);
    let one = match step {
        Step::Create { owner, value, object } => handles.made(&by, kernel(owner, value, object), None),
        Step::Duplicate { from, owner, value, object } => {
            let source = Source { process: Some(ProcessId(from.0)), handle: Some(from.1) };
            handles.made(&by, kernel(owner, value, object), Some(source))
        }
        Step::Close { owner, value, object } => handles.closed(&by, kernel(owner, value, object), birth(owner)),
        Step::There { owner, value, object } => handles.there(now, kernel(owner, value, object), birth(owner)),
        Step::CreateGdi { owner, value } => handles.made(&by, gdi(owner, value), None),
        Step::CloseGdi { owner, value } => handles.closed(&by, gdi(owner, value), birth(owner)),
        Step::Move { owner, value } => handles.moved(&by, gdi(owner, value)),
        Step::Rename { owner, value, new } => handles.renamed(now, value, gdi(owner, new), birth(owner)),
        Step::Exit { owner } => return handles.process_ended(now, ProcessId(owner)),
    };
    one.into_iter().collect()
}

proptest! {
    #[test]
    fn lives_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 0..80)) {
        let (mut handles, mut plain) = (Handles::default(), Plain::default());
        let mut rows = Vec::new();
        for (now, step) in steps.iter().enumerate() {
            let now = now as i64 + 1;
            rows.extend(follow(&mut handles, now, *step));
            plain.step(now, *step);
        }
        let lost = plain.rows.iter().filter(|row| row.end == End::Lost).count() as u64;
        prop_assert_eq!(handles.lost(), lost);
        rows.extend(std::iter::from_fn(|| handles.finish(1_000)));
        plain.rows.extend(plain.open.iter().map(|life| Ended { life: *life, time: 1_000, end: End::Open }));
        prop_assert_eq!(&rows, &plain.rows);
        // All values of a table have one life at a time.
        for (place, row) in rows.iter().enumerate() {
            let (space, value) = (row.life.handle.space, row.life.handle.value);
            let same = |other: &&Ended<Life>| (other.life.handle.space, other.life.handle.value) == (space, value);
            for other in rows[..place].iter().filter(same) {
                let seen = row.life.process.is_some() && other.life.process.is_some();
                let renamed = steps.iter().any(|step| matches!(step, Step::Rename { .. }));
                prop_assert!(!seen || renamed || row.life.start >= other.time, "{:?} {:?}", row, other);
            }
        }
    }
}

#[test]
fn a_flood_of_handles_keeps_its_memory() {
    let mut handles = Handles::default();
    let mut rows = 0_u64;
    let count = super::MAX_OPEN as u64 + 50_000;
    for value in 0..count {
        rows += u64::from(handles.made(&caller(1), kernel(0, value, 5), None).is_some());
    }
    assert_eq!((handles.lost(), rows), (50_000, 50_000));
    let rest = std::iter::from_fn(|| handles.finish(2)).count() as u64;
    assert_eq!(rest + rows, count, "each handle has a row");
}

#[test]
fn objects_have_their_references() {
    let mut objects = Objects::default();
    assert_eq!(objects.created(&caller(5), 0x1000, 3), None);
    for (address, count) in [(0x1000, 2), (0x1000, -1), (0x2000, -4)] {
        assert_eq!(objects.referenced(6, address, count, 0), None);
    }
    let name = ObjectNames::default().number(r"\x");
    objects.described(0x2000, 9, name);
    let ended = objects.deleted(&caller(8), 0x1000, 3, 0);
    assert_eq!((ended.time, ended.end), (8, End::Closed(caller(8).thread, caller(8).stack)));
    let life = ended.life;
    assert_eq!((life.number, life.start, life.references, life.dereferences, life.there), (0, 5, 2, 1, false));
    // Used again, and its deletion is lost.
    assert_eq!(objects.created(&caller(9), 0x1000, 4), None);
    let lost = objects.created(&caller(10), 0x1000, 4).expect("the one before");
    assert_eq!((lost.end, lost.life.number, objects.lost()), (End::Lost, 2, 1));
    let there = objects.finish(20).expect("an object that was there");
    assert_eq!((there.life.object_type, there.life.name, there.life.dereferences), (Some(9), name, 4));
    assert_eq!((there.life.start, there.life.there, there.end), (0, true, End::Open));
    assert_eq!(objects.finish(20).map(|ended| ended.life.number), Some(3));
    assert_eq!(objects.finish(20), None);
    let before = objects.deleted(&caller(11), 0x5000, 6, 0).life;
    assert_eq!((before.start, before.there, before.object_type), (0, true, Some(6)));
}

#[test]
fn views_end_with_unmapping_or_with_their_process() {
    let mut views = Views::default();
    let view = |process: i32, base, start, there| View {
        process: ProcessId(process),
        base,
        size: 0x1000,
        offset: None,
        object: 7,
        file: None,
        start,
        thread: None,
        stack: None,
        there,
    };
    assert_eq!(views.mapped(view(1, 0x10, 5, false)), None);
    assert_eq!(views.there(6, view(1, 0x10, 0, true)), None, "the rundown says nothing new");
    assert_eq!(views.there(6, view(1, 0x20, 0, true)), None);
    assert_eq!(views.mapped(view(2, 0x10, 7, false)), None, "another process");
    let unmapped = views.unmapped(&caller(8), view(1, 0x10, 0, true)).expect("a view");
    assert_eq!((unmapped.life.start, unmapped.life.there), (5, false));
    let before = views.unmapped(&caller(9), view(1, 0x30, 0, true)).expect("a view that was there");
    assert_eq!((before.life.start, before.life.there), (0, true));
    let gone = views.process_ended(10, ProcessId(1));
    assert_eq!(gone.iter().map(|ended| (ended.life.base, ended.end)).collect::<Vec<_>>(), [(0x20, End::Exit)]);
    assert_eq!(views.unmapped(&caller(11), view(1, 0x20, 0, true)), None, "it has a row");
    assert_eq!(views.mapped(view(2, 0x10, 12, false)).map(|ended| ended.end), Some(End::Lost));
    assert_eq!(views.finish(20).map(|ended| (ended.life.start, ended.end)), Some((12, End::Open)));
    assert_eq!((views.finish(20), views.lost()), (None, 1));
}

#[test]
fn names_are_kept_once() {
    let mut names = ObjectNames::default();
    let long = "ä".repeat(4000);
    let (first, empty) = (names.number("a"), names.number(""));
    assert_eq!((first, empty), (names.number("a"), None));
    let long = names.number(&long);
    assert_eq!((names.name(first), names.name(None)), (Some("a"), None));
    assert!(names.name(long).is_some_and(|name| name.len() <= super::MAX_NAME && name.starts_with('ä')));
    assert!((0..super::MAX_NAMES + 10).filter(|number| names.number(&number.to_string()).is_none()).count() >= 10);
}
