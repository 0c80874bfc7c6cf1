//! Lives of handles that are known, and the events that Windows logs of them. No recording with such events is public, so the
//! events are made from their layouts.

use tracesift_etl::class::WIN32K;
use tracesift_etl::write::payload::{Bytes, Process, Stack};
use tracesift_etl::write::{Hook, PointerSize, SessionOptions, WriteError};

use crate::providers::{KernelRecord, Logged, process_payload, write_with_kernel};

const MS: i64 = 1_000_000;

/// Seconds that [`story`] lasts.
pub const SECONDS: i64 = 20;
/// Process that leaks handles of events.
pub const LEAKER: u32 = 700;
/// A process that starts in the recording, as a child of the leaker, and ends in it.
pub const CHILD: u32 = 720;
/// Processes with windows.
pub const PAINTER: u32 = 740;
/// Start and end of the child.
pub const CHILD_SPAN: (i64, i64) = (5_000 * MS, 9_000 * MS);
/// Numbers of types, with their names.
pub const TYPES: [(u16, &str); 3] = [(16, "Event"), (19, "Section"), (37, "File")];
/// Time of the rundown at the end.
const RUNDOWN: i64 = (SECONDS * 1000 - 10) * MS;
/// Process whose threads write rundowns.
const LOGGER: (u32, u32) = (4, 8);

/// How a handle came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A thread of its process created it.
    Created,
    /// A thread duplicated it from a handle of a process.
    Duplicated(u32, u32),
    /// It was there before the recording.
    There,
    /// The process has it from its creator.
    Inherited,
}

/// How a handle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A thread of its process closes it.
    Closed(i64, u32),
    /// Its process ends.
    Exit(i64),
    /// It is open when the recording ends.
    Open,
}

/// A life of a kernel handle.
#[derive(Clone, Copy, Debug)]
pub struct KernelHandle {
    /// Process that has it.
    pub owner: u32,
    /// Value.
    pub value: u32,
    /// Address of the object.
    pub object: u64,
    /// Number of the type.
    pub object_type: u16,
    /// Name, which the rundown has.
    pub name: &'static str,
    /// How it came to be.
    pub made: Made,
    /// Process and thread that made it.
    pub by: (u32, u32),
    /// Time, nanoseconds since the start of the recording.
    pub start: i64,
    /// How it ends.
    pub ends: Ends,
}

impl KernelHandle {
    fn log(&self, size: PointerSize, out: &mut Vec<KernelRecord>) {
        let record = |time, opcode, version, caller, fill: &dyn Fn(&mut Bytes)| {
            let mut payload = Bytes::new(size);
            payload.pointer(self.object);
            fill(&mut payload);
            let hook = Hook::new(17, opcode, version);
            KernelRecord { time, cpu: 0, hook, caller, payload: payload.into_vec() }
        };
        let plain = |payload: &mut Bytes| {
            payload.u32(self.value);
            payload.u16(self.object_type);
            payload.utf16("");
        };
        match self.made {
            Made::Created => {
                out.push(record(self.start, 32, 2, self.by, &plain));
                out.push(stack(size, self.start, self.by, if self.object_type == 16 { LEAK } else { OTHER }));
            }
            Made::Duplicated(source, handle) => out.push(record(self.start, 34, 3, self.by, &|payload| {
                payload.u32(handle);
                payload.u32(self.value);
                payload.u32(self.owner);
                payload.u16(self.object_type);
                payload.u32(source);
            })),
            Made::There | Made::Inherited => {}
        }
        match self.ends {
            Ends::Closed(time, tid) => out.push(record(time, 33, 2, (self.owner, tid), &plain)),
            Ends::Exit(_) => {}
            Ends::Open => out.push(record(RUNDOWN, 39, 2, LOGGER, &|payload| {
                payload.u32(self.owner);
                payload.u32(self.value);
                payload.u16(self.object_type);
                payload.utf16(self.name);
            })),
        }
    }
}

