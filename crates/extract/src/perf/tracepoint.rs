//! Tracepoints that become rows of tables of their own. Where their fields stand is read from the formats in the recording,
//! once per event: it depends on the kernel.

use tracesift_perf::tracing::{EventFormat, Field, Location};
use tracesift_perf::{Attr, Endianness, Metadata};
use tracesift_trace::Health;
use tracesift_trace::HealthKind;

use super::disk::{BlockFields, Stage};
use super::page_faults::TrapFields;
use super::power::PowerFields;
use super::syscalls::SyscallFields;
use super::task_state::TaskStates;

/// A tracepoint and where its fields stand.
#[derive(Clone, Debug)]
pub(crate) enum Tracepoint {
    /// `sched:sched_switch`.
    Switch(SwitchFields),
    /// `sched:sched_waking`, `sched_wakeup`, `sched_wakeup_new`.
    Ready(ReadyFields),
    /// `block:block_bio_queue`, `block_rq_insert`, `block_rq_issue`, `block_rq_requeue`, `block_rq_complete`.
    Block(BlockFields),
    /// `exceptions:page_fault_user`, `page_fault_kernel`.
    Trap(TrapFields),
    /// `raw_syscalls:sys_enter`, `sys_exit`, `syscalls:sys_enter_*`, `sys_exit_*`.
    Syscall(SyscallFields),
    /// `power:cpu_frequency`.
    Frequency(PowerFields),
    /// `power:cpu_idle`.
    Idle(PowerFields),
}

impl Tracepoint {
    /// Whether it means something only together with others, so that all of them are needed.
    fn is_one_of_a_pair(&self) -> bool {
        matches!(self, Self::Block(_) | Self::Syscall(_) | Self::Idle(_))
    }
}

/// A number of a tracepoint.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    field: Field,
    endian: Endianness,
    shape: Shape,
}

/// What a field is and where it stands, if it is of a little-endian machine and of a kind that nearly all of them are.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Int(usize),
    Long(usize),
    Byte(usize),
    Other,
}

impl Number {
    fn new(field: Field, endian: Endianness) -> Self {
        let is_plain = endian == Endianness::LittleEndian && !field.array && field.location == Location::Inline;
        let shape = match (field.size, field.signed) {
            (4, true) if is_plain => Shape::Int(field.offset),
            (8, true) if is_plain => Shape::Long(field.offset),
            (1, false) if is_plain => Shape::Byte(field.offset),
            _ => Shape::Other,
        };
        Self { field, endian, shape }
    }

    /// Its value, with its sign.
    #[inline]
    pub(crate) fn get(&self, raw: &[u8]) -> Option<i64> {
        match self.shape {
            Shape::Int(at) => Some(i32::from_le_bytes(*raw.get(at..)?.first_chunk()?).into()),
            Shape::Long(at) => Some(i64::from_le_bytes(*raw.get(at..)?.first_chunk()?)),
            Shape::Byte(at) => raw.get(at).map(|byte| i64::from(*byte)),
            Shape::Other => self.field.signed(raw, self.endian),
        }
    }

    /// Its value as an id; `None` for a negative one.
    #[inline]
    pub(crate) fn id(&self, raw: &[u8]) -> Option<u32> {
        u32::try_from(self.get(raw)?).ok()
    }
}

/// A text of a tracepoint.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    field: Field,
    endian: Endianness,
}

impl Text {
    /// Its bytes up to the first NUL.
    #[inline]
    pub(crate) fn get<'a>(&self, raw: &'a [u8]) -> Option<&'a [u8]> {
        self.field.text(raw, self.endian)
    }
}

/// The arguments of a system call.
#[derive(Clone, Debug)]
pub(crate) enum Arguments {
    /// In one field.
    Array(Field, Endianness),
    /// Each in its own.
    Fields(Vec<Number>),
}

impl Arguments {
    /// Their values, 0 for those that there are not.
    #[inline]
    pub(crate) fn get(&self, raw: &[u8]) -> [u64; 6] {
        let mut values = [0; 6];
        match self {
            Self::Array(field, endian) => {
                values.iter_mut().zip(field.elements(raw, *endian)).for_each(|(to, value)| *to = value);
            }
            Self::Fields(fields) => {
                for (to, field) in values.iter_mut().zip(fields) {
                    *to = field.get(raw).unwrap_or(0).cast_unsigned();
                }
            }
        }
        values
    }
}

/// Fields of `sched_switch`.
#[derive(Clone, Debug)]
pub(crate) struct SwitchFields {
    pub(crate) prev_pid: Number,
    pub(crate) prev_prio: Option<Number>,
    pub(crate) prev_state: Number,
    pub(crate) next_pid: Number,
    pub(crate) next_prio: Option<Number>,
    pub(crate) states: TaskStates,
}

/// Which of the wake-ups a tracepoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeUp {
    /// Somebody begins to wake the thread: the time from which on it could run.
    Waking,
    /// The thread is on a CPU's queue.
    Wakeup,
    /// A new thread is, for the first time.
    New,
}

