//! The fields of each kind of record, as they stand in its body: include/uapi/linux/perf_event.h for those of the kernel,
//! tools/lib/perf/include/perf/event.h for those of perf.

mod branch;
mod kernel;
mod map;
mod sample;
mod task;
mod user;
mod values;
mod words;

pub use branch::{BranchEntries, BranchEntry, BranchStack};
pub use kernel::{Aux, BpfEvent, Cgroup, DeferredChain, Ksymbol, Lost, LostSamples, TextPoke, Throttle};
use map::MappingForm;
pub use map::{FileId, Mapping};
pub use sample::{Registers, Sample, SampleTail, UserStack};
pub use task::{Comm, Namespace, Namespaces, Switch, Task};
pub use user::{Auxtrace, AuxtraceInfo, EventUpdate, IdIndex, IdIndexEntry, ShortCounter, ThreadMap, TimeConv, Update};
pub(crate) use values::FORMAT_LOST;
pub use values::{Counter, Values};
pub use words::Words;

use crate::cursor::Cursor;
use crate::error::Malformed;
use crate::kind::Kind;
use crate::record::Record;

/// The fields of a record.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// A mapping (`MMAP`, `MMAP2`).
    Mapping(Mapping<'a>),
    /// A thread's name.
    Comm(Comm<'a>),
    /// A thread or process starts.
    Fork(Task),
    /// A thread ends.
    Exit(Task),
    /// Records were lost.
    Lost(Lost),
    /// Samples were lost.
    LostSamples(LostSamples),
    /// Sampling pauses.
    Throttle(Throttle),
    /// Sampling goes on.
    Unthrottle(Throttle),
    /// The counter of an inherited event (`READ`): process, thread, values.
    Read(i32, i32, Values<'a>),
    /// A switch (`SWITCH`, `SWITCH_CPU_WIDE`).
    Switch(Switch),
    /// Namespaces of a thread.
    Namespaces(Namespaces<'a>),
    /// Kernel code comes or goes.
    Ksymbol(Ksymbol<'a>),
    /// A BPF program comes or goes.
    BpfEvent(BpfEvent),
    /// A control group's path.
    Cgroup(Cgroup<'a>),
    /// Kernel code changes.
    TextPoke(TextPoke<'a>),
    /// Trace data is there.
    Aux(Aux),
    /// Instruction trace starts: process, thread.
    ItraceStart(i32, i32),
    /// The hardware event of a trace.
    AuxOutputHwId(u64),
    /// The user half of a call chain.
    CallchainDeferred(DeferredChain<'a>),
    /// CPUs and threads of ids.
    IdIndex(IdIndex<'a>),
    /// How to read a trace.
    AuxtraceInfo(AuxtraceInfo<'a>),
    /// A piece of trace.
    Auxtrace(Auxtrace),
    /// The recorded threads.
    ThreadMap(ThreadMap<'a>),
    /// Clock parameters.
    TimeConv(TimeConv),
    /// Something new about an event.
    EventUpdate(EventUpdate<'a>),
    /// Any other, and those that become [`crate::Metadata`]: its bytes.
    Other(&'a [u8]),
}

impl<'a> Payload<'a> {
    pub(crate) fn parse(record: &Record<'a>) -> Result<Self, Malformed> {
        let misc = record.misc();
        let endian = record.layout.endian;
        let mut fields = Cursor::new(record.fields(), endian);
        let at = &mut fields;
        Ok(match record.kind() {
            Kind::Sample => Self::Sample(record.sample()?),
            Kind::Mmap => Self::Mapping(Mapping::parse(at, misc, MappingForm::Mmap)?),
            Kind::Mmap2 => {
                let form = MappingForm::Mmap2 { build_ids: record.layout.build_ids };
                Self::Mapping(Mapping::parse(at, misc, form)?)
            }
            Kind::Comm => Self::Comm(Comm::parse(at, misc)?),
            Kind::Fork => Self::Fork(Task::parse(at)?),
            Kind::Exit => Self::Exit(Task::parse(at)?),
            Kind::Lost => Self::Lost(Lost::parse(at)?),
            Kind::LostSamples => Self::LostSamples(LostSamples::parse(at, misc)?),
            Kind::Throttle => Self::Throttle(Throttle::parse(at)?),
            Kind::Unthrottle => Self::Unthrottle(Throttle::parse(at)?),
            Kind::Read => {
                Self::Read(at.i32("process")?, at.i32("thread")?, Values::parse(at, record.layout.read_format)?)
            }
            Kind::Switch => Self::Switch(Switch::parse(at, misc, false)?),
            Kind::SwitchCpuWide => Self::Switch(Switch::parse(at, misc, true)?),
            Kind::Namespaces => Self::Namespaces(Namespaces::parse(at)?),
            Kind::Ksymbol => Self::Ksymbol(Ksymbol::parse(at)?),
            Kind::BpfEvent => Self::BpfEvent(BpfEvent::parse(at)?),
            Kind::Cgroup => Self::Cgroup(Cgroup::parse(at)?),
            Kind::TextPoke => Self::TextPoke(TextPoke::parse(at)?),
            Kind::Aux => Self::Aux(Aux::parse(at)?),
            Kind::ItraceStart => Self::ItraceStart(at.i32("process")?, at.i32("thread")?),
            Kind::AuxOutputHwId => Self::AuxOutputHwId(at.u64("hardware id")?),
            Kind::CallchainDeferred => Self::CallchainDeferred(DeferredChain::parse(at)?),
            Kind::IdIndex => Self::IdIndex(IdIndex::parse(at)?),
            Kind::AuxtraceInfo => Self::AuxtraceInfo(AuxtraceInfo::parse(at)?),
            Kind::Auxtrace => Self::Auxtrace(Auxtrace::parse(at)?),
            Kind::ThreadMap => Self::ThreadMap(ThreadMap::parse(at)?),
            Kind::TimeConv => Self::TimeConv(TimeConv::parse(at)?),
            Kind::EventUpdate => Self::EventUpdate(EventUpdate::parse(at)?),
            _ => Self::Other(record.fields()),
        })
    }
}
