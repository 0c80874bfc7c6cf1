//! Lives of handles, of kernel objects and of mapped views, from creation to end.
//!
//! A kernel handle is a value in the table of a process. A handle of the window manager or of GDI is a value in a session, and a
//! process owns it. Fed in the order of time.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dns::Caller;
use crate::ids::{FileId, ProcessId, StackId, ThreadId};
use crate::open_lives::OpenLives;
use crate::rows::handle_origins;

/// Open handles, objects and views that are followed at most, of each sort. Beyond that the oldest ones end.
const MAX_OPEN: usize = 1 << 20;
/// Names of objects that are kept at most.
const MAX_NAMES: usize = 1 << 16;
/// Bytes of a name that are kept at most.
const MAX_NAME: usize = 1 << 10;

/// The table that a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The handle table of a process.
    Process(ProcessId),
    /// The handles of the window manager, or of GDI, in a session.
    Session {
        /// A value of [`handle_kinds`](crate::rows::handle_kinds).
        kind: i8,
        /// Number of the session.
        session: u32,
    },
}

/// A handle, as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Its table.
    pub space: Space,
    /// Its value.
    pub value: u64,
    /// Process that has it.
    pub owner: ProcessId,
    /// Address of the object.
    pub object: Option<u64>,
    /// Number of the type.
    pub object_type: Option<u32>,
    /// Name of the object.
    pub name: Option<NameId>,
}

/// A name of [`ObjectNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameId(u32);

/// Names of objects, each once.
#[derive(Debug, Default)]
pub struct ObjectNames {
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
}

impl ObjectNames {
    /// The number of a name; `None` for an empty one, and once too many are kept.
    pub fn number(&mut self, name: &str) -> Option<NameId> {
        let name = &name[..name.floor_char_boundary(MAX_NAME)];
        if let Some(number) = self.numbers.get(name) {
            return Some(NameId(*number));
        }
        let number = u32::try_from(self.names.len()).ok()?;
        if name.is_empty() || self.names.len() >= MAX_NAMES {
            return None;
        }
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        Some(NameId(number))
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, name: Option<NameId>) -> Option<&str> {
        self.names.get(name?.0 as usize).map(|name| &**name)
    }
}

/// How a handle came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Process that had the handle from which it was made.
    pub process: Option<ProcessId>,
    /// That handle.
    pub handle: Option<u64>,
}

/// The life of a handle up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The handle.
    pub handle: Handle,
    /// When it was made; begin of the recording, or of the process, where the recording does not have the creation.
    pub start: i64,
    /// Process that made it.
    pub process: Option<ProcessId>,
    /// Thread that made it.
    pub thread: Option<ThreadId>,
    /// Stack of the creation.
    pub stack: Option<StackId>,
    /// A value of [`handle_origins`].
    pub made_by: i8,
    /// From what it was made.
    pub source: Source,
}

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was closed, by a thread with a stack.
    Closed(Option<ThreadId>, Option<StackId>),
    /// Another process took it over.
    Moved(Option<ThreadId>, Option<StackId>),
    /// Its process ended.
    Exit,
    /// Its end was not recorded: the value is in use for something new, or more handles are open than are followed.
    Lost,
    /// It is open at the end of the recording.
    Open,
}

/// A life with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<L> {
    /// The life.
    pub life: L,
    /// When it ended; end of the recording where it is open.
    pub time: i64,
    /// How.
    pub end: End,
}

impl<L> Ended<L> {
    fn new(life: L, time: i64, end: End) -> Self {
        Self { life, time, end }
    }
}

/// A process, as far as it matters for handles that nobody made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// Begin of the recording.
    pub begin: i64,
    /// Start of the process, where it is inside of the recording.
    pub start: Option<i64>,
    /// The creator of the process.
    pub parent: Option<ProcessId>,
}

