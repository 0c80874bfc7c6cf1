//! Assemblies of .NET programs.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

row! {
    /// One assembly that a .NET runtime had loaded into an application domain of a process. An assembly
    /// that several domains share has a row for each of them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AssemblyRow in "assemblies", always: false, since: 7, Span(start, time) {
        /// Time at which it was unloaded, or at which its process ended. Where `open`: the end of the
        /// recording.
        time: i64, Delta, "ns", "DotNETRuntime 155; Process/End";
        /// Time at which it was loaded. Where `there`: the start of its process or of the recording.
        start: i64, Delta, "ns", "DotNETRuntime 154";
        /// Process.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that loaded it; null where `there`.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Whole name of the assembly, with version, culture and key.
        name: String, Dictionary, "", "FullyQualifiedAssemblyName";
        /// Path of its file; null where no module of it has an event, or it has no file.
        path: Option<String>, Dictionary, "", "ModuleILPath of the events of modules";
        /// Bits: 1 shared by domains, 2 dynamic, 4 precompiled (NGEN), 8 collectible, 16 precompiled
        /// (ReadyToRun).
        flags: i64, Dictionary, "", "AssemblyFlags";
        /// Number of the application domain.
        domain: i64, Dictionary, "", "AppDomainID";
        /// Number of the runtime in the process.
        runtime: Option<i32>, Dictionary, "", "ClrInstanceID";
        /// True: it was loaded before the recording, or its load was not recorded.
        there: Option<bool>, Plain, "", "DotNETRuntimeRundown 155, 156; made by the extract";
        /// True: it is loaded at the end of the recording.
        open: Option<bool>, Plain, "", "made by the extract";
        /// Call stack of the load.
        stack: Option<StackId>, Plain, "", "stack of the event";
    }
}
