//! Tracepoints that become rows of tables of their own, and where their fields stand.

mod block;
mod dns;
mod exception;
mod fields;
mod filemap;
mod heap;
mod interrupt;
mod kinds;
mod lock;
mod memory;
mod network;
mod page_fault;
mod path;
mod power;
mod reclaim;
mod scheduling;
mod syscall;
mod task_state;

pub(crate) use block::{BlockFields, Stage};
pub(crate) use dns::{DnsEdge, DnsFields, GROUP as DNS_GROUP};
pub(crate) use exception::{DeliverFields, ExceptionFields, GenerateFields};
pub(crate) use fields::{Fields, Number, Text};
pub(crate) use filemap::{FilePages, FilemapFields, Inode, PageStep};
pub(crate) use heap::{GROUP as HEAP_GROUP, HeapEvent, HeapFields, HeapFunction};
pub(crate) use interrupt::{InterruptEdge, InterruptFields, Name as InterruptName, softirq};
pub(crate) use kinds::{Tracepoint, is_sampled, tracepoints};
pub(crate) use lock::LockFields;
pub(crate) use memory::RssFields;
pub(crate) use network::{NetworkFields, SegmentFields, StateFields, TransferFields, families};
pub(crate) use page_fault::TrapFields;
pub(crate) use path::{GROUP as PATH_GROUP, PathFields};
pub(crate) use power::{LimitFields, MeasuredFields, PowerFields};
pub(crate) use reclaim::ReclaimFields;
pub(crate) use scheduling::{ReadyFields, SwitchFields, WakeUp};
pub(crate) use syscall::{Edge, SyscallFields};
pub(crate) use task_state::TaskStates;
