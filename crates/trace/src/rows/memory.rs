//! Memory of the machine and of processes.

use crate::ids::{ProcessId, StackId, ThreadId};
use crate::row;

row! {
    /// Counters that the kernel kept for a process since the start of the process. The kernel logs
    /// them when the process ends, and at the rundown for each process that still runs. When a process
    /// ends, two events can report it: Process/PerfCtr and Kernel-Process 2. Each event makes a row.
    /// In a row of Process/PerfCtr only the peaks have values, because the kernel frees the memory
    /// before it logs the event. A row of PerfCtrRundown has the current values, too.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcessCounterRow in "process_counters", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Process/PerfCtr, PerfCtrRundown; Kernel-Process 2";
        /// Row id of the process in `processes`.
        process: ProcessId, Delta, "", "ProcessId, ProcessID";
        /// Page faults, soft and hard.
        page_faults: Option<i64>, Plain, "", "Process/PerfCtr PageFaultCount";
        /// Hard faults.
        hard_faults: Option<i64>, Plain, "", "Kernel-Process 2 HardFaultCount";
        /// Open handles.
        handles: Option<i64>, Plain, "", "Process/PerfCtr HandleCount; Kernel-Process 2 HandleCount";
        /// Virtual size.
        virtual_size: Option<i64>, Plain, "bytes", "Process/PerfCtr VirtualSize";
        /// Largest virtual size.
        peak_virtual_size: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakVirtualSize";
        /// Working set.
        working_set: Option<i64>, Plain, "bytes", "Process/PerfCtr WorkingSetSize";
        /// Largest working set.
        peak_working_set: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakWorkingSetSize";
        /// Committed memory.
        commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PagefileUsage; Kernel-Process 2 CommitCharge";
        /// Largest committed memory.
        peak_commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PeakPagefileUsage; Kernel-Process 2 CommitPeak";
        /// Committed memory that no other process can share.
        private_commit: Option<i64>, Plain, "bytes", "Process/PerfCtr PrivatePageCount";
        /// Charge for paged pool.
        paged_pool: Option<i64>, Plain, "bytes", "Process/PerfCtr QuotaPagedPoolUsage";
        /// Charge for non-paged pool.
        nonpaged_pool: Option<i64>, Plain, "bytes", "Process/PerfCtr QuotaNonPagedPoolUsage";
        /// Read operations.
        reads: Option<i64>, Plain, "", "Kernel-Process 2 ReadOperationCount";
        /// Write operations.
        writes: Option<i64>, Plain, "", "Kernel-Process 2 WriteOperationCount";
        /// Bytes read. The kernel logs whole KiB, so the value is a multiple of 1,024.
        read_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 ReadTransferKiloBytes";
        /// Bytes written. The kernel logs whole KiB, so the value is a multiple of 1,024.
        write_bytes: Option<i64>, Plain, "bytes", "Kernel-Process 2 WriteTransferKiloBytes";
        /// CPU cycles.
        cycles: Option<i64>, Plain, "", "Kernel-Process 2 CPUCycleCount";
    }
}

