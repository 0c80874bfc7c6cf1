//! The rows of the archive's tables, one type per table, and the lists of all tables.
//!
//! Times are nanoseconds since time zero, durations nanoseconds, sizes bytes; ids are those of [`crate::ids`]. Null means
//! that the recording does not say, and is `None` in a row. The archive adds the constant column `trace` in front of each row.
//!
//! Each table is declared once, with [`row!`](crate::row): what is documented of a row and its fields is the text of
//! `docs/archive-format.md`.

mod activity;
mod assemblies;
mod branches;
mod calls;
mod code;
mod events;
mod exceptions;
mod filters;
mod gc;
mod identity;
mod interrupts;
mod locks;
mod long_spans;
mod managed;
mod memory;
mod network;
mod objects;
mod power;
mod registry;
mod sockets;
mod storage;
mod summary;
mod thread_pool;
mod timeline;
mod ui;

pub use activity::{ContextSwitchRow, CounterSampleRow, CpuSampleRow, MarkRow, sample_flags, switch_flags};
pub use assemblies::AssemblyRow;
pub use branches::{BranchRow, EntryFrameRow, branch_kinds};
pub use calls::{FileIoRow, PageFaultRow, SyscallNameRow, SyscallRow, file_operations, page_fault_kinds};
pub use code::{FrameRow, ManagedCodeRow, StackEndRow, StackRow, SymbolRow, stack_ends};
pub use events::EventRow;
pub use exceptions::{ExceptionRow, exception_flags, exception_handling, exception_kinds};
pub use filters::FilterCallRow;
pub use gc::{GcCollectionRow, GcFinalizedRow, GcSuspensionRow, gc_kinds, gc_suspension_reasons};
pub use identity::{ModuleRow, Origin, ProcessModuleRow, ProcessRow, ThreadRow};
pub use interrupts::{InterruptRow, interrupt_kinds};
pub use locks::{LockWaitRow, lock_flags, lock_sources};
pub use long_spans::LongSpanRow;
pub use managed::{
    ClrAllocationRow, JitMethodRow, clr_allocation_kinds, clr_allocation_sources, jit_tiers, jit_triggers,
};
pub use memory::{
    AllocationRow, AllocationSummaryRow, MemoryProcessRow, MemorySessionRow, MemoryStateRow, ProcessCounterRow,
    ReclaimRow, allocation_kinds, reclaim_kinds,
};
pub use network::{ConnectionRow, DnsQueryRow, NetworkIoRow, connection_ends, dns_pairing, network_io_kinds};
pub use objects::{HandleRow, MappedViewRow, ObjectReferenceRow, ObjectRow, handle_kinds, handle_origins};
pub use power::{
    CounterValueRow, CpuFrequencyRow, CpuIdleStateRow, CpuRow, CpuStateRow, EnergyRow, PowerSettingRow,
    cpu_state_kinds, power_sources,
};
pub use registry::{RegistryRow, registry_operations};
pub use sockets::{SocketCallRow, socket_operations};
pub use storage::{DiskIoRow, DiskOperation, DiskSummaryRow, FileRow, FileSummaryRow, HardFaultRow};
pub use summary::{
    CounterSummaryRow, HealthRow, MethodSummaryRow, ProcessSummaryRow, SyscallSummaryRow, TagSummaryRow,
};
pub use thread_pool::{ThreadPoolRow, WorkItemRow, adjustment_reasons, thread_pool_events, work_item_sources};
pub use timeline::{
    TIMELINE_BLOCK, TIMELINE_TABLES, TimelineCpuRow, TimelineDiskRow, TimelineEventRow, TimelineProcessRow,
    TimelineThreadRow,
};
pub use ui::{FocusRow, UiDelayRow, ui_delay_kinds};

use crate::schema::{Row, TableDefinition};

/// Calls a macro with the row types of all tables, in the order of the reference: for what is done with every table. The
/// rows of [`tracesift_trace::rows`](crate::rows) must be in scope.
#[macro_export]
macro_rules! every_table {
    ($apply:ident) => {
        $apply! {
            ProcessRow,
            ThreadRow,
            ModuleRow,
            ProcessModuleRow,
            FrameRow,
            StackRow,
            SymbolRow,
            ManagedCodeRow,
            CpuSampleRow,
            CounterSampleRow,
            ContextSwitchRow,
            MarkRow,
            EventRow,
            FileRow,
            DiskIoRow,
            HardFaultRow,
            DnsQueryRow,
            ConnectionRow,
            NetworkIoRow,
            SocketCallRow,
            HandleRow,
            ObjectRow,
            ObjectReferenceRow,
            MappedViewRow,
            AllocationRow,
            PageFaultRow,
            SyscallRow,
            SyscallNameRow,
            FileIoRow,
            FilterCallRow,
            RegistryRow,
            InterruptRow,
            LockWaitRow,
            ThreadPoolRow,
            WorkItemRow,
            GcCollectionRow,
            GcSuspensionRow,
            GcFinalizedRow,
            CounterValueRow,
            CpuRow,
            CpuFrequencyRow,
            CpuIdleStateRow,
            CpuStateRow,
            EnergyRow,
            PowerSettingRow,
            ProcessCounterRow,
            MemoryProcessRow,
            MemorySessionRow,
            MemoryStateRow,
            ReclaimRow,
            JitMethodRow,
            AssemblyRow,
            ClrAllocationRow,
            ExceptionRow,
            FocusRow,
            UiDelayRow,
            HealthRow,
            ProcessSummaryRow,
            MethodSummaryRow,
            TagSummaryRow,
            CounterSummaryRow,
            SyscallSummaryRow,
            LongSpanRow,
            TimelineProcessRow,
            TimelineThreadRow,
            TimelineCpuRow,
            TimelineDiskRow,
            TimelineEventRow,
            DiskSummaryRow,
            FileSummaryRow,
            AllocationSummaryRow,
            StackEndRow,
            BranchRow,
            EntryFrameRow
        }
    };
}

