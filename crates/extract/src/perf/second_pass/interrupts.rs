//! Interrupts, softirqs, tasklets, timers and work items.

use rustc_hash::FxHashMap;
use tracesift_trace::interrupts::{InterruptBegin, InterruptKey, InterruptRequest, Interrupts};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::rows::InterruptRow;
use tracesift_trace::{FrameId, HealthKind, ModuleId, RowSink};

use super::call_chain::stack_of;
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::tracepoint::{InterruptEdge, InterruptFields, InterruptName, softirq};

/// Names that are kept, at most.
const MAX_NAMES: usize = 1 << 14;

/// Each name once, by its number.
#[derive(Default)]
struct Names {
    texts: Vec<Option<String>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
}

impl Names {
    fn number(&mut self, name: &[u8]) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if name.is_empty() || self.texts.len() >= MAX_NAMES {
            return None;
        }
        let number = u32::try_from(self.texts.len()).ok()?;
        self.texts.push(Some(String::from_utf8_lossy(name).into_owned()));
        self.numbers.insert(name.into(), number);
        Some(number)
    }
}

/// Follows what the kernel runs beside threads.
#[derive(Default)]
pub(crate) struct InterruptSpans {
    interrupts: Interrupts,
    names: Names,
    /// Reused, with the memory of its name.
    row: InterruptRow,
}

impl InterruptSpans {
    /// Something is asked for, begins or ends.
    pub(crate) fn event<Sink: RowSink>(
        &mut self,
        fields: &InterruptFields,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let id = at.sample.raw.and_then(|raw| Some((raw, fields.id.get(raw)?)));
        let (Some((raw, id)), Some(cpu)) = (id, at.cpu) else { return incomplete(at, rows) };
        let is_in_a_thread = Interrupts::is_in_a_thread(fields.kind);
        let place = if is_in_a_thread { at.thread.0.cast_unsigned() } else { cpu.into() };
        let key = InterruptKey { kind: fields.kind, place, id: id.cast_unsigned() };
        // Whoever asks for a work item is another thread than the one that runs it.
        let asked = InterruptKey { place: if is_in_a_thread { 0 } else { place }, ..key };
        let time = rows.clock.ns(at.ticks);
        match &fields.edge {
            InterruptEdge::Requested(queue) => {
                let name = queue.as_ref().and_then(|queue| self.names.number(queue.get(raw)?));
                self.interrupts.request(asked, InterruptRequest { time, name }, is_in_a_thread);
            }
            InterruptEdge::Begins { function, name } => {
                let request = self.interrupts.requested(asked);
                let name = match name {
                    InterruptName::Field(name) => name.get(raw).and_then(|name| self.names.number(name)),
                    InterruptName::OfSoftirq => softirq(id).and_then(|name| self.names.number(name.as_bytes())),
                    InterruptName::Known(name) => self.names.number(name.as_bytes()),
                    InterruptName::OfRequest => request.and_then(|request| request.name),
                    InterruptName::Nowhere => None,
                };
                let function = function.as_ref().and_then(|function| function.get(raw));
                let queued = request.map(|request| time.saturating_sub(request.time).max(0));
                let begin = InterruptBegin { name, queued, ..begin(function, at, rows) };
                let unended = self.interrupts.begin(key, begin);
                rows.health.add(HealthKind::INTERRUPTS_WITHOUT_END, unended, Some(at.ticks), || {
                    format!("kind {} number {id:#x} begins again", fields.kind)
                });
            }
            InterruptEdge::Ends(claimed) => {
                let claimed = claimed.as_ref().and_then(|claimed| claimed.get(raw)).map(|claimed| claimed != 0);
                match self.interrupts.end(key) {
                    Some(begin) => self.row(fields, (id, claimed), begin, at, rows),
                    None => rows.health.count(HealthKind::INTERRUPTS_WITHOUT_BEGIN, Some(at.ticks), || {
                        format!("kind {} number {id:#x}", fields.kind)
                    }),
                }
            }
            InterruptEdge::Took { time: took, claimed } => {
                let Some(took) = took.get(raw).filter(|took| *took >= 0) else { return incomplete(at, rows) };
                let claimed = claimed.as_ref().and_then(|claimed| claimed.get(raw)).map(|claimed| claimed != 0);
                let begin = begin(Some(id), at, rows);
                let begin = InterruptBegin { start: time.saturating_sub(took), ..begin };
                self.row(fields, (id, claimed), begin, at, rows);
            }
        }
    }

    fn row<Sink: RowSink>(
        &mut self,
        fields: &InterruptFields,
        (id, claimed): (i64, Option<bool>),
        begin: InterruptBegin,
        at: &SampleContext<'_>,
        rows: &mut Rows<'_, Sink>,
    ) {
        let (time, cpu, kind) = (rows.clock.ns(at.ticks), at.cpu_or_none(), fields.kind);
        let row = &mut self.row;
        row.name.clone_from(begin.name.and_then(|name| self.names.texts.get(name as usize)).unwrap_or(&None));
        *row = InterruptRow {
            time,
            start: begin.start.min(time),
            cpu,
            process: begin.process,
            thread: begin.thread,
            kind,
            frame: begin.frame,
            module: begin.module,
            vector: i32::try_from(id).ok().filter(|_| fields.has_number),
            name: row.name.take(),
            claimed,
            queued: begin.queued,
            exclusive: self.interrupts.exclusive(kind, cpu, (begin.start.min(time), time)),
            stack: begin.stack,
        };
        rows.sink.interrupt(row);
    }

    /// Events were lost.
    pub(crate) fn lost<Sink: RowSink>(&mut self, rows: &mut Rows<'_, Sink>) {
        let (open, now) = (self.interrupts.lost(), rows.now);
        rows.health.add(HealthKind::INTERRUPTS_WITHOUT_END, open, Some(now), || "events were lost".to_owned());
    }

    /// The end of the recording: what lasts has no row.
    pub(crate) fn finish<Sink: RowSink>(mut self, rows: &mut Rows<'_, Sink>) {
        let open = self.interrupts.lost();
        rows.health
            .add(HealthKind::INTERRUPTS_WITHOUT_END, open, None, || "under way at the end of the recording".to_owned());
    }
}

/// What an event tells of something that begins with it.
fn begin<Sink: RowSink>(function: Option<i64>, at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) -> InterruptBegin {
    let (frame, module) = match function.map(i64::cast_unsigned).filter(|address| *address != 0) {
        Some(address) => routine(address, at, rows),
        None => (None, None),
    };
    InterruptBegin {
        start: rows.clock.ns(at.ticks),
        process: Some(at.process),
        thread: Some(at.thread),
        frame,
        module,
        stack: stack_of(at, rows),
        ..InterruptBegin::default()
    }
}

fn routine<Sink: RowSink>(
    address: u64,
    at: &SampleContext<'_>,
    rows: &mut Rows<'_, Sink>,
) -> (Option<FrameId>, Option<ModuleId>) {
    let module = rows.stacks.modules().find(AddressSpace::Kernel, address, at.ticks);
    let frame = rows.stacks.frame_in(AddressSpace::Kernel, address, at.ticks, rows.sink);
    (Some(frame), module.map(|(module, _)| module))
}

fn incomplete<Sink: RowSink>(at: &SampleContext<'_>, rows: &mut Rows<'_, Sink>) {
    rows.health.count(HealthKind::INCOMPLETE_INTERRUPTS, Some(at.ticks), || "an event without its fields".to_owned());
}
