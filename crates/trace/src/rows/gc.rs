//! Garbage collections of .NET.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

/// Values of `gc_collections.kind`.
pub mod gc_kinds {
    /// Threads stand while it runs.
    pub const BLOCKING: i8 = 0;
    /// Threads run during most of it.
    pub const BACKGROUND: i8 = 1;
    /// Threads stand, and a background collection waits.
    pub const FOREGROUND: i8 = 2;
}

/// Values of `gc_suspensions.reason`.
pub mod gc_suspension_reasons {
    /// For a collection.
    pub const COLLECTION: i8 = 1;
    /// For a part of a background collection.
    pub const PREPARATION: i8 = 6;
}

row! {
    /// One garbage collection of a .NET runtime. The lists have a figure for each generation: 0, 1, 2,
    /// large objects, and pinned objects where the runtime has such a heap. The question `dump gc` reads
    /// them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct GcCollectionRow in "gc_collections", always: false, since: 7, Span(start, time) {
        /// Time of the end. Where `open`: when the next collection of its kind began, or the end of the
        /// recording.
        time: i64, Delta, "ns", "GC/Stop";
        /// Time of the begin. Threads were suspended before: `suspend_start`.
        start: i64, Delta, "ns", "GC/Start";
        /// Process.
        process: ProcessId, Dictionary, "", "header of GC/Start";
        /// Thread that ran the begin of the collection.
        thread: Option<ThreadId>, Dictionary, "", "header of GC/Start";
        /// Number of the runtime in the process: a process can have several.
        runtime: i16, Dictionary, "", "ClrInstanceID";
        /// Number of the collection in its runtime, from 1.
        number: i32, Delta, "", "Count";
        /// The oldest generation that it collected: 0, 1 or 2.
        generation: i8, Dictionary, "", "GC/GlobalHeapHistory CondemnedGeneration, else GC/Start Depth";
        /// 0 blocking, 1 background, 2 foreground (threads stand, and a background collection waits).
        kind: i8, Dictionary, "", "GC/Start Type";
        /// Why: 0 allocation of small objects, 1 induced, 2 low memory, 3 empty, 4 allocation of large
        /// objects, 5 no room for small objects, 6 no room for large objects, 7 induced and not forced, 8
        /// internal, 9 induced by low memory, 10 induced and compacting, 11 low memory of the host, 12 a
        /// full collection after another one, 13 low memory of the host and blocking.
        reason: i8, Dictionary, "", "GC/Start Reason";
        /// Why it was asked for, as `reason`; null: the request was not recorded.
        trigger_reason: Option<i8>, Dictionary, "", "GC/Triggered Reason";
        /// Thread that asked for it.
        trigger_thread: Option<ThreadId>, Dictionary, "", "header of GC/Triggered";
        /// Stack with which it was asked for: who allocated, or who induced it.
        stack: Option<StackId>, Plain, "", "stack of GC/Triggered";
        /// When the suspension of threads was asked for. Null for a collection that began while threads
        /// stood for another one.
        suspend_start: Option<i64>, Delta, "ns", "GC/SuspendEEStart";
        /// When all threads stood.
        suspended: Option<i64>, Delta, "ns", "GC/SuspendEEStop";
        /// When the threads began to go on.
        restart: Option<i64>, Delta, "ns", "GC/RestartEEStart";
        /// When all threads went on. Of several suspensions these four times are of the first one.
        resumed: Option<i64>, Delta, "ns", "GC/RestartEEStop";
        /// Time for which threads stood for it, from the request of each suspension to the end of its
        /// restart. Time in which they stood for another collection is not in it: that of a collection
        /// that began in a suspension for another one is its own, from its begin to its end. Null:
        /// no suspension was recorded.
        pause: Option<i64>, Plain, "ns", "made by the extract";
        /// Begin and end of each part of the pause, in turn.
        pauses: Option<Vec<i64>>, Plain, "ns", "made by the extract";
        /// Number of its suspensions: 1, of a background collection 2 or 3.
        suspensions: i16, Dictionary, "", "made by the extract";
        /// Time from the requests of its suspensions until all threads stood.
        suspending: Option<i64>, Plain, "ns", "GC/SuspendEEStart, SuspendEEStop";
        /// Time for which threads ran since the pause before, in this runtime.
        since_pause: Option<i64>, Plain, "ns", "made by the extract";
        /// Sizes of the generations before it, summed over the heaps.
        size_before: Option<Vec<i64>>, Plain, "bytes", "GC/PerHeapHistory SizeBefore";
        /// Sizes after it.
        size_after: Option<Vec<i64>>, Plain, "bytes", "GC/PerHeapHistory SizeAfter, else GC/HeapStats GenerationSize";
        /// Bytes of the objects that survived.
        promoted: Option<Vec<i64>>, Plain, "bytes", "GC/PerHeapHistory Out, PinnedSurv and NonePinnedSurv, else GC/HeapStats TotalPromotedSize";
        /// Free bytes inside of the generations after it: what is fragmented.
        free: Option<Vec<i64>>, Plain, "bytes", "GC/PerHeapHistory FreeListAfter, FreeObjAfter";
        /// Share of the bytes of objects that survived; 0 for a generation without objects.
        survival: Option<Vec<i64>>, Plain, "%", "GC/PerHeapHistory";
        /// Σ `size_before`: the heap was never larger since the collection before.
        peak_size: Option<i64>, Plain, "bytes", "GC/PerHeapHistory SizeBefore";
        /// Size of all generations after it, as the runtime sums it.
        heap_size: Option<i64>, Plain, "bytes", "GC/HeapStats GenerationSize";
        /// Pinned objects that it found.
        pinned: Option<i64>, Dictionary, "", "GC/HeapStats PinnedObjectCount";
        /// Handles of the runtime.
        handles: Option<i64>, Dictionary, "", "GC/HeapStats GCHandleCount";
        /// Synchronisation blocks in use.
        sync_blocks: Option<i64>, Dictionary, "", "GC/HeapStats SinkBlockCount";
        /// Bytes of objects that survived only because they have a finalizer.
        finalization_promoted: Option<i64>, Plain, "bytes", "GC/HeapStats FinalizationPromotedSize";
        /// Finalizers that ran after it, up to the next collection.
        finalized: Option<i64>, Dictionary, "", "GC/FinalizersStop Count";
        /// Number of heaps; more than one of a server GC.
        heaps: Option<i32>, Dictionary, "", "GC/GlobalHeapHistory NumHeaps";
        /// 0 batch, 1 interactive, 2 low latency, 3 sustained low latency, 4 no collection.
        pause_mode: Option<i8>, Dictionary, "", "GC/GlobalHeapHistory PauseMode";
        /// Bits: 1 concurrent, 2 compaction, 4 promotion, 8 demotion, 16 card bundles.
        mechanisms: Option<i32>, Dictionary, "", "GC/GlobalHeapHistory GlobalMechanisms";
        /// Why this generation was collected, a bit mask of the runtime.
        condemn_reasons: Option<i64>, Dictionary, "", "GC/PerHeapHistory CondemnReasons0";
        /// Share of the machine's memory that was in use.
        memory_pressure: Option<i32>, Dictionary, "%", "GC/GlobalHeapHistory MemoryPressure";
        /// Bytes that were allocated since the begin of the collection before, in steps of about 100 KB.
        /// Null: the runtime logs no ticks of allocations.
        allocated: Option<i64>, Plain, "bytes", "GC/AllocationTick AllocationAmount64";
        /// Those of large objects.
        allocated_large: Option<i64>, Dictionary, "bytes", "GC/AllocationTick AllocationKind 1";
        /// True: the end was not recorded.
        open: Option<bool>, Plain, "", "made by the extract";
        /// Bytes of the objects that survived, by the kind of root from which they were found first,
        /// summed over the heaps: 0 variables of threads, 1 the queue of finalizers, 2 handles, 3 older
        /// generations, 4 sized references, 5 an overflow of the marks, 6 dependent handles, 7 objects
        /// that became ready for their finalizers, 8 taken over from other heaps, 9 roots of a collection
        /// in the background. The list ends with the last kind that the runtime tells. Null: it tells none,
        /// as .NET Framework.
        roots: Option<Vec<i64>>, Plain, "bytes", "GC/MarkWithType Promoted or Bytes, by Type";
        /// Events without a fixed layout, from the begin of the collection to the begin of the next one,
        /// as JSON: a list of objects with the `name` of the event, and its `data` in hexadecimal. Of
        /// `CommittedUsage` an object has the fields in place of the data. Events that would make it longer
        /// than 8 KiB are left out.
        dynamic: Option<String>, Plain, "", "GC/DynamicTraceEvent Name, Data";
    }
}

