//! Payloads of the events that synthetic recordings need.
//!
//! Each type has the fields of one payload, in one version, and `encode` appends its bytes. Names, units and versions are
//! those of the kernel's and the .NET runtime's events.

mod bytes;
mod io;
mod managed;
mod module;
mod process;
mod schedule;
mod stack;
mod system;

pub use bytes::Bytes;
pub use io::{DiskInit, DiskTransfer, FileName, FileTransfer, HardFault};
pub use managed::{
    DOTNET_PROVIDER, DOTNET_RUNDOWN_PROVIDER, METHOD_DC_END_VERBOSE, METHOD_LOAD_VERBOSE, MODULE_DC_END, MODULE_LOAD,
    ManagedModule, Method, method_flags,
};
pub use module::{FileVersion, IMAGE_ID_CLASS, Image, ImageInfo, ManagedRsds, Rsds};
pub use process::{Process, Sid, Thread, process_flags};
pub use schedule::{ContextSwitch, CounterNames, CounterSample, ReadyThread, Sample, SampleInterval, thread_state};
pub use stack::{Stack, StackDefinition, StackReference};
pub use system::{
    BuildInfo, CpuConfig, LogicalDisk, Mark, NetworkCard, PhysicalDisk, SYSTEM_CONFIG_EX_CLASS, SystemPaths,
    VolumeMapping,
};