/// Fields of a wake-up.
#[derive(Clone, Debug)]
pub(crate) struct ReadyFields {
    pub(crate) kind: WakeUp,
    pub(crate) pid: Number,
    /// The kernel's id of who wakes.
    pub(crate) common_pid: Option<Number>,
    /// Kernels before 4.3 say whether it had an effect.
    pub(crate) success: Option<Number>,
    pub(crate) common_flags: Option<Number>,
}

/// Reads fields of one format.
pub(crate) struct Fields<'a> {
    format: &'a EventFormat,
    endian: Endianness,
}

impl<'a> Fields<'a> {
    /// Those of a recording's event; `None` where it is no tracepoint or its format is missing.
    pub(crate) fn of(metadata: &'a Metadata, event: usize) -> Option<Self> {
        let attr = &metadata.events.get(event)?.attr;
        let format = metadata.tracing.as_ref()?.by_id(attr.config).filter(|_| attr.is_tracepoint())?;
        Some(Self { format, endian: metadata.endian })
    }
    pub(crate) fn number(&self, name: &str) -> Option<Number> {
        let field = self.format.field(name)?.clone();
        Some(Number::new(field, self.endian))
    }

    /// The arguments of a system call: `args`, or the fields behind the number.
    pub(crate) fn arguments(&self) -> Arguments {
        if let Some(field) = self.format.field("args") {
            return Arguments::Array(field.clone(), self.endian);
        }
        let all = self.format.fields.iter();
        let behind = all.skip_while(|field| !matches!(field.name.as_str(), "__syscall_nr" | "nr")).skip(1).take(6);
        Arguments::Fields(behind.map(|field| Number::new(field.clone(), self.endian)).collect())
    }

    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        let field = self.format.field(name)?.clone();
        Some(Text { field, endian: self.endian })
    }

    fn switch(&self) -> Option<Tracepoint> {
        Some(Tracepoint::Switch(SwitchFields {
            prev_pid: self.number("prev_pid")?,
            prev_prio: self.number("prev_prio"),
            prev_state: self.number("prev_state")?,
            next_pid: self.number("next_pid")?,
            next_prio: self.number("next_prio"),
            states: TaskStates::of(&self.format.print_format),
        }))
    }

    fn ready(&self, kind: WakeUp) -> Option<Tracepoint> {
        let (success, common_flags) = (self.number("success"), self.number("common_flags"));
        let (pid, common_pid) = (self.number("pid")?, self.number("common_pid"));
        Some(Tracepoint::Ready(ReadyFields { kind, pid, common_pid, success, common_flags }))
    }
}

/// The tracepoints of a recording, by event.
pub(crate) fn tracepoints(metadata: &Metadata, health: &mut Health) -> Vec<Option<Tracepoint>> {
    let tracepoint = |index: usize| {
        let event = metadata.events.get(index).filter(|event| event.attr.is_tracepoint())?;
        let name = metadata.event_name(index);
        let fields = Fields::of(metadata, index);
        let read: &dyn Fn(&Fields<'_>) -> Option<Tracepoint> = match name.as_str() {
            "sched:sched_switch" => &|fields| fields.switch(),
            "sched:sched_waking" => &|fields| fields.ready(WakeUp::Waking),
            "sched:sched_wakeup" => &|fields| fields.ready(WakeUp::Wakeup),
            "sched:sched_wakeup_new" => &|fields| fields.ready(WakeUp::New),
            "block:block_bio_queue" => &|fields| BlockFields::of(fields, Stage::Queue),
            "block:block_rq_insert" => &|fields| BlockFields::of(fields, Stage::Insert),
            "block:block_rq_issue" => &|fields| BlockFields::of(fields, Stage::Issue),
            "block:block_rq_requeue" => &|fields| BlockFields::of(fields, Stage::Requeue),
            "block:block_rq_complete" => &|fields| BlockFields::of(fields, Stage::Complete),
            "exceptions:page_fault_user" => &|fields| TrapFields::of(fields, false),
            "exceptions:page_fault_kernel" => &|fields| TrapFields::of(fields, true),
            "power:cpu_frequency" => &PowerFields::frequency,
            "power:cpu_idle" => &PowerFields::idle,
            name if name.starts_with("raw_syscalls:sys_") || name.starts_with("syscalls:sys_") => {
                &|fields| SyscallFields::of(fields, name)
            }
            _ => return None,
        };
        let tracepoint = fields.as_ref().and_then(read);
        if tracepoint.is_none() {
            health.count(HealthKind::UNKNOWN_TRACEPOINT_FORMAT, None, || {
                format!("{name}: its fields are not those that are known")
            });
        }
        if tracepoint.as_ref().is_some_and(Tracepoint::is_one_of_a_pair) && is_sampled(&event.attr) {
            health.count(HealthKind::SAMPLED_TRACEPOINTS, None, || {
                format!("{name} was recorded with a frequency or period: beginnings and ends cannot be joined")
            });
            return None;
        }
        tracepoint
    };
    (0..metadata.events.len()).map(tracepoint).collect()
}

/// Whether only some of an event's occurrences are recorded.
pub(crate) fn is_sampled(attr: &Attr) -> bool {
    attr.frequency().is_some() || attr.period().is_some_and(|period| period > 1)
}