row! {
    /// One suspension of all managed threads of a .NET runtime: for a collection, a shutdown, a debugger.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct GcSuspensionRow in "gc_suspensions", always: false, since: 7, Span(start, time) {
        /// Time at which all threads went on. Where `open`: when a later event told that they did, or the
        /// end of the recording.
        time: i64, Delta, "ns", "GC/RestartEEStop";
        /// Time at which the suspension was asked for.
        start: i64, Delta, "ns", "GC/SuspendEEStart";
        /// Time at which all threads stood.
        stopped: Option<i64>, Delta, "ns", "GC/SuspendEEStop";
        /// Time at which the threads began to go on.
        restart: Option<i64>, Delta, "ns", "GC/RestartEEStart";
        /// Process.
        process: ProcessId, Dictionary, "", "header of GC/SuspendEEStart";
        /// Thread that suspended the others.
        thread: Option<ThreadId>, Dictionary, "", "header of GC/SuspendEEStart";
        /// Number of the runtime in the process.
        runtime: i16, Dictionary, "", "ClrInstanceID";
        /// 0 other, 1 collection, 2 shutdown of an app domain, 3 pitching of code, 4 shutdown, 5 debugger,
        /// 6 preparation of a collection, 7 debugger's sweep.
        reason: i8, Dictionary, "", "GC/SuspendEEStart Reason";
        /// `number` of the first collection in this runtime that it was for.
        collection: Option<i32>, Delta, "", "GC/Start on the thread";
        /// True: the end was not recorded.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

row! {
    /// Objects of a type whose finalizers ran, by process.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct GcFinalizedRow in "gc_finalized", always: false, since: 7, Untimed() {
        /// Process.
        process: ProcessId, Plain, "", "header of GC/FinalizeObject";
        /// Name of the type; null where the recording does not tell it.
        type_name: Option<String>, Dictionary, "", "Type/BulkType TypeName; TypeName";
        /// Number of objects.
        count: i64, Plain, "", "GC/FinalizeObject";
        /// Time of the first one.
        first: i64, Plain, "ns", "GC/FinalizeObject";
        /// Time of the last one.
        last: i64, Plain, "ns", "GC/FinalizeObject";
    }
}
