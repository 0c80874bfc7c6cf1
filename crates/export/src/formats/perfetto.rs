//! Perfetto's trace format: stack samples with their weights on each thread, waits as slices, all of it open to SQL.
//!
//! Samples are `StackSample` packets, which Perfetto reads since version 58: they are the only ones with a weight, where the older
//! `PerfSample` only counts. Field numbers are those of `perfetto_trace.proto`; ids of interned data are rows of the catalog plus one, as
//! 0 stands for "not set". What is interned is written when it is first needed, so nothing of the output is held back.

use std::io::{self, Write};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::escape::plain;
use crate::profile::{
    Catalog, FrameId, Marker, MarkerKind, Measure, Origin, Profile, Sample, StackId, StringId, ThreadId, Unit,
};
use crate::protobuf::Message;

/// Fields of `TracePacket`.
mod packet {
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const DEFAULTS: u32 = 59;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const STACK_SAMPLE: u32 = 135;
}

/// Fields of `InternedData`.
mod interned {
    pub(super) const FUNCTION_NAMES: u32 = 5;
    pub(super) const FRAMES: u32 = 6;
    pub(super) const CALLSTACKS: u32 = 7;
    pub(super) const MAPPING_PATHS: u32 = 17;
    pub(super) const SOURCE_PATHS: u32 = 18;
    pub(super) const MAPPINGS: u32 = 19;
    pub(super) const TASK_CONTEXTS: u32 = 48;
}

/// `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Event {
    Begin = 1,
    End = 2,
    Instant = 3,
}

/// The clock of all timestamps, `BUILTIN_CLOCK_BOOTTIME`, and the one of the calendar, `BUILTIN_CLOCK_REALTIME`.
const BOOT_CLOCK: u64 = 6;
const REAL_CLOCK: u64 = 1;

/// The track of what concerns the whole recording. Those of processes and threads follow.
const RECORDING_TRACK: u64 = 1;

/// Ids from here on stand in for ids that the system used more than once; Perfetto would take both for one.
const STAND_IN: u32 = 0x4000_0000;

/// Writes the trace.
///
/// Times are nanoseconds from the earliest one, or from time zero where none is negative; the clock snapshot leads from them to the
/// calendar.
///
/// # Errors
///
/// What `out` says.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let ids = Ids::of(&profile.catalog);
    let mut trace = Trace {
        profile,
        origin: profile.origin(),
        sent: Sent::of(&profile.catalog),
        frames: Vec::new(),
        packet: Message::default(),
        interned: Message::default(),
        part: Message::default(),
        inner: Message::default(),
        framed: Message::default(),
        out,
    };
    trace.write_head()?;
    trace.write_tracks(&ids)?;
    for sample in profile.samples.iter() {
        trace.write_sample(&sample, &ids)?;
    }
    trace.write_markers()
}

/// The ids under which processes and threads stand in the trace.
struct Ids {
    pids: Vec<u32>,
    tids: Vec<u32>,
}

impl Ids {
    fn of(catalog: &Catalog) -> Self {
        let mut next = STAND_IN;
        Self {
            pids: distinct(catalog.processes().iter().map(|process| process.pid), &mut next),
            tids: distinct(catalog.threads().iter().map(|thread| thread.tid), &mut next),
        }
    }
}

/// The ids, with another one for each that was there before.
fn distinct(ids: impl Iterator<Item = u32>, next: &mut u32) -> Vec<u32> {
    let mut seen: HashMap<u32, (), RandomState> = HashMap::default();
    let distinct = ids.map(|id| {
        // Ids are signed in the format.
        if id < STAND_IN && seen.insert(id, ()).is_none() {
            return id;
        }
        *next += 1;
        *next
    });
    distinct.collect()
}

/// What was interned already, by row.
struct Sent {
    functions: Vec<bool>,
    paths: Vec<bool>,
    sources: Vec<bool>,
    frames: Vec<bool>,
    stacks: Vec<bool>,
    threads: Vec<bool>,
}

impl Sent {
    fn of(catalog: &Catalog) -> Self {
        let texts = vec![false; catalog.texts().count()];
        Self {
            functions: texts.clone(),
            paths: texts.clone(),
            sources: texts,
            frames: vec![false; catalog.frames().len()],
            stacks: vec![false; catalog.stack_count()],
            threads: vec![false; catalog.threads().len()],
        }
    }
}

/// True the first time.
fn first(sent: &mut [bool], row: usize) -> bool {
    !std::mem::replace(&mut sent[row], true)
}

/// A trace while it is written. Its messages are kept to be used again.
struct Trace<'a, W> {
    profile: &'a Profile,
    origin: i64,
    sent: Sent,
    frames: Vec<FrameId>,
    packet: Message,
    interned: Message,
    part: Message,
    inner: Message,
    framed: Message,
    out: &'a mut W,
}