row! {
    /// The lists of pages of a machine, about twice a second. A page that no list has belongs to a
    /// process, to the kernel or to a driver.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MemoryStateRow in "memory_state", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Memory/SystemMemInfo, Kernel-Memory 1; reading of the recorder on Linux";
        /// Pages that are free and zeroed. Windows only, as are the lists of modified, standby and bad
        /// pages and the pools.
        zero: Option<i64>, Plain, "bytes", "ZeroPageCount";
        /// Pages that are free. Null in an import of an extract of ETWAnalyzer.
        free: Option<i64>, Plain, "bytes", "FreePageCount; MemFree";
        /// Pages that wait to be written, those for the page file included.
        modified: Option<i64>, Plain, "bytes", "ModifiedPageCount";
        /// Pages that wait for a component that writes them by itself.
        modified_no_write: Option<i64>, Plain, "bytes", "ModifiedNoWritePageCount";
        /// Pages that wait to be written into the page file.
        modified_page_file: Option<i64>, Plain, "bytes", "ModifiedPageCountPageFile";
        /// Pages that the memory manager does not use, because of errors.
        bad: Option<i64>, Plain, "bytes", "BadPageCount";
        /// Cached pages that can be given away, by priority: priority 0 goes first.
        standby: Option<Vec<i64>>, Plain, "bytes", "StandbyPageCounts";
        /// Standby pages that were given away since the start of the system, by priority.
        repurposed: Option<Vec<i64>>, Plain, "bytes", "RepurposedPageCounts";
        /// Pages in use: the memory of the machine less all lists; on Linux less `free` and `cached`. Null
        /// where the size of the memory is not known.
        active: Option<i64>, Plain, "bytes", "SystemConfig/CPU MemSize, made by the extract; MemTotal";
        /// Paged pool.
        paged_pool: Option<i64>, Plain, "bytes", "Kernel-Memory 1 PagedPoolPageCount";
        /// Non-paged pool.
        nonpaged_pool: Option<i64>, Plain, "bytes", "Kernel-Memory 1 NonPagedPoolPageCount";
        /// Committed memory of the machine.
        commit: Option<i64>, Plain, "bytes", "Kernel-Memory 1 CommitPageCount; Committed_AS";
        /// Memory that can be committed. Linux only, as are the next ones.
        commit_limit: Option<i64>, Plain, "bytes", "CommitLimit";
        /// Memory that programs can get without swapping, as the kernel estimates it.
        available: Option<i64>, Plain, "bytes", "MemAvailable";
        /// Page cache, the buffers of block devices included.
        cached: Option<i64>, Plain, "bytes", "Cached, Buffers";
        /// Pages of files that wait to be written.
        dirty: Option<i64>, Plain, "bytes", "Dirty";
        /// Pages of files that are being written.
        writeback: Option<i64>, Plain, "bytes", "Writeback";
        /// Swap space in use.
        swap_used: Option<i64>, Plain, "bytes", "SwapTotal, SwapFree";
        /// Kernel objects.
        slab: Option<i64>, Plain, "bytes", "Slab";
        /// Bytes that were read from swap since the start of the system.
        swapped_in: Option<i64>, Plain, "bytes", "vmstat pswpin";
        /// Bytes that were written to swap since the start of the system.
        swapped_out: Option<i64>, Plain, "bytes", "vmstat pswpout";
        /// Bytes of pages that the kernel looked at since the start of the system to find some that it
        /// can take.
        scanned: Option<i64>, Plain, "bytes", "vmstat pgscan_kswapd, pgscan_direct";
        /// Bytes of pages that the kernel took since the start of the system.
        reclaimed: Option<i64>, Plain, "bytes", "vmstat pgsteal_kswapd, pgsteal_direct";
        /// Pages of files that were used lately. Linux only, as are the next four.
        active_file: Option<i64>, Plain, "bytes", "Active(file)";
        /// Pages of files that the kernel takes first.
        inactive_file: Option<i64>, Plain, "bytes", "Inactive(file)";
        /// Anonymous pages that were used lately.
        active_anon: Option<i64>, Plain, "bytes", "Active(anon)";
        /// Anonymous pages that the kernel takes first.
        inactive_anon: Option<i64>, Plain, "bytes", "Inactive(anon)";
        /// Bytes of pages that were read again soon after the kernel had taken them, since the start of the
        /// system.
        refaulted: Option<i64>, Plain, "bytes", "vmstat workingset_refault_file, workingset_refault_anon";
    }
}

