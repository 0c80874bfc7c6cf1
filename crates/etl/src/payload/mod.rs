//! Typed decoders of event payloads: the bytes that follow a record's header.
//!
//! Payloads carry no description of themselves; their layout follows from the event class, the opcode, the version of
//! the header and the pointer size of the record. Each type here is one layout family of one class and decodes every
//! version of it:
//!
//! ```
//! use tracesift_etl::payload::{Payload, ReadyThread};
//!
//! let payload = [0x10, 0x27, 0, 0, 1, 0, 0, 0];
//! let (version, pointer_size) = (2, 8);
//! let ready = ReadyThread::parse(&payload, version, pointer_size)?;
//! assert_eq!(ready.thread_id, 10_000);
//! # Ok::<(), tracesift_etl::payload::PayloadError>(())
//! ```
//!
//! Decoding borrows: strings, stacks and lists are views into the payload, nothing is allocated. Fields that only some
//! versions carry are `Option`. Newer versions of a kernel class only append fields, so a longer payload than expected
//! is accepted, and a trailing field that is missing is `None`. Integers are taken as they stand; times inside payloads
//! have the unit of the record's own timestamp unless the field says otherwise.
//!
//! A payload comes from a stranger. Every read is checked against what is left and no count is trusted, so decoding any
//! bytes ends in a value or a [`PayloadError`].

mod array;
mod branches;
mod context_switch;
mod disk_io;
pub mod dotnet;
mod error;
mod event_trace;
mod file_io;
mod filter_call;
mod heap;
mod image;
mod image_id;
mod interrupt;
mod kernel_process;
mod mark;
mod memory;
mod memory_lists;
mod network;
mod object;
mod pmc;
mod pointer_size;
mod process;
mod processor_power;
mod reader;
mod registry;
mod sample;
mod scheduling;
mod sid;
mod stack_walk;
pub mod system_config;
mod system_config_ex;
mod text;
mod thread;
mod virtual_memory;
mod vs_diagnostics_hub;

pub use array::{Addresses, AddressesIter, Item, Items, ItemsIter};
pub use branches::{LastBranch, LastBranches};
pub use context_switch::{ContextSwitch, ReadyThread, ready_flags};
pub use disk_io::{DiskFlush, DiskInit, DiskTransfer, SplitIo, io_priority, irp_flags};
pub use error::PayloadError;
pub use event_trace::{BuildLab, HeaderExtension, LastDroppedTimes, PartitionIdentity, PartitionInfo, ProviderEnabled};
pub use file_io::{
    FileCreate, FileDirectory, FileInformation, FileName, FileOperation, FileOperationEnd, FileReadWrite, KERNEL_FILE,
    MappedView,
};
pub use filter_call::{FilterCall, FilterCallBegin, FilterCallEnd, FilterCallFailure};
pub use heap::{HeapAllocation, HeapFree, HeapPages, HeapReallocation, PoolBlock};
pub use image::Image;
pub use image_id::{
    DbgFile, Deterministic, FileVersion, ImageFailure, ImageId, ImageInfo, NoDebugInfo, PdbId, PortablePdb,
    PortablePdbId,
};
pub use interrupt::{
    DeferredProcedureCall, DpcEnqueue, DpcExecution, FrameworkRoutine, InterruptService, SystemCallEnter,
    SystemCallExit,
};
pub use kernel_process::{
    KERNEL_PROCESS, KernelImage, KernelProcessRundown, KernelProcessStart, KernelProcessStop, KernelThread,
    ProcessUsage,
};
pub use mark::{Mark, MarkText};
pub use memory::{HardFault, PageFault};
pub use memory_lists::{KERNEL_MEMORY, PageLists, ProcessMemories, ProcessMemory, ProcessStores, ProviderPageLists};
pub use network::{KERNEL_NETWORK, NetworkEvent, TCPIP, network_opcodes};
pub use object::{HandleDuplication, HandleOperation, HandleRundown, ObjectOperation, ObjectReference, ObjectTypeName};
pub use pmc::{CounterConfiguration, CounterCorruption, CounterSample, CounterStatus};
pub use process::{Process, ProcessCounters, ProcessTermination, process_flags};
pub use processor_power::{
    PROCESSOR_POWER, PerformanceState, PowerProfile, ProcessorNumber, ProcessorPerformance, ProcessorSummary,
};
pub use reader::Reader;
pub use registry::{RegistryBegin, RegistryOperation};
pub use sample::{SampleInterval, SampledProfile, sample_flags};
pub use scheduling::{
    THREAD_STATE_DEFERRED_READY, THREAD_STATE_READY, THREAD_STATE_STANDBY, THREAD_STATE_TERMINATED,
    THREAD_STATE_WAITING, thread_state_name, wait_reason_name,
};
pub use sid::Sid;
pub use stack_walk::{Stack, StackDefinition, StackReference, is_kernel_address};
pub use system_config::SystemConfig;
pub use system_config_ex::{BuildInfo, SystemConfigEx, SystemPaths, UnknownVolume, VolumeMapping};
pub use text::{AnsiStr, WideStr, WideStrs, WideStrsIter};
pub use thread::{Thread, ThreadName, ThreadPriority, ThreadStacks};
pub use virtual_memory::{VirtualChange, VirtualMemory, VirtualRegion, virtual_memory_flags};
pub use vs_diagnostics_hub::{DiagnosticsCounter, DiagnosticsMachine, DiagnosticsTarget, VS_DIAGNOSTICS_HUB};

/// A payload layout that can be decoded.
pub trait Payload<'a>: Sized {
    /// Reads the fields in storage order and leaves the reader behind the last one.
    ///
    /// `version` is the event version of the header, without its flag bits.
    ///
    /// # Errors
    /// [`PayloadError`] when the payload ends before a field that this version must have, or a field cannot be what it claims.
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError>;

    /// Decodes a payload. `pointer_size` is that of the record (4 or 8), not that of the file.
    ///
    /// # Errors
    /// As [`Payload::read`].
    #[inline]
    fn parse(payload: &'a [u8], version: u8, pointer_size: u8) -> Result<Self, PayloadError> {
        Self::read(&mut Reader::new(payload, pointer_size), version)
    }

    /// Decodes a payload and returns also the bytes behind its last known field: padding, or fields of a newer version.
    ///
    /// # Errors
    /// As [`Payload::read`].
    fn parse_with_rest(payload: &'a [u8], version: u8, pointer_size: u8) -> Result<(Self, &'a [u8]), PayloadError> {
        let mut reader = Reader::new(payload, pointer_size);
        let value = Self::read(&mut reader, version)?;
        Ok((value, reader.unread()))
    }
}