impl<W: Write> Trace<'_, W> {
    fn time(&self, time: i64) -> u64 {
        time.abs_diff(self.origin)
    }

    /// Writes the packet at hand.
    fn flush(&mut self) -> io::Result<()> {
        self.framed.clear();
        self.framed.message(1, &self.packet);
        self.packet.clear();
        self.out.write_all(self.framed.bytes())
    }

    fn write_head(&mut self) -> io::Result<()> {
        let about = &self.profile.about;
        if let Some(start) = about.start {
            let mut snapshot = Message::default();
            let real = start.saturating_add(self.origin).max(0);
            for (clock, time) in [(BOOT_CLOCK, 0), (REAL_CLOCK, real as u64)] {
                self.part.clear();
                self.part.number(1, clock).number(2, time);
                snapshot.message(1, &self.part);
            }
            self.packet.message(packet::CLOCK_SNAPSHOT, &snapshot).number(packet::SEQUENCE, 1);
            self.flush()?;
        }
        let Measure { key, unit, .. } = about.measure;
        let mut counter = Message::default();
        if unit == Unit::Nanoseconds {
            // UNIT_NANOSECONDS.
            counter.text(2, &format!("{key}-time")).number(3, 1);
        } else {
            counter.text(2, key);
        }
        // SCOPE_GLOBAL.
        counter.number(7, 1);
        let mut samples = Message::default();
        samples.text(1, "tracesift").message(2, &counter);
        let mut defaults = Message::default();
        defaults.message(100, &samples).number(58, BOOT_CLOCK);
        // SEQ_INCREMENTAL_STATE_CLEARED: what is interned begins here.
        self.packet.message(packet::DEFAULTS, &defaults).number(packet::SEQUENCE, 1).number(packet::SEQUENCE_FLAGS, 1);
        self.flush()
    }

    fn process_track(&self, process: usize) -> u64 {
        RECORDING_TRACK + 1 + process as u64
    }

    fn thread_track(&self, thread: ThreadId) -> u64 {
        RECORDING_TRACK + 1 + self.profile.catalog.processes().len() as u64 + thread.row() as u64
    }

    fn write_tracks(&mut self, ids: &Ids) -> io::Result<()> {
        let profile = self.profile;
        let catalog = &profile.catalog;
        self.write_track(RECORDING_TRACK, |track, _| {
            track.text(2, &plain(&profile.about.title()));
        })?;
        for (row, process) in catalog.processes().iter().enumerate() {
            let (pid, name) = (ids.pids[row], plain(catalog.text(process.name)));
            let name = if pid == process.pid { name.into_owned() } else { format!("{name} (pid {})", process.pid) };
            self.write_track(self.process_track(row), |track, inner| {
                inner.number(1, u64::from(pid)).text(6, &name);
                track.message(3, inner);
            })?;
        }
        for (row, thread) in catalog.threads().iter().enumerate() {
            let (tid, name) = (ids.tids[row], plain(catalog.text(thread.name)));
            let name = if tid == thread.tid { name.into_owned() } else { format!("{name} (tid {})", thread.tid) };
            let pid = ids.pids[thread.process.row()];
            self.write_track(self.thread_track(ThreadId(row as u32)), |track, inner| {
                inner.number(1, u64::from(pid)).number(2, u64::from(tid));
                if !name.is_empty() {
                    inner.text(5, &name);
                }
                track.message(4, inner);
            })?;
        }
        Ok(())
    }

    fn write_track(&mut self, uuid: u64, describe: impl FnOnce(&mut Message, &mut Message)) -> io::Result<()> {
        self.part.clear();
        self.inner.clear();
        self.part.number(1, uuid);
        describe(&mut self.part, &mut self.inner);
        self.packet.message(packet::TRACK_DESCRIPTOR, &self.part).number(packet::SEQUENCE, 1);
        self.flush()
    }

    fn write_sample(&mut self, sample: &Sample, ids: &Ids) -> io::Result<()> {
        self.interned.clear();
        self.intern_stack(sample.stack);
        self.intern_thread(sample.thread, ids);
        self.part.clear();
        self.part.number(2, u64::from(sample.thread.0) + 1);
        if self.profile.about.measure == Measure::CPU {
            let frame = &self.profile.catalog.frames()[self.profile.catalog.leaf(sample.stack).row()];
            match frame.origin {
                Origin::Kernel => self.push_mode(2),
                Origin::Unresolved | Origin::State | Origin::Disturbance => {}
                Origin::User | Origin::Managed | Origin::Jit => self.push_mode(1),
            }
        }
        self.part.number(6, u64::from(sample.stack.0) + 1).number(11, sample.weight);
        self.finish_packet(packet::STACK_SAMPLE, sample.time)
    }

    /// The processor's mode, `MODE_USER` or `MODE_KERNEL`.
    fn push_mode(&mut self, mode: u64) {
        self.inner.clear();
        self.inner.number(3, mode);
        self.part.message(3, &self.inner);
    }

    /// Writes `part` as a packet of that kind, with what was interned for it.
    fn finish_packet(&mut self, kind: u32, time: i64) -> io::Result<()> {
        let time = self.time(time);
        self.packet.number(packet::TIMESTAMP, time).number(packet::SEQUENCE, 1);
        // SEQ_NEEDS_INCREMENTAL_STATE.
        self.packet.number(packet::SEQUENCE_FLAGS, 2);
        if !self.interned.bytes().is_empty() {
            self.packet.message(packet::INTERNED_DATA, &self.interned);
        }
        self.packet.message(kind, &self.part);
        self.flush()
    }

    fn intern_thread(&mut self, thread: ThreadId, ids: &Ids) {
        if !first(&mut self.sent.threads, thread.row()) {
            return;
        }
        let process = self.profile.catalog.threads()[thread.row()].process;
        self.inner.clear();
        self.inner
            .number(1, u64::from(thread.0) + 1)
            .number(2, u64::from(ids.pids[process.row()]))
            .number(3, u64::from(ids.tids[thread.row()]));
        self.interned.message(interned::TASK_CONTEXTS, &self.inner);
    }

    fn intern_stack(&mut self, stack: StackId) {
        if !first(&mut self.sent.stacks, stack.row()) {
            return;
        }
        let mut frames = std::mem::take(&mut self.frames);
        frames.clear();
        frames.extend(self.profile.catalog.frames_of(stack));
        for &frame in &frames {
            self.intern_frame(frame);
        }
        self.inner.clear();
        self.inner.number(1, u64::from(stack.0) + 1);
        for frame in frames.iter().rev() {
            self.inner.number(2, u64::from(frame.0) + 1);
        }
        self.interned.message(interned::CALLSTACKS, &self.inner);
        self.frames = frames;
    }

    fn intern_frame(&mut self, id: FrameId) {
        if !first(&mut self.sent.frames, id.row()) {
            return;
        }
        let frame = self.profile.catalog.frames()[id.row()];
        let name = |id: StringId| u64::from(id.0) + 1;
        if first(&mut self.sent.functions, frame.function.row()) {
            self.intern_text(interned::FUNCTION_NAMES, frame.function);
        }
        if frame.module != StringId::EMPTY && first(&mut self.sent.paths, frame.module.row()) {
            self.intern_text(interned::MAPPING_PATHS, frame.module);
            self.inner.clear();
            self.inner.number(1, name(frame.module)).number(7, name(frame.module));
            self.interned.message(interned::MAPPINGS, &self.inner);
        }
        if frame.file != StringId::EMPTY && first(&mut self.sent.sources, frame.file.row()) {
            self.intern_text(interned::SOURCE_PATHS, frame.file);
        }
        self.inner.clear();
        self.inner.number(1, u64::from(id.0) + 1).number(2, name(frame.function));
        if frame.module != StringId::EMPTY {
            self.inner.number(3, name(frame.module));
        }
        if let Some(address) = frame.address {
            self.inner.number(4, address);
        }
        if frame.file != StringId::EMPTY {
            self.inner.number(5, name(frame.file));
        }
        if let Some(line) = frame.line {
            self.inner.number(6, u64::from(line));
        }
        match frame.origin {
            Origin::User => self.inner.number(7, 1),
            Origin::Kernel => self.inner.number(7, 2),
            Origin::Jit => self.inner.number(7, 4),
            Origin::Managed => self.inner.text(8, "managed"),
            Origin::Unresolved | Origin::State | Origin::Disturbance => &mut self.inner,
        };
        self.interned.message(interned::FRAMES, &self.inner);
    }

    fn intern_text(&mut self, field: u32, id: StringId) {
        self.inner.clear();
        self.inner.number(1, u64::from(id.0) + 1).text(2, &plain(self.profile.catalog.text(id)));
        self.interned.message(field, &self.inner);
    }

    fn write_markers(&mut self) -> io::Result<()> {
        let profile = self.profile;
        let mut order: Vec<&Marker> = profile.markers.rows().iter().collect();
        // A slice must end before its neighbour begins, where both are at one time.
        order.sort_by_key(|marker| (marker.thread, marker.start, marker.end));
        for marker in order {
            let track = marker.thread.map_or(RECORDING_TRACK, |thread| self.thread_track(thread));
            self.interned.clear();
            if let Some(stack) = marker.stack {
                self.intern_stack(stack);
            }
            let event = if marker.end.is_some() { Event::Begin } else { Event::Instant };
            self.part.clear();
            self.part.number(9, event as u64).number(11, track).text(22, marker.kind.label());
            self.part.text(23, &plain(&name(&profile.catalog, marker)));
            if let Some(stack) = marker.stack {
                self.part.number(56, u64::from(stack.0) + 1);
            }
            self.finish_packet(packet::TRACK_EVENT, marker.start)?;
            if let Some(end) = marker.end {
                self.interned.clear();
                self.part.clear();
                self.part.number(9, Event::End as u64).number(11, track);
                self.finish_packet(packet::TRACK_EVENT, end.max(marker.start))?;
            }
        }
        Ok(())
    }
}

/// What a marker's slice is called: `Wait: WrQueue`.
fn name(catalog: &Catalog, marker: &Marker) -> String {
    match (marker.kind, catalog.text(marker.name)) {
        (kind, "") => kind.label().to_owned(),
        (MarkerKind::Mark, name) => name.to_owned(),
        (kind, name) => format!("{}: {name}", kind.label()),
    }
}