row! {
    /// Memory of a process at an instant. A process has a row for its first reading, for its last
    /// reading, and for each reading that differs from the reading before it. Between two rows its
    /// memory is that of the earlier row. On Linux a row comes when a part of the resident memory has
    /// changed by 1 MiB or more, and when the recorder, which looks once a second, sees a change of
    /// 64 KiB or more.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemoryProcessRow in "memory_processes", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Memory/ProcessMemInfo, Kernel-Memory 2; kmem:rss_stat; /proc/PID/status";
        /// Row id of the process in `processes`.
        process: ProcessId, Delta, "", "ProcessID; kmem:rss_stat curr, mm_id; /proc/PID/status";
        /// Working set: memory that the process holds. Windows only.
        working_set: Option<i64>, Plain, "bytes", "WorkingSetPageCount";
        /// The part of the working set that no other process can share.
        private_working_set: Option<i64>, Plain, "bytes", "PrivateWorkingSetPageCount";
        /// Committed memory.
        commit: Option<i64>, Plain, "bytes", "CommitPageCount";
        /// Virtual size.
        virtual_size: Option<i64>, Plain, "bytes", "VirtualSizeInPages; VmSize of /proc/PID/status";
        /// Memory that the compressed pages of the process take.
        store: Option<i64>, Plain, "bytes", "StoreSizePageCount";
        /// Compressed pages of the process, before compression.
        stored: Option<i64>, Plain, "bytes", "StoredPageCount";
        /// Memory that was promised and is not committed.
        commit_debt: Option<i64>, Plain, "bytes", "CommitDebtInPages";
        /// Committed memory that several processes share.
        shared_commit: Option<i64>, Plain, "bytes", "SharedCommitInPages";
        /// Resident pages of files. Linux only, as are the next three.
        rss_file: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_FILEPAGES; RssFile of /proc/PID/status";
        /// Resident anonymous pages.
        rss_anon: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_ANONPAGES; RssAnon of /proc/PID/status";
        /// Resident pages of shared memory.
        rss_shmem: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_SHMEMPAGES; RssShmem of /proc/PID/status";
        /// Pages in swap.
        swap: Option<i64>, Plain, "bytes", "kmem:rss_stat of MM_SWAPENTS; VmSwap of /proc/PID/status";
    }
}

row! {
    /// Memory of the sessions of users at an instant: session 0 has the services. Windows reads it about
    /// twice a second.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemorySessionRow in "memory_sessions", always: false, since: 6, At(time) {
        /// Time of the reading.
        time: i64, Delta, "ns", "Memory/MemInfoSessionWS, Kernel-Memory 3";
        /// Number of the session.
        session: i64, Dictionary, "", "SessionID";
        /// Working set of the session: its own memory in the kernel, without that of its processes.
        working_set: i64, Plain, "bytes", "WorkingSetPageCount";
        /// The part of it that nobody shares.
        private_working_set: i64, Plain, "bytes", "PrivateWorkingSetPageCount";
        /// Committed memory.
        commit: i64, Plain, "bytes", "CommitPageCount";
        /// Paged pool of the session.
        paged_pool: i64, Plain, "bytes", "PagedPoolPageCount";
        /// Memory that its compressed pages take. Null in version 1 of the events, as are the next ones.
        store: Option<i64>, Plain, "bytes", "StoreSizePageCount";
        /// Its compressed pages, before compression.
        stored: Option<i64>, Plain, "bytes", "StoredPageCount";
        /// Memory that was promised and is not committed.
        commit_debt: Option<i64>, Plain, "bytes", "CommitDebtInPages";
        /// Committed memory that is shared.
        shared_commit: Option<i64>, Plain, "bytes", "SharedCommitInPages";
    }
}

/// Values of `reclaims.kind`. More may come.
pub mod reclaim_kinds {
    /// A thread frees memory of the machine before it gets some (direct reclaim).
    pub const DIRECT: i8 = 0;
    /// A thread frees memory of its cgroup, which is at its limit, before it gets some.
    pub const CGROUP: i8 = 1;
    /// `kswapd` is awake and frees memory of the machine.
    pub const KSWAPD: i8 = 2;
    /// A thread moves pages to make free ones adjacent.
    pub const COMPACTION: i8 = 3;
    /// The kernel chose a process to be killed, since memory had run out.
    pub const OOM_KILL: i8 = 4;
    /// Windows writes the working set of an app that is suspended to the page file.
    pub const SWAP_OUT: i8 = 5;
    /// Windows reads it back.
    pub const SWAP_IN: i8 = 6;
}