/// Calls a macro with the tables that grow with a recording: for each one the method of [`RowSink`](crate::RowSink) that
/// takes its rows, with its documentation, the row type, and the name of the table. After `;` stand those that an extract
/// can leave out (`--tables`).
#[macro_export]
macro_rules! event_tables {
    ($apply:ident) => {
        $apply! {
            /// A new frame, in the order of its id.
            frame(FrameRow) in frames,
            /// A new stack, in the order of its id.
            stack(StackRow) in stacks,
            /// The name of a frame.
            symbol(SymbolRow) in symbols,
            /// A frame of managed code and its place in the intermediate language.
            managed_code(ManagedCodeRow) in managed_code,
            /// A mark.
            mark(MarkRow) in marks;

            /// A sample of the timer source.
            cpu_sample(CpuSampleRow) in cpu_samples,
            /// Allocated memory.
            allocation(AllocationRow) in allocations,
            /// An assembly of .NET.
            assembly(AssemblyRow) in assemblies,
            /// A sampled allocation of .NET.
            clr_allocation(ClrAllocationRow) in clr_allocations,
            /// A switch-in, closing or gap row.
            context_switch(ContextSwitchRow) in context_switches,
            /// A network connection.
            connection(ConnectionRow) in connections,
            /// A hardware counter sample.
            counter_sample(CounterSampleRow) in counter_samples,
            /// The count of a counter from reading to reading.
            counter_value(CounterValueRow) in counter_values,
            /// A change of a CPU's clock rate.
            cpu_frequency(CpuFrequencyRow) in cpu_frequencies,
            /// The end of a CPU's stay in an idle state.
            cpu_idle_state(CpuIdleStateRow) in cpu_idle_states,
            /// A time in which a CPU was parked or capped.
            cpu_state(CpuStateRow) in cpu_states,
            /// A disk operation.
            disk_io(DiskIoRow) in disk_io,
            /// A query for a name.
            dns_query(DnsQueryRow) in dns_queries,
            /// What a counter of energy counted.
            energy(EnergyRow) in energy,
            /// An event that is kept as it was logged.
            event(EventRow) in events,
            /// An exception or a signal.
            exception(ExceptionRow) in exceptions,
            /// A file operation.
            file_io(FileIoRow) in file_io,
            /// A call of a file system filter driver.
            filter_call(FilterCallRow) in filter_calls,
            /// A time in which a process had the focus.
            focus(FocusRow) in focus,
            /// A garbage collection.
            gc_collection(GcCollectionRow) in gc_collections,
            /// Objects whose finalizers ran.
            gc_finalized(GcFinalizedRow) in gc_finalized,
            /// A suspension of managed threads.
            gc_suspension(GcSuspensionRow) in gc_suspensions,
            /// A handle.
            handle(HandleRow) in handles,
            /// A hard fault.
            hard_fault(HardFaultRow) in hard_faults,
            /// A run of an interrupt, of a deferred procedure call or of a work item.
            interrupt(InterruptRow) in interrupts,
            /// A compilation of a .NET method.
            jit_method(JitMethodRow) in jit_methods,
            /// A wait for a lock.
            lock_wait(LockWaitRow) in lock_waits,
            /// A network operation.
            network_io(NetworkIoRow) in network_io,
            /// A mapped view.
            mapped_view(MappedViewRow) in mapped_views,
            /// A kernel object.
            object(ObjectRow) in objects,
            /// References to a kernel object that were taken or given back.
            object_reference(ObjectReferenceRow) in object_references,
            /// Memory of a process.
            memory_process(MemoryProcessRow) in memory_processes,
            /// Memory of a session.
            memory_session(MemorySessionRow) in memory_sessions,
            /// Lists of pages.
            memory_state(MemoryStateRow) in memory_state,
            /// A page fault.
            page_fault(PageFaultRow) in page_faults,
            /// The value of a power setting.
            power_setting(PowerSettingRow) in power_settings,
            /// What the kernel counted for a process.
            process_counter(ProcessCounterRow) in process_counters,
            /// An operation on the registry.
            registry(RegistryRow) in registry,
            /// A time in which memory was freed.
            reclaim(ReclaimRow) in reclaims,
            /// A call of a socket.
            socket_call(SocketCallRow) in socket_calls,
            /// A system call.
            syscall(SyscallRow) in syscalls,
            /// An event of a thread pool.
            thread_pool(ThreadPoolRow) in thread_pool,
            /// A time in which a thread did not look after its messages.
            ui_delay(UiDelayRow) in ui_delays,
            /// Work that was queued for a thread pool, or a task.
            work_item(WorkItemRow) in work_items
        }
    };
}

macro_rules! tables {
    ($($row:ident),+) => {
        /// All tables, in the order of the reference.
        pub const TABLES: [&TableDefinition; [$(stringify!($row)),+].len()] = [$($row::TABLE),+];
    };
}
every_table!(tables);

/// The table of that name.
#[must_use]
pub fn table_by_name(name: &str) -> Option<&'static TableDefinition> {
    TABLES.into_iter().find(|table| table.name == name)
}

/// Minor version of the format that has all tables with all columns.
#[must_use]
pub const fn newest_minor_version() -> u32 {
    let mut newest = 0;
    let mut at = 0;
    // A loop in place of an iterator: this runs in the compiler.
    while at < TABLES.len() {
        let minor = TABLES[at].minor_version();
        if minor > newest {
            newest = minor;
        }
        at += 1;
    }
    newest
}
