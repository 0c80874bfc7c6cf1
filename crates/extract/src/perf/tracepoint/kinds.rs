//! Tracepoints that become rows of tables of their own.

use tracesift_perf::{Attr, Metadata, SampleFormat};
use tracesift_trace::{Health, HealthKind};

use super::block::{BlockFields, Stage};
use super::dns::DnsFields;
use super::exception::ExceptionFields;
use super::fields::Fields;
use super::filemap::FilemapFields;
use super::heap::HeapFields;
use super::interrupt::InterruptFields;
use super::lock::LockFields;
use super::memory::RssFields;
use super::network::NetworkFields;
use super::page_fault::TrapFields;
use super::path::PathFields;
use super::power::{LimitFields, MeasuredFields, PowerFields};
use super::reclaim::ReclaimFields;
use super::scheduling::{ReadyFields, SwitchFields, WakeUp};
use super::syscall::SyscallFields;

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
    /// `filemap:mm_filemap_fault`, `mm_filemap_add_to_page_cache`.
    Filemap(FilemapFields),
    /// `raw_syscalls:sys_enter`, `sys_exit`, `syscalls:sys_enter_*`, `sys_exit_*`.
    Syscall(SyscallFields),
    /// `power:cpu_frequency`.
    Frequency(PowerFields),
    /// `power:cpu_frequency_limits`.
    Limits(LimitFields),
    /// `power:pstate_sample`.
    Measured(MeasuredFields),
    /// `power:cpu_idle`.
    Idle(PowerFields),
    /// `kmem:rss_stat`.
    Rss(RssFields),
    /// `vmscan:mm_vmscan_*`, `compaction:mm_compaction_*`, `oom:mark_victim`: those of reclaim.
    Reclaim(ReclaimFields),
    /// `irq:*`, `irq_vectors:*`, `workqueue:*`, expired timers, `nmi:nmi_handler`: those of interrupts.
    Interrupt(Box<InterruptFields>),
    /// `lock:contention_begin`, `contention_end`.
    Lock(LockFields),
    /// `signal:signal_generate`, `signal_deliver`, and probes in the C++ library.
    Exception(ExceptionFields),
    /// `sock:inet_sock_set_state`, `sock_send_length`, `sock_recv_length`, and some of `tcp`.
    Network(Box<NetworkFields>),
    /// Probes of `tracesift record` in the C library.
    Dns(DnsFields),
    /// Probes of `tracesift record --heap` in the C library.
    Heap(HeapFields),
    /// Probes of `tracesift record` where files are opened.
    Path(PathFields),
}

impl Tracepoint {
    /// Whether it means something only together with others, so that all of them are needed.
    fn is_one_of_a_pair(&self) -> bool {
        match self {
            Self::Block(_) | Self::Syscall(_) | Self::Measured(_) | Self::Idle(_) | Self::Network(_) | Self::Dns(_) => {
                true
            }
            Self::Filemap(_) | Self::Heap(_) | Self::Lock(_) | Self::Exception(_) => true,
            Self::Reclaim(fields) => fields.is_one_of_a_pair(),
            Self::Interrupt(fields) => fields.is_one_of_a_pair(),
            _ => false,
        }
    }
}

fn ready(fields: &Fields<'_>, kind: WakeUp) -> Option<Tracepoint> {
    ReadyFields::of(fields, kind).map(Tracepoint::Ready)
}

fn block(fields: &Fields<'_>, stage: Stage) -> Option<Tracepoint> {
    BlockFields::of(fields, stage).map(Tracepoint::Block)
}

fn trap(fields: &Fields<'_>, kernel: bool) -> Option<Tracepoint> {
    TrapFields::of(fields, kernel).map(Tracepoint::Trap)
}

/// The tracepoints of a recording, by event.
pub(crate) fn tracepoints(metadata: &Metadata, health: &mut Health) -> Vec<Option<Tracepoint>> {
    let tracepoint = |index: usize| {
        let event = metadata.events.get(index).filter(|event| event.attr.is_tracepoint())?;
        let name = metadata.event_name(index);
        let fields = Fields::of(metadata, index);
        let read: &dyn Fn(&Fields<'_>) -> Option<Tracepoint> = match name.as_str() {
            "sched:sched_switch" => &|fields| SwitchFields::of(fields).map(Tracepoint::Switch),
            "sched:sched_waking" => &|fields| ready(fields, WakeUp::Waking),
            "sched:sched_wakeup" => &|fields| ready(fields, WakeUp::Wakeup),
            "sched:sched_wakeup_new" => &|fields| ready(fields, WakeUp::New),
            "block:block_bio_queue" => &|fields| block(fields, Stage::Queue),
            "block:block_rq_insert" => &|fields| block(fields, Stage::Insert),
            "block:block_rq_issue" => &|fields| block(fields, Stage::Issue),
            "block:block_rq_requeue" => &|fields| block(fields, Stage::Requeue),
            "block:block_rq_complete" => &|fields| block(fields, Stage::Complete),
            "block:block_rq_error" => &|fields| block(fields, Stage::Error),
            "exceptions:page_fault_user" => &|fields| trap(fields, false),
            "exceptions:page_fault_kernel" => &|fields| trap(fields, true),
            "power:cpu_frequency" => &|fields| PowerFields::of(fields).map(Tracepoint::Frequency),
            "power:cpu_frequency_limits" => &|fields| LimitFields::of(fields).map(Tracepoint::Limits),
            "power:pstate_sample" => &|fields| MeasuredFields::of(fields).map(Tracepoint::Measured),
            "kmem:rss_stat" => &|fields| RssFields::of(fields).map(Tracepoint::Rss),
            "power:cpu_idle" => &|fields| PowerFields::of(fields).map(Tracepoint::Idle),
            name if FilemapFields::is_read_from(name) => {
                &|fields| FilemapFields::of(fields, name).map(Tracepoint::Filemap)
            }
            name if ReclaimFields::is_read_from(name) => {
                &|fields| ReclaimFields::of(fields, name).map(Tracepoint::Reclaim)
            }
            name if InterruptFields::is_read_from(name) => {
                &|fields| InterruptFields::of(fields, name).map(Box::new).map(Tracepoint::Interrupt)
            }
            name if LockFields::is_read_from(name) => &|fields| LockFields::of(fields, name).map(Tracepoint::Lock),
            name if ExceptionFields::is_read_from(name) => {
                &|fields| ExceptionFields::of(fields, name).map(Tracepoint::Exception)
            }
            name if DnsFields::is_read_from(name) => &|fields| DnsFields::of(fields, name).map(Tracepoint::Dns),
            name if HeapFields::is_read_from(name) => &|fields| HeapFields::of(fields, name).map(Tracepoint::Heap),
            name if PathFields::is_read_from(name) => &|fields| PathFields::of(fields).map(Tracepoint::Path),
            name if NetworkFields::is_read_from(name) => {
                &|fields| NetworkFields::of(fields, name).map(Box::new).map(Tracepoint::Network)
            }
            name if name.starts_with("raw_syscalls:sys_") || name.starts_with("syscalls:sys_") => {
                &|fields| SyscallFields::of(fields, name).map(Tracepoint::Syscall)
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

/// Whether only some of an event's occurrences are recorded. With a fixed period and the period in each sample, the kernel records all of
/// them all the same (`perf_swevent_event` in kernel/events/core.c).
pub(crate) fn is_sampled(attr: &Attr) -> bool {
    let has_periods = attr.sample_format.contains(SampleFormat::PERIOD);
    attr.frequency().is_some() || attr.period().is_some_and(|period| period > 1) && !has_periods
}
