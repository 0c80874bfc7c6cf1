//! The second pass over a Linux recording: samples become rows.

use tracesift_perf::{CpuMode, Kind, Record, Sample, Words};
use tracesift_trace::modules::AddressSpace;
use tracesift_trace::rows::{CounterSampleRow, CpuSampleRow};
use tracesift_trace::stacks::Stacks;
use tracesift_trace::{Clock, FrameId, Health, Population, ProcessId, RowSink, StackId};

use super::cpu_event::{Role, Roles, Weight};
use super::inventory::ticks;
use super::is_of_a_guest;

/// Words of a call chain from here on (as negative numbers) are no addresses but say whose addresses follow.
const CONTEXT_MAX: u64 = (-4095_i64).cast_unsigned();
/// User addresses follow.
const CONTEXT_USER: u64 = (-512_i64).cast_unsigned();
/// Kernel addresses follow.
const CONTEXT_KERNEL: u64 = (-128_i64).cast_unsigned();

/// What the second pass works with.
pub(crate) struct Samples<'s, Sink> {
    pub(crate) clock: Clock,
    pub(crate) population: Population,
    pub(crate) stacks: Stacks,
    pub(crate) health: Health,
    pub(crate) roles: Roles,
    pub(crate) sink: &'s mut Sink,
}

/// Whose addresses a stretch of a call chain has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Kernel,
    User,
    /// A virtual machine's.
    Other,
}

impl Side {
    fn of(mode: CpuMode) -> Self {
        match mode {
            CpuMode::Kernel => Self::Kernel,
            CpuMode::User => Self::User,
            _ => Self::Other,
        }
    }
}

/// The addresses of one side of a call chain, leaf first.
fn side_of(chain: Words<'_>, first: Side, wanted: Side) -> impl Iterator<Item = u64> {
    let mut side = first;
    chain.iter().filter(move |&word| {
        if word < CONTEXT_MAX {
            return side == wanted;
        }
        side = match word {
            CONTEXT_USER => Side::User,
            CONTEXT_KERNEL => Side::Kernel,
            _ => Side::Other,
        };
        false
    })
}

impl<Sink: RowSink> Samples<'_, Sink> {
    /// A record, in the order of time.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        if record.kind() != Kind::Sample {
            return;
        }
        let Some(event) = record.event() else {
            return self.health.count("samples_of_no_event", ticks(record), || "their id is not known".to_owned());
        };
        let role = self.roles.get(event);
        if role == Role::Other {
            return;
        }
        if is_of_a_guest(record.cpu_mode()) {
            return self.health.count("samples_of_guests", ticks(record), || "in a virtual machine".to_owned());
        }
        let sample = match record.sample() {
            Ok(sample) => sample,
            Err(error) => return self.health.count("undecodable_records", ticks(record), || error.to_string()),
        };
        // Without times everything happens at time zero.
        let ticks = ticks(record).unwrap_or(self.clock.zero);
        let id = |id: Option<i32>| id.and_then(|id| u32::try_from(id).ok());
        let cpu = sample.cpu.and_then(|cpu| i16::try_from(cpu).ok());
        let thread = match id(sample.tid) {
            Some(tid) => self.population.thread_at(tid, cpu.map_or(0, i16::cast_unsigned), ticks),
            None => self.population.nameless_thread(id(sample.pid), ticks),
        };
        let process = self.population.process_of(thread);
        let stack = self.stack(&sample, record.cpu_mode(), process, ticks);
        let frame = sample.ip.filter(|_| stack.is_none());
        let frame = frame.map(|address| self.lone_frame(record.cpu_mode(), address, process, ticks));
        let (time, cpu) = (self.clock.ns(ticks), cpu.unwrap_or(-1));
        match role {
            Role::Cpu(weight) => self.sink.cpu_sample(&CpuSampleRow {
                time,
                cpu,
                process,
                thread,
                weight: match (weight, sample.period) {
                    (Weight::Period(_), Some(period)) => i64::try_from(period).unwrap_or(i64::MAX),
                    (Weight::Period(ns) | Weight::Fixed(ns), _) => ns,
                },
                stack,
                frame,
                priority: None,
                flags: 0,
            }),
            Role::Counter => {
                let source = i32::try_from(event).unwrap_or(i32::MAX);
                self.sink.counter_sample(&CounterSampleRow { time, cpu, process, thread, source, stack, frame });
            }
            Role::Other => {}
        }
    }

    fn stack(&mut self, sample: &Sample<'_>, mode: CpuMode, process: ProcessId, ticks: i64) -> Option<StackId> {
        let chain = sample.callchain?;
        let first = Side::of(mode);
        let kernel = side_of(chain, first, Side::Kernel);
        let kernel = self.stacks.half_in(AddressSpace::Kernel, kernel, ticks, self.sink);
        let user = side_of(chain, first, Side::User);
        let user = self.stacks.half_in(AddressSpace::Process(process), user, ticks, self.sink);
        self.stacks.stack(kernel, user, &mut self.health, self.sink)
    }

    /// The sampled instruction as a frame, for a sample without a stack.
    fn lone_frame(&mut self, mode: CpuMode, address: u64, process: ProcessId, ticks: i64) -> FrameId {
        let space = match Side::of(mode) {
            Side::Kernel => AddressSpace::Kernel,
            Side::User | Side::Other => AddressSpace::Process(process),
        };
        self.stacks.frame_in(space, address, ticks, self.sink)
    }
}