row! {
    /// A time in which a thread of Linux freed memory or moved pages of it, or in which Windows wrote the
    /// working set of a suspended app to the page file or read it back. A program of Linux that waits for
    /// memory does this itself: the time is a part of the run and wait time of its thread. A reclaim
    /// whose begin or end is not in the recording has no row, unless it lasts at the end of the
    /// recording; `health` counts it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ReclaimRow in "reclaims", always: false, since: 6, Span(start, time) {
        /// Time of the end; the end of the recording where `open`. Of a kill the time of the choice.
        time: i64, Delta, "ns", "vmscan:mm_vmscan_direct_reclaim_end, mm_vmscan_memcg_reclaim_end, mm_vmscan_kswapd_sleep; compaction:mm_compaction_end; oom:mark_victim; Kernel-Memory 5, 7";
        /// Time of the begin. `kswapd` logs again that it is awake when it goes on after a nap: the first
        /// of these events is the begin.
        start: i64, Delta, "ns", "vmscan:mm_vmscan_direct_reclaim_begin, mm_vmscan_memcg_reclaim_begin, mm_vmscan_kswapd_wake; compaction:mm_compaction_begin; oom:mark_victim; Kernel-Memory 4, 6";
        /// CPU of the end; CPU of the begin where `open`; −1 where the recording does not say.
        cpu: i16, Dictionary, "", "perf sample cpu; buffer that holds the event";
        /// Process of the thread; of a kill the process that is killed; of Windows the process whose working
        /// set it is. Null where the recording does not say.
        process: Option<ProcessId>, Dictionary, "", "`threads`; ProcessId";
        /// The thread; of a kill the thread that the kernel marked. Null on Windows.
        thread: Option<ThreadId>, Dictionary, "", "perf sample tid; oom:mark_victim pid";
        /// 0 direct reclaim of the machine's memory, 1 direct reclaim of a cgroup's memory, 2 `kswapd` is
        /// awake, 3 compaction, 4 a process is chosen to be killed because memory has run out (a row per
        /// process), 5 a working set is written to the page file, 6 it is read back. More may come.
        kind: i8, Dictionary, "", "name of the tracepoint; id of the event";
        /// The memory was freed for a block of 2 to the power of `order` pages; of `kswapd` the largest
        /// order while it was awake. Null for compaction and kills.
        order: Option<i16>, Dictionary, "", "order";
        /// Bytes that were freed; of a working set that is written the bytes that the system went through.
        /// Null for `kswapd`, compaction, kills, working sets that are read back, and where `open`.
        reclaimed: Option<i64>, Plain, "bytes", "nr_reclaimed, PagesProcessed, page size of the recording";
        /// Call stack at the begin; of a kill that of the thread that needed memory.
        stack: Option<StackId>, Plain, "", "call chain of the begin";
        /// True: it lasts at the end of the recording.
        open: Option<bool>, Plain, "", "made by the extract";
    }
}

/// Values of `allocations.kind`.
pub mod allocation_kinds {
    /// Committed pages.
    pub const COMMITTED: i8 = 0;
    /// Reserved addresses: no memory is behind them.
    pub const RESERVED: i8 = 1;
    /// A block of a heap.
    pub const HEAP: i8 = 2;
    /// Pages that a heap committed.
    pub const HEAP_GROWTH: i8 = 3;
    /// A block of a kernel pool.
    pub const POOL: i8 = 4;
    /// A mapping without a file.
    pub const MAPPED: i8 = 5;
    /// A mapping of a file.
    pub const MAPPED_FILE: i8 = 6;
    /// Growth of the program break.
    pub const PROGRAM_BREAK: i8 = 7;
}

