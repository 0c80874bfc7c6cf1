//! Page faults: software events that count them, or the tracepoints of their traps.

use tracesift_perf::{Attr, CpuMode, Event, Metadata};
use tracesift_trace::HealthKind;
use tracesift_trace::rows::{PageFaultRow, page_fault_kinds};
use tracesift_trace::{Health, RowSink};

use super::call_chain::{lone_frame, stack_of};
use super::rows::Rows;
use super::sample_context::SampleContext;
use crate::perf::event_types::{MAJOR_FAULTS, MINOR_FAULTS, PAGE_FAULTS, SOFTWARE, counts_faults};
use crate::perf::tracepoint::{Tracepoint, TrapFields};

/// Which of the recorded events are the page faults: several of them tell of the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultSource {
    /// By event: the kind of its faults.
    kinds: Vec<Option<i8>>,
    /// By event: how many faults a sample stands for that does not say so.
    weights: Vec<i64>,
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
        let (all, minor, major) = (first(PAGE_FAULTS), first(MINOR_FAULTS), first(MAJOR_FAULTS));
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
        let weight = |event: &Event| event.attr.period().and_then(|period| i64::try_from(period).ok()).unwrap_or(1);
        Self { kinds, weights: events.iter().map(weight).collect() }
    }

    /// The kind of an event's faults; `None` for an event that does not count here.
    #[inline]
    pub(crate) fn kind(&self, event: usize) -> Option<i8> {
        self.kinds.get(event).copied().flatten()
    }

    /// How many faults a sample stands for.
    pub(crate) fn weight(&self, at: &SampleContext<'_>) -> i64 {
        let recorded = at.sample.period.map(|period| i64::try_from(period).unwrap_or(i64::MAX));
        recorded.or_else(|| self.weights.get(at.event).copied()).unwrap_or(1)
    }
}

/// What is known of the faults of a sample.
pub(super) struct Faulted<'a> {
    pub(super) kind: i8,
    /// How many faults the sample stands for.
    pub(super) weight: i64,
    /// The tracepoint that it comes from, if it does.
    pub(super) trap: Option<&'a TrapFields>,
    /// A row of `hard_faults` tells of it, too.
    pub(super) is_hard: bool,
}

/// A sample of page faults.
pub(super) fn page_fault<Sink: RowSink>(at: &SampleContext<'_>, faulted: &Faulted<'_>, rows: &mut Rows<'_, Sink>) {
    let Faulted { kind, weight, trap, is_hard } = *faulted;
    let stack = stack_of(at, rows);
    let frame = lone_frame(at, stack, rows);
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
    rows.sink.page_fault(&PageFaultRow {
        time: rows.clock.ns(at.ticks),
        cpu: at.cpu_or_none(),
        process: at.process,
        thread: at.thread,
        address,
        kind,
        kernel,
        weight,
        stack,
        frame,
        hard: is_hard.then_some(true),
    });
}
