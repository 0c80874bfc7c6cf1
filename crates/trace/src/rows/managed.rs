//! The .NET runtime: compilations and allocations.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of [`JitMethodRow::tier`]. More may come.
pub mod jit_tiers {
    /// The runtime does not say: older ones have no tiers.
    pub const UNKNOWN: i8 = 0;
    /// Compiled with little optimisation, as debuggers want it.
    pub const MINIMAL: i8 = 1;
    /// Optimised at once.
    pub const OPTIMISED: i8 = 2;
    /// Compiled quickly.
    pub const TIER_0: i8 = 3;
    /// Compiled once more with all optimisations.
    pub const TIER_1: i8 = 4;
    /// The same while the method ran (on-stack replacement).
    pub const ON_STACK: i8 = 5;
    /// Compiled quickly with instrumentation.
    pub const TIER_0_INSTRUMENTED: i8 = 6;
    /// Optimised with instrumentation.
    pub const TIER_1_INSTRUMENTED: i8 = 7;
}

/// Values of [`JitMethodRow::trigger`]. More may come.
pub mod jit_triggers {
    /// A thread wanted to call the method, and waited.
    pub const FOREGROUND: i8 = 0;
    /// The runtime replaced code by better code.
    pub const BACKGROUND: i8 = 1;
}

row! {
    /// One compilation of a method by the JIT compiler of .NET. A compilation that runs while its
    /// thread compiles another method is nested in that one.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct JitMethodRow in "jit_methods", always: false, since: 7, Span(start, time) {
        /// Time at which the code was there. Where `open`: when the recording shows that it did not
        /// come, or the end of the recording.
        time: i64, Delta, "ns", "DotNETRuntime Method/LoadVerbose (143), Method/Load (141)";
        /// Time at which the compiler began.
        start: i64, Delta, "ns", "DotNETRuntime Method/JittingStarted (145)";
        /// CPU of the begin.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process whose code it is.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that compiled.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Stack of the begin: who caused the compilation.
        stack: Option<StackId>, Plain, "", "stack of Method/JittingStarted";
        /// Number of the runtime in its process.
        runtime: Option<i16>, Dictionary, "", "ClrInstanceID";
        /// File name of the assembly; null: no event tells of it.
        module: Option<String>, Dictionary, "", "ModuleILPath of the module with ModuleID";
        /// Namespace and type of the method. Methods made at run time have `dynamicClass`.
        namespace: String, Dictionary, "", "MethodNamespace";
        /// Name of the method.
        method: String, Dictionary, "", "MethodName";
        /// Return value and parameters.
        arguments: String, Dictionary, "", "MethodSignature";
        /// Bytes of the method's intermediate language.
        il_size: i64, Dictionary, "bytes", "MethodILSize";
        /// Bytes of code. Null: `open`.
        native_size: Option<i64>, Dictionary, "bytes", "MethodSize";
        /// How it was compiled: 0 unknown, 1 with little optimisation, 2 optimised, 3 tier 0, 4 tier 1, 5
        /// on-stack replacement (OSR), 6 tier 0 with instrumentation, 7 tier 1 with instrumentation. More
        /// may come. Null: `open`.
        tier: Option<i8>, Dictionary, "", "bits 7 to 9 of MethodFlags";
        /// 0 foreground: the thread wanted to call the method. 1 background: a batch of the tiered
        /// compilation, or code of tier 1 that has a version. More may come.
        trigger: i8, Dictionary, "", "TieredCompilation 283, 284 of the thread; ReJITID, MethodFlags";
        /// Number of the version of the method (ReJIT id). Null: the runtime does not say.
        version: Option<i64>, Dictionary, "", "ReJITID";
        /// Whether the method was made at run time. Null: `open`.
        dynamic: Option<bool>, Plain, "", "bit 0 of MethodFlags";
        /// Whether precompiled code of the method was there and could not be used. Null: `open`.
        rejected: Option<bool>, Plain, "", "bit 6 of MethodFlags";
        /// Duration without the compilations that are nested in it. Null: `open`.
        exclusive: Option<i64>, Plain, "ns", "made by the extract";
        /// True: the recording does not have the end of the compilation.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

/// Values of [`ClrAllocationRow::kind`]. More may come.
pub mod clr_allocation_kinds {
    /// On the heap of small objects.
    pub const SMALL: i8 = 0;
    /// On the heap of large objects.
    pub const LARGE: i8 = 1;
    /// On the heap of pinned objects.
    pub const PINNED: i8 = 2;
}

/// Values of [`ClrAllocationRow::source`]. More may come.
pub mod clr_allocation_sources {
    /// One event for each 100 KB or so of a kind of heap.
    pub const TICK: i8 = 0;
    /// Sampled objects, with what each stands for.
    pub const SAMPLED: i8 = 1;
    /// Objects that were drawn at random, by their bytes.
    pub const RANDOM: i8 = 2;
}

row! {
    /// A sampled allocation of .NET, with the bytes that it stands for. Rows of several sources tell of
    /// the same allocations: do not add them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ClrAllocationRow in "clr_allocations", always: false, since: 7, At(time) {
        /// Time of the allocation.
        time: i64, Delta, "ns", "DotNETRuntime GC/AllocationTick (10), GC/SampledObjectAllocation (20, 32), AllocationSampling (303)";
        /// CPU.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process that allocated.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that allocated.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Stack of the allocation.
        stack: Option<StackId>, Plain, "", "stack of the event";
        /// Number of the runtime in its process.
        runtime: Option<i16>, Dictionary, "", "ClrInstanceID";
        /// 0 a tick: the last allocation before a limit of bytes was reached. 1 a sampled object. 2 an
        /// object that was drawn at random. More may come.
        source: i8, Dictionary, "", "event";
        /// 0 small objects, 1 large objects, 2 pinned objects. Null: the event does not say. More may come.
        kind: Option<i8>, Dictionary, "", "AllocationKind";
        /// Bytes that the row stands for. A tick: bytes that were allocated on heaps of the kind since the
        /// tick before. Drawn at random: size ÷ p, with p = 1 − e^(−size ÷ 102,400).
        amount: i64, Dictionary, "bytes", "AllocationAmount64, AllocationAmount; TotalSizeForTypeSample; ObjectSize";
        /// Objects that the row stands for; null for ticks. Drawn at random: 1 ÷ p.
        objects: Option<i64>, Dictionary, "", "ObjectCountForTypeSample; ObjectSize";
        /// Bytes of the object. A tick: of the last object.
        object_size: Option<i64>, Dictionary, "bytes", "ObjectSize";
        /// Type of the object. A tick: of the last object. Null: not recorded.
        object_type: Option<String>, Dictionary, "", "TypeName; the name that Type/BulkType (15) gives to TypeID";
        /// Number of the heap.
        heap: Option<i32>, Dictionary, "", "HeapIndex";
        /// Address of the object.
        address: Option<i64>, Plain, "", "Address";
    }
}