/// Follows handles.
#[derive(Debug)]
pub struct Handles {
    open: OpenLives<(Space, u64), Life>,
    /// Processes that ended. What closes in them later has a row already.
    ended: FxHashSet<ProcessId>,
    /// Values that were made anew while they were open.
    replaced: u64,
}

impl Default for Handles {
    fn default() -> Self {
        Self { open: OpenLives::new(MAX_OPEN), ended: FxHashSet::default(), replaced: 0 }
    }
}

impl Handles {
    /// A handle is made: created or opened, or duplicated from another one. Gives a life that ends without a close.
    pub fn made(&mut self, by: &Caller, handle: Handle, duplicated_from: Option<Source>) -> Option<Ended<Life>> {
        let made_by = if duplicated_from.is_some() { handle_origins::DUPLICATED } else { handle_origins::CREATED };
        self.begin(by, handle, made_by, duplicated_from.unwrap_or_default())
    }

    fn begin(&mut self, by: &Caller, handle: Handle, made_by: i8, source: Source) -> Option<Ended<Life>> {
        let Caller { time: start, process, thread, stack } = *by;
        let life = Life { handle, start, process, thread, stack, made_by, source };
        self.add(life, start)
    }

    fn add(&mut self, life: Life, now: i64) -> Option<Ended<Life>> {
        let key = (life.handle.space, life.handle.value);
        let before = self.open.remove(&key);
        self.replaced += u64::from(before.is_some());
        let oldest = self.open.insert(key, Some(life.handle.owner), life);
        before.or(oldest).map(|life| Ended::new(life, now, End::Lost))
    }

    /// A handle that nobody made in the recording.
    fn unseen(&self, handle: Handle, birth: Birth) -> Life {
        let Birth { begin, start, parent } = birth;
        let is_kernel = matches!(handle.space, Space::Process(_));
        let (made_by, source) = match (start, parent) {
            (Some(born), Some(parent)) if is_kernel => {
                let of_parent = self.open.get(&(Space::Process(parent), handle.value));
                let is_source = |life: &&Life| life.start <= born && life.handle.object == handle.object;
                let value = of_parent.filter(is_source).map(|_| handle.value);
                (handle_origins::INHERITED, Source { process: Some(parent), handle: value })
            }
            _ => (handle_origins::THERE, Source::default()),
        };
        let start = if is_kernel { start.unwrap_or(begin) } else { begin };
        Life { handle, start, process: None, thread: None, stack: None, made_by, source }
    }

    /// A handle is open at a rundown. Gives a life that has to make room.
    pub fn there(&mut self, now: i64, handle: Handle, birth: Birth) -> Option<Ended<Life>> {
        if let Some(life) = self.open.get_mut(&(handle.space, handle.value)) {
            life.handle.name = handle.name.or(life.handle.name);
            life.handle.object = life.handle.object.or(handle.object);
            life.handle.object_type = life.handle.object_type.or(handle.object_type);
            return None;
        }
        let life = self.unseen(handle, birth);
        self.add(life, now)
    }

    /// A handle is closed. Gives its life; none where its process ended before.
    pub fn closed(&mut self, by: &Caller, handle: Handle, birth: Birth) -> Option<Ended<Life>> {
        let life = match self.open.remove(&(handle.space, handle.value)) {
            Some(life) => life,
            None if self.ended.contains(&handle.owner) => return None,
            None => self.unseen(handle, birth),
        };
        Some(Ended::new(life, by.time, End::Closed(by.thread, by.stack)))
    }

    /// A handle of a session gets another owner. Gives the life under the owner before.
    pub fn moved(&mut self, by: &Caller, handle: Handle) -> Option<Ended<Life>> {
        let before = self.open.remove(&(handle.space, handle.value));
        let source =
            Source { process: before.map(|life| life.handle.owner), handle: before.map(|life| life.handle.value) };
        let oldest = self.begin(by, handle, handle_origins::CHANGED_OWNER, source);
        let before = before.map(|life| Ended::new(life, by.time, End::Moved(by.thread, by.stack)));
        before.or(oldest)
    }

