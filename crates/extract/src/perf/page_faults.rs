//! Page faults: software events that count them, or the tracepoints of their traps.

use tracesift_perf::{Attr, CpuMode, Metadata};
use tracesift_trace::HealthKind;
use tracesift_trace::rows::{PageFaultRow, page_fault_kinds};
use tracesift_trace::{Health, RowSink};

use super::cpu_event::SOFTWARE;
use super::rows::{Interrupted, Rows};
use super::tracepoint::{Fields, Number, Tracepoint};

/// `PERF_COUNT_SW_PAGE_FAULTS`.
const PAGE_FAULTS: u64 = 2;
/// `PERF_COUNT_SW_PAGE_FAULTS_MIN`.
const MINOR: u64 = 5;
/// `PERF_COUNT_SW_PAGE_FAULTS_MAJ`.
const MAJOR: u64 = 6;

/// Whether an event of the kernel's software counts page faults.
pub(crate) fn counts_faults(attr: &Attr) -> bool {
    attr.kind == SOFTWARE && matches!(attr.config, PAGE_FAULTS | MINOR | MAJOR)
}

/// Fields of `exceptions:page_fault_user` and `page_fault_kernel`.
#[derive(Clone, Debug)]
pub(crate) struct TrapFields {
    kernel: bool,
    address: Number,
}

impl TrapFields {
    pub(crate) fn of(fields: &Fields<'_>, kernel: bool) -> Option<Tracepoint> {
        Some(Tracepoint::Trap(Self { kernel, address: fields.number("address")? }))
    }
}

/// Which of the recorded events are the page faults: several of them tell of the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultSource {
    /// By event: the kind of its faults.
    kinds: Vec<Option<i8>>,
}

impl FaultSource {
    /// Minor and major faults, where both were recorded; else all of them without their kind; else what there is of these; else
    /// the traps.
    pub(crate) fn of(metadata: &Metadata, tracepoints: &[Option<Tracepoint>], health: &mut Health) -> Self {
        let events = metadata.events.all();
        let first = |config: u64| {
            let is = |attr: &Attr| attr.kind == SOFTWARE && attr.config == config;
            events.iter().position(|event| is(&event.attr))
        };
        let (all, minor, major) = (first(PAGE_FAULTS), first(MINOR), first(MAJOR));
        let mut kinds = vec![None; events.len()];
        let mut choose = |event: Option<usize>, kind: i8| {
            if let Some(kind_of) = event.and_then(|event| kinds.get_mut(event)) {
                *kind_of = Some(kind);
            }
        };
        match (all, minor, major) {
            (Some(all), None, _) | (Some(all), _, None) => choose(Some(all), page_fault_kinds::UNKNOWN),
            (None, None, None) => {
                let is_trap = |at: &Option<Tracepoint>| matches!(at, Some(Tracepoint::Trap(_)));
                for (event, _) in tracepoints.iter().enumerate().filter(|(_, at)| is_trap(at)) {
                    choose(Some(event), page_fault_kinds::UNKNOWN);
                }
            }
            (_, minor, major) => {
                choose(minor, page_fault_kinds::MINOR);
                choose(major, page_fault_kinds::MAJOR);
            }
        }
        for (event, kind) in kinds.iter().enumerate() {
            let is_fault = events.get(event).is_some_and(|event| counts_faults(&event.attr))
                || matches!(tracepoints.get(event), Some(Some(Tracepoint::Trap(_))));
            if is_fault && kind.is_none() {
                let example = || format!("{} tells of faults that another event tells of", metadata.event_name(event));
                health.count(HealthKind::PAGE_FAULT_EVENTS_LEFT_OUT, None, example);
            }
        }
        Self { kinds }
    }

    /// The kind of an event's faults; `None` for an event that does not count here.
    #[inline]
    pub(crate) fn kind(&self, event: usize) -> Option<i8> {
        self.kinds.get(event).copied().flatten()
    }
}

impl<Sink: RowSink> Rows<'_, Sink> {
    /// A sample of page faults, `trap` where it comes from a tracepoint.
    pub(super) fn page_fault(&mut self, at: &Interrupted<'_>, kind: i8, trap: Option<&TrapFields>) {
        let stack = self.stack_of(at);
        let frame = at.sample.ip.filter(|_| stack.is_none());
        let frame = frame.map(|address| self.lone_frame(at.mode, address, at.process, at.ticks));
        let (address, kernel) = match trap {
            Some(trap) => (at.sample.raw.and_then(|raw| trap.address.get(raw)), Some(trap.kernel)),
            None => {
                let kernel = match at.mode {
                    CpuMode::Kernel => Some(true),
                    CpuMode::User => Some(false),
                    _ => None,
                };
                (at.sample.address.map(u64::cast_signed), kernel)
            }
        };
        self.sink.page_fault(&PageFaultRow {
            time: self.clock.ns(at.ticks),
            cpu: at.cpu_or_none(),
            process: at.process,
            thread: at.thread,
            address,
            kind,
            kernel,
            weight: at.sample.period.map_or(1, |period| i64::try_from(period).unwrap_or(i64::MAX)),
            stack,
            frame,
        });
    }
}