/// Frames of the function that leaks, leaf first, and of others.
pub const LEAK: &[u64] = &[0x7001_0010, 0x7001_0020];
const OTHER: &[u64] = &[0x7002_0010, 0x7001_0020];

fn stack(size: PointerSize, time: i64, (pid, tid): (u32, u32), frames: &[u64]) -> KernelRecord {
    let options = SessionOptions::default();
    let ticks = (i128::from(time) * i128::from(options.frequency) / 1_000_000_000) as i64;
    let mut payload = Bytes::new(size);
    Stack { event_time: options.zero_ticks + ticks, pid, tid, frames }.encode(&mut payload);
    KernelRecord { time: time + 1_000, cpu: 0, hook: Stack::HOOK, caller: (pid, tid), payload: payload.into_vec() }
}

/// A handle of the window manager or of GDI.
#[derive(Clone, Copy, Debug)]
pub struct SessionHandle {
    /// Whether it is one of GDI.
    pub gdi: bool,
    /// Its values, in order: those behind the first come by transformation.
    pub values: (u64, u64),
    /// Number of the type.
    pub handle_type: u32,
    /// Who has it, from when on; a second one takes it over.
    pub owners: [(u32, i64); 2],
    /// When it is destroyed.
    pub end: Option<i64>,
}

impl SessionHandle {
    fn log(&self, size: PointerSize, out: &mut Vec<Logged>) {
        let id = |id: u16| if self.gdi { id + 3 } else { id };
        let mut event = |time, id, pid: u32, values: &[u64]| {
            let mut payload = Bytes::new(size);
            values.iter().for_each(|value| payload.pointer(*value));
            [self.handle_type, 1, pid].into_iter().for_each(|value| payload.u32(value));
            let payload = payload.into_vec();
            out.push(Logged { time, cpu: 0, provider: WIN32K, id, version: 0, pid, tid: pid + 4, payload });
        };
        let [(first, start), (second, moved)] = self.owners;
        let (value, new) = self.values;
        event(start, id(452), first, &[value]);
        let mut owner = first;
        if second != first {
            event(moved, id(454), second, &[value]);
            owner = second;
        }
        if new != value {
            event(moved + MS, 458, owner, &[value, new]);
        }
        if let Some(end) = self.end {
            event(end, id(453), owner, &[new]);
        }
    }
}

/// A recording in which all lives are known.
#[derive(Clone, Debug)]
pub struct Story {
    /// Kernel handles.
    pub kernel: Vec<KernelHandle>,
    /// Handles of the window manager and of GDI.
    pub session: Vec<SessionHandle>,
}

/// A process makes 100 events and closes 60 of them, gives handles to a child, and has others that were there before. A painter
/// makes 30 bitmaps and destroys ten.
#[must_use]
pub fn story() -> Story {
    let leaker = |value: u32, start: i64, ends| KernelHandle {
        owner: LEAKER,
        value,
        object: 0x8800_0000 + u64::from(value) * 0x40,
        object_type: 16,
        name: "",
        made: Made::Created,
        by: (LEAKER, 704),
        start,
        ends,
    };
    let mut kernel: Vec<KernelHandle> = (0..100)
        .map(|index| {
            let start = (1_000 + i64::from(index) * 100) * MS;
            let ends = if index % 5 < 3 { Ends::Closed(start + 250 * MS, 708) } else { Ends::Open };
            // A value that is free again is used again.
            let value = if index % 5 < 3 { 0x100 + (index % 4) * 4 } else { 0x1000 + index * 4 };
            leaker(value, start, ends)
        })
        .collect();
    let file = KernelHandle { object_type: 37, object: 0x9900_0000, ..leaker(0x40, 0, Ends::Open) };
    kernel.extend([
        KernelHandle { made: Made::There, name: r"\Device\Log", ..file },
        KernelHandle { made: Made::There, value: 0x44, ends: Ends::Closed(3_000 * MS, 704), ..file },
        KernelHandle {
            owner: CHILD,
            made: Made::Inherited,
            start: CHILD_SPAN.0,
            ends: Ends::Closed(6_000 * MS, 724),
            ..file
        },
        // Another one, whose creation in the parent is in the recording.
        KernelHandle { value: 0x60, object: 0x9900_8000, start: 4_033 * MS, name: r"\Device\Pipe", ..file },
        KernelHandle {
            owner: CHILD,
            value: 0x60,
            object: 0x9900_8000,
            made: Made::Inherited,
            start: CHILD_SPAN.0,
            ends: Ends::Closed(6_100 * MS, 724),
            ..file
        },
        KernelHandle {
            owner: CHILD,
            value: 0x88,
            made: Made::Duplicated(LEAKER, 0x40),
            start: 5_555 * MS,
            ends: Ends::Exit(CHILD_SPAN.1),
            ..file
        },
        KernelHandle {
            owner: CHILD,
            value: 0x8c,
            object: 0x9900_4000,
            object_type: 19,
            by: (CHILD, 724),
            start: 5_600 * MS,
            ends: Ends::Exit(CHILD_SPAN.1),
            ..file
        },
        // A handle of the kernel itself, which any process can make.
        KernelHandle {
            owner: 4,
            value: 0x8000_0420,
            start: 7_033 * MS,
            name: r"\Kernel\Section",
            object_type: 19,
            ..file
        },
    ]);
    Story { kernel, session: bitmaps() }
}