    /// A handle of a session gets another value and stays the same handle. Gives a life that ends without a close.
    pub fn renamed(&mut self, now: i64, previous: u64, handle: Handle, birth: Birth) -> Option<Ended<Life>> {
        let before = self.open.remove(&(handle.space, previous));
        let life = match before {
            Some(life) => Life { handle: Handle { value: handle.value, ..life.handle }, ..life },
            None => self.unseen(handle, birth),
        };
        self.add(life, now)
    }

    /// A process ends. Gives the lives that end with it, in the order of their creation.
    pub fn process_ended(&mut self, time: i64, process: ProcessId) -> Vec<Ended<Life>> {
        self.ended.insert(process);
        self.open.remove_owner(process).into_iter().map(|life| Ended::new(life, time, End::Exit)).collect()
    }

    /// A life that is open at the end of the recording, the oldest first.
    pub fn finish(&mut self, end: i64) -> Option<Ended<Life>> {
        self.open.oldest().map(|life| Ended::new(life, end.max(life.start), End::Open))
    }

    /// Lives whose end is not known: their value was made anew, or they had to make room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.replaced + self.open.dropped()
    }
}

/// The life of an object up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLife {
    /// Number, in the order in which the recording first has it.
    pub number: i32,
    /// Address.
    pub address: u64,
    /// Number of the type.
    pub object_type: Option<u32>,
    /// Name.
    pub name: Option<NameId>,
    /// When it was created; begin of the recording where it was there.
    pub start: i64,
    /// Who created it.
    pub process: Option<ProcessId>,
    /// Stack of the creation.
    pub stack: Option<StackId>,
    /// References taken.
    pub references: i64,
    /// References given back.
    pub dereferences: i64,
    /// Whether it was there before the recording.
    pub there: bool,
}

/// Follows kernel objects.
#[derive(Debug)]
pub struct Objects {
    open: OpenLives<u64, ObjectLife>,
    next: i32,
    replaced: u64,
}

impl Default for Objects {
    fn default() -> Self {
        Self { open: OpenLives::new(MAX_OPEN), next: 0, replaced: 0 }
    }
}

impl Objects {
    /// An object is created. Gives a life that ends without a deletion.
    pub fn created(&mut self, by: &Caller, address: u64, object_type: u32) -> Option<Ended<ObjectLife>> {
        let before = self.open.remove(&address);
        self.replaced += u64::from(before.is_some());
        let life = self.life(address, Some(object_type), by.time);
        let life = ObjectLife { process: by.process, stack: by.stack, there: false, ..life };
        let oldest = self.open.insert(address, None, life);
        before.or(oldest).map(|life| Ended::new(life, by.time, End::Lost))
    }

    fn life(&mut self, address: u64, object_type: Option<u32>, start: i64) -> ObjectLife {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        ObjectLife {
            number,
            address,
            object_type,
            name: None,
            start,
            process: None,
            stack: None,
            references: 0,
            dereferences: 0,
            there: true,
        }
    }

    /// An object is deleted. Gives its life.
    pub fn deleted(&mut self, by: &Caller, address: u64, object_type: u32, begin: i64) -> Ended<ObjectLife> {
        let life = match self.open.remove(&address) {
            Some(life) => ObjectLife { object_type: life.object_type.or(Some(object_type)), ..life },
            None => self.life(address, Some(object_type), begin),
        };
        Ended::new(life, by.time, End::Closed(by.thread, by.stack))
    }

    /// References come, or go (`count` below 0). Gives a life that has to make room.
    pub fn referenced(&mut self, now: i64, address: u64, count: i64, begin: i64) -> Option<Ended<ObjectLife>> {
        let add = |life: &mut ObjectLife| {
            let sum = if count < 0 { &mut life.dereferences } else { &mut life.references };
            *sum = sum.saturating_add(count.saturating_abs());
        };
        if let Some(life) = self.open.get_mut(&address) {
            add(life);
            return None;
        }
        let mut life = self.life(address, None, begin);
        add(&mut life);
        self.open.insert(address, None, life).map(|life| Ended::new(life, now, End::Lost))
    }