row! {
    /// Bytes that one call allocated and that were given back at one time. The bytes of one call are a
    /// block. A block that is given back in several steps has a row per step. A row belongs to a time
    /// range when it touches it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AllocationRow in "allocations", always: false, since: 6, Span(start, time) {
        /// Time at which the bytes were given back; the end of the recording where `open`.
        time: i64, Delta, "ns", "Memory/VirtualFree; HeapTrace 34, 35, 36, 42; Pool 34, 35; `munmap`, `mmap`, `mremap`, `brk`; end of the process";
        /// Time of the allocation; the start of the recording, or of the process, where `there`.
        start: i64, Plain, "ns", "Memory/VirtualAlloc; HeapTrace 33, 34, 37; Pool 32, 33; `mmap`, `mremap`, `brk`";
        /// Process whose memory it is. For a block of a pool: process that allocated it.
        process: ProcessId, Dictionary, "", "ProcessID; header";
        /// Thread that allocated it; null where `there`.
        thread: Option<ThreadId>, Dictionary, "", "header";
        /// Stack of the allocation.
        stack: Option<StackId>, Plain, "", "stack of the allocation";
        /// 0 committed pages, 1 reserved addresses, 2 heap block, 3 pages of a heap, 4 kernel pool,
        /// 5 mapping without a file, 6 mapping of a file, 7 program break.
        kind: i8, Dictionary, "", "Flags; provider of the event; arguments of the system call";
        /// Number of the block, in the order in which the recording first has it.
        block: i32, Plain, "", "made by the extract";
        /// Number of the row among the rows of its block, in the order of time; the first is 0.
        part: i32, Plain, "", "made by the extract";
        /// True in the last row of a block.
        last: Option<bool>, Plain, "", "made by the extract";
        /// Lowest address of the bytes.
        base: i64, Plain, "", "BaseAddr; AllocAddress; Entry; arguments and result of the system call";
        /// Number of bytes. Bytes that were allocated already belong to the older block.
        size: i64, Plain, "bytes", "Length; AllocSize; NumberOfBytes; arguments of the system call";
        /// Thread that gave the bytes back.
        free_thread: Option<ThreadId>, Dictionary, "", "header";
        /// Stack of giving back.
        free_stack: Option<StackId>, Plain, "", "stack of giving back";
        /// True where the end of the process gave the bytes back.
        by_exit: Option<bool>, Plain, "", "Process/End; exit or exec of the process";
        /// True where the bytes were allocated before the recording.
        there: Option<bool>, Plain, "", "Memory 128, 129";
        /// True where the bytes were not given back in the recording.
        open: Option<bool>, Plain, "", "made by the extract";
        /// Handle of the heap.
        heap: Option<i64>, Plain, "", "HeapTrace HeapHandle";
        /// Tag of the block of a pool.
        tag: Option<String>, Dictionary, "", "Pool Tag";
    }
}

row! {
    /// What a process allocated in a recording, of an import of an extract of ETWAnalyzer: sums without
    /// times. `allocations` has the commits that were not freed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct AllocationSummaryRow in "allocation_summary", always: false, since: 7, Untimed() {
        /// The process.
        process: ProcessId, Delta, "", "VirtualAllocData ProcessIdx";
        /// Number of commits.
        commits: i64, Plain, "", "VirtualAllocData CommitCount";
        /// Bytes that they committed. Pages that were committed already count, too.
        commit_bytes: i64, Plain, "bytes", "VirtualAllocData CommittedSizeInBytes";
        /// Number of decommits and releases.
        frees: i64, Plain, "", "VirtualAllocData FreedCount";
        /// Bytes that they freed; released addresses count, committed or not.
        freed_bytes: i64, Plain, "bytes", "VirtualAllocData FreedSizeInBytes";
        /// Bytes of the largest commit.
        largest: i64, Plain, "bytes", "VirtualAllocData MaxCommitSizeInBytes";
    }
}