/// Thirty bitmaps of a painter, one that gets another owner, one that changes its handle, and a handle of the window manager.
fn bitmaps() -> Vec<SessionHandle> {
    let bitmap = |index: u64| SessionHandle {
        gdi: true,
        values: (0x5_0000 + index, 0x5_0000 + index),
        handle_type: 5,
        owners: [(PAINTER, (2_000 + index as i64 * 10) * MS); 2],
        end: (index.is_multiple_of(3)).then_some((4_000 + index as i64 * 10) * MS),
    };
    let mut session: Vec<SessionHandle> = (0..30).map(bitmap).collect();
    session.extend([
        SessionHandle { owners: [(PAINTER, 3_000 * MS), (LEAKER, 8_044 * MS)], end: None, ..bitmap(100) },
        SessionHandle { values: (0x5_0200, 0x6_0200), end: Some(12_000 * MS), ..bitmap(101) },
        SessionHandle { gdi: false, values: (0x1_0002, 0x1_0002), handle_type: 1, end: None, ..bitmap(102) },
    ]);
    session
}

/// Processes that run from the start.
pub(crate) const PROCESSES: [(u32, &str); 3] = [(4, "System"), (LEAKER, "leaker.exe"), (PAINTER, "painter.exe")];

impl Story {
    /// The recording.
    ///
    /// # Errors
    /// A payload does not fit into a buffer.
    pub fn write(&self, size: PointerSize) -> Result<Vec<u8>, WriteError> {
        let (kernel, events) = self.records(size);
        let options = SessionOptions { pointer_size: size, ..SessionOptions::default() };
        write_with_kernel(options, SECONDS, &PROCESSES, events, kernel)
    }

    pub(crate) fn records(&self, size: PointerSize) -> (Vec<KernelRecord>, Vec<Logged>) {
        let (mut kernel, mut events) = (Vec::new(), Vec::new());
        self.kernel.iter().for_each(|handle| handle.log(size, &mut kernel));
        self.session.iter().for_each(|handle| handle.log(size, &mut events));
        let of_process = |time, hook| {
            let payload = process_payload(size, CHILD, LEAKER, "child.exe");
            KernelRecord { time, cpu: 0, hook, caller: (LEAKER, 704), payload }
        };
        kernel.extend([of_process(CHILD_SPAN.0, Process::START), of_process(CHILD_SPAN.1, Process::END)]);
        for (number, name) in TYPES {
            let mut payload = Bytes::new(size);
            payload.u16(number);
            payload.u16(0);
            payload.utf16(name);
            let hook = Hook::new(17, 37, 2);
            kernel.push(KernelRecord { time: RUNDOWN, cpu: 0, hook, caller: LOGGER, payload: payload.into_vec() });
        }
        (kernel, events)
    }
}