    /// The number of the object that is open at an address.
    #[must_use]
    pub fn number(&self, address: u64) -> Option<i32> {
        self.open.get(&address).map(|life| life.number)
    }

    /// A handle tells type and name of an object that is open.
    pub fn described(&mut self, address: u64, object_type: u32, name: Option<NameId>) {
        if let Some(life) = self.open.get_mut(&address) {
            life.object_type = life.object_type.or(Some(object_type));
            life.name = name.or(life.name);
        }
    }

    /// A life that is open at the end of the recording, the oldest first.
    pub fn finish(&mut self, end: i64) -> Option<Ended<ObjectLife>> {
        self.open.oldest().map(|life| Ended::new(life, end.max(life.start), End::Open))
    }

    /// Lives whose end is not known.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.replaced + self.open.dropped()
    }
}

/// A mapped view up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Process that has it.
    pub process: ProcessId,
    /// Address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Offset in the section.
    pub offset: Option<u64>,
    /// Key of the file, or address of the section.
    pub object: u64,
    /// The file.
    pub file: Option<FileId>,
    /// When it was mapped; begin of the recording where it was there.
    pub start: i64,
    /// Thread that mapped it.
    pub thread: Option<ThreadId>,
    /// Stack of mapping.
    pub stack: Option<StackId>,
    /// Whether it was there before the recording.
    pub there: bool,
}

/// Follows mapped views.
#[derive(Debug)]
pub struct Views {
    open: OpenLives<(ProcessId, u64), View>,
    ended: FxHashSet<ProcessId>,
    replaced: u64,
}

impl Default for Views {
    fn default() -> Self {
        Self { open: OpenLives::new(MAX_OPEN), ended: FxHashSet::default(), replaced: 0 }
    }
}

impl Views {
    /// A view is mapped. Gives a life that ends without unmapping.
    pub fn mapped(&mut self, view: View) -> Option<Ended<View>> {
        let now = view.start;
        let key = (view.process, view.base);
        let before = self.open.remove(&key);
        self.replaced += u64::from(before.is_some());
        let oldest = self.open.insert(key, Some(view.process), view);
        before.or(oldest).map(|view| Ended::new(view, now, End::Lost))
    }

    /// A view is mapped at a rundown. Gives a life that has to make room.
    pub fn there(&mut self, now: i64, view: View) -> Option<Ended<View>> {
        let key = (view.process, view.base);
        if self.open.get(&key).is_some() {
            return None;
        }
        self.open.insert(key, Some(view.process), view).map(|view| Ended::new(view, now, End::Lost))
    }

    /// A view is unmapped. `view` has what the event tells, for a view that was there. None where its process ended before.
    pub fn unmapped(&mut self, by: &Caller, view: View) -> Option<Ended<View>> {
        let life = match self.open.remove(&(view.process, view.base)) {
            Some(life) => life,
            None if self.ended.contains(&view.process) => return None,
            None => view,
        };
        Some(Ended::new(life, by.time, End::Closed(by.thread, by.stack)))
    }

    /// A process ends. Gives the views that end with it, in the order of their mapping.
    pub fn process_ended(&mut self, time: i64, process: ProcessId) -> Vec<Ended<View>> {
        self.ended.insert(process);
        self.open.remove_owner(process).into_iter().map(|view| Ended::new(view, time, End::Exit)).collect()
    }

    /// A view that is mapped at the end of the recording, the oldest first.
    pub fn finish(&mut self, end: i64) -> Option<Ended<View>> {
        self.open.oldest().map(|view| Ended::new(view, end.max(view.start), End::Open))
    }

    /// Views whose end is not known.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.replaced + self.open.dropped()
    }
}

#[cfg(test)]
mod tests;
